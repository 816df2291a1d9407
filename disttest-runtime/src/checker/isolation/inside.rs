//! What a transaction shows by itself: axiom INT of Cerone, Bernardi and Gotsman (CONCUR 2015), and reads of the future.

use super::findings::{Finding, Findings, list_text, mop_text, show};
use crate::txn::{Mop, MopKind, Txns};

/// Finds `internal` and `future-read` in all committed transactions. Linear in what transactions that touch a key more
/// than once read.
pub(super) fn find(txns: &Txns, findings: &mut Findings) {
    for txn in txns.all().filter(|txn| txns.is_ok(*txn)) {
        let mops = txns.mops(txn);
        if !touches_a_key_again(mops) {
            continue;
        }
        if let Some((mop, expected)) = internal(txns, mops) {
            findings.add("internal", || Finding {
                key: Some(txns.key_name(mop.key()).into_owned()),
                ops: vec![txns.index(txn)],
                explanation: format!(
                    "{} contradicts itself: after what it had read and written before, `{}` had to show {expected}.",
                    show(txns, txn),
                    mop_text(txns, mop.key(), mop.kind())
                ),
            });
        }
        if let Some((read, element)) = future_read(txns, mops) {
            findings.add("future-read", || Finding {
                key: Some(txns.key_name(read.key()).into_owned()),
                ops: vec![txns.index(txn)],
                explanation: format!(
                    "{} read the future: `{}` shows {}, which the transaction wrote only after.",
                    show(txns, txn),
                    mop_text(txns, read.key(), read.kind()),
                    txns.value_name(element)
                ),
            });
        }
    }
}

fn touches_a_key_again(mops: &[Mop]) -> bool {
    mops.iter().enumerate().any(|(at, mop)| mops[..at].iter().any(|before| before.key() == mop.key()))
}

/// What is known of a key within a transaction.
struct Known<'t> {
    key: u32,
    /// The list that was read or, of a register, the one value; `None` when only own appends are known.
    base: Option<&'t [u32]>,
    appended: Vec<u32>,
}

/// The first read that contradicts what came before it, and what it had to show.
fn internal<'t>(txns: &'t Txns, mops: &'t [Mop]) -> Option<(Mop, String)> {
    let mut known: Vec<Known<'t>> = Vec::new();
    for mop in mops {
        let now = known.iter().position(|known| known.key == mop.key());
        let Some(shows) = read(txns, mop) else {
            let Some(element) = mop.written() else { continue };
            let at = now.unwrap_or_else(|| {
                known.push(Known { key: mop.key(), base: None, appended: Vec::new() });
                known.len() - 1
            });
            if let MopKind::Write(_) = mop.kind() {
                known[at].base = Some(&[]);
                known[at].appended.clear();
            }
            known[at].appended.push(element);
            continue;
        };
        let Some(now) = now.map(|at| &mut known[at]) else {
            known.push(Known { key: mop.key(), base: Some(shows), appended: Vec::new() });
            continue;
        };
        let (head, tail) = shows.split_at(shows.len().saturating_sub(now.appended.len()));
        if tail != now.appended || now.base.is_some_and(|base| !same(base, head)) {
            let own = list_text(txns, &now.appended);
            let expected = match now.base {
                None => format!("a list that ends with {own}"),
                Some(base) => list_text(txns, &[base, &now.appended[..]].concat()),
            };
            return Some((*mop, expected));
        }
        (now.base, now.appended) = (Some(shows), Vec::new());
    }
    None
}

/// Most reads are prefixes of one list: then lengths decide.
fn same(a: &[u32], b: &[u32]) -> bool {
    a.len() == b.len() && (std::ptr::eq(a.as_ptr(), b.as_ptr()) || a == b)
}

/// What a read shows, as a list; of a register, of one value.
fn read<'t>(txns: &'t Txns, mop: &'t Mop) -> Option<&'t [u32]> {
    match mop.kind() {
        MopKind::Nil => Some(&[]),
        MopKind::List { chain, len } => Some(&txns.chain(chain)[..len as usize]),
        MopKind::Value(_) => Some(mop.value_slice()),
        _ => None,
    }
}

/// A read that shows what a later micro-operation of the same transaction writes.
fn future_read(txns: &Txns, mops: &[Mop]) -> Option<(Mop, u32)> {
    mops.iter().enumerate().find_map(|(at, write)| {
        let element = write.written()?;
        let before = mops[..at].iter().filter(|mop| mop.key() == write.key());
        // From the end: what was read recently stands there.
        let sees = |mop: &&Mop| read(txns, mop).is_some_and(|list| list.iter().rev().any(|seen| *seen == element));
        before
            .clone()
            .find(sees)
            .filter(|_| !before.clone().any(|mop| mop.written() == Some(element)))
            .map(|read| (*read, element))
    })
}
