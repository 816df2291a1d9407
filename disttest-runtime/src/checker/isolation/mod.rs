//! Isolation: what a transactional history shows of the isolation that its transactions had.
//!
//! Dependencies between transactions are inferred from what they read and wrote, and cycles of dependencies and other
//! anomalies are searched for, after Adya ("Weak Consistency", 1999) and Elle (Kingsbury and Alvaro, VLDB 2020), whose names
//! they have. Each anomaly rules out consistency models; a history is invalid when it shows what a model asked for
//! prohibits.
//!
//! - **Required**: invocations and completions in order, unique values per key, reads of committed transactions with
//!   their answers. Where a value was appended twice the answer is unknown.
//! - **Transactions of unknown outcome** may have taken effect: what they wrote counts, what they read does not. Failed
//!   ones did not: whoever saw their writes is wrong.
//! - **Unknown**, never valid: an empty history, one without reads, one in which no transaction depends on another, a
//!   search that was stopped.
//! - **Weak levels** (monotonic atomic view, read atomic, causal) are decided by commit orders in place of cycles, after
//!   Biswas and Enea (OOPSLA 2019): exactly, for registers of whose versions no order is known too. Of all levels that are
//!   not `strong-…` only `causal`, `sequential` and `linearizable` have sessions or real time.
//! - **Complexity**: O(n log n) for n micro-operations where there are no cycles; in each strongly connected component
//!   the classes of cycles are decided in linear time, those with exactly one anti-dependency by a search for each.

mod aborted;
mod anomalies;
mod cycles;
mod effort;
mod findings;
mod graph;
mod inside;
mod knot;
mod list_order;
mod list_shape;
mod lost_update;
mod misfit;
mod models;
mod order;
mod register_order;
mod scc;
mod serializability;
mod session_order;
#[cfg(test)]
mod tests;
mod walk;
mod weak;

pub use anomalies::Anomaly;
pub use models::Level;
pub use serializability::{Serializability, transactions};

use super::{Evidence, Limits, Outcome, Violation};
use crate::txn::{MopKind, NONE, Txns};
use anomalies::{EMPTY_GRAPH, SEARCH_TIMEOUT};
use effort::{Effort, Stopped};
use findings::{Finding, Findings};
use graph::Edges;
use knot::Knot;
use list_order::ListOrder;
use order::Order;
use register_order::RegisterOrder;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// What the keys hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Model {
    /// Lists: transactions append elements and read whole lists.
    ListAppend,
    /// Registers: transactions write and read values.
    Register(VersionOrder),
}

impl Model {
    /// True when something is known of the order of versions besides their initial state.
    fn orders_versions(&self) -> bool {
        *self != Model::Register(VersionOrder::Inferred(KeyOrder::default()))
    }
}

/// How the versions of a register are ordered. The initial state always comes first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VersionOrder {
    /// By what may be assumed of the system.
    Inferred(KeyOrder),
    /// Values are versions: integers that rise, such as revisions that the system gives.
    Values,
    /// By a known order of the transactions that wrote them: a rank for the index of each.
    Transactions(FxHashMap<u64, i64>),
}

/// What may be assumed of the versions of each key. Where an assumption gives versions that come before each other the
/// history has `cyclic-versions`, and the assumption is not used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyOrder {
    /// Within a transaction, what it wrote comes after what it had read.
    pub writes_follow_reads: bool,
    /// Each process sees the versions of a key in their order.
    pub sequential: bool,
    /// Keys are linearizable: real time orders their versions.
    pub linearizable: bool,
}

/// What is asked of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// What the keys hold.
    pub model: Model,
    /// Consistency models that must hold.
    pub levels: Vec<Level>,
    /// Further anomalies that must not occur, with all that imply them.
    pub anomalies: Vec<Anomaly>,
}

impl Options {
    /// Lists, strictly serializable.
    pub fn list_append() -> Options {
        Options { model: Model::ListAppend, levels: vec![Level::STRICT_SERIALIZABLE], anomalies: Vec::new() }
    }

    /// Registers, strictly serializable, with versions ordered as far as `assumed` allows.
    pub fn register(assumed: KeyOrder) -> Options {
        Options { model: Model::Register(VersionOrder::Inferred(assumed)), ..Options::list_append() }
    }

    /// The same with this one model to hold.
    #[must_use]
    pub fn at(mut self, level: Level) -> Options {
        self.levels = vec![level];
        self
    }

    /// True when `anomaly` must not occur.
    pub fn prohibits(&self, anomaly: Anomaly) -> bool {
        self.levels.iter().flat_map(|level| level.of_transactions()).any(|level| anomaly.is_prohibited_by(level))
            || self.anomalies.iter().any(|other| anomaly.implies(*other))
    }

