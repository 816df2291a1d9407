//! Conformance with recorded answers: runs where `DISTTEST_CASES` names the folder that has them.

use super::super::*;
use crate::checker::Unlimited;
use crate::txn::{Answer, Builder, Event, EventKind, EventMop, Txns, Value, jsonl};
use serde_json::Value as Json;
use std::path::PathBuf;

/// The folder of cases; says why it skips without one.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn cases() -> Option<PathBuf> {
    let folder = std::env::var_os("DISTTEST_CASES").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: DISTTEST_CASES does not name a folder of cases");
    }
    Some(folder?.join("isolation"))
}

fn json(path: PathBuf) -> Json {
    serde_json::from_slice(&std::fs::read(&path).expect("a file of cases")).expect("JSON")
}

fn strings(value: &Json) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn mops(value: &Json) -> Vec<EventMop> {
    let mop = |mop: &Json| {
        let key = Value::of(&mop[1]).expect("a key");
        let value = || Value::of(&mop[2]).expect("a value");
        match mop[0].as_str().expect("a verb") {
            "append" => EventMop::Append(key, value()),
            "w" => EventMop::Write(key, value()),
            _ => EventMop::Read(
                key,
                match &mop[2] {
                    Json::Null => Answer::Nil,
                    Json::Array(list) => Answer::List(list.iter().filter_map(Value::of).collect()),
                    _ => Answer::Value(value()),
                },
            ),
        }
    };
    value.as_array().into_iter().flatten().map(mop).collect()
}

/// The history of a vector. Some of Elle's are fragments, with completions that nobody invoked.
fn history(events: &Json) -> Txns {
    let events = events.as_array().expect("a history");
    let feed = |mut builder: Builder, skip_invocations: bool| {
        for event in events {
            let kind = match event["type"].as_str() {
                Some("invoke") if skip_invocations => continue,
                Some("invoke") => EventKind::Invoke,
                Some("ok") => EventKind::Ok,
                Some("fail") => EventKind::Fail,
                _ => EventKind::Info,
            };
            let process = event["process"].as_i64().unwrap_or(-1);
            // Fragments do not keep their events in order.
            let index = event["index"].as_u64().filter(|_| !skip_invocations);
            builder.event(&Event { index, process, kind, mops: &mops(&event["value"]) })?;
        }
        Ok::<Txns, crate::txn::Refusal>(builder.finish())
    };
    feed(Builder::new(), false).unwrap_or_else(|_| feed(Builder::of_fragments(), true).expect("fragments"))
}

fn options(is_list: bool, opts: &Json, txns: &Txns) -> Options {
    let is = |name: &str| opts[name].as_bool();
    let assumed = KeyOrder {
        writes_follow_reads: is("wfr-keys?").unwrap_or(false),
        sequential: is("sequential-keys?").unwrap_or(false),
        linearizable: is("linearizable-keys?").unwrap_or(false),
    };
    let mut options = if is_list { Options::list_append() } else { Options::register(assumed) };
    if let Some(ranks) = opts["transaction-order"].as_object() {
        let ranks = ranks.iter().map(|(index, rank)| (index.parse().expect("index"), rank.as_i64().expect("rank")));
        options.model = Model::Register(VersionOrder::Transactions(ranks.collect()));
        assert!(!txns.is_empty());
    }
    if let Some(levels) = opts.get("consistency-models") {
        options.levels = strings(levels).iter().map(|name| Level::named(name).expect(name)).collect();
    }
    options.anomalies = strings(&opts["anomalies"]).iter().map(|name| Anomaly::named(name).expect(name)).collect();
    options
}

