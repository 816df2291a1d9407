//! The texts of an ephemeral package. Pure.

use super::dependencies::{mirror, on_path, table};
use super::sut::Sut;
use crate::author::manifest::{self, RUNTIME};
use cargo_metadata::Edition;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, TableLike, value};

/// The package's name.
pub(crate) const NAME: &str = "disttest-harness";
const HEAD: &str = "\
# An ephemeral package: tests of a plan that the repository of the system under test does not hold.
# Fill the regions of its tests and run it with
#     cargo disttest run PLAN --harness THIS_FOLDER
# `cargo disttest author PLAN --from-harness THIS_FOLDER` moves the tests into the repository.
# Dependencies and features may be added here: they are kept.
# `cargo test` does not build the programs under test for a package beside theirs, so that a test of one that was built
# before could be taken for a test of what it is now. `run` builds them, and tells the tests where they are.
";

/// What a new package is made from.
#[derive(Clone, Debug)]
pub(crate) struct Recipe<'a> {
    /// Path of the plan, as its tests name it.
    pub plan: &'a str,
    /// The packages under test.
    pub suts: &'a [Sut],
    /// The manifest of their workspace, for what holds for the whole graph.
    pub workspace_manifest: &'a str,
    /// The folder of their workspace.
    pub workspace: &'a Path,
    /// It is for one run: nothing that the compiler keeps for the next build of it is of use.
    pub once: bool,
    /// Where the runtime comes from, when no package under test says so.
    pub runtime: Item,
}

/// The manifest without tests.
pub(crate) fn new_manifest(recipe: &Recipe<'_>) -> Result<String, String> {
    let mut manifest = DocumentMut::new();
    let package = table(manifest.as_table_mut(), "package");
    package.decor_mut().set_prefix(HEAD);
    for (key, text) in [("name", NAME), ("version", "0.0.0"), ("edition", edition(recipe.suts).as_str())] {
        package.insert(key, value(text));
    }
    // Nothing of it is a target but the tests named below.
    for key in ["publish", "build", "autolib", "autobins", "autoexamples", "autotests", "autobenches"] {
        package.insert(key, value(false));
    }
    let ours = table(table(package, "metadata"), "disttest");
    ours.insert("plan", value(recipe.plan));
    ours.insert("packages", value(recipe.suts.iter().map(|sut| sut.name.as_str()).collect::<toml_edit::Array>()));
    table(package, "metadata").set_implicit(true);
    table(manifest.as_table_mut(), "workspace");
    for sut in recipe.suts {
        sut.dependencies.iter().for_each(|dependency| mirror(&mut manifest, dependency));
    }
    for sut in recipe.suts {
        on_path(&mut manifest, &sut.name, &sut.root);
    }
    if !names_runtime(&manifest) {
        table(manifest.as_table_mut(), "dev-dependencies").insert(RUNTIME, recipe.runtime.clone());
    }
    whole_graph(&mut manifest, recipe)?;
    if recipe.once {
        let profiles = table(table(manifest.as_table_mut(), "profile"), "dev");
        table(table(profiles, "package"), NAME).insert("incremental", value(false));
    }
    Ok(manifest.to_string())
}

fn names_runtime(manifest: &DocumentMut) -> bool {
    let has = |purpose: &str| manifest.get(purpose).and_then(Item::as_table).is_some_and(|t| t.contains_key(RUNTIME));
    has("dependencies") || has("dev-dependencies")
}

/// The tests are written for the edition of what they test; before 2018 there are no async functions.
fn edition(suts: &[Sut]) -> Edition {
    suts.first().map_or(Edition::E2021, |sut| sut.edition).max(Edition::E2018)
}

/// What only the manifest of a whole workspace may say, and what changes how the system under test is built.
fn whole_graph(manifest: &mut DocumentMut, recipe: &Recipe<'_>) -> Result<(), String> {
    let theirs: DocumentMut = recipe
        .workspace_manifest
        .parse()
        .map_err(|error| format!("the workspace's manifest cannot be read: {error}"))?;
    let of = |of: &str, key: &str| theirs.get(of).and_then(Item::as_table_like).and_then(|t| t.get(key)).cloned();
    // A workspace without a package of its own has the first one, whatever the editions of its members.
    let oldest = || theirs.get("package").is_none().then(|| value("1"));
    if let Some(resolver) = of("workspace", "resolver").or_else(|| of("package", "resolver")).or_else(oldest) {
        table(manifest.as_table_mut(), "workspace").insert("resolver", resolver);
    }
    for key in ["profile", "patch", "replace"] {
        let Some(item) = theirs.get(key) else { continue };
        let mut item = item.clone();
        if key != "profile" {
            absolute_paths(&mut item, recipe.workspace);
        }
        unplaced(&mut item);
        manifest.insert(key, item);
    }
    Ok(())
}

/// Makes each `path` below `item` absolute.
fn absolute_paths(item: &mut Item, from: &Path) {
    let Some(table) = item.as_table_like_mut() else { return };
    let path = table.get("path").and_then(Item::as_str).map(|path| from.join(path).display().to_string());
    if let Some(path) = path {
        table.insert("path", value(path));
    }
    table.iter_mut().for_each(|(_, item)| absolute_paths(item, from));
}

/// Tables of another document know their place in it; here they stand where they are put.
fn unplaced(item: &mut Item) {
    if let Item::Table(table) = item {
        table.set_position(None);
        table.iter_mut().for_each(|(_, item)| unplaced(item));
    }
}

