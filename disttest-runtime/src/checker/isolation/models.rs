//! Consistency models and which of them imply which: theory as data.
//!
//! Sources: [A] Adya, "Weak Consistency" (PhD thesis, MIT 1999), figure 4-1 and chapters 3 to 5: the PL levels; [B] Bailis
//! et al., "Highly Available Transactions" (VLDB 2014), figure 2: sessions and atomic views; [C] Cerone, Bernardi and
//! Gotsman, "A Framework for Transactional Consistency Models with Atomic Visibility" (CONCUR 2015); [D] Daudjee and Salem,
//! "Lazy Database Replication with Ordering Guarantees" (ICDE 2004) and "Lazy Database Replication with Snapshot
//! Isolation" (VLDB 2006): strong and strong-session forms; [H] Herlihy and Wing, TOPLAS 1990; [P] Papadimitriou, "The
//! serializability of concurrent database updates" (J. ACM 1979). Names are those of Elle (Kingsbury and Alvaro, VLDB 2020).

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A consistency model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(u8);

struct Row {
    name: &'static str,
    aliases: &'static [&'static str],
    /// The strongest models that it implies; all others follow.
    implies: &'static [&'static str],
}

const fn row(name: &'static str, aliases: &'static [&'static str], implies: &'static [&'static str]) -> Row {
    Row { name, aliases, implies }
}

#[rustfmt::skip]
const MODELS: &[Row] = &[
    // Sessions [B, figure 2].
    row("monotonic-reads", &[], &[]),
    row("monotonic-writes", &[], &[]),
    row("read-your-writes", &[], &[]),
    row("writes-follow-reads", &[], &[]),
    row("PRAM", &["pram"], &["monotonic-reads", "monotonic-writes", "read-your-writes"]),
    row("causal", &[], &["PRAM", "writes-follow-reads"]),
    row("sequential", &[], &["causal"]),
    row("linearizable", &[], &["sequential"]),                                                                    // [H]
    // Levels of transactions [A].
    row("read-uncommitted", &["PL-1"], &[]),                                                                      // [A] 3.1.1
    row("read-committed", &["PL-2"], &["read-uncommitted"]),                                                      // [A] 3.1.2
    row("cursor-stability", &["PL-CS"], &["read-committed"]),                                                     // [A] 4.5
    row("monotonic-view", &["PL-2L"], &["read-committed"]),                                                       // [A] 4.3
    row("monotonic-snapshot-read", &["PL-MSR"], &["read-committed"]),                                             // [A] 4.4
    row("consistent-view", &["PL-2+"], &["cursor-stability", "monotonic-view"]),                                  // [A] 4.1
    row("forward-consistent-view", &["PL-FCV"], &["consistent-view"]),                                            // [A] 4.4
    row("update-serializable", &["PL-3U"], &["forward-consistent-view"]),                                         // [A] 4.2
    row("monotonic-atomic-view", &[], &["read-committed"]),                                                       // [B] 5.1.4
    row("repeatable-read", &["PL-2.99"], &["cursor-stability", "monotonic-atomic-view"]),                         // [A] 3.2
    // Atomic visibility [C, figure 1].
    row("read-atomic", &[], &["monotonic-atomic-view"]),
    row("causal-cerone", &[], &["read-atomic"]),
    row("prefix", &[], &["causal-cerone"]),
    row("update-atomic", &[], &["read-atomic"]),
    row("parallel-snapshot-isolation", &["PSI"], &["causal-cerone", "update-atomic"]),
    row("snapshot-isolation", &["PL-SI", "SI", "si"],
        &["forward-consistent-view", "monotonic-snapshot-read", "parallel-snapshot-isolation", "prefix"]),        // [A] 4.3, [C]
    row("view-serializable", &[], &[]),                                                                           // [P]
    row("1SR", &["one-copy-serializable"], &[]),                                                                  // [D]
    row("session-serializable", &[], &["1SR"]),                                                                   // [D]
    row("serializable", &["PL-3", "conflict-serializable"],
        &["repeatable-read", "snapshot-isolation", "update-serializable", "view-serializable"]),                  // [A] 3.1.3
    // Strong and strong-session forms [D].
    row("strong-session-read-uncommitted", &["strong-session-PL-1"], &["read-uncommitted"]),
    row("strong-session-read-committed", &["strong-session-PL-2"], &["read-committed", "strong-session-read-uncommitted"]),
    row("strong-session-snapshot-isolation", &["strong-session-PL-SI", "prefix-consistent-snapshot-isolation"],
        &["snapshot-isolation", "strong-session-read-committed"]),
    row("strong-session-serializable", &["strong-session-PL-3"], &["serializable", "strong-session-snapshot-isolation"]),
    row("strong-read-uncommitted", &["strong-PL-1"], &["strong-session-read-uncommitted"]),
    row("strong-read-committed", &["strong-PL-2"], &["strong-read-uncommitted", "strong-session-read-committed"]),
    row("strong-snapshot-isolation", &["strong-PL-SI", "conventional-snapshot-isolation"],
        &["strong-read-committed", "strong-session-snapshot-isolation"]),
    row("strong-serializable", &["strict-serializable", "strict-serializability", "PL-SS", "strong-PL-3", "strong-1SR"],
        &["linearizable", "session-serializable", "strong-session-serializable", "strong-snapshot-isolation"]),
];

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Level, D::Error> {
        let name = String::deserialize(deserializer)?;
        Level::named(&name).ok_or_else(|| D::Error::custom(format!("`{name}` is not known")))
    }
}

impl Level {
    /// The strongest model: the default of checks.
    pub const STRICT_SERIALIZABLE: Level = Level(MODELS.len() as u8 - 1);

    /// The model of this name or alias, such as `snapshot-isolation`, `PL-SI`, `strict-serializable`.
    pub fn named(name: &str) -> Option<Level> {
        Level::all().find(|level| level.name() == name || level.row().aliases.contains(&name))
    }

    /// All models, weaker ones before stronger ones.
    pub fn all() -> impl Iterator<Item = Level> {
        (0..MODELS.len() as u8).map(Level)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Other names that count as it.
    pub fn aliases(self) -> &'static [&'static str] {
        self.row().aliases
    }

    /// True when every history of this model is one of `other` too.
    pub fn implies(self, other: Level) -> bool {
        self == other || self.row().implies.iter().filter_map(|name| Level::named(name)).any(|next| next.implies(other))
    }

    /// What it means of transactions: a level of single operations means that of transactions as well.
    pub(super) fn of_transactions(self) -> impl Iterator<Item = Level> {
        let more = match self.name() {
            "causal" => "causal-cerone",
            "sequential" | "session-serializable" => "strong-session-serializable",
            "linearizable" => "strong-serializable",
            "1SR" => "serializable",
            _ => return std::iter::once(self).chain(None),
        };
        std::iter::once(self).chain(Level::named(more))
    }

    fn row(self) -> &'static Row {
        &MODELS[self.0 as usize]
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a history cannot be: the weakest models, and all stronger ones.
pub(super) fn boundary(ruled_out: &[Level]) -> (Vec<&'static str>, Vec<&'static str>) {
    let impossible: Vec<Level> = Level::all().filter(|level| ruled_out.iter().any(|out| level.implies(*out))).collect();
    let is_weakest = |level: &Level| !impossible.iter().any(|other| other != level && level.implies(*other));
    let (mut not, mut also_not): (Vec<_>, Vec<_>) = impossible.iter().copied().partition(is_weakest);
    not.sort_by_key(|level| level.name());
    also_not.sort_by_key(|level| level.name());
    (not.into_iter().map(Level::name).collect(), also_not.into_iter().map(Level::name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_means_one_model_and_every_implied_name_is_one() {
        let mut seen = BTreeSet::new();
        for level in Level::all() {
            for name in level.aliases().iter().chain([&level.name()]) {
                assert!(seen.insert(*name), "{name} twice");
                assert_eq!(Level::named(name), Some(level));
            }
            for name in level.row().implies {
                let implied = Level::named(name).expect(name);
                assert!(!implied.implies(level), "{name} and {level} imply each other");
            }
        }
        assert_eq!(Level::STRICT_SERIALIZABLE.name(), "strong-serializable");
    }

    #[test]
    fn what_is_ruled_out_takes_stronger_models_with_it() {
        let check = |ruled_out: &[&str], not: &[&str], also: &[&str]| {
            let levels: Vec<Level> = ruled_out.iter().filter_map(|name| Level::named(name)).collect();
            assert_eq!(boundary(&levels), (not.to_vec(), also.to_vec()), "{ruled_out:?}");
        };
        check(&[], &[], &[]);
        check(&["strict-serializable"], &["strong-serializable"], &[]);
        check(
            &["serializable", "repeatable-read"],
            &["repeatable-read"],
            &["serializable", "strong-serializable", "strong-session-serializable"],
        );
        check(
            &["linearizable", "strong-read-committed"],
            &["linearizable", "strong-read-committed"],
            &["strong-serializable", "strong-snapshot-isolation"],
        );
    }
}
