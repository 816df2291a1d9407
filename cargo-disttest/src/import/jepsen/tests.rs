//! Events and what comes of them.

use super::super::edn::Reader;
use super::super::format::InputFormat;
use super::super::{Packing, Reading, Stopped, Tuples, read_from};
use disttest_runtime::checker::Unlimited;
use disttest_runtime::history::{Effect, notation};
use proptest::prelude::*;
use std::io::Cursor;

fn read(text: &str, tuples: Tuples) -> Result<super::super::Imported, String> {
    let bytes = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let reading = Reading { format: InputFormat::Auto, tuples };
    read_from(bytes, Packing::Plain, reading, &Unlimited).map_err(|stopped| match stopped {
        Stopped::Refused(problem) => problem.place("h") + ": " + &problem.problem,
        Stopped::Limit(limit) => limit,
    })
}

fn check_with(text: &str, tuples: Tuples, expect: &[&str]) {
    match read(text, tuples) {
        Ok(imported) => {
            let lines: Vec<String> = imported.history().ops().iter().map(notation::line).collect();
            assert_eq!(lines, expect, "{text}");
        }
        Err(problem) => assert!(expect.len() == 1 && problem.contains(expect[0]), "{text}: {problem}"),
    }
}

fn check(text: &str, expect: &[&str]) {
    check_with(text, Tuples::Detect, expect);
}

#[test]
fn an_operation_is_an_invocation_and_its_completion() {
    check(
        "{:type :invoke :process 0 :f :write :value 1}\n{:type :invoke :process 1 :f :read :value nil}\n\
         {:type :ok :process 0 :f :write :value 1}\n{:type :ok :process 1 :f :read :value 1}",
        &["#0 c0 write - 1 [0..2]", "#1 c1 read - -> 1 [1..3]"],
    );
    check(
        "[{:type :invoke, :process 0, :f :cas, :value [1 2], :index 5} #_{:type :bad}\n\
         #jepsen.history.Op{:type :fail, :process 0, :f :cas, :value [1 2], :error :precondition, :index 6}]",
        &["#5 c0 cas - [1,2] !:precondition [0..1]"],
    );
    check(
        "{\"type\":\"invoke\",\"process\":3,\"f\":\"write\",\"value\":1,\"time\":10}\n\
         {\"type\":\"info\",\"process\":\"nemesis\",\"f\":\"start\",\"value\":null,\"time\":11}\n\
         {\"type\":\"info\",\"process\":3,\"f\":\"write\",\"value\":1,\"time\":20,\"error\":\"timeout\"}\n\
         {\"type\":\"invoke\",\"process\":4,\"f\":\"read\",\"value\":null,\"time\":20}\n\
         {\"type\":\"ok\",\"process\":4,\"f\":\"read\",\"value\":[1],\"time\":20}\n",
        &["#0 c3 write - 1 !timeout [10..]", "#3 c4 read - -> [1] [21..22]"],
    );
    check(
        "{:type :invoke :process 0 :value [[:append 1 2]]}\n{:type :ok :process 0 :value [[:append 1 2]]}",
        &["#0 c0 txn - [[\"append\",1,2]] -> [[\"append\",1,2]] [0..1]"],
    );
    check(
        "({:type :invoke :process 0 :f :read :value nil}\n{:type :ok :process 0 :f :read :value nil})",
        &["#0 c0 read - -> null [0..1]"],
    );
}

