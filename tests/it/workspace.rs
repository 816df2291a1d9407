//! The workspace's own promises: the stated MSRV, licences, one line a file in ARCHITECTURE.md, live links.

use cargo_metadata::{Metadata, MetadataCommand, Package};
use disttest_tests::{rust_files, workspace};
use std::fs;
use std::process::Command;

/// Licences a user can take on beside MIT or Apache-2.0 (SPDX terms; `OR` needs one of them, `AND` all).
const LICENCES: [&str; 9] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Unicode-3.0",
    "Zlib",
    "Unlicense",
];

#[test]
fn no_dependency_needs_a_newer_compiler_than_the_stated_one() {
    let metadata = metadata();
    let ours = member(&metadata, "disttest-runtime").rust_version.clone().expect("the MSRV is stated");
    let newer: Vec<String> = metadata
        .packages
        .iter()
        .filter(|package| package.rust_version.as_ref().is_some_and(|version| *version > ours))
        .map(|package| {
            format!("{} {} needs {}", package.name, package.version, package.rust_version.as_ref().expect("filtered"))
        })
        .collect();
    assert!(newer.is_empty(), "stated MSRV {ours}, but {newer:?}");
    let stated: Vec<_> = members(&metadata).map(|package| package.rust_version.clone()).collect();
    assert!(stated.iter().all(|version| version.as_ref() == Some(&ours)), "members state different MSRVs: {stated:?}");
}

#[test]
fn every_dependency_has_a_licence_that_goes_with_ours() {
    let odd: Vec<String> = metadata()
        .packages
        .iter()
        .filter(|package| !package.license.as_deref().is_some_and(acceptable))
        .map(|package| format!("{}: {:?}", package.name, package.license))
        .collect();
    assert!(odd.is_empty(), "{odd:#?}");
}

#[test]
fn licence_expressions_are_read_as_spdx_means_them() {
    let check = |expression: &str, expect: bool| assert_eq!(acceptable(expression), expect, "{expression}");
    check("MIT OR Apache-2.0", true);
    check("MIT/Apache-2.0", true);
    check("GPL-3.0 OR MIT", true);
    check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
    check("MIT AND GPL-3.0", false);
    check("GPL-3.0", false);
}

#[test]
fn the_architecture_page_has_a_line_for_every_source_file() {
    let page = fs::read_to_string(workspace().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md is readable");
    let mut missing = Vec::new();
    for crate_root in [
        "disttest-runtime/src",
        "disttest-macros/src",
        "cargo-disttest/src",
        "tests/it",
        "tests/sabotage",
        "tests/abd-store/src",
    ] {
        for file in rust_files(&workspace().join(crate_root)) {
            let name = file.strip_prefix(workspace()).expect("a file of the workspace").display().to_string();
            let in_section = name.strip_prefix(&format!("{crate_root}/")).expect("a file below its crate").to_owned();
            if !page.contains(&format!("`{in_section}`")) {
                missing.push(name);
            }
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md does not mention:\n{}", missing.join("\n"));
}

#[test]
fn the_links_between_our_pages_lead_somewhere() {
    let mut dead = Vec::new();
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        let text = fs::read_to_string(workspace().join(page)).expect("the page is readable");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or_default();
            if !path.is_empty() && !path.contains("://") && !workspace().join(path).exists() {
                dead.push(format!("{page}: {target}"));
            }
        }
    }
    assert!(dead.is_empty(), "dead links: {dead:?}");
}

fn acceptable(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    // `AND` binds tighter, but the expressions in the wild bracket their `OR`s: split on AND outside brackets first.
    split_outside_brackets(&expression, " AND ").iter().all(|part| {
        let part = part.trim();
        match part.strip_prefix('(').and_then(|p| p.strip_suffix(')')) {
            Some(inner) => acceptable(inner),
            None => part.split(" OR ").any(|one| LICENCES.contains(&one.trim())),
        }
    })
}

fn split_outside_brackets<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && text[at..].starts_with(separator) => {
                parts.push(&text[start..at]);
                start = at + separator.len();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn metadata() -> Metadata {
    // Offline, so only what this platform builds is there to be read.
    let options = ["--locked", "--offline", "--filter-platform", &host()].map(str::to_owned).to_vec();
    let mut command = MetadataCommand::new();
    command.manifest_path(workspace().join("Cargo.toml")).other_options(options);
    command.exec().expect("cargo metadata reads the workspace")
}

fn members(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    metadata.packages.iter().filter(|package| metadata.workspace_members.contains(&package.id))
}

fn member<'a>(metadata: &'a Metadata, name: &str) -> &'a Package {
    members(metadata).find(|package| package.name == name).expect("the package is a member")
}

/// The triple this compiler builds for.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host").to_owned()
}
