//! Comparison with all commit orders of small histories, tried one after the other.

use crate::base::rng::Rng;
use crate::checker::isolation::effort::Effort;
use crate::checker::isolation::tests::simulate::{Plan, Small, Txn, Verb};
use crate::checker::isolation::weak::line::{Line, Musts, by_completion};
use crate::checker::isolation::weak::parts::Parts;
use crate::checker::isolation::weak::{Axiom, causal, clocks};
use crate::checker::isolation::{IsolationAnswer, KeyOrder, Level, Model, Options, VersionOrder, check};
use crate::checker::{Outcome, Unlimited};
use crate::txn::Status;

/// The levels with the axiom of each.
const LEVELS: [(&str, Axiom); 5] = [
    ("read-committed", Axiom::Committed),
    ("monotonic-atomic-view", Axiom::MonotonicAtomicView),
    ("read-atomic", Axiom::ReadAtomic),
    ("causal-cerone", Axiom::Causal),
    ("causal", Axiom::SessionCausal),
];

/// A read as the axioms see it: place in its transaction, key, and the transaction it read from (`None`: the initial state).
type Read = (usize, usize, Option<usize>);

/// A history in which it is settled which transactions of unknown outcome took effect.
struct World<'h> {
    history: &'h Small,
    happened: Vec<usize>,
    /// Of each transaction, what it read from others.
    reads: Vec<Vec<Read>>,
    /// All lists that were read, with their keys: each shows the first versions of its key.
    lists: Vec<(usize, Vec<i64>)>,
}

