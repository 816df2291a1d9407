//! Nemeses that act on the cluster as a whole, by its processes.

use super::contract::{at, names};
use super::{BoxFuture, Nemesis, Plane};
use anyhow::{Context, Result, bail};
use std::fmt;
use std::future::Future;

/// Says which node leads now.
type FindLeader = Box<dyn Fn() -> BoxFuture<'static, Result<String>> + Send + Sync>;

/// `rolling-restart`, in a wrong order: one node after the other is stopped by SIGTERM and started again, each only when
/// the one before is ready, so that leadership changes hands again and again.
///
/// Evidence: `process-restarted` and `process-exit`. Cleanup: a node that is down when the fault is taken back is
/// started. The fault acts while it is injected: hold it only as long as its victims' signals need.
pub struct RollingRestart {
    nodes: Vec<String>,
    order: Order,
}

enum Order {
    /// As the nodes are named.
    Given,
    /// So many times whoever leads at that moment.
    Leaders { times: u32, find: FindLeader },
}

impl RollingRestart {
    /// Restarts `nodes` in this order, which should cross as many leaderships as it can: name the leader first, then
    /// those that are likely to follow it.
    pub fn in_order<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> RollingRestart {
        RollingRestart { nodes: names(nodes), order: Order::Given }
    }

    /// Restarts whoever leads, as many times as there are `nodes` and never the same one twice in a row: `find` is asked
    /// before each step, and asked again for up to 10 s while it has no answer, or the answer is who led before.
    pub fn of_leaders<S, F, Fut>(nodes: impl IntoIterator<Item = S>, find: F) -> RollingRestart
    where
        S: Into<String>,
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String>> + Send + 'static,
    {
        let nodes = names(nodes);
        let times = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        RollingRestart { nodes, order: Order::Leaders { times, find: Box::new(move || Box::pin(find())) } }
    }

    async fn restart_all(&self, plane: &Plane) -> Result<()> {
        if self.nodes.is_empty() {
            bail!("no node is named: the fault would do nothing");
        }
        match &self.order {
            Order::Given => {
                for node in &self.nodes {
                    restart(node, plane).await?;
                }
            }
            Order::Leaders { times, find } => {
                let mut before = String::new();
                for _ in 0..*times {
                    before = another_leader(find, &before).await?;
                    restart(&before, plane).await?;
                }
            }
        }
        Ok(())
    }
}

async fn restart(node: &str, plane: &Plane) -> Result<()> {
    plane.nodes().terminate(node).await?;
    plane.nodes().start(node).await
}

/// Who leads, if not who led before.
async fn another_leader(find: &FindLeader, before: &str) -> Result<String> {
    let until = tokio::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        let found = find().await;
        match found {
            Ok(leader) if leader != before => return Ok(leader),
            Ok(leader) if tokio::time::Instant::now() > until => bail!("{leader} leads again after its restart"),
            Err(error) if tokio::time::Instant::now() > until => return Err(error).context("no leader was found"),
            _ => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    }
}

impl Nemesis for RollingRestart {
    fn name(&self) -> &str {
        "rolling-restart"
    }

    fn detail(&self) -> String {
        match &self.order {
            Order::Given => format!("restart of {}, one after the other", self.nodes.join(", ")),
            Order::Leaders { times, .. } => format!("restart of whoever leads, {times} times"),
        }
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        [at("process-exit", &self.nodes), at("process-restarted", &self.nodes)].concat()
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.restart_all(plane))
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut failed = Ok(());
            for node in plane.nodes().names().iter().filter(|node| !plane.nodes().runs(node)) {
                failed = failed.and(plane.nodes().start(node).await);
            }
            failed
        })
    }
}

impl fmt::Debug for RollingRestart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RollingRestart").field("detail", &self.detail()).finish_non_exhaustive()
    }
}
