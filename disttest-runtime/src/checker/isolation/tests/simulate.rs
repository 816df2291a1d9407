//! Seeded histories: small ones of any kind, larger ones of databases of known strength.

use super::super::*;
use crate::base::rng::Rng;
use crate::checker::Unlimited;
use crate::txn::{Answer, Builder, Event, EventKind, EventMop, Status, Txns, Value};

/// What kind of small history.
#[derive(Clone, Copy, Debug)]
pub(in crate::checker::isolation) struct Plan {
    pub(in crate::checker::isolation) is_list: bool,
    /// Values of each key rise in the order in which the simulated database ran the transactions.
    pub(in crate::checker::isolation) rising: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::checker::isolation) enum Verb {
    /// An append or a write.
    Write(i64),
    /// The list that is read; of a register, none or one value.
    Read(Vec<i64>),
}

#[derive(Clone, Debug)]
pub(in crate::checker::isolation) struct Txn {
    pub(in crate::checker::isolation) process: i64,
    pub(in crate::checker::isolation) status: Status,
    pub(in crate::checker::isolation) invoked: usize,
    pub(in crate::checker::isolation) completed: Option<usize>,
    pub(in crate::checker::isolation) mops: Vec<(usize, Verb)>,
}

impl Txn {
    pub(in crate::checker::isolation) fn is_ok(&self) -> bool {
        self.status == Status::Ok
    }

    pub(in crate::checker::isolation) fn is_failed(&self) -> bool {
        self.status == Status::Fail
    }
}

/// A history of a few transactions, numbered by their invocations.
#[derive(Clone, Debug)]
pub(in crate::checker::isolation) struct Small {
    pub(in crate::checker::isolation) is_list: bool,
    pub(in crate::checker::isolation) txns: Vec<Txn>,
}

impl Small {
    /// Runs transactions in some serial order that need not keep real time, then changes a read in half of the cases.
    pub(in crate::checker::isolation) fn random(rng: &mut Rng, plan: Plan) -> Small {
        Small::changed(rng, plan, 1)
    }

    /// The same with up to `changes` reads changed in half of the cases.
    pub(in crate::checker::isolation) fn changed(rng: &mut Rng, plan: Plan, changes: u32) -> Small {
        let mut history = Small { is_list: plan.is_list, txns: Vec::new() };
        history.interleave(rng, 2 + rng.clone().below(4) as usize);
        let mut order: Vec<usize> = (0..history.txns.len()).collect();
        match rng.below(3) {
            0 => rng.shuffle(&mut order),
            1 => order.sort_by_key(|txn| history.txns[*txn].completed.unwrap_or(usize::MAX)),
            _ => {}
        }
        let mut state: [Vec<i64>; 3] = Default::default();
        let mut next = 1;
        for txn in order {
            let takes_effect = match history.txns[txn].status {
                Status::Ok => true,
                Status::Info => rng.chance(1, 2),
                Status::Fail => rng.chance(1, 10),
            };
            let mut scratch = state.clone();
            for (key, verb) in &mut history.txns[txn].mops {
                match verb {
                    Verb::Write(value) => {
                        if plan.rising {
                            (*value, next) = (next, next + 1);
                        }
                        if !plan.is_list {
                            scratch[*key].clear();
                        }
                        scratch[*key].push(*value);
                    }
                    Verb::Read(shown) => *shown = scratch[*key].clone(),
                }
            }
            if takes_effect {
                state = scratch;
            }
        }
        if rng.chance(1, 2) {
            (0..changes).for_each(|_| history.change_a_read(rng, &state));
        }
        history
    }

    fn interleave(&mut self, rng: &mut Rng, count: usize) {
        let (mut value, mut now) = (0, 0);
        let mut open: [Option<usize>; 3] = [None; 3];
        while self.txns.len() < count || open.iter().any(Option::is_some) {
            let process = rng.below(3) as usize;
            now += 1;
            if let Some(txn) = open[process].take() {
                let txn = &mut self.txns[txn];
                txn.status =
                    [Status::Ok, Status::Ok, Status::Ok, Status::Ok, Status::Info, Status::Fail][rng.below(6) as usize];
                txn.completed = Some(now);
            } else if self.txns.len() < count {
                open[process] = Some(self.txns.len());
                let mops = (0..1 + rng.below(3))
                    .map(|_| {
                        value += 1;
                        let verb = if rng.chance(1, 2) { Verb::Write(value) } else { Verb::Read(Vec::new()) };
                        (rng.below(2) as usize, verb)
                    })
                    .collect();
                let process = process as i64;
                self.txns.push(Txn { process, status: Status::Info, invoked: now, completed: None, mops });
            }
        }
    }

