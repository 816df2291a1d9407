//! Forged windows of several nemeses: a part with no evidence of its own is caught, whatever the others show.

use super::*;
use crate::base::time::Nanos;
use std::ops::RangeInclusive;

fn ms(at: u64) -> Nanos {
    Nanos(at * 1_000_000)
}

/// A counter that grows in these milliseconds, read each 0.2 s up to 24 s.
fn grows(signal: &str, source: &str, when: RangeInclusive<u64>) -> Series {
    let value = |at: u64| (at.clamp(*when.start(), *when.end()) - when.start()) as f64 / 20.0;
    let samples = (0..=24_000).step_by(200).map(|at| Sample { at: ms(at), value: Some(value(at)) }).collect();
    Series { signal: signal.to_owned(), source: source.to_owned(), shape: Shape::Counter { dose: 1.0 }, samples }
}

/// A marker that is there in these milliseconds.
fn present(signal: &str, source: &str, when: RangeInclusive<u64>) -> Series {
    let value = |at: u64| Some(f64::from(u8::from(when.contains(&at))));
    let samples = (0..=24_000).step_by(200).map(|at| Sample { at: ms(at), value: value(at) }).collect();
    Series { signal: signal.to_owned(), source: source.to_owned(), shape: Shape::Marker, samples }
}

const ALL: RangeInclusive<u64> = 2_000..=12_000;
const NEVER: RangeInclusive<u64> = 30_000..=30_000;

/// A part that acts from 2 s to 12 s.
fn part(nemesis: &str, victim: &str, injector: Vec<Series>, suffered: Vec<Series>) -> Window {
    Window {
        epoch: 1,
        nemesis: nemesis.to_owned(),
        victims: vec![victim.to_owned()],
        baseline_from: ms(0),
        requested_at: Some(ms(2_000)),
        injected_at: ms(2_000),
        healed_at: Some(ms(12_000)),
        observed_until: ms(24_000),
        probe_ok_at: Some(ms(12_300)),
        injector,
        victim: suffered,
        ..Window::default()
    }
}

fn whole(parts: Vec<Window>) -> Window {
    let names: Vec<&str> = parts.iter().map(|part| part.nemesis.as_str()).collect();
    let frame = part(&names.join(TOGETHER), "n1", Vec::new(), Vec::new());
    Window { parts, ..frame }
}

fn cut() -> Window {
    let injector =
        vec![grows("proxy-dropped-bytes", "link n1->n2", ALL), grows(CARRIER_SIGNAL, "link n1->n2", 0..=2_000)];
    part("full-partition", "n1", injector, vec![grows("client-timeouts", "n1", ALL)])
}

fn kill() -> Window {
    let injector = vec![present("process-exit", "n3", 2_001..=24_000)];
    part("hard-kill", "n3", injector, vec![grows("client-timeouts", "n3", ALL)])
}

/// [`kill`], let loose at 7 s while [`cut`] acts.
fn later() -> Window {
    Window {
        baseline_from: ms(2_000),
        requested_at: Some(ms(7_000)),
        injected_at: ms(7_000),
        injector: vec![present("process-exit", "n3", 7_001..=24_000)],
        victim: vec![grows("client-timeouts", "n3", 7_000..=12_000)],
        ..kill()
    }
}

fn first() -> Window {
    Window { alone_until: Some(ms(7_000)), ..cut() }
}

#[track_caller]
fn check(name: &str, window: &Window, landed: bool, why: &str) {
    let a = assess(window, &Policy::default());
    let said = format!("{} | {} | {}", a.injector.why, a.victim.why, a.recovery);
    assert_eq!(a.landed, landed, "{name}: {said}");
    assert!(said.contains(why), "{name}: `{why}` in {said}");
    assert_eq!(a.landed, a.injector.moved && a.victim.moved);
    assert_eq!(a.parts.len(), window.parts.len());
}

fn both(change: impl FnOnce(&mut Window, &mut Window)) -> Window {
    let (mut a, mut b) = (cut(), kill());
    change(&mut a, &mut b);
    whole(vec![a, b])
}

fn turns(change: impl FnOnce(&mut Window, &mut Window)) -> Window {
    let (mut a, mut b) = (first(), later());
    change(&mut a, &mut b);
    whole(vec![a, b])
}

#[test]
fn nemeses_that_act_at_once_land_only_when_each_shows_what_no_other_can_have_done() {
    check("each landed", &both(|_, _| {}), true, "full-partition: proxy-dropped-bytes at link n1->n2");
    let nothing_dropped =
        |a: &mut Window, _: &mut Window| a.injector[0] = grows("proxy-dropped-bytes", "link n1->n2", NEVER);
    check("the first does nothing", &both(nothing_dropped), false, "below the dose");
    let alive = |_: &mut Window, b: &mut Window| b.injector[0] = present("process-exit", "n3", NEVER);
    check("the second does nothing", &both(alive), false, "absent in all");
    let unnoticed = |_: &mut Window, b: &mut Window| b.victim[0] = grows("client-timeouts", "n3", NEVER);
    check("nobody suffers the second", &both(unnoticed), false, "hard-kill: client-timeouts at n3: 0 -> 0");
    check("nobody reads the second", &both(|_, b| b.injector.clear()), false, "no signal was sampled");
    let borrowed = |_: &mut Window, b: &mut Window| b.victim = vec![grows("client-timeouts", "n1", ALL)];
    check("the second's victim is not asked, the first's is", &both(borrowed), false, "another part may have moved");
    let same_victim = |_: &mut Window, b: &mut Window| {
        b.victims = vec!["n1".to_owned()];
        b.victim = vec![grows("client-timeouts", "n1", ALL)];
    };
    check("two parts with one victim", &both(same_victim), false, "another part may have moved client-timeouts at n1");
    let same_place = |a: &mut Window, b: &mut Window| b.injector = a.injector.clone();
    check(
        "two parts with one place to act",
        &both(same_place),
        false,
        "another part may have moved proxy-dropped-bytes",
    );
    let reported = |_: &mut Window, b: &mut Window| b.injection_error = Some("no such node".to_owned());
    check("the second reports an error", &both(reported), false, "the injection failed: no such node");
    let leaks = |a: &mut Window, _: &mut Window| a.injector[1] = grows(CARRIER_SIGNAL, "link n1->n2", 0..=12_000);
    check("the cut leaks", &both(leaks), false, "not cut");
}

