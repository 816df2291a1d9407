//! Histories of Jepsen and its relatives: events, an invocation and later its completion, by the same process.
//!
//! | event | operation |
//! |---|---|
//! | `f` | `op_type`; an event without one is a `txn` |
//! | value of the invocation | `input` |
//! | value of an `ok` | `output`; of a `cas` the answer `true`; null for `write` and `put`, whose value must be that of the invocation, and for other writes that repeat it |
//! | `fail` | it never took effect: `error` |
//! | `info`, or nothing | outcome unknown: `timeout_marker` |
//! | `index` of the invocation (its place where there is none) | `op_id` |
//! | `time`, moved forward where two events share one | `invoke_ts`, `complete_ts`; places where there is none |
//!
//! Events stand in the order in which they happened: two that share a time are not concurrent. Those whose process is
//! no number (`nemesis`) are skipped and counted. `[k v]` is taken apart as [`super::Tuples`] says.

mod edn;
mod event;
mod json;
mod pair;
mod split;
#[cfg(test)]
mod tests;

use super::edn::Reader;
use super::lines::Lines;
use super::{Pace, Raw, Stopped, Tuples};
use disttest_runtime::checker::Limits;
use pair::Pairing;
use std::io::BufRead;

/// Reads events as JSON Lines.
pub(super) fn read_json(text: impl BufRead, tuples: Tuples, limits: &dyn Limits) -> Result<Raw, Stopped> {
    let (mut lines, mut pace, mut pairing) = (Lines::new(text), Pace::new(limits), Pairing::default());
    while let Some((text, number)) = lines.next()? {
        pace.step()?;
        let event = json::event(text, number)?;
        pairing.see(event).map_err(|problem| problem.showing(text))?;
    }
    Ok(pairing.finish(tuples)?)
}

/// Reads events as EDN.
pub(super) fn read_edn(text: impl BufRead, tuples: Tuples, limits: &dyn Limits) -> Result<Raw, Stopped> {
    let (mut reader, mut pace, mut pairing) = (Reader::new(text), Pace::new(limits), Pairing::default());
    let mut events = edn::Events::default();
    while let Some(event) = events.next(&mut reader)? {
        pace.step()?;
        pairing.see(event)?;
    }
    Ok(pairing.finish(tuples)?)
}