#[test]
fn checks_answer_as_those_of_elle() {
    let Some(folder) = cases() else { return };
    let vectors = json(folder.join("elle_vectors.json"));
    let mut disagreements = Vec::new();
    let mut count = 0;
    for case in vectors["cases"].as_array().expect("cases") {
        let function = case["fn"].as_str().expect("fn");
        let (model, what) = function.split_once('/').expect("a function");
        if what != "check" {
            continue;
        }
        count += 1;
        let txns = history(&case["history"]);
        let answer = check(&txns, &options(model == "list-append", &case["opts"], &txns), &Unlimited);
        let outcome = match answer.outcome {
            Outcome::Valid => Json::from(true),
            Outcome::Invalid { .. } => Json::from(false),
            Outcome::Unknown { .. } => Json::from("unknown"),
        };
        let expect = &case["expect"];
        let same = outcome == expect["valid"]
            && answer.kinds() == strings(&expect["anomaly_types"])
            && answer.not == strings(&expect["not"])
            && answer.also_not == strings(&expect["also_not"]);
        if !same {
            disagreements.push(format!(
                "{} {}: {} {:?} not {:?}, expected {} {} not {}\n    {:?}",
                case["id"],
                case["context"],
                outcome,
                answer.kinds(),
                answer.not,
                expect["valid"],
                expect["anomaly_types"],
                expect["not"],
                answer.anomalies
            ));
        }
    }
    assert!(count > 70, "{count} cases only");
    assert!(disagreements.is_empty(), "{} of {count}:\n{}", disagreements.len(), disagreements.join("\n"));
}

