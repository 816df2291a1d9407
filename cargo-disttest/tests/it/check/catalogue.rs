//! Each checker of the catalogue on histories that it accepts, rejects and cannot judge, and on crashed ones.

use super::Files;
use disttest_runtime::history::{jsonl, notation};

const NS: &str = "10ns";

/// What a history in the notation comes to: `valid`, or `invalid` or `unknown` and what is said.
#[track_caller]
fn judged(model: &str, args: &[&str], text: &str, expect: &str) {
    let history = notation::history(text).unwrap();
    let mut lines = Vec::new();
    jsonl::write(&history, &mut lines).unwrap();
    let files = Files::new();
    files.write("h", lines);
    let (word, said) = expect.split_once(": ").unwrap_or((expect, ""));
    let status = match word {
        "valid" => 0,
        "invalid" => 1,
        "unknown" => 3,
        _ => 2,
    };
    let answer = files.check(&[&["h", "--model", model], args].concat()).expect(status);
    let told = format!("{}{}", answer.out, answer.err);
    assert!(told.contains(said), "{model} {args:?}\n{text}\n{told}");
    if status != 2 {
        assert!(told.starts_with(&format!("{word} h: ")), "{model} {args:?}\n{text}\n{told}");
    }
}

#[track_caller]
fn all(model: &str, args: &[&str], cases: &[(&str, &str)]) {
    for (text, expect) in cases {
        judged(model, args, text, expect);
    }
}

#[test]
fn session_guarantees_by_values_and_by_versions() {
    let session = ["--checker", "session-consistency"];
    for model in ["register", "map", "session"] {
        all(
            model,
            &session,
            &[
                ("c1 write x 1 [0..1]\nc1 read x -> 1 [2..3]", "valid: session-consistency of"),
                ("c1 write x 1 [0..1]\nc1 read x -> null [2..3]", "invalid: read-your-writes"),
                ("c1 write x 1 [0..]\nc2 read x -> 1 [2..3]\nc2 read x -> null [4..5]", "invalid: monotonic-reads"),
                ("c1 write x 1 [0..]\nc1 read x -> null [2..3]", "unknown: no session did"),
                ("c1 write x 1 !no [0..1]\nc1 read x -> 1 [2..3]", "unknown: operation 1"),
                ("c1 write x 1 [0..1]\nc2 read x -> null [2..3]", "unknown: no session did"),
            ],
        );
    }
    let versions = ["--checker", "session-consistency", "--version-at", "/v"];
    all(
        "register",
        &versions,
        &[
            ("c1 write x 1 -> {\"v\":1} [0..1]\nc1 write x 2 -> {\"v\":2} [2..3]", "valid"),
            ("c1 write x 1 -> {\"v\":2} [0..1]\nc1 write x 2 -> {\"v\":1} [2..3]", "invalid: monotonic-writes"),
            ("c1 write x 1 -> OK [0..1]\nc1 read x -> {\"v\":1} [2..3]", "unknown: the history does not say"),
        ],
    );
    let across = "c1 write x 1 -> {\"v\":2} [0..1]\nc1 write y 1 -> {\"v\":1} [2..3]";
    judged("register", &versions, across, "unknown");
    judged("register", &[&versions[..], &["--across-keys"]].concat(), across, "invalid: monotonic-writes");
    let only = [&versions[..], &["--across-keys", "--guarantee", "monotonic-reads,read-your-writes"]].concat();
    judged("register", &only, across, "unknown");
    judged("register", &[&session[..], &["--guarantee", "monotonic-writes"]].concat(), across, "usage: --version-at");
    judged("register", &[&session[..], &["--across-keys"]].concat(), across, "usage: --version-at");
}

#[test]
fn reads_that_go_back_by_version() {
    let args = ["--checker", "monotonic-read", "--version-at", ""];
    all(
        "register",
        &args,
        &[
            ("c1 read x -> 1 [0..1]\nc1 read x -> 2 [2..3]", "valid: monotonic-read of register, key by key"),
            ("c1 read x -> 2 [0..1]\nc1 read x -> 1 [2..3]", "invalid: read-went-back"),
            ("c1 read x [0..]\nc2 read x -> 1 [2..3]", "unknown"),
            ("c1 read x -> a [0..1]\nc1 read x -> b [2..3]", "unknown: does not say"),
        ],
    );
    judged("register", &args[..2], "c1 read x -> 1 [0..1]", "usage: monotonic-read needs --version-at");
    let typed = [&args[..], &["--op-type", "peek"]].concat();
    judged("register", &typed, "c1 peek x -> 2 [0..1]\nc1 peek x -> 1 [2..3]", "invalid: read-went-back");
    judged("register", &["--checker", "monotonic-read", "--version-at", "v"], "", "usage: begins with `/`");
}

