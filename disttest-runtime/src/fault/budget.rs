//! A schedule of faults inside a budget: how many windows in how long a time, how many nodes down at once, and whose recovery
//! is owed before the next node is taken.

use super::schedule::{SHORTEST_SHARE, Schedule};
use crate::base::rng::Rng;
use std::collections::BTreeSet;
use std::time::Duration;

/// What the faults of a schedule may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultBudget {
    nodes: Vec<String>,
    windows: u64,
    total: Duration,
    down: usize,
    majority_may_fall: bool,
    mixing: usize,
}

/// A kind of fault that a schedule may use, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind<K> {
    kind: K,
    nodes: usize,
    owes: bool,
}

/// What is injected in one window of a budgeted schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit<K> {
    /// Each kind with the nodes it is for; no node stands in two of them.
    pub parts: Vec<(K, Vec<String>)>,
    /// Recovery from what came before is owed: without it, more nodes would be down than the budget allows, or a second node
    /// would lose what only the first had. Nothing is injected unless the system recovered.
    pub after_recovery: bool,
}

impl FaultBudget {
    /// `windows` faults in `total`, on these nodes. At any time less than half of them may be down.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>, windows: u64, total: Duration) -> FaultBudget {
        let nodes: Vec<String> = nodes.into_iter().map(Into::into).collect();
        let down = nodes.len().saturating_sub(1) / 2;
        FaultBudget { nodes, windows, total, down, majority_may_fall: false, mixing: 1 }
    }

    /// So many nodes may be down at once. Half of them and more needs [`FaultBudget::majority_may_fall`] too.
    #[must_use]
    pub fn down_at_most(mut self, nodes: usize) -> FaultBudget {
        self.down = nodes;
        self
    }

    /// The plan says that a majority may be down: what is claimed must hold then, too.
    #[must_use]
    pub fn majority_may_fall(mut self) -> FaultBudget {
        self.majority_may_fall = true;
        self
    }

    /// Up to `kinds` kinds may act together in one window, each on nodes of its own. Default: one.
    #[must_use]
    pub fn mixing(mut self, kinds: usize) -> FaultBudget {
        self.mixing = kinds.max(1);
        self
    }

    fn refusal<K>(&self, kinds: &[Kind<K>]) -> Option<String> {
        let (all, down) = (self.nodes.len(), self.down);
        let least = SHORTEST_SHARE.saturating_mul(u32::try_from(self.windows).unwrap_or(u32::MAX));
        if kinds.is_empty() {
            return Some("no kind of fault is named".to_owned());
        }
        if 2 * down >= all && !self.majority_may_fall {
            return Some(format!(
                "{down} of {all} nodes down leave no majority: allow fewer, or say that it may fall (`majority_may_fall`)"
            ));
        }
        if let Some(kind) = kinds.iter().find(|kind| kind.nodes > down || kind.nodes == 0) {
            return Some(format!("a kind of fault takes {} nodes, and from 1 to {down} may be down", kind.nodes));
        }
        (least > self.total).then(|| {
            let (windows, total) = (self.windows, self.total.as_secs_f32());
            format!(
                "{windows} windows need {} s with their baselines and heals, the budget has {total:.0} s",
                least.as_secs()
            )
        })
    }
}

impl<K> Kind<K> {
    /// A fault that takes `nodes` nodes out until it is healed, and leaves nothing behind: a cut, a pause, a slow link.
    pub fn passing(kind: K, nodes: usize) -> Kind<K> {
        Kind { kind, nodes, owes: false }
    }

    /// A fault after which `nodes` nodes must first recover what they lost: a kill, a loss of power, a fault of their disks.
    pub fn owing(kind: K, nodes: usize) -> Kind<K> {
        Kind { kind, nodes, owes: true }
    }
}

