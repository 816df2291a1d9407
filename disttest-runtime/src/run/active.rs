//! A fault that acts: its parts, let loose turn by turn, taken back in reverse order, and observed each for itself.

use super::baseline::settled;
use super::core::Core;
use super::occasions;
use crate::base::time::Nanos;
use crate::fault::{Occasion, Window, is_carrier};
use crate::nemesis::{Act, Lacks, Nemesis, Plane, Trigger, join_all};
use anyhow::Result;
use std::fmt;
use std::time::Duration;

/// Longest time an injection or a heal may take before it counts as failed.
pub(super) const ACT_LIMIT: Duration = Duration::from_secs(60);

/// A fault that acts now.
pub(crate) struct Active {
    /// The window as a whole. That of a single nemesis is [`Acting::window`] once more.
    frame: Window,
    /// In the order in which they are let loose; one, when the nemesis is not composed.
    acting: Vec<Acting>,
    /// Events that each turn but the first waits for.
    waits: Vec<Vec<Trigger>>,
    plane: Plane,
}

/// One nemesis of a window.
struct Acting {
    nemesis: Box<dyn Nemesis>,
    window: Window,
    turn: usize,
    /// Its injection was begun, so that it must be healed; for a composed one it may never come so far.
    begun: bool,
    healed: bool,
}

impl Active {
    /// Takes `nemesis` apart. Nothing is chosen and nothing acts yet.
    pub(super) fn new(mut nemesis: Box<dyn Nemesis>, plane: Plane) -> Active {
        let frame = Window { nemesis: nemesis.name().to_owned(), ..Window::default() };
        let (mut acting, mut waits) = (Vec::new(), Vec::new());
        match nemesis.take_parts() {
            None => acting.push(Acting::new(nemesis, 0)),
            Some(composition) => {
                for (turn, at_once) in composition.turns.into_iter().enumerate() {
                    waits.push(at_once.when);
                    acting.extend(at_once.parts.into_iter().map(|part| Acting::new(part, turn)));
                }
            }
        }
        Active { frame, acting, waits, plane }
    }

    /// Lets each part choose whom it is for, and names the window after what they say. What cannot be prepared is an error
    /// of its part, and of the whole.
    pub(super) async fn prepare(&mut self, baseline_from: Nanos, occasion: Option<Occasion>) {
        for acting in &mut self.acting {
            let prepared = failed(tokio::time::timeout(ACT_LIMIT, acting.nemesis.prepare(&self.plane)).await);
            acting.window.injection_error = prepared;
            acting.window.detail = acting.nemesis.detail();
            acting.window.victims = acting.nemesis.victims();
            acting.window.baseline_from = baseline_from;
        }
        let frame = &mut self.frame;
        (frame.baseline_from, frame.occasion) = (baseline_from, occasion);
        frame.detail = self.acting.iter().map(|acting| acting.window.detail.as_str()).collect::<Vec<_>>().join("; ");
        for victim in self.acting.iter().flat_map(|acting| &acting.window.victims) {
            if !frame.victims.contains(victim) {
                frame.victims.push(victim.clone());
            }
        }
    }

    /// Gives the window its number and journals that it is about to be let loose.
    pub(super) fn open(&mut self, core: &Core) -> Result<()> {
        let (epoch, now) = (next_epoch(core), core.clock.now());
        let windows = self.acting.iter_mut().map(|acting| &mut acting.window);
        windows.chain([&mut self.frame]).for_each(|window| (window.epoch, window.injected_at) = (epoch, now));
        let Window { nemesis, detail, victims, .. } = self.frame.clone();
        core.site.journal.write(&Act::Injecting { epoch, nemesis, detail, victims })
    }

    /// Lets all parts loose, turn by turn. When one fails, those that act are taken back in reverse order.
    pub(super) async fn inject(&mut self, core: &Core) {
        // The baseline ends here, with a reading of its own.
        core.sampler.tick();
        self.frame.requested_at = Some(core.epochs.begin(self.frame.epoch));
        let unprepared = self.acting.iter().find_map(|acting| acting.window.injection_error.clone());
        let mut error = unprepared.or_else(|| self.cannot_be_told_apart(core));
        let turns = self.acting.last().map_or(0, |last| last.turn + 1);
        for turn in 0..turns {
            if error.is_none() && turn > 0 {
                error = self.wait_for_turn(core, turn).await;
            }
            if error.is_none() {
                error = self.inject_turn(core, turn).await;
            }
        }
        self.frame.injected_at = core.clock.now();
        if let Some(error) = error {
            self.give_up(core, &error).await;
        }
        core.sampler.tick();
    }

