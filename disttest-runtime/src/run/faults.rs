//! Faults of a workload: injected against a baseline, held, healed, watched until the system recovers, and assessed.

use super::core::Core;
use super::handle::default_hold;
use super::{Workload, signals};
use crate::base::time::Nanos;
use crate::cluster::{CLIENT, Cluster};
use crate::fault::{Assessment, Policy, Window, assess, carrier_of, is_carrier};
use crate::nemesis::{Act, Lacks, Nemesis, Plane};
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Longest time an injection or a heal may take before it counts as failed.
const ACT_LIMIT: Duration = Duration::from_secs(60);
/// How often recovery is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// Length of the baseline; D15 asks for one second at least.
const BASELINE: Duration = Duration::from_millis(1_200);
/// How long to wait for signals that lack readings before a fault goes ahead without a proof.
const BASELINE_LIMIT: Duration = Duration::from_secs(5);

/// A fault that acts now.
pub(crate) struct Active {
    nemesis: Box<dyn Nemesis>,
    window: Window,
    plane: Plane,
}

impl fmt::Debug for Active {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Active").field("window", &self.window.epoch).finish_non_exhaustive()
    }
}

/// The faults of a workload, one at a time. [`Faults::settle`] ends them.
#[derive(Debug)]
pub struct Faults<'w> {
    workload: &'w Workload,
}

impl<'w> Faults<'w> {
    pub(crate) fn new(workload: &'w Workload) -> Faults<'w> {
        Faults { workload }
    }

    /// Waits for a baseline (at least 1 s and 4 readings of each declared signal since the workload started or the last
    /// window ended), opens a window, and lets `nemesis` loose.
    ///
    /// An injection that fails is a fact of its window, not an error here: the oracle must still judge what happened.
    /// Errors: another fault acts; the run was told to stop; the journal cannot be written.
    pub async fn inject<N: Nemesis + 'static>(&self, mut nemesis: N) -> Result<Injected<'_>> {
        let core = &self.workload.core;
        if core.abandoned.load(Ordering::Relaxed) {
            heal_active(core).await;
        }
        let mut slot = core.active.lock().await;
        if let Some(active) = &*slot {
            bail!("`{}` still acts: heal it first, a baseline cannot be taken under a fault", active.window.nemesis);
        }
        let baseline_from = baseline(core).await?;
        let plane = self.workload.plane();
        let prepared = failed(tokio::time::timeout(ACT_LIMIT, nemesis.prepare(&plane)).await);
        let window = open_window(core, &nemesis, baseline_from)?;
        carried_in_baseline(core, &window, &nemesis);
        let (epoch, name) = (window.epoch, window.nemesis.clone());
        let active = slot.insert(Active { nemesis: Box::new(nemesis), window, plane });
        active.inject(core, prepared).await;
        let error = active.window.injection_error.as_ref().map(|error| format!("; {error}")).unwrap_or_default();
        core.events.say(format!("fault injected: {name}"), format!("epoch {epoch}, {}{error}", active.window.detail));
        Ok(Injected { faults: self, epoch, healed: false })
    }

    /// Heals what is left and assesses every window. Never an error: a fault that did not land is a fact that the
    /// verdict weighs, and the oracle must judge in any case.
    pub async fn settle(self) -> Landed {
        let core = &self.workload.core;
        heal_active(core).await;
        let mut facts = core.facts();
        if facts.windows.is_empty() {
            facts.note("no fault was injected before the faults were settled");
            // What a fault would have needed is no lack of the environment: the fault is what is missing.
            facts.precondition("baseline captured", true, "not needed: no fault was injected".to_owned());
        }
        drop(facts);
        Landed { run_id: core.request.run_id.clone() }
    }

    /// Says that there is no fault, and why. When the journal holds an injection after all, or the attribute declares
    /// a nemesis, the verdict is lowered.
    pub async fn none(self, reason: impl Into<String>) -> Landed {
        let core = &self.workload.core;
        heal_active(core).await;
        let reason = reason.into();
        core.events.say("note", format!("no fault: {reason}"));
        let mut facts = core.facts();
        if facts.windows.is_empty() {
            facts.precondition("baseline captured", true, "not needed: no fault".to_owned());
        }
        facts.no_fault = Some(reason);
        Landed { run_id: core.request.run_id.clone() }
    }
}

/// A fault that was let loose. Dropped without [`Injected::heal`], it is healed by the next injection, by
/// [`Faults::settle`], or by the harness when the run ends in any other way.
#[derive(Debug)]
#[must_use = "hold the fault, then heal it"]
pub struct Injected<'f> {
    faults: &'f Faults<'f>,
    epoch: u64,
    healed: bool,
}

