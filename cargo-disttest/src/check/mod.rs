//! Judging one history: the model and checker that are meant, the limits, the answer and how it is shown.

pub(crate) mod answer;
pub(crate) mod html;
pub(crate) mod json;
mod makers;
mod memory;
pub(crate) mod models;
pub(crate) mod parameters;
pub(crate) mod size;
pub(crate) mod text;
pub(crate) mod watch;

use crate::import::{self, Body, Imported, Reading, Stopped, Tuples};
use answer::{Checked, Counts, Judged, Undecided};
use disttest_runtime::checker::isolation::{self, KeyOrder, Level};
use disttest_runtime::checker::{Answer, Evidence, Outcome};
use disttest_runtime::history::{Effect, History, Op};
use disttest_runtime::txn::Txns;
use makers::{Judge, Scope};
use models::{Asked, Known, Make};
use parameters::Parameters;
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
    /// Names of the checkers, of those that fit the model; all of operations, or all of transactions.
    pub checkers: Vec<&'static str>,
    /// Value at the start.
    pub init: Option<Value>,
    /// One object per key (`Some(true)`), one object (`Some(false)`), or what the history says.
    pub per_key: Option<bool>,
    /// What a failed `cas` says.
    pub fail: FailSemantics,
    /// The consistency model of transactions that must hold.
    pub level: Option<Level>,
    /// What may be assumed of the keys of a `rw-register`.
    pub keys: KeyOrder,
    /// What else checkers are told.
    pub parameters: Parameters,
    /// How histories are read.
    pub reading: Reading,
    /// Time for each file.
    pub timeout: Duration,
    /// Memory of the process.
    pub memory: u64,
    /// Threads, at most.
    pub threads: usize,
}

impl Settings {
    /// The checkers, and how each is made.
    fn makes(&self) -> impl Iterator<Item = (&'static str, Make)> {
        let chosen = self.model.checkers().filter(|(name, _)| self.checkers.contains(name));
        chosen.map(|(name, make)| (*name, *make))
    }

    /// Histories are transactions, not operations.
    fn of_txns(&self) -> bool {
        self.makes().any(|(_, make)| matches!(make, Make::Txns(_)))
    }

    /// What checkers of a history with keys, or without, are made of.
    pub(crate) fn asked(&self, has_keys: bool) -> Asked<'_> {
        Asked {
            init: self.init.as_ref(),
            by_key: self.per_key.unwrap_or(has_keys),
            per_key: self.per_key,
            level: self.level,
            keys: self.keys,
            parameters: &self.parameters,
        }
    }
}

/// Reads and judges the history `name`; an answer for each checker.
pub(crate) fn check(name: &Path, settings: &Settings, watch: &Watch<'_>) -> Judged {
    let began = Instant::now();
    let read = read(name, settings, watch);
    let read = read.and_then(|imported| watch.exceeded_now().map_or(Ok(imported), |limit| Err(Stopped::Limit(limit))));
    let mut imported = match read {
        Ok(imported) => imported,
        Err(Stopped::Refused(problem)) => return Judged::Unreadable(problem),
        Err(Stopped::Limit(limit)) => {
            let why = format!("stopped by {limit} while the history was read: more time or memory is needed");
            return Judged::Undecided(Undecided { why, read_in: began.elapsed() });
        }
    };
    let counts = match &mut imported.body {
        Body::Txns(txns) => Counts::of_txns(txns),
        Body::Ops { history, .. } => {
            let counts = Counts::of(history.ops());
            if settings.fail == FailSemantics::Constrain {
                *history = constrained(std::mem::replace(history, History::new(Vec::new()).expect("an empty one")));
            }
            counts
        }
    };
    let read_in = began.elapsed();
    let has_keys = match &imported.body {
        Body::Ops { history, .. } => history.ops().iter().any(|op| op.key.is_some()),
        Body::Txns(_) => false,
    };
    let asked = settings.asked(has_keys);
    let answers = settings.makes().map(|(name, make)| {
        let scope = Scope::of(name, has_keys, asked.by_key, settings.per_key);
        match (make, &imported.body) {
            _ if scope == Scope::PerKey && settings.per_key == Some(false) => {
                let why = format!("{name} judges each key by itself, and the history has keys: --whole is not for it");
                refusal(name, scope, why, imported.len())
            }
            _ if imported.untimed && models::reads_the_clock(settings.model, name) => {
                let why = format!("{name} compares times, and the events of this history have none (`time`)");
                refusal(name, scope, why, imported.len())
            }
            (Make::Ops(make), Body::Ops { history, .. }) => match make(&asked) {
                Ok(judge) => one(&judge, scope, history, watch),
                Err(why) => refusal(name, scope, why, imported.len()),
            },
            (Make::Txns(options), Body::Txns(txns)) => of_txns(name, txns, &options(&asked), watch),
            _ => refusal(name, scope, "operations are no transactions".to_owned(), imported.len()),
        }
    });
    let answers = answers.collect();
    Judged::Read(Box::new(Checked { imported, counts, read_in, answers }))
}

