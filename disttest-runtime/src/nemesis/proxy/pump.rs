//! One direction of one connection: from the socket it is read from, through the rule, to the socket it is written to.
//!
//! Invariant: a stream is delivered without a hole or not at all. Once a pump has swallowed a byte it writes nothing
//! and ends nothing cleanly any more; when the rule stops swallowing, the connection is reset.

use super::counters::LiveLane;
use super::rule::Rule;
use crate::base::rng::Rng;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// A buffer starts small, since a cut piles up idle connections, and grows with the reads that fill it.
const SMALLEST_BUFFER: usize = 8 << 10;
const LARGEST_BUFFER: usize = 256 << 10;
/// Bytes that may be under way in a delay; beyond, the sender feels back-pressure.
const LARGEST_QUEUE: usize = 4 << 20;
/// A throttled stream is written in pieces worth this long.
const PIECE: Duration = Duration::from_millis(20);

/// One direction of a link: its rule and its counts.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) rule: watch::Sender<Rule>,
    pub(super) counts: LiveLane,
}

impl Lane {
    /// Resolves once the lane swallows nothing.
    pub(super) async fn until_open(&self) {
        // An error would mean that the sender is gone, and `self` holds it.
        drop(self.rule.subscribe().wait_for(|rule| *rule != Rule::Drop).await);
    }
}

/// Why a connection must be reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// Its stream lost bytes and the cut is over.
    Hole,
    /// One end reset it.
    Peer,
}

struct Chunk {
    data: Vec<u8>,
    sent: usize,
    read_at: Instant,
    due: Instant,
}

enum Event {
    Read(std::io::Result<usize>),
    Due,
    Rule,
}

/// See the module.
pub(super) struct Pump<'a> {
    source: ReadHalf<'a>,
    sink: WriteHalf<'a>,
    lane: &'a Lane,
    /// The other direction: what the source may learn of the sink travels there.
    back: &'a Lane,
    rule: watch::Receiver<Rule>,
    current: Rule,
    rng: Rng,
    lost: bool,
    buffer: Vec<u8>,
    queue: VecDeque<Chunk>,
    queued: usize,
    paid_until: Instant,
}

