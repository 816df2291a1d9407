//! Links that work badly: slow, narrow, lossy, doubling, reordering, damaging.

use super::super::net::Treatment;
use super::sides::{LOST, Signals};
use super::{LinkFault, Sides, nemesis_on_links};
use std::time::Duration;

/// `latency`: what travels between two sides is delivered later, in both directions and in order.
#[derive(Debug)]
pub struct Latency(LinkFault);

/// `slow-follower`: one node's links to the others are slow, in both directions; those of the others among themselves are
/// not, nor are the clients'.
///
/// Evidence beside the delayed packets: the latency of the one node's clients, or how far it lags.
#[derive(Debug)]
pub struct SlowFollower(LinkFault);

/// `bandwidth-cap`: what travels between two sides is delivered at no more than a rate in each direction: on each
/// connection behind the proxy, on each way with namespaces.
#[derive(Debug)]
pub struct BandwidthCap(LinkFault);

/// `packet-loss`: packets between two sides are dropped at random, in both directions. Needs namespaces.
#[derive(Debug)]
pub struct PacketLoss(LinkFault);

/// `packet-duplication`: packets between two sides are delivered twice at random. Needs a switch.
///
/// TCP drops what comes twice; datagrams show it to whoever reads them.
#[derive(Debug)]
pub struct PacketDuplication(LinkFault);

/// `packet-reordering`: packets between two sides are held back at random, so that later ones overtake them. Only those
/// that were overtaken count. Needs a switch.
#[derive(Debug)]
pub struct PacketReordering(LinkFault);

/// `packet-corruption`: one bit of packets between two sides is flipped at random. Receivers notice by the checksum, drop
/// the packet and count it. Needs a switch.
#[derive(Debug)]
pub struct PacketCorruption(LinkFault);

const DELAYED: Signals = Signals { proxy: Some("proxy-delayed-chunks"), packets: "delayed-packets", filter: false };
const THROTTLED: Signals =
    Signals { proxy: Some("proxy-throttled-bytes"), packets: "throttled-packets", filter: false };

const fn by_switch(packets: &'static str) -> Signals {
    Signals { proxy: None, packets, filter: false }
}

impl Latency {
    /// Delays what travels between `a` and `b` by `mean` plus or minus up to `jitter`.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
        mean: Duration,
        jitter: Duration,
    ) -> Latency {
        Latency(both_ways("latency", DELAYED, Treatment::Delay { mean, jitter }, &Sides::new(a, b)))
    }
}

impl SlowFollower {
    /// Delays what travels between `node` and `others` by `mean` plus or minus up to `jitter`.
    pub fn new<S: Into<String>>(
        node: impl Into<String>,
        others: impl IntoIterator<Item = S>,
        mean: Duration,
        jitter: Duration,
    ) -> SlowFollower {
        let mut sides = Sides::new([node], others);
        sides.victims = sides.a.clone();
        SlowFollower(both_ways("slow-follower", DELAYED, Treatment::Delay { mean, jitter }, &sides))
    }
}

impl BandwidthCap {
    /// Caps what travels between `a` and `b` at `bytes_per_second` in each direction.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
        bytes_per_second: u64,
    ) -> BandwidthCap {
        let treatment = Treatment::Throttle { bytes_per_second };
        BandwidthCap(both_ways("bandwidth-cap", THROTTLED, treatment, &Sides::new(a, b)))
    }
}

impl PacketLoss {
    /// Drops packets between `a` and `b` with probability `share`.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
        share: f64,
    ) -> PacketLoss {
        PacketLoss(both_ways("packet-loss", LOST, Treatment::Lose { share }, &Sides::new(a, b)))
    }
}

impl PacketDuplication {
    /// Delivers packets between `a` and `b` twice with probability `share`.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
        share: f64,
    ) -> PacketDuplication {
        let (name, signals) = ("packet-duplication", by_switch("duplicated-packets"));
        PacketDuplication(both_ways(name, signals, Treatment::Duplicate { share }, &Sides::new(a, b)))
    }
}

impl PacketReordering {
    /// Holds packets between `a` and `b` back by `by`, with probability `share`.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
        share: f64,
        by: Duration,
    ) -> PacketReordering {
        let (name, signals) = ("packet-reordering", by_switch("reordered-packets"));
        PacketReordering(both_ways(name, signals, Treatment::Reorder { share, by }, &Sides::new(a, b)))
    }
}

impl PacketCorruption {
    /// Flips a bit of packets between `a` and `b` with probability `share`.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
        share: f64,
    ) -> PacketCorruption {
        let (name, signals) = ("packet-corruption", by_switch("corrupted-packets"));
        PacketCorruption(both_ways(name, signals, Treatment::Corrupt { share }, &Sides::new(a, b)))
    }
}

fn both_ways(name: &'static str, signals: Signals, treatment: Treatment, sides: &Sides) -> LinkFault {
    let detail = format!("{}: {treatment}", sides.detail("<~>"));
    LinkFault::between(name, signals, detail, treatment, sides, true)
}

nemesis_on_links!(
    Latency,
    SlowFollower,
    BandwidthCap,
    PacketLoss,
    PacketDuplication,
    PacketReordering,
    PacketCorruption
);
