//! Every model's checking against the reference that tries all orders, on random histories, most of them small.

use super::budget::Budget;
use super::object::{Solved, solve};
use super::tests::witness_stands;
use super::*;
use crate::base::rng::Rng;
use crate::base::time::Nanos;
use crate::checker::Unlimited;
use crate::checker::reference::{self, seeds};
use crate::history::notation;
use crate::model::{
    CasRegister, Counter, Decision, Kv, Lease, Ledger, MembershipTable, Model, MultiRegister, Mutex, Queue, Session,
    SetModel, Stack, Step, TakeCall, Timed,
};
use serde_json::{Value, json};
use std::ops::Range;
use std::time::Duration;

/// An operation of some client: its type, its input, and answers to choose from.
type Choice = (&'static str, Value, Vec<Value>);

/// A history of `count` operations that `choose` proposes. Each takes effect at a moment of its interval and answers
/// the first of its shuffled answers that the model allows then; some are of unknown outcome or failed; then, `wrong`
/// times, an answer is exchanged or an interval cut short.
fn made<M: Model>(
    model: &M,
    rng: &mut Rng,
    count: u64,
    wrong: u64,
    choose: &dyn Fn(&mut Rng, u64) -> Choice,
) -> Option<History> {
    let spread = 2 + rng.below(3 * count);
    let mut ops = Vec::new();
    let mut answers = Vec::new();
    let mut moments = Vec::new();
    for id in 0..count {
        let (op_type, input, mut options) = choose(rng, id);
        rng.shuffle(&mut options);
        let from = rng.below(spread);
        let by = from + rng.below(6);
        let unknown = rng.chance(1, 6);
        let moment = from + if unknown { rng.below(10) } else { rng.below(by - from + 1) };
        moments.push((moment, rng.next_u64(), id as usize));
        answers.push(options);
        ops.push(Op {
            op_id: id,
            process_id: id % 3,
            invoke_ts: Nanos(from),
            complete_ts: (!unknown).then_some(Nanos(by)),
            op_type: op_type.to_owned(),
            key: Some("x".to_owned()),
            input,
            output: Value::Null,
            error: None,
            timeout_marker: unknown,
            node_seen: None,
            fault_epoch: None,
        });
    }
    moments.sort_unstable();
    let mut atoms = Atoms::default();
    let mut state = model.start(&mut atoms);
    for (_, _, at) in moments {
        if ops[at].timeout_marker && rng.chance(1, 2) {
            continue;
        }
        let options = if ops[at].timeout_marker { vec![Value::Null] } else { answers[at].clone() };
        let mut taken = false;
        for answer in options {
            ops[at].output = answer;
            let call = model.call(&ops[at], &mut atoms).ok()?;
            match model.step(&state, &call) {
                Step::Illegal => continue,
                Step::Unchanged => {}
                Step::To(next) => state = next,
            }
            taken = true;
            break;
        }
        if !taken && !ops[at].timeout_marker {
            // Nothing fits: it failed.
            ops[at].output = Value::Null;
            ops[at].error = Some("refused".to_owned());
        }
    }
    for _ in 0..wrong {
        let at = rng.below(count) as usize;
        if ops[at].effect() != Effect::Acknowledged {
            continue;
        }
        if rng.chance(1, 3) {
            let span = ops[at].complete_ts?.0 - ops[at].invoke_ts.0;
            let cut = rng.below(span + 1);
            ops[at].invoke_ts.0 += cut;
            ops[at].complete_ts = ops[at].complete_ts.map(|by| Nanos(by.0 - rng.below(span - cut + 1)));
        } else {
            ops[at].output = rng.pick(&answers[at]).cloned().unwrap_or_default();
        }
    }
    History::new(ops).ok()
}

/// Compares `seeds` histories, one in twenty of them larger; returns how many were valid and invalid.
fn agree<M: Model + Clone>(model: M, seeds: Range<u64>, choose: &dyn Fn(&mut Rng, u64) -> Choice) -> (u64, u64) {
    let (mut valid, mut invalid) = (0, 0);
    for seed in seeds {
        let mut rng = Rng::stream(seed, model.name());
        let larger = seed % 20 == 19;
        let (count, wrong) = (if larger { 9 + rng.below(12) } else { 3 + rng.below(5) }, rng.below(3));
        let Some(history) = made(&model, &mut rng, count, wrong, choose) else { continue };
        let expect = match larger {
            true => reference::linearizable_remembering(&model, &history),
            false => reference::linearizable(&model, &history),
        };
        let text = || history.ops().iter().map(notation::line).collect::<Vec<_>>().join("\n");
        let answer = Linearizability::whole(model.clone()).check(&history, &Unlimited);
        match &answer.outcome {
            Outcome::Valid => assert!(expect, "{} {seed}: accepted\n{}", model.name(), text()),
            Outcome::Invalid { violations } => {
                assert!(!expect, "{} {seed}: rejected\n{}\n{}", model.name(), text(), violations[0].explanation);
                if seed % 8 == 0 && !larger {
                    witness_stands(&model, &history, &violations[0], &text());
                }
            }
            Outcome::Unknown { why } => assert!(why.contains("observes") || why.contains("empty"), "{why}\n{}", text()),
        }
        if expect { valid += 1 } else { invalid += 1 }
    }
    (valid, invalid)
}

fn check<M: Model + Clone>(model: M, choose: &dyn Fn(&mut Rng, u64) -> Choice) {
    let name = model.name().to_owned();
    let seeds = seeds(2500);
    let (valid, invalid) = agree(model, seeds.clone(), choose);
    let seeds = seeds.end - seeds.start;
    assert!(valid > seeds / 8 && invalid > seeds / 100, "{name}: {valid} valid, {invalid} invalid");
}

fn few(rng: &mut Rng) -> Value {
    json!(rng.below(3))
}

#[test]
fn cas_registers() {
    for distinct in [false, true] {
        check(CasRegister::new(), &|rng, id| {
            let value = |rng: &mut Rng| if distinct { json!(id + 1) } else { few(rng) };
            match rng.below(4) {
                0 => ("write", value(rng), vec![Value::Null]),
                1 => {
                    let from = json!(rng.below(3));
                    ("cas", json!([from, value(rng)]), vec![json!(true), json!(false)])
                }
                _ => ("read", Value::Null, (0..6).map(|value| json!(value)).chain([Value::Null]).collect()),
            }
        });
    }
}

#[test]
fn stores_of_strings() {
    for appends in [false, true] {
        check(Kv::new(), &|rng, id| match rng.below(3) {
            0 if appends => ("append", json!(["a", "b"][rng.below(2) as usize]), vec![Value::Null]),
            0 | 1 => ("put", if rng.chance(1, 2) { json!("a") } else { json!(format!("p{id}")) }, vec![Value::Null]),
            _ => {
                let texts = ["", "a", "b", "ab", "ba", "aa", "bb", "p0", "p1", "p2a", "p0b", "p3"];
                ("get", Value::Null, texts.iter().map(|text| json!(text)).collect())
            }
        });
    }
}

#[test]
fn counters_and_ledgers() {
    let numbers = |from: i64, to: i64| (from..=to).map(|number| json!(number)).collect::<Vec<Value>>();
    check(Counter::new(), &|rng, _| match rng.below(4) {
        0 => ("inc", json!(1 + rng.below(2)), vec![json!("OK")]),
        1 => ("inc", json!(1 + rng.below(2)), numbers(-2, 8)),
        2 => ("dec", Value::Null, numbers(-2, 8)),
        _ => ("read", Value::Null, numbers(-2, 8)),
    });
    check(Ledger::new(), &|rng, _| match rng.below(4) {
        0 => ("credit", json!(1 + rng.below(3)), vec![json!("OK")]),
        1 | 2 => ("debit", json!(1 + rng.below(3)), vec![json!(true), json!(false)]),
        _ => ("balance", Value::Null, numbers(0, 8)),
    });
}

#[test]
fn locks_and_leases() {
    let answers = || vec![json!(true), json!(false)];
    for model in [Mutex::new(), Mutex::owned(), Mutex::reentrant()] {
        check(model, &|rng, _| match rng.below(2) {
            0 => ("acquire", Value::Null, answers()),
            _ => ("release", Value::Null, answers()),
        });
    }
    for ttl in [3, 6] {
        check(Lease::lasting(Duration::from_nanos(ttl)), &|rng, _| match rng.below(4) {
            0 | 1 => ("acquire", Value::Null, vec![json!(true)]),
            2 => ("renew", Value::Null, vec![json!(true), json!(false)]),
            _ => ("release", Value::Null, vec![json!(true)]),
        });
    }
}

#[test]
fn sessions() {
    check(Session::new(), &|rng, id| match rng.below(3) {
        0 => ("write", json!(id + 1), vec![json!("OK")]),
        1 => ("write", json!(id + 1), (1..5).map(|version| json!(version)).collect()),
        _ => {
            let seen = |at: u64| json!({"value": at % 8, "version": at / 8});
            let mut answers: Vec<Value> = (8..40).map(seen).collect();
            answers.extend((0..8).map(|value| json!(value)));
            ("read", Value::Null, answers)
        }
    });
}

#[test]
fn sets_and_membership_tables() {
    let subsets = || {
        let subset = |bits: u64| (1..4).filter(|bit| bits >> bit & 1 == 1).collect::<Vec<u64>>();
        (0..8).map(|bits| json!(subset(2 * bits))).collect::<Vec<Value>>()
    };
    let told = || vec![json!(true), json!(false), Value::Null];
    for (reads, removes, unique) in
        [(true, true, false), (false, true, false), (true, false, false), (true, false, true), (false, false, true)]
    {
        check(SetModel::new(), &|rng, id| {
            let element = if unique { json!(1 + id) } else { json!(1 + rng.below(3)) };
            match rng.below(4) {
                0 if reads && !(unique && id < 3) => ("read-set", Value::Null, subsets()),
                1 if removes => ("remove", element, told()),
                2 if !reads || removes => ("contains", json!(1 + rng.below(3)), vec![json!(true), json!(false)]),
                _ => ("add", element, if unique && reads { vec![json!(true), Value::Null] } else { told() }),
            }
        });
    }
    for views in [true, false] {
        check(MembershipTable::new(), &|rng, _| match rng.below(4) {
            0 if views => ("view", Value::Null, subsets()),
            1 => ("leave", json!(1 + rng.below(3)), told()),
            _ => ("join", json!(1 + rng.below(3)), told()),
        });
    }
}

#[test]
fn registers_that_are_written_together() {
    for keys in [1, 2] {
        check(MultiRegister::starting_at(0), &|rng, _| {
            let mut parts: Vec<Value> = Vec::new();
            let mut answers: Vec<Vec<Value>> = vec![Vec::new()];
            for _ in 0..keys {
                let key = ["x", "y"][rng.below(2) as usize];
                if rng.chance(1, 2) {
                    let write = json!(["w", key, rng.below(3)]);
                    answers.iter_mut().for_each(|answer| answer.push(write.clone()));
                    parts.push(write);
                } else {
                    parts.push(json!(["r", key, null]));
                    let each = (0..3).map(|value| json!(["r", key, value]));
                    answers = each
                        .flat_map(|read| {
                            answers
                                .iter()
                                .map(|answer| [answer.clone(), vec![read.clone()]].concat())
                                .collect::<Vec<_>>()
                        })
                        .collect();
                }
            }
            ("txn", json!(parts), answers.into_iter().map(|answer| json!(answer)).collect())
        });
    }
}

fn put_or_take(words: (&'static str, &'static str), distinct: bool) -> impl Fn(&mut Rng, u64) -> Choice {
    move |rng, id| match rng.below(9) {
        0..5 => (words.0, if distinct { json!(id) } else { few(rng) }, vec![Value::Null]),
        _ => (words.1, Value::Null, (0..8).map(|value| json!(value)).chain([Value::Null]).collect()),
    }
}

#[test]
fn queues_and_stacks() {
    for distinct in [true, false] {
        check(Queue::new(), &put_or_take(("enqueue", "dequeue"), distinct));
        check(Stack::new(), &put_or_take(("push", "pop"), distinct));
    }
}

/// What a monitor decides, against the reference, with any call made one of unknown outcome that keeps its answer (as a
/// witness is shrunk). Returns how many histories it left to the search.
fn monitored<M: Model<Call = TakeCall> + Clone>(
    model: M,
    words: (&'static str, &'static str),
    seeds: Range<u64>,
) -> [u64; 3] {
    let mut counts = [0; 3];
    for seed in seeds {
        let mut rng = Rng::stream(seed, "monitor");
        let (count, wrong) = (3 + rng.below(6), rng.below(4));
        let Some(history) = made(&model, &mut rng, count, wrong, &put_or_take(words, true)) else { continue };
        let mut atoms = Atoms::default();
        let start = model.start(&mut atoms);
        let ops = history.ops().iter().filter(|op| op.effect() != Effect::Failed);
        let mut calls: Vec<Timed<TakeCall>> = ops.map(|op| reference::timed(&model, op, &mut atoms)).collect();
        for call in &mut calls {
            if rng.chance(seed % 3, 8) {
                call.complete = None;
            }
        }
        let expect = reference::orderable(&model, &start, &calls, &mut (0..calls.len()).collect());
        let text = || format!("{} {seed}: {expect}\n{:#?}", model.name(), calls);
        match model.decide(&start, &calls) {
            None => counts[2] += 1,
            Some(Decision::Linearizable) => assert!(expect, "{}", text()),
            Some(Decision::NotLinearizable(these)) => {
                assert!(!expect, "{}", text());
                assert!(these.iter().all(|at| *at < calls.len()), "{}", text());
            }
        }
        let solved = solve(&model, &start, calls.clone(), &mut Budget::new(&Unlimited));
        assert_eq!(matches!(solved, Solved::Order), expect, "{}", text());
        counts[usize::from(expect)] += 1;
    }
    counts
}

#[test]
fn monitors_of_queues_and_stacks_decide_as_the_reference_does() {
    let seeds = seeds(10_000);
    let queue = monitored(Queue::new(), ("enqueue", "dequeue"), seeds.clone());
    let stack = monitored(Stack::new(), ("push", "pop"), seeds.clone());
    let seeds = seeds.end - seeds.start;
    for [invalid, valid, searched] in [queue, stack] {
        assert!(invalid > seeds / 10 && valid > seeds / 10 && searched < seeds / 20, "{invalid} {valid} {searched}");
    }
}

/// A history of `count` operations of `clients` on a queue or a stack; one in a hundred of unknown outcome. `wrong` swaps
/// the answers of two takes far apart.
fn long<M: Model>(model: &M, words: (&'static str, &'static str), clients: u64, count: u64, wrong: bool) -> History {
    let mut rng = Rng::stream(count, model.name());
    let mut free: Vec<(u64, u64)> = (0..clients).map(|client| (rng.below(100), client)).collect();
    let mut ops: Vec<Op> = Vec::new();
    let mut moments = Vec::new();
    for id in 0..count {
        let client = (0..free.len()).min_by_key(|client| free[*client]).unwrap_or(0);
        let (from, process_id) = free[client];
        let by = from + 1 + rng.below(100);
        let unknown = rng.chance(1, 100);
        free[client] = (by + 1 + rng.below(10), if unknown { clients + id } else { process_id });
        if !unknown || rng.chance(1, 2) {
            moments.push((from + rng.below(by - from + 1), id as usize));
        }
        let put = rng.chance(1, 2);
        ops.push(Op {
            op_id: id,
            process_id,
            invoke_ts: Nanos(from),
            complete_ts: (!unknown).then_some(Nanos(by)),
            op_type: if put { words.0 } else { words.1 }.to_owned(),
            key: None,
            input: if put { json!(id) } else { Value::Null },
            output: Value::Null,
            error: None,
            timeout_marker: unknown,
            node_seen: None,
            fault_epoch: None,
        });
    }
    moments.sort_unstable();
    let mut held = std::collections::VecDeque::new();
    for (_, at) in moments {
        if ops[at].op_type == words.0 {
            held.push_back(ops[at].input.clone());
            continue;
        }
        let taken = if words.0 == "push" { held.pop_back() } else { held.pop_front() };
        if !ops[at].timeout_marker {
            ops[at].output = taken.unwrap_or_default();
        }
    }
    if wrong {
        let takes: Vec<usize> = (0..ops.len()).filter(|at| !ops[*at].output.is_null()).collect();
        let (a, b) = (takes[takes.len() / 3], takes[takes.len() / 2]);
        let other = ops[a].output.clone();
        ops[a].output = std::mem::replace(&mut ops[b].output, other);
    }
    History::new(ops).unwrap_or_else(|problem| panic!("{problem}"))
}

/// A search that would run for ever fails instead.
struct Little;

impl Limits for Little {
    fn exceeded(&self, bytes: u64) -> Option<String> {
        (bytes > 64 << 20).then(|| "64 MiB".to_owned())
    }
}

#[test]
fn long_histories_of_queues_and_stacks_are_decided() {
    fn check<M: Model + Clone>(model: M, words: (&'static str, &'static str)) {
        for wrong in [false, true] {
            let history = long(&model, words, 10, 10_000, wrong);
            match Linearizability::whole(model.clone()).check(&history, &Little).outcome {
                Outcome::Valid => assert!(!wrong, "{}", model.name()),
                Outcome::Invalid { violations } => {
                    assert!(wrong, "{}: {}", model.name(), violations[0].explanation);
                    assert!(violations[0].ops.len() < 100, "{}: {}", model.name(), violations[0].ops.len());
                }
                Outcome::Unknown { why } => panic!("{}: {why}", model.name()),
            }
        }
    }
    check(Queue::new(), ("enqueue", "dequeue"));
    check(Stack::new(), ("push", "pop"));
}
