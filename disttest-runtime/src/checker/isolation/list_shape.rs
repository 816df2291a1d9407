//! Lists that no order of appends explains: incompatible orders, duplicate elements.

use super::findings::{Finding, Findings, list_text, show};
use super::list_order::ListOrder;
use crate::txn::{MopKind, NONE, Status, Txns};

/// Finds `incompatible-order` and `duplicate-elements`. Linear in the stored lists.
pub(super) fn find(txns: &Txns, findings: &mut Findings) {
    let twice = second_occurrences(txns);
    let mut told = vec![false; txns.key_count()];
    for txn in txns.all().filter(|txn| txns.is_ok(*txn)) {
        for mop in txns.mops(txn) {
            let MopKind::List { chain, len } = mop.kind() else { continue };
            let (key, list) = (mop.key(), &txns.chain(chain)[..len as usize]);
            if twice[chain as usize] < len {
                let element = list[twice[chain as usize] as usize];
                findings.add("duplicate-elements", || Finding {
                    key: Some(txns.key_name(key).into_owned()),
                    ops: vec![txns.index(txn)],
                    explanation: format!(
                        "{} read key {} as {}: {} is there twice, and was appended once.",
                        show(txns, txn),
                        txns.key_name(key),
                        list_text(txns, list),
                        txns.value_name(element)
                    ),
                });
            }
            let longest = txns.longest(key).unwrap_or(chain);
            if longest != chain && !std::mem::replace(&mut told[key as usize], true) {
                findings.add("incompatible-order", || incompatible(txns, txn, key, list, txns.chain(longest)));
            }
        }
    }
}

fn incompatible(txns: &Txns, txn: u32, key: u32, list: &[u32], longest: &[u32]) -> Finding {
    let differs = list.iter().zip(longest).take_while(|(a, b)| a == b).count();
    let other = txns.all().find(|other| {
        txns.mops(*other).iter().any(|mop| match mop.kind() {
            MopKind::List { chain, len } => {
                mop.key() == key && txns.longest(key) == Some(chain) && len as usize > differs
            }
            _ => false,
        })
    });
    let place = |list: &[u32]| list.get(differs).map_or("its end".into(), |element| txns.value_name(*element));
    Finding {
        key: Some(txns.key_name(key).into_owned()),
        ops: [Some(txn), other].into_iter().flatten().map(|txn| txns.index(txn)).collect(),
        explanation: format!(
            "No order of appends explains what was read of key {}: {} saw {}, and {} saw {}, which is the longest read. At \
             place {} one has {}, the other {}.",
            txns.key_name(key),
            show(txns, txn),
            list_text(txns, list),
            other.map_or("another transaction".to_owned(), |other| show(txns, other)),
            list_text(txns, longest),
            differs + 1,
            place(list),
            place(longest)
        ),
    }
}

/// Finds `incompatible-order` where a transaction appended two elements to a key and the order of the key has the second
/// without the first before it. Linear but for transactions that append very often to one key.
pub(super) fn find_reversed(txns: &Txns, order: &ListOrder, findings: &mut Findings) {
    for txn in txns.all().filter(|txn| txns.status(*txn) != Status::Fail) {
        let mut last: Vec<(u32, u32)> = Vec::new();
        for mop in txns.mops(txn) {
            let (key, Some(element)) = (mop.key(), mop.written()) else { continue };
            let Some((_, before)) = last.iter_mut().find(|(of, _)| *of == key) else {
                last.push((key, element));
                continue;
            };
            let first = std::mem::replace(before, element);
            let is_reversed = |place: u32| order.place(first).is_none_or(|earlier| earlier > place);
            if order.place(element).is_some_and(is_reversed) {
                findings.add("incompatible-order", || Finding {
                    key: Some(txns.key_name(key).into_owned()),
                    ops: vec![txns.index(txn)],
                    explanation: format!(
                        "{} appended {} to key {} and then {}, and the versions of the key run {}: the second is there \
                         without the first before it.",
                        show(txns, txn),
                        txns.value_name(first),
                        txns.key_name(key),
                        txns.value_name(element),
                        list_text(txns, order.versions(key))
                    ),
                });
            }
        }
    }
}

/// Where in each list an element stands for the second time; [`NONE`] without one.
fn second_occurrences(txns: &Txns) -> Vec<u32> {
    let mut last_chain = vec![NONE; txns.element_count()];
    (0..txns.chain_count() as u32)
        .map(|chain| {
            let twice = txns
                .chain(chain)
                .iter()
                .position(|element| std::mem::replace(&mut last_chain[*element as usize], chain) == chain);
            twice.map_or(NONE, |at| at as u32)
        })
        .collect()
}
