//! Real processes of `abd-node`: what it promises, and that each named defect breaks it.
#![expect(clippy::unwrap_used, reason = "tests")]

use abd_store::client::{Connection, Error};
use abd_store::counting::{Increments, MAX_SET};
use abd_store::frames::FrameReader;
use abd_store::stats::Stats;
use abd_store::wire::{Message as _, Reply, Request};
use abd_store::{Tag, Version};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;

/// Far longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(20);

/// An address nobody listens on, below the range from which the kernel picks ports of clients.
fn free_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = (std::process::id() % 199) as u16 * 64;
    loop {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 12_000 + start + NEXT.fetch_add(1, SeqCst)));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

/// Nodes `n1`, `n2`, …; those without a process are free for a stand-in.
struct Cluster {
    addresses: Vec<SocketAddr>,
    processes: Vec<Option<Child>>,
    arguments: Vec<&'static str>,
    folder: TempDir,
}

impl Cluster {
    fn new(nodes: usize, arguments: &[&'static str]) -> Cluster {
        let addresses = (0..nodes).map(|_| free_address()).collect();
        let processes = (0..nodes).map(|_| None).collect();
        Cluster { addresses, processes, arguments: arguments.to_vec(), folder: tempfile::tempdir().unwrap() }
    }

    async fn started(nodes: usize, arguments: &[&'static str]) -> Cluster {
        let mut cluster = Cluster::new(nodes, arguments);
        for node in 0..nodes {
            cluster.start(node).await;
        }
        cluster
    }

    /// Starts a node and waits until it answers.
    async fn start(&mut self, node: usize) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abd-node"));
        command.args(["--node", &format!("n{}", node + 1), "--listen", &self.addresses[node].to_string()]);
        command.arg("--data").arg(self.folder.path().join(format!("n{}", node + 1)));
        for (peer, address) in self.addresses.iter().enumerate().filter(|(peer, _)| *peer != node) {
            command.args(["--peer", &format!("n{}={address}", peer + 1)]);
        }
        command.args(&self.arguments).stdin(Stdio::null()).stderr(Stdio::null());
        self.processes[node] = Some(command.spawn().unwrap());
        while self.client(node).ping(LIMIT).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn kill(&mut self, node: usize) {
        let mut process = self.processes[node].take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    fn stop(&mut self, node: usize) {
        let mut process = self.processes[node].take().unwrap();
        assert!(Command::new("kill").args(["-TERM", &process.id().to_string()]).status().unwrap().success());
        assert!(process.wait().unwrap().success(), "a graceful stop is a success");
    }

    fn client(&self, node: usize) -> Connection {
        Connection::new(self.addresses[node])
    }

    async fn put(&self, node: usize, key: &str, value: &str) -> Result<(), Error> {
        self.client(node).put(key, value, LIMIT).await
    }

    async fn get(&self, node: usize, key: &str) -> Result<Option<String>, Error> {
        Ok(self.client(node).get(key, LIMIT).await?.map(|value| value.to_string()))
    }

    async fn incr(&self, node: usize, id: &str, by: u64) -> Result<(), Error> {
        self.client(node).incr("c", id, by, LIMIT).await
    }

    async fn sum(&self, node: usize) -> Result<u64, Error> {
        self.client(node).sum("c", LIMIT).await
    }

    async fn stats(&self, node: usize) -> Stats {
        self.client(node).stats(LIMIT).await.unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().flatten() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// A replica of one key and one counter that the test controls: it can be made silent, and can refuse to store.
#[derive(Clone, Default)]
struct StandIn {
    silent: Arc<AtomicBool>,
    never_stores: bool,
    held: Arc<Mutex<Option<Version>>>,
    counted: Arc<Mutex<Increments>>,
}

impl StandIn {
    async fn serve(self, address: SocketAddr) {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(self.clone().answer(stream));
            }
        });
    }

    async fn answer(self, stream: tokio::net::TcpStream) {
        let (reader, mut writer) = stream.into_split();
        let mut frames = FrameReader::new(reader);
        while let Ok(Some((id, request))) = frames.next::<Request>().await {
            let reply = match request {
                _ if self.silent.load(SeqCst) => continue,
                Request::Query { .. } => Reply::Version(self.held.lock().unwrap().clone()),
                Request::Store { .. } | Request::Add { .. } if self.never_stores => continue,
                Request::Store { version, .. } => {
                    *self.held.lock().unwrap() = Some(version);
                    Reply::Stored
                }
                Request::Collect { .. } => Reply::Increments(self.counted.lock().unwrap().clone().into()),
                Request::Add { increments, .. } => {
                    self.counted.lock().unwrap().join(&increments);
                    Reply::Stored
                }
                other => panic!("no coordinator sends {other:?}"),
            };
            let _ = writer.write_all(&reply.frame(id)).await;
        }
    }
}

#[tokio::test]
async fn a_value_written_through_one_node_is_read_through_every_other() {
    let cluster = Cluster::started(3, &[]).await;
    assert_eq!(cluster.get(2, "k").await, Ok(None));
    for (node, value) in [(0, "a"), (1, "b"), (2, "c")] {
        cluster.put(node, "k", value).await.unwrap();
        for reader in 0..3 {
            assert_eq!(cluster.get(reader, "k").await, Ok(Some(value.to_owned())));
        }
    }
    let stats = cluster.stats(1).await;
    assert_eq!((stats.node.as_str(), stats.boot, stats.gets, stats.puts, stats.quorum_failures), ("n2", 1, 3, 1, 0));
}

#[tokio::test]
async fn a_value_too_long_for_a_frame_is_refused_and_the_longest_is_kept() {
    let cluster = Cluster::started(3, &[]).await;
    let longest = "x".repeat((1 << 19) - 1);
    assert!(matches!(cluster.put(0, "kk", &longest).await, Err(Error::Failed(_))));
    cluster.put(0, "k", &longest).await.unwrap();
    assert_eq!(cluster.get(1, "k").await, Ok(Some(longest)));
}

#[tokio::test]
async fn a_majority_works_without_the_rest_and_a_minority_neither_answers_nor_acknowledges() {
    let mut cluster = Cluster::started(3, &["--quorum-timeout-ms", "300", "--peer-timeout-ms", "100"]).await;
    cluster.put(0, "k", "1").await.unwrap();
    cluster.kill(2);
    cluster.put(0, "k", "2").await.unwrap();
    assert_eq!(cluster.get(1, "k").await, Ok(Some("2".to_owned())));
    cluster.kill(1);
    assert!(matches!(cluster.put(0, "k", "3").await, Err(Error::Failed(_))), "the query phase had no majority");
    assert!(matches!(cluster.get(0, "k").await, Err(Error::Failed(_))));
    let stats = cluster.stats(0).await;
    assert_eq!((stats.quorum_failures, stats.unknown), (2, 0));
    assert!(stats.peer_timeouts_by_peer["n2"] >= 2 && stats.peer_timeouts_by_peer["n3"] >= 2, "{stats:?}");
    cluster.start(2).await;
    while cluster.get(2, "k").await.is_err() {}
    assert_eq!(cluster.get(2, "k").await, Ok(Some("2".to_owned())), "the links come back by themselves");
    assert_eq!(cluster.stats(2).await.boot, 2);
}

#[tokio::test]
async fn a_write_that_reached_a_minority_has_an_unknown_outcome() {
    let mut cluster = Cluster::new(3, &["--quorum-timeout-ms", "300", "--peer-timeout-ms", "100"]);
    StandIn { never_stores: true, ..StandIn::default() }.serve(cluster.addresses[1]).await;
    cluster.start(0).await;
    assert!(matches!(cluster.put(0, "k", "v").await, Err(Error::Unknown(_))));
    assert!(matches!(cluster.incr(0, "i", 1).await, Err(Error::Unknown(_))));
    assert_eq!(cluster.stats(0).await.unknown, 2);
}

#[tokio::test]
async fn a_client_never_takes_the_late_reply_of_an_abandoned_call() {
    let mut cluster = Cluster::new(2, &["--peer-timeout-ms", "20000"]);
    let peer = StandIn::default();
    peer.silent.store(true, SeqCst);
    peer.clone().serve(cluster.addresses[1]).await;
    cluster.start(0).await;
    let mut client = cluster.client(0);
    let short = Duration::from_millis(50);
    assert!(matches!(client.put("k", "v", short).await, Err(Error::Unknown(_))), "the limit of the call");
    assert!(tokio::time::timeout(short, client.put("k", "v", LIMIT)).await.is_err(), "dropped by its caller");
    assert_eq!(client.ping(LIMIT).await.as_deref(), Ok("n1"));
}

#[tokio::test]
async fn a_peer_that_resets_its_connection_gets_the_call_again_on_the_next_one() {
    let mut cluster = Cluster::new(3, &["--quorum-timeout-ms", "20000", "--peer-timeout-ms", "20000"]);
    let listener = tokio::net::TcpListener::bind(cluster.addresses[1]).await.unwrap();
    cluster.start(0).await;
    let mut client = cluster.client(0);
    let put = tokio::spawn(async move { client.put("k", "v", LIMIT).await });
    let mut first = FrameReader::new(listener.accept().await.unwrap().0);
    assert!(first.next::<Request>().await.unwrap().is_some(), "the call arrived");
    drop(first);
    drop(listener);
    StandIn::default().serve(cluster.addresses[1]).await;
    assert_eq!(put.await.unwrap(), Ok(()));
}

/// Writes, kills all three nodes at once, starts them again, and reads through each.
async fn reads_after_the_kill_of_all(arguments: &[&'static str]) -> Vec<Option<String>> {
    let mut cluster = Cluster::started(3, arguments).await;
    cluster.put(0, "k", "v").await.unwrap();
    (0..3).for_each(|node| cluster.kill(node));
    for node in 0..3 {
        cluster.start(node).await;
    }
    vec![cluster.get(0, "k").await.unwrap(), cluster.get(1, "k").await.unwrap(), cluster.get(2, "k").await.unwrap()]
}

#[tokio::test]
async fn an_acknowledged_write_survives_kill_9_of_every_node() {
    assert_eq!(reads_after_the_kill_of_all(&[]).await, vec![Some("v".to_owned()); 3]);
}

#[tokio::test]
async fn ack_before_write_loses_acknowledged_writes_at_kill_9() {
    assert_eq!(reads_after_the_kill_of_all(&["--bug", "ack-before-write"]).await, vec![None; 3]);
}

#[tokio::test]
async fn ack_before_write_keeps_them_at_a_graceful_stop() {
    let mut cluster = Cluster::started(3, &["--bug", "ack-before-write"]).await;
    cluster.put(0, "k", "v").await.unwrap();
    (0..3).for_each(|node| cluster.stop(node));
    cluster.start(0).await;
    cluster.start(1).await;
    assert_eq!(cluster.get(1, "k").await, Ok(Some("v".to_owned())));
}

/// A version is at one replica of three. Reads through `n1` while only `n2` (has it) and then only `n3` (has not) talk.
async fn two_reads_of_a_version_at_a_minority(arguments: &[&'static str]) -> [Option<String>; 2] {
    let mut cluster = Cluster::new(3, arguments);
    let (second, third) = (StandIn::default(), StandIn::default());
    let tag = Tag { counter: 5, node: 1, boot: 1, write: 0 };
    *second.held.lock().unwrap() = Some(Version { tag, value: "new".into() });
    third.silent.store(true, SeqCst);
    second.clone().serve(cluster.addresses[1]).await;
    third.clone().serve(cluster.addresses[2]).await;
    cluster.start(0).await;
    let first = cluster.get(0, "k").await.unwrap();
    second.silent.store(true, SeqCst);
    third.silent.store(false, SeqCst);
    [first, cluster.get(0, "k").await.unwrap()]
}

#[tokio::test]
async fn a_read_never_returns_an_older_value_than_the_read_before_it() {
    assert_eq!(two_reads_of_a_version_at_a_minority(&[]).await, [Some("new".to_owned()), Some("new".to_owned())]);
}

#[tokio::test]
async fn skip_write_back_lets_a_later_read_return_an_older_value() {
    let reads = two_reads_of_a_version_at_a_minority(&["--bug", "skip-write-back"]).await;
    assert_eq!(reads, [Some("new".to_owned()), None]);
}

#[tokio::test]
async fn a_read_of_a_counter_never_shows_less_than_the_read_before_it() {
    let mut cluster = Cluster::new(3, &[]);
    let (second, third) = (StandIn::default(), StandIn::default());
    *second.counted.lock().unwrap() = Increments::one("i".into(), 5);
    third.silent.store(true, SeqCst);
    second.clone().serve(cluster.addresses[1]).await;
    third.clone().serve(cluster.addresses[2]).await;
    cluster.start(0).await;
    assert_eq!(cluster.sum(0).await, Ok(5));
    second.silent.store(true, SeqCst);
    third.silent.store(false, SeqCst);
    assert_eq!(cluster.sum(0).await, Ok(5));
}

/// Two increments, each tried through every node; the same once more after the kill of all. The sums before and after.
async fn sums_of_retries(arguments: &[&'static str]) -> [u64; 2] {
    let mut cluster = Cluster::started(3, arguments).await;
    let mut sums = [0; 2];
    for (restarts, sum) in sums.iter_mut().enumerate() {
        for (node, (id, by)) in (0..3).flat_map(|node| [(node, ("a", 5)), (node, ("b", 2))]) {
            cluster.incr(node, id, by).await.unwrap();
        }
        *sum = cluster.sum(restarts).await.unwrap();
        assert_eq!(cluster.sum(2).await, Ok(*sum));
        (0..3).for_each(|node| cluster.kill(node));
        for node in 0..3 {
            cluster.start(node).await;
        }
    }
    sums
}

#[tokio::test]
async fn an_increment_counts_once_however_often_and_through_whatever_node_it_is_tried() {
    assert_eq!(sums_of_retries(&[]).await, [7, 7]);
}

#[tokio::test]
async fn forget_keys_counts_an_increment_again_that_is_tried_after_a_restart() {
    assert_eq!(sums_of_retries(&["--bug", "forget-keys"]).await, [7, 14]);
}

#[tokio::test]
async fn a_counter_that_is_full_takes_no_more_increments_and_knows_those_that_it_has() {
    let cluster = Cluster::started(3, &[]).await;
    let id = "x".repeat(MAX_SET / 2);
    cluster.incr(0, &id, 1).await.unwrap();
    assert!(matches!(cluster.incr(0, &id.replace('x', "y"), 1).await, Err(Error::Failed(_))));
    cluster.incr(0, &id, 1).await.unwrap();
    cluster.incr(0, "small", 1).await.unwrap();
    assert_eq!(cluster.sum(1).await, Ok(2));
}

#[tokio::test]
async fn ack_before_quorum_acknowledges_a_write_that_the_others_never_see() {
    for (bugs, acknowledged) in [(&[][..], false), (&["--bug", "ack-before-quorum"], true)] {
        let mut cluster = Cluster::new(3, &[bugs, &["--quorum-timeout-ms", "200"]].concat());
        cluster.start(0).await;
        assert_eq!(cluster.put(0, "k", "v").await.is_ok(), acknowledged);
        cluster.kill(0);
        cluster.start(1).await;
        cluster.start(2).await;
        while cluster.get(1, "k").await.is_err() {}
        assert_eq!(cluster.get(1, "k").await, Ok(None));
    }
}

#[tokio::test]
async fn a_corrupt_log_keeps_a_node_from_starting() {
    let mut cluster = Cluster::started(1, &[]).await;
    cluster.put(0, "k", "v").await.unwrap();
    cluster.kill(0);
    let log = cluster.folder.path().join("n1").join(abd_store::log::FILE_NAME);
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[9] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_abd-node"));
    command.args(["--node", "n1", "--listen", "127.0.0.1:0", "--data"]).arg(cluster.folder.path().join("n1"));
    let output = command.output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("log is corrupt at byte 0"));
}
