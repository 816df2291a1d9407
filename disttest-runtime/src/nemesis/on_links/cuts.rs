//! Cuts: partitions of any shape.

use super::super::contract::names;
use super::super::net::{End, Treatment};
use super::sides::{DROPPED, LOST};
use super::{LinkFault, Sides, nemesis_on_links};

/// `full-partition`: nothing passes between two sides, in either direction.
///
/// Clients reach both sides. Behind the proxy payload is swallowed, and connections that lost bytes are reset at the heal;
/// with namespaces packets are dropped, and TCP goes on after the heal when its timers fire.
#[derive(Debug)]
pub struct FullPartition(pub(super) LinkFault);

/// `asymmetric-partition`: packets from one side to the other are dropped; those that travel back are delivered.
///
/// TCP needs acknowledgements, so its connections stand still both ways within moments: what travels back is delivered
/// until the sender's window is full. Datagrams still flow one way. To keep one direction of TCP alive, cut the data
/// alone: [`AsymmetricDataCut`]. Needs namespaces.
#[derive(Debug)]
pub struct AsymmetricPartition(LinkFault);

/// `asymmetric-data-cut`: payload from one side to the other is dropped; what travels back is delivered.
///
/// TCP itself goes on in both directions, so connections stay open and silent one way (a cut of packets in one
/// direction would kill both within a fraction of a second). Behind the proxy connections that lost bytes are reset at the
/// heal; elsewhere TCP sends again what was lost.
#[derive(Debug)]
pub struct AsymmetricDataCut(LinkFault);

/// `minority-side-partition`: a minority is cut off from the majority, both ways. Clients reach both.
///
/// The minority is the victim: it must not make progress, and the majority should.
#[derive(Debug)]
pub struct MinoritySidePartition(LinkFault);

/// `majority-side-partition`: nothing reaches the majority from outside, neither from the minority nor from clients, and
/// nothing gets out.
///
/// The majority is the victim: whoever depends on it must see that there is no progress.
#[derive(Debug)]
pub struct MajoritySidePartition(LinkFault);

/// `bridge-partition`: two sides that see each other only through one node, which sees both.
#[derive(Debug)]
pub struct BridgePartition(LinkFault);

/// `ring-partition`: each node sees only its two neighbours in a ring, so that every node sees a majority of three and no
/// two of them the same. Four nodes at least, or nothing is cut.
#[derive(Debug)]
pub struct RingPartition(LinkFault);

/// `metadata-store-outage`: what depends on a store (a configuration service, a name service) reaches its port no more.
/// Everything else passes between the same nodes.
#[derive(Debug)]
pub struct MetadataStoreOutage(LinkFault);

impl FullPartition {
    /// Separates `a` from `b`.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
    ) -> FullPartition {
        FullPartition(two_sides("full-partition", &Sides::new(a, b)))
    }
}

impl AsymmetricPartition {
    /// Drops packets from each of `from` to each of `to`.
    pub fn new<S: Into<String>, T: Into<String>>(
        from: impl IntoIterator<Item = S>,
        to: impl IntoIterator<Item = T>,
    ) -> AsymmetricPartition {
        let (name, sides) = ("asymmetric-partition", Sides::new(from, to));
        let detail = sides.detail("-/> (packets)");
        AsymmetricPartition(LinkFault::between(name, LOST, detail, Treatment::Cut, &sides, false))
    }
}

impl AsymmetricDataCut {
    /// Drops payload from each of `from` to each of `to`.
    ///
    /// Cut off from `to`, a node in `from` gets no request out, and its peers in `to` get no reply of it.
    pub fn new<S: Into<String>, T: Into<String>>(
        from: impl IntoIterator<Item = S>,
        to: impl IntoIterator<Item = T>,
    ) -> AsymmetricDataCut {
        let (name, sides) = ("asymmetric-data-cut", Sides::new(from, to));
        let detail = sides.detail("-/>");
        AsymmetricDataCut(LinkFault::between(name, DROPPED, detail, Treatment::CutData, &sides, false))
    }
}

