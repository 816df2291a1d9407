//! Fencing tokens: each grant has a larger one than the grants before it.

use super::super::Violation;
use super::super::keys::Keys;
use super::super::pointer::Pointer;
use super::super::settling::Settling;
use super::super::work::{Work, told};
use crate::history::Op;
use rustc_hash::FxHashMap;

/// A token, the operation that granted it, the holder that got it.
type Grant = (u64, u32, u64);

/// Tokens of the grants of a key: of those that completed, the largest with its operation.
#[derive(Default)]
struct OfKey {
    settling: Settling<Grant>,
    largest: Option<Grant>,
}

#[derive(Default)]
pub(super) struct Tokens {
    keys: FxHashMap<u32, OfKey>,
}

impl Tokens {
    pub(super) fn bytes(&self) -> usize {
        self.keys.len() * 200
    }

    /// Takes the next granted acquire by invocation.
    pub(super) fn add(
        &mut self,
        pointer: Option<&Pointer>,
        (key, holder): (u32, u64),
        at: u32,
        ops: &[Op],
        work: &mut Work<'_>,
        keys: &mut Keys<'_>,
    ) {
        let op = &ops[at as usize];
        let token = match pointer {
            Some(pointer) => pointer.of(&op.output),
            None => op.output.get("token").or_else(|| op.output.get("fencing_token")),
        };
        let Some(token) = token.and_then(serde_json::Value::as_u64) else {
            if let Some(pointer) = pointer {
                work.lacks(op, format!("the answer of a granted acquire has no number at {:?}", pointer.text()));
            }
            return;
        };
        let of_key = self.keys.entry(key).or_default();
        while let Some((_, grant)) = of_key.settling.before(op.invoke_ts) {
            of_key.largest = of_key.largest.max(Some(grant));
        }
        if let Some((largest, before, _)) = of_key.largest {
            work.evidence.fired += 1;
            keys.observe(key);
            if token < largest {
                work.violates(|| violation("fencing-token-went-back", &ops[before as usize], op, largest, token));
            }
        }
        let same = |(granted, _, to): &&Grant| *granted == token && *to != holder;
        let first = of_key.largest.iter().chain(of_key.settling.pending()).find(same).copied();
        if let Some((_, first, _)) = first {
            work.violates(|| violation("fencing-token-reused", &ops[first as usize], op, token, token));
        }
        if let Some(complete) = op.complete_ts {
            of_key.settling.push(complete, (token, at, holder));
        }
    }
}

fn violation(anomaly: &str, before: &Op, op: &Op, had: u64, has: u64) -> Violation {
    let order = if had == has { "to another holder" } else { "before the other began" };
    let explanation = format!(
        "{} was granted token {had} {order}; {} was granted token {has}, which is not larger.",
        told(before),
        told(op)
    );
    Violation { anomaly: anomaly.to_owned(), key: op.key.clone(), ops: vec![before.op_id, op.op_id], explanation }
}
