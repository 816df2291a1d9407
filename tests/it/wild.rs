//! Plans as they occur in the wild, each with the reading that its author wrote down beside it, and files that are no
//! plans. `wild/known-differences.txt` names what is read or judged otherwise today; a line that is no longer true fails.

use disttest_tests::workspace;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the lint says of prose that names nothing the runtime knows: true of every plan that was written for people.
const OF_PROSE: &str = "unresolved-";

#[test]
fn every_wild_plan_is_read_and_judged_as_its_author_meant_it() {
    let found: BTreeSet<String> = cases().iter().flat_map(differences).collect();
    let text = fs::read_to_string(folder().join("known-differences.txt")).expect("the list is readable");
    let known: BTreeSet<String> = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    let report =
        |what: &str, lines: Vec<&String>| lines.iter().map(|line| format!("{what}: {line}\n")).collect::<String>();
    let new = report("new", found.difference(&known).collect());
    let gone = report("gone, so take it off the list", known.difference(&found).collect());
    assert!(new.is_empty() && gone.is_empty(), "\n{new}{gone}");
}

#[test]
fn a_file_that_is_no_plan_gets_one_sentence_and_status_2() {
    let others = files(&folder().join("other"), |_| true);
    assert_eq!(others.len(), 6, "the files are there");
    for file in others {
        let (status, out, err) = plan(&[&format!("other/{}", name(&file))]);
        let one_sentence = status == 2 && out.is_empty() && err.lines().count() == 1;
        assert!(one_sentence, "{}: status {status}\n{out}{err}", name(&file));
    }
}

#[test]
fn the_wild_plans_cover_both_modes_sound_and_unsound() {
    let cases = cases();
    let count = |sound: bool, mode: &str| {
        cases.iter().filter(|case| case.expected["sound"] == sound && case.expected["mode"] == mode).count()
    };
    let counts = [(true, "change-scoped"), (true, "project-wide"), (false, "change-scoped"), (false, "project-wide")];
    assert_eq!(counts.map(|(sound, mode)| count(sound, mode)), [8, 2, 10, 7]);
    for case in &cases {
        let defects = list(&case.expected["defects"]).len();
        assert_eq!(defects == 0, case.expected["sound"] == true, "{}: a plan is sound or has defects", case.plan);
    }
}

/// A plan with what its author expects and what the tool says.
struct Case {
    plan: String,
    expected: Value,
    got: Value,
    status: i32,
}

fn cases() -> Vec<Case> {
    let expectations = files(&folder(), |file| file.extension().is_some_and(|extension| extension == "json"));
    expectations.iter().map(|file| case(file)).collect()
}

fn case(file: &Path) -> Case {
    let text = fs::read_to_string(file).expect("an expectation is readable");
    let expected: Value = serde_json::from_str(&text).expect("an expectation is JSON");
    let file = expected["plan"].as_str().expect("an expectation names its plan").to_owned();
    let (status, out, err) = plan(&["--format", "json", &file]);
    let got = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{file}: no JSON: {err}"));
    Case { plan: file, expected, got, status }
}

/// Status, stdout and stderr of `cargo disttest plan ARGS` beside the plans.
fn plan(args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_disttest"));
    command.args(["disttest", "plan"]).args(args).current_dir(folder()).stdin(Stdio::null());
    let output = command.output().expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn folder() -> PathBuf {
    workspace().join("tests/wild")
}

fn files(folder: &Path, keep: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is readable");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry is readable").path()).collect();
    files.retain(|file| file.is_file() && keep(file));
    files.sort();
    files
}

fn name(file: &Path) -> String {
    file.file_name().expect("a file has a name").to_string_lossy().into_owned()
}

/// Everything in which the tool's answer is another than the author's.
fn differences(case: &Case) -> Vec<String> {
    let mut found = Vec::new();
    let mut differ = |what: String, expected: Value, got: Value| {
        if expected != got {
            found.push(format!("{what}: {expected} is read as {got}"));
        }
    };
    header(case, &mut differ);
    differ("status".to_owned(), i32::from(case.expected["sound"] != true).into(), case.status.into());
    counts(case, &mut differ);
    claims(case, &mut differ);
    for expected in list(&case.expected["scenarios"]) {
        scenario(case, expected, &mut differ);
    }
    found.extend(alarms(case));
    found.extend(misses(case));
    found.into_iter().map(|line| format!("{}: {line}", case.plan)).collect()
}

fn header(case: &Case, differ: &mut impl FnMut(String, Value, Value)) {
    for field in ["slug", "mode"] {
        differ(field.to_owned(), case.expected[field].clone(), case.got["plan"][field].clone());
    }
}

fn counts(case: &Case, differ: &mut impl FnMut(String, Value, Value)) {
    let scenarios = list(&case.got["scenarios"]);
    let arms: Vec<&Value> = scenarios.iter().flat_map(|scenario| list(&scenario["arms"])).collect();
    let blocks = scenarios.iter().chain(arms.iter().copied()).filter(|part| part["has_model_block"] == true).count();
    let Some(expected) = case.expected["counts"].as_object() else { panic!("{}: no counts", case.plan) };
    // Nothing is expected where the plan itself does not tell whether a leftover of the template counts.
    for (section, count) in expected.iter().filter(|(_, count)| !count.is_null()) {
        let got = match section.as_str() {
            "model_blocks" => blocks,
            "arms" => arms.len(),
            section => list(&case.got[section]).len(),
        };
        differ(format!("number of {section}"), count.clone(), got.into());
    }
}

