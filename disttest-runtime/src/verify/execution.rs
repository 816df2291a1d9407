//! One execution, judged once more: its history read back, each checker made again and asked again, damaged copies shown to
//! it again.

use super::Means;
use super::again::Rejudged;
use crate::audit::weight::weigh;
use crate::base::time::Nanos;
use crate::checker::{Answer, Checker, Outcome, Recipe, rebuild};
use crate::fault::Window;
use crate::history::{History, jsonl};
use crate::run::check_within;
use crate::run::teeth::{self, Trial};
use crate::session::{Layout, disk};
use crate::verdict::{Bite, Declared, End, RunRecord, Tooth};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Judges again the execution in `folder`, whose record is `run`.
pub(super) fn judge_again(
    layout: &Layout,
    folder: &str,
    declared: &Declared,
    run: &RunRecord,
    means: &Means<'_>,
) -> Rejudged {
    let mut found = Rejudged::default();
    if run.answers.is_empty() {
        if run.end == End::Judged && run.history_weak.is_empty() {
            found.contradictions.push(format!("{folder}: its oracle judged, and no answer of a checker is recorded"));
        }
        return found;
    }
    let run_dir = layout.dir().join(folder);
    let history = match history(&run_dir) {
        Ok(history) => Arc::new(history),
        Err(why) => {
            found.contradictions.push(format!("{folder}: {why}"));
            return found;
        }
    };
    weight(&run_dir, folder, declared, run, &history, &mut found);
    found.contradictions.extend(figures(run).into_iter().map(|why| format!("{folder}: {why}")));
    let all_valid = run.answers.iter().all(|answer| answer.outcome == Outcome::Valid);
    for (at, answer) in run.answers.iter().enumerate() {
        match made_again(answer, run.recipes.get(at)) {
            Made::Again(checker) => {
                (means.say)(format!("{folder}: {} of {} operations", answer.checker, history.ops().len()));
                let asked = Asked { folder, run, history: &history, means };
                asked.answer(&checker, answer, &mut found);
                if all_valid {
                    asked.teeth(&checker, &mut found);
                }
            }
            Made::Code(why) => found.open.push(why),
            Made::Other(why) => found.contradictions.push(format!("{folder}: {why}")),
        }
    }
    found
}

fn history(run_dir: &Path) -> Result<History, String> {
    let path = run_dir.join("history.jsonl");
    let file = File::open(&path).map_err(|error| format!("history.jsonl cannot be read back: {error}"))?;
    jsonl::read(BufReader::new(file), "history.jsonl").map_err(|error| error.to_string())
}

/// What makes the history weak, found once more: a record that leaves it out would have passed where it must not.
fn weight(run_dir: &Path, folder: &str, declared: &Declared, run: &RunRecord, history: &History, found: &mut Rejudged) {
    // That it cannot be read back is told by what reads the record.
    let windows: Vec<Window> = disk::read_json(&run_dir.join("landing.json")).ok().flatten().unwrap_or_default();
    let end = windows.iter().map(|window| window.observed_until).max().unwrap_or(Nanos(u64::MAX));
    let landed = |window: &&Window| run.windows.iter().any(|w| w.epoch == window.epoch && w.landed);
    let windows: Vec<(&Window, bool)> = windows.iter().map(|window| (window, landed(&window))).collect();
    let checkers: Vec<&str> = declared.checkers.iter().map(|(checker, _)| checker.as_str()).collect();
    let weak = weigh(history, declared.model.as_deref(), &checkers, &windows, end).weak;
    if let Some(first) = weak.first().filter(|_| run.history_weak.is_empty()) {
        found.contradictions.push(format!("{folder}: its record calls the history complete, and it is not: {first}"));
    }
}

/// Figures of effort that say something else than the facts beside them.
fn figures(run: &RunRecord) -> Vec<String> {
    let landed = run.windows.iter().filter(|window| window.landed).count() as u64;
    let pairs = [
        ("operations", run.measured.operations, run.operations.acknowledged),
        ("faults", run.measured.faults, landed),
        ("seconds", run.measured.seconds, run.workload.as_duration().as_secs()),
    ];
    let differs = pairs.into_iter().filter(|(_, measured, shown)| measured != shown);
    differs
        .map(|(what, measured, shown)| format!("it measured {measured} {what}, and its facts show {shown}"))
        .collect()
}

/// A checker of a record.
enum Made {
    Again(Arc<dyn Checker>),
    /// It is code of its author.
    Code(String),
    /// What is recorded of it is of another checker.
    Other(String),
}

