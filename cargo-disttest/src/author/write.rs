//! Writes a set of files: all of them, or none.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// Where.
    pub path: PathBuf,
    /// What it was when the change was computed; `None` when it did not exist.
    pub before: Option<String>,
    /// What it becomes.
    pub after: String,
}

/// What must stand in the file at a path, if anything.
pub(crate) type Header<'a> = &'a dyn Fn(&Path) -> Option<&'static str>;

/// Writes all `edits`. Each is first written beside its place and then renamed, so that no reader sees half a file.
///
/// # Errors
/// The first thing that went wrong; what was written before it is undone.
pub(crate) fn write_all(edits: &[Edit]) -> Result<(), String> {
    write_checked(edits, &|_| None)
}

/// The same; each file is then read back from disk and must have the line that `header` gives for its path.
///
/// # Errors
/// As for [`write_all`], or a file without its header.
pub(crate) fn write_checked(edits: &[Edit], header: Header<'_>) -> Result<(), String> {
    let mut folders = Vec::new();
    let result = stage(edits, &mut folders).and_then(|staged| commit(edits, staged, header));
    if result.is_err() {
        // Only folders of ours, and only empty ones: `remove_dir` refuses any other.
        for folder in folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
    result
}

fn stage(edits: &[Edit], folders: &mut Vec<PathBuf>) -> Result<Vec<NamedTempFile>, String> {
    let mut staged = Vec::new();
    for edit in edits {
        let now = read(&edit.path)?;
        if now != edit.before {
            return Err(format!("{} changed while the change was being made: run it again", edit.path.display()));
        }
        let parent = folder_of(&edit.path);
        create_folders(parent, folders).map_err(|error| format!("{}: {error}", parent.display()))?;
        staged.push(temporary(edit, parent).map_err(|error| format!("{}: {error}", edit.path.display()))?);
    }
    Ok(staged)
}

fn commit(edits: &[Edit], staged: Vec<NamedTempFile>, header: Header<'_>) -> Result<(), String> {
    for (index, (edit, file)) in edits.iter().zip(staged).enumerate() {
        if let Err(error) = file.persist(&edit.path) {
            return Err(undone(&edits[..index], format!("{}: {}", edit.path.display(), error.error)));
        }
    }
    match edits.iter().find_map(|edit| read_back(edit, header(&edit.path)).err()) {
        Some(why) => Err(undone(edits, why)),
        None => Ok(()),
    }
}

/// What stands on disk is what was to be written, and has its header.
fn read_back(edit: &Edit, header: Option<&str>) -> Result<(), String> {
    let shown = edit.path.display();
    let text = read(&edit.path)?.ok_or_else(|| format!("{shown}: it is gone right after it was written"))?;
    if text != edit.after {
        return Err(format!("{shown}: something changed it right after it was written"));
    }
    match header {
        Some(header) if !text.contains(header) => Err(format!("{shown}: its header `{header}` is missing")),
        _ => Ok(()),
    }
}

/// Takes `edits` back; the message is `why`, and says what could not be taken back.
fn undone(edits: &[Edit], why: String) -> String {
    let left: Vec<String> =
        edits.iter().rev().filter_map(|edit| Some(format!("{}: {}", edit.path.display(), undo(edit).err()?))).collect();
    if left.is_empty() {
        return format!("{why}; nothing was written");
    }
    format!("{why}; these files were written and could not be taken back:\n  {}", left.join("\n  "))
}

fn undo(edit: &Edit) -> io::Result<()> {
    match &edit.before {
        None => match fs::remove_file(&edit.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        },
        Some(before) => {
            let back = Edit { after: before.clone(), ..edit.clone() };
            let file = temporary(&back, folder_of(&edit.path))?;
            file.persist(&edit.path).map(drop).map_err(|error| error.error)
        }
    }
}

/// The folder of a file; of a bare name the one we are in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn temporary(edit: &Edit, parent: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".disttest-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What a new file gets; the process's umask applies. A script can be started.
        let mode = if edit.after.starts_with("#!") { 0o777 } else { 0o666 };
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    let mut file = builder.tempfile_in(parent)?;
    file.write_all(edit.after.as_bytes())?;
    if let Ok(metadata) = fs::metadata(&edit.path) {
        fs::set_permissions(file.path(), metadata.permissions())?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

fn create_folders(folder: &Path, created: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        create_folders(parent, created)?;
    }
    fs::create_dir(folder)?;
    created.push(folder.to_path_buf());
    Ok(())
}

/// The text of `path`; `None` when there is no such file.
///
/// # Errors
/// A file that cannot be read, or is no UTF-8.
pub(crate) fn read(path: &Path) -> Result<Option<String>, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn all_files_are_written_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let edit = |name: &str, before: Option<&str>| Edit {
            path: dir.path().join(name),
            before: before.map(str::to_owned),
            after: "new".to_owned(),
        };
        fs::write(dir.path().join("old"), "old").unwrap();
        fs::create_dir(dir.path().join("folder.rs")).unwrap();
        let edits = [edit("old", Some("old")), edit("new/deep/file", None), edit("old/impossible", None)];
        write_all(&edits).unwrap_err();
        assert_eq!(fs::read_to_string(dir.path().join("old")).unwrap(), "old");
        assert!(!dir.path().join("new").exists(), "folders of ours are gone again");
        write_all(&edits[..2]).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("new/deep/file")).unwrap(), "new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "no temporary file is left");
    }

    #[test]
    fn a_failed_rename_undoes_the_ones_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let edits: Vec<Edit> = ["a", "b"]
            .iter()
            .map(|name| Edit { path: dir.path().join(name), before: None, after: "new".to_owned() })
            .collect();
        let mut folders = Vec::new();
        let staged = stage(&edits, &mut folders).unwrap();
        fs::create_dir_all(dir.path().join("b/full")).unwrap();
        commit(&edits, staged, &|_| None).unwrap_err();
        assert!(!dir.path().join("a").exists());
    }

    #[test]
    fn a_file_without_its_header_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let edit =
            |name: &str, after: &str| Edit { path: dir.path().join(name), before: None, after: after.to_owned() };
        let error = write_checked(&[edit("a", "header"), edit("new/b", "none")], &|_| Some("header")).unwrap_err();
        assert!(error.contains("its header `header` is missing; nothing was written"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        write_checked(&[edit("a", "header")], &|_| Some("header")).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_taken_back_is_named() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a");
        fs::create_dir(&folder).unwrap();
        let edit = Edit { path: folder, before: None, after: String::new() };
        let error = undone(&[edit], "why".to_owned());
        assert!(error.starts_with("why; these files were written and could not be taken back:\n  "), "{error}");
        let script = dir.path().join("s.sh");
        write_all(&[Edit { path: script.clone(), before: None, after: "#!/bin/sh\n".to_owned() }]).unwrap();
        assert_eq!(fs::metadata(script).unwrap().permissions().mode() & 0o100, 0o100);
    }

    #[test]
    fn a_file_that_changed_meanwhile_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "theirs").unwrap();
        let edit = Edit { path: path.clone(), before: Some("old".to_owned()), after: "new".to_owned() };
        write_all(&[edit]).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_readable_and_an_old_one_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let plain = dir.path().join("plain");
        fs::write(&plain, "").unwrap();
        let old = dir.path().join("old");
        fs::write(&old, "old").unwrap();
        fs::set_permissions(&old, fs::Permissions::from_mode(0o640)).unwrap();
        let new = dir.path().join("new");
        let edit = |path: &Path, before: Option<&str>| Edit {
            path: path.to_owned(),
            before: before.map(str::to_owned),
            after: "new".to_owned(),
        };
        write_all(&[edit(&new, None), edit(&old, Some("old"))]).unwrap();
        assert_eq!(mode(&new), mode(&plain));
        assert_eq!(mode(&old), 0o640);
    }
}
