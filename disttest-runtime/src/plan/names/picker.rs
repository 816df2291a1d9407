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

/// The checkers that the picker recommends for a pair; empty where it has no such pair.
pub fn recommended(model: &str, category: Category) -> Vec<&'static str> {
    let of_pair = |row: &&PickerRow| (row.model == model || row.model == "*") && row.category == category;
    PICKER.iter().filter(of_pair).flat_map(|row| row.checkers).copied().collect()
}

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

    /// The table of format §7 once more, a line a row.
    const FORMAT: &str = "\
register/safety: linearizability
log/durability: no-lost-ack replay-equivalence
map/isolation: serializability
session/safety: session-consistency monotonic-read
ledger/idempotency: exactly-once
membership-table/membership: reconciliation-across-replicas
queue/ordering: prefix-order
counter/safety: linearizability invariant-over-final-state
lock/safety: exclusion invariant-over-final-state
lease/safety: exclusion invariant-over-final-state
*/fairness: fairness
";

    #[test]
    fn the_picker_is_the_table_of_the_format() {
        let row = |row: &PickerRow| format!("{}/{}: {}\n", row.model, row.category, row.checkers.join(" "));
        assert_eq!(PICKER.iter().map(row).collect::<String>(), FORMAT);
        let known = |names: &[super::super::Name], name: &str| names.iter().any(|known| known.id == name);
        for row in PICKER {
            assert!(row.model == "*" || known(super::super::MODELS, row.model), "{row:?}");
            assert!(row.checkers.iter().all(|checker| known(super::super::CHECKERS, checker)), "{row:?}");
        }
    }

    /// Of every model, category and checker: a pair of the table fits exactly what its row says, and a pair that the
    /// table does not have is never a misfit.
    #[test]
    fn every_checker_that_a_row_does_not_name_is_a_misfit_of_its_pair() {
        let models = super::super::MODELS.iter().map(|model| model.id).chain(["other(x)"]);
        for (model, category) in models.flat_map(|model| Category::ALL.into_iter().map(move |c| (model, c))) {
            let wanted = recommended(model, category);
            for checker in super::super::CHECKERS {
                let got = fit(model, category, &[checker.id]);
                match (wanted.is_empty(), wanted.contains(&checker.id)) {
                    (true, _) => assert!(!matches!(got, Fit::Misfit(_)), "{model} {category} {}", checker.id),
                    (false, true) => assert_eq!(got, Fit::Fits, "{model} {category} {}", checker.id),
                    (false, false) => assert_eq!(got, Fit::Misfit(wanted.clone()), "{model} {category} {}", checker.id),
                }
            }
        }
    }

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
