//! The folder of an ephemeral package: made, found again, filled, and copied into the session that ran it.

use super::package;
use super::place::Unauthored;
use crate::author::write::{self, Edit};
use crate::author::{FileChange, Unfilled, file_change, regions, rustfmt, target};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// More than this is no package of tests.
const MAX_FILES: usize = 1000;
/// Folders of a package that hold no source of it.
const SKIPPED: [&str; 4] = ["target", ".git", ".jj", "test-sessions"];

/// A test file of an ephemeral package.
#[derive(Debug)]
pub(crate) struct TestFile {
    /// Its scenario.
    pub id: String,
    /// Path below the package.
    pub relative: String,
    /// What is to be written, if anything.
    pub edit: Option<Edit>,
    /// What a person must know of it.
    pub note: Option<String>,
    /// Regions still to be filled.
    pub unfilled: Vec<Unfilled>,
}

/// The manifest of the package of `plan` in `folder`; `None` when there is nothing yet.
///
/// # Errors
/// The folder holds something else.
pub(crate) fn manifest(folder: &Path, plan: &str) -> Result<Option<String>, String> {
    let shown = folder.display();
    match write::read(&folder.join("Cargo.toml"))? {
        Some(text) => match package::plan_of(&text) {
            Some(theirs) if theirs == plan => Ok(Some(text)),
            Some(theirs) => Err(format!("{shown} is the ephemeral package of another plan, {theirs}")),
            None => Err(format!("{shown} holds a package that is no ephemeral package of ours: name a new folder")),
        },
        None => match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
            Ok(true) => Ok(None),
            Ok(false) => Err(format!("{shown} holds other things: name a new folder")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{shown}: {error}")),
        },
    }
}

/// What is to happen to the file of `test` in `folder`. Filled regions are kept. A file that was filled for what the
/// plan said before is left as it is, and its run says so, until somebody asks for it to be brought up to date
/// (`refresh`): that its code does what the plan says now is not for a program to claim.
///
/// # Errors
/// The file cannot be taken for this scenario's.
pub(crate) fn test_file(folder: &Path, test: &Unauthored, refresh: bool) -> Result<TestFile, String> {
    let (relative, wanted) = (test.relative(), &test.target.wanted);
    target::no_symlink(folder, relative)?;
    let path = folder.join(relative);
    let before = write::read(&path)?;
    let format = |text: &str| rustfmt::format(text, &test.sut.root, test.sut.edition);
    let change = file_change(wanted, before.as_deref(), &format);
    let shown = path.display();
    let changed = before.as_deref().is_some_and(|text| !was_made_for(text, &wanted.attribute.scenario_sha256));
    let id = test.id();
    let (after, note) = match change {
        FileChange::UpToDate { .. } => (None, None),
        FileChange::Create { text } => (Some(text), None),
        FileChange::Update { text, kept, .. } if kept.is_empty() || !changed => (Some(text), None),
        FileChange::Update { text, kept, .. } if refresh => {
            let kept = kept.join(", ");
            let note = format!(
                "{shown}: {id} changed in the plan; the code in {kept} was kept as it was. Does it still do what the plan says?"
            );
            (Some(text), Some(note))
        }
        FileChange::Update { .. } => {
            let note = format!(
                "{shown} was filled for what the plan said of {id} before, and is run as it is: change it to what the \
                 plan says now, then run once with --refresh-harness"
            );
            (None, Some(note))
        }
        FileChange::Conflict { reason, .. } => return Err(format!("{shown}: {reason}")),
    };
    let text = after.as_ref().or(before.as_ref()).map_or("", String::as_str);
    let unfilled = unfilled(text);
    let edit = after.map(|after| Edit { path: path.clone(), before, after });
    Ok(TestFile { id: id.to_owned(), relative: relative.to_owned(), edit, note, unfilled })
}

/// True for a test file that was made for this text of its scenario.
pub(super) fn was_made_for(text: &str, scenario_sha256: &str) -> bool {
    regions::parse(text).is_ok_and(|pieces| pieces.header_word("Scenario-SHA256:") == Some(scenario_sha256))
}

fn unfilled(text: &str) -> Vec<Unfilled> {
    let pieces = regions::parse(text).ok();
    let regions = pieces.iter().flat_map(|pieces| &pieces.regions).filter(|region| !region.is_filled());
    regions.map(|region| Unfilled { name: region.name.to_owned(), line: region.line }).collect()
}

