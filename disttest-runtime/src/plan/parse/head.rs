//! Headings of scenarios and of arms.

use super::ids::numbers_on;
use super::line::Line;
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::Id;
use crate::plan::references::decoded;

/// The heading of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Head {
    /// `None` for a heading that means to be one and has no id that can be read.
    pub(super) id: Option<Spanned<Id>>,
    /// What stands behind the id.
    pub(super) name: Spanned<String>,
    /// The heading.
    pub(super) span: Span,
    /// 1 to 6.
    pub(super) level: usize,
}

impl Head {
    /// A heading over the fields of a scenario that names none.
    pub(super) fn without_id(line: &Line<'_>) -> Option<Head> {
        let (level, at, title) = line.heading()?;
        let span = Span::new(line.trimmed().0, at + title.len());
        Some(Head { id: None, name: Spanned::default(), span, level })
    }
}

/// What may stand between an id and a name.
fn is_mark(c: char) -> bool {
    matches!(c, ':' | '—' | '–' | '-' | '.' | '`' | '*') || c.is_whitespace()
}

/// What may stand behind a name.
fn is_tail(c: char) -> bool {
    matches!(c, '`' | '*' | '_') || c.is_whitespace()
}

/// A heading of the level of sections that opens a scenario. `in_section`: the section above it is §7.
pub(super) fn opens_alone(line: &Line<'_>, in_section: bool) -> bool {
    line.heading().is_some_and(|(level, ..)| level <= 2) && head(line, in_section).is_some_and(|head| head.id.is_some())
}

/// True for the text of an underlined heading that names a scenario.
pub(super) fn is_title(text: &str) -> bool {
    let mut line = Line::part(0, text);
    line.underlined = 2;
    head(&line, true).is_some_and(|head| head.id.is_some())
}

/// A scenario heading. `in_section`: it stands in §7, where the word `Scenario` may be missing.
pub(super) fn head(line: &Line<'_>, in_section: bool) -> Option<Head> {
    let (level, at, title) = line.heading()?;
    let span = Span::new(line.trimmed().0, at + title.len());
    let bare = title.trim_start_matches(['*', '`', '[', ' ', '_']);
    let word = bare.get(..8).is_some_and(|w| w.eq_ignore_ascii_case("scenario"));
    if !word && !in_section {
        return None;
    }
    let rest = if word { bare[8..].trim_start_matches(['*', '`', '[', ' ', '_', '\t']) } else { bare };
    let (end, id) = leading(rest)?;
    let tail = &rest[end + driver(&rest[end..])..];
    let Some(id) = id.filter(|_| word || names_one(tail, level)) else {
        let meant = word && meant(rest, tail);
        return meant.then(|| Head { id: None, name: Spanned::default(), span, level });
    };
    let id_at = at + title.len() - rest.len();
    let name = tail.trim_start_matches(']').trim_start_matches(is_mark);
    let from = at + title.len() - name.len();
    let mut name = name.trim_end_matches(is_tail);
    while let Some((bare, _)) = name.rsplit_once(" {#").filter(|(_, anchor)| anchor.ends_with('}')) {
        name = bare.trim_end_matches(is_tail);
    }
    let name = Spanned::new(decoded(name).into_owned(), Span::new(from, from + name.len()));
    Some(Head { id: Some(Spanned::new(id, Span::new(id_at, id_at + end))), name, span, level })
}

/// The width of the word that stands where the id should, and the id if it is one; `None` for an arm's.
fn leading(rest: &str) -> Option<(usize, Option<Id>)> {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    if rest[end..].starts_with('/') && Id::parse(&rest[..end]).is_some() {
        return None;
    }
    let id = Id::parse(&rest[..end].to_ascii_uppercase()).filter(|id| id.letter() == 'S');
    // `S1.2` is no id, and least of all that of S1.
    Some((end, id.filter(|_| !numbers_on(&rest[end..]))))
}

/// Width of ` Driver A` behind an id: who drives the scenario is no part of its name.
fn driver(tail: &str) -> usize {
    let bare = tail.trim_start_matches([' ', '\t', '(']);
    let Some(which) = bare.get(..7).filter(|word| word.eq_ignore_ascii_case("driver ")).map(|_| &bare[7..]) else {
        return 0;
    };
    let end = which.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(which.len());
    let rest = which[end..].strip_prefix(')').unwrap_or(&which[end..]);
    let separated = rest.trim().is_empty() || rest.trim_start().starts_with([':', '—', '–', '-', '`', '*']);
    if (1..=2).contains(&end) && separated { tail.len() - rest.len() } else { 0 }
}

