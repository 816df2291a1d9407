//! The entries that the test files need in the manifests of their packages.

use crate::author::manifest::{Dependency, RUNTIME};
use crate::author::{manifest, target, write};
use crate::commands::{Context, failed, shorter};
use crate::console::visible;
use crate::dependency;
use crate::exit_code::{End, Failure};
use crate::workspace::{Member, Placed, Workspace};
use std::path::PathBuf;

/// A manifest and its new text.
pub(super) struct Manifest {
    pub(super) path: PathBuf,
    pub(super) before: String,
    pub(super) after: String,
    /// The folder of the runtime, where the dependency that is added names one.
    pub(super) runtime: Option<String>,
}

/// A dependency on a folder is for this machine only.
pub(super) fn tell_of_paths(context: &Context, manifests: &[Manifest]) {
    for manifest in manifests {
        let Some(runtime) = &manifest.runtime else { continue };
        let path = shorter(&manifest.path).display().to_string();
        context.console.warning(visible(&format!(
            "{path} takes {RUNTIME} from the folder {runtime}, which this tool was built from: once a version is \
             published, name that in its place"
        )));
    }
}

pub(super) fn manifests<'a>(
    workspace: &Workspace,
    files: impl Iterator<Item = &'a Placed>,
) -> Result<Vec<Manifest>, Failure> {
    let mut members: Vec<(&Member, Vec<String>)> = Vec::new();
    for file in files {
        let (member, relative) = (&file.member, file.relative.clone());
        match members.iter_mut().find(|(known, _)| *known == member) {
            Some((_, paths)) => paths.push(relative),
            None => members.push((member, vec![relative])),
        }
    }
    let mut manifests = Vec::new();
    for (member, paths) in members {
        let path = member.root.join("Cargo.toml");
        target::no_symlink(&member.root, "Cargo.toml").map_err(failed(End::UnsafeTarget))?;
        let missing = || Failure::new(End::Unreadable, format!("{}: it does not exist", path.display()));
        let before = write::read(&path).map_err(failed(End::Unreadable))?.ok_or_else(missing)?;
        let dependency = dependency::choose(&workspace.root, &member.root);
        let after = manifest::edit(&before, &paths, &dependency)
            .map_err(|why| Failure::new(End::Unreadable, format!("{}: {why}", path.display())))?;
        let runtime = match dependency {
            Dependency::Path(folder) if !manifest::depends_on_runtime_in(&before) => Some(folder),
            _ => None,
        };
        manifests.push(Manifest { path, before, after, runtime });
    }
    manifests.retain(|manifest| manifest.before != manifest.after);
    Ok(manifests)
}
