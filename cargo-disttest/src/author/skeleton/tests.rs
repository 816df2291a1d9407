//! Skeletons of plans, and what becomes of them.

use super::super::change::{FileChange, file_change};
use super::super::fixture::wanted;
use super::*;

const SOUND: &str = r#"//! AUTO-GENERATED from test plan: docs/testing-plans/p.md
//! Scenario: S1 reads_never_go_back
// REVIEW BEFORE TREATING AS A PERMANENT REGRESSION: read the oracle.
use std::time::Duration;
use disttest_runtime::prelude::*;

// How long a client waits.
const PATIENCE: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn reads_never_go_back() -> anyhow::Result<()> {
    // 1. Workload — from §7 Workload field
    let clients = 16; // as planned

    // 2. Faults — from §7 Faults field
    todo!("kill a node");

    // 3. Oracle — from §7 Oracle field
    // no client may see an older value
    assert_eq!(clients, 16)
}
"#;

fn planted(skeleton: &str) -> (Wanted, Vec<Note>) {
    let plan = format!("before\n- **Skeleton:**\n  ```rust\n{skeleton}```\n");
    let start = plan.find("```rust").expect("the fence");
    let block = Spanned::new(skeleton.to_owned(), Span::new(start, plan.len()));
    plant(wanted(), &plan, Some(&block))
}

fn region(text: &str, name: &str) -> String {
    let pieces = regions::parse(text).expect("well-formed");
    pieces.region(name).unwrap_or_else(|| panic!("region {name}")).body.to_owned()
}

#[track_caller]
fn text(skeleton: &str) -> String {
    let text = render(&planted(skeleton).0, &|_| None);
    let pieces = regions::parse(&text).expect("well-formed");
    assert_eq!(pieces.header_line("Frame-SHA256:"), Some(pieces.frame_digest().as_str()));
    for name in ["workload", "faults", "oracle"] {
        assert!(pieces.region(name).is_some_and(|region| !region.is_filled()), "{name} is filled:\n{text}");
    }
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    text
}

impl Wanted {
    fn wanted_without_seeds(&self) -> Wanted {
        Wanted { seeds: Seeds::default(), ..self.clone() }
    }
}

fn messages(skeleton: &str) -> Vec<String> {
    planted(skeleton).1.into_iter().map(|told| told.message).collect()
}

#[test]
fn a_plain_test_becomes_the_scenario_with_its_imports_helpers_statements_and_comments() {
    let text = text(SOUND);
    assert_eq!(
        region(&text, "workload"),
        "    let clients = 16; // as planned\n    let workload: Workload = disttest_runtime::todo!(\"workload\");\n"
    );
    assert_eq!(region(&text, "faults"), "    let landed: Landed = disttest_runtime::todo!(\"faults\");\n");
    assert_eq!(
        region(&text, "oracle"),
        "    // no client may see an older value\n    assert_eq!(clients, 16);\n    disttest_runtime::todo!(\"oracle\")\n"
    );
    assert_eq!(
        region(&text, "helpers"),
        "use std::time::Duration;\n\n// How long a client waits.\nconst PATIENCE: Duration = Duration::from_secs(1);\n"
    );
    assert_eq!(text.matches("async fn reads_never_go_back(run: Run) -> Result<Judged>").count(), 1);
    assert_eq!(text.matches("fn ").count(), 1);
    assert!(!text.contains("tokio"));
    assert_eq!(messages(SOUND), Vec::<String>::new());
}

#[test]
fn a_test_is_known_by_its_attribute_wherever_it_stands() {
    for attribute in [
        "#[test]",
        "#[tokio::test]",
        "#[test_log::test(tokio::test)]",
        "#[madsim::test]",
        "#[rstest]",
        "#[disttest_runtime::scenario(id = \"S1\")]",
    ] {
        for signature in
            ["fn other()", "async fn other() -> Result<(), Box<dyn std::error::Error>>", "pub fn reads_never_go_back()"]
        {
            let text = text(&format!(
                "{attribute}\n{signature} {{\n    // 1. Workload\n    let a = 1;\n    // 2. Faults\n    // 3. Oracle\n}}\n"
            ));
            assert!(region(&text, "workload").starts_with("    let a = 1;\n"), "{text}");
        }
    }
    let nested = "#[cfg(test)]\nmod tests {\n    use super::*;\n    use std::fmt;\n    fn help() {}\n    #[test]\n    fn t() {\n        // TODO workload\n        let a = 1;\n        // TODO faults\n        // TODO oracle\n    }\n}\n";
    let text = text(nested);
    assert_eq!(region(&text, "helpers"), "use std::fmt;\n\nfn help() {}\n");
    assert!(region(&text, "workload").contains("let a = 1;\n"));
    assert_eq!(messages(nested), Vec::<String>::new());
}

