//! Faults of a workload: injected against a baseline, held, healed, watched until the system recovers, and assessed.

use super::Workload;
use super::active::{ACT_LIMIT, Active, next_epoch};
use super::baseline::{baseline, carried_in_baseline};
use super::core::Core;
use super::handle::default_hold;
use super::occasions;
use crate::base::time::Nanos;
use crate::cluster::Cluster;
use crate::fault::{Assessment, Hit, Occasion, Policy, Schedule, Slot, Window, assess};
use crate::nemesis::{Nemesis, Together, Trigger};
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often recovery is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// Longest baseline of a fault that waited for its event. More would only be more readings that may be missing.
const LONGEST_BASELINE: Duration = Duration::from_secs(10);

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
    /// window ended), opens a window, and lets `nemesis` loose. Several at once, or one while another acts:
    /// [`crate::nemesis::Together`], [`crate::nemesis::InTurn`].
    ///
    /// An injection that fails is a fact of its window, not an error here: the oracle must still judge what happened.
    /// Errors: another fault acts; the run was told to stop; the journal cannot be written.
    pub async fn inject<N: Nemesis + 'static>(&self, nemesis: N) -> Result<Injected<'_>> {
        self.let_loose(Box::new(nemesis), None).await
    }

    /// The next injection waits for `trigger`, once the baseline is taken: [`When::inject`].
    pub fn when(&self, trigger: Trigger) -> When<'_> {
        When { faults: self, trigger }
    }

    /// Injects, holds and heals what `schedule` says, each window at its time or as soon after it as the one before is over;
    /// `fault` makes the nemesis of a kind for the nodes drawn for it. Several kinds of one window act together. A window
    /// that must wait for a recovery is not injected when the system did not recover: its record says so, and the run
    /// proves no fault.
    ///
    /// Errors: those of [`Faults::inject`].
    pub async fn follow<K>(
        &self,
        schedule: Schedule<Hit<K>>,
        mut fault: impl FnMut(&K, &[String]) -> Box<dyn Nemesis>,
    ) -> Result<()> {
        let core = &self.workload.core;
        let from = core.facts().workload_from.unwrap_or_default().as_duration();
        for Slot { at, hold, kind: hit } in schedule {
            let early = (from + at).saturating_sub(core.clock.now().as_duration());
            tokio::select! {
                () = tokio::time::sleep(early) => {}
                () = core.stopping() => bail!("the run was told to stop"),
            }
            let mut parts: Vec<Box<dyn Nemesis>> = hit.parts.iter().map(|(kind, nodes)| fault(kind, nodes)).collect();
            let nemesis: Box<dyn Nemesis> = match parts.len() {
                1 => parts.remove(0),
                _ => Box::new(parts.into_iter().fold(Together::default(), Together::and)),
            };
            let owed = hit.after_recovery.then(Trigger::recovered);
            let injected = self.let_loose(nemesis, owed.as_ref()).await?;
            injected.hold_for(hold).await;
            injected.heal().await?;
        }
        Ok(())
    }

    async fn let_loose(&self, nemesis: Box<dyn Nemesis>, trigger: Option<&Trigger>) -> Result<Injected<'_>> {
        let core = &self.workload.core;
        if core.abandoned.load(Ordering::Relaxed) {
            heal_active(core).await;
        }
        let mut slot = core.active.lock().await;
        if let Some(active) = &*slot {
            bail!("`{}` still acts: heal it first, a baseline cannot be taken under a fault", active.frame().nemesis);
        }
        let since = core.facts().baseline_from;
        let mut baseline_from = baseline(core, since).await?;
        let occasion = match trigger {
            None => None,
            Some(trigger) => Some(occasions::wait(core, trigger).await?),
        };
        if let Some(missed) = occasion.as_ref().filter(|occasion| occasion.seen_at.is_none()) {
            return Ok(Injected {
                faults: self,
                epoch: file_missed(core, &*nemesis, baseline_from, missed),
                acts: false,
            });
        }
        if occasion.is_some() {
            let longest = core.clock.now().since(Nanos::from(LONGEST_BASELINE));
            baseline_from = baseline_from.max(Nanos::from(longest));
        }
        let mut active = Active::new(nemesis, self.workload.plane());
        active.prepare(baseline_from, occasion).await;
        active.open(core)?;
        carried_in_baseline(core, active.frame(), active.injector());
        let active = slot.insert(active);
        active.inject(core).await;
        let Window { epoch, nemesis, detail, injection_error, .. } = active.frame();
        let error = injection_error.as_ref().map(|error| format!("; {error}")).unwrap_or_default();
        core.events.say(format!("fault injected: {nemesis}"), format!("epoch {epoch}, {detail}{error}"));
        Ok(Injected { faults: self, epoch: *epoch, acts: true })
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