#[test]
fn what_cannot_have_happened_is_refused() {
    let invoke = "{:type :invoke :process 0 :f :write :value 1}\n";
    check(&format!("{invoke}{invoke}"), &["h:2: process 0 invokes while its operation of line 1 is in flight"]);
    check("\n{:type :ok :process 0 :f :write :value 1}", &["h:2: `ok` of process 0 without an invocation"]);
    check(
        &format!("{invoke}{{:type :ok :process 0 :f :read :value 1}}"),
        &["h:2: completes a `read`, and line 1 invoked a `write`"],
    );
    check(
        &format!("{invoke}{{:type :ok :process 0 :f :write :value 2}}"),
        &["h:2: a `write` of 1 was invoked, and 2 completed"],
    );
    check(
        "{:type :invoke :process 0 :f :cas :value [1 2]}\n{:type :ok :process 0 :f :cas :value [2 2]}",
        &["h:2: a `cas` of [1,2] was invoked, and [2,2] completed"],
    );
    check(
        "{:type :invoke :process 0 :f :read :index 4}\n{:type :ok :process 0 :f :read :index 4}",
        &["h:2: index 4 stands behind index 4"],
    );
    check(
        "{:type :invoke :process 0 :f :read :index 4}\n{:type :ok :process 0 :f :read}",
        &["h:2: `index` is missing"],
    );
    check("{:type :invoke :process 0 :f :read}\n{:type :ok :process 0 :f :read :index 1}", &["h:2: `index` is there"]);
    check("[{:type :invoke :process 0 :f :read}\n", &["h:2:1: the text ends before the closing `]`"]);
    check("[{:type :invoke :process 0 :f :read}]\n{:type :ok}", &["h:2:1: something follows the history"]);
    check(&format!("{invoke}{{:type :ok :process 0 :f :wr"), &["h:2:29: the text ends before the `}` of line 2"]);
    check(&format!("{invoke}{{:type :ok, :value 1}}"), &["h:2: some events say of which `process` they are"]);
    check(
        &format!("{invoke}{{:type :done, :process 0}}"),
        &["h:2:1: :type is :invoke, :ok, :fail or :info, not :done"],
    );
    check(&format!("{invoke}17"), &["h:2:1: an event is a map"]);
    check(
        "{\"type\":\"invoke\",\"process\":0,\"f\":\"read\"}\n{\"type\":\"ok\",\"process\":0,\"f\":\"re",
        &["h:2:32: the line is cut off"],
    );
    check(
        "{\"type\":\"invoke\",\"process\":0,\"process\":1,\"f\":\"read\"}\n",
        &["h:1:38: the line cannot be read: duplicate field `process`"],
    );
    check("{\"type\":\"invoke\",\"process\":0,\"f\":\"write\",\"value\":{\"a\":1,\"a\":2}}\n", &["`a` stands twice"]);
    check(
        "{\"type\":\"invoke\",\"process\":0,\"f\":\"write\",\"value\":123456789012345678901234}\n",
        &["cannot be told from its neighbours"],
    );
    check("{\"type\":\"invoke\",\"process\":-1,\"f\":\"write\"}\n", &["h:1: -1 is the number of no process"]);
    check(
        "{\"type\":\"invoke\",\"process\":\"w1\",\"f\":\"write\"}\n",
        &["h:1: `process` is a number or \"nemesis\", not \"w1\""],
    );
}

#[test]
fn lines_that_were_moved_are_refused() {
    let event = |kind: &str, time: u64| format!("{{:type :{kind} :process 0 :f :read :time {time}}}\n");
    check(
        &format!("{}{}", event("invoke", 9_000_000_000), event("ok", 3_000_000_000)),
        &["h:2: 6000 ms earlier than the events before it"],
    );
    check(
        &format!("{}{}", event("invoke", 9_000_000_000), event("ok", 8_999_000_000)),
        &["#0 c0 read - -> null [9000000000..9000000001]"],
    );
}

#[test]
fn values_that_would_become_one_are_refused() {
    check(
        "{:type :invoke :process 0 :f :write :value :x}\n{:type :invoke :process 1 :f :write :value \"x\"}",
        &["h:2:1: `x` is a text here and a keyword before"],
    );
    check("{:type :invoke :process 0 :f :write :value {1 2, \"1\" 3}}", &["two keys of a map are both `1`"]);
    check(
        "{:type :invoke :process 0 :f :write :value 12345678901234567890N}",
        &["#0 c0 write - {\"#bigint\":\"12345678901234567890\"} [0..]"],
    );
    let independent = |a: &str, b: &str| {
        format!(
            "{{:type :invoke :process 0 :f :read :value [{a} nil]}}\n{{:type :invoke :process 1 :f :read :value [{b} nil]}}"
        )
    };
    check(&independent("1", "\"1\""), &["h:2: the key \"1\" is a text in one place and a number in another (line 1)"]);
}

#[test]
fn pairs_are_taken_apart_when_they_can_be_nothing_else() {
    let write = "{:type :invoke :process 0 :f :write :value [7 1]}\n{:type :ok :process 0 :f :write :value [7 1]}\n";
    let read = "{:type :invoke :process 0 :f :read :value [7 nil]}\n{:type :ok :process 0 :f :read :value [7 1]}\n";
    let cas = "{:type :invoke :process 0 :f :cas :value [7 [1 2]]}\n{:type :ok :process 0 :f :cas :value [7 [1 2]]}\n";
    let split = ["#0 c0 write 7 1 [0..1]", "#2 c0 read 7 -> 1 [2..3]", "#4 c0 cas 7 [1,2] -> true [4..5]"];
    check(&format!("{write}{read}{cas}"), &split);
    check_with(&format!("{write}{read}{cas}"), Tuples::Always, &split);
    check_with(
        &format!("{write}{read}"),
        Tuples::Never,
        &["#0 c0 write - [7,1] [0..1]", "#2 c0 read - [7,null] -> [7,1] [2..3]"],
    );
    // A register of pairs: its reads say nothing when they begin.
    let plain = "{:type :invoke :process 0 :f :read :value nil}\n{:type :ok :process 0 :f :read :value [7 1]}\n";
    check(&format!("{write}{plain}"), &["#0 c0 write - [7,1] [0..1]", "#2 c0 read - -> [7,1] [2..3]"]);
    check_with(
        &format!("{write}{plain}"),
        Tuples::Always,
        &["h:3: per key, the value of an operation is `[key value]`"],
    );
    // A cas that is none per key.
    let plain_cas = "{:type :invoke :process 0 :f :cas :value [1 2]}\n{:type :ok :process 0 :f :cas :value [1 2]}\n";
    check(plain_cas, &["#0 c0 cas - [1,2] -> true [0..1]"]);
    check_with(plain_cas, Tuples::Always, &["h:1: per key"]);
    check(
        "{:type :invoke :process 0 :f :read :value [7 nil]}\n{:type :ok :process 0 :f :read :value [8 1]}\n",
        &["h:1: asks for the key 7, and the answer is of the key 8"],
    );
}

