//! The timeline of a run, appended to `events.jsonl` as things happen.

use crate::verdict::{Event, RunRequest};
use anyhow::{Context, Result};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Appends events of one run.
#[derive(Debug)]
pub(crate) struct Events {
    scenario: String,
    seed: u64,
    file: Mutex<File>,
}

impl Events {
    /// Opens `run_dir/events.jsonl` for appending.
    pub(crate) fn open(request: &RunRequest) -> Result<Events> {
        let path = Path::new(&request.run_dir).join("events.jsonl");
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Events { scenario: request.scenario.clone(), seed: request.seed, file: Mutex::new(file) })
    }

    /// Appends one event. A full disk must not change the outcome of a run, so a failed write is dropped: no verdict
    /// rests on the timeline.
    pub(crate) fn say(&self, event: impl Into<String>, notes: impl Into<String>) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let event = Event {
            unix_ms: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
            scenario: self.scenario.clone(),
            seed: Some(self.seed),
            event: event.into(),
            notes: notes.into(),
        };
        if let Ok(mut line) = serde_json::to_vec(&event) {
            line.push(b'\n');
            drop(self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line));
        }
    }
}
