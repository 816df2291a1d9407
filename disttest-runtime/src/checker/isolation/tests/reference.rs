//! Comparison with slow ways to decide the same: all serial orders of small histories, all cycles of small graphs.

use super::super::cycles::cycles;
use super::super::graph::Rel;
use super::super::*;
use super::simulate::{Plan, Small, Verb};
use crate::base::rng::Rng;
use crate::checker::Unlimited;
use std::collections::BTreeSet;

/// Which order of transactions a serial order must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Nothing,
    Process,
    RealTime,
}

/// True when some serial order of all committed transactions, and of any of unknown outcome, gives every read its answer.
/// With `rising`, each key's values rise.
fn is_serializable(history: &Small, keep: Keep, rising: bool) -> bool {
    let count = history.txns.len();
    let before = |a: usize, b: usize| {
        let (first, second) = (&history.txns[a], &history.txns[b]);
        match keep {
            Keep::Nothing => false,
            Keep::Process => first.is_ok() && second.is_ok() && first.process == second.process && a < b,
            Keep::RealTime => first.is_ok() && first.completed < Some(second.invoked),
        }
    };
    fn search(
        history: &Small,
        before: &dyn Fn(usize, usize) -> bool,
        rising: bool,
        placed: &mut Vec<usize>,
        state: [Vec<i64>; 3],
    ) -> bool {
        let waiting: Vec<bool> = (0..history.txns.len()).map(|txn| !placed.contains(&txn)).collect();
        let waits = |txn: usize| waiting[txn];
        if !(0..history.txns.len()).any(|txn| waits(txn) && history.txns[txn].is_ok()) {
            return true;
        }
        for txn in 0..history.txns.len() {
            let possible = waits(txn) && !history.txns[txn].is_failed();
            if !possible || (0..history.txns.len()).any(|other| waits(other) && before(other, txn)) {
                continue;
            }
            let Some(after) = run(history, txn, state.clone(), rising) else { continue };
            placed.push(txn);
            let found = search(history, before, rising, placed, after);
            placed.pop();
            if found {
                return true;
            }
        }
        false
    }
    let mut placed = Vec::with_capacity(count);
    search(history, &before, rising, &mut placed, [Vec::new(), Vec::new(), Vec::new()])
}

/// The state after `txn` ran by itself; `None` when a read of it does not fit.
fn run(history: &Small, txn: usize, mut state: [Vec<i64>; 3], rising: bool) -> Option<[Vec<i64>; 3]> {
    let txn = &history.txns[txn];
    for (key, verb) in &txn.mops {
        let state = &mut state[*key];
        match verb {
            Verb::Write(value) if history.is_list => state.push(*value),
            Verb::Write(value) => {
                if rising && state.last().is_some_and(|last| last > value) {
                    return None;
                }
                *state = vec![*value];
            }
            Verb::Read(shown) if txn.is_ok() && shown != state => return None,
            Verb::Read(_) => {}
        }
    }
    Some(state)
}

fn levels() -> [(Level, Keep); 3] {
    let named = |name| Level::named(name).expect(name);
    [
        (named("serializable"), Keep::Nothing),
        (named("strong-session-serializable"), Keep::Process),
        (named("strict-serializable"), Keep::RealTime),
    ]
}

#[test]
fn lists_are_judged_as_by_trying_all_serial_orders() {
    let mut seen = [0, 0];
    for seed in 0..1500 {
        let history = Small::random(&mut Rng::new(seed), Plan { is_list: true, rising: false });
        let txns = history.txns();
        for (level, keep) in levels() {
            let answer = check(&txns, &Options::list_append().at(level), &Unlimited);
            let fits = is_serializable(&history, keep, false);
            let is_invalid = matches!(answer.outcome, Outcome::Invalid { .. });
            assert_eq!(!is_invalid, fits, "seed {seed}, {level}: {history:?}\n{answer:?}");
            seen[usize::from(fits)] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 700), "one-sided: {seen:?}");
}

