//! Rules about techniques (§6) and environment requirements (§6b).

use super::passage::places;
use super::{Context, is_unfilled};
use crate::base::diagnostic::Span;
use crate::base::nearest::{distance, nearest};
use crate::plan::Id;
use crate::plan::model::Technique;
use crate::plan::parse::ids_in;
use crate::plan::rules::report;
use crate::plan::told::Told;
use std::collections::HashSet;

/// The reference files of the technique catalogue (format §17).
const CATALOGUE: [&str; 8] = [
    "jepsen-and-elle",
    "deterministic-simulation",
    "chaos-and-fault-injection",
    "fuzzing",
    "formal-methods-tla",
    "property-and-metamorphic",
    "performance-and-benchmarking",
    "crash-recovery-and-upgrade",
];

/// `references/<technique>.md`.
pub(super) fn technique_without_reference(context: &Context<'_>, out: &mut Told) {
    for (at, technique) in context.plan.techniques.iter().enumerate() {
        // A technique on one line cites without a label.
        let told = told_of(context, at);
        let cites = CATALOGUE.iter().any(|stem| told.contains(&format!("{stem}.md")));
        if !cites && !technique.fields.iter().any(|f| f.label == "Reference" && !is_unfilled(&f.value.value)) {
            let message = format!("`{}` cites no reference", technique.name.value);
            let help = "write `- **Reference:** `references/<technique>.md``";
            out.push(report("technique-without-reference", technique.name.span, message, help));
        }
    }
}

/// What the plan says of its technique at `at`, name included.
fn told_of<'c>(context: &Context<'c>, at: usize) -> &'c str {
    let techniques = &context.plan.techniques;
    let from = techniques[at].name.span.start;
    let section = context.plan.sections.iter().find(|section| (section.span.start..section.span.end).contains(&from));
    let end = section.map_or(from, |section| section.span.end);
    let next = techniques.get(at + 1).map_or(end, |next| next.name.span.start.min(end));
    context.slice(Span::new(from, next.max(from)))
}

/// The reference files that a technique cites, without folder and `.md`.
fn references(technique: &Technique) -> Vec<(String, Span)> {
    let fields = technique.fields.iter().filter(|f| f.label == "Reference");
    let words = fields.flat_map(|f| {
        let words = f.value.value.split(|c: char| c.is_whitespace() || "`,;()[]<>\"'".contains(c));
        words.filter_map(|word| word.trim_end_matches('.').strip_suffix(".md")).map(move |stem| {
            let stem = stem.rsplit('/').next().unwrap_or(stem);
            (stem.to_owned(), f.value.span)
        })
    });
    words.collect()
}

/// The reference is a file of the catalogue.
pub(super) fn unknown_technique_reference(context: &Context<'_>, out: &mut Told) {
    for technique in &context.plan.techniques {
        let cited = references(technique);
        // A paper or a page of the project may stand beside the file of the catalogue.
        if cited.iter().any(|(stem, _)| CATALOGUE.contains(&stem.as_str())) {
            continue;
        }
        for (stem, field) in cited.into_iter().take(CATALOGUE.len()) {
            let message = format!("`{stem}.md` is no file of the technique catalogue");
            let near = nearest(&stem, CATALOGUE);
            let help = match near {
                Some(near) => format!("did you mean `references/{near}.md`?"),
                None => format!("cite one of {}", CATALOGUE.join(", ")),
            };
            let span = context.word(field, &stem).unwrap_or(field);
            let told = report("unknown-technique-reference", span, message, help);
            let typo = near.filter(|near| span != field && distance(&stem, near) <= 2);
            out.push(match typo {
                Some(near) => told.with_edit(span, near),
                None => told,
            });
        }
    }
}

/// What a technique says of itself, by the words that its labels have in common.
pub(super) fn technique_incomplete(context: &Context<'_>, out: &mut Told) {
    const WANTED: [(&str, &str); 3] = [
        ("hypothes", "Hypotheses it addresses"),
        ("catch", "What it would catch that other techniques miss"),
        ("cost", "Cost / wall-clock estimate"),
    ];
    for (at, technique) in context.plan.techniques.iter().enumerate() {
        let field = |word: &str| {
            technique.fields.iter().any(|f| f.label.to_lowercase().contains(word) && !is_unfilled(&f.value.value))
        };
        // One that is told in a line has no labels.
        let (line, below) = told_of(context, at).split_once('\n').unwrap_or((told_of(context, at), ""));
        let line = line.to_lowercase();
        let in_a_line = technique.fields.is_empty() && !below.contains(char::is_alphanumeric);
        let said = |word: &str| match word {
            "hypothes" => line.contains(word) || !ids_in(&line.to_uppercase(), 'H').is_empty(),
            "cost" => line.contains(word) || takes_time(&line),
            _ => line.contains(word),
        };
        let has = |word: &str| field(word) || (in_a_line && said(word));
        let missing: Vec<&str> = WANTED.into_iter().filter(|(word, _)| !has(word)).map(|(_, label)| label).collect();
        if !missing.is_empty() {
            let message = format!("`{}` has no `{}`", technique.name.value, missing.join("`, no `"));
            let help = format!("write `- **{}:** …`", missing[0]);
            out.push(report("technique-incomplete", technique.name.span, message, help));
        }
    }
}

