//! Resource faults: nodes that are frozen, get little processor time, or little memory, by control groups.
//!
//! Mechanism: a group of our own for each node, in the hierarchy of whichever version has the controller; the processes
//! of the node move into it, what they fork is born there, and at the heal they move back and the group is removed. A
//! killed run leaves a group behind, which is journaled: it is thawed, emptied and removed by the next start. Needs the
//! right to make control groups (root, or a delegated hierarchy) with the controller in it.

mod group;

use super::contract::{at, names};
use super::{BoxFuture, Nemesis, Plane};
use anyhow::{Context, Result, bail};
use group::{Controller, Group};
pub(crate) use group::{is_leftover, remove_leftover, thaw_leftover};
use std::sync::Arc;

/// `cgroup-freeze`: nodes are frozen by the kernel's freezer, thawed at the heal. Unlike SIGSTOP no process sees it, not
/// even a parent that watches for stopped children; `/proc` shows the tasks as sleeping. See the [module](self).
///
/// Evidence: `cgroup-frozen`, present while the kernel says that the group is frozen.
#[derive(Debug)]
pub struct CgroupFreeze(Grouping);

/// `cpu-throttle`: nodes get a share of one processor's time, all their threads together. See the [module](self).
///
/// Evidence: `cgroup-throttled`, the kernel's count of periods in which the group had to wait (`nr_throttled`). A node
/// that needs less than its share is not throttled, and the fault does not land.
#[derive(Debug)]
pub struct CpuThrottle(Grouping);

/// `memory-limit`: what nodes allocate from now on may take so many bytes. See the [module](self).
///
/// Evidence: `cgroup-memory-failures`, the kernel's count of allocations that hit the limit (`memory.failcnt`, or `max` of
/// `memory.events`). A process that cannot do with less is killed by the kernel: an exit by SIGKILL while the limit acts
/// counts as the fault's doing, and the node is started again at the heal, without the limit.
#[derive(Debug)]
pub struct MemoryLimit(Grouping);

#[derive(Debug)]
struct Grouping {
    nodes: Vec<String>,
    controller: Controller,
    signal: &'static str,
    groups: Vec<(String, Arc<Group>)>,
}

impl CgroupFreeze {
    /// Freezes `nodes`.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> CgroupFreeze {
        CgroupFreeze(Grouping::new(names(nodes), Controller::Freezer, "cgroup-frozen"))
    }
}

impl CpuThrottle {
    /// Gives each of `nodes` so many percent of one processor (1 at least).
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>, percent: u32) -> CpuThrottle {
        CpuThrottle(Grouping::new(names(nodes), Controller::Cpu { percent: percent.max(1) }, "cgroup-throttled"))
    }
}

impl MemoryLimit {
    /// Lets each of `nodes` take so many bytes more than it has now.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>, bytes: u64) -> MemoryLimit {
        MemoryLimit(Grouping::new(names(nodes), Controller::Memory { bytes }, "cgroup-memory-failures"))
    }
}

impl Grouping {
    fn new(nodes: Vec<String>, controller: Controller, signal: &'static str) -> Grouping {
        Grouping { nodes, controller, signal, groups: Vec::new() }
    }

    fn kills(&self) -> bool {
        matches!(self.controller, Controller::Memory { .. })
    }

    async fn put_in(&mut self, plane: &Plane) -> Result<()> {
        if self.nodes.is_empty() {
            bail!("no node is named: the fault would do nothing");
        }
        for node in &self.nodes {
            let who = plane.nodes().process(node)?;
            let made = Group::make(self.controller, node, plane.tools());
            let group = Arc::new(made.with_context(|| format!("a control group for {node}"))?);
            self.groups.push((node.clone(), Arc::clone(&group)));
            plane.tools().meters.follow(self.signal, node, Box::new(group.meter()?));
            if self.kills() {
                plane.nodes().expect_kill(node, true)?;
            }
            group.take_in(who)?;
            group.tighten().await?;
        }
        Ok(())
    }

    async fn let_out(&mut self, plane: &Plane) -> Result<()> {
        let (mut failed, kills) = (Ok(()), self.kills());
        for (node, group) in self.groups.drain(..) {
            failed = failed.and(group.loosen().await);
            plane.tools().meters.settle(self.signal, &node);
            failed = failed.and(group.dissolve().await.with_context(|| format!("the control group of {node}")));
            if kills {
                failed = failed.and(plane.nodes().expect_kill(&node, false));
                if !plane.nodes().runs(&node) {
                    failed = failed.and(plane.nodes().start(&node).await);
                }
            }
        }
        failed
    }
}

macro_rules! nemesis {
    ($type:ident, $name:literal, $detail:expr) => {
        impl Nemesis for $type {
            fn name(&self) -> &str {
                $name
            }

            fn detail(&self) -> String {
                let detail: fn(Controller) -> String = $detail;
                format!("{} {}", self.0.nodes.join(", "), detail(self.0.controller))
            }

            fn victims(&self) -> Vec<String> {
                self.0.nodes.clone()
            }

            fn injector(&self) -> Vec<(String, String)> {
                at(self.0.signal, &self.0.nodes)
            }

            fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
                Box::pin(self.0.put_in(plane))
            }

            fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
                Box::pin(self.0.let_out(plane))
            }
        }
    };
}

nemesis!(CgroupFreeze, "cgroup-freeze", |_| "frozen by its control group".to_owned());
nemesis!(CpuThrottle, "cpu-throttle", |how| match how {
    Controller::Cpu { percent } => format!("with {percent}% of a processor"),
    _ => String::new(),
});
nemesis!(MemoryLimit, "memory-limit", |how| match how {
    Controller::Memory { bytes } => format!("with {bytes} bytes more at most"),
    _ => String::new(),
});
