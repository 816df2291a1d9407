//! A client of containers: a command line program that is asked, and believed only when it is asked again.

use crate::nemesis::needs;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long one call of a client may take.
const LIMIT: Duration = Duration::from_secs(20);

/// Programs that the undoing of a killed run may start.
const KNOWN: [&str; 3] = ["docker", "podman", "kubectl"];

/// A client and the arguments that stand before all others.
#[derive(Clone, Debug)]
pub(super) struct Client {
    program: PathBuf,
    hint: &'static str,
}

impl Client {
    pub(super) fn new(program: impl Into<PathBuf>, hint: &'static str) -> Client {
        Client { program: program.into(), hint }
    }

    /// What the client prints when it is called with `args`; an error when it fails, takes too long, or is not there.
    pub(super) fn ask<S: AsRef<str>>(&self, args: &[S]) -> Result<String> {
        let program = self.found()?;
        let said = run(&program, args)?;
        Ok(said)
    }

    /// The whole command line.
    pub(super) fn line<S: AsRef<str>>(&self, args: &[S]) -> Result<Vec<String>> {
        let program = self.found()?.display().to_string();
        Ok(std::iter::once(program).chain(args.iter().map(|arg| arg.as_ref().to_owned())).collect())
    }

    fn found(&self) -> Result<PathBuf> {
        match self.program.components().count() {
            1 => Ok(needs::program(&self.program.to_string_lossy(), self.hint)?),
            _ => Ok(self.program.clone()),
        }
    }
}

fn run<S: AsRef<str>>(program: &Path, args: &[S]) -> Result<String> {
    let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
    let shown = || format!("{} {}", program.display(), args.join(" "));
    let output = tempfile()?;
    let errors = tempfile()?;
    let mut command = Command::new(program);
    command.args(&args).stdin(Stdio::null()).stdout(output.0.try_clone()?).stderr(errors.0.try_clone()?);
    let mut child = command.spawn().with_context(shown)?;
    let until = Instant::now() + LIMIT;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > until {
            drop(child.kill());
            drop(child.wait());
            bail!("`{}` did not end within {} s", shown(), LIMIT.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    if !status.success() {
        bail!("`{}` failed ({status}): {}", shown(), errors.read()?.trim());
    }
    output.read()
}

/// An unnamed file, so that a client that prints much never waits for a reader.
struct Unnamed(std::fs::File);

fn tempfile() -> Result<Unnamed> {
    let file = rustix::fs::memfd_create("client", rustix::fs::MemfdFlags::CLOEXEC)?;
    Ok(Unnamed(file.into()))
}

impl Unnamed {
    fn read(mut self) -> Result<String> {
        use std::io::{Read, Seek};
        let mut text = Vec::new();
        self.0.rewind()?;
        self.0.read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// Calls a client for a run that was killed before it could; nothing but a known client is started.
pub(in crate::nemesis) fn undo_by_client(line: &[String]) -> Result<()> {
    let Some((program, args)) = line.split_first() else { bail!("an empty command line") };
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !KNOWN.contains(&name.as_str()) {
        bail!("`{program}` is no client of containers ({})", KNOWN.join(", "));
    }
    run(Path::new(program), args).map(drop)
}
