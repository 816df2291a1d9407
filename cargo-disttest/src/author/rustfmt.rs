//! The user's own formatter, when it is installed.

use cargo_metadata::Edition;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// `text` as rustfmt leaves it with the configuration that holds in `folder`; `None` when there is no rustfmt, or it
/// cannot read the text.
pub(crate) fn format(text: &str, folder: &Path, edition: Edition) -> Option<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", edition.as_str()])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let text = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().ok()?;
    let written = writer.join().is_ok_and(|result| result.is_ok());
    let formatted = (output.status.success() && written).then_some(output.stdout)?;
    String::from_utf8(formatted).ok().filter(|text| !text.is_empty())
}
