//! Rules about the title and the bold-key lines under it.

use super::{Context, is_unfilled};
use crate::base::diagnostic::{Span, Spanned};
use crate::base::nearest::nearest;
use crate::plan::labels;
use crate::plan::rules::report;
use crate::plan::told::Told;

const TOP: Span = Span { start: 0, end: 0 };

/// The title and the bold-key lines.
pub(super) fn missing_header(context: &Context<'_>, out: &mut Told) {
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

fn field<'p>(context: &Context<'p>, label: &str) -> Option<&'p Spanned<String>> {
    let fields = &context.plan.header.fields;
    fields.iter().find(|f| f.label == label).map(|f| &f.value).filter(|v| !is_unfilled(&v.value))
}

/// The first word of a value, without emphasis.
fn first_word(value: &str) -> &str {
    value.split_whitespace().next().unwrap_or("").trim_matches(|c: char| !c.is_alphanumeric())
}

/// `YYYY-MM-DD`.
pub(super) fn bad_date(context: &Context<'_>, out: &mut Told) {
    let Some(date) = field(context, "Date").filter(|v| !v.value.contains("{{")) else { return };
    if !is_date(first_word(&date.value)) {
        let message = format!("`{}` is no date of the form YYYY-MM-DD", date.value);
        out.push(report("bad-date", date.span, message, "write the day the plan was made, such as `2026-11-30`"));
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let number = |part: &str, length: usize| {
        (part.len() == length && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse().ok()).flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    year >= 1 && (1..=days).contains(&day)
}

const STATUSES: [&str; 3] = ["draft", "reviewed", "executed"];

/// The words of `Status`.
pub(super) fn unknown_status(context: &Context<'_>, out: &mut Told) {
    let Some(status) = field(context, "Status").filter(|v| !v.value.contains("{{")) else { return };
    let written = first_word(&status.value);
    let word = written.to_lowercase();
    let several = status.value.contains('|');
    if STATUSES.contains(&word.as_str()) && !several {
        return;
    }
    let message = format!("`{}` is no status", status.value);
    let help = match nearest(&word, STATUSES).filter(|_| !several) {
        Some(near) => format!("did you mean `{near}`? A plan is draft, reviewed or executed"),
        None => "write `draft`, `reviewed` or `executed`".to_owned(),
    };
    let told = report("unknown-status", status.span, message, help);
    let typo = crate::base::nearest::distance;
    let meant = STATUSES.iter().find(|known| !several && typo(&word, known) == 1);
    out.push(match (meant, context.word(status.span, written)) {
        (Some(meant), Some(span)) => told.with_edit(span, *meant),
        _ => told,
    });
}

/// A mode that is still the choice of the template.
pub(super) fn several_modes(context: &Context<'_>, out: &mut Told) {
    let Some(mode) = field(context, "Plan mode").filter(|v| v.value.contains('|')) else { return };
    let message = format!("`{}` is the choice that the template offers; it is read as its first word", mode.value);
    out.push(report("unreadable-plan-mode", mode.span, message, "write `change-scoped` or `project-wide`"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_of_the_calendar() {
        let check = |text: &str, expect: bool| assert_eq!(is_date(text), expect, "{text}");
        check("2026-11-30", true);
        check("2024-02-29", true);
        check("2026-02-29", false);
        check("2026-13-01", false);
        check("26-11-30", false);
        check("2026-1-3", false);
        check("yesterday", false);
        check("2026-11-30-1", false);
    }
}
