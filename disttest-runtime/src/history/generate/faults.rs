//! One fault planted in a generated workload: what a broken system would have answered.
//!
//! Each plant makes the history surely wrong, whatever else is in it, or is not made at all.

use super::workload::Workload;
use crate::base::rng::Rng;
use crate::history::{Effect, History, Op};
use serde_json::{Value, json};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Set: an acknowledged element is missing from every later read.
    LostElement,
    /// Set: an acknowledged element is missing from one later read, and there again in the last one.
    StaleElement,
    /// Set: the last read shows an element that nobody added.
    StrangeElement,
    /// Set: the last read shows an element whose add failed.
    FailedElement,
    /// Set: the last read shows an element twice.
    DoubleElement,
    /// Bank: a read shows one more on an account.
    WrongTotal,
    /// Bank: a read shows an account below zero, and as much more on another.
    Overdrawn,
    /// Bank: a read shows no balance of an account.
    NoBalance,
    /// Bank: a read shows an account that there is not.
    StrangeAccount,
    /// Counter: the last read shows more than was ever added.
    Overcount,
    /// Counter: the last read shows less than was surely added.
    Undercount,
    /// Ids: two calls got the same.
    SameId,
    /// Queue: an acknowledged element never comes out. Not with a dequeue of unknown outcome.
    LostDelivery,
    /// Queue: an element comes out once more.
    DoubleDelivery,
    /// Queue: something comes out that nobody put in.
    StrangeDelivery,
    /// Inserts: two reads see two writes in opposite orders.
    Fork,
    /// Logs: an acknowledged message is in no poll, though messages after it are.
    LostMessage,
    /// Logs: a poll shows a message at another offset.
    MovedMessage,
    /// Logs: a poll shows two messages in the wrong order.
    SwappedMessages,
    /// Logs: a poll leaves out a message between two others.
    SkippedMessage,
    /// Logs: a poll shows a message of a failed send.
    FailedMessage,
}

impl Fault {
    /// All of them, with the workload they are for and the anomaly they make.
    pub const ALL: [(Fault, Workload, &'static str); 21] = [
        (Fault::LostElement, Workload::Set, "lost"),
        (Fault::StaleElement, Workload::Set, "stale"),
        (Fault::StrangeElement, Workload::Set, "unexpected"),
        (Fault::FailedElement, Workload::Set, "failed-add-visible"),
        (Fault::DoubleElement, Workload::Set, "duplicated"),
        (Fault::WrongTotal, Workload::Bank, "wrong-total"),
        (Fault::Overdrawn, Workload::Bank, "negative-value"),
        (Fault::NoBalance, Workload::Bank, "nil-balance"),
        (Fault::StrangeAccount, Workload::Bank, "unexpected-key"),
        (Fault::Overcount, Workload::Counter, "above-bounds"),
        (Fault::Undercount, Workload::Counter, "below-bounds"),
        (Fault::SameId, Workload::Ids, "duplicate-id"),
        (Fault::LostDelivery, Workload::Queue, "lost"),
        (Fault::DoubleDelivery, Workload::Queue, "duplicated"),
        (Fault::StrangeDelivery, Workload::Queue, "unexpected"),
        (Fault::Fork, Workload::Inserts, "long-fork"),
        (Fault::LostMessage, Workload::Logs, "lost-write"),
        (Fault::MovedMessage, Workload::Logs, "duplicate"),
        (Fault::SwappedMessages, Workload::Logs, "int-nonmonotonic-poll"),
        (Fault::SkippedMessage, Workload::Logs, "int-poll-skip"),
        (Fault::FailedMessage, Workload::Logs, "G1a"),
    ];
}

/// A copy of `history` (of the workload the fault is for) with `fault` at a place chosen by `seed`; `None` when there is
/// no such place.
pub fn plant(fault: Fault, history: &History, seed: u64) -> Option<History> {
    let mut ops = history.ops().to_vec();
    let mut rng = Rng::stream(seed, "fault");
    match fault {
        Fault::LostElement | Fault::StaleElement => lose_element(&mut ops, fault == Fault::StaleElement, &mut rng),
        Fault::StrangeElement => last(&mut ops, "read")?.output.as_array_mut().map(|list| list.push(json!("stranger"))),
        Fault::FailedElement => {
            let failed = pick(&ops, &mut rng, |op| op.op_type == "add" && op.effect() == Effect::Failed)?;
            let element = ops[failed].input.clone();
            last(&mut ops, "read")?.output.as_array_mut().map(|list| list.push(element))
        }
        Fault::DoubleElement => {
            let list = last(&mut ops, "read")?.output.as_array_mut()?;
            let again = rng.pick(list)?.clone();
            list.push(again);
            Some(())
        }
        Fault::WrongTotal | Fault::Overdrawn | Fault::NoBalance | Fault::StrangeAccount => {
            misstate(&mut ops, fault, &mut rng)
        }
        Fault::Overcount | Fault::Undercount => miscount(&mut ops, fault == Fault::Overcount),
        Fault::SameId => {
            let one = pick(&ops, &mut rng, answered)?;
            let other = pick(&ops, &mut rng, |op| answered(op) && op.op_id != ops[one].op_id)?;
            ops[one].output = ops[other].output.clone();
            Some(())
        }
        Fault::LostDelivery | Fault::DoubleDelivery | Fault::StrangeDelivery => misdeliver(&mut ops, fault, &mut rng),
        Fault::Fork => fork(&mut ops, &mut rng),
        _ => logs(&mut ops, fault, &mut rng),
    }?;
    History::new(ops).ok()
}

fn answered(op: &Op) -> bool {
    op.effect() == Effect::Acknowledged && !op.output.is_null()
}

fn pick(ops: &[Op], rng: &mut Rng, fits: impl Fn(&Op) -> bool) -> Option<usize> {
    let fitting: Vec<usize> = (0..ops.len()).filter(|at| fits(&ops[*at])).collect();
    rng.pick(&fitting).copied()
}

/// The answered operation of a type that was invoked last.
fn last<'o>(ops: &'o mut [Op], op_type: &str) -> Option<&'o mut Op> {
    ops.iter_mut().rev().find(|op| op.op_type == op_type && answered(op))
}

