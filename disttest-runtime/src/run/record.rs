//! The record of a run and the files beside it, made of the facts gathered, however the run ended.

use super::core::Core;
use super::seal::seal;
use super::signals;
use crate::base::time::Nanos;
use crate::nemesis::journaled_injections;
use crate::plan::Budget;
use crate::verdict::{End, RunRecord, RunRequest};
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// The record of a run that ended by `end`. Ends the recording, if it has not, and writes
/// `landing.json`; what cannot be written makes the
/// history weak, since nobody could verify the verdict.
pub(super) fn gather(core: &Core, end: End) -> RunRecord {
    observability(core);
    let written = close_history(core);
    let landing = write_landing(core);
    let mut facts = core.facts();
    for problem in [written.as_ref().err(), landing.as_ref().err()].into_iter().flatten() {
        facts.history_weak.push(format!("not on disk: {problem:#}"));
    }
    let journaled = journaled_injections(core.run_dir());
    if let Err(error) = &journaled {
        facts.history_weak.push(format!("{error:#}"));
    }
    let deaths = facts.cluster.as_ref().map(|cluster| cluster.deaths()).unwrap_or_default();
    let binaries = facts.cluster.as_ref().map(|cluster| cluster.binaries()).unwrap_or_default();
    let workload = facts.workload.unwrap_or_else(|| so_far(core, facts.workload_from));
    let counts = facts.operations;
    let judged = end == End::Judged;
    RunRecord {
        schema: "disttest.run/1".to_owned(),
        measured: Budget {
            nodes: facts.cluster.as_ref().map_or(0, |cluster| cluster.nodes().len() as u64),
            seconds: workload.as_duration().as_secs(),
            faults: facts.assessed.iter().filter(|window| window.landed).count() as u64,
            seeds: u64::from(judged),
            operations: counts.acknowledged,
        },
        request: core.request.clone(),
        end,
        workload,
        operations: counts,
        preconditions: facts.all_preconditions(),
        windows: facts.assessed.clone(),
        no_fault: facts.no_fault.clone(),
        injections: journaled.unwrap_or_default(),
        history_sha256: written.ok(),
        history_weak: facts.history_weak.clone(),
        history_lacks: facts.history_lacks.clone(),
        quiescence: facts.quiescence.clone(),
        answers: facts.answers.clone(),
        recipes: facts.recipes.clone(),
        teeth: facts.teeth.clone(),
        controls: facts.controls.clone(),
        expected_log: facts.cluster.as_ref().map(|cluster| cluster.expected_log()).unwrap_or_default(),
        deaths,
        binaries,
        // The log of this very process is whole only once it has ended, so its supervisor scans them all.
        log_scan: None,
        notes: facts.notes.clone(),
    }
}

/// The record of a run that could not even begin.
pub(super) fn never_began(request: RunRequest, why: String) -> RunRecord {
    let preconditions = super::facts::Facts::default().all_preconditions();
    RunRecord { preconditions, ..RunRecord::of_nothing(request, End::Error { message: why }) }
}

/// Writes `run_dir/run.json` in one step: there is a whole record or none.
pub(crate) fn write(record: &RunRecord) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(record)?;
    text.push(b'\n');
    let run_dir = Path::new(&record.request.run_dir);
    seal(run_dir, &text).context("run.json cannot be sealed")?;
    replace(&run_dir.join("run.json"), &text)
}

/// Each declared victim signal gave at least one reading.
fn observability(core: &Core) {
    let silent = signals::unread(core, core.entry.victim);
    let started = core.facts().cluster.is_some();
    let evidence = match (core.entry.victim, silent.as_slice()) {
        _ if !started => return,
        ([], _) => "no victim signal is declared".to_owned(),
        (all, []) => format!("each of {} was read", all.join(", ")),
        (_, silent) => format!("never read: {}", silent.join(", ")),
    };
    core.facts().precondition("observability live", silent.is_empty(), evidence);
}

fn so_far(core: &Core, from: Option<Nanos>) -> Nanos {
    from.map(|from| Nanos::from(core.clock.now().since(from))).unwrap_or_default()
}

/// Ends the recording if the run ended before it did; returns the SHA-256 of the history that the oracle was given.
///
/// Never that of the file as it is now: code of the scenario has run since, and a history that was changed after it was
/// judged must not be taken for the one that was.
fn close_history(core: &Core) -> Result<String> {
    if !core.facts().recording_finished {
        // Clients are cut off: that their operations lose their handles is the run's doing.
        core.recorder.closing();
        core.finish_recording()?;
    }
    core.facts().history_sha256.clone().context("no history was written")
}

fn write_landing(core: &Core) -> Result<()> {
    let text = serde_json::to_vec_pretty(&core.facts().windows)?;
    replace(&core.run_dir().join("landing.json"), &text)
}

fn replace(path: &Path, text: &[u8]) -> Result<()> {
    let temporary = path.with_extension("partial");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().with_context(|| format!("{} cannot be written", path.display()))
}
