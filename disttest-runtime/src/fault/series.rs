//! One series, cut at the edges of its window: the points a judgement may rest on, or why there are none.

use super::{Policy, Sample, Series, Window};
use crate::base::time::Nanos;
use std::time::Duration;

/// The edges of a window, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    pub(super) baseline_from: Nanos,
    pub(super) requested: Nanos,
    pub(super) injected: Nanos,
    /// The heal, or the last moment sampled when there was none; in a sequence the moment when the next one was requested.
    pub(super) end: Nanos,
}

impl Edges {
    /// The edges of `window`; an error when they are out of order or the baseline is too short.
    pub(super) fn of(window: &Window, policy: &Policy) -> Result<Edges, String> {
        let healed = window.healed_at.unwrap_or(window.observed_until);
        if let Some(alone) = window.alone_until.filter(|alone| *alone > healed) {
            let (alone, healed) = (secs(alone.as_duration()), secs(healed.as_duration()));
            return Err(format!("the window's times are out of order: alone until {alone}, healed {healed}"));
        }
        Edges::until(window.alone_until.unwrap_or(healed), window, policy)
    }

    /// The edges of `window` with all of the fault, whatever else was let loose meanwhile.
    pub(super) fn to_the_heal(window: &Window, policy: &Policy) -> Result<Edges, String> {
        Edges::until(window.healed_at.unwrap_or(window.observed_until), window, policy)
    }

    fn until(end: Nanos, window: &Window, policy: &Policy) -> Result<Edges, String> {
        let edges = Edges {
            baseline_from: window.baseline_from,
            requested: window.requested_at.unwrap_or(window.injected_at),
            injected: window.injected_at,
            end,
        };
        let Edges { baseline_from, requested, injected, end } = edges;
        if !(baseline_from <= requested && requested <= injected && injected <= end && end <= window.observed_until) {
            return Err(format!(
                "the window's times are out of order: baseline {}, requested {}, injected {}, healed {}, observed until {}",
                secs(baseline_from.as_duration()),
                secs(requested.as_duration()),
                secs(injected.as_duration()),
                secs(end.as_duration()),
                secs(window.observed_until.as_duration()),
            ));
        }
        let baseline = requested.since(baseline_from);
        if baseline < policy.baseline {
            return Err(format!("a baseline of {}, {} are needed", secs(baseline), secs(policy.baseline)));
        }
        Ok(edges)
    }

    /// Length of the fault, from its acknowledgement.
    pub(super) fn held(&self) -> Duration {
        self.end.since(self.injected)
    }
}

/// One usable reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) at: Nanos,
    pub(super) value: f64,
}

impl Point {
    /// The reading of `sample`; an error when it is a gap or no number.
    pub(super) fn of(sample: &Sample) -> Result<Point, String> {
        match sample.value {
            Some(value) if value.is_finite() => Ok(Point { at: sample.at, value }),
            Some(value) => Err(format!("a reading of {value} at {}", secs(sample.at.as_duration()))),
            None => Err(format!("no reading at {}", secs(sample.at.as_duration()))),
        }
    }
}

/// A series, cut.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) baseline: Vec<Point>,
    pub(super) fault: Vec<Point>,
}

impl Cut {
    /// Cuts `series` at `edges`; an error when baseline or fault are not sampled as `policy` asks.
    pub(super) fn of(series: &Series, edges: &Edges, policy: &Policy) -> Result<Cut, String> {
        let needed = series.samples.iter().filter(|s| edges.baseline_from <= s.at && s.at <= edges.end);
        let points = needed.map(Point::of).collect::<Result<Vec<Point>, String>>()?;
        in_order(&points)?;
        let first_in_fault = points.partition_point(|p| p.at <= edges.requested);
        let (baseline, fault) = points.split_at(first_in_fault);
        enough("the baseline", baseline, policy.baseline_samples)?;
        enough("the fault", fault, policy.fault_samples)?;
        let span = span_of(baseline);
        if span < policy.shortest_span() {
            let needed = secs(policy.shortest_span());
            return Err(format!("the samples of the baseline span {}, {needed} are needed", secs(span)));
        }
        no_holes(&points, edges.baseline_from, edges.end, policy)?;
        dense("the baseline", baseline, policy)?;
        dense("the fault", fault, policy)?;
        Ok(Cut { baseline: baseline.to_vec(), fault: fault.to_vec() })
    }

    /// The last point of the baseline and all of the fault: what happened since the injection.
    pub(super) fn since_injection(&self) -> Vec<Point> {
        self.baseline.last().into_iter().chain(&self.fault).copied().collect()
    }
}

fn enough(part: &str, points: &[Point], fewest: usize) -> Result<(), String> {
    match points.len() {
        n if n >= fewest => Ok(()),
        n => Err(format!("{n} samples in {part}, {fewest} are needed")),
    }
}

fn in_order(points: &[Point]) -> Result<(), String> {
    match points.windows(2).find(|pair| pair[0].at >= pair[1].at) {
        None => Ok(()),
        Some(pair) => Err(format!("its samples are out of order at {}", secs(pair[1].at.as_duration()))),
    }
}

fn no_holes(points: &[Point], from: Nanos, to: Nanos, policy: &Policy) -> Result<(), String> {
    let times: Vec<Nanos> = std::iter::once(from).chain(points.iter().map(|p| p.at)).chain([to]).collect();
    match times.windows(2).find(|pair| pair[1].since(pair[0]) > policy.longest_hole) {
        None => Ok(()),
        Some(pair) => Err(format!(
            "not sampled for {} from {} on, at most {} are allowed",
            secs(pair[1].since(pair[0])),
            secs(pair[0].as_duration()),
            secs(policy.longest_hole)
        )),
    }
}

/// On average a sample each cadence: single late ticks may not become the rule.
fn dense(part: &str, points: &[Point], policy: &Policy) -> Result<(), String> {
    let intervals = points.len().saturating_sub(1);
    let mean = span_of(points).as_secs_f64() / intervals.max(1) as f64;
    if mean <= policy.cadence.as_secs_f64() * 1.1 {
        return Ok(());
    }
    Err(format!("{part} was sampled each {:.0} ms, {} ms are needed", mean * 1e3, policy.cadence.as_millis()))
}

/// Time from the first to the last of `points`.
pub(super) fn span_of(points: &[Point]) -> Duration {
    match points {
        [first, .., last] => last.at.since(first.at),
        _ => Duration::ZERO,
    }
}

/// Growth per second from the first to the last of `points`; 0 when they span no time.
pub(super) fn rate(points: &[Point]) -> f64 {
    match points {
        [first, .., last] if last.at > first.at => (last.value - first.value) / last.at.since(first.at).as_secs_f64(),
        _ => 0.0,
    }
}

/// Median of the values of `points` (mean of the middle two); 0 of none.
pub(super) fn median(points: &[Point]) -> f64 {
    median_of(points.iter().map(|p| p.value).collect())
}

/// Median absolute deviation of `points` from `center`, unscaled (Hampel 1974).
pub(super) fn deviation(points: &[Point], center: f64) -> f64 {
    median_of(points.iter().map(|p| (p.value - center).abs()).collect())
}

fn median_of(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// Seconds for people: `0.21 s`.
pub(super) fn secs(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

/// A number for people: whole when it is, two decimals otherwise.
pub(super) fn num(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