impl<K: Clone + PartialEq> Schedule<Hit<K>> {
    /// A timeline of `kinds` within `budget`. Pure: equal arguments give equal timelines.
    ///
    /// Windows, order and times are those of [`Schedule::rotation`], and nodes are drawn for each. No two kinds that leave
    /// recovery owed act in one window; where one of them would hit another node than the one before, and where nodes that
    /// are not known to be back would be too many with those that fall, the window waits for the recovery
    /// ([`Hit::after_recovery`]). Errors: the budget cannot hold what it asks for.
    ///
    /// ```
    /// use disttest_runtime::fault::{FaultBudget, Kind, Schedule};
    /// use std::time::Duration;
    ///
    /// let kinds = [Kind::owing("hard-kill", 1), Kind::passing("full-partition", 2), Kind::passing("pause", 1)];
    /// let budget = FaultBudget::new(["n1", "n2", "n3", "n4", "n5"], 6, Duration::from_secs(60)).mixing(2);
    /// let schedule = Schedule::within(7, &kinds, &budget).unwrap();
    /// assert_eq!((schedule.len(), schedule.total()), (6, Duration::from_secs(60)));
    /// assert!(schedule.iter().all(|slot| slot.kind.parts.iter().map(|(_, nodes)| nodes.len()).sum::<usize>() <= 2));
    /// // Two of two nodes would be down:
    /// assert!(Schedule::within(7, &kinds, &FaultBudget::new(["n1", "n2"], 6, Duration::from_secs(60))).is_err());
    /// ```
    pub fn within(seed: u64, kinds: &[Kind<K>], budget: &FaultBudget) -> Result<Schedule<Hit<K>>, String> {
        if let Some(refusal) = budget.refusal(kinds) {
            return Err(refusal);
        }
        let indices: Vec<usize> = (0..kinds.len()).collect();
        let mut rng = Rng::stream(seed, "fault-nodes");
        let mut ledger = Ledger { owed: BTreeSet::new(), down: budget.down };
        let timeline = Schedule::rotation(seed, &indices, budget.windows, budget.total);
        Ok(timeline.map(|kind| ledger.enter(draw(&mut rng, kind, kinds, budget), kinds)))
    }
}

/// The kinds of one window, with the nodes of each.
type Drawn = Vec<(usize, Vec<String>)>;

/// `kind`, and perhaps others beside it, each on nodes of its own.
fn draw<K>(rng: &mut Rng, kind: usize, kinds: &[Kind<K>], budget: &FaultBudget) -> Drawn {
    let mut chosen = vec![kind];
    let mut others: Vec<usize> = (0..kinds.len()).filter(|other| *other != kind).collect();
    rng.shuffle(&mut others);
    for other in others {
        let all = || chosen.iter().chain([&other]).map(|index| &kinds[*index]);
        let fits =
            all().map(|kind| kind.nodes).sum::<usize>() <= budget.down && all().filter(|kind| kind.owes).count() < 2;
        if chosen.len() < budget.mixing && fits && rng.chance(1, 2) {
            chosen.push(other);
        }
    }
    let mut nodes = budget.nodes.clone();
    rng.shuffle(&mut nodes);
    chosen.into_iter().map(|index| (index, nodes.drain(..kinds[index].nodes).collect())).collect()
}

/// Nodes whose recovery is owed.
struct Ledger {
    owed: BTreeSet<String>,
    down: usize,
}

impl Ledger {
    /// Enters a window, which waits for the recovery of what is owed where it must.
    fn enter<K: Clone>(&mut self, drawn: Drawn, kinds: &[Kind<K>]) -> Hit<K> {
        let owing = drawn.iter().filter(|(index, _)| kinds[*index].owes).flat_map(|(_, nodes)| nodes.clone());
        let owing: BTreeSet<String> = owing.collect();
        let falling = drawn.iter().flat_map(|(_, nodes)| nodes.iter().cloned());
        let down: BTreeSet<String> = falling.chain(self.owed.iter().cloned()).collect();
        let another = !owing.is_empty() && !self.owed.is_empty() && !owing.is_subset(&self.owed);
        let after_recovery = another || down.len() > self.down;
        if after_recovery {
            self.owed.clear();
        }
        self.owed.extend(owing);
        let parts = drawn.into_iter().map(|(index, nodes)| (kinds[index].kind.clone(), nodes)).collect();
        Hit { parts, after_recovery }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [(&str, usize, bool); 4] =
        [("cut", 2, false), ("kill", 1, true), ("power-loss", 1, true), ("pause", 1, false)];

    fn kinds() -> Vec<Kind<&'static str>> {
        KINDS.iter().map(|(kind, nodes, owes)| Kind { kind: *kind, nodes: *nodes, owes: *owes }).collect()
    }

    fn budget(nodes: usize, windows: u64, seconds: u64) -> FaultBudget {
        FaultBudget::new((1..=nodes).map(|n| format!("n{n}")), windows, Duration::from_secs(seconds))
    }

