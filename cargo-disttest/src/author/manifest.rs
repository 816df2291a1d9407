//! Edits of a Cargo.toml: a `[[test]]` entry for each test file, and the dev-dependency. Comments, order and line ends
//! stay as they are. Pure: a text in, a text out.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, value};

/// The runtime's package name.
pub(crate) const RUNTIME: &str = "disttest-runtime";

/// Where the runtime comes from when a manifest has no dependency on it yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dependency {
    /// The workspace declares it.
    Workspace,
    /// A published version.
    Version(String),
    /// A folder, relative to the package, when this tool runs from a checkout.
    Path(String),
}

/// What the manifest needs for the test files `targets` (paths relative to the package, with `/`).
///
/// # Errors
/// A text that is no manifest, or an entry that stands in the way; the message says which.
pub(crate) fn edit(text: &str, targets: &[String], dependency: &Dependency) -> Result<String, String> {
    let crlf = text.contains("\r\n");
    let mut manifest: DocumentMut = text.parse().map_err(|error| format!("it cannot be read: {error}"))?;
    if !depends_on_runtime(&manifest) {
        add_dependency(&mut manifest, dependency)?;
    }
    for target in targets {
        add_test(&mut manifest, target)?;
    }
    let out = manifest.to_string();
    // toml_edit reads either line end and writes `\n`.
    Ok(if crlf { out.replace("\r\n", "\n").replace('\n', "\r\n") } else { out })
}

/// The text to paste when the manifest is not to be edited; empty when nothing is missing.
pub(crate) fn to_paste(before: &str, after: &str) -> String {
    let diff = similar::TextDiff::from_lines(before, after);
    let added = diff.iter_all_changes().filter(|change| change.tag() == similar::ChangeTag::Insert);
    added.map(|change| change.value().to_owned()).collect()
}

/// True when a manifest of this text has the dependency already.
pub(crate) fn depends_on_runtime_in(text: &str) -> bool {
    text.parse().is_ok_and(|manifest| depends_on_runtime(&manifest))
}

fn depends_on_runtime(manifest: &DocumentMut) -> bool {
    ["dev-dependencies", "dev_dependencies", "dependencies"].iter().any(|table| {
        let entry = manifest.get(table).and_then(Item::as_table_like).and_then(|table| table.get(RUNTIME));
        // An optional dependency is not there unless its feature is.
        entry.is_some_and(|entry| !entry.get("optional").and_then(Item::as_bool).unwrap_or(false))
    })
}

fn add_dependency(manifest: &mut DocumentMut, dependency: &Dependency) -> Result<(), String> {
    let table = manifest.entry("dev-dependencies").or_insert_with(|| {
        let mut table = Table::new();
        table.set_position(None);
        Item::Table(table)
    });
    let table = table.as_table_like_mut().ok_or("`dev-dependencies` is no table")?;
    let entry = match dependency {
        Dependency::Version(version) => value(version),
        Dependency::Path(path) => inline("path", path.into()),
        Dependency::Workspace => {
            let mut dotted = Table::new();
            dotted.set_dotted(true);
            dotted.insert("workspace", value(true));
            Item::Table(dotted)
        }
    };
    table.insert(RUNTIME, entry);
    Ok(())
}

fn inline(key: &str, of: toml_edit::Value) -> Item {
    let mut table = toml_edit::InlineTable::new();
    table.insert(key, of);
    value(table)
}

fn add_test(manifest: &mut DocumentMut, target: &str) -> Result<(), String> {
    let taken = tests(manifest).map(|test| text_of(test, "name")).collect::<Vec<_>>();
    let name = free_name(target, &taken);
    let tests = manifest.entry("test").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let tests = tests.as_array_of_tables_mut().ok_or("`test` is no array of tables: write `[[test]]` entries")?;
    if let Some(test) = tests.iter_mut().find(|test| is_for(test, target)) {
        let off = test.get("harness").and_then(Item::as_bool) == Some(false);
        if !off {
            test.insert("harness", value(false));
        }
        return Ok(());
    }
    let mut test = Table::new();
    test.insert("name", value(name?));
    test.insert("path", value(target));
    test.insert("harness", value(false));
    test.decor_mut().set_prefix("\n");
    tests.push(test);
    Ok(())
}

fn tests(manifest: &DocumentMut) -> impl Iterator<Item = &Table> {
    manifest.get("test").and_then(Item::as_array_of_tables).into_iter().flat_map(ArrayOfTables::iter)
}

fn text_of(table: &dyn TableLike, key: &str) -> String {
    table.get(key).and_then(Item::as_str).unwrap_or_default().to_owned()
}

