//! What a checker has done and found so far, and the answer it comes to.

use super::ahead::{Parts, ahead};
use super::{Answer, Checker, Evidence, Limits, Outcome, Violation};
use crate::history::{Effect, History, Op};
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};

/// Violations of one kind that are kept with their witness; the rest are counted.
const KEPT: u64 = 1000;

/// Reasons for an unknown that are told; the rest are counted.
const TOLD: usize = 5;

/// Work between two looks at the limits.
const PATIENCE: u64 = 4096;

/// One run of a checker.
pub(crate) struct Inquiry<'l> {
    /// What was done so far.
    pub(crate) evidence: Evidence,
    limits: &'l dyn Limits,
    violations: Vec<Violation>,
    counts: BTreeMap<&'static str, u64>,
    open: Vec<String>,
    untold: u64,
    unasked: u64,
    stopped: bool,
}

impl<'l> Inquiry<'l> {
    pub(crate) fn new(history: &History, limits: &'l dyn Limits) -> Inquiry<'l> {
        Inquiry {
            evidence: Evidence { recorded: history.ops().len() as u64, ..Evidence::default() },
            limits,
            violations: Vec::new(),
            counts: BTreeMap::new(),
            open: Vec::new(),
            untold: 0,
            unasked: 0,
            stopped: false,
        }
    }

    /// Says that `work` more steps are to come while `bytes` are held; false when there is no leave to go on. Then the
    /// answer is unknown unless something was found.
    pub(crate) fn go_on(&mut self, work: u64, bytes: u64) -> bool {
        self.evidence.peak_bytes = self.evidence.peak_bytes.max(bytes);
        self.unasked += work;
        if self.unasked >= PATIENCE && !self.stopped {
            self.unasked = 0;
            if let Some(why) = self.limits.exceeded(bytes) {
                self.stopped = true;
                self.open.push(format!("stopped by {why}"));
            }
        }
        !self.stopped
    }

    /// A violation; `witness` is asked only as long as it will be kept.
    pub(crate) fn found(&mut self, anomaly: &'static str, key: Option<&str>, witness: impl FnOnce() -> Witness) {
        let count = self.counts.entry(anomaly).or_default();
        *count += 1;
        if *count <= KEPT {
            let Witness { ops, explanation } = witness();
            let key = key.map(str::to_owned);
            self.violations.push(Violation { anomaly: anomaly.to_owned(), key, ops, explanation });
        }
    }

    /// Something that would have to be known before the history could be called valid.
    pub(crate) fn undecided(&mut self, why: String) {
        if self.open.len() < TOLD { self.open.push(why) } else { self.untold += 1 }
    }

    /// The answer: violations by `ranks` (most telling kind first) and then as found; unknown when something is open,
    /// or when nothing that was checked could have contradicted.
    pub(crate) fn answer(mut self, checker: &dyn Checker, ranks: &[&str], nothing: &str) -> Answer {
        let rank = |v: &Violation| ranks.iter().position(|kind| *kind == v.anomaly).unwrap_or(ranks.len());
        self.violations.sort_by_key(rank);
        for (kind, count) in self.counts.iter().filter(|(_, count)| **count > 1) {
            if let Some(first) = self.violations.iter_mut().find(|v| v.anomaly == *kind) {
                let listed = if *count > KEPT { format!(", of which {KEPT} are listed") } else { String::new() };
                first.explanation.push_str(&format!(" In all {count} of this kind{listed}."));
            }
        }
        let outcome = if !self.violations.is_empty() {
            Outcome::Invalid { violations: self.violations }
        } else if !self.open.is_empty() {
            let more = if self.untold > 0 { format!("; and {} more", self.untold) } else { String::new() };
            Outcome::Unknown { why: format!("{}{more}", self.open.join("; ")) }
        } else if self.evidence.fired == 0 {
            Outcome::Unknown { why: nothing.to_owned() }
        } else {
            Outcome::Valid
        };
        Answer {
            checker: checker.name().to_owned(),
            model: checker.model().map(str::to_owned),
            outcome,
            evidence: self.evidence,
            cannot_detect: checker.cannot_detect(),
        }
    }
}

/// What shows a violation.
pub(crate) struct Witness {
    /// Operations, in the order the explanation names them.
    pub(crate) ops: Vec<u64>,
    /// The argument.
    pub(crate) explanation: String,
}

/// What `problem` says of operations: each problem once, with its first operation and how many have it.
pub(crate) fn problems(history: &History, problem: impl Fn(&Op) -> Option<String>) -> Vec<String> {
    let mut problems: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for op in history.ops() {
        if let Some(problem) = problem(op) {
            problems.entry(problem).or_insert((op.op_id, 0)).1 += 1;
        }
    }
    problems
        .into_iter()
        .map(|(problem, (first, count))| format!("operation {first} and {count} in all: {problem}"))
        .collect()
}

/// Operations of one key, by invocation.
pub(crate) struct Group<'h> {
    /// The key.
    pub(crate) key: Option<&'h str>,
    /// Its operations.
    pub(crate) ops: Vec<&'h Op>,
}

/// The operations of `history` by key, keys in the order of their first operation. Linear.
pub(crate) fn by_key(history: &History) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut index: FxHashMap<Option<&str>, usize> = FxHashMap::default();
    let mut last = 0;
    for op in ahead(history.ops(), Parts::Names) {
        let key = op.key.as_deref();
        if groups.get(last).is_none_or(|group| group.key != key) {
            last = *index.entry(key).or_insert_with(|| {
                groups.push(Group { key, ops: Vec::new() });
                groups.len() - 1
            });
        }
        groups[last].ops.push(op);
    }
    groups
}

