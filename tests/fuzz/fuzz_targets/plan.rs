//! Any bytes: a plan and diagnostics come of them, every span lies in the text, and no scenario is lost.
//!
//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz -s none plan`; the seeds are those of `CONTRIBUTING.md`.
#![no_main]

use disttest_runtime::plan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let (read, told) = plan::check(&text);
    for diagnostic in &told {
        assert!(text.get(diagnostic.span.start..diagnostic.span.end).is_some(), "{diagnostic:?}");
    }
    for heading in headings(&text) {
        let taken = read.scenarios.iter().any(|s| s.span.start <= heading && heading < s.span.end);
        let is_told = told.iter().any(|d| d.span.start <= heading + 3 && heading < d.span.end.max(d.span.start + 1));
        let below = told.iter().any(|d| d.rule.starts_with("unclosed-") && d.span.start <= heading);
        assert!(taken || is_told || below, "the scenario at {heading} is lost");
    }
    let _ = plan::is_a_plan(&read);
});

/// Where `### Scenario S<n>: ` starts a line. So many are enough: more findings of one rule are counted, not told.
fn headings(text: &str) -> Vec<usize> {
    let starts = text.match_indices("### Scenario S").map(|(at, _)| at);
    let begins = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
    let named = |at: &usize| {
        let rest = text[at + "### Scenario S".len()..].trim_start_matches(|c: char| c.is_ascii_digit());
        rest.starts_with(": ") && !text[at + "### Scenario S".len()..].starts_with(':')
    };
    starts.filter(begins).filter(named).take(900).collect()
}