#[test]
fn registers_with_known_versions_are_judged_as_by_trying_all_serial_orders() {
    let mut seen = [0, 0];
    for seed in 0..1500 {
        let history = Small::random(&mut Rng::new(seed), Plan { is_list: false, rising: true });
        let txns = history.txns();
        for (level, keep) in levels() {
            let options = Options { model: Model::Register(VersionOrder::Values), ..Options::list_append() };
            let answer = check(&txns, &options.at(level), &Unlimited);
            let fits = is_serializable(&history, keep, true);
            let is_invalid = matches!(answer.outcome, Outcome::Invalid { .. });
            assert_eq!(!is_invalid, fits, "seed {seed}, {level}: {history:?}\n{answer:?}");
            seen[usize::from(fits)] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 400), "one-sided: {seen:?}");
}

/// What may be assumed never makes a history invalid that some serial order explains, at the level that the assumption is
/// part of.
#[test]
fn registers_that_a_serial_order_explains_are_never_invalid() {
    let mut caught = 0;
    for seed in 0..300 {
        let history = Small::random(&mut Rng::new(seed), Plan { is_list: false, rising: false });
        let txns = history.txns();
        for (level, keep) in levels() {
            let fits = is_serializable(&history, keep, false);
            for bits in 0..8 {
                let assumed = KeyOrder {
                    writes_follow_reads: bits & 1 > 0,
                    sequential: bits & 2 > 0 && keep != Keep::Nothing,
                    linearizable: bits & 4 > 0 && keep == Keep::RealTime,
                };
                let answer = check(&txns, &Options::register(assumed).at(level), &Unlimited);
                let is_invalid = matches!(answer.outcome, Outcome::Invalid { .. });
                assert!(!(fits && is_invalid), "seed {seed}, {level}, {assumed:?}: {history:?}\n{answer:?}");
                caught += u32::from(is_invalid);
            }
        }
    }
    assert!(caught > 300, "only {caught} found");
}

