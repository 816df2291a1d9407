//! The two-level bootstrap.

use super::super::{Limits, Percentile};
use super::StatisticalBaseline;
use crate::base::rng::Rng;

/// A ratio and where it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The percentile of the baseline: the mean over its runs.
    pub baseline: f64,
    /// That of the candidate.
    pub candidate: f64,
    /// Candidate over baseline.
    pub ratio: f64,
    /// Lower end of the interval of the ratio.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Resamples that were made.
    pub resamples: usize,
}

/// Runs, each sorted.
pub(super) struct Sorted(Vec<Vec<f64>>);

impl Sorted {
    pub(super) fn of(runs: &[Vec<f64>]) -> Sorted {
        let mut runs = runs.to_vec();
        runs.iter_mut().for_each(|run| run.sort_by(f64::total_cmp));
        Sorted(runs)
    }

    /// The mean over runs of their percentiles.
    fn statistic(&self, percentile: Percentile) -> f64 {
        let of = |run: &Vec<f64>| percentile.rank(run.len()).map_or(f64::NAN, |rank| run[rank]);
        self.0.iter().map(of).sum::<f64>() / self.0.len() as f64
    }

    /// The same of one resample: one run fewer than there are, drawn with replacement, and of each as many samples as it
    /// has. Drawing positions in a sorted run and taking the position at the rank is drawing samples and sorting them.
    pub(super) fn resampled(&self, percentile: Percentile, rng: &mut Rng, drawn: &mut Vec<u32>) -> f64 {
        let runs = (self.0.len() - 1).max(1);
        let mut sum = 0.0;
        for _ in 0..runs {
            let run = &self.0[rng.below(self.0.len() as u64) as usize];
            drawn.clear();
            drawn.extend((0..run.len()).map(|_| rng.below(run.len() as u64) as u32));
            sum += percentile.of(drawn).map_or(f64::NAN, |at| run[at as usize]);
        }
        sum / runs as f64
    }
}

pub(super) fn interval(of: &StatisticalBaseline, limits: &dyn Limits) -> Result<Interval, String> {
    let (baseline, candidate) = (Sorted::of(&of.baseline), Sorted::of(&of.candidate));
    let mut rngs = (Rng::stream(of.seed, "baseline"), Rng::stream(of.seed, "candidate"));
    let mut drawn = Vec::new();
    let mut ratios = Vec::with_capacity(of.resamples.min(1 << 20));
    let held: usize = of.baseline.iter().chain(&of.candidate).map(Vec::len).sum();
    for _ in 0..of.resamples {
        if let Some(why) = limits.exceeded((held * 16 + ratios.len() * 8) as u64) {
            return Err(format!("stopped by {why} after {} of {} resamples", ratios.len(), of.resamples));
        }
        let below = baseline.resampled(of.percentile, &mut rngs.0, &mut drawn);
        ratios.push(candidate.resampled(of.percentile, &mut rngs.1, &mut drawn) / below);
    }
    ratios.sort_by(f64::total_cmp);
    let outside = (1.0 - of.confidence) / 2.0;
    let at = |share: f64| ratios[((share * ratios.len() as f64) as usize).min(ratios.len() - 1)];
    let (a, b) = (baseline.statistic(of.percentile), candidate.statistic(of.percentile));
    let found = Interval {
        baseline: a,
        candidate: b,
        ratio: b / a,
        low: at(outside),
        high: at(1.0 - outside),
        resamples: ratios.len(),
    };
    let finite = [found.ratio, found.low, found.high].iter().all(|value| value.is_finite());
    if finite { Ok(found) } else { Err("the samples are too far apart for a ratio".to_owned()) }
}
