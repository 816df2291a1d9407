//! Prose as rules read it: in lower case, on one line, without emphasis, each place known in the source.

use crate::base::diagnostic::Span;
use std::ops::Range;

/// A passage of the source.
pub(super) struct Passage<'s> {
    source: &'s str,
    start: usize,
    /// The text: lower case, white space as single blanks, no asterisks and backticks.
    pub(super) text: String,
}

impl<'s> Passage<'s> {
    /// The passage of `masked` that `span` covers.
    pub(super) fn new(masked: &'s str, span: Span) -> Passage<'s> {
        let source = masked.get(span.start..span.end).unwrap_or("");
        let mut text = String::with_capacity(source.len());
        Flat::default().read(source, |_, c| text.push(c));
        Passage { source, start: span.start, text }
    }

    /// Where a range of the text stands in the source. Linear in the passage: ask once.
    pub(super) fn span(&self, range: &Range<usize>) -> Span {
        let (mut length, mut first, mut last) = (0, None, 0);
        Flat::default().read(self.source, |at, c| {
            if length >= range.start && length < range.end {
                first.get_or_insert(at);
                last = at;
            }
            length += c.len_utf8();
        });
        let first = first.unwrap_or(0);
        let width = self.source.get(last..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Span::new(self.start + first, self.start + last + width)
    }

    /// The first of `phrases` that stands in the text, by place.
    pub(super) fn first(&self, phrases: &[&'static str]) -> Option<(&'static str, Range<usize>)> {
        let hits = phrases.iter().filter_map(|phrase| Some((*phrase, self.find(phrase)?)));
        hits.min_by_key(|(_, at)| at.start)
    }

    /// The first place of a phrase, see [`places`].
    pub(super) fn find(&self, phrase: &str) -> Option<Range<usize>> {
        places(&self.text, phrase).next()
    }

    /// True when one of the phrases stands in the text.
    pub(super) fn has(&self, phrases: &[&str]) -> bool {
        has(&self.text, phrases)
    }
}

/// True unless `text` (in lower case) is long enough to tell and has hardly one of the words that English is made of:
/// rules that look for English words say nothing of prose in another language. Linear.
pub(super) fn may_be_english(text: &str) -> bool {
    const COMMON: &[&str] = &[
        "the", "a", "an", "of", "to", "is", "are", "and", "or", "not", "no", "by", "with", "for", "from", "that", "it",
        "its", "after", "before", "while", "when", "then", "if", "does", "be", "has", "have", "than", "which", "never",
        "could",
    ];
    let words = || text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let (all, common) = (words().count(), words().filter(|word| COMMON.contains(word)).count());
    all < 20 || common * 12 >= all
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A phrase taken apart: its letters, and whether its last word may go on.
fn stem(phrase: &str) -> (&str, bool) {
    phrase.strip_suffix('*').map_or((phrase, false), |stem| (stem, true))
}

/// The end of a phrase that starts at `start` and is `length` long, if a word ends there or may go on.
fn closes(text: &str, start: usize, stem: &str, open: bool) -> Option<usize> {
    let end = start + stem.len();
    let rest = &text[end..];
    let goes_on = rest.chars().next().is_some_and(word) && stem.ends_with(word);
    match (goes_on, open) {
        (false, _) => Some(end),
        (true, false) => None,
        (true, true) => Some(end + rest.find(|c| !word(c)).unwrap_or(rest.len())),
    }
}

/// Every place of a phrase in a text, as whole words; the last word of a phrase that ends in `*` may go on.
pub(super) fn places<'t>(text: &'t str, phrase: &'t str) -> impl Iterator<Item = Range<usize>> + use<'t> {
    let (stem, open) = stem(phrase);
    text.match_indices(stem).filter_map(move |(start, _)| {
        let opens = !stem.starts_with(word) || !text[..start].chars().next_back().is_some_and(word);
        let end = closes(text, start, stem, open).filter(|_| opens)?;
        Some(start..end)
    })
}

/// True when one of `phrases` stands in the text. One walk over the words of the text for all phrases that start with
/// a letter: a rule has dozens, and a plan thousands of fields.
pub(super) fn has(text: &str, phrases: &[&str]) -> bool {
    // A bit for each first letter: at most words nothing is compared.
    let bit = |byte: u8| 1_u128 << (byte & 0x7f);
    let firsts = phrases.iter().filter_map(|phrase| phrase.bytes().next()).fold(0, |all, first| all | bit(first));
    let mut inside = false;
    for (start, byte) in text.bytes().enumerate() {
        let opens = !inside;
        inside = match byte {
            0..0x80 => byte.is_ascii_alphanumeric() || byte == b'_',
            // The rest of a character is what its first byte made of it.
            0x80..0xc0 => inside,
            _ => text[start..].starts_with(word),
        };
        if !(opens && inside && byte.is_ascii() && firsts & bit(byte) != 0) {
            continue;
        }
        for phrase in phrases.iter().filter(|phrase| phrase.as_bytes().first() == Some(&byte)) {
            let (stem, open) = stem(phrase);
            if text[start..].starts_with(stem) && closes(text, start, stem, open).is_some() {
                return true;
            }
        }
    }
    let signs = phrases.iter().filter(|phrase| !phrase.starts_with(|c: char| word(c) && c.is_ascii()));
    signs.into_iter().any(|phrase| places(text, phrase).next().is_some())
}

/// The clause of `text` in front of `at`: back to the last full stop, semicolon, colon or dash.
pub(super) fn clause_before(text: &str, at: usize) -> &str {
    let before = &text[..at];
    let start = before.char_indices().rev().take(REACH).find(|(_, c)| ".;:—!?".contains(*c));
    &before[start.map_or_else(|| floor(before, REACH), |(i, c)| i + c.len_utf8())..]
}

/// The clause of `text` behind `at`: up to the next full stop, semicolon, colon or dash.
pub(super) fn clause_after(text: &str, at: usize) -> &str {
    let after = &text[at..];
    let end = after.char_indices().take(REACH).find(|(_, c)| ".;:—!?".contains(*c)).map(|(i, _)| i);
    let reach = after.char_indices().nth(REACH).map_or(after.len(), |(i, _)| i);
    &after[..end.unwrap_or(reach)]
}

fn floor(text: &str, characters: usize) -> usize {
    text.char_indices().rev().nth(characters).map_or(0, |(i, _)| i)
}

/// Clauses are looked for this far, in characters; that bounds the work on hostile texts.
const REACH: usize = 240;

/// True when a word of the clause denies what follows it.
pub(super) fn denies(clause: &str) -> bool {
    const DENY: &[&str] = &[
        "not", "no", "never", "without", "instead", "rather", "nor", "neither", "cannot", "nothing", "none", "unlike",
        "avoid",
    ];
    clause
        .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'))
        .any(|word| DENY.contains(&word) || word.ends_with("n't") || word.ends_with("n’t"))
}

/// Turns a text into a passage, letter by letter.
#[derive(Default)]
struct Flat {
    any: bool,
    blank: Option<usize>,
}

impl Flat {
    fn read(mut self, source: &str, mut put: impl FnMut(usize, char)) {
        for (at, c) in source.char_indices() {
            if c.is_whitespace() {
                self.blank.get_or_insert(at);
                continue;
            }
            if matches!(c, '*' | '`') {
                continue;
            }
            if let Some(blank) = self.blank.take().filter(|_| self.any) {
                put(blank, ' ');
            }
            self.any = true;
            match c.is_ascii() {
                true => put(at, c.to_ascii_lowercase()),
                false => c.to_lowercase().for_each(|c| put(at, c)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_over_line_breaks_and_emphasis_and_known_in_the_source() {
        let source = "x\n  It **Cannot**\n  happen, é cannot\thappening";
        let passage = Passage::new(source, Span::new(2, source.len()));
        assert_eq!(passage.text, "it cannot happen, é cannot happening");
        let at = passage.find("cannot happen").expect("it is there");
        let span = passage.span(&at);
        assert_eq!(&source[span.start..span.end], "Cannot**\n  happen");
        assert_eq!(places(&passage.text, "cannot happen").count(), 1);
        assert_eq!(places(&passage.text, "cannot happen*").count(), 2);
        assert!(passage.find("annot").is_none());
        assert!(passage.has(&["never", "can*"]) && !passage.has(&["can", "annot*"]) && passage.has(&[", é"]));
    }

    #[test]
    fn clauses_end_at_stops() {
        let text = "one. two, three; four — five";
        assert_eq!(clause_before(text, text.find("three").expect("there")), " two, ");
        assert_eq!(clause_after(text, text.find("four").expect("there")), "four ");
        assert!(denies("we do not say that it") && denies("it doesn't") && !denies("it notably"));
    }
}