/// The classes of cycles and, of each: relations besides rw, least and most rw edges, whether two may follow each other,
/// what must occur.
type Shape = (&'static str, bool, usize, usize, bool, Option<Rel>);

#[rustfmt::skip]
const SHAPES: [Shape; 5] = [
    ("G0", false, 0, 0, true, None),
    ("G1c", true, 0, 0, true, Some(Rel::Wr)),
    ("G-single-item", true, 1, 1, true, None),
    ("G-nonadjacent-item", true, 2, 9, false, None),
    ("G2-item", true, 2, 9, true, None),
];

fn is_of(walk: &[Rel], shape: &Shape, extra: Option<Rel>) -> bool {
    let (_, wr, least, most, adjacent, needs) = *shape;
    let rws = walk.iter().filter(|rel| **rel == Rel::Rw).count();
    let next = walk.iter().cycle().skip(1);
    walk.iter().all(|rel| match rel {
        Rel::Ww | Rel::Rw => true,
        Rel::Wr => wr,
        other => Some(*other) == extra,
    }) && (least..=most).contains(&rws)
        && (adjacent || !walk.iter().zip(next).any(|(a, b)| (*a, *b) == (Rel::Rw, Rel::Rw)))
        && [needs, extra].into_iter().flatten().all(|need| walk.contains(&need))
}

/// The relations along each simple cycle.
fn simple_cycles(graph: &graph::Graph) -> Vec<Vec<Rel>> {
    fn go(graph: &graph::Graph, path: &mut Vec<u32>, rels: &mut Vec<Rel>, found: &mut Vec<Vec<Rel>>) {
        for (to, rel) in graph.from(path[path.len() - 1]) {
            rels.push(rel);
            if to == path[0] {
                found.push(rels.clone());
            } else if to > path[0] && !path.contains(&to) {
                path.push(to);
                go(graph, path, rels, found);
                path.pop();
            }
            rels.pop();
        }
    }
    let mut found = Vec::new();
    for start in 0..graph.len() as u32 {
        go(graph, &mut vec![start], &mut Vec::new(), &mut found);
    }
    found
}

fn random_graph(rng: &mut Rng) -> graph::Graph {
    let nodes = 2 + rng.below(5) as u32;
    let extra = [None, Some(Rel::Process), Some(Rel::Realtime)][rng.below(3) as usize];
    let mut edges = Edges::new(nodes);
    let mut pairs = BTreeSet::new();
    for _ in 0..rng.below(14) {
        let (a, b) = (rng.below(u64::from(nodes)) as u32, rng.below(u64::from(nodes)) as u32);
        let rel = match rng.below(8) {
            0 | 1 => Rel::Ww,
            2 | 3 => Rel::Wr,
            4 | 5 => Rel::Rw,
            // Orders from outside run forward.
            _ if a < b => extra.unwrap_or(Rel::Rw),
            _ => continue,
        };
        if pairs.insert((a, b)) {
            edges.add(a, b, rel);
        }
    }
    edges.graph()
}

#[test]
fn classes_of_cycles_are_those_found_by_trying_all_cycles() {
    let mut seen = BTreeSet::new();
    for seed in 0..10_000 {
        let graph = random_graph(&mut Rng::new(seed));
        let all = simple_cycles(&graph);
        let mut expect: Vec<Anomaly> = Vec::new();
        for (suffix, extra) in [("", None), ("-process", Some(Rel::Process)), ("-realtime", Some(Rel::Realtime))] {
            for shape in &SHAPES {
                let anomaly = Anomaly::named(&format!("{}{suffix}", shape.0)).expect("a class");
                let is_there = all.iter().any(|walk| is_of(walk, shape, extra));
                if is_there && !expect.iter().any(|found| found.implies(anomaly)) {
                    expect.push(anomaly);
                }
            }
        }
        let txns: Vec<u32> = (0..graph.len() as u32).collect();
        let knot = Knot { txns, with_all_reasons: graph.clone(), graph };
        let mut found = Vec::new();
        assert_eq!(cycles(&knot, &mut Effort::new(&Unlimited), &mut found), Ok(()));
        for cycle in &found {
            let (name, extra) = match cycle.anomaly.name() {
                name if name.ends_with("-process") => (name.trim_end_matches("-process"), Some(Rel::Process)),
                name => (name.trim_end_matches("-realtime"), name.ends_with("-realtime").then_some(Rel::Realtime)),
            };
            let shape = SHAPES.iter().find(|shape| shape.0 == name).expect("a class");
            let rels: Vec<Rel> = cycle.steps.iter().map(|(_, rel)| *rel).collect();
            assert!(is_of(&rels, shape, extra), "seed {seed}: {cycle:?}");
            for (at, (node, rel)) in cycle.steps.iter().enumerate() {
                let (next, _) = cycle.steps[(at + 1) % cycle.steps.len()];
                assert!(knot.graph.from(*node).any(|edge| edge == (next, *rel)), "seed {seed}: {cycle:?}");
            }
        }
        // A closed walk without rw edges in a row may be no simple cycle when cycles without rw are part of it.
        let is_plain = |anomaly: &Anomaly| anomaly.name().starts_with("G0") || anomaly.name().starts_with("G1c");
        let has_plain = expect.iter().any(is_plain);
        let mut kinds: Vec<Anomaly> = found.iter().map(|cycle| cycle.anomaly).collect();
        if has_plain {
            kinds.retain(|kind| is_plain(kind) || kind.name().contains("single"));
            expect.retain(|kind| is_plain(kind) || kind.name().contains("single"));
        }
        assert_eq!(kinds, expect, "seed {seed}");
        seen.extend(found.iter().map(|cycle| cycle.anomaly.name()));
    }
    assert!(seen.len() >= 13, "few classes occurred: {seen:?}");
}
