//! Forged traces: one table of what lands and what does not.

use super::*;
use crate::base::time::Nanos;

/// A reading at a millisecond of the run; `None` is a gap. Baseline 0 to 2000, fault 2000 to 6000, watched to 9000.
type Trace = fn(u64) -> Option<f64>;

const COUNTER: Shape = Shape::Counter { dose: 1.0 };
const GAUGE: Shape = Shape::Gauge { change: 20.0 };

/// What a row expects, as letters: does the injector's side move, the victim's side, does it land, does it recover.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Expect {
    injector: bool,
    victim: bool,
    landed: bool,
    recovered: bool,
}

const fn expect(injector: bool, victim: bool, landed: bool, recovered: bool) -> Expect {
    Expect { injector, victim, landed, recovered }
}

const LANDED: Expect = expect(true, true, true, true);
const UNRECOVERED: Expect = expect(true, true, true, false);
const NO_VICTIM: Expect = expect(true, false, false, true);
const NO_INJECTOR: Expect = expect(false, true, false, true);
const NOTHING: Expect = expect(false, false, false, true);

fn ms(at: u64) -> Nanos {
    Nanos(at * 1_000_000)
}

fn series_every(step: usize, signal: &str, source: &str, shape: Shape, trace: Trace) -> Series {
    let samples = (0..=9_000).step_by(step).map(|at| Sample { at: ms(at), value: trace(at) }).collect();
    Series { signal: signal.to_owned(), source: source.to_owned(), shape, samples }
}

fn series(signal: &str, source: &str, shape: Shape, trace: Trace) -> Series {
    series_every(200, signal, source, shape, trace)
}

fn window(shape: Shape, victim: Trace) -> Window {
    Window {
        epoch: 1,
        nemesis: "asymmetric-data-cut".to_owned(),
        detail: "n1 -> n2".to_owned(),
        victims: vec!["n1".to_owned()],
        baseline_from: ms(0),
        requested_at: None,
        injected_at: ms(2_000),
        healed_at: Some(ms(6_000)),
        observed_until: ms(9_000),
        injection_error: None,
        heal_error: None,
        probe_ok_at: Some(ms(6_300)),
        injector: vec![
            series("proxy-dropped-bytes", "link n1->n2", COUNTER, during),
            series(CARRIER_SIGNAL, "link n1->n2", COUNTER, passing),
        ],
        victim: vec![series("client-timeouts", "n1", shape, victim)],
        ..Window::default()
    }
}

/// Milliseconds inside the fault so far.
fn inside(at: u64) -> u64 {
    at.clamp(2_000, 6_000) - 2_000
}

fn acting(at: u64) -> bool {
    (2_001..=6_000).contains(&at)
}

/// A counter that grows all through the fault and only then.
fn during(at: u64) -> Option<f64> {
    Some((inside(at) / 100) as f64)
}

/// Bytes that pass, but for the time of the fault.
fn passing(at: u64) -> Option<f64> {
    Some((at - inside(at)) as f64)
}

fn never(_: u64) -> Option<f64> {
    Some(0.0)
}

fn always(at: u64) -> Option<f64> {
    Some((at / 100) as f64)
}

/// Bytes that pass, but for the time of the fault; ten that were under way are counted in the middle of it.
fn one_late(at: u64) -> Option<f64> {
    passing(at).map(|bytes| bytes + if at >= 4_000 { 10.0 } else { 0.0 })
}

/// Bytes that pass, every tenth of them in the time of the fault too.
fn leaky(at: u64) -> Option<f64> {
    passing(at).map(|bytes| bytes + (inside(at) / 10) as f64)
}

/// A level around 10 (9 to 11), 60 in the fault.
fn level(at: u64) -> Option<f64> {
    Some(if acting(at) { 60.0 } else { 9.0 + (at / 200 % 3) as f64 })
}

fn present(at: u64) -> Option<f64> {
    Some(f64::from(u8::from(acting(at))))
}

