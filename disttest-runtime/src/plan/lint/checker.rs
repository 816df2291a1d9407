//! Rules about checkers: that they fit, and that they are said to check one thing.

use super::Context;
use super::context::Part;
use super::passage::{Passage, has};
use crate::base::diagnostic::Spanned;
use crate::plan::names::{Fit, checker_mentions, fit};
use crate::plan::rules::report;
use crate::plan::told::Told;
use crate::plan::{Category, Id};
use std::collections::HashMap;

/// The picker of format §7.
pub(super) fn checker_misfit(context: &Context<'_>, out: &mut Told) {
    for owner in &context.cases {
        let Some(field) = owner.model_block().and_then(|b| b.checker.as_ref()) else { continue };
        let resolved = &owner.resolved;
        let checkers: Vec<&str> = resolved.checkers.iter().map(|(id, _)| id.as_str()).collect();
        let Some(model) = resolved.model.as_deref().filter(|_| !checkers.is_empty()) else { continue };
        let certain = |id: &Spanned<Id>| context.claim(&id.value).filter(|c| c.unknown_categories.is_empty());
        let mut categories: Vec<Category> =
            owner.scenario.falsifies.iter().filter_map(certain).flat_map(|c| c.categories.clone()).collect();
        categories.sort();
        categories.dedup();
        // What the field itself names fits nothing that is claimed, whatever else the oracle names.
        let mut own: Vec<&str> = checker_mentions(&field.value).iter().filter(|m| m.affirmed).map(|m| m.id).collect();
        own.dedup();
        let wanted = |category: &Category| match fit(model, *category, &own) {
            Fit::Misfit(wanted) => Some(wanted),
            Fit::Fits | Fit::Far => None,
        };
        let all: Option<Vec<Vec<&str>>> = categories.iter().map(wanted).collect();
        if let (false, Some(wanted)) = (own.is_empty(), all.and_then(|all| all.into_iter().next())) {
            let message = format!(
                "{}: the checker {} fits no claim that the scenario falsifies on a {model}",
                owner.id.value,
                own.join(", ")
            );
            let help = format!("the picker recommends {}", wanted.join(" or "));
            out.push(report("checker-misfit", field.span, message, help));
            continue;
        }
        for category in categories {
            let named = checkers.join(", ");
            match fit(model, category, &checkers) {
                Fit::Fits => {}
                Fit::Misfit(wanted) => {
                    let message = format!("{}: {named} does not fit a {category} claim on a {model}", owner.id.value);
                    let help = format!("the picker recommends {}", wanted.join(" or "));
                    out.push(report("checker-misfit", field.span, message, help));
                }
                // The written reason that the format asks for where the picker has no row.
                Fit::Far
                    if owner
                        .passage(Part::Checker)
                        .is_some_and(|p| p.has(&["because", "since", "reason*", "suffices", "closest"])) => {}
                Fit::Far => {
                    let message =
                        format!("{}: the picker has no row near {named} for {model} and {category}", owner.id.value);
                    out.push(report(
                        "checker-far",
                        field.span,
                        message,
                        "say in one sentence why this checker is right",
                    ));
                }
            }
        }
    }
}

/// How far a text says that a checker looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    PerKey,
    Whole,
}

/// Words for a check of all keys together.
const WHOLE: &[&str] = &[
    "across keys",
    "across all keys",
    "cross-key",
    "multi-key",
    "over all keys together",
    "of the whole store",
    "whole-store",
    "globally",
];

fn says_whole(passage: &Passage<'_>) -> bool {
    // What it cannot detect is nothing that it checks.
    passage.has(WHOLE) && has(passage.text.split("cannot detect").next().unwrap_or(""), WHOLE)
}

/// The checkers of a text whose reach it names.
fn reaches(text: &str) -> HashMap<&'static str, Reach> {
    const PER_KEY: &[&str] = &[
        "per key",
        "per-key",
        "per_key",
        "for each key",
        "of each key",
        "of every key",
        "on each key",
        "each key alone",
    ];
    let all = checker_mentions(text);
    let lower = text.to_ascii_lowercase().replace('\n', " ");
    let mut found = HashMap::new();
    for (i, mention) in all.iter().enumerate().filter(|(_, mention)| mention.affirmed) {
        let next = all.get(i + 1).map_or(lower.len(), |m| m.at.start);
        let from = i.checked_sub(1).map_or(0, |before| all[before].at.end);
        let behind = lower[mention.at.end..next].split([';', '.', ',']).next().unwrap_or("");
        let before = lower[from..mention.at.start].rsplit([';', '.', ',']).next().unwrap_or("");
        let says = |words: &[&str]| has(before, words) || has(behind, words);
        match (says(PER_KEY), says(WHOLE)) {
            (true, false) => found.insert(mention.id, Reach::PerKey),
            (false, true) => found.insert(mention.id, Reach::Whole),
            _ => None,
        };
    }
    found
}