/// Numbers for values, from 0 in the order they are first seen. Small natural numbers need no hashing.
#[derive(Default)]
pub(crate) struct Numbering<'h> {
    /// Number + 1 of a small natural number; 0 for none.
    small: Vec<u32>,
    /// The same of texts that end in a small natural number, such as `request-12`, by what stands before it.
    texts: Vec<(&'h str, Vec<u32>)>,
    others: FxHashMap<Hashed<'h>, u32>,
    /// The values by number.
    pub(crate) values: Vec<&'h Value>,
}

impl<'h> Numbering<'h> {
    /// For about `expected` values.
    pub(crate) fn new(expected: usize) -> Numbering<'h> {
        Numbering { small: vec![0; 4 * expected + 64], ..Numbering::default() }
    }

    /// The number of `value`, a new one if it has none.
    pub(crate) fn of(&mut self, value: &'h Value) -> u32 {
        let next = self.values.len() as u32;
        let number = match self.slot(value) {
            Some(slot) => match *slot {
                0 => {
                    *slot = next + 1;
                    next
                }
                number => return number - 1,
            },
            None => *self.others.entry(Hashed::new(value)).or_insert(next),
        };
        if number == next {
            self.values.push(value);
        }
        number
    }

    /// The number of `value`, if it has one.
    pub(crate) fn known(&self, value: &Value) -> Option<u32> {
        if let Some(number) = value.as_u64().filter(|number| *number < self.small.len() as u64) {
            return self.small[number as usize].checked_sub(1);
        }
        if let Some((before, number)) = counted(value).filter(|(_, number)| *number < self.small.len())
            && let Some((_, slots)) = self.texts.iter().find(|(text, _)| *text == before)
        {
            return slots.get(number)?.checked_sub(1);
        }
        self.others.get(&Hashed::new(value)).copied()
    }

    /// Bytes held, about.
    pub(crate) fn bytes(&self) -> usize {
        self.small.capacity() * 4
            + self.texts.iter().map(|(_, slots)| slots.capacity() * 4).sum::<usize>()
            + self.others.capacity() * 32
            + self.values.capacity() * 8
    }

    /// The place of a value that needs no hashing. Whether it has one never changes once it was asked for.
    fn slot(&mut self, value: &'h Value) -> Option<&mut u32> {
        if let Some(number) = value.as_u64() {
            return self.small.get_mut(usize::try_from(number).ok()?);
        }
        let (before, number) = counted(value).filter(|(_, number)| *number < self.small.len())?;
        let at = match self.texts.iter().position(|(text, _)| *text == before) {
            Some(at) => at,
            None if self.texts.len() < TEXTS => {
                self.texts.push((before, Vec::new()));
                self.texts.len() - 1
            }
            None => return None,
        };
        let slots = &mut self.texts[at].1;
        if slots.len() <= number {
            slots.resize(number + 1, 0);
        }
        slots.get_mut(number)
    }
}

/// Kinds of texts that need no hashing.
const TEXTS: usize = 4;

/// A text that ends in a number as it is usually written, and what stands before that.
fn counted(value: &Value) -> Option<(&str, usize)> {
    let text = value.as_str()?;
    let digits = text.bytes().rev().take(10).take_while(u8::is_ascii_digit).count();
    let (before, number) = text.split_at(text.len() - digits);
    let usual = (1..10).contains(&digits) && (digits == 1 || !number.starts_with('0'));
    Some((before, number.parse().ok().filter(|_| usual)?))
}

/// A value with its hash, so that a table that grows, or holds another value of the place, need not look at it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Hashed<'v> {
    hash: u64,
    value: &'v Value,
}

impl Hashed<'_> {
    fn new(value: &Value) -> Hashed<'_> {
        Hashed { hash: FxBuildHasher.hash_one(value), value }
    }
}

impl Hash for Hashed<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// True when `op` completed and was acknowledged.
pub(crate) fn acknowledged(op: &Op) -> bool {
    op.effect() == Effect::Acknowledged
}

/// When `op` completed; the end of time for one that never did.
pub(crate) fn end(op: &Op) -> u64 {
    op.complete_ts.map_or(u64::MAX, |at| at.0)
}

/// `op` as a person reads it: what it was, its id and its interval.
pub(crate) fn told(op: &Op) -> String {
    let short = crate::history::notation::short(op);
    let till = op.complete_ts.map_or_else(String::new, |at| at.0.to_string());
    format!("{} (operation {}, [{}..{till}] ns)", brief(&short), op.op_id, op.invoke_ts.0)
}

/// `text`, cut when it is long.
pub(crate) fn brief(text: &str) -> String {
    const LONGEST: usize = 160;
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}…", &text[..cut]),
    }
}

/// A duration in the unit that suits it.
pub(crate) fn lasting(nanos: u64) -> String {
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.1} µs", nanos as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", nanos as f64 / 1e6),
        _ => format!("{:.3} s", nanos as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_values_get_equal_numbers_and_others_do_not() {
        let values = [json!(3), json!("a"), json!(3), json!(1_000_000), json!([1, 2]), json!(-1), json!([1, 2])];
        let mut numbering = Numbering::new(2);
        let numbers: Vec<u32> = values.iter().map(|value| numbering.of(value)).collect();
        assert_eq!(numbers, [0, 1, 0, 2, 3, 4, 3]);
        assert_eq!(numbering.values.len(), 5);
        assert_eq!(numbering.known(&json!("a")), Some(1));
        assert_eq!(numbering.known(&json!(4)), None);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(brief("ß"), "ß");
        assert!(brief(&"ß".repeat(500)).ends_with("ß…"));
    }
}
