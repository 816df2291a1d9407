//! The records on disk that a verdict rests on. Each names its schema and version.

use crate::base::time::Nanos;
use crate::checker::{Answer, Recipe};
use crate::fault::Assessment;
use crate::plan::{Budget, Budgets, Category, Tier};
use serde::{Deserialize, Serialize};

/// What the attribute of a scenario declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Declared {
    /// `S1`, `S5/api`.
    pub id: String,
    /// The scenario's name in the plan (without arm).
    pub name: String,
    /// Test path as the runner knows it: module path without the crate, and the function.
    pub test: String,
    /// Plan path as written in the attribute.
    pub plan: String,
    /// Scenario-SHA256 in the attribute.
    pub scenario_sha256: String,
    /// Claims it falsifies, with their categories.
    pub falsifies: Vec<(String, Vec<Category>)>,
    /// Model under test, if §7.M applies.
    pub model: Option<String>,
    /// Declared checkers with their scope (`whole` or `per_key`).
    pub checkers: Vec<(String, Scope)>,
    /// The planned fault, or the reason why there is none.
    pub fault: DeclaredFault,
    /// Budgets; `None` for a legacy plan without them.
    pub budgets: Option<Budgets>,
    /// True when it may run beside other scenarios of its plan.
    pub shares_nothing: bool,
    /// Package of the test binary; empty in a record that no test binary wrote.
    #[serde(default)]
    pub package: String,
    /// Crate name of the test binary: two binaries of one package may have a function of one name.
    #[serde(default)]
    pub target: String,
    /// Surface that an arm covers, as the attribute names it.
    #[serde(default)]
    pub surface: Option<String>,
    /// What must be denied and unobservable (§7.M.S).
    #[serde(default)]
    pub negative_controls: Vec<String>,
}

impl Declared {
    /// True when both are declared by one function of one test binary: a second record of it is a retry.
    pub fn is_same_test(&self, other: &Declared) -> bool {
        let binary = |declared: &Declared| (declared.package.clone(), declared.target.clone());
        // A record of before binaries were written down names none.
        let unknown = self.package.is_empty() || other.package.is_empty();
        self.test == other.test && (unknown || binary(self) == binary(other))
    }

    /// The test as a person finds it: `tests::f (package store, target s1)`.
    pub fn place(&self) -> String {
        match self.package.is_empty() {
            true => self.test.clone(),
            false => format!("{} (package {}, target {})", self.test, self.package, self.target),
        }
    }

    /// A gated category is falsified, or this is an arm.
    pub fn is_serious(&self) -> bool {
        self.id.contains('/')
            || self.falsifies.iter().any(|(_, categories)| categories.iter().any(|c| c.gates_model_block()))
    }
}

/// Partition of the history a checker is declared for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The whole history.
    #[default]
    Whole,
    /// Each key for itself.
    PerKey,
}

/// The fault a scenario plans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredFault {
    /// Nemeses that must act, and signals that must move on each side.
    Planned {
        /// Names of nemeses; each must have a window that landed.
        nemeses: Vec<String>,
        /// Injector-side signals; one must move in each window.
        injector: Vec<String>,
        /// Victim-side signals; one must move in each window.
        victim: Vec<String>,
    },
    /// No fault, for this reason.
    None {
        /// Why.
        reason: String,
    },
}

impl DeclaredFault {
    /// True when a fault is planned.
    pub fn is_planned(&self) -> bool {
        matches!(self, DeclaredFault::Planned { .. })
    }
}

/// Schema of a [`RunRecord`] that this program reads and writes.
pub const RUN_SCHEMA: &str = "disttest.run/1";

/// What the supervisor asks of the process that runs one seed (`disttest.request/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    /// `disttest.request/1`.
    pub schema: String,
    /// Unique id of this execution; the journal, tokens and history of a run carry it.
    pub run_id: String,
    /// Scenario id.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// 0 for the first execution of the seed; 1 to 3 for re-runs after a violation.
    pub rerun: u32,
    /// Tier asked for.
    pub tier: Tier,
    /// What to reach: the tier's budget of the attribute (for `release` without one, that of hardening).
    pub budget: Budget,
    /// Folder of this run: `run.json`, `history.jsonl`, `landing.json`, `journal.jsonl`, `events.jsonl`, `test.log`.
    pub run_dir: String,
    /// Folder for the logs of the system under test.
    pub log_dir: String,
    /// Extra arguments for every node of the system under test.
    pub sut_args: Vec<String>,
}

