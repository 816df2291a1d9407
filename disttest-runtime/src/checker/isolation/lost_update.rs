//! Lost updates: committed transactions that read the same version of a key and then both wrote it.
//!
//! P4 of Berenson et al. (SIGMOD 1995); found without an order of versions, as Elle does.

use super::findings::{Finding, Findings, show};
use super::list_order::{Before, seen};
use crate::txn::{Mop, MopKind, NONE, Txns};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A state of a key that a transaction may have updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum State {
    /// Version number: elements first, then the initial state of each key.
    Version(u32),
    /// A list that is no prefix of the longest of its key.
    Odd(u32, u32),
}

/// Finds `lost-update`. Linear.
pub(super) fn find(txns: &Txns, findings: &mut Findings) {
    let elements = txns.element_count() as u32;
    let mut first = vec![NONE; txns.element_count() + txns.key_count()];
    let mut first_odd: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut collisions: BTreeMap<(u32, State), Vec<u32>> = BTreeMap::new();
    for txn in txns.all().filter(|txn| txns.is_ok(*txn)) {
        let mops = txns.mops(txn);
        for (at, write) in mops.iter().enumerate().filter(|(_, mop)| mop.written().is_some()) {
            let key = write.key();
            let mut before = mops[..at].iter().filter(|mop| mop.key() == key);
            let Some(read) = before.next().filter(|_| before.all(|mop| mop.written().is_none())) else { continue };
            let Some(state) = state(txns, *read, elements) else { continue };
            let earlier = match state {
                State::Version(version) => std::mem::replace(&mut first[version as usize], txn),
                State::Odd(chain, len) => first_odd.insert((chain, len), txn).unwrap_or(NONE),
            };
            if earlier != NONE {
                let txns = collisions.entry((key, state)).or_insert_with(|| vec![earlier]);
                txns.push(txn);
            }
        }
    }
    for ((key, _), colliding) in collisions {
        findings.add("lost-update", || Finding {
            key: Some(txns.key_name(key).into_owned()),
            ops: colliding.iter().map(|txn| txns.index(*txn)).collect(),
            explanation: format!(
                "{} transactions read the same version of key {} and then wrote it, so that one of the updates is lost: {}{}.",
                colliding.len(),
                txns.key_name(key),
                colliding.iter().take(4).map(|txn| show(txns, *txn)).collect::<Vec<_>>().join(" and "),
                if colliding.len() > 4 { ", …" } else { "" }
            ),
        });
    }
}

fn state(txns: &Txns, read: Mop, elements: u32) -> Option<State> {
    match read.kind() {
        MopKind::Value(element) => Some(State::Version(element)),
        MopKind::List { chain, len } if txns.longest(read.key()) != Some(chain) => Some(State::Odd(chain, len)),
        _ => seen(txns, read).map(|state| match state {
            Before::Empty => State::Version(elements + read.key()),
            Before::Element(element) => State::Version(element),
        }),
    }
}
