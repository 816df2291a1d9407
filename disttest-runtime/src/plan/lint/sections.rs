//! Rules about the document: header, sections, leftovers of the template.

use super::{Context, is_unfilled};
use crate::base::diagnostic::{Diagnostic, Severity, Span};
use crate::plan::labels;
use crate::plan::model::PlanMode;
use crate::plan::rules::report;

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

const TOP: Span = Span { start: 0, end: 0 };

/// The title and the bold-key lines.
pub(super) fn missing_header(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let header = &context.plan.header;
    let slug = header.slug.as_ref().filter(|s| !s.value.is_empty());
    let at = slug.map_or(TOP, |s| s.span);
    if slug.is_none() {
        out.push(report("missing-header", TOP, "the plan has no title", "start with `# Test Plan: <slug>`"));
    }
    let has = |name: &str| header.fields.iter().any(|f| f.label == name && !is_unfilled(&f.value.value));
    let missing: Vec<&str> = labels::HEADER.iter().map(|l| l.name).filter(|name| !has(name)).collect();
    if !missing.is_empty() {
        let message = format!("the header lacks {}", missing.join(", "));
        out.push(report("missing-header", at, message, format!("write `**{}:** …` under the title", missing[0])));
    }
}

/// Required sections.
pub(super) fn missing_section(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
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
pub(super) fn section_empty(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let plan = context.plan;
    for section in &plan.sections {
        let text = context.masked.get(section.span.start..section.span.end).unwrap_or("");
        let body = text.split_once('\n').map_or("", |(_, body)| body);
        let flat = body.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let (empty, what) = match section.number.as_str() {
            "1b" => (plan.claims.is_empty(), "a table of claims"),
            "1c" => (
                plan.missing_claims.is_empty() && !flat.contains("appear aligned"),
                "a table, or the sentence that docs and code appear aligned",
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
                plan.residual.is_empty() && !flat.contains("only residual uncertainty"),
                "a table, or the sentence that says what the only residual uncertainty is",
            ),
            "7d" => (plan.confidence.statement.value.is_empty(), "a paragraph of 4 to 8 sentences"),
            // Section 0 may be a picture in a code fence, which is no plan content and yet an answer.
            "0" => (false, ""),
            _ => (flat.is_empty(), "its content"),
        };
        if empty {
            let message = format!("section {} is empty", section.number);
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
pub(super) fn sut_model_bullet(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
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

/// `{{…}}` of the template, and the angle brackets of its hypotheses.
pub(super) fn placeholder(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    let text = &context.masked;
    let mut at = 0;
    while let Some(open) = text[at..].find("{{").map(|i| at + i) {
        let inner = &text[open + 2..];
        let close = inner.find(['\n', '{', '}']).filter(|i| inner[*i..].starts_with("}}") && *i > 0);
        at = open + 2;
        if let Some(close) = close {
            at = open + 4 + close;
            tell_placeholder(&text[open..at], open, out);
        }
    }
    for word in ["<SUT>", "C<x>", "<title>", "<one sentence>", "<reason>", "<condition>"] {
        text.match_indices(word).for_each(|(i, found)| tell_placeholder(found, i, out));
    }
}

fn tell_placeholder(found: &str, at: usize, out: &mut Vec<Diagnostic>) {
    let message = format!("`{found}` of the template is not filled");
    out.push(report(
        "placeholder",
        Span::new(at, at + found.len()),
        message,
        "replace it, or delete what it stands in",
    ));
}

/// `references/<technique>.md`.
pub(super) fn technique_without_reference(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for technique in &context.plan.techniques {
        if !technique.fields.iter().any(|f| f.label == "Reference" && !is_unfilled(&f.value.value)) {
            let message = format!("`{}` cites no reference", technique.name.value);
            let help = "write `- **Reference:** `references/<technique>.md``";
            out.push(report("technique-without-reference", technique.name.span, message, help));
        }
    }
}
