//! The numbered sections: which line opens one.

use super::head;
use super::line::Line;
use crate::base::diagnostic::Span;
use crate::plan::references::decoded;

/// Numbers of the format with their titles, in lower case, and the words by which a title is known to be that one.
const TITLES: &[(&str, &str, &[&str])] = &[
    ("0", "architectural summary", &["architect"]),
    ("1", "scope", &["scope"]),
    ("1b", "claims under test", &["claim"]),
    ("1c", "missing claims discovered", &["missing", "gaps"]),
    ("2", "sut model", &["model"]),
    ("3", "existing test inventory", &["inventory", "existing"]),
    ("4", "failure-mode hypotheses", &["hypothes"]),
    ("5", "coverage matrix", &["matrix"]),
    ("6", "technique selection", &["technique"]),
    ("6b", "environment requirements", &["environment", "requirement"]),
    ("7", "scenarios", &["scenario"]),
    ("7b", "coverage adequacy argument", &["adequacy"]),
    ("7c", "residual uncertainty", &["residual", "uncertaint"]),
    ("7d", "confidence statement", &["confidence"]),
    ("8", "what this plan does not cover", &["not cover"]),
    ("9", "open questions", &["question"]),
];

/// What a heading of a section says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Opening {
    /// `7b`; empty for an appendix.
    pub(super) number: String,
    /// The title behind the number.
    pub(super) title: String,
    /// The heading.
    pub(super) span: Span,
    /// How it departs from `## <n>. <title>`, if it does.
    pub(super) departs: Option<&'static str>,
}

/// The section that a line opens: `## n. title`; the same at level 1 or 3, or without the number, if the title is that
/// of the format; any other heading of level 2 is an appendix.
pub(super) fn opening(line: &Line<'_>) -> Option<Opening> {
    let (level, at, title) = line.heading()?;
    if level > 3 || (level == 1 && plan_title(title).is_some()) {
        return None;
    }
    let span = Span::new(line.trimmed().0, at + title.len());
    let opening = |number: String, title: &str, departs| {
        let title = decoded(title).into_owned();
        Opening { number, title, span, departs }
    };
    if sub_numbered(title) {
        return None;
    }
    match numbered(title) {
        Some((number, name)) if level == 2 => Some(opening(number, name, None)),
        Some((number, name)) if titled(&number, name) => {
            Some(opening(number, name, Some("is a heading of another level than 2")))
        }
        _ if level == 2 => Some(match unnumbered(title) {
            Some(number) => opening(number.to_owned(), tidy(title), Some("has no number")),
            None => opening(String::new(), title, None),
        }),
        _ => None,
    }
}

/// True for the text of an underlined heading that a plan would have: its title, a section, a scenario.
pub(super) fn is_title(level: usize, text: &str) -> bool {
    let plan = plan_title(text).is_some();
    let section = numbered(text).is_some_and(|(number, name)| titled(&number, name)) || unnumbered(text).is_some();
    if level == 1 { plan || section } else { section || head::is_title(text) }
}

/// What stands behind `Test Plan` in a title.
pub(super) fn plan_title(title: &str) -> Option<&str> {
    let bare = title.trim_start_matches(['*', '`', '_']);
    bare.get(..9).filter(|head| head.eq_ignore_ascii_case("test plan")).map(|head| &bare[head.len()..])
}

/// Number and name of `7b. Coverage …`, `§7b — …`, `Section 7b: …`.
fn numbered(title: &str) -> Option<(String, &str)> {
    let bare = title.trim_start_matches(['*', '§', '`', ' ']);
    let bare = bare.get(..8).filter(|w| w.eq_ignore_ascii_case("section ")).map_or(bare, |w| &bare[w.len()..]);
    let bare = bare.trim_start_matches(['§', ' ']);
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let letter = bare[digits..].bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    let width = digits + usize::from(letter);
    let rest = &bare[width..];
    let bounded = rest.is_empty() || rest.starts_with(MARKS);
    if digits == 0 || digits > 2 || !bounded {
        return None;
    }
    Some((bare[..width].to_ascii_lowercase(), tidy(rest)))
}

