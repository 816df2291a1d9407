//! Forged traces: for each shape of signal a table of what somebody could show, and whether the landing rule accepts it.
//!
//! A trace is a text: `10*2` is 10 for two seconds (a counter grows by 10 a second, a level is 10), `10~3*2` swings by 3
//! around it, `?*0.2` are readings that failed; `^50` is where a counter starts, `+1` and `=0` add to it and set it. A
//! reading is taken each 0.2 s and shows what stood there up to then. The fault is let loose after 2 s and taken back
//! after 12 s; the application answers 0.3 s later, and signals are read until 24 s.

use super::*;
use crate::base::time::Nanos;
use Expect::{Lands, LandsUnhealed, Not};

/// What the rule must say of a side with this trace, when the other side is beyond doubt.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expect {
    /// It has moved: the fault landed, and its heal took.
    Lands,
    /// The fault landed, and its heal did not take.
    LandsUnhealed,
    /// It has not moved: the fault did not land.
    Not,
}

/// Name, trace, what is expected of it on the victim's side, and on the injector's (where a counter may stop).
type Row = (&'static str, &'static str, Expect, Expect);

/// A count that must grow by 1.
const COUNTERS: &[Row] = &[
    ("all through the fault", "0*2 10*10 0*12", Lands, Lands),
    ("a first move just in time", "0*6.8 10*5.2 0*12", Lands, Lands),
    ("late by a fifth of a second", "0*7 10*5 0*12", Not, Not),
    ("late, in a burst", "0*11.6 100*0.4 0*12", Not, Not),
    ("late: all at the last reading", "0*11.8 +100 0*12.2", Not, Not),
    ("late: after the heal only", "0*12 10*2 0*10", Not, Not),
    ("early: before the fault only", "10*2 0*22", Not, Not),
    ("early by two readings", "0*1.6 10*10.4 0*12", Not, Not),
    ("early: one event, a twentieth of the fault's rate", "0*1 +1 0*1 10*10 0*12", Lands, Lands),
    ("never", "0*24", Not, Not),
    ("noisy baseline, 9%", "0.9*2 10*10 0*12", Lands, Lands),
    ("noisy baseline, 9% of a higher rate", "9*2 100*10 0*12", Lands, Lands),
    ("noisy baseline, 15%", "1.5*2 10*10 0*12", Not, Not),
    ("noisy baseline, half", "5*2 10*10 0*12", Not, Not),
    ("always, at one rate", "10*24", Not, Not),
    ("always, but for the time after the heal", "10*12 0*12", Not, Not),
    ("below the dose", "0*2 0.05*10 0*12", Not, Not),
    ("wrong direction", "^200 0*2 -10*10 0*12", Not, Not),
    ("wrong direction for a second", "0*2 10*5 -1*1 10*4 0*12", Not, Not),
    ("below nothing", "^-5 0*2 10*10 0*12", Not, Not),
    ("reset in the fault", "0*2 10*5 =0 10*5 0*12", Not, Not),
    ("reset by the injection", "^50 0*2 =0 10*10 0*12", Not, Not),
    ("reset in the baseline", "^50 0*1 =0 0*1 10*10 0*12", Not, Not),
    ("reset to more than it was", "^50 0*2 10*5 =20 100*5 0*12", Not, Not),
    ("reset by the heal", "0*2 10*10 =0 0*12", Lands, Lands),
    ("reset after the heal", "0*2 10*10 0*2 =0 0*10", Lands, Lands),
    ("one event", "0*6 +1 0*18", Not, Lands),
    ("one event at once", "0*2 10*0.2 0*21.8", Not, Lands),
    ("healed too soon, after 2 s of 10", "0*2 10*2 0*20", Not, Lands),
    ("healed too soon, just below half", "0*2 10*4.8 0*17.2", Not, Lands),
    ("healed too soon, just above half", "0*2 10*5.2 0*16.8", Lands, Lands),
    ("a lull of more than half", "0*2 10*2 0*5.2 10*2.8 0*12", Not, Lands),
    ("a lull of less than half", "0*2 10*2 0*4.4 10*3.6 0*12", Lands, Lands),
    ("a gap in the baseline", "0*1 ?*0.2 0*0.8 10*10 0*12", Not, Not),
    ("a gap in the fault", "0*2 10*5 ?*0.2 10*4.8 0*12", Not, Not),
    ("a gap at the first reading of the fault", "0*2 ?*0.2 10*9.8 0*12", Not, Not),
    ("a gap right after the heal", "0*2 10*10 ?*0.4 0*11.6", Lands, Lands),
    ("a gap at the end", "0*2 10*10 0*11.6 ?*0.4", LandsUnhealed, LandsUnhealed),
    ("never read", "?*24", Not, Not),
    ("no number", "0*2 nan*10 0*12", Not, Not),
    ("endless", "0*2 inf*10 0*12", Not, Not),
    ("not healed", "0*2 10*22", LandsUnhealed, LandsUnhealed),
    ("not healed: a fifth goes on", "0*2 10*10 2*12", LandsUnhealed, LandsUnhealed),
    ("healed but for a twentieth", "0*2 10*10 0.5*12", Lands, Lands),
    ("healed after 5 s", "0*2 10*15 0*7", Lands, Lands),
    ("healed after 9.6 s", "0*2 10*19.6 0*2.4", Lands, Lands),
    ("healed after 10.4 s", "0*2 10*20.4 0*1.6", LandsUnhealed, LandsUnhealed),
    ("a burst 11 s after the heal", "0*2 10*10 0*11 10*0.4 0*0.6", LandsUnhealed, LandsUnhealed),
];