impl<'h> World<'h> {
    /// `None` when some read saw what did not happen, or no end state of a transaction.
    fn of(history: &'h Small, happened: Vec<usize>) -> Option<World<'h>> {
        let mut world = World { history, happened, reads: vec![Vec::new(); history.txns.len()], lists: Vec::new() };
        for number in world.happened.clone() {
            for at in 0..history.txns[number].mops.len() {
                world.add(number, at)?;
            }
        }
        Some(world)
    }

    fn add(&mut self, number: usize, at: usize) -> Option<()> {
        let txn = &self.history.txns[number];
        let (key, Verb::Read(shown)) = &txn.mops[at] else { return Some(()) };
        if !txn.is_ok() {
            return Some(());
        }
        let own: Vec<(usize, i64)> = writes(txn, *key).collect();
        let wrote_before = |value: i64| own.iter().any(|(place, own)| *own == value && *place < at);
        let is_own = |value: &i64| own.iter().any(|(_, own)| own == value);
        if shown.iter().any(|value| is_own(value) && !wrote_before(*value)) {
            return None;
        }
        if self.history.is_list {
            self.lists.push((*key, shown.clone()));
        }
        let others: Vec<i64> = shown.iter().copied().filter(|value| !is_own(value)).collect();
        let Some(last) = others.last() else {
            if shown.is_empty() || self.history.is_list {
                self.reads[number].push((at, *key, None));
            }
            return Some(());
        };
        let wrote_last =
            |other: &&usize| writes(&self.history.txns[**other], *key).last().map(|(_, v)| v) == Some(*last);
        let from = *self.happened.iter().find(wrote_last)?;
        self.reads[number].push((at, *key, Some(from)));
        Some(())
    }

    /// What is visible to `reader` when it makes the read at `at`.
    fn visible(&self, axiom: Axiom, reader: usize, at: usize, causes: &[Vec<bool>]) -> Vec<usize> {
        let reads = self.reads[reader].iter();
        match axiom {
            Axiom::Committed => Vec::new(),
            Axiom::MonotonicAtomicView => reads.filter(|read| read.0 < at).filter_map(|read| read.2).collect(),
            Axiom::ReadAtomic => reads.filter_map(|read| read.2).collect(),
            Axiom::Causal | Axiom::SessionCausal => {
                self.happened.iter().copied().filter(|txn| causes[*txn][reader]).collect()
            }
        }
    }

    /// Which transactions happened before which, by reads and, with `sessions`, by sessions.
    fn causes(&self, sessions: bool) -> Vec<Vec<bool>> {
        let all = &self.history.txns;
        let mut causes = vec![vec![false; all.len()]; all.len()];
        for &b in &self.happened {
            self.reads[b].iter().filter_map(|read| read.2).for_each(|a| causes[a][b] = true);
            let is_session = |a: &usize| *a < b && all[*a].is_ok() && all[*a].process == all[b].process;
            self.happened.iter().copied().filter(|a| sessions && is_session(a)).for_each(|a| causes[a][b] = true);
        }
        for via in 0..all.len() {
            for a in 0..all.len() {
                for b in 0..all.len() {
                    causes[a][b] |= causes[a][via] && causes[via][b];
                }
            }
        }
        causes
    }

    fn has_order(&self, axiom: Axiom) -> bool {
        let causes = self.causes(axiom == Axiom::SessionCausal);
        if self.happened.iter().any(|txn| causes[*txn][*txn]) {
            return false;
        }
        self.search(axiom, &causes, &mut Vec::new())
    }

    fn search(&self, axiom: Axiom, causes: &[Vec<bool>], order: &mut Vec<usize>) -> bool {
        if order.len() == self.happened.len() {
            return self.keeps(axiom, causes, order);
        }
        for &txn in &self.happened {
            let waits = |other: &&usize| causes[**other][txn] && !order.contains(other);
            if order.contains(&txn) || self.happened.iter().any(|other| waits(&other)) {
                continue;
            }
            order.push(txn);
            let found = self.search(axiom, causes, order);
            order.pop();
            if found {
                return true;
            }
        }
        false
    }

    fn keeps(&self, axiom: Axiom, causes: &[Vec<bool>], order: &[usize]) -> bool {
        let place = |txn: usize| order.iter().position(|other| *other == txn);
        let all = &self.history.txns;
        if self.history.is_list {
            for (key, list) in &self.lists {
                let versions: Vec<i64> =
                    order.iter().flat_map(|txn| writes(&all[*txn], *key)).map(|(_, value)| value).collect();
                if !versions.starts_with(list) {
                    return false;
                }
            }
        }
        self.happened.iter().all(|&reader| {
            self.reads[reader].iter().all(|&(at, key, from)| {
                self.visible(axiom, reader, at, causes).into_iter().all(|other| {
                    let matters = Some(other) != from && writes(&all[other], key).next().is_some();
                    !matters || from.is_some_and(|from| place(other) < place(from))
                })
            })
        })
    }
}

fn writes(txn: &Txn, key: usize) -> impl Iterator<Item = (usize, i64)> + '_ {
    txn.mops.iter().enumerate().filter_map(move |(at, (of, verb))| match verb {
        Verb::Write(value) if *of == key => Some((at, *value)),
        _ => None,
    })
}

/// Axiom INT: a read shows what the transaction itself wrote or read before.
fn contradicts_itself(history: &Small) -> bool {
    history.txns.iter().filter(|txn| txn.is_ok()).any(|txn| {
        let mut known: [Option<Vec<i64>>; 3] = Default::default();
        let mut own: [Vec<i64>; 3] = Default::default();
        txn.mops.iter().any(|(key, verb)| match verb {
            Verb::Write(value) if history.is_list => {
                own[*key].push(*value);
                false
            }
            Verb::Write(value) => {
                known[*key] = Some(vec![*value]);
                false
            }
            Verb::Read(shown) => {
                let fits = match &known[*key] {
                    Some(base) => *shown == [&base[..], &own[*key][..]].concat(),
                    None => shown.ends_with(&own[*key]),
                };
                known[*key] = Some(shown.clone());
                own[*key].clear();
                !fits
            }
        })
    })
}

