//! Long forks: two reads that see two writes in opposite orders.

use super::inquiry::{Group, Inquiry, Numbering, Witness, acknowledged, brief, by_key, problems, told};
use super::{Answer, Checker, Limits, recipe};
use crate::history::{Effect, History, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Checks snapshots of keys that are written once: if one read sees the write of a and not that of b, none may see that
/// of b and not that of a. Parallel snapshot isolation allows this `long-fork`, snapshot isolation does not.
///
/// Operations are `txn`, `read` or `write` over lists of micro-operations: `["r", key, null]` that answer
/// `["r", key, value]` with null for a key not yet written, or `["w", key, value]`. A transaction reads or writes, not both.
/// A key that was written twice (failed writes aside), or shows two values, is unknown: nothing follows from it. Reads of
/// different sets of keys are compared on what they share. Needs: `output` of each read. O(over all reads: keys seen ×
/// keys not seen), memory for as many pairs of keys. After Jepsen's `jepsen.tests.long-fork`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongFork;

impl LongFork {
    /// For groups of any size.
    pub fn new() -> LongFork {
        LongFork
    }
}

/// What a transaction does.
enum Txn<'h> {
    Reads(&'h [Value]),
    Writes(&'h [Value]),
    /// It reads, and no answer came.
    Nothing,
}

/// Key and value of a micro-operation that was found to fit.
fn parts(micro: &Value) -> (&Value, &Value) {
    (&micro[1], &micro[2])
}

fn txn(op: &Op) -> Result<Txn<'_>, String> {
    if !matches!(op.op_type.as_str(), "txn" | "read" | "write") {
        return Err(format!("`{}` is none of txn, read, write", op.op_type));
    }
    let list = if acknowledged(op) && op.output.is_array() { &op.output } else { &op.input };
    let Some(list) = list.as_array() else {
        return Err(format!("a transaction is a list of micro-operations, not {}", brief(&list.to_string())));
    };
    let (mut reads, mut writes) = (0, 0);
    for micro in list {
        match micro.as_array().map(Vec::as_slice) {
            Some([Value::String(f), _, _]) if f == "r" => reads += 1,
            Some([Value::String(f), _, _]) if f == "w" => writes += 1,
            _ => {
                return Err(format!(
                    "{} is neither [\"r\", key, value] nor [\"w\", key, value]",
                    brief(&micro.to_string())
                ));
            }
        }
    }
    match (reads, writes) {
        (0, _) => Ok(Txn::Writes(list)),
        (_, 0) if acknowledged(op) && op.output.is_array() => Ok(Txn::Reads(list)),
        (_, 0) if acknowledged(op) => Err("a completed read has no answer".to_owned()),
        (_, 0) => Ok(Txn::Nothing),
        _ => Err("a transaction both reads and writes".to_owned()),
    }
}

impl Checker for LongFork {
    fn name(&self) -> &str {
        "long-fork"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec![
            "stale snapshots that agree on one order of the writes".to_owned(),
            "forks among keys that no two reads have in common, and cycles through three or more reads".to_owned(),
            "values that nobody wrote: any value but null counts as the write of its key".to_owned(),
        ]
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("long-fork", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        problems(history, |op| txn(op).err())
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let mut inquiry = Inquiry::new(history, limits);
        for group in by_key(history) {
            inquiry.evidence.partitions += 1;
            inquiry.evidence.consumed += group.ops.len() as u64;
            match Snapshots::of(&group) {
                Err(why) => inquiry.undecided(why),
                Ok(snapshots) if !snapshots.judge(group.key, &mut inquiry) => break,
                Ok(_) => {}
            }
        }
        inquiry.answer(self, &[], "no completed read saw two keys or more")
    }
}

/// A key as the history shows it.
#[derive(Clone, Copy, Default)]
struct Key<'h> {
    writer: Option<&'h Op>,
    value: Option<&'h Value>,
}

/// The reads of a group in columns.
struct Snapshots<'h> {
    numbering: Numbering<'h>,
    keys: Vec<Key<'h>>,
    /// Each read, with where its keys begin in `shown`.
    reads: Vec<(&'h Op, usize)>,
    /// Numbers of keys, and whether a value was seen.
    shown: Vec<(u32, bool)>,
}

impl<'h> Snapshots<'h> {
    /// The reads, if each key was written once and shows one value.
    fn of(group: &Group<'h>) -> Result<Snapshots<'h>, String> {
        let numbering = Numbering::new(group.ops.len());
        let mut snapshots = Snapshots { numbering, keys: Vec::new(), reads: Vec::new(), shown: Vec::new() };
        for op in group.ops.iter().copied() {
            let txn = txn(op).map_err(|why| format!("the history does not fit: operation {}: {why}", op.op_id))?;
            match txn {
                Txn::Writes(list) if op.effect() != Effect::Failed => snapshots.write(op, list)?,
                Txn::Reads(list) => snapshots.read(op, list)?,
                _ => {}
            }
        }
        Ok(snapshots)
    }

    fn key(&mut self, name: &'h Value) -> (u32, &mut Key<'h>) {
        let number = self.numbering.of(name);
        if number as usize == self.keys.len() {
            self.keys.push(Key::default());
        }
        (number, &mut self.keys[number as usize])
    }

    fn write(&mut self, op: &'h Op, list: &'h [Value]) -> Result<(), String> {
        for (name, _) in list.iter().map(parts) {
            if let Some(first) = self.key(name).1.writer.replace(op) {
                return Err(format!("key {name} was written twice: {} and {}", told(first), told(op)));
            }
        }
        Ok(())
    }

    fn read(&mut self, op: &'h Op, list: &'h [Value]) -> Result<(), String> {
        self.reads.push((op, self.shown.len()));
        for (name, value) in list.iter().map(parts) {
            let (number, key) = self.key(name);
            if !value.is_null() && key.value.replace(value).is_some_and(|before| before != value) {
                return Err(format!("key {name} shows more than one value: {}", told(op)));
            }
            self.shown.push((number, !value.is_null()));
        }
        Ok(())
    }

    /// False when limits say to stop.
    fn judge(&self, key: Option<&str>, inquiry: &mut Inquiry<'_>) -> bool {
        // Of each pair (a, b): a read that sees a and not b.
        let mut ahead: FxHashMap<u64, &Op> = FxHashMap::default();
        let mut told_of: FxHashSet<u64> = FxHashSet::default();
        let (mut seen, mut unseen) = (Vec::new(), Vec::new());
        let ends = self.reads.iter().skip(1).map(|(_, from)| *from).chain([self.shown.len()]);
        for ((op, from), to) in self.reads.iter().zip(ends) {
            seen.clear();
            unseen.clear();
            for (number, there) in &self.shown[*from..to] {
                if *there { seen.push(*number) } else { unseen.push(*number) }
            }
            inquiry.evidence.fired += u64::from(to - from > 1);
            let work = (seen.len() * unseen.len()) as u64 + 1;
            if !inquiry.go_on(work, 32 * ahead.len() as u64 + 24 * self.keys.len() as u64) {
                return false;
            }
            for (a, b) in seen.iter().flat_map(|a| unseen.iter().map(move |b| (*a, *b))) {
                ahead.entry(pair(a, b)).or_insert(op);
                let other = ahead.get(&pair(b, a)).filter(|_| told_of.insert(pair(a.min(b), a.max(b))));
                if let Some(other) = other {
                    inquiry.found("long-fork", key, || self.fork(other, op, b, a));
                }
            }
        }
        true
    }

    fn fork(&self, first: &Op, second: &Op, a: u32, b: u32) -> Witness {
        let name = |number: u32| self.numbering.values[number as usize];
        let (one, other) = (name(a), name(b));
        let mut ops = vec![first.op_id, second.op_id];
        ops.extend([a, b].iter().filter_map(|number| self.keys[*number as usize].writer).map(|op| op.op_id));
        Witness {
            ops,
            explanation: format!(
                "{} sees the write of {one} and not that of {other}, so {one} was written first; {} sees the write of \
                 {other} and not that of {one}, so {other} was written first: a contradiction.",
                told(first),
                told(second)
            ),
        }
    }
}

fn pair(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::base::rng::Rng;
    use crate::checker::reference::{said, seeds};
    use crate::checker::{Outcome, Unlimited};
    use crate::history::notation::history;
    use serde_json::json;

    fn check(text: &str, expect: &str) {
        let answer = LongFork::new().check(&history(text).unwrap(), &Unlimited);
        let got = said(&answer.outcome);
        assert_eq!(got, expect, "{text}\n{answer:#?}");
    }

    /// Reads of x and y that saw these, and the two writes.
    fn reads(seen: &[(bool, bool)]) -> String {
        let mut text = "c1 txn - [[\"w\",\"x\",1]] [0..1]\nc2 write - [[\"w\",\"y\",1]] [0..1]\n".to_owned();
        for (x, y) in seen {
            let value = |seen: &bool| if *seen { json!(1) } else { Value::Null };
            let (input, output) =
                (json!([["r", "x", null], ["r", "y", null]]), json!([["r", "x", value(x)], ["r", "y", value(y)]]));
            text.push_str(&format!("c3 txn - {input} -> {output} [2..3]\n"));
        }
        text
    }

    #[test]
    fn reads_agree_on_an_order_of_the_writes() {
        check(&reads(&[(false, false), (true, false), (true, true)]), "valid");
        check(&reads(&[(false, true), (false, true), (true, true)]), "valid");
        check(&reads(&[(true, false), (true, true), (false, true)]), "long-fork [2, 4, 0, 1]");
        check("", "unknown");
        check(&reads(&[]), "unknown");
        check("c1 read - [[\"r\",1,null]] -> [[\"r\",1,1]] [0..1]", "unknown");
        check("c1 txn - [[\"r\",1,null],[\"r\",2,null]] [0..]", "unknown");
        // Without the writes, and only two of three keys in common.
        check(
            "c1 read - [] -> [[\"r\",0,1],[\"r\",1,1],[\"r\",2,null]] [0..1]\nc1 read - [] -> [[\"r\",2,1],[\"r\",1,null]] [0..1]",
            "long-fork [0, 1]",
        );
        let twice = format!("{}c4 write - [[\"w\",\"x\",2]] [0..]", reads(&[(true, false), (false, true)]));
        check(&twice, "unknown");
        let retried = format!("{}c4 write - [[\"w\",\"x\",2]] !no [0..1]", reads(&[(true, false), (false, true)]));
        check(&retried, "long-fork [2, 3, 0, 1]");
        check(
            "c1 read - [] -> [[\"r\",0,1],[\"r\",1,1]] [0..1]\nc1 read - [] -> [[\"r\",0,2],[\"r\",1,1]] [0..1]",
            "unknown",
        );
        check("c1 txn - [] -> [[\"r\",0,1],[\"w\",1,1]] [0..1]", "unknown");
        check("c1 txn - [] -> [[\"append\",0,1]] [0..1]", "unknown");
        check("c1 cas - [] -> [[\"r\",0,1]] [0..1]", "unknown");
        check("c1 read - 1 [0..1]", "unknown");
    }

    /// Two reads of which each sees a key that the other reads and does not see.
    fn reference(history: &History) -> bool {
        let value = |op: &Op, key: u64| {
            let list = op.output.as_array().unwrap();
            list.iter().find(|micro| micro[1] == key).map(|micro| !micro[2].is_null())
        };
        let beyond = |a: &Op, b: &Op| (0..5).any(|key| value(a, key) == Some(true) && value(b, key) == Some(false));
        let ops = history.ops();
        ops.iter().any(|a| ops.iter().any(|b| beyond(a, b) && beyond(b, a)))
    }

    #[test]
    fn every_two_reads_are_compared() {
        let mut forks = [0, 0];
        for seed in seeds(4000) {
            let mut rng = Rng::stream(seed, "fork");
            let mut order: Vec<u64> = (0..5).collect();
            rng.shuffle(&mut order);
            let mut text = String::new();
            for at in 0..1 + rng.below(6) {
                // A prefix of one order, and sometimes not.
                let written = rng.below(6) as usize;
                let mut keys: Vec<u64> = (0..5).filter(|_| rng.chance(2, 3)).collect();
                rng.shuffle(&mut keys);
                let wrong = rng.chance(1, 8);
                let list: Vec<Value> = keys
                    .into_iter()
                    .map(|key| {
                        let there = order[..written].contains(&key) != (wrong && rng.chance(1, 3));
                        json!(["r", key, if there { json!(7) } else { Value::Null }])
                    })
                    .collect();
                text.push_str(&format!("c1 read - [] -> {} [{at}..9]\n", json!(list)));
            }
            let history = history(&text).unwrap();
            let forked = matches!(LongFork.check(&history, &Unlimited).outcome, Outcome::Invalid { .. });
            assert_eq!(forked, reference(&history), "{seed}\n{text}");
            forks[usize::from(forked)] += 1;
        }
        assert!(forks.iter().all(|count| *count > 300), "{forks:?}");
    }
}
