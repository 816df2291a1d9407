//! Who surely held what, from when to when.

use super::super::Violation;
use super::super::keys::Keys;
use super::super::work::{Work, told};
use super::{Exclusion, Kind};
use crate::base::time::Nanos;
use crate::history::{Effect, Op};
use rustc_hash::FxHashMap;

const NEVER: Nanos = Nanos(u64::MAX);

/// A sure hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hold {
    key: u32,
    from: Nanos,
    to: Nanos,
    holder: u64,
    /// The operation that granted it.
    grant: u32,
}

/// A holder and a key.
#[derive(Default)]
struct Place {
    /// Holds that a release to come may shorten; more than one only while operations of the holder overlap.
    open: Vec<Hold>,
    /// When the last release that may have happened was over.
    released: Option<Nanos>,
}

#[derive(Default)]
pub(super) struct Holds {
    names: FxHashMap<String, u64>,
    places: FxHashMap<(u32, u64), Place>,
    /// Holds that are over, by key.
    over: Vec<Vec<Hold>>,
    /// Holds in all, those that go on too.
    count: usize,
}

impl Holds {
    pub(super) fn bytes(&self) -> usize {
        self.places.len() * 100 + 2 * self.count * size_of::<Hold>()
    }

    /// The number of a holder.
    pub(super) fn named(&mut self, name: String) -> u64 {
        let next = self.names.len() as u64;
        *self.names.entry(name).or_insert(next)
    }

    /// Takes the next operation by invocation.
    pub(super) fn add(&mut self, of: &Exclusion, kind: Kind, (key, holder): (u32, u64), at: u32, op: &Op) {
        let place = self.places.entry((key, holder)).or_default();
        if self.over.len() <= key as usize {
            self.over.resize_with(key as usize + 1, Vec::new);
        }
        let list = &mut self.over[key as usize];
        // No later release can shorten what has run out.
        place.open.retain(|hold| {
            let runs_on = hold.to > op.invoke_ts;
            if !runs_on && hold.to > hold.from {
                list.push(*hold);
            }
            runs_on
        });
        match kind {
            Kind::Release if op.effect() == Effect::Failed => {}
            Kind::Release => {
                for hold in place.open.drain(..) {
                    let to = hold.to.min(op.invoke_ts);
                    if to > hold.from {
                        list.push(Hold { to, ..hold });
                    }
                }
                place.released = place.released.max(Some(op.complete_ts.unwrap_or(NEVER)));
            }
            Kind::Renew if of.lease.is_none() => {}
            Kind::Acquire | Kind::Renew => {
                let (true, Some(from)) = (of.is_granted(op), op.complete_ts) else { return };
                if place.released.is_some_and(|released| released >= op.invoke_ts) {
                    return;
                }
                let to = of.lease.map_or(NEVER, |lease| op.invoke_ts.plus(lease));
                match place.open.iter_mut().find(|hold| hold.from <= from && from <= hold.to) {
                    Some(hold) => hold.to = hold.to.max(to),
                    None => {
                        // Mostly the only one.
                        place.open.reserve_exact(1);
                        place.open.push(Hold { key, from, to, holder, grant: at });
                        self.count += 1;
                    }
                }
            }
        }
    }

    /// Compares the holds of each key.
    pub(super) fn compare(mut self, ops: &[Op], work: &mut Work<'_>, keys: &mut Keys<'_>) {
        let open = std::mem::take(&mut self.places).into_values().flat_map(|place| place.open);
        for hold in open.filter(|hold| hold.to > hold.from) {
            self.over[hold.key as usize].push(hold);
        }
        for mut of_key in std::mem::take(&mut self.over) {
            of_key.sort_unstable();
            // The hold that ends last, and the one of another holder that ends last.
            let (mut last, mut other): (Option<Hold>, Option<Hold>) = (None, None);
            for hold in &of_key {
                if !work.goes_on(|| self.bytes()) {
                    return;
                }
                let rival = if last.is_some_and(|last| last.holder != hold.holder) { last } else { other };
                if let Some(rival) = rival {
                    work.evidence.fired += 1;
                    keys.observe(hold.key);
                    if rival.to > hold.from {
                        work.violates(|| two_holders(&rival, hold, ops, keys.name(hold.key)));
                    }
                }
                if last.is_none_or(|last| hold.to >= last.to) {
                    if last.is_some_and(|last| last.holder != hold.holder) {
                        other = last;
                    }
                    last = Some(*hold);
                } else if last.is_some_and(|last| last.holder != hold.holder)
                    && other.is_none_or(|other| hold.to > other.to)
                {
                    other = Some(*hold);
                }
            }
        }
    }
}

fn two_holders(first: &Hold, second: &Hold, ops: &[Op], key: Option<String>) -> Violation {
    let (a, b) = (&ops[first.grant as usize], &ops[second.grant as usize]);
    let until = |to: Nanos| if to == NEVER { "the end".to_owned() } else { format!("{} ns", to.0) };
    let explanation = format!(
        "{} was granted by {} and surely held it from {} ns to {}; {} was granted it by {} and surely held it from {} ns \
         to {}: both at once from {} ns to {}.",
        holder(a),
        told(a),
        first.from.0,
        until(first.to),
        holder(b),
        told(b),
        second.from.0,
        until(second.to),
        second.from.0,
        until(first.to.min(second.to)),
    );
    Violation { anomaly: "two-holders".to_owned(), key, ops: vec![a.op_id, b.op_id], explanation }
}

fn holder(op: &Op) -> String {
    format!("client {}", op.process_id)
}