    fn change_a_read(&mut self, rng: &mut Rng, state: &[Vec<i64>; 3]) {
        let is_list = self.is_list;
        let written: Vec<(usize, i64)> = self
            .txns
            .iter()
            .flat_map(|txn| &txn.mops)
            .filter_map(|(key, verb)| match verb {
                Verb::Write(value) => Some((*key, *value)),
                Verb::Read(_) => None,
            })
            .collect();
        let reads = self.txns.iter_mut().filter(|txn| txn.status == Status::Ok).flat_map(|txn| &mut txn.mops);
        let mut reads: Vec<&mut (usize, Verb)> = reads.filter(|(_, verb)| matches!(verb, Verb::Read(_))).collect();
        let at = rng.below(reads.len().max(1) as u64) as usize;
        let Some((key, Verb::Read(shown))) = reads.get_mut(at) else { return };
        let of_key: Vec<i64> = written.iter().filter(|(of, _)| of == key).map(|(_, value)| *value).collect();
        if is_list {
            let len = rng.below(state[*key].len() as u64 + 1) as usize;
            *shown = state[*key][..len].to_vec();
            if let Some(value) = rng.pick(&of_key).filter(|value| !shown.contains(value))
                && rng.below(4) == 0
            {
                shown.push(*value);
            }
        } else {
            *shown = rng.pick(&of_key).copied().into_iter().filter(|_| rng.clone().chance(3, 4)).collect();
        }
    }

    pub(in crate::checker::isolation) fn txns(&self) -> Txns {
        let mut events: Vec<(usize, &Txn, bool)> = Vec::new();
        for txn in &self.txns {
            events.push((txn.invoked, txn, false));
            events.extend(txn.completed.map(|at| (at, txn, true)));
        }
        events.sort_by_key(|(at, ..)| *at);
        let mut builder = Builder::new();
        for (_, txn, is_end) in events {
            let kind = match (is_end, txn.status) {
                (false, _) => EventKind::Invoke,
                (true, Status::Ok) => EventKind::Ok,
                (true, Status::Fail) => EventKind::Fail,
                (true, Status::Info) => EventKind::Info,
            };
            let mops: Vec<EventMop> = txn.mops.iter().map(|(key, verb)| self.mop(*key, verb)).collect();
            builder.event(&Event { index: None, process: txn.process, kind, mops: &mops }).expect("well-formed");
        }
        builder.finish()
    }

    fn mop(&self, key: usize, verb: &Verb) -> EventMop {
        let key = Value::Int(key as i64);
        match verb {
            Verb::Write(value) if self.is_list => EventMop::Append(key, Value::Int(*value)),
            Verb::Write(value) => EventMop::Write(key, Value::Int(*value)),
            Verb::Read(shown) if self.is_list => {
                EventMop::Read(key, Answer::List(shown.iter().map(|v| Value::Int(*v)).collect()))
            }
            Verb::Read(shown) => {
                EventMop::Read(key, shown.first().map_or(Answer::Nil, |value| Answer::Value(Value::Int(*value))))
            }
        }
    }
}

/// How a simulated database runs transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strength {
    /// At one instant between invocation and completion.
    StrictSerializable,
    /// Reads from a snapshot of an instant after the invocation; the first to commit a write of a key wins.
    SnapshotIsolation,
    /// Each read sees what is committed when it runs, without the writes of its own transaction.
    ReadCommitted,
}

