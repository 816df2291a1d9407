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
//! - **Read that goes back.** For a history in which sessions read monotonically: a session read o, then n, both of one
//!   key, and n is newer for sure (o was written by an acknowledged write that completed before the only write of n began;
//!   or, where answers carry versions, the two differ in every part, so that the version of n is larger because the
//!   history was valid). A read of that session that began after n was read cannot show o.
//! - **Element that nobody produced** and **element that comes last.** No operation has the first as its input. The second
//!   was acknowledged before everything else that its consumer took began to be produced, so all of that overtook it.
//! - **Effect that stands twice.** An entry of a business key stands twice in one read; or a sum is larger by one than
//!   what was shown and all that any try asked for come to.
//! - **Hold that overlaps.** Holder p was granted a key as its first doing with it, and so was q later; q's grant is moved
//!   to the instants of p's, and both released only later. From the completion of that grant both hold (a lease as long as
//!   it lasts longer than its acquire took).
//! - **Value that nobody wrote.** No operation has the value as its input, it is not null and larger or longer than
//!   any value of the history, so it is not what the object starts as either (unless the model starts at a number beyond
//!   all that occur). No read can show it. In transactions on lists: an element that no transaction appends.
//!   In transactions on registers: two such values, read by two transactions of one register, so that one of them at
//!   most is what it starts as.
//! - **Answer against the others.** Of one workload: a total that differs from that of another read, a count beyond all
//!   that was ever added, an id that another call got, an element that nobody put in, two reads in opposite orders, reads
//!   from before every write. `workloads.rs` says for each why it is sure, given that the undamaged history is valid.
//! - **Answers a year late.** No bound on liveness is as long.
//! - **Replica that differs.** At quiescence two replicas were read on a key. When all reads of the key at one of them
//!   show one value that no operation has, that replica looks settled, and no other shows the same.
//! - **Groups that starve.** All operations but one are never answered. Whatever groups them (by what a client asked, not
//!   by what it was answered), all groups but one are served nothing. With one group only there is no fairness, and what
//!   judges it called the undamaged history not valid.
//! - **Answers of nobody.** Every acknowledged operation answers one value that is found nowhere in the history. A
//!   differential called the undamaged history valid, so it compared each answer with that of the other implementation, and
//!   some answer differs now by more than what is declared (unless any answer to anything is: then nothing is compared).

mod deliveries;
mod entries;
mod holds;
mod replicas;
mod requests;
mod service;
mod sessions;
mod txns;
mod values;
mod workloads;

#[cfg(test)]
mod tests;

use crate::history::{Effect, History, Op};
use serde::{Deserialize, Serialize};
use std::time::Duration;

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
    /// An answer contradicts the others, by the rules of the workload.
    ContradictoryAnswer,
    /// Everything that was answered was answered a year later.
    LateAnswers,
    /// A read shows what its session had seen replaced.
    ReadWentBack,
    /// A consumer sees an element that nobody produced.
    PhantomDelivery,
    /// A consumer of a queue takes first what was produced later.
    ReorderedDelivery,
    /// A read shows the effect of a request twice.
    DuplicatedEffect,
    /// A lock is granted while somebody holds it.
    OverlappingHold,
    /// One replica shows another value than the rest at quiescence.
    DivergedReplica,
    /// One operation is answered, and no other.
    StarvedGroups,
    /// Every answer is one that is found nowhere in the history.
    ForeignAnswers,
}

impl DamageKind {
    /// The name in records, such as `stale-read`.
    pub fn name(self) -> &'static str {
        match self {
            DamageKind::DroppedAcknowledgedWrite => "dropped-acknowledged-write",
            DamageKind::StaleRead => "stale-read",
            DamageKind::PhantomValue => "phantom-value",
            DamageKind::ContradictoryAnswer => "contradictory-answer",
            DamageKind::LateAnswers => "late-answers",
            DamageKind::ReadWentBack => "read-went-back",
            DamageKind::PhantomDelivery => "phantom-delivery",
            DamageKind::ReorderedDelivery => "reordered-delivery",
            DamageKind::DuplicatedEffect => "duplicated-effect",
            DamageKind::OverlappingHold => "overlapping-hold",
            DamageKind::DivergedReplica => "diverged-replica",
            DamageKind::StarvedGroups => "starved-groups",
            DamageKind::ForeignAnswers => "foreign-answers",
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
        "serializability" => &[DamageKind::PhantomValue],
        "no-lost-ack" => &[DamageKind::DroppedAcknowledgedWrite],
        // An element that is in no read any more, the last ones among them, is lost; one that nobody added is unexpected.
        "set-full" => &[DamageKind::DroppedAcknowledgedWrite, DamageKind::PhantomValue],
        "bank" | "counter-bounds" | "unique-ids" | "total-queue" | "long-fork" | "freshness" => {
            &[DamageKind::ContradictoryAnswer]
        }
        // A session-consistency that leaves out monotonic reads is shown it all the same, and gets no PASS-hardening.
        "monotonic-read" | "session-consistency" => &[DamageKind::ReadWentBack],
        "prefix-order" => &[DamageKind::PhantomDelivery, DamageKind::ReorderedDelivery],
        "exactly-once" => &[DamageKind::DuplicatedEffect],
        "exclusion" => &[DamageKind::OverlappingHold],
        // A year is longer than any bound, and a rate over a year lower than any.
        "bounded-liveness" | "metric-slo" => &[DamageKind::LateAnswers],
        "replay-equivalence" => &[DamageKind::DroppedAcknowledgedWrite, DamageKind::PhantomValue],
        "reconciliation-across-replicas" => &[DamageKind::DivergedReplica],
        "fairness" => &[DamageKind::StarvedGroups],
        "differential" => &[DamageKind::ForeignAnswers],
        // Of rules that somebody wrote (`invariant-over-final-state`, `property-assertion`) no damage is sure to break one.
        _ => &[],
    }
}

