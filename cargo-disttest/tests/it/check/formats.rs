//! Histories as Jepsen, Knossos and Elle write them, in EDN and in JSON, and what is refused of each.

use super::Files;
use disttest_runtime::history::{jsonl, notation};
use serde_json::Value;
use std::io::Write;

/// What a text comes to for a model: `outcome`, or what is said with the place of a refusal.
#[track_caller]
fn judged(model: &str, args: &[&str], text: impl AsRef<[u8]>, expect: &str) {
    let files = Files::new();
    files.write("h", text);
    let answer = files.check(&[&["h", "--model", model, "--format", "json"], args].concat());
    let document: Value = serde_json::from_str(answer.out.lines().next().unwrap_or("null")).unwrap();
    let got = match document["outcome"].as_str() {
        Some(outcome) => format!("{outcome}: {document}"),
        None => answer.err.clone(),
    };
    let (word, said) = expect.split_once(": ").unwrap_or((expect, ""));
    assert!(got.contains(word) && got.contains(said), "{model} {args:?}: {got}");
    if ["valid", "invalid", "unknown"].contains(&word) {
        assert!(got.starts_with(&format!("{word}:")), "{model} {args:?}: {got}");
    }
}

/// A history of Jepsen's store: records with every field that it writes, a nemesis, a crash, a client that goes on under
/// another process.
fn stored(events: &[(&str, &str, &str, &str)]) -> String {
    let mut text = String::from("; store/latest/history.edn\n");
    for (index, (kind, process, f, value)) in events.iter().enumerate() {
        let more = match *kind {
            "info" if *process != ":nemesis" => {
                ", :error [:timeout \"java.net.SocketTimeoutException: Read timed out\"]"
            }
            "fail" => ", :error :conflict",
            _ => "",
        };
        let record = if index % 2 == 0 { "#jepsen.history.Op" } else { "" };
        text.push_str(&format!(
            "{record}{{:index {index}, :time {}, :type :{kind}, :process {process}, :f :{f}, :value {value}{more}}}\n",
            10_000_000 + index * 1_000
        ));
    }
    text
}

const REGISTER: [(&str, &str, &str, &str); 11] = [
    ("invoke", "0", "write", "[1 3]"),
    ("info", ":nemesis", "start-partition", "[:isolated {\"n1\" #{\"n2\" \"n3\"}}]"),
    ("ok", "0", "write", "[1 3]"),
    ("invoke", "1", "cas", "[1 [3 4]]"),
    ("invoke", "2", "cas", "[2 [0 4]]"),
    ("info", "1", "cas", "[1 [3 4]]"),
    ("fail", "2", "cas", "[2 [0 4]]"),
    ("invoke", "6", "read", "[1 nil]"),
    ("info", ":nemesis", "stop-partition", "nil"),
    ("ok", "6", "read", "[1 4]"),
    ("invoke", "0", "read", "[2 nil]"),
];

#[test]
fn registers_of_independent_keys_with_a_nemesis_crashes_and_failures() {
    let text = stored(&REGISTER);
    for args in [&[][..], &["--per-key"]] {
        judged("cas-register", args, &text, "valid: \"ops\":5");
        judged("cas-register", args, &text, "valid: \"skipped\":2");
        judged("cas-register", args, text.replace("[1 4]}", "[1 5]}"), "invalid: \"key\":\"1\"");
    }
    judged("cas-register", &["--init", "null"], text.replace("[1 4]}", "[1 3]}"), "valid");
    // One vector of all, and a list, are the same.
    judged("cas-register", &[], format!("[{text}]"), "valid");
    judged("cas-register", &[], format!("({text})\n; the end\n"), "valid");
    judged("cas-register", &[], format!("[{text}] {{}}"), "error: h:13:3: something follows the history");
}

