//! Damaged copies of a history, shown to a checker that called the original valid.

use super::core::Core;
use super::limits::{CheckLimits, check_within};
use crate::audit::damage::{damage_for, damages_for};
use crate::checker::{Answer, Checker, Outcome};
use crate::history::History;
use crate::verdict::{Bite, Tooth};
use std::sync::Arc;

/// Shows `checker` every kind of damage its claim forbids, and then the undamaged history once more: a checker that
/// has come to reject everything can tell nothing apart either. For that control [`Bite::Accepted`] is the right bite.
pub(super) fn show(
    core: &Arc<Core>,
    checker: &Arc<dyn Checker>,
    history: &Arc<History>,
    limits: CheckLimits,
) -> Vec<Tooth> {
    let tooth =
        |damage: String, detail: String, bite: Bite| Tooth { checker: checker.name().to_owned(), damage, detail, bite };
    let mut teeth = Vec::new();
    for kind in damages_for(checker.name()).iter().copied() {
        core.events.say("progress", format!("showing {} a history with a {}", checker.name(), kind.name()));
        let shown = match damage_for(checker.name(), kind, history, core.request.seed) {
            Ok(damaged) => {
                let answer = check_within(checker, &Arc::new(damaged.history), limits, &core.stop);
                tooth(kind.name().to_owned(), format!("{}; {}", damaged.detail, said(&answer)), bite(&answer.outcome))
            }
            Err(why) => tooth(kind.name().to_owned(), why, Bite::NotApplicable),
        };
        teeth.push(shown);
    }
    let control = check_within(checker, history, limits, &core.stop);
    let detail = format!("valid before the damaged copies, and now {}", said(&control));
    teeth.push(tooth("undamaged-control".to_owned(), detail, bite(&control.outcome)));
    teeth
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