    async fn inject_turn(&mut self, core: &Core, turn: usize) -> Option<String> {
        let requested = if turn == 0 { self.frame.requested_at } else { Some(core.clock.now()) };
        let plane = &self.plane;
        for acting in self.acting.iter_mut().filter(|acting| acting.turn == turn) {
            acting.begun = true;
            acting.window.requested_at = requested;
        }
        let parts = self.acting.iter_mut().filter(|acting| acting.turn == turn);
        let acts: Vec<_> = parts.map(|acting| acting.inject(core, plane)).map(|act| Box::pin(act) as _).collect();
        let errors: Vec<Option<String>> = join_all(acts).await;
        errors.into_iter().flatten().next()
    }

    /// The turn before has acted alone for long enough, and the events that `turn` waits for were seen; an error otherwise.
    async fn wait_for_turn(&mut self, core: &Core, turn: usize) -> Option<String> {
        let before = self.acting.iter().filter(|acting| acting.turn + 1 == turn);
        let from = before.map(|acting| acting.window.injected_at).max().unwrap_or_default();
        settled(core, from).await;
        let mut occasion = None;
        for trigger in &self.waits[turn] {
            match occasions::wait(core, trigger).await {
                Ok(seen) => occasion = Some(seen),
                Err(error) => return Some(format!("{error:#}")),
            }
            if occasion.as_ref().is_some_and(|occasion| occasion.seen_at.is_none()) {
                break;
            }
        }
        core.sampler.tick();
        let now = core.clock.now();
        let missed = occasion.as_ref().and_then(Occasion::missed);
        for acting in &mut self.acting {
            if acting.turn == turn {
                acting.window.baseline_from = from;
                acting.window.occasion.clone_from(&occasion);
            } else if acting.turn < turn && missed.is_none() {
                acting.window.alone_until.get_or_insert(now);
            }
        }
        missed
    }

