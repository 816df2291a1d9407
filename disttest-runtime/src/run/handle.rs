//! The handle a scenario is given.

use super::core::Core;
use super::{Oracle, Recorded, WorkloadBuilder, seal, signals};
use crate::base::rng::Rng;
use crate::cluster::{Cluster, Program};
use crate::fault::{FaultBudget, Hit, Kind, Schedule};
use crate::nemesis::net::enclosure;
use crate::plan::{Budget, Tier};
use crate::recorder::PARTS_DIR;
use anyhow::{Context, Result, anyhow, bail};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One execution of one seed of a scenario.
///
/// Everything random in a scenario must come from [`Run::rng`], so that the seed that a failing run prints repeats it.
pub struct Run {
    core: Arc<Core>,
}

impl Run {
    pub(crate) fn new(core: Arc<Core>) -> Run {
        Run { core }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.core.request.seed
    }

    /// The stream of random numbers for the purpose `name`. Equal names give equal streams.
    pub fn rng(&self, name: &str) -> Rng {
        Rng::stream(self.core.request.seed, name)
    }

    /// The tier asked for.
    pub fn tier(&self) -> Tier {
        self.core.request.tier
    }

    /// What the run has to reach: nodes, seconds of workload, fault windows, operations.
    pub fn budget(&self) -> Budget {
        self.core.request.budget
    }

    /// Unique id of this execution.
    pub fn run_id(&self) -> &str {
        &self.core.request.run_id
    }

    /// Scenario id, such as `S1` or `S5/api`.
    pub fn scenario(&self) -> &str {
        &self.core.request.scenario
    }

    /// Folder for artifacts of this run.
    pub fn dir(&self) -> &Path {
        self.core.run_dir()
    }

    /// Folder for logs of the system under test.
    pub fn log_dir(&self) -> &Path {
        &self.core.site.log_dir
    }

    /// Names of the nodes that [`Run::cluster`] starts: `n1` up to the budget's number.
    pub fn nodes(&self) -> Vec<String> {
        (1..=self.budget().nodes).map(|i| format!("n{i}")).collect()
    }

    /// The nodes in an order drawn from stream `name`, split into a minority (less than half) and the rest. With
    /// fewer than three nodes the minority is one node.
    pub fn minority(&self, name: &str) -> (Vec<String>, Vec<String>) {
        let mut nodes = self.nodes();
        self.rng(name).shuffle(&mut nodes);
        let majority =
            nodes.split_off((nodes.len().saturating_sub(1) / 2).clamp(1, nodes.len().max(1)).min(nodes.len()));
        (nodes, majority)
    }

    /// What the faults of the run may do, by the budget: its number of windows in its seconds, on its nodes, with less than
    /// half of them down at once. See [`Run::schedule`].
    pub fn fault_budget(&self) -> FaultBudget {
        FaultBudget::new(self.nodes(), self.budget().faults, Duration::from_secs(self.budget().seconds))
    }

    /// A timeline of `kinds` within `budget`, drawn from the seed; [`super::Faults::follow`] injects it.
    ///
    /// Errors: the budget cannot hold it, such as a kind that takes a majority down where that may not fall.
    ///
    /// ```no_run
    /// use disttest_runtime::prelude::*;
    ///
    /// # async fn scenario(run: Run, workload: Workload) -> disttest_runtime::Result<()> {
    /// let kinds = [Kind::owing("kill", 1), Kind::passing("cut", 1)];
    /// let schedule = run.schedule(&kinds, &run.fault_budget())?;
    /// let everybody = run.nodes();
    /// let faults = workload.faults();
    /// let fault = |kind: &&str, nodes: &[String]| -> Box<dyn Nemesis> {
    ///     let rest = everybody.iter().filter(|node| !nodes.contains(node)).cloned();
    ///     match *kind {
    ///         "kill" => Box::new(HardKill::new(nodes.to_vec())),
    ///         _ => Box::new(FullPartition::new(nodes.to_vec(), rest)),
    ///     }
    /// };
    /// faults.follow(schedule, fault).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn schedule<K>(&self, kinds: &[Kind<K>], budget: &FaultBudget) -> Result<Schedule<Hit<K>>>
    where
        K: Clone + PartialEq,
    {
        Schedule::within(self.seed(), kinds, budget).map_err(|why| anyhow!("no schedule of faults: {why}"))
    }

