//! Rules about the confidence statement (§7d): what it may say, and what it must not leave out.

use super::passage::{Passage, clause_after, clause_before, denies};
use super::{Context, enumerated, is_unfilled};
use crate::base::diagnostic::Span;
use crate::base::nearest::{distance, nearest};
use crate::plan::Category;
use crate::plan::Id;
use crate::plan::model::{Field, Scenario};
use crate::plan::parse::ids_in;
use crate::plan::rules::report;
use crate::plan::told::Told;
use std::collections::{BTreeMap, HashSet};

/// The prose of §7d in front of its table, if there is any.
fn statement<'p>(context: &Context<'p>) -> Option<Passage<'p>> {
    let statement = &context.plan.confidence.statement;
    (!statement.value.is_empty()).then(|| Passage::new(context.masked, statement.span))
}

/// The first paragraph of §7d.
fn leading(context: &Context<'_>) -> Option<Span> {
    let span = Some(context.plan.confidence.statement.span).filter(|span| span.end > span.start)?;
    let text = context.slice(span);
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() && end > 0 {
            break;
        }
        end += line.len();
    }
    Some(Span::new(span.start, span.start + text[..end].trim_end().len()))
}

/// Sentences of a text on one line in lower case.
fn sentences(text: &str) -> usize {
    const SHORT: &[&str] = &["e.g", "i.e", "vs", "cf", "approx", "resp", "no", "fig", "sec", "incl"];
    let mut count = 0;
    let mut from = 0;
    for (i, c) in text.char_indices().filter(|(_, c)| ".!?".contains(*c)) {
        let behind = &text[i + c.len_utf8()..];
        let closed = behind.trim_start_matches(['"', '\'', ')', '”', '’', '_']);
        let word = text[from..i].rsplit(' ').next().unwrap_or("").trim_start_matches(['(', '"']);
        let listed = !word.is_empty()
            && word.bytes().all(|b| b.is_ascii_digit())
            && word.len() < 3
            && text[from..i].trim().len() < 3;
        if (closed.is_empty() || closed.starts_with(' ')) && !SHORT.contains(&word) && !listed {
            count += usize::from(text[from..i].chars().any(char::is_alphanumeric));
            from = i + c.len_utf8();
        }
    }
    count + usize::from(text[from..].chars().any(char::is_alphanumeric))
}

/// 4 to 8 sentences in front.
pub(super) fn confidence_length(context: &Context<'_>, out: &mut Told) {
    let Some(span) = leading(context) else { return };
    let count = sentences(&Passage::new(context.masked, span).text);
    if !(4..=8).contains(&count) {
        let noun = if count == 1 { "sentence" } else { "sentences" };
        let message = format!("the leading paragraph of §7d has {count} {noun}, not 4 to 8");
        let help =
            "say what was looked for and not seen, under which threats, on what evidence, and what is not covered";
        out.push(report("confidence-length", span, message, help));
    }
}

/// Wording that no finite test can bear.
const ABSOLUTE: &[&str] = &[
    "cannot happen*",
    "can not happen*",
    "can't happen*",
    "cannot occur*",
    "cannot be lost",
    "cannot lose*",
    "cannot fail*",
    "cannot diverge*",
    "cannot be violated",
    "cannot leak*",
    "cannot break*",
    "cannot go wrong",
    "can never",
    "could never",
    "will never",
    "would never",
    "is never",
    "are never",
    "never loses",
    "never lose",
    "never lost",
    "never happens",
    "never happen",
    "never occur*",
    "never fails",
    "never violated",
    "never returns",
    "never diverge*",
    "impossible",
    "is guaranteed",
    "are guaranteed",
    "guaranteed to",
    "guarantees that",
    "guarantee that",
    "we guarantee",
    "proves that",
    "prove that",
    "proves the",
    "proven correct",
    "proven safe",
    "proof that",
    "bug-free",
    "bug free",
    "free of bugs",
    "no bugs",
    "100%",
    "without doubt",
    "beyond doubt",
    "cannot be seen",
    "cannot be lost",
    "cannot be read by",
    "can be seen by nobody",
    "absolutely",
    "definitely",
    "certainly",
    "always holds",
    "will always",
    "under any circumstances",
    "under all circumstances",
    "no matter what",
    "fully correct",
    "completely safe",
    "completely correct",
    "perfectly safe",
    "ruled out",
    "rules out",
    "it is proven",
    "is proven to",
    "under all conditions",
    "in all conditions",
    "there is no way",
    "will not happen*",
    "won't happen*",
    "holds in every case",
    "hold in every case",
    "holds in all cases",
    "hold in all cases",
];