/// Edges between transactions as [from, to, relations], hubs followed.
fn edges(txns: &Txns, graph: &graph::Graph) -> Vec<(u64, u64, graph::Rel)> {
    let mut found = Vec::new();
    for txn in txns.all() {
        let mut open: Vec<(u32, graph::Rel)> = graph.from(txn).collect();
        while let Some((to, rel)) = open.pop() {
            if (to as usize) < txns.len() {
                found.push((txns.index(txn), txns.index(to), rel));
            } else {
                open.extend(graph.from(to).map(|(next, _)| (next, rel)));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn expected_edges(expect: &Json) -> Vec<(u64, u64, graph::Rel)> {
    use graph::Rel;
    let mut found = Vec::new();
    for edge in expect["edges"].as_array().expect("edges") {
        for rel in edge[2].as_str().expect("relations").split(',') {
            let rel = match rel {
                "ww" => Rel::Ww,
                "wr" => Rel::Wr,
                "rw" => Rel::Rw,
                "process" => Rel::Process,
                _ => Rel::Realtime,
            };
            found.push((edge[0].as_u64().expect("from"), edge[1].as_u64().expect("to"), rel));
        }
    }
    found.sort_unstable();
    found
}

/// Fragments are named by their place: gives them the indices that they have.
fn indexed(case: &Json) -> Txns {
    let mut txns = Builder::of_fragments();
    let mut names = Vec::new();
    for event in case["history"].as_array().expect("a history").iter().filter(|event| event["type"] != "invoke") {
        let kind = match event["type"].as_str() {
            Some("ok") => EventKind::Ok,
            Some("fail") => EventKind::Fail,
            _ => EventKind::Info,
        };
        let process = event["process"].as_i64().unwrap_or(-1);
        let value = mops(&event["value"]);
        txns.event(&Event { index: None, process, kind, mops: &value }).expect("a fragment");
        names.push(event["index"].as_u64().expect("an index"));
    }
    txns.finish_named(names)
}

#[test]
fn parts_of_checks_answer_as_those_of_elle() {
    let Some(folder) = cases() else { return };
    let vectors = json(folder.join("elle_vectors.json"));
    let mut disagreements = Vec::new();
    let mut count = 0;
    for case in vectors["cases"].as_array().expect("cases") {
        let function = case["fn"].as_str().expect("fn");
        let expect = &case["expect"];
        if expect.get("throws").is_some() {
            assert_eq!(expect["throws"], "duplicate-appends");
            let builder = case["history"].as_array().expect("a history").iter().zip(0..).fold(
                Builder::new(),
                |mut builder, (event, process)| {
                    let value = mops(&event["value"]);
                    let kind = EventKind::Invoke;
                    builder.event(&Event { index: None, process, kind, mops: &value }).expect("an invocation");
                    builder
                },
            );
            let why = misfit::reason_not_to_judge(&builder.finish(), &Model::ListAppend);
            assert!(why.is_some_and(|why| why.contains("twice")), "{}", case["id"]);
            count += 1;
            continue;
        }
        let txns =
            if function == "core/realtime-graph" { history(&without_values(&case["history"])) } else { indexed(case) };
        let mut all = Edges::new(txns.len() as u32);
        let data: &[&str] = match function {
            "list-append/graph" | "list-append/ww-graph" | "list-append/wr-graph" => {
                ListOrder::of(&txns).edges(&txns, &mut all);
                &["ww", "wr", "rw"]
            }
            "rw-register/wr-graph" => {
                RegisterOrder::of(&txns, &VersionOrder::Inferred(KeyOrder::default())).edges(&txns, &mut all);
                &["wr"]
            }
            "core/process-graph" => {
                session_order::process_edges(&txns, &mut all);
                &[]
            }
            "core/realtime-graph" => {
                let members: Vec<u32> = txns.all().collect();
                let pairs = session_order::realtime_pairs(&txns, &members, usize::MAX).expect("no bound");
                pairs.iter().for_each(|(a, b)| all.add(*a, *b, graph::Rel::Realtime));
                &[]
            }
            "list-append/internal-cases"
            | "rw-register/internal-cases"
            | "list-append/g1a-cases"
            | "list-append/g1b-cases"
            | "rw-register/g1a-cases"
            | "rw-register/g1b-cases" => {
                let mut findings = Findings::default();
                if function.ends_with("internal-cases") {
                    inside::find(&txns, &mut findings);
                } else {
                    aborted::find_reads(&txns, &mut findings);
                }
                let wanted = if function.contains("g1a") { "G1a" } else { "G1b" };
                let is_wanted = |name: &str| function.ends_with("internal-cases") || name == wanted;
                let mut found: Vec<u64> = Vec::new();
                let mut kinds: Vec<&str> = Vec::new();
                for (_, violation) in findings.list.iter().filter(|(kind, _)| is_wanted(kind.name())) {
                    found.push(violation.ops[0]);
                    kinds.push(&violation.anomaly);
                }
                kinds.sort_unstable();
                kinds.dedup();
                let mut ops: Vec<u64> = expect["anomalies"]
                    .as_object()
                    .into_iter()
                    .flat_map(|kinds| kinds.values())
                    .flat_map(|list| list.as_array().expect("a list"))
                    .map(|found| found["op"]["op"].as_u64().expect("op"))
                    .collect();
                ops.dedup();
                // Elle tells of each element; we tell of the first one in each read.
                if kinds != strings(&expect["anomaly_types"]) || found != ops {
                    disagreements.push(format!("{}: {kinds:?} {found:?}, expected {expect}", case["id"]));
                }
                count += 1;
                continue;
            }
            _ => continue,
        };
        count += 1;
        let only = match function.rsplit('/').next() {
            Some("ww-graph") => Some(graph::Rel::Ww),
            Some("wr-graph") => Some(graph::Rel::Wr),
            _ => None,
        };
        let mut found = edges(&txns, &all.graph());
        found.retain(|(_, _, rel)| only.is_none_or(|only| only == *rel));
        if found != expected_edges(expect) {
            disagreements.push(format!("{} {data:?}: {found:?}, expected {expect}", case["id"]));
        }
    }
    assert!(count > 50, "{count} cases only");
    assert!(disagreements.is_empty(), "{} of {count}:\n{}", disagreements.len(), disagreements.join("\n"));
}

fn without_values(events: &Json) -> Json {
    let mut events = events.clone();
    for event in events.as_array_mut().into_iter().flatten() {
        event["value"] = Json::Null;
    }
    events
}

/// Anomalies to be reported beside the injected one (an order of versions gives more than one view of the same fault).
fn co_reports(model: &str, injected: &str) -> &'static [&'static str] {
    match (model, injected) {
        ("list-append", "G1b") => &["G-single-item"],
        ("list-append", "lost-update") => &["G-single-item"],
        ("list-append", "lost-update-unobserved") => &["G2-item"],
        ("list-append", "dirty-update") => &["G1a"],
        ("list-append", "duplicate-elements") => &["G-single-item-realtime"],
        _ => &[],
    }
}

#[test]
fn injected_anomalies_are_found_and_nothing_else() {
    let Some(folder) = cases() else { return };
    let mut disagreements = Vec::new();
    for case in json(folder.join("synthetic/manifest.json")).as_array().expect("cases") {
        let file = case["file"].as_str().expect("file");
        let model = case["checker"].as_str().expect("checker");
        let injected = case["inject"].as_str();
        let text = std::fs::read(folder.join("synthetic").join(file)).expect("a history");
        let txns = jsonl::read(&text).expect(file);
        let level = match (injected, file) {
            (Some(name), _) if name.ends_with("-process") => "strong-session-serializable",
            (None, "la-si.jsonl" | "rw-si.jsonl") => "strong-snapshot-isolation",
            (None, "la-ru.jsonl" | "rw-ru.jsonl") => "read-uncommitted",
            _ => "strict-serializable",
        };
        let needs_order = matches!(injected, Some("G0" | "cyclic-versions"));
        let assumed = KeyOrder { sequential: needs_order, ..KeyOrder::default() };
        let options = if model == "list-append" { Options::list_append() } else { Options::register(assumed) };
        let answer = check(&txns, &options.at(Level::named(level).expect(level)), &Unlimited);
        let name = injected.map(|name| name.trim_end_matches("-unobserved"));
        let mut expect: Vec<&str> =
            name.into_iter().chain(co_reports(model, injected.unwrap_or("")).iter().copied()).collect();
        expect.sort_unstable();
        let is_unsure = file.contains("-ru.");
        if answer.kinds() != expect && !is_unsure {
            disagreements.push(format!("{file}: {:?}, expected {expect:?}\n   {:?}", answer.kinds(), answer.anomalies));
        }
        for anomaly in answer.anomalies.iter().filter(|_| injected.is_some()) {
            let all: Vec<u64> =
                case["injected_op_indices"].as_array().expect("indices").iter().filter_map(Json::as_u64).collect();
            if !anomaly.ops.iter().any(|op| all.contains(op)) {
                disagreements.push(format!("{file}: a witness {:?} elsewhere than at {all:?}", anomaly.ops));
            }
        }
    }
    assert!(disagreements.is_empty(), "{}:\n{}", disagreements.len(), disagreements.join("\n"));
}

#[test]
fn strictly_serializable_histories_pass_whatever_is_assumed_of_keys() {
    let Some(folder) = cases() else { return };
    let text = std::fs::read(folder.join("synthetic/rw-ser.jsonl")).expect("a history");
    let txns = jsonl::read(&text).expect("a history");
    for bits in 0..8 {
        let assumed =
            KeyOrder { writes_follow_reads: bits & 1 > 0, sequential: bits & 2 > 0, linearizable: bits & 4 > 0 };
        let answer = check(&txns, &Options::register(assumed), &Unlimited);
        assert_eq!(answer.outcome, Outcome::Valid, "{assumed:?}");
    }
}

#[test]
fn published_histories_are_read_and_judged() {
    let Some(folder) = cases() else { return };
    let judge = |file: &str, level: &str| {
        let text = std::fs::read(folder.join("public/elle").join(file)).expect("a history");
        let txns = jsonl::read(&text).expect(file);
        let answer = check(&txns, &Options::list_append().at(Level::named(level).expect(level)), &Unlimited);
        answer.kinds().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    // Two transactions each read as empty what the other appended.
    assert_eq!(judge("list-append-gh-30.jsonl", "strict-serializable"), ["G2-item"]);
    assert_eq!(judge("paper-example.jsonl", "serializable"), ["G-single-item"]);
}
