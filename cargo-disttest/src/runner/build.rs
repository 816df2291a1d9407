//! Building the test targets of a plan.

use crate::exit_code::{End, Failure};
use crate::targets::Target;
use crate::workspace::Workspace;
use cargo_metadata::diagnostic::DiagnosticLevel;
use cargo_metadata::{Artifact, Message};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How to build.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// With optimizations.
    pub release: bool,
    /// Say errors only.
    pub quiet: bool,
}

/// The tests of a repository.
#[derive(Debug, Default)]
pub(crate) struct Authored {
    /// The executable of each file; one that did not build is absent.
    executables: BTreeMap<PathBuf, PathBuf>,
    /// Packages with programs that do not build.
    broken: Vec<String>,
}

impl Authored {
    /// The executable of the file `path` of a package that depends on the programs of `beside`; `None` when it does not
    /// build.
    ///
    /// # Errors
    /// Why it must not be run.
    pub(crate) fn executable(&self, path: &Path, beside: &[String]) -> Result<Option<&Path>, String> {
        if let Some(name) = self.broken.iter().find(|name| beside.contains(name)) {
            return Err(format!(
                "the programs of {name}, on which its package depends, do not build: those of before would be tested"
            ));
        }
        Ok(self.executables.get(path).map(PathBuf::as_path))
    }
}

/// Builds the tests in the files of `targets`, and before them the programs of other members on which their packages
/// depend: cargo does not, and a program that lies about from before must not be tested for what it is now. Progress
/// and compiler messages go to stderr as cargo writes them.
///
/// # Errors
/// Cargo cannot be started.
pub(crate) fn authored(workspace: &Workspace, targets: &[&Target], options: Options) -> Result<Authored, Failure> {
    let buildable: Vec<&&Target> = targets.iter().filter(|target| target.placed.test_target().is_some()).collect();
    if buildable.is_empty() {
        return Ok(Authored::default());
    }
    let programs: BTreeSet<&String> =
        buildable.iter().flat_map(|target| workspace.programs_beside(&target.placed.member)).collect();
    let broken = broken(workspace, &programs.into_iter().collect::<Vec<_>>(), options)?;
    Ok(Authored { executables: cargo(workspace, &buildable, options)?, broken })
}

/// Those of `packages` whose programs do not build.
fn broken(workspace: &Workspace, packages: &[&String], options: Options) -> Result<Vec<String>, Failure> {
    let build = |packages: &[&String]| {
        let mut cargo = cargo_build(workspace, options);
        cargo.arg("--bins").args(packages.iter().flat_map(|name| ["--package", name.as_str()]));
        cargo.stdout(Stdio::null());
        cargo.status().map(|status| status.success()).map_err(cannot)
    };
    if packages.is_empty() || build(packages)? {
        return Ok(Vec::new());
    }
    let mut broken = Vec::new();
    for name in packages {
        if !build(&[name])? {
            broken.push((*name).clone());
        }
    }
    Ok(broken)
}

fn cannot(error: std::io::Error) -> Failure {
    Failure::new(End::Unreadable, format!("cargo cannot be run: {error}"))
}

fn cargo(workspace: &Workspace, targets: &[&&Target], options: Options) -> Result<BTreeMap<PathBuf, PathBuf>, Failure> {
    let mut child = command(workspace, targets, options).spawn().map_err(cannot)?;
    let stdout = child.stdout.take().expect("stdout is a pipe");
    let wanted: Vec<PathBuf> = targets.iter().map(|target| target.placed.path()).collect();
    let mut built = BTreeMap::new();
    for message in Message::parse_stream(BufReader::new(stdout)).map_while(Result::ok) {
        if let Message::CompilerArtifact(artifact) = message
            && let Some((file, executable)) = test_of(&artifact)
            && wanted.contains(&file)
        {
            built.insert(file, executable);
        }
    }
    child.wait().map_err(cannot)?;
    Ok(built)
}

fn command(workspace: &Workspace, targets: &[&&Target], options: Options) -> Command {
    let mut cargo = cargo_build(workspace, options);
    for target in targets {
        cargo.args(["--package", &target.placed.member.name]);
        cargo.args(["--test", target.placed.test_target().expect("only buildable targets come here")]);
    }
    cargo
}

