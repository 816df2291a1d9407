//! The cargo packages of a repository, as cargo describes them.

use cargo_metadata::{MetadataCommand, Package};
use std::path::{Path, PathBuf};

/// The packages of a workspace; none where cargo is not used.
#[derive(Debug, Default)]
pub(crate) struct Crates {
    /// Folder of the workspace, canonical; `None` where there is none.
    pub root: Option<PathBuf>,
    /// Its members, in the order of their names.
    pub all: Vec<Crate>,
}

/// A package.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crate {
    /// Its name.
    pub name: String,
    /// The description in its manifest.
    pub description: Option<String>,
    /// Its folder, canonical.
    pub root: PathBuf,
    /// What it builds, in words: `library`, `binary abd-node`.
    pub kinds: Vec<String>,
    /// Its binaries.
    pub bins: Vec<String>,
    /// Names of the packages it depends on, with those for tests and builds.
    pub dependencies: Vec<String>,
    /// Folders of those that stand on this disk.
    pub local: Vec<PathBuf>,
}

impl Crates {
    /// Asks cargo. No manifest at all is no error.
    ///
    /// # Errors
    /// What cargo says of a manifest that it cannot read.
    pub(crate) fn load(manifest_path: Option<&Path>) -> Result<Crates, String> {
        let mut command = MetadataCommand::new();
        command.no_deps();
        if let Some(path) = manifest_path {
            command.manifest_path(path);
        }
        match command.exec() {
            Ok(metadata) => {
                let mut all: Vec<Crate> = metadata.packages.iter().map(read).collect();
                all.sort_by(|a, b| a.name.cmp(&b.name));
                Ok(Crates { root: Some(canonical(metadata.workspace_root.as_std_path())), all })
            }
            Err(cargo_metadata::Error::CargoMetadata { stderr })
                if manifest_path.is_none() && stderr.contains("could not find `Cargo.toml`") =>
            {
                Ok(Crates::default())
            }
            Err(cargo_metadata::Error::CargoMetadata { stderr }) => {
                Err(stderr.trim().trim_start_matches("error: ").to_owned())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// The package whose folder is nearest above `path`.
    pub(crate) fn holding(&self, path: &Path) -> Option<&Crate> {
        let holds = self.all.iter().filter(|one| path.starts_with(&one.root));
        holds.max_by_key(|one| one.root.components().count())
    }

    /// The package of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Crate> {
        self.all.iter().find(|one| one.name == name)
    }
}

fn read(package: &Package) -> Crate {
    let folder = package.manifest_path.parent().expect("a manifest stands in a folder");
    let bins: Vec<String> = package.targets.iter().filter(|t| t.is_bin()).map(|t| t.name.clone()).collect();
    let mut kinds = Vec::new();
    if package.targets.iter().any(|target| target.is_proc_macro()) {
        kinds.push("procedural macros".to_owned());
    } else if package.targets.iter().any(|target| target.is_lib()) {
        kinds.push("library".to_owned());
    }
    kinds.extend(bins.iter().map(|bin| format!("binary {bin}")));
    let mut dependencies: Vec<String> = package.dependencies.iter().map(|d| d.name.to_string()).collect();
    dependencies.sort();
    dependencies.dedup();
    Crate {
        name: package.name.to_string(),
        description: package.description.clone().filter(|text| !text.trim().is_empty()),
        root: canonical(folder.as_std_path()),
        kinds,
        bins,
        dependencies,
        local: package
            .dependencies
            .iter()
            .filter_map(|d| d.path.as_ref())
            .map(|p| canonical(p.as_std_path()))
            .collect(),
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
