//! Landing signals of a fault: each series before, during and after.

use super::axis::rounded;
use super::push;
use crate::check::html::escape;
use disttest_runtime::fault::{Assessment, Series, Window};

/// Series that are drawn for one window, at most; those that moved come first.
const DRAWN: usize = 6;
/// Points of a curve, at most.
const POINTS: usize = 160;
/// Width of a picture.
const WIDTH: f64 = 320.0;
/// Its height.
const HEIGHT: f64 = 70.0;

/// Adds the series of `window`, with what they prove.
pub(super) fn add(body: &mut String, window: &Window, assessed: &Assessment) {
    let landed = if assessed.landed { ("pass", "landed") } else { ("doubt", "not proven to have landed") };
    let recovered = if assessed.recovered { "recovered" } else { "not recovered" };
    push(
        body,
        format_args!(
            "<h4>Fault {}: {} {} <span class=\"badge {}\">{}</span>, {recovered}</h4>\n<p class=\"soft\">Injector: {}. \
             Victim: {}. {}.</p>\n",
            window.epoch,
            escape(&window.nemesis),
            escape(&window.detail),
            landed.0,
            landed.1,
            escape(&assessed.injector.why),
            escape(&assessed.victim.why),
            escape(&assessed.recovery)
        ),
    );
    let told = |finding: &Option<String>, series: &Series| {
        let place = format!("{} at {}", series.signal, series.source);
        finding.as_deref().is_some_and(|signals| signals.split(", ").any(|signal| signal == place))
    };
    let sides = [
        ("injector", &window.injector, &assessed.injector.signal),
        ("victim", &window.victim, &assessed.victim.signal),
    ];
    let mut all: Vec<(&str, &Series, bool)> = Vec::new();
    for (side, series, finding) in sides {
        all.extend(series.iter().map(|series| (side, series, told(finding, series))));
    }
    all.sort_by_key(|(.., moved)| !moved);
    push(body, format_args!("<div class=\"grid\">"));
    for (side, series, moved) in all.into_iter().take(DRAWN) {
        let mark = if moved { "moved" } else { "did not move" };
        push(
            body,
            format_args!(
                "<figure>{}<figcaption>{side}: {} at {}, {mark}</figcaption></figure>",
                svg(series, window),
                escape(&series.signal),
                escape(&series.source)
            ),
        );
    }
    body.push_str("</div>\n");
}

fn svg(series: &Series, window: &Window) -> String {
    let from = window.baseline_from.0;
    let to = window.observed_until.0.max(from + 1);
    let x = |at: u64| WIDTH * (at.clamp(from, to) - from) as f64 / (to - from) as f64;
    let values = || series.samples.iter().filter_map(|sample| sample.value);
    let (least, most) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let y = |value: f64| match most > least {
        true => 6.0 + (HEIGHT - 12.0) * (1.0 - (value - least) / (most - least)),
        false => HEIGHT / 2.0,
    };
    let (start, end) = (x(window.injected_at.0), x(window.healed_at.unwrap_or(window.observed_until).0));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"readings \
         before, during and after the fault\"><rect class=\"band\" x=\"{start:.1}\" y=\"0\" width=\"{:.1}\" \
         height=\"{HEIGHT}\"/>",
        (end - start).max(1.0)
    );
    let every = series.samples.len().div_ceil(POINTS).max(1);
    let mut path = String::new();
    let mut pen = 'M';
    for sample in series.samples.iter().step_by(every) {
        match sample.value {
            Some(value) => {
                push(&mut path, format_args!("{pen}{:.1} {:.1}", x(sample.at.0), y(value)));
                pen = 'L';
            }
            // A gap is a gap.
            None => pen = 'M',
        }
    }
    push(&mut out, format_args!("<path class=\"curve ok\" d=\"{path}\"/>"));
    if most.is_finite() {
        push(&mut out, format_args!("<text x=\"2\" y=\"11\">{}</text>", rounded(most)));
        push(&mut out, format_args!("<text x=\"2\" y=\"{:.0}\">{}</text>", HEIGHT - 2.0, rounded(least)));
    }
    out.push_str("</svg>");
    out
}
