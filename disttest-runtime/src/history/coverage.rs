//! Whether clients were there to see what a fault did.

use super::access::{Entry, Touch};
use super::{Effect, History, Op};
use crate::base::time::Nanos;
use std::collections::BTreeMap;

/// A fault window that landed, as far as clients are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Number of the window.
    pub epoch: u64,
    /// Name of the nemesis.
    pub nemesis: String,
    /// Nodes on the victim's side.
    pub victims: Vec<String>,
    /// When the fault acted.
    pub from: Nanos,
    /// When it was healed.
    pub to: Nanos,
}

/// Operations of one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// In flight while the fault acted.
    pub overlapping: u64,
    /// Of these, acknowledged.
    pub acknowledged: u64,
    /// Of the overlapping ones, sent to a victim.
    pub at_victims: u64,
}

impl Seen {
    /// Counts the operations of `history` that were in flight in `window`. Linear in the operations.
    pub fn of(history: &History, window: &Watched) -> Seen {
        let mut seen = Seen::default();
        for op in history.ops().iter().filter(|op| overlaps(op, window)) {
            seen.overlapping += 1;
            seen.acknowledged += u64::from(op.effect() == Effect::Acknowledged);
            let node = op.node_seen.as_deref();
            seen.at_victims += u64::from(window.victims.iter().any(|victim| node == Some(victim)));
        }
        seen
    }
}

/// An operation without a completion may have ended at any time; it overlaps only what came soon after its invocation,
/// so that one lost answer does not stand for all windows to come.
fn overlaps(op: &Op, window: &Watched) -> bool {
    let end = op.complete_ts.unwrap_or(op.invoke_ts);
    op.invoke_ts < window.to && (end > window.from || op.fault_epoch == Some(window.epoch))
}

/// Why `history` does not show what the system did under the faults of `windows` (each landed): a window during which
/// no operation was in flight, and no operation through any victim of any window. Empty when it does.
///
/// The anomaly may be visible at the victim only (a cut-off node that still answers), so a run whose clients never talk
/// to one has not looked.
pub fn unobserved(history: &History, windows: &[Watched]) -> Vec<String> {
    let seen: Vec<Seen> = windows.iter().map(|window| Seen::of(history, window)).collect();
    let idle = |(window, seen): (&Watched, &Seen)| {
        (seen.overlapping == 0)
            .then(|| format!("no operation was in flight during fault window {} ({})", window.epoch, window.nemesis))
    };
    let mut found: Vec<String> = windows.iter().zip(&seen).filter_map(idle).collect();
    let named = windows.iter().any(|window| !window.victims.is_empty());
    if named && found.is_empty() && seen.iter().all(|seen| seen.at_victims == 0) {
        let mut victims: Vec<&str> = windows.iter().flat_map(|w| w.victims.iter().map(String::as_str)).collect();
        victims.sort_unstable();
        victims.dedup();
        found.push(format!(
            "no client talked to a victim ({}) while a fault acted: what it answered then was not seen",
            victims.join(", ")
        ));
    }
    found
}

/// Why the final state of `history` says nothing of a fault of `windows` (each landed), for a scenario that looks at
/// nothing else: no write that was acknowledged by the time of the heal is the last one of its key for sure, so that
/// whatever was lost was overwritten later. Empty when each window has one. Entries of logs and sets are never
/// overwritten.
pub fn overwritten(history: &History, windows: &[Watched]) -> Vec<String> {
    let lasting = lasting_writes(history);
    let without = windows.iter().filter(|window| !lasting.iter().any(|at| *at <= window.to));
    without
        .map(|window| {
            format!(
                "every write that was acknowledged before the heal of fault window {} ({}) could be overwritten later: \
                 the final reads cannot show that one was lost; leave some keys alone",
                window.epoch, window.nemesis
            )
        })
        .collect()
}