fn made_again(answer: &Answer, recipe: Option<&Option<Recipe>>) -> Made {
    let name = &answer.checker;
    let recipe = match recipe {
        Some(Some(recipe)) => recipe,
        Some(None) => return Made::Code(format!("{name} is code of the test: only its binary can judge again")),
        None => return Made::Code(format!("how {name} was set is not recorded: the session is of an older version")),
    };
    match rebuild(recipe) {
        Err(why) => Made::Code(format!("{name} cannot be made again: {why}")),
        Ok(checker) if checker.name() != name || checker.model() != answer.model.as_deref() => {
            let shown =
                |name: &str, model: Option<&str>| model.map_or(name.to_owned(), |model| format!("{name} of {model}"));
            Made::Other(format!(
                "it says that {} answered, and how to make {}",
                shown(name, answer.model.as_deref()),
                shown(checker.name(), checker.model())
            ))
        }
        Ok(checker) => Made::Again(Arc::from(checker)),
    }
}

/// One execution whose checkers are asked again.
struct Asked<'a> {
    folder: &'a str,
    run: &'a RunRecord,
    history: &'a Arc<History>,
    means: &'a Means<'a>,
}

impl Asked<'_> {
    /// Asks `checker` for the answer that is recorded.
    fn answer(&self, checker: &Arc<dyn Checker>, recorded: &Answer, found: &mut Rejudged) {
        let folder = self.folder;
        let lacks = checker.missing(self.history);
        if let Some(first) = lacks.first().filter(|_| self.run.history_lacks.is_empty()) {
            let name = checker.name();
            found.contradictions.push(format!("{folder}: {name} lacks what its record does not tell of: {first}"));
        }
        let again = check_within(checker, self.history, self.means.limits, &Arc::new(AtomicBool::new(false)));
        found.checks += 1;
        match (&recorded.outcome, &again.outcome) {
            // An unknown supports no verdict that a certainty would not.
            (Outcome::Unknown { .. }, _) => {}
            (_, Outcome::Unknown { why }) => {
                found.open.push(format!("{folder}: {} could not be decided here: {why}", recorded.checker));
            }
            (Outcome::Valid, Outcome::Valid) if again.evidence.consumed == recorded.evidence.consumed => {}
            (Outcome::Invalid { .. }, Outcome::Invalid { .. }) => {}
            _ => found.contradictions.push(format!(
                "{folder}: {} is recorded as {}, and the history shows {}",
                recorded.checker,
                said(recorded),
                said(&again)
            )),
        }
    }

    /// Shows `checker` the damaged copies of the record, and compares what it says.
    fn teeth(&self, checker: &Arc<dyn Checker>, found: &mut Rejudged) {
        let stop = Arc::new(AtomicBool::new(false));
        let (history, seed, limits) = (self.history, self.run.request.seed, self.means.limits);
        let trial = Trial { history, seed, limits, stop: &stop };
        let again = teeth::show(checker, &trial, &|what| (self.means.say)(format!("{}: {what}", self.folder)));
        found.checks += again.len();
        let recorded: Vec<&Tooth> = self.run.teeth.iter().filter(|tooth| tooth.checker == checker.name()).collect();
        for tooth in &again {
            let name = format!("{}: {} and a {}", self.folder, checker.name(), tooth.damage);
            match recorded.iter().find(|other| other.damage == tooth.damage) {
                Some(other) if other.bite == tooth.bite => {}
                Some(_) if tooth.bite == Bite::Undecided => found.open.push(format!("{name}: not decided here")),
                Some(other) => found.contradictions.push(format!(
                    "{name}: recorded as {}, and the copy is {}",
                    word(other.bite),
                    word(tooth.bite)
                )),
                None => {
                    found.contradictions.push(format!("{name}: not recorded, and the copy is {}", word(tooth.bite)))
                }
            }
        }
    }
}

fn word(bite: Bite) -> &'static str {
    match bite {
        Bite::Rejected => "rejected",
        Bite::Accepted => "accepted",
        Bite::Undecided => "undecided",
        Bite::NotApplicable => "not to be made",
    }
}

fn said(answer: &Answer) -> String {
    match &answer.outcome {
        Outcome::Valid => format!("valid, {} operations consumed", answer.evidence.consumed),
        Outcome::Invalid { violations } => {
            format!("invalid: {}", violations.first().map(|v| v.explanation.as_str()).unwrap_or_default())
        }
        Outcome::Unknown { why } => format!("unknown: {why}"),
    }
}