impl Injected<'_> {
    /// Number of the window; operations that overlap it carry it.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Lets the fault act for the default time of the budget.
    pub async fn hold(&self) {
        self.hold_for(default_hold(&self.faults.workload.core.request.budget)).await;
    }

    /// Lets the fault act for `time`, or until the run is told to stop.
    pub async fn hold_for(&self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.faults.workload.core.stopping() => {}
        }
    }

    /// Heals the fault and watches until the signals that moved are quiet and every victim answers, at most 10 s.
    ///
    /// A heal that fails, and a system that does not recover, are facts of the window, not errors here.
    pub async fn heal(mut self) -> Result<()> {
        self.healed = true;
        let core = &self.faults.workload.core;
        heal_active(core).await;
        if core.is_stopping() {
            bail!("the run was told to stop");
        }
        Ok(())
    }
}

impl Drop for Injected<'_> {
    fn drop(&mut self) {
        if !self.healed {
            self.faults.workload.core.abandoned.store(true, Ordering::Relaxed);
        }
    }
}

/// Proof that the faults of a run were assessed (not that they landed). Made by [`Faults::settle`] and [`Faults::none`].
#[derive(Debug)]
#[must_use = "the oracle asks for it"]
pub struct Landed {
    pub(super) run_id: String,
}

impl Active {
    /// Injects, unless it could not even be `prepared`.
    async fn inject(&mut self, core: &Core, prepared: Option<String>) {
        // The baseline ends here, with a reading of its own.
        core.sampler.tick();
        self.window.requested_at = Some(core.epochs.begin(self.window.epoch));
        self.window.injection_error = match prepared {
            Some(error) => Some(error),
            None => {
                let done = tokio::time::timeout(ACT_LIMIT, self.nemesis.inject(&self.plane)).await;
                if let Ok(Err(error)) = &done
                    && let Some(lacks) = Lacks::of(error)
                {
                    // Not tried: nothing was found out about the fault, and the environment is what is wrong.
                    let lacks = format!("{}: {lacks}", self.window.nemesis);
                    core.facts().precondition("fault plane responsive", false, lacks);
                }
                failed(done)
            }
        };
        self.window.injected_at = core.clock.now();
        core.sampler.tick();
    }

    async fn heal(&mut self, core: &Core, limit: Duration) {
        core.sampler.tick();
        let done = tokio::time::timeout(limit, self.nemesis.heal(&self.plane)).await;
        self.window.heal_error = failed(done);
        self.window.healed_at = Some(core.epochs.end());
        drop(core.site.journal.write(&Act::Healed { epoch: self.window.epoch }));
    }

    /// Everything sampled for the window up to now.
    fn observe(&mut self, core: &Core) {
        let window = &mut self.window;
        let (from, until) = (window.baseline_from, core.clock.now());
        window.observed_until = until;
        let acted = self.nemesis.injector();
        let declared = |side: &[&str], signal: &str| side.contains(&signal);
        window.injector = core.sampler.series(from, until, |signal, source| {
            let here = |name: &str| acted.iter().any(|(s, at)| (name.is_empty() || s == name) && at == source);
            (declared(core.entry.injector, signal) && here(signal)) || (is_carrier(signal) && here(""))
        });
        let victims = &window.victims;
        window.victim = core.sampler.series(from, until, |signal, source| {
            declared(core.entry.victim, signal) && victims.iter().any(|victim| victim == source)
        });
    }
}

fn failed<T>(done: Result<Result<T>, tokio::time::error::Elapsed>) -> Option<String> {
    match done {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(format!("{error:#}")),
        Err(_) => Some(format!("not done within {} s", ACT_LIMIT.as_secs())),
    }
}

