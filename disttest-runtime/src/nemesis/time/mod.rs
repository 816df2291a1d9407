//! Time faults: clocks of single processes that are wrong, jump, or run slow or fast.
//!
//! Mechanism: the process is held for some milliseconds by ptrace, and the functions of its vDSO by which programs read
//! clocks (dynamic and static ones, C, Rust, Go) are replaced by code that asks the kernel and bends the answer. No
//! library is preloaded, and nothing has to be prepared before the node starts. All processes of the node's group are
//! bent, and what they fork later; a program that one of them *executes* later reads true clocks again, and so does one
//! that makes the system call itself. Timers and timeouts of the kernel (sleeping, polling) keep true time.
//!
//! Evidence: `clock-skewed-calls`, counted by that code. It shows that wrong time was handed out; that the system used it
//! is what a victim's signal must show, best its own clock (`metric:`, as a gauge). Needs x86-64 Linux and the right to
//! trace one's own children. The heal puts the functions back; a killed run leaves nothing, since its processes die.

#[cfg(target_arch = "x86_64")]
mod code;
#[cfg(target_arch = "x86_64")]
mod plant;
#[cfg(not(target_arch = "x86_64"))]
#[path = "elsewhere.rs"]
mod plant;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
#[cfg(target_arch = "x86_64")]
mod tracee;
#[cfg(target_arch = "x86_64")]
mod vdso;

use super::contract::{at, names};
use super::procfs::{self, Identity};
use super::{BoxFuture, Nemesis, Plane};
use anyhow::{Context, Result, bail};
use plant::{Bend, Planted};
use std::sync::Arc;
use std::time::Duration;

/// `clock-skew`: the realtime clocks of nodes show another time than the machine's. See the [module](self).
#[derive(Debug)]
pub struct ClockSkew(Clocks);

/// `clock-jump`: the realtime clocks of nodes jump ahead and back again, all the time. See the [module](self).
#[derive(Debug)]
pub struct ClockJump {
    clocks: Clocks,
    by: i64,
    every: Duration,
    jumping: Option<tokio::task::JoinHandle<()>>,
}

/// `slow-clock`: the clocks of nodes run at another rate than the machine's. See the [module](self).
#[derive(Debug)]
pub struct SlowClock(Clocks);

#[derive(Debug)]
struct Clocks {
    nodes: Vec<String>,
    bend: Bend,
    planted: Vec<(String, Arc<Vec<Planted>>)>,
}

impl ClockSkew {
    /// Sets the clocks of `nodes` ahead.
    pub fn ahead<S: Into<String>>(nodes: impl IntoIterator<Item = S>, by: Duration) -> ClockSkew {
        ClockSkew(Clocks::new(names(nodes), Bend { offset: nanos(by), rate: 1.0, monotonic: false }))
    }

    /// Sets the clocks of `nodes` behind.
    pub fn behind<S: Into<String>>(nodes: impl IntoIterator<Item = S>, by: Duration) -> ClockSkew {
        ClockSkew(Clocks::new(names(nodes), Bend { offset: -nanos(by), rate: 1.0, monotonic: false }))
    }
}

impl ClockJump {
    /// Has the clocks of `nodes` jump ahead `by`, and back, a jump each time `every` has passed.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>, by: Duration, every: Duration) -> ClockJump {
        let clocks = Clocks::new(names(nodes), Bend { offset: nanos(by), rate: 1.0, monotonic: false });
        ClockJump { clocks, by: nanos(by), every, jumping: None }
    }
}

impl SlowClock {
    /// Has the realtime clocks of `nodes` run at `rate`: 0.5 is half as fast, 2 twice as fast.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>, rate: f64) -> SlowClock {
        SlowClock(Clocks::new(names(nodes), Bend { offset: 0, rate, monotonic: false }))
    }

    /// The monotonic clocks too: those by which programs measure how long something takes. At the heal they jump to
    /// what they would have shown, which a monotonic clock does ahead only: use a rate of at most 1.
    #[must_use]
    pub fn monotonic_too(mut self) -> SlowClock {
        self.0.bend.monotonic = true;
        self
    }
}

/// A duration in nanoseconds; the longest there is when it does not fit.
fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

impl Clocks {
    fn new(nodes: Vec<String>, bend: Bend) -> Clocks {
        Clocks { nodes, bend, planted: Vec::new() }
    }

