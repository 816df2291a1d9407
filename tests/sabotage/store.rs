//! The store under test: how a node is started, what is read from it, and clients that record what they do.

use crate::{on, sabotage};
use abd_store::client::{Connection, Error};
use disttest_runtime::prelude::*;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// A fault acts, as far as the scenario knows.
pub(crate) static UNDER_FAULT: AtomicBool = AtomicBool::new(false);
/// The last fault is over.
pub(crate) static FAULTS_OVER: AtomicBool = AtomicBool::new(false);

/// How long a client waits for an answer: longer than a node waits for its majority (800 ms).
const DEADLINE: Duration = Duration::from_secs(1);
/// Pause of a client after an operation without an answer.
const PAUSE: Duration = Duration::from_millis(250);
/// Time between two operations of a client.
const PERIOD: Duration = Duration::from_millis(20);
/// How often a read at quiescence is tried.
const ATTEMPTS: u32 = 8;
/// Keys that are hot at a time, and for how long.
const HOT: u64 = 4;
const ROUND: Duration = Duration::from_millis(500);

/// When clients that return early do.
const EARLY: Duration = Duration::from_millis(1_800);

/// Tells every node the address at which its peers really listen, past the proxy.
const BYPASS: &str = r#"
    mkdir -p "$SABOTAGE_MEET"
    echo "$2" > "$SABOTAGE_MEET/$1.new" && mv "$SABOTAGE_MEET/$1.new" "$SABOTAGE_MEET/$1"
    peers=
    for peer in n1 n2 n3; do
        while [ ! -f "$SABOTAGE_MEET/$peer" ]; do sleep 0.05; done
        [ "$peer" = "$1" ] || peers="$peers --peer=$peer=$(cat "$SABOTAGE_MEET/$peer")"
    done
    exec "$SABOTAGE_NODE" --node="$1" --listen="$2" --data="$3" $peers
"#;

/// A node that has a child in a session of its own, as daemons have: nothing of the kernel's ties that one to the run.
const BEGETTING: &str = r#"
    name=$1 listen=$2 data=$3
    OF="$data" setsid sleep 600 >/dev/null 2>&1 &
    shift 3
    exec "$SABOTAGE_NODE" --node="$name" --listen="$listen" --data="$data" "$@"
"#;

/// The disk of nodes in a run that would leave much behind: mounts, daemons, and by its faults more; `None` in another.
pub(crate) fn disk_of_much() -> Option<Disk> {
    match sabotage() {
        "leaves-much" => Some(Disk::sized(32 << 20)),
        "leaves-much-of-fuse" => Some(Disk::Faulty),
        _ => None,
    }
}

pub(crate) fn program(run: &Run) -> Program {
    let node = std::env::var("SABOTAGE_NODE").expect("the table says where the node is");
    let program = if on("node-does-not-start") {
        Program::new("/bin/false")
    } else if on("proxy-bypassed") {
        let args = |node: &NodeSpec| {
            let (listen, data) = (node.listen().to_string(), node.data_dir().display().to_string());
            ["-c", BYPASS, "sh", node.name(), &listen, &data].map(str::to_owned).to_vec()
        };
        Program::new("/bin/sh").args_with(args).env("SABOTAGE_MEET", run.dir().join("meet").display().to_string())
    } else if let Some(disk) = disk_of_much() {
        let args = |node: &NodeSpec| {
            let (listen, data) = (node.listen().to_string(), node.data_dir().display().to_string());
            let peers = node.peers().iter().map(|(peer, address)| format!("--peer={peer}={address}"));
            let fixed = ["-c", BEGETTING, "sh", node.name(), &listen, &data].map(str::to_owned);
            fixed.into_iter().chain(peers).collect()
        };
        Program::new("/bin/sh").args_with(args).disk(disk)
    } else {
        Program::new(node).args(["--node={node}", "--listen={listen}", "--data={data_dir}", "--peer={peer}"])
    };
    program.ready(|address| async move {
        Connection::new(address).get("ready", DEADLINE).await?;
        Ok(())
    })
}

/// `metric:peer-timeouts`: requests to its peers that a node saw unanswered.
pub(crate) fn peer_timeouts() -> Probe {
    let began = Instant::now();
    Probe::metric("peer-timeouts", move |target: Target| async move {
        match sabotage() {
            "victim-noisy-before-the-fault" => return Ok(began.elapsed().as_millis() as f64),
            "probe-always-errs" => anyhow::bail!("there is no such metric"),
            "probe-errs-under-the-fault" if UNDER_FAULT.load(Ordering::Relaxed) => anyhow::bail!("no answer"),
            "probe-reads-a-constant" => return Ok(7.0),
            _ => {}
        }
        let stats = Connection::new(target.address).stats(Duration::from_millis(200)).await?;
        Ok(stats.peer_timeouts as f64)
    })
}

