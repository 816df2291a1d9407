//! What there is to say about a plan, bounded: a text of ten megabytes may break one rule a million times.

use crate::base::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

/// More findings of one rule than this tell nobody anything new. A plan of a thousand scenarios stays below it.
const MOST: usize = 20_000;

/// Diagnostics under collection.
#[derive(Debug, Default)]
pub(in crate::plan) struct Told {
    kept: Vec<Diagnostic>,
    counts: FxHashMap<String, usize>,
}

impl Told {
    /// Keeps the diagnostic, unless there are [`MOST`] of its rule; from then on they are counted.
    pub(in crate::plan) fn push(&mut self, diagnostic: Diagnostic) {
        match self.counts.get_mut(&diagnostic.rule) {
            Some(count) if *count >= MOST => *count += 1,
            Some(count) => {
                *count += 1;
                self.kept.push(diagnostic);
            }
            None => {
                self.counts.insert(diagnostic.rule.clone(), 1);
                self.kept.push(diagnostic);
            }
        }
    }

    /// True when a diagnostic of this rule would only be counted: then it is, and need not be made.
    pub(in crate::plan) fn only_counts(&mut self, rule: &str) -> bool {
        let full = self.counts.get_mut(rule).filter(|count| **count >= MOST);
        full.map(|count| *count += 1).is_some()
    }

    /// Everything, in the order of the text; what was only counted is said with the last one of its rule.
    pub(in crate::plan) fn in_order(mut self) -> Vec<Diagnostic> {
        for (rule, more) in self.counts.iter().filter_map(|(rule, n)| Some((rule, n.checked_sub(MOST)?))) {
            if let Some(last) = self.kept.iter_mut().rfind(|d| d.rule == *rule).filter(|_| more > 0) {
                last.message.push_str(&format!(" (and {more} more like this one)"));
            }
        }
        self.kept.sort_by_key(|d| (d.span.start, d.span.end));
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::diagnostic::Span;
    use crate::plan::rules::report;

    #[test]
    fn a_rule_that_is_broken_a_million_times_is_told_often_enough_and_the_rest_counted() {
        let mut told = Told::default();
        (0..MOST + 500).for_each(|i| told.push(report("filler-row", Span::new(i, i), "a row", "delete it")));
        told.push(report("duplicate-id", Span::new(7, 8), "C1", "rename it"));
        assert!(
            told.only_counts("filler-row") && !told.only_counts("duplicate-id") && !told.only_counts("vague-oracle")
        );
        let all = told.in_order();
        assert_eq!(all.len(), MOST + 1);
        assert!(all.last().is_some_and(|d| d.message == "a row (and 501 more like this one)"));
    }
}