/// An entry without a path is for `tests/<name>.rs` or `tests/<name>/main.rs`.
fn is_for(test: &Table, target: &str) -> bool {
    let (name, path) = (text_of(test, "name"), text_of(test, "path"));
    let clean = |path: &str| path.trim_start_matches("./").replace('\\', "/");
    if path.is_empty() {
        target == format!("tests/{name}.rs") || target == format!("tests/{name}/main.rs")
    } else {
        clean(&path) == target
    }
}

/// The file's stem; behind its folders when the stem alone is taken.
fn free_name(target: &str, taken: &[String]) -> Result<String, String> {
    let stem = target.strip_suffix(".rs").unwrap_or(target);
    let parts: Vec<&str> = stem.split('/').collect();
    (1..=parts.len())
        .map(|length| parts[parts.len() - length..].join("_"))
        .find(|name| !taken.contains(name))
        .ok_or_else(|| format!("every name for a `[[test]]` entry of {target} is taken"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, targets: &[&str], expect: &str) {
        let targets: Vec<String> = targets.iter().map(|&target| target.to_owned()).collect();
        let dependency = Dependency::Version("0.1.0".to_owned());
        let after = edit(before, &targets, &dependency).expect(before);
        assert_eq!(after, expect);
        assert_eq!(edit(&after, &targets, &dependency).expect("again"), after, "twice is once");
    }

    const PACKAGE: &str = "# mine\n[package]\nname = \"p\" # the name\n";

    #[test]
    fn an_entry_and_the_dependency_are_added_and_the_rest_stays() {
        let added = "\n[dev-dependencies]\ndisttest-runtime = \"0.1.0\"\n\n[[test]]\nname = \"s1\"\npath = \"tests/auto/s1.rs\"\nharness = false\n";
        check(PACKAGE, &["tests/auto/s1.rs"], &format!("{PACKAGE}{added}"));
    }

    #[test]
    fn what_is_there_is_not_touched() {
        for line in [
            "[dev-dependencies]\ndisttest-runtime = { path = \"../x\" } # ours\n",
            "[dev-dependencies]\ndisttest-runtime.workspace = true\n",
            "[dev-dependencies.disttest-runtime]\nversion = \"0.1\"\n",
            "[dependencies]\ndisttest-runtime = \"0.1\"\n",
        ] {
            let text =
                format!("{PACKAGE}\n{line}\n[[test]]\nharness = false\npath = \"tests/s1.rs\"\nname = \"other\"\n");
            check(&text, &["tests/s1.rs"], &text);
        }
    }

    #[test]
    fn an_entry_with_the_standard_harness_is_corrected() {
        let base = format!("{PACKAGE}\n[dev-dependencies]\ndisttest-runtime = \"0.1.0\"\n\n[[test]]\nname = \"s1\"\n");
        check(&base, &["tests/s1.rs"], &format!("{base}harness = false\n"));
    }

    #[test]
    fn two_files_with_one_stem_get_two_names() {
        let head = format!("{PACKAGE}\n[dev-dependencies]\ndisttest-runtime = \"0.1.0\"\n");
        let entry =
            |name: &str, path: &str| format!("\n[[test]]\nname = \"{name}\"\npath = \"{path}\"\nharness = false\n");
        let expect = format!("{head}{}{}", entry("s1", "tests/a/s1.rs"), entry("b_s1", "tests/b/s1.rs"));
        check(&head, &["tests/a/s1.rs", "tests/b/s1.rs"], &expect);
    }

    #[test]
    fn windows_line_ends_stay() {
        let before = PACKAGE.replace('\n', "\r\n");
        let after = edit(&before, &["tests/s1.rs".to_owned()], &Dependency::Workspace).expect("valid");
        assert!(after.starts_with(&before));
        assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
        assert!(after.contains("disttest-runtime.workspace = true\r\n"));
    }

    #[test]
    fn a_new_entry_stands_behind_the_others() {
        let before = "\n[dev-dependencies]\ndisttest-runtime.path = \"../r\"\n\n[[test]]\nname = \"a\"\n";
        let behind = "# note\n\n[lints]\nworkspace = true\n";
        let entry = "\n[[test]]\nname = \"s1\"\npath = \"tests/s1.rs\"\nharness = false\n";
        let text = format!("{PACKAGE}{before}{behind}");
        check(&text, &["tests/s1.rs"], &format!("{PACKAGE}{before}{entry}{behind}"));
    }

    #[test]
    fn what_stands_in_the_way_is_told() {
        let check = |text: &str, expect: &str| {
            let error = edit(text, &["tests/s1.rs".to_owned()], &Dependency::Workspace).expect_err(text);
            assert!(error.contains(expect), "{error}");
        };
        check("[package", "cannot be read");
        check("test = [{ name = \"a\" }]\n", "no array of tables");
        check("dev-dependencies = 1\n", "no table");
    }
}
