//! Histories that cannot be judged, and versions that cannot be ordered.

use super::findings::{Finding, Findings, show};
use super::list_order::possible_writer;
use super::register_order::RegisterOrder;
use super::{Model, VersionOrder};
use crate::txn::{MopKind, NONE, Txns};

/// Why `txns` cannot be judged under `model`, if so.
pub(super) fn reason_not_to_judge(txns: &Txns, model: &Model) -> Option<String> {
    if txns.is_empty() {
        return Some("the history is empty".to_owned());
    }
    let is_list = *model == Model::ListAppend;
    let fits = |kind: MopKind| match kind {
        MopKind::Append(_) | MopKind::List { .. } => is_list,
        MopKind::Write(_) | MopKind::Value(_) => !is_list,
        MopKind::Unread | MopKind::Nil => true,
    };
    if let Some(txn) = txns.all().find(|txn| txns.mops(*txn).iter().any(|mop| !fits(mop.kind()))) {
        let wanted = if is_list { "appends and reads of lists" } else { "writes and reads of single values" };
        return Some(format!("the history does not fit the model, which has {wanted}: {}", show(txns, txn)));
    }
    if *model == Model::Register(VersionOrder::Values)
        && let Some(element) = (0..txns.element_count() as u32).find(|element| txns.value_number(*element).is_none())
    {
        return Some(format!("versions are integers, and {} is none", txns.value_name(element)));
    }
    written_twice(txns, is_list)
}

/// Versions that two transactions made cannot be told apart; of a register that matters when somebody read it.
fn written_twice(txns: &Txns, is_list: bool) -> Option<String> {
    let twice = txns.twice_written();
    if twice.is_empty() {
        return None;
    }
    let mut matters = vec![is_list; txns.element_count()];
    if !is_list {
        for mop in txns.all().filter(|txn| txns.is_ok(*txn)).flat_map(|txn| txns.mops(txn)) {
            if let MopKind::Value(element) = mop.kind() {
                matters[element as usize] = true;
            }
        }
    }
    let by_another = |element: u32, again: u32| is_list || txns.writer(element) != Some(again);
    let (element, again) =
        twice.iter().find(|(element, again)| matters[*element as usize] && by_another(*element, *again))?;
    Some(format!(
        "value {} was written to key {} twice, by {} and by {}: its versions cannot be told apart",
        txns.value_name(*element),
        txns.key_name(txns.key_of(*element)),
        show(txns, txns.writer(*element).unwrap_or(*again)),
        show(txns, *again)
    ))
}

/// Adds `cyclic-versions`.
pub(super) fn cyclic_versions(txns: &Txns, order: &RegisterOrder, findings: &mut Findings) {
    for versions in &order.cyclic {
        let name = |version: u32| {
            if order.touches.is_initial(version) { "nil".to_owned() } else { txns.value_name(version).into_owned() }
        };
        let key = versions.first().map_or(NONE, |version| match order.touches.is_initial(*version) {
            true => version - txns.element_count() as u32,
            false => txns.key_of(*version),
        });
        let writers: Vec<u64> = versions
            .iter()
            .filter(|version| !order.touches.is_initial(**version))
            .filter_map(|version| possible_writer(txns, *version))
            .map(|txn| txns.index(txn))
            .collect();
        findings.add("cyclic-versions", || Finding {
            key: Some(txns.key_name(key).into_owned()),
            ops: writers,
            explanation: format!(
                "Versions {} of key {} come before each other: the order of versions that was assumed does not hold.",
                versions.iter().map(|version| name(*version)).collect::<Vec<_>>().join(", "),
                txns.key_name(key)
            ),
        });
    }
}