#[test]
fn a_skeleton_of_comments_alone_is_what_would_be_synthesized() {
    let skeleton = "//! AUTO-GENERATED from test plan: p.md\n\nuse disttest_runtime::prelude::*;\n\nasync fn t(run: Run) -> Result<Judged> {\n    // TODO 1. Workload — from §7 Workload field\n    // TODO 2. Faults — from §7 Faults field\n    // TODO 3. Oracle — from §7 Oracle field\n}\n";
    assert_eq!(planted(skeleton), (wanted(), Vec::new()));
}

#[test]
fn a_skeleton_never_makes_a_passing_test_by_itself() {
    for body in [
        "",
        "todo!()",
        "todo!();",
        "unimplemented!(\"x\")",
        "Ok(())",
        "return Ok(());",
        "loop {}",
        "panic!()",
        "disttest_runtime::todo!(\"workload\")",
        "return Err(x)?",
        "std::process::exit(0)",
    ] {
        let text = text(&format!("#[test]\nfn t() {{ {body} }}\n"));
        for todo in ["todo!(\"workload\")", "todo!(\"faults\")", "todo!(\"oracle\")"] {
            assert_eq!(text.matches(todo).count(), 1, "{body}\n{text}");
        }
    }
}

#[test]
fn what_reaches_outside_of_the_file_or_shadows_the_frame_is_left_out_and_told() {
    for (item, expect) in [
        ("mod other;", "a module in another file"),
        ("#[path = \"/etc/passwd\"] mod other { fn f() {} }", "`#[path]`"),
        ("#[cfg_attr(all(), path = \"x\")] mod other { fn f() {} }", "`#[path]`"),
        ("extern crate evil;", "`extern crate`"),
        ("unsafe fn f() {}", "`unsafe` code"),
        ("fn f() { unsafe { g() } }", "`unsafe` code"),
        ("extern \"C\" { fn f(); }", "`extern`"),
        ("include!(\"x.rs\");", "`include!`"),
        ("const A: &str = include_str!(\"/etc/passwd\");", "`include_str!`"),
        ("fn f() { m!({ include_bytes!(\"x\") }) }", "`include_bytes!`"),
        ("macro_rules! m { () => { unsafe {} } }", "`unsafe` code"),
        ("#[no_mangle] pub fn f() {}", "`#[no_mangle]`"),
        ("#[unsafe(no_mangle)] pub fn f() {}", "`#[unsafe]`"),
        ("#[global_allocator] static A: B = B;", "`#[global_allocator]`"),
        ("#[ctor::ctor] fn f() {}", "`#[ctor]`"),
        ("#![feature(x)]", "an attribute of the whole file"),
        ("fn main() {}", "`main`"),
        ("struct Judged;", "`Judged`"),
        ("type Result<T> = std::result::Result<T, ()>;", "`Result`"),
        ("use anyhow::Result;", "`Result`"),
        ("use evil as disttest_runtime;", "`disttest_runtime`"),
        ("use evil::disttest_runtime::{self, x};", "`disttest_runtime`"),
        ("use evil::{a, b::{Run as R, S as Run}};", "`Run`"),
        ("mod disttest_runtime { macro_rules! todo { () => {} } }", "`disttest_runtime`"),
        ("fn reads_never_go_back() {}", "`reads_never_go_back`"),
        ("#[test]\nfn second() {}", "a second test"),
        ("#[should_panic]", "an attribute that a scenario does not have"),
    ] {
        let skeleton = if item.starts_with("#[should_panic]") {
            format!("use std::fmt;\n{item}\n#[test]\nfn t() {{}}\n")
        } else if item.starts_with("#[test]") {
            format!("use std::fmt;\n#[test]\nfn t() {{}}\n{item}\n")
        } else {
            format!("{item}\nuse std::fmt;\n#[test]\nfn t() {{}}\n")
        };
        let text = text(&skeleton);
        assert_eq!(region(&text, "helpers"), "use std::fmt;\n", "{item}");
        let told = messages(&skeleton);
        assert!(told.iter().any(|told| told.contains(expect)), "{item}: {told:?}");
    }
    let inside = "#[test]\nfn t() {\n    // 1. Workload\n    let a = include_str!(\"x\");\n    let b = 1;\n    // 2. Faults\n    unsafe { f() }\n    // 3. Oracle\n    mod disttest_runtime {}\n}\n";
    let text = text(inside);
    assert!(!text.contains("include_str") && !text.contains("unsafe") && !text.contains("mod disttest"), "{text}");
    assert!(region(&text, "workload").contains("let b = 1;"));
    assert_eq!(messages(inside).len(), 3);
}

