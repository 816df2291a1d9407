//! Operations a second by outcome.

use super::axis::{Axis, LEFT, WIDTH, rounded};
use super::push;
use disttest_runtime::fault::Window;
use disttest_runtime::history::{Effect, History};

/// Parts of the time.
const PARTS: usize = 120;
/// Height of the curves.
const HEIGHT: f64 = 90.0;

/// Draws them: acknowledged and failed ones at their completion, those of unknown outcome where they began.
pub(super) fn svg(history: &History, windows: &[Window], axis: Axis) -> String {
    let mut counts = [[0_u64; PARTS]; 3];
    for op in history.ops() {
        let (curve, at) = match op.effect() {
            Effect::Acknowledged => (0, op.complete_ts.unwrap_or(op.invoke_ts)),
            Effect::Failed => (1, op.complete_ts.unwrap_or(op.invoke_ts)),
            Effect::Unknown => (2, op.invoke_ts),
        };
        counts[curve][axis.part(at.0, PARTS)] += 1;
    }
    let most = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
    let height = HEIGHT + 22.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" \
         aria-label=\"operations a second over time\">"
    );
    axis.frame(&mut out, windows, height);
    let rate = most as f64 * PARTS as f64 / axis.seconds();
    push(&mut out, format_args!("<text x=\"2\" y=\"12\">{}/s</text>", rounded(rate.round())));
    for (counts, class) in counts.iter().zip(["ok", "failed", "unknown"]) {
        if counts.iter().all(|count| *count == 0) {
            continue;
        }
        let point = |(part, count): (usize, &u64)| {
            let x = LEFT + (WIDTH - LEFT) * (part as f64 + 0.5) / PARTS as f64;
            format!("{x:.1},{:.1}", 4.0 + (HEIGHT - 4.0) * (1.0 - *count as f64 / most as f64))
        };
        let points: Vec<String> = counts.iter().enumerate().map(point).collect();
        push(&mut out, format_args!("<polyline class=\"curve {class}\" points=\"{}\"/>", points.join(" ")));
    }
    out.push_str("</svg>");
    out
}