/// `7.1 …`, `1b.2 …`: a part of the section it stands in.
fn sub_numbered(title: &str) -> bool {
    numbered(title).is_some() && {
        let bare = title.trim_start_matches(|c: char| !c.is_ascii_digit());
        let rest = bare.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        rest.strip_prefix('.').is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
    }
}

/// What may stand between number and title.
const MARKS: [char; 8] = ['.', ')', ':', ' ', '—', '–', '-', '\t'];

fn tidy(text: &str) -> &str {
    let mark = |c: char| MARKS.contains(&c) || matches!(c, '*' | '`') || c.is_whitespace();
    text.trim_start_matches(mark).trim_end_matches(|c: char| matches!(c, '*' | '`') || c.is_whitespace())
}

/// True when `name` speaks of what section `number` holds.
fn titled(number: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    TITLES.iter().any(|(known, _, words)| *known == number && words.iter().any(|w| name.contains(w)))
}

/// How much a section speaks for a text being a plan: 2 for what no other document has, 0 for what many have.
pub(in crate::plan) fn marks_of_section(number: &str, title: &str) -> usize {
    match (number, titled(number, title)) {
        ("1b" | "1c" | "6b" | "7b" | "7c" | "7d", true) => 2,
        ("1b" | "1c" | "6b" | "7b" | "7c" | "7d", false) | ("2" | "4" | "5" | "6" | "7" | "8", true) => 1,
        _ => 0,
    }
}

/// The number of the section with exactly this title, a remark in parentheses aside, if it holds elements. Prose is
/// not worth it: `Scope` is a heading of every second document.
fn unnumbered(title: &str) -> Option<&'static str> {
    let name = tidy(title).split('(').next().unwrap_or("").trim().to_lowercase();
    let held = |number: &str| !["0", "1", "2", "8", "9"].contains(&number);
    TITLES.iter().find(|(number, known, _)| *known == name && held(number)).map(|(number, ..)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_known_by_their_number_or_by_their_title() {
        let check = |text: &str, expect: Option<(&str, &str, bool)>| {
            let found = opening(&Line::part(0, text));
            let found = found.as_ref().map(|o| (o.number.as_str(), o.title.as_str(), o.departs.is_none()));
            assert_eq!(found, expect, "{text}");
        };
        check("## 7b. Coverage adequacy argument", Some(("7b", "Coverage adequacy argument", true)));
        check("## 3. Inventory (project-wide only — skip)", Some(("3", "Inventory (project-wide only — skip)", true)));
        check("## **7.** Scenarios", Some(("7", "Scenarios", true)));
        check("## §7b — Adequacy", Some(("7b", "Adequacy", true)));
        check("## Section 7B: Adequacy", Some(("7b", "Adequacy", true)));
        check("## 7 Scenarios", Some(("7", "Scenarios", true)));
        check("## 7", Some(("7", "", true)));
        check("## 4. Anything", Some(("4", "Anything", true)));
        check("## Scenarios", Some(("7", "Scenarios", false)));
        check("## Claims under test (all)", Some(("1b", "Claims under test (all)", false)));
        check("## Open questions", Some(("", "Open questions", true)));
        check("# 7. Scenarios", Some(("7", "Scenarios", false)));
        check("### 7c. Residual uncertainty", Some(("7c", "Residual uncertainty", false)));
        check("### 5a. Per-claim summary", None);
        check("### 1. First step", None);
        check("## Scope", Some(("", "Scope", true)));
        check("## 2026 plans", Some(("", "2026 plans", true)));
        check("## 7.1 Details", None);
        check("## 7bc. x", Some(("", "7bc. x", true)));
        check("### Scenario S1: a", None);
        check("# Test Plan: x", None);
    }
}
