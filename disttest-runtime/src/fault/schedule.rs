//! From a seed to a timeline of fault windows inside a budget.

use crate::base::rng::Rng;
use std::ops::Deref;
use std::time::Duration;

/// One planned fault window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot<K> {
    /// When to inject, from the start of the workload.
    pub at: Duration,
    /// How long to hold.
    pub hold: Duration,
    /// What to inject.
    pub kind: K,
}

/// Slots in time order, with room for a baseline before each and for a heal after each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule<K> {
    slots: Vec<Slot<K>>,
    total: Duration,
}

/// Shortest time before an injection: the baseline of D15 and the sampling around it.
const LEAD: Duration = Duration::from_millis(1_500);
/// Shortest fault.
const SHORTEST_HOLD: Duration = Duration::from_millis(1_000);
/// Longest fault that a rotation holds.
const LONGEST_HOLD: Duration = Duration::from_secs(30);
/// Shortest time after a heal: the quiet stretch that shows it.
const TAIL: Duration = Duration::from_millis(1_500);

/// Shortest share of a window in the time of a schedule.
pub(super) const SHORTEST_SHARE: Duration = Duration::from_millis(4_000);

impl<K: Clone + PartialEq> Schedule<K> {
    /// `windows` faults of the `kinds`, spread over `total`. Pure: equal arguments give equal schedules.
    ///
    /// Each kind is used once before any is used again, in an order drawn anew for each round, and no kind follows
    /// itself when there are others; so with at least as many windows as kinds, every kind is used. Each window has an
    /// equal share of `total`: about 30% lead, 40% fault (from 1 s to 30 s), the rest to heal. Where `total` is too
    /// short for that, no window is dropped: the schedule is longer, see [`Schedule::total`]. No kinds: no windows.
    pub fn rotation(seed: u64, kinds: &[K], windows: u64, total: Duration) -> Schedule<K> {
        if kinds.is_empty() || windows == 0 {
            return Schedule { slots: Vec::new(), total };
        }
        let share = (total / u32::try_from(windows).unwrap_or(u32::MAX)).max(SHORTEST_SHARE);
        let mut rng = Rng::stream(seed, "fault-schedule");
        let kinds = rounds(&mut rng, kinds, windows);
        let slots = kinds.into_iter().zip(0..).map(|(kind, i)| slot(&mut rng, kind, share, i)).collect();
        let total = total.max(share * u32::try_from(windows).unwrap_or(u32::MAX));
        Schedule { slots, total }
    }

    /// Time the whole takes, the last heal included; at least what was asked for.
    pub fn total(&self) -> Duration {
        self.total
    }

    /// The same times, with another thing in each slot.
    pub(super) fn map<L>(self, mut with: impl FnMut(K) -> L) -> Schedule<L> {
        let slots = self.slots.into_iter().map(|Slot { at, hold, kind }| Slot { at, hold, kind: with(kind) });
        Schedule { slots: slots.collect(), total: self.total }
    }
}

impl<K> Deref for Schedule<K> {
    type Target = [Slot<K>];

    fn deref(&self) -> &[Slot<K>] {
        &self.slots
    }
}

impl<K> IntoIterator for Schedule<K> {
    type Item = Slot<K>;
    type IntoIter = std::vec::IntoIter<Slot<K>>;

    fn into_iter(self) -> Self::IntoIter {
        self.slots.into_iter()
    }
}

fn rounds<K: Clone + PartialEq>(rng: &mut Rng, kinds: &[K], windows: u64) -> Vec<K> {
    let mut chosen: Vec<K> = Vec::new();
    while (chosen.len() as u64) < windows {
        let mut round = kinds.to_vec();
        rng.shuffle(&mut round);
        if round.len() > 1 && chosen.last() == round.first() {
            round.rotate_left(1);
        }
        round.truncate(usize::try_from(windows - chosen.len() as u64).unwrap_or(usize::MAX));
        chosen.append(&mut round);
    }
    chosen
}

/// The `index`-th slot: its lead is 25% to 35% of `share`, its fault 35% to 45%.
fn slot<K>(rng: &mut Rng, kind: K, share: Duration, index: u32) -> Slot<K> {
    let mut percent = |from: u64| share * u32::try_from(from + rng.below(11)).unwrap_or(u32::MAX) / 100;
    let (lead, hold) = (percent(25), percent(35));
    let hold = hold.clamp(SHORTEST_HOLD, LONGEST_HOLD).min(share - LEAD - TAIL);
    let lead = lead.clamp(LEAD, share - hold - TAIL);
    Slot { at: share * index + lead, hold, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [&str; 3] = ["cut", "kill", "pause"];

    fn check(seed: u64, windows: u64, seconds: u64) {
        let total = Duration::from_secs(seconds);
        let schedule = Schedule::rotation(seed, &KINDS, windows, total);
        assert_eq!(schedule, Schedule::rotation(seed, &KINDS, windows, total), "equal seeds give equal schedules");
        assert_eq!(schedule.len() as u64, windows, "no window is dropped");
        let mut free_from = Duration::ZERO;
        for slot in schedule.iter() {
            assert!(slot.at >= free_from + LEAD, "room for a baseline: {slot:?}");
            assert!((SHORTEST_HOLD..=LONGEST_HOLD).contains(&slot.hold), "{slot:?}");
            free_from = slot.at + slot.hold + TAIL;
        }
        assert!(free_from <= schedule.total(), "room for the last heal");
        assert!(schedule.total() >= total);
        assert!(schedule.windows(2).all(|pair| pair[0].kind != pair[1].kind), "no kind follows itself");
        if windows >= 3 {
            assert!(KINDS.iter().all(|kind| schedule.iter().any(|slot| slot.kind == *kind)), "every kind is used");
        }
    }

    #[test]
    fn every_seed_gives_every_kind_its_window_with_room_before_and_after() {
        for seed in 0..200 {
            for (windows, seconds) in [(1, 6), (2, 6), (3, 30), (5, 30), (5, 1), (7, 300), (40, 60), (1, 0)] {
                check(seed, windows, seconds);
            }
        }
    }

    #[test]
    fn a_schedule_that_fits_stays_inside_its_budget() {
        let schedule = Schedule::rotation(7, &KINDS, 5, Duration::from_secs(30));
        assert_eq!(schedule.total(), Duration::from_secs(30));
    }

    #[test]
    fn seeds_differ_in_order_and_times() {
        let of = |seed| Schedule::rotation(seed, &KINDS, 3, Duration::from_secs(30));
        let orders: std::collections::BTreeSet<Vec<&str>> =
            (0..50).map(|seed| of(seed).iter().map(|slot| slot.kind).collect()).collect();
        assert_eq!(orders.len(), 6, "every order comes up");
        assert!(of(1)[0].at != of(2)[0].at || of(1)[0].hold != of(2)[0].hold);
    }

    #[test]
    fn the_shortest_share_holds_a_lead_a_fault_and_a_tail() {
        assert_eq!(SHORTEST_SHARE, LEAD + SHORTEST_HOLD + TAIL);
    }

    #[test]
    fn nothing_to_inject_is_an_empty_schedule() {
        assert!(Schedule::<&str>::rotation(1, &[], 3, Duration::from_secs(9)).is_empty());
        assert!(Schedule::rotation(1, &KINDS, 0, Duration::from_secs(9)).is_empty());
    }
}