fn claims(case: &Case, differ: &mut impl FnMut(String, Value, Value)) {
    for (expected, got) in list(&case.expected["claims"]).iter().zip(list(&case.got["claims"])) {
        let id = text(&expected["id"]);
        differ(format!("claim {id}"), expected["id"].clone(), got["id"].clone());
        if !expected["categories"].is_null() {
            differ(format!("categories of {id}"), sorted(&expected["categories"]), sorted(&got["categories"]));
        }
    }
    for (expected, got) in list(&case.expected["hypotheses"]).iter().zip(list(&case.got["hypotheses"])) {
        let id = text(&expected["id"]);
        differ(format!("hypothesis {id}"), expected["id"].clone(), got["id"].clone());
        differ(format!("claims of {id}"), expected["claims"].clone(), got["claims"].clone());
    }
}

fn scenario(case: &Case, expected: &Value, differ: &mut impl FnMut(String, Value, Value)) {
    let (id, line) = (text(&expected["id"]), &expected["line"]);
    let Some(got) = list(&case.got["scenarios"]).iter().find(|scenario| &scenario["line"] == line) else {
        return differ(format!("scenario {id}"), line.clone(), Value::Null);
    };
    differ(format!("id of {id}"), plain(&expected["id"]), plain(&got["id"]));
    for field in
        ["name", "falsifies", "closes", "serious", "has_model_block", "target", "skeleton_language", "has_skeleton"]
    {
        let undecided = field == "serious" && expected[field].is_null();
        if !undecided {
            differ(format!("{field} of {id}"), expected[field].clone(), got[field].clone());
        }
    }
    if !expected["model"].is_null() {
        differ(format!("model of {id}"), expected["model"].clone(), got["model_block"]["model"].clone());
    }
    differ(format!("surfaces of {id}"), expected["surfaces"].clone(), (!got["surfaces"].is_null()).into());
    for tier in ["smoke", "hardening"] {
        differ(format!("{tier} of {id}"), expected[tier].clone(), numbers(&got["budgets"][tier]));
    }
    for arm in list(&expected["arms"]) {
        let same = |got: &&Value| got["id"] == arm["id"];
        let got = list(&got["arms"]).iter().find(same).cloned().unwrap_or_default();
        for field in ["id", "line", "has_model_block", "target", "has_skeleton"] {
            differ(format!("{field} of {}", text(&arm["id"])), arm[field].clone(), got[field].clone());
        }
    }
}

/// The four numbers of a budget; nothing where there is none.
fn numbers(budget: &Value) -> Value {
    if budget.is_null() {
        return Value::Null;
    }
    let fields = ["faults", "nodes", "seconds", "seeds"];
    fields.iter().map(|field| ((*field).to_owned(), budget[*field].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// Errors and warnings of sound plans, and errors of the others at places where nothing is wrong.
fn alarms(case: &Case) -> Vec<String> {
    let sound = case.expected["sound"] == true;
    let unfounded = |diagnostic: &&Value| {
        let grave = diagnostic["severity"] == "error" || (sound && diagnostic["severity"] == "warning");
        let rule = text(&diagnostic["rule"]);
        let noted = list(&case.expected["notes"]).iter().any(|note| is_of(note, diagnostic));
        let planted = list(&case.expected["defects"]).iter().any(|defect| is_of(defect, diagnostic));
        grave && !rule.starts_with(OF_PROSE) && !noted && !planted
    };
    let alarms = list(&case.got["diagnostics"]).iter().filter(unfounded);
    alarms.map(|alarm| format!("alarm at line {}: {}", alarm["line"], text(&alarm["rule"]))).collect()
}

/// Defects that nothing points at.
fn misses(case: &Case) -> Vec<String> {
    let marks = list(&case.expected["defects"]).iter().chain(list(&case.expected["notes"]));
    let missed = marks.filter(|mark| !list(&case.got["diagnostics"]).iter().any(|one| is_of(mark, one)));
    missed.map(|mark| format!("missed at line {}: {}", mark["line"], text(&mark["about"]))).collect()
}

/// Whether a diagnostic is about what an author marked: the line agrees (something missing has none, or stands
/// anywhere up to `to`) and the rule.
fn is_of(mark: &Value, diagnostic: &Value) -> bool {
    let number = |value: &Value| value.as_u64();
    let (from, to) = (number(&mark["line"]), number(&mark["to"]).or(number(&mark["line"])));
    let line = from.is_none() || (from..=to).contains(&number(&diagnostic["line"]));
    line && list(&mark["rules"]).contains(&diagnostic["rule"])
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("nothing")
}

fn sorted(value: &Value) -> Value {
    let names: BTreeSet<&str> = list(value).iter().filter_map(Value::as_str).collect();
    names.into_iter().map(Value::from).collect()
}

/// An id without the zeros in front of its number: `S01` and `S1` are one.
fn plain(id: &Value) -> Value {
    let id = text(id);
    let digits = id.find(|letter: char| letter.is_ascii_digit()).unwrap_or(id.len());
    format!("{}{}", &id[..digits], id[digits..].trim_start_matches('0')).into()
}
