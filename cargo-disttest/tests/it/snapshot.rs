//! Texts that are an interface, kept as files so that a change of one is seen in review.

use std::path::Path;

/// Compares with `snapshots/<name>.txt`; `DISTTEST_BLESS=1` writes it anew.
#[track_caller]
pub(crate) fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots").join(format!("{name}.txt"));
    if std::env::var_os("DISTTEST_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expect = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expect, "{name}: DISTTEST_BLESS=1 writes the snapshot anew");
}