/// What one execution of one seed measured (`disttest.run/1`), written by the process that ran it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// `disttest.run/1`.
    pub schema: String,
    /// The request it answers.
    pub request: RunRequest,
    /// How the scenario's code ended.
    pub end: End,
    /// Effort measured. `seeds` is 1 when the oracle judged, else 0.
    pub measured: Budget,
    /// Workload length to the nanosecond.
    pub workload: Nanos,
    /// Operations by outcome.
    pub operations: OpCounts,
    /// The four preconditions, in order: cluster up, observability live, baseline captured, fault plane responsive.
    pub preconditions: Vec<Precondition>,
    /// Every fault window, assessed.
    pub windows: Vec<Assessment>,
    /// Reason given to `no_fault`, if the scenario said there is none.
    pub no_fault: Option<String>,
    /// Injections that the journal holds, whether or not they landed.
    pub injections: u64,
    /// SHA-256 of `history.jsonl`, once written.
    pub history_sha256: Option<String>,
    /// What makes the history weak: recorder defects, missing fields, ….
    pub history_weak: Vec<String>,
    /// Fields or operations that declared checkers need and the history lacks.
    pub history_lacks: Vec<String>,
    /// Whether the system was at rest before its final state was read; `None` when the run did not get so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiescence: Option<Quiesced>,
    /// Answers of the checkers that ran.
    pub answers: Vec<Answer>,
    /// How to make the checker of each answer again, in the order of the answers; `None` where it is code of its author.
    /// Empty in a record of before this was written down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recipes: Vec<Option<Recipe>>,
    /// Damaged copies shown to the checkers.
    pub teeth: Vec<Tooth>,
    /// Negative controls that were tried, as often as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<super::Trial>,
    /// Nodes that exited though no nemesis killed them.
    pub deaths: Vec<NodeDeath>,
    /// Which binary each node ran, and when it became another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub binaries: Vec<NodeBinary>,
    /// Lines of nodes' logs that the test's author expects under faults, each with a reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected_log: Vec<ExpectedLog>,
    /// What a scan of every captured log found; `None` when nobody scanned, which is not "nothing found".
    #[serde(default)]
    pub log_scan: Option<LogScan>,
    /// Facts the author or the runtime wants a reader to see.
    pub notes: Vec<String>,
}

impl RunRecord {
    /// The record of an execution that ended by `end` and measured nothing.
    pub fn of_nothing(request: RunRequest, end: End) -> RunRecord {
        RunRecord {
            schema: RUN_SCHEMA.to_owned(),
            request,
            end,
            measured: Budget::default(),
            workload: Nanos::default(),
            operations: OpCounts::default(),
            preconditions: Vec::new(),
            windows: Vec::new(),
            no_fault: None,
            injections: 0,
            history_sha256: None,
            history_weak: Vec::new(),
            history_lacks: Vec::new(),
            quiescence: None,
            answers: Vec::new(),
            recipes: Vec::new(),
            teeth: Vec::new(),
            controls: Vec::new(),
            deaths: Vec::new(),
            binaries: Vec::new(),
            expected_log: Vec::new(),
            log_scan: None,
            notes: Vec::new(),
        }
    }
}

/// A scan of all captured logs of a run for panics and other errors that the test did not see (red flag 7).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogScan {
    /// Files read, each from its first byte to its last.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// `file:line: text` of every line that tells of a panic or a crash and that nobody said to expect.
    pub suspicious: Vec<String>,
    /// What was left out because the author expects it: how many lines, which text, and the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
}

/// A line of a node's log that looks like a crash and is none: an attestation of the test's author, shown as such.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedLog {
    /// The text that such a line contains, to the letter.
    pub contains: String,
    /// Why it is no defect.
    pub reason: String,
}

/// How the code of a scenario ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum End {
    /// It returned a judged oracle.
    Judged,
    /// It returned an error before its oracle judged.
    Error {
        /// The error, with its causes.
        message: String,
    },
    /// It panicked.
    Panicked {
        /// Message and place.
        message: String,
    },
    /// It ran longer than its deadline.
    TimedOut {
        /// The deadline, in seconds.
        seconds: u64,
    },
    /// Its process was killed or exited by itself.
    Died {
        /// Exit status or signal.
        how: String,
    },
    /// A capability of the environment was missing before it started.
    EnvMissing {
        /// What, and how to get it.
        what: String,
    },
}

/// Operations by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpCounts {
    /// All.
    pub recorded: u64,
    /// Completed.
    pub acknowledged: u64,
    /// Known to have failed.
    pub failed: u64,
    /// Outcome unknown.
    pub unknown: u64,
}

/// Evidence of a precondition that the run never came to check. Such a record is as good as none: a test that panicked
/// before its baseline is a fault of the test (D17), not of the environment.
pub const NOT_REACHED: &str = "the run did not get so far";

/// How the wait for quiescence came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quiesced {
    /// All that was asked for held at one time.
    pub reached: bool,
    /// How long it took, or was waited for.
    pub waited: Nanos,
    /// What showed it, or what was lacking last.
    pub evidence: String,
}

/// One of the four preconditions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precondition {
    /// `cluster up`, `observability live`, `baseline captured`, `fault plane responsive`.
    pub name: String,
    /// It held.
    pub ok: bool,
    /// What shows it.
    pub evidence: String,
}

