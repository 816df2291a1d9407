//! Names in prose: where they stand, and whether the sentence affirms them.

use super::Name;
use std::ops::Range;

/// A name found in prose.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// Canonical name.
    pub id: &'static str,
    /// Bytes of the text.
    pub at: Range<usize>,
    /// In backticks.
    pub quoted: bool,
    /// False when the sentence denies it: `not linearizability`, `instead of …`, `… is not checked`.
    pub affirmed: bool,
}

/// Every name of `table` that `text` mentions, in order. A longer spelling wins over one inside it.
/// Time about linear in the text.
pub fn mentions(table: &[Name], text: &str) -> Vec<Mention> {
    Index::new(table.iter().copied()).mentions(text)
}

/// A table of names, by the first letter of each spelling: made once, it finds names in time about linear in the text.
#[derive(Debug)]
pub(crate) struct Index {
    by_first: Vec<Vec<(&'static str, Name)>>,
}

impl Index {
    /// An index of these names.
    pub(crate) fn new(table: impl IntoIterator<Item = Name>) -> Index {
        let mut by_first: Vec<Vec<(&'static str, Name)>> = vec![Vec::new(); 256];
        for name in table {
            for spelling in std::iter::once(&name.id).chain(name.aliases) {
                let first = spelling.bytes().next().unwrap_or(0);
                by_first[usize::from(first)].push((spelling, name));
            }
        }
        Index { by_first }
    }

    /// See [`mentions`].
    pub(crate) fn mentions(&self, text: &str) -> Vec<Mention> {
        // Only ASCII letters are lowered, so offsets stay; line breaks become blanks so that a wrapped name is found.
        let mut bytes = text.as_bytes().to_ascii_lowercase();
        bytes.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        let plain = String::from_utf8(bytes).unwrap_or_else(|_| text.to_ascii_lowercase());
        let mut found = self.spellings(&plain);
        if found.is_empty() {
            return Vec::new();
        }
        found.sort_by_key(|(at, ..)| (at.start, usize::MAX - at.end));
        let mut end = 0;
        found.retain(|(at, ..)| {
            let keep = at.start >= end;
            end = end.max(at.end);
            keep
        });
        let bare = without_names(plain, found.iter().map(|(at, ..)| at));
        found.into_iter().map(|(at, id, quoted)| Mention { id, affirmed: affirmed(&bare, &at), at, quoted }).collect()
    }

    /// Every spelling that stands as a word of its own, with its name and whether it is quoted.
    fn spellings(&self, plain: &str) -> Vec<(Range<usize>, &'static str, bool)> {
        let mut found = Vec::new();
        let mut inside = false;
        for (start, byte) in plain.bytes().enumerate() {
            let opens = !inside;
            inside = match byte {
                0..0x80 => byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_',
                // The rest of a character is what its first byte made of it.
                0x80..0xc0 => inside,
                _ => plain[start..].chars().next().is_some_and(part),
            };
            if !opens || !byte.is_ascii() {
                continue;
            }
            for (spelling, name) in &self.by_first[usize::from(byte)] {
                let at = start..start + spelling.len();
                if !plain[start..].starts_with(spelling) || plain[at.end..].chars().next().is_some_and(part) {
                    continue;
                }
                let quoted = quoted(plain, &at);
                let own = name.common_word && *spelling == name.id;
                if !own || quoted || heads_clause(plain, &at) {
                    found.push((at, name.id, quoted));
                }
            }
        }
        found
    }
}

/// The text with every name replaced by blanks, so that the `no` of `no-lost-ack` denies nothing.
fn without_names<'s>(text: String, spans: impl Iterator<Item = &'s Range<usize>>) -> String {
    let mut bytes = text.into_bytes();
    spans.for_each(|span| bytes[span.clone()].fill(b'#'));
    // Names are whole words, so that no character is cut.
    String::from_utf8(bytes).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}

/// True for a character that may stand inside a word.
fn part(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_'
}

fn quoted(text: &str, at: &Range<usize>) -> bool {
    text[..at.start].ends_with('`') && text[at.end..].starts_with('`')
}

/// True when nothing but a clause border stands before the name and a border or a parenthesis behind it.
fn heads_clause(text: &str, at: &Range<usize>) -> bool {
    // A clause border further away than this is none, which also bounds the work on hostile texts.
    let before = window(text, at.start.saturating_sub(REACH), at.start).trim_end();
    let after = window(text, at.end, at.end.saturating_add(REACH).min(text.len())).trim_start();
    let opens = before.is_empty() || before.ends_with([',', ';', '.', '+', '—', ':', '-', '→']);
    opens && (after.is_empty() || after.starts_with([',', ';', '.', '+', '(', '—', ':', '→']))
}

/// Words that deny what follows them in the same clause.
const DENY_BEFORE: &[&str] = &[
    "not",
    "no",
    "never",
    "without",
    "instead",
    "rather",
    "unlike",
    "except",
    "excluding",
    "cannot",
    "neither",
    "nor",
    "skip",
    "avoid",
    "omit",
];
/// Phrases that deny what precedes them in the same clause.
const DENY_AFTER: &[&str] = &[
    " is not ",
    " isn't ",
    " are not ",
    " aren't ",
    " was not ",
    " does not ",
    " doesn't ",
    " do not ",
    " will not ",
    " won't ",
    " cannot be ",
    " can't be ",
    " not applicable",
    " n/a",
    " not checked",
    " not used",
    " not run",
    " is out of scope",
    " is skipped",
    " is omitted",
    " would be ",
    " unavailable",
];
/// Denials look this far at most, which also bounds the work on hostile texts.
const REACH: usize = 160;

/// `bare` has `#` in place of every name.
fn affirmed(bare: &str, at: &Range<usize>) -> bool {
    let before = window(bare, at.start.saturating_sub(REACH), at.start);
    let clause = before.rsplit(['.', ';', ':', '—']).next().unwrap_or("");
    let clause = match clause.as_bytes().windows(5).rposition(|word| word == b" but ") {
        Some(at) => &clause[at + 5..],
        None => clause,
    };
    // A comma ends a denial, except inside a list of names: `not linearizability, serializability`.
    let mut parts = clause.rsplit(',');
    let mut denied = parts.next().is_some_and(denies);
    for part in parts.take_while(|part| part.contains('#')) {
        denied |= denies(part);
    }
    let after = window(bare, at.end, at.end.saturating_add(REACH).min(bare.len()));
    // `an Elle/Knossos checker is not needed` denies both.
    let after = after.trim_start_matches(['#', '/']);
    let after = after.split(['.', ';', ':', ',', '—', '(', '#']).next().unwrap_or("");
    let after = after.trim_start_matches('`');
    // Nearly always nothing is denied: the phrases are looked for only where a word of one of them stands.
    let announced = after.split_whitespace().any(|word| DENYING.contains(&word));
    !(denied || announced && denied_after(after))
}

/// Words of which every phrase of [`DENY_AFTER`] has one.
const DENYING: &[&str] = &[
    "not",
    "isn't",
    "aren't",
    "doesn't",
    "won't",
    "cannot",
    "can't",
    "n/a",
    "scope",
    "skipped",
    "omitted",
    "would",
    "unavailable",
];

fn denied_after(after: &str) -> bool {
    let after = format!("{after} ");
    DENY_AFTER.iter().any(|deny| after.contains(deny))
}

fn denies(part: &str) -> bool {
    part.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'))
        .any(|word| DENY_BEFORE.contains(&word) || word.ends_with("n't") || word.ends_with("n’t"))
}

/// `text[from..to]` with both ends moved inwards to character borders.
fn window(text: &str, mut from: usize, mut to: usize) -> &str {
    while from < to && !text.is_char_boundary(from) {
        from += 1;
    }
    while to > from && !text.is_char_boundary(to) {
        to -= 1;
    }
    &text[from..to]
}

#[cfg(test)]
mod tests {
    use super::super::{CHECKERS, NEMESES};
    use super::*;