/// `manifest` with an entry for each test file in `targets`.
///
/// # Errors
/// What stands in the way.
pub(crate) fn with_tests(manifest: &str, targets: &[String]) -> Result<String, String> {
    // The runtime is among the dependencies already; the line is for a manifest from which somebody took it out.
    manifest::edit(manifest, targets, &manifest::Dependency::Version(env!("CARGO_PKG_VERSION").to_owned()))
}

/// The tests of a manifest: (name, path).
pub(crate) fn tests(manifest: &str) -> Vec<(String, String)> {
    let Ok(manifest) = manifest.parse::<DocumentMut>() else { return Vec::new() };
    let tests = manifest.get("test").and_then(Item::as_array_of_tables);
    let text = |test: &Table, key: &str| test.get(key).and_then(Item::as_str).unwrap_or_default().to_owned();
    tests.into_iter().flatten().map(|test| (text(test, "name"), text(test, "path"))).collect()
}

/// The plan whose ephemeral package `manifest` is of; `None` when it is none.
pub(crate) fn plan_of(manifest: &str) -> Option<String> {
    let manifest: DocumentMut = manifest.parse().ok()?;
    let of = |table: &dyn TableLike, key: &str| table.get(key).cloned();
    let package = manifest.get("package")?.as_table_like()?;
    let ours = of(of(package, "metadata")?.as_table_like()?, "disttest")?;
    Some(ours.get("plan")?.as_str()?.to_owned())
}

/// `.cargo/config.toml`: what `cargo test` in the folder needs. Where the programs under test are is no part of it:
/// nobody but `run` knows that they are built from the sources as they are.
pub(crate) fn config(target_dir: &Path, sut: &Path, session_root: &Path) -> String {
    let mut config = DocumentMut::new();
    let build = table(config.as_table_mut(), "build");
    build.decor_mut().set_prefix("# Written anew by every `cargo disttest run`.\n");
    build.insert("target-dir", value(target_dir.display().to_string()));
    let env = table(config.as_table_mut(), "env");
    env.insert("DISTTEST_EPHEMERAL_OF", value(sut.display().to_string()));
    env.insert("DISTTEST_SESSION_ROOT", value(session_root.display().to_string()));
    config.to_string()
}

/// What cargo calls the variable with the path of a program, for tests of the program's own package.
pub(crate) fn bin_variable(bin: &str) -> String {
    format!("CARGO_BIN_EXE_{bin}")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn sut(name: &str, edition: Edition) -> Sut {
        Sut {
            id: format!("path+file:///w/{name}#0.1.0"),
            name: name.to_owned(),
            root: format!("/w/{name}").into(),
            edition,
            dependencies: Vec::new(),
        }
    }

    fn recipe<'a>(suts: &'a [Sut], workspace_manifest: &'a str) -> Recipe<'a> {
        let (plan, workspace) = ("docs/p.md", Path::new("/w"));
        Recipe { plan, suts, workspace_manifest, workspace, once: true, runtime: value("0.1.0") }
    }

    #[test]
    fn a_new_manifest_is_what_its_snapshot_says() {
        let suts = [sut("my-sut", Edition::E2015)];
        let theirs = "[workspace]\nmembers = [\"my-sut\"]\nresolver = \"2\"\n\n[patch.crates-io]\nx = { path = \"x\" }\n\n\
            [profile.dev]\nopt-level = 1\n\n[profile.dev.package.\"*\"]\ndebug = false\n";
        let text = new_manifest(&recipe(&suts, theirs)).unwrap();
        let text = with_tests(&text, &["tests/auto/s1.rs".to_owned()]).unwrap();
        let expect = "\
[package]
name = \"disttest-harness\"
version = \"0.0.0\"
edition = \"2018\"
publish = false
build = false
autolib = false
autobins = false
autoexamples = false
autotests = false
autobenches = false

[package.metadata.disttest]
plan = \"docs/p.md\"
packages = [\"my-sut\"]

[workspace]
resolver = \"2\"

[dependencies]
my-sut = { path = \"/w/my-sut\" }

[dev-dependencies]
disttest-runtime = \"0.1.0\"

[profile.dev]
opt-level = 1

[profile.dev.package.\"*\"]
debug = false

[profile.dev.package.disttest-harness]
incremental = false

[patch.crates-io]
x = { path = \"/w/x\" }

[[test]]
name = \"s1\"
path = \"tests/auto/s1.rs\"
harness = false
";
        assert_eq!(text, format!("{HEAD}{expect}"));
        assert_eq!(plan_of(&text).as_deref(), Some("docs/p.md"));
        assert_eq!(tests(&text), [("s1".to_owned(), "tests/auto/s1.rs".to_owned())]);
    }

    #[test]
    fn a_manifest_of_somebody_is_not_ours() {
        for text in ["", "[package", "[package]\nname = \"disttest-harness\"\n", "[package.metadata.disttest]\n"] {
            assert_eq!(plan_of(text), None, "{text}");
        }
    }

    #[test]
    fn a_name_or_path_cannot_break_out_of_its_string() {
        let mut evil = sut("s", Edition::E2024);
        evil.root = "/w/\"\n[lib]\npath = \"x".into();
        let suts = [evil];
        let text = new_manifest(&Recipe { plan: "a\"\n[lib]\nb = \"", ..recipe(&suts, "") }).unwrap();
        let manifest: DocumentMut = text.parse().unwrap();
        assert!(manifest.get("lib").is_none(), "{text}");
        let config = config(&suts[0].root, &suts[0].root, &suts[0].root);
        assert_eq!(config.parse::<DocumentMut>().unwrap().len(), 2, "{config}");
    }
}
