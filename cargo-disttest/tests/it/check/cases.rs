//! Recorded cases with known answers, through the binary: run where `DISTTEST_CASES` names their folder.

use crate::package::{answer, binary};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn cases(kind: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DISTTEST_CASES").map(PathBuf::from)?;
    Some(folder.join(kind))
}

/// The answer about a file, and the exit status.
fn check(file: &Path, args: &[&str]) -> (Value, i32) {
    let mut command = binary();
    command.args(["disttest", "check"]).arg(file).args(args).args(["--format", "json"]);
    let found = answer(command);
    let document =
        serde_json::from_str(&found.out).unwrap_or_else(|_| panic!("{}: {}{}", file.display(), found.out, found.err));
    (document, found.status)
}

fn json(path: PathBuf) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn strings(value: &Value) -> BTreeSet<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Answers of `linearizability/manifest.csv`.
#[test]
#[expect(clippy::print_stderr, reason = "a report of an opt-in test")]
fn recorded_histories_have_their_known_answers() {
    let Some(folder) = cases("linearizability") else { return };
    let manifest = std::fs::read_to_string(folder.join("manifest.csv")).unwrap();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for line in manifest.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (file, expected, init, fails) =
            (fields[0], fields[2], fields[9].replace("\"\"\"\"\"\"", "\"\""), fields[10]);
        let model = if fields[1] == "etcd" { "register" } else { fields[1] };
        let args = ["--model", model, "--fail-semantics", fails, "--init", &init, "--timeout", "60s"];
        let (document, status) = check(&folder.join(file), &args);
        checked += 1;
        match (document["outcome"].as_str().unwrap(), status, expected) {
            ("valid", 0, "linearizable") | ("invalid", 1, "not-linearizable") => {}
            (outcome, ..) => {
                wrong.push(format!("{file}: expected {expected}, got {outcome} ({status}): {}", document["why"]))
            }
        }
    }
    eprintln!("{checked} files");
    assert!(wrong.is_empty() && checked > 150, "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// What Elle's table says a history with these anomalies cannot have had: the weakest models, and the stronger ones.
fn ruled_out(table: &Value, anomalies: &BTreeSet<String>) -> (BTreeSet<String>, BTreeSet<String>) {
    let of = |name: &String| ["not", "also_not"].map(|field| strings(&table["anomalies"][name][field]));
    let impossible: BTreeSet<String> = anomalies.iter().flat_map(of).flatten().collect();
    let follows = |model: &String| {
        let implied = strings(&table["models"][model]["implies_models"]);
        impossible.iter().any(|weaker| weaker != model && implied.contains(weaker))
    };
    impossible.iter().cloned().partition(|model| !follows(model))
}

/// What was injected is found, what is told beside it is what Elle tells, and nothing else: at each level at which the
/// order of a session is an edge of its own (`-process`), and at one that holds real time, where Elle puts the edges of
/// real time in place of those of sessions, so that the same cycle is a `-realtime` one.
#[test]
fn injected_anomalies_are_found_at_every_level_under_the_names_that_elle_has() {
    let Some(folder) = cases("isolation") else { return };
    let table = json(folder.join("consistency_model.json"));
    let mut wrong = Vec::new();
    for case in json(folder.join("synthetic/manifest.json")).as_array().unwrap() {
        let (file, model) = (case["file"].as_str().unwrap(), case["checker"].as_str().unwrap());
        let injected = case["inject"].as_str();
        let mut judge = |level: &str, expect: &[&str]| {
            let mut args = vec!["--model", model, "--consistency-model", level];
            if model == "rw-register" && matches!(injected, Some("G0" | "cyclic-versions")) {
                args.push("--sequential-keys");
            }
            let (document, status) = check(&folder.join("synthetic").join(file), &args);
            let found: BTreeSet<String> = document["anomalies"]
                .as_array()
                .unwrap()
                .iter()
                .map(|a| a["type"].as_str().unwrap().to_owned())
                .collect();
            let expect: BTreeSet<String> = expect.iter().map(|name| (*name).to_owned()).collect();
            let (not, also_not) = ruled_out(&table, &expect);
            let same = found == expect
                && strings(&document["not"]) == not
                && strings(&document["also_not"]) == also_not
                && status == i32::from(!expect.is_empty());
            if !same {
                wrong.push(format!(
                    "{file} at {level}: {status} {found:?} not {}, expected {expect:?} not {not:?}",
                    document["not"]
                ));
            }
        };
        let name = injected.map(|name| name.trim_end_matches("-unobserved"));
        match (model, injected, file) {
            (_, Some("G-nonadjacent-item-process"), _) => {
                judge("strong-session-serializable", &["G-nonadjacent-item-process"]);
                // Real time closes the cycle with one anti-dependency less.
                judge("strict-serializable", &["G-single-item-realtime"]);
            }
            (_, Some(process), _) if process.ends_with("-process") => {
                judge("strong-session-serializable", &[process]);
                judge("strict-serializable", &[&process.replace("-process", "-realtime")]);
            }
            ("list-append", Some("G1b"), _) => judge("strict-serializable", &["G1b", "G-single-item"]),
            ("list-append", Some("lost-update"), _) => judge("strict-serializable", &["lost-update", "G-single-item"]),
            ("list-append", Some("lost-update-unobserved"), _) => {
                judge("strict-serializable", &["lost-update", "G2-item"])
            }
            ("list-append", Some("dirty-update"), _) => judge("strict-serializable", &["dirty-update", "G1a"]),
            ("list-append", Some("duplicate-elements"), _) => {
                judge("strict-serializable", &["duplicate-elements", "G-single-item-realtime"]);
            }
            (_, Some(_), _) => judge("strict-serializable", &[name.unwrap()]),
            (.., "la-ser.jsonl" | "rw-ser.jsonl") => judge("strict-serializable", &[]),
            // Snapshot isolation, and the skews that it allows.
            (.., "la-si.jsonl" | "rw-si.jsonl") => {
                judge("strong-snapshot-isolation", &[]);
                judge("serializable", &["G2-item"]);
            }
            // Without isolation: what it was when the history was made is not known, only that it is some.
            (.., file) => {
                let (document, status) = check(&folder.join("synthetic").join(file), &["--model", model]);
                assert!(status == 1 && !strings(&document["not"]).is_empty(), "{document}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn published_histories_are_read_in_both_notations_and_judged_as_published() {
    let Some(folder) = cases("isolation").map(|folder| folder.join("public")) else { return };
    for (file, args, outcome, kinds) in [
        ("elle/list-append-gh-30", &["--model", "list-append"][..], "invalid", &["G2-item"][..]),
        (
            "elle/list-append-gh-30",
            &["--model", "list-append", "--consistency-model", "serializable"],
            "invalid",
            &["G2-item"],
        ),
        (
            "elle/paper-example",
            &["--model", "list-append", "--consistency-model", "serializable"],
            "invalid",
            &["G-single-item"],
        ),
        ("jepsen/bank", &["--model", "bank"], "valid", &[]),
        ("jepsen/counter", &["--model", "counter"], "valid", &[]),
        ("jepsen/set", &["--model", "set"], "valid", &[]),
        ("jepsen/set", &["--model", "set-full"], "valid", &[]),
    ] {
        for ending in ["edn", "jsonl"] {
            let (document, _) = check(&folder.join(format!("{file}.{ending}")), args);
            let found: Vec<&str> =
                document["anomalies"].as_array().unwrap().iter().filter_map(|a| a["type"].as_str()).collect();
            assert_eq!(
                (document["outcome"].as_str().unwrap(), found.as_slice()),
                (outcome, kinds),
                "{file}.{ending}: {document}"
            );
        }
    }
}