    /// Goes through a timeline as a run would, and keeps its own account of who is down and what is owed.
    fn audit(seed: u64, budget: &FaultBudget) {
        let schedule = Schedule::within(seed, &kinds(), budget).expect("it fits");
        assert_eq!(
            schedule,
            Schedule::within(seed, &kinds(), budget).expect("it fits"),
            "equal seeds, equal timelines"
        );
        assert_eq!(schedule.len() as u64, budget.windows);
        assert_eq!(schedule.total(), budget.total);
        let (mut owed, mut free, mut used) = (BTreeSet::new(), Duration::ZERO, BTreeSet::new());
        for slot in schedule.iter() {
            let Hit { parts, after_recovery } = &slot.kind;
            assert!(slot.at >= free, "one after the other");
            free = slot.at + slot.hold;
            if *after_recovery {
                owed.clear();
            }
            let of = |kind: &str| KINDS.iter().find(|(known, ..)| *known == kind).expect("a kind");
            let falling: Vec<&String> = parts.iter().flat_map(|(_, nodes)| nodes).collect();
            let distinct: BTreeSet<&String> = falling.iter().copied().collect();
            assert_eq!(distinct.len(), falling.len(), "each part has nodes of its own: {slot:?}");
            let down: BTreeSet<&String> = distinct.union(&owed).copied().collect();
            assert!(down.len() <= budget.down, "{} down: {slot:?}", down.len());
            assert!(budget.majority_may_fall || 2 * down.len() < budget.nodes.len(), "a majority stays");
            assert!(parts.len() <= budget.mixing && parts.iter().filter(|(kind, _)| of(kind).2).count() < 2);
            for (kind, nodes) in parts {
                let (_, count, owes) = of(kind);
                used.insert(*kind);
                assert_eq!(nodes.len(), *count);
                if *owes {
                    let other = nodes.iter().any(|node| !owed.contains(node));
                    assert!(owed.is_empty() || !other, "another node while recovery is owed: {slot:?}");
                    owed.extend(nodes);
                }
            }
        }
        assert!(free <= budget.total, "inside its time");
        assert!(budget.windows < KINDS.len() as u64 || used.len() == KINDS.len(), "every kind is used: {used:?}");
    }

    #[test]
    fn no_timeline_of_any_seed_exceeds_its_budget() {
        let budgets = [
            budget(5, 4, 30),
            budget(5, 12, 60).mixing(2),
            budget(7, 9, 45).mixing(3),
            budget(5, 1, 6),
            budget(3, 8, 40).down_at_most(2).majority_may_fall(),
            budget(9, 40, 200).down_at_most(3).mixing(4),
        ];
        for budget in &budgets {
            (0..2_000).for_each(|seed| audit(seed, budget));
        }
    }

    #[test]
    fn mixes_and_waits_for_recovery_both_come_up_and_seeds_differ() {
        let budget = budget(5, 12, 60).mixing(2);
        let of = |seed| Schedule::within(seed, &kinds(), &budget).expect("it fits");
        let mixes = of(1).iter().filter(|slot| slot.kind.parts.len() > 1).count();
        let waits = of(1).iter().filter(|slot| slot.kind.after_recovery).count();
        assert!(mixes > 0 && waits > 0 && waits < 12, "{mixes} mixes, {waits} waits");
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn what_a_budget_cannot_hold_is_refused() {
        let check = |kinds: &[Kind<&'static str>], budget: &FaultBudget, why: &str| {
            let refused = Schedule::within(1, kinds, budget).expect_err("refused");
            assert!(refused.contains(why), "{refused}");
        };
        check(&[], &budget(5, 1, 9), "no kind");
        check(&kinds(), &budget(3, 4, 30), "takes 2 nodes, and from 1 to 1 may be down");
        check(&[Kind::passing("none", 0)], &budget(3, 4, 30), "takes 0 nodes");
        check(&kinds(), &budget(5, 4, 30).down_at_most(3), "3 of 5 nodes down leave no majority");
        check(&kinds(), &budget(4, 4, 30).down_at_most(2), "2 of 4 nodes down leave no majority");
        check(&kinds(), &budget(5, 10, 30), "10 windows need 40 s");
        check(&[Kind::passing("pause", 1)], &budget(1, 1, 9), "from 1 to 0 may be down");
    }
}
