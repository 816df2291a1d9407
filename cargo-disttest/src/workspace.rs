//! The workspace as cargo describes it, and where a plan's files belong in it.

use crate::exit_code::{End, Failure};
use cargo_metadata::{Edition, MetadataCommand, Package};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The manifest nearest to the file at `path`, in its folder or above.
pub(crate) fn manifest_above(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok().filter(|path| path.is_file())?;
    let mut manifests = path.ancestors().skip(1).map(|folder| folder.join("Cargo.toml"));
    manifests.find(|manifest| manifest.is_file())
}

/// The workspace. All paths are canonical.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The folder of its manifest.
    pub root: PathBuf,
    /// Where cargo is started when it is not the current folder: its configuration and toolchain are those of this one.
    pub folder: Option<PathBuf>,
    /// Its members.
    pub members: Vec<Member>,
    /// The member named by `-p`.
    chosen: Option<String>,
    /// Of each member, by name: the other members with programs that it depends on.
    programs: BTreeMap<String, Vec<String>>,
}

/// A package of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub root: PathBuf,
    /// Its edition, as rustfmt takes it.
    pub edition: Edition,
    /// Its test targets: (name, file).
    pub tests: Vec<(String, PathBuf)>,
}

/// A file below a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The package.
    pub member: Member,
    /// Path from the package's folder, with `/`.
    pub relative: String,
}

impl Placed {
    /// The whole path.
    pub(crate) fn path(&self) -> PathBuf {
        self.member.root.join(&self.relative)
    }

    /// The name of the test target whose file this is.
    pub(crate) fn test_target(&self) -> Option<&str> {
        let path = self.path();
        self.member.tests.iter().find(|(_, file)| *file == path).map(|(name, _)| name.as_str())
    }
}

impl Workspace {
    /// Asks cargo.
    ///
    /// # Errors
    /// No workspace here, or `package` names no member of it.
    pub(crate) fn load(manifest_path: Option<&Path>, package: Option<&str>) -> Result<Workspace, Failure> {
        let mut command = MetadataCommand::new();
        if let Some(path) = manifest_path {
            command.manifest_path(path);
        }
        Workspace::ask(command, package)
    }

    /// The workspace that the file at `path` belongs to: that of the nearest manifest above it; `None` where there is no
    /// such manifest.
    ///
    /// # Errors
    /// As [`Workspace::load`].
    pub(crate) fn holding(path: &Path, package: Option<&str>) -> Option<Result<Workspace, Failure>> {
        let manifest = manifest_above(path)?;
        let folder = manifest.parent().expect("a manifest stands in a folder").to_path_buf();
        let mut command = MetadataCommand::new();
        command.current_dir(&folder);
        let here = std::env::current_dir().ok().and_then(|here| here.canonicalize().ok());
        Some(Workspace::ask(command, package).map(|workspace| {
            let elsewhere = here.is_none_or(|here| !here.starts_with(&workspace.root));
            Workspace { folder: elsewhere.then_some(folder), ..workspace }
        }))
    }

    fn ask(mut command: MetadataCommand, package: Option<&str>) -> Result<Workspace, Failure> {
        command.no_deps();
        let metadata = command.exec().map_err(|error| Failure::new(End::Unreadable, message(&error)))?;
        let members: Vec<Member> = metadata.packages.iter().map(member).collect();
        if let Some(name) = package.filter(|name| !members.iter().any(|member| member.name == *name)) {
            let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
            let message = format!("package `{name}` is no member of the workspace; members: {}", names.join(", "));
            return Err(Failure::new(End::WrongUsage, message));
        }
        Ok(Workspace {
            root: canonical(metadata.workspace_root.as_std_path()),
            folder: None,
            members,
            chosen: package.map(str::to_owned),
            programs: programs(&metadata.packages),
        })
    }