    /// One node drawn from stream `name`.
    pub fn any_node(&self, name: &str) -> String {
        let nodes = self.nodes();
        self.rng(name).pick(&nodes).cloned().unwrap_or_else(|| "n1".to_owned())
    }

    /// Says something to whoever watches the run.
    pub fn progress(&self, message: impl Into<String>) {
        self.core.events.say("progress", message);
    }

    /// Adds a fact that the report shows to its reader.
    pub fn note(&self, note: impl Into<String>) {
        let note = note.into();
        self.core.events.say("note", note.clone());
        self.core.facts().note(note);
    }

    /// Starts the budget's number of nodes of `program` and waits until each answers its readiness probe. Sampling of
    /// the declared signals starts here. One cluster a run.
    ///
    /// Errors: a node ended or was not ready in time (with the end of its log); no ports; a second call.
    pub async fn cluster(&self, program: Program) -> Result<Cluster> {
        if self.core.facts().cluster.is_some() {
            bail!("this run has its cluster already");
        }
        if program.wants_own_addresses() {
            self.enclose()?;
        }
        let (count, started) = (self.budget().nodes, Instant::now());
        self.progress(format!("starting {count} nodes"));
        let cluster = Cluster::start(program, usize::try_from(count)?, Arc::clone(&self.core.site)).await;
        let cluster = match cluster {
            Ok(cluster) => cluster,
            Err(error) => {
                self.core.facts().precondition("cluster up", false, format!("{error:#}"));
                return Err(error);
            }
        };
        let took = started.elapsed().as_secs_f32();
        let evidence = format!("{} answered the readiness probe within {took:.2} s", cluster.nodes().join(", "));
        self.progress(evidence.clone());
        let mut facts = self.core.facts();
        facts.precondition("cluster up", true, evidence);
        facts.cluster = Some(cluster.clone());
        drop(facts);
        signals::sample_cluster(&self.core, &cluster);
        Ok(cluster)
    }

    /// Begins this run again inside of private namespaces, if it is not there: a process of many threads cannot enter
    /// them any more. Returns when there is nothing to do, or it cannot be done.
    fn enclose(&self) -> Result<()> {
        // A refusal is told when the cluster is wired; a process that no supervisor started cannot begin again.
        if let (None, Some(secret)) = (enclosure::of_this_process(), seal::held()) {
            self.progress("beginning again in private namespaces");
            let parts = self.core.run_dir().join(PARTS_DIR);
            std::fs::remove_dir(&parts).context("operations were recorded before the cluster was started")?;
            return Err(enclosure::begin_again_inside(secret).context("private namespaces"));
        }
        Ok(())
    }

    /// A workload on `cluster`, to be described and started.
    pub fn workload(&self, cluster: Cluster) -> WorkloadBuilder {
        WorkloadBuilder::new(Arc::clone(&self.core), cluster)
    }

    /// The oracle over a recorded history.
    pub fn oracle(&self, recorded: Recorded) -> Oracle {
        Oracle::new(Arc::clone(&self.core), recorded)
    }

    /// Waits for `future` in a scenario that is not `async`.
    ///
    /// # Panics
    /// In an `async` scenario, or on a thread that the run did not start: write `.await` there.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        tokio::runtime::Handle::current().block_on(future)
    }

    /// How long a fault is held by default, so that the budget's faults fit into its seconds with a baseline before and
    /// a recovery after each: from 2.5 s to 30 s.
    pub fn default_hold(&self) -> Duration {
        default_hold(&self.budget())
    }
}

/// See [`Run::default_hold`].
pub(crate) fn default_hold(budget: &Budget) -> Duration {
    let share = budget.seconds as f64 / budget.faults.max(1) as f64;
    // 1.2 s of baseline and about 2 s until the heal has shown itself belong to each window.
    // Shorter than 2.5 s, timeouts of clients that wait a second for an answer would come too seldom to show.
    Duration::from_secs_f64((share - 3.5).clamp(2.5, 30.0))
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("run_id", &self.run_id()).field("seed", &self.seed()).finish_non_exhaustive()
    }
}
