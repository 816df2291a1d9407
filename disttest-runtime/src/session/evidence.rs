//! What one execution left on disk, read without trust: a record counts only when it answers the request it was asked
//! and agrees with the files beside it.

use super::disk;
use crate::audit::logs;
use crate::base::digest::sha256_hex_of;
use crate::fault::{Assessment, Policy, Window, assess};
use crate::history::{Effect, Op};
use crate::verdict::{End, ExpectedLog, LogScan, OpCounts, RUN_SCHEMA, RunRecord, RunRequest, Trial};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Why there is no record where none was written.
const NO_RECORD: &str = "it left no run.json: it was killed, or is still running";

/// The record of the execution that was asked for with `request` in `run_dir`.
///
/// Without a `run.json` that answers exactly this request, the execution died ([`End::Died`]): never a pass. With one,
/// the history on disk is counted and the samples of the fault windows are assessed again, what negative controls read is read again, every
/// disagreement is added to [`RunRecord::history_weak`], and every captured log is scanned for panics
/// ([`RunRecord::log_scan`]). Reads the history and the logs once. The answer depends on the files of the session alone, so that a later verification, on
/// another machine too, repeats it.
pub fn read_run(run_dir: &Path, request: &RunRequest) -> RunRecord {
    match answer(run_dir, request) {
        Ok(mut record) => {
            record.history_weak.extend(disagreements(run_dir, &record));
            record.log_scan = scan_logs(run_dir, &record.expected_log);
            record
        }
        Err(why) => died(request, why, Vec::new()),
    }
}

/// Called when the process of an execution has ended: when it left no `run.json` that answers `request`, whatever is
/// there is moved aside and the death is written down with `how` it ended and `notes` on what had to be undone.
pub fn settle_run(run_dir: &Path, request: &RunRequest, how: &str, notes: Vec<String>) -> io::Result<()> {
    let Err(why) = answer(run_dir, request) else { return Ok(()) };
    let path = run_dir.join("run.json");
    if path.exists() {
        fs::rename(&path, run_dir.join("run.json.rejected"))?;
    }
    let how = if why == NO_RECORD { how.to_owned() } else { format!("{how}; {why}") };
    disk::write_json(&path, &died(request, how, notes))
}

/// `run.json`, if it answers `request`; else why there is no answer.
fn answer(run_dir: &Path, request: &RunRequest) -> Result<RunRecord, String> {
    let record: RunRecord = disk::read_json(&run_dir.join("run.json"))
        .map_err(|why| format!("its run.json cannot be used ({why})"))?
        .ok_or(NO_RECORD)?;
    if record.schema != RUN_SCHEMA {
        return Err(format!("its run.json has the schema `{}`, not {RUN_SCHEMA}", record.schema));
    }
    if record.request.run_id != request.run_id {
        return Err(format!("its run.json is of another run, `{}`", record.request.run_id));
    }
    if record.request != *request {
        return Err("its run.json answers another request than it was given".to_owned());
    }
    Ok(record)
}

fn died(request: &RunRequest, how: String, notes: Vec<String>) -> RunRecord {
    RunRecord { notes, ..RunRecord::of_nothing(request.clone(), End::Died { how }) }
}

/// Where the record and the raw files differ.
fn disagreements(run_dir: &Path, record: &RunRecord) -> Vec<String> {
    let mut found = history_disagreements(&run_dir.join("history.jsonl"), record);
    found.extend(window_disagreement(&run_dir.join("landing.json"), record));
    found.extend(record.controls.iter().flat_map(|trial| control_disagreements(run_dir, trial)));
    found
}