/// A level that must rise by 20.
const GAUGES: &[Row] = &[
    ("all through the fault", "10*2 60*10 10*12", Lands, Lands),
    ("from nothing", "0*2 20*10 0*12", Lands, Lands),
    ("below nothing", "-60*2 -10*10 -60*12", Lands, Lands),
    ("just the change asked for", "10*2 30*10 10*12", Lands, Lands),
    ("a little less than the change asked for", "10*2 29.9*10 10*12", Not, Not),
    ("never", "10*24", Not, Not),
    ("a first move just in time", "10*6.8 60*5.2 10*12", Lands, Lands),
    ("late by a fifth of a second", "10*7 60*5 10*12", Not, Not),
    ("late, in the last second", "10*11 60*1 10*12", Not, Not),
    ("late: after the heal only", "10*12 60*6 10*6", Not, Not),
    ("early: before the fault only", "60*2 10*22", Not, Not),
    ("early: from before it to its end", "60*12 10*12", Not, Not),
    ("early for most of the baseline", "10*0.8 60*11.2 10*12", Not, Not),
    ("early for less than half of the baseline, which its median does not see", "10*1.2 60*10.8 10*12", Lands, Lands),
    ("always", "60*24", Not, Not),
    ("noise far below the shift", "10~1*2 60~1*10 10~1*12", Lands, Lands),
    ("noise just below a third of the shift", "10~8*2 35~8*10 10~8*12", Lands, Lands),
    ("noise just above a third of the shift", "10~9*2 35~9*10 10~9*12", Not, Not),
    ("noise larger than the shift", "10~60*2 60~60*10 10~60*12", Not, Not),
    ("a level that swings in the fault only", "10*2 35~25*10 10*12", Lands, Lands),
    ("two levels in the baseline", "5*1 15*1 60*10 10*12", Lands, Lands),
    ("wrong direction", "60*2 10*10 60*12", Not, Not),
    ("wrong direction, by a lot", "10*2 -60*10 10*12", Not, Not),
    ("wrong direction, by a little", "10*2 0*10 10*12", Not, Not),
    ("healed too soon, after 2 s of 10", "10*2 60*2 10*20", Not, Not),
    ("healed too soon, just below half", "10*2 60*4.8 10*17.2", Not, Not),
    ("healed too soon, just above half", "10*2 60*5.2 10*16.8", Lands, Lands),
    ("a lull of less than half", "10*2 60*3 10*4 60*3 10*12", Lands, Lands),
    ("two excursions, less than half together", "10*2 60*2 10*6 60*2 10*12", Not, Not),
    ("a gap in the baseline", "10*1 ?*0.2 10*0.8 60*10 10*12", Not, Not),
    ("a gap in the fault", "10*2 60*5 ?*0.2 60*4.8 10*12", Not, Not),
    ("a gap right after the heal", "10*2 60*10 ?*0.4 10*11.6", Lands, Lands),
    ("a gap at the end", "10*2 60*10 10*11.6 ?*0.4", LandsUnhealed, LandsUnhealed),
    ("never read", "?*24", Not, Not),
    ("no number", "10*2 nan*10 10*12", Not, Not),
    ("endless", "10*2 inf*10 10*12", Not, Not),
    ("not healed", "10*2 60*22", LandsUnhealed, LandsUnhealed),
    ("healed half of the way", "10*2 60*10 35*12", LandsUnhealed, LandsUnhealed),
    ("healed to less than a tenth of the shift", "10*2 60*10 14*12", Lands, Lands),
    ("healed to more than a tenth of the shift", "10*2 60*10 16*12", LandsUnhealed, LandsUnhealed),
    ("healed too far", "10*2 60*10 4*12", LandsUnhealed, LandsUnhealed),
    ("healed after 9.6 s", "10*2 60*19.6 10*2.4", Lands, Lands),
    ("healed after 10.2 s", "10*2 60*20.2 10*1.8", LandsUnhealed, LandsUnhealed),
    ("one good reading after the heal", "10*2 60*10 10*0.2 60*11.8", LandsUnhealed, LandsUnhealed),
    ("one bad reading 8 s after the heal", "10*2 60*10 10*8 60*0.2 10*3.8", Lands, Lands),
    ("one bad reading 11 s after the heal", "10*2 60*10 10*11 60*0.2 10*0.8", LandsUnhealed, LandsUnhealed),
];