/// Words that turn a sentence into a report of what was seen.
const HEDGES: &[&str] = &[
    "not observed",
    "have observed",
    "was observed",
    "were observed",
    "observed no",
    "under the tested",
    "tested threats",
    "in these runs",
    "in the runs",
    "in all runs",
    "in every run",
    "during the runs",
    "the claim that",
    "claims that",
    "should not believe",
    "not read",
];

/// The sentence around a place, or what of it is near: that bounds the work on hostile texts.
fn sentence_around(text: &str, at: usize) -> &str {
    const NEAR: usize = 400;
    let (mut first, mut last) = (at.saturating_sub(NEAR), at.saturating_add(NEAR).min(text.len()));
    while !text.is_char_boundary(first) {
        first += 1;
    }
    while !text.is_char_boundary(last) {
        last -= 1;
    }
    let from = text[first..at].rfind(". ").map_or(first, |i| first + i + 2);
    let to = text[at..last].find(". ").map_or(last, |i| at + i);
    &text[from..to]
}

/// `X cannot happen`.
pub(super) fn absolute_wording(context: &Context<'_>, out: &mut Told) {
    let Some(passage) = statement(context) else { return };
    let text = passage.text.as_str();
    // The first place of each wording: a statement is short, and a hostile one must not cost more.
    let mut hits: Vec<_> = ABSOLUTE
        .iter()
        .filter_map(|phrase| super::passage::places(text, phrase).take(16).find(|at| is_absolute(text, at)))
        .collect();
    hits.extend(nothing_can(text));
    hits.sort_by_key(|at| at.start);
    hits.dedup_by(|b, a| b.start < a.end);
    for at in hits {
        let words = &text[at.clone()];
        let message = format!("`{words}` is more than tests can show");
        let help = "say what was seen: `we have not observed … under the tested threats`";
        out.push(report("absolute-wording", passage.span(&at), message, help));
    }
}

/// `no write can` and what stands in its place.
fn nothing_can(text: &str) -> Option<std::ops::Range<usize>> {
    let subject = |at: &std::ops::Range<usize>| {
        let before = text[..at.start].trim_end();
        let start = before.rfind("no ").filter(|i| *i == 0 || before[..*i].ends_with([' ', '(']))?;
        let words = before[start + 3..].split(' ').count();
        (words <= 3 && !before[start..].contains(['.', ',', ';', ':'])).then_some(start..at.end)
    };
    super::passage::places(text, "can").take(16).filter_map(|at| subject(&at)).find(|at| {
        let around = sentence_around(text, at.start);
        is_absolute(text, at) && !["fault", "land", "nemes", "inject"].iter().any(|word| around.contains(word))
    })
}

fn is_absolute(text: &str, at: &std::ops::Range<usize>) -> bool {
    let before = clause_before(text, at.start);
    let after = clause_after(text, at.end);
    // Evidence may well prove that a fault acted.
    let landing = text[at.clone()].starts_with("pro")
        && ["fault", "land", "nemes", "inject"].iter().any(|word| after.contains(word));
    let quoted = before.ends_with(['"', '“']);
    let hedged =
        HEDGES.iter().any(|hedge| super::passage::places(sentence_around(text, at.start), hedge).next().is_some());
    !denies(before) && !landing && !quoted && !hedged
}

/// What a reviewer should not believe.
pub(super) fn confidence_disbelief(context: &Context<'_>, out: &mut Told) {
    const SAID: &[&str] = &[
        "§7c",
        "§8",
        "section 7c",
        "section 8",
        "not believe",
        "should not",
        "shouldn't",
        "do not read",
        "don't read",
        "not to be read",
        "does not show",
        "do not show",
        "does not validate",
        "does not cover",
        "do not cover",
        "does not certify",
        "does not establish",
        "does not say",
        "says nothing",
        "say nothing",
        "does not speak",
        "does not prove",
        "does not mean",
        "nothing about",
        "nothing on",
        "not covered",
        "untested",
        "not tested",
        "unverified",
        "not verified",
        "not validated",
        "no evidence",
        "leaves open",
        "remains open",
        "stays open",
        "out of scope",
        "not looked at",
        "was not tested",
        "were not tested",
        "remain untested",
        "no claim about",
        "outside",
    ];
    let Some(passage) = statement(context) else { return };
    if !passage.has(SAID) {
        let span = leading(context).unwrap_or(context.plan.confidence.statement.span);
        let message = "§7d does not say what a reviewer should not believe";
        let help = "add `The reviewer should not believe that this covers …`, from §7c and §8";
        out.push(report("confidence-disbelief", span, message, help));
    }
}

