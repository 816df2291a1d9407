//! Service levels: a statistic of samples against a threshold that was set before the run, in every window.

#[cfg(test)]
mod tests;

use super::conclusion::{Found, says_nothing};
use super::{Answer, Checker, Evidence, Limits, Percentile, Violation, recipe};
use crate::base::time::Nanos;
use crate::history::{Effect, History, Op};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A measured value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When, on the run's clock.
    pub at: Nanos,
    /// The value.
    pub value: f64,
}

/// What is made of the samples of a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Statistic {
    /// A percentile, by nearest rank.
    Percentile(Percentile),
    /// The arithmetic mean.
    Mean,
    /// Samples a second.
    Rate,
}

/// The threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Bound {
    /// The statistic is no greater.
    AtMost(f64),
    /// The statistic is no smaller.
    AtLeast(f64),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Source {
    /// Seconds from invocation to completion of acknowledged operations; infinite for those never answered.
    Latency,
    /// Completions of acknowledged operations.
    Acknowledged,
    Handed(Vec<Sample>),
}

/// Checks a statistic against a threshold, over the whole measured time and, if asked, in every window of it.
///
/// Samples are latencies of the history ([`MetricSlo::latency`]: an operation that was never answered is slower than
/// any, a failed one has none), its acknowledged operations ([`MetricSlo::throughput`]), or handed in
/// ([`MetricSlo::of_samples`]; no operation counts as consumed then). Windows are aligned to the first sample (of a
/// history: to the first invocation); the last, shorter one counts to the window before it.
///
/// Unknown: a sample that is no number or infinite; a window with fewer samples than [`MetricSlo::at_least`] (a rate
/// needs none in a window: no operation in it is a rate of zero); a measured time shorter than
/// [`MetricSlo::lasting`]; a threshold that is no finite number.
///
/// The threshold belongs into the plan: one taken from the run that it judges says nothing, and no checker can tell.
///
/// Required: `invoke_ts`, `complete_ts`. Witness: the window, the statistic, the number of samples, up to five
/// operations beyond the threshold. O(n log n). Source: plan format §7, pattern 4.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MetricSlo {
    metric: String,
    source: Source,
    statistic: Statistic,
    bound: Bound,
    op_types: Vec<String>,
    window: Option<Duration>,
    lasting: Duration,
    least: usize,
}

/// A sample and the operation it is of.
type Taken = (u64, f64, Option<u64>);

impl MetricSlo {
    fn new(metric: &str, source: Source, statistic: Statistic, bound: Bound) -> MetricSlo {
        MetricSlo {
            metric: metric.to_owned(),
            source,
            statistic,
            bound,
            op_types: Vec::new(),
            window: None,
            lasting: Duration::ZERO,
            least: 100,
        }
    }

    /// `percentile` of the latencies is at most `at_most`.
    pub fn latency(percentile: Percentile, at_most: Duration) -> MetricSlo {
        let bound = Bound::AtMost(at_most.as_secs_f64());
        MetricSlo::new("latency in seconds", Source::Latency, Statistic::Percentile(percentile), bound)
    }

    /// At least so many operations are acknowledged a second.
    pub fn throughput(at_least: f64) -> MetricSlo {
        MetricSlo::new("acknowledged operations", Source::Acknowledged, Statistic::Rate, Bound::AtLeast(at_least))
    }

    /// `statistic` of `samples` of the metric of this name keeps to `bound`.
    pub fn of_samples(metric: &str, samples: Vec<Sample>, statistic: Statistic, bound: Bound) -> MetricSlo {
        MetricSlo::new(metric, Source::Handed(samples), statistic, bound)
    }

    /// Only operations of these types.
    pub fn only<T: Into<String>>(mut self, op_types: impl IntoIterator<Item = T>) -> MetricSlo {
        self.op_types = op_types.into_iter().map(Into::into).collect();
        self
    }

    /// In every window of this width as well.
    pub fn per_window(mut self, width: Duration) -> MetricSlo {
        self.window = Some(width);
        self
    }

    /// Unknown when less than this was measured.
    pub fn lasting(mut self, at_least: Duration) -> MetricSlo {
        self.lasting = at_least;
        self
    }

    /// Fewest samples of a window, in place of 100.
    pub fn at_least(mut self, samples: usize) -> MetricSlo {
        self.least = samples.max(1);
        self
    }

    fn is_of(&self, op: &Op) -> bool {
        self.op_types.is_empty() || self.op_types.contains(&op.op_type)
    }

    /// The samples, and the time that was measured.
    fn samples(&self, history: &History) -> (Vec<Taken>, u64, u64) {
        let ops = || history.ops().iter().filter(|op| self.is_of(op));
        let took = |op: &Op| match op.effect() {
            Effect::Acknowledged => Some(op.complete_ts?.since(op.invoke_ts).as_secs_f64()),
            Effect::Unknown => Some(f64::INFINITY),
            Effect::Failed => None,
        };
        let samples: Vec<Taken> = match &self.source {
            Source::Latency => ops().filter_map(|op| Some((op.invoke_ts.0, took(op)?, Some(op.op_id)))).collect(),
            Source::Acknowledged => {
                let done = ops().filter(|op| op.effect() == Effect::Acknowledged);
                done.filter_map(|op| Some((op.complete_ts?.0, 1.0, Some(op.op_id)))).collect()
            }
            Source::Handed(samples) => samples.iter().map(|sample| (sample.at.0, sample.value, None)).collect(),
        };
        let (from, to) = match &self.source {
            Source::Handed(_) => (samples.iter().map(|it| it.0).min(), samples.iter().map(|it| it.0).max()),
            _ => {
                let ends = history.ops().iter().map(|op| op.complete_ts.unwrap_or(op.invoke_ts).0);
                (history.ops().first().map(|op| op.invoke_ts.0), ends.max())
            }
        };
        (samples, from.unwrap_or(0), to.unwrap_or(0))
    }

