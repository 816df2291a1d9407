//! The tests and harnesses that a repository has already: the rows of §3.

use super::crates::{Crate, Crates};
use super::sources;
use proc_macro2::{TokenStream, TokenTree};
use std::path::Path;
use syn::{Attribute, Expr, Item, Lit, Meta};

/// A test file or another harness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Harness {
    /// Its path from the repository's root.
    pub path: String,
    /// What it is and how much, such as `5 tests`.
    pub what: String,
    /// The package it belongs to; empty for the whole repository.
    pub subsystem: String,
    /// What it says of itself.
    pub says: Option<String>,
    /// Names of some of its tests.
    pub tests: Vec<String>,
}

/// Every harness below `root`: tests by package, benches, fuzz targets; and the CI workflows of `repository`.
pub(crate) fn find(root: &Path, crates: &Crates, repository: &Path) -> Vec<Harness> {
    let mut found: Vec<Harness> = crates.all.iter().flat_map(|one| of_crate(root, one, crates)).collect();
    found.extend(fuzz_targets(root, crates));
    found.extend(sources::files(repository, is_ci).into_iter().map(|(path, file)| workflow(path, &file)));
    found
}

/// `1 test`, `2 tests`.
pub(crate) fn count(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

fn of_crate(root: &Path, one: &Crate, crates: &Crates) -> Vec<Harness> {
    // A package may hold others: each file belongs to the innermost.
    let own = |path: &Path| crates.holding(path).is_some_and(|holder| holder.name == one.name);
    let files = sources::files(&one.root, |path| path.ends_with(".rs"));
    let files: Vec<_> = files.into_iter().filter(|(_, file)| own(file)).collect();
    let mut found: Vec<Harness> = Vec::new();
    let (mut unit_tests, mut unit_files) = (Vec::new(), 0);
    for (path, file) in files {
        // Parsing costs more than all the rest: a file without the word has no test.
        let worth =
            |text: &String| path.starts_with("benches/") || ["test", "scenario"].iter().any(|w| text.contains(w));
        let Some(seen) = sources::read(&file).filter(worth).and_then(|text| Seen::of(&text)) else { continue };
        let harness = |what: String| Harness {
            path: shown(root, &file),
            what,
            subsystem: one.name.clone(),
            says: seen.says.clone(),
            tests: seen.tests.clone(),
        };
        if path.starts_with("src/") && !seen.tests.is_empty() {
            unit_files += 1;
            unit_tests.extend(seen.tests.clone());
        } else if path.starts_with("benches/") && seen.is_program() {
            found.push(harness("benchmark".to_owned()));
        } else if path.starts_with("tests/") && !seen.tests.is_empty() {
            found.push(harness(count(seen.tests.len(), "test")));
        }
    }
    if !unit_tests.is_empty() {
        let what = format!("{} in {}", count(unit_tests.len(), "unit test"), count(unit_files, "file"));
        let path = shown(root, &one.root.join("src"));
        found.push(Harness { path, what, subsystem: one.name.clone(), says: None, tests: unit_tests });
    }
    found
}

/// cargo-fuzz keeps its targets in a package outside of the workspace.
fn fuzz_targets(root: &Path, crates: &Crates) -> Vec<Harness> {
    let files = sources::files(root, |path| path.contains("fuzz_targets/") && path.ends_with(".rs"));
    let harness = |(path, file): (String, std::path::PathBuf)| Harness {
        subsystem: crates.holding(&file).map(|one| one.name.clone()).unwrap_or_default(),
        says: sources::read(&file).and_then(|text| Seen::of(&text)).and_then(|seen| seen.says),
        what: "fuzz target".to_owned(),
        path,
        tests: Vec::new(),
    };
    files.into_iter().map(harness).collect()
}

fn is_ci(path: &str) -> bool {
    let named = [".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "Jenkinsfile", ".circleci/config.yml"];
    let workflow = path.strip_prefix(".github/workflows/").is_some_and(|name| !name.contains('/'));
    named.contains(&path) || (workflow && (path.ends_with(".yml") || path.ends_with(".yaml")))
}

/// A workflow says what cargo commands it runs.
fn workflow(path: String, file: &Path) -> Harness {
    let text = sources::read(file).unwrap_or_default();
    let mut commands: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let Some(at) = line.find("cargo ") else { continue };
        let words = line[at..].split_whitespace().take_while(|word| !word.starts_with(['&', '|', ';', '#', '$']));
        let command = words.take(6).collect::<Vec<_>>().join(" ");
        if command.len() > "cargo ".len() && !commands.contains(&command) {
            commands.push(command);
        }
    }
    let says = (!commands.is_empty()).then(|| {
        let more = commands.len().saturating_sub(3);
        let listed = commands[..commands.len().min(3)].join(", ");
        if more == 0 { format!("runs {listed}") } else { format!("runs {listed} and {more} more") }
    });
    Harness { path, what: "CI".to_owned(), subsystem: String::new(), says, tests: Vec::new() }
}

fn shown(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    below.to_string_lossy().replace('\\', "/")
}

/// What a Rust file shows of itself.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// First line of its documentation, or of its first documented test.
    pub says: Option<String>,
    /// Names of its tests.
    pub tests: Vec<String>,
    main: bool,
}

