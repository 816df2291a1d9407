//! What the reader takes, and where it says what is wrong.

use super::*;
use crate::txn::{Answer, Event, EventMop, Status, Value};
use proptest::prelude::*;

fn check(text: &str, expect: Option<(usize, usize, &str)>) {
    let error = read(text.as_bytes()).err().map(|error| (error.line, error.column, error.problem));
    assert_eq!(error, expect.map(|(line, column, problem)| (line, column, problem.to_owned())), "{text}");
}

const MOP: &str = "a micro-operation is a list: [\"append\",key,value], [\"w\",key,value] or [\"r\",key,answer]";
const INVOKE: &str = r#"{"index":0,"process":1,"type":"invoke","f":"txn","value":[["append","x",1],["r",2,null]]}"#;

#[test]
fn events_are_read_whatever_the_order_of_names_and_the_blanks() {
    check("", None);
    check("\n\n", None);
    check(INVOKE, None);
    check(&format!("{INVOKE}\r\n"), None);
    check(
        "{ \"value\" : [ [ \"append\" , \"x\" , 1 ] , [ \"r\" , 2 , null ] ] , \"type\" : \"invoke\" , \"process\" : 1 }",
        None,
    );
    check(&format!("{INVOKE}\n{{\"index\":4,\"process\":\"nemesis\",\"type\":\"info\",\"f\":\"kill\"}}"), None);
    check(&format!("{INVOKE}\n{{\"index\":4,\"process\":\"nemesis\",\"type\":\"info\",\"value\":[\"n1\"]}}"), None);
    check(&format!("{INVOKE}\n{{\"index\":4,\"process\":\"nemesis\",\"type\":\"info\"}}"), None);
    let spaced = "{\"index\":7,\"type\":\"ok\",\"process\":1,\"value\":[ [\"append\", \"x\",1 ], [\"r\", 2, [1, 2 ]]]}";
    check(&format!("{INVOKE}\n{spaced}\n"), None);
}

#[test]
fn what_is_wrong_is_said_with_line_and_column() {
    let ok = |value: &str| format!("{INVOKE}\n{{\"index\":1,\"process\":1,\"type\":\"ok\",\"value\":{value}}}");
    check("x", Some((1, 1, "an event is a JSON object, one a line")));
    check(&INVOKE[..60], Some((1, 61, "the string does not end")));
    check(&INVOKE[..INVOKE.len() - 1], Some((1, 89, "`,` or `}` is expected: is the line cut off?")));
    check(&format!("{INVOKE} {INVOKE}"), Some((1, 91, "one event stands on a line, and nothing after it")));
    check(&format!("{INVOKE}\n{INVOKE}"), Some((2, 58, "index 0 was used before")));
    check(&ok("[]"), Some((2, 45, MOP)));
    check(&ok("[[\"append\",\"x\",1]]"), Some((2, 61, "fewer micro-operations than were invoked")));
    check(
        &ok("[[\"append\",\"x\",1],[\"r\",2,[]],[\"r\",2,[]]]"),
        Some((2, 72, "more micro-operations than were invoked")),
    );
    check(
        &ok("[[\"append\",\"x\",2],[\"r\",2,[]]]"),
        Some((2, 45, "micro-operation 1 is not the one that was invoked")),
    );
    check(
        &ok("[[\"append\",\"x\",1],[\"r\",3,[]]]"),
        Some((2, 62, "micro-operation 2 is not the one that was invoked")),
    );
    check(&ok("[[\"append\",\"x\",1],[\"r\",2,[[1]]]]"), None);
    check(&ok("[[\"append\",\"x\",1],[\"r\",2,[1,]]]"), Some((2, 73, "a read is null, a value, or a list of values")));
}

/// A line of a completion is checked against the invocation in both ways of reading: by its spelling and by its parts.
#[test]
fn reading_agrees_with_building_event_by_event() {
    let text = "{\"index\":0,\"process\":1,\"type\":\"invoke\",\"value\":[[\"append\",\"x\",1],[\"r\",2,null]]}\n\
                {\"index\":1,\"process\":2,\"type\":\"invoke\",\"value\":[[\"w\",2,5]]}\n\
                {\"index\":2,\"process\":1,\"type\":\"ok\",\"value\":[[\"append\",\"x\",1],[\"r\",2,5]]}\n\
                {\"index\":3,\"process\":2,\"type\":\"info\",\"value\":[[\"w\",2,5]]}\n";
    let read = read(text.as_bytes()).expect("a history");
    let (x, two) = (Value::text("x"), Value::Int(2));
    let mut builder = Builder::new();
    let append = EventMop::Append(x, Value::Int(1));
    let write = EventMop::Write(two.clone(), Value::Int(5));
    let events = [
        (1, EventKind::Invoke, vec![append.clone(), EventMop::Read(two.clone(), Answer::Nil)]),
        (2, EventKind::Invoke, vec![write.clone()]),
        (1, EventKind::Ok, vec![append, EventMop::Read(two, Answer::Value(Value::Int(5)))]),
        (2, EventKind::Info, vec![write]),
    ];
    for (process, kind, mops) in &events {
        builder.event(&Event { index: None, process: *process, kind: *kind, mops }).expect("fits");
    }
    let built = builder.finish();
    assert_eq!(format!("{read:?}"), format!("{built:?}"));
    assert_eq!(read.status(1), Status::Info);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }

    #[test]
    fn no_damage_to_a_history_makes_the_reader_panic(
        cuts in proptest::collection::vec((0_usize..400, 0_usize..400, prop::sample::select(
            &b"\"[]{},:0 1\\n-x\n"[..])), 1..6)
    ) {
        let mut text = format!(
            "{INVOKE}\n{{\"index\":1,\"process\":1,\"type\":\"ok\",\"value\":[[\"append\",\"x\",1],[\"r\",2,[1,2]]]}}\n\
             {{\"index\":2,\"process\":1,\"type\":\"invoke\",\"value\":[[\"append\",2,1],[\"r\",2,null]]}}\n"
        ).into_bytes();
        for (at, to, byte) in cuts {
            let (at, to) = (at % text.len(), to % text.len());
            if at < to && to - at < 5 {
                text.drain(at..to);
            } else {
                text.insert(at, byte);
            }
        }
        let _ = read(&text);
        let _ = read_into(Builder::of_fragments(), &text);
    }
}