/// A copy of `history` with one damage of `kind`, at a place chosen by `seed`; `Err` says why there is no such place.
///
/// `dropped-acknowledged-write` prefers a write that final reads show (reads after the last acknowledged write of the
/// history); without one it takes a write that any later read shows, which `no-lost-ack` need not reject: use
/// [`damage_for`] for that. O(n log n) in practice.
pub fn damage(kind: DamageKind, history: &History, seed: u64) -> Result<Damaged, String> {
    damaged(kind, history, seed, None)
}

/// [`damage`] that `checker` (a name of [`damages_for`]) must reject: for `no-lost-ack`, `set-full` and
/// `replay-equivalence` a write vanishes only where a final read shows it.
pub fn damage_for(checker: &str, kind: DamageKind, history: &History, seed: u64) -> Result<Damaged, String> {
    damaged(kind, history, seed, Some(checker))
}

fn damaged(kind: DamageKind, history: &History, seed: u64, checker: Option<&str>) -> Result<Damaged, String> {
    if kind == DamageKind::LateAnswers {
        return late(history);
    }
    if kind == DamageKind::OverlappingHold {
        let (ops, detail) = holds::overlap(history, seed).ok_or_else(|| why_not(kind).to_owned())?;
        let history = History::new(ops).map_err(|e| format!("the damaged copy is no history: {e}"))?;
        return Ok(Damaged { history, detail });
    }
    if kind == DamageKind::StarvedGroups {
        return service::starve(history, seed).ok_or_else(|| why_not(kind).to_owned());
    }
    let at_quiescence = matches!(checker, Some("no-lost-ack" | "set-full" | "replay-equivalence"));
    let edit = match kind {
        DamageKind::DroppedAcknowledgedWrite => values::drop_write(history, seed, at_quiescence)
            .or_else(|| entries::drop_append(history, seed, at_quiescence)),
        DamageKind::StaleRead => values::stale_read(history, seed).or_else(|| entries::short_read(history, seed)),
        DamageKind::PhantomValue => values::phantom(history, seed)
            .or_else(|| entries::phantom(history, seed))
            .or_else(|| txns::phantom(history, seed))
            .or_else(|| txns::phantoms(history, seed)),
        DamageKind::ContradictoryAnswer => workloads::contradict(history, seed, checker),
        DamageKind::LateAnswers => None,
        DamageKind::ReadWentBack => sessions::read_back(history, seed),
        DamageKind::PhantomDelivery => deliveries::phantom(history, seed),
        DamageKind::ReorderedDelivery => deliveries::reorder(history, seed),
        DamageKind::DuplicatedEffect => requests::twice(history, seed),
        DamageKind::OverlappingHold => None,
        DamageKind::DivergedReplica => replicas::diverge(history, seed),
        DamageKind::StarvedGroups => None,
        DamageKind::ForeignAnswers => values::foreign(history, seed),
    };
    let Edit { changes, detail } = edit.ok_or_else(|| why_not(kind).to_owned())?;
    let mut ops = history.ops().to_vec();
    for (at, output) in changes {
        ops[at].output = output;
    }
    let history = History::new(ops).map_err(|e| format!("the damaged copy is no history: {e}"))?;
    Ok(Damaged { history, detail })
}

/// Every acknowledged operation completes a year later than it did.
fn late(history: &History) -> Result<Damaged, String> {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    let mut ops = history.ops().to_vec();
    let mut count = 0;
    for op in ops.iter_mut().filter(|op| op.effect() == Effect::Acknowledged) {
        op.complete_ts = op.complete_ts.map(|at| at.plus(YEAR));
        count += 1;
    }
    if count == 0 {
        return Err(why_not(DamageKind::LateAnswers).to_owned());
    }
    let history = History::new(ops).map_err(|e| format!("the damaged copy is no history: {e}"))?;
    Ok(Damaged { history, detail: format!("{count} operations were answered a year later") })
}

fn why_not(kind: DamageKind) -> &'static str {
    match kind {
        DamageKind::DroppedAcknowledgedWrite => {
            "no completed read (for no-lost-ack: final read) shows an acknowledged write that replaced another value for sure"
        }
        DamageKind::StaleRead => "no completed read began after a value had been overwritten for sure",
        DamageKind::PhantomValue => "there is no completed read",
        DamageKind::ContradictoryAnswer => "no answer could be changed into one that surely contradicts the others",
        DamageKind::LateAnswers => "nothing was answered",
        DamageKind::ReadWentBack => "no session read a key three times and surely saw something newer the second time",
        DamageKind::PhantomDelivery => "nothing was produced, or no completed operation consumed an element",
        DamageKind::ReorderedDelivery => {
            "no consumer took several elements of which the first was surely produced before the others"
        }
        DamageKind::DuplicatedEffect => "no completed read shows an entry or a sum",
        DamageKind::OverlappingHold => "no key was granted to two holders, one after the other, as their first doing",
        DamageKind::DivergedReplica => "no key was read on two replicas after everything else had ended",
        DamageKind::StarvedGroups => "fewer than two operations were acknowledged",
        DamageKind::ForeignAnswers => "nothing was answered",
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
