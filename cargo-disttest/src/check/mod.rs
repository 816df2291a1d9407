//! Judging one history: the model and checker that are meant, the limits, the answer and how it is shown.

pub(crate) mod answer;
pub(crate) mod html;
pub(crate) mod json;
mod memory;
pub(crate) mod models;
pub(crate) mod size;
mod strings;
pub(crate) mod text;
pub(crate) mod watch;

use crate::import::{self, Reading, Stopped, Tuples};
use answer::{Checked, Counts, Judged, Undecided};
use disttest_runtime::checker::{Answer, Checker, Evidence, Outcome};
use disttest_runtime::history::{Effect, History, Op};
use models::Known;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};
use watch::Watch;

/// What a failed `cas` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FailSemantics {
    /// Nothing: it never happened
    #[default]
    Drop,
    /// That another value was there: it answered false
    Constrain,
}

/// What is to be checked, and how.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The model.
    pub model: &'static Known,
    /// Names of the checkers: keys of [`Known::checkers`].
    pub checkers: Vec<&'static str>,
    /// Value at the start.
    pub init: Option<Value>,
    /// One object per key (`Some(true)`), one object (`Some(false)`), or what the history says.
    pub per_key: Option<bool>,
    /// What a failed `cas` says.
    pub fail: FailSemantics,
    /// How histories are read.
    pub reading: Reading,
    /// Time for each file.
    pub timeout: Duration,
    /// Memory of the process.
    pub memory: u64,
}

impl Settings {
    /// Whether a history is checked key by key.
    fn by_key(&self, history: &History) -> bool {
        self.per_key.unwrap_or_else(|| history.ops().iter().any(|op| op.key.is_some()))
    }
}

/// Reads and judges the history `name`; an answer for each checker.
pub(crate) fn check(name: &Path, settings: &Settings, watch: &Watch<'_>) -> Judged {
    let began = Instant::now();
    let tuples = match settings.per_key {
        Some(true) => Tuples::Always,
        Some(false) => Tuples::Never,
        None if settings.model.tuples => Tuples::Detect,
        None => Tuples::Never,
    };
    let read = import::read(name, Reading { tuples, ..settings.reading }, watch);
    let read = read.and_then(|imported| watch.exceeded_now().map_or(Ok(imported), |limit| Err(Stopped::Limit(limit))));
    let mut imported = match read {
        Ok(imported) => imported,
        Err(Stopped::Refused(problem)) => return Judged::Unreadable(problem),
        Err(Stopped::Limit(limit)) => {
            let why = format!("stopped by {limit} while the history was read: more time or memory is needed");
            return Judged::Undecided(Undecided { why, read_in: began.elapsed() });
        }
    };
    let counts = Counts::of(imported.history.ops());
    if settings.fail == FailSemantics::Constrain {
        imported.history = constrained(imported.history);
    }
    let read_in = began.elapsed();
    let by_key = settings.by_key(&imported.history);
    let answers = settings.checkers.iter().filter_map(|checker| {
        let make = settings.model.checkers.iter().find(|(name, _)| name == checker)?.1;
        let built = make(&models::Asked { init: settings.init.as_ref(), by_key });
        Some(built.map_or_else(
            |why| refusal(checker, why, &imported.history),
            |checker| one(checker.as_ref(), &imported.history, watch),
        ))
    });
    let answers = answers.collect();
    Judged::Read(Box::new(Checked { imported, counts, by_key, read_in, answers }))
}

/// Asks one checker. Whatever it says, nothing consumed is nothing shown.
fn one(checker: &dyn Checker, history: &History, watch: &Watch<'_>) -> answer::One {
    let began = Instant::now();
    let mut answer = checker.check(history, watch);
    let elapsed = began.elapsed();
    if answer.outcome == Outcome::Valid && (history.ops().is_empty() || answer.evidence.consumed == 0) {
        let why = "no operation of the history could have contradicted the model".to_owned();
        answer.outcome = Outcome::Unknown { why };
    }
    let missing = checker.missing(history);
    let peak_bytes = memory::peak().unwrap_or(answer.evidence.peak_bytes);
    let (not, also_not) = ruled_out(&answer);
    answer::One { answer, not, also_not, missing, elapsed, peak_bytes }
}

/// The weakest consistency models that an answer rules out, and the stronger ones that follow.
fn ruled_out(answer: &Answer) -> (Vec<&'static str>, Vec<&'static str>) {
    let invalid = matches!(answer.outcome, Outcome::Invalid { .. });
    match answer.checker.as_str() {
        "linearizability" if invalid => (vec!["linearizable"], vec!["strict-serializable"]),
        _ => (Vec::new(), Vec::new()),
    }
}

/// What a checker that cannot be made of these settings comes to.
fn refusal(checker: &str, why: String, history: &History) -> answer::One {
    let answer = Answer {
        checker: checker.to_owned(),
        model: None,
        outcome: Outcome::Unknown { why },
        evidence: Evidence { recorded: history.ops().len() as u64, ..Evidence::default() },
        cannot_detect: Vec::new(),
    };
    let (not, also_not, missing) = (Vec::new(), Vec::new(), Vec::new());
    answer::One { answer, not, also_not, missing, elapsed: Duration::ZERO, peak_bytes: 0 }
}

/// Each failed `cas` as one that completed and answered `false`.
fn constrained(history: History) -> History {
    let saw_another = |mut op: Op| {
        if op.op_type == "cas" && op.effect() == Effect::Failed {
            op.error = None;
            op.output = false.into();
        }
        op
    };
    let ops: Vec<Op> = history.into_ops().into_iter().map(saw_another).collect();
    History::new(ops).expect("ids and times are what they were, and a completed operation may have an output")
}
