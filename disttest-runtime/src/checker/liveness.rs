//! Liveness within bounds: what was accepted completes in time, somebody is served, somebody leads.

use super::inquiry::{Inquiry, Witness, acknowledged, by_key, end, lasting, told};
use super::{Answer, Checker, Limits, recipe};
use crate::base::time::Nanos;
use crate::history::{Effect, History, Op};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Checks that something happens soon enough. A finite history shows no liveness, but it shows whether a bound was kept.
///
/// - [`Liveness::completes_within`]: every accepted operation, that is, every one not known to have failed, completes
///   within the bound: `late-completion`, or `no-completion` when the history goes on for longer than the bound and no
///   completion comes. Clients must wait at least that long: one that gives up earlier leaves an unknown outcome. An
///   operation whose process went on with another one sooner, or that is pending when the history ends before its time
///   is up, is unknown.
/// - [`Liveness::serves_within`]: from every invocation on, some operation is acknowledged within the bound, whichever
///   it is: `no-service`, once a gap. The time that a failover takes, as clients see it.
/// - [`Liveness::elects_within`]: of operations `leader` (answer: who leads, null for nobody), none sees nobody longer
///   than the bound after another one saw nobody, with none in between that saw a leader: `no-leader`. Each key is a
///   group with a leader.
///
/// Bounds are owed when faults are over: [`Liveness::since`] and [`Liveness::outside_faults`] leave out what was invoked
/// before. Needs: both timestamps of one clock in nanoseconds; `output` of `leader`; `fault_epoch` for
/// `outside_faults`. O(n log n), linear memory. `Bounded liveness is safety` (Lamport, 2000), so a history can refute it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Liveness {
    rule: Rule,
    bound: u64,
    types: Vec<String>,
    since: u64,
    outside_faults: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Rule {
    Completes,
    Serves,
    Elects,
}

/// Kinds, most telling first.
const RANKS: &[&str] = &["no-completion", "late-completion", "no-service", "no-leader"];

impl Liveness {
    fn new(rule: Rule, bound: Duration) -> Liveness {
        let bound = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
        Liveness { rule, bound, types: Vec::new(), since: 0, outside_faults: false }
    }

    /// Every accepted operation completes within `bound`.
    pub fn completes_within(bound: Duration) -> Liveness {
        Liveness::new(Rule::Completes, bound)
    }

    /// Somebody is served within `bound` of any attempt.
    pub fn serves_within(bound: Duration) -> Liveness {
        Liveness::new(Rule::Serves, bound)
    }

    /// A leader is seen within `bound` of its absence being seen.
    pub fn elects_within(bound: Duration) -> Liveness {
        Liveness::new(Rule::Elects, bound)
    }

    /// Judges operations of these types only.
    pub fn of<T: Into<String>>(mut self, op_types: impl IntoIterator<Item = T>) -> Liveness {
        self.types = op_types.into_iter().map(Into::into).collect();
        self
    }

    /// Judges operations that were invoked at `at` or later, such as after the heal.
    pub fn since(mut self, at: Nanos) -> Liveness {
        self.since = at.0;
        self
    }

    /// Judges operations that overlapped no fault window.
    pub fn outside_faults(mut self) -> Liveness {
        self.outside_faults = true;
        self
    }

    fn judges(&self, op: &Op) -> bool {
        let of_type = match (self.types.is_empty(), self.rule) {
            (false, _) => self.types.contains(&op.op_type),
            (true, Rule::Elects) => op.op_type == "leader",
            (true, _) => true,
        };
        of_type && op.invoke_ts.0 >= self.since && !(self.outside_faults && op.fault_epoch.is_some())
    }
}

