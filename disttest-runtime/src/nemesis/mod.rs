//! L4: nemeses: what they do to a system, what shows that they did it, and how it is undone on every exit path.

mod contract;
mod journal;
pub mod net;
mod network;
mod on_links;
mod on_processes;
mod plane;
mod process;
pub mod procfs;
pub mod proxy;
mod sys;

pub(crate) use crate::recorder::Clock;
pub use contract::Nemesis;
pub use journal::{Act, JOURNAL_FILE, Journal, journaled_injections, read_journal, undo_journal};
pub use network::Network;
pub use on_links::{
    AsymmetricDataCut, AsymmetricPartition, BandwidthCap, BridgePartition, ConnectionLoss, FullPartition, Latency,
    LeaderIsolation, MajoritySidePartition, MetadataStoreOutage, MinoritySidePartition, PacketCorruption,
    PacketDuplication, PacketLoss, PacketReordering, RingPartition, SlowFollower, SplitBrain, link,
};
pub use on_processes::{GracefulStop, HardKill, Pause, Restart};
pub use plane::{BoxFuture, Nodes, Plane};
pub use process::{Exit, Launcher, Process};
pub use proxy::ProxyNet;