/// Something that must appear.
const MARKERS: &[Row] = &[
    ("all through the fault", "0*2 1*10 0*12", Lands, Lands),
    ("latched", "0*2 1*22", Lands, Lands),
    ("three at once", "0*2 3*22", Lands, Lands),
    ("one more in the middle", "0*2 1*5 2*17", Lands, Lands),
    ("a million", "0*2 1000000*10 0*12", Lands, Lands),
    ("on and off each second", "0*2 1*1 0*1 1*1 0*1 1*1 0*1 1*1 0*1 1*1 0*13", Lands, Lands),
    ("never", "0*24", Not, Not),
    ("a first one just in time", "0*6.8 1*17.2", Lands, Lands),
    ("late by a fifth of a second", "0*7 1*17", Not, Not),
    ("late: at the last reading", "0*11.8 1*12.2", Not, Not),
    ("late: after the heal only", "0*12 1*12", Not, Not),
    ("early: before the fault only", "1*2 0*22", Not, Not),
    ("early: at the first reading only", "1*0.2 0*1.8 1*10 0*12", Not, Not),
    ("early: in one reading of the baseline", "0*1 1*0.2 0*0.8 1*22", Not, Not),
    ("early by one reading", "0*1.8 1*22.2", Not, Not),
    ("always", "1*24", Not, Not),
    ("always, and one more in the fault", "1*2 2*22", Not, Not),
    ("half a one", "0*2 0.5*10 0*12", Not, Not),
    ("nearly one", "0*2 0.99*22", Not, Not),
    ("a trace in the baseline", "0.01*2 1*22", Not, Not),
    ("wrong direction", "0*2 -1*10 0*12", Not, Not),
    ("wrong direction in the baseline", "-1*2 1*10 0*12", Not, Not),
    ("reset in the fault, then nothing", "0*2 1*2 0*20", Not, Not),
    ("reset in the fault, then again", "0*2 1*4 0*1 1*5 0*12", Lands, Lands),
    ("healed too soon, after 1 s of 10", "0*2 1*1 0*21", Not, Not),
    ("healed too soon, just below half", "0*2 1*4.8 0*17.2", Not, Not),
    ("healed too soon, just above half", "0*2 1*5.2 0*16.8", Lands, Lands),
    ("a blip at once", "0*2 1*0.2 0*21.8", Not, Not),
    ("a blip in the middle", "0*5.8 1*0.2 0*18", Not, Not),
    ("a lull of more than half", "0*2 1*2 0*5.4 1*2.6 0*12", Not, Not),
    ("a lull of less than half", "0*2 1*2 0*4 1*4 0*12", Lands, Lands),
    ("a gap in the baseline", "0*1 ?*0.2 0*0.8 1*22", Not, Not),
    ("a gap in the fault", "0*2 1*5 ?*0.2 1*16.8", Not, Not),
    ("a gap at the first reading of the fault", "0*2 ?*0.2 1*21.8", Not, Not),
    ("a gap right after the heal", "0*2 1*10 ?*0.4 1*11.6", Lands, Lands),
    ("a gap at the end", "0*2 1*10 0*11.6 ?*0.4", LandsUnhealed, LandsUnhealed),
    ("never read", "?*24", Not, Not),
    ("no number", "nan*2 1*22", Not, Not),
    ("endless", "0*2 inf*10 0*12", Not, Not),
    ("gone 5 s after the heal", "0*2 1*15 0*7", Lands, Lands),
    ("again 2 s after the heal", "0*2 1*12 2*10", Lands, Lands),
    ("again and again up to 9 s after the heal", "0*2 1*10 2*3 3*3 4*3 5*3", Lands, Lands),
    ("again 10.6 s after the heal", "0*2 1*20.6 2*1.4", LandsUnhealed, LandsUnhealed),
    ("again at the last reading", "0*2 1*21.8 2*0.2", LandsUnhealed, LandsUnhealed),
    ("gone, and back 11 s after the heal", "0*2 1*10 0*11 1*1", LandsUnhealed, LandsUnhealed),
];

