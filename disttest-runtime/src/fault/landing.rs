//! What a fault window proves (D15): both sides moved against a quiet baseline, and the heal took.

use super::composed::assess_composed;
use super::policy::{carrier_of, is_carrier};
use super::recovery::recovery;
use super::series::{Cut, Edges, rate};
use super::signal::{Moved, read};
use super::{Assessment, Occasion, Policy, Sample, Series, Shape, Side, SideFinding, Window};
use crate::base::time::Nanos;

/// Judges `window` by `policy`. Total: what is missing, malformed or ambiguous proves nothing and is said in numbers.
///
/// A side has moved when one of its signals did; a composed window has landed when each of its parts did, by evidence
/// that no other part can have made. O(samples · log samples), times the square of the number of parts.
/// Whether the heal took can be asked again and again of a growing window: call until `recovered`, or until
/// [`Policy::heal_within`] has passed.
pub fn assess(window: &Window, policy: &Policy) -> Assessment {
    if let Some(missed) = window.occasion.as_ref().and_then(Occasion::missed) {
        return not_injected(window, missed);
    }
    match window.parts.is_empty() {
        true => assess_one(window, policy, None),
        false => assess_composed(window, policy),
    }
}

/// Judges a window of one nemesis; `whole` is the composed window that it is a part of.
pub(super) fn assess_one(window: &Window, policy: &Policy, whole: Option<&Window>) -> Assessment {
    let edges = Edges::of(window, policy);
    let (mut injector, by_injector) = side(window, &edges, policy, Side::Injector);
    let (victim, by_victim) = side(window, &edges, policy, Side::Victim);
    let faults = [
        window.injection_error.as_ref().map(|error| format!("the injection failed: {error}")),
        out_of_turn(window),
        leak(window, &Edges::to_the_heal(window, policy), policy),
        gone_early(window, policy),
    ];
    for (index, fault) in faults.into_iter().enumerate() {
        // An injection that failed is told in any case, what else is wrong with it where it would have counted.
        let Some(fault) = fault.filter(|_| index == 0 || injector.moved) else { continue };
        let signal = injector.signal.take().filter(|_| index == 0);
        injector = SideFinding { moved: false, signal, why: format!("{fault}; {}", injector.why), ..injector };
    }
    let mut moved: Vec<(&Series, Moved)> = by_injector.into_iter().chain(by_victim).collect();
    if let Some(whole) = whole {
        moved.iter_mut().for_each(|(series, moved)| quiet_as_before_all(series, moved, window, whole, policy));
    }
    let recovery = recovery(window, &moved, policy);
    Assessment {
        epoch: window.epoch,
        nemesis: window.nemesis.clone(),
        detail: window.detail.clone(),
        held: edges.as_ref().map_or(Nanos(0), |edges| Nanos::from(edges.held())),
        landed: injector.moved && victim.moved,
        injector,
        victim,
        recovered: recovery.is_ok(),
        recovery: recovery.unwrap_or_else(|why| why),
        occasion: window.occasion.clone(),
        parts: Vec::new(),
    }
}

/// A window whose event was not seen. There is nothing to recover from.
pub(super) fn not_injected(window: &Window, missed: String) -> Assessment {
    let side = |side| SideFinding { side, moved: false, signal: None, why: missed.clone() };
    Assessment {
        epoch: window.epoch,
        nemesis: window.nemesis.clone(),
        detail: window.detail.clone(),
        held: Nanos(0),
        injector: side(Side::Injector),
        victim: side(Side::Victim),
        landed: false,
        recovered: true,
        recovery: "not injected, so there was nothing to heal".to_owned(),
        occasion: window.occasion.clone(),
        parts: Vec::new(),
    }
}

/// An injection that did not wait for its event is another fault than planned.
fn out_of_turn(window: &Window) -> Option<String> {
    let seen = window.occasion.as_ref()?.seen_at?;
    let requested = window.requested_at.unwrap_or(window.injected_at);
    (requested < seen).then(|| "injected before the event that it was to wait for".to_owned())
}

/// A fault that lasts must act on after the next one of a sequence was let loose: what shows that it does, moved in that
/// stretch too. A counter may stop, since a system may stop trying; a cut that ends is seen by what passes.
fn gone_early(window: &Window, policy: &Policy) -> Option<String> {
    let alone = window.alone_until.filter(|_| !policy.act_once.contains(&window.nemesis))?;
    let requested = window.requested_at.unwrap_or(window.injected_at);
    let earlier = |at: Nanos| if at > alone { Nanos(at.0 - alone.since(requested).as_nanos() as u64) } else { at };
    // Without the time in which it acted alone, the rest of its time follows its baseline.
    let of = |series: &Series| {
        let kept = series.samples.iter().filter(|sample| sample.at <= requested || sample.at > alone);
        let samples = kept.map(|sample| Sample { at: earlier(sample.at), ..*sample }).collect();
        Series { samples, ..series.clone() }
    };
    let lasting = signals(window, Side::Injector).filter(|series| !matches!(series.shape, Shape::Counter { .. }));
    let rest = Window {
        injected_at: requested,
        healed_at: window.healed_at.map(earlier),
        observed_until: earlier(window.observed_until),
        alone_until: None,
        injector: lasting.map(of).collect(),
        ..window.clone()
    };
    if rest.injector.is_empty() {
        return None;
    }
    let (finding, _) = side(&rest, &Edges::of(&rest, policy), policy, Side::Injector);
    (!finding.moved).then(|| format!("not until the heal: {}", finding.why))
}

