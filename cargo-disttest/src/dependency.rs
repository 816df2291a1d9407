//! Where a package that has no dependency on the runtime yet gets it from: the published version of this tool's
//! number, or the checkout that this tool was built from.

use crate::author::manifest::{Dependency, RUNTIME};
use std::path::{Component, Path, PathBuf};
use toml_edit::{DocumentMut, InlineTable, Item, value};

/// For `package` of `workspace`: the workspace's own declaration if there is one, else what [`source`] says.
pub(crate) fn choose(workspace: &Path, package: &Path) -> Dependency {
    if declared_by(workspace).is_some() {
        return Dependency::Workspace;
    }
    match here() {
        Dependency::Path(runtime) => match relative(workspace, package, Path::new(&runtime)) {
            Some(path) => Dependency::Path(path),
            None => Dependency::Path(runtime),
        },
        other => other,
    }
}

/// The same for a package outside of `workspace`: what can be written into any manifest.
pub(crate) fn choose_outside(workspace: &Path) -> Item {
    match declared_by(workspace) {
        Some(mut declared) => {
            let path = declared.get("path").and_then(Item::as_str).map(|path| workspace.join(path));
            if let (Some(path), Some(table)) = (path, declared.as_table_like_mut()) {
                table.insert("path", value(path.display().to_string()));
            }
            declared
        }
        None => match here() {
            Dependency::Path(path) => {
                let mut table = InlineTable::new();
                table.insert("path", path.into());
                value(table)
            }
            _ => value(env!("CARGO_PKG_VERSION")),
        },
    }
}

fn here() -> Dependency {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    source(&sources.canonicalize().unwrap_or_else(|_| sources.into()), env!("CARGO_PKG_VERSION"), &Path::is_file)
}

/// The runtime for a tool that was built from `sources` as `version`. A checkout is a workspace with both of them; a
/// folder of a registry or of vendored crates is not, whatever stands beside it, and a checkout that is gone is none.
fn source(sources: &Path, version: &str, is_file: &dyn Fn(&Path) -> bool) -> Dependency {
    let checkout = sources.parent().filter(|checkout| is_file(&checkout.join("Cargo.toml")));
    let runtime = checkout.map(|checkout| checkout.join(RUNTIME));
    let runtime = runtime.filter(|folder| is_file(&sources.join("Cargo.toml")) && is_file(&folder.join("Cargo.toml")));
    match runtime.as_deref().and_then(Path::to_str) {
        Some(path) => Dependency::Path(path.replace('\\', "/")),
        None => Dependency::Version(version.to_owned()),
    }
}

fn declared_by(workspace: &Path) -> Option<Item> {
    let text = std::fs::read_to_string(workspace.join("Cargo.toml")).ok()?;
    let manifest: DocumentMut = text.parse().ok()?;
    let table = manifest.get("workspace")?.get("dependencies")?.as_table_like()?;
    table.get(RUNTIME).cloned()
}

/// The way from `package` to `runtime`, with `/`, when both are in `workspace`: it holds wherever that is moved. What
/// leads out of the workspace is named in full.
fn relative(workspace: &Path, package: &Path, runtime: &Path) -> Option<String> {
    if !(package.starts_with(workspace) && runtime.starts_with(workspace)) {
        return None;
    }
    let shared = package.components().zip(runtime.components()).take_while(|(a, b)| a == b).count();
    let up = package.components().skip(shared).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(runtime.components().skip(shared)).collect();
    Some(path.to_str()?.replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_tool_from_a_checkout_names_the_checkout_and_any_other_its_version() {
        let check = |sources: &str, files: &[&str], expect: Dependency| {
            let is_file = |path: &Path| files.iter().any(|file| Path::new(file) == path);
            assert_eq!(source(Path::new(sources), "0.1.0", &is_file), expect, "{sources}");
        };
        let published = || Dependency::Version("0.1.0".to_owned());
        let checkout = [
            "/src/disttest/Cargo.toml",
            "/src/disttest/cargo-disttest/Cargo.toml",
            "/src/disttest/disttest-runtime/Cargo.toml",
        ];
        let path = Dependency::Path("/src/disttest/disttest-runtime".to_owned());
        check("/src/disttest/cargo-disttest", &checkout, path);
        check("/src/disttest/cargo-disttest", &[], published());
        check("/src/disttest/cargo-disttest", &checkout[..2], published());
        let registry = ["/r/src/cargo-disttest-0.1.0/Cargo.toml", "/r/src/disttest-runtime-0.1.0/Cargo.toml"];
        check("/r/src/cargo-disttest-0.1.0", &registry, published());
        let vendored = ["/v/cargo-disttest/Cargo.toml", "/v/disttest-runtime/Cargo.toml"];
        check("/v/cargo-disttest", &vendored, published());
        check("/", &[], published());
    }

    #[test]
    fn a_way_is_relative_inside_the_workspace_only() {
        let check = |package: &str, runtime: &str, expect: Option<&str>| {
            let way = relative(Path::new("/w"), Path::new(package), Path::new(runtime));
            assert_eq!(way.as_deref(), expect, "{package} {runtime}");
        };
        check("/w/a/b", "/w/a/c/d", Some("../c/d"));
        check("/w", "/w/c", Some("c"));
        check("/w/b", "/x/disttest-runtime", None);
        check("/w/b", "/wx/disttest-runtime", None);
    }

    #[test]
    fn what_a_workspace_declares_is_what_its_packages_and_others_get() {
        let dir = tempfile::tempdir().unwrap();
        let declare = |line: &str| {
            let text = format!("[workspace.dependencies]\n{line}\n");
            std::fs::write(dir.path().join("Cargo.toml"), text).unwrap();
        };
        let outside = || {
            let mut manifest = DocumentMut::new();
            manifest.insert(RUNTIME, choose_outside(dir.path()));
            manifest.to_string().trim().to_owned()
        };
        declare("disttest-runtime = \"7\"");
        assert_eq!(choose(dir.path(), dir.path()), Dependency::Workspace);
        assert!(outside().ends_with("= \"7\""), "{}", outside());
        declare("disttest-runtime = { path = \"r\", features = [\"x\"] }");
        let path = dir.path().join("r").display().to_string();
        assert!(outside().contains(&format!("path = \"{path}\"")) && outside().contains("\"x\""), "{}", outside());
        declare("other = \"1\"");
        assert_eq!(choose(dir.path(), dir.path()), here(), "this tool was built from a checkout that is still there");
    }
}
