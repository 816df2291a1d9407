//! Rules about the history of operations that a scenario records, and about outcomes that are not known.

use super::Context;
use super::context::{Case, Part};
use super::passage::{Passage, clause_before, denies};
use crate::plan::rules::report;
use crate::plan::told::Told;
use std::ops::Range;

/// A field of the history, and the words that name it.
type Needed = (&'static str, &'static [&'static str]);

const KEY: Needed = ("key", &["key*", "account*", "register*"]);
const NODE: Needed = ("node_seen", &["node*", "replica*", "server*", "peer*", "broker*"]);
const PROCESS: Needed = ("process_id", &["process*", "client*", "session*", "worker*", "holder*", "owner*"]);
const KIND: Needed = (
    "op_type",
    &[
        "op_type",
        "op type*",
        "operation*",
        "type*",
        "event*",
        "fn",
        "enqueue*",
        "dequeue*",
        "acquire*",
        "release*",
        "append*",
        "inc*",
        "read*",
        "join*",
        "credit*",
    ],
);
const OUTPUT: Needed =
    ("output", &["output*", "result*", "return*", "value*", "response*", "post*", "state*", "hash*"]);
const INPUT: Needed = ("input", &["input*", "delta*", "argument*", "payload*", "value*", "idempotency*", "amount*"]);
const EPOCH: Needed = ("fault_epoch", &["fault_epoch", "fault epoch*", "fault window*", "epoch*"]);
const INVOKE: Needed = ("invoke_ts", &["invoke*", "timestamp*", "time*", "ts", "when*"]);

/// Fields that a model needs beside what every history has (format §3).
fn needed(model: &str) -> &'static [Needed] {
    match model {
        "register" => &[NODE],
        "map" => &[KEY, NODE],
        "queue" | "log" => &[KIND, OUTPUT],
        "lock" => &[KIND, PROCESS, EPOCH],
        "lease" => &[KIND, INVOKE],
        "session" => &[PROCESS, OUTPUT],
        "membership-table" => &[KIND, NODE],
        "counter" => &[INPUT, OUTPUT],
        "ledger" => &[KEY, INPUT],
        _ => &[],
    }
}

/// Words for a history that has every field.
const WHOLE: &[&str] = &[
    "default",
    "defaults",
    "all fields",
    "every field",
    "standard schema",
    "full schema",
    "11-field",
    "12-field",
    "11 fields",
    "12 fields",
    "all 11",
    "all 12",
    "eleven",
    "twelve",
    "as in s*",
    "as s*",
    "same as s*",
    "as above",
    "see s*",
];

fn history<'c, 'p>(context: &'c Context<'p>) -> impl Iterator<Item = (&'c Case<'p>, &'c Passage<'p>)> {
    context.cases.iter().filter_map(|case| Some((case, case.passage(Part::History)?)))
}

/// The fields that the model needs are recorded.
pub(super) fn history_fields(context: &Context<'_>, out: &mut Told) {
    for (case, passage) in history(context).filter(|(_, passage)| !passage.has(WHOLE)) {
        let Some(model) = case.resolved.model.as_deref() else { continue };
        let missing: Vec<&str> =
            needed(model).iter().filter(|(_, words)| !passage.has(words)).map(|(name, _)| *name).collect();
        let field = case.model_block().and_then(|block| block.history.as_ref());
        if let Some(field) = field.filter(|_| !missing.is_empty()) {
            let message = format!("{}: the history of a {model} needs {}", case.id.value, missing.join(", "));
            let help = format!("write `default schema`, or name `{}`", missing.join("`, `"));
            out.push(report("history-fields", field.span, message, help));
        }
    }
}

/// The mechanism decides what a history cannot see.
pub(super) fn history_mechanism(context: &Context<'_>, out: &mut Told) {
    const MECHANISMS: &[&str] = &[
        "in-process",
        "in process",
        "recorder",
        "recorded",
        "logger",
        "probe*",
        "external",
        "server-side",
        "server side",
        "audit*",
        "combined",
        "client-side",
        "client side",
        "polling",
        "polled",
        "instrument*",
        "supervisor",
        "callback*",
        "as in s*",
        "as s*",
        "same as s*",
        "as above",
        "see s*",
        "elle*",
        "jepsen*",
        "log*",
        "record*",
        "dump*",
        "trace*",
        "captur*",
    ];
    for (case, _) in history(context).filter(|(_, passage)| !passage.has(MECHANISMS)) {
        let Some(field) = case.model_block().and_then(|block| block.history.as_ref()) else { continue };
        let message = format!("{}: the history does not say how it is recorded", case.id.value);
        let help = "add `in-process`, `external probe`, `server-side audit` or `combined`";
        out.push(report("history-mechanism", field.span, message, help));
    }
}

/// Operations of several processes are compared by a clock that never jumps.
pub(super) fn history_clock(context: &Context<'_>, out: &mut Told) {
    const WALL: &[&str] =
        &["wall clock*", "wall-clock*", "system time", "gettimeofday", "system clock*", "date-time stamps"];
    for (case, passage) in history(context) {
        let Some((_, at)) = passage.first(WALL).filter(|(_, at)| !denies(clause_before(&passage.text, at.start)))
        else {
            continue;
        };
        // `monotonic, with the wall clock beside it` is no mistake.
        if passage.has(&["monotonic*", "server-receive", "server receive*"]) {
            continue;
        }
        let message = format!("{}: a wall clock may jump, and then operations seem to overlap or not", case.id.value);
        let help = "stamp with a monotonic clock, or by the order in which one server received them";
        out.push(report("history-clock", passage.span(&at), message, help));
    }
}

/// What a timeout must not be taken for.
const FAILURES: &[&str] = &[
    "failure*",
    "failed",
    "fail",
    "fails",
    "error",
    "errors",
    "not applied",
    "did not happen",
    "never happened",
    "aborted",
    "lost",
    "ignored",
    "dropped",
    "discarded",
    "excluded",
    "not recorded",
    "no effect",
    "without effect",
    "removed",
    "didn't happen",
];
const TIMEOUTS: &[&str] = &["timeout*", "timed-out", "timed out", "no response", "unknown commit*", "unknown outcome*"];
const LINKS: &[&str] = &[
    "=",
    "→",
    "->",
    "=>",
    ":",
    "is",
    "are",
    "as",
    "count",
    "counts",
    "counted",
    "treated",
    "recorded",
    "means",
    "mean",
    "become",
    "becomes",
    "considered",
    "get",
    "gets",
    "will",
    "be",
    "simply",
    "just",
    "a",
    "an",
    "op",
    "ops",
    "operation",
    "operations",
    "write",
    "writes",
    "read",
    "reads",
    "request",
    "requests",
    "marked",
    "logged",
    "from",
    "the",
    "history",
    "and",
    "means",
    "mean",
    "that",
    "it",
];

/// A timeout said to be a failure, or retries said to be one operation: the words that say so.
fn contradiction(text: &str) -> Option<(Range<usize>, &'static str)> {
    for word in TIMEOUTS.iter().filter(|_| !text.contains("timeout_marker")) {
        for at in super::passage::places(text, word) {
            let clause = super::passage::clause_after(text, at.end).split([',', '(']).next().unwrap_or("");
            for failure in FAILURES {
                let Some(hit) = super::passage::places(clause, failure).next() else { continue };
                let between = clause[..hit.start].trim();
                let linked = !between.is_empty()
                    && between
                        .split_whitespace()
                        .all(|word| LINKS.contains(&word.trim_matches(|c: char| c == '"' || c == '\'')));
                // `timeout → error = "timeout", timeout_marker = true` records an unknown outcome all the same.
                if linked && !denies(clause_before(text, at.start)) {
                    return Some((at.start..at.end + hit.end, "a timeout may have succeeded; it is no failure"));
                }
            }
        }
    }
    const MERGED: &[&str] = &[
        "retries are merged",
        "retries are collapsed",
        "retries are folded",
        "retries are combined",
        "retries merge*",
        "retries collapse*",
        "collapsed retries",
        "merged retries",
        "retries count as one",
        "retries are one op*",
        "retries are recorded as one",
        "retries are the same op*",
        "retries share an op_id",
        "retries share the op_id",
        "retries share op_id",
        "retries reuse the op_id",
        "merge retries",
        "collapse retries",
        "only successes",
        "only successful op*",
        "only acknowledged op*",
    ];
    if !super::passage::has(text, &["retries", "merge*", "collapse*", "only"]) {
        return None;
    }
    let hits = MERGED.iter().filter_map(|phrase| super::passage::places(text, phrase).next());
    let at = hits.min_by_key(|at| at.start).filter(|at| !denies(clause_before(text, at.start)))?;
    let behind = super::passage::clause_after(text, at.end);
    (!behind.contains("not ") && !behind.contains("never"))
        .then_some((at, "every attempt is an operation of its own, with its outcome"))
}

/// Outcomes that are not known stay unknown.
pub(super) fn ambiguous_contradicts(context: &Context<'_>, out: &mut Told) {
    for case in &context.cases {
        let Some(passage) = case.passage(Part::Ambiguous) else { continue };
        let Some((at, why)) = contradiction(&passage.text) else { continue };
        let message = format!("{}: `{}`: {why}", case.id.value, &passage.text[at.clone()]);
        let help =
            "write `timeout → timeout_marker = true, complete_ts = null; retries are separate ops sharing input`";
        out.push(report("ambiguous-contradicts", passage.span(&at), message, help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_that_is_taken_for_a_failure_is_seen_and_a_careful_text_is_not() {
        let check = |text: &str, expect: bool| assert_eq!(contradiction(text).is_some(), expect, "{text}");
        check("timeouts are recorded as failures", true);
        check("timeouts → failed", true);
        check("a timeout means that it did not happen", true);
        check("a timeout does not mean that it did not happen", false);
        check("timed-out writes are ignored", true);
        check("timeouts are dropped from the history", true);
        check("retries are merged into one op", true);
        check("only successful operations are recorded", true);
        check("a timeout gives timeout_marker = true, complete_ts = null", false);
        check("timeouts are not failures", false);
        check("timeouts are never recorded as failures", false);
        check("a timeout keeps timeout_marker = true and may have happened", false);
        check("http 5xx during partition → timeout_marker = true; duplicate responses → recorder error.", false);
        check("timeouts may have succeeded; a refused connection is a failure", false);
        check("retries are separate ops sharing input", false);
        check("retries are never merged", false);
        check("timeouts → timeout_marker=true, treated as could-have-succeeded", false);
    }
}
