//! The connection from a coordinator to the replica of another node.

use crate::frames::{FrameReader, Outbox};
use crate::options::Peer;
use crate::stats;
use crate::wire::Reply;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, sleep, timeout};

/// First and longest pause between two attempts to connect.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(320));

/// What came of a call: the place of the node in its cluster, and its reply, or `None` after the peer timeout.
pub(crate) type Answer = (u16, Option<Reply>);

/// A link. Calls are idempotent, so one that was under way when the connection broke is sent again on the next one,
/// until it is answered or its time is over.
#[derive(Debug)]
pub(crate) struct Link {
    peer: Peer,
    place: u16,
    limit: Duration,
    calls: Mutex<Calls>,
    outbox: Outbox,
    timeouts: AtomicU64,
}

#[derive(Debug, Default)]
struct Calls {
    pending: HashMap<u64, Call>,
    /// Ids by deadline; the limit is the same for all, so the order of calling is the order of expiring.
    order: VecDeque<(Instant, u64)>,
    connected: bool,
    /// When the peer last answered, or the connection was made.
    heard: Option<Instant>,
    /// A call has expired since then.
    silent: bool,
}

#[derive(Debug)]
struct Call {
    frame: Arc<[u8]>,
    answer: UnboundedSender<Answer>,
}

impl Link {
    /// A link that is not connected yet; [`Link::run`] does that.
    pub(crate) fn new(peer: Peer, place: u16, limit: Duration) -> Link {
        Link { peer, place, limit, calls: Mutex::default(), outbox: Outbox::default(), timeouts: AtomicU64::new(0) }
    }

    /// Name of the peer.
    pub(crate) fn name(&self) -> &str {
        &self.peer.name
    }

    /// Place of the peer in its cluster.
    pub(crate) fn place(&self) -> u16 {
        self.place
    }

    /// Calls that stayed unanswered.
    pub(crate) fn timeouts(&self) -> u64 {
        stats::get(&self.timeouts)
    }

    /// Sends the frame of request `id`; exactly one [`Answer`] follows.
    pub(crate) fn call(&self, id: u64, frame: Arc<[u8]>, answer: UnboundedSender<Answer>) {
        let mut calls = crate::lock(&self.calls);
        if calls.connected {
            self.outbox.push(&frame);
        }
        calls.order.push_back((Instant::now() + self.limit, id));
        calls.pending.insert(id, Call { frame, answer });
    }

    /// Sends the frame once if the link is connected, and forgets it (the defect `ack-before-quorum`).
    pub(crate) fn tell(&self, frame: &[u8]) {
        if crate::lock(&self.calls).connected {
            self.outbox.push(frame);
        }
    }

    /// Keeps the link connected and its calls expiring; never returns.
    pub(crate) async fn run(&self) {
        tokio::join!(self.stay_connected(), self.expire());
    }

    async fn stay_connected(&self) {
        let mut pause = BACKOFF.0;
        loop {
            if let Ok(Ok(stream)) = timeout(self.limit, TcpStream::connect(self.peer.address)).await {
                if self.talk(stream).await.is_ok() {
                    pause = BACKOFF.0;
                }
                let mut calls = crate::lock(&self.calls);
                calls.connected = false;
                self.outbox.clear();
            }
            sleep(pause).await;
            pause = (pause * 2).min(BACKOFF.1);
        }
    }

    /// One connection until it ends, `Ok` if the peer ever answered on it.
    async fn talk(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        if stream.local_addr()? == stream.peer_addr()? {
            // Connecting to a free port of this machine can, rarely, succeed with itself.
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (reader, writer) = stream.into_split();
        let begun = Instant::now();
        self.resend(begun);
        tokio::select! {
            _ = self.outbox.drain_to(writer) => {}
            _ = self.listen(FrameReader::new(reader)) => {}
            () = self.silence() => {}
        }
        let heard = crate::lock(&self.calls).heard;
        if heard > Some(begun) { Ok(()) } else { Err(io::ErrorKind::NotConnected.into()) }
    }

    fn resend(&self, now: Instant) {
        let mut calls = crate::lock(&self.calls);
        self.outbox.clear();
        for (_, id) in &calls.order {
            if let Some(call) = calls.pending.get(id) {
                self.outbox.push(&call.frame);
            }
        }
        calls.connected = true;
        calls.heard = Some(now);
        calls.silent = false;
    }

    async fn listen(&self, mut frames: FrameReader<impl tokio::io::AsyncRead + Unpin>) -> io::Result<()> {
        while let Some((id, reply)) = frames.next::<Reply>().await? {
            let mut calls = crate::lock(&self.calls);
            calls.heard = Some(Instant::now());
            calls.silent = false;
            if let Some(call) = calls.pending.remove(&id) {
                let _ = call.answer.send((self.place, Some(reply)));
            }
        }
        Ok(())
    }

    /// Returns when calls expired and the peer has been silent for so long that a fresh connection is worth a try.
    async fn silence(&self) {
        loop {
            sleep(self.limit / 2).await;
            let calls = crate::lock(&self.calls);
            if calls.silent && calls.heard.is_none_or(|heard| heard.elapsed() > 3 * self.limit) {
                return;
            }
        }
    }

    async fn expire(&self) {
        let tick = (self.limit / 10).max(Duration::from_millis(1));
        loop {
            sleep(tick).await;
            let now = Instant::now();
            let mut calls = crate::lock(&self.calls);
            while let Some((deadline, id)) = calls.order.front().copied()
                && deadline <= now
            {
                calls.order.pop_front();
                if let Some(call) = calls.pending.remove(&id) {
                    stats::count(&self.timeouts);
                    calls.silent = true;
                    let _ = call.answer.send((self.place, None));
                }
            }
        }
    }
}
