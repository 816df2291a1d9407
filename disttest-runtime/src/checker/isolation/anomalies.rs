//! Anomalies: what each rules out, and which others it implies: theory as data.
//!
//! Names and relations are those of Elle (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental
//! Observations", VLDB 2020); definitions: [A] Adya, "Weak Consistency" (1999); [B] Berenson et al., "A Critique of ANSI
//! SQL Isolation Levels" (SIGMOD 1995); [C] Cerone, Bernardi and Gotsman (CONCUR 2015); [D] Daudjee and Salem (ICDE 2004,
//! VLDB 2006) for process and realtime variants; [E] Biswas and Enea, "On the Complexity of Checking Transactional
//! Consistency" (OOPSLA 2019); [H] Bailis et al., "Highly Available Transactions" (VLDB 2014); [R] Bailis et al., "Scalable
//! Atomic Visibility with RAMP Transactions" (SIGMOD 2014).

use super::models::Level;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::LazyLock;

/// A kind of anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anomaly(u8);

struct Row {
    name: &'static str,
    /// The weakest models that it rules out.
    not: &'static [&'static str],
    /// Anomalies that are there whenever it is; all others follow.
    implies: &'static [&'static str],
}

const fn row(name: &'static str, not: &'static [&'static str], implies: &'static [&'static str]) -> Row {
    Row { name, not, implies }
}

#[rustfmt::skip]
const ANOMALIES: &[Row] = &[
    // Cycles of dependencies [A, chapters 3 and 4]; `-item`: on items, not predicates.
    row("G0", &["read-uncommitted"], &["G0-process", "G1c"]),
    row("G1c", &["read-committed"], &["G1", "G1c-process"]),
    row("G-single-item", &["consistent-view", "repeatable-read"], &["G-nonadjacent-item", "G-single", "G-single-item-process"]),
    row("G-single", &["consistent-view"], &["G-nonadjacent", "G-single-process"]),
    row("G-nonadjacent-item", &["repeatable-read", "snapshot-isolation"],
        &["G-nonadjacent", "G-nonadjacent-item-process", "G2-item"]),
    row("G-nonadjacent", &["snapshot-isolation"], &["G-nonadjacent-process", "G2"]),
    row("G2-item", &["repeatable-read"], &["G2", "G2-item-process"]),
    row("G2", &["serializable"], &["G2-process"]),
    // The same with the order of each process [D].
    row("G0-process", &["strong-session-read-uncommitted"], &["G0-realtime", "G1c-process"]),
    row("G1c-process", &["strong-session-read-committed"], &["G1-process", "G1c-realtime"]),
    row("G-single-item-process", &["strong-session-snapshot-isolation"],
        &["G-nonadjacent-item-process", "G-single-item-realtime", "G-single-process"]),
    row("G-single-process", &["strong-session-snapshot-isolation"], &["G-nonadjacent-process", "G-single-realtime"]),
    row("G-nonadjacent-item-process", &["strong-session-snapshot-isolation"],
        &["G-nonadjacent-item-realtime", "G-nonadjacent-process", "G2-item-process"]),
    row("G-nonadjacent-process", &["strong-session-snapshot-isolation"], &["G-nonadjacent-realtime", "G2-process"]),
    row("G2-item-process", &["strong-session-serializable"], &["G2-item-realtime", "G2-process"]),
    row("G2-process", &["strong-session-serializable"], &["G2-realtime"]),
    // The same with the order of real time [D].
    row("G0-realtime", &["strong-read-uncommitted"], &["G1c-realtime"]),
    row("G1c-realtime", &["strong-read-committed"], &["G1-realtime"]),
    row("G-single-item-realtime", &["strong-snapshot-isolation"], &["G-nonadjacent-item-realtime", "G-single-realtime"]),
    row("G-single-realtime", &["strong-snapshot-isolation"], &["G-nonadjacent-realtime"]),
    row("G-nonadjacent-item-realtime", &["strong-snapshot-isolation"], &["G-nonadjacent-realtime", "G2-item-realtime"]),
    row("G-nonadjacent-realtime", &["strong-snapshot-isolation"], &["G2-realtime"]),
    row("G2-item-realtime", &["strong-serializable"], &["G2-realtime"]),
    row("G2-realtime", &["strong-serializable"], &[]),
    // Reads of what was never committed [A, 3.1.2].
    row("G1", &["read-committed"], &["G1-process"]),
    row("G1-process", &["strong-session-snapshot-isolation"], &["G1-realtime"]),
    row("G1-realtime", &["strong-snapshot-isolation"], &[]),
    row("G1a", &["read-committed"], &["G1"]),
    row("G1b", &["read-committed"], &["G1"]),
    row("dirty-update", &["read-committed"], &["G1a"]),
    row("future-read", &["read-committed"], &["G1c"]),
    // Orders of versions that cannot be.
    row("incompatible-order", &["read-committed"], &["G1a"]),
    row("duplicate-elements", &["read-uncommitted"], &[]),
    row("cyclic-versions", &["read-uncommitted"], &[]),
    // Ours: a list shows an element that nobody appended; Elle stops there.
    row("unwritten-element", &["read-committed"], &["G1"]),
    // Ours: a register shows two beginnings.
    row("unwritten-value", &["read-committed"], &["G1"]),
    // Within a transaction [C: axiom INT].
    row("internal", &["read-atomic"], &[]),
    // Reads that no commit order explains: [E] Biswas and Enea (OOPSLA 2019). Observed transaction vanishes, as HAT [H] has it.
    row("OTV", &["consistent-view", "monotonic-atomic-view", "monotonic-view"], &[]),
    // Of two writes of a transaction one is seen, and an older version of the other [R].
    row("fractured-read", &["consistent-view", "read-atomic"], &[]),
    row("causality-violation", &["causal-cerone", "consistent-view"], &[]),
    row("session-causality-violation", &["causal", "strong-session-snapshot-isolation"], &[]),
    // Two transactions read the same version and both wrote the next [B: P4; A, 4.5].
    row("lost-update", &["cursor-stability", "update-atomic"], &["G2-item", "write-skew"]),
    row("write-skew", &["serializable"], &["G2"]),
    // These alone leave the answer unknown.
    row(EMPTY_GRAPH, &[], &[]),
    row(SEARCH_TIMEOUT, &[], &[]),
];

/// No transaction depends on another: nothing could have gone wrong.
pub(super) const EMPTY_GRAPH: &str = "empty-transaction-graph";
/// The search for cycles was stopped.
pub(super) const SEARCH_TIMEOUT: &str = "cycle-search-timeout";

/// Of each anomaly, itself and all that it implies: the rows that follow from `implies`, as bits.
static IMPLIED: LazyLock<Vec<u64>> = LazyLock::new(|| {
    fn gather(anomaly: Anomaly, bits: &mut u64) {
        *bits |= 1 << anomaly.0;
        anomaly.row().implies.iter().filter_map(|name| Anomaly::named(name)).for_each(|next| gather(next, bits));
    }
    let of = |anomaly| {
        let mut bits = 0;
        gather(anomaly, &mut bits);
        bits
    };
    Anomaly::all().map(of).collect()
});

impl Serialize for Anomaly {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Anomaly {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Anomaly, D::Error> {
        let name = String::deserialize(deserializer)?;
        Anomaly::named(&name).ok_or_else(|| D::Error::custom(format!("`{name}` is not known")))
    }
}

impl Anomaly {
    /// The anomaly of this name, such as `G-single-item`.
    pub fn named(name: &str) -> Option<Anomaly> {
        Anomaly::all().find(|anomaly| anomaly.name() == name)
    }

    /// All anomalies.
    pub fn all() -> impl Iterator<Item = Anomaly> {
        (0..ANOMALIES.len() as u8).map(Anomaly)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The weakest models it rules out.
    pub fn rules_out(self) -> impl Iterator<Item = Level> {
        self.row().not.iter().filter_map(|name| Level::named(name))
    }

    /// True when `other` is there whenever this is.
    pub fn implies(self, other: Anomaly) -> bool {
        IMPLIED[self.0 as usize] & 1 << other.0 != 0
    }

    /// True when no history of `level` has it.
    pub fn is_prohibited_by(self, level: Level) -> bool {
        self.rules_out().any(|weakest| level.implies(weakest))
    }

    fn row(self) -> &'static Row {
        &ANOMALIES[self.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_the_table_is_known_and_implications_do_not_run_in_circles() {
        for anomaly in Anomaly::all() {
            assert_eq!(Anomaly::named(anomaly.name()), Some(anomaly), "{} twice", anomaly.name());
            assert_eq!(anomaly.rules_out().count(), anomaly.row().not.len(), "{}", anomaly.name());
            for name in anomaly.row().implies {
                assert!(!Anomaly::named(name).expect(name).implies(anomaly), "{name} and {}", anomaly.name());
            }
        }
    }

    #[test]
    fn anomalies_fit_in_a_set_of_bits() {
        assert!(ANOMALIES.len() <= 64);
    }

    #[test]
    fn what_implies_an_anomaly_rules_out_all_that_the_anomaly_does() {
        for anomaly in Anomaly::all() {
            for implied in Anomaly::all().filter(|other| anomaly.implies(*other)) {
                for level in implied.rules_out() {
                    assert!(anomaly.is_prohibited_by(level), "{} and {}: {level}", anomaly.name(), implied.name());
                }
            }
        }
    }

    #[test]
    fn levels_prohibit_what_elle_says_they_do() {
        let check = |anomaly: &str, level: &str, expect: bool| {
            let (anomaly, level) = (Anomaly::named(anomaly).expect(anomaly), Level::named(level).expect(level));
            assert_eq!(anomaly.is_prohibited_by(level), expect, "{} {level}", anomaly.name());
        };
        check("G0", "read-uncommitted", true);
        check("G1a", "read-uncommitted", false);
        check("G1c", "read-committed", true);
        check("G-single-item", "snapshot-isolation", true);
        check("G2-item", "snapshot-isolation", false);
        check("G2-item", "repeatable-read", true);
        check("G-nonadjacent", "snapshot-isolation", true);
        check("internal", "repeatable-read", false);
        check("lost-update", "snapshot-isolation", true);
        check("G-single-item-realtime", "serializable", false);
        check("G-single-item-realtime", "strict-serializable", true);
        check("G0-process", "strong-session-read-uncommitted", true);
    }
}
