//! Landing signals: what must move, on the injector's side and on a victim's.

use super::{Index, Name, name};
use std::ops::Range;
use std::sync::LazyLock;

/// Which side of a fault a signal tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Who makes the fault.
    Injector,
    /// Who suffers it.
    Victim,
}

/// A signal a plan may name.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// Name and aliases.
    pub name: Name,
    /// Its side.
    pub side: Side,
    /// True when it carries an argument behind a colon: `metric:peer-timeouts`.
    pub argument: bool,
}

const fn injector(name: Name) -> Signal {
    Signal { name, side: Side::Injector, argument: false }
}

const fn victim(name: Name, argument: bool) -> Signal {
    Signal { name, side: Side::Victim, argument }
}

/// All signals.
pub const SIGNALS: &[Signal] = &[
    injector(name(
        "proxy-dropped-bytes",
        &["bytes dropped at the proxy", "bytes dropped by the proxy", "proxy dropped bytes"],
    )),
    injector(name("proxy-delayed-chunks", &["chunks delayed at the proxy", "proxy delayed chunks"])),
    injector(name("proxy-reset-connections", &["connections reset at the proxy", "proxy reset connections"])),
    injector(name("proxy-throttled-bytes", &["bytes throttled at the proxy", "proxy throttled bytes"])),
    injector(name("iptables-dropped-packets", &["packets dropped by iptables", "iptables dropped packets"])),
    injector(name(
        "nft-dropped-packets",
        &["packets dropped by nft", "packets dropped by nftables", "nft dropped packets"],
    )),
    injector(name("switch-dropped-packets", &["packets dropped by the switch", "switch dropped packets"])),
    injector(name("switch-delayed-packets", &["packets delayed by the switch", "switch delayed packets"])),
    injector(name("switch-throttled-packets", &["packets throttled by the switch", "switch throttled packets"])),
    injector(name("switch-duplicated-packets", &["packets duplicated by the switch", "switch duplicated packets"])),
    injector(name("switch-reordered-packets", &["packets reordered by the switch", "switch reordered packets"])),
    injector(name("switch-corrupted-packets", &["packets corrupted by the switch", "switch corrupted packets"])),
    injector(name("process-exit", &["process exit", "exit status of the process"])),
    injector(name("process-stopped", &["process stopped"])),
    injector(name("process-restarted", &["process restarted"])),
    injector(name("process-upgraded", &["process upgraded"])),
    injector(name("disk-exhausted", &["disk exhausted"])),
    injector(name("disk-corrupted-bytes", &["bytes corrupted on disk"])),
    injector(name("disk-lost-bytes", &["unsynced bytes lost"])),
    injector(name("disk-failed-calls", &["calls failed by the disk"])),
    injector(name("disk-delayed-calls", &["calls delayed by the disk"])),
    injector(name("disk-flipped-bits", &["bits flipped by the disk"])),
    injector(name("syscall-injections", &["injected system calls"])),
    injector(name("clock-skewed-calls", &["skewed clock calls"])),
    injector(name("cgroup-frozen", &["control group frozen"])),
    injector(name("cgroup-throttled", &["control group throttled"])),
    injector(name("cgroup-memory-failures", &["control group memory failures"])),
    injector(name("container-exited", &["container exited"])),
    injector(name("container-restarted", &["container restarted"])),
    injector(name("container-paused", &["container paused"])),
    injector(name("container-disconnected", &["container disconnected"])),
    injector(name("kube-pod-deleted", &["pod deleted"])),
    injector(name("kube-scaled-down", &["replicas scaled down"])),
    injector(name("kube-node-cordoned", &["node cordoned"])),
    injector(name("failpoint-hits", &["failpoint hits", "hits of the failpoint"])),
    Signal { name: name("hook", &[]), side: Side::Injector, argument: true },
    victim(name("client-timeouts", &["client timeouts"]), false),
    victim(name("client-errors", &["client errors"]), false),
    victim(name("client-latency", &["client latency"]), false),
    victim(name("log-marker", &[]), true),
    victim(name("metric", &[]), true),
];

/// A signal found in prose.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalMention {
    /// As the attribute writes it: `client-timeouts`, `metric:peer-timeouts`.
    pub text: String,
    /// Its side.
    pub side: Side,
    /// Bytes of the prose.
    pub at: Range<usize>,
    /// False when the sentence denies it.
    pub affirmed: bool,
}

/// Every signal that `text` names. `log-marker:` and `metric:` take their argument up to the closing backtick, or
/// without backticks up to a blank, `,`, `;` or `)`; without an argument they are no signal.
pub fn signal_mentions(text: &str) -> Vec<SignalMention> {
    static INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(SIGNALS.iter().map(|signal| signal.name)));
    let mut found = Vec::new();
    for mention in INDEX.mentions(text) {
        let Some(signal) = SIGNALS.iter().find(|s| s.name.id == mention.id) else { continue };
        let argument = argument(text, &mention.at);
        let text = match (signal.argument, argument) {
            (false, _) => mention.id.to_owned(),
            (true, Some(argument)) => format!("{}:{argument}", mention.id),
            (true, None) => continue,
        };
        found.push(SignalMention { text, side: signal.side, at: mention.at, affirmed: mention.affirmed });
    }
    found
}

fn argument(text: &str, at: &Range<usize>) -> Option<String> {
    let rest = text[at.end..].strip_prefix(':')?;
    let quoted = text[..at.start].ends_with('`');
    let end = if quoted { rest.find('`')? } else { rest.find([' ', '\n', ',', ';', ')', '`']).unwrap_or(rest.len()) };
    let argument = rest[..end].split_whitespace().collect::<Vec<_>>().join(" ");
    let argument = if quoted { argument.as_str() } else { argument.trim_end_matches('.') };
    (!argument.is_empty()).then(|| argument.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_recognised_with_their_argument() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<String> = signal_mentions(text).into_iter().filter(|m| m.affirmed).map(|m| m.text).collect();
            assert_eq!(found, expect, "{text}");
        };
        check(
            "injector: `proxy-dropped-bytes`; victim: `client-timeouts`",
            &["proxy-dropped-bytes", "client-timeouts"],
        );
        check("`log-marker:leader lost` on the victim", &["log-marker:leader lost"]);
        check("metric:peer-timeouts, client timeouts.", &["metric:peer-timeouts", "client-timeouts"]);
        check("a metric moves", &[]);
        check("log-marker: none", &[]);
        check("not `client-errors`", &[]);
        check("packets dropped by iptables", &["iptables-dropped-packets"]);
        check("`switch-delayed-packets`", &["switch-delayed-packets"]);
        check("bytes dropped\nat the proxy", &["proxy-dropped-bytes"]);
    }
}