/// Completions of acknowledged writes that nothing can have overwritten.
fn lasting_writes(history: &History) -> Vec<Nanos> {
    let (mut lasting, mut keys) = (Vec::new(), BTreeMap::<Option<&str>, Vec<&Op>>::new());
    for op in history.ops().iter().filter(|op| op.effect() != Effect::Failed) {
        if matches!(Entry::of(op), Ok(Entry::Append { .. })) {
            lasting.extend(op.complete_ts);
        } else if Touch::of(op).is_ok_and(|touch| touch.written().is_some()) {
            keys.entry(op.key.as_deref()).or_default().push(op);
        }
    }
    for writes in keys.values() {
        // Sorted by invocation: the last one began last. An unknown one may take effect at any time.
        let Some((last, before)) = writes.split_last() else { continue };
        let over = |op: &&Op| op.complete_ts.is_some_and(|at| at < last.invoke_ts);
        if before.iter().all(over) {
            lasting.extend(last.complete_ts);
        }
    }
    lasting
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::notation::history;

    fn check(text: &str, expect: &[&str]) {
        let window = |epoch, from, to, victim: &str| Watched {
            epoch,
            nemesis: "pause".to_owned(),
            victims: vec![victim.to_owned()],
            from: Nanos(from),
            to: Nanos(to),
        };
        let windows = [window(1, 100, 200, "n1"), window(2, 300, 400, "n2")];
        let got = unobserved(&history(text).expect("valid"), &windows);
        assert_eq!(got.len(), expect.len(), "{text}: {got:?}");
        for (got, expect) in got.iter().zip(expect) {
            assert!(got.contains(expect), "{text}: {got}");
        }
    }

    #[test]
    fn a_window_without_an_operation_in_flight_was_not_observed() {
        check("c1 read x -> 1 [90..150] @n1\nc1 read x -> 1 [350..360] @n3", &[]);
        check("c1 read x -> 1 [90..350] @n1", &[]);
        check("c1 read x -> 1 [90..150] @n1", &["during fault window 2 (pause)"]);
        check("c1 read x -> 1 [1..100] @n1\nc1 read x -> 1 [400..410] @n1", &["window 1", "window 2"]);
        check("c1 read x [50..] @n1 ^1", &["window 2"]);
        check("", &["window 1", "window 2"]);
    }

    #[test]
    fn a_run_whose_clients_never_talk_to_a_victim_has_not_looked() {
        check(
            "c1 read x -> 1 [90..150] @n3\nc1 read x -> 1 [350..360] @n3",
            &["no client talked to a victim (n1, n2)"],
        );
        check("c1 read x -> 1 [90..150] @n2\nc1 read x -> 1 [350..360] @n1", &["no client talked to a victim"]);
        check("c1 read x -> 1 [90..150] @n3\nc1 read x -> 1 [350..360] @n2", &[]);
    }

    #[test]
    fn a_final_state_that_was_written_after_the_heal_shows_no_loss_under_the_fault() {
        let window = Watched {
            epoch: 1,
            nemesis: "hard-kill".to_owned(),
            victims: vec!["n1".to_owned()],
            from: Nanos(100),
            to: Nanos(200),
        };
        let check = |text: &str, expect: usize| {
            let got = overwritten(&history(text).expect("valid"), std::slice::from_ref(&window));
            assert_eq!(got.len(), expect, "{text}: {got:?}");
        };
        check("c1 write x 1 [50..60]", 0);
        check("c1 write x 1 [150..160]\nc1 write y 1 [50..60]\nc1 write y 2 [250..260]", 0);
        check("c1 write x 1 [50..60]\nc1 write x 2 [250..260]", 1);
        check("c1 write x 1 [50..60]\nc2 write x 2 [55..60]", 1);
        check("c1 write x 1 [50..60]\nc2 write x 2 [20..]", 1);
        check("c1 write x 1 [50..60]\nc2 write x 2 !no [250..260]", 0);
        check("c1 write x 1 [50..]", 1);
        check("c1 append x 1 -> 0 [50..60]\nc1 append x 2 -> 1 [250..260]", 0);
        check("c1 append x 1 -> 0 [250..260]", 1);
        check("c1 read x -> 1 [50..60]", 1);
    }
}
