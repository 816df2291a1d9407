//! A tiny system under test for tests: the test executable again, told by its arguments to be a node.
//!
//! A client sends a line `ping` and gets `ok` once a majority of the nodes (itself included) has answered; without one
//! it gets nothing. A line `timeouts` is answered by the number of requests to peers that went unanswered.
//!
//! `put` appends a record to the node's log and syncs it, `careless-put` does not sync, `verify` reads the log back;
//! `trouble` is answered by the number of those that failed. `time` is answered by the node's own clock in milliseconds
//! since 1970, `tick` asks it and tells nothing, `steps-back` says how often it went back. `spin` uses 5 ms of a
//! processor, `grow` takes memory and keeps it. `version` is answered by what stands in the file of that name in the
//! node's folder (1 without it); at any other than 1 every `put` fails. `put` has a failpoint of that name.

use super::Program;
use crate::base::digest::sha256_hex;
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The program of a tiny node.
pub(crate) fn program() -> Program {
    let me = std::env::current_exe().expect("the test executable");
    let args = ["--exact", "cluster::tiny::node", "--nocapture", "listen={listen}", "peer={peer}", "data={data_dir}"];
    Program::new(me).args(args).ready(|address| async move { ping(address).await })
}

/// The program of a tiny node, started by a shell: another binary.
pub(crate) fn by_shell(script: &str) -> Program {
    let me = std::env::current_exe().expect("the test executable").display().to_string();
    let args = ["--exact", "cluster::tiny::node", "--nocapture", "listen={listen}", "peer={peer}", "data={data_dir}"];
    let args = ["-c", script, &me].into_iter().chain(args).map(str::to_owned);
    Program::new("/bin/sh").args(args).ready(|address| async move { ping(address).await })
}

/// Asks the node at `address` for an answer, within half a second.
pub(crate) async fn ping(address: SocketAddr) -> Result<()> {
    match ask(address, "ping").await?.as_str() {
        "ok" => Ok(()),
        other => bail!("answered `{other}`"),
    }
}

/// Sends `line` on a new connection and returns the answer.
pub(crate) async fn ask(address: SocketAddr, line: &str) -> Result<String> {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
    let asking = async {
        let mut stream = tokio::net::TcpStream::connect(address).await?;
        stream.write_all(format!("{line}\n").as_bytes()).await?;
        let mut answer = String::new();
        tokio::io::BufReader::new(stream).read_line(&mut answer).await?;
        if answer.is_empty() {
            bail!("the connection ended without an answer");
        }
        anyhow::Ok(answer.trim().to_owned())
    };
    tokio::time::timeout(Duration::from_millis(500), asking).await.context("no answer within 500 ms")?
}

#[test]
fn node() {
    let argument = |name: &str| -> Vec<String> {
        std::env::args().filter_map(|arg| Some(arg.strip_prefix(name)?.strip_prefix('=')?.to_owned())).collect()
    };
    // An ordinary run of all tests: nothing to be.
    let Some(listen) = argument("listen").pop() else { return };
    if argument("die").pop().is_some() {
        std::process::exit(3);
    }
    let peers = argument("peer").iter().map(|peer| peer.split_once('=').expect("name=address").1.to_owned()).collect();
    if let Some(socket) = std::env::var_os(crate::nemesis::failpoints::FAILPOINTS_VARIABLE) {
        let socket = std::os::unix::net::UnixListener::bind(socket).expect("a place for the control socket");
        std::thread::spawn(move || socket.incoming().flatten().for_each(|stream| drop(obey(&stream))));
    }
    let log = argument("data").pop().map(|dir| Path::new(&dir).join("log"));
    serve(&listen, peers, log.expect("a folder"));
}

fn serve(listen: &str, peers: Vec<String>, log: PathBuf) {
    let listener = TcpListener::bind(listen).expect("the port is free");
    let (peers, timeouts, store) = (Arc::new(peers), Arc::new(AtomicU64::new(0)), Arc::new(Store::open(log)));
    for stream in listener.incoming().flatten() {
        let (peers, timeouts, store) = (Arc::clone(&peers), Arc::clone(&timeouts), Arc::clone(&store));
        std::thread::spawn(move || converse(stream, &peers, &timeouts, &store));
    }
}

/// How often the failpoint `put` failed.
static HITS: AtomicU64 = AtomicU64::new(0);

/// One connection of the harness: arms and disarms failpoints, tells hits.
fn obey(stream: &std::os::unix::net::UnixStream) -> Result<()> {
    let told = |done: Result<(), String>| done.map_or_else(|why| format!("error {why}"), |()| "ok".to_owned());
    for line in BufReader::new(stream.try_clone()?).lines() {
        let line = line?;
        let answer = match line.splitn(3, ' ').collect::<Vec<&str>>()[..] {
            ["set", name, actions] => told(fail::cfg(name, actions)),
            ["off", name] => told(fail::cfg(name, "off")),
            ["hits", "put"] => HITS.load(Ordering::Relaxed).to_string(),
            ["hits", _] => "0".to_owned(),
            _ => "error what?".to_owned(),
        };
        writeln!(&*stream, "{answer}")?;
    }
    Ok(())
}

