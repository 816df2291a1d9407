//! Life of a node: listen, serve, stop.

use crate::coordinator::Coordinator;
use crate::frames::{FrameReader, Outbox};
use crate::options::Options;
use crate::wire::{Message as _, Reply, Request};
use anyhow::{Context as _, Result};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncRead;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};

/// Runs a node until SIGTERM or SIGINT, then flushes its log. Errors: the address is taken, the data folder cannot be
/// used, the log is corrupt. One thread serves, one writes the log: a node is small, and five share a machine.
pub fn run(options: Options) -> Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(serve(options))
}

async fn serve(options: Options) -> Result<()> {
    let mut stop = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (node, bugs) = (options.node.clone(), options.bugs.clone());
    let listener = TcpListener::bind(options.listen).await.with_context(|| format!("binding {}", options.listen))?;
    let coordinator = Arc::new(Coordinator::open(options)?);
    coordinator.connect();
    for bug in bugs {
        crate::say(&node, format_args!("defect switched on: {bug:?}"));
    }
    crate::say(&node, format_args!("listening on {}", listener.local_addr()?));
    tokio::select! {
        () = accept(&listener, &coordinator, &node) => {}
        _ = stop.recv() => {}
        _ = interrupt.recv() => {}
    }
    drop(listener);
    coordinator.replica().close();
    crate::say(&node, format_args!("stopped, log flushed"));
    Ok(())
}

/// Serves connections; never returns. When none can be accepted (such as no file descriptor left) it waits a little.
async fn accept(listener: &TcpListener, coordinator: &Arc<Coordinator>, node: &str) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                crate::say(node, format_args!("cannot accept a connection: {error}"));
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let coordinator = coordinator.clone();
        tokio::spawn(async move {
            // A connection that breaks is the business of whoever made it.
            let _ = converse(stream, coordinator).await;
        });
    }
}

/// Serves one connection until either side ends it.
async fn converse(stream: TcpStream, coordinator: Arc<Coordinator>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (reader, writer) = stream.into_split();
    let outbox = Arc::new(Outbox::default());
    tokio::select! {
        result = answer(FrameReader::new(reader), &coordinator, &outbox) => result,
        result = outbox.drain_to(writer) => result,
    }
}

/// Answers replica requests in place and starts a task for each client request.
async fn answer(
    mut frames: FrameReader<impl AsyncRead + Unpin>,
    coordinator: &Arc<Coordinator>,
    outbox: &Arc<Outbox>,
) -> io::Result<()> {
    while let Some((id, request)) = frames.next::<Request>().await? {
        match request {
            Request::Query { key } => {
                outbox.push(&Reply::Version(coordinator.replica().query(&key)).frame(id));
            }
            Request::Store { key, version } => {
                let outbox = outbox.clone();
                let durable = move || outbox.push(&Reply::Stored.frame(id));
                coordinator.replica().store(key, version, Box::new(durable));
            }
            Request::Collect { key } => {
                outbox.push(&Reply::Increments(coordinator.replica().collect(&key)).frame(id));
            }
            Request::Add { key, increments } => {
                let outbox = outbox.clone();
                let durable = move || outbox.push(&Reply::Stored.frame(id));
                coordinator.replica().add(key, &increments, Box::new(durable));
            }
            request => {
                let (coordinator, outbox) = (coordinator.clone(), outbox.clone());
                tokio::spawn(async move { outbox.push(&coordinator.serve(request).await.frame(id)) });
            }
        }
    }
    Ok(())
}
