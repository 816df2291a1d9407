//! Nemeses that act on the nodes' processes: kill -9, stop, pause, restart.

use super::contract::{at, names};
use super::{BoxFuture, Nemesis, Plane};
use anyhow::{Context, Result, bail};

/// `hard-kill`: SIGKILL to nodes; they are started again at the heal.
///
/// Evidence: `process-exit`, counted from the wait status; after the heal a process with another start time.
#[derive(Debug)]
pub struct HardKill {
    nodes: Vec<String>,
}

impl HardKill {
    /// Kills `nodes`, all at once.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> HardKill {
        HardKill { nodes: names(nodes) }
    }
}

/// `graceful-stop`: SIGTERM to nodes; they are started again at the heal.
///
/// Evidence: `process-exit`. A node that ends by a panic or another signal has crashed: that is a violation and no
/// landing.
#[derive(Debug)]
pub struct GracefulStop {
    nodes: Vec<String>,
}

impl GracefulStop {
    /// Stops `nodes`, one after the other.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> GracefulStop {
        GracefulStop { nodes: names(nodes) }
    }
}

/// `pause`: SIGSTOP to nodes, SIGCONT at the heal. Connections to a paused node stay open and silent.
///
/// Evidence: `process-stopped`, present while every task of a node's process is in state `T`.
#[derive(Debug)]
pub struct Pause {
    nodes: Vec<String>,
}

impl Pause {
    /// Pauses `nodes`.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> Pause {
        Pause { nodes: names(nodes) }
    }
}

/// `restart`: SIGTERM to each node and an immediate start, one node after the other. Nothing is left to heal.
///
/// Evidence: `process-exit` and `process-restarted`, counted when a process with another start time is ready.
#[derive(Debug)]
pub struct Restart {
    nodes: Vec<String>,
}

impl Restart {
    /// Restarts `nodes` in this order.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> Restart {
        Restart { nodes: names(nodes) }
    }
}

impl Nemesis for HardKill {
    fn name(&self) -> &str {
        "hard-kill"
    }

    fn detail(&self) -> String {
        format!("SIGKILL to {}", self.nodes.join(", "))
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("process-exit", &self.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            nobody_is_an_error(&self.nodes)?;
            // At once: a quorum killed one by one is another fault than a quorum killed together.
            let killing: Vec<_> = self.nodes.iter().map(|node| plane.nodes().kill(node)).collect();
            all_of(killing).await
        })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(start_all(&self.nodes, plane))
    }
}

impl Nemesis for GracefulStop {
    fn name(&self) -> &str {
        "graceful-stop"
    }

    fn detail(&self) -> String {
        format!("SIGTERM to {}", self.nodes.join(", "))
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("process-exit", &self.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            nobody_is_an_error(&self.nodes)?;
            for node in &self.nodes {
                plane.nodes().terminate(node).await?;
            }
            Ok(())
        })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(start_all(&self.nodes, plane))
    }
}

impl Nemesis for Pause {
    fn name(&self) -> &str {
        "pause"
    }

    fn detail(&self) -> String {
        format!("SIGSTOP to {}", self.nodes.join(", "))
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("process-stopped", &self.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            nobody_is_an_error(&self.nodes)?;
            for node in &self.nodes {
                plane.nodes().pause(node).await?;
            }
            Ok(())
        })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut failed = Ok(());
            for node in &self.nodes {
                // Each is tried: one node that died while paused must not leave the others paused.
                failed = failed.and(plane.nodes().resume(node).await);
            }
            failed
        })
    }
}

impl Nemesis for Restart {
    fn name(&self) -> &str {
        "restart"
    }

    fn detail(&self) -> String {
        format!("SIGTERM and start of {}", self.nodes.join(", "))
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        [at("process-exit", &self.nodes), at("process-restarted", &self.nodes)].concat()
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            nobody_is_an_error(&self.nodes)?;
            for node in &self.nodes {
                plane.nodes().terminate(node).await?;
                plane.nodes().start(node).await?;
            }
            Ok(())
        })
    }

    /// Only after an injection that was cut short is there something to start.
    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(start_all(&self.nodes, plane))
    }
}

fn nobody_is_an_error(nodes: &[String]) -> Result<()> {
    if nodes.is_empty() {
        bail!("no node is named: the fault would do nothing");
    }
    Ok(())
}

/// Starts those of `nodes` that do not run. Each is tried; the first error is returned.
async fn start_all(nodes: &[String], plane: &Plane) -> Result<()> {
    let down = nodes.iter().filter(|node| !plane.nodes().runs(node));
    let starting: Vec<_> = down.map(|node| plane.nodes().start(node)).collect();
    all_of(starting).await
}

/// Runs `acts` together; the first error, with what failed beside it.
async fn all_of<T: Send>(acts: Vec<BoxFuture<'_, Result<T>>>) -> Result<()> {
    let mut errors = Vec::new();
    for act in join_all(acts).await {
        errors.extend(act.err());
    }
    let more = errors.len().saturating_sub(1);
    match errors.into_iter().next() {
        None => Ok(()),
        Some(error) if more == 0 => Err(error),
        Some(error) => Err(error).with_context(|| format!("and {more} more failed")),
    }
}

/// Polls all of `futures` until each is done.
pub(crate) async fn join_all<T>(mut futures: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (future, slot) in futures.iter_mut().zip(&mut done) {
            if slot.is_none()
                && let std::task::Poll::Ready(value) = future.as_mut().poll(cx)
            {
                *slot = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}