/// Heals the active fault, if any, watches the recovery, and files the window.
pub(crate) async fn heal_active(core: &Core) {
    let mut slot = core.active.lock().await;
    if let Some(active) = slot.as_mut() {
        active.heal(core, ACT_LIMIT).await;
        let assessed = until_recovered(core, active).await;
        file(core, &active.window, assessed);
    }
    *slot = None;
    core.abandoned.store(false, Ordering::Relaxed);
}

/// Heals the active fault at the end of a run that ended early; nobody watches the recovery.
pub(crate) async fn heal_at_the_end(core: &Core) {
    let mut slot = core.active.lock().await;
    if let Some(active) = slot.as_mut() {
        active.heal(core, Duration::from_secs(10)).await;
        active.observe(core);
        let assessed = assess(&active.window, &Policy::default());
        file(core, &active.window, assessed);
    }
    *slot = None;
}

async fn until_recovered(core: &Core, active: &mut Active) -> Assessment {
    let policy = Policy::default();
    let healed = active.window.healed_at.unwrap_or_default();
    let mut answers = BTreeMap::new();
    loop {
        tokio::time::sleep(LOOK).await;
        active.window.probe_ok_at = every_victim_answered(core, &active.window.victims, healed, &mut answers).await;
        active.observe(core);
        let assessed = assess(&active.window, &policy);
        // Time for the stretch that shows the heal to start as late as allowed, and to be seen whole.
        let given_up = core.clock.now().since(healed) > policy.heal_within + policy.baseline + policy.longest_hole;
        if assessed.recovered || given_up || core.is_stopping() {
            return assessed;
        }
    }
}

/// When the last of `victims` first answered after `healed`; `None` while one of them has not. Silence is no answer.
///
/// A victim answers when it acknowledges an operation of the workload that was invoked after the heal; one without
/// clients of its own when its readiness probe succeeds.
async fn every_victim_answered(
    core: &Core,
    victims: &[String],
    healed: Nanos,
    answers: &mut BTreeMap<String, Nanos>,
) -> Option<Nanos> {
    let cluster: Option<Cluster> = core.facts().cluster.clone();
    for victim in victims {
        if answers.contains_key(victim) {
            continue;
        }
        let acknowledged = core.answered_since(victim, healed);
        let served = core.answered_since(victim, Nanos(0)).is_some();
        let answered = match (&cluster, acknowledged) {
            (_, Some(at)) => Some(at),
            (Some(cluster), None) if !served => cluster.answers(victim).await.then(|| core.clock.now()),
            _ => None,
        };
        answers.extend(answered.map(|at| (victim.clone(), at)));
    }
    let all = !victims.is_empty() && victims.iter().all(|victim| answers.contains_key(victim));
    all.then(|| answers.values().max().copied()).flatten()
}

fn file(core: &Core, window: &Window, assessed: Assessment) {
    let landed = if assessed.landed { "landed" } else { "not proven to have landed" };
    let recovered = if assessed.recovered { "recovered" } else { "not recovered" };
    let notes = format!(
        "epoch {}: {landed}, {recovered}; injector: {}; victim: {}; recovery: {}",
        window.epoch, assessed.injector.why, assessed.victim.why, assessed.recovery
    );
    core.events.say(format!("fault healed: {}", window.nemesis), notes);
    let mut facts = core.facts();
    facts.baseline_from = window.observed_until;
    facts.windows.push(window.clone());
    facts.assessed.push(assessed);
    drop(facts);
    core.sampler.forget(window.observed_until);
}

