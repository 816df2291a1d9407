//! The quiet stretch before a fault: long enough, read, and with the fault plane between the parties.

use super::core::Core;
use super::signals;
use crate::base::time::Nanos;
use crate::cluster::{CLIENT, Cluster};
use crate::fault::{Policy, Window, carrier_of, is_carrier};
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::time::Duration;

/// Length of the baseline; D15 asks for one second at least.
const BASELINE: Duration = Duration::from_millis(1_200);
/// How long to wait for signals that lack readings before a fault goes ahead without a proof.
const BASELINE_LIMIT: Duration = Duration::from_secs(5);

/// Waits until the baseline from `from` is long enough and every declared signal was read in it; returns its start.
pub(super) async fn baseline(core: &Core, from: Nanos) -> Result<Nanos> {
    let needed = Policy::default().baseline_samples;
    let asked = core.clock.now();
    loop {
        if core.is_stopping() {
            bail!("the run was told to stop");
        }
        let now = core.clock.now();
        let long_enough = now.since(from) >= BASELINE;
        let least = least_read(core, from);
        let gave_up = now.since(asked) > BASELINE_LIMIT;
        if long_enough && (least.is_none() || gave_up) {
            let mut facts = core.facts();
            let length = now.since(from).as_secs_f32();
            match least {
                None => {
                    let evidence = format!("{length:.2} s with at least {needed} readings of every declared signal");
                    facts.precondition("baseline captured", true, evidence);
                }
                Some(lacks) => facts.precondition("baseline captured", false, format!("in {length:.2} s {lacks}")),
            }
            return Ok(from);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until a fault that acts since `from` has a stretch of its own, as long as a baseline and read as often where it can
/// be read; whether that is enough is judged later.
pub(super) async fn settled(core: &Core, from: Nanos) {
    let passed = || core.clock.now().since(from);
    while passed() < BASELINE || (least_read(core, from).is_some() && passed() < BASELINE_LIMIT) {
        if core.is_stopping() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What a baseline from `from` lacks: a declared signal that has too few readings wherever it is read.
fn least_read(core: &Core, from: Nanos) -> Option<String> {
    let needed = Policy::default().baseline_samples;
    let counts = core.sampler.counts(from);
    let read = |signal: &str| counts.iter().filter(|(name, ..)| name == signal).map(|(.., n)| *n).max().unwrap_or(0);
    let declared = core.entry.injector.iter().chain(core.entry.victim);
    let lacking = declared.map(|signal| (*signal, read(signal))).find(|(_, n)| *n < needed);
    lacking.map(|(signal, n)| format!("`{signal}` was read {n} times, {needed} are needed"))
}

/// Without a fault there is still a plane: what clients sent went through it, and not around.
pub(crate) fn carried_without_a_fault(core: &Core) {
    let (carried, of) = match core.site.net.namespaces() {
        None => {
            let links = core.site.net.proxy().snapshot();
            let to_nodes = links.iter().filter(|((from, _), _)| from == CLIENT);
            (to_nodes.map(|(_, count)| count.forward.bytes_passed + count.backward.bytes_passed).sum::<u64>(), "bytes")
        }
        Some(net) => {
            let counts = net.counts().unwrap_or_default();
            let of_clients = counts.iter().filter(|((from, to), _)| from == CLIENT || to == CLIENT);
            (of_clients.map(|(_, count)| count.passed).sum(), "payloads")
        }
    };
    let evidence = format!("no fault; {carried} {of} crossed the clients' links");
    core.facts().precondition("fault plane responsive", carried > 0, evidence);
}

/// The fault plane is between the parties: bytes (or packets with payload) crossed the links a network fault acts on, and clients' links in any
/// case; and each victim's process is there to be acted on.
pub(super) fn carried_in_baseline(core: &Core, window: &Window, injector: Vec<(String, String)>) {
    let places = injector.into_iter().filter(|(signal, _)| carrier_of(signal).is_some());
    let links: BTreeSet<String> = places.map(|(_, source)| source).collect();
    let of = if core.site.net.namespaces().is_some() { "payloads" } else { "bytes" };
    let series = core.sampler.series(window.baseline_from, core.clock.now(), |signal, _| is_carrier(signal));
    let grown = |of: &dyn Fn(&str) -> bool| -> f64 {
        let ends = series.iter().filter(|s| of(&s.source)).map(|s| {
            let mut values = s.samples.iter().filter_map(|sample| sample.value);
            let first = values.next().unwrap_or(0.0);
            values.next_back().unwrap_or(first) - first
        });
        ends.sum()
    };
    let by_clients = grown(&signals::is_client_link);
    let acted_on = grown(&|source| links.contains(source));
    let running = core.facts().cluster.as_ref().map(Cluster::running).unwrap_or_default();
    let gone: Vec<&String> = window.victims.iter().filter(|victim| !running.contains(victim)).collect();
    let ok = by_clients > 0.0 && (links.is_empty() || acted_on > 0.0) && gone.is_empty();
    let mut evidence = format!("before window {}: {by_clients} {of} crossed the clients' links", window.epoch);
    if !links.is_empty() {
        evidence += &format!(", {acted_on} the links of the fault");
    }
    if !gone.is_empty() {
        evidence += &format!(", not running: {gone:?}");
    }
    core.facts().precondition("fault plane responsive", ok, evidence);
}
