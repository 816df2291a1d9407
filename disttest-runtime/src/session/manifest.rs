//! `MANIFEST.sha256`: the hash of every file of a session, in the form that `sha256sum --check` reads.

use super::disk;
use crate::base::digest::sha256_hex_of;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Name of the manifest.
pub const MANIFEST: &str = "MANIFEST.sha256";

/// Writes the manifest of the session in `dir` and gives the SHA-256 of the manifest itself (D21). Reads every file of
/// the session once; files that are being written are left out.
pub fn write_manifest(dir: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    collect(dir, &mut files)?;
    let mut named: Vec<(String, PathBuf)> = files.into_iter().map(|path| (slashes(dir, &path), path)).collect();
    named.sort();
    let mut text = String::new();
    for (name, path) in named {
        text.push_str(&format!("{}  {name}\n", sha256_hex_of(File::open(path)?)?));
    }
    disk::write_atomic(&dir.join(MANIFEST), text.as_bytes())?;
    Ok(crate::base::digest::sha256_hex(text.as_bytes()))
}

/// Every regular file below `dir` but the manifest and files that are being written. Links are not followed: what they
/// point to is no part of the session.
fn collect(dir: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let name = name.to_string_lossy();
        if kind.is_dir() {
            collect(&entry.path(), into)?;
        } else if kind.is_file() && !name.ends_with(disk::PARTIAL) && name != MANIFEST {
            into.push(entry.path());
        }
    }
    Ok(())
}

/// `path` below `dir` with forward slashes, so that a manifest reads the same everywhere.
fn slashes(dir: &Path, path: &Path) -> String {
    let below = path.strip_prefix(dir).unwrap_or(path);
    below.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_lists_every_file_once_and_is_stable() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(dir.path().join("b")).expect("made");
        fs::write(dir.path().join("b/x"), "abc").expect("written");
        fs::write(dir.path().join("a"), "").expect("written");
        fs::write(dir.path().join(".y.1.partial"), "half").expect("written");
        let first = write_manifest(dir.path()).expect("written");
        let text = fs::read_to_string(dir.path().join(MANIFEST)).expect("read");
        assert_eq!(
            text,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n\
             ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b/x\n"
        );
        assert_eq!(first, write_manifest(dir.path()).expect("written again"));
    }
}
