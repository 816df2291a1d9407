//! The workload: clients at work while faults act, stopped at quiescence, and the history they leave.

use super::client::Client;
use super::core::Core;
use super::panics::Caught;
use super::{Evidence, Faults, Probe, Quiescent, signals};
use crate::base::time::Nanos;
use crate::cluster::Cluster;
use crate::history::History;
use crate::nemesis::Plane;
use anyhow::{Context, Result, anyhow, bail};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

/// How long clients may take to end after the workload was stopped: longer than any sensible deadline of a call.
const DRAIN: Duration = Duration::from_secs(20);
/// How long final reads may take.
const FINAL_READS: Duration = Duration::from_secs(60);

/// A workload that is being described.
#[derive(Debug)]
#[must_use = "start it"]
pub struct WorkloadBuilder {
    core: Arc<Core>,
    cluster: Cluster,
    spread: Option<usize>,
    pinned: Vec<String>,
    probes: Vec<Probe>,
    quiescence: Quiescent,
}

impl WorkloadBuilder {
    pub(crate) fn new(core: Arc<Core>, cluster: Cluster) -> WorkloadBuilder {
        let (pinned, probes, quiescence) = (Vec::new(), Vec::new(), Quiescent::default());
        WorkloadBuilder { core, cluster, spread: None, pinned, probes, quiescence }
    }

    /// `count` clients, spread over the nodes in turn. Default: two for each node.
    pub fn clients(mut self, count: usize) -> WorkloadBuilder {
        self.spread = Some(count);
        self
    }

    /// `count` clients more that talk to `node` only.
    pub fn pinned(mut self, node: &str, count: usize) -> WorkloadBuilder {
        self.pinned.extend(std::iter::repeat_n(node.to_owned(), count));
        self
    }

    /// Reads `probe` from every node, from now on.
    pub fn probe(mut self, probe: Probe) -> WorkloadBuilder {
        self.probes.push(probe);
        self
    }

    /// Reads the evidence of a hook from every node, from now on.
    pub fn evidence(self, evidence: &Evidence) -> WorkloadBuilder {
        self.probe(evidence.probe().clone())
    }

    /// When the system counts as quiescent: waited for before the final reads. Default: [`Quiescent::new`].
    pub fn quiescent(mut self, when: Quiescent) -> WorkloadBuilder {
        self.quiescence = when;
        self
    }

    /// Starts the clients: each runs `client` until it returns, which it should once [`Client::running`] is false. The
    /// workload is as long as all of them are at work: who has nothing more to do waits.
    ///
    /// Errors: no clients; a client pinned to a node that is none. An error that a client returns, and its panic, are
    /// errors of [`Workload::stop`].
    pub async fn start<F, Fut>(self, client: F) -> Result<Workload>
    where
        F: Fn(Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        let WorkloadBuilder { core, cluster, spread, pinned, probes, quiescence } = self;
        probes.iter().for_each(|probe| signals::sample_probe(&core, &cluster, probe));
        let nodes = cluster.nodes();
        let spread = (0..spread.unwrap_or(2 * nodes.len())).map(|i| nodes[i % nodes.len()].clone());
        let seats: Vec<String> = spread.chain(pinned).collect();
        if seats.is_empty() {
            bail!("a workload without clients");
        }
        let running = Arc::new(AtomicBool::new(true));
        let started = seats.len() as u64;
        let mut workload = Workload { core, cluster, running, clients: JoinSet::new(), started, quiescence };
        {
            let mut facts = workload.core.facts();
            let now = workload.core.clock.now();
            facts.workload_from = Some(now);
            facts.baseline_from = now;
        }
        for (id, node) in seats.iter().enumerate() {
            let seat = workload.seat(id as u64, node)?;
            workload.employ(seat, &client);
        }
        workload.core.events.say("progress", format!("workload of {} clients started", seats.len()));
        Ok(workload)
    }
}

/// How a client ended, and when.
struct Ended {
    client: u64,
    at: Nanos,
    result: Result<()>,
}