impl MinoritySidePartition {
    /// Cuts `minority` off from `majority`.
    pub fn new<S: Into<String>, T: Into<String>>(
        minority: impl IntoIterator<Item = S>,
        majority: impl IntoIterator<Item = T>,
    ) -> MinoritySidePartition {
        let mut sides = Sides::new(minority, majority);
        sides.victims = sides.a.clone();
        MinoritySidePartition(two_sides("minority-side-partition", &sides))
    }
}

impl MajoritySidePartition {
    /// Cuts `majority` off from `minority` and from the clients.
    pub fn new<S: Into<String>, T: Into<String>>(
        majority: impl IntoIterator<Item = S>,
        minority: impl IntoIterator<Item = T>,
    ) -> MajoritySidePartition {
        let mut sides = Sides::new(majority, names(minority).into_iter().chain(["client".to_owned()]));
        sides.victims = sides.a.clone();
        MajoritySidePartition(two_sides("majority-side-partition", &sides))
    }
}

impl BridgePartition {
    /// Separates `a` from `b`; whoever is in neither sees both.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
        bridge: impl Into<String>,
    ) -> BridgePartition {
        let (sides, bridge) = (Sides::new(a, b), bridge.into());
        let mut fault = two_sides("bridge-partition", &sides);
        fault.detail = format!("{}, {bridge} sees both", fault.detail);
        // The bridge itself on a side would be no bridge: then nothing is cut, which is an error of the injection.
        if sides.a.contains(&bridge) || sides.b.contains(&bridge) {
            fault.acts = vec![(Treatment::Cut, Vec::new())];
        }
        BridgePartition(fault)
    }
}

impl RingPartition {
    /// Leaves each of `nodes` its neighbours in this order, the last and the first being neighbours.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>) -> RingPartition {
        let nodes = names(nodes);
        let count = nodes.len();
        let apart = |i: usize, j: usize| i != j && (i + 1) % count != j && (j + 1) % count != i;
        let pairs = (0..count).flat_map(|i| (0..count).map(move |j| (i, j))).filter(|(i, j)| apart(*i, *j));
        let ways = pairs.map(|(i, j)| (nodes[i].clone(), nodes[j].clone())).collect();
        let (name, detail) = ("ring-partition", format!("each sees its neighbours: {}", nodes.join(" - ")));
        let acts = vec![(Treatment::Cut, ways)];
        RingPartition(LinkFault { name, signals: DROPPED, detail, victims: nodes, acts })
    }
}

impl MetadataStoreOutage {
    /// Cuts `nodes` off from TCP and UDP port `port` of the node `store`. The nodes are the victims. Behind the proxy,
    /// whose links carry one port, the whole link is cut.
    pub fn new<S: Into<String>>(
        nodes: impl IntoIterator<Item = S>,
        store: impl Into<String>,
        port: u16,
    ) -> MetadataStoreOutage {
        let mut sides = Sides::new(nodes, [store]);
        sides.victims = sides.a.clone();
        let detail = format!("{}:{port}", sides.detail("</>"));
        let back = Sides::new(sides.b.clone(), sides.a.clone());
        let acts = vec![
            (Treatment::CutPort { port, of: End::Receiver }, sides.ways(false)),
            (Treatment::CutPort { port, of: End::Sender }, back.ways(false)),
        ];
        let (name, victims) = ("metadata-store-outage", sides.victims);
        MetadataStoreOutage(LinkFault { name, signals: DROPPED, detail, victims, acts })
    }
}

/// Nothing passes between two sides.
pub(super) fn two_sides(name: &'static str, sides: &Sides) -> LinkFault {
    LinkFault::between(name, DROPPED, sides.detail("</>"), Treatment::Cut, sides, true)
}

nemesis_on_links!(
    FullPartition,
    AsymmetricPartition,
    AsymmetricDataCut,
    MinoritySidePartition,
    MajoritySidePartition,
    BridgePartition,
    RingPartition,
    MetadataStoreOutage
);
