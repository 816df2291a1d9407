//! A switch in this process: it reads each packet off the host's end of a node's link and writes it to another's, and may
//! do anything to it on the way.
//!
//! One thread a port reads (AF_PACKET, packet(7)); what need not wait is written by the same thread. What waits lies with
//! the [`queue`]. What happens to a packet is drawn from the seed, the names of its way and its number on that way under
//! the treatment, so a treatment of one way does not shift what is drawn for another.

mod frame;
mod port;
mod queue;
mod way;

use super::treatment::Treatment;
use super::{Counts, Namespace};
use crate::base::rng::Rng;
use anyhow::{Context, Result};
use port::Port;
use queue::Queue;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use way::{Fate, Way};

/// The switch. Dropped, its threads end.
#[derive(Debug)]
pub(super) struct Switch {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    seed: u64,
    at: Namespace,
    table: RwLock<Table>,
    queue: Queue,
    stopped: AtomicBool,
}

/// Ports and the ways between them.
#[derive(Debug, Default)]
struct Table {
    ports: BTreeMap<usize, Arc<Port>>,
    ways: BTreeMap<(usize, usize), Arc<Way>>,
}

impl Switch {
    /// A switch whose ports lie in `at`.
    pub(super) fn new(at: Namespace, seed: u64) -> Result<Switch> {
        let queue = Queue::start()?;
        let (table, stopped) = (RwLock::default(), AtomicBool::new(false));
        Ok(Switch { shared: Arc::new(Shared { seed, at, table, queue, stopped }) })
    }

    /// Connects the place `number`, known as `name`, by the interface `interface` of the switch's namespace, behind which
    /// is `mac`.
    pub(super) fn add_port(&self, number: usize, name: &str, interface: &str, mac: [u8; 6]) -> Result<()> {
        let port = self.shared.at.run(|| Port::open(name, interface, mac))?;
        let port = Arc::new(port);
        {
            let mut table = self.shared.table.write().unwrap_or_else(PoisonError::into_inner);
            let others: Vec<(usize, Arc<Port>)> = table.ports.iter().map(|(n, p)| (*n, Arc::clone(p))).collect();
            for (other, peer) in others {
                let way = |from: &Port, to: &Port| {
                    let stream = Rng::stream(self.shared.seed, &format!("switch {}->{}", from.name(), to.name()));
                    Arc::new(Way::new(stream))
                };
                table.ways.insert((number, other), way(&port, &peer));
                table.ways.insert((other, number), way(&peer, &port));
            }
            table.ports.insert(number, Arc::clone(&port));
        }
        let shared = Arc::clone(&self.shared);
        let serve = move || shared.serve(number, &port);
        std::thread::Builder::new().name(format!("port-{number}")).spawn(serve).context("a port has no thread")?;
        Ok(())
    }

    /// Treats `ways`; [`None`] ends their treatment: what waits goes on.
    pub(super) fn treat(&self, ways: &[(usize, usize)], treatment: Option<Treatment>) -> Result<()> {
        let table = self.shared.table.read().unwrap_or_else(PoisonError::into_inner);
        let found = ways.iter().map(|way| table.ways.get(way).with_context(|| format!("no way {way:?}")));
        let found: Vec<&Arc<Way>> = found.collect::<Result<_>>()?;
        found.iter().for_each(|way| way.treat(treatment));
        Ok(())
    }

    /// What was counted so far, on each way.
    pub(super) fn read(&self) -> BTreeMap<(usize, usize), Counts> {
        let table = self.shared.table.read().unwrap_or_else(PoisonError::into_inner);
        table.ways.iter().map(|(way, counted)| (*way, counted.counts())).collect()
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.shared.queue.stop();
        // Its thread may be in the middle of a wait for packets; it looks every half second.
    }
}

impl Shared {
    /// Reads packets off port `number` until the switch is dropped.
    fn serve(&self, number: usize, port: &Port) {
        let mut buffer = vec![0_u8; 64 << 10];
        while !self.stopped.load(Ordering::Relaxed) {
            let Some(length) = port.read(&mut buffer) else { continue };
            self.pass(number, &mut buffer[..length]);
        }
    }

    fn pass(&self, from: usize, frame: &mut [u8]) {
        let Some(to) = frame::destination(frame) else { return };
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        for (number, port) in &table.ports {
            let for_it = if frame::is_for_all(to) { *number != from } else { port.mac() == to };
            if let Some(way) = table.ways.get(&(from, *number)).filter(|_| for_it) {
                self.send(way, port, frame);
            }
        }
    }

    fn send(&self, way: &Arc<Way>, port: &Arc<Port>, frame: &mut [u8]) {
        match way.decide(frame) {
            Fate::Drop => {}
            Fate::Now { number, copies, flip } => {
                if let Some(bit) = flip {
                    frame::flip(frame, bit);
                }
                let written = (0..copies).filter(|_| port.write(frame)).count();
                way.delivered(frame, number, written, flip.is_some());
                if let Some(bit) = flip {
                    // The same bytes may go to another place, undamaged.
                    frame::flip(frame, bit);
                }
            }
            Fate::Later { number, due, why } => {
                self.queue.push(queue::Waiting::new(due, number, why, Arc::clone(way), Arc::clone(port), frame));
            }
        }
    }
}