/// True when the transactions of unknown outcome can have taken effect or not, and all can be put in an order, such that
/// `axiom` holds.
fn holds(history: &Small, axiom: Axiom) -> bool {
    if axiom >= Axiom::ReadAtomic && contradicts_itself(history) {
        return false;
    }
    let all = || history.txns.iter().enumerate();
    let unknown: Vec<usize> = all().filter(|(_, txn)| txn.status == Status::Info).map(|(at, _)| at).collect();
    (0..1_usize << unknown.len()).any(|bits| {
        let took_effect = |at: usize| unknown.iter().position(|other| *other == at).is_some_and(|n| bits >> n & 1 > 0);
        let happened = all().filter(|(at, txn)| txn.is_ok() || took_effect(*at)).map(|(at, _)| at).collect();
        World::of(history, happened).is_some_and(|world| world.has_order(axiom))
    })
}

fn answer(history: &Small, options: Options, level: &str) -> IsolationAnswer {
    check(&history.txns(), &options.at(Level::named(level).expect(level)), &Unlimited)
}

fn compare(is_list: bool, seeds: u64, least: usize) {
    for (level, axiom) in LEVELS {
        let mut seen = [0, 0];
        for seed in 0..seeds {
            let mut rng = Rng::new(seed);
            let changes = 1 + rng.below(3) as u32;
            let history = Small::changed(&mut rng, Plan { is_list, rising: false }, changes);
            if axiom < Axiom::ReadAtomic && is_list && contradicts_itself(&history) {
                continue;
            }
            let options = if is_list { Options::list_append() } else { Options::register(KeyOrder::default()) };
            let answer = answer(&history, options, level);
            let (fits, is_invalid) = (holds(&history, axiom), matches!(answer.outcome, Outcome::Invalid { .. }));
            assert_eq!(!is_invalid, fits, "seed {seed}, {level}: {history:?}\n{answer:?}");
            seen[usize::from(fits)] += 1;
        }
        assert!(seen.iter().all(|count| *count > least), "{level}: one-sided: {seen:?}");
    }
}

#[test]
fn registers_are_judged_as_by_trying_all_commit_orders() {
    compare(false, 1500, 100);
}

#[test]
fn lists_are_judged_as_by_trying_all_commit_orders() {
    compare(true, 1500, 80);
}

/// What is assumed of keys only ever adds to what is found.
#[test]
fn assumptions_that_hold_change_no_answer_for_the_better() {
    for seed in 0..600 {
        let history = Small::changed(&mut Rng::new(seed), Plan { is_list: false, rising: false }, 2);
        for (level, _) in LEVELS {
            let judge = |keys| answer(&history, Options::register(keys), level).outcome;
            let plain = judge(KeyOrder::default());
            let assumed = judge(KeyOrder { writes_follow_reads: true, sequential: true, linearizable: false });
            let is_invalid = |outcome: &Outcome| matches!(outcome, Outcome::Invalid { .. });
            assert!(!is_invalid(&plain) || is_invalid(&assumed), "seed {seed}, {level}: {history:?}");
        }
    }
}

/// Guessed lines and clocks decide alike.
#[test]
fn clocks_decide_as_guesses_do() {
    let mut seen = [0, 0];
    for seed in 0..4000 {
        let history = Small::changed(&mut Rng::new(seed), Plan { is_list: false, rising: false }, 2);
        let txns = history.txns();
        for sessions in [false, true] {
            let parts = Parts::of(&txns, &Model::Register(VersionOrder::Inferred(KeyOrder::default())), sessions);
            let none = Musts::default();
            let Some(line) = Line::of(&parts, &none, &by_completion(&txns)) else { continue };
            let mut effort = Effort::new(&Unlimited);
            let all = clocks::pairs(&parts, &line, &mut effort).expect("no limits");
            let by_clocks = Line::of(&parts, &Musts::of(all, parts.len()), &line.txns).is_some();
            let by_guesses = causal::decide(&parts, &none, line, &mut effort).expect("no limits").is_ok();
            assert_eq!(by_clocks, by_guesses, "seed {seed}: {history:?}");
            seen[usize::from(by_clocks)] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 330), "one-sided: {seen:?}");
}
