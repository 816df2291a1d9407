//! Damaged copies of a history, shown to a checker that called the original valid.

use super::limits::{CheckLimits, check_within};
use crate::audit::damage::{damage_for, damages_for};
use crate::checker::{Answer, Checker, Outcome};
use crate::history::{Effect, History};
use crate::verdict::{Bite, NO_ANSWERS, Tooth};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What damaged copies are made of, and what each check may spend.
#[derive(Clone, Copy)]
pub(crate) struct Trial<'a> {
    /// The history that the checker called valid.
    pub history: &'a Arc<History>,
    /// Draws the places of the damage: the seed of the run.
    pub seed: u64,
    /// Of each check.
    pub limits: CheckLimits,
    /// Ends them.
    pub stop: &'a Arc<AtomicBool>,
}

/// Shows `checker` every kind of damage its claim forbids; then a copy in which nothing was ever answered, which no
/// checker may call valid, whatever its claim; and then the undamaged history once more: a checker that has come to
/// reject everything can tell nothing apart either. For that control [`Bite::Accepted`] is the right bite.
/// Says through `say` what it is about to do.
pub(crate) fn show(checker: &Arc<dyn Checker>, trial: &Trial<'_>, say: &dyn Fn(String)) -> Vec<Tooth> {
    let Trial { history, seed, limits, stop } = *trial;
    let tooth =
        |damage: String, detail: String, bite: Bite| Tooth { checker: checker.name().to_owned(), damage, detail, bite };
    let mut teeth = Vec::new();
    for kind in damages_for(checker.name()).iter().copied() {
        say(format!("showing {} a history with a {}", checker.name(), kind.name()));
        let shown = match damage_for(checker.name(), kind, history, seed) {
            Ok(damaged) => {
                let answer = check_within(checker, &Arc::new(damaged.history), limits, stop);
                tooth(kind.name().to_owned(), format!("{}; {}", damaged.detail, said(&answer)), bite(&answer.outcome))
            }
            Err(why) => tooth(kind.name().to_owned(), why, Bite::NotApplicable),
        };
        teeth.push(shown);
    }
    match without_answers(history) {
        Ok(silent) => {
            let answer = check_within(checker, &Arc::new(silent), limits, stop);
            let detail = format!("no operation was answered; {}", said(&answer));
            teeth.push(tooth(NO_ANSWERS.to_owned(), detail, bite(&answer.outcome)));
        }
        Err(why) => teeth.push(tooth(NO_ANSWERS.to_owned(), why, Bite::NotApplicable)),
    }
    let control = check_within(checker, history, limits, stop);
    let detail = format!("valid before the damaged copies, and now {}", said(&control));
    teeth.push(tooth("undamaged-control".to_owned(), detail, bite(&control.outcome)));
    teeth
}

/// The operations of `history`, none of which was ever answered.
fn without_answers(history: &History) -> Result<History, String> {
    let mut ops = history.ops().to_vec();
    for op in ops.iter_mut().filter(|op| op.effect() == Effect::Acknowledged) {
        (op.complete_ts, op.output, op.error, op.timeout_marker) = (None, serde_json::Value::Null, None, true);
    }
    History::new(ops).map_err(|error| format!("the copy without answers is no history: {error}"))
}

fn bite(outcome: &Outcome) -> Bite {
    match outcome {
        Outcome::Invalid { .. } => Bite::Rejected,
        Outcome::Valid => Bite::Accepted,
        Outcome::Unknown { .. } => Bite::Undecided,
    }
}

fn said(answer: &Answer) -> String {
    match &answer.outcome {
        Outcome::Valid => "accepted".to_owned(),
        Outcome::Invalid { violations } => {
            format!("rejected: {}", violations.first().map(|v| v.anomaly.as_str()).unwrap_or_default())
        }
        Outcome::Unknown { why } => format!("undecided: {why}"),
    }
}
