//! How the runtime's nemeses work: mechanism, cleanup, and what each needs of the machine and of the test.

/// What there is to know of a nemesis beside its evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct How {
    /// Canonical name of the nemesis.
    pub nemesis: &'static str,
    /// What it does.
    pub mechanism: &'static str,
    /// How it is undone, at the heal and after a run that was killed.
    pub cleanup: &'static str,
    /// What it needs.
    pub needs: &'static str,
}

const fn how(nemesis: &'static str, mechanism: &'static str, cleanup: &'static str, needs: &'static str) -> How {
    How { nemesis, mechanism, cleanup, needs }
}

const STARTED: &str = "the nodes are started again; processes of a killed run end with it";
const DETACHED: &str = "the tracer detaches, which the kernel confirms; it ends with a killed run";
const UNMOUNTED: &str =
    "what is wrong with the disk ends; disks are journaled and unmounted, by the next start after a kill";
const UNGROUPED: &str = "processes move back and the group is removed; groups are journaled, thawed and removed by the next start after a kill";
const STRAIGHTENED: &str = "the functions are put back; a killed run leaves nothing, its processes end";
const FAULTY: &str = "`Program::disk(Disk::Faulty)`, the feature `fuse` of disttest-runtime, and /dev/fuse";
const STRACE: &str = "strace, and the right to trace one's own children";
const PTRACE: &str = "x86-64 Linux, and the right to trace one's own children";
const CGROUP: &str = "the right to make control groups: root, or a delegated hierarchy";
const PROCESS: &str = "nothing";
const CLIENT: &str = "the client (`docker` with compose, or `kubectl`) and containers that it may act on; no live cluster of containers ran in \
     this project's tests";
const VARIANT: &str = "`Program::variant` with another binary, and data that both read";
const HOOK: &str = "code of the test's own (`Hook`) and evidence for it (`Evidence`), which the workload reads";
const HOOKED: &str = "the hook's own; what it did to the nodes ends with them";

/// All that are known, in the order of their names in the format.
pub const HOW: &[How] = &[
    how("hard-kill", "SIGKILL to the nodes, all at once", STARTED, PROCESS),
    how("graceful-stop", "SIGTERM to the nodes, one after the other", STARTED, PROCESS),
    how(
        "pause",
        "SIGSTOP, seen in every task",
        "SIGCONT, seen in a task; a paused node of a killed run is killed",
        PROCESS,
    ),
    how(
        "container-restart",
        "`docker compose restart` (`ContainerFault`), `kubectl delete pod` (`KubeFault`), or the user's own code (`Hook`)",
        "waits until it runs again",
        CLIENT,
    ),
    how(
        "disk-full",
        "a file beside the node's folder takes all free space, and what the node frees",
        "the file is removed, and space is free again; disks are journaled and unmounted, by the next start after a kill",
        "`Program::disk(Disk::sized(bytes))`, which mounts a tmpfs: root, or a user namespace",
    ),
    how("power-loss", "SIGKILL, then every write since the last sync of its file is undone", STARTED, FAULTY),
    how(
        "slow-disk",
        "calls wait at the disk (`SlowDisk`), or syncs at strace (`SlowSync`)",
        UNMOUNTED,
        "a faulty disk as for `power-loss`, or strace",
    ),
    how("bit-flip", "each read that reaches the disk has a bit flipped", UNMOUNTED, FAULTY),
    how(
        "fsync-failure",
        "fsync and fdatasync answer EIO, by strace (`FsyncFailure`) or by the disk (`DiskFailure`)",
        DETACHED,
        STRACE,
    ),
    how(
        "storage-corruption",
        "bits are flipped in files, or their ends cut off, behind the node's back",
        "what still reads as it was damaged is put back; a killed run leaves damaged files in its own folder",
        PROCESS,
    ),
    how("backup-restore-race", "a backup and its restore under load, by the hook", HOOKED, HOOK),
    how("clock-skew", "the vDSO's clocks of the node's processes are replaced, by ptrace", STRAIGHTENED, PTRACE),
    how("slow-clock", "as for `clock-skew`, with another rate", STRAIGHTENED, PTRACE),
    how("rolling-restart", "SIGTERM and start, one node after the other, or whoever leads", STARTED, PROCESS),
    how(
        "mixed-version-cluster",
        "SIGTERM, and a start as another variant of the program (`MixedVersion`), or the user's own code (`Hook`)",
        "the nodes go back to what they ran; processes of a killed run end with it",
        VARIANT,
    ),
    how(
        "rolling-upgrade",
        "SIGTERM, and a start as another variant, one node after the other (`RollingUpgrade`), or the user's own code (`Hook`)",
        "an upgrade that was cut short is finished; processes of a killed run end with it",
        VARIANT,
    ),
    how("config-divergence", "another configuration on some nodes, by the hook", HOOKED, HOOK),
    how("credential-divergence", "a secret rotated on some nodes, by the hook", HOOKED, HOOK),
    how("compaction-during-reads", "a compaction started under reads, by the hook", HOOKED, HOOK),
    how("rebalancing-during-writes", "membership or placement changed under writes, by the hook", HOOKED, HOOK),
    how("restart", "SIGTERM and an immediate start, one node after the other", STARTED, PROCESS),
    how("clock-jump", "as for `clock-skew`, ahead and back again and again", STRAIGHTENED, PTRACE),
    how("cgroup-freeze", "the kernel's freezer", UNGROUPED, CGROUP),
    how("cpu-throttle", "a quota of processor time for all threads of the node", UNGROUPED, CGROUP),
    how("memory-limit", "a limit on what the node allocates from then on", UNGROUPED, CGROUP),
    how("write-failure", "writes answer EIO at the disk", UNMOUNTED, FAULTY),
    how(
        "container-kill",
        "`docker compose kill`",
        "`docker compose start`, seen by `docker inspect`; journaled",
        CLIENT,
    ),
    how(
        "container-pause",
        "`docker compose pause`",
        "`docker compose unpause`, seen by `docker inspect`; journaled",
        CLIENT,
    ),
    how(
        "container-disconnect",
        "`docker network disconnect`",
        "`docker network connect`, seen by `docker inspect`; journaled",
        CLIENT,
    ),
    how("pod-delete", "`kubectl delete pod`", "waits until a pod of that name runs and is ready", CLIENT),
    how("scale-down", "`kubectl scale`", "`kubectl scale` to as many replicas as before; journaled", CLIENT),
    how("cordon", "`kubectl cordon`", "`kubectl uncordon`; journaled", CLIENT),
    how(
        "failpoint",
        "a line on the node's control socket arms the failpoint",
        "another line disarms it; it ends with the node",
        "`Program::failpoints`, and a node that listens: see `nemesis::failpoints`",
    ),
];

impl How {
    /// What is known of the nemesis with this canonical name.
    pub fn of(nemesis: &str) -> Option<&'static How> {
        HOW.iter().find(|how| how.nemesis == nemesis)
    }
}

#[cfg(test)]
mod tests {
    use super::super::NEMESES;
    use super::*;

    #[test]
    fn what_is_told_is_told_of_nemeses_that_the_runtime_has_in_their_order() {
        let known: Vec<&str> = NEMESES.iter().filter(|n| !n.signals.is_empty()).map(|n| n.name.id).collect();
        let told: Vec<&str> = HOW.iter().map(|how| how.nemesis).collect();
        let in_order: Vec<&str> = known.into_iter().filter(|id| told.contains(id)).collect();
        assert_eq!(told, in_order);
        assert!(HOW.iter().all(|how| ![how.mechanism, how.cleanup, how.needs].contains(&"")));
    }
}
