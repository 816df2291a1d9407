//! Test files in other languages, as texts.

use super::super::change::{FileChange, Unfilled};
use super::super::fixture::wanted;
use super::*;
use Language::{Go, Python, Shell, TypeScript};

const HEADER_LINES: &str = "AUTO-GENERATED from test plan: x.md\nScenario: S1 x\nFalsifies: C1 (see §1b of the plan for full text)\nREVIEW BEFORE TREATING AS A PERMANENT REGRESSION: y\n";

fn header(language: Language) -> String {
    HEADER_LINES.lines().map(|line| format!("{} {line}\n", language.comment())).collect()
}

/// A sound skeleton of each language.
fn skeleton(language: Language) -> String {
    let header = header(language);
    match language {
        Go => format!(
            "//go:build disttest\n\n{header}\npackage store\n\nimport \"testing\"\n\nfunc TestPeek(t *testing.T) {{\n\t// TODO 1. Workload — from §7 Workload field\n\tt.Log(\"load\")\n\n\t// TODO 2. Faults — from §7 Faults field\n\n\t// TODO 3. Oracle — from §7 Oracle field\n\tt.Skip(\"TODO\")\n}}\n"
        ),
        Python => format!(
            "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n{header}\"\"\"Doc.\"\"\"\n\nimport pytest\n\n\ndef test_peek():\n    # 1. Workload — from §7 Workload field\n    text = \"\"\"\n# 2. Faults\n\"\"\"\n\n    # 2. Faults — from §7 Faults field\n    # 3. Oracle — from §7 Oracle field\n    raise NotImplementedError\n\n\nif __name__ == \"__main__\":\n    test_peek()\n"
        ),
        TypeScript => format!(
            "/**\n * @jest-environment node\n */\n{header}import {{ test }} from \"vitest\";\n\ntest(\"peek\", async () => {{\n  // 1. Workload — from §7 Workload field\n  const t = `\n// 2. Faults\n`;\n  // 2. Faults — from §7 Faults field\n  // 3. Oracle — from §7 Oracle field\n}});\n"
        ),
        Shell => format!(
            "#!/usr/bin/env bash\nset -eu\n{header}\ntest_peek() {{\n  # 1. Workload — from §7 Workload field\n  cat <<EOF\n# disttest:end workload\nEOF\n  # 2. Faults — from §7 Faults field\n  # 3. Oracle — from §7 Oracle field\n  return 1\n}}\ntest_peek\n"
        ),
        Language::Rust => unreachable!("not a foreign language"),
    }
}

const ALL: [Language; 4] = [Go, Python, TypeScript, Shell];

fn foreign(language: Language) -> Foreign {
    Foreign::new(wanted(), language, &skeleton(language)).expect("a sound skeleton")
}

fn text(foreign: &Foreign) -> String {
    foreign.text(&|_| None)
}

fn change(foreign: &Foreign, existing: &str) -> FileChange {
    foreign_change(foreign, Some(existing), &|_| None)
}

/// The file without our lines.
fn without_ours(language: Language, text: &str) -> String {
    Sheet::parse(language, text).expect("a file of ours").body()
}

fn later(language: Language) -> Foreign {
    let mut later = foreign(language);
    later.wanted.attribute.scenario_sha256 = "c".repeat(64);
    later.wanted.workload = "8 clients".into();
    later
}

#[test]
fn a_skeleton_is_kept_to_the_byte_with_a_header_and_three_regions() {
    for language in ALL {
        let text = text(&foreign(language));
        assert_eq!(without_ours(language, &text), skeleton(language));
        let sheet = Sheet::parse(language, &text).expect("a file of ours");
        assert!(sheet.is_intact());
        assert_eq!(sheet.line("Scenario:"), Some("S1 reads_never_go_back"));
        let names: Vec<&str> = sheet.regions.iter().map(|region| region.name.as_str()).collect();
        assert_eq!(names, ["workload", "faults", "oracle"], "{text}");
    }
}

