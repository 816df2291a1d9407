//! Statistical baseline: a percentile of several runs against that of several runs before, with a confidence interval.

mod bootstrap;
#[cfg(test)]
mod tests;

pub use bootstrap::Interval;

use super::conclusion::{Found, says_nothing};
use super::{Answer, Checker, Evidence, Limits, Outcome, Percentile, Violation, recipe};
use crate::history::History;
use serde::{Deserialize, Serialize};

/// Which values are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Better {
    /// Such as latencies.
    Lower,
    /// Such as rates.
    Higher,
}

/// Compares a percentile of a candidate with that of a baseline, each measured in several runs, by the bootstrap
/// interval of their ratio.
///
/// The percentile of a side is the mean over its runs of each run's percentile. Resampling has two levels: runs, and
/// samples inside a run, each drawn with replacement; of k runs k − 1 are drawn, which keeps the variance between runs
/// right when they are few (Rao and Wu, JASA 83, 1988). The interval is the percentile interval of the ratios (Efron and
/// Tibshirani, An Introduction to the Bootstrap, 1993, ch. 13; Davison and Hinkley, Bootstrap Methods, 1997, §3.8 for the
/// levels; Kalibera and Jones, ISMM 2013, for why runs must be replicated). Equal seeds give equal intervals.
///
/// Invalid when the whole interval is beyond the tolerance: worse for sure. Valid when the whole interval is within it:
/// no worse for sure. Unknown when the tolerance lies inside: more runs would tell.
///
/// Unknown as well: fewer runs than [`StatisticalBaseline::at_least_runs`] on a side (one run against one run is no
/// comparison); a run with so few samples that fewer than five are expected beyond the percentile (10 for a median, 500
/// for a p99), and any p100 (the bootstrap of a maximum is inconsistent: Bickel and Freedman, Ann. Statist. 9, 1981);
/// samples that are no finite positive numbers.
///
/// All samples are handed in, so no operation of the history counts as consumed. Witness: both percentiles, the ratio
/// with its interval, the number of runs and samples. Cost: samples × resamples. Source: plan format §7, pattern 5.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StatisticalBaseline {
    percentile: Percentile,
    baseline: Vec<Vec<f64>>,
    candidate: Vec<Vec<f64>>,
    better: Better,
    tolerance: f64,
    confidence: f64,
    resamples: usize,
    runs: usize,
    seed: u64,
}

impl StatisticalBaseline {
    /// `baseline` and `candidate`: samples of each run.
    pub fn new(percentile: Percentile, baseline: Vec<Vec<f64>>, candidate: Vec<Vec<f64>>) -> StatisticalBaseline {
        StatisticalBaseline {
            percentile,
            baseline,
            candidate,
            better: Better::Lower,
            tolerance: 0.05,
            confidence: 0.95,
            resamples: 1_000,
            runs: 5,
            seed: 1,
        }
    }

    /// Which values are good, in place of lower ones.
    pub fn better(mut self, better: Better) -> Self {
        self.better = better;
        self
    }

    /// How much worse it may be, as a share of the baseline, in place of 0.05.
    pub fn tolerance(mut self, share: f64) -> Self {
        self.tolerance = share;
        self
    }

    /// Confidence of the interval, in place of 0.95.
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// Resamples, in place of 1,000.
    pub fn resamples(mut self, count: usize) -> Self {
        self.resamples = count;
        self
    }

    /// Fewest runs of each side (at least 2), in place of 5.
    pub fn at_least_runs(mut self, runs: usize) -> Self {
        self.runs = runs.max(2);
        self
    }

    /// Seed of the resampling.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The ratio of candidate to baseline with its interval; `Err` says why there is none.
    pub fn interval(&self, limits: &dyn Limits) -> Result<Interval, String> {
        if let Some(why) = self.misuse() {
            return Err(why);
        }
        for (side, runs) in [("baseline", &self.baseline), ("candidate", &self.candidate)] {
            if let Some(why) = self.too_little(runs) {
                return Err(format!("the {side} {why}"));
            }
        }
        bootstrap::interval(self, limits)
    }

