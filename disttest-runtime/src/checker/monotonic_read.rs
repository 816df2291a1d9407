//! Monotonic reads: what a session reads of a key never goes back, by the system's own versions.

use super::ahead::{Parts, ahead};
use super::keys::Keys;
use super::places::Places;
use super::pointer::Pointer;
use super::shown::{Highest, Shown};
use super::version::{Version, Versions};
use super::work::{Work, told};
use super::{Answer, Checker, Limits, Unlimited, Violation, recipe};
use crate::history::{Effect, History, Op};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::cell::LazyCell;
use std::sync::Arc;

/// Operation types that read, unless others are given.
const READS: [&str; 6] = ["read", "get", "read-set", "poll", "consume", "scan"];

/// Checks that of two reads of a key in a session, one completed before the other began, the later one shows no smaller
/// version (monotonic reads of Terry et al., "Session guarantees for weakly consistent replicated data", PDIS 1994).
///
/// A session is a `process_id`: a client that reconnects has a new one. The version is the system's, from the output
/// (offset, revision, tag), never the clock of the recorder. A read that answers null showed the state before every
/// version, unless something deletes the key: then it says nothing and is passed over. Reads of unknown outcome and
/// failed ones showed nothing.
///
/// Required fields: `process_id`, `key`, `invoke_ts`, `complete_ts`, and a version in the output of each completed read.
/// Witness: two reads, `read-went-back`. O(n log in-flight) time, O(sessions × keys) memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MonotonicRead {
    versions: Versions,
    reads: Vec<String>,
}

impl MonotonicRead {
    /// The version stands in the output at this JSON pointer, such as `/version`; the empty one is the output itself.
    pub fn at(pointer: &str) -> MonotonicRead {
        MonotonicRead::with(Versions::At(Pointer::new(pointer)))
    }

    /// The version of a completed read is what this function finds in it.
    pub fn by(version: impl Fn(&Op) -> Option<Version> + Send + Sync + 'static) -> MonotonicRead {
        MonotonicRead::with(Versions::By(Arc::new(version)))
    }

    fn with(versions: Versions) -> MonotonicRead {
        MonotonicRead { versions, reads: READS.map(str::to_owned).to_vec() }
    }

    /// Operations of these types read, in place of `read`, `get`, `read-set`, `poll`, `consume`, `scan`.
    pub fn reading(mut self, op_types: &[&str]) -> MonotonicRead {
        self.reads = op_types.iter().map(|one| (*one).to_owned()).collect();
        self
    }

    fn work<'h, 'l>(&self, history: &'h History, limits: &'l dyn Limits) -> (Work<'l>, Keys<'h>) {
        let mut work = Work::new(history, limits);
        let mut keys = Keys::default();
        let deleted = LazyCell::new(|| deleted_keys(history));
        let mut places: Places<Place> = Places::default();
        let ops = history.ops();
        let mut shown = Shown::new(ops.len());
        for (at, op) in ahead(ops, Parts::Outputs).enumerate() {
            if !work.goes_on(|| places.bytes() + shown.bytes()) {
                break;
            }
            let key = keys.count(op);
            let Some(complete) = op.complete_ts.filter(|_| op.effect() == Effect::Acknowledged) else { continue };
            if !self.reads.contains(&op.op_type) || op.output.is_null() && deleted.contains(&op.key.as_deref()) {
                continue;
            }
            let version = self.versions.of(op);
            if version.is_none() && !op.output.is_null() {
                work.lacks(op, self.versions.lack(op));
                continue;
            }
            let place = places.of(op.process_id, key, Place::default);
            if let Some(before) = place.reads.before(op, &shown) {
                work.evidence.fired += 1;
                keys.observe(key);
                let highest = shown.version(before);
                if version < highest && !std::mem::replace(&mut place.told, true) {
                    work.violates(|| went_back(&ops[shown.op(before)], highest, op, version));
                }
            }
            place.reads.completes(complete, shown.add(version, at as u32));
        }
        (work, keys)
    }
}

/// The reads of a session on a key.
#[derive(Default)]
struct Place {
    reads: Highest,
    told: bool,
}