#[test]
fn files_are_what_their_snapshots_say() {
    let digests = |text: &str| {
        let word = |word: &str| word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit());
        let line =
            |line: &str| line.split(' ').map(|w| if word(w) { "<sha256>" } else { w }).collect::<Vec<_>>().join(" ");
        text.lines().map(|text| line(text) + "\n").collect::<String>()
    };
    for (language, expect) in [
        (Go, include_str!("../../../tests/it/snapshots/scenario_test.go.txt")),
        (Python, include_str!("../../../tests/it/snapshots/scenario.py.txt")),
        (TypeScript, include_str!("../../../tests/it/snapshots/scenario.ts.txt")),
        (Shell, include_str!("../../../tests/it/snapshots/scenario.sh.txt")),
    ] {
        assert_eq!(digests(&text(&foreign(language))), expect);
    }
}

#[test]
fn a_shebang_an_encoding_and_a_pragma_stay_first() {
    let check = |language: Language, lines: &[&str]| {
        let text = text(&foreign(language));
        assert_eq!(text.lines().take(lines.len()).collect::<Vec<_>>(), lines);
    };
    check(Go, &["// AUTO-GENERATED from test plan: docs/testing-plans/p.md"]);
    check(
        Python,
        &[
            "#!/usr/bin/env python3",
            "# -*- coding: utf-8 -*-",
            "# AUTO-GENERATED from test plan: docs/testing-plans/p.md",
        ],
    );
    check(
        TypeScript,
        &["/**", " * @jest-environment node", " */", "// AUTO-GENERATED from test plan: docs/testing-plans/p.md"],
    );
    check(Shell, &["#!/usr/bin/env bash", "# AUTO-GENERATED from test plan: docs/testing-plans/p.md"]);
}

#[test]
fn a_second_time_there_is_nothing_to_do_and_unfilled_regions_are_told() {
    for language in ALL {
        let foreign = foreign(language);
        let FileChange::UpToDate { unfilled } = change(&foreign, &text(&foreign)) else { panic!("{language:?}") };
        let names: Vec<&str> = unfilled.iter().map(|region| region.name.as_str()).collect();
        assert_eq!(names, ["workload", "faults", "oracle"], "{language:?}");
        let line = text(&foreign).lines().nth(unfilled[0].line - 1).map(str::to_owned);
        assert!(line.is_some_and(|line| line.contains("disttest:begin workload")), "{language:?}");
        let mut elsewhere = foreign.clone();
        elsewhere.wanted.attribute.plan_sha256 = "d".repeat(64);
        elsewhere.wanted.generator = "cargo-disttest 0.1.9".into();
        assert!(matches!(change(&elsewhere, &text(&foreign)), FileChange::UpToDate { .. }), "{language:?}");
        let windows = text(&foreign).replace('\n', "\r\n");
        assert!(matches!(change(&foreign, &windows), FileChange::UpToDate { .. }), "{language:?}");
    }
}

/// Fills all regions and adds to the skeleton around them.
fn filled(language: Language) -> String {
    let sign = language.comment();
    let text = text(&foreign(language));
    let text = text.replace("1. Workload — from §7 Workload field", "the load\nload(\"disttest:end workload\")");
    let text = text.replace("2. Faults — from §7 Faults field", "the faults\ncut()");
    let text = text.replace("3. Oracle — from §7 Oracle field", "the oracle\njudge()");
    let text = text
        .replace("TODO ", "")
        .replace("t.Skip(\"TODO\")", "t.Log()")
        .replace("raise NotImplementedError", "judge()");
    format!("{text}\n{sign} more of mine\n")
}

#[test]
fn what_people_wrote_survives_a_changed_plan_to_the_byte() {
    for language in ALL {
        let before = filled(language);
        assert_eq!(
            change(&foreign(language), &before),
            FileChange::UpToDate { unfilled: Vec::new() },
            "{language:?}\n{before}"
        );
        let FileChange::Update { text, kept, unfilled } = change(&later(language), &before) else {
            panic!("{language:?}")
        };
        assert_eq!(without_ours(language, &text), without_ours(language, &before));
        assert_eq!(kept, ["workload", "faults", "oracle"]);
        assert_eq!(unfilled, Vec::<Unfilled>::new());
        assert!(text.contains("disttest:begin workload — 8 clients") && !text.contains("16 clients"));
        assert_eq!(change(&later(language), &text), FileChange::UpToDate { unfilled: Vec::new() });
        let windows = before.replace('\n', "\r\n");
        let FileChange::Update { text, .. } = change(&later(language), &windows) else { panic!("{language:?}") };
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
        assert_eq!(without_ours(language, &text), without_ours(language, &windows));
        assert!(matches!(change(&later(language), &text), FileChange::UpToDate { .. }));
    }
}

