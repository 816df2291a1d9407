//! Lists of ids in prose: `C1, C3`, `C7–C9`, `C1 and C3`, `C31. Surfaces M6.`.

use crate::base::diagnostic::{Span, Spanned};
use crate::plan::Id;
use crate::plan::id::DIGITS;
use rustc_hash::FxHashSet;

/// More ids than this in one range is a typing error.
const LONGEST_RANGE: u32 = 1_000;

/// So few ids are looked through; most lists have no more.
const FEW: usize = 8;

/// How many ids the ranges of one text may still stand for, so that memory stays bounded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance(usize);

impl Allowance {
    /// Ample for any plan, and little for ten megabytes of ranges. The same for a text of any length: lists that stand
    /// in another text in the same order are read as the same ids.
    pub(super) fn for_text() -> Allowance {
        Allowance(250_000)
    }

    /// For one cell or field by itself, of which a text may have a hundred thousand.
    pub(super) fn for_cell() -> Allowance {
        Allowance(128)
    }

    fn take(&mut self, ids: usize) -> bool {
        let left = self.0.checked_sub(ids);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// What a list of ids says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct IdList {
    /// The ids, in order, each once.
    pub(super) ids: Vec<Spanned<Id>>,
    /// Ids that a reader may or may not mean: in parentheses, behind a word such as `not`, struck out, or with a tail
    /// (`C3-like`, `S3a`, `H1.2`).
    pub(super) doubtful: Vec<Spanned<Id>>,
    /// Ranges that cannot be (`C9–C3`, or far too long).
    pub(super) bad_ranges: Vec<Spanned<String>>,
    /// The ids once there are more than [`FEW`].
    seen: FxHashSet<Id>,
}

impl IdList {
    /// True if the list takes this id.
    pub(super) fn has(&self, id: &Id) -> bool {
        if self.ids.len() <= FEW { self.ids.iter().any(|own| own.value == *id) } else { self.seen.contains(id) }
    }

    /// The list with each of its parts at the place of the whole.
    pub(super) fn at(mut self, place: Span) -> IdList {
        self.ids.iter_mut().chain(&mut self.doubtful).for_each(|id| id.span = place);
        self.bad_ranges.iter_mut().for_each(|range| range.span = place);
        self
    }

    fn push(&mut self, id: Id, span: Span) {
        if self.has(&id) {
            return;
        }
        if self.ids.len() == FEW {
            self.seen.extend(self.ids.iter().map(|own| own.value.clone()));
        }
        if self.ids.len() >= FEW {
            self.seen.insert(id.clone());
        }
        self.ids.push(Spanned::new(id, span));
    }

    fn range(&mut self, first: &Id, last: u32, span: Span, allowance: &mut Allowance) {
        let from = first.number();
        let at = |number: u32| Id::numbered(first.letter(), number);
        let sound = first.arm().is_none() && !first.is_inserted() && from <= last && last - from <= LONGEST_RANGE;
        if !sound || !allowance.take((last - from) as usize) {
            self.bad_ranges.push(Spanned::new(format!("{first}–{}{last}", first.letter()), span));
            self.push(first.clone(), span);
            return self.push(at(last), span);
        }
        (from..=last).for_each(|number| self.push(at(number), span));
    }
}

const NEGATIONS: &[&str] = &["not", "except", "unlike", "without", "excluding"];

/// Reads the ids with this letter out of `text`, which starts at byte `base` of the source. Linear.
pub(super) fn list(text: &str, base: usize, letter: char, allowance: &mut Allowance) -> IdList {
    let mut out = IdList::default();
    // Many a field is asked for ids that it has none of.
    if !text.contains(letter) {
        return out;
    }
    let mut depth = 0_usize;
    let (mut negated, mut struck) = (false, false);
    let tokens: Vec<Token<'_>> = tokens(text).filter(|t| t.kind != Kind::Space).collect();
    let mut i = 0;
    while let Some(token) = tokens.get(i) {
        i += 1;
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Stop => negated = false,
            Kind::Strike => struck = !struck,
            Kind::Dash | Kind::Space => {}
            Kind::Word => {
                let span = |end: &Token<'_>| Span::new(base + token.at, base + end.at + end.text.len());
                let Some((id, whole)) = id(token.text, letter) else {
                    negated |= NEGATIONS.iter().any(|word| token.text.eq_ignore_ascii_case(word));
                    continue;
                };
                let end = range_end(&tokens[i..], letter);
                let whole = whole && !numbers_on(&text[token.at + token.text.len()..]);
                if depth > 0 || negated || struck || !whole {
                    out.doubtful.push(Spanned::new(id, span(token)));
                } else if let Some(last) = end {
                    out.range(&id, last, span(&tokens[i + 1]), allowance);
                    i += 2;
                } else {
                    out.push(id, span(token));
                }
            }
        }
    }
    out
}

