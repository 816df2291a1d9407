//! `todo` in a package, and what it offers built.

use crate::package::{PLAN_PATH, Package, answer, binary};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const S1: &str = "tests/auto/s1.rs";

fn todo(package: &Package, args: &[&str]) -> Value {
    let answer = package.disttest(&[&["todo", "--format", "json"], args].concat()).expect(0);
    serde_json::from_str(&answer.out).unwrap()
}

fn items(json: &Value) -> Vec<String> {
    let name = |item: &Value| format!("{} {}", item["scenario"].as_str().unwrap(), item["region"].as_str().unwrap());
    json["items"].as_array().unwrap().iter().map(name).collect()
}

#[test]
fn what_is_not_written_yet_is_listed_with_what_writes_it() {
    let package = Package::new();
    package.edit(PLAN_PATH, "- **Target test file:** tests/auto/s2.rs\n", "");
    let json = todo(&package, &[]);
    assert_eq!(json["schema"], "disttest.todo/1");
    assert_eq!(items(&json), Vec::<String>::new());
    let list = json["not_authored"].as_array().unwrap();
    assert_eq!(list.len(), 2, "{list:?}");
    assert_eq!(list[0]["command"], format!("cargo disttest author {PLAN_PATH} --scenario S1"));
    assert!(list[1]["why"].as_str().unwrap().contains("Target test file"), "{list:?}");
    let answer = package.disttest(&["todo"]).expect(0);
    for part in
        ["tests/auto/s1.rs: S1 reads_never_go_back: its test file is not written yet", "0 to fill, 2 not written"]
    {
        assert!(answer.out.contains(part), "{part}: {}", answer.out);
    }
}