    /// Parts of one turn whose evidence would be each other's: two that act at one place, or one whose victims are all
    /// victims of others.
    fn cannot_be_told_apart(&self, core: &Core) -> Option<String> {
        let declared = |acting: &Acting| -> Vec<(String, String)> {
            let all = acting.nemesis.injector().into_iter();
            all.filter(|(signal, _)| core.entry.injector.contains(&signal.as_str())).collect()
        };
        for (index, one) in self.acting.iter().enumerate() {
            let beside = || {
                let others =
                    self.acting.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other);
                others.filter(|other| other.turn == one.turn)
            };
            let name = &one.window.nemesis;
            let shared = declared(one).into_iter().find(|place| beside().any(|other| declared(other).contains(place)));
            if let Some((signal, source)) = shared {
                return Some(format!("two parts act at {source}: `{signal}` there would prove neither"));
            }
            let suffers = |victim: &&String| beside().any(|other| other.window.victims.contains(victim));
            if beside().next().is_some() && one.window.victims.iter().all(|victim| suffers(&victim)) {
                return Some(format!(
                    "`{name}` has no victim of its own: what its victims suffer may be another part's doing; let it loose while \
                     the other acts (`InTurn`)"
                ));
            }
        }
        None
    }

    /// Takes back what acts, since `error` keeps the rest from it.
    async fn give_up(&mut self, core: &Core, error: &str) {
        self.frame.injection_error = Some(error.to_owned());
        if self.acting.len() == 1 {
            self.acting[0].window.injection_error = Some(error.to_owned());
            return;
        }
        for acting in &mut self.acting {
            if !acting.begun {
                let now = core.clock.now();
                (acting.window.requested_at, acting.window.injected_at) = (Some(now), now);
                acting.window.injection_error.get_or_insert_with(|| format!("not injected: {error}"));
            }
        }
        self.heal_parts(core, ACT_LIMIT).await;
    }

    /// Takes all back, the last one first. May be called again: what was healed is left alone.
    pub(super) async fn heal(&mut self, core: &Core, limit: Duration) {
        core.sampler.tick();
        self.heal_parts(core, limit).await;
        let errors: Vec<String> = self.acting.iter().filter_map(|acting| acting.window.heal_error.clone()).collect();
        self.frame.heal_error = (!errors.is_empty()).then(|| errors.join("; "));
        let healed = core.epochs.end();
        self.frame.healed_at = Some(healed);
        self.acting.iter_mut().for_each(|acting| _ = acting.window.healed_at.get_or_insert(healed));
        drop(core.site.journal.write(&Act::Healed { epoch: self.frame.epoch }));
    }

    async fn heal_parts(&mut self, core: &Core, limit: Duration) {
        let composed = self.is_composed();
        for acting in self.acting.iter_mut().rev().filter(|acting| !acting.healed && (acting.begun || !composed)) {
            acting.healed = true;
            let done = tokio::time::timeout(limit, acting.nemesis.heal(&self.plane)).await;
            acting.window.heal_error = failed(done);
            // The window of a single nemesis ends with its epoch.
            acting.window.healed_at = composed.then(|| core.clock.now());
        }
    }

    /// Everything sampled for the window up to now.
    pub(super) fn observe(&mut self, core: &Core, probe_ok_at: Option<Nanos>) {
        let (from, until) = (self.frame.baseline_from, core.clock.now());
        (self.frame.observed_until, self.frame.probe_ok_at) = (until, probe_ok_at);
        for acting in &mut self.acting {
            let window = &mut acting.window;
            (window.observed_until, window.probe_ok_at) = (until, probe_ok_at);
            let acted = acting.nemesis.injector();
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

    /// The window as it is judged.
    pub(super) fn window(&self) -> Window {
        let parts = || self.acting.iter().map(|acting| acting.window.clone());
        match (&self.acting[..], self.is_composed()) {
            ([single], false) => Window {
                occasion: self.frame.occasion.clone(),
                requested_at: self.frame.requested_at,
                injected_at: self.frame.injected_at,
                healed_at: self.frame.healed_at,
                ..single.window.clone()
            },
            _ => Window { parts: parts().collect(), ..self.frame.clone() },
        }
    }

    /// The window before it is judged: name, number, victims, times.
    pub(super) fn frame(&self) -> &Window {
        &self.frame
    }

    /// Where all of it acts, as (signal, source).
    pub(super) fn injector(&self) -> Vec<(String, String)> {
        self.acting.iter().flat_map(|acting| acting.nemesis.injector()).collect()
    }

    fn is_composed(&self) -> bool {
        !self.waits.is_empty()
    }
}

impl Acting {
    fn new(nemesis: Box<dyn Nemesis>, turn: usize) -> Acting {
        let window = Window { nemesis: nemesis.name().to_owned(), ..Window::default() };
        Acting { nemesis, window, turn, begun: false, healed: false }
    }

    /// What went wrong, if anything.
    async fn inject(&mut self, core: &Core, plane: &Plane) -> Option<String> {
        let done = tokio::time::timeout(ACT_LIMIT, self.nemesis.inject(plane)).await;
        if let Ok(Err(error)) = &done
            && let Some(lacks) = Lacks::of(error)
        {
            // Not tried: nothing was found out about the fault, and the environment is what is wrong.
            let lacks = format!("{}: {lacks}", self.window.nemesis);
            core.facts().precondition("fault plane responsive", false, lacks);
        }
        self.window.injected_at = core.clock.now();
        self.window.injection_error = failed(done);
        self.window.injection_error.clone()
    }
}

/// The number of the next window.
pub(super) fn next_epoch(core: &Core) -> u64 {
    let mut facts = core.facts();
    facts.epochs += 1;
    facts.epochs
}

fn failed(done: Result<Result<()>, tokio::time::error::Elapsed>) -> Option<String> {
    match done {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(format!("{error:#}")),
        Err(_) => Some(format!("not done within {} s", ACT_LIMIT.as_secs())),
    }
}

impl fmt::Debug for Active {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Active").field("window", &self.frame.epoch).finish_non_exhaustive()
    }
}
