//! The user's own formatter of a language, when it is installed.

use super::language::Language;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a formatter came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Formatted {
    /// The text as the formatter of this name leaves it.
    Text(String, &'static str),
    /// It is there, and cannot read the text.
    Refused(&'static str),
    /// None of these is installed.
    Missing(Vec<&'static str>),
}

/// `text` of the file at `path` as the first installed formatter of `language` leaves it with the configuration that
/// holds there; `root` is the folder above which nothing is looked for.
pub(crate) fn format(language: Language, text: &str, path: &Path, root: &Path) -> Formatted {
    let mut names = Vec::new();
    for (name, args) in language.formatters() {
        let mut command = Command::new(program(name, path, root));
        let file = path.to_string_lossy();
        command.args(args.iter().map(|arg| arg.replace("{file}", &file))).current_dir(root);
        match pipe(&mut command, text) {
            Piped::Text(text) => return Formatted::Text(text, name),
            Piped::Refused => return Formatted::Refused(name),
            Piped::NotThere => names.push(*name),
        }
    }
    Formatted::Missing(names)
}

/// A project installs its own prettier beside its sources.
fn program(name: &str, path: &Path, root: &Path) -> PathBuf {
    let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    let local = folders.map(|folder| folder.join("node_modules/.bin").join(name)).find(|path| path.is_file());
    local.filter(|_| name == "prettier").unwrap_or_else(|| PathBuf::from(name))
}

/// What a filter came to.
pub(super) enum Piped {
    Text(String),
    Refused,
    NotThere,
}

/// `text` through `command`.
pub(super) fn pipe(command: &mut Command, text: &str) -> Piped {
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = spawned else {
        return Piped::NotThere;
    };
    let mut stdin = child.stdin.take().expect("stdin was asked for");
    let text = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let Ok(output) = child.wait_with_output() else {
        return Piped::Refused;
    };
    let written = writer.join().is_ok_and(|result| result.is_ok());
    let formatted = String::from_utf8(output.stdout).ok().filter(|text| !text.is_empty());
    match formatted.filter(|_| output.status.success() && written) {
        Some(text) => Piped::Text(text),
        None => Piped::Refused,
    }
}
