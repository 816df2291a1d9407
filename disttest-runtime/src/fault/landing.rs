//! What a fault window proves (D15): both sides moved against a quiet baseline, and the heal took.

use super::policy::{carrier_of, is_carrier};
use super::recovery::recovery;
use super::series::{Cut, Edges, rate};
use super::signal::{Moved, read};
use super::{Assessment, Policy, Series, Shape, Side, SideFinding, Window};
use crate::base::time::Nanos;

/// Judges `window` by `policy`. Total: what is missing, malformed or ambiguous proves nothing and is said in numbers.
///
/// A side has moved when one of its signals did. O(samples · log samples).
/// Whether the heal took can be asked again and again of a growing window: call until `recovered`, or until
/// [`Policy::heal_within`] has passed.
pub fn assess(window: &Window, policy: &Policy) -> Assessment {
    let edges = Edges::of(window, policy);
    let (mut injector, by_injector) = side(window, &edges, policy, Side::Injector);
    let (victim, by_victim) = side(window, &edges, policy, Side::Victim);
    if let Some(error) = &window.injection_error {
        injector.moved = false;
        injector.why = format!("the injection failed: {error}; {}", injector.why);
    }
    if let Some(leak) = leak(window, &edges, policy).filter(|_| injector.moved) {
        injector = SideFinding { moved: false, signal: None, why: format!("{leak}; {}", injector.why), ..injector };
    }
    let moved: Vec<(&Series, Moved)> = by_injector.into_iter().chain(by_victim).collect();
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
    let in_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == '.';
    let mut words = series.source.split(|c| !in_name(c)).map(|word| word.trim_matches('-'));
    if words.any(|word| window.victims.iter().any(|victim| victim == word)) {
        return Ok(());
    }
    match window.victims.is_empty() {
        true => Err("the window names no victim".to_owned()),
        false => Err(format!("not read on the victim's side ({})", window.victims.join(", "))),
    }
}

/// What a carrier signal counts: `bytes`, `payloads`.
fn unit(signal: &str) -> &str {
    signal.rsplit('-').next().unwrap_or(signal)
}

fn place(series: &Series) -> String {
    format!("{} at {}", series.signal, series.source)
}