/// True for what follows an id and makes it another: the `.2` of `H1.2`, which is no id of the format.
pub(super) fn numbers_on(rest: &str) -> bool {
    rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The id that a word is, or (`false`) begins with: `C3`, `C3a`; `C3-like`, `S3a`.
fn id(word: &str, letter: char) -> Option<(Id, bool)> {
    let of_letter = |id: &Id| id.letter() == letter;
    if let Some(id) = Id::parse(word).filter(of_letter) {
        return Some((id, true));
    }
    let digits = word.strip_prefix(letter)?.bytes().take_while(u8::is_ascii_digit).count();
    Id::parse(&word[..1 + digits]).filter(of_letter).map(|id| (id, false))
}

/// The number at the end of a range that a dash (or `to`) opens: `–C5`, `..C5`, `-5`, `to C5`.
fn range_end(rest: &[Token<'_>], letter: char) -> Option<u32> {
    let [mark, last, ..] = rest else { return None };
    let word = ["to", "through", "thru", "until"].iter().any(|w| mark.text.eq_ignore_ascii_case(w));
    let digits = |text: &str| text.len() <= DIGITS && text.bytes().all(|b| b.is_ascii_digit());
    let bare = || digits(last.text).then(|| last.text.parse().ok()).flatten();
    let number = || Id::parse(last.text).filter(|id| id.letter() == letter && !id.is_inserted()).map(|id| id.number());
    match mark.kind {
        _ if last.kind != Kind::Word => None,
        Kind::Dash => number().or_else(bare),
        Kind::Word if word => number(),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Word,
    Dash,
    Open,
    Close,
    Stop,
    Strike,
    Space,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    at: usize,
    text: &'a str,
}

fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut at = 0;
    // Brackets of links are no parentheses; where the last `]` that could close one stands is looked up once.
    let last_link = text.rfind("](");
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let (kind, len) = if is_word(first) {
            let mut len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            while let Some(tail) = rest[len..].strip_prefix(['-', '/']) {
                let next = tail.find(|c| !is_word(c)).unwrap_or(tail.len());
                let joined = if rest[len..].starts_with('/') { joins_arm } else { joins_word };
                if next == 0 || !joined(&rest[..len], &tail[..next]) {
                    break;
                }
                len += 1 + next;
            }
            (Kind::Word, len)
        } else if rest.starts_with("..") {
            (Kind::Dash, rest.bytes().take_while(|b| *b == b'.').count())
        } else if rest.starts_with("--") {
            (Kind::Dash, 2)
        } else if rest.starts_with("~~") {
            (Kind::Strike, 2)
        } else {
            let kind = match first {
                '-' | '–' | '—' | '‑' | '‒' | '−' | '…' => Kind::Dash,
                '[' | ']' if last_link.is_some_and(|last| at <= last) => Kind::Space,
                '(' | '[' => Kind::Open,
                ')' | ']' => Kind::Close,
                ',' | ';' | '.' => Kind::Stop,
                _ => Kind::Space,
            };
            (kind, first.len_utf8())
        };
        let token = Token { kind, at, text: &rest[..len] };
        at += len;
        Some(token)
    })
}

