//! A test nearby that is worth imitating: another scenario whose region somebody has filled, else the test that
//! speaks most of the same things.

use super::examples::{self, Example, Holds, words};
use crate::author::foreign::Written;
use crate::author::language::Language;
use crate::new::inventory::count;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

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

/// The tests of one package in one language, read once.
#[derive(Debug, Default)]
pub(crate) struct Tests {
    files: Vec<Example>,
}

/// How far a test is away; the nearest is imitated first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Near {
    File,
    Folder,
    Package,
}

impl Near {
    fn of(own: &Path, other: &Path) -> Near {
        match own {
            own if own == other => Near::File,
            own if own.parent() == other.parent() => Near::Folder,
            _ => Near::Package,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Near::File => "file",
            Near::Folder => "folder",
            Near::Package => "package",
        }
    }
}

impl Tests {
    /// Those of the package at `root`.
    pub(crate) fn of(root: &Path, language: Language) -> Tests {
        Tests { files: examples::find(root, language) }
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
        let shared = |test: &Example| test.words.intersection(&wanted).count();
        // Of equals the first in the order of paths.
        let rank = |test: &Example| (Near::of(own, &test.file), Reverse(shared(test)));
        let filled = self.files.iter().filter_map(|test| {
            let Holds::Scenario(written) = &test.holds else { return None };
            Some((test, &written.scenario, filled(written, region, test.file == own)?))
        });
        if let Some((test, scenario, lines)) = filled.min_by_key(|(test, ..)| rank(test)) {
            let near = Near::of(own, &test.file).word();
            let alike = alike(test, &wanted);
            let why = format!("scenario {scenario} of the same {near} has its {} filled{alike}", kind(region));
            return Some(Sibling { path: shown(&test.file), lines: Some(lines), why });
        }
        let plain = self.files.iter().filter_map(|test| match test.holds {
            Holds::Tests(tests) if shared(test) > 1 && test.file != own => Some((test, tests)),
            _ => None,
        });
        let (test, tests) = plain.min_by_key(|(test, _)| rank(test))?;
        let why = format!(
            "of the tests of this {} it is most like the scenario ({}){}",
            Near::of(own, &test.file).word(),
            count(tests, "test"),
            alike(test, &wanted)
        );
        Some(Sibling { path: shown(&test.file), lines: None, why })
    }
}

/// Lines of the region that is like `region` (an arm's counts as its kind) in a scenario, or an arm of one, that
/// somebody filled as a whole: what is half written may not even compile. Of the file with `region` itself (`own`) it is
/// another arm.
fn filled(written: &Written, region: &str, own: bool) -> Option<(usize, usize)> {
    let whole = |arm: &str| {
        let belongs = |name: &str| !name.contains('/') || arm_of(name) == arm;
        written.parts.iter().filter(|part| belongs(&part.name)).all(|part| part.filled)
    };
    let alike = |name: &str| kind(name) == kind(region) && !(own && arm_of(name) == arm_of(region));
    let mut found = written.parts.iter().filter(|part| alike(&part.name) && !part.empty);
    found.find(|part| whole(arm_of(&part.name))).map(|part| part.lines)
}

/// `workload` of `api/workload`.
fn kind(region: &str) -> &str {
    region.rsplit('/').next().unwrap_or(region)
}

/// `api` of `api/workload`.
fn arm_of(region: &str) -> &str {
    region.rsplit_once('/').map_or("", |(arm, _)| arm)
}

