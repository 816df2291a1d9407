//! Where a package that has no dependency on the runtime yet gets it from.

use crate::author::manifest::{Dependency, RUNTIME};
use std::path::{Component, Path, PathBuf};
use toml_edit::{DocumentMut, Item};

/// The workspace's own declaration if there is one, the runtime beside this tool's sources if it runs from a
/// checkout, else the published version of the same number.
pub(crate) fn choose(workspace: &Path, package: &Path) -> Dependency {
    if declared_by(workspace) {
        return Dependency::Workspace;
    }
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(|checkout| checkout.join(RUNTIME));
    let beside =
        beside.and_then(|folder| folder.canonicalize().ok()).filter(|folder| folder.join("Cargo.toml").is_file());
    match beside.and_then(|folder| relative(package, &folder)) {
        Some(path) => Dependency::Path(path),
        None => Dependency::Version(env!("CARGO_PKG_VERSION").to_owned()),
    }
}

fn declared_by(workspace: &Path) -> bool {
    let text = std::fs::read_to_string(workspace.join("Cargo.toml")).unwrap_or_default();
    let Ok(manifest) = text.parse::<DocumentMut>() else {
        return false;
    };
    let table = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    table.and_then(Item::as_table_like).is_some_and(|table| table.contains_key(RUNTIME))
}

/// The way from folder `from` to folder `to`, with `/`; both absolute.
fn relative(from: &Path, to: &Path) -> Option<String> {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return None;
    }
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(to.components().skip(shared)).collect();
    Some(path.to_str()?.replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_leads_over_the_shared_folder() {
        let check = |from: &str, to: &str, expect: &str| {
            assert_eq!(relative(Path::new(from), Path::new(to)).as_deref(), Some(expect));
        };
        check("/a/b", "/a/c/d", "../c/d");
        check("/a", "/a/c", "c");
        check("/a/b/c", "/x", "../../../x");
    }
}
