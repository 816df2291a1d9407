//! Levels below snapshot isolation, decided by commit orders.
//!
//! A history has such a level when all transactions can be put in one order that keeps who read from whom (of sessions:
//! what each ran first) and in which every read sees the last write of its key among the transactions *visible* to it:
//! those it had read from before (monotonic atomic view), those it reads from at all (read atomic), those that happened
//! before it (causal). That is the axioms of Biswas and Enea ("On the Complexity of Checking Transactional Consistency",
//! OOPSLA 2019). They need no order of versions: with values that are written once they decide registers of which nothing
//! is assumed, soundly and completely. Orders that are known (lists, assumptions) are kept as well.
//!
//! What Biswas and Enea, Plume (OOPSLA 2024) and AWDIT (PLDI 2025) call read committed is `monotonic-atomic-view` here, as
//! Bailis names it; `read-committed` is Adya's PL-2, where no cycle of reads and no read of what was not committed suffices.
//! Of all levels only `causal` has sessions: as Elle has them, the others follow from serializability, which has none.

mod argue;
mod causal;
mod clocks;
mod line;
mod observed;
mod parts;
#[cfg(test)]
mod tests;

use super::anomalies::Anomaly;
use super::cycles;
use super::effort::{Effort, Stopped};
use super::findings::Findings;
use super::models::Level;
use super::order::Order;
use super::{Model, Options};
use crate::txn::{NONE, Txns};
use line::{Line, Must, Musts};
use observed::Seen;
use parts::Parts;

/// What must be visible, weaker axioms first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Axiom {
    /// Nothing; reads have an order all the same.
    Committed,
    /// What was read from before.
    MonotonicAtomicView,
    /// What is read from.
    ReadAtomic,
    /// What happened before by reads.
    Causal,
    /// What happened before by reads and in sessions.
    SessionCausal,
}

/// All axioms that rest on visibility, with the anomaly that a history has which none of their orders explains.
const VISIBLE: [(Axiom, &str); 4] = [
    (Axiom::MonotonicAtomicView, "OTV"),
    (Axiom::ReadAtomic, "fractured-read"),
    (Axiom::Causal, "causality-violation"),
    (Axiom::SessionCausal, "session-causality-violation"),
];

/// The levels that are what an axiom says; others prohibit more than it.
const EXACT: [&str; 6] =
    ["read-uncommitted", "read-committed", "monotonic-atomic-view", "read-atomic", "causal-cerone", "causal"];

/// What is asked of the weak levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// The strongest axiom that must hold.
    axiom: Axiom,
    /// Nothing is asked that needs another search for cycles.
    pub(super) is_all: bool,
}

impl Asked {
    /// Of `options`, if they ask for such a level.
    pub(super) fn of(options: &Options) -> Option<Asked> {
        let levels = || options.levels.iter().flat_map(|level| level.of_transactions());
        let of_levels = levels().filter_map(axiom);
        let named = |anomaly: &Anomaly| VISIBLE.iter().find(|(_, name)| *name == anomaly.name());
        let of_anomalies = options.anomalies.iter().filter_map(named).map(|(axiom, _)| *axiom);
        let is_all =
            levels().all(|level| axiom(level).is_some()) && options.anomalies.iter().all(|a| named(a).is_some());
        Some(Asked { axiom: of_levels.chain(of_anomalies).max()?, is_all })
    }

    /// True when what is asked is decided exactly, whatever is known of the order of versions.
    pub(super) fn is_exact(self, options: &Options) -> bool {
        self.is_all && options.levels.iter().all(|level| EXACT.contains(&level.name()))
    }
}

/// The axiom of a level; `None` for those that prohibit cycles with anti-dependencies or real time, which decide them.
fn axiom(level: Level) -> Option<Axiom> {
    if cycles::classes_beyond_reads().any(|anomaly| anomaly.is_prohibited_by(level)) {
        return None;
    }
    let prohibits = |name: &str| Anomaly::named(name).is_some_and(|anomaly| anomaly.is_prohibited_by(level));
    let strongest = VISIBLE.iter().rev().find(|(_, name)| prohibits(name));
    Some(strongest.map_or(Axiom::Committed, |(axiom, _)| *axiom))
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// An order of all transactions keeps the axiom, and some depended on others: there is nothing that the level prohibits
    /// among dependencies.
    Holds,
    /// Nobody read from anybody, or what contradicts the axiom is told.
    Otherwise,
    /// Transactions read from each other in a circle. The search for cycles tells those of first reads.
    Circle,
}

