//! What every operation of a history must satisfy, whatever the model.

use super::Op;
use std::collections::HashSet;

/// Index and problem of the first operation that cannot be.
pub(super) fn all(ops: &[Op]) -> Result<(), (usize, String)> {
    let mut ids = HashSet::with_capacity(ops.len());
    for (index, op) in ops.iter().enumerate() {
        one(op).map_err(|problem| (index, problem))?;
        if !ids.insert(op.op_id) {
            return Err((index, "its id was used before: a duplicate is a defect of the recorder".to_owned()));
        }
    }
    Ok(())
}

fn one(op: &Op) -> Result<(), String> {
    match op.complete_ts {
        Some(complete) if complete < op.invoke_ts => {
            return Err(format!("completed at {} ns, before its invocation at {} ns", complete.0, op.invoke_ts.0));
        }
        Some(_) if op.timeout_marker => return Err("is marked as timed out and yet completed".to_owned()),
        None if !op.output.is_null() => return Err("has an output although its outcome is unknown".to_owned()),
        _ => {}
    }
    let failed_cas = op.op_type == "cas" && op.output == false;
    if op.error.is_some() && !op.output.is_null() && !failed_cas {
        return Err("has both an output and an error".to_owned());
    }
    if op.op_type.is_empty() {
        return Err("has no op_type".to_owned());
    }
    Ok(())
}
