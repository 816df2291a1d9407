//! The user's own rustfmt, when it is installed.

use super::formatter::{Piped, pipe};
use cargo_metadata::Edition;
use std::path::Path;
use std::process::Command;

/// `text` as rustfmt leaves it with the configuration that holds in `folder`; `None` when there is no rustfmt, or it
/// cannot read the text.
pub(crate) fn format(text: &str, folder: &Path, edition: Edition) -> Option<String> {
    let mut command = Command::new("rustfmt");
    command.args(["--edition", edition.as_str()]).current_dir(folder);
    match pipe(&mut command, text) {
        Piped::Text(text) => Some(text),
        Piped::Refused | Piped::NotThere => None,
    }
}