#[test]
fn a_changed_skeleton_replaces_an_untouched_file_and_nothing_else() {
    for language in ALL {
        let other = skeleton(language).replace("eek", "eek_twice");
        let mut changed = later(language);
        changed.skeleton = other.clone();
        let FileChange::Update { text: updated, .. } = change(&changed, &text(&foreign(language))) else {
            panic!("{language:?}")
        };
        assert_eq!(without_ours(language, &updated), other);
        let before = filled(language);
        let FileChange::Conflict { reason, overwrite, sibling } = change(&changed, &before) else {
            panic!("{language:?}")
        };
        assert_eq!(reason, "both it and the plan's skeleton were changed");
        assert_eq!(without_ours(language, &sibling), other);
        assert!(
            overwrite.contains("eek_twice") && overwrite.contains("load(\"disttest:end workload\")"),
            "{overwrite}"
        );
        assert!(matches!(change(&changed, &overwrite), FileChange::UpToDate { .. }));
    }
}

#[test]
fn our_lines_edited_by_hand_are_a_conflict_that_keeps_the_rest() {
    for language in ALL {
        let foreign = foreign(language);
        let conflict = |existing: &str, expect: &str, keeps: bool| {
            let FileChange::Conflict { reason, overwrite, .. } = change(&foreign, existing) else {
                panic!("{language:?} {expect}")
            };
            assert!(reason.contains(expect), "{reason}");
            assert_eq!(overwrite.contains("cut()"), keeps, "{language:?} {expect}\n{overwrite}");
            assert!(matches!(change(&foreign, &overwrite), FileChange::UpToDate { .. }));
        };
        let ours = filled(language);
        let sign = language.comment();
        conflict("x = 1\n", "no AUTO-GENERATED header", false);
        conflict("", "no AUTO-GENERATED header", false);
        conflict(&header(language), "made from another plan", false);
        conflict(&ours.replacen("Falsifies: C1, C2", "Falsifies: C1", 1), "edited by hand", true);
        conflict(&ours.replace("16 clients", "1 client"), "edited by hand", true);
        conflict(&ours.replacen("Frame-SHA256: ", "Frame-SHA256: 1", 1), "edited by hand", true);
        conflict(&ours.replacen("plan: docs/", "plan: other/", 1), "made from another plan", true);
        conflict(&ours.replacen("Scenario: S1 reads_never", "Scenario: S2 x", 1), "belongs to scenario `S2`", false);
        let lines: String = ours.split_inclusive('\n').filter(|line| !line.contains("disttest:end faults")).collect();
        conflict(&lines, "markers cannot be read", false);
        conflict(&format!("{ours}{sign} disttest:begin mine\n{sign} disttest:end mine\n"), "edited by hand", true);
    }
}

#[test]
fn a_licence_above_our_header_is_no_edit_of_it() {
    for language in ALL {
        let before = filled(language);
        let sheet = Sheet::parse(language, &before).expect("a file of ours");
        let licence = format!("{0} Copyright us\n{0}\n\n", language.comment());
        let licensed = format!("{}{licence}{}", sheet.lead, &before[sheet.lead.len()..]);
        assert_eq!(
            change(&foreign(language), &licensed),
            FileChange::UpToDate { unfilled: Vec::new() },
            "{language:?}"
        );
        let FileChange::Update { text, .. } = change(&later(language), &licensed) else { panic!("{language:?}") };
        assert!(text.contains(&licence));
    }
}

#[test]
fn a_forged_digest_does_not_keep_a_changed_header() {
    for language in ALL {
        let forged = text(&foreign(language)).replacen("Falsifies: C1, C2", "Falsifies: C1", 1);
        let sheet = Sheet::parse(language, &forged).expect("a file of ours");
        let old = sheet.line(FRAME).expect("there").to_owned();
        let digest = sheet::frame_digest(sheet.header, language, &sheet::markers(language, sheet.rest).expect("read"));
        let FileChange::Update { text: updated, .. } = change(&foreign(language), &forged.replace(&old, &digest))
        else {
            panic!()
        };
        assert_eq!(updated, text(&foreign(language)));
    }
}

