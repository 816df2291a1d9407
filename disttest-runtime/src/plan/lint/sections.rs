//! Rules about the document: sections, leftovers of the template.

use super::naming::is_filler;
use super::passage::{Passage, places};
use super::{Context, is_unfilled};
use crate::base::diagnostic::{Severity, Span};
use crate::plan::labels;
use crate::plan::model::PlanMode;
use crate::plan::rules::report;
use crate::plan::told::Told;
use std::collections::HashSet;

/// (number, title, required in a change-scoped plan); all are required in a project-wide one (format §1.2, D1).
const SECTIONS: &[(&str, &str, bool)] = &[
    ("0", "Architectural summary", true),
    ("1", "Scope", true),
    ("1b", "Claims under test", true),
    ("1c", "Missing claims discovered", true),
    ("2", "SUT model", true),
    ("3", "Existing test inventory", false),
    ("4", "Failure-mode hypotheses", true),
    ("5", "Coverage matrix", false),
    ("6", "Technique selection", true),
    ("6b", "Environment requirements", true),
    ("7", "Scenarios", true),
    ("7b", "Coverage adequacy argument", true),
    ("7c", "Residual uncertainty", true),
    ("7d", "Confidence statement", true),
    ("8", "What this plan does NOT cover", true),
    ("9", "Open questions / followups", true),
];

/// Required sections.
pub(super) fn missing_section(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    let wide = plan.header.mode == PlanMode::ProjectWide;
    for (number, title, always) in SECTIONS {
        if plan.sections.iter().any(|s| s.number == *number) || !(*always || wide) {
            continue;
        }
        let message = format!("section {number} is missing");
        let end = Span::new(context.masked.trim_end().len(), context.masked.trim_end().len());
        let mut told = report("missing-section", end, message, format!("add `## {number}. {title}`"));
        if *number == "2" && labels::SUT_MODEL.iter().all(|l| plan.sut_model.iter().any(|f| f.label == l.name)) {
            told.severity = Severity::Warning;
        }
        out.push(told);
    }
}

/// Sections that are there and hold nothing.
pub(super) fn section_empty(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    for section in &plan.sections {
        let text = context.masked.get(section.span.start..section.span.end).unwrap_or("");
        let body = text.split_once('\n').map_or("", |(_, body)| body);
        let says = |words: &str| body.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase().contains(words);
        let (empty, what) = match section.number.as_str() {
            "1b" => (plan.claims.is_empty(), "a table of claims"),
            "1c" => (
                plan.missing_claims.is_empty() && !says("appear aligned"),
                "a table, or the sentence `the docs and code appear aligned on every behavior the plan exercised.`",
            ),
            "2" => (plan.sut_model.is_empty(), "the seven bullets of the SUT model"),
            "3" => (plan.inventory.is_empty() && wide(context), "a table of existing tests"),
            "4" => (plan.hypotheses.is_empty(), "hypotheses such as `H1. **<title>** — <one sentence>`"),
            "5" => (plan.coverage.is_empty() && wide(context), "the coverage matrix"),
            "6" => (plan.techniques.is_empty(), "techniques, each under a heading"),
            "6b" => (plan.environment.is_empty(), "a table of requirements"),
            "7" => (plan.scenarios.is_empty(), "scenarios such as `### Scenario S1: <name>`"),
            "7b" => (plan.adequacy.is_empty(), "a row for every claim"),
            "7c" => (
                plan.residual.is_empty() && !says("only residual uncertainty"),
                "a table, or the sentence `the plan exercises every claim under at least one realistic threat; the only residual \
                 uncertainty is bug density we cannot quantify.`",
            ),
            "7d" => (plan.confidence.statement.value.is_empty(), "a paragraph of 4 to 8 sentences"),
            // Section 0 may be a picture in a code fence, which is no plan content and yet an answer.
            "0" => (false, ""),
            _ => (body.trim().is_empty(), "its content"),
        };
        if empty {
            let how = if body.trim().is_empty() { "is empty" } else { "holds nothing that can be read as its content" };
            let message = format!("section {} {how}", section.number);
            out.push(report("section-empty", heading(text, section.span), message, format!("write {what}")));
        }
    }
}

fn wide(context: &Context<'_>) -> bool {
    context.plan.header.mode == PlanMode::ProjectWide
}

fn heading(text: &str, span: Span) -> Span {
    Span::new(span.start, span.start + text.lines().next().map_or(0, str::len))
}

