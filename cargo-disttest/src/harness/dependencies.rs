//! Dependencies of a package under test, written into the manifest of another package: what its own tests could use,
//! the same tests can use from there.

use cargo_metadata::{Dependency, DependencyKind};
use std::path::Path;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value, value};

/// Adds `dependency` to `manifest`, where it has none of that name for that purpose yet. Dependencies of build scripts
/// and optional ones, which are there only with their feature, are left out.
pub(crate) fn mirror(manifest: &mut DocumentMut, dependency: &Dependency) {
    let purpose = match dependency.kind {
        DependencyKind::Normal => "dependencies",
        DependencyKind::Development => "dev-dependencies",
        _ => return,
    };
    if dependency.optional {
        return;
    }
    let table = match &dependency.target {
        None => table(manifest.as_table_mut(), purpose),
        Some(target) => {
            let targets = table(manifest.as_table_mut(), "target");
            targets.set_implicit(true);
            let of = table(targets, &target.to_string());
            of.set_implicit(true);
            table(of, purpose)
        }
    };
    let key = dependency.rename.as_ref().unwrap_or(&dependency.name);
    if !table.contains_key(key) {
        table.insert(key, entry(dependency));
    }
}

/// Adds the package in `folder` to the dependencies of `manifest`, whatever was there under its name.
pub(crate) fn on_path(manifest: &mut DocumentMut, name: &str, folder: &Path) {
    let mut entry = InlineTable::new();
    entry.insert("path", folder.display().to_string().into());
    table(manifest.as_table_mut(), "dependencies").insert(name, value(entry));
}

/// The table `key` of `of`, made when there is none.
pub(crate) fn table<'a>(of: &'a mut Table, key: &str) -> &'a mut Table {
    let item = of.entry(key).or_insert_with(|| Item::Table(Table::new()));
    if !item.is_table() {
        *item = Item::Table(Table::new());
    }
    item.as_table_mut().expect("it was made a table above")
}

fn entry(dependency: &Dependency) -> Item {
    let mut entry = InlineTable::new();
    let mut put = |key: &str, text: &str| {
        entry.insert(key, text.into());
    };
    if dependency.rename.is_some() {
        put("package", &dependency.name);
    }
    match (&dependency.path, dependency.source.as_ref().and_then(|source| git(&source.repr))) {
        (Some(path), _) => put("path", path.as_str()),
        (None, Some(git)) => git.iter().for_each(|(key, text)| put(key, text)),
        (None, None) => {
            put("version", &dependency.req.to_string());
            if let Some(registry) = &dependency.registry {
                put("registry-index", registry);
            }
        }
    }
    if !dependency.uses_default_features {
        entry.insert("default-features", Value::from(false));
    }
    if !dependency.features.is_empty() {
        entry.insert("features", Value::Array(dependency.features.iter().collect::<Array>()));
    }
    value(entry)
}

/// Keys of a dependency on a git repository, from its source as cargo tells it: `git+URL?branch=x#commit`.
fn git(source: &str) -> Option<Vec<(String, String)>> {
    let source = source.strip_prefix("git+")?;
    let source = source.split_once('#').map_or(source, |(source, _)| source);
    let (url, query) = source.split_once('?').unwrap_or((source, ""));
    let what = query.split('&').filter_map(|pair| pair.split_once('='));
    let what = what.filter(|(key, _)| ["branch", "tag", "rev"].contains(key));
    let own = |(key, text): (&str, &str)| (key.to_owned(), text.to_owned());
    Some([("git", url)].into_iter().chain(what).map(own).collect())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use serde_json::json;

    fn dependency(changes: serde_json::Value) -> Dependency {
        let mut plain = json!({
            "name": "d", "source": "registry+https://github.com/rust-lang/crates.io-index", "req": "^1.2", "kind": null,
            "rename": null, "optional": false, "uses_default_features": true, "features": [], "target": null,
            "registry": null,
        });
        for (key, of) in changes.as_object().unwrap() {
            plain[key] = of.clone();
        }
        serde_json::from_value(plain).unwrap()
    }

    #[test]
    fn a_dependency_says_the_same_in_another_manifest() {
        let check = |changes: serde_json::Value, expect: &str| {
            let mut manifest = DocumentMut::new();
            mirror(&mut manifest, &dependency(changes));
            assert_eq!(manifest.to_string(), expect);
        };
        check(json!({}), "[dependencies]\nd = { version = \"^1.2\" }\n");
        check(json!({ "kind": "dev" }), "[dev-dependencies]\nd = { version = \"^1.2\" }\n");
        check(json!({ "kind": "build" }), "");
        check(json!({ "optional": true }), "");
        check(
            json!({ "rename": "e", "uses_default_features": false, "features": ["a", "b"] }),
            "[dependencies]\ne = { package = \"d\", version = \"^1.2\", default-features = false, features = [\"a\", \"b\"] }\n",
        );
        check(json!({ "source": null, "path": "/w/d" }), "[dependencies]\nd = { path = \"/w/d\" }\n");
        check(
            json!({ "source": "git+https://x.org/d?tag=v1", "kind": "dev" }),
            "[dev-dependencies]\nd = { git = \"https://x.org/d\", tag = \"v1\" }\n",
        );
        check(json!({ "target": "cfg(unix)" }), "[target.\"cfg(unix)\".dependencies]\nd = { version = \"^1.2\" }\n");
        check(
            json!({ "registry": "https://x.org/index" }),
            "[dependencies]\nd = { version = \"^1.2\", registry-index = \"https://x.org/index\" }\n",
        );
    }
}