/// What confidence in a serious scenario rests on.
pub(super) fn confidence_chain(context: &Context<'_>, out: &mut Told) {
    const CHAIN: &[&str] = &[
        "checker*",
        "histor*",
        "oracle*",
        "landing",
        "landed",
        "nemes*",
        "evidence",
        "lineariz*",
        "serializ*",
        "elle",
        "knossos",
        "porcupine",
        "counter*",
        "recorded",
    ];
    let Some(passage) = statement(context).filter(|_| context.cases.iter().any(|case| case.serious)) else { return };
    if !passage.has(CHAIN) {
        let span = leading(context).unwrap_or(context.plan.confidence.statement.span);
        let message = "§7d does not say on what its confidence in the serious scenarios rests";
        let help = "name the chain: which checker judged which history, under which nemesis, landed by which evidence";
        out.push(report("confidence-chain", span, message, help));
    }
}

/// Scenarios of a boundary or fairness claim.
fn gated<'c, 'p>(context: &'c Context<'p>) -> impl Iterator<Item = &'p Scenario> + use<'c, 'p> {
    context.plan.scenarios.iter().filter(|s| context.falsifies(s, Category::gates_surfaces))
}

fn arms_field(scenario: &Scenario) -> Option<&Field> {
    scenario.surfaces.iter().flatten().find(|f| f.label == "Scenario arms")
}

/// Words of an arm that is not expected to run, or to run in part only.
fn is_left_out(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["not-run", "not run", "partial-surface", "partial surface", "partial-", "`partial`"]
        .iter()
        .any(|word| lower.contains(word))
}

/// The arms of a scenario that the plan expects not to run, or in part only, and where it says so.
fn left_out(context: &Context<'_>, scenario: &Scenario) -> Vec<(Id, Span)> {
    let mut found: BTreeMap<Id, Span> = BTreeMap::new();
    if let Some(list) = arms_field(scenario) {
        let span = list.value.span;
        let arms: Vec<(Id, Span)> = context.ids(span).filter(|(id, _)| id.arm().is_some()).collect();
        for (i, (id, place)) in arms.iter().enumerate() {
            let end = arms.get(i + 1).map_or(span.end, |(_, next)| next.start);
            if is_left_out(context.slice(Span::new(place.end, end))) {
                found.entry(id.clone()).or_insert(*place);
            }
        }
    }
    for arm in &scenario.arms {
        let block = arm.model_block.iter().flat_map(|b| &b.other);
        let said = arm.fields.iter().chain(block).any(|f| is_left_out(&f.value.value));
        if said || arm.name.as_deref().is_some_and(is_left_out) {
            found.entry(arm.id.value.clone()).or_insert(arm.id.span);
        }
    }
    found.into_iter().collect()
}

/// A surface that stays untested is named where the confidence is stated.
pub(super) fn undisclosed_surface(context: &Context<'_>, out: &mut Told) {
    let Some((_, body)) = context.section("7d") else { return };
    let text = Passage::new(context.masked, body).text;
    let words: HashSet<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    let named = |id: &Id| {
        let slug = id.arm().unwrap_or("").to_lowercase();
        slug.split(['-', '_']).filter(|word| !word.is_empty()).all(|word| words.contains(word))
    };
    for scenario in gated(context) {
        for (id, span) in left_out(context, scenario) {
            if !named(&id) {
                let message = format!("{id} is not expected to run in full, and §7d does not say so");
                let help = format!("name the surface in §7d: `{} stays untested`", id.arm().unwrap_or("it"));
                out.push(report("undisclosed-surface", span, message, help));
            }
        }
    }
}