    async fn bend(&mut self, plane: &Plane) -> Result<()> {
        if self.nodes.is_empty() {
            bail!("no node is named: the fault would do nothing");
        }
        let Bend { offset, rate, monotonic } = self.bend;
        // A century at most: what is shown must stay a time.
        if !(rate.is_finite() && (0.0..=1000.0).contains(&rate)) || offset.unsigned_abs() > 3_153_600_000_000_000_000 {
            bail!("a clock cannot be set {offset} ns off, at a rate of {rate}");
        }
        if offset == 0 && rate == 1.0 || monotonic && rate > 1.0 {
            bail!("a clock {offset} ns off at a rate of {rate} is none that this fault can make");
        }
        for node in &self.nodes {
            let members = procfs::group_of(plane.nodes().process(node)?)?;
            let bend = self.bend;
            let planting = tokio::task::spawn_blocking(move || plant_all(&members, bend));
            let planted = planting.await?.with_context(|| format!("the clock of {node}"))?;
            let mut counters = planted.iter().map(Planted::counter).collect::<Result<Vec<_>>>()?;
            self.planted.push((node.clone(), Arc::new(planted)));
            let count = move || counters.iter_mut().map(|counter| counter()).sum();
            plane.tools().meters.follow("clock-skewed-calls", node, Box::new(count));
        }
        Ok(())
    }

    async fn straighten(&mut self, plane: &Plane) -> Result<()> {
        let mut failed = Ok(());
        for (node, planted) in self.planted.drain(..) {
            plane.tools().meters.settle("clock-skewed-calls", &node);
            // A node that ended took its bent clock with it.
            if !plane.nodes().runs(&node) {
                continue;
            }
            let planted = Arc::into_inner(planted).context("the clock still jumps");
            let straighten = move || planted?.into_iter().try_for_each(Planted::straighten);
            let done = tokio::task::spawn_blocking(straighten).await?;
            failed = failed.and(done.with_context(|| format!("the clock of {node}")));
        }
        failed
    }
}

/// Bends the clocks of all `members`; an error straightens those that were bent.
fn plant_all(members: &[Identity], bend: Bend) -> Result<Vec<Planted>> {
    let mut planted = Vec::new();
    for member in members {
        match Planted::plant(*member, bend) {
            Ok(one) => planted.push(one),
            // One that ends meanwhile reads no clock.
            Err(_) if !member.is_alive() && member.holds_its_id() => {}
            Err(error) => {
                planted.into_iter().for_each(|one| drop(one.straighten()));
                return Err(error);
            }
        }
    }
    if planted.is_empty() {
        bail!("it has no process");
    }
    Ok(planted)
}

impl Nemesis for ClockSkew {
    fn name(&self) -> &str {
        "clock-skew"
    }

    fn detail(&self) -> String {
        format!("the clock of {} is {} s off", self.0.nodes.join(", "), self.0.bend.offset as f64 / 1e9)
    }

    fn victims(&self) -> Vec<String> {
        self.0.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("clock-skewed-calls", &self.0.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.bend(plane))
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.straighten(plane))
    }
}

impl Nemesis for SlowClock {
    fn name(&self) -> &str {
        "slow-clock"
    }

    fn detail(&self) -> String {
        let which = if self.0.bend.monotonic { "every clock" } else { "the clock" };
        format!("{which} of {} runs at a rate of {}", self.0.nodes.join(", "), self.0.bend.rate)
    }

    fn victims(&self) -> Vec<String> {
        self.0.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("clock-skewed-calls", &self.0.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.bend(plane))
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.straighten(plane))
    }
}

impl Nemesis for ClockJump {
    fn name(&self) -> &str {
        "clock-jump"
    }

    fn detail(&self) -> String {
        format!(
            "the clock of {} jumps by {} s each {:?}",
            self.clocks.nodes.join(", "),
            self.by as f64 / 1e9,
            self.every
        )
    }

    fn victims(&self) -> Vec<String> {
        self.clocks.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("clock-skewed-calls", &self.clocks.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.clocks.bend(plane).await?;
            let planted: Vec<_> = self.clocks.planted.iter().map(|(_, planted)| Arc::clone(planted)).collect();
            let (by, every) = (self.by, self.every);
            self.jumping = Some(tokio::spawn(async move {
                let mut ahead = true;
                loop {
                    tokio::time::sleep(every).await;
                    ahead = !ahead;
                    // A process that ended does not jump; its meter shows a gap.
                    planted
                        .iter()
                        .flat_map(|all| all.iter())
                        .for_each(|one| drop(one.jump(if ahead { by } else { 0 })));
                }
            }));
            Ok(())
        })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if let Some(jumping) = self.jumping.take() {
                jumping.abort();
                drop(jumping.await);
            }
            self.clocks.straighten(plane).await
        })
    }
}
