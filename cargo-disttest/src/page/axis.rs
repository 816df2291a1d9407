//! Time as the horizontal axis of every picture of an execution, with the bands of its faults.

use super::push;
use crate::check::html::escape;
use disttest_runtime::fault::Window;
use disttest_runtime::history::History;

/// Width of a picture in its own units.
pub(super) const WIDTH: f64 = 1000.0;
/// Room on the left for what the rows mean.
pub(super) const LEFT: f64 = 52.0;

/// From the first to the last moment of an execution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    from: u64,
    to: u64,
}

impl Axis {
    /// That holds every operation of `history` and every fault.
    pub(super) fn of(history: &History, windows: &[Window]) -> Axis {
        let ends = history.ops().iter().map(|op| op.complete_ts.unwrap_or(op.invoke_ts).0);
        let faults = windows.iter().map(|window| window.healed_at.unwrap_or(window.observed_until).0);
        let from = history.ops().iter().map(|op| op.invoke_ts.0).min().unwrap_or(0);
        Axis { from, to: ends.chain(faults).max().unwrap_or(0).max(from + 1) }
    }

    /// Its length in seconds.
    pub(super) fn seconds(&self) -> f64 {
        (self.to - self.from) as f64 / 1e9
    }

    /// Where a moment stands.
    pub(super) fn x(&self, at: u64) -> f64 {
        let share = at.clamp(self.from, self.to) - self.from;
        LEFT + (WIDTH - LEFT) * share as f64 / (self.to - self.from) as f64
    }

    /// The part of `parts` equal ones that a moment falls into.
    pub(super) fn part(&self, at: u64, parts: usize) -> usize {
        let share = u128::from(at.clamp(self.from, self.to) - self.from) * parts as u128;
        ((share / u128::from(self.to - self.from)) as usize).min(parts - 1)
    }

    /// Bands of faults and the seconds below, for a picture of this height. 18 units at the bottom are for the seconds.
    pub(super) fn frame(&self, out: &mut String, windows: &[Window], height: f64) {
        let bottom = height - 18.0;
        for window in windows {
            let (from, to) =
                (self.x(window.injected_at.0), self.x(window.healed_at.unwrap_or(window.observed_until).0));
            push(
                out,
                format_args!(
                    "<g><title>fault {}: {} {}</title><rect class=\"band\" x=\"{from:.1}\" y=\"0\" width=\"{:.1}\" \
                     height=\"{bottom:.0}\"/><path class=\"edge\" d=\"M{from:.1} 0v{bottom:.0}M{to:.1} 0v{bottom:.0}\"/></g>",
                    window.epoch,
                    escape(&window.nemesis),
                    escape(&window.detail),
                    (to - from).max(1.0)
                ),
            );
        }
        push(out, format_args!("<path class=\"axis\" d=\"M{LEFT} {bottom:.0}H{WIDTH}\"/>"));
        let seconds = self.seconds();
        let step = step(seconds);
        let mut at = 0.0;
        while at <= seconds {
            let x = LEFT + (WIDTH - LEFT) * at / seconds;
            push(out, format_args!("<text x=\"{x:.0}\" y=\"{:.0}\">{}s</text>", height - 4.0, rounded(at)));
            at += step;
        }
    }
}

/// A step of 1, 2 or 5 times a power of ten, so that there are at most ten.
fn step(length: f64) -> f64 {
    let mut step = 1e-6;
    for factor in [2.0, 2.5, 2.0].iter().cycle() {
        if length / step <= 10.0 {
            break;
        }
        step *= factor;
    }
    step
}

/// Without digits that say nothing.
pub(super) fn rounded(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_few() {
        let check = |length: f64, expect: &str| assert_eq!(rounded(step(length)), expect, "{length}");
        check(9.0, "1");
        check(31.0, "5");
        check(0.004, "0.0005");
        check(86_400.0, "10000");
    }
}
