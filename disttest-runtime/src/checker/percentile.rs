//! Percentiles of samples, by nearest rank: always a value that was measured, never one between two.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A percentile above 0 and at most 100, in hundredths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Percentile(u32);

impl Percentile {
    /// The median.
    pub const P50: Percentile = Percentile(5_000);
    /// 99 of 100 samples are no greater.
    pub const P99: Percentile = Percentile(9_900);
    /// 999 of 1,000 samples are no greater.
    pub const P99_9: Percentile = Percentile(9_990);
    /// The maximum.
    pub const MAX: Percentile = Percentile(10_000);

    /// `percent` to two decimals; `None` unless it is above 0 and at most 100.
    pub fn new(percent: f64) -> Option<Percentile> {
        let hundredths = (percent * 100.0).round();
        // In range, so the cast is exact.
        (1.0..=10_000.0).contains(&hundredths).then_some(Percentile(hundredths as u32))
    }

    /// Position (from 0) of this percentile among `count` sorted samples; `None` without samples.
    pub fn rank(self, count: usize) -> Option<usize> {
        let rank = (count as u128 * u128::from(self.0)).div_ceil(10_000);
        (count > 0).then(|| (rank.max(1) - 1) as usize)
    }

    /// This percentile of `samples`, which it reorders, in linear time; `None` without samples.
    pub fn of<T: Ord + Copy>(self, samples: &mut [T]) -> Option<T> {
        let rank = self.rank(samples.len())?;
        Some(*samples.select_nth_unstable(rank).1)
    }

    /// [`Percentile::of`] for numbers, ordered by `total_cmp`.
    pub fn of_numbers(self, samples: &mut [f64]) -> Option<f64> {
        let rank = self.rank(samples.len())?;
        Some(*samples.select_nth_unstable_by(rank, f64::total_cmp).1)
    }

    /// Share of the samples on the smaller side, such as 0.01 of p99.
    pub(super) fn tail(self) -> f64 {
        f64::from(self.0.min(10_000 - self.0)) / 10_000.0
    }
}

impl fmt::Display for Percentile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", f64::from(self.0) / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    #[test]
    fn a_percentile_is_the_least_sample_that_enough_others_do_not_exceed() {
        let check = |percent: f64, count: u64, expect: Option<u64>| {
            let mut samples: Vec<u64> = (1..=count).rev().collect();
            assert_eq!(Percentile::new(percent).expect("in range").of(&mut samples), expect, "p{percent} of {count}");
        };
        check(99.0, 0, None);
        check(99.0, 1, Some(1));
        check(99.0, 99, Some(99));
        check(99.0, 100, Some(99));
        check(99.0, 101, Some(100));
        check(50.0, 4, Some(2));
        check(0.01, 1_000, Some(1));
        check(100.0, 7, Some(7));
        assert_eq!([0.0, -1.0, 100.01, f64::NAN].map(Percentile::new), [None; 4]);
        assert_eq!(Percentile::P99_9.to_string(), "p99.9");
    }

    #[test]
    fn it_agrees_with_counting() {
        let mut rng = Rng::new(1);
        for _ in 0..2_000 {
            let mut samples: Vec<u64> = (0..1 + rng.below(30)).map(|_| rng.below(20)).collect();
            let percent = (1 + rng.below(10_000)) as f64 / 100.0;
            let enough = |x: &u64| {
                samples.iter().filter(|s| *s <= x).count() as f64 * 100.0 + 1e-6 >= percent * samples.len() as f64
            };
            let slow = samples.iter().filter(|x| enough(x)).min().copied();
            assert_eq!(
                Percentile::new(percent).expect("in range").of(&mut samples.clone()),
                slow,
                "p{percent} {samples:?}"
            );
            samples.clear();
        }
    }
}
