//! Rules about landing evidence: it is there, it is evidence, and both sides give it.

use super::Context;
use super::context::{Case, Owner, Part};
use super::passage::{Passage, clause_after, clause_before, has, places};
use crate::base::diagnostic::Spanned;
use crate::plan::Fault;
use crate::plan::labels::FAULTS;
use crate::plan::names::{Nemesis, Side, nemesis_mentions, parts_of, signal_mentions};
use crate::plan::no_fault::{self, NoFault};
use crate::plan::rules::report;
use crate::plan::told::Told;

/// Sentences that report what the injector says of itself.
const SELF_REPORT: &[&str] = &[
    "injector reported success",
    "injector reports success",
    "injector returned success",
    "injection succeeded",
    "command succeeded",
    "command succeeds",
    "exit code 0",
    "exit status 0",
    "returned 0",
    "api returned ok",
    "injector says",
    "fault was injected successfully",
    "trust the agent",
    "trust the injector",
    "trusts the agent",
    "agent reported success",
    "agent reports success",
    "tool reported success",
    "tool reports success",
    "script succeeded",
    "script succeeds",
];

/// What is no evidence when one of [`TOOLS`] says it.
const OUTCOMES: &[&str] = &[
    "exits 0",
    "exited 0",
    "exits with 0",
    "exited with 0",
    "exits with status 0",
    "exited with status 0",
    "exits with code 0",
    "exited with code 0",
    "returns 0",
    "returned 200",
    "returns 200",
    "said ok",
    "says ok",
    "said done",
    "says done",
    "logs done",
    "logs success",
    "prints done",
    "prints ok",
    "prints success",
    "reports injected",
    "reported injected",
    "reports success",
    "reported success",
    "reports ok",
    "reported ok",
    "reports done",
    "succeeded",
    "succeeds",
];
/// What injects.
const TOOLS: &[&str] =
    &["command", "tool", "script", "api", "kubectl", "chaos*", "injector", "agent", "curl", "docker", "iptables", "tc"];

/// Words of evidence that an injector gives, and words of evidence that a victim gives.
const INJECTOR_WORDS: &[&str] = &[
    "counter",
    "iptables",
    "nftables",
    "nft ",
    "netem",
    "tc qdisc",
    "dropper",
    "toxiproxy",
    "proxy",
    "process state",
    "/proc",
    "exit status",
    "exit code",
    "waitpid",
    "process exit",
    "exit log",
    "container event",
    "pid ",
    "injector:",
    "injector's",
    "supervisor",
    "signal 9",
    "injector prints",
    "injector logs",
    "injector records",
    "injector counts",
    "injector shows",
    "injector side",
    "dm-flakey",
    "throttle",
    "packets dropped",
    "bytes dropped",
    "scheduler",
    "simulator",
    "dmsetup",
    "wait()",
    "pgrep",
    "tc -s",
];
const VICTIM_WORDS: &[&str] = &[
    "timeout",
    "client",
    "heartbeat",
    "latency",
    "victim",
    "rpc",
    "election",
    "errors on",
    "error rate",
    "unavailab",
    "reconnect",
    "throughput",
    "histogram",
    "checksum",
    "refused",
];
/// Words that the evidence of either side may hold: in a clause of the injector's they tell of the injector.
const EITHER_WORDS: &[&str] = &[
    "log line",
    "log-marker",
    "log marker",
    "logs",
    "marker",
    "metric",
    "leader",
    "follower",
    "replica",
    "peer",
    "new term",
];

/// The landing field of a scenario that plans a fault.
fn planned<'c, 'p>(context: &'c Context<'p>) -> impl Iterator<Item = (&'c Case<'p>, &'p Spanned<String>)> {
    context.cases.iter().filter_map(|owner| {
        let none = owner.field(FAULTS).is_some_and(|f| no_fault::read(&f.value) != NoFault::Planned);
        owner.model_block().and_then(|b| b.nemesis.as_ref()).filter(|_| !none).map(|field| (owner, field))
    })
}