/// The seven bullets of §2.
pub(super) fn sut_model_bullet(context: &Context<'_>, out: &mut Told) {
    let plan = context.plan;
    let Some(section) = plan.sections.iter().find(|s| s.number == "2").filter(|_| !plan.sut_model.is_empty()) else {
        return;
    };
    let has = |name: &str| plan.sut_model.iter().any(|f| f.label == name && !is_unfilled(&f.value.value));
    let missing: Vec<&str> = labels::SUT_MODEL.iter().map(|l| l.name).filter(|name| !has(name)).collect();
    if !missing.is_empty() {
        let text = context.masked.get(section.span.start..section.span.end).unwrap_or("");
        let message = format!("the SUT model does not speak of {}", missing.join(", "));
        let help = format!("write `- **{}:** …`", missing[0]);
        out.push(report("sut-model-bullet", heading(text, section.span), message, help));
    }
}

/// A numbered section stands once.
pub(super) fn duplicate_section(context: &Context<'_>, out: &mut Told) {
    let mut seen = HashSet::new();
    for section in &context.plan.sections {
        if !seen.insert(section.number.as_str()) {
            let message = format!("section {} stands here for the second time", section.number);
            let span = heading(context.slice(section.span), section.span);
            out.push(report("duplicate-section", span, message, "join the two, or number this one as what it is"));
        }
    }
}

/// Lines that §0 may have.
const SUMMARY: usize = 30;

/// §0 is a summary. A picture, being code, does not count.
pub(super) fn architecture_too_long(context: &Context<'_>, out: &mut Told) {
    let Some((heading, body)) = context.section("0") else { return };
    let lines = context.slice(body).lines().filter(|line| !line.trim().is_empty()).count();
    if lines > SUMMARY {
        let message = format!("the architectural summary has {lines} lines of prose");
        let help = format!("keep to {SUMMARY}: what a reviewer needs to spot a missing test, and a picture");
        out.push(report("architecture-too-long", heading, message, help));
    }
}

/// What a change touches, or where a project's plan ends.
pub(super) fn scope_incomplete(context: &Context<'_>, out: &mut Told) {
    let Some((heading, body)) = context.section("1") else { return };
    let passage = Passage::new(context.masked, body);
    if passage.text.is_empty() {
        return;
    }
    const OUTSIDE: &[&str] =
        &["out of scope", "out-of-scope", "not in scope", "excluded", "excludes", "non-goal*", "outside", "leaves out"];
    const TOUCHED: &[&str] = &["file*", "touch*", "path*", "module*", "crate*"];
    let path = context.slice(body).lines().any(|line| {
        let item = line.trim_start().strip_prefix(['-', '*', '+']).map(str::trim_start);
        item.is_some_and(|item| item.starts_with('`') || item.split(' ').next().is_some_and(|word| word.contains('/')))
    });
    if context.wide() && !passage.has(OUTSIDE) {
        let message = "the scope does not say what is out of scope";
        out.push(report("scope-incomplete", heading, message, "name it: `Out of scope: …`"));
    } else if !context.wide() && !path && !passage.has(TOUCHED) && !passage.has(OUTSIDE) {
        let message = "the scope does not say which files the change touches";
        out.push(report(
            "scope-incomplete",
            heading,
            message,
            "add `Files touched:` and a bullet `` `path` — what changed `` for each",
        ));
    }
}

/// Words that tell when, or who.
const WHEN: &[&str] = &[
    "by",
    "before",
    "when",
    "whenever",
    "until",
    "after",
    "next",
    "release*",
    "week*",
    "month*",
    "quarter*",
    "sprint*",
    "today",
    "tomorrow",
    "now",
    "q1",
    "q2",
    "q3",
    "q4",
    "follow-up",
    "due",
    "20*",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "once",
    "milestone*",
    "day*",
    "year*",
    "ongoing",
];

/// `question — owner, by when`.
pub(super) fn open_question_owner(context: &Context<'_>, out: &mut Told) {
    for question in &context.plan.open_questions {
        let passage = Passage::new(context.masked, question.span);
        let text = passage.text.as_str();
        if text.is_empty() || ["none", "n/a", "no open"].iter().any(|none| text.starts_with(none)) {
            continue;
        }
        let dash =
            [" — ", " – ", " -- ", " - "].iter().filter_map(|dash| text.rfind(dash).map(|i| i + dash.len())).max();
        let owner = places(text, "owner*").next().map(|at| at.end);
        let Some(behind) = owner.into_iter().chain(dash).min() else {
            let message = "this open question has no owner";
            out.push(report("open-question-owner", question.span, message, "end it with `— <owner>, by <when>`"));
            continue;
        };
        if !WHEN.iter().any(|word| places(&text[behind..], word).next().is_some()) {
            let message = "this open question does not say by when";
            out.push(report("open-question-owner", question.span, message, "end it with `— <owner>, by <when>`"));
        }
    }
}

