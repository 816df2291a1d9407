//! Plans as values, for the tests that render them: words that authors use, in every place of the model.

use super::model::*;
use super::{Category, Id, PlanMode, labels, parse};
use crate::base::diagnostic::{Span, Spanned};
use proptest::prelude::*;

fn here<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::new(0, 0))
}

fn id(letter: char) -> impl Strategy<Value = Id> {
    (1_u32..200).prop_map(move |number| Id::numbered(letter, number))
}

/// Ids, each once.
fn ids(letter: char) -> impl Strategy<Value = Vec<Spanned<Id>>> {
    prop::collection::vec(id(letter), 1..5).prop_map(|mut all| {
        let mut seen = std::collections::HashSet::new();
        all.retain(|id| seen.insert(id.clone()));
        all.into_iter().map(here).collect()
    })
}

/// A line of prose: no label, no id at its head, nothing that starts a block.
fn words() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "reads",
        "`key|value`",
        "at p99",
        "<= 500 ms",
        "**bold**",
        "naïve",
        "—",
        "C1",
        "(H2)",
        "a|b",
        "\\",
        "x: y",
        "\"q\"",
        "*a*",
        "- b",
        "1.",
        "> c",
        "# d",
        "§7.M",
        "S1/api",
        "100%",
        "<b>",
        "&amp;",
        "[l](u)",
        "~~s~~",
        "`",
        "日本",
        "{x}",
    ];
    (
        prop::sample::select(&["the", "each", "一", "2 of", "no"][..]),
        prop::collection::vec(prop::sample::select(WORDS), 0..7),
    )
        .prop_map(|(first, rest)| format!("{first} {}", rest.join(" ")).trim().to_owned())
}

fn lines() -> impl Strategy<Value = String> {
    prop::collection::vec(words(), 1..4).prop_map(|lines| lines.join("\n"))
}

fn field(labels: &'static [&'static str]) -> impl Strategy<Value = Field> {
    (prop::sample::select(labels), lines())
        .prop_map(|(label, value)| Field { label: label.to_owned(), value: here(value) })
}

/// Fields, each label once.
fn fields(labels: &'static [&'static str]) -> impl Strategy<Value = Vec<Field>> {
    prop::collection::vec(field(labels), 0..6).prop_map(|mut all| {
        let mut seen = std::collections::HashSet::new();
        all.retain(|f| seen.insert(f.label.clone()));
        all
    })
}

fn row(columns: &'static [&'static str]) -> impl Strategy<Value = Row> {
    prop::collection::vec(words(), columns.len()).prop_map(move |texts| Row {
        cells: columns.iter().map(|c| (*c).to_owned()).zip(texts).collect(),
        span: Span::default(),
    })
}

fn claim() -> impl Strategy<Value = Claim> {
    let categories = prop::sample::subsequence(Category::ALL.to_vec(), 1..3);
    (id('C'), words(), categories, words(), words()).prop_map(|(id, text, categories, source, inferred)| {
        let words: Vec<&str> = categories.iter().map(|c| c.as_str()).collect();
        let category_text = here(words.join(" / "));
        Claim {
            id: here(id),
            text: here(text),
            categories,
            unknown_categories: Vec::new(),
            category_text,
            source,
            inferred,
        }
    })
}

fn missing() -> impl Strategy<Value = MissingClaim> {
    (id('M'), words(), words(), words()).prop_map(|(id, behavior, evidence, action)| MissingClaim {
        id: here(id),
        behavior,
        evidence,
        action,
    })
}

fn hypothesis() -> impl Strategy<Value = Hypothesis> {
    let text = "[a-z]{1,9}( [a-z]{1,9}){0,4}";
    let other = fields(&["Pitfall", "Severity"]);
    (id('H'), text, words(), ids('C'), prop::option::of(lines()), prop::option::of(lines()), other).prop_map(
        |(id, title, text, claims, suspected, subsystem, other)| Hypothesis {
            id: here(id),
            title,
            text,
            claims,
            suspected,
            subsystem,
            other,
        },
    )
}

fn technique() -> impl Strategy<Value = Technique> {
    let labels = &["Hypotheses it addresses", "Reference", "Cost / wall-clock estimate", "Notes", "Owner"];
    (prop::option::of(id('T')), "[a-z]{1,9}( [a-z+]{1,9}){0,3}", fields(labels)).prop_map(|(id, name, fields)| {
        let name = id.as_ref().map_or(name.clone(), |id| format!("{id}. {name}"));
        Technique { id: id.map(here), name: here(name), fields }
    })
}

fn code() -> impl Strategy<Value = String> {
    const LINES: &[&str] = &["fn a() {", "    b();", "}", "```", "", "# c", "> d", "<!-- e", "\tf", "    ", "- g"];
    prop::collection::vec(prop::sample::select(LINES), 1..6).prop_map(|lines| format!("{}\n", lines.join("\n")))
}

fn model_block() -> impl Strategy<Value = ModelBlock> {
    let value = || prop::option::of(lines().prop_map(here));
    (value(), value(), value(), value(), value(), value(), fields(&["Notes", "Owner"])).prop_map(
        |(model, history, checker, nemesis, ambiguous, reduction, other)| ModelBlock {
            model,
            history,
            checker,
            nemesis,
            ambiguous,
            reduction,
            other,
            span: Span::default(),
        },
    )
}

const FIELDS: &[&str] =
    &["Technique", "Workload", "Faults", "Oracle", "Observability required", "Background", "Notes", "Exit criteria"];

