//! Nemeses that act on faulty disks: power loss, failing and slow calls, bits that flip.
//!
//! The nodes need a faulty disk: [`super::Disk::Faulty`] in [`crate::cluster::Program::disk`].

use super::faulty::Faulty;
use super::wrong::{Calls, Count, Wrong};
use crate::base::rng::Rng;
use crate::nemesis::contract::{at, names};
use crate::nemesis::{BoxFuture, Nemesis, Plane};
use anyhow::{Context, Result, bail};
use std::sync::Arc;
use std::time::Duration;

/// How long files of a node that was killed may stay open.
const CLOSED: Duration = Duration::from_secs(5);

/// `power-loss`: nodes are killed, and what they wrote and did not sync is gone; they are started again at the heal.
///
/// Mechanism: SIGKILL, then the disk undoes every write since the last sync of its file. Evidence: `disk-lost-bytes`, the
/// bytes that were unsynced when the power went (a node that has synced everything loses nothing, and nothing has
/// landed), and `process-exit`. Names of files survive, as on a file system with a journal.
#[derive(Debug)]
pub struct PowerLoss {
    nodes: Vec<String>,
    tear: Option<Rng>,
}

/// `write-failure` or `fsync-failure`: calls of nodes fail with EIO. Evidence: `disk-failed-calls`.
///
/// A write that fails has written nothing. A sync that fails has kept nothing. A node that ends on it ends by itself:
/// allow that by [`crate::cluster::Program::allow_exit`]; it is started again at the heal.
#[derive(Debug)]
pub struct DiskFailure {
    name: &'static str,
    disks: Disks,
}

/// `slow-disk`: reads, writes and syncs of nodes take longer. Evidence: `disk-delayed-calls`. What the kernel has in its
/// cache is read as fast as ever.
#[derive(Debug)]
pub struct SlowDisk(Disks);

/// `bit-flip`: each read of nodes that reaches the disk has one bit flipped; what is on the disk is as it was. Evidence:
/// `disk-flipped-bits`.
#[derive(Debug)]
pub struct BitFlip(Disks);

/// Disks of some nodes, and what becomes wrong with them.
#[derive(Debug)]
struct Disks {
    nodes: Vec<String>,
    how: How,
    struck: Vec<(String, Arc<Faulty>)>,
}

#[derive(Clone, Debug)]
enum How {
    Fail(Calls),
    Delay(Duration),
    Flip(u64),
}

impl PowerLoss {
    /// Takes the power from `nodes`, all at once.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> PowerLoss {
        PowerLoss { nodes: names(nodes), tear: None }
    }

    /// The oldest unsynced write of each file is torn: it is there up to the end of some sector, drawn by `seed`, and not
    /// beyond. A write within one sector cannot be torn.
    #[must_use]
    pub fn torn(mut self, seed: u64) -> PowerLoss {
        self.tear = Some(Rng::stream(seed, "torn writes"));
        self
    }

    async fn strike(&mut self, plane: &Plane) -> Result<()> {
        if self.nodes.is_empty() {
            bail!("no node is named: the fault would do nothing");
        }
        let disks = self.nodes.iter().map(|node| faulty(node, plane)).collect::<Result<Vec<_>>>()?;
        for node in &self.nodes {
            plane.nodes().kill(node).await?;
        }
        for (node, disk) in self.nodes.iter().zip(disks) {
            let until = tokio::time::Instant::now() + CLOSED;
            while disk.open_files() > 0 {
                if tokio::time::Instant::now() > until {
                    bail!("files on the disk of {node} are still open");
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            let before = disk.unsynced();
            let loss = disk.lose(self.tear.as_mut()).with_context(|| format!("the disk of {node}"))?;
            if loss.bytes > before {
                bail!("{} bytes were lost on the disk of {node}, and {before} were unsynced", loss.bytes);
            }
            plane.tools().meters.add("disk-lost-bytes", node, loss.bytes as f64);
        }
        Ok(())
    }
}

impl DiskFailure {
    /// Has writes of `nodes` fail.
    pub fn of_writes<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> DiskFailure {
        DiskFailure { name: "write-failure", disks: Disks::new(names(nodes), How::Fail(Calls::Writes)) }
    }

    /// Has fsync and fdatasync of `nodes` fail.
    pub fn of_syncs<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> DiskFailure {
        DiskFailure { name: "fsync-failure", disks: Disks::new(names(nodes), How::Fail(Calls::Syncs)) }
    }
}

impl SlowDisk {
    /// Has each call of `nodes` take `longer`.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>, longer: Duration) -> SlowDisk {
        SlowDisk(Disks::new(names(nodes), How::Delay(longer)))
    }
}

