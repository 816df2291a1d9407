//! L4: nemeses: what they do to a system, what shows that they did it, and how it is undone on every exit path.

pub mod containers;
mod contract;
pub mod failpoints;
mod journal;
mod leftover;
mod meters;
mod needs;
pub mod net;
mod network;
mod on_cluster;
mod on_links;
mod on_processes;
mod on_versions;
mod plane;
mod process;
pub mod procfs;
pub mod proxy;
pub mod resources;
pub mod storage;
mod sys;
pub mod time;
mod together;
mod trigger;

pub(crate) use crate::recorder::Clock;
pub use containers::{ContainerFault, DockerCompose, KubeFault, Kubernetes};
pub use contract::Nemesis;
pub use failpoints::Failpoint;
pub use journal::{Act, JOURNAL_FILE, Journal, journaled_injections, read_journal};
pub(crate) use leftover::RUN_VARIABLE;
pub use leftover::{Keeper, Left, Undone, keeper, left_behind, undo, undo_journal};
pub(crate) use meters::{Meters, shape_of};
pub use needs::Lacks;
pub use network::Network;
pub use on_cluster::RollingRestart;
pub use on_links::{
    AsymmetricDataCut, AsymmetricPartition, BandwidthCap, BridgePartition, ConnectionLoss, FullPartition, Latency,
    LeaderIsolation, MajoritySidePartition, MetadataStoreOutage, MinoritySidePartition, PacketCorruption,
    PacketDuplication, PacketLoss, PacketReordering, RingPartition, SlowFollower, SplitBrain, link,
};
pub(crate) use on_processes::join_all;
pub use on_processes::{GracefulStop, HardKill, Pause, Restart};
pub use on_versions::{MixedVersion, RollingUpgrade};
pub(crate) use plane::Tools;
pub use plane::{BoxFuture, Nodes, Plane};
pub use process::{Exit, Launcher, Process};
pub use proxy::ProxyNet;
pub use resources::{CgroupFreeze, CpuThrottle, MemoryLimit};
pub use storage::{
    BitFlip, Disk, DiskFailure, DiskFull, FsyncFailure, PowerLoss, SlowDisk, SlowSync, StorageCorruption,
};
pub use time::{ClockJump, ClockSkew, SlowClock};
pub use together::{Composition, InTurn, Together};
pub use trigger::Trigger;
pub(crate) use trigger::{Ask, Event};
