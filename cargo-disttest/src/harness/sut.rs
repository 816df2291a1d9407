//! What an ephemeral package must know of the packages under test.

use crate::workspace::{Member, Workspace};
use cargo_metadata::{Dependency, Edition, Metadata, MetadataCommand, Package};
use std::path::PathBuf;

/// A package under test.
#[derive(Clone, Debug)]
pub(crate) struct Sut {
    /// As `cargo build --package` takes it without mistaking it for another of its name.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its folder.
    pub root: PathBuf,
    /// Its edition.
    pub edition: Edition,
    /// What it depends on, for whatever purpose.
    pub dependencies: Vec<Dependency>,
}

/// The packages under test and their workspace.
#[derive(Clone, Debug)]
pub(crate) struct Suts {
    /// In the order asked for.
    pub packages: Vec<Sut>,
    /// Where the workspace builds to.
    pub target_dir: PathBuf,
    /// Text of the workspace's manifest.
    pub manifest: String,
    /// Text of its lock file, when it has one.
    pub lock: Option<String>,
}

/// Asks cargo, which writes nothing for it.
///
/// # Errors
/// What cargo said, or which file cannot be read.
pub(crate) fn ask(workspace: &Workspace, members: &[&Member]) -> Result<Suts, String> {
    let path = workspace.root.join("Cargo.toml");
    let mut command = MetadataCommand::new();
    command.no_deps().manifest_path(&path).current_dir(&workspace.root);
    let metadata = command.exec().map_err(|error| error.to_string())?;
    let manifest = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let packages: Option<Vec<Sut>> = members.iter().map(|member| sut(&metadata, member)).collect();
    Ok(Suts {
        packages: packages.ok_or("a package of the workspace is gone")?,
        target_dir: metadata.target_directory.into(),
        manifest,
        lock: std::fs::read_to_string(workspace.root.join("Cargo.lock")).ok(),
    })
}

fn sut(metadata: &Metadata, member: &Member) -> Option<Sut> {
    let package: &Package = metadata.packages.iter().find(|package| package.name.as_str() == member.name)?;
    Some(Sut {
        id: package.id.repr.clone(),
        name: member.name.clone(),
        root: member.root.clone(),
        edition: package.edition,
        dependencies: package.dependencies.clone(),
    })
}