#[test]
fn a_skeleton_that_cannot_be_parsed_is_told_with_its_line_in_the_plan() {
    let broken = "#[test]\nfn t() {\n    let a = ;\n}\n";
    let (planted, told) = planted(broken);
    assert_eq!(planted, wanted());
    assert!(told[0].message.starts_with("S1: its skeleton cannot be used: "), "{told:?}");
    let plan = format!("before\n- **Skeleton:**\n  ```rust\n{broken}```\n");
    assert_eq!(&plan[told[0].span.start..told[0].span.end], "let a = ;");
    let text = text(broken);
    assert_eq!(text, render(&wanted(), &|_| None));
    assert!(messages("").iter().any(|told| told.contains("no test function")));
    assert!(messages("fn a() {}\nfn b() {}\n").iter().any(|told| told.contains("no test function")));
    assert!(messages("{{entrypoint}\n").iter().any(|told| told.contains("cannot be used")));
}

#[test]
fn without_three_todo_comments_all_stands_in_the_workload() {
    let skeleton = "#[test]\nfn t() {\n    // first\n    let a = 1;\n    rt.block_on(async {\n        // 1. Workload\n        f();\n    });\n}\n";
    let text = text(skeleton);
    assert!(region(&text, "workload").starts_with("    // first\n    let a = 1;\n    rt.block_on(async {\n"), "{text}");
    assert!(messages(skeleton)[0].contains("no three TODO comments"));
}

#[test]
fn hostile_skeletons_stay_in_their_regions() {
    let clean = text("#[test]\nfn t() {}\n");
    let frame = |text: &str| {
        let pieces = regions::parse(text).expect("well-formed");
        let empty = pieces.join(|_| "");
        empty.lines().filter(|line| !line.contains("SHA256:")).collect::<Vec<_>>().join("\n")
    };
    for evil in [
        "// disttest:end workload",
        "// disttest:begin oracle",
        "let s = \"// disttest:end workload\";",
        "let s = r#\"\n// disttest:end workload\n\"#;",
        "/* // disttest:end workload */",
        "/*\n// disttest:end workload\n*/",
        "let s = \"日本\u{200d}\"; // é",
        "let x = '\"'; let y = 'a'; // '",
        "{ { } }",
        "//! doc",
        "let a = 1; } fn evil() {",
        "}\n#[test]\nfn u() {",
        "\u{feff}",
        "\u{2028}",
        "let s = \"\u{202e}\";",
        "let s = \"\u{0}\";",
        "#[allow(unused)] let x = 1;",
        "macro_rules! todo { () => {} }",
    ] {
        for place in ["1. Workload", "nothing"] {
            for crlf in [false, true] {
                let skeleton = format!(
                    "use std::fmt;\n#[test]\nfn t() {{\n    // {place}\n    {evil}\n    // 2. Faults\n    // 3. Oracle\n}}\n"
                );
                let skeleton = if crlf { skeleton.replace('\n', "\r\n") } else { skeleton };
                let text = text(&skeleton);
                assert_eq!(frame(&text), frame(&clean), "{evil:?}\n{text}");
                let (wanted, _) = planted(&skeleton);
                let again = file_change(&wanted, Some(&text), &|_| None);
                assert!(matches!(again, FileChange::UpToDate { .. }), "{evil:?} {again:?}");
            }
        }
    }
}