/// The same events as JSON Lines and as a JSON array, keywords being texts.
fn as_json(edn: &str) -> (String, String) {
    let value = |text: &str| {
        let text = text.replace("nil", "null").replace("#{", "[").replace(" ", ",");
        let mut out = String::new();
        let mut words = text.chars().peekable();
        while let Some(c) = words.next() {
            match c {
                ':' => {
                    out.push('"');
                    while let Some(c) = words.next_if(|c| c.is_alphanumeric() || *c == '-') {
                        out.push(c);
                    }
                    out.push('"');
                }
                c => out.push(c),
            }
        }
        out
    };
    let events: Vec<String> = edn
        .lines()
        .filter(|line| line.contains(":type"))
        .map(|line| {
            let field = |name: &str| {
                let rest = line.split(&format!("{name} ")).nth(1).unwrap();
                rest.split([',', '}']).next().unwrap().trim_start_matches(':').to_owned()
            };
            let value = value(line.split(":value ").nth(1).unwrap().trim_end_matches('}'));
            let process = field(":process");
            let process = if process == "nemesis" { "\"nemesis\"".to_owned() } else { process };
            format!(
                "{{\"type\":\"{}\",\"process\":{process},\"f\":\"{}\",\"value\":{value}}}",
                field(":type"),
                field(":f")
            )
        })
        .collect();
    (events.join("\n"), format!("[\n  {}\n]\n", events.join(",\n  ")))
}

/// Events of one client each, as EDN.
fn events(steps: &[(&str, &str, &str)]) -> String {
    let one = |(at, (f, asked, answered)): (usize, &(&str, &str, &str))| {
        let event = |kind: &str, value: &str| format!("{{:type :{kind}, :process {at}, :f :{f}, :value {value}}}\n");
        format!("{}{}", event("invoke", asked), event("ok", answered))
    };
    steps.iter().enumerate().map(one).collect()
}

fn packed(text: &str) -> [Vec<u8>; 3] {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let zstd = ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    [text.as_bytes().to_vec(), gzip.finish().unwrap(), zstd]
}

