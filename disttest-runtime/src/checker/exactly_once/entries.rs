//! Evidence from entries: each carries the business key of the request that made it.

use super::super::ahead::ahead_within;
use super::super::keys::Keys;
use super::super::pointer::Pointer;
use super::super::work::Work;
use super::effects::Effects;
use serde_json::Value;

pub(super) fn judge(
    mut effects: Effects<'_>,
    (list, id): (&Pointer, &Pointer),
    work: &mut Work<'_>,
    keys: &mut Keys<'_>,
) {
    for key in 0..effects.objects.len() as u32 {
        let object = std::mem::take(&mut effects.objects[key as usize]);
        let finals = effects.finals(&object);
        for read in &object.reads {
            if !work.goes_on(|| effects.bytes()) {
                return;
            }
            let (read, op) = (read.at, &effects.ops[read.at as usize]);
            let entries = match list.of(&op.output) {
                Some(Value::Array(entries)) => entries.as_slice(),
                Some(Value::Null) => &[],
                _ => {
                    work.lacks(op, format!("the answer of a {} has no list of entries", op.op_type));
                    continue;
                }
            };
            if object.acknowledged > 0 || !entries.is_empty() {
                work.evidence.fired += 1 + entries.len() as u64;
                keys.observe(key);
            }
            let shown = show(&mut effects, key, read, entries, id, work);
            if shown < object.acknowledged && finals.binary_search(&read).is_ok() {
                let mut lost = object.requests.iter().map(|number| &effects.requests[*number as usize]);
                if let Some(lost) = lost.find(|request| request.acknowledged && request.shown != read + 1) {
                    let missing = object.acknowledged - shown;
                    let why = format!("began after it was acknowledged and does not show it ({missing} such requests)");
                    work.violates(|| effects.violation("effect-lost", Some(lost), op, &why));
                }
            }
        }
    }
}

/// Marks the requests that a read shows; how many acknowledged ones it does.
fn show(effects: &mut Effects<'_>, key: u32, read: u32, entries: &[Value], id: &Pointer, work: &mut Work<'_>) -> u64 {
    let op = &effects.ops[read as usize];
    let mut acknowledged = 0;
    for entry in ahead_within(entries) {
        let Some(business) = id.of(entry) else {
            work.lacks(op, format!("an entry that it shows has no business key at {:?}", id.text()));
            continue;
        };
        let Some(number) = effects.request(key, business) else {
            let why = format!("shows an entry of {business}, which nobody asked for");
            work.violates(|| effects.violation("effect-without-operation", None, op, &why));
            continue;
        };
        let request = effects.requests[number as usize];
        let fault = if request.shown == read + 1 {
            Some(("effect-twice", "shows its effect more than once"))
        } else if request.failed {
            Some(("effect-of-failed-operation", "shows its effect, though every try of it failed"))
        } else if Some(request.begin) > op.complete_ts {
            Some(("effect-without-operation", "shows its effect, though it was asked for only later"))
        } else {
            None
        };
        if let Some((anomaly, why)) = fault {
            work.violates(|| effects.violation(anomaly, Some(&request), op, why));
        }
        if request.shown != read + 1 {
            acknowledged += u64::from(request.acknowledged);
            effects.requests[number as usize].shown = read + 1;
        }
    }
    acknowledged
}