fn read(name: &Path, settings: &Settings, watch: &Watch<'_>) -> Result<Imported, Stopped> {
    if settings.of_txns() {
        return import::read_txns(name, settings.reading, watch);
    }
    let tuples = match settings.per_key {
        _ if settings.model.takes(models::WHOLE) => Tuples::Never,
        Some(true) => Tuples::Always,
        Some(false) => Tuples::Never,
        None => Tuples::Detect,
    };
    import::read(name, Reading { tuples, ..settings.reading }, watch)
}

/// Asks of the isolation of transactions.
fn of_txns(checker: &str, txns: &Txns, options: &isolation::Options, watch: &Watch<'_>) -> answer::One {
    let began = Instant::now();
    let found = isolation::check(txns, options, watch);
    let elapsed = began.elapsed();
    let mut answer = Answer {
        checker: checker.to_owned(),
        model: None,
        outcome: found.outcome,
        evidence: found.evidence,
        cannot_detect: found.cannot_detect,
    };
    vacuous(&mut answer, txns.is_empty());
    let peak_bytes = memory::peak().unwrap_or(answer.evidence.peak_bytes);
    let (missing, warnings) = (Vec::new(), Vec::new());
    let scope = Scope::Together;
    answer::One { answer, scope, warnings, not: found.not, also_not: found.also_not, missing, elapsed, peak_bytes }
}

/// Whatever a checker says, nothing consumed is nothing shown.
fn vacuous(answer: &mut Answer, is_empty: bool) {
    let why = match answer.outcome {
        Outcome::Invalid { .. } => return,
        _ if is_empty => "the history is empty",
        Outcome::Valid if answer.evidence.consumed == 0 => {
            "no operation of the history could have contradicted the model"
        }
        _ => return,
    };
    answer.outcome = Outcome::Unknown { why: why.to_owned() };
}

/// Asks one checker.
fn one(judge: &Judge, scope: Scope, history: &History, watch: &Watch<'_>) -> answer::One {
    let (checker, began) = (judge.checker.as_ref(), Instant::now());
    let mut answer = checker.check(history, watch);
    let elapsed = began.elapsed();
    vacuous(&mut answer, history.ops().is_empty());
    let missing = checker.missing(history);
    let warnings: Vec<String> = by_definition(judge, history, &mut answer).into_iter().collect();
    let peak_bytes = memory::peak().unwrap_or(answer.evidence.peak_bytes);
    let (not, also_not) = ruled_out(&answer);
    answer::One { answer, scope, warnings, not, also_not, missing, elapsed, peak_bytes }
}

/// What holds of a history by definition, as nothing in it could contradict: valid, with nothing consumed, and a warning.
///
/// A scenario that shows nothing is no evidence and stays unknown. Here the question is whether this history has the
/// property; that of a history whose operations all failed, or only write, is decided: it has. Whoever records it must be
/// told that it shows nothing of the system. An empty history, and one in which the outcome of no operation is known, is
/// that of a recorder or a system that was not there, and unknown.
fn by_definition(judge: &Judge, history: &History, answer: &mut Answer) -> Option<String> {
    let blind = judge.blind.as_ref()?;
    let open = matches!(answer.outcome, Outcome::Unknown { .. });
    let told = history.ops().iter().any(|op| !op.timeout_marker);
    if !open || !told || !blind(history) {
        return None;
    }
    answer.outcome = Outcome::Valid;
    answer.evidence.consumed = 0;
    Some(format!(
        "no operation of {} could have contradicted it: it holds of this history by definition, and shows nothing of the \
         system",
        history.ops().len()
    ))
}

/// The weakest consistency models that an answer rules out, and the stronger ones that follow.
fn ruled_out(answer: &Answer) -> (Vec<&'static str>, Vec<&'static str>) {
    let invalid = matches!(answer.outcome, Outcome::Invalid { .. });
    match answer.checker.as_str() {
        models::SEQ if invalid => (vec!["sequential"], vec!["linearizable", "strict-serializable"]),
        models::LIN if invalid => (vec!["linearizable"], vec!["strict-serializable"]),
        _ => (Vec::new(), Vec::new()),
    }
}

/// What a checker that cannot be made of these settings comes to.
fn refusal(checker: &str, scope: Scope, why: String, recorded: usize) -> answer::One {
    let answer = Answer {
        checker: checker.to_owned(),
        model: None,
        outcome: Outcome::Unknown { why },
        evidence: Evidence { recorded: recorded as u64, ..Evidence::default() },
        cannot_detect: Vec::new(),
    };
    let (not, also_not, missing, warnings) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    answer::One { answer, scope, warnings, not, also_not, missing, elapsed: Duration::ZERO, peak_bytes: 0 }
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
