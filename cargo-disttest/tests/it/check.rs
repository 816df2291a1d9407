//! `check`: recorded histories, judged through the binary.

use crate::package::{Answer, binary};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use tempfile::TempDir;

mod cases;
mod catalogue;
mod formats;

const VALID: &str = "\
{\"op_id\":0,\"process_id\":1,\"invoke_ts\":0,\"complete_ts\":5,\"op_type\":\"write\",\"input\":1}
{\"op_id\":1,\"process_id\":2,\"invoke_ts\":6,\"complete_ts\":9,\"op_type\":\"read\",\"output\":1}
";

const STALE: &str = "\
{\"op_id\":0,\"process_id\":1,\"invoke_ts\":0,\"complete_ts\":5,\"op_type\":\"write\",\"input\":1}
{\"op_id\":1,\"process_id\":2,\"invoke_ts\":6,\"complete_ts\":9,\"op_type\":\"read\",\"output\":null}
";

const JEPSEN: &str = "\
{\"index\":0,\"process\":1,\"type\":\"invoke\",\"f\":\"write\",\"value\":1}
{\"index\":1,\"process\":1,\"type\":\"ok\",\"f\":\"write\",\"value\":1}
{\"index\":2,\"process\":\"nemesis\",\"type\":\"info\",\"f\":\"start\",\"value\":null}
{\"index\":3,\"process\":2,\"type\":\"invoke\",\"f\":\"read\",\"value\":null}
{\"index\":4,\"process\":2,\"type\":\"ok\",\"f\":\"read\",\"value\":1}
";

const EDN: &str = "\
{:type :invoke, :process 1, :f :write, :value 1} ; begins
{:type :ok, :process 1, :f :write, :value 1}
#jepsen.history.Op{:type :invoke, :process 2, :f :read, :value nil}
{:type :ok, :process 2, :f :read, :value 1}
";

/// Files in a folder of their own.
struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    fn check(&self, args: &[&str]) -> Answer {
        self.feed(args, b"")
    }

    fn feed(&self, args: &[&str], input: &[u8]) -> Answer {
        let mut command = binary();
        command.current_dir(self.0.path()).args(["disttest", "check"]).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A refusal may come before everything was read.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        Answer {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn documents(answer: &Answer) -> Vec<Value> {
    answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a text comes to, alone and for `register`.
#[track_caller]
fn check(text: impl AsRef<[u8]>, args: &[&str], status: i32, expect: &str) {
    let files = Files::new();
    files.write("h", text);
    let answer = files.check(&[&["h", "--model", "register"], args].concat()).expect(status);
    let told = format!("{}{}", answer.out, answer.err);
    assert!(told.contains(expect), "{told}");
}

#[test]
fn each_answer_has_its_exit_status() {
    check(VALID, &[], 0, "valid h: linearizability of register, as one object");
    check(STALE, &[], 1, "invalid h: linearizability");
    check("", &[], 3, "why: the history is empty");
    check("[]", &[], 3, "why: the history is empty");
    check("\n\n", &[], 3, "why: the history is empty");
    check(&VALID[..VALID.find('\n').unwrap()], &[], 0, "warning: no operation of 1 could have contradicted it");
    check(VALID.replace("read", "pop"), &[], 3, "`pop` is none of read/get");
    check(&VALID[..150], &[], 2, "error: h:2:65: the line is cut off");
}

#[test]
fn each_format_is_told_by_its_first_value() {
    for (text, format) in [(VALID, "jsonl"), (JEPSEN, "jepsen-jsonl"), (EDN, "edn"), (&format!("[{EDN}]"), "edn")] {
        check(text, &["--format", "json"], 0, &format!("\"input_format\":\"{format}\""));
        check(text, &["--input-format", format], 0, "2 operations");
    }
    check(JEPSEN, &[], 0, "1 event of no client skipped");
    check(JEPSEN, &["--input-format", "jsonl"], 2, "h:1: `op_id` is missing or null");
    check(VALID, &["--input-format", "jepsen-jsonl"], 2, "missing field `type`");
    check(VALID, &["--input-format", "edn"], 2, "h:1:");
    check(EDN, &["--input-format", "jsonl"], 2, "h:1:2: the line cannot be read");
    check("op,client\n1,2\n", &[], 2, "h:1: is no history");
    check([0x1f, 0x8b], &[], 2, "h:1: cannot be read");
}

#[test]
fn packed_histories_are_read_and_damaged_ones_refused() {
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let zstd =
        |text: &str| ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    for (pack, name) in [(&gzip as &dyn Fn(&str) -> Vec<u8>, "gzip"), (&zstd, "zstd")] {
        for text in [VALID, JEPSEN, EDN] {
            check(pack(text), &["--format", "json"], 0, &format!("\"packing\":\"{name}\""));
        }
        // Members and frames one after the other are one text.
        let (first, second) = VALID.split_at(VALID.find('\n').unwrap() + 1);
        check([pack(first), pack(second)].concat(), &[], 0, "2 operations");
        let whole = pack(&hard());
        for cut in [whole.len() - 1, whole.len() / 2] {
            check(&whole[..cut], &[], 2, "cannot be read");
        }
        let mut damaged = pack(VALID);
        let last = damaged.len() - 1;
        damaged[last - 2] ^= 0x55;
        check(&damaged, &[], 2, "cannot be read");
        check([pack(VALID), b"more".to_vec()].concat(), &[], 2, "cannot be read");
    }
}

#[test]
fn a_history_that_cannot_have_happened_is_refused_with_its_place_and_its_line() {
    let lines: Vec<&str> = VALID.lines().collect();
    check(format!("{}\n{}\n", lines[0], lines[0]), &[], 2, "error: h:2: operation 0 was told before, at line 1");
    check(format!("{}\n{}\n", lines[1], lines[0]).replace("\"op_id\":0", "\"op_id\":7"), &[], 0, "valid");
    check(format!("{}\n{}\n", lines[1], lines[0]), &[], 2, "error: h:2: the lines are in no order");
    check(
        VALID.replace("\"complete_ts\":9", "\"complete_ts\":3"),
        &[],
        2,
        "error: h:2: operation 1 completed at 3 ns, before",
    );
    check(
        VALID.replace("\"complete_ts\":9", "\"timeout_marker\":true"),
        &[],
        2,
        "error: h:2: operation 1 has an output",
    );
    let events: Vec<&str> = JEPSEN.lines().collect();
    let without = |drop: usize| {
        let kept: Vec<&str> = (0..events.len()).filter(|at| *at != drop).map(|at| events[at]).collect();
        kept.join("\n")
    };
    check(without(0), &[], 2, "error: h:1: `ok` of process 1 without an invocation");
    check(without(3), &[], 2, "error: h:4: `ok` of process 2 without an invocation");
    check(without(1), &[], 0, "1 event indices are not there");
    check(format!("{JEPSEN}{}", events[4]), &[], 2, "error: h:6: index 4 stands behind index 4");
    check(JEPSEN.replace("\"index\":3", "\"index\":0"), &[], 2, "error: h:4: index 0 stands behind index 2");
    check(&EDN[..EDN.len() - 10], &[], 2, "error: h:4:35: the text ends before the `}` of line 4");
    check(
        EDN.replace(":read, :value 1", ":read, :value 1x"),
        &[],
        2,
        "h:4:42: `1x` is no number\n  |\n4 | {:type :ok, :process 2, :f :read, :value 1x}\n  |",
    );
}

#[test]
fn standard_input_is_a_history() {
    let files = Files::new();
    let answer = files.feed(&["-", "--model", "register"], VALID.as_bytes()).expect(0);
    assert!(answer.out.starts_with("valid <stdin>: "), "{}", answer.out);
    let answer = files.feed(&["-", "--model", "register"], b"{\"op_id\":").expect(2);
    assert!(answer.err.contains("<stdin>:1:9: "), "{}", answer.err);
    files.feed(&["-", "-", "--model", "register"], VALID.as_bytes()).expect(2);
}

#[test]
fn of_several_files_the_worst_rules_and_each_is_told() {
    let files = Files::new();
    for (name, text) in [("good", VALID), ("bad", STALE), ("empty", ""), ("cut", &VALID[..40])] {
        files.write(name, text);
    }
    let run = |names: &[&str], status: i32| {
        files.check(&[names, &["--model", "register", "--format", "json"]].concat()).expect(status)
    };
    let outcomes = |answer: &Answer| -> Vec<String> {
        documents(answer).iter().map(|d| d["outcome"].as_str().unwrap_or("error").to_owned()).collect()
    };
    assert_eq!(outcomes(&run(&["good", "bad", "empty", "cut"], 1)), ["valid", "invalid", "unknown", "error"]);
    assert_eq!(outcomes(&run(&["good", "cut", "empty", "no-such-file"], 2)), ["valid", "error", "unknown", "error"]);
    assert_eq!(outcomes(&run(&["good", "empty"], 3)), ["valid", "unknown"]);
    assert_eq!(outcomes(&run(&["good", "good"], 0)), ["valid", "valid"]);
}

#[test]
fn the_json_says_what_was_read_and_what_was_found() {
    let files = Files::new();
    files.write("h.jsonl", STALE);
    let all = documents(&files.check(&["h.jsonl", "--model", "register", "--format", "json"]).expect(1));
    let [document] = all.as_slice() else { panic!("{all:?}") };
    for (field, expect) in [
        ("schema", Value::from("disttest.check/1")),
        ("outcome", "invalid".into()),
        ("checker", "linearizability".into()),
        ("model", "register".into()),
        ("ops", 2.into()),
        ("consumed", 2.into()),
        ("not", vec!["linearizable"].into()),
        ("input_format", "jsonl".into()),
    ] {
        assert_eq!(document[field], expect, "{field}");
    }
    assert_eq!(document["anomalies"][0]["type"], "non-linearizable");
    assert_eq!(document["witness"]["ops"][1]["line"], 2);
    assert!(document["anomalies"][0]["explanation"].as_str().unwrap().contains("#1"));
    assert!(document["elapsed_ms"].is_number() && document["peak_bytes"].is_number());
    files.write("h.jsonl", &VALID[..20]);
    let all = documents(&files.check(&["h.jsonl", "--model", "register", "--format", "json"]).expect(2));
    assert_eq!((&all[0]["error"]["line"], &all[0]["outcome"]), (&Value::from(1), &Value::Null));
}

/// Clients that all write and read at once: no search ends in time.
fn hard() -> String {
    let mut text = String::new();
    for at in 0..4000_u64 {
        let (kind, value) = if at % 2 == 0 { ("write", "input") } else { ("read", "output") };
        let (client, from) = (at % 40, at * 10);
        text.push_str(&format!(
            "{{\"op_id\":{at},\"process_id\":{client},\"invoke_ts\":{from},\"complete_ts\":{},\"op_type\":\"{kind}\",\"{value}\":{}}}\n",
            from + 395,
            at * 7919 % 5,
        ));
    }
    text
}

#[test]
fn what_takes_too_long_or_too_much_is_unknown() {
    check(VALID, &["--memory", "1K"], 3, "the memory limit of 0 MB");
    let files = Files::new();
    files.write("h", hard());
    let answer = files.check(&["h", "--model", "register", "--timeout", "1ms", "--format", "json"]).expect(3);
    let why = documents(&answer)[0]["why"].as_str().unwrap().to_owned();
    assert!(why.contains("the time limit of 1ms"), "{why}");
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    // Many objects, each tenth of them with a stale read, and more operations than one thread would be used for.
    let mut text = String::new();
    for at in 0..24_000_u64 {
        let (key, round) = (at % 50, at / 50);
        let op = match (round % 2, key % 10 == 3 && round > 300) {
            (0, _) => format!("\"op_type\":\"write\",\"input\":{round}"),
            (_, true) => "\"op_type\":\"read\",\"output\":0".to_owned(),
            _ => format!("\"op_type\":\"read\",\"output\":{}", round - 1),
        };
        text.push_str(&format!(
            "{{\"op_id\":{at},\"process_id\":{key},\"invoke_ts\":{},\"complete_ts\":{},\"key\":\"k{key}\",{op}}}\n",
            at * 10,
            at * 10 + 400
        ));
    }
    let files = Files::new();
    files.write("h", text);
    let run = |threads: &str| {
        let args = ["h", "--model", "register", "--threads", threads, "--format", "json", "--html", threads];
        let mut document = documents(&files.check(&args).expect(1)).remove(0);
        for measured in ["elapsed_ms", "read_ms", "peak_bytes"] {
            assert!(document.as_object_mut().unwrap().remove(measured).is_some());
        }
        (document, std::fs::read_to_string(files.path(threads)).unwrap())
    };
    let serial = run("1");
    assert_eq!(serial.0["anomalies"].as_array().unwrap().len(), 5);
    assert!(run("2") == serial && run("7") == serial);
    files.check(&["h", "--model", "register", "--threads", "0"]).expect(2);
}

#[test]
fn models_start_and_fail_as_they_are_told() {
    let read = |output: &str| {
        format!(
            "{{\"op_id\":0,\"process_id\":1,\"invoke_ts\":0,\"complete_ts\":5,\"op_type\":\"read\",\"output\":{output}}}\n"
        )
    };
    check(read("7"), &[], 1, "invalid");
    check(read("7"), &["--init", "7"], 0, "valid");
    check(read("-7"), &["--init", "-7"], 0, "valid");
    check(read("\"a\""), &["--init", "\"a\""], 0, "valid");
    check(read("7"), &["--init", "seven"], 2, "a string is written '\"seven\"'");
    let cas = format!(
        "{}{}",
        "{\"op_id\":0,\"process_id\":1,\"invoke_ts\":0,\"complete_ts\":2,\"op_type\":\"cas\",\"input\":[7,8],\"error\":\"fail\"}\n",
        read("7").replace("\"op_id\":0", "\"op_id\":1").replace("\"invoke_ts\":0", "\"invoke_ts\":3"),
    );
    check(&cas, &["--init", "7"], 0, "1 failed");
    check(&cas, &["--init", "7", "--fail-semantics", "constrain"], 1, "invalid");
}

#[test]
fn keys_are_objects_of_their_own_unless_told_otherwise() {
    let keyed = VALID.replacen("\"write\"", "\"write\",\"key\":\"a\"", 1).replace("\"read\"", "\"read\",\"key\":\"b\"");
    check(&keyed, &[], 1, "key by key");
    check(&keyed, &["--per-key"], 1, "invalid");
    check(&keyed, &["--whole"], 3, "another key than before");
    check(VALID, &["--per-key"], 3, "it has no key");
    let pairs = EDN.replace(":value 1", ":value [:x 1]").replace(":value nil", ":value [:x nil]");
    check(&pairs, &[], 0, "every value is a pair");
    check(&pairs, &["--per-key"], 0, "key by key");
    check(EDN, &["--per-key"], 2, "h:1: per key, the value of an operation is `[key value]`");
    check(&pairs, &["--whole"], 0, "as one object");
}

#[test]
fn a_flag_that_says_nothing_of_the_model_is_an_error() {
    let files = Files::new();
    files.write("h", VALID);
    for (args, expect) in [
        (&["--model", "regster"][..], "did you mean `register`?"),
        (&["--model", "nothing"], "the models are register ("),
        (&["--model", "register", "--checker", "liniarizability"], "did you mean `linearizability`?"),
        (&["--model", "register", "--checker", "exclusion"], "does not fit the model `register`"),
        (&["--model", "register", "--wfr-keys"], "are for --model rw-register"),
        (&["--model", "register", "--consistency-model", "serializable"], "is not what linearizability decides"),
        (&["--model", "register", "--per-key", "--whole"], "cannot be used with"),
        (&["--model", "register", "--timeout", "0"], "no time at all"),
        (&["--model", "log", "--init", "1"], "a `log` starts empty"),
        (&["--model", "kv", "--init", "1"], "starts as a string, not as 1"),
        (&["--model", "queue", "--init", "1"], "a `queue` starts empty"),
    ] {
        let args = [&["h"], args].concat();
        let answer = files.check(&args).expect(2);
        assert!(answer.err.contains(expect), "{args:?}: {}", answer.err);
    }
    files.check(&["--model", "register"]).expect(2);
    files.check(&["h"]).expect(2);
    files.check(&["h", "--model", "register", "--checker", "Porcupine,no-lost-ack"]).expect(0);
}

#[test]
fn the_page_for_a_browser_draws_the_witness_and_escapes_what_the_file_says() {
    let files = Files::new();
    files.write("<h>", STALE.replace("null", "\"<script>alert(1)</script>\""));
    files.check(&["<h>", "--model", "register", "--html", "page.html"]).expect(1);
    let page = std::fs::read_to_string(files.path("page.html")).unwrap();
    assert!(
        page.contains("<svg") && page.contains("class=\"op witness\"") && page.contains("&lt;script&gt;"),
        "{page}"
    );
    assert!(!page.contains("<script") && !page.contains("<h>") && !page.contains("http-equiv=\"refresh\""), "{page}");
    let answer = files.check(&["<h>", "--model", "register", "--html", "no/such/folder.html"]).expect(2);
    assert!(answer.err.contains("cannot be written"), "{}", answer.err);
}

#[test]
fn a_history_of_a_terminal_has_no_control_characters() {
    let files = Files::new();
    files.write("h", STALE.replace("null", "\"\\u001b[31m\""));
    let answer = files.check(&["h", "--model", "register", "--color", "never"]).expect(1);
    assert!(!answer.out.contains('\u{1b}'), "{}", answer.out);
    let answer = files.check(&["h", "--model", "register", "--color", "always"]).expect(1);
    assert!(answer.out.contains("\u{1b}[1m"), "{}", answer.out);
}

/// What a text comes to for another model.
#[track_caller]
fn check_model(model: &str, text: &str, args: &[&str], status: i32, expect: &str) {
    let files = Files::new();
    files.write("h", text);
    let answer = files.check(&[&["h", "--model", model], args].concat()).expect(status);
    let told = format!("{}{}", answer.out, answer.err);
    assert!(told.contains(expect), "{told}");
}

/// Events of EDN, one client each; a completion follows its invocation.
fn events(steps: &[(&str, &str, &str)]) -> String {
    let event = |(at, (f, asked, answered)): (usize, &(&str, &str, &str))| {
        let one = |kind: &str, value: &str| format!("{{:type :{kind}, :process {at}, :f :{f}, :value {value}}}\n");
        format!("{}{}", one("invoke", asked), one("ok", answered))
    };
    steps.iter().enumerate().map(event).collect()
}

#[test]
fn models_of_jepsen_are_judged_by_their_checkers() {
    let queue = [("enqueue", "1", "1"), ("enqueue", "2", "2"), ("dequeue", "nil", "1")];
    check_model("queue", &events(&queue), &[], 0, "linearizability of queue");
    check_model(
        "queue",
        &events(&queue).replace(":ok, :process 2, :f :dequeue, :value 1", ":ok, :process 2, :f :dequeue, :value 2"),
        &[],
        1,
        "non-linearizable",
    );
    let mutex = [("acquire", "nil", "nil"), ("release", "nil", "nil"), ("acquire", "nil", "nil")];
    check_model("mutex", &events(&mutex), &["--init", "false"], 0, "valid");
    check_model("mutex", &events(&[mutex[0], mutex[0]]), &[], 1, "invalid");
    let set = [("add", "1", "1"), ("add", "2", "2"), ("read", "nil", "#{1 2}")];
    check_model("set", &events(&set), &[], 0, "set of set");
    check_model("set", &events(&[set[0], set[1], ("read", "nil", "[2]")]), &[], 1, "lost");
    let bank = [
        ("read", "nil", "{0 10, 1 0}"),
        ("transfer", "{:from 0, :to 1, :amount 3}", "{:from 0, :to 1, :amount 3}"),
        ("read", "nil", "{0 7, 1 3}"),
    ];
    check_model("bank", &events(&bank), &[], 0, "bank of bank");
    check_model("bank", &events(&[bank[0], bank[1], ("read", "nil", "{0 7, 1 4}")]), &[], 1, "invalid");
    let counter = [("add", "2", "2"), ("read", "nil", "2")];
    check_model("counter", &events(&counter), &[], 0, "counter-bounds of counter");
    check_model("counter", &events(&[counter[0], ("read", "nil", "3")]), &[], 1, "invalid");
}

#[test]
fn a_stale_read_is_sequentially_consistent_and_not_linearizable() {
    check(STALE, &[], 1, "not linearizable; so neither strict-serializable");
    check(STALE, &["--consistency-model", "linearizable"], 1, "invalid");
    check(STALE, &["--consistency-model", "sequential"], 0, "sequential-consistency of register");
    check(
        STALE.replace(":2,", ":1,"),
        &["--checker", "sequential-consistency"],
        1,
        "not sequential; so neither linearizable",
    );
    check(
        STALE,
        &["--consistency-model", "sequential", "--checker", "linearizability"],
        2,
        "is not what linearizability decides",
    );
    // Each key by itself has an order, and both together have none.
    let op = |id: u64, client: u64, at: u64, kind: &str, key: &str, value: &str| {
        format!(
            "{{\"op_id\":{id},\"process_id\":{client},\"invoke_ts\":{at},\"complete_ts\":{},\"op_type\":\"{kind}\",\"key\":\"{key}\",{value}}}\n",
            at + 1
        )
    };
    let keys = [
        op(0, 1, 0, "write", "x", "\"input\":1"),
        op(1, 2, 2, "write", "y", "\"input\":1"),
        op(2, 1, 4, "read", "y", "\"output\":null"),
        op(3, 2, 6, "read", "x", "\"output\":null"),
    ];
    check(keys.concat(), &["--consistency-model", "sequential"], 1, "invalid");
}

/// A write skew: each read what the other wrote later.
const SKEW: &str = "\
{:index 0 :type :invoke :process 0 :f :txn :value [[:r :x nil] [:append :y 1]]}
{:index 1 :type :invoke :process 1 :f :txn :value [[:r :y nil] [:append :x 1]]}
{:index 2 :type :info :process :nemesis :f :start :value nil}
{:index 3 :type :ok :process 0 :f :txn :value [[:r :x []] [:append :y 1]]}
{:index 4 :type :ok :process 1 :f :txn :value [[:r :y []] [:append :x 1]]}
{:index 5 :type :invoke :process 0 :f :txn :value [[:r :x nil] [:r :y nil]]}
{:index 6 :type :ok :process 0 :f :txn :value [[:r :x [1]] [:r :y [1]]]}
";

#[test]
fn transactions_are_judged_at_the_level_that_is_asked_for() {
    let json = "\
{\"index\":0,\"type\":\"invoke\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",\"x\",null],[\"append\",\"y\",1]]}
{\"index\":1,\"type\":\"invoke\",\"process\":1,\"f\":\"txn\",\"value\":[[\"r\",\"y\",null],[\"append\",\"x\",1]]}
{\"index\":3,\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",\"x\",[]],[\"append\",\"y\",1]]}
{\"index\":4,\"type\":\"ok\",\"process\":1,\"f\":\"txn\",\"value\":[[\"r\",\"y\",[]],[\"append\",\"x\",1]]}
{\"index\":5,\"type\":\"invoke\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",\"x\",null],[\"r\",\"y\",null]]}
{\"index\":6,\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"r\",\"x\",[1]],[\"r\",\"y\",[1]]]}
";
    let fields = "\
{\"op_id\":0,\"process_id\":0,\"invoke_ts\":0,\"complete_ts\":5,\"op_type\":\"txn\",\"input\":[[\"r\",\"x\",null],[\"append\",\"y\",1]],\"output\":[[\"r\",\"x\",[]],[\"append\",\"y\",1]]}
{\"op_id\":1,\"process_id\":1,\"invoke_ts\":1,\"complete_ts\":6,\"op_type\":\"txn\",\"input\":[[\"r\",\"y\",null],[\"append\",\"x\",1]],\"output\":[[\"r\",\"y\",[]],[\"append\",\"x\",1]]}
{\"op_id\":2,\"process_id\":0,\"invoke_ts\":7,\"complete_ts\":8,\"op_type\":\"txn\",\"input\":[[\"r\",\"x\",null],[\"r\",\"y\",null]],\"output\":[[\"r\",\"x\",[1]],[\"r\",\"y\",[1]]]}
";
    for text in [SKEW, json, fields] {
        check_model("list-append", text, &[], 1, "G2-item");
        check_model(
            "list-append",
            text,
            &["--consistency-model", "serializable", "--format", "json"],
            1,
            "\"not\":[\"repeatable-read\"]",
        );
        check_model(
            "list-append",
            text,
            &["--consistency-model", "snapshot-isolation"],
            0,
            "serializability of list-append",
        );
        check_model(
            "list-append",
            text,
            &["--consistency-model", "snapsot-isolation"],
            2,
            "did you mean `snapshot-isolation`?",
        );
        check_model("list-append", text, &["--checker", "elle", "--per-key"], 2, "cannot be checked key by key");
    }
    check_model("list-append", SKEW, &["--wfr-keys"], 2, "are for --model rw-register");
    check_model("list-append", "", &[], 3, "why: ");
    check_model("list-append", &SKEW[..SKEW.len() - 3], &[], 2, "error: h:7:");
    check_model("list-append", &json[..json.len() - 3], &[], 2, "error: h:6:");
    check_model("list-append", &SKEW.replace(":index 4", ":index 3"), &[], 2, "error: h:5: ");
    check_model("list-append", &json.replace("\"index\":4", "\"index\":3"), &[], 2, "error: h:4:");
    let files = Files::new();
    files.write("h", SKEW);
    files.check(&["h", "--model", "list-append", "--html", "page.html"]).expect(1);
    let page = std::fs::read_to_string(files.path("page.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("G2-item"), "{page}");
    let registers = SKEW.replace(":append", ":w").replace("[1]", "1").replace("[]", "nil");
    check_model("rw-register", &registers, &["--wfr-keys"], 1, "G2-item");
}