/// Finds what contradicts the axiom that is asked for.
///
/// Near-linear where reads are fresh or few reads contradict the order in which transactions completed; O(n·√n) at most,
/// for `causal` O(n·k) with k chains of causes (AWDIT).
pub(super) fn find(
    txns: &Txns,
    model: &Model,
    asked: Asked,
    order: Option<&Order>,
    findings: &mut Findings,
    effort: &mut Effort<'_>,
) -> Result<Found, Stopped> {
    let parts = Parts::of(txns, model, asked.axiom == Axiom::SessionCausal);
    let known = Musts::of(order.map_or(Vec::new(), |order| known(txns, order)), parts.len());
    effort.holds(txns.bytes() + parts.bytes() + known.bytes() + parts.len() as u64 * 12)?;
    effort.spend(txns.mop_count() as u64)?;
    let wish = line::by_completion(txns);
    if let Some(line) = Line::of(&parts, &known, &wish)
        && broken(&parts, &known, line, asked.axiom, effort)?.is_none()
    {
        let has_any = parts.has_dependency() || !known.all().is_empty();
        return Ok(if has_any { Found::Holds } else { Found::Otherwise });
    }
    tell(txns, model, asked, (parts, known, wish), order, findings, effort)
}

/// Tells circles of reads and of known orders of versions as G1c.
pub(super) fn tell_circles(
    txns: &Txns,
    model: &Model,
    order: &Order,
    findings: &mut Findings,
    effort: &mut Effort<'_>,
) -> Result<(), Stopped> {
    let parts = Parts::of(txns, model, false);
    let known = Musts::of(known(txns, order), parts.len());
    argue::Argument::new(txns, model, Some(order)).tell(&parts, &known, Some("G1c"), findings, effort)
}

/// Which versions are known to come after which, as pairs of transactions.
fn known(txns: &Txns, order: &Order) -> Vec<Must> {
    let mut list = Vec::new();
    order.successions(txns, |before, after| {
        if before != after {
            list.push(Must { after, before, reader: NONE, key: NONE });
        }
    });
    list
}

/// Pairs that follow of which no order keeps all, if `axiom` does not hold.
fn broken(
    parts: &Parts,
    known: &Musts,
    line: Line,
    axiom: Axiom,
    effort: &mut Effort<'_>,
) -> Result<Option<Musts>, Stopped> {
    let seen = match axiom {
        Axiom::Committed => return Ok(None),
        Axiom::MonotonicAtomicView => Seen::Afterwards,
        Axiom::ReadAtomic => Seen::Always,
        Axiom::Causal | Axiom::SessionCausal => return Ok(causal::decide(parts, known, line, effort)?.err()),
    };
    let (mut count, mut keeps) = (0, true);
    observed::pairs(parts, seen, |must| {
        count += 1;
        keeps &= line.place[must.before as usize] < line.place[must.after as usize];
    });
    effort.spend(count)?;
    if keeps {
        return Ok(None);
    }
    let musts = observed_pairs(parts, known, seen);
    effort.spend(musts.all().len() as u64)?;
    Ok(Line::of(parts, &musts, &line.txns).is_none().then_some(musts))
}

fn observed_pairs(parts: &Parts, known: &Musts, seen: Seen) -> Musts {
    let mut list = Vec::new();
    observed::pairs(parts, seen, |must| list.push(must));
    known.clone().with(list, parts.len())
}

/// Tells what is broken, the weakest axioms first; what stronger ones say of the same transactions is no news. Cycles of
/// reads and of known orders are told as G0 and G1c by the search for those.
fn tell(
    txns: &Txns,
    model: &Model,
    asked: Asked,
    (with_sessions, known, wish): (Parts, Musts, Vec<u32>),
    order: Option<&Order>,
    findings: &mut Findings,
    effort: &mut Effort<'_>,
) -> Result<Found, Stopped> {
    let plain = with_sessions.clone().without_sessions();
    let mut argument = argue::Argument::new(txns, model, order);
    argument.tell(&plain, &known, None, findings, effort)?;
    for (axiom, name) in VISIBLE.into_iter().filter(|(axiom, _)| *axiom <= asked.axiom) {
        let parts = if axiom == Axiom::SessionCausal { &with_sessions } else { &plain };
        let musts = match (axiom, Line::of(parts, &known, &wish)) {
            (_, Some(line)) => broken(parts, &known, line, axiom, effort)?,
            (Axiom::MonotonicAtomicView, None) => Some(observed_pairs(parts, &known, Seen::Afterwards)),
            (Axiom::ReadAtomic, None) => Some(observed_pairs(parts, &known, Seen::Always)),
            // What happened before itself has no past to speak of.
            (_, None) => Some(known.clone()),
        };
        if let Some(musts) = musts {
            argument.tell(parts, &musts, Some(name), findings, effort)?;
        }
    }
    Ok(if Line::of(&plain, &known, &wish).is_some() { Found::Otherwise } else { Found::Circle })
}