#[test]
fn each_region_carries_all_that_is_needed_to_fill_it() {
    let package = Package::new();
    package.disttest(&["author", PLAN_PATH]).expect(0);
    let json = todo(&package, &[PLAN_PATH]);
    assert_eq!(items(&json), ["S1 workload", "S1 faults", "S1 oracle", "S2 workload", "S2 faults", "S2 oracle"]);
    let item = &json["items"][0];
    let lines = package.read(S1).lines().map(str::to_owned).collect::<Vec<_>>();
    let line = |n: usize| item["lines"][n].as_u64().unwrap() as usize - 1;
    assert!(lines[line(0) - 1].contains("disttest:begin workload"), "the marker is not to be replaced");
    assert!(lines[line(0)..=line(1)].concat().contains("todo!(\"workload\")"));
    assert_eq!(lines[line(1) + 1].trim(), "// disttest:end workload");
    assert_eq!(lines[item["helpers_before"].as_u64().unwrap() as usize - 1], "// disttest:end helpers");
    assert_eq!(item["file"], S1);
    assert_eq!(item["prose"], "16 clients, half reads, 10 s");
    assert_eq!(item["claims"][0]["text"], "Reads never go back.");
    assert_eq!(item["hypotheses"][0]["title"], "Stale read");
    assert_eq!(item["commands"]["check"], format!("cargo disttest author {PLAN_PATH} --check"));
    assert_eq!(item["commands"]["test"], "cargo test -p small --test s1 reads_never_go_back");
    assert!(item["fill"]["code"].as_str().unwrap().contains(".clients(16)"));
    let planned = |item: &Value| {
        let offers = item["offers"].as_array().unwrap().iter().take_while(|offer| offer["planned"] == true);
        offers.map(|offer| offer["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(planned(item), ["register", "process-exit", "client-timeouts"]);
    assert_eq!(planned(&json["items"][1]), ["hard-kill", "process-exit", "client-timeouts"]);
    assert_eq!(planned(&json["items"][2]), ["linearizability"]);
    assert!(
        json["items"][4]["fill"]["code"].as_str().unwrap().contains(".none(\"the claim is about a healthy cluster\")")
    );
    let text = package.disttest(&["todo", PLAN_PATH, "--scenario", "S1"]).expect(0).out;
    for part in [
        "plan says  16 clients",
        "falsifies  C1 (safety) Reads never go back.",
        "closes     H1 Stale read",
        "nemesis    hard-kill",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(!text.contains("S2 "), "{text}");
    package.disttest(&["todo", PLAN_PATH, "--scenario", "S9"]).expect(2);
}

#[test]
fn a_filled_scenario_is_counted_and_shown_to_the_others() {
    let package = Package::new();
    package.disttest(&["author", PLAN_PATH]).expect(0);
    for (region, code) in [
        ("workload", "    let workload: Workload = start();\n"),
        ("faults", "    let landed: Landed = none();\n"),
        ("oracle", "    judge(landed)\n"),
    ] {
        let path = "tests/auto/s2.rs";
        let text = package.read(path);
        let at = text.find("disttest_runtime::todo!").unwrap();
        let from = text[..at].rfind('\n').unwrap() + 1;
        let to = at + text[at..].find('\n').unwrap() + 1;
        assert!(text[from..to].contains(region));
        package.write(path, &format!("{}{code}{}", &text[..from], &text[to..]));
    }
    let json = todo(&package, &[]);
    assert_eq!(json["counts"]["filled"], 1);
    assert_eq!(json["filled"][0]["scenario"], "S2");
    let sibling = &json["items"][0]["sibling"];
    assert_eq!(sibling["path"], "tests/auto/s2.rs");
    assert!(sibling["why"].as_str().unwrap().contains("scenario S2 of the same folder has its workload filled"));
}

#[test]
fn a_helper_that_is_not_written_is_an_item_of_its_own() {
    let package = Package::new();
    package.disttest(&["author", PLAN_PATH]).expect(0);
    package.edit(
        S1,
        "// disttest:end helpers",
        "fn ask() -> u8 {\n    disttest_runtime::todo!(\"ask\")\n}\n// disttest:end helpers",
    );
    let json = todo(&package, &["small", "--scenario", "S1"]);
    assert_eq!(items(&json), ["S1 workload", "S1 faults", "S1 oracle", "S1 helpers"]);
    let item = &json["items"][3];
    let line = package.read(S1).lines().position(|line| line.contains("todo!(\"ask\")")).unwrap() + 1;
    assert_eq!(item["note"], format!("line {line}: ask"));
}

#[test]
fn a_file_that_drifted_is_flagged() {
    let package = Package::new();
    package.disttest(&["author", PLAN_PATH]).expect(0);
    package.edit(PLAN_PATH, "16 clients, half reads", "8 clients, all writes");
    let json = todo(&package, &[]);
    assert_eq!(json["counts"]["drifted"], 1);
    assert!(json["items"][0]["drift"].as_str().unwrap().contains("cargo disttest author"), "{json}");
    assert_eq!(json["items"][0]["prose"], "8 clients, all writes, 10 s");
    assert!(json["items"][3]["drift"].is_null());
    package.edit(S1, "checkers(\"linearizability\" per_key)", "checkers(\"no-lost-ack\")");
    let json = todo(&package, &[]);
    assert!(json["items"][0]["drift"].as_str().unwrap().contains("edited outside"), "{json}");
    package.write(S1, "fn main() {}\n");
    let json = todo(&package, &[]);
    assert!(json["not_authored"][0]["why"].as_str().unwrap().contains("no AUTO-GENERATED header"), "{json}");
}

#[test]
fn a_field_that_the_plan_does_not_yield_is_to_be_written_in_the_plan() {
    let package = Package::new();
    package.edit(PLAN_PATH, "- **Model under test:** register", "- **Model under test:** a bank");
    package.edit(PLAN_PATH, "- **Checker:** `linearizability` per key", "- **Checker:** `serializability`");
    package.edit(PLAN_PATH, "`linearizability` per key over all operations", "`serializability` over all operations");
    package.disttest(&["author", PLAN_PATH]).expect(0);
    let json = todo(&package, &["--scenario", "S1", PLAN_PATH]);
    let field = json["items"].as_array().unwrap().iter().find(|item| item["region"] == "model").unwrap();
    assert_eq!((field["kind"].as_str(), field["prose"].as_str()), (Some("field"), Some("a bank")));
    assert!(field["note"].as_str().unwrap().contains("in the plan, at `Model under test`"), "{field}");
    let oracle = json["items"].as_array().unwrap().iter().find(|item| item["region"] == "oracle").unwrap();
    assert!(oracle["fill"].is_null());
    assert!(oracle["note"].as_str().unwrap().contains("names no model for `serializability`"), "{oracle}");
}

#[test]
fn a_scenario_that_the_plan_must_correct_first_is_not_passed_over() {
    let package = Package::new();
    package.edit(PLAN_PATH, "tests/auto/s1.rs", "../evil.rs");
    package.edit(PLAN_PATH, "- **Falsifies if it FAILs:** C2", "- **Falsifies if it FAILs:** C9");
    let json = todo(&package, &[]);
    let why: Vec<&str> =
        json["not_authored"].as_array().unwrap().iter().map(|one| one["why"].as_str().unwrap()).collect();
    assert_eq!(why.len(), 2, "{why:?}");
    assert!(why[0].contains("../evil.rs") && why[1].contains("C9"), "{why:?}");
    assert_eq!(json["next"], format!("cargo disttest plan {PLAN_PATH}"));
}

#[test]
fn plans_that_cannot_be_read_do_not_hide_the_others() {
    let package = Package::new();
    package.write("docs/testing-plans/notes.md", "hello\n");
    let answer = package.disttest(&["todo"]).expect(2);
    assert!(answer.out.contains("S1 reads_never_go_back") && answer.err.contains("notes.md"), "{}", answer.err);
    package.disttest(&["todo", "nowhere.md"]).expect(2);
    let empty = tempfile::tempdir().unwrap();
    let mut command = binary();
    command.current_dir(empty.path()).args(["disttest", "todo"]);
    crate::package::answer(command).expect(2);
}

#[test]
fn a_hostile_plan_steers_no_terminal() {
    let package = Package::new();
    package.edit(PLAN_PATH, "16 clients, half reads, 10 s", "x \u{1b}[31m \u{202e} `\"); evil(\"");
    package.edit(PLAN_PATH, "Reads never go back.", "Reads \u{1b}]0;x\u{7} never");
    package.disttest(&["author", PLAN_PATH]).expect(0);
    let text = package.disttest(&["todo"]).expect(0).out;
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
}

/// A folder that does not change, so that what is built of it replaces what was built before.
fn fresh(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("todo").join(name);
    if root.exists() {
        fs::remove_dir_all(&root).unwrap();
    }
    fs::create_dir_all(&root).unwrap();
    root
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Pastes what `todo` offers for each region of the plan's test files, as `todo --help` says, and gives back all items.
fn paste(root: &Path, plan: &str) -> Vec<Value> {
    let mut command = binary();
    command.current_dir(root).args(["disttest", "todo", plan, "--format", "json"]);
    let json: Value = serde_json::from_str(&answer(command).expect(0).out).unwrap();
    let items = json["items"].as_array().unwrap().clone();
    let line = |line: &Value| line.as_u64().unwrap() as usize;
    // Of each file: lines from, to (none: before `from`), and the text in their place.
    let mut edits: BTreeMap<&str, Vec<(usize, usize, &str)>> = BTreeMap::new();
    let mut pasted = BTreeSet::new();
    for item in &items {
        let file = item["file"].as_str().unwrap();
        let edits = edits.entry(file).or_default();
        let code = item["fill"]["code"].as_str().unwrap_or_else(|| panic!("no fill: {item}"));
        edits.push((line(&item["lines"][0]), line(&item["lines"][1]), code));
        let before = line(&item["helpers_before"]);
        let names = item["fill"]["helpers"].as_array().unwrap().iter();
        let fresh = names.filter(|name| pasted.insert((file, name.as_str().unwrap())));
        edits.extend(fresh.map(|name| (before, before - 1, helper(item, name))));
    }
    for (file, mut edits) in edits {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        edits.sort_by_key(|(from, ..)| *from);
        for (from, to, code) in edits.into_iter().rev() {
            lines.splice(from - 1..to, code.lines().map(str::to_owned));
        }
        fs::write(root.join(file), lines.join("\n") + "\n").unwrap();
    }
    items
}

/// The code of the helper with this name.
fn helper<'a>(item: &'a Value, name: &Value) -> &'a str {
    let helpers = item["helpers"].as_array().unwrap();
    helpers.iter().find(|helper| helper["name"] == *name).unwrap()["code"].as_str().unwrap()
}

/// Every snippet of every offer, each in a function of its own.
fn all_offers(items: &[Value]) -> String {
    let mut functions = String::new();
    let offers =
        items.iter().flat_map(|item| item["offers"].as_array().unwrap().iter().map(move |offer| (item, offer)));
    for (n, (item, offer)) in offers.enumerate() {
        let Some(code) = offer["snippet"]["code"].as_str() else { continue };
        let (arguments, end) = match offer["kind"].as_str().unwrap() {
            "model" => ("run: Run", "drop(workload);\n    Ok(())"),
            "nemesis" => ("run: Run, workload: Workload", "drop(landed);\n    Ok(())"),
            "checker" => ("run: Run, workload: Workload, landed: Landed", ""),
            _ => ("", "Ok(())"),
        };
        let result = if offer["kind"] == "checker" { "Judged" } else { "()" };
        // Helpers of one offer may clash with those of another: each function has its own.
        let names = offer["snippet"]["helpers"].as_array().unwrap().iter();
        let inner: String = names.map(|name| format!("{}\n", helper(item, name))).collect();
        functions.push_str(&format!(
            "mod offer_{n} {{\n    use disttest_runtime::prelude::*;\n    {inner}\n    pub(super) async fn f({arguments}) -> Result<{result}> {{\n    {code}\n    {end}\n}} }}\n"
        ));
    }
    format!(
        "#![allow(dead_code, unused_imports, reason = \"every offer is compiled, none is run\")]\n{functions}\nfn main() {{}}\n"
    )
}

/// The plan, with promises of isolation in the place of those of single operations.
fn of_transactions(plan: &str) -> String {
    let mut scenario = 0;
    let line = |line: &str| {
        scenario += usize::from(line.starts_with("### Scenario "));
        let (model, checker) = match scenario {
            1 => ("other(list-append)", "Elle at snapshot isolation."),
            2 => ("other(rw-register)", "`serializability` by Elle."),
            _ => ("map", "`long-fork`."),
        };
        match line {
            line if line.starts_with("- **Model under test:**") => format!("- **Model under test:** {model}\n"),
            line if line.starts_with("- **Checker:**") => format!("- **Checker:** {checker}\n"),
            line => format!("{}\n", line.replace("is linearizable as a register", "is as promised")),
        }
    };
    plan.lines().map(line).collect()
}

#[test]
fn every_snippet_compiles_where_it_is_pasted() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let example = workspace.join("tests/abd-store");
    let root = fresh("pasted");
    let (runtime, store) = (workspace.join("disttest-runtime"), example.clone());
    write(
        &root,
        "Cargo.toml",
        "[workspace]\nmembers = [\"helped\", \"alone\", \"isolated\"]\nresolver = \"3\"\n\n[profile.dev]\ndebug = \"line-tables-only\"\n",
    );
    fs::copy(workspace.join("Cargo.lock"), root.join("Cargo.lock")).unwrap();
    let plan = fs::read_to_string(example.join("docs/testing-plans/abd-register.md")).unwrap();
    for (name, binary) in [("helped", "abd-node"), ("alone", "server"), ("isolated", "server")] {
        let dependencies = format!(
            "[dependencies]\nanyhow = \"1\"\ntokio = {{ version = \"1\", features = [\"time\"] }}\n\n[dev-dependencies]\n\
             abd-store = {{ path = {store:?} }}\ndisttest-runtime = {{ path = {runtime:?} }}\n"
        );
        write(
            &root,
            &format!("{name}/Cargo.toml"),
            &format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[[bin]]\nname = \"{binary}\"\npath = \"src/main.rs\"\n\n{dependencies}"
            ),
        );
        write(&root, &format!("{name}/src/main.rs"), "fn main() {}\n");
        let plan = if name == "isolated" { of_transactions(&plan) } else { plan.clone() };
        write(&root, &format!("{name}/docs/testing-plans/abd-register.md"), &plan);
    }
    let support = fs::read_to_string(example.join("tests/support/mod.rs")).unwrap();
    write(&root, "helped/tests/support/mod.rs", &support);
    for name in ["helped", "alone", "isolated"] {
        let package = root.join(name);
        let mut author = binary();
        author.current_dir(&package).args(["disttest", "author", "docs/testing-plans/abd-register.md"]);
        answer(author).expect(0);
        let items = paste(&package, "docs/testing-plans/abd-register.md");
        assert_eq!(items.len(), 12, "three regions of four scenarios");
        if name != "helped" {
            write(&package, "tests/offers.rs", &all_offers(&items[..3]));
        } else {
            let code = items[0]["fill"]["code"].as_str().unwrap();
            assert!(code.contains("support::program()") && code.contains("support::peer_timeouts()"), "{code}");
            let check = |args: &[&str]| {
                let mut check = binary();
                let plan = "docs/testing-plans/abd-register.md";
                check.current_dir(&package).args(["disttest", "author", "--check", plan]).args(args);
                answer(check)
            };
            check(&["--scenario", "S1", "--scenario", "S2"]).expect(0);
            // The oracle of S3 is the plan's own, and no helper of the package asks for the increments of S4: these are left to
            // a person, and nothing else.
            let left = check(&[]).expect(1).err;
            assert_eq!(left.matches("error: ").count(), 2, "{left}");
            assert!(left.contains("S3: helpers is not filled") && left.contains("S4: helpers is not filled"), "{left}");
        }
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut check = std::process::Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    check.current_dir(&root).args(["check", "--workspace", "--tests", "--offline"]).env("CARGO_TARGET_DIR", target);
    let answer = answer(check).expect(0);
    // A helper module may hold more than a scenario uses.
    let warned: Vec<&str> =
        answer.err.lines().filter(|line| line.contains("--> ") && !line.contains("/support/mod.rs")).collect();
    assert!(warned.is_empty(), "{warned:?}\n{}", answer.err);
    let left =
        fs::read_to_string(root.join("alone/tests/auto/S1_linearizable_register_under_partitions_and_crashes.rs"))
            .unwrap();
    for (file, checker) in [
        ("S1_linearizable_register_under_partitions_and_crashes", "Level::named(\"snapshot-isolation\")"),
        ("S2_acknowledged_writes_survive_the_kill_of_a_quorum", "Serializability::register("),
        ("S4_increments_count_once_whatever_is_tried_again", "LongFork::new()"),
    ] {
        let text = fs::read_to_string(root.join(format!("isolated/tests/auto/{file}.rs"))).unwrap();
        assert!(text.contains(checker) && text.contains(".call(\"txn\", None::<&str>, "), "{text}");
    }
    assert!(left.contains("disttest_runtime::todo!(\"ask\")"), "what only a person knows keeps the scenario NOT-RUN");
}
