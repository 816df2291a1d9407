//! Nemeses: the 33 rows of format §6, and those of the TCP proxy and the process nemeses that the runtime brings.

use super::{Name, common, name};

/// A nemesis a plan may name.
#[derive(Clone, Copy, Debug)]
pub struct Nemesis {
    /// Name and aliases.
    pub name: Name,
    /// Row of format §6; 0 for one of the runtime's own.
    pub row: u8,
    /// Group of format §6.
    pub group: &'static str,
    /// Injector signals of the runtime that can prove it; empty where the runtime has no such nemesis.
    pub signals: &'static [&'static str],
    /// Landing evidence, in the words of format §6.
    pub evidence: &'static str,
}

const fn row(row: u8, group: &'static str, name: Name, evidence: &'static str) -> Nemesis {
    Nemesis { name, row, group, signals: &[], evidence }
}

const fn proven(mut nemesis: Nemesis, signals: &'static [&'static str]) -> Nemesis {
    nemesis.signals = signals;
    nemesis
}

const EXIT: &[&str] = &["process-exit"];
const DROPPED: &[&str] =
    &["proxy-dropped-bytes", "iptables-dropped-packets", "nft-dropped-packets", "switch-dropped-packets"];
const LOST: &[&str] = &["iptables-dropped-packets", "nft-dropped-packets", "switch-dropped-packets"];
const DELAYED: &[&str] = &["proxy-delayed-chunks", "switch-delayed-packets"];
const SKEWED: &[&str] = &["clock-skewed-calls"];
const UPGRADED: &[&str] = &["process-upgraded", "hook"];
/// What the user's own evidence of a hook shows.
const HOOK: &[&str] = &["hook"];

