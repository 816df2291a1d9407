//! What an execution says about itself while it runs: new lines of its `events.jsonl`.

use crate::verdict::Event;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Follows an events file from its beginning.
#[derive(Debug)]
pub(crate) struct Tail {
    path: PathBuf,
    offset: u64,
    /// The beginning of a line whose end is not written yet.
    begun: Vec<u8>,
    last: Option<Event>,
}

impl Tail {
    /// Follows the file at `path`, which need not exist yet.
    pub(crate) fn new(path: PathBuf) -> Tail {
        Tail { path, offset: 0, begun: Vec::new(), last: None }
    }

    /// Reads what is new; the last event so far in one line.
    pub(crate) fn latest(&mut self) -> Option<String> {
        for line in self.new_lines() {
            if let Ok(event) = serde_json::from_slice::<Event>(&line) {
                self.last = Some(event);
            }
        }
        self.last.as_ref().map(|event| match (event.event.as_str(), event.notes.as_str()) {
            ("progress" | "note", notes) => notes.to_owned(),
            (event, "") => event.to_owned(),
            (event, notes) => format!("{event} ({notes})"),
        })
    }

    fn new_lines(&mut self) -> Vec<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.offset))?;
            file.read_to_end(&mut bytes)
        });
        self.offset += read.unwrap_or(0) as u64;
        self.begun.append(&mut bytes);
        let mut lines = Vec::new();
        while let Some(end) = self.begun.iter().position(|b| *b == b'\n') {
            lines.push(self.begun.drain(..=end).collect());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_once_and_only_when_it_is_whole() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("events.jsonl");
        let mut tail = Tail::new(path.clone());
        assert_eq!(tail.latest(), None);
        let line = |event: &str, notes: &str| {
            format!(r#"{{"unix_ms":1,"scenario":"S1","seed":1,"event":"{event}","notes":"{notes}"}}"#)
        };
        let (whole, begun) = (line("start", "3 nodes"), line("progress", "120 operations"));
        std::fs::write(&path, format!("{whole}\n{}", &begun[..20])).expect("written");
        assert_eq!(tail.latest().as_deref(), Some("start (3 nodes)"));
        std::fs::write(&path, format!("{whole}\n{begun}\n")).expect("written");
        assert_eq!(tail.latest().as_deref(), Some("120 operations"));
    }
}
