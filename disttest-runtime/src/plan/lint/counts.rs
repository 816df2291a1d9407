//! Numbers in prose that count what the plan itself holds.

use super::Context;
use super::passage::Passage;
use crate::base::diagnostic::Span;
use crate::plan::rules::report;
use crate::plan::told::Told;

/// Behind the noun of a count of everything stands one of these, or the sentence ends.
const WHOLE: &[&str] = &[
    "in total",
    "in all",
    "altogether",
    "in combination",
    "overall",
    "below",
    "follow",
    "are listed",
    "are defined",
    "in this plan",
    "under test",
    "pass",
    "hold",
    "succeed",
];

/// In front of a number that counts everything.
const LEADS: &[&str] = &[
    "this plan has",
    "the plan has",
    "this plan contains",
    "the plan contains",
    "this plan defines",
    "the plan defines",
    "this plan lists",
    "the plan lists",
    "this plan holds",
    "the plan holds",
    "there are",
    "a total of",
    "in total,",
    "all",
    "all the",
    "all of the",
    "if the",
    "once the",
    "when the",
    "we use",
    "we chose",
    "this plan uses",
    "the plan uses",
    "we run",
    "we have",
    "we tested",
    "we have tested",
    "we ran",
    "we exercised",
    "we exercise",
    "this plan comprises",
    "the plan comprises",
    "each of the",
];

/// Behind `the 4 scenarios`, these make it all of them.
const HERE: &[&str] = &["below", "above", "in this plan", "of this plan", "listed here"];

/// A kind of element: the nouns that name it, and how many there are.
struct Kind {
    nouns: [&'static str; 2],
    count: usize,
    place: &'static str,
    /// The section whose first sentence may simply start with the number.
    section: &'static str,
}

fn kinds(context: &Context<'_>) -> [Kind; 6] {
    let plan = context.plan;
    let kind = |nouns, count, place, section| Kind { nouns, count, place, section };
    [
        kind(["scenario", "scenarios"], plan.scenarios.len(), "§7", "7"),
        kind(["claim", "claims"], plan.claims.len(), "§1b", "1b"),
        kind(["hypothesis", "hypotheses"], plan.hypotheses.len(), "§4", "4"),
        kind(["technique", "techniques"], plan.techniques.len(), "§6", "6"),
        kind(["requirement", "requirements"], plan.environment.len(), "§6b", "6b"),
        kind(["missing claim", "missing claims"], plan.missing_claims.len(), "§1c", "1c"),
    ]
}

/// A number in prose agrees with what it counts.
pub(super) fn count_disagrees(context: &Context<'_>, out: &mut Told) {
    let kinds = kinds(context);
    for paragraph in paragraphs(context) {
        // Without such a word there is nothing to count.
        let text = context.slice(paragraph);
        if !["cenario", "laim", "ypothes", "echnique", "equirement"].iter().any(|word| text.contains(word)) {
            continue;
        }
        let passage = Passage::new(context.masked, paragraph);
        let section = section_at(context, paragraph.start);
        for (kind, number, range) in counted(&passage.text, &kinds, section) {
            if kind.count != number && kind.count > 0 {
                let span = passage.span(&range);
                let noun = kind.nouns[usize::from(kind.count != 1)];
                let written = &passage.text[range];
                let message = format!("`{written}`: {} has {} {noun}", kind.place, kind.count);
                out.push(report(
                    "count-disagrees",
                    span,
                    message,
                    "correct the number, or say which of them it counts",
                ));
                // One number a paragraph: the place of each costs a walk through it.
                break;
            }
        }
    }
}

/// Number of the section that an offset lies in.
fn section_at<'p>(context: &Context<'p>, at: usize) -> &'p str {
    let sections = &context.plan.sections;
    let before = sections.partition_point(|section| section.span.start <= at);
    before.checked_sub(1).map_or("", |i| sections[i].number.as_str())
}

/// Prose of the plan that may speak of the plan: no tables, no headings, no scenarios, no hypotheses.
fn paragraphs(context: &Context<'_>) -> Vec<Span> {
    let mut scenarios: Vec<Span> = context.plan.scenarios.iter().map(|s| s.span).collect();
    scenarios.sort_unstable();
    let end = context.masked.len();
    let mut found = Vec::new();
    let mut from = 0;
    for scenario in scenarios.into_iter().chain([Span::new(end, end)]) {
        if from < scenario.start {
            paragraphs_in(context, Span::new(from, scenario.start), &mut found);
        }
        from = from.max(scenario.end);
    }
    found
}

fn paragraphs_in(context: &Context<'_>, span: Span, found: &mut Vec<Span>) {
    let mut open: Option<Span> = None;
    let mut at = span.start;
    for line in context.slice(span).split_inclusive('\n') {
        let (start, text) = (at, line.trim());
        at += line.len();
        let bare = text.trim_start_matches(['-', '*', ' ']);
        let hypothesis = bare.strip_prefix('H').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if text.is_empty() || text.starts_with(['|', '#']) || hypothesis {
            found.extend(open.take());
            continue;
        }
        if text.starts_with(['-', '*', '+']) && text[1..].starts_with(' ') {
            found.extend(open.take());
        }
        let paragraph = open.get_or_insert(Span::new(start, start));
        paragraph.end = start + line.trim_end().len();
    }
    found.extend(open);
}