#[test]
fn in_a_sequence_each_has_its_baseline_in_the_faults_before_it() {
    check("each landed", &turns(|_, _| {}), true, "hard-kill: process-exit at n3");
    let one_victim = |_: &mut Window, b: &mut Window| {
        b.victims = vec!["n1".to_owned()];
        b.victim = vec![grows("client-timeouts", "n1", 2_000..=12_000)];
    };
    check("what the first did is no effect of the second", &turns(one_victim), false, "ambiguous");
    let by_the_second = |a: &mut Window, _: &mut Window| a.victim[0] = grows("client-timeouts", "n1", 7_000..=12_000);
    check("what the second did is no effect of the first", &turns(by_the_second), false, "0 -> 0");
    let stops = |a: &mut Window, _: &mut Window| {
        a.nemesis = "pause".to_owned();
        a.injector = vec![present("process-stopped", "n1", 2_001..=7_000)];
    };
    check("the first is over when the second begins", &turns(stops), false, "not until the heal");
    let leaks = |a: &mut Window, _: &mut Window| a.injector[1] = grows(CARRIER_SIGNAL, "link n1->n2", 7_000..=12_000);
    check("the cut ends when the second begins", &turns(leaks), false, "nothing passed there in the baseline");
    let dead_before = |_: &mut Window, b: &mut Window| b.injector[0] = present("process-exit", "n3", 5_000..=24_000);
    check("the second happened before it was let loose", &turns(dead_before), false, "present");
    let hasty = |a: &mut Window, b: &mut Window| {
        (a.alone_until, b.requested_at, b.injected_at) = (Some(ms(2_400)), Some(ms(2_400)), ms(2_400));
    };
    check("no time between them", &turns(hasty), false, "a baseline of 0.40 s");
}

#[test]
fn a_sequence_recovers_when_every_signal_is_as_it_was_before_any_of_it() {
    let level = |when: RangeInclusive<u64>, more: RangeInclusive<u64>| {
        let mut series = present("client-latency", "n3", when);
        series.shape = Shape::Gauge { change: 20.0 };
        for sample in &mut series.samples {
            let higher = f64::from(u8::from(more.contains(&(sample.at.0 / 1_000_000))));
            sample.value = sample.value.map(|value| 10.0 + value * 30.0 + higher * 60.0);
        }
        series
    };
    let back = turns(|_, b| b.victim = vec![level(2_001..=12_000, 7_001..=12_000)]);
    let a = assess(&back, &Policy::default());
    assert!(a.landed && a.recovered, "{} | {} | {}", a.injector.why, a.victim.why, a.recovery);
    let stuck = turns(|_, b| b.victim = vec![level(2_001..=24_000, 7_001..=12_000)]);
    let a = assess(&stuck, &Policy::default());
    assert!(a.landed && !a.recovered, "at the level of the first fault: {}", a.recovery);
    let one_part = both(|a, _| a.probe_ok_at = None);
    assert!(!assess(&one_part, &Policy::default()).recovered, "each part recovers");
}

#[test]
fn what_is_no_composition_does_not_land() {
    check("a single part", &whole(vec![cut()]), false, "a single part");
    let nested = whole(vec![whole(vec![cut(), kill()]), kill()]);
    check("composed of compositions", &nested, false, "is composed itself");
    let early = both(|_, b| (b.requested_at, b.injected_at) = (Some(ms(1_500)), ms(1_500)));
    check("a part before the window", &early, false, "did not act inside this window");
    let late = both(|_, b| b.healed_at = Some(ms(13_000)));
    check("a part after the window", &late, false, "did not act inside this window");
    let failed = Window { injection_error: Some("`n9` is no node".to_owned()), ..both(|_, _| {}) };
    check("the whole reports an error", &failed, false, "`n9` is no node");
}

#[test]
fn an_injection_lands_only_after_the_event_that_it_waits_for() {
    let occasion = |seen: Option<u64>| Occasion {
        event: "500 operations acknowledged".to_owned(),
        from: ms(1_000),
        seen_at: seen.map(ms),
        limit: ms(5_000),
        evidence: "312".to_owned(),
    };
    let on = |seen| Window { occasion: Some(occasion(seen)), ..cut() };
    check("on time", &on(Some(2_000)), true, "");
    check("before the event", &on(Some(2_001)), false, "before the event that it was to wait for");
    let missed = assess(&on(None), &Policy::default());
    let why = "not injected: event `500 operations acknowledged` not seen within 5.0 s (312)";
    assert!(!missed.landed && missed.recovered);
    assert_eq!((missed.injector.why.as_str(), missed.missed().as_deref()), (why, Some(why)));
    let part = both(|_, b| b.occasion = Some(occasion(None)));
    check("a part whose event never came", &part, false, why);
    assert!(assess(&part, &Policy::default()).missed().is_some_and(|missed| missed.starts_with("hard-kill: ")));
}
