//! Digests by which a test knows its plan (format D9, D10).
//!
//! # Canonical form of a scenario
//!
//! A list of parts, each a label and a text, sorted by label (parts of one label keep their order), so that fields may
//! change places:
//!
//! 1. `scenario`: id and name;
//! 2. each field by its label (prose under no label is `Notes`; a skeleton's fence is
//!    `Skeleton`, every other code block `code`), then `§7.M: <label>` and `§7.M.S: <label>`, and whether one of the
//!    two says that it is not applicable;
//! 3. each arm: `arm <id>` with its name, then its fields, §7.M and skeleton under the prefix `arm <id>: `;
//! 4. `claim <id>` for each falsified claim: its text and category (its source and whether it was inferred do not
//!    change what the test must show);
//! 5. `hypothesis <id>` for each closed hypothesis: title, sentence, claims, suspicion (not the subsystem it is
//!    grouped under). A claim or hypothesis that is named and not defined has the text `undefined`.
//!
//! In a text every run of white space is one blank and the ends are trimmed, so that neither a reflowed paragraph nor
//! another line break moves the digest; code keeps its lines and indentation and loses only trailing blanks. A part is
//! written `<label>\n<length of the text in bytes>\n<text>\n`: no two lists of parts have one form. The form starts
//! with the line `disttest.scenario/1`. The digest is SHA-256 over the UTF-8 bytes.

use super::Id;
use super::model::{Arm, Field, ModelBlock, Plan, Scenario};
use crate::base::diagnostic::Spanned;
use crate::base::digest::sha256_hex;

/// `Plan-SHA256`: over the bytes of the file.
pub fn plan_digest(bytes: &[u8]) -> String {
    sha256_hex(bytes)
}

/// `Scenario-SHA256`: over the canonical form of `scenario` with the claims and hypotheses that it names.
pub fn scenario_digest(plan: &Plan, scenario: &Scenario) -> String {
    let mut form = String::from("disttest.scenario/1\n");
    for (label, text) in parts(plan, scenario) {
        form.push_str(&format!("{label}\n{}\n{text}\n", text.len()));
    }
    sha256_hex(form.as_bytes())
}

/// (label, SHA-256) of each part of the canonical form, to say which parts of two versions differ. A label that
/// occurs more than once is numbered (`Notes`, `Notes 2`).
pub fn scenario_parts(plan: &Plan, scenario: &Scenario) -> Vec<(String, String)> {
    let mut seen = std::collections::HashMap::new();
    let number = |(label, text): (String, String)| {
        let count = seen.entry(label.clone()).and_modify(|n| *n += 1).or_insert(1_usize);
        let label = if *count > 1 { format!("{label} {count}") } else { label };
        (label, sha256_hex(text.as_bytes()))
    };
    parts(plan, scenario).into_iter().map(number).collect()
}

fn parts(plan: &Plan, scenario: &Scenario) -> Vec<(String, String)> {
    let mut out = vec![("scenario".to_owned(), format!("{} {}", scenario.id.value, flat(&scenario.name.value)))];
    fields(&mut out, "", &scenario.fields);
    code(&mut out, "Skeleton", scenario.skeleton.as_ref());
    scenario.code_blocks.iter().for_each(|block| code(&mut out, "code", Some(block)));
    model_block(&mut out, "", scenario.model_block.as_ref());
    if scenario.model_block_not_applicable {
        out.push(("§7.M".to_owned(), "not applicable".to_owned()));
    }
    fields(&mut out, "§7.M.S: ", scenario.surfaces.as_deref().unwrap_or_default());
    if scenario.surfaces_not_applicable {
        out.push(("§7.M.S".to_owned(), "not applicable".to_owned()));
    }
    scenario.arms.iter().for_each(|part| arm(&mut out, part));
    ids(&scenario.falsifies).for_each(|id| out.push((format!("claim {id}"), claim(plan, id))));
    ids(&scenario.closes).for_each(|id| out.push((format!("hypothesis {id}"), hypothesis(plan, id))));
    out.sort_by(|(a, _), (b, _)| a.cmp(b));
    out
}

