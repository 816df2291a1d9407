//! Any bytes: what is rendered of their plan is read as that plan.
//!
//! `cargo fuzz run --fuzz-dir tests/fuzz -s none render tests/plans tests/abd-store/docs/testing-plans`
#![no_main]

use disttest_runtime::plan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let read = plan::parse(&text).0;
    let again = plan::parse(&plan::render(&read)).0;
    assert!(again.without_spans() == read.without_spans(), "another plan comes of what is rendered");
});