/// True when a time is named: `20 min`, `1h`.
fn takes_time(line: &str) -> bool {
    const UNITS: [&str; 13] =
        ["s", "sec", "seconds", "m", "min", "mins", "minutes", "h", "hour", "hours", "day", "days", "weeks"];
    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let unit = |word: &str| UNITS.contains(&word.trim_start_matches(|c: char| c.is_ascii_digit()));
    let number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let apart = words.windows(2).any(|two| number(two[0]) && !number(two[1]) && unit(two[1]));
    apart || words.iter().any(|word| number(word) && unit(word)) || words.iter().any(|word| UNITS[6..].contains(word))
}

/// One technique sees one kind of defect.
pub(super) fn technique_count(context: &Context<'_>, out: &mut Told) {
    let [only] = &context.plan.techniques[..] else { return };
    if context.plan.hypotheses.len() > 1 {
        let message = "one technique alone is suspicious: each has kinds of defects that it cannot see";
        let help = "2 to 4 are usual for a change, 5 to 7 for a project; or say here why one suffices";
        out.push(report("technique-count", only.name.span, message, help));
    }
}

/// What can tell a technique in prose: its id, and the words of its name and its reference that no other has.
fn telling(text: &str) -> impl Iterator<Item = String> {
    const COMMON: &[&str] = &[
        "testing",
        "tests",
        "test",
        "based",
        "style",
        "under",
        "against",
        "scenario",
        "technique",
        "with",
        "from",
        "into",
        "real",
    ];
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| {
        let id = Id::parse(&word.to_uppercase()).is_some_and(|id| id.letter() == 'T');
        id || (word.chars().count() >= 4 && !COMMON.contains(&word.as_str()))
    })
}

fn words_of(technique: &Technique) -> HashSet<String> {
    let stems: Vec<String> = references(technique).into_iter().map(|(stem, _)| stem).collect();
    let names = std::iter::once(technique.name.value.as_str()).chain(stems.iter().map(String::as_str));
    names.flat_map(telling).collect()
}

/// The technique of each scenario is one of §6.
pub(super) fn technique_not_selected(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    let known: HashSet<String> = plan.techniques.iter().flat_map(words_of).collect();
    if known.is_empty() {
        return;
    }
    let fields = plan.scenarios.iter().filter_map(|s| Some((s, s.field("Technique")?)));
    for (scenario, field) in fields.filter(|(_, field)| !is_unfilled(&field.value)) {
        if !telling(&field.value).any(|word| known.contains(&word)) {
            let message = format!("{}: `{}` is no technique of §6", scenario.id.value, field.value);
            let names: Vec<&str> = plan.techniques.iter().map(|t| t.name.value.as_str()).take(8).collect();
            let help = format!("select it in §6, or name one of {}", names.join(", "));
            out.push(report("technique-not-selected", field.span, message, help));
        }
    }
}

/// Each technique serves a scenario.
pub(super) fn unused_technique(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    let fields = plan.scenarios.iter().filter_map(|s| s.field("Technique"));
    let used: HashSet<String> = fields.flat_map(|field| telling(&field.value)).collect();
    // A scenario that names none may be meant to use any.
    if used.is_empty() || plan.scenarios.iter().any(|s| s.field("Technique").is_none()) {
        return;
    }
    for technique in plan.techniques.iter().filter(|technique| words_of(technique).is_disjoint(&used)) {
        // A technique that existing tests apply serves the plan without a scenario of its own.
        let exists = technique.fields.iter().any(|f| {
            let text = f.value.value.to_lowercase();
            ["exists", "existing", "already", "continuous"].iter().any(|word| text.contains(word))
        });
        if !exists {
            let message = format!("no scenario uses `{}`", technique.name.value);
            let help = "name it in the `Technique` of a scenario, or say that existing tests apply it";
            out.push(report("unused-technique", technique.name.span, message, help));
        }
    }
}

/// Each requirement of §6b serves a scenario.
pub(super) fn unused_requirement(context: &Context<'_>, out: &mut Told) {
    const ALL: &[&str] = &["all", "every", "each", "any", "whole"];
    for row in
        context.plan.environment.iter().filter(|row| row.cells.iter().any(|(name, _)| name == "Used by scenarios"))
    {
        let cell = row.cell("Used by scenarios");
        let flat = cell.to_lowercase();
        let all = ALL.iter().any(|word| places(&flat, word).next().is_some());
        // An undefined scenario is another rule's.
        if all || !ids_in(cell, 'S').is_empty() {
            continue;
        }
        let message = format!("no scenario uses `{}`", row.cell("Requirement"));
        let help = "name the scenarios that need it, or delete the row";
        out.push(report("unused-requirement", context.cell(row, "Requirement"), message, help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::diagnostic::Spanned;
    use crate::plan::model::Field;

    #[test]
    fn a_scenario_may_name_its_technique_by_id_name_or_reference() {
        let value = Spanned::new("`references/jepsen-and-elle.md`".to_owned(), Span::default());
        let technique = Technique {
            id: None,
            name: Spanned::new("T1. Histories of clients".to_owned(), Span::default()),
            fields: vec![Field { label: "Reference".to_owned(), value }],
        };
        let known = words_of(&technique);
        let check =
            |field: &str, expect: bool| assert_eq!(telling(field).any(|w| known.contains(&w)), expect, "{field}");
        check("T1 (Jepsen + Elle)", true);
        check("jepsen-and-elle", true);
        check("Elle", true);
        check("histories of clients", true);
        check("T12", false);
        check("chaos", false);
        check("load testing", false);
    }
}