/// One damaged copy of the history, shown to one declared checker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tooth {
    /// The checker.
    pub checker: String,
    /// Kind of damage, such as `dropped-acknowledged-write`.
    pub damage: String,
    /// What was changed: operations and values; or why the history offers nothing to damage in this way.
    pub detail: String,
    /// What the checker said.
    pub bite: Bite,
}

/// [`Tooth::damage`] of a copy of the history in which nothing was ever answered. Such a history is evidence of nothing:
/// a checker may reject it or say that it is unknown, and one that calls it valid would have passed a system that was
/// down.
pub const NO_ANSWERS: &str = "no-answers";

/// What a checker said of a damaged history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bite {
    /// It rejected it, as it must.
    Rejected,
    /// It accepted it: the oracle is too weak.
    Accepted,
    /// It could not decide.
    Undecided,
    /// The history has no place where this damage can be done.
    NotApplicable,
}

/// A node that exited by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeDeath {
    /// The node.
    pub node: String,
    /// When it was seen, on the run's clock.
    pub at: Nanos,
    /// Exit status or signal.
    pub how: String,
    /// The test allowed it.
    pub allowed: bool,
}

/// A line of the timeline (`events.jsonl`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Wall-clock milliseconds since the Unix epoch, for people; never an input to a verdict.
    pub unix_ms: u64,
    /// Scenario id (arms with theirs).
    pub scenario: String,
    /// The seed, if it belongs to one.
    pub seed: Option<u64>,
    /// `start`, `fault injected: <type>`, `fault healed: <type>`, `oracle: <result>`, `progress`, `note`, `end`.
    pub event: String,
    /// What there is to say about it.
    pub notes: String,
}

/// What a node ran, from one start on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeBinary {
    /// The node.
    pub node: String,
    /// When it was started, on the run's clock.
    pub at: Nanos,
    /// The variant of the program; `None`: the program itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The command.
    pub command: String,
    /// SHA-256 of its file; `None` when that cannot be read.
    pub sha256: Option<String>,
    /// What it said when it was asked for its version; `None` when nobody asked, or it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// Whether the plan still says what the test was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "drift", rename_all = "snake_case")]
pub enum Drift {
    /// The scenario's digest is the plan's.
    None,
    /// The plan changed elsewhere; the scenario did not.
    PlanOnly,
    /// The plan cannot be found or read.
    Unknown {
        /// Why.
        why: String,
    },
    /// The scenario changed: a cap at PARTIAL-surface.
    Scenario {
        /// What differs, as far as the attribute tells.
        fields: Vec<String>,
    },
}

/// One scenario of a session (`disttest.scenario/1`), rebuilt after each of its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioRecord {
    /// `disttest.scenario/1`.
    pub schema: String,
    /// What the attribute declared.
    pub declared: Declared,
    /// Unfilled regions, if any: the scenario is NOT-RUN.
    pub unfilled: Vec<String>,
    /// What the plan says that it requires of its environment and what was found missing before it started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<String>,
    /// Tier asked for.
    pub tier: Tier,
    /// Tier met, if any.
    pub tier_met: Option<Tier>,
    /// Executions in order, re-runs included: (folder relative to the session, record).
    pub runs: Vec<(String, RunRecord)>,
    /// Drift.
    pub drift: Drift,
    /// The verdict.
    pub verdict: super::Verdict,
    /// The branch that decided.
    pub why: super::Why,
    /// Where its test stands.
    #[serde(default)]
    pub harness: Harness,
}

/// Where the test of a scenario stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Harness {
    /// In the repository of the system under test.
    #[default]
    Repository,
    /// In an ephemeral package beside it, which the repository does not hold.
    Ephemeral,
}

impl Harness {
    /// What reports say of a scenario whose test the repository does not hold.
    pub const EPHEMERAL: &str = "run from an ephemeral harness";

    /// The note that a report owes its reader, if any.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Harness::Repository => None,
            Harness::Ephemeral => Some(Harness::EPHEMERAL),
        }
    }
}

/// A session (`disttest.session/1`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// `disttest.session/1`.
    pub schema: String,
    /// Plan slug.
    pub slug: String,
    /// Name of the session's folder: UTC, such as `20261130T192154Z`.
    pub started: String,
    /// SUT, as the plan names it.
    pub sut: String,
    /// Plan path.
    pub plan: String,
    /// Commit under test, `unknown` outside a repository; `-dirty` behind it when the tree has changes.
    pub commit: String,
    /// SHA-256 of what the tracked files have beside the commit, when they have something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// Session folder.
    pub dir: String,
    /// Who ran it.
    pub operator: String,
    /// Toolbox discovered: (path, role).
    pub toolbox: Vec<(String, String)>,
    /// Environment capability matrix: (requirement, present?, version, source).
    pub environment: Vec<(String, String, String, String)>,
    /// Budgets were missing and that was allowed.
    pub missing_budgets_allowed: bool,
    /// Tier asked for.
    pub tier: Tier,
    /// Extra arguments that were given to the system under test.
    pub sut_args: Vec<String>,
    /// The ephemeral package, when tests of this session were run from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
}