    /// A model asked for that no anomaly rules out: nothing found says nothing of it.
    fn undecided(&self) -> Option<Level> {
        let is_decided = |level: Level| {
            level.of_transactions().any(|level| Anomaly::all().any(|anomaly| anomaly.is_prohibited_by(level)))
        };
        self.levels.iter().copied().find(|level| !is_decided(*level))
    }

    /// True when some anomaly whose name ends with `suffix` must not occur.
    fn prohibits_some(&self, suffix: &str) -> bool {
        Anomaly::all().any(|anomaly| anomaly.name().ends_with(suffix) && self.prohibits(anomaly))
    }
}

/// What a check of isolation says.
#[derive(Clone, Debug, PartialEq)]
pub struct IsolationAnswer {
    /// Valid, invalid with what the models asked for prohibit, or unknown.
    pub outcome: Outcome,
    /// The anomalies that the models asked for prohibit, and what makes an answer unknown.
    pub anomalies: Vec<Violation>,
    /// The weakest consistency models that the history cannot have had.
    pub not: Vec<&'static str>,
    /// Stronger ones that follow from those.
    pub also_not: Vec<&'static str>,
    /// What the check did.
    pub evidence: Evidence,
    /// What a valid answer does not exclude.
    pub cannot_detect: Vec<String>,
}

