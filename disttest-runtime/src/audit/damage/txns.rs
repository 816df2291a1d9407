//! Damage to transactions on lists.

use super::Edit;
use super::values::fresh;
use crate::base::rng::Rng;
use crate::history::{Effect, History};
use serde_json::{Value, json};

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

fn micro_operations(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use crate::audit::damage::{DamageKind, damage, damages_for};
    use crate::checker::isolation::Level;
    use crate::checker::{Checker, Outcome, Serializability, Unlimited};
    use crate::history::notation::history;

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
