//! Lists of ids in prose: `C1, C3`, `C7–C9`, `C1 and C3`, `C31. Surfaces M6.`.

use crate::base::diagnostic::{Span, Spanned};
use crate::plan::Id;
use std::collections::HashSet;

/// More ids than this in one range is a typing error.
const LONGEST_RANGE: u32 = 64;

/// What a list of ids says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct IdList {
    /// The ids, in order, each once.
    pub(super) ids: Vec<Spanned<Id>>,
    /// Ids that a reader may or may not mean: in parentheses, or behind a word such as `not`.
    pub(super) doubtful: Vec<Spanned<Id>>,
    /// Ranges that cannot be (`C9–C3`, or far too long).
    pub(super) bad_ranges: Vec<Spanned<String>>,
    seen: HashSet<Id>,
}

impl IdList {
    /// True if the list takes this id.
    pub(super) fn has(&self, id: &Id) -> bool {
        self.seen.contains(id)
    }
}

/// Reads the ids with this letter out of `text`, which starts at byte `base` of the source. Linear.
pub(super) fn list(text: &str, base: usize, letter: char) -> IdList {
    let mut out = IdList::default();
    let mut depth = 0_usize;
    let mut negated = false;
    let mut pending: Option<(Id, usize)> = None;
    let tokens: Vec<Token<'_>> = tokens(text).collect();
    for (i, token) in tokens.iter().enumerate() {
        let span = Span::new(base + token.at, base + token.at + token.text.len());
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Stop => negated = false,
            Kind::Dash | Kind::Space => {}
            Kind::Word => match Id::parse(token.text).filter(|id| id.letter() == letter) {
                None => {
                    negated |=
                        ["not", "except", "unlike", "without", "excluding"].contains(&&*token.text.to_lowercase())
                }
                Some(id) if depth > 0 || negated => out.doubtful.push(Spanned::new(id, span)),
                Some(id) => {
                    let from = pending.take();
                    match from {
                        Some((first, start)) => range(&mut out, &first, &id, Span::new(start, span.end)),
                        None if opens_range(&tokens[i + 1..], letter) => pending = Some((id, span.start)),
                        None => push(&mut out, id, span),
                    }
                }
            },
        }
    }
    out
}

fn push(out: &mut IdList, id: Id, span: Span) {
    if out.seen.insert(id.clone()) {
        out.ids.push(Spanned::new(id, span));
    }
}

fn range(out: &mut IdList, first: &Id, last: &Id, span: Span) {
    let (from, to) = (first.number(), last.number());
    if first.arm().is_some() || last.arm().is_some() || from > to || to - from > LONGEST_RANGE {
        out.bad_ranges.push(Spanned::new(format!("{first}–{last}"), span));
        push(out, first.clone(), span);
        return push(out, last.clone(), span);
    }
    let ids = (from..=to).filter_map(|n| Id::parse(&format!("{}{n}", first.letter())));
    ids.for_each(|id| push(out, id, span));
}

/// True when a dash and an id of the same letter follow.
fn opens_range(rest: &[Token<'_>], letter: char) -> bool {
    let mut rest = rest.iter().filter(|t| t.kind != Kind::Space);
    rest.next().is_some_and(|t| t.kind == Kind::Dash)
        && rest.next().and_then(|t| Id::parse(t.text)).is_some_and(|id| id.letter() == letter)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Word,
    Dash,
    Open,
    Close,
    Stop,
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
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '/';
        let (kind, len) = if is_word(first) {
            // A hyphen joins words (`C1-like`) unless an id stands behind it (`C1-C3`).
            let mut len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            while let Some(tail) = rest[len..].strip_prefix('-') {
                let next = tail.find(|c| !is_word(c)).unwrap_or(tail.len());
                if next == 0 || Id::parse(&tail[..next]).is_some() {
                    break;
                }
                len += 1 + next;
            }
            (Kind::Word, len)
        } else if rest.starts_with("..") {
            (Kind::Dash, rest.bytes().take_while(|b| *b == b'.').count())
        } else if rest.starts_with("--") {
            (Kind::Dash, 2)
        } else {
            let kind = match first {
                '-' | '–' | '—' | '‑' | '…' => Kind::Dash,
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

#[cfg(test)]
mod tests {
    use super::*;

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
        check("C1 and C3.", 'C', "C1 C3");
        check("C1 — reads; C3 — writes", 'C', "C1 C3");
        check("**C1**, `C2`", 'C', "C1 C2");
        check("C31. Surfaces M6, M9.", 'C', "C31");
        check("C12, C40 (negative claim demonstrated).", 'C', "C12 C40");
        check("H01; H2", 'H', "H1 H2");
        check("S5/api, S5/sdk", 'S', "S5/api S5/sdk");
        check("C1, C1", 'C', "C1");
        check("XC1 C1x c1", 'C', "");
        check("C1-like", 'C', "");
    }

    #[test]
    fn doubtful_ids_are_told_apart() {
        let found = list("C1 (and C2), not C3; C4", 0, 'C');
        assert_eq!((names(&found.ids), names(&found.doubtful)), ("C1 C4".to_owned(), "C2 C3".to_owned()));
        assert_eq!(list("C9–C3", 0, 'C').bad_ranges.len(), 1);
        assert_eq!(list("C1–C999999999", 0, 'C').bad_ranges.len(), 1);
    }

    #[test]
    fn spans_point_at_the_id() {
        let found = list("x C12", 100, 'C');
        assert_eq!(found.ids[0].span, Span::new(102, 105));
    }
}