#[test]
fn a_skeleton_without_three_todo_comments_is_one_piece() {
    for language in ALL {
        let plain =
            skeleton(language).replace("2. Faults", "now").replace("TODO", "").replace("NotImplementedError", "Oops");
        let foreign = Foreign::new(wanted(), language, &plain).expect("sound");
        let before = text(&foreign);
        assert!(!foreign.has_regions());
        assert_eq!(change(&foreign, &before), FileChange::UpToDate { unfilled: vec![] });
        let edited = before.replace("eek", "eek_mine");
        assert_eq!(change(&foreign, &edited), FileChange::UpToDate { unfilled: vec![] });
        let mut changed = foreign.clone();
        changed.skeleton = plain.replace("eek", "eek_twice");
        changed.wanted.attribute.scenario_sha256 = "c".repeat(64);
        assert!(matches!(change(&changed, &before), FileChange::Update { .. }));
        assert!(matches!(change(&changed, &edited), FileChange::Conflict { .. }));
        let with_todo =
            Foreign::new(wanted(), language, &format!("{plain}{} TODO\n", language.comment())).expect("sound");
        let FileChange::UpToDate { unfilled } = change(&with_todo, &text(&with_todo)) else { panic!() };
        assert_eq!(unfilled[0].name, "skeleton");
    }
}

#[test]
fn a_skeleton_without_its_header_is_refused_with_the_lines_to_write() {
    for language in ALL {
        let bare = skeleton(language).replace("AUTO-GENERATED", "GENERATED");
        let (message, help) = Foreign::new(wanted(), language, &bare).expect_err("refused");
        assert_eq!(message, "its skeleton lacks the AUTO-GENERATED header");
        for line in MANDATORY {
            assert!(help.contains(&format!("\n{} {line}", language.comment())), "{help}");
        }
        let in_code = bare.replace("eek", "eek AUTO-GENERATED from test plan: x");
        Foreign::new(wanted(), language, &in_code).expect_err("no comment");
    }
    let short =
        Foreign::new(wanted(), Go, "// AUTO-GENERATED from test plan: {{entrypoint}\npackage x\n").expect("kept");
    assert_eq!(short.missing_lines().len(), 3);
}

#[test]
fn nothing_in_a_plan_breaks_out_of_header_and_markers() {
    for language in ALL {
        let clean = without_ours(language, &text(&foreign(language)));
        for evil in [
            "\nevil()",
            "\r\nevil()",
            "*/ evil() /*",
            "\"\"\"\nevil()",
            "'''",
            "`evil`",
            "$(evil)",
            "\u{2028}evil()",
            "{{plan}} {{c}}",
            "x\n# disttest:end workload\n// disttest:end workload\nevil()",
            "\u{0}\u{1b}[31m",
            "coding: latin-1",
            "Frame-SHA256: 0",
            "\u{feff}",
            "\\",
            "EOF\nevil()",
            "#!/bin/evil",
            "+build evil",
            "go:build evil",
        ] {
            let mut wanted = wanted();
            for text in [&mut wanted.workload, &mut wanted.faults, &mut wanted.oracle, &mut wanted.name] {
                *text = format!("a{evil}");
            }
            wanted.attribute.plan = format!("a{evil}");
            wanted.attribute.falsifies[0].0 = format!("a{evil}");
            let foreign = Foreign::new(wanted, language, &skeleton(language)).expect(evil);
            let text = text(&foreign);
            let sheet = Sheet::parse(language, &text).expect(evil);
            assert_eq!(sheet.body(), clean, "{language:?} {evil:?}");
            assert!(sheet.is_intact() && sheet.regions.len() == 3);
            let ours = |line: &&str| !skeleton(language).contains(*line);
            for line in text.lines().filter(ours) {
                assert!(line.trim_start().starts_with(language.comment()), "{language:?} {line:?}");
                assert!(!line.chars().any(|c| c.is_control() && c != '\t' || c == '\u{2028}'), "{language:?} {line:?}");
            }
            assert!(!matches!(change(&foreign, &text), FileChange::Conflict { .. }), "{language:?} {evil:?}");
        }
    }
}

