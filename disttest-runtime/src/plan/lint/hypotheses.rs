//! Rules about hypotheses.

use super::passage::{Passage, may_be_english};
use super::{Context, enumerated};
use crate::plan::rules::report;
use crate::plan::told::Told;
use crate::plan::{Category, Hypothesis, Id};
use rustc_hash::FxHashSet;

/// A hypothesis names a claim.
pub(super) fn hypothesis_without_claim(context: &Context<'_>, out: &mut Told) {
    for hypothesis in context.plan.hypotheses.iter().filter(|h| h.claims.is_empty()) {
        let message = format!("{} names no claim that it could falsify", hypothesis.id.value);
        let help = "add `- Could falsify: C1`, or drop it, or move it to §1c";
        out.push(report("hypothesis-without-claim", hypothesis.id.span, message, help));
    }
}

/// A scenario closes each hypothesis.
pub(super) fn hypothesis_without_scenario(context: &Context<'_>, out: &mut Told) {
    let closed: FxHashSet<&Id> = context.plan.scenarios.iter().flat_map(|s| &s.closes).map(|id| &id.value).collect();
    for hypothesis in context.plan.hypotheses.iter().filter(|h| !closed.contains(&h.id.value)) {
        let id = &hypothesis.id.value;
        let message = format!("no scenario closes {id}");
        out.push(report(
            "hypothesis-without-scenario",
            hypothesis.id.span,
            message,
            format!("add `- **Closes:** {id}` to a scenario"),
        ));
    }
}

/// The classes that every plan must think of: name, words that speak of it, and categories of claims that do.
const CLASSES: &[(&str, &[&str], &[Category])] = &[
    (
        "correctness",
        &[
            "correct*",
            "lineariz*",
            "serializ*",
            "stale",
            "diverg*",
            "wrong",
            "corrupt*",
            "inconsisten*",
            "lost update*",
        ],
        &[Category::Safety, Category::Ordering, Category::Isolation, Category::Membership, Category::Boundary],
    ),
    ("durability", &["durab*", "fsync*", "lost write*", "lost", "persist*", "torn"], &[Category::Durability]),
    (
        "liveness",
        &[
            "liveness",
            "stall*",
            "starv*",
            "deadlock*",
            "livelock*",
            "availab*",
            "progress",
            "hang*",
            "stuck",
            "wedge*",
            "never elected",
        ],
        &[Category::Liveness],
    ),
    (
        "partial failure",
        &[
            "partial failure*",
            "partition*",
            "crash*",
            "kill*",
            "slow node*",
            "one-way",
            "isolated",
            "frozen",
            "failover",
            "unreachable",
            "cut off",
            "restart*",
            "timeout*",
            "dies",
        ],
        &[],
    ),
    (
        "idempotency/replay",
        &[
            "idempot*",
            "replay*",
            "retry*",
            "retries",
            "retried",
            "dedup*",
            "duplicate*",
            "twice",
            "exactly once",
            "exactly-once",
        ],
        &[Category::Idempotency],
    ),
    (
        "upgrade/rollback",
        &[
            "upgrad*",
            "rollback",
            "roll back",
            "rolling",
            "migrat*",
            "mixed-version",
            "mixed version*",
            "version skew",
            "schema*",
            "downgrad*",
        ],
        &[],
    ),
    ("configuration", &["config*", "misconfig*", "setting*", "flag*"], &[]),
    (
        "performance/fairness",
        &[
            "performance",
            "fairness",
            "latenc*",
            "throughput",
            "p99",
            "p95",
            "slow",
            "starv*",
            "noisy*",
            "overload*",
            "head-of-line",
        ],
        &[Category::PerformanceSlo, Category::Fairness],
    ),
];

/// The eight classes are covered, or ruled out in words.
pub(super) fn hypothesis_class_missing(context: &Context<'_>, out: &mut Told) {
    let Some((heading, body)) = context.section("4").filter(|_| !context.plan.hypotheses.is_empty()) else { return };
    let passage = Passage::new(context.masked, body);
    if !may_be_english(&prose_of(&context.plan.hypotheses)) {
        return;
    }
    let threatened: FxHashSet<Category> =
        context.plan.hypotheses.iter().flat_map(|h| &h.claims).flat_map(|id| context.categories(&id.value)).collect();
    let covered = |(_, words, categories): &&(&str, &[&str], &[Category])| {
        passage.has(words) || categories.iter().any(|category| threatened.contains(category))
    };
    let missing: Vec<&str> = CLASSES.iter().filter(|class| !covered(class)).map(|(name, ..)| *name).collect();
    if !missing.is_empty() {
        let message = format!("§4 neither covers nor rules out {}", missing.join(", "));
        let help = format!("add a hypothesis, or write `{}: N/A — <why>`", missing[0]);
        out.push(report("hypothesis-class-missing", heading, message, help));
    }
}

/// What the hypotheses say, in lower case, without labels.
fn prose_of(hypotheses: &[Hypothesis]) -> String {
    let parts =
        hypotheses.iter().flat_map(|h| [h.title.as_str(), h.text.as_str(), h.suspected.as_deref().unwrap_or_default()]);
    parts.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// One note for all hypotheses that lack something.
fn tell(rule: &'static str, lacking: &[&Hypothesis], what: &str, help: &str, out: &mut Told) {
    let Some(first) = lacking.first() else { return };
    let ids: Vec<&Id> = lacking.iter().map(|h| &h.id.value).collect();
    let (verb, ids) = (if ids.len() == 1 { "does" } else { "do" }, enumerated(&ids));
    out.push(report(rule, first.id.span, format!("{ids} {verb} not say {what}"), help));
}

/// Why a hypothesis is suspected.
pub(super) fn hypothesis_unreasoned(context: &Context<'_>, out: &mut Told) {
    let english = may_be_english(&prose_of(&context.plan.hypotheses));
    let says = |h: &Hypothesis| {
        let inline = h.text.to_lowercase();
        if !english && !inline.is_empty() {
            return true;
        }
        h.suspected.is_some() || ["suspected", "because", "pitfall", "since "].iter().any(|word| inline.contains(word))
    };
    let lacking: Vec<&Hypothesis> = context.plan.hypotheses.iter().filter(|h| !says(h)).collect();
    let help = "add `- Suspected because: <a code path, an earlier bug, a paper>`";
    tell("hypothesis-unreasoned", &lacking, "why it is suspected", help, out);
}

/// A project's hypotheses are grouped by subsystem.
pub(super) fn hypothesis_without_subsystem(context: &Context<'_>, out: &mut Told) {
    if !context.wide() {
        return;
    }
    let lacking: Vec<&Hypothesis> = context.plan.hypotheses.iter().filter(|h| h.subsystem.is_none()).collect();
    let help = "stand them under `### <subsystem>` headings, or add `- Subsystem: …`";
    tell("hypothesis-without-subsystem", &lacking, "which subsystem they are about", help, out);
}