/// The sources of a package: (path below it, bytes), sorted. What cargo and git keep there is no source, and links are
/// not followed.
///
/// # Errors
/// A file that cannot be read, or more of them than a package of tests has.
pub(crate) fn sources(folder: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let here = folder.join(&below);
        let entries = fs::read_dir(&here).map_err(|error| format!("{}: {error}", here.display()))?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("{}: {error}", here.display()))?;
            let (name, path) = (entry.file_name(), below.join(entry.file_name()));
            let kind = entry.file_type().map_err(|error| format!("{}: {error}", path.display()))?;
            let skipped = below.as_os_str().is_empty() && SKIPPED.iter().any(|skipped| name == *skipped);
            if kind.is_dir() && !skipped {
                folders.push(path);
            } else if kind.is_file() {
                let bytes = fs::read(folder.join(&path)).map_err(|error| format!("{}: {error}", path.display()))?;
                found.push((path, bytes));
            }
            if found.len() > MAX_FILES {
                return Err(format!("{} holds more than {MAX_FILES} files", folder.display()));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Writes `sources` below `to`.
///
/// # Errors
/// What cannot be written.
pub(crate) fn copy(sources: &[(PathBuf, Vec<u8>)], to: &Path) -> io::Result<()> {
    for (path, bytes) in sources {
        let path = to.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::author::fixture::wanted;
    use crate::targets::Target;
    use crate::workspace::{Member, Placed};

    fn test(scenario_sha256: &str) -> Unauthored {
        let sut = Member { name: "s".into(), root: "/".into(), edition: cargo_metadata::Edition::E2021, tests: vec![] };
        let mut wanted = wanted();
        wanted.attribute.scenario_sha256 = scenario_sha256.repeat(64);
        wanted.workload = format!("as {scenario_sha256} says");
        let placed = Placed { member: sut.clone(), relative: "tests/s1.rs".into() };
        Unauthored { sut, target: Target { placed, wanted, skeleton: false } }
    }

    /// The file of [`test`] in a folder, written by `edit` from what is generated.
    fn folder(edit: impl Fn(&str) -> String) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let file = test_file(dir.path(), &test("b"), false).unwrap();
        fs::create_dir(dir.path().join("tests")).unwrap();
        fs::write(dir.path().join("tests/s1.rs"), edit(&file.edit.unwrap().after)).unwrap();
        dir
    }

    fn fill(text: &str) -> String {
        text.replace("disttest_runtime::todo!(\"oracle\")", "judge(landed)")
    }

    #[test]
    fn filled_regions_are_kept_and_never_passed_off_as_made_for_another_text_of_the_plan() {
        let now = |dir: &tempfile::TempDir, sha: &str, refresh| test_file(dir.path(), &test(sha), refresh).unwrap();
        let filled = folder(fill);
        assert!(now(&filled, "b", false).edit.is_none());
        let stale = now(&filled, "c", false);
        assert!(stale.edit.is_none() && stale.note.unwrap().contains("--refresh-harness"));
        let refreshed = now(&filled, "c", true);
        assert!(refreshed.edit.unwrap().after.contains("judge(landed)") && refreshed.note.is_some());
        let empty = now(&folder(str::to_owned), "c", false);
        assert!(empty.edit.is_some() && empty.note.is_none(), "nobody's work is in it");
        let names: Vec<String> = empty.unfilled.into_iter().map(|region| region.name).collect();
        assert_eq!(names, ["workload", "faults", "oracle"]);
    }

    #[test]
    fn a_file_of_another_scenario_or_edited_elsewhere_is_refused() {
        let check = |edit: &dyn Fn(&str) -> String, expect: &str| {
            let why = test_file(folder(edit).path(), &test("b"), true).unwrap_err();
            assert!(why.contains(expect), "{why}");
        };
        check(&|text| text.replace("Scenario: S1", "Scenario: S2"), "belongs to scenario `S2`");
        check(&|text| text.replace("async fn", "pub async fn"), "outside of its regions");
        check(&|_| "fn main() {}\n".to_owned(), "no AUTO-GENERATED header");
        check(&|text| text.replace("plan: docs", "plan: dogs"), "another plan");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_leads_nowhere() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(elsewhere.path(), dir.path().join("tests")).unwrap();
        assert!(test_file(dir.path(), &test("b"), false).unwrap_err().contains("symbolic link"));
        assert!(sources(dir.path()).unwrap().is_empty());
    }

    #[test]
    fn a_folder_of_somebody_is_not_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        assert_eq!(manifest(&at("new"), "p.md"), Ok(None));
        assert_eq!(manifest(dir.path(), "p.md"), Ok(None));
        fs::write(at("README"), "").unwrap();
        assert!(manifest(dir.path(), "p.md").unwrap_err().contains("other things"));
        fs::write(at("Cargo.toml"), "[package]\nname = \"x\"\n").unwrap();
        assert!(manifest(dir.path(), "p.md").unwrap_err().contains("no ephemeral package"));
        fs::write(at("Cargo.toml"), "[package.metadata.disttest]\nplan = \"q.md\"\n").unwrap();
        assert!(manifest(dir.path(), "p.md").unwrap_err().contains("another plan, q.md"));
        assert!(manifest(dir.path(), "q.md").unwrap().is_some());
    }

    #[test]
    fn what_is_copied_is_what_is_built() {
        let (dir, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for name in ["Cargo.toml", ".cargo/config.toml", "tests/a/s1.rs", "target/debug/x", ".git/HEAD"] {
            fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            fs::write(dir.path().join(name), name).unwrap();
        }
        let found = sources(dir.path()).unwrap();
        let names: Vec<String> = found.iter().map(|(path, _)| path.display().to_string()).collect();
        assert_eq!(names, [".cargo/config.toml", "Cargo.toml", "tests/a/s1.rs"]);
        copy(&found, to.path()).unwrap();
        assert_eq!(sources(to.path()).unwrap(), found);
    }
}