impl Seen {
    /// Reads a file; `None` when it is no Rust that can be parsed.
    pub(crate) fn of(text: &str) -> Option<Seen> {
        let file = syn::parse_file(text).ok()?;
        let mut seen = Seen { says: first_line(&file.attrs), ..Seen::default() };
        seen.items(&file.items);
        Some(seen)
    }

    /// It has a `main`, or tests.
    pub(crate) fn is_program(&self) -> bool {
        self.main || !self.tests.is_empty()
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Fn(function) => {
                    self.main |= function.sig.ident == "main";
                    if function.attrs.iter().any(is_test) {
                        self.tests.push(function.sig.ident.to_string());
                        self.says = self.says.take().or_else(|| first_line(&function.attrs));
                    }
                }
                Item::Mod(module) => {
                    if let Some((_, items)) = &module.content {
                        self.items(items);
                    }
                }
                Item::Macro(call) => {
                    self.main |=
                        call.mac.path.segments.last().is_some_and(|last| last.ident.to_string().ends_with("main"));
                    self.tests.extend(tests_in(call.mac.tokens.clone()));
                }
                _ => {}
            }
        }
    }
}

/// `#[test]`, `#[tokio::test]`, `#[rstest]`, `#[disttest_runtime::scenario(…)]` and the like.
fn is_test(attribute: &Attribute) -> bool {
    let path = attribute.path();
    let Some(last) = path.segments.last().map(|last| last.ident.to_string()) else { return false };
    let first = path.segments.first().map(|first| first.ident.to_string());
    ["test", "rstest", "test_case", "wasm_bindgen_test"].contains(&last.as_str())
        || (last == "scenario" && first.is_some_and(|first| first == "scenario" || first == "disttest_runtime"))
}

/// Names of the functions marked `#[test]` in the tokens of a macro, such as `proptest!`.
fn tests_in(tokens: TokenStream) -> Vec<String> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    let mut marked = false;
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) if at > 0 && group.stream().to_string() == "test" => marked = true,
            TokenTree::Ident(word) if marked && word == "fn" => {
                marked = false;
                found.extend(trees.get(at + 1).map(ToString::to_string));
            }
            _ => {}
        }
    }
    found
}

/// First line of the documentation; of a generated test, the scenario it is.
fn first_line(attributes: &[Attribute]) -> Option<String> {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let mut lines = lines.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
    match lines.next() {
        Some(first) if first.starts_with("AUTO-GENERATED") => lines.find(|line| line.starts_with("Scenario:")),
        first => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_wherever_they_stand() {
        let check = |text: &str, tests: &[&str], says: Option<&str>| {
            let seen = Seen::of(text).expect("Rust");
            assert_eq!((seen.tests, seen.says.as_deref()), (tests.iter().map(|t| (*t).to_owned()).collect(), says));
        };
        check("//! A majority works.\n//! More.\n#[test] fn a() {}", &["a"], Some("A majority works."));
        check("#[tokio::test(flavor = \"multi_thread\")] async fn a() {} fn b() {}", &["a"], None);
        check("mod inner { mod deep { /// Says.\n #[test] fn a() {} } }", &["a"], Some("Says."));
        check(
            "proptest! { #[test] fn any(x in 0..1u8) { f(x) } #[test] fn more(y in 0..1u8) {} }",
            &["any", "more"],
            None,
        );
        check("#[disttest_runtime::scenario(id = \"S1\")] async fn s(run: Run) {}", &["s"], None);
        check("//! AUTO-GENERATED from x\n//! Scenario: S1 s\n#[test] fn s() {}", &["s"], Some("Scenario: S1 s"));
        check("#[cfg(test)] fn no() {} // #[test] fn b() {}", &[], None);
        assert_eq!(Seen::of("fn ("), None);
    }

    #[test]
    fn a_workflow_tells_what_it_runs() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("ci.yml");
        let text = "# cargo no\n- run: cargo test --workspace && cargo fmt\n- run: |\n    cargo test --workspace\n    cargo clippy -- -D warnings\n";
        std::fs::write(&file, text).expect("written");
        let says = workflow("ci.yml".to_owned(), &file).says;
        assert_eq!(says.as_deref(), Some("runs cargo test --workspace, cargo clippy -- -D warnings"));
        assert!(is_ci(".github/workflows/ci.yml") && is_ci(".gitlab-ci.yml") && !is_ci("x/.github/workflows/ci.yml"));
    }
}
