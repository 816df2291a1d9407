//! `plan --fix`: makes the changes that diagnostics bring with them, where they are safe.

pub(crate) mod guard;
mod sane;

use disttest_runtime::base::diagnostic::{Diagnostic, Edit};
use std::collections::{BTreeMap, BTreeSet};

/// How often changes may bring up new ones. Rules are mended one after the other, each in a round or two; two rules
/// that undo each other's changes must not go on for ever.
const ROUNDS: usize = 64;

/// A text with all changes made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mended {
    /// The text.
    pub text: String,
    /// How many findings of each rule were mended.
    pub mended: BTreeMap<String, usize>,
    /// Changes that were not made, and why: `rule: reason`. A bug of ours each.
    pub refused: Vec<String>,
}

/// Makes the changes that `find` has for `text`, and for what comes of it, until there are none. Changes that overlap
/// are made one after the other. The changes of a rule are not made if its findings stay, or if an id, a budget, a
/// target or a skeleton of the plan would be lost.
pub(crate) fn mend(text: &str, find: impl Fn(&str) -> Vec<Diagnostic>) -> Mended {
    let mut out = Mended { text: text.to_owned(), ..Mended::default() };
    let mut passed_over: BTreeSet<String> = BTreeSet::new();
    for _ in 0..ROUNDS {
        let found = find(&out.text);
        let open = |d: &&Diagnostic| !d.edits.is_empty() && !passed_over.contains(&d.rule);
        let Some(rule) = found.iter().find(open).map(|d| d.rule.clone()) else { return out };
        let of_rule: Vec<&Diagnostic> = found.iter().filter(|d| d.rule == rule).collect();
        let chosen = choose(&out.text, &of_rule);
        let next = apply(&out.text, chosen.iter().flat_map(|diagnostic| &diagnostic.edits).collect());
        let left = find(&next).iter().filter(|d| d.rule == rule).count();
        let verdict =
            if left < of_rule.len() { sane::check(&out.text, &next) } else { Err("they would not mend it".to_owned()) };
        match verdict {
            Ok(()) => {
                *out.mended.entry(rule).or_default() += chosen.len();
                out.text = next;
            }
            Err(why) => {
                out.refused.push(format!("the changes for {rule} are not made: {why}"));
                passed_over.insert(rule);
            }
        }
    }
    out.refused.push(format!("there are changes to be made after {ROUNDS} rounds"));
    out
}

/// The diagnostics whose changes can be made at once: all edits of one or none, and no two that touch.
fn choose<'d>(text: &str, found: &[&'d Diagnostic]) -> Vec<&'d Diagnostic> {
    let mut taken: BTreeMap<usize, &Edit> = BTreeMap::new();
    let mut chosen = Vec::new();
    for diagnostic in found.iter().copied().filter(|diagnostic| !diagnostic.edits.is_empty()) {
        let mut edits: Vec<&Edit> = diagnostic.edits.iter().collect();
        edits.sort();
        let apart = edits.windows(2).all(|two| two[0].span.end < two[1].span.start);
        let free = |edit: &&Edit| {
            let before = taken.range(..=edit.span.end).next_back();
            before.is_none_or(|(_, other)| other == edit || other.span.end < edit.span.start)
        };
        if apart && edits.iter().all(|edit| is_within(text, edit)) && edits.iter().all(free) {
            taken.extend(edits.into_iter().map(|edit| (edit.span.start, edit)));
            chosen.push(diagnostic);
        }
    }
    chosen
}

fn is_within(text: &str, edit: &Edit) -> bool {
    text.get(edit.span.start..edit.span.end).is_some()
}

/// `text` with `edits` made, which do not touch each other; line breaks of the text's own kind.
fn apply(text: &str, mut edits: Vec<&Edit>) -> String {
    edits.sort();
    edits.dedup();
    let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.span.start]);
        out.push_str(&edit.replacement.replace("\r\n", "\n").replace('\n', line_break));
        at = edit.span.end;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests;
