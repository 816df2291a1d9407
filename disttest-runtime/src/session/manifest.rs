//! `MANIFEST.sha256`: the hash of every file of a session, in the form that `sha256sum --check` reads.

use super::disk;
use crate::base::digest::sha256_hex_of;
use std::collections::{BTreeMap, BTreeSet};
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

/// The files of a session compared with its manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// SHA-256 of the manifest; `None` without one.
    pub sha256: Option<String>,
    /// Lines of the manifest that are none.
    pub unreadable: Vec<String>,
    /// Files whose bytes are not those that the manifest tells of.
    pub changed: Vec<String>,
    /// Files of the manifest that are not there, with their hashes.
    pub missing: Vec<(String, String)>,
    /// Links where evidence lies: what they point to is in no manifest.
    pub links: Vec<String>,
    /// Files that the manifest does not tell of, with their hashes.
    pub unlisted: Vec<(String, String)>,
}

/// Compares the session in `dir` with its manifest. Reads every file once.
pub fn contents(dir: &Path) -> io::Result<Contents> {
    let mut files = Vec::new();
    collect(dir, &mut files)?;
    let mut hashes: BTreeMap<String, String> = BTreeMap::new();
    for path in files {
        hashes.insert(slashes(dir, &path), sha256_hex_of(File::open(path)?)?);
    }
    let mut found = Contents { links: links(dir, dir, EVIDENCE_DEPTH)?, ..Contents::default() };
    let text = match fs::read(dir.join(MANIFEST)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            found.unlisted = hashes.into_iter().collect();
            return Ok(found);
        }
        Err(error) => return Err(error),
    };
    found.sha256 = Some(crate::base::digest::sha256_hex(&text));
    let mut listed: BTreeSet<&str> = BTreeSet::new();
    let text = String::from_utf8_lossy(&text);
    for (number, line) in text.lines().enumerate() {
        let Some((hash, name)) = line.split_once("  ").filter(|(hash, name)| is_hash(hash) && listed.insert(name))
        else {
            found
                .unreadable
                .push(format!("{MANIFEST}:{}: no hash and name of a file of its own: {line:?}", number + 1));
            continue;
        };
        match hashes.remove(name) {
            None => found.missing.push((name.to_owned(), hash.to_owned())),
            Some(now) if now != hash => found.changed.push(name.to_owned()),
            Some(_) => {}
        }
    }
    found.unlisted = hashes.into_iter().collect();
    Ok(found)
}

/// A session's own files are at most so deep; below are folders of nodes.
const EVIDENCE_DEPTH: usize = 4;

/// Links below `at`, so deep.
fn links(dir: &Path, at: &Path, depth: usize) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(at)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            found.push(slashes(dir, &entry.path()));
        } else if kind.is_dir() && depth > 1 {
            found.extend(links(dir, &entry.path(), depth - 1)?);
        }
    }
    found.sort();
    Ok(found)
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
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

    #[test]
    fn every_difference_from_the_manifest_is_named() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("written");
        let check = || contents(dir.path()).expect("read");
        write("a", "1");
        assert_eq!((check().sha256, check().unlisted.len()), (None, 1), "without a manifest");
        write("b", "2");
        let sha256 = write_manifest(dir.path()).expect("written");
        assert_eq!(check(), Contents { sha256: Some(sha256.clone()), ..Contents::default() });
        write("a", "3");
        fs::remove_file(dir.path().join("b")).expect("removed");
        write("c", "4");
        let names = |files: &[(String, String)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let found = check();
        assert_eq!(found.sha256, Some(sha256));
        assert_eq!(
            (found.changed.clone(), names(&found.missing), names(&found.unlisted)),
            (vec!["a".to_owned()], vec!["b".to_owned()], vec!["c".to_owned()],)
        );
        let text = fs::read_to_string(dir.path().join(MANIFEST)).expect("read");
        for bad in [format!("{text}{text}"), "abc  a\n".to_owned(), format!("{text}nonsense\n"), text.to_uppercase()] {
            write(MANIFEST, &bad);
            assert!(!check().unreadable.is_empty(), "{bad}");
        }
    }
}
