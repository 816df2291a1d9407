//! The change that mends a misspelt word: made only where one word alone can be meant.

use crate::base::diagnostic::{Diagnostic, Span};
use crate::base::nearest::distance;
use std::collections::BTreeSet;

/// Shortest word that is respelt without asking, in characters: two letters of a shorter one are too much of it.
const SHORTEST: usize = 6;

/// The one of `known` that `word` is a misspelling of: at most two letters away, with no other as near.
pub(super) fn meant<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    if !(SHORTEST..=64).contains(&length) {
        return None;
    }
    let known: BTreeSet<&str> = known.into_iter().collect();
    let near = known.into_iter().filter(|name| name.chars().count().abs_diff(length) <= 2);
    let mut near: Vec<(usize, &str)> = near.map(|name| (distance(&word, &name.to_lowercase()), name)).collect();
    near.sort_unstable();
    match near.as_slice() {
        [(1..=2, name)] => Some(name),
        [(best @ 1..=2, name), (second, _), ..] if second > best => Some(name),
        _ => None,
    }
}

/// `diagnostic` with `right` written for every `word` that stands by itself in `span` of the masked text.
pub(super) fn respelt(diagnostic: Diagnostic, masked: &str, span: Span, word: &str, right: Option<&str>) -> Diagnostic {
    let Some(right) = right else { return diagnostic };
    places(masked, span, word).into_iter().fold(diagnostic, |diagnostic, place| diagnostic.with_edit(place, right))
}

/// Where `word`, in any case of its ASCII letters, stands by itself in `span` of `text`. Linear.
fn places(text: &str, span: Span, word: &str) -> Vec<Span> {
    let Some(field) = text.get(span.start..span.end).filter(|_| !word.is_empty()) else { return Vec::new() };
    let (field_lower, word) = (field.to_ascii_lowercase(), word.to_ascii_lowercase());
    let part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let stands = |at: &usize| !field[..*at].ends_with(part) && !field[at + word.len()..].starts_with(part);
    let found = field_lower.match_indices(&word).map(|(at, _)| at).filter(stands);
    found.map(|at| Span::new(span.start + at, span.start + at + word.len())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_respelt_only_where_one_alone_is_meant() {
        const KNOWN: [&str; 6] = ["safety", "liveness", "performance-SLO", "hard-kill", "slow-disk", "slow-dusk"];
        let check = |word: &str, expect: Option<&str>| assert_eq!(meant(word, KNOWN), expect, "{word}");
        check("saftey", Some("safety"));
        check("Livness", Some("liveness"));
        check("performance-slo", None);
        check("performance-slos", Some("performance-SLO"));
        check("hardkil", Some("hard-kill"));
        check("slow-desk", None);
        check("slow-dis", Some("slow-disk"));
        check("safe", None);
        check("correctness", None);
    }

    #[test]
    fn only_words_that_stand_by_themselves_are_found() {
        let text = "é `Saftey`, saftey-first, un-saftey / SAFTEY.";
        let found = |span: Span| places(text, span, "saftey").iter().map(|s| &text[s.start..s.end]).collect::<Vec<_>>();
        assert_eq!(found(Span::new(0, text.len())), ["Saftey", "SAFTEY"]);
        assert_eq!(found(Span::new(0, 20)), ["Saftey"]);
        assert_eq!(found(Span::new(1, 20)), [""; 0]);
    }
}