    fn shown(table: &[Name], text: &str) -> String {
        let show = |m: Mention| format!("{}{}", if m.affirmed { "" } else { "!" }, m.id);
        mentions(table, text).into_iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_denial_has_a_word_that_announces_it() {
        for phrase in DENY_AFTER {
            assert!(phrase.split_whitespace().any(|word| DENYING.contains(&word)), "{phrase}");
        }
    }

    #[test]
    fn checkers_are_recognised_and_denials_are_seen() {
        let check = |text: &str, expect: &str| assert_eq!(shown(CHECKERS, text), expect, "{text}");
        check("linearizability per key (Porcupine), then no-lost-ack", "linearizability linearizability no-lost-ack");
        check("`no-lost-ack` and `linearizability`", "no-lost-ack linearizability");
        check("Linearizable\nreads; no lost\nacks", "linearizability no-lost-ack");
        check("not linearizability", "!linearizability");
        check("we do not use linearizability here; no-lost-ack instead", "!linearizability no-lost-ack");
        check("serializability instead of linearizability", "serializability !linearizability");
        check("linearizability is not checked", "!linearizability");
        check("linearizability would be too slow; `no-lost-ack`", "!linearizability no-lost-ack");
        check("without linearizability", "!linearizability");
        check("no-lost-ack, not linearizability", "no-lost-ack !linearizability");
        check("nonlinearizability", "");
        check("linearizability: doesn't apply. exactly-once", "linearizability exactly-once");
        check("no stale read, no-lost-ack", "no-lost-ack");
        check(
            "not linearizability, serializability or exactly-once",
            "!linearizability !serializability !exactly-once",
        );
        check("not linearizability but no-lost-ack", "!linearizability no-lost-ack");
        check("`linearizability`: a read never goes back and is not stale", "linearizability");
        check("ä ö linearizability ü", "linearizability");
        check("an Elle/Knossos checker is not needed", "!serializability !linearizability");
        check("Elle/Knossos, no-lost-ack is not needed", "serializability linearizability !no-lost-ack");
    }

    #[test]
    fn common_words_are_names_only_in_backticks_or_alone() {
        let table: Vec<Name> = NEMESES.iter().map(|n| n.name).collect();
        let check = |text: &str, expect: &str| assert_eq!(shown(&table, text), expect, "{text}");
        check("`latency` 200 ms", "latency");
        check("latency, hard-kill", "latency hard-kill");
        check("the latency of reads rises", "");
        check("hard kill of two nodes, then a full partition", "hard-kill full-partition");
        check("`asymmetric-data-cut`; restart timestamps", "asymmetric-data-cut");
        check("no hard-kill", "!hard-kill");
    }
}