/// Keys that something deletes: null says nothing of their versions.
pub(super) fn deleted_keys(history: &History) -> FxHashSet<Option<&str>> {
    let deletes = history.ops().iter().filter(|op| op.op_type == "delete" && op.effect() != Effect::Failed);
    deletes.map(|op| op.key.as_deref()).collect()
}

pub(super) fn say(version: Option<Version>) -> String {
    version.map_or_else(|| "nothing".to_owned(), |version| format!("version {version}"))
}

fn went_back(before: &Op, seen: Option<Version>, op: &Op, shows: Option<Version>) -> Violation {
    let explanation = format!(
        "session {} had read {} by {}; its later read, {}, shows {}, which is older.",
        op.process_id,
        say(seen),
        told(before),
        told(op),
        say(shows)
    );
    Violation {
        anomaly: "read-went-back".to_owned(),
        key: op.key.clone(),
        ops: vec![before.op_id, op.op_id],
        explanation,
    }
}

impl Checker for MonotonicRead {
    fn name(&self) -> &str {
        "monotonic-read"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            "stale reads that are no older than what the same session had read before".to_owned(),
            "reads that went back across a reconnect: a new session starts afresh".to_owned(),
            "wrong values under a right version, and versions that the system assigns wrongly".to_owned(),
            "relations between keys, and reads in flight at once".to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("monotonic-read", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        self.work(history, &Unlimited).0.sentences()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let (work, keys) = self.work(history, limits);
        work.answer(self, &keys, "no session completed a read of a key and then began another one of it")
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::base::rng::Rng;
    use crate::checker::Outcome;
    use crate::checker::reference::seeds;
    use crate::history::notation::history;
    use serde_json::json;

    fn check(text: &str, expect: &str) {
        let history = history(text).unwrap();
        let answer = MonotonicRead::at("/v").check(&history, &Unlimited);
        let got = match &answer.outcome {
            Outcome::Valid => "valid".to_owned(),
            Outcome::Invalid { violations } => format!("{} {:?}", violations[0].anomaly, violations[0].ops),
            Outcome::Unknown { why } => format!("unknown: {why}"),
        };
        assert!(got.starts_with(expect) && (expect != "unknown" || !got.contains("valid")), "{text}\n{answer:#?}");
        assert!(answer.evidence.consumed <= answer.evidence.recorded && !answer.cannot_detect.is_empty());
    }

    #[test]
    fn versions_of_a_session_never_go_back() {
        for (expect, text) in [
            ("valid", "c1 read x -> {\"v\":1} [0..1]\nc1 read x -> {\"v\":1} [2..3]\nc1 get x -> {\"v\":2} [4..5]"),
            ("read-went-back [0, 1]", "c1 read x -> {\"v\":2} [0..1]\nc1 read x -> {\"v\":1} [2..3]"),
            (
                "read-went-back [0, 2]",
                "c1 read x -> {\"v\":3} [0..1]\nc1 read x -> {\"v\":3} [1..2]\nc1 read x -> {\"v\":1} [2..3]",
            ),
            ("read-went-back [0, 1]", "c1 read x -> {\"v\":[2,1]} [0..1]\nc1 read x -> {\"v\":[1,9]} [2..3]"),
            ("read-went-back [0, 1]", "c1 read x -> {\"v\":2} [0..1]\nc1 read x -> null [2..3]"),
            ("valid", "c1 read x -> null [0..1]\nc1 read x -> {\"v\":0} [2..3]"),
            // A reconnect is a new session, another key another matter, and what overlaps has no order.
            ("unknown: no session", "c1 read x -> {\"v\":2} [0..1]\nc2 read x -> {\"v\":1} [2..3]"),
            ("unknown: no session", "c1 read x -> {\"v\":2} [0..1]\nc1 read y -> {\"v\":1} [2..3]"),
            ("unknown: no session", "c1 read x -> {\"v\":2} [0..2]\nc1 read x -> {\"v\":1} [2..3]"),
            // Pipelined reads: the first one to complete counts for what begins after it.
            (
                "read-went-back [1, 2]",
                "c1 read x -> {\"v\":1} [0..9]\nc1 read x -> {\"v\":5} [1..2]\nc1 read x -> {\"v\":4} [3..4]",
            ),
            // Crashed and failed reads show nothing; writes are not its business.
            (
                "valid",
                "c1 read x -> {\"v\":2} [0..1]\nc1 read x [2..]\nc1 read x !no [2..3]\nc1 read x -> {\"v\":2} [4..5]\nc1 write x 1 [6..]",
            ),
            // Where something is deleted, nothing says nothing.
            ("unknown: no session", "c1 read x -> {\"v\":2} [0..1]\nc2 delete x [1..]\nc1 read x -> null [2..3]"),
            (
                "unknown: the history does not say enough: operation 1 and 1 in all: the output of a read has no version at \"/v\"",
                "c1 read x -> {\"v\":2} [0..1]\nc1 read x -> 7 [2..3]\nc1 read x -> {\"v\":2} [4..5]",
            ),
            (
                "read-went-back [0, 2]",
                "c1 read x -> {\"v\":2} [0..1]\nc1 read x -> 7 [2..3]\nc1 read x -> {\"v\":1} [4..5]",
            ),
            ("unknown: the history is empty", ""),
            ("unknown: no session", "c1 read x [0..]\nc1 read x [1..]"),
        ] {
            check(text, expect);
        }
    }

    #[test]
    fn other_places_of_the_version_and_other_operations_can_be_named() {
        let text = history("c1 look x -> rev7 [0..1]\nc1 look x -> rev6 [2..3]").unwrap();
        let invalid =
            |checker: MonotonicRead| matches!(checker.check(&text, &Unlimited).outcome, Outcome::Invalid { .. });
        assert!(invalid(MonotonicRead::at("").reading(&["look"])));
        assert!(invalid(MonotonicRead::by(|op| Version::of(&op.output)).reading(&["look"])));
        assert!(!invalid(MonotonicRead::at("")));
    }

    #[test]
    fn a_limit_makes_it_unknown() {
        struct None0;
        impl Limits for None0 {
            fn exceeded(&self, _: u64) -> Option<String> {
                Some("0 s of checking".to_owned())
            }
        }
        let text = history("c1 read x -> {\"v\":2} [0..1]\nc1 read x -> {\"v\":2} [2..3]").unwrap();
        let answer = MonotonicRead::at("/v").check(&text, &None0);
        assert!(matches!(answer.outcome, Outcome::Unknown { why } if why.contains("0 s of checking")));
    }

    /// Every pair of reads, by the definition.
    fn slow(history: &History) -> bool {
        let reads: Vec<&Op> = history.ops().iter().filter(|op| op.effect() == Effect::Acknowledged).collect();
        reads.iter().any(|a| {
            reads.iter().any(|b| {
                (a.process_id, &a.key) == (b.process_id, &b.key)
                    && a.complete_ts < Some(b.invoke_ts)
                    && b.output["v"].as_u64() < a.output["v"].as_u64()
            })
        })
    }

    #[test]
    fn it_agrees_with_every_pair_of_reads_on_small_histories() {
        let mut tally = [0; 2];
        for seed in seeds(5000) {
            let mut rng = Rng::stream(seed, "monotonic");
            let lines = (0..2 + rng.below(6)).map(|n| {
                let (from, took) = (rng.below(12), rng.below(5));
                let v = n / 3 + rng.below(3);
                let output = if rng.chance(1, 8) { "null".to_owned() } else { json!({"v": v}).to_string() };
                let (client, key) = (rng.below(2), ["x", "y"][rng.below(2) as usize]);
                if rng.chance(1, 10) {
                    format!("c{client} read {key} [{from}..]")
                } else {
                    format!("c{client} read {key} -> {output} [{from}..{}]", from + took)
                }
            });
            let text = lines.collect::<Vec<_>>().join("\n");
            let history = history(&text).unwrap();
            let got = MonotonicRead::at("/v").check(&history, &Unlimited).outcome;
            assert_eq!(matches!(got, Outcome::Invalid { .. }), slow(&history), "{text}\n{got:?}");
            tally[usize::from(slow(&history))] += 1;
        }
        assert!(tally.iter().all(|count| *count > 500), "{tally:?}");
    }
}
