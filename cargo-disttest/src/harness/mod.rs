//! Scenarios whose tests the repository does not hold: a run of them writes nothing into it (format.md §15).
//!
//! Their tests, the same that `author` writes, stand in an ephemeral package in the folder of the session (or in one
//! that the user names and fills), which depends on the packages under test by path. What a package of tests needs
//! beside that is taken from them: dependencies, the versions of the lock file, patches and profiles. It is built with
//! the workspace's cargo configuration into a folder that git ignores.

mod dependencies;
mod folder;
mod package;
pub(crate) mod place;
mod promote;
pub(crate) mod stage;
mod sut;
mod target_dir;

use crate::author::write::{self, Edit};
use crate::dependency;
use crate::runner::build::{self, Options};
use crate::workspace::{Member, Workspace};
use folder::TestFile;
use place::Unauthored;
pub(crate) use promote::{is_package, promoted};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use sut::Suts;

/// Where an ephemeral package is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    /// The workspace under test.
    pub workspace: &'a Workspace,
    /// The folder of this session.
    pub session: &'a Path,
    /// The folder of all sessions.
    pub session_root: &'a Path,
    /// The folder that the user named, absolute: its filled regions are kept.
    pub named: Option<&'a Path>,
    /// A package that is evidence of an earlier session, absolute: a copy of it in this one is worked on.
    pub copied: Option<&'a Path>,
    /// Bring filled tests up to date with the plan.
    pub refresh: bool,
}

impl<'a> Site<'a> {
    /// For a package in `named`, or in the session where none is named.
    pub(crate) fn new(
        workspace: &'a Workspace,
        session: &'a Path,
        session_root: &'a Path,
        named: Option<&'a Path>,
    ) -> Self {
        let copied = named.filter(|folder| is_sealed(folder, session));
        let named = named.filter(|_| copied.is_none());
        Site { workspace, session, session_root, named, copied, refresh: false }
    }

    /// Where the package is worked on.
    pub(crate) fn folder(&self) -> PathBuf {
        self.named.map_or_else(|| folder_of(self.session), Path::to_path_buf)
    }
}

/// True for a part of another session: the manifest of that one speaks of its bytes.
fn is_sealed(folder: &Path, session: &Path) -> bool {
    folder.ancestors().filter(|above| *above != session).any(|above| above.join("MANIFEST.sha256").is_file())
}

/// An ephemeral package with its tests in place.
#[derive(Debug)]
pub(crate) struct Package {
    /// Its folder.
    pub folder: PathBuf,
    /// Files that are not in it as they would have to be: (path below it, why).
    pub refused: Vec<(String, String)>,
    /// What a person must know.
    pub notes: Vec<String>,
    /// Regions to be filled: (file, line, name).
    pub unfilled: Vec<(PathBuf, usize, String)>,
    /// Names of its tests that are to be built.
    tests: Vec<String>,
    suts: Suts,
    target_dir: PathBuf,
    /// The sources as the session holds them.
    sources: Vec<(PathBuf, Vec<u8>)>,
}

/// Where the package of a session stands in it.
pub(crate) fn folder_of(session: &Path) -> PathBuf {
    session.join("artifacts").join("harness")
}

