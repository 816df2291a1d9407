//! Transactions: Jepsen's events whose values are micro-operations, in columns.
//!
//! JSON Lines are read by the byte-level reader of the runtime, EDN event by event; our own twelve names as operations
//! of type `txn`, whose input and output are the micro-operations.

use super::jepsen::{self, Event, Kind};
use super::lines::Lines;
use super::{Assumed, Body, Format, Imported, Packing, Problem, Reading, Stopped, fields, format, source};
use disttest_runtime::base::time::Nanos;
use disttest_runtime::checker::Limits;
use disttest_runtime::checker::isolation;
use disttest_runtime::history::Op;
use disttest_runtime::txn::{self, Answer, Builder, EventKind, EventMop, MopKind, Status, Txns};
use serde_json::{Value, json};
use std::io::{BufRead, Read};
use std::path::Path;

/// Bytes that are read between two looks at the limits.
const STRETCH: u64 = 16 << 20;

/// Reads the transactions of the history `name`.
pub(crate) fn read(name: &Path, reading: Reading, limits: &dyn Limits) -> Result<Imported, Stopped> {
    let (bytes, packing) = source::open(name)?;
    let (format, bytes) = format::detect(bytes, reading.format)?;
    let mut skipped = 0;
    let (txns, assumed) = match format {
        None => (Txns::default(), Vec::new()),
        Some(Format::Jsonl) => of_operations(Lines::new(bytes), limits)?,
        Some(Format::Json) => of_operations(Lines::of_array(bytes), limits)?,
        Some(Format::JepsenJsonl) => (json_lines(bytes, limits)?, Vec::new()),
        Some(format @ (Format::JepsenJson | Format::Edn)) => events(format, bytes, &mut skipped, limits)?,
    };
    let format = format.unwrap_or(Format::JepsenJsonl);
    Ok(Imported { body: Body::Txns(Box::new(txns)), format, packing, skipped, untimed: true, assumed })
}

fn json_lines(mut bytes: Box<dyn BufRead>, limits: &dyn Limits) -> Result<Txns, Stopped> {
    let mut text = Vec::new();
    loop {
        let read = bytes.by_ref().take(STRETCH).read_to_end(&mut text);
        let lines = || text.iter().filter(|byte| **byte == b'\n').count() + 1;
        match read.map_err(|error| Problem::at(lines(), format!("cannot be read: {error}")))? {
            0 => break,
            _ => limits.exceeded(text.len() as u64).map_or(Ok(()), |limit| Err(Stopped::Limit(limit)))?,
        }
    }
    txn::jsonl::read(&text).map_err(|error| {
        let line = text.split(|byte| *byte == b'\n').nth(error.line.saturating_sub(1)).unwrap_or_default();
        let at = Problem { column: Some(error.column), ..Problem::at(error.line, error.problem) };
        at.showing(line).into()
    })
}

fn events(
    format: Format,
    bytes: Box<dyn BufRead>,
    skipped: &mut usize,
    limits: &dyn Limits,
) -> Result<(Txns, Vec<String>), Stopped> {
    let mut builder = Builder::new();
    let mut assumed = Assumed::default();
    jepsen::each(format, bytes, limits, &mut |event: Event| {
        if event.unnamed {
            assumed.add(jepsen::UNNAMED, event.line);
        }
        let Some(process) = event.process else {
            *skipped += 1;
            return Ok(());
        };
        let refuse = |problem: String| Problem::at(event.line, problem);
        if event.f.as_ref().is_some_and(|f| f != "txn") {
            return Err(refuse(format!("`{}` is no transaction", event.f.as_deref().unwrap_or_default())));
        }
        let mops = micro_operations(&event.value).map_err(refuse)?;
        let kind = match event.kind {
            Kind::Invoke => EventKind::Invoke,
            Kind::Ok => EventKind::Ok,
            Kind::Fail => EventKind::Fail,
            Kind::Info => EventKind::Info,
        };
        let process = i64::try_from(process).map_err(|_| refuse(format!("{process} is the number of no process")))?;
        let event = txn::Event { index: event.index, process, kind, mops: &mops };
        builder.event(&event).map_err(|refusal| refuse(refusal.problem))
    })?;
    Ok((builder.finish(), assumed.sentences("event")))
}

fn of_operations(lines: Lines<Box<dyn BufRead>>, limits: &dyn Limits) -> Result<(Txns, Vec<String>), Stopped> {
    let imported = super::finish(fields::read(lines, limits)?, Format::Jsonl, Packing::Plain)?;
    let Body::Ops { history, .. } = &imported.body else { return Ok((Txns::default(), Vec::new())) };
    let txns = isolation::transactions(history).map_err(Problem::new)?;
    Ok((txns, imported.assumed))
}

fn micro_operations(value: &Value) -> Result<Vec<EventMop>, String> {
    let not = |what: &Value| format!("a micro-operation is [append k v], [w k v] or [r k answer], not {what}");
    let one = |mop: &Value| {
        let Some([f, key, last]) = mop.as_array().map(Vec::as_slice) else { return Err(not(mop)) };
        let key = txn::Value::of(key).ok_or_else(|| not(mop))?;
        let value = |value: &Value| txn::Value::of(value).ok_or_else(|| not(mop));
        match f.as_str() {
            Some("append") => Ok(EventMop::Append(key, value(last)?)),
            Some("w" | "write") => Ok(EventMop::Write(key, value(last)?)),
            Some("r" | "read") => Ok(EventMop::Read(
                key,
                match last {
                    Value::Null => Answer::Nil,
                    Value::Array(items) => Answer::List(items.iter().map(value).collect::<Result<_, _>>()?),
                    other => Answer::Value(value(other)?),
                },
            )),
            _ => Err(not(mop)),
        }
    };
    let all = value.as_array().ok_or_else(|| format!("a transaction is a list of micro-operations, not {value}"))?;
    all.iter().map(one).collect()
}

/// A transaction in the words of an operation, for witnesses: its moments are places of events.
pub(super) fn operation(txns: &Txns, txn: u32) -> Op {
    let parse = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    let element = |element: u32| parse(&txns.value_name(element));
    let mop = |mop: &txn::Mop, answered: bool| {
        let key = parse(&txns.key_name(mop.key()));
        let (f, value) = match mop.kind() {
            MopKind::Append(value) => ("append", element(value)),
            MopKind::Write(value) => ("w", element(value)),
            MopKind::Value(value) if answered => ("r", element(value)),
            MopKind::List { chain, len } if answered => {
                let values = &txns.chain(chain)[..len as usize];
                ("r", values.iter().map(|value| element(*value)).collect())
            }
            _ => ("r", Value::Null),
        };
        json!([f, key, value])
    };
    let list = |answered: bool| txns.mops(txn).iter().map(|m| mop(m, answered)).collect::<Value>();
    let status = txns.status(txn);
    Op {
        op_id: txns.index(txn),
        process_id: u64::try_from(txns.process_name(txn)).unwrap_or_default(),
        invoke_ts: Nanos(u64::from(txns.invoked(txn))),
        complete_ts: (status != Status::Info).then(|| Nanos(u64::from(txns.completed(txn)))),
        op_type: "txn".to_owned(),
        key: None,
        input: list(false),
        output: if status == Status::Ok { list(true) } else { Value::Null },
        error: (status == Status::Fail).then(|| "fail".to_owned()),
        timeout_marker: status == Status::Info,
        node_seen: None,
        fault_epoch: None,
    }
}
