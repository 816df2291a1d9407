//! What happened is what is recorded.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::history::{Effect, Op};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;

struct Rig {
    dir: TempDir,
    epochs: EpochCell,
    recorder: Recorder,
}

fn rig() -> Rig {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::start();
    let epochs = EpochCell::new(clock);
    let recorder = Recorder::create(dir.path(), clock, epochs.clone()).unwrap();
    Rig { dir, epochs, recorder }
}

impl Rig {
    fn client(&self, process: u64) -> ClientRecorder {
        self.recorder.client(process).unwrap()
    }

    fn finish(&self) -> Finished {
        self.recorder.finish().unwrap()
    }
}

fn write(client: &ClientRecorder) -> Pending {
    client.invoke("write", "k", json!(7)).node("n1").deadline(Duration::from_secs(3_600))
}

#[test]
fn every_ending_is_recorded_as_what_is_known_of_the_effect() {
    type End = fn(Pending);
    /// Name, ending, effect, output, error, defect.
    type Row = (&'static str, End, Effect, Value, Option<&'static str>, Option<&'static str>);
    let elapsed: End = |p| p.deadline(Duration::ZERO).timeout();
    let rows: &[Row] = &[
        ("an answer", |p| p.ok(json!("ok")), Effect::Acknowledged, json!("ok"), None, None),
        ("an empty answer", |p| p.ok(Value::Null), Effect::Acknowledged, Value::Null, None, None),
        ("a definite failure", |p| p.fail("refused"), Effect::Failed, Value::Null, Some("refused"), None),
        ("an open failure", |p| p.unknown("reset"), Effect::Unknown, Value::Null, Some("reset"), None),
        ("a timeout", elapsed, Effect::Unknown, Value::Null, None, None),
        (
            "a timeout too early",
            |p| p.timeout(),
            Effect::Unknown,
            Value::Null,
            None,
            Some("before its deadline of 3600s"),
        ),
        ("a dropped handle", |p| drop(p), Effect::Unknown, Value::Null, None, Some("lost its handle")),
        ("a leaked handle", std::mem::forget, Effect::Unknown, Value::Null, None, Some("still in flight")),
    ];
    for (name, end, effect, output, error, defect) in rows {
        let rig = rig();
        end(write(&rig.client(3)));
        let finished = rig.finish();
        let [op] = &finished.ops[..] else { panic!("{name}: {finished:?}") };
        assert_eq!(op.effect(), *effect, "{name}");
        assert_eq!(
            (op.process_id, op.op_type.as_str(), op.key.as_deref(), &op.input),
            (3, "write", Some("k"), &json!(7))
        );
        assert_eq!((&op.output, op.error.as_deref()), (output, *error), "{name}");
        let is_unknown = *effect == Effect::Unknown;
        assert_eq!((op.timeout_marker, op.complete_ts.is_none()), (is_unknown, is_unknown), "{name}");
        match (defect, &finished.defects[..]) {
            (None, []) => {}
            (Some(text), [said]) => assert!(said.contains(text), "{name}: {said}"),
            (_, said) => panic!("{name}: {said:?}"),
        }
    }
}

#[test]
fn a_timeout_without_a_declared_deadline_is_a_defect() {
    let rig = rig();
    rig.client(1).invoke("read", "k", Value::Null).timeout();
    assert!(rig.finish().defects[0].contains("without a declared deadline"));
}

#[test]
fn what_loses_its_handle_while_the_run_closes_is_unknown_and_no_defect() {
    let rig = rig();
    let client = rig.client(1);
    let (dropped, leaked) = (write(&client), write(&client));
    rig.recorder.closing();
    drop(dropped);
    std::mem::forget(leaked);
    let finished = rig.finish();
    assert_eq!(finished.counts, crate::verdict::OpCounts { recorded: 2, acknowledged: 0, failed: 0, unknown: 2 });
    assert!(finished.defects.is_empty(), "{:?}", finished.defects);
}

#[test]
fn after_the_clients_were_stopped_a_lost_handle_is_a_defect_again() {
    let rig = rig();
    rig.recorder.closing();
    rig.recorder.closed();
    drop(write(&rig.client(1)));
    assert_eq!(rig.finish().defects.len(), 1);
}

#[test]
fn a_task_that_panics_leaves_an_operation_of_unknown_outcome() {
    let rig = rig();
    let client = rig.client(1);
    let thread = std::thread::spawn(move || {
        let _pending = write(&client);
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    assert!(thread.join().is_err());
    let finished = rig.finish();
    assert_eq!((finished.counts.unknown, finished.defects.len()), (1, 1));
}

#[test]
fn operations_carry_the_fault_window_they_overlap() {
    let rig = rig();
    let client = rig.client(1);
    write(&client).ok(json!(1));
    let across = write(&client);
    rig.epochs.begin(1);
    let inside = write(&client);
    write(&client).fail("x");
    inside.ok(json!(1));
    let lost = write(&client);
    rig.epochs.end();
    drop(lost);
    across.ok(json!(1));
    write(&client).ok(json!(1));
    rig.epochs.begin(2);
    write(&client).unknown("x");
    rig.epochs.end();
    let epochs: Vec<Option<u64>> = rig.finish().ops.iter().map(|op| op.fault_epoch).collect();
    assert_eq!(epochs, [None, Some(1), Some(1), Some(1), Some(1), None, Some(2)]);
}

#[test]
fn the_history_on_disk_is_what_was_returned_sorted_by_invocation_with_all_twelve_names() {
    let rig = rig();
    let (a, b) = (rig.client(1), rig.client(2));
    for i in 0..50 {
        let first = b.invoke("read", None, Value::Null);
        a.invoke("edges", "\u{1}", json!(u64::MAX)).fail("\"\\");
        a.invoke(format!("op{i}"), Some("k"), json!({"x": [1.5, -3, "\n\u{1F980}"]})).node("n\"2").ok(json!([null]));
        first.ok(json!(i));
    }
    let finished = rig.finish();
    let text = fs::read_to_string(rig.dir.path().join(HISTORY_FILE)).unwrap();
    let ops: Vec<Op> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ops, finished.ops);
    assert!(ops.is_sorted_by_key(|op| (op.invoke_ts, op.op_id)));
    assert_eq!(finished.counts.recorded, 150);
    let names = |line: &str| serde_json::from_str::<serde_json::Map<String, Value>>(line).unwrap().len();
    assert!(text.lines().all(|line| names(line) == 12), "null, never omitted");
    // The borrowed line and the record agree to the byte.
    assert!(text.lines().zip(&ops).all(|(line, op)| line == serde_json::to_string(op).unwrap()));
    assert!(!rig.dir.path().join(PARTS_DIR).exists());
}

#[test]
fn clients_on_many_threads_lose_nothing_and_share_no_id() {
    let rig = rig();
    std::thread::scope(|scope| {
        for process in 0..8 {
            let client = rig.client(process);
            scope.spawn(move || (0..2_000).for_each(|i| client.invoke("read", "k", Value::Null).ok(json!(i))));
        }
    });
    assert_eq!(rig.recorder.invoked(), 16_000);
    let finished = rig.finish();
    assert_eq!((finished.counts.recorded, finished.counts.acknowledged), (16_000, 16_000));
    assert!(finished.defects.is_empty(), "{:?}", finished.defects);
    let ids: std::collections::BTreeSet<u64> = finished.ops.iter().map(|op| op.op_id).collect();
    assert_eq!(ids.len(), 16_000);
    let of = |process: u64| finished.ops.iter().filter(move |op| op.process_id == process);
    assert!((0..8).all(|process| of(process).map(|op| op.output.as_u64().unwrap()).eq(0..2_000)), "in program order");
}

#[test]
fn a_damaged_part_file_is_a_defect_and_never_a_shorter_history() {
    type Damage = fn(String) -> String;
    let rows: &[(&str, Damage, &str)] = &[
        ("a line missing", |text| text.lines().skip(1).map(|l| format!("{l}\n")).collect(), "its part file holds 2"),
        ("torn", |text| text[..text.len() - 9].to_owned(), "line 3 of client 1 is unreadable"),
        ("a line twice", |text| format!("{text}{}\n", text.lines().next().unwrap()), "operation 0 twice"),
        ("another client's", |text| text.replace("\"process_id\":1", "\"process_id\":9"), "says client 9"),
        ("empty", |_| String::new(), "invoked 3 operations and recorded 3, its part file holds 0"),
    ];
    for (name, damage, text) in rows {
        let rig = rig();
        let client = rig.client(1);
        (0..3).for_each(|i| client.invoke("read", "k", Value::Null).ok(json!(i)));
        client.client.close().unwrap();
        let path = rig.dir.path().join(PARTS_DIR).join("c1.jsonl");
        fs::write(&path, damage(fs::read_to_string(&path).unwrap())).unwrap();
        let defects = rig.finish().defects;
        assert!(defects.iter().any(|defect| defect.contains(text)), "{name}: {defects:?}");
    }
}

#[test]
fn a_killed_process_leaves_what_its_clients_had_done() {
    let rig = rig();
    let client = rig.client(1);
    (0..2_000).for_each(|i| client.invoke("read", "k", Value::Null).ok(json!(i)));
    // Nothing is finished or dropped: what is on disk now is what a SIGKILL would leave.
    let text = fs::read_to_string(rig.dir.path().join(PARTS_DIR).join("c1.jsonl")).unwrap();
    assert!(text.lines().count() > 1_500, "{} lines", text.lines().count());
}

#[test]
fn another_runs_history_is_never_mixed_in() {
    let rig = rig();
    let again = || Recorder::create(rig.dir.path(), Clock::start(), rig.epochs.clone());
    assert!(again().is_err(), "its parts are there");
    rig.finish();
    assert!(again().is_err(), "its history is there");
    assert!(rig.recorder.finish().is_err(), "finished once");
    assert!(rig.recorder.client(1).is_err());
}

#[test]
fn what_begins_after_the_end_is_not_recorded() {
    let rig = rig();
    let client = rig.client(1);
    let late_end = write(&client);
    assert_eq!(rig.finish().counts.unknown, 1);
    late_end.ok(json!(1));
    write(&client).ok(json!(1));
    let text = fs::read_to_string(rig.dir.path().join(HISTORY_FILE)).unwrap();
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn probes_see_what_clients_saw_of_each_node() {
    let rig = rig();
    let stats = rig.recorder.stats();
    assert_eq!((stats.acks("n1"), stats.latency("n1").median()), (0, None));
    for client in [rig.client(1), rig.client(2)] {
        client.invoke("read", "k", Value::Null).node("n2").ok(Value::Null);
        write(&client).ok(Value::Null);
        write(&client).fail("x");
        write(&client).unknown("x");
        write(&client).deadline(Duration::ZERO).timeout();
        drop(write(&client));
        client.invoke("read", "k", Value::Null).ok(Value::Null);
    }
    assert_eq!((stats.acks("n1"), stats.errors("n1"), stats.timeouts("n1")), (2, 2, 4), "a lost handle is no sign");
    assert_eq!((stats.acks("n2"), stats.errors("n2"), stats.timeouts("n2")), (2, 0, 0));
    assert_eq!((stats.latency("n1").count(), stats.nodes()), (2, vec!["n1".to_owned(), "n2".to_owned()]));
}

#[test]
fn many_defects_are_counted_and_only_the_first_are_spelled_out() {
    let rig = rig();
    let client = rig.client(4);
    (0..100).for_each(|_| drop(write(&client)));
    let defects = rig.finish().defects;
    assert_eq!(defects.len(), 6);
    assert_eq!(defects[5], "95 more operations of client 4 like these");
}