fn ids(list: &[Spanned<Id>]) -> impl Iterator<Item = &Id> {
    list.iter().map(|id| &id.value)
}

fn fields(out: &mut Vec<(String, String)>, prefix: &str, fields: &[Field]) {
    out.extend(fields.iter().map(|f| (format!("{prefix}{}", flat(&f.label)), flat(&f.value.value))));
}

fn model_block(out: &mut Vec<(String, String)>, prefix: &str, block: Option<&ModelBlock>) {
    let Some(block) = block else { return };
    let named = [
        ("Model under test", &block.model),
        ("Operation history", &block.history),
        ("Checker", &block.checker),
        ("Nemesis + landing evidence", &block.nemesis),
        ("Ambiguous outcomes", &block.ambiguous),
        ("Reduction plan", &block.reduction),
    ];
    for (label, value) in named {
        out.extend(value.as_ref().map(|v| (format!("{prefix}§7.M: {label}"), flat(&v.value))));
    }
    fields(out, &format!("{prefix}§7.M: "), &block.other);
}

fn arm(out: &mut Vec<(String, String)>, arm: &Arm) {
    out.push((format!("arm {}", arm.id.value), flat(arm.name.as_deref().unwrap_or(""))));
    let prefix = format!("arm {}: ", arm.id.value);
    fields(out, &prefix, &arm.fields);
    code(out, &format!("{prefix}Skeleton"), arm.skeleton.as_ref());
    model_block(out, &prefix, arm.model_block.as_ref());
}

fn code(out: &mut Vec<(String, String)>, label: &str, block: Option<&Spanned<String>>) {
    let lines = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned();
    out.extend(block.map(|b| (label.to_owned(), lines(&b.value))));
}

fn claim(plan: &Plan, id: &Id) -> String {
    plan.claim(id).map_or_else(|| "undefined".to_owned(), |c| joined(&[&c.text.value, &c.category_text.value]))
}

fn hypothesis(plan: &Plan, id: &Id) -> String {
    plan.hypothesis(id).map_or_else(
        || "undefined".to_owned(),
        |h| {
            let claims: Vec<String> = ids(&h.claims).map(Id::to_string).collect();
            joined(&[&h.title, &h.text, &claims.join(", "), h.suspected.as_deref().unwrap_or("")])
        },
    )
}

