//! What operations on a set say, and who added what.

use super::super::ahead::{Parts, ahead, ahead_within};
use super::super::inquiry::{Group, Inquiry, Numbering, Witness, brief, end, told};
use crate::history::{Effect, History, Op};
use serde_json::Value;

/// What an operation does to a set.
pub(super) enum Act<'h> {
    /// It adds its input.
    Add,
    /// It reads; the elements, if an answer came.
    Read(Option<&'h [Value]>),
}

pub(super) fn is_add(op: &Op) -> bool {
    op.op_type == "add"
}

pub(super) fn is_read(op: &Op) -> bool {
    matches!(op.op_type.as_str(), "read" | "read-set")
}

/// Reads `op`; `Err` says what is not understood.
pub(super) fn act(op: &Op) -> Result<Act<'_>, String> {
    if is_add(op) {
        return Ok(Act::Add);
    }
    if !is_read(op) {
        return Err(format!("`{}` is none of add, read, read-set", op.op_type));
    }
    match (op.effect(), &op.output) {
        (Effect::Acknowledged, Value::Array(elements)) => Ok(Act::Read(Some(elements))),
        (Effect::Acknowledged, other) => {
            Err(format!("a read of a set answers the list of its elements, not {}", brief(&other.to_string())))
        }
        _ => Ok(Act::Read(None)),
    }
}

fn problem(op: &Op) -> Option<String> {
    act(op).err()
}

/// What a set checker lacks in `history`.
pub(super) fn missing(history: &History) -> Vec<String> {
    let mut list = Vec::new();
    let groups = super::super::inquiry::by_key(history);
    let (with, without): (Vec<Group<'_>>, Vec<Group<'_>>) =
        groups.into_iter().partition(|group| group.ops.iter().any(|op| is_add(op)));
    if with.is_empty() {
        let first = without.first().and_then(|group| group.ops.first());
        let first = first.map_or_else(String::new, |op| format!("; operation {} is `{}`", op.op_id, op.op_type));
        list.push(format!("op_type `add` does not occur{first}"));
    }
    for group in with {
        if let Some((op, problem)) = group.ops.iter().find_map(|op| Some((op, problem(op)?))) {
            list.push(format!("operation {}: {problem}", op.op_id));
        }
        if !group.ops.iter().any(|op| is_read(op) && op.effect() == Effect::Acknowledged) {
            let first = group.ops[0].op_id;
            list.push(format!("no completed read of {:?} (first operation {first})", group.key.unwrap_or("the set")));
        }
    }
    list
}

/// The groups that are sets: those with an `add`. One that does not fit is told to `inquiry`.
pub(super) fn sets<'h>(groups: Vec<Group<'h>>, inquiry: &mut Inquiry<'_>) -> Vec<Group<'h>> {
    let mut sets = Vec::new();
    for group in groups.into_iter().filter(|group| group.ops.iter().any(|op| is_add(op))) {
        match group.ops.iter().find_map(|op| Some((op, problem(op)?))) {
            Some((op, problem)) => {
                inquiry.undecided(format!("the history does not fit: operation {}: {problem}", op.op_id));
            }
            None => sets.push(group),
        }
    }
    sets
}

/// What is known of the adds of one element.
#[derive(Clone, Copy, Default)]
pub(super) struct Addition<'h> {
    /// The add that was invoked first, of those not known to have failed, and when.
    pub(super) first: Option<&'h Op>,
    pub(super) begin: u64,
    /// The add that was acknowledged first.
    pub(super) acknowledged: Option<&'h Op>,
    /// An add that failed.
    pub(super) failed: Option<&'h Op>,
}

impl<'h> Addition<'h> {
    /// The next add by invocation that may have taken effect.
    fn begins(&mut self, add: &'h Op) {
        if self.first.is_none() {
            (self.first, self.begin) = (Some(add), add.invoke_ts.0);
        }
    }
}

/// The adds of a set, by the number of their element.
pub(super) struct Additions<'h> {
    pub(super) known: Vec<Addition<'h>>,
}

impl<'h> Additions<'h> {
    pub(super) fn of(group: &Group<'h>, numbering: &mut Numbering<'h>) -> Additions<'h> {
        let mut known: Vec<Addition<'h>> = Vec::with_capacity(group.ops.len());
        for op in ahead(&group.ops, Parts::Inputs).copied().filter(|op| is_add(op)) {
            let number = numbering.of(&op.input) as usize;
            if number == known.len() {
                known.push(Addition::default());
            }
            let addition = &mut known[number];
            match op.effect() {
                Effect::Failed => addition.failed = addition.failed.or(Some(op)),
                Effect::Unknown => addition.begins(op),
                Effect::Acknowledged => {
                    addition.begins(op);
                    if addition.acknowledged.is_none_or(|before| end(op) < end(before)) {
                        addition.acknowledged = Some(op);
                    }
                }
            }
        }
        Additions { known }
    }

    /// Acknowledged elements with the first acknowledgement.
    pub(super) fn acknowledged(&self) -> impl Iterator<Item = (usize, &'h Op)> + '_ {
        self.known.iter().enumerate().filter_map(|(element, addition)| Some((element, addition.acknowledged?)))
    }

    /// Judges what `read` shows, element by element, and marks those that were added with `stamp` in `seen`. Calls `each`
    /// with the numbers of these.
    pub(super) fn judge_shown(
        &self,
        key: Option<&str>,
        (read, elements): (&Op, &[Value]),
        numbering: &Numbering<'_>,
        (seen, stamp): (&mut [u32], u32),
        inquiry: &mut Inquiry<'_>,
        mut each: impl FnMut(usize),
    ) {
        inquiry.evidence.fired += elements.len() as u64;
        let complete = end(read);
        for element in ahead_within(elements) {
            let number = numbering.known(element).map(|number| number as usize);
            let addition = number.and_then(|number| self.known.get(number)).copied().unwrap_or_default();
            if let Some(number) = number {
                each(number);
            }
            let twice = number.is_some_and(|number| std::mem::replace(&mut seen[number], stamp) == stamp);
            match (twice, addition) {
                (true, _) => {
                    inquiry.found("duplicated", key, || Witness {
                        ops: vec![read.op_id],
                        explanation: format!("{} shows {} more than once.", told(read), brief(&element.to_string())),
                    });
                }
                (_, Addition { first: Some(_), begin, .. }) if begin <= complete => {}
                (_, Addition { first: Some(add), .. }) => {
                    inquiry.found("unexpected", key, || Witness {
                        ops: vec![read.op_id, add.op_id],
                        explanation: format!(
                            "{} had completed when its element {} was added for the first time: {}.",
                            told(read),
                            brief(&element.to_string()),
                            told(add)
                        ),
                    });
                }
                (_, Addition { failed: Some(add), .. }) => {
                    inquiry.found("failed-add-visible", key, || Witness {
                        ops: vec![add.op_id, read.op_id],
                        explanation: format!(
                            "{} is known to have failed, and its element {} is there in {}.",
                            told(add),
                            brief(&element.to_string()),
                            told(read)
                        ),
                    });
                }
                _ => {
                    inquiry.found("unexpected", key, || Witness {
                        ops: vec![read.op_id],
                        explanation: format!(
                            "{} shows {}, which nobody added.",
                            told(read),
                            brief(&element.to_string())
                        ),
                    });
                }
            }
        }
    }
}
