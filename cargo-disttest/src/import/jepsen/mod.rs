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
//! no number (`nemesis`) are skipped and counted. Where no event at all says its process, a
//! completion is that of the one operation in flight that it can be of. `[k v]` is taken apart as [`super::Tuples`] says.

mod edn;
mod event;
mod json;
mod pair;
mod split;
#[cfg(test)]
mod tests;
mod unnamed;

use super::edn::Reader;
use super::lines::Lines;
use super::{Format, Pace, Problem, Raw, Stopped, Tuples};
use disttest_runtime::checker::Limits;
pub(super) use event::{Event, Kind};
use pair::Pairing;
use std::io::BufRead;
pub(super) use unnamed::UNNAMED;
use unnamed::Unnamed;

/// Reads events, JSON Lines or EDN, into operations.
pub(super) fn read(format: Format, text: impl BufRead, tuples: Tuples, limits: &dyn Limits) -> Result<Raw, Stopped> {
    let mut pairing = Pairing::default();
    each(format, text, limits, &mut |event| pairing.see(event))?;
    Ok(pairing.finish(tuples)?)
}

/// Gives each event to `see`, in the order of the file, with one of them in memory.
pub(super) fn each(
    format: Format,
    text: impl BufRead,
    limits: &dyn Limits,
    see: &mut dyn FnMut(Event) -> Result<(), Problem>,
) -> Result<(), Stopped> {
    let mut pace = Pace::new(limits);
    let mut unnamed = Unnamed::default();
    let mut see = |mut event: Event| {
        unnamed.name(&mut event)?;
        see(event)
    };
    if format == Format::Edn {
        let (mut reader, mut events) = (Reader::new(text), edn::Events::default());
        while let Some(event) = events.next(&mut reader)? {
            pace.step()?;
            see(event)?;
        }
        return Ok(());
    }
    let mut lines = if format == Format::JepsenJson { Lines::of_array(text) } else { Lines::new(text) };
    while let Some((text, number)) = lines.next()? {
        pace.step()?;
        see(json::event(text, number)?).map_err(|problem| problem.showing(text))?;
    }
    Ok(())
}