    fn misuse(&self) -> Option<String> {
        let (Bound::AtMost(threshold) | Bound::AtLeast(threshold)) = self.bound;
        if !threshold.is_finite() {
            return Some(format!("the threshold {threshold} is no finite number"));
        }
        self.window.is_some_and(|width| width.is_zero()).then(|| "a window takes time".to_owned())
    }

    fn judge(&self, history: &History, limits: &dyn Limits, evidence: &mut Evidence, found: &mut Found) {
        let (mut samples, from, to) = self.samples(history);
        let handed = matches!(self.source, Source::Handed(_));
        if !handed {
            evidence.consumed = history.ops().iter().filter(|op| self.is_of(op)).count() as u64;
        }
        evidence.peak_bytes = samples.len() as u64 * 40;
        if let Some(why) = limits.exceeded(evidence.peak_bytes) {
            return found.doubt(format!("stopped by {why}"));
        }
        if let Some(odd) = samples.iter().find(|sample| sample.1.is_nan() || handed && sample.1.is_infinite()) {
            return found.doubt(format!("the sample at {} ns is {}", odd.0, odd.1));
        }
        let lasted = Duration::from_nanos(to - from);
        if lasted < self.lasting {
            let (lasted, asked) = (lasted.as_secs_f64(), self.lasting.as_secs_f64());
            found.doubt(format!("{lasted} s were measured, and {asked} s are asked for"));
        }
        samples.sort_by_key(|sample| sample.0);
        self.window(&samples, (from, to), "over the whole time", found);
        evidence.partitions = 1;
        let Some(width) = self.window.map(|width| u64::try_from(width.as_nanos()).unwrap_or(u64::MAX)) else { return };
        let count = ((to - from) / width).max(1);
        if count > 1_000_000 {
            return found.doubt(format!("{count} windows are more than can be told"));
        }
        let mut rest = &samples[..];
        for at in 0..count {
            let start = from + at * width;
            // The last one takes what is left over.
            let end = if at + 1 == count { to } else { start + width - 1 };
            let (inside, later) = rest.split_at(rest.partition_point(|sample| sample.0 <= end));
            rest = later;
            self.window(inside, (start, end), &format!("in window {} ({start}..{end} ns)", at + 1), found);
            evidence.partitions += 1;
        }
    }

    fn window(&self, samples: &[Taken], (from, to): (u64, u64), place: &str, found: &mut Found) {
        let mut values: Vec<f64> = samples.iter().map(|sample| sample.1).collect();
        let count = values.len();
        if count < self.least && self.statistic != Statistic::Rate {
            return found
                .doubt(format!("{place} there are {count} samples of {}, asked is {}", self.metric, self.least));
        }
        let value = match self.statistic {
            Statistic::Percentile(percentile) => percentile.of_numbers(&mut values),
            Statistic::Mean => Some(values.iter().sum::<f64>() / count as f64),
            Statistic::Rate => (to > from).then(|| count as f64 / ((to - from) as f64 / 1e9)),
        };
        let Some(value) = value.filter(|value| !value.is_nan()) else {
            return found.doubt(format!("{place} there is no {} of {}", self.shown(), self.metric));
        };
        found.fired += 1;
        let (holds, asked) = match self.bound {
            Bound::AtMost(most) => (value <= most, format!("at most {most}")),
            Bound::AtLeast(least) => (value >= least, format!("at least {least}")),
        };
        if holds {
            return;
        }
        let beyond = |value: f64| match self.bound {
            Bound::AtMost(most) => value > most,
            Bound::AtLeast(least) => value < least && self.statistic != Statistic::Rate,
        };
        let ops: Vec<u64> =
            samples.iter().filter(|sample| beyond(sample.1)).filter_map(|sample| sample.2).take(5).collect();
        let value = if value.is_infinite() { "never answered".to_owned() } else { value.to_string() };
        found.violations.push(Violation {
            anomaly: "slo-missed".to_owned(),
            key: None,
            ops,
            explanation: format!(
                "The {} of {} {place} is {value} ({count} samples), asked is {asked}.",
                self.shown(),
                self.metric
            ),
        });
    }

    fn shown(&self) -> String {
        match self.statistic {
            Statistic::Percentile(percentile) => percentile.to_string(),
            Statistic::Mean => "mean".to_owned(),
            Statistic::Rate => "rate a second".to_owned(),
        }
    }
}

impl Checker for MetricSlo {
    fn name(&self) -> &str {
        "metric-slo"
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "wrong answers: only how much and how fast".to_owned(),
            "breaches shorter than a window, and those of one group that others outweigh".to_owned(),
            "a threshold that was taken from the run that it judges".to_owned(),
        ];
        match self.source {
            Source::Handed(_) => list.push("what the history shows: no operation of it is judged".to_owned()),
            _ => list.push("time that operations waited before they were invoked".to_owned()),
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("metric-slo", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let none = !self.op_types.is_empty() && !history.ops().iter().any(|op| self.is_of(op));
        none.then(|| format!("no operation is one of {}", self.op_types.join(", "))).into_iter().collect()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut evidence = Evidence { recorded: history.ops().len() as u64, ..Evidence::default() };
        let mut found = Found::default();
        match says_nothing(history).or_else(|| self.misuse()) {
            Some(why) => found.doubt(why),
            None => self.judge(history, limits, &mut evidence, &mut found),
        }
        evidence.fired = found.fired;
        let outcome = found.outcome();
        Answer { checker: self.name().to_owned(), model: None, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}