/// Clients at work. Dropped without [`Workload::stop`], it tells them to end.
#[derive(Debug)]
#[must_use = "its faults and its history are what the run is for"]
pub struct Workload {
    pub(super) core: Arc<Core>,
    cluster: Cluster,
    running: Arc<AtomicBool>,
    clients: JoinSet<Ended>,
    started: u64,
    quiescence: Quiescent,
}

impl std::fmt::Debug for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ended").field("client", &self.client).finish_non_exhaustive()
    }
}

impl Workload {
    /// The faults of this workload.
    pub fn faults(&self) -> Faults<'_> {
        Faults::new(self)
    }

    /// The cluster it runs on.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Waits until the workload has run for the budget's seconds and (for at most twice as long and half a minute) has
    /// had the budget's number of operations acknowledged; stops the clients, waits until nothing is in flight, heals
    /// a fault that was left, waits until the system is quiescent, and runs `final_reads` with one client for each node.
    ///
    /// Errors: a client returned an error or panicked, during the workload or the final reads; final reads took longer
    /// than a minute; the run was told to stop.
    pub async fn stop<F, Fut>(mut self, final_reads: F) -> Result<Recorded>
    where
        F: Fn(Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        let core = Arc::clone(&self.core);
        let mut ended = Vec::new();
        self.until_enough(&mut ended).await?;
        let stopped = core.clock.now();
        self.running.store(false, Ordering::Relaxed);
        self.drain(&mut ended).await?;
        self.measure(stopped, &ended);
        super::faults::heal_active(&core).await;
        if core.facts().epochs == 0 {
            super::baseline::carried_without_a_fault(&core);
        }
        core.events.say("progress", "workload stopped");
        self.quiescence.wait(&core, &self.cluster).await;
        core.events.say("progress", "final reads");
        let before = core.recorder.invoked();
        let answers = self.answers();
        self.final_reads(final_reads).await?;
        let silent = self.silent_since(&answers);
        core.facts().history_weak.extend(silent);
        if core.recorder.invoked() == before {
            core.facts().note("no operation was recorded at quiescence: there were no final reads");
        }
        Recorded::seal(&core)
    }

    pub(super) fn plane(&self) -> Plane {
        Plane::new(self.core.site.net.clone(), Arc::new(self.cluster.clone()), self.core.site.tools())
    }

    fn seat(&self, id: u64, node: &str) -> Result<Client> {
        let address = self.cluster.client_address(node).ok_or_else(|| anyhow!("`{node}` is no node of the cluster"))?;
        Client::new(&self.core, id, node, address, &self.running).context("a client cannot be recorded")
    }

    fn employ<F, Fut>(&mut self, seat: Client, work: &F)
    where
        F: Fn(Client) -> Fut,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        let (client, clock) = (seat.id(), self.core.clock);
        let work = Caught::new(work(seat));
        self.clients.spawn(async move {
            let result = work.await.unwrap_or_else(|panic| Err(anyhow!("panicked: {panic}")));
            Ended { client, at: clock.now(), result }
        });
    }

    /// Waits for the budget; ends early when every client has ended or one failed.
    async fn until_enough(&mut self, ended: &mut Vec<Ended>) -> Result<()> {
        let (core, budget) = (Arc::clone(&self.core), self.core.request.budget);
        let from = core.facts().workload_from.unwrap_or_default();
        let least = Duration::from_secs(budget.seconds);
        let most = least * 2 + Duration::from_secs(30);
        loop {
            let ran = core.clock.now().since(from);
            let reached = core.acknowledged() >= budget.operations;
            if ran >= least && (reached || ran >= most) {
                return Ok(());
            }
            tokio::select! {
                one = self.clients.join_next() => match one {
                    None => return Ok(()),
                    Some(one) => note_end(one?, ended)?,
                },
                () = core.stopping() => bail!("the run was told to stop"),
                () = tokio::time::sleep(Duration::from_millis(50)) => {}
            }
        }
    }

    /// Waits until every client has ended. One that does not is cut off, which leaves its operation unknown and the
    /// history weak.
    async fn drain(&mut self, ended: &mut Vec<Ended>) -> Result<()> {
        let draining = async {
            while let Some(one) = self.clients.join_next().await {
                note_end(one?, ended)?;
            }
            anyhow::Ok(())
        };
        tokio::select! {
            done = tokio::time::timeout(DRAIN, draining) => match done {
                Ok(done) => done,
                Err(_) => {
                    let left = self.clients.len();
                    self.clients.shutdown().await;
                    bail!("{left} clients were still at work {} s after the workload was stopped", DRAIN.as_secs())
                }
            },
            () = self.core.stopping() => bail!("the run was told to stop"),
        }
    }

    /// Of each node: operations with an answer, and operations without one.
    fn answers(&self) -> BTreeMap<String, (u64, u64)> {
        let stats = self.core.recorder.stats();
        let of = |node: String| {
            let counts = (stats.acks(&node), stats.timeouts(&node) + stats.errors(&node));
            (node, counts)
        };
        self.cluster.nodes().into_iter().map(of).collect()
    }

    /// Nodes that were asked since `before` and acknowledged nothing. What the others answer is not what all of them
    /// agree on, so silence makes the history weak.
    fn silent_since(&self, before: &BTreeMap<String, (u64, u64)>) -> Vec<String> {
        let silent = |(node, (acks, lost)): (String, (u64, u64))| {
            let (acks_before, lost_before) = before.get(&node).copied().unwrap_or_default();
            (acks == acks_before && lost > lost_before)
                .then(|| format!("{node} acknowledged none of {} operations at quiescence", lost - lost_before))
        };
        self.answers().into_iter().filter_map(silent).collect()
    }

    /// The workload lasted until it was stopped, or until the first client ended by itself: from then on the load was
    /// not the intended one (red flag 1).
    fn measure(&self, stopped: Nanos, ended: &[Ended]) {
        let first = ended.iter().map(|one| one.at).min().unwrap_or(stopped);
        let early = ended.iter().filter(|one| one.at < stopped).count();
        let mut facts = self.core.facts();
        let from = facts.workload_from.unwrap_or_default();
        let lasted = first.min(stopped).since(from);
        facts.workload = Some(Nanos::from(lasted));
        if early > 0 {
            facts.note(format!(
                "{early} of {} clients ended before the workload was stopped, the first after {:.1} s",
                self.started,
                lasted.as_secs_f32()
            ));
        }
    }

    async fn final_reads<F, Fut>(&mut self, work: F) -> Result<()>
    where
        F: Fn(Client) -> Fut,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        for (id, node) in (self.started..).zip(self.cluster.nodes()) {
            let seat = self.seat(id, &node)?;
            self.employ(seat, &work);
        }
        let core = Arc::clone(&self.core);
        let reading = async {
            while let Some(one) = self.clients.join_next().await {
                let Ended { client, result, .. } = one?;
                result.map_err(|error| error.context(format!("final reads of client {client}")))?;
            }
            anyhow::Ok(())
        };
        tokio::select! {
            done = tokio::time::timeout(FINAL_READS, reading) => {
                done.unwrap_or_else(|_| Err(anyhow!("final reads took longer than {} s", FINAL_READS.as_secs())))
            }
            () = core.stopping() => bail!("the run was told to stop"),
        }
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        self.running.store(false, Ordering::Relaxed);
    }
}

fn note_end(mut one: Ended, ended: &mut Vec<Ended>) -> Result<()> {
    let result = std::mem::replace(&mut one.result, Ok(()));
    let client = one.client;
    ended.push(one);
    result.map_err(|error| error.context(format!("client {client}")))
}

/// The history of a workload, recorded up to its final reads. Only [`Workload::stop`] makes one.
#[derive(Debug)]
#[must_use = "the oracle judges it"]
pub struct Recorded {
    pub(super) run_id: String,
    pub(super) history: Result<Arc<History>, String>,
}

impl Recorded {
    fn seal(core: &Core) -> Result<Recorded> {
        let history = History::new(core.finish_recording()?).map(Arc::new).map_err(|error| error.to_string());
        Ok(Recorded { run_id: core.request.run_id.clone(), history })
    }

    /// The history, for a look at it; `None` when what was recorded is no possible history.
    pub fn history(&self) -> Option<&History> {
        self.history.as_deref().ok()
    }
}