    /// Every `docs/testing-plans/*.md` of the workspace root and its members (of the chosen package alone), sorted.
    pub(crate) fn plans(&self) -> Vec<PathBuf> {
        let roots: Vec<&Path> = match self.chosen() {
            Some(member) => vec![&member.root],
            None => self.members.iter().map(|member| member.root.as_path()).chain([self.root.as_path()]).collect(),
        };
        let folders = roots.iter().map(|root| root.join("docs/testing-plans"));
        let files = folders.filter_map(|folder| folder.read_dir().ok()).flatten().flatten().map(|entry| entry.path());
        let mut plans: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "md")).collect();
        plans.sort();
        plans.dedup();
        plans
    }

    /// The plan's path as a test of `member` names it: relative to its folder or to the nearest folder above it, up
    /// to the workspace's, that holds the plan.
    pub(crate) fn plan_name(&self, plan: &Path, member: &Member) -> Option<String> {
        let folders = member.root.ancestors().take_while(|folder| folder.starts_with(&self.root));
        folders.filter_map(|folder| plan.strip_prefix(folder).ok()).find_map(slashed)
    }

    /// Where `target` of the plan at `plan` belongs: it is relative to the member that the plan stands in, to the
    /// workspace, or to the package named by `-p`, whichever comes first and holds a package for it.
    pub(crate) fn place(&self, plan: &Path, target: &str) -> Option<Placed> {
        let home = self.member_of(plan).map(|member| &member.root);
        let bases = home.into_iter().chain([&self.root]).chain(self.chosen().map(|member| &member.root));
        bases.map(|base| base.join(target)).find_map(|path| {
            let member = self.member_of(&path)?;
            if self.chosen().is_some_and(|chosen| chosen != member) {
                return None;
            }
            let relative = slashed(path.strip_prefix(&member.root).ok()?)?;
            Some(Placed { member: member.clone(), relative })
        })
    }

    /// Where `target` of the plan at `plan` belongs when it is no file of cargo's: below a package as in
    /// [`Workspace::place`], else below the workspace.
    pub(crate) fn place_any(&self, plan: &Path, target: &str) -> Option<Placed> {
        let member =
            || Member { name: String::new(), root: self.root.clone(), edition: Edition::E2024, tests: Vec::new() };
        let below = || Placed { member: member(), relative: target.to_owned() };
        self.place(plan, target).or_else(|| self.chosen.is_none().then(below))
    }

    /// The package under test when a scenario names no file: that of `-p`, else the one that the plan stands in, else the
    /// only one.
    pub(crate) fn under_test(&self, plan: &Path) -> Option<&Member> {
        let only = || self.members.first().filter(|_| self.members.len() == 1);
        self.chosen().or_else(|| self.member_of(plan)).or_else(only)
    }

    /// Other members with programs that `member` depends on, for whatever purpose: its tests may start them, and cargo
    /// does not build them for it.
    pub(crate) fn programs_beside(&self, member: &Member) -> &[String] {
        self.programs.get(&member.name).map_or(&[], Vec::as_slice)
    }

    fn chosen(&self) -> Option<&Member> {
        self.chosen.as_ref().and_then(|name| self.members.iter().find(|member| member.name == *name))
    }

    /// The innermost member whose folder holds `path`.
    fn member_of(&self, path: &Path) -> Option<&Member> {
        let holds = self.members.iter().filter(|member| path.starts_with(&member.root));
        holds.max_by_key(|member| member.root.components().count())
    }
}

fn member(package: &Package) -> Member {
    let folder = package.manifest_path.parent().expect("a manifest stands in a folder");
    let tests = package.targets.iter().filter(|target| target.is_test());
    Member {
        name: package.name.to_string(),
        root: canonical(folder.as_std_path()),
        edition: package.edition,
        tests: tests.map(|target| (target.name.clone(), canonical(target.src_path.as_std_path()))).collect(),
    }
}