/// One checker, two reaches: the run would follow the weaker.
pub(super) fn checker_scope_conflict(context: &Context<'_>, out: &mut Told) {
    for case in &context.cases {
        let Some((checker, oracle)) = case.part(Part::Checker).zip(case.oracle()) else { continue };
        // Hardly any plan says more than `per key`: the rest is read where it does.
        if ![Part::Checker, Part::Oracle].into_iter().filter_map(|part| case.passage(part)).any(says_whole) {
            continue;
        }
        let (named, wanted) = (reaches(&checker.value), reaches(&oracle.value));
        let mut odd: Vec<&str> = named
            .iter()
            .filter(|(id, reach)| wanted.get(*id).is_some_and(|other| other != *reach))
            .map(|(id, _)| *id)
            .collect();
        odd.sort_unstable();
        for id in odd {
            let (here, there) = match named[id] {
                Reach::PerKey => ("per key", "across keys"),
                Reach::Whole => ("across keys", "per key"),
            };
            let message = format!("{}: `Checker` runs {id} {here}, `Oracle` {there}", case.id.value);
            out.push(report("checker-scope-conflict", checker.span, message, "say the same in both fields"));
        }
    }
}

/// A check of idempotency has a key to check by (format D8).
pub(super) fn idempotency_key_missing(context: &Context<'_>, out: &mut Told) {
    const KEYS: &[&str] = &[
        "idempotency key*",
        "idempotency-key*",
        "idempotency id*",
        "business key*",
        "request id*",
        "request-id*",
        "request_id*",
        "req_id*",
        "reqid*",
        "dedup key*",
        "dedup-key*",
        "dedup id*",
        "client token*",
        "order number*",
        "order id*",
        "order_id*",
        "keyed by",
        "keyed on",
        "message id*",
        "message_id*",
        "transaction id*",
        "txn id*",
        "txn_id*",
        "unique id*",
        "unique token*",
        "unique tag*",
        "tag*",
        "sequence number*",
        "per index",
        "index*",
        "token*",
        "nonce*",
        "keys in input",
        "key in input",
        "in `input`",
        "in input",
        "by the key",
        "invoice*",
        "payment id*",
        "op_id",
        "op id*",
    ];
    for case in &context.cases {
        let by_id = case.resolved.checkers.iter().any(|(id, _)| id == "exactly-once");
        if !by_id || !context.falsifies(case.scenario, |c| c == Category::Idempotency) {
            continue;
        }
        let block = case.model_block().into_iter();
        let fields = block
            .flat_map(|b| [&b.history, &b.checker, &b.ambiguous].into_iter().flatten())
            .chain(case.oracle())
            .chain(case.field("Workload"));
        let named = fields.into_iter().any(|field| {
            let passage = Passage::new(context.masked, field.span);
            passage.has(KEYS) || names_a_key(&passage.text)
        });
        if !named {
            let message = format!("{}: exactly once by which key? None is named", case.id.value);
            let span = case.model_block().and_then(|b| b.checker.as_ref()).map_or(case.id.span, |field| field.span);
            let help = "name the client's business key in `input`: `exactly-once keyed by the order number`";
            out.push(report("idempotency-key-missing", span, message, help));
        }
    }
}

/// True for `tick key`, `transfer_ref`, `parcel number`: a key of the business, in whatever words.
fn names_a_key(text: &str) -> bool {
    const ENDS: &[&str] = &["key", "ref", "reference", "number", "token", "uuid", "id"];
    const PLAIN: &[&str] = &[
        "per", "each", "every", "the", "a", "an", "one", "same", "this", "that", "any", "of", "by", "on", "hot",
        "cold", "single", "process", "op", "node", "run", "and", "or", "default", "whole", "for", "no", "its", "their",
    ];
    let words: Vec<&str> = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let joined =
        |word: &str| word.rsplit_once('_').is_some_and(|(head, end)| ENDS.contains(&end) && !PLAIN.contains(&head));
    let apart = |pair: &[&str]| ENDS.contains(&pair[1]) && pair[0].len() > 1 && !PLAIN.contains(&pair[0]);
    words.iter().any(|word| joined(word)) || words.windows(2).any(apart)
}

/// Words that may stand between `key` and `op_id` when the one is said to be the other.
const LINKS: &[&str] = &[
    "is",
    "=",
    "==",
    ":",
    "on",
    "by",
    "the",
    "equals",
    "being",
    "as",
    "its",
    "per",
    "of",
    "their",
    "via",
    "over",
    "with",
    "recorder's",
];

/// Links by which effects are counted.
const COUNTING: &[&str] = &["per", "by", "on", "over"];
/// How words begin that name what must not happen twice.
const EFFECTS: &[&str] = &["effect", "once", "appl", "commit", "charge", "execut", "duplicate"];

