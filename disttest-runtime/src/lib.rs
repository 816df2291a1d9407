//! Harness library of `cargo disttest`.
//!
//! A test gathers facts; a pure function turns facts into one of ten verdicts; nothing else can make one.
//! The modules form layers (see `ARCHITECTURE.md`): each may import lower layers only.
#![forbid(unsafe_op_in_unsafe_fn)]

pub mod base;

pub mod fault;
pub mod history;
pub mod plan;
pub mod txn;

pub mod checker;
pub mod model;

pub mod audit;
pub mod report;
pub mod verdict;

pub mod cluster;
pub mod harness;
pub mod nemesis;
pub mod recorder;
pub mod run;
pub mod session;
pub mod verify;

pub use disttest_macros::scenario;
pub use harness::main_of_tests;

/// Result of scenario code: any error a scenario returns means that its oracle never judged.
pub type Result<T, E = anyhow::Error> = std::result::Result<T, E>;

/// What a scenario file imports.
pub mod prelude {
    pub use crate::Result;
    pub use crate::checker::{
        Bank, Compose, Conservation, CounterBounds, Differential, Dimension, ExactlyOnce, Exclusion, Fairness,
        Freshness, Invariant, Kafka, Linearizability, Liveness, LongFork, Measure, MetricSlo, MonotonicRead, NoLostAck,
        Percentile, PrefixOrder, Quiescence, ReconciliationAcrossReplicas, Replay, ReplayEquivalence, Rule,
        SequentialConsistency, Serializability, SessionConsistency, Set, SetFull, StatisticalBaseline, TotalQueue,
        UniqueIds,
    };
    pub use crate::cluster::{Cluster, NodeSpec, Program};
    pub use crate::fault::{FaultBudget, Hit, Kind, Schedule, Shape};
    pub use crate::model::{
        CasRegister, Counter, Kv, Lease, Ledger, Log, MapModel, MembershipTable, MultiRegister, Mutex, Queue, Register,
        Session, SetModel, Stack,
    };
    pub use crate::nemesis::{
        AsymmetricDataCut, AsymmetricPartition, BandwidthCap, BitFlip, BoxFuture, BridgePartition, CgroupFreeze,
        ClockJump, ClockSkew, ConnectionLoss, ContainerFault, CpuThrottle, Disk, DiskFailure, DiskFull, DockerCompose,
        Failpoint, FsyncFailure, FullPartition, GracefulStop, HardKill, InTurn, KubeFault, Kubernetes, Latency,
        LeaderIsolation, MajoritySidePartition, MemoryLimit, MetadataStoreOutage, MinoritySidePartition, MixedVersion,
        Nemesis, PacketCorruption, PacketDuplication, PacketLoss, PacketReordering, Pause, Plane, PowerLoss, Restart,
        RingPartition, RollingRestart, RollingUpgrade, SlowClock, SlowDisk, SlowFollower, SlowSync, SplitBrain,
        StorageCorruption, Together, Trigger,
    };
    pub use crate::run::{
        CallError, CheckLimits, Client, Control, Evidence, Faults, Hook, Injected, Judged, Landed, Oracle, Probe,
        Quiescent, Recorded, Run, Target, Workload, WorkloadBuilder,
    };
    pub use serde_json::{Value, json};
}

/// Marks a region that nobody has filled. Compiles in any place that wants a value; the scenario it stands in is
/// NOT-RUN, with the name of the region, and so is every scenario of a file that has one outside of them.
#[macro_export]
macro_rules! todo {
    ($name:literal) => {{
        $crate::__private::inventory::submit! {
            $crate::harness::UnfilledRegion {
                name: $name,
                module: ::core::module_path!(),
                file: ::core::file!(),
                line: ::core::line!(),
            }
        }
        $crate::__private::unfilled($name)
    }};
}

/// What the macros expand to. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    use crate::run::{Judged, Run};
    pub use inventory;

    /// Never reached: the harness runs no scenario that has such a region.
    pub fn unfilled<T>(region: &str) -> T {
        panic!("region `{region}` is not filled")
    }

    /// Runs a sync scenario on the thread of its run, where `Run::block_on` works.
    pub fn blocking(scenario: fn(Run) -> crate::Result<Judged>, run: Run) -> crate::Result<Judged> {
        tokio::task::block_in_place(|| scenario(run))
    }
}