/// A model, steps that are right, and the last one in another way, which is wrong.
type Workload =
    (&'static str, &'static [(&'static str, &'static str, &'static str)], (&'static str, &'static str, &'static str));

const WORKLOADS: &[Workload] = &[
    ("register", &[("write", "1", "1"), ("read", "nil", "1")], ("read", "nil", "2")),
    (
        "mutex",
        &[("acquire", "nil", "nil"), ("release", "nil", "nil"), ("acquire", "nil", "nil")],
        ("release", "nil", "nil"),
    ),
    ("set", &[("add", "1", "1"), ("add", "2", "2"), ("read", "nil", "[1 2]")], ("read", "nil", "[2]")),
    ("set-full", &[("add", "1", "1"), ("add", "2", "2"), ("read", "nil", "[1 2]")], ("read", "nil", "[2]")),
    ("counter", &[("add", "2", "2"), ("read", "nil", "2")], ("read", "nil", "3")),
    ("queue", &[("enqueue", "1", "1"), ("enqueue", "2", "2"), ("dequeue", "nil", "1")], ("dequeue", "nil", "2")),
    (
        "total-queue",
        &[("enqueue", "1", "1"), ("enqueue", "2", "2"), ("drain", "nil", "[2 1]")],
        ("drain", "nil", "[2]"),
    ),
    ("unique-ids", &[("generate", "nil", "1"), ("generate", "nil", "2")], ("generate", "nil", "1")),
    (
        "long-fork",
        &[
            ("write", "[[:w 0 1]]", "[[:w 0 1]]"),
            ("write", "[[:w 1 1]]", "[[:w 1 1]]"),
            ("read", "[[:r 0 nil] [:r 1 nil]]", "[[:r 0 1] [:r 1 nil]]"),
            ("read", "[[:r 0 nil] [:r 1 nil]]", "[[:r 0 1] [:r 1 1]]"),
        ],
        ("read", "[[:r 0 nil] [:r 1 nil]]", "[[:r 0 nil] [:r 1 1]]"),
    ),
    (
        "list-append",
        &[("txn", "[[:append 9 1] [:r 8 nil]]", "[[:append 9 1] [:r 8 []]]"), ("txn", "[[:r 9 nil]]", "[[:r 9 [1]]]")],
        ("txn", "[[:r 9 nil]]", "[[:r 9 [7]]]"),
    ),
    (
        "rw-register",
        &[("txn", "[[:w 9 1]]", "[[:w 9 1]]"), ("txn", "[[:r 9 nil] [:w 9 2]]", "[[:r 9 1] [:w 9 2]]")],
        ("txn", "[[:w 9 2] [:r 9 nil]]", "[[:w 9 2] [:r 9 1]]"),
    ),
    (
        "sequential",
        &[("add", "[0 \"0_0\"]", "[0 \"0_0\"]"), ("read", "[0 nil]", "[0 [nil \"0_0\"]]")],
        ("read", "[0 nil]", "[0 [\"0_1\" nil]]"),
    ),
    ("comments", &[("write", "1", "1"), ("write", "2", "2"), ("read", "nil", "[1 2]")], ("read", "nil", "[2]")),
    (
        "kafka",
        &[
            ("assign", "[1]", "[1]"),
            ("send", "[[:send 1 7]]", "[[:send 1 [0 7]]]"),
            ("poll", "[[:poll]]", "[[:poll {\"1\" [[0 7]]}]]"),
        ],
        ("poll", "[[:poll]]", "[[:poll {\"1\" [[0 8]]}]]"),
    ),
];

#[test]
fn each_workload_is_read_in_every_notation_and_packing_and_its_fault_is_found() {
    for (model, right, fault) in WORKLOADS {
        let wrong = [&right[..right.len() - 1], &[*fault]].concat();
        for (steps, outcome) in [(right.to_vec(), "valid"), (wrong, "invalid")] {
            let edn = events(&steps);
            let json = match *model {
                // A map within a value is written in other ways.
                "kafka" => None,
                _ => Some(as_json(&edn)),
            };
            judged(model, &[], format!("[{edn}]"), outcome);
            for text in packed(&edn) {
                judged(model, &[], text, outcome);
            }
            if let Some((lines, array)) = json {
                for text in packed(&lines).into_iter().chain(packed(&array)) {
                    judged(model, &[], text, outcome);
                }
                judged(model, &["--input-format", "jepsen-json"], array, outcome);
                judged(model, &["--input-format", "jepsen-jsonl"], lines, outcome);
            }
        }
    }
}

#[test]
fn what_is_cut_off_moved_doubled_or_contradicted_is_refused_in_every_notation() {
    for (model, right, _) in WORKLOADS.iter().filter(|(model, ..)| *model != "kafka") {
        let edn = events(right);
        let (lines, array) = as_json(&edn);
        let last = 2 * right.len();
        // Within the last event.
        judged(model, &[], &edn[..edn.len() - 5], &format!("error: h:{last}:"));
        judged(model, &[], &lines[..lines.len() - 2], &format!("error: h:{last}:"));
        judged(model, &[], &array[..array.len() - 6], &format!("error: h:{}:", last + 1));
        judged(model, &[], array.trim_end().trim_end_matches(']'), "error: the text ends before the closing `]`");
        for text in [&edn, &lines] {
            let told: Vec<&str> = text.lines().collect();
            let moved = [&told[1..2], &told[..1], &told[2..]].concat().join("\n");
            judged(model, &[], moved, "error: h:1");
            let doubled = [&told[..1], &told[..]].concat().join("\n");
            judged(model, &[], doubled, "error: h:2");
            let again = [&told[..], &told[last - 1..]].concat().join("\n");
            judged(model, &[], again, &format!("error: h:{}", last + 1));
            let other = text.replacen(":f :", ":f :un", 1).replacen("\"f\":\"", "\"f\":\"un", 1);
            judged(
                model,
                &[],
                other,
                if *model == "list-append" || *model == "rw-register" { "error: h:1" } else { "error: h:2" },
            );
        }
    }
}

#[test]
fn values_of_clojure_are_told_apart_or_refused() {
    let write = |value: &str| events(&[("write", value, value), ("read", "nil", value)]);
    for value in [
        "1/3",
        "##Inf",
        "-1.5e3",
        "12345678901234567890N",
        "1.50M",
        "\\newline",
        ":a/b",
        ":ns.x/y",
        "\"é\\u00e9\\n\"",
        "#{1 2}",
        "#inst \"2026-01-01T00:00:00Z\"",
        "#object[java.lang.Object 0x1a2b3c \"java.lang.Object@1a2b3c\"]",
        "{:a {1 [nil true]}}",
        "#:x{:a 1}",
        "#jepsen.independent.Tuple{:key 1 :value 2}",
        "a-symbol",
    ] {
        judged("register", &["--whole"], write(value), "valid");
        judged("register", &["--whole"], events(&[("write", value, value), ("read", "nil", "0")]), "invalid");
    }
    judged("register", &[], write("##NaN"), "error: h:1:47: ##NaN equals nothing");
    judged("register", &[], write("{:a 1 :a 2}"), "error: h:1:");
    judged("register", &[], write("#{1 1}"), "error: h:1:");
    judged("register", &[], write("^{:line 3} [1]"), "error: h:1:47: `^` is no EDN");
    judged("register", &[], write("1//2"), "error: h:1:47: `1//2` is no number");
    let both = events(&[("write", ":x", ":x"), ("write", "\"x\"", "\"x\""), ("read", "nil", ":x")]);
    judged("register", &[], both, "error: h:3:1: `x` is a text here and a keyword before");
    // Comments, discarded forms and namespaced fields beside what is read.
    let noisy = write("1")
        .replace("{:type", "#_ {:old 1} {:jepsen.x/at 3, :debug {:type :no}, :type")
        .replace("}\n", "} ; done\n");
    judged("register", &[], noisy, "valid");
}

#[test]
fn events_without_a_process_are_of_one_client_and_those_without_times_have_no_durations() {
    let nobody = "[{:type :invoke, :f :read, :value [[:r 0 nil] [:r 1 nil]]},\n\
                  {:type :ok, :f :read, :value [[:r 0 1] [:r 1 nil]]},\n\
                  {:type :invoke, :f :read, :value [[:r 0 nil] [:r 1 nil]]},\n\
                  {:type :ok, :f :read, :value [[:r 0 nil] [:r 1 1]]}]\n";
    judged("long-fork", &[], nobody, "invalid: taken as one client");
    let mixed = nobody.replacen("{:type", "{:process 1 :type", 1);
    judged("long-fork", &[], mixed, "error: h:2: some events say of which `process` they are");
    let twice = nobody.replacen(":type :ok", ":type :invoke", 1);
    judged("long-fork", &[], twice, "error: h:4: completes one of 3 operations in flight, and nothing says which");
    let comments = |seen: &str| {
        format!(
            "{{:index 1, :type :invoke :f :read :value nil}}\n{{:index 2, :type :invoke :f :write :value 425}}\n\
             {{:index 3, :type :ok :f :write :value 425}}\n{{:index 4, :type :invoke :f :write :value 430}}\n\
             {{:index 5, :type :ok :f :write :value 430}}\n{{:index 6, :type :ok :f :read :value #{{{seen}}}}}\n"
        )
    };
    judged("comments", &[], comments("2 10 430"), "invalid: later-without-earlier");
    judged("comments", &[], comments("2 425\n 430"), "valid");
    judged("comments", &[], comments("425"), "valid: shows nothing of the system");
    let txns = "{:index 2 :type :invoke, :value [[:append 255 8] [:r 253 nil]]}\n\
                {:index 3 :type :ok, :value [[:append 255 8] [:r 253 []]]}\n\
                {:index 4 :type :invoke, :value [[:r 255 nil]]}\n{:index 5 :type :ok, :value [[:r 255 [8]]]}\n";
    judged("list-append", &[], txns, "valid: taken as one client");

    let untimed = events(&[("write", "1", "1"), ("read", "nil", "1")]);
    for (checker, flag) in [("bounded-liveness", "--completes-within"), ("freshness", "--max-staleness")] {
        let args = ["--checker", checker, flag, "1s"];
        judged("register", &args, &untimed, "unknown: compares times, and the events of this history have none");
    }
    judged("register", &["--checker", "session-consistency"], untimed, "unknown: no session did");
}

#[test]
fn a_json_array_of_our_own_operations_is_a_history() {
    let history = notation::history("c1 write x 1 [0..1]\nc2 read x -> 1 [2..3]").unwrap();
    let mut lines = Vec::new();
    jsonl::write(&history, &mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let ops: Vec<&str> = lines.lines().collect();
    let array = format!("[\n{}\n]", ops.join(",\n"));
    judged("register", &[], &array, "valid: \"input_format\":\"json\"");
    judged("register", &["--input-format", "json"], &array, "valid");
    judged("register", &[], format!("[{},{}]", ops[0], ops[0]), "error: h:1: operation 0 was told before");
    judged(
        "register",
        &[],
        array.replace("\"complete_ts\":3", "\"complete_ts\":1"),
        "error: h:3: operation 1 completed at 1 ns",
    );
    judged("register", &[], array.replace("\"process_id\":2,", "\"process_id\":2,\"process_id\":3,"), "error: h:3:");
    // Written over several lines, the place is still right.
    let pretty = array.replace(",\"", ",\n  \"");
    judged("register", &[], &pretty, "valid");
    let line = 1 + pretty[..pretty.find("\"invoke_ts\":2").unwrap()].matches('\n').count();
    judged(
        "register",
        &[],
        pretty.replace("\"invoke_ts\":2", "\"invoke_ts\":x"),
        &format!("error: h:{line}:15: the line cannot be read"),
    );
    judged("register", &[], "[]", "unknown: the history is empty");
}

#[test]
fn failed_cas_says_what_it_is_told_to_say() {
    let steps = "{:process 0, :type :invoke, :f :write, :value 2}\n{:process 0, :type :ok, :f :write, :value 2}\n\
                 {:process 1, :type :invoke, :f :cas, :value [2 3]}\n{:process 1, :type :fail, :f :cas, :value [2 3]}\n\
                 {:process 1, :type :invoke, :f :read, :value nil}\n{:process 1, :type :ok, :f :read, :value 2}\n";
    judged("cas-register", &["--fail-semantics", "drop"], steps, "valid");
    judged("cas-register", &["--fail-semantics", "constrain"], steps, "invalid");
}

#[test]
fn long_histories_are_read_as_a_stream() {
    // Through a pipe, more than is held at once.
    let mut text = String::from("[");
    for at in 0..20_000 {
        text.push_str(&format!(
            "{{:type :invoke, :process 0, :f :write, :value {at}}}{{:type :ok, :process 0, :f :write, :value {at}}}\n"
        ));
    }
    text.push_str("{:type :invoke, :process 0, :f :read, :value nil}{:type :ok, :process 0, :f :read, :value 19999}]");
    let files = Files::new();
    for (input, status) in [(packed(&text), 0), (packed(&text.replace(":read, :value 19999", ":read, :value 3")), 1)] {
        for bytes in input {
            let answer = files.feed(&["-", "--model", "register"], &bytes).expect(status);
            assert!(answer.out.contains("20001 operations"), "{}", answer.out);
        }
    }
}
