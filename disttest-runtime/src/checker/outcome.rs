//! What a checker says: valid, invalid with a witness, or unknown, with evidence of what it did.

use serde::{Deserialize, Serialize};

/// Three-valued: an exception, a misuse or an exhausted limit is unknown, never valid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// No violation in what was consumed.
    Valid,
    /// At least one violation; the first is the one to read.
    Invalid {
        /// Every violation found, most telling first; never empty.
        violations: Vec<Violation>,
    },
    /// The checker could not decide.
    Unknown {
        /// Why, and what it would take.
        why: String,
    },
}

/// One violation with the witness a person can check by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// Stable kebab-case kind, such as `non-linearizable` or `lost-acknowledged-write`. Re-runs compare it.
    pub anomaly: String,
    /// The key it happened on, if the checker partitions.
    pub key: Option<String>,
    /// Ids of the operations that make the witness, in the order the explanation names them.
    pub ops: Vec<u64>,
    /// The witness as text: what each client saw, and why no order explains it.
    pub explanation: String,
}

/// What the checker did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Operations in the history it was given.
    pub recorded: u64,
    /// Operations it took into account (an operation it may ignore by its definition counts as taken).
    pub consumed: u64,
    /// Elementary checks made: states visited, reads compared, ….
    pub fired: u64,
    /// Partitions (keys) checked; 1 for a whole-history check.
    pub partitions: u64,
    /// Largest estimate of the memory it held, in bytes.
    pub peak_bytes: u64,
}

/// A checker's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// [`super::Checker::name`].
    pub checker: String,
    /// [`super::Checker::model`].
    pub model: Option<String>,
    /// What it found.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What it did.
    pub evidence: Evidence,
    /// What a valid answer does not exclude.
    pub cannot_detect: Vec<String>,
}