/// What is wrong with the assessment of `window`, if anything.
fn mismatch(name: &str, window: &Window, expected: Expect, why: &str) -> Option<String> {
    let a = assess(window, &Policy::default());
    let got = expect(a.injector.moved, a.victim.moved, a.landed, a.recovered);
    let said = format!("injector: {} | victim: {} | recovery: {}", a.injector.why, a.victim.why, a.recovery);
    let named = (a.injector.signal.is_some(), a.victim.signal.is_some());
    let names_what_moved = named == (got.injector || window.injection_error.is_some(), got.victim);
    let as_expected = got == expected && said.contains(why) && names_what_moved;
    (!as_expected).then(|| format!("{name}: {got:?}, expected {expected:?} and `{why}` in: {said}"))
}

fn check(mismatches: impl Iterator<Item = Option<String>>) {
    let all: Vec<String> = mismatches.flatten().collect();
    assert!(all.is_empty(), "{}", all.join("\n\n"));
}

#[test]
fn a_trace_on_the_victims_side_lands_only_when_it_moves_with_the_fault() {
    let rows: &[(&str, Shape, Trace, Expect, &str)] = &[
        // counters
        ("a counter that grows during the fault", COUNTER, during, LANDED, "0 -> 40 in 4.00 s"),
        ("a first move at once", COUNTER, during, LANDED, "first move 0.20 s after the injection"),
        ("a counter that never grows", COUNTER, never, NO_VICTIM, "0 -> 0 in 4.00 s, below the dose of 1"),
        ("a counter below its dose", Shape::Counter { dose: 41.0 }, during, NO_VICTIM, "below the dose of 41"),
        ("a counter just at its dose", Shape::Counter { dose: 40.0 }, during, LANDED, "dose 40"),
        ("a dose of nothing", Shape::Counter { dose: 0.0 }, during, NO_VICTIM, "a dose of 0 proves nothing"),
        ("a negative dose", Shape::Counter { dose: -1.0 }, never, NO_VICTIM, "proves nothing"),
        ("a dose that is no number", Shape::Counter { dose: f64::NAN }, during, NO_VICTIM, "proves nothing"),
        ("an endless dose", Shape::Counter { dose: f64::INFINITY }, during, NO_VICTIM, "proves nothing"),
        ("a constant riser", COUNTER, always, NO_VICTIM, "ambiguous: 10/s against 10/s in the baseline, more than 10%"),
        ("a noisy baseline, 16%", COUNTER, |at| Some((at / 500 + inside(at) / 100) as f64), NO_VICTIM, "ambiguous"),
        ("a little noise, 5%", COUNTER, |at| Some((at / 1_900 + inside(at) / 100) as f64), LANDED, "in the baseline"),
        ("it grew before the fault only", COUNTER, |at| Some(at.min(1_900) as f64), NO_VICTIM, "below the dose"),
        ("it grew after the heal only", COUNTER, |at| Some(at.saturating_sub(6_100) as f64), NO_VICTIM, "0 -> 0"),
        (
            "it went down in the fault",
            COUNTER,
            |at| Some(99.0 - inside(at) as f64 / 100.0),
            NO_VICTIM,
            "went backwards",
        ),
        ("reset in the fault", COUNTER, |at| Some((at % 4_000) as f64), NO_VICTIM, "went backwards, 3800 -> 0"),
        (
            "reset in the baseline",
            COUNTER,
            |at| Some(if at < 900 { 50.0 } else { during(at)? }),
            NO_VICTIM,
            "backwards",
        ),
        (
            "reset to more than before",
            COUNTER,
            |at| if at < 3_000 { during(at) } else { Some(-1.0) },
            NO_VICTIM,
            "of -1",
        ),
        ("healed too soon: a blip at the start", COUNTER, |at| Some(inside(at).min(900) as f64), NO_VICTIM, "a blip"),
        ("one early step", COUNTER, |at| Some(f64::from(u8::from(at > 2_100))), NO_VICTIM, "one-off event is a marker"),
        (
            "a lull of under half the fault",
            COUNTER,
            |at| Some((inside(at) / 1_500) as f64),
            LANDED,
            "longest lull 1.40 s",
        ),
        (
            "a gap in the baseline",
            COUNTER,
            |at| (at != 1_000).then_some(during(at)?),
            NO_VICTIM,
            "no reading at 1.00 s",
        ),
        ("a gap in the fault", COUNTER, |at| (at != 4_000).then_some(during(at)?), NO_VICTIM, "no reading at 4.00 s"),
        ("a probe that always errs", COUNTER, |_| None, NO_VICTIM, "no reading at 0.00 s"),
        ("a reading that is no number", COUNTER, |_| Some(f64::NAN), NO_VICTIM, "a reading of NaN"),
        ("an endless reading", COUNTER, |_| Some(f64::INFINITY), NO_VICTIM, "a reading of inf"),
        ("it goes on after the heal", COUNTER, |at| Some(at.max(2_000) as f64), UNRECOVERED, "still 1000/s"),
        (
            "a fifth of its rate after the heal",
            COUNTER,
            |at| Some((inside(at) / 100 + at.max(6_000) / 500) as f64),
            UNRECOVERED,
            "still 2",
        ),
        ("a gap right after the heal", COUNTER, |at| (at != 6_400).then_some(during(at)?), LANDED, "quiet from 0.60 s"),
        (
            "gaps to the end of the after-window",
            COUNTER,
            |at| (at < 8_600).then_some(during(at)?),
            UNRECOVERED,
            "gap for",
        ),
        (
            "reset by the heal, then quiet",
            COUNTER,
            |at| if at > 6_000 { Some(0.0) } else { during(at) },
            LANDED,
            "quiet",
        ),
        // gauges
        ("a level that rises in the fault", GAUGE, level, LANDED, "median 10 -> 60"),
        (
            "a level that falls though it should rise",
            GAUGE,
            |at| Some(-level(at)?),
            NO_VICTIM,
            "a change of 20 is needed",
        ),
        (
            "a level that falls as it should",
            Shape::Gauge { change: -20.0 },
            |at| Some(-level(at)?),
            LANDED,
            "-10 -> -60",
        ),
        (
            "a level that rises though it should fall",
            Shape::Gauge { change: -20.0 },
            level,
            NO_VICTIM,
            "of -20 is needed",
        ),
        ("a change too small", Shape::Gauge { change: 51.0 }, level, NO_VICTIM, "a change of 51 is needed"),
        ("no change declared", Shape::Gauge { change: 0.0 }, level, NO_VICTIM, "a change of 0 proves nothing"),
        ("a change that is no number", Shape::Gauge { change: f64::NAN }, level, NO_VICTIM, "proves nothing"),
        (
            "noise as large as the change",
            GAUGE,
            |at| Some((at / 200 % 3 * 30 + inside(at).min(40)) as f64),
            NO_VICTIM,
            "inside 3 deviations",
        ),
        (
            "a level displaced for a third of the fault",
            GAUGE,
            |at| level(if at > 3_400 { 0 } else { at }),
            NO_VICTIM,
            "median 10 -> 9, a change",
        ),
        (
            "a steady baseline without deviation",
            GAUGE,
            |at| Some(if acting(at) { 30.0 } else { 10.0 }),
            LANDED,
            "deviations are 0",
        ),
        (
            "a level that does not come back",
            GAUGE,
            |at| Some(if at > 2_000 { 60.0 } else { 10.0 }),
            UNRECOVERED,
            "still at 60, quiet is 10 +- 5",
        ),
        (
            "a level that comes back most of the way",
            GAUGE,
            |at| level(at).map(|v| v + f64::from(u8::from(at > 6_000)) * 4.0),
            LANDED,
            "quiet",
        ),
        (
            "a transient good sample after the heal",
            GAUGE,
            |at| Some(if at == 6_200 || at <= 2_000 { 10.0 } else { 60.0 }),
            UNRECOVERED,
            "still at 60",
        ),
        ("a level that is never read", GAUGE, |_| None, NO_VICTIM, "no reading"),
        // markers
        ("a marker during the fault", Shape::Marker, present, LANDED, "absent in the baseline, then present"),
        ("a latched marker", Shape::Marker, |at| Some(f64::from(u8::from(at > 2_300))), LANDED, "then present"),
        ("a marker that never appears", Shape::Marker, never, NO_VICTIM, "absent in all 20 samples of the fault"),
        (
            "a marker after the heal only",
            Shape::Marker,
            |at| Some(f64::from(u8::from(at > 6_000))),
            NO_VICTIM,
            "absent in all",
        ),
        (
            "a marker already in the baseline",
            Shape::Marker,
            |at| Some(1.0 + present(at)?),
            NO_VICTIM,
            "ambiguous: present (1) 2.00 s before",
        ),
        (
            "a marker in one sample of the baseline",
            Shape::Marker,
            |at| Some(f64::from(u8::from(at == 1_000 || acting(at)))),
            NO_VICTIM,
            "1.00 s before",
        ),
        ("half a marker", Shape::Marker, |at| Some(present(at)? / 2.0), NO_VICTIM, "absent in all"),
        (
            "a marker undone at once",
            Shape::Marker,
            |at| present(if at > 2_600 { 0 } else { at }),
            NO_VICTIM,
            "a blip: no appearances for 3.40 s",
        ),
        (
            "a marker that goes on appearing after the heal",
            Shape::Marker,
            |at| Some(at.saturating_sub(2_000) as f64),
            UNRECOVERED,
            "still appearing",
        ),
    ];
    check(
        rows.iter().map(|(name, shape, trace, expected, why)| mismatch(name, &window(*shape, *trace), *expected, why)),
    );
}