/// Texts under one another, each on one line.
fn joined(texts: &[&str]) -> String {
    texts.iter().map(|t| flat(t)).collect::<Vec<_>>().join("\n")
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;

    const PLAN: &str = include_str!("../../tests-data/plans/register.md");

    fn digests(text: &str) -> [String; 2] {
        let (plan, _) = parse(text);
        let digest = |i: usize| scenario_digest(&plan, &plan.scenarios[i]);
        [digest(0), digest(1)]
    }

    #[test]
    fn an_edit_moves_the_digest_of_exactly_the_scenarios_it_concerns() {
        let base = digests(PLAN);
        let check = |from: &str, to: &str, moved: [bool; 2]| {
            assert!(PLAN.contains(from), "{from}");
            let edited = digests(&PLAN.replacen(from, to, 1));
            assert_eq!([edited[0] != base[0], edited[1] != base[1]], moved, "{from} -> {to}");
        };
        // What the test of S1 must show.
        for (from, to) in [
            ("are linearizable.", "are sequentially consistent."),
            ("| safety |", "| liveness |"),
            ("crash of a minority", "crash of a majority"),
            ("skips its write-back", "skips its read"),
            ("a later read at another node", "a later read at the same node"),
            ("the change touches", "a change touches"),
            ("- **Closes:** H1, H2", "- **Closes:** H1"),
            ("C1, C2\n- **Closes", "C1\n- **Closes"),
            ("16 clients", "8 clients"),
            ("8 hot keys", "9 hot keys"),
            ("3 s each", "1 s each"),
            ("then no-lost-ack against", "and maybe no-lost-ack against"),
            ("6s × 1 fault", "5s × 1 fault"),
            ("20000 operations", "2000 operations"),
            ("no soak rig yet", "no rig"),
            ("`register`, one per key", "`map`"),
            ("`metric:peer-timeouts`", "`client-errors`"),
            ("may have happened", "did not happen"),
            ("one window, the same", "two windows, the same"),
            ("default schema, in-process", "default schema"),
            ("tests/auto/s1_linearizable", "tests/auto/s1_other"),
            ("// TODO 1. Workload", "// TODO 1. workload"),
            ("logs of each node", "logs of one node"),
            ("linearizable_register_under_partitions\n\n", "linearizable_register\n\n"),
            ("- **Technique:** Jepsen", "- **Background:** new\n- **Technique:** Jepsen"),
            ("- **Technique:** Jepsen", "Some prose.\n\n- **Technique:** Jepsen"),
        ] {
            check(from, to, [true, false]);
        }
        check("none — the claim is about", "none — the promise is about", [false, true]);
        check("one slow node delays", "a slow node delays", [false, true]);
        // Elsewhere in the plan, or not a change of content.
        for (from, to) in [
            ("**Status:** reviewed", "**Status:** executed"),
            ("hold a register per key", "hold one register per key"),
            ("README §2", "README §4"),
            ("Subsystem: read path", "Subsystem: reads"),
            ("one vendor", "two vendors"),
            ("half writes,\n  8 hot keys", "half\n  writes, 8 hot keys"),
            ("- **Workload:** 16", "-   **workload**:   16"),
            ("#### §7.M — Model / history / checker discipline", "#### §7.M"),
            ("\n---\n", "\n\n<!-- S1 -->\n"),
            (
                "- **Closes:** H1, H2\n- **Technique:** Jepsen-style histories\n",
                "- **Technique:** Jepsen-style histories\n- **Closes:** H1, H2\n",
            ),
        ] {
            check(from, to, [false, false]);
        }
    }

    #[test]
    fn the_digest_of_the_fixture_is_pinned() {
        // A change of this value is a change of the canonical form: every generated test would be told of drift.
        assert_eq!(digests(PLAN)[1], "9a2ad2675c676bba5ec02552d7e6f34119663ff4a685511de8f2ea2f5e7afa74");
    }

    #[test]
    fn the_parts_say_what_differs() {
        let parts_of = |text: &str| {
            let (plan, _) = parse(text);
            scenario_parts(&plan, &plan.scenarios[0])
        };
        let (a, b) = (
            parts_of(PLAN),
            parts_of(&PLAN.replace("8 hot keys", "9 hot keys").replace("are linearizable", "are lin")),
        );
        let differing: Vec<&str> = a.iter().zip(&b).filter(|(x, y)| x != y).map(|(x, _)| x.0.as_str()).collect();
        assert_eq!(differing, ["Workload", "claim C1"]);
    }

    #[test]
    fn a_formula_in_a_code_block_and_an_undefined_claim_are_part_of_the_digest() {
        let plan = |formula: &str| {
            format!("## 7. S\n### S1: a\n- **Falsifies if it FAILs:** C9\n- **Oracle:**\n  ```\n  {formula}\n  ```\n")
        };
        let digest = |text: &str| {
            let (plan, _) = parse(text);
            scenario_digest(&plan, &plan.scenarios[0])
        };
        assert_ne!(digest(&plan("p99 < 5")), digest(&plan("p99 < 9")));
        let defined = format!(
            "## 1b. C\n| ID | Claim | Category | Source | Inferred? |\n|---|---|---|---|---|\n| C9 | x | safety | y | no |\n\n{}",
            plan("p99 < 5")
        );
        assert_ne!(digest(&plan("p99 < 5")), digest(&defined));
    }
}
