//! The wording of claims: an access border is no transaction isolation.

use super::Context;
use super::passage::Passage;
use crate::plan::Category;
use crate::plan::rules::report;
use crate::plan::told::Told;
use std::ops::Range;

const BOUNDARY_WORDS: &[&str] = &[
    "tenan*",
    "authz",
    "authoriz*",
    "authoris*",
    "namespace*",
    "routing",
    "cross-account",
    "cross account",
    "multi-protocol",
    "permission*",
    "unauthori*",
    "access control*",
    "row-level security",
    "row level security",
    "another customer*",
    "another company*",
    "another user*",
    "another account*",
    "another workspace*",
    "another organi*",
    "other customer*",
    "other users",
    "api key*",
    "api-key*",
    "access token*",
    "bearer token*",
    "credential*",
    "another shop*",
    "another merchant*",
    "another project*",
    "another team*",
    "mandant*",
    "locataire*",
];

/// Parties that an access border stands between, when a claim tells two of them apart: `shop A`, `shop B's`.
const PARTIES: &[&str] = &[
    "shop",
    "customer",
    "company",
    "user",
    "account",
    "organisation",
    "organization",
    "org",
    "workspace",
    "merchant",
    "store",
    "seller",
    "team",
    "project",
    "school",
    "department",
    "realm",
    "site",
    "kunde",
];

/// The first party of a claim that names two of its kind by one letter or number each. Linear.
fn border(text: &str) -> Option<Range<usize>> {
    let mut at = 0;
    let words = text.split(|c: char| !c.is_alphanumeric()).map(|word| {
        let start = at;
        at += word.len() + text[start + word.len()..].chars().next().map_or(0, char::len_utf8);
        (start, word)
    });
    let words: Vec<(usize, &str)> = words.filter(|(_, word)| !word.is_empty()).collect();
    let mut first: Vec<(&str, &str)> = Vec::new();
    for pair in words.windows(2) {
        let ((start, party), (_, which)) = (pair[0], pair[1]);
        if !PARTIES.contains(&party) || which.len() != 1 {
            continue;
        }
        match first.iter().find(|(known, _)| *known == party) {
            Some((_, other)) if *other != which => return Some(start..start + party.len()),
            Some(_) => {}
            None => first.push((party, which)),
        }
    }
    None
}

/// Words of transaction isolation: a claim with one is about anomalies, whomever it names.
const ANOMALY_WORDS: &[&str] = &[
    "serializab*",
    "serialisab*",
    "snapshot isolation",
    "write skew",
    "dirty read*",
    "dirty write*",
    "phantom*",
    "read committed",
    "repeatable read*",
    "anomal*",
    "g0",
    "g1*",
    "g2*",
    "g-single",
];

/// An access border called `isolation` (format D12).
pub(super) fn boundary_wording(context: &Context<'_>, out: &mut Told) {
    for claim in &context.plan.claims {
        let isolation =
            claim.categories.contains(&Category::Isolation) && !claim.categories.contains(&Category::Boundary);
        if !isolation {
            continue;
        }
        let passage = Passage::new(context.masked, claim.text.span);
        let word = || passage.first(BOUNDARY_WORDS).map(|(_, at)| at).or_else(|| border(&passage.text));
        if let Some(at) = (!passage.has(ANOMALY_WORDS)).then(word).flatten() {
            let word = &passage.text[at.clone()];
            let message = format!(
                "{}: `{word}` speaks of an access border; `isolation` means transaction anomalies",
                claim.id.value
            );
            let help = "make its category `boundary` if that is meant";
            out.push(report("boundary-wording", passage.span(&at), message, help));
        }
    }
}