impl Checker for Liveness {
    fn name(&self) -> &str {
        match self.rule {
            Rule::Completes | Rule::Serves => "bounded-liveness",
            Rule::Elects => "bounded-election",
        }
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list =
            vec!["wrong answers that came in time".to_owned(), "what happens after the history ends".to_owned()];
        list.extend(match self.rule {
            Rule::Completes => vec!["operations that are refused, however often".to_owned()],
            Rule::Serves => vec!["one client or key that is never served while others are".to_owned()],
            Rule::Elects => vec![
                "leaders that nobody asked about, and two at a time (see `exclusion`)".to_owned(),
                "the time before nobody was first seen to lead".to_owned(),
            ],
        });
        if self.since > 0 || self.outside_faults {
            list.push("what took too long while faults acted".to_owned());
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("bounded-liveness", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        let first = history.ops().first().map_or_else(String::new, |op| format!(" (first operation {})", op.op_id));
        let none = !history.ops().iter().any(|op| self.judges(op) && acknowledged(op));
        none.then(|| format!("no acknowledged operation is held to the bound{first}")).into_iter().collect()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        inquiry.evidence.partitions = u64::from(!history.ops().is_empty());
        match self.rule {
            Rule::Completes => self.completes(history, &mut inquiry),
            Rule::Serves => self.serves(history, &mut inquiry),
            Rule::Elects => self.elects(history, &mut inquiry),
        }
        inquiry.answer(self, RANKS, "no operation could have shown that the bound was missed")
    }
}

/// When anything was last heard of.
fn finish(history: &History) -> u64 {
    history.ops().iter().map(|op| op.complete_ts.unwrap_or(op.invoke_ts).0).max().unwrap_or(0)
}

/// For each operation of unknown outcome, what its process did next.
fn went_on(history: &History) -> FxHashMap<u64, &Op> {
    let (mut next, mut went_on) = (FxHashMap::default(), FxHashMap::default());
    for op in history.ops().iter().rev() {
        let later = next.insert(op.process_id, op);
        if op.complete_ts.is_none() {
            went_on.extend(later.map(|later| (op.op_id, later)));
        }
    }
    went_on
}

impl Liveness {
    fn completes(&self, history: &History, inquiry: &mut Inquiry<'_>) {
        let finish = finish(history);
        let next = went_on(history);
        for op in history.ops() {
            if !inquiry.go_on(1, 0) {
                return;
            }
            inquiry.evidence.consumed += 1;
            if !self.judges(op) || op.effect() == Effect::Failed {
                continue;
            }
            let over = match op.complete_ts {
                Some(complete) => complete.since(op.invoke_ts).as_nanos() as u64,
                None => finish - op.invoke_ts.0,
            };
            if op.complete_ts.is_some() {
                inquiry.evidence.fired += 1;
                if over > self.bound {
                    inquiry.found("late-completion", op.key.as_deref(), || self.witness(op, "completed", over));
                }
            } else if over <= self.bound {
                inquiry.undecided(format!("{} is pending at the end of the history, within its time", told(op)));
            } else if let Some(next) =
                next.get(&op.op_id).filter(|next| next.invoke_ts.since(op.invoke_ts) <= self.allowed())
            {
                inquiry.undecided(format!(
                    "the client of {} gave it up before its time was up: {}",
                    told(op),
                    told(next)
                ));
            } else {
                inquiry.evidence.fired += 1;
                inquiry.found("no-completion", op.key.as_deref(), || self.witness(op, "had not completed", over));
            }
        }
    }

    fn allowed(&self) -> Duration {
        Duration::from_nanos(self.bound)
    }

    fn witness(&self, op: &Op, what: &str, over: u64) -> Witness {
        let explanation =
            format!("{} {what} {} after its invocation; {} is allowed.", told(op), lasting(over), lasting(self.bound));
        Witness { ops: vec![op.op_id], explanation }
    }

    fn serves(&self, history: &History, inquiry: &mut Inquiry<'_>) {
        let finish = finish(history);
        let judged = || history.ops().iter().filter(|op| self.judges(op));
        let mut served: Vec<u64> = judged().filter(|op| acknowledged(op)).map(end).collect();
        served.sort_unstable();
        if served.is_empty() {
            return;
        }
        inquiry.evidence.consumed = inquiry.evidence.recorded;
        let (mut next, mut told_of) = (0, None);
        for op in judged() {
            if !inquiry.go_on(1, 8 * served.len() as u64) {
                return;
            }
            while served.get(next).is_some_and(|at| *at < op.invoke_ts.0) {
                next += 1;
            }
            let until = served.get(next).copied();
            let waited = until.unwrap_or(finish) - op.invoke_ts.0;
            inquiry.evidence.fired += u64::from(until.is_some() || waited > self.bound);
            if waited > self.bound && told_of.replace(next) != Some(next) {
                let till = until.map_or("the end of the history".to_owned(), |at| format!("{at} ns"));
                inquiry.found("no-service", None, || Witness {
                    ops: vec![op.op_id],
                    explanation: format!(
                        "from the invocation of {} to {till}, {}, nothing was acknowledged; {} is allowed.",
                        told(op),
                        lasting(waited),
                        lasting(self.bound)
                    ),
                });
            }
        }
    }

    fn elects(&self, history: &History, inquiry: &mut Inquiry<'_>) {
        for group in by_key(history) {
            inquiry.evidence.consumed += group.ops.len() as u64;
            // By completion: what is seen first is known first.
            let mut asked: Vec<&Op> =
                group.ops.iter().copied().filter(|op| self.judges(op) && acknowledged(op)).collect();
            asked.sort_by_key(|op| (end(op), op.op_id));
            let mut seen: Vec<&Op> = asked.iter().copied().filter(|op| !op.output.is_null()).collect();
            seen.sort_by_key(|op| op.invoke_ts);
            let mut vacant: Option<&Op> = None;
            for op in asked {
                if !inquiry.go_on(1, 16 * group.ops.len() as u64) {
                    return;
                }
                if !op.output.is_null() {
                    vacant = None;
                    continue;
                }
                let Some(first) = vacant else {
                    vacant = Some(op);
                    continue;
                };
                inquiry.evidence.fired += 1;
                let over = op.invoke_ts.0.saturating_sub(end(first));
                // A leader may have been seen by one that was still asking when this one was answered.
                let meanwhile = seen[..seen.partition_point(|led| led.invoke_ts.0 <= end(op))]
                    .iter()
                    .any(|led| end(led) >= end(op));
                if over > self.bound && !meanwhile {
                    inquiry.found("no-leader", group.key, || Witness {
                        ops: vec![first.op_id, op.op_id],
                        explanation: format!(
                            "{} saw no leader, nor did {}, which began {} later, nor was one seen in between; {} is allowed.",
                            told(first),
                            told(op),
                            lasting(over),
                            lasting(self.bound)
                        ),
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::base::rng::Rng;
    use crate::checker::reference::{said, seeds};
    use crate::checker::{Outcome, Unlimited};
    use crate::history::notation::history;

    const TEN: Duration = Duration::from_nanos(10);

    fn check(liveness: &Liveness, text: &str, expect: &str) {
        let answer = liveness.check(&history(text).unwrap(), &Unlimited);
        let got = said(&answer.outcome);
        assert_eq!(got, expect, "{text}\n{answer:#?}");
    }

    #[test]
    fn what_was_accepted_completes_in_time() {
        let ten = Liveness::completes_within(TEN);
        check(&ten, "c1 write x 1 [0..10]", "valid");
        check(&ten, "c1 write x 1 [0..11]", "late-completion [0]");
        check(&ten, "c1 write x 1 !no [0..99]\nc1 read x -> 1 [0..1]", "valid");
        check(&ten, "c1 write x 1 [0..]\nc2 read x -> 1 [5..11]", "no-completion [0]");
        check(&ten, "c1 write x 1 [0..]\nc2 read x -> 1 [5..10]", "unknown");
        check(&ten, "c1 write x 1 [0..]\nc1 read x -> 1 [5..12]", "unknown");
        check(&ten, "c1 write x 1 [0..]\nc1 read x -> 1 [11..12]", "no-completion [0]");
        check(&ten, "", "unknown");
        check(&ten, "c1 write x 1 !no [0..1]", "unknown");
        check(&ten.clone().of(["read"]), "c1 write x 1 [0..99]\nc1 read x -> 1 [99..100]", "valid");
        check(&ten.clone().since(Nanos(50)), "c1 write x 1 [0..99]\nc1 read x -> 1 [99..100]", "valid");
        check(&ten.outside_faults(), "c1 write x 1 [0..99] ^1\nc1 read x -> 1 [99..100]", "valid");
    }

    #[test]
    fn somebody_is_served_in_time() {
        let ten = Liveness::serves_within(TEN);
        check(&ten, "c1 write x 1 [0..99]\nc2 write x 1 [0..9]\nc2 write x 1 [90..99]", "valid");
        check(&ten, "c1 write x 1 !no [0..1]\nc2 write x 1 [3..14]", "no-service [0]");
        check(&ten, "c1 write x 1 [0..1]\nc1 write x 1 [2..]\nc2 write x 1 !no [3..14]", "no-service [1]");
        check(&ten, "c1 write x 1 [0..1]\nc1 write x 1 [2..]\nc2 write x 1 !no [3..12]", "valid");
        check(&ten, "c1 write x 1 [0..]", "unknown");
        check(&ten, "", "unknown");
    }

    #[test]
    fn somebody_leads_in_time() {
        let ten = Liveness::elects_within(TEN);
        check(&ten, "c1 leader g -> null [0..1]\nc1 leader g -> null [11..12]\nc1 leader g -> n2 [13..14]", "valid");
        check(&ten, "c1 leader g -> null [0..1]\nc1 leader g -> null [12..13]", "no-leader [0, 1]");
        check(
            &ten,
            "c1 leader g -> null [0..1]\nc1 leader g -> n1 [5..6]\nc1 leader g -> null [12..13]\nc1 leader g -> null [14..15]",
            "valid",
        );
        // Asked before, answered after: the leader may have been there in between.
        check(&ten, "c1 leader g -> null [0..1]\nc2 leader g -> n1 [2..20]\nc1 leader g -> null [12..13]", "valid");
        check(
            &ten,
            "c1 leader g -> null [0..1]\nc1 leader h -> n1 [5..6]\nc1 leader g -> null [12..13]",
            "no-leader [0, 2]",
        );
        check(&ten, "c1 leader g -> null [0..1]", "unknown");
        check(&ten, "c1 leader g -> n1 [0..1]\nc1 leader g -> n1 [9..10]", "unknown");
        check(&ten, "", "unknown");
        let missing = Liveness::elects_within(TEN).missing(&history("c1 read x -> 1 [0..1]").unwrap());
        assert_eq!(missing, ["no acknowledged operation is held to the bound (first operation 0)"]);
    }

    #[test]
    fn bounds_are_those_of_the_definitions() {
        let mut seen = [0; 4];
        for seed in seeds(4000) {
            let mut rng = Rng::stream(seed, "live");
            let mut text = String::new();
            for op in 0..1 + rng.below(7) {
                let (from, length) = (rng.below(40), rng.below(14));
                text.push_str(&match rng.below(6) {
                    0 => format!("c{op} write x {op} [{from}..]\n"),
                    1 => format!("c{op} write x {op} !no [{from}..{}]\n", from + length),
                    _ => format!("c{op} write x {op} [{from}..{}]\n", from + length),
                });
            }
            let history = history(&text).unwrap();
            let ops = history.ops();
            let finish = ops.iter().map(|op| op.complete_ts.unwrap_or(op.invoke_ts).0).max().unwrap();
            let late = ops.iter().any(|op| match op.effect() {
                Effect::Failed => false,
                Effect::Acknowledged => end(op) > op.invoke_ts.0 + 10,
                Effect::Unknown => finish > op.invoke_ts.0 + 10,
            });
            let outcome = Liveness::completes_within(TEN).check(&history, &Unlimited).outcome;
            assert_eq!(matches!(outcome, Outcome::Invalid { .. }), late, "{seed}\n{text}");
            let acks: Vec<u64> = ops.iter().filter(|op| acknowledged(op)).map(end).collect();
            let idle = ops.iter().any(|op| {
                let from = op.invoke_ts.0;
                !acks.is_empty() && finish > from + 10 && !acks.iter().any(|ack| (from..=from + 10).contains(ack))
            });
            let outcome = Liveness::serves_within(TEN).check(&history, &Unlimited).outcome;
            assert_eq!(matches!(outcome, Outcome::Invalid { .. }), idle, "{seed}\n{text}");
            seen[usize::from(late)] += 1;
            seen[2 + usize::from(idle)] += 1;
        }
        assert!(seen.iter().all(|count| *count > 300), "{seen:?}");
    }
}
