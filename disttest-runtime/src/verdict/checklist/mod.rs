//! The two lists that every PASS must survive: ten red flags and fourteen weak oracles (format.md §8, §9, D6).
//!
//! An item is [`AuditState::Ok`] only with evidence from the records. What the facts cannot tell is `Unchecked`, which
//! stops a PASS wherever D6 applies the item; "not applicable" needs its reason on record.

mod red_flags;
mod weak_oracles;

use super::{Declared, Effort, Landing, OracleFacts, RunRecord, Verdict};
use serde::{Deserialize, Serialize};

/// One item of a list, as far as the facts tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditItem {
    /// 1 to 10, or 1 to 14.
    pub number: u8,
    /// Short name of the item.
    pub title: String,
    /// What the facts say.
    pub state: AuditState,
    /// The facts, in numbers; for `NotApplicable` the reason; for `Unchecked` what would tell.
    pub evidence: String,
}

/// State of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditState {
    /// Checked, and fine.
    Ok,
    /// Checked, and not fine.
    Failed,
    /// Does not apply, for the reason in `evidence`.
    NotApplicable,
    /// The facts do not tell.
    Unchecked,
}

/// Both lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checklist {
    /// The ten red flags, in order.
    pub red_flags: Vec<AuditItem>,
    /// The fourteen weak oracles, in order.
    pub weak_oracles: Vec<AuditItem>,
}

/// What the items look at.
struct Inputs<'a> {
    declared: &'a Declared,
    runs: &'a [RunRecord],
    landing: &'a Landing,
    oracle: &'a OracleFacts,
    effort: &'a Effort,
}

impl Checklist {
    /// Evaluates both lists.
    pub(super) fn gather(
        declared: &Declared,
        runs: &[RunRecord],
        landing: &Landing,
        oracle: &OracleFacts,
        effort: &Effort,
    ) -> Checklist {
        let inputs = Inputs { declared, runs, landing, oracle, effort };
        Checklist { red_flags: red_flags::evaluate(&inputs), weak_oracles: weak_oracles::evaluate(&inputs) }
    }
}

/// What an item found: its state, and the evidence.
struct Found(AuditState, String);

impl Found {
    fn check(ok: bool, evidence: impl Into<String>) -> Found {
        Found(if ok { AuditState::Ok } else { AuditState::Failed }, evidence.into())
    }

    fn not_applicable(reason: impl Into<String>) -> Found {
        Found(AuditState::NotApplicable, reason.into())
    }

    fn unchecked(what_would_tell: impl Into<String>) -> Found {
        Found(AuditState::Unchecked, what_would_tell.into())
    }
}

fn item(number: usize, title: &str, Found(state, evidence): Found) -> AuditItem {
    AuditItem {
        number: u8::try_from(number).expect("a list has fewer than 256 items"),
        title: title.to_owned(),
        state,
        evidence,
    }
}

/// True when the item says nothing reassuring: failed, unchecked, or not applicable without a reason.
fn is_open(item: &AuditItem) -> bool {
    match item.state {
        AuditState::Ok => false,
        AuditState::Failed | AuditState::Unchecked => true,
        AuditState::NotApplicable => item.evidence.trim().is_empty(),
    }
}

/// A red flag stops a PASS when it is up. One that nobody looked at is disclosed, not counted: D6 gives no cap for it.
pub fn red_flag_stops(item: &AuditItem) -> bool {
    item.state == AuditState::Failed
}

/// The cap of a red flag that is up: the verdict whose definition fits what it says.
pub fn red_flag_cap(number: u8) -> Verdict {
    match number {
        3 | 4 => Verdict::InconclusiveFaultNotProven,
        1 | 2 | 5 => Verdict::InconclusiveOracleTooWeak,
        // A system that stayed degraded after the heal was judged in a state that the claim is not about.
        8 => Verdict::PartialModel,
        10 => Verdict::PassSmoke,
        _ => Verdict::PartialSurface,
    }
}

/// D6: whether this item stops a PASS that reached `reached`. Items 1, 2, 3, 5 and 9 stop any PASS of a serious
/// scenario, the others only PASS-hardening.
pub fn weak_oracle_stops(item: &AuditItem, reached: Verdict, serious: bool) -> bool {
    let applies = match item.number {
        1 | 2 | 3 | 5 | 9 => serious && reached.is_pass(),
        _ => reached == Verdict::PassHardening,
    };
    applies && is_open(item)
}

/// D6: the cap of a weak-oracle item.
pub fn weak_oracle_cap(number: u8) -> Verdict {
    match number {
        4 | 6 | 7 | 8 | 10 | 11 => Verdict::PartialModel,
        9 => Verdict::InconclusiveOracleTooWeak,
        _ => Verdict::PartialSurface,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D6 once more, as rows: items, the cap, and whether they hold for any PASS of a serious scenario.
    const D6: [(&[u8], Verdict, bool); 4] = [
        (&[1, 2, 3, 5], Verdict::PartialSurface, true),
        (&[9], Verdict::InconclusiveOracleTooWeak, true),
        (&[12, 13, 14], Verdict::PartialSurface, false),
        (&[4, 6, 7, 8, 10, 11], Verdict::PartialModel, false),
    ];

    fn item(number: u8, state: AuditState, evidence: &str) -> AuditItem {
        AuditItem { number, title: String::new(), state, evidence: evidence.to_owned() }
    }

    #[test]
    fn each_weak_oracle_item_stops_the_passes_that_d6_says() {
        for (items, cap, any_pass) in D6 {
            for number in items {
                assert_eq!(weak_oracle_cap(*number), cap, "{number}");
                for state in [AuditState::Failed, AuditState::Unchecked] {
                    for (reached, serious) in Verdict::ALL.into_iter().flat_map(|v| [(v, true), (v, false)]) {
                        let by_item = match any_pass {
                            true => serious && reached.is_pass(),
                            false => reached == Verdict::PassHardening,
                        };
                        let stops = weak_oracle_stops(&item(*number, state, "x"), reached, serious);
                        assert_eq!(stops, by_item, "{number} {state:?} {reached} {serious}");
                    }
                }
            }
        }
        let listed: usize = D6.iter().map(|(items, ..)| items.len()).sum();
        assert_eq!(listed, 14);
    }

    #[test]
    fn not_applicable_needs_its_reason_on_record() {
        let stops = |state, evidence| weak_oracle_stops(&item(7, state, evidence), Verdict::PassHardening, true);
        assert!(!stops(AuditState::NotApplicable, "no partition is planned"));
        assert!(stops(AuditState::NotApplicable, " "));
        assert!(!stops(AuditState::Ok, ""));
    }

    #[test]
    fn a_red_flag_stops_only_when_it_is_up_and_its_cap_is_below_pass_hardening() {
        for number in 1..=10 {
            assert!(red_flag_stops(&item(number, AuditState::Failed, "x")));
            assert!(!red_flag_stops(&item(number, AuditState::Unchecked, "x")));
            assert_ne!(Verdict::PassHardening.at_most(red_flag_cap(number)), Verdict::PassHardening);
        }
    }
}
