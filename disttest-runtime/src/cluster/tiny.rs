//! A tiny system under test for tests: the test executable again, told by its arguments to be a node.
//!
//! A client sends a line `ping` and gets `ok` once a majority of the nodes (itself included) has answered; without one
//! it gets nothing. A line `timeouts` is answered by the number of requests to peers that went unanswered.

use super::Program;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The program of a tiny node.
pub(crate) fn program() -> Program {
    let me = std::env::current_exe().expect("the test executable");
    let args = ["--exact", "cluster::tiny::node", "--nocapture", "listen={listen}", "peer={peer}", "data={data_dir}"];
    Program::new(me).args(args).ready(|address| async move { ping(address).await })
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
    serve(&listen, peers);
}

fn serve(listen: &str, peers: Vec<String>) {
    let listener = TcpListener::bind(listen).expect("the port is free");
    let (peers, timeouts) = (Arc::new(peers), Arc::new(AtomicU64::new(0)));
    for stream in listener.incoming().flatten() {
        let (peers, timeouts) = (Arc::clone(&peers), Arc::clone(&timeouts));
        std::thread::spawn(move || converse(stream, &peers, &timeouts));
    }
}

fn converse(stream: TcpStream, peers: &[String], timeouts: &AtomicU64) {
    let Ok(read) = stream.try_clone() else { return };
    for line in BufReader::new(read).lines().map_while(Result::ok) {
        let answer = match line.as_str() {
            "peer" => "here".to_owned(),
            "timeouts" => timeouts.load(Ordering::Relaxed).to_string(),
            "die" => std::process::exit(3),
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
