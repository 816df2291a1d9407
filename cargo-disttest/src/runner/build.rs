//! Building the test targets of a plan.

use crate::exit_code::{End, Failure};
use crate::targets::Target;
use crate::workspace::Workspace;
use cargo_metadata::{Artifact, Message};
use std::collections::BTreeMap;
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

/// The executable of each target's file; a target that did not build is absent. Progress and compiler messages go to
/// stderr as cargo writes them.
///
/// # Errors
/// Cargo cannot be started.
pub(crate) fn executables(
    workspace: &Workspace,
    targets: &[&Target],
    options: Options,
) -> Result<BTreeMap<PathBuf, PathBuf>, Failure> {
    let buildable: Vec<&&Target> = targets.iter().filter(|target| target.placed.test_target().is_some()).collect();
    if buildable.is_empty() {
        return Ok(BTreeMap::new());
    }
    cargo(workspace, &buildable, options)
}

fn cargo(workspace: &Workspace, targets: &[&&Target], options: Options) -> Result<BTreeMap<PathBuf, PathBuf>, Failure> {
    let cannot = |error: std::io::Error| Failure::new(End::Unreadable, format!("cargo cannot be run: {error}"));
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
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What `cargo test --no-run` builds, but one file that does not compile must not keep the others from running.
    cargo.args(["build", "--keep-going", "--message-format=json-render-diagnostics", "--manifest-path"]);
    cargo.arg(workspace.root.join("Cargo.toml"));
    for target in targets {
        cargo.args(["--package", &target.placed.member.name]);
        cargo.args(["--test", target.placed.test_target().expect("only buildable targets come here")]);
    }
    if options.release {
        cargo.arg("--release");
    }
    if options.quiet {
        cargo.arg("--quiet");
    }
    cargo.stdin(Stdio::null()).stdout(Stdio::piped());
    cargo
}

fn test_of(artifact: &Artifact) -> Option<(PathBuf, PathBuf)> {
    let executable = artifact.executable.as_ref().filter(|_| artifact.target.is_test())?;
    let file = artifact.target.src_path.as_std_path();
    Some((file.canonicalize().unwrap_or_else(|_| Path::new(file).to_path_buf()), executable.into()))
}
