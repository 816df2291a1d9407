//! Suppressions held against what was found.

use super::{Scope, Suppression};
use crate::base::diagnostic::{Diagnostic, Span};
use crate::plan::rules::report;
use std::collections::HashMap;

/// A diagnostic that is not told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppressed {
    /// What was found.
    pub diagnostic: Diagnostic,
    /// Why it may be passed over.
    pub reason: String,
    /// The comment that says so.
    pub by: Span,
}

/// `diagnostics` without those that are suppressed, which come second. A suppression that suppresses nothing is told
/// as well. The narrowest one that covers a diagnostic is the one that counts. O((n + m) × log n).
pub fn suppress(suppressions: &[Suppression], diagnostics: Vec<Diagnostic>) -> (Vec<Diagnostic>, Vec<Suppressed>) {
    let covers = Covers::new(suppressions);
    let mut used = vec![false; suppressions.len()];
    let (mut kept, mut suppressed) = (Vec::new(), Vec::new());
    for diagnostic in diagnostics {
        match covers.of(&diagnostic).filter(|_| super::may_be_suppressed(&diagnostic.rule)) {
            None => kept.push(diagnostic),
            Some(index) => {
                used[index] = true;
                let Suppression { reason, span, .. } = &suppressions[index];
                suppressed.push(Suppressed { diagnostic, reason: reason.clone(), by: *span });
            }
        }
    }
    let unused = suppressions.iter().zip(used).filter(|(_, used)| !used);
    kept.extend(unused.map(|(suppression, _)| told(suppression)));
    kept.sort_by_key(|d| (d.span.start, d.span.end));
    (kept, suppressed)
}

fn told(suppression: &Suppression) -> Diagnostic {
    let place = match suppression.scope {
        Scope::Scenario => "this scenario",
        Scope::Section => "this section",
        Scope::Plan => "this plan",
    };
    let message = format!("nothing in {place} breaks `{}`", suppression.rule);
    let help = "delete the suppression, or move it to what it is meant for";
    report("unused-suppression", suppression.span, message, help)
}

/// Suppressions by rule and scope. Those of one scope do not overlap, so that a place finds its own by bisection.
struct Covers<'s>(HashMap<(&'s str, Scope), Vec<(Span, usize)>>);

impl<'s> Covers<'s> {
    fn new(suppressions: &'s [Suppression]) -> Covers<'s> {
        let mut all: HashMap<_, Vec<(Span, usize)>> = HashMap::new();
        for (index, suppression) in suppressions.iter().enumerate() {
            let list = all.entry((suppression.rule.as_str(), suppression.scope)).or_default();
            list.push((suppression.covers, index));
        }
        for list in all.values_mut() {
            list.sort();
            // Of two for one place the first counts; the other is unused.
            list.dedup_by_key(|(span, _)| *span);
        }
        Covers(all)
    }

    fn of(&self, diagnostic: &Diagnostic) -> Option<usize> {
        let at = diagnostic.span.start;
        [Scope::Scenario, Scope::Section, Scope::Plan].into_iter().find_map(|scope| {
            let list = self.0.get(&(diagnostic.rule.as_str(), scope))?;
            let (span, index) = list[..list.partition_point(|(span, _)| span.start <= at)].last()?;
            // What is missing from a plan is told at its very end.
            (at < span.end || scope == Scope::Plan).then_some(*index)
        })
    }
}
