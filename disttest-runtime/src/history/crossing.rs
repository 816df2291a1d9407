//! Whether anybody looked, after processes had died, at what was there before.

use super::access::{Entry, Touch};
use super::{Effect, History, Op, Watched};
use crate::base::time::Nanos;
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::collections::BTreeMap;

/// Faults that end processes, so that whatever was in memory only is gone.
const DEATHS: [&str; 3] = ["hard-kill", "graceful-stop", "restart"];

/// Why `history` cannot show that what was written before processes died survived, for each such nemesis of `windows`
/// (each landed): in none of its windows did a read that began after the fault acted see a value that had been
/// acknowledged before. A store that forgets everything would have looked the same, where each key was written again
/// before it was read. Empty when there is such a read, or nothing of the kind was written. Linear in the operations for
/// each nemesis.
pub fn unread_across(history: &History, windows: &[Watched]) -> Vec<String> {
    let written = Written::of(history);
    if written.is_empty() {
        return Vec::new();
    }
    let mut deaths: BTreeMap<&str, Vec<&Watched>> = BTreeMap::new();
    for window in windows.iter().filter(|window| DEATHS.contains(&window.nemesis.as_str())) {
        deaths.entry(&window.nemesis).or_default().push(window);
    }
    let crossed = |windows: &Vec<&Watched>| {
        history
            .ops()
            .iter()
            .any(|op| written.oldest_seen(op).is_some_and(|at| windows.iter().any(|w| looks_back(op, at, w))))
    };
    let blind = deaths.into_iter().filter(|(_, windows)| !crossed(windows));
    blind
        .map(|(nemesis, windows)| {
            format!(
                "no read after a {nemesis} ({} of them) saw a value that was acknowledged before it: a system that lost \
                 everything would look the same; read keys before they are written again, or leave some alone",
                windows.len()
            )
        })
        .collect()
}

fn looks_back(op: &Op, written: Nanos, window: &Watched) -> bool {
    op.invoke_ts >= window.from && written < window.from
}

/// When each value was acknowledged, by key.
struct Written<'h>(FxHashMap<(Option<&'h str>, &'h Value), Option<Nanos>>);

impl<'h> Written<'h> {
    fn of(history: &'h History) -> Written<'h> {
        let mut all: FxHashMap<(Option<&str>, &Value), Option<Nanos>> = FxHashMap::default();
        for op in history.ops().iter().filter(|op| op.effect() != Effect::Failed) {
            let Some(value) = written(op) else { continue };
            let acknowledged = op.complete_ts.filter(|_| op.effect() == Effect::Acknowledged);
            // A value that was written again, or perhaps, may be as young as that.
            let known = all.entry((op.key.as_deref(), value)).or_insert(acknowledged);
            *known = known.zip(acknowledged).map(|(a, b)| a.max(b));
        }
        Written(all)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When the oldest value that a read shows was acknowledged, if it shows one that was.
    fn oldest_seen(&self, op: &Op) -> Option<Nanos> {
        if op.effect() != Effect::Acknowledged {
            return None;
        }
        let at = |value: &Value| self.0.get(&(op.key.as_deref(), value)).copied().flatten();
        let value = match Touch::of(op) {
            Ok(Touch::Read(seen)) => seen.filter(|seen| !seen.is_null()).and_then(at),
            _ => None,
        };
        let entries = || match Entry::of(op) {
            Ok(Entry::Read(Some(seen))) => seen.values.iter().filter_map(at).min(),
            _ => None,
        };
        value.or_else(entries)
    }
}

/// The value that an operation writes.
fn written(op: &Op) -> Option<&Value> {
    match (Touch::of(op), Entry::of(op)) {
        (Ok(touch), _) => touch.written().filter(|value| !value.is_null()),
        (_, Ok(Entry::Append { value, .. })) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::notation::history;

    #[test]
    fn what_was_there_before_a_death_must_have_been_read_after_one() {
        let window = |epoch, nemesis: &str, from| Watched {
            epoch,
            nemesis: nemesis.to_owned(),
            victims: vec!["n1".to_owned()],
            from: Nanos(from),
            to: Nanos(from + 100),
        };
        let windows = [window(1, "hard-kill", 100), window(2, "hard-kill", 300), window(3, "pause", 500)];
        let check = |text: &str, expect: usize| {
            let got = unread_across(&history(text).expect("valid"), &windows);
            assert_eq!(got.len(), expect, "{text}: {got:?}");
        };
        let before = "c1 write x 1 [50..60]\n";
        check(before, 1);
        check(&format!("{before}c1 read x -> 1 [70..80]"), 1);
        check(&format!("{before}c1 read x -> 1 [90..110]"), 1);
        check(&format!("{before}c1 write x 2 [110..120]\nc1 read x -> 2 [130..140]"), 1);
        check(&format!("{before}c1 read x -> null [110..120]"), 1);
        check(&format!("{before}c1 read x [110..]"), 1);
        check(&format!("{before}c1 read y -> 1 [110..120]"), 1);
        check(&format!("{before}c1 read x -> 1 [110..120]"), 0);
        check(&format!("{before}c1 write x 2 [210..220]\nc1 read x -> 2 [310..320]"), 0);
        // Written again, or perhaps: what was seen may be younger than the fault.
        check(&format!("{before}c1 write x 1 [110..120]\nc1 read x -> 1 [130..140]"), 1);
        check(&format!("{before}c1 write x 1 [80..]\nc1 read x -> 1 [130..140]"), 1);
        check(&format!("{before}c1 write x 1 !no [80..90]\nc1 read x -> 1 [130..140]"), 0);
        check("c1 append x 1 -> 0 [50..60]\nc1 read x -> [1] [110..120]", 0);
        check("c1 append x 1 -> 0 [110..120]\nc1 read x -> [1] [130..140]", 1);
        check("c1 cas x [0,1] -> true [50..60]\nc1 read x -> 1 [110..120]", 0);
        // Nothing of the kind was written, or nothing died.
        check("c1 read x -> 1 [110..120]", 0);
        check("c1 lock x [50..60]", 0);
        assert!(unread_across(&history(before).expect("valid"), &windows[2..]).is_empty());
    }
}
