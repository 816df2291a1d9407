//! Which readings stand behind the names of declared signals.

use super::core::Core;
use super::log_marker::LogMarker;
use super::sampler::{CADENCE, Reader};
use super::{Probe, Target};
use crate::cluster::Cluster;
use crate::fault::{CARRIER_SIGNAL, Shape, carrier_of};
use crate::nemesis::net::NetnsNet;
use crate::nemesis::{ProxyNet, link, shape_of};
use crate::recorder::Stats;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// How long a probe may take before its reading is a gap.
const PROBE_LIMIT: Duration = Duration::from_secs(1);

/// What a carrier signal of a network of namespaces counts.
const PASSED: &str = "passed-payloads";

/// Smallest shift of the median latency that counts by default, in milliseconds.
const LATENCY_CHANGE_MS: f64 = 20.0;

/// Starts sampling every declared signal that the runtime can read by itself.
pub(crate) fn sample_cluster(core: &Arc<Core>, cluster: &Cluster) {
    let declared: BTreeSet<&str> = core.entry.injector.iter().chain(core.entry.victim).copied().collect();
    for signal in &declared {
        match *signal {
            "process-exit" | "process-stopped" | "process-upgraded" => per_node(core, cluster, signal, Shape::Marker),
            "process-restarted" => per_node(core, cluster, signal, Shape::Counter { dose: 1.0 }),
            signal if signal.starts_with("proxy-") => per_link(core, signal),
            signal if let Some(shape) = shape_of(signal) => per_meter(core, cluster, signal, shape),
            signal if carrier_of(signal).is_some() => {}
            "client-timeouts" | "client-errors" | "client-latency" => per_clients(core, cluster, signal),
            signal => {
                // An empty marker would be in every line.
                if let Some(text) = signal.strip_prefix("log-marker:").filter(|text| !text.trim().is_empty()) {
                    per_log(core, cluster, signal, text);
                }
            }
        }
    }
    // What was let through is a fact of every run: it shows whether the fault plane is between the nodes at all.
    match core.site.net.namespaces() {
        None => per_link(core, CARRIER_SIGNAL),
        Some(net) => sample_namespaces(core, net, &declared),
    }
}

/// Starts reading the declared signals of a network of namespaces, and its carrier signal, on a thread of its own: a
/// packet filter takes some milliseconds to answer.
fn sample_namespaces(core: &Arc<Core>, net: &NetnsNet, declared: &BTreeSet<&str>) {
    let backend = net.backend();
    let carrier = format!("{backend}-{PASSED}");
    let signals =
        declared.iter().copied().chain([carrier.as_str()]).filter_map(|name| Some((name, backend.signal(name)?)));
    let signals: BTreeMap<&str, &str> = signals.collect();
    let mut feeds = Vec::new();
    for (name, what) in signals {
        for (a, b) in net.pairs() {
            let feed = core.sampler.feed(name, &link(&a, &b), Shape::Counter { dose: 1.0 });
            feeds.push((feed, what.to_owned(), (a, b)));
        }
    }
    let (core, net) = (Arc::clone(core), net.clone());
    let read = move || {
        while !core.is_stopping() {
            let counts = net.counts().ok();
            for (feed, what, pair) in &feeds {
                let count = counts.as_ref().and_then(|counts| counts.get(pair)?.of(what));
                feed.push(count.map(|count| count as f64));
            }
            std::thread::sleep(CADENCE / 2);
        }
    };
    // Without the thread nothing is read, which proves nothing.
    drop(std::thread::Builder::new().name("counters".to_owned()).spawn(read));
}

/// Starts reading `probe` from every node; it need not be declared, but counts only when it is.
pub(crate) fn sample_probe(core: &Arc<Core>, cluster: &Cluster, probe: &Probe) {
    for spec in cluster.specs() {
        let feed = core.sampler.feed(probe.signal(), spec.name(), probe.shape());
        let (node, address) = (spec.name().to_owned(), spec.client_address());
        let (core, probe, cluster) = (Arc::clone(core), probe.clone(), cluster.clone());
        tokio::spawn(async move {
            let mut rhythm = tokio::time::interval(CADENCE);
            rhythm.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            while !core.is_stopping() {
                rhythm.tick().await;
                let target = Target { node: node.clone(), address, pid: cluster.pid(&node) };
                let reading = tokio::time::timeout(PROBE_LIMIT, probe.read(target)).await;
                feed.push(reading.ok().and_then(Result::ok).filter(|value| value.is_finite()));
            }
        });
    }
}