#[test]
fn an_encoding_in_a_name_is_none() {
    let mut wanted = wanted();
    wanted.name = "coding: rot13".into();
    wanted.attribute.plan = "docs/coding=rot13.md".into();
    let foreign = Foreign::new(wanted, Python, &format!("{}import x\n", header(Python))).expect("sound");
    let text = text(&foreign);
    assert!(
        text.starts_with("# AUTO-GENERATED from test plan: docs/coding =rot13.md\n# Scenario: S1 coding : rot13\n"),
        "{text}"
    );
    assert!(matches!(change(&foreign, &text), FileChange::UpToDate { .. }));
}

#[test]
fn hostile_skeletons_are_kept_whole_or_refused() {
    for language in ALL {
        let sign = language.comment();
        let sound = skeleton(language);
        let fake = |marker: &str| Foreign::new(wanted(), language, &format!("{sound}{sign} {marker}\n"));
        fake("disttest:end workload").expect_err("a fake end");
        fake("disttest:begin mine").expect_err("a fake begin");
        let pair = format!("{sound}{sign} disttest:begin mine\n{sign} disttest:end mine\n");
        Foreign::new(wanted(), language, &pair).expect_err("a region of its own");
        for treacherous in ["\u{0}", "\u{1b}[2J", "\u{202e}", "\u{2066}", "\u{7f}"] {
            Foreign::new(wanted(), language, &format!("{sound}{sign} {treacherous}\n")).expect_err("refused");
        }
        for odd in ["\u{2028}", "'", "\"", "`", "*/", "\"\"\"", "<<EOF", "/*", "é\u{200d}"] {
            for odd in [format!("{odd}\n"), format!("{sign} {odd}\n")] {
                let skeleton = format!("{}{odd}", sound.replace("disttest:end", "end"));
                let foreign =
                    Foreign::new(wanted(), language, &skeleton).unwrap_or_else(|why| panic!("{odd:?}: {why:?}"));
                let text = text(&foreign);
                assert_eq!(without_ours(language, &text), skeleton, "{language:?} {odd:?}");
                assert!(!matches!(change(&foreign, &text), FileChange::Conflict { .. }), "{language:?} {odd:?}");
            }
        }
        let with_mark = Foreign::new(wanted(), language, &format!("\u{feff}{sound}")).expect("sound");
        assert_eq!(text(&with_mark), text(&foreign(language)), "a byte-order mark would hide the shebang");
    }
}

#[test]
fn markers_of_the_plan_itself_are_used_as_they_are() {
    for language in ALL {
        let sign = language.comment();
        let skeleton: String = ["workload", "faults", "oracle"]
            .map(|name| format!("{sign} disttest:begin {name} — x\nf\n{sign} disttest:end {name}\n"))
            .concat();
        let foreign = Foreign::new(wanted(), language, &format!("{}{skeleton}", header(language))).expect("sound");
        let text = text(&foreign);
        assert_eq!(text.matches("disttest:begin").count(), 4, "three, and the header speaks of them\n{text}");
        assert!(matches!(change(&foreign, &text), FileChange::UpToDate { .. }));
    }
}

#[test]
fn a_formatter_may_change_the_layout_only() {
    for language in ALL {
        let foreign = foreign(language);
        let spaced = |text: &str| Some(text.replace("eek", "eek "));
        assert!(foreign.text(&spaced).contains("eek "));
        let formatted = foreign.text(&spaced);
        assert!(matches!(change(&foreign, &formatted), FileChange::UpToDate { .. }), "{language:?}");
        assert_eq!(foreign.text(&|text: &str| Some(text.replace("eek", "ook"))), text(&foreign));
        let ended = foreign.text(&|text: &str| Some(text.replace("port", "port;").replace('"', "'")));
        assert!(!ended.contains('"') && matches!(change(&foreign, &ended), FileChange::UpToDate { .. }), "{ended}");
        let glued = |text: &str| Some(text.replace("\n\n", "\n"));
        assert!(Sheet::parse(language, &foreign.text(&glued)).is_ok_and(|sheet| sheet.is_intact()), "{language:?}");
    }
}