impl<'a> Pump<'a> {
    /// A pump for a new connection.
    pub(super) fn new(source: ReadHalf<'a>, sink: WriteHalf<'a>, lane: &'a Lane, back: &'a Lane, rng: Rng) -> Pump<'a> {
        let mut rule = lane.rule.subscribe();
        let current = *rule.borrow_and_update();
        Pump {
            source,
            sink,
            lane,
            back,
            rule,
            current,
            rng,
            lost: false,
            buffer: vec![0; SMALLEST_BUFFER],
            queue: VecDeque::new(),
            queued: 0,
            paid_until: Instant::now(),
        }
    }

    /// Runs until the source's end of stream has been delivered, or the connection is to be reset.
    pub(super) async fn run(mut self) -> Result<(), Broken> {
        loop {
            match self.next().await {
                Event::Read(Ok(0)) => break self.deliver_end().await,
                Event::Read(Ok(n)) => self.took(n).await?,
                Event::Read(Err(_)) => {
                    self.drain().await?;
                    break Err(Broken::Peer);
                }
                Event::Due => self.send_first().await?,
                Event::Rule => self.obey()?,
            }
        }
    }

    async fn next(&mut self) -> Event {
        let due = self.queue.front().map(|chunk| chunk.due);
        let has_room = self.queued < LARGEST_QUEUE;
        tokio::select! {
            biased;
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => Event::Due,
            read = self.source.read(&mut self.buffer), if has_room => Event::Read(read),
            _ = self.rule.changed() => Event::Rule,
        }
    }

    /// Applies the rule to the `n` bytes just read.
    async fn took(&mut self, n: usize) -> Result<(), Broken> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let result = self.apply(&buffer[..n]).await;
        if n == buffer.len() && n < LARGEST_BUFFER {
            buffer = vec![0; n * 2];
        }
        self.buffer = buffer;
        result
    }

    async fn apply(&mut self, mut data: &[u8]) -> Result<(), Broken> {
        while !data.is_empty() {
            self.obey()?;
            match self.current {
                Rule::Drop => {
                    self.swallow(data.len());
                    break;
                }
                Rule::Delay { mean, jitter } => {
                    let delay = self.draw(mean, jitter);
                    self.enqueue(data, delay);
                    break;
                }
                // What an ended delay still holds goes first.
                _ if !self.queue.is_empty() => {
                    self.enqueue(data, Duration::ZERO);
                    break;
                }
                Rule::Pass => {
                    self.send(data).await?;
                    break;
                }
                Rule::Throttle { bytes_per_second } => {
                    let n = self.pay(data.len(), bytes_per_second.max(1)).await;
                    self.send(&data[..n]).await?;
                    data = &data[n..];
                }
            }
        }
        Ok(())
    }

    /// Looks at the rule, and does to what is queued what a change of it asks for.
    fn obey(&mut self) -> Result<(), Broken> {
        self.current = *self.rule.borrow_and_update();
        match self.current {
            Rule::Drop => {
                let queued: usize = self.queue.drain(..).map(|chunk| chunk.data.len() - chunk.sent).sum();
                self.queued = 0;
                self.swallow(queued);
            }
            _ if self.lost => return Err(Broken::Hole),
            Rule::Delay { .. } => {}
            Rule::Pass | Rule::Throttle { .. } => {
                let now = Instant::now();
                self.queue.iter_mut().for_each(|chunk| chunk.due = chunk.due.min(now));
            }
        }
        Ok(())
    }

    fn swallow(&mut self, n: usize) {
        if n > 0 {
            self.lost = true;
            self.lane.counts.dropped.fetch_add(n as u64, Relaxed);
        }
    }

    fn draw(&mut self, mean: Duration, jitter: Duration) -> Duration {
        let width = u64::try_from(jitter.as_nanos()).unwrap_or(u64::MAX >> 2).min(u64::MAX >> 2);
        let drawn = Duration::from_nanos(self.rng.below(2 * width + 1));
        (mean + drawn).saturating_sub(jitter)
    }

    fn enqueue(&mut self, data: &[u8], delay: Duration) {
        let read_at = Instant::now();
        // Never before what came before it.
        let after = self.queue.back().map_or(read_at, |chunk| chunk.due);
        self.queued += data.len();
        self.queue.push_back(Chunk { data: data.to_vec(), sent: 0, read_at, due: (read_at + delay).max(after) });
    }

    async fn send_first(&mut self) -> Result<(), Broken> {
        self.obey()?;
        let Some(chunk) = self.queue.pop_front() else { return Ok(()) };
        self.queued -= chunk.data.len();
        let waited = Instant::now() >= chunk.due && chunk.due > chunk.read_at;
        let ended_early = !matches!(self.current, Rule::Delay { .. });
        self.send(&chunk.data[chunk.sent..]).await?;
        if waited && !ended_early && !self.lost {
            self.lane.counts.delayed.fetch_add(1, Relaxed);
        }
        Ok(())
    }

    /// Waits until the bandwidth has room for a piece of `wanted` bytes and says how large it is; 0 when the rule
    /// changed instead.
    async fn pay(&mut self, wanted: usize, bytes_per_second: u64) -> usize {
        let piece = (u128::from(bytes_per_second) * PIECE.as_millis() / 1_000).max(1);
        let piece = usize::try_from(piece).unwrap_or(usize::MAX).min(wanted);
        let now = Instant::now();
        if self.paid_until > now {
            tokio::select! {
                () = sleep_until(self.paid_until) => {}
                _ = self.rule.changed() => return 0,
            }
            self.lane.counts.throttled.fetch_add(piece as u64, Relaxed);
        }
        self.paid_until = self.paid_until.max(now) + Duration::from_secs_f64(piece as f64 / bytes_per_second as f64);
        piece
    }

    /// Writes `data` out. What a receiver has not taken when the rule turns to [`Rule::Drop`] is swallowed.
    async fn send(&mut self, mut data: &[u8]) -> Result<(), Broken> {
        while !data.is_empty() {
            let written = tokio::select! {
                biased;
                written = self.sink.write(data) => Some(written),
                _ = self.rule.wait_for(|rule| *rule == Rule::Drop) => None,
            };
            match written {
                None => {
                    self.swallow(data.len());
                    break;
                }
                Some(Ok(n)) if n > 0 => {
                    self.lane.counts.passed.fetch_add(n as u64, Relaxed);
                    data = &data[n..];
                }
                Some(_) => {
                    self.back.until_open().await;
                    return Err(Broken::Peer);
                }
            }
        }
        Ok(())
    }

    /// Delivers what is queued and waits until the lane is open.
    async fn drain(&mut self) -> Result<(), Broken> {
        loop {
            self.obey()?;
            let due = self.queue.front().map(|chunk| chunk.due);
            match due {
                None if self.current != Rule::Drop => return Ok(()),
                _ => tokio::select! {
                    () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => self.send_first().await?,
                    _ = self.rule.changed() => {}
                },
            }
        }
    }

    async fn deliver_end(&mut self) -> Result<(), Broken> {
        self.drain().await?;
        match self.sink.shutdown().await {
            Ok(()) => Ok(()),
            Err(_) => {
                self.back.until_open().await;
                Err(Broken::Peer)
            }
        }
    }
}