/// A hyphen joins words (`C1-like`) unless an id (`C1-C3`) or the end of a range (`C1-3`) stands behind it.
fn joins_word(before: &str, after: &str) -> bool {
    let number = after.len() <= DIGITS && after.bytes().all(|b| b.is_ascii_digit());
    Id::parse(after).is_none() && !(number && before.len() < 12 && Id::parse(before).is_some())
}

/// A slash joins a scenario and its arm (`S5/api`), and no two ids (`C1/C3`).
fn joins_arm(before: &str, after: &str) -> bool {
    let scenario = before.len() < 12 && Id::parse(before).is_some_and(|id| id.letter() == 'S' && id.arm().is_none());
    scenario && Id::parse(after).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str, base: usize, letter: char) -> IdList {
        super::list(text, base, letter, &mut Allowance::for_text())
    }

    fn names(ids: &[Spanned<Id>]) -> String {
        ids.iter().map(|id| id.value.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn lists_ranges_and_prose_are_read() {
        let check =
            |text: &str, letter: char, expect: &str| assert_eq!(names(&list(text, 0, letter).ids), expect, "{text}");
        check("C1, C3", 'C', "C1 C3");
        check("C7–C9", 'C', "C7 C8 C9");
        check("C7-C8", 'C', "C7 C8");
        check("C7..C8, C1", 'C', "C7 C8 C1");
        check("C7—C9; C11…C12", 'C', "C7 C8 C9 C11 C12");
        check("C7 – C9", 'C', "C7 C8 C9");
        check("C7-9, C11–12", 'C', "C7 C8 C9 C11 C12");
        check("C7 to C9 and C11 through C12", 'C', "C7 C8 C9 C11 C12");
        check("**C1–C3**", 'C', "C1 C2 C3");
        check("C1/C3 + C5 & C6", 'C', "C1 C3 C5 C6");
        check("S1/S3, S5/api-v2", 'S', "S1 S3 S5/api-v2");
        check("[C1](#c1), [C3](plan.md#c3)", 'C', "C1 C3");
        check("C1 and C3.", 'C', "C1 C3");
        check("C1 — reads; C3 — writes", 'C', "C1 C3");
        check("**C1**, `C2`", 'C', "C1 C2");
        check("C31. Surfaces M6, M9.", 'C', "C31");
        check("C12, C40 (negative claim demonstrated).", 'C', "C12 C40");
        check("H01; H2", 'H', "H1 H2");
        check("S5/api, S5/sdk", 'S', "S5/api S5/sdk");
        check("C1, C1", 'C', "C1");
        check("XC1 C1xy c1", 'C', "");
        check("C12, C12b–C14, C015c", 'C', "C12 C12b C14 C15c");
        check("C1-like", 'C', "");
    }

    #[test]
    fn doubtful_ids_are_told_apart() {
        let found = list("C1 (and C2), not C3; C4", 0, 'C');
        assert_eq!((names(&found.ids), names(&found.doubtful)), ("C1 C4".to_owned(), "C2 C3".to_owned()));
        assert_eq!(names(&list("C1, ~~C2~~, C3", 0, 'C').ids), "C1 C3");
        assert_eq!(names(&list("C1, C3ab, C4-like", 0, 'C').doubtful), "C3 C4");
        assert_eq!(names(&list("S1, S3a", 0, 'S').doubtful), "S3", "the letter is that of a threat");
        assert_eq!(names(&list("H1.2, H3. H4.", 0, 'H').ids), "H3 H4");
        assert_eq!(names(&list("H1.2, H3", 0, 'H').doubtful), "H1");
        assert_eq!(list("C9–C3", 0, 'C').bad_ranges.len(), 1);
        assert_eq!(names(&list("C1–C9999999", 0, 'C').ids), "C1 C9999999");
        assert_eq!(list("C1–C9999999", 0, 'C').bad_ranges.len(), 1);
    }

    #[test]
    fn spans_point_at_the_id() {
        let found = list("x C12", 100, 'C');
        assert_eq!(found.ids[0].span, Span::new(102, 105));
    }
}
