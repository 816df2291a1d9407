//! Reads and updates of what was never committed: G1a, G1b, dirty-update, what nobody wrote.

use super::findings::{Finding, Findings, list_text, mop_text, show};
use super::list_order::ListOrder;
use crate::txn::{Mop, MopKind, NONE, Status, Txns};
use rustc_hash::{FxHashMap, FxHashSet};

/// Finds G1a, G1b and `unwritten-element` in what committed transactions read. Linear.
pub(super) fn find_reads(txns: &Txns, findings: &mut Findings) {
    let intermediate = intermediate_writes(txns);
    let chains: Vec<Suspects> = (0..txns.chain_count() as u32).map(|chain| Suspects::of(txns, chain)).collect();
    for txn in txns.all().filter(|txn| txns.is_ok(*txn)) {
        for mop in txns.mops(txn) {
            let last = match mop.kind() {
                MopKind::List { chain, len } => {
                    let suspects = &chains[chain as usize];
                    if let Some(at) = suspects.failed.filter(|at| *at < len) {
                        aborted_read(txns, txn, *mop, txns.chain(chain)[at as usize], findings);
                    }
                    if let Some(at) = suspects.unwritten.filter(|at| *at < len) {
                        unwritten(txns, txn, *mop, txns.chain(chain)[at as usize], findings);
                    }
                    txns.chain(chain)[len as usize - 1]
                }
                MopKind::Value(element) => {
                    if txns.writer(element).is_some_and(|writer| txns.status(writer) == Status::Fail) {
                        aborted_read(txns, txn, *mop, element, findings);
                    }
                    element
                }
                _ => continue,
            };
            if let Some(writer) = txns.writer(last).filter(|writer| *writer != txn && intermediate[last as usize]) {
                findings.add("G1b", || Finding {
                    key: Some(txns.key_name(mop.key()).into_owned()),
                    ops: vec![txns.index(txn), txns.index(writer)],
                    explanation: format!(
                        "{} read an intermediate state: `{}` shows {} as the newest, which {} wrote and then followed \
                         with another write of the same key.",
                        show(txns, txn),
                        mop_text(txns, mop.key(), mop.kind()),
                        txns.value_name(last),
                        show(txns, writer)
                    ),
                });
            }
        }
    }
}

/// Finds `unwritten-value`: a register that committed transactions read as two things that nobody wrote. One may have been
/// there before the history began, nil or a value, but not both. Linear.
pub(super) fn find_beginnings(txns: &Txns, findings: &mut Findings) {
    let mut beginnings = Beginnings::default();
    for txn in txns.all().filter(|txn| txns.is_ok(*txn)) {
        txns.mops(txn).iter().for_each(|mop| beginnings.look(txns, txn, *mop, findings));
    }
}

/// What each register was read as when nobody had written it.
#[derive(Default)]
struct Beginnings {
    /// By key: the transaction that read it first, and what it read.
    seen: FxHashMap<u32, (u32, Mop)>,
}

impl Beginnings {
    fn look(&mut self, txns: &Txns, txn: u32, mop: Mop, findings: &mut Findings) {
        let is_unwritten = match mop.kind() {
            MopKind::Nil => true,
            MopKind::Value(element) => txns.writer(element).is_none(),
            _ => false,
        };
        if !is_unwritten {
            return;
        }
        let (other, before) = *self.seen.entry(mop.key()).or_insert((txn, mop));
        if before.kind() == mop.kind() {
            return;
        }
        findings.add("unwritten-value", || Finding {
            key: Some(txns.key_name(mop.key()).into_owned()),
            ops: vec![txns.index(other), txns.index(txn)],
            explanation: format!(
                "{} and {} read `{}` and `{}`: no transaction of the history, of whatever outcome, writes either, and the key \
                 began as one of them at most.",
                show(txns, other),
                show(txns, txn),
                mop_text(txns, before.key(), before.kind()),
                mop_text(txns, mop.key(), mop.kind())
            ),
        });
    }
}

