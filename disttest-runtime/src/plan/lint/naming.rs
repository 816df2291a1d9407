//! Rules about the names of scenarios.

use super::Context;
use super::passage::has;
use crate::plan::model::Scenario;
use crate::plan::rules::report;
use crate::plan::told::Told;
use std::collections::HashMap;

/// Words that tell how a scenario is set up, and nothing of what it would falsify.
const SETUP: &[&str] = &[
    "a",
    "after",
    "all",
    "and",
    "append",
    "appends",
    "asymmetric",
    "at",
    "basic",
    "before",
    "bench",
    "benchmark",
    "bit",
    "broker",
    "brokers",
    "by",
    "case",
    "chaos",
    "check",
    "client",
    "clients",
    "clock",
    "cluster",
    "concurrent",
    "container",
    "crash",
    "crashed",
    "crashes",
    "cut",
    "delay",
    "disk",
    "docker",
    "down",
    "drop",
    "during",
    "e2e",
    "eight",
    "elle",
    "etcd",
    "failover",
    "fault",
    "faults",
    "flip",
    "flow",
    "five",
    "follower",
    "followers",
    "for",
    "four",
    "freeze",
    "frozen",
    "fsync",
    "full",
    "fuzz",
    "fuzzing",
    "gc",
    "happy",
    "hard",
    "high",
    "host",
    "hosts",
    "in",
    "inject",
    "injection",
    "instance",
    "instances",
    "integration",
    "iptables",
    "isolation",
    "jepsen",
    "k8s",
    "kafka",
    "kill",
    "killed",
    "kubernetes",
    "kills",
    "large",
    "latency",
    "leader",
    "load",
    "long",
    "loss",
    "majority",
    "many",
    "minority",
    "mixed",
    "multi",
    "nemesis",
    "netem",
    "network",
    "nine",
    "node",
    "nodes",
    "of",
    "on",
    "one",
    "outage",
    "packet",
    "partition",
    "partitions",
    "path",
    "pause",
    "paused",
    "pod",
    "postgres",
    "power",
    "proxy",
    "random",
    "read",
    "reads",
    "reboot",
    "redis",
    "recovery",
    "replica",
    "replicas",
    "restart",
    "restarts",
    "rolling",
    "run",
    "scenario",
    "server",
    "servers",
    "seven",
    "sigkill",
    "simple",
    "six",
    "simulation",
    "single",
    "skew",
    "slow",
    "smoke",
    "soak",
    "split",
    "brain",
    "stop",
    "stopped",
    "stress",
    "suite",
    "symmetric",
    "system",
    "test",
    "testing",
    "tests",
    "the",
    "three",
    "toxiproxy",
    "to",
    "traffic",
    "two",
    "under",
    "upgrade",
    "via",
    "while",
    "with",
    "worker",
    "workers",
    "workload",
    "write",
    "writes",
];

/// Words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let split = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    split.map(str::to_lowercase).collect()
}

/// True for a word that tells nothing of a claim: a number, `3n`, or set-up.
fn is_setup(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) || word.len() == 1 || SETUP.contains(&word)
}

/// A scenario is named after the claim.
pub(super) fn scenario_named_after_setup(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        let name = &scenario.name;
        let words = words(&name.value);
        if !words.is_empty() && words.iter().all(|word| is_setup(word)) {
            let id = &scenario.id.value;
            let message =
                format!("{id} is named after its set-up: `{}` says nothing of what it would falsify", name.value);
            let help = "name what holds, and under what: `linearizable_append_under_partition`";
            out.push(report("scenario-named-after-setup", name.span, message, help));
        }
    }
}

/// True for a scenario of the template: `### Scenario S2: ...`.
pub(super) fn is_filler(context: &Context<'_>, scenario: &Scenario) -> bool {
    let heading = || context.slice(scenario.span).lines().next().unwrap_or("").trim_end_matches(['*', '`', ' ']);
    let filler = |text: &str| text.ends_with("...") || text.ends_with('…');
    filler(&scenario.name.value) && scenario.name.value.len() <= 3
        || (scenario.name.value.is_empty() && filler(heading()))
}