/// Whether the text behind a wordless id makes the heading a scenario's: a separator, nothing, or at level 3 one word.
fn names_one(tail: &str, level: usize) -> bool {
    let name = tail.trim_start_matches([']', '`', '*', '_']).trim();
    let separated = name.is_empty() || name.starts_with([':', '—', '–', '-', '.']);
    separated || (level == 3 && !name.contains(char::is_whitespace) && name.contains('_'))
}

/// `Scenario: x`, `Scenario 1`, `Scenario S-1: x`, `Scenario SX1: x` mean to be one; `Scenario overview` does not.
fn meant(rest: &str, tail: &str) -> bool {
    let first = &rest[..rest.len() - tail.len()];
    let numbered = first.bytes().any(|b| b.is_ascii_digit());
    let hyphened = first.len() == 1 && tail.strip_prefix(['-', '_', '.', '#', ' ']).is_some_and(starts_with_digit);
    rest.starts_with(':') || numbered || hyphened
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// `Arm S5/api: name`, `Scenario arm S5/api`, `S5/api`.
pub(super) fn arm(title: &str) -> Option<(Id, Option<String>)> {
    let bare = title.trim_start_matches(['*', '`', '[', ' ']);
    let word = |w: &&&str| bare.get(..w.len()).is_some_and(|head| head.eq_ignore_ascii_case(w));
    let skip = ["scenario arm ", "scenario ", "arm "].iter().find(word).map_or(0, |w| w.len());
    let rest = bare[skip..].trim_start_matches(['*', '`', '[', ' ', ':']);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "/-_".contains(c))).unwrap_or(rest.len());
    let id = Id::parse(&rest[..end]).filter(|id| id.arm().is_some())?;
    let name = rest[end..].trim_start_matches(']').trim_start_matches(is_mark).trim_end_matches(is_tail);
    Some((id, (!name.is_empty()).then(|| decoded(name).into_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_told_apart() {
        let check = |text: &str, expect: &str| {
            let found = head(&Line::part(0, text), true).map_or_else(
                || "none".to_owned(),
                |head| head.id.map_or_else(|| "no id".to_owned(), |id| format!("{} {}", id.value, head.name.value)),
            );
            assert_eq!(found, expect, "{text}");
        };
        check("### Scenario S1: a_b", "S1 a_b");
        check("### scenario s01: a_b", "S1 a_b");
        check("### S01: a_b", "S1 a_b");
        check("### S1 — `a_b`", "S1 a_b");
        check("### `S1`: a_b", "S1 a_b");
        check("### [S1] a_b", "S1 a_b");
        check("### S1 a_b", "S1 a_b");
        check("### Scenario S1 a b", "S1 a b");
        check("#### S1: a_b", "S1 a_b");
        check("##### Scenario S1: a_b", "S1 a_b");
        check("# S1: a_b", "S1 a_b");
        check("### S1: a_b {#s1}", "S1 a_b");
        check("### S1", "S1 ");
        check("### **Scenario S1:** a_b", "S1 a_b");
        check("### S1 Driver A — a_b", "S1 a_b");
        check("### Scenario S1 driver B: `a_b`", "S1 a_b");
        check("### Scenario S1 (Driver A) – a_b", "S1 a_b");
        check("### Scenario S1 Driver A", "S1 ");
        check("### Scenario S1 driver a b", "S1 driver a b");
        check("### Scenario S1 driver restarts: a b", "S1 driver restarts: a b");
        for broken in [
            "Scenario: a",
            "Scenario 1: a",
            "Scenario SX1: a",
            "Scenario S-1: a",
            "Scenario S 1: a",
            "Scenario S1.2: a",
        ] {
            check(&format!("### {broken}"), "no id");
        }
        for other in
            ["Scenario overview", "S1 and S2 share a rig", "Arm S1/a: x", "S1/a", "S1.2: x", "C1: x", "Safety (S1–S4)"]
        {
            check(&format!("### {other}"), "none");
        }
        check("###S1: a", "none");
        assert_eq!(head(&Line::part(0, "### S1: a"), false), None);
    }

    #[test]
    fn arms_carry_their_scenario() {
        let check = |text: &str, id: &str, name: Option<&str>| {
            let (found, called) = arm(text).expect(text);
            assert_eq!((found.to_string().as_str(), called.as_deref()), (id, name), "{text}");
        };
        check("Arm S5/api: over the api", "S5/api", Some("over the api"));
        check("Scenario arm S05/api", "S5/api", None);
        check("`S5/api-v2` — b", "S5/api-v2", Some("b"));
        assert_eq!(arm("Arm S5: x"), None);
    }
}
