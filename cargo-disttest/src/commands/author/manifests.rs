//! The entries that the test files need in the manifests of their packages.

use crate::author::{manifest, target, write};
use crate::commands::failed;
use crate::dependency;
use crate::exit_code::{End, Failure};
use crate::workspace::{Member, Placed, Workspace};
use std::path::PathBuf;

/// A manifest and its new text.
pub(super) struct Manifest {
    pub(super) path: PathBuf,
    pub(super) before: String,
    pub(super) after: String,
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
        manifests.push(Manifest { path, before, after });
    }
    manifests.retain(|manifest| manifest.before != manifest.after);
    Ok(manifests)
}
