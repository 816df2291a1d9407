//! One directed link: a listener for one opener, an upstream for one accepter, and the connections between them.

use super::counters::{LinkCounters, LiveLink};
use super::pump::{Broken, Lane, Pump};
use super::rule::Direction;
use crate::base::rng::Rng;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

/// A link. Dropping it ends its listener and every connection.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) shared: Arc<Shared>,
    pub(super) address: SocketAddr,
    listener: AbortHandle,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

/// What a link's tasks share with its handle.
#[derive(Debug)]
pub(super) struct Shared {
    name: String,
    seed: u64,
    upstream: RwLock<Option<SocketAddr>>,
    forward: Lane,
    backward: Lane,
    counts: LiveLink,
    resets: watch::Sender<u64>,
}

/// How a connection ended.
enum End {
    Closed,
    Refused,
    Broken(Broken),
    Asked,
}

impl Link {
    /// Listens on a free port of the loopback address, in the runtime of `handle`.
    pub(super) fn open(
        name: String,
        seed: u64,
        upstream: Option<SocketAddr>,
        handle: &tokio::runtime::Handle,
    ) -> io::Result<Link> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let listener = {
            let _in_runtime = handle.enter();
            TcpListener::from_std(listener)?
        };
        let shared = Arc::new(Shared {
            name,
            seed,
            upstream: RwLock::new(upstream),
            forward: Lane::default(),
            backward: Lane::default(),
            counts: LiveLink::default(),
            resets: watch::Sender::new(0),
        });
        let listener = handle.spawn(listen(listener, shared.clone())).abort_handle();
        Ok(Link { shared, address, listener })
    }
}

impl Shared {
    pub(super) fn lane(&self, direction: Direction) -> &Lane {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Backward => &self.backward,
        }
    }

    pub(super) fn set_upstream(&self, upstream: Option<SocketAddr>) {
        *self.upstream.write().unwrap_or_else(PoisonError::into_inner) = upstream;
    }

    /// Resets every connection that is open; how many those are.
    pub(super) fn reset(&self) -> u64 {
        let open = self.counts.open.load(Relaxed);
        self.resets.send_modify(|generation| *generation += 1);
        open
    }

    pub(super) fn snapshot(&self) -> LinkCounters {
        LinkCounters {
            forward: self.forward.counts.snapshot(),
            backward: self.backward.counts.snapshot(),
            connections_opened: self.counts.opened.load(Relaxed),
            connections_open: self.counts.open.load(Relaxed),
            connections_reset: self.counts.reset.load(Relaxed),
            connections_reset_at_heal: self.counts.reset_at_heal.load(Relaxed),
            resets_relayed: self.counts.relayed.load(Relaxed),
            refused: self.counts.refused.load(Relaxed),
        }
    }

    async fn connect(&self) -> io::Result<TcpStream> {
        let upstream = *self.upstream.read().unwrap_or_else(PoisonError::into_inner);
        let stream = TcpStream::connect(upstream.ok_or(io::ErrorKind::NotConnected)?).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    // Aborting this task drops the set, which aborts the connections.
    let mut connections = JoinSet::new();
    let mut number = 0;
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => {
                    number += 1;
                    let open = Open::new(shared.clone());
                    let resets = shared.resets.subscribe();
                    connections.spawn(serve(client, open, resets, number));
                }
                Err(_) => {
                    // Most likely out of file descriptors: counted, and not tried again at once.
                    shared.counts.refused.fetch_add(1, Relaxed);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

/// Counts a connection as open while it lives.
struct Open(Arc<Shared>);

impl Open {
    fn new(shared: Arc<Shared>) -> Open {
        shared.counts.opened.fetch_add(1, Relaxed);
        shared.counts.open.fetch_add(1, Relaxed);
        Open(shared)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.counts.open.fetch_sub(1, Relaxed);
    }
}

async fn serve(mut client: TcpStream, open: Open, mut resets: watch::Receiver<u64>, number: u64) {
    let shared = &open.0;
    // Not part of the race below: a connection that is reset while it is being opened must be reset at both ends.
    let mut server = match client.set_nodelay(true) {
        Ok(()) => shared.connect().await.ok(),
        Err(_) => None,
    };
    let end = tokio::select! {
        biased;
        _ = resets.changed() => End::Asked,
        end = relay(&mut client, server.as_mut(), shared, number) => end,
    };
    let counter: &AtomicU64 = match end {
        End::Closed => return,
        End::Refused => &shared.counts.refused,
        End::Broken(Broken::Hole) => &shared.counts.reset_at_heal,
        End::Broken(Broken::Peer) => &shared.counts.relayed,
        End::Asked => &shared.counts.reset,
    };
    // Closing with a zero linger sends a reset and throws away what the kernel still holds.
    let is_reset = client.set_zero_linger().is_ok() && server.is_none_or(|s| s.set_zero_linger().is_ok());
    counter.fetch_add(u64::from(is_reset), Relaxed);
}

async fn relay(client: &mut TcpStream, server: Option<&mut TcpStream>, shared: &Shared, number: u64) -> End {
    let Some(server) = server else {
        shared.backward.until_open().await;
        return End::Refused;
    };
    let rng = |direction: &str| Rng::stream(shared.seed, &format!("{} {direction} {number}", shared.name));
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let forward = Pump::new(from_client, to_server, &shared.forward, &shared.backward, rng("forward"));
    let backward = Pump::new(from_server, to_client, &shared.backward, &shared.forward, rng("backward"));
    match tokio::try_join!(forward.run(), backward.run()) {
        Ok(_) => End::Closed,
        Err(broken) => End::Broken(broken),
    }
}