#[test]
fn what_is_doubtful_is_told() {
    let told = |text: &str, expect: &str| {
        let assumed = read(text, Tuples::Detect).expect("readable").assumed.join("; ");
        assert!(assumed.contains(expect), "{text}: {assumed}");
    };
    told("{:type :invoke :process 0 :f :read}", "1 operation never completed");
    told(
        "{:type :invoke :process 0 :f :read :index 1}\n{:type :ok :process 0 :f :read :index 9}",
        "7 event indices are not there (line 2",
    );
    told(
        "{:type :invoke :process 0 :f :read :time 9}\n{:type :ok :process 0 :f :read :time 3}",
        "1 event: earlier than the event before it",
    );
    let skipped =
        read("{:type :info :process :nemesis :f :start}\n{:type :info :process :nemesis :f :start}", Tuples::Detect);
    assert_eq!(skipped.expect("readable").skipped, 2);
}

#[test]
fn a_reader_of_a_history_reads_what_is_in_it_one_by_one() {
    let mut reader = Reader::new(&b"[1 2]"[..]);
    let close = reader.open().expect("EDN").expect("a vector");
    assert!(reader.element(close).expect("EDN").is_some());
    assert!(reader.element(close).expect("EDN").is_some());
    assert!(reader.element(close).expect("EDN").is_none());
}

/// Events of three clients that could have happened: a client that is free invokes, one that is not completes.
fn any_events() -> impl Strategy<Value = String> {
    prop::collection::vec((0..3_usize, 0..3_usize, 0..3_usize, 0..3_u8), 0..24).prop_map(|steps| {
        let (mut open, mut text) = ([None; 3], String::new());
        for (process, kind, f, value) in steps {
            let (kind, f, value, answer) = match open[process].take() {
                None => {
                    open[process] = Some((f, value));
                    ("invoke", f, value, "nil".to_owned())
                }
                Some((f, asked)) => (["ok", "fail", "info"][kind], f, asked, value.to_string()),
            };
            let (f, value) = match f {
                0 => ("write", value.to_string()),
                1 => ("read", answer),
                _ => ("cas", format!("[{value} 1]")),
            };
            text.push_str(&format!("{{:type :{kind} :process {process} :f :{f} :value {value}}}\n"));
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_event_of_a_history_that_is_read_is_in_an_operation(text in any_events()) {
        let imported = read(&text, Tuples::Detect).expect("it could have happened");
        let ops = imported.history().ops();
        let with = |effect| ops.iter().filter(|op| op.effect() == effect).count();
        prop_assert_eq!(ops.len(), text.matches(":invoke").count());
        prop_assert_eq!(with(Effect::Acknowledged), text.matches(":type :ok").count());
        prop_assert_eq!(with(Effect::Failed), text.matches(":type :fail").count());
    }

    #[test]
    fn both_notations_say_the_same(text in any_events()) {
        let json: String = text.lines().map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let value = line.split(":value ").nth(1).unwrap_or_default().trim_end_matches('}');
            let value = value.replace("nil", "null").replace(' ', ",");
            let word = |at: usize| words[at].trim_start_matches(':');
            format!("{{\"type\":\"{}\",\"process\":{},\"f\":\"{}\",\"value\":{value}}}\n", word(1), words[3], word(5))
        }).collect();
        let (edn, json) = (read(&text, Tuples::Detect), read(&json, Tuples::Detect));
        let (edn, json) = (edn.expect("it could have happened"), json.expect("it could have happened"));
        prop_assert_eq!(edn.history(), json.history());
    }

    #[test]
    fn a_line_less_is_refused_or_told(text in any_events(), at in any::<prop::sample::Index>()) {
        // With indices a line that was taken out leaves a gap, unless it was the first or the last.
        let indexed: Vec<String> =
            text.lines().zip(0..).map(|(line, index)| line.replacen("{:type", &format!("{{:index {index} :type"), 1)).collect();
        prop_assume!(indexed.len() > 2);
        let gone = 1 + at.index(indexed.len() - 2);
        let rest: Vec<&str> = (0..indexed.len()).filter(|line| *line != gone).map(|line| indexed[line].as_str()).collect();
        if let Ok(imported) = read(&rest.join("\n"), Tuples::Detect) {
            prop_assert!(imported.assumed.iter().any(|told| told.contains("1 event indices are not there")));
        }
    }
}