/// The idempotency key is not op_id (format D8).
pub(super) fn idempotency_key_is_op_id(context: &Context<'_>, out: &mut Told) {
    for owner in &context.cases {
        let gated = context.falsifies(owner.scenario, |c| c == Category::Idempotency);
        let once = gated || owner.resolved.checkers.iter().any(|(id, _)| id == "exactly-once");
        let block = owner.model_block();
        let fields =
            block.into_iter().flat_map(|b| [&b.history, &b.checker].into_iter().flatten()).chain(owner.oracle());
        let says = |text: &str| once || text.to_ascii_lowercase().contains("idempotency key");
        for field in fields.filter(|f| says(&f.value) && keys_on_op_id(&f.value)) {
            let message = format!("{}: an idempotency check keyed on op_id is trivially true", owner.id.value);
            let help = "key it on the client's business key in `input`, such as an order number";
            out.push(report("idempotency-key-is-op-id", field.span, message, help));
        }
    }
}

/// True if the text says that a key is op_id: `keyed by op_id`, `key = op_id`, `dedup on op id`, `op_id as the key`.
fn keys_on_op_id(text: &str) -> bool {
    let flat = text.to_lowercase().replace(['`', '*'], "").replace("op id", "op_id").replace("op-id", "op_id");
    let spaced = ["=", ":", ",", ";", ".", "(", ")"].iter().fold(flat, |t, mark| t.replace(mark, &format!(" {mark} ")));
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let keyed = |word: &str| ["key", "dedup", "group"].iter().any(|head| word.starts_with(head));
    let effect = |word: &str| EFFECTS.iter().any(|effect| word.starts_with(effect));
    words.iter().enumerate().filter(|(_, w)| **w == "op_id").any(|(i, _)| {
        let before = words[..i].iter().rev().find(|w| !LINKS.contains(w));
        let linked = i > 0 && LINKS.contains(&words[i - 1]);
        let checker = before.is_some_and(|w| keyed(w) || *w == "checker" || *w == "exactly-once");
        let after: Vec<&&str> = words[i + 1..].iter().take(5).collect();
        let as_key = after.first().is_some_and(|w| **w == "as") && after.iter().any(|w| keyed(w));
        // `at most one effect per op_id`: whatever is counted by op_id happens once.
        let counted = linked && COUNTING.contains(&words[i - 1]) && before.is_some_and(|w| effect(w));
        let each =
            i > 0 && ["each", "every"].contains(&words[i - 1]) && words[i + 1..].iter().take(8).any(|w| effect(w));
        (linked && checker) || as_key || counted || each
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reach_of_a_checker_is_read_where_it_is_said() {
        let check = |text: &str, expect: Option<Reach>| {
            assert_eq!(reaches(text).get("linearizability").copied(), expect, "{text}");
        };
        check("`linearizability` per key, and `no-lost-ack`", Some(Reach::PerKey));
        check("the history of every key is linearizable", Some(Reach::PerKey));
        check("linearizability across keys", Some(Reach::Whole));
        check("linearizability per key and across keys", None);
        check("linearizability", None);
        check("linearizability; serializability across keys", None);
    }

    #[test]
    fn a_key_of_the_business_is_known_by_its_form() {
        let check = |text: &str, expect: bool| assert_eq!(names_a_key(text), expect, "{text}");
        check("at most one effect per transfer_ref", true);
        check("count of starts by tick key", true);
        check("the parcel number", true);
        check("per key, with process_id and op_id", false);
        check("one effect per key of the map", false);
        check("a number of effects", false);
    }

    #[test]
    fn a_key_that_is_op_id_is_seen_and_a_denial_is_not() {
        let check = |text: &str, expect: bool| assert_eq!(keys_on_op_id(text), expect, "{text}");
        check("exactly-once, keyed by `op_id`", true);
        check("idempotency key = op_id", true);
        check("business key: op_id", true);
        check("exactly-once dedup checker on op id", true);
        check("op_id as the idempotency key", true);
        check("exactly-once over the op_id", true);
        check("exactly-once dedup keyed with the op id", true);
        check("exactly-once grouped by op_id", true);
        check("exactly-once (dedup key is the recorder's op_id)", true);
        check("exactly-once on the order number; op_id only names the attempt", false);
        check("at most one effect per op_id", true);
        check("each op_id has at most one effect", true);
        check("applied exactly once per `op_id`", true);
        check("one record per op_id in the history; one effect per order number", false);
        check("the effects are sorted by invoke_ts, then by op_id", false);
        check("exactly-once keyed by the order number, never op_id", false);
        check("key is not op_id", false);
        check("default schema: op_id, process_id, key", false);
        check("key, op_id and the rest", false);
    }
}