fn lose_element(ops: &mut [Op], comes_back: bool, rng: &mut Rng) -> Option<()> {
    let add = pick(ops, rng, |op| op.op_type == "add" && op.effect() == Effect::Acknowledged)?;
    let (element, from) = (ops[add].input.clone(), ops[add].complete_ts);
    let after = |op: &Op| op.op_type == "read" && answered(op) && Some(op.invoke_ts) > from;
    let mut reads: Vec<usize> = (0..ops.len()).filter(|at| after(&ops[*at])).collect();
    if comes_back {
        reads.pop()?;
        reads = vec![*rng.pick(&reads)?];
    }
    for at in &reads {
        ops[*at].output.as_array_mut()?.retain(|shown| *shown != element);
    }
    (!reads.is_empty()).then_some(())
}

fn misstate(ops: &mut [Op], fault: Fault, rng: &mut Rng) -> Option<()> {
    // Never the read that completed first: others are compared with it.
    let first = ops.iter().filter(|op| answered(op)).map(|op| (op.complete_ts, op.op_id)).min()?;
    let read = pick(ops, rng, |op| op.op_type == "read" && answered(op) && (op.complete_ts, op.op_id) != first)?;
    let balances = &mut ops[read].output;
    let account = rng.below(8).to_string();
    let other = (0..8).map(|at| at.to_string()).find(|other| *other != account)?;
    let (held, holds) = (balances[&account].as_i64()?, balances[&other].as_i64()?);
    match fault {
        Fault::WrongTotal => balances[account] = json!(held + 1),
        Fault::NoBalance => balances[account] = Value::Null,
        Fault::StrangeAccount => balances["stranger"] = json!(0),
        _ => (balances[account], balances[other]) = (json!(-1), json!(holds + held + 1)),
    }
    Some(())
}

fn miscount(ops: &mut [Op], over: bool) -> Option<()> {
    let mut count = 0;
    for op in ops.iter().filter(|op| op.op_type != "read") {
        let amount = op.input.as_i64()? * if op.op_type == "dec" { -1 } else { 1 };
        // Over: all that may have been added, none of what may not have been taken away; under: the other way round.
        match op.effect() {
            Effect::Acknowledged => count += amount,
            Effect::Unknown if (amount > 0) == over => count += amount,
            _ => {}
        }
    }
    last(ops, "read")?.output = json!(if over { count + 1 } else { count - 1 });
    Some(())
}

fn misdeliver(ops: &mut [Op], fault: Fault, rng: &mut Rng) -> Option<()> {
    let crashed = ops.iter().any(|op| op.op_type == "dequeue" && op.effect() == Effect::Unknown);
    if fault == Fault::StrangeDelivery {
        last(ops, "drain")?.output.as_array_mut()?.push(json!("stranger"));
        return Some(());
    }
    let enqueued = |element: &Value| {
        let is = |op: &&Op| op.op_type == "enqueue" && op.input == *element;
        ops.iter().find(is).is_some_and(|op| op.effect() == Effect::Acknowledged)
    };
    let taken = pick(ops, rng, |op| op.op_type == "dequeue" && answered(op) && enqueued(&op.output))?;
    if fault == Fault::DoubleDelivery {
        let again = ops[taken].output.clone();
        last(ops, "drain")?.output.as_array_mut()?.push(again);
        return Some(());
    }
    ops[taken].output = Value::Null;
    (!crashed).then_some(())
}