/// Where in a list the first element stands that should not be there.
struct Suspects {
    /// Appended by a transaction that failed.
    failed: Option<u32>,
    /// Appended by nobody.
    unwritten: Option<u32>,
}

impl Suspects {
    fn of(txns: &Txns, chain: u32) -> Suspects {
        let first =
            |is: &dyn Fn(u32) -> bool| txns.chain(chain).iter().position(|element| is(*element)).map(|at| at as u32);
        Suspects {
            failed: first(&|element| txns.writer(element).is_some_and(|writer| txns.status(writer) == Status::Fail)),
            unwritten: first(&|element| txns.writer(element).is_none()),
        }
    }
}

fn aborted_read(txns: &Txns, txn: u32, mop: Mop, element: u32, findings: &mut Findings) {
    let writer = txns.writer(element).unwrap_or(txn);
    findings.add("G1a", || Finding {
        key: Some(txns.key_name(mop.key()).into_owned()),
        ops: vec![txns.index(txn), txns.index(writer)],
        explanation: format!(
            "{} read what was never committed: `{}` shows {}, which {} wrote, and that transaction failed.",
            show(txns, txn),
            mop_text(txns, mop.key(), mop.kind()),
            txns.value_name(element),
            show(txns, writer)
        ),
    });
}

fn unwritten(txns: &Txns, txn: u32, mop: Mop, element: u32, findings: &mut Findings) {
    findings.add("unwritten-element", || Finding {
        key: Some(txns.key_name(mop.key()).into_owned()),
        ops: vec![txns.index(txn)],
        explanation: format!(
            "{} read what nobody appended: `{}` shows {}, and no transaction of the history, of whatever outcome, appends \
             it to that key.",
            show(txns, txn),
            mop_text(txns, mop.key(), mop.kind()),
            txns.value_name(element)
        ),
    });
}

/// Elements that their transaction followed with another write of the same key.
fn intermediate_writes(txns: &Txns) -> Vec<bool> {
    let mut intermediate = vec![false; txns.element_count()];
    let mut later: FxHashSet<u32> = FxHashSet::default();
    for txn in txns.all() {
        let mops = txns.mops(txn);
        let is_long = mops.len() > 16;
        later.clear();
        for (at, mop) in mops.iter().enumerate().rev() {
            let Some(element) = mop.written() else { continue };
            let again = if is_long {
                !later.insert(mop.key())
            } else {
                mops[at + 1..].iter().any(|next| next.key() == mop.key() && next.written().is_some())
            };
            // Of a value written twice, the history is refused where that matters.
            intermediate[element as usize] |= again;
        }
    }
    intermediate
}

/// Finds `dirty-update`: a committed append on top of one that failed. Linear in the versions.
pub(super) fn find_dirty_updates(txns: &Txns, order: &ListOrder, findings: &mut Findings) {
    for key in 0..txns.key_count() as u32 {
        // The failed append that the state rests on, with what came since; appends of unknown outcome change nothing.
        let (mut failed, mut from) = (NONE, 0);
        let versions = order.versions(key);
        for (at, element) in versions.iter().enumerate() {
            let Some(writer) = txns.writer(*element) else { continue };
            match txns.status(writer) {
                Status::Fail if failed == NONE => (failed, from) = (writer, at),
                Status::Ok if failed != NONE => {
                    findings.add("dirty-update", || Finding {
                        key: Some(txns.key_name(key).into_owned()),
                        ops: vec![txns.index(failed), txns.index(writer)],
                        explanation: format!(
                            "{} updated what was never committed: the versions of key {} run {}, the first of them appended by \
                             {}, which failed.",
                            show(txns, writer),
                            txns.key_name(key),
                            list_text(txns, &versions[from..=at]),
                            show(txns, failed)
                        ),
                    });
                    failed = NONE;
                }
                _ => {}
            }
        }
    }
}
