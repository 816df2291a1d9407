//! The ten states of a scenario and the five of a session.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Verdict of a scenario, lowest first; the two FAILs stand outside the order of caps (a FAIL is never capped).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// Declared, never attempted.
    #[serde(rename = "NOT-RUN")]
    NotRun,
    /// Tried; a capability is missing.
    #[serde(rename = "INCONCLUSIVE-env")]
    InconclusiveEnv,
    /// A landing signal is absent or ambiguous.
    #[serde(rename = "INCONCLUSIVE-fault-not-proven")]
    InconclusiveFaultNotProven,
    /// Weak history, undecided checker, or an oracle that cannot tell right from wrong.
    #[serde(rename = "INCONCLUSIVE-oracle-too-weak")]
    InconclusiveOracleTooWeak,
    /// A declared checker did not run, or the run stayed below its smoke budget.
    #[serde(rename = "PARTIAL-surface")]
    PartialSurface,
    /// The checker covered a subset.
    #[serde(rename = "PARTIAL-model")]
    PartialModel,
    /// Clean, no fault or smoke budget.
    #[serde(rename = "PASS-smoke")]
    PassSmoke,
    /// Fault landed, complete history, no anomaly, hardening budget.
    #[serde(rename = "PASS-hardening")]
    PassHardening,
    /// Violation, seen again with the same seed.
    #[serde(rename = "FAIL-reproducible")]
    FailReproducible,
    /// Violation, not reproduced.
    #[serde(rename = "FAIL-nondeterministic")]
    FailNondeterministic,
}

impl Verdict {
    /// All ten, in declaration order.
    pub const ALL: [Verdict; 10] = [
        Verdict::NotRun,
        Verdict::InconclusiveEnv,
        Verdict::InconclusiveFaultNotProven,
        Verdict::InconclusiveOracleTooWeak,
        Verdict::PartialSurface,
        Verdict::PartialModel,
        Verdict::PassSmoke,
        Verdict::PassHardening,
        Verdict::FailReproducible,
        Verdict::FailNondeterministic,
    ];

    /// The exact name of the format.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::NotRun => "NOT-RUN",
            Verdict::InconclusiveEnv => "INCONCLUSIVE-env",
            Verdict::InconclusiveFaultNotProven => "INCONCLUSIVE-fault-not-proven",
            Verdict::InconclusiveOracleTooWeak => "INCONCLUSIVE-oracle-too-weak",
            Verdict::PartialSurface => "PARTIAL-surface",
            Verdict::PartialModel => "PARTIAL-model",
            Verdict::PassSmoke => "PASS-smoke",
            Verdict::PassHardening => "PASS-hardening",
            Verdict::FailReproducible => "FAIL-reproducible",
            Verdict::FailNondeterministic => "FAIL-nondeterministic",
        }
    }

    /// True for the two FAILs.
    pub fn is_fail(self) -> bool {
        matches!(self, Verdict::FailReproducible | Verdict::FailNondeterministic)
    }

    /// True for the two PASSes.
    pub fn is_pass(self) -> bool {
        matches!(self, Verdict::PassSmoke | Verdict::PassHardening)
    }

    /// "At most `cap`": the lower of the two in the order of D3. A FAIL stays.
    #[must_use]
    pub fn at_most(self, cap: Verdict) -> Verdict {
        debug_assert!(!cap.is_fail(), "a FAIL is no cap");
        if self.is_fail() || (self as u8) <= (cap as u8) { self } else { cap }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Verdict of a session, by strongest evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SessionVerdict {
    /// Any FAIL.
    #[serde(rename = "FAIL")]
    Fail,
    /// Every scenario a clean PASS.
    #[serde(rename = "DONE")]
    Done,
    /// At least one PASS, no FAIL, something not clean.
    #[serde(rename = "DONE_WITH_CONCERNS")]
    DoneWithConcerns,
    /// No PASS, no FAIL, some signal.
    #[serde(rename = "INCONCLUSIVE")]
    Inconclusive,
    /// Nothing ran.
    #[serde(rename = "BLOCKED")]
    Blocked,
}

impl SessionVerdict {
    /// The verdict of a session whose scenarios got `verdicts`.
    pub fn of(verdicts: &[Verdict]) -> SessionVerdict {
        if verdicts.iter().any(|v| v.is_fail()) {
            SessionVerdict::Fail
        } else if verdicts.iter().all(|v| *v == Verdict::NotRun) {
            SessionVerdict::Blocked
        } else if !verdicts.iter().any(|v| v.is_pass()) {
            SessionVerdict::Inconclusive
        } else if verdicts.iter().all(|v| v.is_pass()) {
            SessionVerdict::Done
        } else {
            SessionVerdict::DoneWithConcerns
        }
    }

    /// The exact word of the format.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionVerdict::Fail => "FAIL",
            SessionVerdict::Done => "DONE",
            SessionVerdict::DoneWithConcerns => "DONE_WITH_CONCERNS",
            SessionVerdict::Inconclusive => "INCONCLUSIVE",
            SessionVerdict::Blocked => "BLOCKED",
        }
    }
}

impl fmt::Display for SessionVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
