//! The witness of the first violation of a scenario, drawn with the operations around it.

use super::{Page, push};
use crate::check::html::picture;
use disttest_runtime::checker::{Outcome, Violation};
use disttest_runtime::history::{History, Op};
use disttest_runtime::verdict::{RunRecord, ScenarioRecord};

/// Operations of a witness that are drawn, at most.
const WITNESS: usize = 40;
/// Operations beside it, at most.
const NEAR: usize = 5;

/// The first execution of `record` in which a checker found a violation, and that.
pub(super) fn first(record: &ScenarioRecord) -> Option<(&str, &RunRecord, &Violation)> {
    record.runs.iter().find_map(|(folder, run)| {
        let violation = run.answers.iter().find_map(|answer| match &answer.outcome {
            Outcome::Invalid { violations } => violations.first(),
            _ => None,
        })?;
        Some((folder.as_str(), run, violation))
    })
}

/// Adds the picture, where there is something to draw.
pub(super) fn add(body: &mut String, page: &Page<'_>, record: &ScenarioRecord) {
    let Some((folder, _, violation)) = first(record) else { return };
    let Some(history) = super::scenario::history(page.dir, folder) else { return };
    let witness: Vec<Op> = history.ops().iter().filter(|op| violation.ops.contains(&op.op_id)).cloned().collect();
    if witness.is_empty() {
        return;
    }
    let witness = &witness[witness.len().saturating_sub(WITNESS)..];
    let near = near(&history, witness);
    push(body, format_args!("<div class=\"picture\">{}</div>\n", picture(violation, witness, &near)));
    body.push_str(
        "<p class=\"soft\">Time goes to the right, one step a moment, not to scale; a row a client, those of the witness \
         first. Red: the witness. Dashed: of unknown outcome. Pale: failed.</p>\n",
    );
}

/// Operations on the keys of the witness that were in flight nearest to it.
fn near(history: &History, witness: &[Op]) -> Vec<Op> {
    let from = witness.iter().map(|op| op.invoke_ts.0).min().unwrap_or(0);
    let to = witness.iter().map(|op| op.complete_ts.unwrap_or(op.invoke_ts).0).max().unwrap_or(0);
    let same_key =
        |op: &&Op| witness.iter().any(|of| of.key == op.key) && !witness.iter().any(|of| of.op_id == op.op_id);
    let middle = from / 2 + to / 2;
    let mut near: Vec<&Op> = history.ops().iter().filter(same_key).collect();
    near.sort_by_key(|op| (op.invoke_ts.0.abs_diff(middle), op.op_id));
    near.into_iter().take(NEAR).cloned().collect()
}