fn arm(scenario: u32) -> impl Strategy<Value = Arm> {
    let name = prop::option::of("[a-z]{1,9}( [a-z]{1,9}){0,2}");
    ("[a-z]{1,6}", name, fields(&["Oracle", "Workload", "Owner"]), prop::option::of(model_block())).prop_map(
        move |(arm, name, fields, model_block)| Arm {
            id: here(Id::parse(&format!("S{scenario}/{arm}")).expect("an arm's id")),
            name,
            fields,
            model_block,
            target: None,
            skeleton: None,
        },
    )
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let parts = (
        1_u32..200,
        "[a-z]{1,9}(_[a-z]{1,9}){0,3}",
        fields(FIELDS),
        ids('C'),
        prop::option::of(code()),
        prop::collection::vec(code(), 0..2),
        prop::option::of(model_block()),
        any::<[bool; 2]>(),
        fields(&["Surfaces", "Operations", "Negative controls", "Notes"]),
    );
    let arms = (1_u32..200).prop_flat_map(|number| prop::collection::vec(arm(number), 0..3));
    (parts, arms).prop_map(
        |((number, name, mut own, falsifies, skeleton, code_blocks, block, said, surfaces), arms)| {
            let list: Vec<String> = falsifies.iter().map(|id| id.value.to_string()).collect();
            own.push(Field { label: labels::FALSIFIES.to_owned(), value: here(list.join(", ")) });
            if skeleton.is_some() {
                own.push(Field { label: labels::SKELETON.to_owned(), value: here(String::new()) });
            }
            Scenario {
                id: here(Id::numbered('S', number)),
                name: here(name),
                falsifies,
                closes: Vec::new(),
                fields: own,
                budgets: None,
                target: None,
                skeleton_language: skeleton.as_ref().map(|_| here("rust".to_owned())),
                skeleton: skeleton.map(here),
                code_blocks: code_blocks.into_iter().map(here).collect(),
                model_block: block,
                model_block_not_applicable: said[0],
                surfaces: Some(surfaces).filter(|s| !s.is_empty()),
                surfaces_not_applicable: said[1],
                arms,
                span: Span::default(),
            }
        },
    )
}

fn header() -> impl Strategy<Value = Header> {
    let mode = prop::sample::select(&[PlanMode::ChangeScoped, PlanMode::ProjectWide][..]);
    ("[a-z]{1,9}(-[a-z]{1,9}){0,3}", mode, fields(&["Date", "SUT", "Status", "Owner", "Notes"])).prop_map(
        |(slug, mode, mut fields)| {
            let word = if mode == PlanMode::ProjectWide { "project-wide" } else { "change-scoped" };
            fields.insert(0, Field { label: "Plan mode".to_owned(), value: here(word.to_owned()) });
            Header { slug: Some(here(slug)), mode, fields }
        },
    )
}

/// A plan with every section.
pub(super) fn plan() -> impl Strategy<Value = Plan> {
    let some = |n: usize| 0..n;
    let tables = (
        prop::collection::vec(row(&["Test / harness", "Subsystem", "Owner"]), some(3)),
        prop::collection::vec(row(&["Claim", "Hypothesis", "Verdict"]), some(3)),
        prop::collection::vec(row(&["Requirement", "Version floor", "Used by scenarios", "Install hint"]), some(3)),
        prop::collection::vec(row(&["Claim", "Threat model (how it could fail)", "Why these are sufficient"]), some(3)),
        prop::collection::vec(row(&["Uncertainty", "Why uncovered"]), some(3)),
        prop::collection::vec(row(&["Claim", "Aspect", "Confidence", "Reason"]), some(3)),
    );
    let elements = (
        header(),
        prop::collection::vec(claim(), some(4)),
        prop::collection::vec(missing(), some(3)),
        fields(&["Persistence", "Ordering", "Odd"]),
        prop::collection::vec(hypothesis(), some(4)),
        prop::collection::vec(technique(), some(3)),
        prop::collection::vec(scenario(), some(4)),
        lines(),
        prop::collection::vec(lines().prop_map(here), some(3)),
    );
    let texts = prop::collection::vec("[a-z]{1,9}( [a-z]{1,9}){0,4}", 18);
    (tables, elements, texts).prop_map(|(tables, elements, texts)| {
        let (inventory, coverage, environment, adequacy, residual, aspects) = tables;
        let (header, claims, missing_claims, sut_model, hypotheses, techniques, scenarios, statement, bullets) =
            elements;
        let numbers = ["0", "1", "1b", "1c", "2", "3", "4", "5", "6", "6b", "7", "7b", "7c", "7d", "8", "9", "12"];
        let section = |(number, title): (&str, &String)| Section {
            number: number.to_owned(),
            title: title.clone(),
            span: Span::default(),
            text: if matches!(number, "7d" | "8" | "9") { String::new() } else { title.clone() },
        };
        Plan {
            header,
            sections: numbers.into_iter().zip(&texts).map(section).collect(),
            appendices: vec![section(("", &texts[17]))],
            claims,
            missing_claims,
            sut_model,
            inventory,
            hypotheses,
            coverage,
            techniques,
            environment,
            scenarios,
            adequacy,
            residual,
            confidence: Confidence { statement: here(statement), aspects },
            not_covered: bullets.clone(),
            open_questions: bullets,
            ..Plan::default()
        }
    })
}

#[test]
fn generated_plans_hold_what_the_parser_reads() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let plan = plan().new_tree(&mut runner).expect("a plan").current();
    assert_eq!(parse(&super::render(&plan)).0.sections.len(), 17);
}
