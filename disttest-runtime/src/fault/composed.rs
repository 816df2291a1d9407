//! A window in which several nemeses act: it landed when each of them did, by evidence that no other can have made.
//!
//! Two parts are told apart by time or by place. By time: one was let loose while the other acted, so that its baseline
//! lies in the other's fault, and the other is judged by what was suffered before. By place, where both began at once:
//! of what moved, only readings count that are the part's own, taken where no other part acts and at no other part's victim.

use super::landing::{assess_one, names_one_of, not_injected};
use super::policy::is_carrier;
use super::{Assessment, Occasion, Policy, Series, Side, SideFinding, Window};
use crate::base::time::Nanos;

/// Judges a window that has parts.
pub(super) fn assess_composed(window: &Window, policy: &Policy) -> Assessment {
    let parts: Vec<Assessment> = (0..window.parts.len()).map(|index| part(window, index, policy)).collect();
    let mut injector = all_of(&parts, Side::Injector);
    let victim = all_of(&parts, Side::Victim);
    if let Some(wrong) = window.injection_error.clone().or_else(|| no_composition(window)) {
        injector = SideFinding { moved: false, signal: None, why: format!("{wrong}; {}", injector.why), ..injector };
    }
    Assessment {
        epoch: window.epoch,
        nemesis: window.nemesis.clone(),
        detail: window.detail.clone(),
        // For this long all of them acted.
        held: parts.iter().map(|part| part.held).min().unwrap_or(Nanos(0)),
        landed: injector.moved && victim.moved && parts.iter().all(|part| part.landed),
        injector,
        victim,
        recovered: window.heal_error.is_none() && parts.iter().all(|part| part.recovered),
        recovery: each(&parts, |part| &part.recovery),
        occasion: window.occasion.clone(),
        parts,
    }
}

/// What is wrong with the composition itself.
fn no_composition(window: &Window) -> Option<String> {
    let requested = |part: &Window| part.requested_at.unwrap_or(part.injected_at);
    let (from, until) = (requested(window), window.healed_at.unwrap_or(window.observed_until));
    let outside = |part: &&Window| {
        let healed = part.healed_at.unwrap_or(until);
        part.baseline_from < window.baseline_from
            || requested(part) < from
            || healed > until
            || part.epoch != window.epoch
    };
    if window.parts.len() < 2 {
        return Some("composed of a single part".to_owned());
    }
    if let Some(part) = window.parts.iter().find(|part| !part.parts.is_empty()) {
        return Some(format!("`{}` is composed itself", part.nemesis));
    }
    let part = window.parts.iter().find(outside)?;
    Some(format!("`{}` did not act inside this window", part.nemesis))
}

/// Judges the part at `index` by what is its own.
fn part(window: &Window, index: usize, policy: &Policy) -> Assessment {
    let one = &window.parts[index];
    let others = window.parts.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other);
    let beside: Vec<&Window> = others.filter(|other| !apart_in_time(one, other)).collect();
    let acted_by_another = |series: &Series| {
        let same = |theirs: &Series| (&theirs.signal, &theirs.source) == (&series.signal, &series.source);
        !is_carrier(&series.signal) && beside.iter().any(|other| other.injector.iter().any(same))
    };
    let suffered_by_another = |series: &Series| beside.iter().any(|other| names_one_of(&series.source, &other.victims));
    let (shared_injector, injector) = one.injector.iter().cloned().partition(acted_by_another);
    let (shared_victim, victim) = one.victim.iter().cloned().partition(suffered_by_another);
    let own = Window { injector, victim, ..one.clone() };
    if let Some(missed) = one.occasion.as_ref().and_then(Occasion::missed) {
        return not_injected(one, missed);
    }
    let mut assessed = assess_one(&own, policy, Some(window));
    tell_shared(&mut assessed.injector, shared_injector);
    tell_shared(&mut assessed.victim, shared_victim);
    assessed
}

/// One of the two was let loose while the other acted, and each is judged by its own stretch of time.
fn apart_in_time(one: &Window, other: &Window) -> bool {
    let before = |first: &Window, second: &Window| {
        let requested = second.requested_at.unwrap_or(second.injected_at);
        first.alone_until.is_some_and(|alone| alone <= requested) && second.baseline_from >= first.injected_at
    };
    before(one, other) || before(other, one)
}

fn tell_shared(finding: &mut SideFinding, shared: Vec<Series>) {
    if finding.moved || shared.is_empty() {
        return;
    }
    let places: Vec<String> = shared.iter().map(|series| format!("{} at {}", series.signal, series.source)).collect();
    finding.why += &format!("; another part may have moved {}, which proves neither", places.join(", "));
}

/// A side of the whole: each part moved it.
fn all_of(parts: &[Assessment], side: Side) -> SideFinding {
    let of = |part: &Assessment| match side {
        Side::Injector => part.injector.clone(),
        Side::Victim => part.victim.clone(),
    };
    let findings: Vec<SideFinding> = parts.iter().map(of).collect();
    let moved = !findings.is_empty() && findings.iter().all(|finding| finding.moved);
    let signals: Vec<String> = findings.iter().filter_map(|finding| finding.signal.clone()).collect();
    let why = parts.iter().zip(&findings).map(|(part, finding)| format!("{}: {}", part.nemesis, finding.why));
    SideFinding { side, moved, signal: moved.then(|| signals.join(", ")), why: why.collect::<Vec<_>>().join("; ") }
}

fn each(parts: &[Assessment], of: impl Fn(&Assessment) -> &String) -> String {
    parts.iter().map(|part| format!("{}: {}", part.nemesis, of(part))).collect::<Vec<_>>().join("; ")
}
