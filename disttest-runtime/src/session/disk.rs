//! Files that a verdict rests on: written whole or not at all, appended line by line, read without trust.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Ending of a file that is being written; such files are never read, hashed or reported.
pub const PARTIAL: &str = ".partial";

/// Replaces `path` by `bytes` so that a reader sees the old file or the new one: written beside it, synced, renamed.
/// Writing what is already there changes nothing, not even the time of the file.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let partial = parent.join(format!(".{name}.{}{PARTIAL}", std::process::id()));
    let mut file = File::create(&partial)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&partial, path)?;
    sync_dir(parent)
}

/// [`write_atomic`] of `value` as indented JSON with a final newline.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    write_atomic(path, &bytes)
}

/// Reads JSON. `Ok(None)` when there is no file; `Err` says why a file that is there is not one of ours.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| format!("{} is not readable: {error}", path.display()))
}

/// Appends `value` as one JSON line and syncs it.
pub fn append_json_line<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(&line)?;
    file.sync_data()
}

/// Every line of a JSON Lines file that parses; a torn last line of a killed writer is left out. Empty without a file.
pub fn read_json_lines<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    let Ok(file) = File::open(path) else { return Vec::new() };
    BufReader::new(file)
        .split(b'\n')
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_slice(&line).ok())
        .collect()
}

/// The last `max` bytes of a file, cut at a line start, lossily decoded, and whether something before was left out.
pub fn tail(path: &Path, max: u64) -> io::Result<(String, bool)> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(max);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(max).read_to_end(&mut bytes)?;
    if from > 0
        && let Some(line_end) = bytes.iter().position(|b| *b == b'\n')
    {
        bytes.drain(..=line_end);
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), from > 0))
}

/// Makes renames and creations in `dir` durable, where the platform can.
fn sync_dir(dir: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(if dir.as_os_str().is_empty() { Path::new(".") } else { dir })?.sync_all()
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_is_left_out_and_a_missing_file_is_empty() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("events.jsonl");
        assert_eq!(read_json_lines::<u32>(&path), Vec::<u32>::new());
        fs::write(&path, b"1\n2\n{\"tor").expect("written");
        assert_eq!(read_json_lines::<u32>(&path), [1, 2]);
    }

    #[test]
    fn a_tail_starts_at_a_line() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("log");
        fs::write(&path, "first\nsecond\nthird\n").expect("written");
        assert_eq!(tail(&path, 9).expect("read"), ("third\n".into(), true));
        assert_eq!(tail(&path, 900).expect("read"), ("first\nsecond\nthird\n".into(), false));
    }

    #[test]
    fn json_that_is_not_ours_is_an_error_and_no_file_is_none() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("x.json");
        assert_eq!(read_json::<u32>(&path), Ok(None));
        fs::write(&path, "{").expect("written");
        assert!(read_json::<u32>(&path).is_err());
        write_json(&path, &7_u32).expect("written");
        assert_eq!(read_json(&path), Ok(Some(7_u32)));
    }
}