#[test]
fn a_trace_on_the_injectors_side_must_move_too() {
    let rows: &[(&str, Shape, Trace, Expect, &str)] = &[
        ("nothing was dropped (rule matched nothing)", COUNTER, never, NO_INJECTOR, "0 -> 0"),
        ("dropped before the fault as well", COUNTER, always, NO_INJECTOR, "ambiguous"),
        ("the system stopped trying", COUNTER, |at| Some(inside(at).min(300) as f64), LANDED, "longest lull 3.60 s"),
        (
            "the process came back at once",
            Shape::Marker,
            |at| present(if at > 2_900 { 0 } else { at }),
            NO_INJECTOR,
            "a blip",
        ),
        ("the process stayed away", Shape::Marker, present, LANDED, "then present"),
    ];
    check(rows.iter().map(|(name, shape, trace, expected, why)| {
        let mut window = window(COUNTER, during);
        window.injector = vec![series("process-exit", "n1", *shape, *trace)];
        mismatch(name, &window, *expected, why)
    }));
}

#[test]
fn the_facts_of_the_window_decide_with_the_traces() {
    type Change = fn(&mut Window);
    let rows: &[(&str, Change, Expect, &str)] = &[
        ("one side only: no victim sampled", |w| w.victim.clear(), NO_VICTIM, "victim: no signal was sampled"),
        ("one side only: no injector sampled", |w| w.injector.clear(), NO_INJECTOR, "injector: no signal was sampled"),
        ("no side", |w| (w.injector.clear(), w.victim.clear()).0, NOTHING, "no signal had moved"),
        (
            "the injection erred",
            |w| w.injection_error = Some("EPERM".into()),
            NO_INJECTOR,
            "the injection failed: EPERM",
        ),
        ("the heal erred", |w| w.heal_error = Some("EPERM".into()), UNRECOVERED, "the heal failed: EPERM"),
        (
            "never healed",
            |w| {
                w.healed_at = None;
                w.injector[1] = series(CARRIER_SIGNAL, "link n1->n2", COUNTER, |at| Some(at.min(2_000) as f64));
            },
            UNRECOVERED,
            "never healed",
        ),
        ("no probe succeeded", |w| w.probe_ok_at = None, UNRECOVERED, "no application probe succeeded"),
        ("a probe of before the heal", |w| w.probe_ok_at = Some(ms(5_900)), UNRECOVERED, "before the heal"),
        ("a probe too late", |w| w.probe_ok_at = Some(ms(16_100)), UNRECOVERED, "took 10.10 s, more than 10.00 s"),
        (
            "watched too shortly after the heal",
            |w| w.observed_until = ms(6_500),
            UNRECOVERED,
            "0.75 s and 4 samples are needed",
        ),
        ("a baseline too short", |w| w.baseline_from = ms(1_100), NOTHING, "a baseline of 0.90 s, 1.00 s are needed"),
        (
            "a fault too short for two samples",
            |w| w.healed_at = Some(ms(2_300)),
            NOTHING,
            "1 samples in the fault, 2 are needed",
        ),
        ("a fault of no length", |w| w.healed_at = Some(ms(2_000)), NOTHING, "0 samples in the fault"),
        ("healed before injected", |w| w.healed_at = Some(ms(1_900)), NOTHING, "out of order"),
        (
            "healed after the last look",
            |w| w.healed_at = Some(ms(9_100)),
            expect(false, false, false, false),
            "not watched after the heal",
        ),
        ("requested after injected", |w| w.requested_at = Some(ms(2_100)), NOTHING, "out of order"),
        (
            "an injection that moved signals while under way",
            |w| (w.requested_at, w.injected_at) = (Some(ms(2_000)), ms(3_000)),
            LANDED,
            "first move 0.00 s",
        ),
        ("the same without saying when it was requested", |w| w.injected_at = ms(3_000), NOTHING, "ambiguous"),
        ("no victim named", |w| w.victims.clear(), NO_VICTIM, "the window names no victim"),
        ("read at a bystander", |w| w.victim[0].source = "n3".into(), NO_VICTIM, "not read on the victim's side (n1)"),
        ("read at a namesake", |w| w.victim[0].source = "n11".into(), NO_VICTIM, "not read on the victim's side"),
        ("read at clients of the victim", |w| w.victim[0].source = "clients of n1".into(), LANDED, "clients of n1"),
        ("read at a link of the victim", |w| w.victim[0].source = "link n2->n1".into(), LANDED, "link n2->n1"),
        ("the proxy's traffic was not read", |w| _ = w.injector.pop(), NO_INJECTOR, "the link may be bypassed"),
        (
            "no traffic in the baseline: proxy bypassed",
            |w| w.injector[1] = series(CARRIER_SIGNAL, "link n1->n2", COUNTER, during),
            NO_INJECTOR,
            "nothing passed there in the baseline",
        ),
        ("traffic on another link", |w| w.injector[1].source = "link n2->n3".into(), NO_INJECTOR, "may be bypassed"),
        (
            "one link of the cut was left open",
            |w| w.injector.push(series(CARRIER_SIGNAL, "link n1->n3", COUNTER, always)),
            NO_INJECTOR,
            "not cut: 36 bytes passed at link n1->n3",
        ),
        (
            "the same, and no cut is planned",
            |w| {
                w.nemesis = "latency".to_owned();
                w.injector.push(series(CARRIER_SIGNAL, "link n1->n3", COUNTER, always));
            },
            LANDED,
            "proxy-dropped-bytes",
        ),
        (
            "what was under way when it was cut is counted late",
            |w| w.injector.push(series(CARRIER_SIGNAL, "link n1->n3", COUNTER, |at| Some(at.min(2_300) as f64))),
            LANDED,
            "proxy-dropped-bytes",
        ),
        (
            "one message, counted in the middle of the cut",
            |w| w.injector.push(series(CARRIER_SIGNAL, "link n1->n3", COUNTER, one_late)),
            LANDED,
            "proxy-dropped-bytes",
        ),
        (
            "every tenth message passes the cut",
            |w| w.injector.push(series(CARRIER_SIGNAL, "link n1->n3", COUNTER, leaky)),
            NO_INJECTOR,
            "not cut",
        ),
        ("traffic is no fault", |w| _ = w.injector.remove(0), NO_INJECTOR, "no signal was sampled"),
        (
            "sampled each 500 ms",
            |w| w.victim[0] = series_every(500, "x", "n1", COUNTER, during),
            NO_VICTIM,
            "sampled each 500 ms",
        ),
        (
            "sampled each 600 ms",
            |w| w.victim[0] = series_every(600, "x", "n1", COUNTER, during),
            NO_VICTIM,
            "not sampled for 0.60 s from 0.00 s on",
        ),
        ("sampled each 250 ms", |w| w.victim[0] = series_every(250, "x", "n1", COUNTER, during), LANDED, "x at n1"),
        ("one late tick", |w| _ = w.victim[0].samples.remove(20), LANDED, "client-timeouts at n1"),
        (
            "a hole of 600 ms",
            |w| _ = w.victim[0].samples.drain(20..22),
            NO_VICTIM,
            "not sampled for 0.60 s from 3.80 s on",
        ),
        (
            "no samples in the last second of the fault",
            |w| _ = w.victim[0].samples.drain(26..),
            expect(true, false, false, true),
            "not sampled for 1.00 s",
        ),
        ("samples out of order", |w| w.victim[0].samples.swap(3, 4), NO_VICTIM, "out of order"),
        ("samples twice", |w| w.victim[0].samples[4] = w.victim[0].samples[3], NO_VICTIM, "out of order"),
        (
            "a second, clean signal decides",
            |w| w.victim.insert(0, series("noisy", "n1", COUNTER, always)),
            LANDED,
            "client-timeouts at n1: 0 -> 40",
        ),
        (
            "two signals moved, one does not come back",
            |w| w.victim.push(series("down", "n1", Shape::Counter { dose: 1.0 }, |at| Some(at.max(2_000) as f64))),
            UNRECOVERED,
            "down at n1: still",
        ),
    ];
    check(rows.iter().map(|(name, change, expected, why)| {
        let mut window = window(COUNTER, during);
        change(&mut window);
        mismatch(name, &window, *expected, why)
    }));
}