/// Declared signals that were never read; `side` is the declared list of one side.
pub(crate) fn unread(core: &Core, side: &[&str]) -> Vec<String> {
    let read = core.sampler.ever_read();
    side.iter().filter(|signal| !read.contains(**signal)).map(|signal| (*signal).to_owned()).collect()
}

fn per_node(core: &Core, cluster: &Cluster, signal: &str, shape: Shape) {
    for node in cluster.nodes() {
        let (cluster, name, at) = (cluster.clone(), signal.to_owned(), node.clone());
        core.sampler.add(signal, &node, shape, Box::new(move || cluster.reading(&name, &at)));
    }
}

fn per_meter(core: &Core, cluster: &Cluster, signal: &str, shape: Shape) {
    for node in cluster.nodes() {
        let (meters, name, at) = (core.site.meters.clone(), signal.to_owned(), node.clone());
        core.sampler.add(signal, &node, shape, Box::new(move || meters.read(&name, &at)));
    }
}

fn per_link(core: &Core, signal: &str) {
    for (a, b) in lanes(core.site.net.proxy()) {
        let (net, name, source) = (core.site.net.proxy().clone(), signal.to_owned(), link(&a, &b));
        let read = move || proxy_reading(&net, &name, &a, &b);
        core.sampler.add(signal, &source, Shape::Counter { dose: 1.0 }, Box::new(read));
    }
}

/// Every (a, b) between which payload can travel from a to b.
fn lanes(net: &ProxyNet) -> BTreeSet<(String, String)> {
    net.links().into_iter().flat_map(|(a, b)| [(b.clone(), a.clone()), (a, b)]).collect()
}

/// What the proxy counted of the payload that travels from `a` to `b`; resets are those of connections that `a` opened.
fn proxy_reading(net: &ProxyNet, signal: &str, a: &str, b: &str) -> Option<f64> {
    let lane = net.data_counters(a, b).ok()?;
    let count = match signal {
        CARRIER_SIGNAL => lane.bytes_passed,
        "proxy-dropped-bytes" => lane.bytes_dropped,
        "proxy-delayed-chunks" => lane.chunks_delayed,
        "proxy-throttled-bytes" => lane.bytes_throttled,
        // Connections that only `b` opens are counted there.
        "proxy-reset-connections" => net.counters(a, b).map_or(0, |link| link.connections_reset),
        _ => return None,
    };
    Some(count as f64)
}

/// `source` is a link by which clients reach a node, or get its answers.
pub(crate) fn is_client_link(source: &str) -> bool {
    source.strip_prefix("link ").is_some_and(|lane| lane.starts_with("client->") || lane.ends_with("->client"))
}

fn per_clients(core: &Arc<Core>, cluster: &Cluster, signal: &str) {
    let shape = match signal {
        "client-latency" => Shape::Gauge { change: LATENCY_CHANGE_MS },
        _ => Shape::Counter { dose: 1.0 },
    };
    for node in cluster.nodes() {
        core.sampler.add(signal, &node, shape, client_reader(&core.recorder.stats(), signal, &node));
    }
}

fn client_reader(stats: &Stats, signal: &str, node: &str) -> Reader {
    let (stats, node) = (stats.clone(), node.to_owned());
    match signal {
        "client-timeouts" => Box::new(move || Some(stats.timeouts(&node) as f64)),
        "client-errors" => Box::new(move || Some(stats.errors(&node) as f64)),
        _ => {
            let mut before = stats.latency(&node);
            // An interval without answers has no latency: a gap.
            Box::new(move || {
                let now = stats.latency(&node);
                let median = now.since(&before).median();
                before = now;
                median.map(|median| median.as_secs_f64() * 1e3)
            })
        }
    }
}

fn per_log(core: &Core, cluster: &Cluster, signal: &str, text: &str) {
    for node in cluster.nodes() {
        if let Some(path) = cluster.log_path(&node) {
            let mut marker = LogMarker::new(path.to_owned(), text);
            core.sampler.add(signal, &node, Shape::Marker, Box::new(move || marker.count()));
        }
    }
}
