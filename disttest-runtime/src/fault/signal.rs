//! Whether one signal moved as its shape and D15 ask, in numbers.

use super::series::{Cut, Edges, Point, deviation, median, num, rate, secs, span_of};
use super::{Policy, Series, Shape};
use crate::base::time::Nanos;
use std::time::Duration;

/// A signal that moved.
#[derive(Debug)]
pub(super) struct Moved {
    /// The reading in numbers.
    pub(super) why: String,
    /// What it must look like to count as quiet again.
    pub(super) quiet: Quiet,
}

/// When a signal that moved is quiet again.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quiet {
    /// Its rate is below this, per second.
    Below(f64),
    /// Its level is this far or less from the baseline's median.
    Within { center: f64, distance: f64 },
    /// It appears no further time.
    NoMore,
}

/// Whether `series` moved; `must_last` asks for no lull longer than [`Policy::longest_lull`]. The error says why not.
pub(super) fn read(series: &Series, edges: &Edges, policy: &Policy, must_last: bool) -> Result<Moved, String> {
    let cut = Cut::of(series, edges, policy)?;
    let frame = Frame { cut: &cut, edges, policy, must_last };
    match series.shape {
        Shape::Counter { dose } => frame.counter(dose),
        Shape::Gauge { change } => frame.gauge(change),
        Shape::Marker => frame.marker(),
    }
}

struct Frame<'a> {
    cut: &'a Cut,
    edges: &'a Edges,
    policy: &'a Policy,
    must_last: bool,
}

impl Frame<'_> {
    fn counter(&self, dose: f64) -> Result<Moved, String> {
        if !(dose.is_finite() && dose > 0.0) {
            return Err(format!("a dose of {dose} proves nothing"));
        }
        let since = self.cut.since_injection();
        never_backwards(&self.cut.baseline)?;
        never_backwards(&since)?;
        let (from, to) = (since[0].value, since[since.len() - 1].value);
        let grown = format!("{} -> {} in {}", num(from), num(to), secs(span_of(&since)));
        if to - from < dose {
            return Err(format!("{grown}, below the dose of {}", num(dose)));
        }
        let (before, during) = (rate(&self.cut.baseline), rate(&since));
        let rates = format!("{}/s against {}/s in the baseline", num(during), num(before));
        if before > during * self.policy.quiet_share {
            let share = self.policy.quiet_share * 100.0;
            return Err(format!("ambiguous: {rates}, more than {share:.0}% of it"));
        }
        // A step no larger than the noise of the baseline allows is no move.
        let floor = before / self.policy.quiet_share;
        let moves = since.windows(2).filter(|pair| pair[1].value > pair[0].value && rate(pair) >= floor);
        let moves: Vec<Nanos> = moves.map(|pair| pair[1].at).collect();
        let timing = self.timing(&moves, "moves")?;
        let quiet = Quiet::Below(during * self.policy.quiet_share);
        Ok(Moved { why: format!("{grown} ({rates}; dose {}); {timing}", num(dose)), quiet })
    }

    fn gauge(&self, change: f64) -> Result<Moved, String> {
        if !(change.is_finite() && change != 0.0) {
            return Err(format!("a change of {change} proves nothing"));
        }
        let center = median(&self.cut.baseline);
        let noise = deviation(&self.cut.baseline, center) * self.policy.deviations;
        let shift = median(&self.cut.fault) - center;
        let sign = change.signum();
        let seen = format!("median {} -> {}", num(center), num(center + shift));
        if shift * sign < change.abs() {
            return Err(format!("{seen}, a change of {} is needed", num(change)));
        }
        let deviations = self.policy.deviations;
        if shift * sign < noise {
            return Err(format!(
                "ambiguous: {seen}, inside {} deviations ({}) of the baseline",
                num(deviations),
                num(noise)
            ));
        }
        let displaced = |p: &&Point| (p.value - center) * sign >= noise.max(change.abs());
        let moves: Vec<Nanos> = self.cut.fault.iter().filter(displaced).map(|p| p.at).collect();
        let timing = self.timing(&moves, "excursions")?;
        // The counterpart of a counter's tenth, for a baseline too short or too still to show its own noise.
        let distance = noise.max(shift.abs() * self.policy.quiet_share);
        let why = format!("{seen} ({} needed, {deviations} deviations are {}); {timing}", num(change), num(noise));
        Ok(Moved { why, quiet: Quiet::Within { center, distance } })
    }

    fn marker(&self) -> Result<Moved, String> {
        if let Some(early) = self.cut.baseline.iter().find(|p| p.value != 0.0) {
            let at = secs(self.edges.requested.since(early.at));
            return Err(format!("ambiguous: present ({}) {at} before the injection", num(early.value)));
        }
        let present: Vec<Nanos> = self.cut.fault.iter().filter(|p| p.value >= 1.0).map(|p| p.at).collect();
        if present.is_empty() {
            return Err(format!("absent in all {} samples of the fault", self.cut.fault.len()));
        }
        let timing = self.timing(&present, "appearances")?;
        Ok(Moved { why: format!("absent in the baseline, then present; {timing}"), quiet: Quiet::NoMore })
    }

    /// The first move came in time, and no lull after it was too long.
    fn timing(&self, moves: &[Nanos], what: &str) -> Result<String, String> {
        let Some(first) = moves.first() else {
            return Err("no sample moved".to_owned());
        };
        let after = first.since(self.edges.injected);
        if after > self.policy.land_within {
            let limit = secs(self.policy.land_within);
            return Err(format!("late: the first move came {} after the injection, more than {limit}", secs(after)));
        }
        let length = self.edges.end.since(self.edges.requested);
        let lull = longest_lull(moves, self.cut.fault.last().map_or(self.edges.end, |p| p.at));
        if self.must_last && lull.as_secs_f64() > length.as_secs_f64() * self.policy.longest_lull {
            return Err(format!(
                "a blip: no {what} for {} of a fault of {} (a one-off event is a marker, not a counter)",
                secs(lull),
                secs(length)
            ));
        }
        Ok(format!("first move {} after the injection, longest lull {} of {}", secs(after), secs(lull), secs(length)))
    }
}

/// Longest time without a move, from the first of `moves` to `end`.
fn longest_lull(moves: &[Nanos], end: Nanos) -> Duration {
    let next = moves.iter().skip(1).copied().chain([end]);
    moves.iter().zip(next).map(|(at, next)| next.since(*at)).max().unwrap_or_default()
}

/// A counter that goes backwards was reset: what it had counted is lost.
pub(super) fn never_backwards(points: &[Point]) -> Result<(), String> {
    if let Some(negative) = points.iter().find(|p| p.value < 0.0) {
        return Err(format!("a counter of {}", num(negative.value)));
    }
    match points.windows(2).find(|pair| pair[1].value < pair[0].value) {
        None => Ok(()),
        Some(pair) => {
            let at = secs(pair[1].at.as_duration());
            Err(format!("went backwards, {} -> {} at {at}", num(pair[0].value), num(pair[1].value)))
        }
    }
}
