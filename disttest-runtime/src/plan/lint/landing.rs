//! Rules about landing evidence: it is there, it is evidence, and both sides give it.

use super::{Context, Owner};
use crate::base::diagnostic::{Diagnostic, Spanned};
use crate::plan::Fault;
use crate::plan::labels::FAULTS;
use crate::plan::names::{NEMESES, Name, Nemesis, Side, mentions, signal_mentions};
use crate::plan::no_fault::{self, NoFault};
use crate::plan::rules::report;

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
];

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
    "injector side",
    "dm-flakey",
    "throttle",
    "packets dropped",
    "bytes dropped",
];
const VICTIM_WORDS: &[&str] = &[
    "timeout",
    "client",
    "log line",
    "log-marker",
    "log marker",
    "marker",
    "metric",
    "heartbeat",
    "leader",
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
    "logs",
];

/// The landing field of a scenario that plans a fault.
fn planned<'p>(context: &'p Context<'_>) -> impl Iterator<Item = (Owner<'p>, &'p Spanned<String>)> {
    context.owners().filter_map(|owner| {
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
    let table: Vec<Name> = NEMESES.iter().map(|n| n.name).collect();
    let bare = without(text, mentions(&table, text).into_iter().map(|m| m.at));
    bare.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The sides on which a text names evidence: a signal of the catalogue, or words of evidence.
fn sides(text: &str) -> (bool, bool) {
    let signals = signal_mentions(text);
    let named = |side: Side| signals.iter().any(|s| s.affirmed && s.side == side);
    // Signals are cut out first: `client-timeouts` must not count for its words on the other side.
    let rest = without(text, signals.iter().map(|s| s.at.clone()));
    let bare = evidence_text(&rest);
    let told = |words: &[&str]| words.iter().any(|w| bare.contains(w));
    (named(Side::Injector) || told(INJECTOR_WORDS), named(Side::Victim) || told(VICTIM_WORDS))
}

fn self_report(text: &str) -> Option<&'static str> {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    SELF_REPORT.iter().copied().find(|phrase| {
        flat.match_indices(phrase).any(|(at, _)| {
            let before = flat[..at].rsplit(['.', ';']).next().unwrap_or("");
            let after = &flat[at + phrase.len()..];
            let denied = before.split_whitespace().any(|w| ["not", "never", "no", "without"].contains(&w));
            let refused = after
                .split(['.', ';'])
                .next()
                .is_some_and(|a| a.contains("not evidence") || a.contains("no evidence") || a.contains("not enough"));
            !denied && !refused
        })
    })
}

/// `The injector reported success` is no evidence.
pub(super) fn landing_not_evidence(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for (owner, field) in planned(context) {
        if let Some(phrase) = self_report(&field.value) {
            let message = format!("{}: `{phrase}` is no evidence that the fault acted", owner.id.value);
            out.push(report(
                "landing-not-evidence",
                field.span,
                message,
                "name a counter of the injector and a signal at the victim",
            ));
        }
    }
}

/// A nemesis has evidence at all.
pub(super) fn landing_missing(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for (owner, field) in planned(context) {
        if sides(&field.value) == (false, false) && self_report(&field.value).is_none() {
            let message = format!("{}: the nemesis has no landing evidence", owner.id.value);
            let help = suggestion(&owner);
            out.push(report("landing-missing", field.span, message, help));
        }
    }
}

fn suggestion(owner: &Owner<'_>) -> String {
    let table: Vec<Name> = NEMESES.iter().map(|n| n.name).collect();
    let text = owner.field(FAULTS).map_or("", |f| f.value.as_str());
    let known = mentions(&table, text).into_iter().find(|m| m.affirmed).and_then(|m| Nemesis::find(m.id));
    known.map_or_else(
        || "name a counter of the injector and a signal at the victim".to_owned(),
        |n| format!("evidence of {} is: {}", n.name.id, n.evidence),
    )
}

/// Both sides give evidence.
pub(super) fn landing_one_sided(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for (owner, field) in planned(context) {
        let id = &owner.id.value;
        match sides(&field.value) {
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
            _ => {}
        }
    }
}

/// Each nemesis of the runtime has an injector signal that can prove it.
pub(super) fn landing_misfit(context: &Context<'_>, out: &mut Vec<Diagnostic>) {
    for (owner, field) in planned(context) {
        let Fault::Planned { nemeses, injector, .. } = owner.resolve(context.plan).fault else { continue };
        for nemesis in nemeses.iter().filter_map(|id| Nemesis::find(id)) {
            let proven = nemesis.signals.is_empty() || nemesis.signals.iter().any(|s| injector.iter().any(|i| i == s));
            if !proven {
                let message = format!("{}: no signal named here can prove `{}`", owner.id.value, nemesis.name.id);
                let help = format!("add `{}`", nemesis.signals.join("` or `"));
                out.push(report("landing-misfit", field.span, message, help));
            }
        }
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
    }

    #[test]
    fn a_self_report_is_seen_unless_it_is_refused() {
        assert!(self_report("hard kill; the injector\nreported success").is_some());
        assert!(self_report("`process-exit`, not \"injector reported success\"").is_none());
        assert!(self_report("injector reported success is not evidence; counters are").is_none());
    }
}