/// The readings of `trace`; `counts` says that its numbers are rates.
fn readings(trace: &str, counts: bool) -> Vec<Sample> {
    let mut samples = Vec::new();
    let (mut value, mut tick) = (0.0, 0_u64);
    for piece in trace.split(' ') {
        let number = |text: &str| text.parse::<f64>().expect("a number");
        if let Some(text) = piece.strip_prefix(['^', '=']) {
            value = number(text);
        } else if let (Some(text), false) = (piece.strip_prefix('+'), piece.contains('*')) {
            value += number(text);
        } else {
            let (what, seconds) = piece.split_once('*').expect("what*seconds");
            let (center, swing) = what.split_once('~').unwrap_or((what, "0"));
            let ends = tick + (number(seconds) * 5.0).round() as u64;
            // The very first reading shows where it starts.
            let first = if tick == 0 { 0 } else { tick + 1 };
            for at in first..=ends {
                let shown = match (center, counts) {
                    ("?", _) => None,
                    ("nan", _) => Some(f64::NAN),
                    ("inf", _) => Some(f64::INFINITY),
                    (rate, true) => {
                        value += if at == 0 { 0.0 } else { number(rate) / 5.0 };
                        Some(value)
                    }
                    (level, false) => Some(number(level) + number(swing) * ((at % 3) as f64 - 1.0)),
                };
                samples.push(Sample { at: Nanos(at * 200_000_000), value: shown });
            }
            tick = ends;
        }
    }
    assert_eq!(tick, 120, "`{trace}` is 24 s long");
    samples
}

fn series(shape: Shape, source: &str, trace: &str) -> Series {
    let samples = readings(trace, matches!(shape, Shape::Counter { .. }));
    Series { signal: "signal".to_owned(), source: source.to_owned(), shape, samples }
}

fn window(injector: Option<Series>, victim: Option<Series>) -> Window {
    let at = |millis: u64| Nanos(millis * 1_000_000);
    Window {
        epoch: 1,
        nemesis: "forged".to_owned(),
        detail: String::new(),
        victims: vec!["n1".to_owned()],
        baseline_from: at(0),
        requested_at: None,
        injected_at: at(2_000),
        healed_at: Some(at(12_000)),
        observed_until: at(24_000),
        injection_error: None,
        heal_error: None,
        probe_ok_at: Some(at(12_300)),
        injector: injector.into_iter().collect(),
        victim: victim.into_iter().collect(),
        ..Window::default()
    }
}

/// What the rule says of `window`, for a side of it.
fn said(window: &Window, side: Side) -> (Expect, String) {
    let a = assess(window, &Policy::default());
    let finding = if side == Side::Victim { &a.victim } else { &a.injector };
    let what = match (a.landed, a.recovered) {
        (false, _) => Not,
        (true, true) => Lands,
        (true, false) => LandsUnhealed,
    };
    assert_eq!(finding.moved, a.landed, "the other side is beyond doubt");
    (what, format!("{} | {}", finding.why, a.recovery))
}

/// Each row on each side, beside a side that is beyond doubt; and beside one that shows nothing, where none may land.
fn check(shape: Shape, rows: &[Row]) {
    assert!(rows.len() >= 40, "{} rows", rows.len());
    let sound = || Some(series(Shape::Counter { dose: 1.0 }, "n1", "0*2 10*10 0*12"));
    let mut wrong = Vec::new();
    for (name, trace, on_victim, on_injector) in rows {
        let forged = || Some(series(shape, "n1", trace));
        let both = [
            (Side::Victim, window(sound(), forged()), window(None, forged()), on_victim),
            (Side::Injector, window(forged(), sound()), window(forged(), None), on_injector),
        ];
        for (side, beside_sound, alone, expect) in both {
            let (got, why) = said(&beside_sound, side);
            if got != *expect {
                wrong.push(format!("{name} ({side:?}): {got:?}, expected {expect:?}: {why}"));
            }
            if assess(&alone, &Policy::default()).landed {
                wrong.push(format!("{name} ({side:?}): one side alone has landed"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn forged_counters_are_accepted_exactly_when_the_landing_rule_says_so() {
    check(Shape::Counter { dose: 1.0 }, COUNTERS);
}

#[test]
fn forged_gauges_are_accepted_exactly_when_the_landing_rule_says_so() {
    check(Shape::Gauge { change: 20.0 }, GAUGES);
}

#[test]
fn forged_markers_are_accepted_exactly_when_the_landing_rule_says_so() {
    check(Shape::Marker, MARKERS);
}

#[test]
fn forged_gauges_that_should_fall_are_those_that_should_rise_upside_down() {
    for (name, trace, expect, _) in GAUGES {
        let mut falling = series(Shape::Gauge { change: -20.0 }, "n1", trace);
        falling.samples.iter_mut().for_each(|sample| sample.value = sample.value.map(|value| -value));
        let sound = series(Shape::Counter { dose: 1.0 }, "n1", "0*2 10*10 0*12");
        let (got, why) = said(&window(Some(sound), Some(falling)), Side::Victim);
        assert_eq!(got, *expect, "{name}: {why}");
    }
}
