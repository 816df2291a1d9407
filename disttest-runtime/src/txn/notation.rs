//! Transactional histories in one line, for tests and examples.
//!
//! ```text
//! T1 ax1 wy2 rz3 rx[1,2] ry. | T1! ax1 | T1? ax1 | 1( ax1 rx_ | 1) ax1 rx[1] | 1)! … | 1)? …
//! ```
//!
//! Events are separated by `|`. `1(` is an invocation by process 1, `1)` its commit, `1)!` its failure, `1)?` an unknown
//! outcome. `T1` is both at once: a whole transaction of process 1. `ax1` appends 1 to x, `wx1` writes 1 to x, `rx…` reads
//! x and sees a list, a value, nothing (`.`), or is not known (`_`). A key is one letter.

use super::{Answer, Builder, Event, EventKind, EventMop, Refusal, Txns, Value};

/// Reads a history in this notation. Errors are refusals of the history; what cannot be read is one too.
pub fn txns(text: &str) -> Result<Txns, Refusal> {
    let mut builder = Builder::new();
    for (position, event) in text.split('|').map(str::trim).filter(|event| !event.is_empty()).enumerate() {
        let unreadable =
            || Refusal { position: position as u64, index: None, problem: format!("cannot read `{event}`") };
        let mut words = event.split_whitespace();
        let head = words.next().ok_or_else(unreadable)?;
        let mops: Vec<EventMop> = words.map(mop).collect::<Option<_>>().ok_or_else(unreadable)?;
        let whole = head.strip_prefix('T');
        let (name, mark) = match whole {
            Some(rest) => rest.split_at(rest.find(['!', '?']).unwrap_or(rest.len())),
            None => head.split_at(head.find(['(', ')']).ok_or_else(unreadable)?),
        };
        let process = name.parse().map_err(|_| unreadable())?;
        let kinds: &[EventKind] = match (whole.is_some(), mark) {
            (true, "") => &[EventKind::Invoke, EventKind::Ok],
            (true, "!") => &[EventKind::Invoke, EventKind::Fail],
            (true, "?") => &[EventKind::Invoke, EventKind::Info],
            (false, "(") => &[EventKind::Invoke],
            (false, ")") => &[EventKind::Ok],
            (false, ")!") => &[EventKind::Fail],
            (false, ")?") => &[EventKind::Info],
            _ => return Err(unreadable()),
        };
        for &kind in kinds {
            builder.event(&Event { index: None, process, kind, mops: &mops })?;
        }
    }
    Ok(builder.finish())
}

fn mop(word: &str) -> Option<EventMop> {
    let mut letters = word.chars();
    let verb = letters.next()?;
    let key = Value::text(&letters.next()?.to_string());
    let rest = letters.as_str();
    match verb {
        'a' => Some(EventMop::Append(key, value(rest)?)),
        'w' => Some(EventMop::Write(key, value(rest)?)),
        'r' => {
            let answer = match rest.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
                Some("") => Answer::List(Vec::new()),
                Some(list) => Answer::List(list.split(',').map(value).collect::<Option<_>>()?),
                None if rest == "." || rest == "_" => Answer::Nil,
                None => Answer::Value(value(rest)?),
            };
            Some(EventMop::Read(key, answer))
        }
        _ => None,
    }
}

fn value(text: &str) -> Option<Value> {
    text.parse().ok().map(Value::Int)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::txn::{MopKind, NONE, Status};

    #[test]
    fn contradictory_histories_are_refused_and_others_taken() {
        let check = |text: &str, expect: Option<&str>| {
            let refusal = txns(text).err().map(|refusal| refusal.to_string());
            assert_eq!(refusal.as_deref(), expect, "{text}");
        };
        check("", None);
        check("T1 ax1 | T2 rx[1]", None);
        check("1( ax1 | 2( rx_ | 2) rx[1] | 1) ax1", None);
        check("1( ax1 | 2( rx_", None);
        check("1) ax1", Some("event with index 0: process 1 completes a transaction that it did not invoke"));
        check("T1 ax1 | 1) ax1", Some("event with index 2: process 1 completes a transaction that it did not invoke"));
        check(
            "1( ax1 | 1( ax2",
            Some("event with index 1: process 1 invokes while its transaction of index 0 is open"),
        );
        check("1( ax1 | 1) ax2", Some("event with index 1: micro-operation 1 is not the one that was invoked"));
        check("1( ax1 ry_ | 1) ax1 rz1", Some("event with index 1: micro-operation 2 is not the one that was invoked"));
        check("1( ax1 | 1) wx1", Some("event with index 1: micro-operation 1 is not the one that was invoked"));
        check(
            "1( ax1 | 1)? ax1 ax2",
            Some("event with index 1: its transaction has 2 micro-operations, and the invocation had 1"),
        );
    }

    #[test]
    fn indices_rise() {
        let check = |indices: [u64; 2], expect: Option<&str>| {
            let mut builder = Builder::new();
            let mut event = |index, kind| builder.event(&Event { index: Some(index), process: 0, kind, mops: &[] });
            event(indices[0], EventKind::Invoke).expect("the first");
            let refusal = event(indices[1], EventKind::Ok).err().map(|refusal| refusal.problem);
            assert_eq!(refusal.as_deref(), expect, "{indices:?}");
        };
        check([3, 10], None);
        check([3, 3], Some("index 3 was used before"));
        check([3, 2], Some("index 2 comes after index 3: the events are out of order"));
    }

    #[test]
    fn a_transaction_has_its_outcome_its_place_and_what_it_saw() {
        let txns = txns("1( ax1 rx_ | T2! ax2 rx[9] | 3( rx_ | 1) ax1 rx[1] | 4( ay1").expect("a history");
        assert_eq!(
            txns.all().map(|txn| txns.status(txn)).collect::<Vec<_>>(),
            [Status::Ok, Status::Fail, Status::Info, Status::Info]
        );
        let places: Vec<(u32, u32)> = txns.all().map(|txn| (txns.invoked(txn), txns.completed(txn))).collect();
        assert_eq!(places, [(0, 4), (1, 2), (3, NONE), (5, NONE)]);
        assert_eq!(txns.mops(0)[1].kind(), MopKind::List { chain: 0, len: 1 });
        assert_eq!(txns.mops(1)[1].kind(), MopKind::Unread, "a failed read says nothing");
        assert_eq!(txns.writer(txns.chain(0)[0]), Some(0));
        assert_eq!(txns.index(2), 3);
    }
}