/// Several arms, several confidences.
pub(super) fn missing_aspects(context: &Context<'_>, out: &mut Told) {
    let Some((heading, body)) = context.section("7d").filter(|_| context.plan.confidence.aspects.is_empty()) else {
        return;
    };
    if Passage::new(context.masked, body).has(&["all aspects rated"]) {
        return;
    }
    let several = |scenario: &&Scenario| {
        let listed = arms_field(scenario)
            .map_or(0, |f| ids_in(&f.value.value, 'S').iter().filter(|id| id.arm().is_some()).count());
        scenario.arms.len().max(listed) > 1
    };
    let ids: Vec<&Id> = gated(context).filter(several).map(|s| &s.id.value).collect();
    if !ids.is_empty() {
        let message = format!(
            "§7d has no per-aspect table, and a boundary or fairness claim has several arms ({})",
            enumerated(&ids)
        );
        let help = "add `| Claim | Aspect | Confidence | Reason |` with a row an arm, or the sentence ``All aspects rated `high`.``";
        out.push(report("missing-aspects", heading, message, help));
    }
}

const CONFIDENCES: [&str; 3] = ["high", "moderate", "low"];

/// The words of the per-aspect table.
pub(super) fn confidence_word(context: &Context<'_>, out: &mut Told) {
    for row in
        context.plan.confidence.aspects.iter().filter(|row| row.cells.iter().any(|(name, _)| name == "Confidence"))
    {
        let cell = row.cell("Confidence");
        let word = cell.replace(['*', '`'], "").trim().to_lowercase();
        let head = word.split([' ', '(', ',', ';']).next().unwrap_or("");
        if CONFIDENCES.contains(&head) {
            continue;
        }
        let meant = match head {
            "medium" | "mid" | "middling" | "fair" | "average" => Some("moderate"),
            _ => nearest(head, CONFIDENCES),
        };
        let message = if word.is_empty() {
            "no confidence is given".to_owned()
        } else {
            format!("`{cell}` is no confidence of the format")
        };
        let help = meant.map_or("write high, moderate or low".to_owned(), |meant| {
            format!("did you mean `{meant}`? The words are high, moderate and low")
        });
        let span = context.cell(row, "Confidence");
        let told = report("confidence-word", span, message, help);
        let typo = meant.filter(|meant| head == word && distance(head, meant) <= 2 && head.len() > 3);
        out.push(match typo.and_then(|meant| Some((context.word(span, cell.trim_matches(['*', '`', ' ']))?, meant))) {
            Some((place, meant)) => told.with_edit(place, meant),
            None => told,
        });
    }
}

/// The reason of a row.
pub(super) fn aspect_without_reason(context: &Context<'_>, out: &mut Told) {
    for row in context.plan.confidence.aspects.iter().filter(|row| is_unfilled(row.cell("Reason"))) {
        let aspect = [row.cell("Claim"), row.cell("Aspect")].join(" ");
        let message = format!("no reason is given for the confidence in `{}`", aspect.trim());
        out.push(report("aspect-without-reason", row.span, message, "cite the scenario that showed it, or the gap"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_counted() {
        let check = |text: &str, expect: usize| assert_eq!(sentences(text), expect, "{text}");
        check("one. two. three (§7c). four", 4);
        check("if p99.9 is high, e.g. at 3.5 s, it fails. so be it.", 2);
        check("", 0);
        check("it holds (s1, s2). (a) is not tested, see §8!", 2);
    }

    #[test]
    fn absolute_words_alarm_and_careful_ones_do_not() {
        let check = |text: &str, expect: bool| {
            let any = ABSOLUTE
                .iter()
                .flat_map(|phrase| super::super::passage::places(text, phrase))
                .any(|at| is_absolute(text, &at));
            assert_eq!(any, expect, "{text}");
        };
        check("a lost write cannot happen", true);
        check("an acknowledged write is never lost.", true);
        check("durability is guaranteed", true);
        check("the run proves that the log is safe", true);
        check("stale reads are impossible", true);
        check("we have not observed a lost write under the tested threats", false);
        check("we have not observed that a read is never stale", false);
        check("this does not prove that it cannot happen", false);
        check("nothing here is guaranteed", false);
        check("do not take this to say that data loss is impossible", false);
        check("a counter proves that the fault landed", false);
        check("the claim that an acknowledged write is never lost held in all runs", false);
        check("the checker cannot detect slow reads", false);
        check("it honours its guarantees as far as s1 shows", false);
    }
}