/// Words that the template leaves to be filled in.
const TEMPLATE: &[&str] =
    &["C<x>", "C<y>", "<title>", "<one sentence>", "<reason>", "<condition>", "<short-slug>", "<claim-shaped name>"];

/// `{{…}}` of the template, and the angle brackets of its hypotheses.
pub(super) fn placeholder(context: &Context<'_>, out: &mut Told) {
    let text = context.masked;
    braces(text, 0, out);
    for span in pictures(context) {
        braces(&context.text[span.start..span.end], span.start, out);
    }
    // Every other word of the template starts with an angle bracket, or has one behind its letter.
    for (i, _) in text.match_indices('<') {
        let from = if text[..i].ends_with('C') { i - 1 } else { i };
        let found = TEMPLATE.iter().find(|word| text[from..].starts_with(**word));
        found.into_iter().for_each(|word| tell_placeholder(word, from, out));
    }
    if let Some((_, body)) = context.section("4") {
        angle_brackets(context.slice(body), body.start, out);
    }
    for scenario in context.plan.scenarios.iter().filter(|s| is_filler(context, s)) {
        let heading = context.slice(scenario.span).lines().next().unwrap_or("");
        let dots = heading.rfind("...").or(heading.rfind('…')).unwrap_or(0);
        tell_placeholder("...", scenario.span.start + dots, out);
    }
}

/// `<SUT>`, `<C1>` and whatever else the hypotheses of the pitfall catalogue leave to be filled in.
fn angle_brackets(text: &str, base: usize, out: &mut Told) {
    const HTML: &[&str] = &[
        "a", "b", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "hr", "i", "img", "kbd", "li", "ol",
        "p", "pre", "s", "small", "span", "strong", "sub", "summary", "sup", "table", "td", "th", "tr", "u", "ul",
    ];
    let (mut code, mut before) = (false, ' ');
    for (i, c) in text.char_indices() {
        match c {
            '`' => code = !code,
            '\n' => code = false,
            // A letter in front makes it a generic type (`Vec<T>`), except the `C` of `C<x>`, which is told by name.
            '<' if !code && !before.is_alphanumeric() => {
                let inner: String =
                    text[i + 1..].chars().take(41).take_while(|c| c.is_alphanumeric() || " _-/".contains(*c)).collect();
                let closed = text[i + 1 + inner.len()..].starts_with('>');
                let name = inner.trim_matches(['/', ' ']).split(' ').next().unwrap_or("").to_lowercase();
                let found = &text[i..i + 1 + inner.len()];
                let letter = inner.starts_with(char::is_alphabetic);
                if closed
                    && letter
                    && !HTML.contains(&name.as_str())
                    && !TEMPLATE.contains(&format!("{found}>").as_str())
                {
                    tell_placeholder(&format!("{found}>"), base + i, out);
                }
            }
            _ => {}
        }
        before = c;
    }
}

/// Every `{{…}}` of `text`, which starts at the byte `base` of the plan.
fn braces(text: &str, base: usize, out: &mut Told) {
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|i| at + i) {
        if !text[open + 1..].starts_with('{') {
            at = open + 1;
            continue;
        }
        let inner = &text[open + 2..];
        let close = inner.find(['\n', '{', '}']).filter(|i| inner[*i..].starts_with("}}") && *i > 0);
        at = open + 2;
        if let Some(close) = close {
            at = open + 4 + close;
            tell_placeholder(&text[open..at], base + open, out);
        }
    }
}

/// Fenced blocks of plain text outside of scenarios, such as the picture of §0. Code may have braces of its own.
fn pictures(context: &Context<'_>) -> Vec<Span> {
    let hidden = context.text.matches("{{").count() > context.masked.matches("{{").count();
    // The text is read a second time only where there may be something to find.
    let blocks = if hidden { crate::plan::parse::plain_blocks(context.text) } else { Vec::new() };
    let mut scenarios: Vec<Span> = context.plan.scenarios.iter().map(|scenario| scenario.span).collect();
    scenarios.sort_by_key(|span| span.start);
    let in_scenario = |at: usize| {
        let before = scenarios.partition_point(|span| span.start <= at);
        before > 0 && at < scenarios[before - 1].end
    };
    blocks.into_iter().filter(|span| !in_scenario(span.start)).collect()
}

fn tell_placeholder(found: &str, at: usize, out: &mut Told) {
    let message = format!("`{found}` of the template is not filled");
    out.push(report(
        "placeholder",
        Span::new(at, at + found.len()),
        message,
        "replace it, or delete what it stands in",
    ));
}
