//! From part files to the history: read back, counted, sorted by invocation, written for good.

use super::client::Remains;
use crate::base::digest::Running;
use crate::history::{Effect, Op};
use crate::verdict::OpCounts;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// Name of the history in the folder of a run.
pub const HISTORY_FILE: &str = "history.jsonl";
/// Name of the folder of part files, which is there while a run goes on, and after it was killed.
pub const PARTS_DIR: &str = "history.parts";

/// What was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// All operations, by invocation.
    pub ops: Vec<Op>,
    /// What is wrong with the recording (D19): with any of these the history is weak.
    pub defects: Vec<String>,
    /// Operations by outcome.
    pub counts: OpCounts,
    /// SHA-256 of the history as it was written, taken of the bytes before anything could change the file.
    pub sha256: String,
}

/// Reads back the parts of all clients, (process id, what the client counted), writes the history and removes them.
pub(super) fn merge(dir: &Path, clients: Vec<(u64, Remains)>) -> io::Result<Finished> {
    let mut defects = Vec::new();
    let mut lines: Vec<(Op, String)> = Vec::new();
    for (process, remains) in clients {
        let before = lines.len();
        read_part(&part_path(dir, process), process, &mut lines, &mut defects)?;
        let read = (lines.len() - before) as u64;
        if (remains.invoked, remains.lines) != (read, read) {
            defects.push(format!(
                "client {process} invoked {} operations and recorded {}, its part file holds {read}",
                remains.invoked, remains.lines
            ));
        }
        defects.extend(remains.defects);
    }
    lines.sort_by_key(|(op, _)| (op.invoke_ts, op.op_id));
    let mut ids = HashSet::new();
    defects.extend(
        lines.iter().filter(|(op, _)| !ids.insert(op.op_id)).map(|(op, _)| format!("operation {} twice", op.op_id)),
    );
    let sha256 = write(dir, &lines)?;
    let ops: Vec<Op> = lines.into_iter().map(|(op, _)| op).collect();
    let counts = count(&ops);
    Ok(Finished { ops, defects, counts, sha256 })
}

/// Path of the part file of a client.
pub(super) fn part_path(dir: &Path, process: u64) -> std::path::PathBuf {
    dir.join(PARTS_DIR).join(format!("c{process}.jsonl"))
}

fn read_part(path: &Path, process: u64, lines: &mut Vec<(Op, String)>, defects: &mut Vec<String>) -> io::Result<()> {
    for (number, line) in BufReader::new(File::open(path)?).lines().enumerate() {
        let line = line?;
        match serde_json::from_str::<Op>(&line) {
            Ok(op) if op.process_id == process => lines.push((op, line)),
            Ok(op) => defects.push(format!("operation {} of client {process} says client {}", op.op_id, op.process_id)),
            Err(error) => defects.push(format!("line {} of client {process} is unreadable: {error}", number + 1)),
        }
    }
    Ok(())
}

/// Whole or not at all: to a file beside it, synced, renamed; only then the parts go. The lines are those that were
/// read back, to the byte. Gives the SHA-256 of what was written.
fn write(dir: &Path, lines: &[(Op, String)]) -> io::Result<String> {
    let beside = dir.join(format!("{HISTORY_FILE}.new"));
    let mut file = BufWriter::new(File::create(&beside)?);
    let mut digest = Running::default();
    for (_, line) in lines {
        for part in [line.as_bytes(), b"\n"] {
            file.write_all(part)?;
            digest.add(part);
        }
    }
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&beside, dir.join(HISTORY_FILE))?;
    File::open(dir)?.sync_all()?;
    fs::remove_dir_all(dir.join(PARTS_DIR))?;
    Ok(digest.hex())
}

fn count(ops: &[Op]) -> OpCounts {
    let of = |effect: Effect| ops.iter().filter(|op| op.effect() == effect).count() as u64;
    OpCounts {
        recorded: ops.len() as u64,
        acknowledged: of(Effect::Acknowledged),
        failed: of(Effect::Failed),
        unknown: of(Effect::Unknown),
    }
}
