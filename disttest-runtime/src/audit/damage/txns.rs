//! Damage to transactions on lists and registers.

use super::Edit;
use super::values::fresh;
use crate::base::rng::Rng;
use crate::history::{Effect, History};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A read in a committed transaction shows an element that nobody appended: no level from read committed on allows that,
/// whatever the other transactions are.
pub(super) fn phantom(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "phantom-value");
    let ops = history.ops();
    let is_txn = |at: &usize| ops[*at].op_type == "txn" && ops[*at].effect() == Effect::Acknowledged;
    // An element of the sort that is appended.
    let like = (0..ops.len())
        .filter(|at| ops[*at].op_type == "txn")
        .flat_map(|at| micro_operations(&ops[at].input))
        .find(|mop| mop[0] == "append")?[2]
        .clone();
    let reads: Vec<(usize, usize)> = (0..ops.len())
        .filter(is_txn)
        .flat_map(|at| micro_operations(&ops[at].output).iter().enumerate().map(move |(nth, mop)| (at, nth, mop)))
        .filter(|(_, _, mop)| mop[0] == "r" && (mop[2].is_array() || mop[2].is_null()))
        .map(|(at, nth, _)| (at, nth))
        .collect();
    let (at, nth) = *rng.pick(&reads)?;
    let value = fresh(history, &like, &mut rng);
    let mut output = ops[at].output.clone();
    let shown = output.get_mut(nth)?.get_mut(2)?;
    let mut list = shown.as_array().cloned().unwrap_or_default();
    list.push(value.clone());
    *shown = json!(list);
    let detail = format!("read {} of transaction {} shows {value}, which nobody appended", nth + 1, ops[at].op_id);
    Some(Edit { changes: vec![(at, output)], detail })
}

/// Two committed transactions read one register as two values that nobody wrote: one of them may be what it began as, both
/// cannot, at any level from read committed on.
pub(super) fn phantoms(history: &History, seed: u64) -> Option<Edit> {
    let mut rng = Rng::stream(seed, "phantom-value");
    let ops = history.ops();
    let txns = || ops.iter().enumerate().filter(|(_, op)| op.op_type == "txn");
    let like = txns().flat_map(|(_, op)| micro_operations(&op.input)).find(|mop| mop[0] == "w")?[2].clone();
    // Of each register, the first thing that each transaction does with it, if that is a read.
    let mut reads: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    for (at, op) in txns().filter(|(_, op)| op.effect() == Effect::Acknowledged) {
        let mut touched: Vec<&Value> = Vec::new();
        for (nth, mop) in micro_operations(&op.output).iter().enumerate() {
            let first = !touched.contains(&&mop[1]);
            touched.push(&mop[1]);
            if first && mop[0] == "r" && mop.get(2).is_some() {
                reads.entry(mop[1].to_string()).or_default().push((at, nth));
            }
        }
    }
    let registers: Vec<(&String, &Vec<(usize, usize)>)> = reads.iter().filter(|(_, reads)| reads.len() > 1).collect();
    let (register, reads) = *rng.pick(&registers)?;
    let first = rng.below(reads.len() as u64) as usize;
    let second = (first + 1 + rng.below(reads.len() as u64 - 1) as usize) % reads.len();
    let values = two_fresh(history, &like, &mut rng);
    let mut changes = Vec::new();
    for ((at, nth), value) in [reads[first], reads[second]].into_iter().zip(&values) {
        let mut output = ops[at].output.clone();
        *output.get_mut(nth)?.get_mut(2)? = value.clone();
        changes.push((at, output));
    }
    let [one, other] = [reads[first].0, reads[second].0].map(|at| ops[at].op_id);
    let [a, b] = &values;
    let detail = format!("transactions {one} and {other} read {register} as {a} and as {b}, which nobody wrote");
    Some(Edit { changes, detail })
}

fn two_fresh(history: &History, like: &Value, rng: &mut Rng) -> [Value; 2] {
    let first = fresh(history, like, rng);
    loop {
        let second = fresh(history, like, rng);
        if second != first {
            return [first, second];
        }
    }
}

fn micro_operations(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use crate::audit::damage::{DamageKind, damage, damages_for};
    use crate::checker::isolation::{KeyOrder, Level};
    use crate::checker::{Checker, Outcome, Serializability, Unlimited};
    use crate::history::notation::history;

    #[test]
    fn registers_that_began_as_two_things_are_rejected_at_every_level_from_read_committed_on() {
        let text = "c1 txn - [[\"w\",\"x\",1],[\"r\",\"x\",null]] -> [[\"w\",\"x\",1],[\"r\",\"x\",1]] [0..5]\n\
                    c2 txn - [[\"r\",\"x\",null],[\"r\",\"y\",null]] -> [[\"r\",\"x\",1],[\"r\",\"y\",null]] [6..9]\n\
                    c3 txn - [[\"r\",\"x\",null]] -> [[\"r\",\"x\",1]] [6..9]";
        let whole = history(text).expect("a history");
        for seed in 0..20 {
            let damaged = damage(DamageKind::PhantomValue, &whole, seed).expect("reads").history;
            for level in ["read-committed", "snapshot-isolation", "serializable", "strict-serializable"] {
                let checker = Serializability::register(KeyOrder::default()).at(Level::named(level).expect(level));
                assert_eq!(checker.check(&whole, &Unlimited).outcome, Outcome::Valid, "{level}");
                let outcome = checker.check(&damaged, &Unlimited).outcome;
                let Outcome::Invalid { violations } = outcome else { panic!("{level}, seed {seed}: {outcome:?}") };
                assert!(violations.iter().any(|v| v.anomaly == "unwritten-value"), "{level}, {seed}: {violations:#?}");
            }
        }
    }

    #[test]
    fn one_read_of_a_register_may_be_of_what_it_began_as() {
        let text = "c1 txn - [[\"w\",\"x\",1]] -> [[\"w\",\"x\",1]] [0..5]\n\
                    c2 txn - [[\"r\",\"x\",null]] -> [[\"r\",\"x\",1]] [6..9]";
        assert!(damage(DamageKind::PhantomValue, &history(text).expect("a history"), 1).is_err());
    }

    #[test]
    fn serializability_rejects_a_damaged_copy_at_every_level_from_read_committed_on() {
        let text = "c1 txn - [[\"append\",\"x\",1],[\"r\",\"y\",null]] -> [[\"append\",\"x\",1],[\"r\",\"y\",null]] [0..5]\n\
                    c2 txn - [[\"r\",\"x\",null]] -> [[\"r\",\"x\",[1]]] [6..9]";
        let whole = history(text).expect("a history");
        assert_eq!(damages_for("serializability"), [DamageKind::PhantomValue]);
        for seed in 0..20 {
            let damaged = damage(DamageKind::PhantomValue, &whole, seed).expect("reads").history;
            for level in ["read-committed", "snapshot-isolation", "serializable", "strict-serializable"] {
                let checker = Serializability::list_append().at(Level::named(level).expect(level));
                assert_eq!(checker.check(&whole, &Unlimited).outcome, Outcome::Valid, "{level}");
                let outcome = checker.check(&damaged, &Unlimited).outcome;
                assert!(matches!(outcome, Outcome::Invalid { .. }), "{level}, seed {seed}: {outcome:?}");
            }
        }
    }
}