/// Writes the package for `wanted`, which is not empty. The session is there already.
///
/// # Errors
/// Why there is none.
pub(crate) fn prepare(site: &Site<'_>, wanted: &[Unauthored]) -> Result<Package, String> {
    let plan = &wanted[0].target.wanted.attribute.plan;
    let evidence = folder_of(site.session);
    let folder = site.folder();
    if let Some(from) = site.copied {
        folder::manifest(from, plan)?;
        folder::copy(&folder::sources(from)?, &folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let before = folder::manifest(&folder, plan)?;
    let suts = sut::ask(site.workspace, &members(wanted))?;
    let target_dir = target_dir::choose(&site.workspace.root, &suts.target_dir, site.session_root);
    let (files, refused) = files(&folder, wanted, site.refresh);
    let manifest = match &before {
        Some(manifest) => manifest.clone(),
        None => package::new_manifest(&package::Recipe {
            plan,
            suts: &suts.packages,
            workspace_manifest: &suts.manifest,
            workspace: &site.workspace.root,
            once: site.named.is_none(),
            runtime: dependency::choose_outside(&site.workspace.root),
        })?,
    };
    let relatives: Vec<String> = files.iter().map(|file| file.relative.clone()).collect();
    let manifest = package::with_tests(&manifest, &relatives)?;
    let mut edits: Vec<Edit> = files.iter().filter_map(|file| file.edit.clone()).collect();
    let config = package::config(&target_dir, &wanted[0].sut.root, site.session_root);
    let fixed = [
        ("Cargo.toml", Some(manifest.clone())),
        (".cargo/config.toml", Some(config)),
        ("Cargo.lock", suts.lock.clone()),
    ];
    for (name, after) in fixed {
        let path = folder.join(name);
        let before = write::read(&path)?;
        edits.extend(after.filter(|after| before.as_ref() != Some(after)).map(|after| Edit { path, before, after }));
    }
    write::write_all(&edits)?;
    lock(site.workspace, &folder)?;
    let sources = folder::sources(&folder)?;
    if site.named.is_some() {
        folder::copy(&sources, &evidence).map_err(|error| format!("{}: {error}", evidence.display()))?;
    }
    let notes = files.iter().filter_map(|file| file.note.clone()).collect();
    let tests = package::tests(&manifest).into_iter().filter(|(_, path)| relatives.contains(path));
    let tests = tests.map(|(name, _)| name).collect();
    let open = |file: &TestFile| -> Vec<(PathBuf, usize, String)> {
        let path = folder.join(&file.relative);
        file.unfilled.iter().map(|region| (path.clone(), region.line, region.name.clone())).collect()
    };
    let unfilled = files.iter().flat_map(open).collect();
    Ok(Package { tests, refused, notes, unfilled, suts, target_dir, sources, folder })
}

fn members(wanted: &[Unauthored]) -> Vec<&Member> {
    let mut members: Vec<&Member> = Vec::new();
    for test in wanted {
        if !members.contains(&&test.sut) {
            members.push(&test.sut);
        }
    }
    members
}

fn files(folder: &Path, wanted: &[Unauthored], refresh: bool) -> (Vec<TestFile>, Vec<(String, String)>) {
    let (mut files, mut refused) = (Vec::<TestFile>::new(), Vec::new());
    for test in wanted {
        let taken = files.iter().find(|file| file.relative == test.relative());
        let file = match taken {
            Some(file) => Err(format!("its file {} is that of {}", file.relative, file.id)),
            None => folder::test_file(folder, test, refresh),
        };
        match file {
            Ok(file) => files.push(file),
            Err(why) => refused.push((test.relative().to_owned(), why)),
        }
    }
    (files, refused)
}

/// Adds to the lock file what the package needs beside the packages under test, and moves no version that they have.
fn lock(workspace: &Workspace, folder: &Path) -> Result<(), String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["update", "--workspace", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    cargo.current_dir(&workspace.root).env("CARGO_TERM_COLOR", "never").stdin(Stdio::null());
    let output = cargo.output().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let error = said.find("error:").map_or(&*said, |at| &said[at..]);
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    Err(format!("cargo cannot resolve the ephemeral package {}: {error}", folder.display()))
}

impl Package {
    /// Builds the packages under test, then the tests; gives the executable of each test file that was built by this
    /// very call.
    ///
    /// # Errors
    /// Why no test of the package may be run: a package under test does not build as it is now, so that a program of it
    /// that lies about from before would be tested in its place, or the sources are not those that the session holds.
    pub(crate) fn build(
        &self,
        workspace: &Workspace,
        options: Options,
        show: &dyn Fn(&str),
    ) -> Result<BTreeMap<PathBuf, PathBuf>, String> {
        let job = build::Job {
            manifest: &self.folder.join("Cargo.toml"),
            folder: &workspace.root,
            target_dir: &self.target_dir,
            options,
        };
        let under_test =
            job.run(&self.suts.packages.iter().map(|sut| sut.id.as_str()).collect::<Vec<_>>(), &[], &[])?;
        if !under_test.success {
            show(&under_test.rendered);
            let names: Vec<&str> = self.suts.packages.iter().map(|sut| sut.name.as_str()).collect();
            let why = under_test.errors.first().map_or("cargo says why above", String::as_str);
            return Err(format!("the package under test ({}) does not build: {why}", names.join(", ")));
        }
        let variables: Vec<(String, PathBuf)> =
            under_test.programs.iter().map(|(name, path)| (package::bin_variable(name), path.clone())).collect();
        let names: Vec<&str> = self.tests.iter().map(String::as_str).collect();
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        let built = job.run(&[package::NAME], &names, &variables)?;
        show(&built.rendered);
        // Cargo gives a test the programs of its own package before those that it is told of.
        let stands_in = |name: &str| under_test.programs.iter().any(|(under_test, _)| under_test == name);
        if let Some((name, _)) = built.programs.iter().find(|(name, _)| stands_in(name)) {
            let folder = self.folder.display();
            return Err(format!(
                "{folder} has a program `{name}` of its own, which would be tested in place of the one under test: \
                 give it another name"
            ));
        }
        if folder::sources(&self.folder)? != self.sources {
            return Err(format!("{} was changed while it was built: run it again", self.folder.display()));
        }
        Ok(built.tests)
    }
}