/// A history of `count` transactions of eight clients on four keys; one in twenty crashes.
fn simulate(seed: u64, strength: Strength, is_list: bool, count: usize) -> Small {
    let mut rng = Rng::new(seed);
    let mut history = Small { is_list, txns: Vec::new() };
    let mut state: [Vec<i64>; 3] = Default::default();
    // Of each client: its transaction, how far it is, the snapshot it reads, its own writes.
    type Keys = [Vec<i64>; 3];
    let mut open: Vec<Option<(usize, usize, Keys, Keys)>> = vec![None; 8];
    let mut names: Vec<i64> = (0..8).collect();
    let (mut now, mut value) = (0, 0);
    while history.txns.len() < count || open.iter().any(Option::is_some) {
        now += 1;
        let client = rng.below(8) as usize;
        let Some((number, step, snapshot, own)) = &mut open[client] else {
            if history.txns.len() < count {
                let mops = (0..1 + rng.below(4)).map(|_| {
                    value += 1;
                    let verb = if rng.chance(1, 2) { Verb::Write(value) } else { Verb::Read(Vec::new()) };
                    (rng.below(3) as usize, verb)
                });
                let mops = mops.collect();
                open[client] = Some((history.txns.len(), 0, Default::default(), Default::default()));
                let txn = Txn { process: names[client], status: Status::Info, invoked: now, completed: None, mops };
                history.txns.push(txn);
            }
            continue;
        };
        let txn = &mut history.txns[*number];
        if *step == 0 {
            *snapshot = state.clone();
        }
        let steps = if strength == Strength::StrictSerializable { txn.mops.len() } else { 1 };
        for (key, verb) in txn.mops.iter_mut().skip(*step).take(steps) {
            let base = if strength == Strength::SnapshotIsolation { &snapshot[*key] } else { &state[*key] };
            match verb {
                Verb::Write(value) => own[*key].push(*value),
                Verb::Read(shown) if strength == Strength::ReadCommitted => *shown = base.clone(),
                Verb::Read(shown) if is_list => *shown = [&base[..], &own[*key][..]].concat(),
                Verb::Read(shown) => *shown = own[*key].last().or(base.last()).copied().into_iter().collect(),
            }
        }
        *step += steps;
        if *step < txn.mops.len() {
            continue;
        }
        let conflict = strength == Strength::SnapshotIsolation
            && (0..3).any(|key| !own[key].is_empty() && snapshot[key] != state[key]);
        let crashes = rng.chance(1, 20);
        txn.status = match (conflict, crashes) {
            (true, _) => Status::Fail,
            (false, true) => Status::Info,
            (false, false) => Status::Ok,
        };
        txn.completed = Some(now);
        if !conflict && (!crashes || rng.chance(1, 2)) {
            (0..3).for_each(|key| state[key].append(&mut own[key]));
        }
        if crashes {
            names[client] += 8;
        }
        open[client] = None;
    }
    history
}

#[test]
fn simulated_databases_are_as_strong_as_they_are_and_no_stronger() {
    let mut weak = [0, 0];
    for seed in 0..40 {
        for is_list in [true, false] {
            let assumed = KeyOrder { writes_follow_reads: true, sequential: true, linearizable: true };
            let options = if is_list { Options::list_append() } else { Options::register(assumed) };
            let judge = |strength: Strength, level: &str| {
                let txns = simulate(seed, strength, is_list, 120).txns();
                check(&txns, &options.clone().at(Level::named(level).expect(level)), &Unlimited)
            };
            let strict = judge(Strength::StrictSerializable, "strict-serializable");
            assert_eq!(strict.outcome, Outcome::Valid, "seed {seed}: {:?}", strict.anomalies);
            let snapshots = judge(Strength::SnapshotIsolation, "strong-snapshot-isolation");
            // The snapshots of a register are not linearizable key by key: what was assumed may fail, and is said to.
            let is_assumption = |kinds: Vec<&str>| !is_list && kinds.contains(&"cyclic-versions");
            if !is_assumption(snapshots.kinds()) {
                assert_eq!(snapshots.outcome, Outcome::Valid, "seed {seed}: {:?}", snapshots.anomalies);
            }
            let serializable = judge(Strength::SnapshotIsolation, "serializable");
            weak[0] += u32::from(matches!(serializable.outcome, Outcome::Invalid { .. }));
            if is_list {
                let committed = judge(Strength::ReadCommitted, "read-committed");
                assert_eq!(committed.outcome, Outcome::Valid, "seed {seed}: {:?}", committed.anomalies);
                let snapshots = judge(Strength::ReadCommitted, "snapshot-isolation");
                weak[1] += u32::from(matches!(snapshots.outcome, Outcome::Invalid { .. }));
            }
        }
    }
    assert!(weak[0] > 20 && weak[1] > 20, "weak databases passed for strong ones: {weak:?}");
}
