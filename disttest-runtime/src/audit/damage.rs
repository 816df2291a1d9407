//! Damaged copies of a history: what a broken system would have shown. A checker that accepts one has no teeth.
//!
//! Each kind makes a history that is surely invalid, whatever the other operations are. With "completed before" for a
//! completion strictly earlier than an invocation:
//!
//! - **Overwritten value.** Operation w was acknowledged and wrote a; read r began after w completed; every operation
//!   that may have written u (acknowledged or of unknown outcome, `cas` included, so each of them has a completion)
//!   completed before w began; u is not a. Then r cannot answer u: in any order all writes of u stand before w, and w
//!   before r, so whatever the value is when r is ordered, it was not written as u. When u is null and nobody ever wrote
//!   null, the same holds whether the object starts as null (w stands between the start and r) or not (u is never
//!   there). This makes `stale-read`, and `dropped-acknowledged-write` where w is what r used to show: every read that
//!   showed a now shows u, the final reads of each client among them, so that w is lost by D20 as well.
//! - **Entry that is gone.** An append of v was acknowledged (at offset o, if it got one); read r began after it
//!   completed. A log or set only grows, so r cannot show that the log ends at or before o, nor another value at o, nor
//!   the whole content with fewer v than were acknowledged.
//! - **Value that nobody wrote.** No operation has the value as its input, it is not null and larger or longer than
//!   any value of the history, so it is not what the object starts as either (unless the model starts at a number beyond
//!   all that occur). No read can show it.

mod entries;
mod values;

#[cfg(test)]
mod tests;

use crate::history::{History, Op};
use serde::{Deserialize, Serialize};

/// A way to damage a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DamageKind {
    /// An acknowledged write vanishes: reads show what was there before it.
    DroppedAcknowledgedWrite,
    /// A read shows a value that had been overwritten before it began.
    StaleRead,
    /// A read shows a value that nobody wrote.
    PhantomValue,
}

impl DamageKind {
    /// The name in records, such as `stale-read`.
    pub fn name(self) -> &'static str {
        match self {
            DamageKind::DroppedAcknowledgedWrite => "dropped-acknowledged-write",
            DamageKind::StaleRead => "stale-read",
            DamageKind::PhantomValue => "phantom-value",
        }
    }
}

/// A damaged copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Damaged {
    /// The copy.
    pub history: History,
    /// What was changed: operations and values.
    pub detail: String,
}

/// The damages that a checker must reject; empty for a checker we know no damage for.
pub fn damages_for(checker: &str) -> &'static [DamageKind] {
    match checker {
        "linearizability" => &[DamageKind::DroppedAcknowledgedWrite, DamageKind::StaleRead, DamageKind::PhantomValue],
        "no-lost-ack" => &[DamageKind::DroppedAcknowledgedWrite],
        // An element that is in no read any more, the last ones among them, is lost; one that nobody added is unexpected.
        "set-full" => &[DamageKind::DroppedAcknowledgedWrite, DamageKind::PhantomValue],
        _ => &[],
    }
}

/// A copy of `history` with one damage of `kind`, at a place chosen by `seed`; `Err` says why there is no such place.
///
/// `dropped-acknowledged-write` prefers a write that final reads show (reads after the last acknowledged write of the
/// history); without one it takes a write that any later read shows, which `no-lost-ack` need not reject: use
/// [`damage_for`] for that. O(n log n) in practice.
pub fn damage(kind: DamageKind, history: &History, seed: u64) -> Result<Damaged, String> {
    damaged(kind, history, seed, false)
}

/// [`damage`] that `checker` (a name of [`damages_for`]) must reject: for `no-lost-ack` and `set-full` a write vanishes
/// only where a final read shows it.
pub fn damage_for(checker: &str, kind: DamageKind, history: &History, seed: u64) -> Result<Damaged, String> {
    damaged(kind, history, seed, matches!(checker, "no-lost-ack" | "set-full"))
}

fn damaged(kind: DamageKind, history: &History, seed: u64, at_quiescence: bool) -> Result<Damaged, String> {
    let edit = match kind {
        DamageKind::DroppedAcknowledgedWrite => values::drop_write(history, seed, at_quiescence)
            .or_else(|| entries::drop_append(history, seed, at_quiescence)),
        DamageKind::StaleRead => values::stale_read(history, seed).or_else(|| entries::short_read(history, seed)),
        DamageKind::PhantomValue => values::phantom(history, seed).or_else(|| entries::phantom(history, seed)),
    };
    let Edit { changes, detail } = edit.ok_or_else(|| why_not(kind).to_owned())?;
    let mut ops = history.ops().to_vec();
    for (at, output) in changes {
        ops[at].output = output;
    }
    let history = History::new(ops).map_err(|e| format!("the damaged copy is no history: {e}"))?;
    Ok(Damaged { history, detail })
}

fn why_not(kind: DamageKind) -> &'static str {
    match kind {
        DamageKind::DroppedAcknowledgedWrite => {
            "no completed read (for no-lost-ack: final read) shows an acknowledged write that replaced another value for sure"
        }
        DamageKind::StaleRead => "no completed read began after a value had been overwritten for sure",
        DamageKind::PhantomValue => "there is no completed read",
    }
}

/// New answers for operations (indices), and what they mean.
struct Edit {
    changes: Vec<(usize, serde_json::Value)>,
    detail: String,
}

fn read_at(op: &Op) -> String {
    format!("read {} of client {} on {}", op.op_id, op.process_id, op.key.as_deref().unwrap_or("the object"))
}