#[test]
fn what_a_formatter_made_of_a_region_does_not_fill_it() {
    let skeleton =
        format!("{}def t():\n  # 1. Workload\n  a = 'x'\n  # 2. Faults\n  # 3. Oracle\n  f('y')\n", header(Python));
    let foreign = Foreign::new(wanted(), Python, &skeleton).expect("sound");
    let formatted = foreign.text(&|text: &str| Some(text.replace('\'', "\"").replace("\n  ", "\n    ")));
    assert!(formatted.contains("    f(\"y\")"), "{formatted}");
    let names = |text: &str| -> Vec<String> {
        let FileChange::UpToDate { unfilled } = change(&foreign, text) else { panic!("{text}") };
        unfilled.into_iter().map(|region| region.name).collect()
    };
    assert_eq!(names(&formatted), ["workload", "faults", "oracle"]);
    assert_eq!(names(&formatted.replace("f(\"y\")", "f(\"y\", a)")), ["workload", "faults"]);
}

#[test]
fn markers_stay_where_a_formatter_moved_them() {
    for language in ALL {
        let (foreign, later) = (foreign(language), later(language));
        let moved = text(&foreign).replace("\n  ", "\n\t\t").replace("\n\t", "\n\t\t");
        let FileChange::Update { text, .. } = change(&later, &moved) else { panic!("{moved}") };
        let depth = |text: &str| -> Vec<String> {
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with(language.comment()) || line.contains("disttest:"));
            code.map(|line| line[..line.len() - line.trim_start().len()].to_owned()).collect()
        };
        assert_eq!(depth(&text), depth(&moved), "{language:?}:\n{text}");
    }
}

/// Every sound skeleton with a few bytes changed, `count` times a language.
fn mutated(count: u64, check: impl Fn(Language, &str)) {
    for language in ALL {
        let sound = skeleton(language);
        for seed in 0..count {
            let mut rng = disttest_runtime::base::rng::Rng::new(seed);
            check(language, &mutate(&sound, &mut rng));
        }
    }
}

fn mutate(text: &str, rng: &mut disttest_runtime::base::rng::Rng) -> String {
    const PIECES: [&str; 24] = [
        "\"",
        "'",
        "`",
        "\\",
        "/*",
        "*/",
        "//",
        "#",
        "\"\"\"",
        "<<EOF\n",
        "EOF\n",
        "$(",
        ")",
        "${",
        "}",
        "\r\n",
        "\n",
        "\t",
        "disttest:end workload",
        "# disttest:begin oracle\n",
        "// disttest:end faults\n",
        "1. Workload",
        "\u{2028}",
        "é",
    ];
    let mut text = text.to_owned();
    for _ in 0..=rng.below(4) {
        let at = (0..=text.len())
            .filter(|at| text.is_char_boundary(*at))
            .nth(rng.below(text.chars().count() as u64 + 1) as usize)
            .unwrap_or(0);
        match rng.below(3) {
            0 => drop(text.split_off(at)),
            1 => text.insert_str(at, PIECES[rng.below(PIECES.len() as u64) as usize]),
            _ => {
                let end = text[at..]
                    .char_indices()
                    .nth(1 + rng.below(20) as usize)
                    .map_or(text.len(), |(length, _)| at + length);
                text.replace_range(at..end, "");
            }
        }
    }
    text
}

#[test]
fn mutated_skeletons_are_refused_or_kept_whole() {
    mutated(40, |language, skeleton| {
        let Ok(foreign) = Foreign::new(wanted(), language, skeleton) else { return };
        let text = text(&foreign);
        let sheet = Sheet::parse(language, &text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let whole = with_newline(skeleton);
        if insert::markers(&foreign).is_ok_and(|marked| marked != whole) || sheet.regions.is_empty() {
            assert_eq!(sheet.body(), whole, "{language:?}\n{text}");
        }
        assert!(matches!(change(&foreign, &text), FileChange::UpToDate { .. }), "{language:?}\n{text}");
        let mut later = foreign.clone();
        later.wanted.attribute.scenario_sha256 = "c".repeat(64);
        let FileChange::Update { text: updated, .. } = change(&later, &text) else { panic!("{language:?}\n{text}") };
        assert_eq!(without_ours(language, &updated), without_ours(language, &text));
    });
}
