//! What the parts of one run share.

use super::active::Active;
use super::events::Events;
use super::sampler::Sampler;
use super::{Entry, facts::Facts};
use crate::base::time::Nanos;
use crate::cluster::{CLIENT, Mourners, Site};
use crate::history::Op;
use crate::nemesis::net::{Backend, NetnsNet, enclosure};
use crate::nemesis::{Journal, Launcher, Meters, Network, ProxyNet};
use crate::recorder::{Clock, EpochCell, Recorder};
use crate::verdict::RunRequest;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// One execution of one seed.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) request: RunRequest,
    pub(crate) entry: Entry,
    pub(crate) clock: Clock,
    pub(crate) epochs: EpochCell,
    pub(crate) recorder: Recorder,
    pub(crate) events: Arc<Events>,
    pub(crate) sampler: Sampler,
    pub(crate) site: Arc<Site>,
    /// The fault that acts now. Held while it is injected or healed.
    pub(crate) active: tokio::sync::Mutex<Option<Active>>,
    /// The guard of the active fault was dropped without a heal.
    pub(crate) abandoned: AtomicBool,
    /// Checkers are at work on the scenario's thread: no deadline but their own applies.
    pub(crate) judging: AtomicBool,
    /// Told to stop: checkers ask it.
    pub(crate) stop: Arc<AtomicBool>,
    stopped: watch::Sender<bool>,
    facts: Mutex<Facts>,
    answers: Mutex<BTreeMap<String, Answered>>,
}

/// The latest acknowledged operation at a node.
#[derive(Clone, Copy, Debug)]
struct Answered {
    invoked: Nanos,
    completed: Nanos,
}

impl Core {
    /// Opens the journal and timeline of a run; nothing acts yet. To be called inside the run's tokio runtime.
    pub(crate) fn new(entry: Entry, request: RunRequest) -> Result<Core> {
        if request.schema != "disttest.request/1" {
            bail!("a request of schema `{}`, this runtime reads `disttest.request/1`", request.schema);
        }
        let (run_dir, log_dir) = (PathBuf::from(&request.run_dir), PathBuf::from(&request.log_dir));
        for dir in [&run_dir, &log_dir] {
            std::fs::create_dir_all(dir).with_context(|| format!("{} cannot be made", dir.display()))?;
        }
        // Node logs are recognised by their path, also by processes that resolved it.
        let log_dir = log_dir.canonicalize().with_context(|| format!("{}", log_dir.display()))?;
        let clock = Clock::start();
        let events = Arc::new(Events::open(&request)?);
        let told = Arc::clone(&events);
        let mourners = Mourners::new(move |death| {
            let allowed = if death.allowed { ", as the test allows" } else { "" };
            told.say("node died", format!("{} ended by itself: {}{allowed}", death.node, death.how));
        });
        let site = Site {
            mourners,
            journal: Arc::new(Journal::open(&run_dir, &request.run_id)?),
            run_dir,
            log_dir,
            sut_args: request.sut_args.clone(),
            launcher: Launcher::new(entry.function)?,
            clock,
            net: network(&entry, ProxyNet::seeded(clock, request.seed), request.seed),
            meters: Meters::default(),
        };
        let epochs = EpochCell::new(clock);
        Ok(Core {
            events,
            recorder: Recorder::create(&request.run_dir, clock, epochs.clone())
                .context("the recorder did not start")?,
            epochs,
            sampler: Sampler::start(clock)?,
            site: Arc::new(site),
            active: tokio::sync::Mutex::new(None),
            abandoned: AtomicBool::new(false),
            judging: AtomicBool::new(false),
            stop: Arc::new(AtomicBool::new(false)),
            stopped: watch::Sender::new(false),
            facts: Mutex::default(),
            answers: Mutex::default(),
            clock,
            entry,
            request,
        })
    }

    /// Says what faults act by, and why.
    pub(crate) fn say_backend(&self) {
        let said = match (self.site.net.namespaces(), self.site.net.why_missing()) {
            (Some(net), _) => {
                let how = enclosure::of_this_process().and_then(Result::ok).map(|enclosure| enclosure.how);
                let why = Backend::choose(self.entry.injector).map(|choice| choice.why).unwrap_or_default();
                format!("network namespaces, {}; {}: {why}", how.unwrap_or_default(), net.backend())
            }
            (None, Some(why)) => format!("none: {why}"),
            (None, None) => "the proxy: no declared signal asks for network namespaces".to_owned(),
        };
        self.events.say("fault plane", said);
    }

    /// The facts. Never held across an await.
    pub(crate) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn run_dir(&self) -> &Path {
        Path::new(&self.request.run_dir)
    }

    /// Tells every part that the run is over.
    pub(crate) fn tell_to_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.stopped.send_replace(true);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Completes when the run is told to stop.
    pub(crate) async fn stopping(&self) {
        // The sender lives as long as `self`.
        drop(self.stopped.subscribe().wait_for(|stopped| *stopped).await);
    }

    /// Operations acknowledged so far, by all nodes.
    pub(crate) fn acknowledged(&self) -> u64 {
        let stats = self.recorder.stats();
        stats.nodes().iter().map(|node| stats.acks(node)).sum()
    }

    /// Ends the recording, once: what was in flight has an unknown outcome. Counts and defects are facts from now on.
    pub(crate) fn finish_recording(&self) -> Result<Vec<Op>> {
        let finished = self.recorder.finish().context("the history cannot be written")?;
        let mut facts = self.facts();
        facts.operations = finished.counts;
        facts.history_weak.extend(finished.defects);
        facts.history_sha256 = Some(finished.sha256);
        facts.recording_finished = true;
        Ok(finished.ops)
    }

    /// An operation of `node` was acknowledged.
    pub(crate) fn answered(&self, node: &str, invoked: Nanos, completed: Nanos) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        match answers.get_mut(node) {
            Some(last) if last.invoked >= invoked => {}
            Some(last) => *last = Answered { invoked, completed },
            None => drop(answers.insert(node.to_owned(), Answered { invoked, completed })),
        }
    }

    /// When `node` acknowledged an operation that was invoked at `since` or later, if it did.
    pub(crate) fn answered_since(&self, node: &str, since: Nanos) -> Option<Nanos> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(node).filter(|last| last.invoked >= since).map(|last| last.completed)
    }
}

/// The network that the declared signals and the namespaces of this process allow.
fn network(entry: &Entry, proxy: ProxyNet, seed: u64) -> Network {
    let bound = Backend::bound_by(entry.injector);
    let made = match (enclosure::of_this_process(), bound.first()) {
        (None, None) => return Network::proxied(proxy),
        (None, Some(backend)) => {
            Err(anyhow::anyhow!("signals of `{backend}` are declared, and this process entered no namespaces"))
        }
        (Some(Err(why)), _) => Err(anyhow::anyhow!("{why}")),
        (Some(Ok(_)), _) => Backend::choose(entry.injector)
            .and_then(|choice| NetnsNet::new(choice.backend, seed, CLIENT).context("no network of namespaces")),
    };
    match made {
        Ok(net) => Network::of_namespaces(proxy, net),
        Err(error) => Network::missing(proxy, format!("{error:#}")),
    }
}