impl BitFlip {
    /// Flips a bit, drawn by `seed`, in each read of `nodes`.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>, seed: u64) -> BitFlip {
        BitFlip(Disks::new(names(nodes), How::Flip(seed)))
    }
}

fn faulty(node: &str, plane: &Plane) -> Result<Arc<Faulty>> {
    let disk = plane.nodes().disk(node)?;
    let disk = disk.and_then(|disk| disk.faulty().cloned());
    disk.with_context(|| format!("{node} has no faulty disk: see Program::disk and Disk::Faulty"))
}

impl Disks {
    fn new(nodes: Vec<String>, how: How) -> Disks {
        Disks { nodes, how, struck: Vec::new() }
    }

    fn count(&self) -> (&'static str, Count) {
        match self.how {
            How::Fail(_) => ("disk-failed-calls", Count::Failed),
            How::Delay(_) => ("disk-delayed-calls", Count::Delayed),
            How::Flip(_) => ("disk-flipped-bits", Count::Flipped),
        }
    }

    fn detail(&self) -> String {
        let nodes = self.nodes.join(", ");
        match &self.how {
            How::Fail(Calls::Syncs) => format!("fsync and fdatasync of {nodes} fail at the disk"),
            How::Fail(_) => format!("writes of {nodes} fail at the disk"),
            How::Delay(by) => format!("each call of {nodes} takes {by:?} longer at the disk"),
            How::Flip(seed) => format!("a bit flips in each read of {nodes} (seed {seed})"),
        }
    }

    fn injector(&self) -> Vec<(String, String)> {
        at(self.count().0, &self.nodes)
    }

    fn strike(&mut self, plane: &Plane) -> Result<()> {
        if self.nodes.is_empty() {
            bail!("no node is named: the fault would do nothing");
        }
        let (signal, what) = self.count();
        for node in &self.nodes {
            let disk = faulty(node, plane)?;
            let (counting, before) = (Arc::clone(&disk), disk.count(what));
            let count = move || Some((counting.count(what) - before) as f64);
            plane.tools().meters.follow(signal, node, Box::new(count));
            let how = self.how.clone();
            disk.set(|wrong| match how {
                How::Fail(calls) => wrong.fail = Some(calls),
                How::Delay(by) => wrong.delay = Some((Calls::All, by)),
                How::Flip(seed) => wrong.flip = Some(Rng::stream(seed, "flipped bits")),
            });
            self.struck.push((node.clone(), disk));
        }
        Ok(())
    }

    async fn mend(&mut self, plane: &Plane) -> Result<()> {
        let (signal, _) = self.count();
        let mut failed = Ok(());
        for (node, disk) in self.struck.drain(..) {
            disk.set(|wrong| *wrong = Wrong::default());
            plane.tools().meters.settle(signal, &node);
            if !plane.nodes().runs(&node) {
                failed = failed.and(plane.nodes().start(&node).await);
            }
        }
        failed
    }
}

impl Nemesis for PowerLoss {
    fn name(&self) -> &str {
        "power-loss"
    }

    fn detail(&self) -> String {
        let torn = if self.tear.is_some() { ", writes torn" } else { "" };
        format!("the power of {} is gone{torn}", self.nodes.join(", "))
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("disk-lost-bytes", &self.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.strike(plane))
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut failed = Ok(());
            for node in self.nodes.iter().filter(|node| !plane.nodes().runs(node)) {
                failed = failed.and(plane.nodes().start(node).await);
            }
            failed
        })
    }
}

/// Nemeses on faulty disks differ in their names only.
macro_rules! nemesis {
    ($type:ident, $name:expr, $disks:tt) => {
        impl Nemesis for $type {
            fn name(&self) -> &str {
                let name: fn(&$type) -> &'static str = $name;
                name(self)
            }

            fn detail(&self) -> String {
                self.$disks.detail()
            }

            fn victims(&self) -> Vec<String> {
                self.$disks.nodes.clone()
            }

            fn injector(&self) -> Vec<(String, String)> {
                self.$disks.injector()
            }

            fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
                Box::pin(async move { self.$disks.strike(plane) })
            }

            fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
                Box::pin(self.$disks.mend(plane))
            }
        }
    };
}

nemesis!(DiskFailure, |failure| failure.name, disks);
nemesis!(SlowDisk, |_| "slow-disk", 0);
nemesis!(BitFlip, |_| "bit-flip", 0);