/// The counts of a paragraph in lower case: kind, number, and the place of number and noun.
fn counted<'k>(text: &str, kinds: &'k [Kind], section: &str) -> Vec<(&'k Kind, usize, std::ops::Range<usize>)> {
    let words = words(text);
    let mut found = Vec::new();
    for (i, (at, word)) in words.iter().enumerate() {
        let Some(number) = number(word) else { continue };
        let next = |n: usize| words.get(i + n).map_or("", |(_, word)| *word);
        let double = format!("{} {}", next(1), next(2));
        let hit = kinds.iter().find_map(|kind| {
            let one = kind.nouns.contains(&next(1)).then_some(1);
            let two = kind.nouns.contains(&double.as_str()).then_some(2);
            one.or(two).map(|width| (kind, width))
        });
        let Some((kind, width)) = hit else { continue };
        let (last, noun) = words[i + width];
        let end = last + noun.len();
        let behind = text[end..].trim_start();
        let before = text[..*at].trim_end();
        let ends = behind.is_empty() || behind.starts_with(['.', ';', '!', ',', ')']) || text[end..].starts_with(':');
        let whole = ends || WHOLE.iter().any(|phrase| behind.starts_with(phrase));
        // `40 claims × 35 hypotheses` counts all of both.
        let product = behind.starts_with(['×', 'x'])
            && words.iter().skip(i + width).take(4).any(|(_, word)| *word == "hypotheses")
            || before.ends_with('×');
        let starts = before.is_empty() || before.ends_with(['.', '!']);
        let led = LEADS
            .iter()
            .any(|lead| before.strip_suffix(lead).is_some_and(|head| !head.ends_with(char::is_alphanumeric)));
        let here = before.ends_with("the") && HERE.iter().any(|phrase| behind.starts_with(phrase));
        let opening = before.is_empty() && section == kind.section;
        if product
            || (led && whole)
            || here
            || (opening && whole)
            || (starts && ends && !behind.starts_with(',') && section == kind.section)
        {
            found.push((kind, number, *at..end));
        }
    }
    found
}

/// Words with their offsets: letters, digits and hyphens.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut start = None;
    for (i, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let part = c.is_alphanumeric() || c == '-' || c == '_' || c == '~';
        match (part, start) {
            (true, None) => start = Some(i),
            (false, Some(from)) => {
                out.push((from, &text[from..i]));
                start = None;
            }
            _ => {}
        }
    }
    out
}

/// `12`, `twelve`, `thirty-five`; up to a hundred in words.
fn number(word: &str) -> Option<usize> {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    if word.len() <= 6 && word.bytes().all(|b| b.is_ascii_digit()) {
        return word.parse().ok();
    }
    if word == "hundred" {
        return Some(100);
    }
    let small = |word: &str| SMALL.iter().position(|known| *known == word);
    let tens = |word: &str| TENS.iter().position(|known| *known == word).map(|i| (i + 2) * 10);
    match word.split_once('-') {
        Some((ten, one)) => Some(tens(ten)? + small(one).filter(|n| (1..10).contains(n))?),
        None => small(word).or(tens(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, section: &str) -> Vec<(usize, &'static str)> {
        let kind = |nouns, section| Kind { nouns, count: 0, place: "", section };
        let kinds = [
            kind(["scenario", "scenarios"], "7"),
            kind(["claim", "claims"], "1b"),
            kind(["hypothesis", "hypotheses"], "4"),
            kind(["missing claim", "missing claims"], "1c"),
        ];
        counted(text, &kinds, section).into_iter().map(|(kind, number, _)| (number, kind.nouns[1])).collect()
    }

    #[test]
    fn a_number_that_counts_the_whole_plan_is_seen_and_no_other() {
        let check =
            |text: &str, section: &str, expect: &[(usize, &str)]| assert_eq!(found(text, section), expect, "{text}");
        check("sixteen scenarios. each closes one or more rows.", "7", &[(16, "scenarios")]);
        check("this plan has 12 claims and more.", "0", &[]);
        check("this plan has 12 claims.", "0", &[(12, "claims")]);
        check("there are 40 claims × 35 hypotheses.", "5", &[(40, "claims"), (35, "hypotheses")]);
        check("all thirty-five hypotheses in this plan", "9", &[(35, "hypotheses")]);
        check("there are ten missing claims.", "1c", &[(10, "missing claims")]);
        check("seventeen scenarios in total", "7", &[(17, "scenarios")]);
        check("s3 depends on 3 scenarios of s1 style", "7", &[]);
        check("two scenarios that use a proxy come first.", "7", &[]);
        check("there are two scenarios for each claim", "7", &[]);
        check("the first two scenarios.", "7", &[]);
        check("three scenarios cover it.", "7d", &[]);
        check("it needs 5 claims.", "0", &[]);
        check("if the four scenarios pass, nothing was lost.", "7d", &[(4, "scenarios")]);
        check("if the two scenarios of s1 pass", "7d", &[]);
        check("the 4 scenarios below close all hypotheses", "9", &[(4, "scenarios")]);
        check("we run seven scenarios.", "7", &[(7, "scenarios")]);
        check("we run seven scenarios of that kind.", "7", &[]);
        check("we tested 5 scenarios.", "7d", &[(5, "scenarios")]);
        check("we tested two claims under cuts.", "7d", &[]);
        check("all scenarios", "7", &[]);
        check("~40 scenarios.", "7", &[]);
    }

    #[test]
    fn numbers_are_read_in_digits_and_in_words() {
        let check = |word: &str, expect: Option<usize>| assert_eq!(number(word), expect, "{word}");
        check("7", Some(7));
        check("nineteen", Some(19));
        check("forty-two", Some(42));
        check("ninety", Some(90));
        check("hundred", Some(100));
        check("forty-ten", None);
        check("several", None);
        check("2x", None);
    }
}
