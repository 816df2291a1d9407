//! Names a plan may use: checkers, models, nemeses, signals, with the aliases that count as them; and which checker
//! fits which model and claim category (format §6 and §7).

mod how;
mod mention;
mod nemeses;
mod picker;
mod signals;
mod spelling;

pub use how::{HOW, How};
pub(crate) use mention::Index;
pub use mention::{Mention, mentions};
pub use nemeses::{NEMESES, Nemesis, TOGETHER, parts_of};
pub use picker::{Fit, PICKER, PickerRow, fit, recommended};
pub use signals::{SIGNALS, Side, Signal, SignalMention, signal_mentions};
pub use spelling::misspelt;
pub(super) use spelling::spellings;

use std::sync::LazyLock;

/// A name with its aliases.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    /// Canonical, kebab-case.
    pub id: &'static str,
    /// Other spellings, lower case, blanks for separators. Recognised wherever they stand in prose.
    pub aliases: &'static [&'static str],
    /// True when the id is so common a word that it counts only in backticks or at the head of a clause.
    pub common_word: bool,
}

pub(crate) const fn name(id: &'static str, aliases: &'static [&'static str]) -> Name {
    Name { id, aliases, common_word: false }
}

pub(crate) const fn common(id: &'static str, aliases: &'static [&'static str]) -> Name {
    Name { id, aliases, common_word: true }
}

/// Models of format §3, `other(<name>)` aside.
pub const MODELS: &[Name] = &[
    name("register", &["registers"]),
    name("map", &["key-value map", "kv map"]),
    name("queue", &[]),
    name("log", &["append-only log"]),
    name("lock", &[]),
    name("lease", &[]),
    name("session", &[]),
    name("membership-table", &["membership table"]),
    name("counter", &[]),
    name("ledger", &[]),
];

/// Checkers of format §7, and of workloads that none of them is made for.
pub const CHECKERS: &[Name] = &[
    name("linearizability", &["linearizable", "linearisability", "linearisable", "porcupine", "knossos"]),
    name("serializability", &["serializable", "serialisability", "serialisable", "elle"]),
    name("property-assertion", &["property assertion"]),
    name("replay-equivalence", &["replay equivalence"]),
    name("metric-slo", &["metric slo", "slo threshold"]),
    name("statistical-baseline", &["statistical baseline", "bootstrap ci"]),
    name("differential", &["cross-implementation differential", "differential testing"]),
    name("session-consistency", &["session consistency"]),
    name("monotonic-read", &["monotonic reads", "monotonic-reads", "monotonic read"]),
    name("prefix-order", &["prefix / order", "prefix/order", "prefix order"]),
    name("no-lost-ack", &["no lost ack", "no-lost-acks", "no lost acks", "no lost acknowledged write"]),
    name("exactly-once", &["exactly once"]),
    name("invariant-over-final-state", &["invariant over final state", "final-state invariant"]),
    name("exclusion", &["mutual exclusion", "exclusion property"]),
    name("reconciliation-across-replicas", &["reconciliation across replicas", "replica reconciliation"]),
    name("fairness", &["per-group fairness"]),
    name("set-full", &["full set"]),
    common("bank", &["bank totals"]),
    name("counter-bounds", &["counter bounds"]),
    name("unique-ids", &[]),
    name("total-queue", &["total queue"]),
    name("long-fork", &["long fork"]),
    common("freshness", &["bounded staleness", "bounded-staleness"]),
    name("bounded-liveness", &["bounded liveness", "liveness within bounds"]),
];

/// The models that this runtime has; its nemeses are those with [`Nemesis::signals`].
pub const RUNTIME_MODELS: [&str; 10] =
    ["register", "map", "queue", "log", "lock", "lease", "session", "membership-table", "counter", "ledger"];

/// The checkers that this runtime has, in the order of [`CHECKERS`].
pub const RUNTIME_CHECKERS: [&str; 24] = [
    "linearizability",
    "serializability",
    "property-assertion",
    "replay-equivalence",
    "metric-slo",
    "statistical-baseline",
    "differential",
    "session-consistency",
    "monotonic-read",
    "prefix-order",
    "no-lost-ack",
    "exactly-once",
    "invariant-over-final-state",
    "exclusion",
    "reconciliation-across-replicas",
    "fairness",
    "set-full",
    "bank",
    "counter-bounds",
    "unique-ids",
    "total-queue",
    "long-fork",
    "freshness",
    "bounded-liveness",
];

/// The checkers that `text` mentions.
pub fn checker_mentions(text: &str) -> Vec<Mention> {
    static INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(CHECKERS.iter().copied()));
    INDEX.mentions(text)
}

/// The models that `text` mentions.
pub fn model_mentions(text: &str) -> Vec<Mention> {
    static INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(MODELS.iter().copied()));
    INDEX.mentions(text)
}

/// The nemeses that `text` mentions.
pub fn nemesis_mentions(text: &str) -> Vec<Mention> {
    static INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(NEMESES.iter().map(|nemesis| nemesis.name)));
    INDEX.mentions(text)
}

/// The canonical model of an exact name or alias; `other(<name>)` gives itself.
pub fn model(text: &str) -> Option<String> {
    let plain = text.trim().to_lowercase();
    if let Some(inner) = plain.strip_prefix("other(").and_then(|rest| rest.strip_suffix(')')) {
        let inner = inner.trim();
        let ok = !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || "-_ ".contains(c));
        return ok.then(|| format!("other({inner})"));
    }
    exact(MODELS, &plain).map(|n| n.id.to_owned())
}

/// The entry of `table` whose id or alias is exactly `text` (case aside).
pub fn exact<'t>(table: &'t [Name], text: &str) -> Option<&'t Name> {
    let plain = text.trim().to_lowercase();
    table.iter().find(|n| n.id == plain || n.aliases.contains(&plain.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_is_kebab_case_and_no_spelling_means_two_things() {
        let nemeses: Vec<Name> = NEMESES.iter().map(|n| n.name).collect();
        let signals: Vec<Name> = SIGNALS.iter().map(|s| s.name).collect();
        for table in [MODELS, CHECKERS, &nemeses, &signals] {
            let mut seen = BTreeSet::new();
            for entry in table {
                assert!(
                    entry.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                    "{entry:?}"
                );
                for spelling in std::iter::once(&entry.id).chain(entry.aliases) {
                    assert_eq!(*spelling, spelling.to_lowercase());
                    assert!(seen.insert(*spelling), "{spelling} stands twice");
                }
            }
        }
    }

    /// A plan that reads well is one that this runtime can run: no rule has to say what it lacks.
    #[test]
    fn whatever_a_plan_may_name_the_runtime_has() {
        let without: Vec<&str> = NEMESES.iter().filter(|n| n.signals.is_empty()).map(|n| n.name.id).collect();
        assert!(without.is_empty(), "no signal can prove {without:?}");
        assert_eq!(MODELS.iter().map(|name| name.id).collect::<Vec<_>>(), RUNTIME_MODELS);
        assert_eq!(CHECKERS.iter().map(|name| name.id).collect::<Vec<_>>(), RUNTIME_CHECKERS);
    }

    #[test]
    fn models_are_recognised_by_name() {
        assert_eq!(model("Register").as_deref(), Some("register"));
        assert_eq!(model("membership table").as_deref(), Some("membership-table"));
        assert_eq!(model("other(crdt set)").as_deref(), Some("other(crdt set)"));
        assert_eq!(model("other()"), None);
        assert_eq!(model("set"), None);
    }
}