fn programs(packages: &[Package]) -> BTreeMap<String, Vec<String>> {
    let folder = |package: &Package| package.manifest_path.parent().map(|folder| canonical(folder.as_std_path()));
    let at = |path: &Path| packages.iter().find(|package| folder(package).as_deref() == Some(path));
    let beside = |package: &Package| {
        let mut known: Vec<&Package> = Vec::new();
        let mut open = vec![package];
        while let Some(next) = open.pop() {
            let paths = next.dependencies.iter().filter_map(|dependency| dependency.path.as_ref());
            for found in paths.filter_map(|path| at(&canonical(path.as_std_path()))) {
                if found.id != package.id && !known.iter().any(|known| known.id == found.id) {
                    known.push(found);
                    open.push(found);
                }
            }
        }
        known.retain(|package| package.targets.iter().any(|target| target.is_bin()));
        let mut names: Vec<String> = known.iter().map(|package| package.name.to_string()).collect();
        names.sort();
        names
    };
    packages.iter().map(|package| (package.name.to_string(), beside(package))).collect()
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn slashed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    parts.map(|parts| parts.join("/"))
}

fn message(error: &cargo_metadata::Error) -> String {
    match error {
        cargo_metadata::Error::CargoMetadata { stderr } => stderr.trim().trim_start_matches("error: ").to_owned(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(chosen: Option<&str>) -> Workspace {
        let member = |name: &str, root: &str| Member {
            name: name.to_owned(),
            root: root.into(),
            edition: Edition::E2024,
            tests: Vec::new(),
        };
        Workspace {
            folder: None,
            root: "/w".into(),
            members: vec![member("a", "/w/a"), member("inner", "/w/a/inner"), member("b", "/w/b")],
            chosen: chosen.map(str::to_owned),
            programs: BTreeMap::new(),
        }
    }

    #[test]
    fn a_target_is_placed_in_the_innermost_package() {
        let check = |chosen: Option<&str>, plan: &str, target: &str, expect: Option<(&str, &str)>| {
            let placed = workspace(chosen).place(Path::new(plan), target);
            let placed = placed.as_ref().map(|placed| (placed.member.name.as_str(), placed.relative.as_str()));
            assert_eq!(placed, expect, "{plan} {target}");
        };
        check(None, "/w/a/docs/p.md", "tests/s1.rs", Some(("a", "tests/s1.rs")));
        check(None, "/w/a/docs/p.md", "inner/tests/s1.rs", Some(("inner", "tests/s1.rs")));
        check(None, "/w/docs/p.md", "b/tests/s1.rs", Some(("b", "tests/s1.rs")));
        check(None, "/w/docs/p.md", "tests/s1.rs", None);
        check(Some("b"), "/w/docs/p.md", "tests/s1.rs", Some(("b", "tests/s1.rs")));
        check(Some("b"), "/w/docs/p.md", "b/tests/s1.rs", Some(("b", "tests/s1.rs")));
        check(None, "/elsewhere/p.md", "b/tests/s1.rs", Some(("b", "tests/s1.rs")));
        let anywhere = workspace(None).place_any(Path::new("/w/docs/p.md"), "go/a_test.go").expect("the workspace");
        assert_eq!(anywhere.path(), Path::new("/w/go/a_test.go"));
    }

    #[test]
    fn a_plan_is_named_from_the_nearest_folder_that_holds_it() {
        let check = |plan: &str, member: usize, expect: Option<&str>| {
            let workspace = workspace(None);
            assert_eq!(workspace.plan_name(Path::new(plan), &workspace.members[member]).as_deref(), expect);
        };
        check("/w/a/docs/p.md", 0, Some("docs/p.md"));
        check("/w/a/docs/p.md", 1, Some("docs/p.md"));
        check("/w/a/docs/p.md", 2, Some("a/docs/p.md"));
        check("/w/docs/p.md", 0, Some("docs/p.md"));
        check("/elsewhere/p.md", 0, None);
    }
}