/// Waits until the baseline is long enough and every declared signal was read in it; returns its start.
async fn baseline(core: &Arc<Core>) -> Result<Nanos> {
    let needed = Policy::default().baseline_samples;
    let asked = core.clock.now();
    let from = core.facts().baseline_from;
    loop {
        if core.is_stopping() {
            bail!("the run was told to stop");
        }
        let now = core.clock.now();
        let long_enough = now.since(from) >= BASELINE;
        let least = least_read(core, from);
        let gave_up = now.since(asked) > BASELINE_LIMIT;
        if long_enough && (least.is_none() || gave_up) {
            let mut facts = core.facts();
            let length = now.since(from).as_secs_f32();
            match least {
                None => {
                    let evidence = format!("{length:.2} s with at least {needed} readings of every declared signal");
                    facts.precondition("baseline captured", true, evidence);
                }
                Some(lacks) => facts.precondition("baseline captured", false, format!("in {length:.2} s {lacks}")),
            }
            return Ok(from);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What a baseline from `from` lacks: a declared signal that has too few readings wherever it is read.
fn least_read(core: &Core, from: Nanos) -> Option<String> {
    let needed = Policy::default().baseline_samples;
    let counts = core.sampler.counts(from);
    let read = |signal: &str| counts.iter().filter(|(name, ..)| name == signal).map(|(.., n)| *n).max().unwrap_or(0);
    let declared = core.entry.injector.iter().chain(core.entry.victim);
    let lacking = declared.map(|signal| (*signal, read(signal))).find(|(_, n)| *n < needed);
    lacking.map(|(signal, n)| format!("`{signal}` was read {n} times, {needed} are needed"))
}

fn open_window<N: Nemesis>(core: &Core, nemesis: &N, baseline_from: Nanos) -> Result<Window> {
    let epoch = {
        let mut facts = core.facts();
        facts.epochs += 1;
        facts.epochs
    };
    let (name, detail, victims) = (nemesis.name().to_owned(), nemesis.detail(), nemesis.victims());
    core.site.journal.write(&Act::Injecting {
        epoch,
        nemesis: name.clone(),
        detail: detail.clone(),
        victims: victims.clone(),
    })?;
    Ok(Window {
        epoch,
        nemesis: name,
        detail,
        victims,
        baseline_from,
        requested_at: None,
        injected_at: core.clock.now(),
        healed_at: None,
        observed_until: core.clock.now(),
        injection_error: None,
        heal_error: None,
        probe_ok_at: None,
        injector: Vec::new(),
        victim: Vec::new(),
    })
}

/// Without a fault there is still a plane: what clients sent went through it, and not around.
pub(crate) fn carried_without_a_fault(core: &Core) {
    let (carried, of) = match core.site.net.namespaces() {
        None => {
            let links = core.site.net.proxy().snapshot();
            let to_nodes = links.iter().filter(|((from, _), _)| from == CLIENT);
            (to_nodes.map(|(_, count)| count.forward.bytes_passed + count.backward.bytes_passed).sum::<u64>(), "bytes")
        }
        Some(net) => {
            let counts = net.counts().unwrap_or_default();
            let of_clients = counts.iter().filter(|((from, to), _)| from == CLIENT || to == CLIENT);
            (of_clients.map(|(_, count)| count.passed).sum(), "payloads")
        }
    };
    let evidence = format!("no fault; {carried} {of} crossed the clients' links");
    core.facts().precondition("fault plane responsive", carried > 0, evidence);
}

/// The fault plane is between the parties: bytes (or packets with payload) crossed the links a network fault acts on, and clients' links in any
/// case; and each victim's process is there to be acted on.
fn carried_in_baseline<N: Nemesis>(core: &Core, window: &Window, nemesis: &N) {
    let places = nemesis.injector().into_iter().filter(|(signal, _)| carrier_of(signal).is_some());
    let links: BTreeSet<String> = places.map(|(_, source)| source).collect();
    let of = if core.site.net.namespaces().is_some() { "payloads" } else { "bytes" };
    let series = core.sampler.series(window.baseline_from, core.clock.now(), |signal, _| is_carrier(signal));
    let grown = |of: &dyn Fn(&str) -> bool| -> f64 {
        let ends = series.iter().filter(|s| of(&s.source)).map(|s| {
            let mut values = s.samples.iter().filter_map(|sample| sample.value);
            let first = values.next().unwrap_or(0.0);
            values.next_back().unwrap_or(first) - first
        });
        ends.sum()
    };
    let by_clients = grown(&signals::is_client_link);
    let acted_on = grown(&|source| links.contains(source));
    let running = core.facts().cluster.as_ref().map(Cluster::running).unwrap_or_default();
    let gone: Vec<&String> = window.victims.iter().filter(|victim| !running.contains(victim)).collect();
    let ok = by_clients > 0.0 && (links.is_empty() || acted_on > 0.0) && gone.is_empty();
    let mut evidence = format!("before window {}: {by_clients} {of} crossed the clients' links", window.epoch);
    if !links.is_empty() {
        evidence += &format!(", {acted_on} the links of the fault");
    }
    if !gone.is_empty() {
        evidence += &format!(", not running: {gone:?}");
    }
    core.facts().precondition("fault plane responsive", ok, evidence);
}
