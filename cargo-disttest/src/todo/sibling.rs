//! A test nearby that is worth imitating: another scenario whose region somebody has filled, else the test that
//! speaks most of the same things.

use crate::author::regions;
use crate::new::inventory::{Seen, count};
use crate::new::sources;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A test worth imitating.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Sibling {
    /// Its file.
    pub path: String,
    /// Lines of the filled region: of the begin and of the end marker.
    pub lines: Option<(usize, usize)>,
    /// Why this one.
    pub why: String,
}

/// The tests of one package, read once.
#[derive(Debug, Default)]
pub(crate) struct Tests {
    files: Vec<Test>,
}

#[derive(Debug)]
struct Test {
    file: PathBuf,
    text: String,
    words: BTreeSet<String>,
}

/// Words of Rust and of every scenario: they tell nothing apart.
const COMMON: [&str; 46] = [
    "after", "async", "await", "before", "budget", "client", "clients", "clone", "const", "crate", "disttest",
    "duration", "each", "else", "every", "expect", "false", "from", "have", "history", "impl", "into", "itself",
    "match", "node", "nodes", "over", "plan", "println", "result", "runtime", "scenario", "seconds", "self", "some",
    "static", "struct", "super", "test", "tests", "that", "then", "this", "true", "unwrap", "with",
];

impl Tests {
    /// Every Rust file below `tests/` of the package at `root`.
    pub(crate) fn of(root: &Path) -> Tests {
        let files = sources::files(&root.join("tests"), |path| path.ends_with(".rs"));
        let test = |(_, file): (String, PathBuf)| {
            let text = sources::read(&file)?;
            Some(Test { words: words(&text), file, text })
        };
        Tests { files: files.into_iter().filter_map(test).collect() }
    }

    /// The sibling for region `region` of the test at `own`, whose scenario says `prose`. `shown` names a file.
    pub(crate) fn sibling(
        &self,
        own: &Path,
        region: &str,
        prose: &str,
        shown: impl Fn(&Path) -> String,
    ) -> Option<Sibling> {
        let wanted = words(prose);
        let shared = |test: &Test| test.words.intersection(&wanted).count();
        let others = || self.files.iter().filter(|test| test.file != own);
        // `max_by_key` takes the last of equals; reversed, that is the first in the order of paths.
        let filled = others().rev().filter_map(|test| Some((test, filled(&test.text, region)?)));
        if let Some((test, (scenario, lines))) = filled.max_by_key(|(test, _)| shared(test)) {
            let alike = alike(test, &wanted);
            let why = format!("scenario {scenario} of the same package has its {} filled{alike}", kind(region));
            return Some(Sibling { path: shown(&test.file), lines: Some(lines), why });
        }
        let plain = others().rev().filter(|test| !is_generated(&test.text) && shared(test) > 1);
        let plain = plain.filter_map(|test| Some((test, Seen::of(&test.text)?.tests.len())));
        let (test, tests) = plain.filter(|(_, tests)| *tests > 0).max_by_key(|(test, _)| shared(test))?;
        let why = format!(
            "of the tests of this package it is most like the scenario ({}){}",
            count(tests, "test"),
            alike(test, &wanted)
        );
        Some(Sibling { path: shown(&test.file), lines: None, why })
    }
}

fn is_generated(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').starts_with("//! AUTO-GENERATED")
}

/// Scenario and lines of the region with this name (an arm's counts as its kind), when `author` wrote the file and
/// somebody filled it.
fn filled(text: &str, region: &str) -> Option<(String, (usize, usize))> {
    if !is_generated(text) {
        return None;
    }
    let pieces = regions::parse(text).ok()?;
    let complete = pieces.regions.iter().all(|one| one.is_filled());
    let found = pieces.regions.iter().find(|one| kind(one.name) == kind(region))?;
    let scenario = pieces.header_line("Scenario:")?.split(' ').next()?.to_owned();
    let works = complete && !found.body.trim().is_empty();
    works.then(|| (scenario, (found.line, found.end_line(text))))
}

/// `workload` of `api/workload`.
fn kind(region: &str) -> &str {
    region.rsplit('/').next().unwrap_or(region)
}

fn alike(test: &Test, wanted: &BTreeSet<String>) -> String {
    let mut shared: Vec<&str> = test.words.intersection(wanted).map(String::as_str).collect();
    // Longer words say more.
    shared.sort_by_key(|word| (std::cmp::Reverse(word.len()), *word));
    shared.truncate(4);
    if shared.is_empty() { String::new() } else { format!("; both speak of {}", shared.join(", ")) }
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    let words = words.filter(|word| !word.bytes().all(|b| b.is_ascii_hexdigit())).map(str::to_lowercase);
    words.filter(|word| !COMMON.contains(&word.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GENERATED: &str = "//! AUTO-GENERATED from test plan: p.md\n//! Scenario: S2 acked\n\n    // disttest:begin workload — x\n    BODY\n    // disttest:end workload\n";

    fn sibling(files: &[(&str, &str)]) -> Option<Sibling> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in files {
            let path = dir.path().join("tests").join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let own = dir.path().join("tests/auto/s1.rs");
        let shown = |path: &Path| path.strip_prefix(dir.path()).expect("below").to_str().expect("UTF-8").to_owned();
        let prose = "hard kill of a majority, quorum writes acknowledged";
        Tests::of(dir.path()).sibling(&own, "api/workload", prose, shown)
    }

    #[test]
    fn a_filled_scenario_comes_first_then_the_test_that_is_most_alike() {
        let filled = GENERATED.replace("BODY", "let majority = quorum();");
        let plain = "#[test] fn quorum_of_majority() { kill(); }";
        let found = sibling(&[("auto/s2.rs", &filled), ("auto/s1.rs", &filled), ("node.rs", plain)]);
        let Sibling { path, lines, why } = found.expect("there is one");
        assert_eq!((path.as_str(), lines), ("tests/auto/s2.rs", Some((4, 6))));
        assert_eq!(why, "scenario S2 of the same package has its workload filled; both speak of majority, quorum");
        let open = GENERATED.replace("BODY", "disttest_runtime::todo!(\"workload\");");
        let found = sibling(&[("auto/s2.rs", &open), ("node.rs", plain), ("other.rs", "#[test] fn kill() {}")]);
        let Sibling { path, lines, why } = found.expect("there is one");
        assert_eq!((path.as_str(), lines), ("tests/node.rs", None));
        assert!(why.contains("(1 test); both speak of majority, quorum, kill"), "{why}");
        assert_eq!(sibling(&[("auto/s2.rs", &open), ("x.rs", "#[test] fn unrelated() {}")]), None);
    }
}