#[test]
fn what_consumers_see_is_a_prefix_in_order() {
    let three = "c1 enqueue q 1 [0..1]\nc1 enqueue q 2 [2..3]\nc1 enqueue q 3 [4..5]\n";
    let args = ["--checker", "prefix-order"];
    let with = |more: &[&'static str]| [&args[..], more].concat();
    let text = |rest: &str| format!("{three}{rest}");
    let early = text("c2 dequeue q -> 2 [6..7]\nc2 dequeue q -> 1 [8..9]");
    judged("queue", &args, &text("c2 dequeue q -> 1 [6..7]\nc2 dequeue q -> 2 [8..9]"), "valid: prefix-order of queue");
    judged("queue", &args, &early, "invalid: out-of-order");
    judged("queue", &with(&["--in-flight", "1"]), &early, "valid");
    judged("queue", &args, &text("c2 dequeue q -> 3 [6..7]"), "invalid: skipped");
    judged("queue", &with(&["--gaps-allowed"]), &text("c2 dequeue q -> 3 [6..7]"), "valid");
    let again = text("c2 dequeue q -> 1 [6..7]\nc2 dequeue q -> 1 [8..9]");
    judged("queue", &args, &again, "invalid: delivered-twice");
    judged("queue", &with(&["--redelivery-allowed"]), &again, "valid");
    judged("queue", &args, &text("c2 dequeue q [6..]"), "unknown: no completed");
    judged("queue", &args, "c1 enqueue q 1 !full [0..1]\nc3 dequeue q -> 1 [4..5]", "invalid: never-produced");
    judged("queue", &args, "c1 enqueue q 1 [0..]\nc2 enqueue q 2 [2..3]\nc3 dequeue q -> 2 [4..5]", "valid");
    let log = "c1 append l 1 [0..1]\nc1 append l 2 [2..3]\n";
    judged("log", &args, &format!("{log}c2 read l -> [1,2] [4..5]\nc2 read l -> [1] [4..5]"), "valid");
    judged("log", &args, &format!("{log}c2 read l -> [2,1] [4..5]"), "invalid: out-of-order");
}

#[test]
fn acknowledged_writes_are_there_at_the_end() {
    let args = ["--checker", "no-lost-ack"];
    all(
        "register",
        &args,
        &[
            ("c1 write x 1 [0..1]\nc2 read x -> 1 [2..3]", "valid"),
            ("c1 write x 1 [0..1]\nc2 read x -> null [2..3]", "invalid: lost"),
            ("c1 write x 1 [0..]\nc2 read x -> null [2..3]", "unknown"),
            ("c1 write x 1 [0..1]", "unknown"),
        ],
    );
    for (model, add, read) in [("set", "add", "read"), ("log", "append", "read")] {
        let text = |shown: &str, fate: &str| {
            format!("c1 {add} x 1 [0..1]\nc1 {add} x 2 {fate}\nc2 {read} x -> {shown} [4..5]")
        };
        judged(model, &args, &text("[1,2]", "[2..3]"), "valid");
        judged(model, &args, &text("[1]", "[2..3]"), "invalid");
        judged(model, &args, &text("[1]", "[2..]"), "valid");
    }
}

#[test]
fn requests_take_effect_once() {
    let args = ["--checker", "exactly-once", "--business-key", "/id"];
    let twice = "c1 inc a {\"id\":\"p\"} [0..]\nc1 inc a {\"id\":\"p\"} [2..3]\nc2 read a -> ";
    judged("counter", &args, &format!("{twice}1 [4..5]"), "valid: exactly-once of counter, key by key");
    judged("counter", &args, &format!("{twice}2 [4..5]"), "invalid: effect-twice");
    judged("counter", &args, &format!("{twice}0 [4..5]"), "invalid: effect-lost");
    judged("counter", &args, "c1 inc a {\"id\":\"p\"} [0..1]", "unknown");
    judged("counter", &args, "c1 inc a 1 [0..1]\nc2 read a -> 1 [4..5]", "unknown: no business key");
    judged(
        "counter",
        &args,
        "#4 c1 inc a {\"id\":4} [0..1]\nc2 read a -> 1 [4..5]",
        "unknown: its business key is its op_id",
    );
    judged("counter", &[&args[..], &["--init", "7"]].concat(), &format!("{twice}8 [4..5]"), "valid");
    let sums = [&args[..], &["--amount", "/by"]].concat();
    judged("ledger", &sums, "c1 credit a {\"id\":\"p\",\"by\":5} [0..1]\nc2 read a -> 5 [2..3]", "valid");
    judged(
        "ledger",
        &sums,
        "c1 credit a {\"id\":\"p\",\"by\":5} [0..1]\nc2 read a -> 10 [2..3]",
        "invalid: effect-twice",
    );
    let entries = [&args[..], &["--entry-key", "", "--entries-at", "/ids"]].concat();
    let listed = |ids: &str| format!("c1 credit a {{\"id\":\"p\"}} [0..1]\nc2 read a -> {{\"ids\":{ids}}} [2..3]");
    judged("ledger", &entries, &listed("[\"p\"]"), "valid");
    judged("ledger", &entries, &listed("[\"p\",\"p\"]"), "invalid: effect-twice");
    judged("ledger", &["--checker", "exactly-once"], &listed("[]"), "usage: --business-key");
    judged("ledger", &[&entries[..], &["--init", "1"]].concat(), &listed("[]"), "usage: --init is of sums");
}

#[test]
fn no_two_holders_at_once() {
    let args = ["--checker", "exclusion"];
    for model in ["mutex", "lock", "owned-mutex", "reentrant-mutex"] {
        all(
            model,
            &args,
            &[
                ("c1 acquire x [0..1]\nc1 release x [2..3]\nc2 acquire x [4..5]", "valid: exclusion of"),
                ("c1 acquire x [0..1]\nc2 acquire x [2..3]", "invalid: two-holders"),
                ("c1 acquire x [0..]\nc2 acquire x [2..3]", "unknown"),
                ("c1 acquire x [0..1]\nc1 release x [2..]\nc2 acquire x [4..5]", "valid"),
            ],
        );
    }
    let token = |a: u8, b: u8| {
        format!(
            "c1 acquire x -> {{\"n\":{a}}} [0..1]\nc1 release x [2..3]\nc2 acquire x -> {{\"n\":{b}}} [4..5]\nc2 release x [6..7]"
        )
    };
    let fenced = [&args[..], &["--fencing-token", "/n"]].concat();
    judged("mutex", &fenced, &token(1, 2), "valid");
    judged("mutex", &fenced, &token(2, 1), "invalid: fencing-token-went-back");
    let lease = [&args[..], &["--ttl", NS, "--clock-skew", "2ns"]].concat();
    judged("lease", &lease, "c1 acquire x -> 10 [0..1]\nc2 acquire x -> 10 [6..7]", "invalid: two-holders");
    judged("lease", &lease, "c1 acquire x -> 10 [0..1]\nc2 acquire x -> 10 [6..8]", "valid");
    judged("lease", &lease[..4], "c1 acquire x -> 10 [0..1]", "usage: --clock-skew");
    judged("mutex", &lease, "c1 acquire x [0..1]", "usage: are for --model lease");
    judged(
        "lease",
        &["--ttl", NS],
        "c1 acquire x -> true [0..1]\nc2 acquire x -> true [2..3]",
        "invalid: non-linearizable",
    );
    judged("lease", &["--ttl", NS], "c1 acquire x -> true [0..1]\nc2 acquire x -> true [20..21]", "valid");
    judged("lease", &[], "c1 acquire x -> true [0..1]", "usage: a `lease` needs --ttl");
}

/// Operations of two tenants, of which the second waits `slow` ns.
fn tenants(slow: u64) -> String {
    let one = |at: u64, tenant: &str, time: u64| {
        format!("c{at} get - {{\"tenant\":\"{tenant}\"}} -> 1 [{}..{}]\n", at * 1000, at * 1000 + time)
    };
    (0..40).map(|at| if at % 2 == 0 { one(at, "a", 10) } else { one(at, "b", slow) }).collect()
}

#[test]
fn no_group_is_served_worse() {
    let args = ["--checker", "fairness", "--group-by", "tenant=input:tenant", "--min-samples", "20"];
    let with = |more: &[&'static str]| [&args[..], more].concat();
    judged("kv", &with(&["--max-p99-ratio", "1.5"]), &tenants(10), "valid: fairness of kv");
    let uneven = tenants(900);
    judged("kv", &with(&["--max-p99-ratio", "1.5", "--min-group-throughput", "1e12"]), &uneven, "invalid");
    judged("kv", &with(&["--no-errors"]), &uneven, "valid");
    judged("kv", &with(&["--no-errors"]), &uneven.replacen("-> 1 [0..10]", "[0..]", 1), "invalid");
    judged("kv", &with(&["--no-errors", "--groups", "a,b,c"]), &uneven, "unknown");
    judged("kv", &args, &uneven, "usage: needs a formula");
    judged("kv", &["--checker", "fairness", "--no-errors"], &uneven, "usage: needs --group-by");
    judged(
        "kv",
        &["--checker", "fairness", "--no-errors", "--group-by", "colour=key"],
        &uneven,
        "usage: not of `colour`",
    );
    judged("kv", &["--checker", "fairness", "--no-errors", "--group-by", "user=key"], &uneven, "unknown");
}

#[test]
fn reads_are_stale_for_so_long_at_most() {
    let args = ["--checker", "freshness", "--max-staleness", NS];
    let text = |at: u64| format!("c1 write x 1 [0..1]\nc1 write x 2 [10..11]\nc2 read x -> 1 [{at}..{}]", at + 1);
    judged("register", &args, &text(15), "valid");
    judged("register", &args, &text(15).replace("c2 read x -> 1", "c2 read y -> 1"), "unknown");
    judged("register", &args, &text(30), "invalid: stale-read");
    judged("register", &args, &text(30).replace("-> 1", "-> 2"), "valid: freshness of register, key by key");
    judged("register", &args, &text(30).replace("[10..11]", "[10..]"), "valid");
    judged("register", &args, &text(30).replace("-> 1 [30..31]", "[30..]"), "unknown");
    judged("register", &["--checker", "freshness", "--max-staleness", "0s"], &text(15), "invalid: stale-read");
    judged("register", &[&args[..], &["--op-type", "read-local"]].concat(), &text(30), "unknown");
    judged("register", &args[..2], &text(30), "usage: needs --max-staleness");
}

#[test]
fn what_is_owed_comes_in_time() {
    let check = |args: &[&str], text: &str, expect: &str| {
        judged("register", &[&["--checker", "bounded-liveness"], args].concat(), text, expect);
    };
    let completes = ["--completes-within", NS];
    check(&completes, "c1 write x 1 [0..10]", "valid: bounded-liveness of register");
    check(&completes, "c1 write x 1 [0..11]", "invalid: late-completion");
    check(&completes, "c1 write x 1 [0..]\nc2 read x -> 1 [5..11]", "invalid: no-completion");
    check(&completes, "c1 write x 1 [0..]\nc2 read x -> 1 [5..10]", "unknown");
    check(
        &["--completes-within", NS, "--outside-faults"],
        "c1 write x 1 [0..99] ^1\nc1 read x -> 1 [99..100]",
        "valid",
    );
    check(&["--completes-within", NS, "--op-type", "read"], "c1 write x 1 [0..99]\nc1 read x -> 1 [99..100]", "valid");
    check(&["--serves-within", NS], "c1 write x 1 !no [0..1]\nc2 write x 1 [3..14]", "invalid: no-service");
    check(&["--elects-within", NS], "c1 leader g -> null [0..1]\nc1 leader g -> null [12..13]", "invalid: no-leader");
    check(&[], "c1 write x 1 [0..11]", "usage: needs one of --completes-within");
    check(&["--completes-within", NS, "--serves-within", NS], "c1 write x 1 [0..11]", "usage: needs one of");
}

#[test]
fn service_levels_hold() {
    let check = |args: &[&str], text: &str, expect: &str| {
        judged("kv", &[&["--checker", "metric-slo", "--min-samples", "10"], args].concat(), text, expect);
    };
    check(&["--latency", "p99:10ns"], &tenants(10), "valid: metric-slo of kv");
    check(&["--latency", "p99:10ns"], &tenants(11), "invalid");
    check(&["--latency", "50:10ns"], &tenants(11), "valid");
    check(&["--latency", "p100:99ns"], &tenants(10).replacen("-> 1 [0..10]", "[0..]", 1), "invalid");
    check(&["--latency", "p99:10ns", "--lasting", "1s"], &tenants(10), "unknown");
    check(&["--latency", "p99:10ns", "--op-type", "put"], &tenants(10), "unknown");
    check(&["--throughput", "1000"], &tenants(10), "valid");
    check(&["--throughput", "1e12"], &tenants(10), "invalid");
    check(&[], &tenants(10), "usage: needs --latency");
}

#[test]
fn elements_and_totals_and_ids() {
    let set = "c1 add s 1 [0..1]\nc2 read s -> [] [2..3]\nc1 add s 2 [4..5]\nc1 add s 3 [6..]\nc2 read s -> ";
    judged("set", &[], &format!("{set}[1,2] [8..9]"), "valid: set of set, key by key");
    judged("set", &[], &format!("{set}[1,2,3] [8..9]"), "valid");
    judged("set", &[], &format!("{set}[2] [8..9]"), "invalid: lost");
    judged("set", &[], "c1 add s 1 [0..1]", "unknown: never read");
    judged("set-full", &[], &format!("{set}[1,2] [8..9]"), "valid: set-full of set-full");
    judged("set-full", &["--linearizable"], &format!("{set}[1,2] [8..9]"), "invalid: stale");
    judged("set-full", &[], &format!("{set}[2] [8..9]"), "invalid: lost");
    let each = "c1 add s 1 [0..1]\nc1 read s -> [] [2..3]\nc2 read s -> [1] [4..5]";
    judged("set", &[], each, "valid");
    judged("set", &["--each-client"], each, "invalid: lost");

    let bank = |read: &str| {
        format!("c1 read - -> {{\"a\":5,\"b\":5}} [0..1]\nc1 transfer - {{}} [2..]\nc2 read - -> {read} [3..4]")
    };
    judged("bank", &[], &bank("{\"a\":2,\"b\":8}"), "valid: bank of bank");
    judged("bank", &[], &bank("{\"a\":2,\"b\":9}"), "invalid: wrong-total");
    judged("bank", &[], &bank("{\"a\":-1,\"b\":11}"), "invalid: negative-value");
    judged("bank", &["--allow-negative"], &bank("{\"a\":-1,\"b\":11}"), "valid");
    judged("bank", &["--total", "11"], &bank("{\"a\":2,\"b\":8}"), "invalid: wrong-total");
    judged("bank", &["--accounts", "a"], &bank("{\"a\":2,\"b\":8}"), "invalid: unexpected-key");

    let queue = "c1 enqueue q 1 [0..1]\nc1 enqueue q 2 [2..]\n";
    let drained = |out: &str| format!("{queue}c2 drain q -> {out} [4..5]");
    judged("total-queue", &[], &drained("[2,1]"), "valid: total-queue of total-queue");
    judged("total-queue", &[], &drained("[1]"), "valid");
    judged("total-queue", &[], &drained("[2]"), "invalid: lost");
    judged("total-queue", &[], queue, "unknown");
    judged("total-queue", &["--drained"], queue, "invalid: lost");
    judged("total-queue", &[], &drained("[1,1]"), "valid");
    judged("total-queue", &["--once"], &drained("[1,1]"), "invalid: duplicated");

    judged("unique-ids", &[], "c1 generate - -> 1 [0..1]\nc2 generate - -> 2 [0..1]\nc3 generate - [0..]", "valid");
    judged("unique-ids", &[], "c1 generate - -> 1 [0..1]\nc2 generate - -> 1 [0..1]", "invalid: duplicate-id");
    judged("unique-ids", &[], "c1 write - 1 [0..1]", "unknown");

    let counter = |read: u8| format!("c1 add - 2 [0..1]\nc1 add - 3 [2..]\nc2 read - -> {read} [4..5]");
    judged("counter", &[], &counter(2), "valid: counter-bounds of counter");
    judged("counter", &[], &counter(5), "valid");
    judged("counter", &[], &counter(1), "invalid: below-bounds");
    judged("counter", &["--init", "1"], &counter(6), "valid");
    judged("counter", &[], "c1 add - x [0..1]\nc2 read - -> 1 [2..3]", "unknown");
}

#[test]
fn long_forks_logs_and_replicas() {
    let writes = "c1 write - [[\"w\",1,1]] [0..1]\nc2 write - [[\"w\",2,1]] [0..1]\n";
    let read = |client: u8, one: &str, two: &str| {
        format!("c{client} read - [[\"r\",1,null],[\"r\",2,null]] -> [[\"r\",1,{one}],[\"r\",2,{two}]] [0..1]\n")
    };
    judged("long-fork", &[], &format!("{writes}{}{}", read(3, "1", "null"), read(4, "1", "1")), "valid");
    judged(
        "long-fork",
        &[],
        &format!("{writes}{}{}", read(3, "1", "null"), read(4, "null", "1")),
        "invalid: long-fork",
    );
    judged("long-fork", &[], "c1 read - [[\"r\",1,null],[\"r\",2,null]] [0..]", "unknown");

    let send = "c1 send - [[\"send\",\"k\",7]] -> [[\"send\",\"k\",[0,7]]] [0..1]\n";
    let poll = |out: &str| format!("{send}c2 poll - [[\"poll\"]] -> [[\"poll\",{{\"k\":{out}}}]] [2..3]");
    judged("kafka", &[], &poll("[[0,7]]"), "valid: kafka of kafka");
    judged("kafka", &[], &poll("[[0,8]]"), "invalid");
    judged("kafka", &[], send, "unknown");

    let log = "c1 append l 1 -> 0 [0..1]\nc2 append l 2 [0..]\nc3 read l -> ";
    let replay = ["--checker", "replay-equivalence"];
    judged("log", &replay, &format!("{log}[1] [10..11]"), "valid: replay-equivalence of log");
    judged("log", &replay, &format!("{log}[1,2] [10..11]"), "valid");
    judged("log", &replay, &format!("{log}[1,2,2] [10..11]"), "invalid: replayed-entry-without-operation");
    judged("log", &replay, "c1 append l 1 -> 0 [0..1]", "unknown: was not read");

    let replicas = ["--checker", "reconciliation-across-replicas", "--replicas", "n1,n2", "--settle", "100ns"];
    let shown = |two: &str| {
        format!(
            "c1 write x 1 [0..5]\nc2 read x -> 1 [10..11] @n1\nc3 read x -> {two} [10..11] @n2\n\
             c2 read x -> 1 [200..201] @n1\nc3 read x -> {two} [200..201] @n2"
        )
    };
    judged("map", &replicas, &shown("1"), "valid: reconciliation-across-replicas of map");
    judged("map", &replicas, &shown("2"), "invalid");
    judged("map", &replicas, &shown("1").replace("@n2", ""), "unknown");
    judged("map", &replicas[..4], &shown("1"), "usage: --settle");
}

#[test]
fn models_of_plans_are_models_here() {
    judged("membership-table", &[], "c1 join - a -> true [0..1]\nc2 view - -> [\"a\"] [2..3]", "valid");
    judged("membership-table", &[], "c1 join - a -> true [0..1]\nc2 view - -> [] [2..3]", "invalid");
    judged("ledger", &[], "c1 credit a 5 -> 5 [0..1]\nc2 balance a -> 5 [2..3]", "valid");
    judged("ledger", &[], "c1 credit a 5 -> 5 [0..1]\nc2 balance a -> 4 [2..3]", "invalid");
    judged("stack", &["--checker", "sequential-consistency"], "c1 push - 1 [0..1]\nc2 pop - -> 1 [2..3]", "valid");
    let txn = "c1 txn - [[\"w\",\"x\",1]] -> [[\"w\",\"x\",1]] [0..1]\nc2 txn - [[\"r\",\"x\",null]] -> [[\"r\",\"x\",1]] [2..3]";
    judged("map", &["--checker", "serializability"], txn, "valid: serializability of map");
}

#[test]
fn what_does_not_fit_or_cannot_be_given_by_a_file_is_refused_with_the_reason() {
    let text = "c1 write x 1 [0..1]\nc1 read x -> 1 [2..3]";
    let refused = |model: &str, args: &[&str], expect: &str| judged(model, args, text, &format!("usage: {expect}"));
    refused("register", &["--checker", "exclusion"], "`exclusion` does not fit the model `register`");
    refused("queue", &["--checker", "session-consistency"], "what fits it is linearizability, sequential-consistency");
    refused("bank", &["--checker", "linearizability"], "does not fit the model `bank`");
    refused("register", &["--checker", "invariant-over-final-state"], "cannot judge a file alone: its rules are code");
    refused("register", &["--checker", "property-assertion"], "it is code that looks at every step");
    refused("register", &["--checker", "differential"], "asks another implementation");
    refused("register", &["--checker", "statistical-baseline"], "a history is one run");
    refused("register", &["--in-flight", "1"], "--in-flight is for prefix-order, and says nothing to linearizability");
    refused("register", &["--replicas", "a"], "--replicas is for reconciliation-across-replicas");
    refused("map", &["--checker", "linearizability,serializability"], "ask for them one by one");
    refused("map", &["--checker", "linearizability", "--wfr-keys"], "are for --model rw-register");
}

#[test]
fn what_judges_each_key_by_itself_says_so_and_takes_no_whole() {
    let text = "c1 write x 1 [0..1]\nc1 read x -> 1 [2..3]";
    let args = ["--checker", "session-consistency"];
    judged("register", &args, text, "valid: session-consistency of register, key by key");
    judged("register", &[&args[..], &["--whole"]].concat(), text, "unknown: --whole is not for it");
    judged("register", &[&args[..], &["--whole"]].concat(), &text.replace(" x", " -"), "valid: as one object");
    let keys = "c1 write x 1 [0..1]\nc2 write y 1 [2..3]\nc1 read y -> null [4..5]\nc2 read x -> null [6..7]";
    judged("register", &["--checker", "sequential-consistency"], keys, "invalid: as a whole");
    judged("register", &["--checker", "sequential-consistency", "--per-key"], keys, "valid: key by key");
    judged("queue", &["--checker", "sequential-consistency"], "c1 enqueue q 1 [0..1]", "unknown: --per-key asks");
}

#[test]
fn what_nothing_could_contradict_holds_with_a_warning_and_an_empty_history_does_not() {
    let warned = "valid: warning: no operation of ";
    judged("cas-register", &[], "c1 write - 1 !fail [0..1]\nc2 read - !fail [0..1]", warned);
    judged("register", &["--checker", "sequential-consistency"], "c1 write - 1 [0..1]", warned);
    judged("counter", &[], "c1 add - 1 [0..1]\nc1 add - 2 [2..]", warned);
    judged("bank", &[], "c1 transfer - {} [0..1]", warned);
    judged("unique-ids", &[], "c1 generate - -> 1 [0..1]", warned);
    judged("counter", &[], "c1 inc - 1 -> 7 [0..1]", "invalid: above-bounds");
    for model in ["register", "counter", "bank", "unique-ids", "cas-register"] {
        judged(model, &[], "", "unknown: the history is empty");
    }
    // Nor does one that knows the outcome of nothing: everything timed out.
    judged("register", &[], "c1 read - [0..]", "unknown: no completed operation");
    judged("register", &["--checker", "sequential-consistency"], "c1 write - 1 [0..]\nc2 read - [1..]", "unknown");
    judged("counter", &[], "c1 add - 1 [0..]", "unknown");
    // Nobody looked at the end: that something was lost is neither shown nor excluded.
    judged("register", &["--checker", "no-lost-ack"], "c1 write - 1 [0..1]", "unknown");
    judged("set", &[], "c1 add - 1 [0..1]", "unknown");
    judged("list-append", &[], "c1 txn - [[\"append\",\"x\",1]] -> [[\"append\",\"x\",1]] [0..1]", "unknown");
    // What does not fit is not said to hold.
    judged("bank", &[], "c1 write - 1 [0..1]", "unknown");
    judged("unique-ids", &[], "c1 write - 1 [0..1]", "unknown");
    judged("counter", &[], "c1 write - 1 [0..1]", "unknown");
    judged("register", &[], "c1 pop - [0..1]", "unknown: `pop` is none of");
}