#[test]
fn a_first_move_more_than_five_seconds_after_the_injection_is_late() {
    let stretched = |trace: Trace| {
        let mut window = window(COUNTER, trace);
        (window.injected_at, window.healed_at) = (ms(1_000), Some(ms(8_000)));
        window.injector = vec![series("process-exit", "n1", Shape::Marker, |at| Some(f64::from(u8::from(at > 1_000))))];
        assess(&window, &Policy::default()).victim
    };
    let in_time = stretched(|at| Some(at.saturating_sub(5_700) as f64));
    assert!(in_time.moved, "{}", in_time.why);
    let late = stretched(|at| Some(at.saturating_sub(6_000) as f64));
    assert!(!late.moved && late.why.contains("late: the first move came 5.20 s"), "{}", late.why);
}

#[test]
fn a_nemesis_that_acts_once_may_be_followed_by_a_recovery_inside_the_window() {
    let blip: Trace = |at| Some(inside(at).min(900) as f64);
    let mut window = window(COUNTER, blip);
    for (nemesis, landed) in [("connection-loss", true), ("restart", true), ("pause", false), ("my-own", false)] {
        window.nemesis = nemesis.to_owned();
        assert_eq!(assess(&window, &Policy::default()).landed, landed, "{nemesis}");
    }
}

