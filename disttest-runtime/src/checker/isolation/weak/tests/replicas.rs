//! Histories of a simulated database of replicas, as strong as theory says and no stronger.

use crate::base::rng::Rng;
use crate::checker::isolation::{KeyOrder, Level, Options, check};
use crate::checker::{Outcome, Unlimited};
use crate::txn::{Answer, Builder, Event, EventKind, EventMop, Txns, Value};

/// What the database promises. Of concurrent writes the one with the higher Lamport clock wins everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// A transaction reaches a replica after what its own replica knew; each client stays at one replica.
    Causal,
    /// The same, and clients go from replica to replica.
    CausalWithoutSessions,
    /// Transactions reach replicas as a whole, in any order.
    Atomic,
    /// As `Causal`, and reads of a transaction see what has arrived by then.
    MonotonicView,
    /// Writes arrive one by one.
    Committed,
}

const REPLICAS: usize = 3;
const KEYS: usize = 6;
const CLIENTS: usize = 9;

/// A write as it travels: key, value, clock.
type Write = (usize, i64, (u64, usize));

struct Sent {
    from: usize,
    writes: Vec<Write>,
    /// How many of each replica had arrived where it was made.
    after: [usize; REPLICAS],
    number: usize,
}

#[derive(Clone, Default)]
struct Replica {
    state: [(i64, (u64, usize)); KEYS],
    clock: u64,
    arrived: [usize; REPLICAS],
    waiting: Vec<usize>,
}

impl Replica {
    fn take(&mut self, write: Write) {
        let (key, value, clock) = write;
        if clock > self.state[key].1 {
            self.state[key] = (value, clock);
        }
        self.clock = self.clock.max(clock.0);
    }

    /// One of those that wait arrives, or a part of it.
    fn arrive(&mut self, rng: &mut Rng, sent: &mut [Sent], promise: Promise, halves: &mut Vec<Write>) {
        if let Some(write) = halves.pop() {
            return self.take(write);
        }
        let at = rng.below(self.waiting.len().max(1) as u64) as usize;
        let Some(message) = self.waiting.get(at).map(|number| &sent[*number]) else { return };
        let is_ready = (0..REPLICAS).all(|replica| message.after[replica] <= self.arrived[replica])
            && message.number == self.arrived[message.from];
        if !is_ready && promise != Promise::Atomic {
            return;
        }
        self.arrived[message.from] += 1;
        for write in message.writes.clone() {
            if promise == Promise::Committed {
                halves.push(write);
            } else {
                self.take(write);
            }
        }
        self.waiting.remove(at);
    }
}

struct Open {
    mops: Vec<(usize, Option<i64>)>,
    shown: Vec<i64>,
    replica: usize,
}

fn mops(open: &Open, is_done: bool) -> Vec<EventMop> {
    let mop = |(at, (key, write)): (usize, &(usize, Option<i64>))| match write {
        Some(value) => EventMop::Write(Value::Int(*key as i64), Value::Int(*value)),
        None => {
            let shown = if is_done { open.shown[at] } else { 0 };
            let answer = if shown == 0 { Answer::Nil } else { Answer::Value(Value::Int(shown)) };
            EventMop::Read(Value::Int(*key as i64), answer)
        }
    };
    open.mops.iter().enumerate().map(mop).collect()
}