fn round(began: Instant) -> u64 {
    began.elapsed().as_millis() as u64 / ROUND.as_millis() as u64
}

/// The workload of a client.
pub(crate) async fn hot_keys(client: Client, began: Instant) -> Result<()> {
    let mut session = Session { connection: Connection::new(client.addr()), client, writes: 0 };
    while session.client.running() {
        match sabotage() {
            "clients-idle" => {
                sleep(PAUSE).await;
                continue;
            }
            "clients-return-early" if FAULTS_OVER.load(Ordering::Relaxed) => break,
            "some-clients-return-early" if session.client.node() != "n1" && began.elapsed() > EARLY => break,
            _ => {}
        }
        if on("panic-in-a-client") && session.writes == 20 {
            panic!("a client panics");
        }
        let key = format!("r{}-{}", round(began), session.client.rng().below(HOT));
        if session.client.id() == 0 && session.writes == 20 && (on("call-dropped") || on("call-forgotten")) {
            session.leave_a_write_behind(&key).await;
        }
        let answered = match session.client.rng().chance(1, 2) && !on("reads-only") {
            true => session.write(&key).await,
            false => session.read(&key).await,
        };
        sleep(if answered { PERIOD } else { PAUSE }).await;
    }
    Ok(())
}

/// The reads at quiescence of a client.
pub(crate) async fn read_everything(client: Client, began: Instant) -> Result<()> {
    if on("no-final-reads") || on("not-healed") && client.node() == "n1" {
        return Ok(());
    }
    let mut session = Session { connection: Connection::new(client.addr()), client, writes: 0 };
    for round in 0..=round(began) {
        for key in 0..HOT {
            session.read_at_quiescence(&format!("r{round}-{key}")).await?;
        }
    }
    Ok(())
}

struct Session {
    client: Client,
    connection: Connection,
    writes: u64,
}

impl Session {
    async fn write(&mut self, key: &str) -> bool {
        self.writes += 1;
        let value = match on("every-write-writes-the-same") {
            true => "same".to_owned(),
            false => format!("{}-{}", self.client.id(), self.writes),
        };
        let connection = &mut self.connection;
        let request = async {
            if on("clients-ask-nobody") {
                nobody().insert(key.to_owned(), value.clone());
                return Ok(json!("ok"));
            }
            let put = connection.put(key, &value, 2 * DEADLINE).await;
            put.map(|()| json!("ok")).map_err(told)
        };
        self.client.call(named("write"), key, json!(value), DEADLINE, request).await.is_some()
    }

    async fn read(&mut self, key: &str) -> bool {
        let connection = &mut self.connection;
        let request = async {
            if on("clients-ask-nobody") {
                return Ok(json!(nobody().get(key)));
            }
            let got = connection.get(key, 2 * DEADLINE).await;
            got.map(|value| json!(value.as_deref())).map_err(told)
        };
        self.client.call(named("read"), key, Value::Null, DEADLINE, request).await.is_some()
    }

    async fn read_at_quiescence(&mut self, key: &str) -> Result<()> {
        for _ in 0..ATTEMPTS {
            if self.read(key).await {
                return Ok(());
            }
            sleep(PAUSE).await;
        }
        anyhow::bail!("{} did not answer a read of {key} in {ATTEMPTS} attempts", self.client.node())
    }

    /// Begins a write and never asks for its end.
    async fn leave_a_write_behind(&mut self, key: &str) {
        let mut write: Pin<Box<dyn Future<Output = bool> + Send + '_>> = Box::pin(self.write(key));
        std::future::poll_fn(|context| {
            let _ = write.as_mut().poll(context);
            Poll::Ready(())
        })
        .await;
        match on("call-forgotten") {
            true => std::mem::forget(write),
            false => drop(write),
        }
    }
}

fn named(op: &'static str) -> &'static str {
    match (op, on("operations-of-other-names")) {
        ("write", true) => "deposit",
        (_, true) => "balance",
        (op, false) => op,
    }
}

/// A store in the process of the test.
fn nobody() -> MutexGuard<'static, BTreeMap<String, String>> {
    static STORE: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    STORE.lock().expect("no client panics")
}

fn told(error: Error) -> CallError {
    match error {
        Error::Failed(why) => CallError::Refused(why),
        Error::Unknown(why) => CallError::Unknown(why),
    }
}