/// Names become names of functions.
pub(super) fn scenario_name_shape(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        let (id, name) = (&scenario.id.value, &scenario.name);
        // The template's placeholders and filler are told as such.
        if name.value.contains("{{") || is_filler(context, scenario) {
            continue;
        }
        let snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let message = match name.value.as_str() {
            "" => format!("{id} has no name"),
            text if text.chars().all(snake) => continue,
            text => format!("{id}: `{text}` is not in snake_case"),
        };
        let help = match words(&name.value).join("_") {
            slug if slug.is_empty() => {
                "name the claim: `### Scenario S1: linearizable_append_under_partition`".to_owned()
            }
            slug => format!("write `{}`", slug.chars().take(80).collect::<String>()),
        };
        let span = if name.value.is_empty() { scenario.id.span } else { name.span };
        out.push(report("scenario-name-shape", span, message, help));
    }
}

/// Names differ.
pub(super) fn duplicate_scenario_name(context: &Context<'_>, out: &mut Told) {
    let mut seen = HashMap::new();
    for scenario in context.plan.scenarios.iter().filter(|s| !s.name.value.is_empty()) {
        match seen.get(&scenario.name.value) {
            None => {
                seen.insert(&scenario.name.value, &scenario.id.value);
            }
            Some(other) if **other != scenario.id.value => {
                let message = format!("{} has the name of {other}", scenario.id.value);
                let help = "say in the name what sets the two apart";
                out.push(report("duplicate-scenario-name", scenario.name.span, message, help));
            }
            Some(_) => {}
        }
    }
}

/// Words of a name that promise a boundary (format §1.9, item 7).
const BOUNDARIES: &[&str] = &[
    "routing",
    "tenant isolation",
    "blast radius",
    "multi tenant",
    "multitenant",
    "cross tenant",
    "cell",
    "region",
    "shard",
    "namespace",
    "availability zone",
    "replica set",
    "placement pool",
    "failure domain",
    "tenant",
    "tenants",
    "cells",
    "regions",
    "shards",
    "namespaces",
];

/// A boundary in the name asks for surfaces in §7.M.S.
pub(super) fn boundary_name(context: &Context<'_>, out: &mut Told) {
    for scenario in &context.plan.scenarios {
        let name = words(&scenario.name.value).join(" ");
        if !has(&name, BOUNDARIES) {
            continue;
        }
        let Some(word) = BOUNDARIES.iter().find(|word| has(&name, &[word])) else { continue };
        let surfaces = super::surfaces::surfaces(context, scenario);
        if surfaces.as_ref().is_some_and(|list| list.count > 1 || list.justified) {
            continue;
        }
        // A missing §7.M.S of a boundary or fairness claim is told as such.
        if surfaces.is_none() && context.falsifies(scenario, |c| c.gates_surfaces()) {
            continue;
        }
        let have = surfaces.map_or("no surfaces", |list| if list.count == 0 { "no surfaces" } else { "one surface" });
        let message = format!("{}: its name speaks of a boundary (`{word}`), and §7.M.S has {have}", scenario.id.value);
        let help = "fill `Surfaces` of §7.M.S, or rename the scenario";
        out.push(report("boundary-name", scenario.name.span, message, help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_only_tell_of_the_set_up_are_told_apart() {
        let check = |name: &str, expect: bool| {
            assert_eq!(words(name).iter().all(|word| is_setup(word)), expect, "{name}");
        };
        for name in [
            "partition_test",
            "kill_leader",
            "test_1",
            "chaos",
            "crash_recovery_scenario",
            "3_node_cluster_with_chaos",
            "five_brokers_with_toxiproxy",
        ] {
            check(name, true);
        }
        for name in [
            "linearizable_append_under_partition",
            "at_most_one_leader_per_term_under_split_vote",
            "soak_24h_multi_raft_no_leak",
            "liveness_under_repeated_leader_kill",
            "acknowledged_writes_survive_the_kill_of_a_quorum",
            "bounded_latency_in_steady_state",
            "no_lost_writes",
        ] {
            check(name, false);
        }
    }
}
