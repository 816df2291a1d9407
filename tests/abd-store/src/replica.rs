//! One node's copy of all registers.

use crate::log::{self, Append, Durable, Entry, Log};
use crate::options::{Bug, Options};
use crate::tag::Version;
use anyhow::{Context as _, Result};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

/// The versions a node holds. What [`Replica::query`] shows is durable: a version enters the map after its fdatasync,
/// so no reader can build on a version that a crash takes back.
pub struct Replica {
    versions: Arc<Versions>,
    appends: Mutex<Option<mpsc::Sender<Append>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    batches: Arc<AtomicU64>,
    boot: u32,
}

#[derive(Default)]
struct Versions(Mutex<HashMap<Arc<str>, Version>>);

impl Versions {
    /// Keeps the newer of what is there and what comes.
    fn apply(&self, key: Arc<str>, version: Version) {
        let mut versions = crate::lock(&self.0);
        match versions.get_mut(&key) {
            Some(held) if held.tag >= version.tag => {}
            Some(held) => *held = version,
            None => drop(versions.insert(key, version)),
        }
    }
}

impl Replica {
    /// Recovers from the log and starts the thread that writes it.
    pub fn open(options: &Options) -> Result<Replica> {
        let (log, recovered, boot) = Log::open(&options.data)?;
        let records = recovered.entries.len();
        let versions = Arc::new(Versions::default());
        for entry in recovered.entries {
            if let Entry::Stored { key, version } = entry {
                versions.apply(key, version);
            }
        }
        let keys = crate::lock(&versions.0).len();
        let torn = recovered.torn;
        crate::say(
            &options.node,
            format_args!("recovered {records} records, {keys} keys, {torn} torn bytes dropped, boot {boot}"),
        );
        let (appends, queue) = mpsc::channel();
        let batches = Arc::new(AtomicU64::new(0));
        let (map, count, lazy) = (versions.clone(), batches.clone(), options.has(Bug::AckBeforeWrite));
        let write = move || {
            let apply = |key, version| map.apply(key, version);
            if lazy { log::lazy_commit(log, &queue, apply) } else { log::group_commit(log, &queue, &count, apply) }
        };
        let writer = std::thread::Builder::new().name("log".into()).spawn(write).context("starting the log thread")?;
        Ok(Replica { versions, appends: Mutex::new(Some(appends)), writer: Mutex::new(Some(writer)), batches, boot })
    }

    /// How often the node has started.
    pub fn boot(&self) -> u32 {
        self.boot
    }

    /// Batches written so far.
    pub(crate) fn batches(&self) -> u64 {
        crate::stats::get(&self.batches)
    }

    /// The version held durably.
    pub fn query(&self, key: &str) -> Option<Version> {
        crate::lock(&self.versions.0).get(key).cloned()
    }

    /// Keeps `version` unless a newer one is held; calls `durable` when that is so on disk. After [`Replica::close`]
    /// it is never called.
    pub(crate) fn store(&self, key: Arc<str>, version: Version, durable: Durable) {
        if self.query(&key).is_some_and(|held| held.tag >= version.tag) {
            return durable();
        }
        if let Some(appends) = &*crate::lock(&self.appends) {
            let _ = appends.send(Append { key, version, durable });
        }
    }

    /// Writes what waits and ends the log thread.
    pub fn close(&self) {
        drop(crate::lock(&self.appends).take());
        if let Some(writer) = crate::lock(&self.writer).take() {
            let _ = writer.join();
        }
    }
}

impl std::fmt::Debug for Replica {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replica").field("boot", &self.boot).finish_non_exhaustive()
    }
}