/// `text` without these pieces of it, which stand in order and do not overlap.
fn without(text: &str, pieces: impl Iterator<Item = std::ops::Range<usize>>) -> String {
    let mut out = String::new();
    let mut from = 0;
    for piece in pieces {
        out.push_str(&text[from..piece.start]);
        from = piece.end;
    }
    out + &text[from..]
}

/// Text without the names of nemeses, so that `kill -9` is not taken for evidence of itself.
fn evidence_text(text: &str) -> String {
    let bare = without(text, nemesis_mentions(text).into_iter().map(|m| m.at));
    bare.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// True for `landing evidence as in S01`: what stands there is judged there.
fn as_elsewhere(text: &str) -> bool {
    // Hardly any text has an `S` with a number at all.
    if !text.as_bytes().windows(2).any(|two| matches!(two[0], b's' | b'S') && two[1].is_ascii_digit()) {
        return false;
    }
    let lower = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    ["as in s", "same as s", "as for s", "see s"].iter().any(|phrase| {
        lower.match_indices(phrase).any(|(at, _)| lower[at + phrase.len()..].starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// The sides on which a text names evidence: a signal of the catalogue, or words of evidence.
fn sides(text: &str) -> (bool, bool) {
    if as_elsewhere(text) {
        return (true, true);
    }
    let signals = signal_mentions(text);
    let named = |side: Side| signals.iter().any(|s| s.affirmed && s.side == side);
    let (injector, victim) = (named(Side::Injector), named(Side::Victim));
    if injector && victim {
        return (true, true);
    }
    // Signals are cut out first: `client-timeouts` must not count for its words on the other side.
    let rest = without(text, signals.iter().map(|s| s.at.clone()));
    let bare = evidence_text(&rest);
    let told = |text: &str, words: &[&str]| words.iter().any(|w| text.contains(w));
    // A scheduler may be that of a simulator, which injects, or a part of the system.
    let of_injector = |clause: &str| INJECTOR_WORDS.iter().any(|w| *w != "scheduler" && clause.contains(w));
    let of_victim = |clause: &str| told(clause, EITHER_WORDS) && !of_injector(clause);
    let victim = victim || told(&bare, VICTIM_WORDS) || clauses(&bare).iter().any(|clause| of_victim(clause));
    (injector || told(&bare, INJECTOR_WORDS), victim)
}

/// The clauses of a text on one line in lower case.
fn clauses(flat: &str) -> Vec<String> {
    let flat =
        [" and ", ". ", " — ", " -- ", " while ", " + "].iter().fold(flat.to_owned(), |t, mark| t.replace(mark, ";"));
    flat.split([';', ',', ':']).map(str::to_owned).collect()
}

/// Clauses of evidence that are in words of neither side: what they tell, and in which language, is not for a list of
/// words to decide. A name, an article or two are no clause.
fn unread_clauses(text: &str) -> usize {
    const WORDS: usize = 3;
    let rest = without(text, signal_mentions(text).iter().map(|s| s.at.clone()));
    let bare = evidence_text(&rest);
    let unread = |clause: &&String| {
        let words = clause.split_whitespace().filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 2);
        let known = INJECTOR_WORDS.iter().chain(VICTIM_WORDS).chain(EITHER_WORDS);
        words.count() >= WORDS && !known.into_iter().any(|word| clause.contains(word))
    };
    clauses(&bare).iter().filter(unread).count()
}

/// What the injector says of itself in a text on one line in lower case.
fn self_report(flat: &str) -> Option<&'static str> {
    let bare = flat.replace(['"', '“', '”'], "");
    let flat = bare.as_str();
    let tools = has(flat, TOOLS);
    if !tools && !has(flat, SELF_REPORT) {
        return None;
    }
    let by_tool = |phrase: &&str| places(flat, phrase).any(|at| has(clause_before(flat, at.start), TOOLS));
    let said = OUTCOMES.iter().copied().filter(|phrase| tools && by_tool(phrase));
    SELF_REPORT.iter().copied().chain(said).find(|phrase| {
        places(flat, phrase).any(|at| {
            let before = clause_before(flat, at.start);
            let denied = before.split_whitespace().any(|w| ["not", "never", "no", "without"].contains(&w));
            let after = clause_after(flat, at.end);
            !denied && !["not evidence", "no evidence", "not enough"].iter().any(|refusal| after.contains(refusal))
        })
    })
}

/// `The injector reported success` is no evidence.
pub(super) fn landing_not_evidence(context: &Context<'_>, out: &mut Told) {
    for (owner, field) in planned(context) {
        let Some(passage) = owner.passage(Part::Nemesis) else { continue };
        if let Some(phrase) = self_report(&passage.text) {
            let message = format!("{}: `{phrase}` is no evidence that the fault acted", owner.id.value);
            let span = passage.text.find(phrase).map_or(field.span, |at| passage.span(&(at..at + phrase.len())));
            let help = "name a counter of the injector and a signal at the victim";
            out.push(report("landing-not-evidence", span, message, help));
        }
    }
}

fn suggestion(owner: &Owner<'_>) -> String {
    let text = owner.field(FAULTS).map_or("", |f| f.value.as_str());
    let known = nemesis_mentions(text).into_iter().find(|m| m.affirmed).and_then(|m| Nemesis::find(m.id));
    known.map_or_else(
        || "name a counter of the injector and a signal at the victim".to_owned(),
        |n| format!("evidence of {} is: {}", n.name.id, n.evidence),
    )
}

/// The evidence is what the injector says of itself, which another rule tells.
fn reports_itself(case: &Case<'_>) -> bool {
    case.passage(Part::Nemesis).is_some_and(|passage| self_report(&passage.text).is_some())
}

/// A nemesis has evidence, and from both sides.
pub(super) fn landing_sides(context: &Context<'_>, out: &mut Told) {
    for (owner, field) in planned(context) {
        // Resolved from the signals of this very field: both sides are named.
        if owner.serious && matches!(owner.resolved.fault, Fault::Planned { .. }) {
            continue;
        }
        let id = &owner.id.value;
        let found = sides(&field.value);
        if found != (true, true) && unread_clauses(&field.value) > 0 && !reports_itself(owner) {
            let message = format!("{id}: what the injector shows and what a victim shows cannot be told apart here");
            let help = "name a signal of each side, such as `process-exit` and `client-timeouts` (`catalog probes`)";
            out.push(report("unresolved-landing", field.span, message, help));
            continue;
        }
        match found {
            (true, false) => {
                let help = "add what a victim shows, such as `client-timeouts` or `log-marker:<text>`";
                let message = format!("{id}: only the injector's side gives evidence");
                out.push(report("landing-injector-only", field.span, message, help));
            }
            (false, true) => {
                let help = "add what the injector counts, such as `proxy-dropped-bytes` or `process-exit`";
                let message = format!("{id}: only the victim's side gives evidence");
                out.push(report("landing-victim-only", field.span, message, help));
            }
            (false, false) if !reports_itself(owner) => {
                let message = format!("{id}: the nemesis has no landing evidence");
                out.push(report("landing-missing", field.span, message, suggestion(owner)));
            }
            _ => {}
        }
    }
}

/// Each nemesis of the runtime has an injector signal that can prove it.
pub(super) fn landing_misfit(context: &Context<'_>, out: &mut Told) {
    for (owner, field) in planned(context) {
        let Fault::Planned { nemeses, injector, .. } = &owner.resolved.fault else { continue };
        for nemesis in nemeses.iter().flat_map(|name| parts_of(name)).filter_map(Nemesis::find) {
            // A signal with an argument (`hook:compactions`) is named by what stands before the colon.
            let named = |s: &str| injector.iter().any(|i| i.split_once(':').map_or(i.as_str(), |(name, _)| name) == s);
            let proven = nemesis.signals.is_empty() || nemesis.signals.iter().any(|s| named(s));
            if !proven {
                let message = format!("{}: no signal named here can prove `{}`", owner.id.value, nemesis.name.id);
                let help = format!("add `{}`", nemesis.signals.join("` or `"));
                out.push(report("landing-misfit", field.span, message, help));
            }
        }
    }
}

/// A plan that cuts networks both ways only never sees what a half-open link does (format §9, item 7).
pub(super) fn symmetric_partitions_only(context: &Context<'_>, out: &mut Told) {
    const BOTH_WAYS: [&str; 7] = [
        "full-partition",
        "minority-side-partition",
        "majority-side-partition",
        "leader-isolation",
        "split-brain",
        "bridge-partition",
        "ring-partition",
    ];
    const ONE_WAY: &[&str] = &[
        "asymmetric*",
        "one direction",
        "one-way",
        "one way",
        "one-directional",
        "unidirectional",
        "outbound",
        "inbound",
    ];
    let named = |case: &Case<'_>, wanted: &dyn Fn(&str) -> bool| match &case.resolved.fault {
        Fault::Planned { nemeses, .. } => nemeses.iter().flat_map(|name| parts_of(name)).any(wanted),
        _ => false,
    };
    let Some(first) = context.cases.iter().find(|case| named(case, &|nemesis| BOTH_WAYS.contains(&nemesis))) else {
        return;
    };
    let one_way = context.cases.iter().any(|case| {
        let block = case.model_block().and_then(|block| block.nemesis.as_ref());
        let said = |field: &Spanned<String>| Passage::new(context.masked, field.span).has(ONE_WAY);
        named(case, &|nemesis| nemesis.starts_with("asymmetric"))
            || case.field(FAULTS).into_iter().chain(block).any(said)
    });
    if !one_way {
        let span = first.field(FAULTS).map_or(first.id.span, |field| field.span);
        let message = "every partition of this plan cuts both directions; links that fail one way stay untested";
        let help = "add `asymmetric-data-cut` to a scenario, or say in §7c why it does not apply";
        out.push(report("symmetric-partitions-only", span, message, help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sides_of_evidence_are_told_apart() {
        let check = |text: &str, expect: (bool, bool)| assert_eq!(sides(text), expect, "{text}");
        check("`hard-kill`", (false, false));
        check("`hard-kill`; `process-exit`", (true, false));
        check("`full-partition`; `client-timeouts`", (false, true));
        check("`full-partition`; `proxy-dropped-bytes`; `client-timeouts`", (true, true));
        check("asymmetric partition; iptables counter; RPC timeouts at the follower", (true, true));
        check("clock skew; the operator watches", (false, false));
        check("`hard-kill`; landing evidence as in S01.", (true, true));
        check("the scheduler's log shows the interleaving", (true, false));
        check("hard kill: the supervisor logs the pid and signal 9.", (true, false));
        check("iptables drop counter on the leader's host", (true, false));
        check("the worker's exit status and the scheduler logs a lost worker", (true, true));
        check("the supervisor's exit line for the leader's pid AND the followers log a new term", (true, true));
        check("Toxiproxy's byte counter stops on the leader's link and the leader logs a step-down", (true, true));
    }

    #[test]
    fn evidence_in_words_of_no_list_is_not_called_missing() {
        let check = |text: &str, expect: usize| assert_eq!(unread_clauses(text), expect, "{text}");
        check("`hard-kill`; `process-exit`; `client-timeouts`", 0);
        check("`hard-kill` of the leader", 0);
        check("harte Beendigung: der Auslöser protokolliert das Ende des Prozesses", 1);
        check("netem statistics; the receiving region counts retransmitted copies", 1);
        check("`full-partition`; iptables counter; RPC timeouts at the follower", 0);
    }

    #[test]
    fn a_self_report_is_seen_unless_it_is_refused() {
        assert!(self_report("hard kill; the injector reported success").is_some());
        assert!(self_report("pod kill; kubectl delete exits 0").is_some());
        assert!(self_report("latency; the chaos tool said \"ok\"").is_some());
        assert!(self_report("pause; chaos-mesh reports injected").is_some());
        assert!(self_report("graceful stop; the node exited with status 0 and its peers log a lost member").is_none());
        assert!(self_report("pod kill; that kubectl delete exits 0 is not evidence; the pod's event is").is_none());
        assert!(self_report("`process-exit`, not \"injector reported success\"").is_none());
        assert!(self_report("injector reported success is not evidence; counters are").is_none());
    }
}
