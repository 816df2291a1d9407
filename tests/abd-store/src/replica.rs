//! One node's copy of all registers and counters.

use crate::counting::Increments;
use crate::log::{self, Append, Durable, Entry, Log};
use crate::options::{Bug, Options};
use crate::tag::Version;
use anyhow::{Context as _, Result};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

/// What a node holds. What [`Replica::query`] and [`Replica::collect`] show is durable: it enters its map after its
/// fdatasync, so no reader can build on something that a crash takes back.
pub struct Replica {
    held: Arc<Held>,
    appends: Mutex<Option<mpsc::Sender<Append>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    batches: Arc<AtomicU64>,
    boot: u32,
}

#[derive(Default)]
struct Held {
    versions: Mutex<HashMap<Arc<str>, Version>>,
    counters: Mutex<HashMap<Arc<str>, Arc<Increments>>>,
}

impl Held {
    /// Keeps the newer of what is there and what comes, or both.
    fn apply(&self, entry: Entry) {
        match entry {
            Entry::Boot(_) => {}
            Entry::Stored { key, version } => {
                let mut versions = crate::lock(&self.versions);
                match versions.get_mut(&key) {
                    Some(held) if held.tag >= version.tag => {}
                    Some(held) => *held = version,
                    None => drop(versions.insert(key, version)),
                }
            }
            Entry::Counted { key, increments } => {
                let mut counters = crate::lock(&self.counters);
                Arc::make_mut(counters.entry(key).or_default()).join(&increments);
            }
        }
    }
}

impl Replica {
    /// Recovers from the log and starts the thread that writes it.
    pub fn open(options: &Options) -> Result<Replica> {
        let (log, recovered, boot) = Log::open(&options.data)?;
        let records = recovered.entries.len();
        let held = Arc::new(Held::default());
        recovered.entries.into_iter().for_each(|entry| held.apply(entry));
        let keys = crate::lock(&held.versions).len() + crate::lock(&held.counters).len();
        let torn = recovered.torn;
        crate::say(
            &options.node,
            format_args!("recovered {records} records, {keys} keys, {torn} torn bytes dropped, boot {boot}"),
        );
        let (appends, queue) = mpsc::channel();
        let batches = Arc::new(AtomicU64::new(0));
        let (map, count, lazy) = (held.clone(), batches.clone(), options.has(Bug::AckBeforeWrite));
        let write = move || {
            let apply = |entry| map.apply(entry);
            if lazy { log::lazy_commit(log, &queue, apply) } else { log::group_commit(log, &queue, &count, apply) }
        };
        let writer = std::thread::Builder::new().name("log".into()).spawn(write).context("starting the log thread")?;
        Ok(Replica { held, appends: Mutex::new(Some(appends)), writer: Mutex::new(Some(writer)), batches, boot })
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
        crate::lock(&self.held.versions).get(key).cloned()
    }

    /// The increments held durably.
    pub fn collect(&self, key: &str) -> Arc<Increments> {
        crate::lock(&self.held.counters).get(key).cloned().unwrap_or_default()
    }

    /// Keeps `version` unless a newer one is held; calls `durable` when that is so on disk. After [`Replica::close`]
    /// it is never called.
    pub(crate) fn store(&self, key: Arc<str>, version: Version, durable: Durable) {
        if self.query(&key).is_some_and(|held| held.tag >= version.tag) {
            return durable();
        }
        self.append(Entry::Stored { key, version }, durable);
    }

    /// Keeps `increments` beside those that are held; calls `durable` when that is so on disk. After
    /// [`Replica::close`] it is never called.
    pub(crate) fn add(&self, key: Arc<str>, increments: &Increments, durable: Durable) {
        let lacking = self.collect(&key).lacks(increments);
        if lacking.is_empty() {
            return durable();
        }
        self.append(Entry::Counted { key, increments: lacking.into() }, durable);
    }

    fn append(&self, entry: Entry, durable: Durable) {
        if let Some(appends) = &*crate::lock(&self.appends) {
            let _ = appends.send(Append { entry, durable });
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
