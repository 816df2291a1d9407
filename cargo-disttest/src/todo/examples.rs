//! The tests of a package in one language, as examples: what `author` wrote and somebody filled, and tests by hand.

use crate::author::foreign::{self, Written};
use crate::author::language::Language;
use crate::author::regions;
use crate::new::inventory::Seen;
use crate::new::sources;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file with tests.
#[derive(Debug)]
pub(super) struct Example {
    pub file: PathBuf,
    pub words: BTreeSet<String>,
    /// What it holds.
    pub holds: Holds,
}

/// What a file with tests holds.
#[derive(Debug)]
pub(super) enum Holds {
    /// The file of a scenario.
    Scenario(Written),
    /// So many tests that `author` did not write.
    Tests(usize),
}

/// Words of programs and of every scenario: they tell nothing apart.
const COMMON: [&str; 58] = [
    "after", "assert", "async", "await", "before", "budget", "client", "clients", "clone", "const", "context", "crate",
    "describe", "disttest", "done", "duration", "each", "else", "error", "every", "expect", "false", "from", "func",
    "have", "history", "impl", "import", "into", "itself", "local", "match", "node", "nodes", "none", "over",
    "package", "plan", "println", "result", "return", "runtime", "scenario", "seconds", "self", "some", "static",
    "struct", "super", "test", "testing", "tests", "that", "then", "this", "true", "unwrap", "with",
];

/// Every file with tests in `language` of the package at `root`.
///
/// Those of cargo stand below `tests/`; other languages have them beside the code, so the whole package is looked at.
pub(super) fn find(root: &Path, language: Language) -> Vec<Example> {
    let from = match language {
        Language::Rust => root.join("tests"),
        _ => root.to_path_buf(),
    };
    let files = sources::files(&from, |path| language.suffixes().iter().any(|suffix| path.ends_with(suffix)));
    files.into_iter().filter_map(|(path, file)| example(language, &path, file)).collect()
}

fn example(language: Language, path: &str, file: PathBuf) -> Option<Example> {
    let text = sources::read(&file)?;
    let holds = match written(language, &text) {
        Some(written) => Holds::Scenario(written),
        None if is_generated(&text) => return None,
        None => Holds::Tests(Some(tests(language, path, &text)).filter(|tests| *tests > 0)?),
    };
    Some(Example { words: words(&text), file, holds })
}

/// The file of a scenario, as far as somebody filled it.
fn written(language: Language, text: &str) -> Option<Written> {
    if language != Language::Rust {
        return foreign::written(language, text);
    }
    if !is_generated(text) {
        return None;
    }
    let pieces = regions::parse(text).ok()?;
    let scenario = pieces.header_line("Scenario:")?.split(' ').next()?.to_owned();
    let regions = pieces.regions.iter().map(|region| foreign::Part {
        name: region.name.to_owned(),
        lines: (region.line, region.end_line(text)),
        filled: region.is_filled(),
        empty: region.body.trim().is_empty(),
    });
    Some(Written { scenario, parts: regions.collect() })
}

/// `author` wrote it, whatever became of it.
fn is_generated(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{feff}').lines().take(20);
    lines.any(|line| line.trim_start_matches(['/', '!', '#', ' ']).starts_with("AUTO-GENERATED from test plan:"))
}

/// How many tests a text has, by what its language's usual runners look for.
fn tests(language: Language, path: &str, text: &str) -> usize {
    let lines = |begins: &[&str]| {
        text.lines().filter(|line| begins.iter().any(|begin| line.trim_start().starts_with(begin))).count()
    };
    match language {
        Language::Rust => Seen::of(text).map_or(0, |seen| seen.tests.len()),
        Language::Go => lines(&["func Test"]),
        Language::Python => lines(&["def test", "async def test"]),
        Language::TypeScript => lines(&["test(", "test.each", "it(", "it.each", "Deno.test(", "void test("]),
        Language::Shell => {
            // A script that is a test as a whole says so by its place or its name.
            let of_tests =
                path.split('/').any(|part| part.split(['_', '-', '.']).any(|w| matches!(w, "test" | "tests")));
            lines(&["@test ", "test_", "function test_"]).max(usize::from(of_tests))
        }
    }
}

/// Words that tell what a text is about.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    let words = words.filter(|word| !word.bytes().all(|b| b.is_ascii_hexdigit())).map(str::to_lowercase);
    words.filter(|word| !COMMON.contains(&word.as_str())).collect()
}

#[cfg(test)]
mod check {
    use super::*;

    #[test]
    fn tests_are_counted_by_what_the_runners_of_a_language_look_for() {
        let check =
            |language, path: &str, text: &str, expect| assert_eq!(tests(language, path, text), expect, "{path}");
        check(Language::Rust, "tests/x.rs", "#[test] fn a() {}", 1);
        check(
            Language::Go,
            "x_test.go",
            "func TestA(t *testing.T) {}\nfunc helper() {}\nfunc TestB(t *testing.T) {}",
            2,
        );
        check(
            Language::Python,
            "x.py",
            "class A:\n    def test_a(self): ...\nasync def test_b(): ...\ndef retest(): ...",
            2,
        );
        check(Language::TypeScript, "x.ts", "describe('a', () => {\n  it('b', () => {});\n});\ntest('c', f)", 2);
        check(Language::TypeScript, "x.ts", "export const test = 1;", 0);
        check(Language::Shell, "tests/run.sh", "echo", 1);
        check(Language::Shell, "deploy.sh", "echo", 0);
        check(Language::Shell, "bin/store_test.sh", "test_a() {\n}\ntest_b() {\n}", 2);
        check(Language::Shell, "x.bats", "@test \"a\" {\n}", 1);
    }
}
