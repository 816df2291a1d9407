//! A full disk.

use super::Mounted;
use crate::nemesis::contract::{at, names};
use crate::nemesis::{BoxFuture, Nemesis, Plane};
use anyhow::{Context, Result, bail};
use rustix::fs::{FallocateFlags, fallocate};
use std::fs::{self, File, OpenOptions};
use std::sync::Arc;
use std::time::Duration;

/// How often what the node has freed is taken again.
const KEEP: Duration = Duration::from_millis(20);

/// `disk-full`: nothing more can be written to the disks of nodes (ENOSPC); what they free is taken at once.
///
/// The nodes need a disk of their own: [`super::Disk::sized`] in [`crate::cluster::Program::disk`]. Mechanism: a file
/// beside the node's folder takes all free space; the heal removes it. Evidence: `disk-exhausted`, present while the
/// file system itself says that nothing is free. A node that writes into space it took before (a preallocated log)
/// does not notice for a while: then only the injector's side moves, and the fault has not landed.
#[derive(Debug)]
pub struct DiskFull {
    nodes: Vec<String>,
    filled: Vec<Filled>,
}

#[derive(Debug)]
struct Filled {
    disk: Arc<Mounted>,
    keeper: tokio::task::JoinHandle<()>,
}

impl DiskFull {
    /// Fills the disks of `nodes`.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> DiskFull {
        DiskFull { nodes: names(nodes), filled: Vec::new() }
    }
}

impl Nemesis for DiskFull {
    fn name(&self) -> &str {
        "disk-full"
    }

    fn detail(&self) -> String {
        format!("no space on the disk of {}", self.nodes.join(", "))
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("disk-exhausted", &self.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.nodes.is_empty() {
                bail!("no node is named: the fault would do nothing");
            }
            for node in &self.nodes {
                let disk = plane.nodes().disk(node)?;
                let disk = disk.with_context(|| format!("{node} has no disk of its own: see Program::disk"))?;
                let file = OpenOptions::new().create(true).append(true).open(disk.ballast())?;
                let keeper = tokio::spawn(keep_full(Arc::clone(&disk), file.try_clone()?));
                self.filled.push(Filled { disk: Arc::clone(&disk), keeper });
                fill(&disk, &file).with_context(|| format!("the disk of {node}"))?;
            }
            Ok(())
        })
    }

    fn heal<'a>(&'a mut self, _plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut failed = Ok(());
            for Filled { disk, keeper } in self.filled.drain(..) {
                keeper.abort();
                // The file is gone when nobody holds it open any more.
                drop(keeper.await);
                failed = failed.and(empty(&disk));
            }
            failed
        })
    }
}

/// Takes all that is free. Something that the node frees meanwhile may stay: the keeper takes it.
fn fill(disk: &Mounted, file: &File) -> Result<()> {
    let mut length = file.metadata()?.len();
    loop {
        let mut take = disk.free()?;
        if take == 0 {
            return Ok(());
        }
        // The node writes as well, and a file needs pages for its own index: take less until it fits.
        while let Err(errno) = fallocate(file, FallocateFlags::empty(), length, take) {
            if errno != rustix::io::Errno::NOSPC {
                return Err(errno).context("space cannot be taken");
            }
            take /= 2;
            if take == 0 {
                return Ok(());
            }
        }
        length += take;
    }
}

async fn keep_full(disk: Arc<Mounted>, file: File) {
    loop {
        tokio::time::sleep(KEEP).await;
        // An error shows in the meter, which asks the file system.
        drop(fill(&disk, &file));
    }
}

fn empty(disk: &Mounted) -> Result<()> {
    fs::remove_file(disk.ballast()).context("what fills the disk cannot be removed")?;
    if disk.free()? == 0 {
        bail!("nothing is free on {} although what filled it was removed", disk.folder().display());
    }
    Ok(())
}