/// `count` transactions: reads of some keys, then writes of others.
fn history(seed: u64, promise: Promise, count: usize) -> Txns {
    let mut rng = Rng::new(seed);
    let (mut builder, mut replicas) = (Builder::new(), vec![Replica::default(); REPLICAS]);
    let (mut sent, mut numbers): (Vec<Sent>, [usize; REPLICAS]) = (Vec::new(), [0; REPLICAS]);
    let mut halves: Vec<Vec<Write>> = vec![Vec::new(); REPLICAS];
    let mut open: Vec<Option<Open>> = (0..CLIENTS).map(|_| None).collect();
    let (mut begun, mut value) = (0, 0);
    while begun < count || open.iter().any(Option::is_some) {
        let at = rng.below(REPLICAS as u64) as usize;
        replicas[at].arrive(&mut rng, &mut sent, promise, &mut halves[at]);
        let client = rng.below(CLIENTS as u64) as usize;
        let process = client as i64;
        let Some(now) = &mut open[client] else {
            if begun < count {
                begun += 1;
                let mut keys: Vec<usize> = (0..KEYS).collect();
                rng.shuffle(&mut keys);
                let reads = rng.below(3) as usize;
                let mut mops: Vec<(usize, Option<i64>)> = keys[..reads].iter().map(|key| (*key, None)).collect();
                for key in &keys[3..3 + 1 + rng.below(2) as usize] {
                    value += 1;
                    mops.push((*key, Some(value)));
                }
                let hops = promise == Promise::CausalWithoutSessions;
                let replica = if hops { rng.below(REPLICAS as u64) as usize } else { client % REPLICAS };
                let new = Open { mops, shown: Vec::new(), replica };
                let event = Event { index: None, process, kind: EventKind::Invoke, mops: &self::mops(&new, false) };
                builder.event(&event).expect("an invocation");
                open[client] = Some(new);
            }
            continue;
        };
        let replica = &mut replicas[now.replica];
        let steps = if matches!(promise, Promise::MonotonicView | Promise::Committed) { 1 } else { now.mops.len() };
        for (key, _) in now.mops.iter().skip(now.shown.len()).take(steps) {
            now.shown.push(replica.state[*key].0);
        }
        if now.shown.len() < now.mops.len() {
            continue;
        }
        let from = now.replica;
        replica.clock += 1;
        let clock = (replica.clock, from + 1);
        let writes: Vec<Write> = now.mops.iter().filter_map(|(key, write)| Some((*key, (*write)?, clock))).collect();
        sent.push(Sent { from, writes: writes.clone(), after: replica.arrived, number: numbers[from] });
        numbers[from] += 1;
        writes.into_iter().for_each(|write| replica.take(write));
        replica.arrived[from] += 1;
        (0..REPLICAS).filter(|other| *other != from).for_each(|other| replicas[other].waiting.push(sent.len() - 1));
        let event = Event { index: None, process, kind: EventKind::Ok, mops: &mops(now, true) };
        builder.event(&event).expect("a completion");
        open[client] = None;
    }
    builder.finish()
}

#[test]
fn databases_of_replicas_are_as_strong_as_they_are_and_no_stronger() {
    // What each promises: the levels that must hold, and one that must fail in most histories.
    let promises: [(Promise, &[&str], &str); 5] = [
        (Promise::Causal, &["causal", "causal-cerone", "read-atomic", "monotonic-atomic-view"], "strict-serializable"),
        (Promise::CausalWithoutSessions, &["causal-cerone", "read-atomic"], "causal"),
        (Promise::Atomic, &["read-atomic", "monotonic-atomic-view"], "causal-cerone"),
        (Promise::MonotonicView, &["monotonic-atomic-view"], "read-atomic"),
        (Promise::Committed, &["read-committed"], "monotonic-atomic-view"),
    ];
    for (promise, holds, fails) in promises {
        let mut failed = 0;
        for seed in 0..20 {
            let txns = history(seed, promise, 300);
            let judge = |level: &str| {
                let options = Options::register(KeyOrder::default()).at(Level::named(level).expect(level));
                check(&txns, &options, &Unlimited)
            };
            for level in holds {
                let answer = judge(level);
                assert_eq!(answer.outcome, Outcome::Valid, "{promise:?}, seed {seed}, {level}: {:?}", answer.anomalies);
            }
            failed += u32::from(matches!(judge(fails).outcome, Outcome::Invalid { .. }));
        }
        assert!(failed > 8, "{promise:?} passed for {fails}: {failed} of 20 failed");
    }
}