/// All nemeses, in the order of format §6, then the runtime's own.
pub const NEMESES: &[Nemesis] = &[
    proven(
        row(1, "process", name("hard-kill", &["hard kill", "kill -9", "sigkill"]), "exit log line, restart timestamp"),
        EXIT,
    ),
    proven(
        row(2, "process", name("graceful-stop", &["graceful stop", "kill -term", "sigterm"]), "shutdown log lines"),
        EXIT,
    ),
    proven(
        row(
            3,
            "process",
            common("pause", &["gc pause", "gc-pause", "freeze", "kill -stop", "sigstop"]),
            "gap in heartbeat log",
        ),
        &["process-stopped"],
    ),
    proven(
        row(
            4,
            "process",
            name("container-restart", &["container restart", "docker restart", "pod kill"]),
            "container event",
        ),
        &["container-restarted", "kube-pod-deleted", "hook"],
    ),
    proven(
        row(5, "network", name("full-partition", &["full partition"]), "dropper counters, RPC timeouts on both sides"),
        DROPPED,
    ),
    proven(
        row(6, "network", name("asymmetric-partition", &["asymmetric partition"]), "timeouts on one side only"),
        LOST,
    ),
    proven(row(7, "network", name("packet-loss", &["packet loss"]), "netem statistics, RPC retries"), LOST),
    proven(
        row(
            8,
            "network",
            common("latency", &["latency-injection", "latency injection"]),
            "RPC latency histogram shift",
        ),
        DELAYED,
    ),
    proven(
        row(9, "network", name("bandwidth-cap", &["bandwidth cap"]), "throughput drop"),
        &["proxy-throttled-bytes", "switch-throttled-packets"],
    ),
    proven(
        row(
            10,
            "network",
            name("minority-side-partition", &["minority-side partition", "minority partition"]),
            "minority times out, majority continues",
        ),
        DROPPED,
    ),
    proven(
        row(
            11,
            "network",
            name("majority-side-partition", &["majority-side partition", "majority partition"]),
            "the majority's quorum makes no progress",
        ),
        DROPPED,
    ),
    proven(
        row(
            12,
            "network",
            name("leader-isolation", &["leader isolation"]),
            "leader sees silent peers, quorum re-elects",
        ),
        DROPPED,
    ),
    proven(
        row(13, "network", name("packet-duplication", &["packet duplication"]), "duplicate-packet counters"),
        &["switch-duplicated-packets"],
    ),
    proven(
        row(14, "network", name("packet-reordering", &["packet reordering"]), "out-of-order counter"),
        &["switch-reordered-packets"],
    ),
    proven(
        row(
            15,
            "network",
            name("metadata-store-outage", &["metadata-store outage", "metadata store outage"]),
            "dependent operations fail",
        ),
        DROPPED,
    ),
    proven(row(16, "storage", name("disk-full", &["disk full"]), "write errors of the SUT"), &["disk-exhausted"]),
    proven(
        row(
            17,
            "storage",
            name("power-loss", &["power loss", "fsync loss", "fsync-loss"]),
            "crash, mismatch on recovery",
        ),
        &["disk-lost-bytes"],
    ),
    proven(
        row(18, "storage", name("slow-disk", &["slow disk"]), "IO latency shift"),
        &["disk-delayed-calls", "syscall-injections"],
    ),
    proven(row(19, "storage", name("bit-flip", &["bit flip"]), "checksum failures"), &["disk-flipped-bits"]),
    proven(
        row(20, "storage", name("fsync-failure", &["fsync failure"]), "recovery uncovers lost writes"),
        &["disk-failed-calls", "syscall-injections"],
    ),
    proven(
        row(
            21,
            "storage",
            name("storage-corruption", &["storage corruption"]),
            "checksum or integrity errors surfaced",
        ),
        &["disk-corrupted-bytes"],
    ),
    proven(
        row(
            22,
            "storage",
            name("backup-restore-race", &["backup/restore race", "backup-restore race"]),
            "restore markers in the log",
        ),
        HOOK,
    ),
    proven(row(23, "time", name("clock-skew", &["clock skew"]), "timestamp drift in logs"), SKEWED),
    proven(row(24, "time", name("slow-clock", &["slow clock"]), "derived metrics drift"), SKEWED),
    proven(
        row(
            25,
            "cluster",
            name("rolling-restart", &["rolling restart", "rolling-restart-wrong-order"]),
            "leadership changes during restarts",
        ),
        &["process-restarted"],
    ),
    proven(
        row(
            26,
            "cluster",
            name("split-brain", &["split brain", "split-brain attempt", "split-brain-attempt"]),
            "competing-leader lines on both sides",
        ),
        DROPPED,
    ),
    proven(row(27, "cluster", name("slow-follower", &["slow follower"]), "per-node latency skew"), DELAYED),
    proven(
        row(
            28,
            "cluster",
            name("mixed-version-cluster", &["mixed-version cluster", "mixed version cluster"]),
            "version-mismatch lines",
        ),
        UPGRADED,
    ),
    proven(row(29, "cluster", name("rolling-upgrade", &["rolling upgrade"]), "per-node version flip"), UPGRADED),
    proven(row(30, "cluster", name("config-divergence", &["config divergence"]), "value read by introspection"), HOOK),
    proven(
        row(
            31,
            "cluster",
            name("credential-divergence", &["credential divergence", "auth divergence"]),
            "auth-failure counter on the stale node",
        ),
        HOOK,
    ),
    proven(
        row(
            32,
            "cluster",
            name("compaction-during-reads", &["compaction during reads", "gc during reads"]),
            "compaction-active line, read latency skew",
        ),
        HOOK,
    ),
    proven(
        row(
            33,
            "cluster",
            name("rebalancing-during-writes", &["rebalancing during writes", "reconfiguration during writes"]),
            "rebalance metric, ownership transitions",
        ),
        HOOK,
    ),
    proven(
        row(
            0,
            "network",
            name("asymmetric-data-cut", &["asymmetric data cut", "one-way data cut"]),
            "payload bytes swallowed in one direction",
        ),
        DROPPED,
    ),
    proven(
        row(
            0,
            "network",
            name("connection-loss", &["connection loss", "loss of connections"]),
            "connections reset at the proxy",
        ),
        &["proxy-reset-connections"],
    ),
    proven(
        row(
            0,
            "network",
            name("bridge-partition", &["bridge partition"]),
            "packets dropped between two sides that one node sees both of",
        ),
        DROPPED,
    ),
    proven(
        row(0, "network", name("ring-partition", &["ring partition"]), "packets dropped between all but neighbours"),
        DROPPED,
    ),
    proven(
        row(0, "network", name("packet-corruption", &["packet corruption"]), "packets with a bit flipped"),
        &["switch-corrupted-packets"],
    ),
    proven(
        row(0, "process", common("restart", &["process restart"]), "new process under the same name"),
        &["process-restarted", "process-exit"],
    ),
    proven(row(0, "time", name("clock-jump", &["clock jump", "clock strobe"]), "wrong time handed out"), SKEWED),
    proven(
        row(0, "process", name("cgroup-freeze", &["cgroup freeze", "freezer"]), "state of the control group"),
        &["cgroup-frozen"],
    ),
    proven(
        row(0, "process", name("cpu-throttle", &["cpu throttle", "cpu quota"]), "periods in which it was throttled"),
        &["cgroup-throttled"],
    ),
    proven(
        row(0, "process", name("memory-limit", &["memory limit"]), "times that the limit was hit"),
        &["cgroup-memory-failures"],
    ),
    proven(
        row(0, "storage", name("write-failure", &["write failure", "write errors"]), "calls that failed"),
        &["disk-failed-calls"],
    ),
    proven(
        row(0, "process", name("container-kill", &["container kill"]), "state of the container"),
        &["container-exited"],
    ),
    proven(
        row(0, "process", name("container-pause", &["container pause"]), "state of the container"),
        &["container-paused"],
    ),
    proven(
        row(0, "network", name("container-disconnect", &["container disconnect"]), "networks of the container"),
        &["container-disconnected"],
    ),
    proven(row(0, "process", name("pod-delete", &["pod delete"]), "another uid of the pod"), &["kube-pod-deleted"]),
    proven(
        row(0, "cluster", name("scale-down", &["scale down"]), "replicas asked for and ready"),
        &["kube-scaled-down"],
    ),
    proven(
        row(0, "cluster", name("cordon", &["kubectl cordon"]), "the machine is unschedulable"),
        &["kube-node-cordoned"],
    ),
    proven(row(0, "process", name("failpoint", &["fail point"]), "hits of the failpoint"), &["failpoint-hits"]),
];

/// Between the names of nemeses that a plan has act together, as in `full-partition + hard-kill`.
pub const TOGETHER: &str = " + ";

/// The nemeses that a name joins by [`TOGETHER`]; the name of one is that one.
pub fn parts_of(nemesis: &str) -> impl Iterator<Item = &str> {
    nemesis.split(TOGETHER)
}

impl Nemesis {
    /// The nemesis with this canonical name.
    pub fn find(id: &str) -> Option<&'static Nemesis> {
        NEMESES.iter().find(|n| n.name.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::super::SIGNALS;
    use super::*;

    #[test]
    fn the_thirty_three_rows_of_the_format_stand_in_order() {
        let rows: Vec<u8> = NEMESES.iter().map(|n| n.row).filter(|r| *r > 0).collect();
        assert_eq!(rows, (1..=33).collect::<Vec<u8>>());
    }

    #[test]
    fn every_signal_of_a_nemesis_is_an_injector_signal() {
        for signal in NEMESES.iter().flat_map(|n| n.signals) {
            let known = SIGNALS.iter().find(|s| s.name.id == *signal).expect("a known signal");
            assert_eq!(known.side, super::super::Side::Injector);
        }
    }
}
