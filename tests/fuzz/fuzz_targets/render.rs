//! Any bytes: what is rendered of their plan is read as that plan, and so is the form that `render` falls back to.
//!
//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz -s none render`; the seeds are those of `CONTRIBUTING.md`.
#![no_main]

use disttest_runtime::plan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let read = plan::parse(&text).0;
    let model = read.clone().without_spans();
    let same = |page: &str| plan::parse(page).0.without_spans() == model;
    assert!(same(&plan::render(&read)), "another plan comes of what is rendered");
    assert!(same(&plan::render_in_references(&read)), "another plan comes of what is rendered in references");
});