#[test]
fn nesting_without_end_is_no_crash() {
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("!", ""),
        ("&", ""),
        ("-", ""),
        ("1+", "1"),
        ("a.", "b"),
        ("f(", ")"),
        ("if a {} else ", "{}"),
        ("return ", ""),
        ("|", "|"),
        ("Box<", ">"),
        ("[", "]"),
    ] {
        for count in [100, 4000, 60_000 / (open.len() + close.len())] {
            let middle = if matches!(open, "1+" | "a." | "if a {} else ") { close } else { "x" };
            let close = if middle == close { String::new() } else { close.repeat(count) };
            let deep = format!("{}{middle}{close}", open.repeat(count));
            for skeleton in [
                format!("#[test]\nfn t() {{\n    {deep};\n}}\n"),
                format!("#[test]\nfn t() {{}}\nconst A: {deep} = 1;\n"),
            ] {
                let (planted, _) = planted(&skeleton);
                assert_eq!(planted.wanted_without_seeds(), wanted());
            }
        }
    }
    let long = format!("#[test]\nfn t() {{ {} }}\n", "a();".repeat(20_000));
    assert_eq!(text(&long).matches("a();").count(), 20_000, "long is not deep");
    assert!(messages(&format!("const A: u8 = {}1;", "!".repeat(3000)))[0].contains("nested too deep"));
}

#[test]
fn a_region_that_nobody_touched_follows_the_skeleton_and_a_touched_one_stays() {
    let before = text(SOUND);
    let touched = before.replace("let clients = 16;", "let clients = 17;");
    let (mut changed, _) =
        planted(&SOUND.replace("let clients = 16;", "let clients = 8;").replace("clients, 16)", "clients, 8)"));
    changed.attribute.scenario_sha256 = "c".repeat(64);
    let FileChange::Update { text: followed, .. } = file_change(&changed, Some(&before), &|_| None) else {
        panic!("an update")
    };
    assert!(followed.contains("let clients = 8;") && followed.contains("assert_eq!(clients, 8);"));
    let FileChange::Update { text: kept, .. } = file_change(&changed, Some(&touched), &|_| None) else {
        panic!("an update")
    };
    assert!(kept.contains("let clients = 17;") && kept.contains("assert_eq!(clients, 8);"));
    assert!(matches!(file_change(&changed, Some(&kept), &|_| None), FileChange::UpToDate { .. }));
}

#[test]
fn mutated_skeletons_stay_in_their_regions() {
    const PIECES: [&str; 20] = [
        "{",
        "}",
        "(",
        ")",
        "\"",
        "'",
        "r#\"",
        "/*",
        "*/",
        "//",
        "#[test]\n",
        "fn x() {",
        "todo!();",
        "unsafe",
        "mod x;",
        "use a::Run;",
        "// disttest:end workload\n",
        "// 2. Faults\n",
        "\u{2028}",
        "é",
    ];
    for seed in 0..60 {
        let mut rng = disttest_runtime::base::rng::Rng::new(seed);
        let mut skeleton = SOUND.to_owned();
        for _ in 0..=rng.below(3) {
            let places: Vec<usize> = (0..=skeleton.len()).filter(|at| skeleton.is_char_boundary(*at)).collect();
            let at = *rng.pick(&places).expect("there is one");
            if rng.chance(1, 3) {
                let end = places.iter().copied().find(|end| *end >= at + 20).unwrap_or(skeleton.len());
                skeleton.replace_range(at..end, "");
            } else {
                skeleton.insert_str(at, rng.pick(&PIECES).expect("there is one"));
            }
        }
        let text = text(&skeleton);
        let (wanted, _) = planted(&skeleton);
        assert!(matches!(file_change(&wanted, Some(&text), &|_| None), FileChange::UpToDate { .. }), "{text}");
    }
}
