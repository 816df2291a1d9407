//! How far a comment reaches: where the scenarios and sections of a plan begin and end.

use super::Scope;
use super::comments::Comment;
use crate::base::diagnostic::Span;
use crate::plan::model::Plan;

/// The scope of every comment of a plan.
pub(super) struct Scopes {
    of: Vec<(Scope, Span)>,
}

impl Scopes {
    /// Computed for all `comments`, which are in the order of the text. O(text + scenarios + comments × log).
    pub(super) fn new(plan: &Plan, text: &str, comments: &[Comment]) -> Scopes {
        let sections: Vec<usize> = plan.sections.iter().map(|section| section.span.start).collect();
        let mut scenarios: Vec<usize> = plan.scenarios.iter().map(|scenario| scenario.span.start).collect();
        scenarios.sort_unstable();
        // What the whole plan lacks is told at its very end, which is no scenario's and no section's.
        let borders = Borders { sections, scenarios, end: text.trim_end().len() };
        let below = directly_below(text, comments, &borders.scenarios);
        let of = comments.iter().zip(below).map(|(comment, below)| match below {
            Some(scenario) => (Scope::Scenario, borders.scenario(scenario)),
            None => borders.around(comment.span.start),
        });
        Scopes { of: of.collect() }
    }

    /// That of the comment with this index, and the text that it covers.
    pub(super) fn of(&self, index: usize) -> (Scope, Span) {
        self.of[index]
    }
}

/// Where things begin; each list in ascending order.
struct Borders {
    sections: Vec<usize>,
    scenarios: Vec<usize>,
    end: usize,
}

impl Borders {
    /// From this start of a scenario to the next scenario or section.
    fn scenario(&self, start: usize) -> Span {
        Span::new(start, after(&self.sections, start).min(after(&self.scenarios, start)).min(self.end))
    }

    fn around(&self, at: usize) -> (Scope, Span) {
        let scenario = before(&self.scenarios, at).map(|start| self.scenario(start)).filter(|span| at < span.end);
        let section =
            before(&self.sections, at).map(|start| Span::new(start, after(&self.sections, start).min(self.end)));
        match (scenario, section) {
            (Some(span), _) => (Scope::Scenario, span),
            (None, Some(span)) => (Scope::Section, span),
            (None, None) => (Scope::Plan, Span::new(0, self.end)),
        }
    }
}

/// The last of `starts` that is not behind `at`.
fn before(starts: &[usize], at: usize) -> Option<usize> {
    starts[..starts.partition_point(|start| *start <= at)].last().copied()
}

/// The first of `starts` behind `at`.
fn after(starts: &[usize], at: usize) -> usize {
    starts.get(starts.partition_point(|start| *start <= at)).copied().unwrap_or(usize::MAX)
}

/// For each comment the scenario whose heading it stands directly above: on a line of its own, with nothing between
/// but blank lines, rules (`---`) and other such comments.
fn directly_below(text: &str, comments: &[Comment], scenarios: &[usize]) -> Vec<Option<usize>> {
    let mut out = vec![None; comments.len()];
    // From the end, so that each gap is looked at once however many comments stand above one heading.
    for (index, comment) in comments.iter().enumerate().rev() {
        let heading = after(scenarios, comment.span.start);
        let next = comments.get(index + 1).map_or(usize::MAX, |next| next.span.start);
        let (gap_end, below) = if next < heading { (next, out[index + 1]) } else { (heading, Some(heading)) };
        let gap = text.get(comment.span.end..gap_end);
        if below.is_some() && gap.is_some_and(is_nothing) && opens_its_line(text, comment) {
            out[index] = below;
        }
    }
    out
}

fn is_nothing(gap: &str) -> bool {
    gap.lines().all(|line| {
        let marks: Vec<char> = line.chars().filter(|c| !c.is_whitespace()).collect();
        marks.is_empty() || (marks.len() >= 3 && ['-', '*', '_'].iter().any(|m| marks.iter().all(|c| c == m)))
    })
}

/// True if nothing but white space or another comment's end stands before it on its line.
fn opens_its_line(text: &str, comment: &Comment) -> bool {
    let start = text[..comment.span.start].rfind('\n').map_or(0, |at| at + 1);
    let before = text[start..comment.span.start].trim_start_matches('\u{feff}').trim();
    before.is_empty() || (before.starts_with("<!--") && before.ends_with("-->"))
}