fn alike(test: &Example, wanted: &BTreeSet<String>) -> String {
    let mut shared: Vec<&str> = test.words.intersection(wanted).map(String::as_str).collect();
    // Longer words say more.
    shared.sort_by_key(|word| (Reverse(word.len()), *word));
    shared.truncate(4);
    if shared.is_empty() { String::new() } else { format!("; both speak of {}", shared.join(", ")) }
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
        Tests::of(dir.path(), Language::Rust).sibling(&own, "api/workload", prose, shown)
    }

    #[test]
    fn a_filled_scenario_comes_first_then_the_test_that_is_most_alike() {
        let filled = GENERATED.replace("BODY", "let majority = quorum();");
        let plain = "#[test] fn quorum_of_majority() { kill(); }";
        let open = GENERATED.replace("BODY", "disttest_runtime::todo!(\"workload\");");
        let found = sibling(&[("auto/s2.rs", &filled), ("auto/s1.rs", &open), ("node.rs", plain)]);
        let Sibling { path, lines, why } = found.expect("there is one");
        assert_eq!((path.as_str(), lines), ("tests/auto/s2.rs", Some((4, 6))));
        assert_eq!(why, "scenario S2 of the same folder has its workload filled; both speak of majority, quorum");
        let found = sibling(&[("auto/s2.rs", &open), ("node.rs", plain), ("other.rs", "#[test] fn kill() {}")]);
        let Sibling { path, lines, why } = found.expect("there is one");
        assert_eq!((path.as_str(), lines), ("tests/node.rs", None));
        assert!(why.contains("(1 test); both speak of majority, quorum, kill"), "{why}");
        assert_eq!(sibling(&[("auto/s2.rs", &open), ("x.rs", "#[test] fn unrelated() {}")]), None);
    }

    /// Written by `author` in another language, with the region `workload` as `body` says.
    fn go(id: &str, body: &str) -> String {
        format!(
            "// AUTO-GENERATED from test plan: p.md\n// Scenario: {id} acked\n// Body-SHA256: 00\n\npackage store\n\n\
             func TestAcked(t *testing.T) {{\n\t// disttest:begin workload\n\t{body}\n\t// disttest:end workload\n}}\n"
        )
    }

    #[test]
    fn the_nearest_comes_first_in_the_same_language_alone() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        let shown = |path: &Path| path.strip_prefix(dir.path()).expect("below").to_str().expect("UTF-8").to_owned();
        let own = dir.path().join("store/s1_test.go");
        let found =
            || Tests::of(dir.path(), Language::Go).sibling(&own, "workload", "kill the majority, quorum", shown);
        write("store/s1_test.go", &go("S1", "// TODO: workload"));
        write("tests/s2.rs", &GENERATED.replace("BODY", "let majority = quorum();"));
        write("store/s3_test.go", &go("S3", "// TODO: workload"));
        assert_eq!(found(), None, "neither another language nor what is open is worth imitating");
        write("log/log_test.go", "package log\n\nfunc TestQuorum(t *testing.T) { majority(); quorum() }\n");
        assert_eq!(found().expect("there is one").path, "log/log_test.go");
        write("log/s4_test.go", &go("S4", "majority(quorum, kill)"));
        let far = found().expect("there is one");
        assert_eq!((far.path.as_str(), far.lines), ("log/s4_test.go", Some((8, 10))));
        assert!(far.why.starts_with("scenario S4 of the same package has its workload filled"), "{}", far.why);
        write("store/s5_test.go", &go("S5", "put()"));
        let near = found().expect("there is one");
        assert_eq!((near.path.as_str(), near.lines), ("store/s5_test.go", Some((8, 10))));
        assert_eq!(near.why, "scenario S5 of the same folder has its workload filled");
    }

    #[test]
    fn another_arm_of_the_same_file_is_nearest() {
        let arm =
            |name: &str, body: &str| GENERATED.replace("workload", &format!("{name}/workload")).replace("BODY", body);
        let open = "disttest_runtime::todo!(\"workload\");";
        let head = "//! AUTO-GENERATED from test plan: p.md\n//! Scenario: S1 acked\n\n";
        let body = |name: &str, text: &str| arm(name, text).split_once("\n\n").expect("a header").1.to_owned();
        let own = format!("{head}{}{}", body("api", open), body("sdk", "quorum();"));
        let filled = GENERATED.replace("BODY", "let majority = quorum();");
        let found = sibling(&[("auto/s1.rs", &own), ("auto/s2.rs", &filled)]).expect("there is one");
        assert_eq!((found.path.as_str(), found.lines), ("tests/auto/s1.rs", Some((7, 9))));
        assert!(found.why.starts_with("scenario S1 of the same file"), "{}", found.why);
    }
}