impl IsolationAnswer {
    /// The kinds of [`IsolationAnswer::anomalies`], sorted.
    pub fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = self.anomalies.iter().map(|anomaly| anomaly.anomaly.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}

/// Checks a transactional history.
pub fn check(txns: &Txns, options: &Options, limits: &dyn Limits) -> IsolationAnswer {
    let mut effort = Effort::new(limits);
    let mut findings = Findings::default();
    let mut unknown: Vec<String> = Vec::new();
    match misfit::reason_not_to_judge(txns, &options.model) {
        Some(why) => unknown.push(why),
        None => match find(txns, options, &mut findings, &mut effort) {
            Ok(reason) => {
                unknown.extend(reason);
                // Elle has no name for this, so it is told where Elle would have found nothing.
                if !findings.kinds().any(|kind| kind.name() != EMPTY_GRAPH && options.prohibits(kind)) {
                    aborted::find_beginnings(txns, &mut findings);
                }
            }
            Err(Stopped(why)) => {
                let explanation = format!("The check was stopped by {why}; there may be more than was found.");
                findings.add(SEARCH_TIMEOUT, || Finding { key: None, ops: Vec::new(), explanation });
                unknown.push(format!("stopped by {why}; it would take more time or memory"));
            }
        },
    }
    conclude(txns, options, findings, unknown, &effort)
}

/// Fills `findings`; the reason why their absence says nothing, if there is one.
fn find(
    txns: &Txns,
    options: &Options,
    findings: &mut Findings,
    effort: &mut Effort<'_>,
) -> Result<Option<String>, Stopped> {
    effort.holds(txns.bytes())?;
    inside::find(txns, findings);
    effort.spend(txns.mop_count() as u64)?;
    aborted::find_reads(txns, findings);
    effort.spend(txns.mop_count() as u64)?;
    lost_update::find(txns, findings);
    effort.spend(txns.mop_count() as u64)?;
    let Some(asked) = weak::Asked::of(options) else {
        let order = order(txns, &options.model, findings);
        return find_cycles(txns, options, &order, findings, effort);
    };
    // Where nothing is known of the order of versions, none is made unless it is needed for telling.
    let known = options.model.orders_versions().then(|| order(txns, &options.model, findings));
    let found = weak::find(txns, &options.model, asked, known.as_ref(), findings, effort)?;
    if found == weak::Found::Holds && asked.is_all && !findings.kinds().any(|anomaly| options.prohibits(anomaly)) {
        return Ok(None);
    }
    let order = known.unwrap_or_else(|| order(txns, &options.model, findings));
    let reason = find_cycles(txns, options, &order, findings, effort)?;
    if found == weak::Found::Circle && !findings.kinds().any(|anomaly| matches!(anomaly.name(), "G0" | "G1c")) {
        weak::tell_circles(txns, &options.model, &order, findings, effort)?;
    }
    Ok(reason)
}

/// The order of versions; what is wrong with it is added to `findings`.
fn order(txns: &Txns, model: &Model, findings: &mut Findings) -> Order {
    match model {
        Model::ListAppend => {
            list_shape::find(txns, findings);
            let order = ListOrder::of(txns);
            list_shape::find_reversed(txns, &order, findings);
            aborted::find_dirty_updates(txns, &order, findings);
            Order::List(order)
        }
        Model::Register(assumed) => {
            let order = RegisterOrder::of(txns, assumed);
            misfit::cyclic_versions(txns, &order, findings);
            Order::Register(order)
        }
    }
}

/// Finds cycles of dependencies.
fn find_cycles(
    txns: &Txns,
    options: &Options,
    order: &Order,
    findings: &mut Findings,
    effort: &mut Effort<'_>,
) -> Result<Option<String>, Stopped> {
    let held = txns.bytes() + order.bytes(txns);
    effort.holds(held)?;
    let mut edges = Edges::new(txns.len() as u32);
    order.edges(txns, &mut edges);
    effort.spend(edges.len() as u64)?;
    let mut clock = NONE;
    if options.prohibits_some("-realtime") {
        clock = session_order::realtime_edges(txns, &mut edges);
    } else if options.prohibits_some("-process") {
        session_order::process_edges(txns, &mut edges);
    }
    if edges.is_empty() {
        let why = "no transaction depends on another, so that nothing could have gone wrong";
        findings.add(EMPTY_GRAPH, || Finding {
            key: None,
            ops: Vec::new(),
            explanation: format!("Of all transactions {why}."),
        });
        return Ok(Some(why.to_owned()));
    }
    effort.holds(held + edges.bytes())?;
    effort.spend(edges.len() as u64)?;
    let graph = edges.graph();
    let mut found = Vec::new();
    let mut stopped = Ok(());
    for members in scc::components(&graph, |_, _, _| true).members() {
        let knot = Knot::of(txns, &graph, &members, clock, order.first_reason());
        stopped = cycles::cycles(&knot, effort, &mut found);
        if stopped.is_err() {
            break;
        }
    }
    for cycle in &found {
        findings.add(cycle.anomaly.name(), || findings::cycle(txns, order, cycle));
    }
    stopped.map(|()| None)
}

fn conclude(
    txns: &Txns,
    options: &Options,
    mut findings: Findings,
    mut unknown: Vec<String>,
    effort: &Effort<'_>,
) -> IsolationAnswer {
    let evidence = evidence(txns, effort);
    if evidence.consumed == 0 && unknown.is_empty() {
        unknown.push("no committed transaction read anything: nothing could contradict any model".to_owned());
    }
    if let Some(level) = options.undecided() {
        let why =
            "no anomaly of transactions that is looked for rules it out; `causal` implies the guarantees of sessions";
        unknown.push(format!("`{level}` is not decided: {why}"));
    }
    let alone_unknown = |anomaly: Anomaly| matches!(anomaly.name(), EMPTY_GRAPH | SEARCH_TIMEOUT);
    let ruled_out: Vec<Level> = findings.kinds().flat_map(Anomaly::rules_out).collect();
    let mut cannot_detect = cannot_detect(options);
    cannot_detect.extend(findings.not_kept());
    findings.list.retain(|(anomaly, _)| options.prohibits(*anomaly) || alone_unknown(*anomaly));
    let violations: Vec<Violation> = findings
        .list
        .iter()
        .filter(|(anomaly, _)| !alone_unknown(*anomaly))
        .map(|(_, violation)| violation.clone())
        .collect();
    // What no model asked for prohibits is no answer to what was asked.
    let (not, also_not) =
        if findings.list.is_empty() { (Vec::new(), Vec::new()) } else { models::boundary(&ruled_out) };
    let outcome = if !violations.is_empty() {
        Outcome::Invalid { violations }
    } else if !unknown.is_empty() {
        Outcome::Unknown { why: unknown.join("; ") }
    } else {
        Outcome::Valid
    };
    let anomalies = findings.list.into_iter().map(|(_, violation)| violation).collect();
    IsolationAnswer { outcome, anomalies, not, also_not, evidence, cannot_detect }
}

fn evidence(txns: &Txns, effort: &Effort<'_>) -> Evidence {
    let reads = |mop: &crate::txn::Mop| matches!(mop.kind(), MopKind::Nil | MopKind::List { .. } | MopKind::Value(_));
    let reading = txns.all().filter(|txn| txns.is_ok(*txn) && txns.mops(*txn).iter().any(reads)).count();
    Evidence {
        recorded: txns.len() as u64,
        consumed: reading as u64,
        fired: effort.steps,
        partitions: txns.key_count() as u64,
        peak_bytes: effort.peak_bytes,
    }
}

fn cannot_detect(options: &Options) -> Vec<String> {
    let mut list = vec![
        "anomalies that did not happen in this history, and those of predicates: only items are read".to_owned(),
        "what transactions of unknown outcome read, and whether unread writes of theirs took effect".to_owned(),
        "the order of writes that nobody read".to_owned(),
    ];
    let is_exact = weak::Asked::of(options).is_some_and(|asked| asked.is_exact(options));
    match &options.model {
        Model::ListAppend => {}
        Model::Register(VersionOrder::Inferred(_)) if is_exact => {
            list.push("who else wrote: values that nobody wrote count as there from the start".to_owned());
        }
        Model::Register(VersionOrder::Inferred(assumed)) if *assumed == KeyOrder::default() => {
            list.push(
                "cycles that need an order of versions: nothing was assumed of registers but their initial state"
                    .to_owned(),
            );
        }
        Model::Register(_) => list.push("cycles that need an order of versions which was not given".to_owned()),
    }
    list
}