/// In a sequence a part has its baseline while the parts before it act. Quiet is what it was before any of them did.
fn quiet_as_before_all(series: &Series, moved: &mut Moved, part: &Window, whole: &Window, policy: &Policy) {
    let before_all = Window {
        baseline_from: whole.baseline_from,
        requested_at: whole.requested_at,
        injected_at: whole.injected_at,
        alone_until: None,
        injector: Vec::new(),
        victim: Vec::new(),
        ..part.clone()
    };
    let reading = Edges::of(&before_all, policy).and_then(|edges| read(series, &edges, policy, false));
    if let Ok(reading) = reading {
        moved.quiet = reading.quiet;
    }
}

/// What one side proves, and its signals that moved.
fn side<'a>(
    window: &'a Window,
    edges: &Result<Edges, String>,
    policy: &Policy,
    side: Side,
) -> (SideFinding, Vec<(&'a Series, Moved)>) {
    let nothing = |why: String| (SideFinding { side, moved: false, signal: None, why }, Vec::new());
    let edges = match edges {
        Ok(edges) => edges,
        Err(why) => return nothing(why.clone()),
    };
    let (mut moved, mut still) = (Vec::new(), Vec::new());
    for series in signals(window, side) {
        match one(series, window, edges, policy, side) {
            Ok(reading) => moved.push((series, reading)),
            Err(why) => still.push(format!("{}: {why}", place(series))),
        }
    }
    if moved.is_empty() {
        return nothing(if still.is_empty() { "no signal was sampled".to_owned() } else { still.join("; ") });
    }
    let signal = moved.iter().map(|(series, _)| place(series)).collect::<Vec<_>>().join(", ");
    let why = moved.iter().map(|(series, m)| format!("{}: {}", place(series), m.why)).collect::<Vec<_>>().join("; ");
    (SideFinding { side, moved: true, signal: Some(signal), why }, moved)
}

fn signals(window: &Window, side: Side) -> impl Iterator<Item = &Series> {
    let all = match side {
        Side::Injector => &window.injector,
        Side::Victim => &window.victim,
    };
    all.iter().filter(|series| !is_carrier(&series.signal))
}

fn one(series: &Series, window: &Window, edges: &Edges, policy: &Policy, side: Side) -> Result<Moved, String> {
    let lasting = !policy.act_once.contains(&window.nemesis);
    match side {
        Side::Injector => {
            let moved = read(series, edges, policy, lasting && !matches!(series.shape, Shape::Counter { .. }))?;
            carried(series, window, edges, policy)?;
            Ok(moved)
        }
        Side::Victim => {
            is_of_a_victim(series, window)?;
            read(series, edges, policy, lasting)
        }
    }
}

/// A signal of a link counts only where something was let through before the fault.
fn carried(series: &Series, window: &Window, edges: &Edges, policy: &Policy) -> Result<(), String> {
    let Some(name) = carrier_of(&series.signal) else { return Ok(()) };
    let carrier = window.injector.iter().find(|c| c.signal == name && c.source == series.source);
    let carrier = carrier.ok_or_else(|| format!("`{name}` was not sampled there: the link may be bypassed"))?;
    let cut = Cut::of(carrier, edges, policy).map_err(|why| format!("`{name}`: {why}"))?;
    match (cut.baseline.first(), cut.baseline.last()) {
        (Some(first), Some(last)) if last.value > first.value => Ok(()),
        _ => Err("nothing passed there in the baseline: the link is bypassed, or idle".to_owned()),
    }
}

/// Where payload still passed while a cut acted, at more than [`Policy::leak_share`] of its rate before. The first reading
/// after the injection is left out: what was under way then may be counted a moment later.
fn leak(window: &Window, edges: &Result<Edges, String>, policy: &Policy) -> Option<String> {
    let edges = edges.as_ref().ok().filter(|_| policy.cuts.contains(&window.nemesis))?;
    let carriers = window.injector.iter().filter(|series| is_carrier(&series.signal));
    let leaks = carriers.filter_map(|carrier| match Cut::of(carrier, edges, policy) {
        Err(why) => Some(format!("{}: {why}", place(carrier))),
        Ok(cut) => {
            let settled = cut.fault.get(1..)?;
            let passed = settled.last()?.value - settled.first()?.value;
            let leaks = passed > 0.0 && rate(settled) > policy.leak_share * rate(&cut.baseline);
            leaks.then(|| format!("not cut: {passed} {} passed at {}", unit(&carrier.signal), carrier.source))
        }
    });
    let leaks: Vec<String> = leaks.collect();
    (!leaks.is_empty()).then(|| leaks.join("; "))
}

/// What a node outside the victim's side suffers is no evidence that the victim did.
fn is_of_a_victim(series: &Series, window: &Window) -> Result<(), String> {
    if names_one_of(&series.source, &window.victims) {
        return Ok(());
    }
    match window.victims.is_empty() {
        true => Err("the window names no victim".to_owned()),
        false => Err(format!("not read on the victim's side ({})", window.victims.join(", "))),
    }
}

/// The place `source` is one of `nodes`, or names one.
pub(super) fn names_one_of(source: &str, nodes: &[String]) -> bool {
    let in_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == '.';
    let mut words = source.split(|c| !in_name(c)).map(|word| word.trim_matches('-'));
    words.any(|word| nodes.iter().any(|node| node == word))
}

/// What a carrier signal counts: `bytes`, `payloads`.
fn unit(signal: &str) -> &str {
    signal.rsplit('-').next().unwrap_or(signal)
}

fn place(series: &Series) -> String {
    format!("{} at {}", series.signal, series.source)
}