fn fork(ops: &mut [Op], rng: &mut Rng) -> Option<()> {
    let mixed = |op: &Op| {
        let seen = |micro: &&Value| micro[0] == "r" && !micro[2].is_null();
        let list = op.output.as_array().map_or(&[][..], Vec::as_slice);
        answered(op) && list.iter().any(|micro| seen(&micro)) && list.iter().any(|micro| micro[2].is_null())
    };
    let one = pick(ops, rng, mixed)?;
    let list = ops[one].output.as_array()?.clone();
    let seen = list.iter().find(|micro| !micro[2].is_null())?[1].clone();
    let unseen = list.iter().find(|micro| micro[2].is_null())?[1].clone();
    let shows = |op: &Op, key: &Value| {
        op.output.as_array().is_some_and(|list| list.iter().any(|m| m[0] == "r" && m[1] == *key))
    };
    let other =
        pick(ops, rng, |op| op.op_id != ops[one].op_id && answered(op) && shows(op, &seen) && shows(op, &unseen))?;
    for micro in ops[other].output.as_array_mut()? {
        if micro[1] == seen {
            micro[2] = Value::Null;
        } else if micro[1] == unseen {
            micro[2] = json!(1);
        }
    }
    Some(())
}

/// The list of what a poll shows of a key.
fn polled<'o>(op: &'o mut Op, key: &str) -> Option<&'o mut Vec<Value>> {
    op.output.as_array_mut()?.iter_mut().find(|micro| micro[0] == "poll")?.get_mut(1)?.get_mut(key)?.as_array_mut()
}

fn logs(ops: &mut [Op], fault: Fault, rng: &mut Rng) -> Option<()> {
    let key = rng.below(3).to_string();
    // The last poll shows the whole log.
    let whole = ops.len() - 1;
    let log = polled(&mut ops[whole], &key)?.clone();
    match fault {
        Fault::LostMessage => {
            let sent = |value: &Value| {
                let sends = |op: &&Op| {
                    op.output.as_array().is_some_and(|list| list.iter().any(|m| m[0] == "send" && m[2][1] == *value))
                };
                ops.iter().any(|op| sends(&op))
            };
            let known: Vec<&Value> =
                log.iter().take(log.len().saturating_sub(1)).filter(|pair| sent(&pair[1])).collect();
            let lost = (*rng.pick(&known)?).clone();
            for op in ops.iter_mut() {
                if let Some(list) = polled(op, &key) {
                    list.retain(|pair| *pair != lost);
                }
            }
        }
        Fault::MovedMessage => {
            let beyond = log.last()?[0].as_u64()? + 100;
            let moved = rng.pick(&log)?[1].clone();
            polled(&mut ops[whole], &key)?.push(json!([beyond, moved]));
        }
        Fault::SwappedMessages => {
            let at = rng.below((log.len() as u64).checked_sub(1).filter(|pairs| *pairs > 0)?) as usize;
            polled(&mut ops[whole], &key)?.swap(at, at + 1);
        }
        Fault::SkippedMessage => {
            let shown = |op: &Op, pair: &Value| {
                op.output
                    .as_array()
                    .is_some_and(|list| list.iter().any(|m| m[1][&key].as_array().is_some_and(|l| l.contains(pair))))
            };
            let middle = log.get(1..log.len().checked_sub(1)?)?;
            let elsewhere: Vec<&Value> =
                middle.iter().filter(|pair| ops[..whole].iter().any(|op| shown(op, pair))).collect();
            let skipped = (*rng.pick(&elsewhere)?).clone();
            polled(&mut ops[whole], &key)?.retain(|pair| *pair != skipped);
        }
        _ => {
            let failed = pick(ops, rng, |op| op.op_type == "send" && op.effect() == Effect::Failed)?;
            let micro = ops[failed].input[0].clone();
            let beyond = log.last()?[0].as_u64()? + 1;
            let key = micro[1].to_string();
            let beyond = beyond + polled(&mut ops[whole], &key)?.last()?[0].as_u64()?;
            polled(&mut ops[whole], &key)?.push(json!([beyond, micro[2]]));
        }
    }
    Some(())
}
