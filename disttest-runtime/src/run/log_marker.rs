//! Counts lines with a given text in a node's log, as captured by us, from its first byte.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Reads on where it stopped; a line counts once it is complete.
#[derive(Debug)]
pub(crate) struct LogMarker {
    path: PathBuf,
    text: String,
    offset: u64,
    unfinished: Vec<u8>,
    found: u64,
    latest: Option<String>,
}

impl LogMarker {
    /// Counts lines of the log at `path` that contain `text`.
    pub(crate) fn new(path: PathBuf, text: &str) -> LogMarker {
        LogMarker { path, text: text.to_owned(), offset: 0, unfinished: Vec::new(), found: 0, latest: None }
    }

    /// Lines found from the first byte on; `None` when the log cannot be read.
    pub(crate) fn count(&mut self) -> Option<f64> {
        let mut file = File::open(&self.path).ok()?;
        file.seek(SeekFrom::Start(self.offset)).ok()?;
        let read = file.read_to_end(&mut self.unfinished).ok()?;
        self.offset += read as u64;
        let end = self.unfinished.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let rest = self.unfinished.split_off(end);
        let complete = std::mem::replace(&mut self.unfinished, rest);
        let lines = String::from_utf8_lossy(&complete);
        for line in lines.lines().filter(|line| line.contains(&self.text)) {
            self.found += 1;
            self.latest = Some(line.to_owned());
        }
        Some(self.found as f64)
    }

    /// The line that was found last.
    pub(crate) fn latest(&self) -> Option<&str> {
        self.latest.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_line_counts_once_and_only_when_it_is_complete() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let mut marker = LogMarker::new(file.path().to_owned(), "leader lost");
        let mut check = |write: &[u8], expect: f64| {
            file.write_all(write).expect("written");
            assert_eq!(marker.count(), Some(expect), "{}", String::from_utf8_lossy(write));
        };
        check(b"", 0.0);
        check(b"all fine\n", 0.0);
        check(b"leader lo", 0.0);
        check(b"st, leader lost\n", 1.0);
        check(b"leader lost\nleader found\nleader lost\n", 3.0);
        check(b"\xff\xfe leader lost\n", 4.0);
    }

    #[test]
    fn a_log_that_cannot_be_read_is_a_gap() {
        assert_eq!(LogMarker::new("/no/such/log".into(), "x").count(), None);
    }
}