/// Milliseconds since 1970 by the node's own clock; counts in `steps_back` when that is less than it was.
fn time(last: &Mutex<u128>, steps_back: &AtomicU64) -> u128 {
    let mut last = last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let now = std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_millis();
    steps_back.fetch_add(u64::from(now < *last), Ordering::Relaxed);
    *last = now;
    now
}

fn spin() {
    let start = std::time::Instant::now();
    while start.elapsed() < Duration::from_millis(5) {
        std::hint::spin_loop();
    }
}

/// A log of records of 512 bytes, each a line with its checksum.
struct Store {
    log: Mutex<PathBuf>,
    trouble: AtomicU64,
    last_time: Mutex<u128>,
    steps_back: AtomicU64,
    kept: Mutex<Vec<Vec<u8>>>,
}

impl Store {
    fn open(log: PathBuf) -> Store {
        let (last_time, kept) = (Mutex::new(0), Mutex::default());
        Store { log: Mutex::new(log), trouble: AtomicU64::new(0), last_time, steps_back: AtomicU64::new(0), kept }
    }

    /// Does it on the log, and counts when it fails.
    fn on(&self, act: fn(&Path) -> Result<()>) -> String {
        let log = self.log.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match act(&log) {
            Ok(()) => "ok".to_owned(),
            Err(error) => {
                self.trouble.fetch_add(1, Ordering::Relaxed);
                writeln!(std::io::stdout(), "trouble with the log: {error:#}").expect("the log is a file");
                format!("trouble: {error:#}")
            }
        }
    }
}

fn version(log: &Path) -> String {
    std::fs::read_to_string(log.with_file_name("version"))
        .map_or_else(|_| "1".to_owned(), |text| text.trim().to_owned())
}

fn put(log: &Path) -> Result<()> {
    append(log, File::sync_data)
}

/// As [`put`], and nobody says that it must be kept.
fn careless_put(log: &Path) -> Result<()> {
    append(log, |_| Ok(()))
}

fn append(log: &Path, sync: fn(&File) -> std::io::Result<()>) -> Result<()> {
    fail::fail_point!("put", |why| {
        HITS.fetch_add(1, Ordering::Relaxed);
        bail!("failpoint: {why:?}")
    });
    anyhow::ensure!(version(log) == "1", "this node has another configuration");
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(log)?;
    let (length, body) = (file.metadata()?.len(), "x".repeat(440));
    let record = format!("{} {length:05} {body}\n", sha256_hex(body.as_bytes()));
    let written = file.write_all(record.as_bytes()).and_then(|()| sync(&file));
    if written.is_err() {
        // Half a record is none.
        file.set_len(length)?;
    }
    Ok(written?)
}

fn verify(log: &Path) -> Result<()> {
    for line in std::fs::read_to_string(log)?.lines() {
        let (sum, rest) = line.split_once(' ').context("no checksum")?;
        let body = rest.split_once(' ').context("no body")?.1;
        anyhow::ensure!(sha256_hex(body.as_bytes()) == sum, "a checksum does not fit");
    }
    Ok(())
}

fn converse(stream: TcpStream, peers: &[String], timeouts: &AtomicU64, store: &Store) {
    let Ok(read) = stream.try_clone() else { return };
    for line in BufReader::new(read).lines().map_while(Result::ok) {
        let answer = match line.as_str() {
            "peer" => "here".to_owned(),
            "timeouts" => timeouts.load(Ordering::Relaxed).to_string(),
            "die" => std::process::exit(3),
            "put" => store.on(put),
            "careless-put" => store.on(careless_put),
            "verify" => store.on(verify),
            "trouble" => store.trouble.load(Ordering::Relaxed).to_string(),
            "time" => time(&store.last_time, &store.steps_back).to_string(),
            "steps-back" => store.steps_back.load(Ordering::Relaxed).to_string(),
            "version" => store.log.lock().map(|log| version(&log)).expect("nobody panicked"),
            "tick" => {
                time(&store.last_time, &store.steps_back);
                "ok".to_owned()
            }
            "spin" => {
                spin();
                "ok".to_owned()
            }
            "grow" => {
                store.kept.lock().expect("nobody panicked").push(vec![1; 64 << 10]);
                "ok".to_owned()
            }
            "secret as its owner" => "secret-of-the-owner".to_owned(),
            "secret as somebody" => "denied".to_owned(),
            _ if majority(peers, timeouts) => "ok".to_owned(),
            _ => continue,
        };
        if writeln!(&stream, "{answer}").is_err() {
            return;
        }
    }
}

fn majority(peers: &[String], timeouts: &AtomicU64) -> bool {
    let here = peers.iter().filter(|peer| {
        let here = asks_peer(peer).is_some();
        if !here {
            timeouts.fetch_add(1, Ordering::Relaxed);
            writeln!(std::io::stdout(), "a peer is silent").expect("the log is a file");
        }
        here
    });
    (here.count() + 1) * 2 > peers.len() + 1
}

fn asks_peer(peer: &str) -> Option<()> {
    // Where packets are dropped a connection takes minutes to fail.
    let stream = TcpStream::connect_timeout(&peer.parse().ok()?, Duration::from_millis(100)).ok()?;
    stream.set_read_timeout(Some(Duration::from_millis(100))).ok()?;
    writeln!(&stream, "peer").ok()?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).ok()?;
    (answer == "here\n").then_some(())
}
