//! The green-but-broken check: both lists with their evidence, one box an item.

use super::doc::Doc;
use super::escape::inline;
use crate::audit::{AuditItem, AuditState, Checklist};

/// Adds both lists of one scenario. A box is ticked only for what was checked and is fine, or does not apply for a
/// reason that stands there.
pub(super) fn add(doc: &mut Doc, checklist: &Checklist) {
    doc.block("Red flags:");
    doc.bullets(&boxes(&checklist.red_flags), "None evaluated.");
    doc.block("Weak oracles:");
    doc.bullets(&boxes(&checklist.weak_oracles), "None evaluated.");
}

fn boxes(items: &[AuditItem]) -> Vec<String> {
    items.iter().map(one).collect()
}

fn one(item: &AuditItem) -> String {
    let (mark, word) = match item.state {
        AuditState::Ok => ("x", ""),
        AuditState::NotApplicable => ("x", "N/A: "),
        AuditState::Failed => (" ", "FAILED: "),
        AuditState::Unchecked => (" ", "not checked: "),
    };
    format!("[{mark}] {}. {} — {word}{}", item.number, item.title, inline(&item.evidence))
}
