//! Nemeses that act on the links between places: cuts of many shapes, and what makes links bad.
//!
//! Each acts by what the run has: namespaces (a packet filter, a switch) or the proxy. The declared injector signal
//! decides which; what that cannot do is an error, never something weaker. Sides are lists of nodes; `client` stands for
//! all clients. Unless victims are named, the smaller side is the victim (the first when they are equal).
//!
//! | nemesis | what happens | proxy | packet filter | switch |
//! |---|---|---|---|---|
//! | [`FullPartition`], [`MinoritySidePartition`], [`MajoritySidePartition`], [`BridgePartition`], [`RingPartition`], [`LeaderIsolation`], [`SplitBrain`] | packets dropped both ways | payload | yes | yes |
//! | [`AsymmetricPartition`] | packets dropped one way; TCP stands still both ways | no | yes | yes |
//! | [`AsymmetricDataCut`] | payload dropped one way; acknowledgements pass | yes | yes | yes |
//! | [`MetadataStoreOutage`] | packets of one port dropped both ways | the link | yes | yes |
//! | [`PacketLoss`] | packets dropped at random | no | yes | yes |
//! | [`Latency`], [`SlowFollower`], [`BandwidthCap`] | packets or payload wait | yes | no | yes |
//! | [`PacketDuplication`], [`PacketReordering`], [`PacketCorruption`] | packets doubled, overtaken, damaged | no | no | yes |
//! | [`ConnectionLoss`] | connections reset, once | yes | no | no |
//!
//! Evidence: what was dropped (or delayed, and so on) on each way, at `link n1->n2`, by the signals `proxy-dropped-bytes`,
//! `iptables-dropped-packets`, `nft-dropped-packets`, `switch-dropped-packets` and their like. Cleanup: rules are taken
//! back and read back; with namespaces everything ends with the run by construction.

mod bad;
mod cuts;
mod leader;
mod reset;
mod sides;

#[cfg(test)]
pub(super) mod tests;

pub use bad::{BandwidthCap, Latency, PacketCorruption, PacketDuplication, PacketLoss, PacketReordering, SlowFollower};
pub use cuts::{
    AsymmetricDataCut, AsymmetricPartition, BridgePartition, FullPartition, MajoritySidePartition, MetadataStoreOutage,
    MinoritySidePartition, RingPartition,
};
pub use leader::{LeaderIsolation, SplitBrain};
pub use reset::ConnectionLoss;
pub use sides::link;
use sides::{LinkFault, Sides, nemesis_on_links};
