//! Any bytes: values come of them or a complaint with its place, and what is written of the values is read as them.
//!
//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz -s none --features edn edn`
#![no_main]

use cargo_disttest::import::edn::{Edn, read_all};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match read_all(bytes) {
        Ok(values) => {
            let text: Vec<String> = values.iter().map(Edn::to_string).collect();
            let again = read_all(text.join("\n").as_bytes());
            assert_eq!(again.as_ref(), Ok(&values), "{text:?}");
        }
        Err(bad) => {
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!(bad.place.line <= lines && bad.place.column <= bytes.len() + 1, "{bad:?}");
            assert!(bad.text_column <= bad.place.column, "{bad:?}");
        }
    }
});