fn cargo_build(workspace: &Workspace, options: Options) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What `cargo test --no-run` builds, but one file that does not compile must not keep the others from running.
    cargo.args(["build", "--keep-going", "--message-format=json-render-diagnostics", "--manifest-path"]);
    cargo.arg(workspace.root.join("Cargo.toml"));
    if options.release {
        cargo.arg("--release");
    }
    if options.quiet {
        cargo.arg("--quiet");
    }
    if let Some(folder) = &workspace.folder {
        cargo.current_dir(folder);
    }
    cargo.stdin(Stdio::null()).stdout(Stdio::piped());
    cargo
}

/// A build of an ephemeral package, or of what it tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    /// Its manifest.
    pub manifest: &'a Path,
    /// Where cargo is started: its configuration and toolchain are those of this folder.
    pub folder: &'a Path,
    /// Where it builds to.
    pub target_dir: &'a Path,
    /// How.
    pub options: Options,
}

/// What a [`Job`] came to. Executables are those that cargo told of in this build, whatever lies about from others.
#[derive(Debug, Default)]
pub(crate) struct Built {
    /// Everything was built.
    pub success: bool,
    /// Executable of each test file.
    pub tests: BTreeMap<PathBuf, PathBuf>,
    /// Executable of each program: (name, executable).
    pub programs: Vec<(String, PathBuf)>,
    /// What the compiler said, as it is to be shown.
    pub rendered: String,
    /// Its errors, a line each.
    pub errors: Vec<String>,
}

impl Job<'_> {
    /// Builds the tests named, or, when none is, the libraries and programs of `packages`.
    ///
    /// # Errors
    /// Cargo cannot be started.
    pub(crate) fn run(
        &self,
        packages: &[&str],
        tests: &[&str],
        variables: &[(String, PathBuf)],
    ) -> Result<Built, String> {
        let cannot = |error: std::io::Error| format!("cargo cannot be run: {error}");
        let mut child = self.command(packages, tests).envs(variables.iter().cloned()).spawn().map_err(cannot)?;
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let mut built = Built::default();
        for message in Message::parse_stream(BufReader::new(stdout)).map_while(Result::ok) {
            built.hear(message, self.folder);
        }
        built.success = child.wait().map_err(cannot)?.success();
        Ok(built)
    }

    fn command(&self, packages: &[&str], tests: &[&str]) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        // Not rendered by cargo: what a package under test does not compile for is told to programs, too.
        cargo.args(["build", "--keep-going", "--message-format=json-diagnostic-rendered-ansi", "--manifest-path"]);
        cargo.arg(self.manifest).arg("--target-dir").arg(self.target_dir);
        // Programs under test are those of this build, not those that an outer cargo told of.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CARGO_BIN_EXE_")) {
            cargo.env_remove(name);
        }
        cargo.args(packages.iter().flat_map(|package| ["--package", package]));
        cargo.args(tests.iter().flat_map(|test| ["--test", test]));
        if self.options.release {
            cargo.arg("--release");
        }
        if self.options.quiet {
            cargo.arg("--quiet");
        }
        cargo.current_dir(self.folder).stdin(Stdio::null()).stdout(Stdio::piped());
        cargo
    }
}

impl Built {
    fn hear(&mut self, message: Message, folder: &Path) {
        match message {
            Message::CompilerArtifact(artifact) => {
                if let Some((file, executable)) = test_of(&artifact) {
                    self.tests.insert(file, executable);
                } else if let Some(executable) = artifact.executable.filter(|_| artifact.target.is_bin()) {
                    self.programs.push((artifact.target.name, executable.into()));
                }
            }
            Message::CompilerMessage(said) => {
                self.rendered.push_str(said.message.rendered.as_deref().unwrap_or_default());
                if said.message.level == DiagnosticLevel::Error {
                    let place = said.message.spans.iter().find(|span| span.is_primary);
                    let below = |file: &str| {
                        Path::new(file).strip_prefix(folder).unwrap_or(Path::new(file)).display().to_string()
                    };
                    let place = place.map(|span| format!(" ({}:{})", below(&span.file_name), span.line_start));
                    self.errors.push(format!("{}{}", said.message.message, place.unwrap_or_default()));
                }
            }
            _ => {}
        }
    }
}

fn test_of(artifact: &Artifact) -> Option<(PathBuf, PathBuf)> {
    let executable = artifact.executable.as_ref().filter(|_| artifact.target.is_test())?;
    let file = artifact.target.src_path.as_std_path();
    Some((file.canonicalize().unwrap_or_else(|_| Path::new(file).to_path_buf()), executable.into()))
}
