//! The recorder: what clients did, as it happened, with nothing left out.
//!
//! Each client has its own buffer and its own part file, so that clients do not wait for one another; at the end the
//! parts are read back, counted against what the clients began, and merged into the history. What is lost on the way
//! shows as an unknown outcome or as a defect, never as silence.

mod client;
mod clock;
mod epochs;
mod finish;
mod part;
mod pending;
mod stats;

#[cfg(test)]
mod tests;

pub use client::ClientRecorder;
pub use clock::Clock;
pub use epochs::EpochCell;
pub use finish::{Finished, HISTORY_FILE, PARTS_DIR};
pub use pending::Pending;
pub use stats::{Latencies, Stats};

use client::Client;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Records the operations of a run's clients. Clones are the same recorder.
#[derive(Clone, Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
    dir: Arc<Path>,
    clients: Arc<Mutex<Clients>>,
}

#[derive(Debug, Default)]
struct Clients {
    by_process: BTreeMap<u64, Arc<Client>>,
    finished: bool,
}

/// What clients share: nothing they wait for.
#[derive(Debug)]
struct Shared {
    clock: Clock,
    epochs: EpochCell,
    next_op: AtomicU64,
    closing: AtomicBool,
    stats: Stats,
}

impl Shared {
    fn is_closing(&self) -> bool {
        self.closing.load(Relaxed)
    }
}

impl Recorder {
    /// A recorder that writes into `dir`, which must exist. An error when a history is there already, or the parts of
    /// one: they are another run's.
    pub fn create(dir: impl Into<PathBuf>, clock: Clock, epochs: EpochCell) -> io::Result<Recorder> {
        let dir: PathBuf = dir.into();
        if dir.join(HISTORY_FILE).exists() {
            let what = format!("{} has a history already", dir.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        fs::create_dir(dir.join(PARTS_DIR))?;
        let shared = Shared {
            clock,
            epochs,
            next_op: AtomicU64::new(0),
            closing: AtomicBool::new(false),
            stats: Stats::default(),
        };
        Ok(Recorder { shared: Arc::new(shared), dir: dir.into(), clients: Arc::default() })
    }

    /// The recorder of the client `process_id`: the same one for the same id. An error when its part file cannot be
    /// made, or the recorder has finished.
    pub fn client(&self, process_id: u64) -> io::Result<ClientRecorder> {
        let mut clients = self.clients();
        if clients.finished {
            return Err(io::Error::other("the recorder has finished"));
        }
        if let Some(client) = clients.by_process.get(&process_id) {
            return Ok(ClientRecorder { client: client.clone() });
        }
        let path = finish::part_path(&self.dir, process_id);
        let client = Arc::new(Client::create(process_id, self.shared.clone(), &path)?);
        clients.by_process.insert(process_id, client.clone());
        Ok(ClientRecorder { client })
    }

    /// Live counts, for probes.
    pub fn stats(&self) -> Stats {
        self.shared.stats.clone()
    }

    /// Operations begun so far, by all clients.
    pub fn invoked(&self) -> u64 {
        self.clients().by_process.values().map(|client| client.invoked.load(Relaxed)).sum()
    }

    /// Operations that have begun and not ended, of all clients.
    pub fn in_flight(&self) -> usize {
        self.clients().by_process.values().map(|client| client.in_flight()).sum()
    }

    /// From now on clients are being stopped: an operation that loses its handle has an unknown outcome and is no
    /// defect.
    pub fn closing(&self) {
        self.shared.closing.store(true, Relaxed);
    }

    /// The clients have been stopped, and what comes now (such as reads of the final state) must end properly again.
    pub fn closed(&self) {
        self.shared.closing.store(false, Relaxed);
    }

    /// Ends what is still in flight as unknown, and merges all into the history, synced to disk. An error when that
    /// cannot be written or read back, or when it was done before.
    pub fn finish(&self) -> io::Result<Finished> {
        let mut clients = self.clients();
        if std::mem::replace(&mut clients.finished, true) {
            return Err(io::Error::other("the recorder has finished before"));
        }
        let remains = clients.by_process.iter().map(|(process, client)| Ok((*process, client.close()?)));
        finish::merge(&self.dir, remains.collect::<io::Result<Vec<_>>>()?)
    }

    fn clients(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