    fn misuse(&self) -> Option<String> {
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            return Some(format!("the tolerance {} is no share", self.tolerance));
        }
        if !(0.5..1.0).contains(&self.confidence) {
            return Some(format!("the confidence {} is not in 0.5..1", self.confidence));
        }
        // The tails of the interval must hold some resamples.
        let least = (10.0 / (1.0 - self.confidence)).ceil() as usize;
        (self.resamples < least.min(1_000_000)).then(|| {
            format!("{} resamples are too few for {} confidence: at least {least}", self.resamples, self.confidence)
        })
    }

    fn too_little(&self, runs: &[Vec<f64>]) -> Option<String> {
        if runs.len() < self.runs {
            return Some(format!("has {} runs, asked is {}", runs.len(), self.runs));
        }
        let tail = self.percentile.tail();
        if tail <= 0.0 {
            return Some("cannot be judged by its maximum: the bootstrap of a maximum is inconsistent".to_owned());
        }
        let least = (5.0 / tail).ceil() as usize;
        for (at, run) in runs.iter().enumerate() {
            if run.len() < least {
                let (has, percentile) = (run.len(), self.percentile);
                return Some(format!(
                    "has {has} samples in run {}, too few for {percentile} (at least {least})",
                    at + 1
                ));
            }
            if let Some(odd) = run.iter().find(|value| !(value.is_finite() && **value > 0.0)) {
                return Some(format!("has {odd} in run {}, which is no finite positive number", at + 1));
            }
        }
        None
    }

    fn judge(&self, limits: &dyn Limits, found: &mut Found) {
        let interval = match self.interval(limits) {
            Ok(interval) => interval,
            Err(why) => return found.doubt(why),
        };
        found.fired = interval.resamples as u64;
        let (beyond, within, bound) = match self.better {
            Better::Lower => {
                let bound = 1.0 + self.tolerance;
                (interval.low > bound, interval.high <= bound, bound)
            }
            Better::Higher => {
                let bound = 1.0 - self.tolerance;
                (interval.high < bound, interval.low >= bound, bound)
            }
        };
        let samples = |runs: &[Vec<f64>]| runs.iter().map(Vec::len).sum::<usize>();
        let said = format!(
            "the {} is {} times the baseline's ({} of {} samples in {} runs, {} of {} in {}), {}% interval {:.4}..{:.4}",
            self.percentile,
            interval.ratio,
            interval.candidate,
            samples(&self.candidate),
            self.candidate.len(),
            interval.baseline,
            samples(&self.baseline),
            self.baseline.len(),
            self.confidence * 100.0,
            interval.low,
            interval.high
        );
        if beyond {
            found.violations.push(Violation {
                anomaly: "worse-than-baseline".to_owned(),
                key: None,
                ops: Vec::new(),
                explanation: format!("{said}: all of it is beyond {bound}."),
            });
        } else if !within {
            found.doubt(format!("{said}, and {bound} lies inside: more runs would tell"));
        }
    }
}

impl Checker for StatisticalBaseline {
    fn name(&self) -> &str {
        "statistical-baseline"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            format!("differences below {}% and outside of {}", self.tolerance * 100.0, self.percentile),
            "that the two sides were measured on different machines, loads or builds of the harness".to_owned(),
            format!(
                "one case in {:.0} by chance, and more if samples of a run depend on each other",
                1.0 / (1.0 - self.confidence)
            ),
            "what the history shows: no operation of it is judged".to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("statistical-baseline", self)
    }

    fn missing(&self, _history: &History) -> Vec<String> {
        Vec::new()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut evidence = Evidence { recorded: history.ops().len() as u64, partitions: 1, ..Evidence::default() };
        let mut found = Found::default();
        match says_nothing(history) {
            Some(why) => found.doubt(why),
            None => self.judge(limits, &mut found),
        }
        evidence.fired = found.fired;
        let outcome: Outcome = found.outcome();
        Answer { checker: self.name().to_owned(), model: None, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}
