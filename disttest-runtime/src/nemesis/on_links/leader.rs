//! Faults on whoever leads, found by a probe at the moment of the fault.

use super::super::{BoxFuture, Nemesis, Plane};
use super::cuts::two_sides;
use super::{LinkFault, Sides};
use anyhow::{Context, Result, bail};
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

type Find = Arc<dyn Fn() -> BoxFuture<'static, Result<String>> + Send + Sync>;

/// Longest search for a leader.
const SEARCH: Duration = Duration::from_secs(10);

/// `leader-isolation`: whoever leads at the moment of the fault is cut off from all other nodes, both ways; they see each
/// other, and clients see everybody.
///
/// The leader is the victim. Heal it once the others have elected another.
pub struct LeaderIsolation(Isolation);

/// `split-brain`: the leader is cut off from the other nodes, and stands still until they have had time to elect another;
/// then it goes on, believing what it believed.
///
/// A partition with pressure on the time that leadership may last: a leader that looks at its clock before it answers
/// notices, one that goes on with what it was doing answers beside the new one. Clients reach everybody.
pub struct SplitBrain {
    isolation: Isolation,
    stand_still: Duration,
}

/// The leader against the rest.
struct Isolation {
    name: &'static str,
    find: Find,
    leader: Option<String>,
    fault: Option<LinkFault>,
}

impl LeaderIsolation {
    /// The leader is who `find` names: the name of a node, such as `n2`. It is asked again while it errs, for at most
    /// 10 s.
    pub fn found_by<F, Fut>(find: F) -> LeaderIsolation
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String>> + Send + 'static,
    {
        LeaderIsolation(Isolation::new("leader-isolation", find))
    }
}

impl SplitBrain {
    /// The leader is who `find` names; it stands still for `stand_still`, which should be longer than its leadership
    /// lasts without word from the others.
    pub fn found_by<F, Fut>(find: F, stand_still: Duration) -> SplitBrain
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String>> + Send + 'static,
    {
        SplitBrain { isolation: Isolation::new("split-brain", find), stand_still }
    }
}

impl Isolation {
    fn new<F, Fut>(name: &'static str, find: F) -> Isolation
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String>> + Send + 'static,
    {
        Isolation { name, find: Arc::new(move || Box::pin(find())), leader: None, fault: None }
    }

    /// Finds the leader, and with it who is to be cut off from whom.
    async fn aim(&mut self, plane: &Plane) -> Result<()> {
        let nodes = plane.nodes().names();
        let leader = self.leader().await?;
        if !nodes.contains(&leader) {
            bail!("the leader is said to be `{leader}`, which is none of {}", nodes.join(", "));
        }
        let others = nodes.into_iter().filter(|node| *node != leader);
        let mut sides = Sides::new([leader.clone()], others);
        sides.victims = sides.a.clone();
        let fault = two_sides(self.name, &sides);
        (self.leader, self.fault) = (Some(leader), Some(fault));
        Ok(())
    }

    async fn leader(&self) -> Result<String> {
        let search = async {
            loop {
                match (self.find)().await {
                    Ok(leader) => return leader,
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        };
        match tokio::time::timeout(SEARCH, search).await {
            Ok(leader) => Ok(leader),
            Err(_) => {
                // Asked once more for the words of its error.
                let why = tokio::time::timeout(Duration::from_secs(1), (self.find)()).await;
                why.context("no answer")?.with_context(|| format!("no leader was found within {} s", SEARCH.as_secs()))
            }
        }
    }

    fn detail(&self) -> String {
        self.fault.as_ref().map_or_else(|| "the leader, once it is found".to_owned(), |fault| fault.detail.clone())
    }

    fn fault(&self) -> Result<&LinkFault> {
        self.fault.as_ref().context("no leader was found")
    }
}

impl Nemesis for LeaderIsolation {
    fn name(&self) -> &str {
        self.0.name
    }

    fn detail(&self) -> String {
        self.0.detail()
    }

    fn victims(&self) -> Vec<String> {
        self.0.leader.iter().cloned().collect()
    }

    fn injector(&self) -> Vec<(String, String)> {
        self.0.fault.as_ref().map(LinkFault::injector).unwrap_or_default()
    }

    fn prepare<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.aim(plane))
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { self.0.fault()?.inject(plane) })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { self.0.fault()?.heal(plane) })
    }
}

impl Nemesis for SplitBrain {
    fn name(&self) -> &str {
        self.isolation.name
    }

    fn detail(&self) -> String {
        format!("{}; it stands still for {:?}", self.isolation.detail(), self.stand_still)
    }

    fn victims(&self) -> Vec<String> {
        self.isolation.leader.iter().cloned().collect()
    }

    fn injector(&self) -> Vec<(String, String)> {
        self.isolation.fault.as_ref().map(LinkFault::injector).unwrap_or_default()
    }

    fn prepare<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.isolation.aim(plane))
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let leader = self.isolation.leader.clone().context("no leader was found")?;
            self.isolation.fault()?.inject(plane)?;
            plane.nodes().pause(&leader).await?;
            tokio::time::sleep(self.stand_still).await;
            plane.nodes().resume(&leader).await
        })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let healed = self.isolation.fault()?.heal(plane);
            // An injection that was broken off may have left it standing.
            if let Some(leader) = self.isolation.leader.as_ref().filter(|leader| plane.nodes().runs(leader)) {
                plane.nodes().resume(leader).await?;
            }
            healed
        })
    }
}

impl fmt::Debug for LeaderIsolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeaderIsolation").field(&self.0.leader).finish()
    }
}

impl fmt::Debug for SplitBrain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SplitBrain").field(&self.isolation.leader).finish()
    }
}
