//! What was found, as it is reported.

use super::anomalies::Anomaly;
use super::cycles::Cycle;
use super::order::Order;
use crate::checker::Violation;
use crate::txn::{MopKind, Txns};

/// How many anomalies of one kind are kept; further ones are only counted.
pub(super) const KEPT: usize = 50;
/// How many elements of a list, and how many micro-operations of a transaction, are shown.
const SHOWN: usize = 8;

/// Anomalies by kind, in the order found.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    pub(super) list: Vec<(Anomaly, Violation)>,
    more: Vec<(Anomaly, usize)>,
}

impl Findings {
    /// Adds an anomaly of kind `name`, unless there are enough of them; `make` tells it.
    pub(super) fn add(&mut self, name: &str, make: impl FnOnce() -> Finding) {
        let Some(anomaly) = Anomaly::named(name) else {
            debug_assert!(false, "{name} is not in the table");
            return;
        };
        let known = match self.more.iter_mut().find(|(kind, _)| *kind == anomaly) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.more.push((anomaly, 1));
                1
            }
        };
        if known <= KEPT {
            let Finding { key, ops, explanation } = make();
            self.list.push((anomaly, Violation { anomaly: name.to_owned(), key, ops, explanation }));
        }
    }

    /// The kinds found.
    pub(super) fn kinds(&self) -> impl Iterator<Item = Anomaly> + '_ {
        self.more.iter().map(|(kind, _)| *kind)
    }

    /// A sentence on anomalies that were counted and not kept.
    pub(super) fn not_kept(&self) -> Option<String> {
        let more: Vec<String> = self
            .more
            .iter()
            .filter(|(_, count)| *count > KEPT)
            .map(|(kind, count)| format!("{KEPT} of {count} anomalies {} are told", kind.name()))
            .collect();
        (!more.is_empty()).then(|| more.join("; "))
    }
}

/// One anomaly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) key: Option<String>,
    pub(super) ops: Vec<u64>,
    pub(super) explanation: String,
}

/// A cycle as an argument: each transaction before the next, and the last before the first.
pub(super) fn cycle(txns: &Txns, order: &Order, cycle: &Cycle) -> Finding {
    let steps = &cycle.steps;
    let name = |at: usize| format!("T{}", at % steps.len() + 1);
    let mut text = String::from("Let ");
    for (at, (txn, _)) in steps.iter().enumerate() {
        let joint = if at == 0 { "" } else { "; " };
        text.push_str(&format!("{joint}{} = {}", name(at), show(txns, *txn)));
    }
    text.push_str(". Then ");
    for (at, (txn, rel)) in steps.iter().enumerate() {
        let (next, _) = steps[(at + 1) % steps.len()];
        let (a, b) = (name(at), name(at + 1));
        let why = order.why(txns, *txn, next, *rel, &a, &b).unwrap_or_else(|| format!("{a} comes before {b}"));
        let joint = match at {
            0 => "",
            _ if at + 1 == steps.len() => "; however, ",
            _ => "; ",
        };
        text.push_str(&format!("{joint}{a} < {b}, because {why}"));
    }
    text.push_str(": a contradiction.");
    Finding { key: None, ops: steps.iter().map(|(txn, _)| txns.index(*txn)).collect(), explanation: text }
}

/// A transaction, short: `transaction 12 of process 3 (append x 1, r y [… 4 5])`.
pub(super) fn show(txns: &Txns, txn: u32) -> String {
    let mops = txns.mops(txn);
    let mut shown: Vec<String> = mops.iter().take(SHOWN).map(|mop| mop_text(txns, mop.key(), mop.kind())).collect();
    if mops.len() > SHOWN {
        shown.push(format!("and {} more", mops.len() - SHOWN));
    }
    format!("transaction {} of process {} ({})", txns.index(txn), txns.process_name(txn), shown.join(", "))
}

pub(super) fn mop_text(txns: &Txns, key: u32, kind: MopKind) -> String {
    let key = txns.key_name(key);
    match kind {
        MopKind::Append(element) => format!("append {key} {}", txns.value_name(element)),
        MopKind::Write(element) => format!("w {key} {}", txns.value_name(element)),
        MopKind::Unread => format!("r {key} ?"),
        MopKind::Nil => format!("r {key} nil"),
        MopKind::Value(element) => format!("r {key} {}", txns.value_name(element)),
        MopKind::List { chain, len } => format!("r {key} {}", list_text(txns, &txns.chain(chain)[..len as usize])),
    }
}

/// A list, with its last elements only when it is long.
pub(super) fn list_text(txns: &Txns, list: &[u32]) -> String {
    let skipped = list.len().saturating_sub(SHOWN);
    let mut shown: Vec<String> = list[skipped..].iter().map(|element| txns.value_name(*element).into_owned()).collect();
    if skipped > 0 {
        shown.insert(0, format!("… {skipped} more …"));
    }
    format!("[{}]", shown.join(" "))
}
