//! How long operations took, by outcome: time to the right, latency upwards on a logarithmic scale, darker where more are.

use super::axis::{Axis, LEFT, WIDTH};
use super::push;
use disttest_runtime::fault::Window;
use disttest_runtime::history::{Effect, History};
use std::collections::BTreeMap;

/// Columns of the picture.
const COLUMNS: usize = 160;
/// Rows of the picture: six to a power of ten, from 10 µs to 10 s.
const ROWS: usize = 36;
/// Height of a row.
const ROW: f64 = 5.0;

/// Draws them. Operations that were never answered have no latency: they stand on the upper edge.
pub(super) fn svg(history: &History, windows: &[Window], axis: Axis) -> String {
    let height = ROWS as f64 * ROW + 18.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" \
         aria-label=\"latency over time\">"
    );
    axis.frame(&mut out, windows, height);
    for (power, label) in ["10µs", "100µs", "1ms", "10ms", "100ms", "1s", "10s"].iter().enumerate() {
        let y = (ROWS - (power * 6).min(ROWS)) as f64 * ROW;
        push(&mut out, format_args!("<text x=\"2\" y=\"{:.0}\">{label}</text>", y.max(10.0)));
    }
    let mut cells: BTreeMap<(&str, usize, usize), u64> = BTreeMap::new();
    for op in history.ops() {
        let class = match op.effect() {
            Effect::Acknowledged => "ok",
            Effect::Failed => "failed",
            Effect::Unknown => "unknown",
        };
        let row = op.complete_ts.map_or(ROWS - 1, |at| row(at.0 - op.invoke_ts.0));
        *cells.entry((class, axis.part(op.invoke_ts.0, COLUMNS), row)).or_default() += 1;
    }
    let most = cells.values().copied().max().unwrap_or(1);
    let width = (WIDTH - LEFT) / COLUMNS as f64;
    let mut paths: BTreeMap<(&str, u8), String> = BTreeMap::new();
    for ((class, column, row), count) in cells {
        let (x, y) = (LEFT + column as f64 * width, (ROWS - 1 - row) as f64 * ROW + ROW / 2.0);
        let path = paths.entry((class, level(count, most))).or_default();
        push(path, format_args!("M{x:.1} {y:.1}h{width:.1}"));
    }
    for ((class, level), path) in paths {
        push(&mut out, format_args!("<path class=\"{class} l{level}\" stroke-width=\"{ROW:.0}\" d=\"{path}\"/>"));
    }
    out.push_str("</svg>");
    out
}

/// The row of a latency in nanoseconds.
fn row(nanos: u64) -> usize {
    let above = (nanos.max(1) as f64 / 10_000.0).log10() * 6.0;
    above.clamp(0.0, (ROWS - 1) as f64) as usize
}

/// 1 to 4: how dark, by the logarithm of the count.
fn level(count: u64, most: u64) -> u8 {
    let share = (count as f64).ln_1p() / (most as f64).ln_1p();
    (share * 4.0).ceil().clamp(1.0, 4.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_rows_are_a_power_of_ten() {
        let check = |nanos, expect| assert_eq!(row(nanos), expect, "{nanos}");
        check(0, 0);
        check(10_000, 0);
        check(1_000_000, 12);
        check(1_000_000_000, 30);
        check(u64::MAX, 35);
        assert_eq!((level(1, 1_000), level(1_000, 1_000)), (1, 4));
    }
}