#[test]
fn a_counter_quiet_only_after_more_than_ten_seconds_has_not_recovered() {
    let late = |quiet_from: u64| {
        let mut window = window(COUNTER, during);
        let samples = |until: u64| {
            let value = move |at: u64| Some(at.clamp(2_000, until) as f64);
            (0..=20_000).step_by(200).map(|at| Sample { at: ms(at), value: value(at) }).collect::<Vec<Sample>>()
        };
        window.observed_until = ms(20_000);
        window.victim[0].samples = samples(quiet_from);
        window.injector = vec![series("process-exit", "n1", Shape::Marker, present)];
        window.injector[0].samples = samples(6_000);
        window.injector[0].samples.iter_mut().for_each(|s| s.value = present(s.at.0 / 1_000_000));
        assess(&window, &Policy::default())
    };
    assert!(late(15_800).recovered, "{}", late(15_800).recovery);
    let too_late = late(16_400);
    assert!(too_late.landed && !too_late.recovered, "{}", too_late.recovery);
    assert!(too_late.recovery.contains("quiet only 10.40 s after the heal"), "{}", too_late.recovery);
}

#[test]
fn the_default_policy_holds_the_numbers_of_the_format() {
    let p = Policy::default();
    let millis = [p.cadence, p.baseline, p.land_within, p.heal_within].map(|d| d.as_millis());
    assert_eq!(millis, [250, 1_000, 5_000, 10_000]);
    assert_eq!((p.baseline_samples, p.fault_samples), (4, 2));
    assert_eq!((p.quiet_share, p.deviations), (0.1, 3.0));
}

#[test]
fn an_assessment_repeats_what_the_window_says_of_itself() {
    let a = assess(&window(COUNTER, during), &Policy::default());
    assert_eq!((a.epoch, a.nemesis.as_str(), a.detail.as_str()), (1, "asymmetric-data-cut", "n1 -> n2"));
    assert_eq!(a.held, ms(4_000));
    assert_eq!(a.injector.signal.as_deref(), Some("proxy-dropped-bytes at link n1->n2"));
    assert_eq!(a.victim.signal.as_deref(), Some("client-timeouts at n1"));
}
