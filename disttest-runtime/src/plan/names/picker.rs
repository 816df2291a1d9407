//! The checker picker of format §7: which checkers fit a model and a claim category.

use crate::plan::Category;

/// A row of the picker.
#[derive(Clone, Copy, Debug)]
pub struct PickerRow {
    /// Model; `*` for any.
    pub model: &'static str,
    /// Claim category.
    pub category: Category,
    /// Checkers, any of which fits.
    pub checkers: &'static [&'static str],
}

const fn row(model: &'static str, category: Category, checkers: &'static [&'static str]) -> PickerRow {
    PickerRow { model, category, checkers }
}

/// The picker.
pub const PICKER: &[PickerRow] = &[
    row("register", Category::Safety, &["linearizability"]),
    row("log", Category::Durability, &["no-lost-ack", "replay-equivalence"]),
    row("map", Category::Isolation, &["serializability"]),
    row("session", Category::Safety, &["session-consistency", "monotonic-read"]),
    row("ledger", Category::Idempotency, &["exactly-once"]),
    row("membership-table", Category::Membership, &["reconciliation-across-replicas"]),
    row("queue", Category::Ordering, &["prefix-order"]),
    row("counter", Category::Safety, &["linearizability", "invariant-over-final-state"]),
    row("lock", Category::Safety, &["exclusion", "invariant-over-final-state"]),
    row("lease", Category::Safety, &["exclusion", "invariant-over-final-state"]),
    row("*", Category::Fairness, &["fairness"]),
];

/// How checkers fit a pair of model and category.
#[derive(Clone, Debug, PartialEq)]
pub enum Fit {
    /// One of them is recommended for the pair, or for a row as close.
    Fits,
    /// The picker has the pair and recommends these.
    Misfit(Vec<&'static str>),
    /// The picker has no such pair, and no row of the model or the category recommends any of them.
    Far,
}

/// Judges `checkers` against the picker.
pub fn fit(model: &str, category: Category, checkers: &[&str]) -> Fit {
    let recommends = |row: &&PickerRow| row.checkers.iter().any(|c| checkers.contains(c));
    let of_model = |row: &&PickerRow| row.model == model || row.model == "*";
    let pair: Vec<&PickerRow> = PICKER.iter().filter(of_model).filter(|r| r.category == category).collect();
    if !pair.is_empty() {
        return match pair.iter().any(recommends) {
            true => Fit::Fits,
            false => Fit::Misfit(pair.iter().flat_map(|r| r.checkers).copied().collect()),
        };
    }
    let mut close = PICKER.iter().filter(|r| r.model == model || r.category == category);
    if close.clone().next().is_none() || close.any(|row| recommends(&row)) { Fit::Fits } else { Fit::Far }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picker_knows_its_pairs_and_is_lenient_beyond_them() {
        let check = |model: &str, category: Category, checkers: &[&str], expect: Fit| {
            assert_eq!(fit(model, category, checkers), expect, "{model} {category} {checkers:?}")
        };
        check("register", Category::Safety, &["linearizability"], Fit::Fits);
        check("register", Category::Safety, &["no-lost-ack"], Fit::Misfit(vec!["linearizability"]));
        check("register", Category::Durability, &["linearizability", "no-lost-ack"], Fit::Fits);
        check(
            "log",
            Category::Durability,
            &["linearizability"],
            Fit::Misfit(vec!["no-lost-ack", "replay-equivalence"]),
        );
        check("register", Category::Fairness, &["linearizability"], Fit::Misfit(vec!["fairness"]));
        check("register", Category::Durability, &["exclusion"], Fit::Far);
        check("other(x)", Category::Liveness, &[], Fit::Fits);
    }
}