/// An injection that waits for its event. Made by [`Faults::when`].
#[derive(Debug)]
#[must_use = "inject something"]
pub struct When<'w> {
    faults: &'w Faults<'w>,
    trigger: Trigger,
}

impl<'w> When<'w> {
    /// As [`Faults::inject`], at the moment when the event is seen. When it is not seen in time, nothing is injected: the
    /// window is recorded as such, what is returned neither acts nor holds ([`Injected::acts`]), and the run proves no
    /// fault.
    ///
    /// Errors: those of [`Faults::inject`]; the trigger names what is not there.
    pub async fn inject<N: Nemesis + 'static>(self, nemesis: N) -> Result<Injected<'w>> {
        self.faults.let_loose(Box::new(nemesis), Some(&self.trigger)).await
    }
}

/// A fault that was let loose. Dropped without [`Injected::heal`], it is healed by the next injection, by
/// [`Faults::settle`], or by the harness when the run ends in any other way.
#[derive(Debug)]
#[must_use = "hold the fault, then heal it"]
pub struct Injected<'f> {
    faults: &'f Faults<'f>,
    epoch: u64,
    /// It was let loose and not healed yet.
    acts: bool,
}

impl Injected<'_> {
    /// Number of the window; operations that overlap it carry it.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// False when the event that it was to wait for never came: nothing was injected, and there is nothing to heal.
    pub fn acts(&self) -> bool {
        self.acts
    }

    /// Lets the fault act for the default time of the budget.
    pub async fn hold(&self) {
        self.hold_for(default_hold(&self.faults.workload.core.request.budget)).await;
    }

    /// Lets the fault act for `time`, or until the run is told to stop. Returns at once when it does not act.
    pub async fn hold_for(&self, time: Duration) {
        if self.acts {
            tokio::select! {
                () = tokio::time::sleep(time) => {}
                () = self.faults.workload.core.stopping() => {}
            }
        }
    }

    /// Heals the fault and watches until the signals that moved are quiet and every victim answers, at most 10 s.
    ///
    /// A heal that fails, and a system that does not recover, are facts of the window, not errors here.
    pub async fn heal(mut self) -> Result<()> {
        let core = &self.faults.workload.core;
        if std::mem::replace(&mut self.acts, false) {
            heal_active(core).await;
        }
        if core.is_stopping() {
            bail!("the run was told to stop");
        }
        Ok(())
    }
}

impl Drop for Injected<'_> {
    fn drop(&mut self) {
        if self.acts {
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

/// Heals the active fault, if any, watches the recovery, and files the window.
pub(crate) async fn heal_active(core: &Core) {
    let mut slot = core.active.lock().await;
    if let Some(active) = slot.as_mut() {
        active.heal(core, ACT_LIMIT).await;
        let assessed = until_recovered(core, active).await;
        file(core, &active.window(), assessed);
    }
    *slot = None;
    core.abandoned.store(false, Ordering::Relaxed);
}

/// Heals the active fault at the end of a run that ended early; nobody watches the recovery.
pub(crate) async fn heal_at_the_end(core: &Core) {
    let mut slot = core.active.lock().await;
    if let Some(active) = slot.as_mut() {
        active.heal(core, Duration::from_secs(10)).await;
        active.observe(core, None);
        let assessed = assess(&active.window(), &Policy::default());
        file(core, &active.window(), assessed);
    }
    *slot = None;
}

async fn until_recovered(core: &Core, active: &mut Active) -> Assessment {
    let policy = Policy::default();
    let healed = active.frame().healed_at.unwrap_or_default();
    let victims = active.frame().victims.clone();
    let mut answers = BTreeMap::new();
    loop {
        tokio::time::sleep(LOOK).await;
        let probe_ok_at = every_victim_answered(core, &victims, healed, &mut answers).await;
        active.observe(core, probe_ok_at);
        let assessed = assess(&active.window(), &policy);
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

/// Files a window in which nothing was injected, since its event was `missed`; its number.
fn file_missed(core: &Core, nemesis: &dyn Nemesis, baseline_from: Nanos, missed: &Occasion) -> u64 {
    let now = core.clock.now();
    let window = Window {
        epoch: next_epoch(core),
        nemesis: nemesis.name().to_owned(),
        detail: nemesis.detail(),
        victims: nemesis.victims(),
        baseline_from,
        injected_at: now,
        observed_until: now,
        occasion: Some(missed.clone()),
        ..Window::default()
    };
    let assessed = assess(&window, &Policy::default());
    core.events.say(format!("fault not injected: {}", window.nemesis), assessed.injector.why.clone());
    let mut facts = core.facts();
    // Nothing acted: the baseline of the next window may go on from this one's.
    facts.assessed.push(assessed);
    facts.windows.push(window.clone());
    window.epoch
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
