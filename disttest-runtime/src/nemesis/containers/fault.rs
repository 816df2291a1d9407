//! What all faults by a client share: act, read back until it shows, watch while it lasts, undo, read back again.

use super::client::Client;
use crate::nemesis::{Act, Plane};
use anyhow::{Context, Result, bail};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long what a client did may take to show, and to be undone.
const SHOWS_WITHIN: Duration = Duration::from_secs(30);
/// How often it is read back, and how old a reading may be.
const LOOK: Duration = Duration::from_millis(150);
const STALE: Duration = Duration::from_secs(1);

/// What a client shows of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The fault acts.
    pub(super) acts: bool,
    /// The target is as it should be after the heal.
    pub(super) well: bool,
    /// What was read, for people.
    pub(super) what: String,
}

/// Reads a target back.
pub(super) type Look = Arc<dyn Fn() -> Result<Seen> + Send + Sync>;

/// One fault on one target.
pub(super) struct Step {
    pub(super) node: String,
    pub(super) act: Vec<String>,
    /// Empty when the target comes back by itself.
    pub(super) undo: Vec<String>,
    pub(super) look: Look,
    watch: Option<Watch>,
    acted: bool,
}

/// Undoes `steps`, the last one first: each of them, and the first error is told.
pub(super) async fn heal_all(steps: &mut [Step], client: &Client, signal: &str, plane: &Plane) -> Result<()> {
    let mut failed = Ok(());
    for step in steps.iter_mut().rev() {
        failed = failed.and(step.heal(client, signal, plane).await);
    }
    failed
}

impl Step {
    pub(super) fn new(node: &str, act: Vec<String>, undo: Vec<String>, look: Look) -> Step {
        Step { node: node.to_owned(), act, undo, look, watch: None, acted: false }
    }

    /// Lets the fault loose, and has its reading followed as `signal`. An error when reading back does not show it, whatever
    /// the client returned.
    pub(super) async fn inject(&mut self, client: &Client, signal: &str, plane: &Plane) -> Result<()> {
        let before = looked(&self.look).await?;
        if before.acts || !before.well {
            bail!("{} is not as it should be before the fault: {}", self.node, before.what);
        }
        let watch = Watch::start(Arc::clone(&self.look))?;
        plane.tools().meters.follow(signal, &self.node, watch.source());
        self.watch = Some(watch);
        if !self.undo.is_empty() {
            let undo = client.line(&self.undo)?;
            plane.tools().journal.write(&Act::ByClient { node: self.node.clone(), undo })?;
        }
        self.acted = true;
        called(client, &self.act).await?;
        until(&self.look, |seen| seen.acts)
            .await
            .with_context(|| format!("`{}` returned and nothing shows for it at {}", self.act.join(" "), self.node))
    }

    /// Undoes it and waits until reading back shows that.
    pub(super) async fn heal(&mut self, client: &Client, signal: &str, plane: &Plane) -> Result<()> {
        let healed = match (self.acted, self.undo.is_empty()) {
            (false, _) => Ok(()),
            (true, true) => until(&self.look, |seen| seen.well).await,
            (true, false) => match called(client, &self.undo).await {
                Ok(()) => until(&self.look, |seen| seen.well).await,
                // It may have come back by itself, which is as good.
                Err(error) => until(&self.look, |seen| seen.well).await.map_err(|_| error),
            },
        };
        if let Some(watch) = self.watch.take() {
            watch.refresh();
            plane.tools().meters.settle(signal, &self.node);
        }
        if healed.is_ok() && self.acted && !self.undo.is_empty() {
            plane.tools().journal.write(&Act::ClientUndone { undo: client.line(&self.undo)? })?;
        }
        healed.with_context(|| format!("{} did not come back", self.node))
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").field("node", &self.node).field("act", &self.act).finish_non_exhaustive()
    }
}

/// Calls a client off the threads of the run.
pub(super) async fn called(client: &Client, args: &[String]) -> Result<()> {
    let (client, args) = (client.clone(), args.to_vec());
    tokio::task::spawn_blocking(move || client.ask(&args)).await?.map(drop)
}

async fn looked(look: &Look) -> Result<Seen> {
    let look = Arc::clone(look);
    tokio::task::spawn_blocking(move || look()).await?
}

async fn until(look: &Look, holds: impl Fn(&Seen) -> bool) -> Result<()> {
    let deadline = Instant::now() + if cfg!(test) { Duration::from_secs(2) } else { SHOWS_WITHIN };
    loop {
        let seen = looked(look).await;
        match seen {
            Ok(seen) if holds(&seen) => return Ok(()),
            Ok(seen) if Instant::now() > deadline => bail!("it shows {}", seen.what),
            Err(error) if Instant::now() > deadline => return Err(error),
            _ => tokio::time::sleep(LOOK).await,
        }
    }
}

/// Reads a target back on a thread of its own: a client takes longer than a sampler may wait.
struct Watch {
    shared: Arc<Watched>,
}

struct Watched {
    look: Look,
    stopped: AtomicBool,
    last: Mutex<Option<(Instant, f64)>>,
}

impl Watch {
    fn start(look: Look) -> Result<Watch> {
        let shared = Arc::new(Watched { look, stopped: AtomicBool::new(false), last: Mutex::default() });
        shared.read();
        let watched = Arc::clone(&shared);
        let watching = move || {
            while !watched.stopped.load(Ordering::Relaxed) {
                watched.read();
                std::thread::sleep(LOOK);
            }
        };
        std::thread::Builder::new().name("client".to_owned()).spawn(watching).context("no thread to read back")?;
        Ok(Watch { shared })
    }

    /// 1 while the fault acts, 0 while it does not; a gap when nothing fresh was read.
    fn source(&self) -> Box<dyn FnMut() -> Option<f64> + Send> {
        let shared = Arc::clone(&self.shared);
        Box::new(move || {
            let last = *shared.last.lock().unwrap_or_else(PoisonError::into_inner);
            last.filter(|(at, _)| at.elapsed() < STALE).map(|(_, value)| value)
        })
    }

    /// Reads once, now.
    fn refresh(&self) {
        self.shared.read();
    }
}

impl Watched {
    fn read(&self) {
        if let Ok(seen) = (self.look)() {
            let value = f64::from(u8::from(seen.acts));
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), value));
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
    }
}