fn history_disagreements(path: &Path, record: &RunRecord) -> Vec<String> {
    let on_disk = match File::open(path) {
        Ok(file) => sha256_hex_of(file).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let judged = record.end == End::Judged;
    match (&record.history_sha256, on_disk) {
        (None, Err(_)) if !judged => return Vec::new(),
        (None, _) if judged => return vec!["the oracle judged a history whose hash was not recorded".to_owned()],
        (None, _) => return Vec::new(),
        (Some(_), Err(error)) => return vec![format!("history.jsonl cannot be read back: {error}")],
        (Some(recorded), Ok(hash)) if *recorded != hash => {
            return vec![format!(
                "history.jsonl is not the history that was judged: SHA-256 {hash}, recorded {recorded}"
            )];
        }
        (Some(_), Ok(_)) => {}
    }
    match count(path) {
        Ok(counted) if counted == record.operations => Vec::new(),
        Ok(counted) => {
            vec![format!("history.jsonl holds {}, run.json counted {}", words(counted), words(record.operations))]
        }
        Err(why) => vec![why],
    }
}

/// Counts the operations of a history file by outcome.
fn count(path: &Path) -> Result<OpCounts, String> {
    let file = File::open(path).map_err(|error| format!("history.jsonl cannot be read back: {error}"))?;
    let mut counts = OpCounts::default();
    for (index, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = line.map_err(|error| format!("history.jsonl cannot be read back: {error}"))?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let op: Op = serde_json::from_slice(&line)
            .map_err(|error| format!("line {} of history.jsonl is no operation: {error}", index + 1))?;
        counts.recorded += 1;
        match op.effect() {
            Effect::Acknowledged => counts.acknowledged += 1,
            Effect::Failed => counts.failed += 1,
            Effect::Unknown => counts.unknown += 1,
        }
    }
    Ok(counts)
}

fn words(counts: OpCounts) -> String {
    let OpCounts { recorded, acknowledged, failed, unknown } = counts;
    format!("{recorded} operations ({acknowledged} acknowledged, {failed} failed, {unknown} unknown)")
}

fn window_disagreement(path: &Path, record: &RunRecord) -> Option<String> {
    let raw: Option<Vec<Window>> = match disk::read_json(path) {
        Ok(raw) => raw,
        Err(why) => return Some(format!("the fault windows cannot be read back: {why}")),
    };
    let raw = raw.unwrap_or_default();
    let same = raw.iter().map(|w| (w.epoch, &w.nemesis)).eq(record.windows.iter().map(|w| (w.epoch, &w.nemesis)));
    if !same {
        let (raw, assessed) = (raw.len(), record.windows.len());
        return Some(format!(
            "landing.json holds {raw} fault windows, run.json assessed {assessed}: not the same ones"
        ));
    }
    let differs = raw.iter().map(|window| assess(window, &Policy::default())).zip(&record.windows);
    let (again, recorded) = differs.into_iter().find(|(again, recorded)| proves(again) != proves(recorded))?;
    let says = |w: &Assessment| {
        let not = |holds: bool, what: &str| if holds { what.to_owned() } else { format!("not {what}") };
        format!("{}, {}", not(w.landed, "landed"), not(w.recovered, "recovered"))
    };
    Some(format!(
        "fault window {} ({}) is recorded as {}, and its samples in landing.json show {}: {}; {}",
        recorded.epoch,
        recorded.nemesis,
        says(recorded),
        says(&again),
        again.injector.why,
        again.victim.why
    ))
}

/// What is proven of a window and of each part of it.
fn proves(window: &Assessment) -> Vec<(&str, Option<String>, [bool; 4])> {
    let of = |w: &Assessment| [w.injector.moved, w.victim.moved, w.landed, w.recovered];
    let all = std::iter::once(window).chain(&window.parts);
    all.map(|w| (w.nemesis.as_str(), w.missed(), of(w))).collect()
}

/// Where a trial of a negative control says something else than what follows from it and from what it read.
fn control_disagreements(run_dir: &Path, trial: &Trial) -> Vec<String> {
    let mut found = Vec::new();
    if trial.judge() != trial.result {
        found.push(format!("the result of the negative control \"{}\" does not follow from its record", trial.control));
    }
    for channel in trial.channels.iter().filter(|channel| channel.error.is_none()) {
        // A record is not trusted with a path.
        let plain = channel.file.as_deref().filter(|name| Path::new(name).file_name() == Some(name.as_ref()));
        let text = plain.and_then(|name| fs::read_to_string(run_dir.join(name)).ok());
        if text.is_none_or(|text| channel.clone().with(&text, &trial.twins) != *channel) {
            let name = &channel.name;
            found.push(format!("what {name} showed to the negative control \"{}\" is not on disk", trial.control));
        }
    }
    found
}

/// Reads every log of an execution from its first byte to its last: that of the test, in which nothing is expected, and
/// those of the system under test. `None` when one of them cannot be read: what was not read whole was not scanned.
fn scan_logs(run_dir: &Path, expected: &[ExpectedLog]) -> Option<LogScan> {
    let mut files = vec![(run_dir.join("test.log"), false)];
    files.extend(files_below(&log_dir_of(run_dir)?)?.into_iter().map(|path| (path, true)));
    let mut scan = logs::Scanner::new(expected);
    for (path, of_a_node) in files.iter().filter(|(path, _)| path.exists()) {
        let name = path.file_name()?.to_string_lossy();
        scan.add(&name, &fs::read(path).ok()?, *of_a_node);
    }
    Some(scan.done())
}

/// `<session>/artifacts/S1/seed-7` has its logs in `<session>/logs/S1/seed-7`, wherever the session is now.
fn log_dir_of(run_dir: &Path) -> Option<PathBuf> {
    let (scenario, execution) = (run_dir.parent()?.file_name()?, run_dir.file_name()?);
    let session = run_dir.ancestors().nth(3)?;
    Some(session.join("logs").join(scenario).join(execution))
}

/// Every file below `dir`, sorted; none when there is no such folder.
fn files_below(dir: &Path) -> Option<Vec<PathBuf>> {
    let mut files = Vec::new();
    if dir.is_dir() {
        for entry in fs::read_dir(dir).ok()? {
            let path = entry.ok()?.path();
            if path.is_dir() { files.extend(files_below(&path)?) } else { files.push(path) }
        }
    }
    files.sort();
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::super::scenario::tests::request;
    use super::*;

    fn judged(run_dir: &Path, history: &str) -> RunRecord {
        fs::write(run_dir.join("history.jsonl"), history).expect("written");
        let mut record = died(&request("S1", 7), String::new(), Vec::new());
        record.end = End::Judged;
        record.history_sha256 = Some(crate::base::digest::sha256_hex(history.as_bytes()));
        record.operations = count(&run_dir.join("history.jsonl")).expect("counted");
        disk::write_json(&run_dir.join("run.json"), &record).expect("written");
        record
    }

    const OP: &str = r#"{"op_id":1,"process_id":1,"invoke_ts":1,"complete_ts":2,"op_type":"write","key":"k","input":1,"output":null,"error":null,"timeout_marker":false,"node_seen":"n1","fault_epoch":null}"#;

    #[test]
    fn a_record_that_agrees_with_its_files_is_taken_as_it_is() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut record = judged(dir.path(), &format!("{OP}\n"));
        assert_eq!(record.operations.acknowledged, 1);
        let read = read_run(dir.path(), &request("S1", 7));
        record.log_scan = read.log_scan.clone();
        assert_eq!(read, record);
    }

    #[test]
    fn every_captured_log_is_scanned_whole_and_one_that_cannot_be_read_is_no_clean_log() {
        let session = tempfile::tempdir().expect("a temporary folder");
        let folder = |top: &str| {
            let dir = session.path().join(top).join("S1/seed-7");
            fs::create_dir_all(&dir).expect("made");
            dir
        };
        let (run_dir, log_dir) = (folder("artifacts"), folder("logs"));
        judged(&run_dir, "");
        fs::write(run_dir.join("test.log"), "up\n").expect("written");
        fs::write(log_dir.join("n1.log"), "up\nthread 'main' panicked at x.rs:1:1:\n").expect("written");
        let scan = read_run(&run_dir, &request("S1", 7)).log_scan.expect("scanned");
        assert_eq!((scan.files, scan.suspicious.len()), (2, 1));
        let mut record: RunRecord = disk::read_json(&run_dir.join("run.json")).expect("read").expect("there");
        record.expected_log = vec![ExpectedLog { contains: "panicked at x.rs".into(), reason: "planted".into() }];
        disk::write_json(&run_dir.join("run.json"), &record).expect("written");
        let scan = read_run(&run_dir, &request("S1", 7)).log_scan.expect("scanned");
        assert_eq!(
            (scan.suspicious.len(), scan.expected.len()),
            (0, 1),
            "what a node's log is said to hold is told apart"
        );
        fs::rename(log_dir.join("n1.log"), run_dir.join("test.log")).expect("moved");
        let scan = read_run(&run_dir, &request("S1", 7)).log_scan.expect("scanned");
        assert_eq!(scan.suspicious.len(), 1, "the test's own log is no node's");
        fs::remove_file(run_dir.join("test.log")).expect("removed");
        fs::create_dir(run_dir.join("test.log")).expect("made");
        assert_eq!(read_run(&run_dir, &request("S1", 7)).log_scan, None);
    }

    #[test]
    fn no_record_a_torn_one_and_one_of_another_run_are_deaths() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let check = |why: &str| match read_run(dir.path(), &request("S1", 7)).end {
            End::Died { how } => assert!(how.contains(why), "{how}"),
            other => panic!("{other:?}"),
        };
        check("left no run.json");
        fs::write(dir.path().join("run.json"), "{\"schema\":").expect("written");
        check("cannot be used");
        let mut foreign = judged(dir.path(), "");
        foreign.request.run_id = "older".into();
        disk::write_json(&dir.path().join("run.json"), &foreign).expect("written");
        check("of another run, `older`");
        foreign.request = request("S1", 7);
        foreign.request.tier = crate::plan::Tier::Release;
        disk::write_json(&dir.path().join("run.json"), &foreign).expect("written");
        check("another request");
    }

    #[test]
    fn a_history_that_was_cut_or_edited_afterwards_is_weak() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let check = |expect: &str| {
            let weak = read_run(dir.path(), &request("S1", 7)).history_weak;
            assert!(weak.iter().any(|why| why.contains(expect)), "{weak:?}");
        };
        judged(dir.path(), &format!("{OP}\n{OP}\n"));
        fs::write(dir.path().join("history.jsonl"), format!("{OP}\n")).expect("written");
        check("not the history that was judged");
        fs::remove_file(dir.path().join("history.jsonl")).expect("removed");
        check("cannot be read back");
        let mut record = judged(dir.path(), &format!("{OP}\n"));
        record.operations.recorded = 2;
        disk::write_json(&dir.path().join("run.json"), &record).expect("written");
        check("holds 1 operations");
        record.history_sha256 = None;
        disk::write_json(&dir.path().join("run.json"), &record).expect("written");
        check("hash was not recorded");
    }

    #[test]
    fn what_a_negative_control_read_is_read_again_and_its_result_judged_again() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let text = "reads of tenant b: 1, denied: 1";
        let check = |change: &dyn Fn(&mut Trial), on_disk: &str, expect: Option<&str>| {
            let mut record = judged(dir.path(), &format!("{OP}\n"));
            let mut trial = crate::verdict::held("B reads A's key");
            trial.channels[0].file = Some("control-1-1.txt".into());
            change(&mut trial);
            record.controls = vec![trial];
            disk::write_json(&dir.path().join("run.json"), &record).expect("written");
            fs::write(dir.path().join("control-1-1.txt"), on_disk).expect("written");
            let weak = read_run(dir.path(), &request("S1", 7)).history_weak;
            match expect {
                None => assert_eq!(weak, Vec::<String>::new()),
                Some(expect) => assert!(weak.iter().any(|why| why.contains(expect)), "{weak:?}"),
            }
        };
        check(&|_| {}, text, None);
        check(&|_| {}, "reads of tenant b: 2", Some("is not on disk"));
        check(&|t| t.channels[0].file = None, text, Some("is not on disk"));
        check(&|t| t.channels[0].file = Some("../run/control-1-1.txt".into()), text, Some("is not on disk"));
        check(&|t| t.attempts.clear(), text, Some("does not follow"));
        // What shows the secret, and is said not to.
        let leak = |t: &mut Trial| {
            t.channels[0] = t.channels[0].clone().with("tenant b saw secret-of-a", &t.twins);
            t.channels[0].shows_secret = false;
        };
        check(&leak, "tenant b saw secret-of-a", Some("is not on disk"));
    }

    #[test]
    fn a_death_is_written_down_and_what_was_there_is_kept_aside() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut foreign = judged(dir.path(), "");
        foreign.request.run_id = "older".into();
        disk::write_json(&dir.path().join("run.json"), &foreign).expect("written");
        settle_run(dir.path(), &request("S1", 7), "signal 9", vec!["killed n1".into()]).expect("settled");
        let record = read_run(dir.path(), &request("S1", 7));
        assert!(
            matches!(&record.end, End::Died { how } if how.starts_with("signal 9; its run.json is of another run")),
            "{:?}",
            record.end
        );
        assert_eq!(record.notes, ["killed n1"]);
        assert!(dir.path().join("run.json.rejected").exists());
        let kept = judged(dir.path(), "");
        settle_run(dir.path(), &request("S1", 7), "exit status 0", Vec::new()).expect("settled");
        let read = read_run(dir.path(), &request("S1", 7));
        assert_eq!((read.end, read.notes), (kept.end, kept.notes));
    }
}
