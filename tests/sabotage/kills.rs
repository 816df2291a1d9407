//! Runs that are killed with SIGKILL at random moments, and healed: everything is as it was before, strangers included.
//!
//! A handful of kills by default; `DISTTEST_KILLS=100` for more, `DISTTEST_KILLS_SEED=7` for others.

use crate::world::{World, files_below, send};
use crate::{S1, S9, S10, S11, can_run, host};
use disttest_runtime::base::rng::Rng;
use disttest_runtime::harness::leftovers::executions;
use disttest_runtime::session::sessions;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What runs when it is killed.
#[derive(Clone, Copy, Debug)]
enum Victim {
    /// The example of the project, by `cargo disttest run`: proxy, kill -9 of nodes, pauses.
    Example,
    /// A scenario, and what is wrong with it.
    Sabotaged(&'static str, &'static str),
}

use Victim::{Example, Sabotaged};

const VICTIMS: [Victim; 6] = [
    Example,
    Sabotaged(S1, "leaves-much"),
    Sabotaged(S10, ""),
    Sabotaged(S1, "leaves-much-of-fuse"),
    Sabotaged(S11, ""),
    Sabotaged(S9, ""),
];

/// Who is killed.
#[derive(Clone, Copy, Debug)]
enum Kill {
    /// The process that was started by hand.
    Parent,
    /// The process of one execution.
    Child,
    /// All processes of the harness, one after the other.
    Both,
    /// Their process groups.
    Groups,
}

const KILLS: [Kill; 4] = [Kill::Both, Kill::Parent, Kill::Groups, Kill::Child];

#[test]
fn a_run_that_is_killed_at_any_moment_is_healed_and_strangers_are_not_touched() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let (kills, seed) = (number("DISTTEST_KILLS").unwrap_or(4), number("DISTTEST_KILLS_SEED").unwrap_or(1));
    let mut rng = Rng::stream(seed, "kills");
    let mut tally = Tally::default();
    build_the_example();
    for number in 0..kills {
        let victim = VICTIMS[number as usize % VICTIMS.len()];
        let kill = KILLS[(number as usize / 2 + rng.below(2) as usize) % KILLS.len()];
        // Starting takes a while; later a run is over.
        let moment = Duration::from_millis(100 + rng.below(8_000));
        if matches!(victim, Sabotaged(scenario, _) if !can_run(scenario)) {
            continue;
        }
        round(victim, kill, moment, &mut tally).unwrap_or_else(|why| {
            panic!("kill {number} (seed {seed}): {kill:?} of {victim:?} after {moment:?}: {why}")
        });
    }
    tally.tell();
}

fn round(victim: Victim, kill: Kill, moment: Duration, tally: &mut Tally) -> Result<(), String> {
    let world = World::new();
    let mut strangers = Strangers::new(&world);
    let before = Machine::look();
    let mut parent = start(victim, &world);
    std::thread::sleep(moment);
    let over = parent.try_wait().expect("it can be asked").is_some();
    let recorded = strike(kill, &parent, &world);
    // One whose child alone was killed goes on: it is to be healed while it does, and after.
    let healed = heal(&world, tally)?;
    if matches!(kill, Kill::Child) {
        send_if_there("-9", parent.id());
    }
    parent.wait().expect("it ends");
    let healed = healed + heal(&world, tally)?;
    world.nothing_is_left()?;
    Machine::look().is_as(&before, &world)?;
    strangers.are_as_they_were()?;
    if !(over || recorded) && world.verdicts().iter().any(|verdict| verdict.is_pass()) {
        return Err(format!("it was killed and passed: {:?}", world.verdicts()));
    }
    tally.kills += 1;
    tally.over += u64::from(over);
    tally.left += u64::from(healed > 0);
    Ok(())
}

/// What was done in all rounds, for people.
#[derive(Debug, Default)]
struct Tally {
    kills: u64,
    /// Runs that were over when they were to be killed.
    over: u64,
    /// Runs that left something behind for `heal`.
    left: u64,
    processes: u64,
    disks: u64,
    groups: u64,
}

impl Tally {
    #[expect(clippy::print_stderr, reason = "what was found out is worth telling")]
    fn tell(&self) {
        eprintln!("{self:?}");
    }
}

/// Built once, so that rounds are about running.
pub(crate) fn build_the_example() {
    let mut command = World::new().command(env!("CARGO"), "");
    command.args(["test", "-p", "abd-store", "--no-run", "--quiet"]).current_dir(workspace());
    assert!(command.status().expect("cargo runs").success());
}

pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package stands in the workspace")
}

fn start(victim: Victim, world: &World) -> Child {
    let mut command = match victim {
        Example => {
            let mut command = world.command(env!("CARGO_BIN_EXE_disttest"), "");
            let plan = "tests/abd-store/docs/testing-plans/abd-register.md";
            command.args(["disttest", "run", plan, "--scenario", "S1", "--tier", "hardening", "--session-root"]);
            command.arg(world.root.path()).current_dir(workspace());
            command
        }
        Sabotaged(scenario, sabotage) => {
            let mut command = world.command(env!("CARGO_BIN_EXE_sabotaged"), sabotage);
            command.args(["--exact", scenario]);
            command
        }
    };
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("it starts")
}

/// Kills, and says whether the run had come to its end by then: its record was written.
fn strike(kill: Kill, parent: &Child, world: &World) -> bool {
    let is_harness = |line: &str| line.contains("--exact") || line.contains("disttest run");
    let mut harness = world.processes();
    harness.retain(|(_, line)| is_harness(line));
    // Held for a moment, so that nothing is written between the look and the kill.
    harness.iter().for_each(|(pid, _)| send_if_there("-STOP", *pid));
    // No look into the disks of nodes: who serves them is held too.
    let executions = sessions(world.root.path()).into_iter().flat_map(|session| executions(&session));
    let recorded = executions.into_iter().any(|run_dir| run_dir.join("run.json").exists());
    let child = harness.iter().map(|(pid, _)| *pid).filter(|pid| *pid != parent.id() && executes(*pid));
    match kill {
        Kill::Parent => send_if_there("-9", parent.id()),
        Kill::Child => child.for_each(|pid| send_if_there("-9", pid)),
        Kill::Both => harness.iter().for_each(|(pid, _)| send_if_there("-9", *pid)),
        Kill::Groups => harness.iter().for_each(|(pid, _)| {
            drop(Command::new("kill").args(["-9", "--", &format!("-{pid}")]).stderr(Stdio::null()).status());
        }),
    }
    harness.iter().for_each(|(pid, _)| send_if_there("-CONT", *pid));
    recorded
}

/// It is the process of one execution.
fn executes(pid: u32) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    String::from_utf8_lossy(&environment).split('\0').any(|variable| variable.starts_with("DISTTEST_CHILD="))
}

fn send_if_there(signal: &str, pid: u32) {
    drop(Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status());
}

/// Heals until nobody of the harness lives who does so himself: how many things were undone.
fn heal(world: &World, tally: &mut Tally) -> Result<usize, String> {
    let until = Instant::now() + Duration::from_secs(90);
    let mut undone = 0;
    loop {
        let mut command = world.command(env!("CARGO_BIN_EXE_disttest"), "");
        command.args(["disttest", "heal", "--format", "json", "--session-root"]).arg(world.root.path());
        let output = command.current_dir(workspace()).output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            return Err(format!("heal: {}\n{told}{}", output.status, String::from_utf8_lossy(&output.stderr)));
        }
        let report: Value = serde_json::from_str(&told).map_err(|error| format!("{error}: {told}"))?;
        let runs = report["runs"].as_array().ok_or_else(|| told.clone())?;
        for left in runs.iter().flat_map(|run| run["left"].as_array().into_iter().flatten()) {
            undone += 1;
            match left["kind"].as_str() {
                Some("process") => tally.processes += 1,
                Some("disk") => tally.disks += 1,
                _ => tally.groups += 1,
            }
        }
        let lives = runs.iter().any(|run| run["state"] != "ended");
        if !lives {
            return Ok(undone);
        }
        if Instant::now() > until {
            return Err(format!("it goes on: {told}"));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Processes that no run made: one of the same name as a node, and one that somebody has paused.
struct Strangers {
    sleeping: Child,
    paused: Child,
    _folder: tempfile::TempDir,
}

impl Strangers {
    fn new(world: &World) -> Strangers {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let node = folder.path().join("node-under-sabotage");
        fs::copy("/bin/sleep", &node).expect("copied");
        assert!(!node.starts_with(world.root.path()));
        let start = || Command::new(&node).arg("600").process_group(0).stdin(Stdio::null()).spawn().expect("it starts");
        let (sleeping, paused) = (start(), start());
        send("-STOP", paused.id());
        while state(paused.id()) != Some('T') {
            std::thread::sleep(Duration::from_millis(1));
        }
        Strangers { sleeping, paused, _folder: folder }
    }

    fn are_as_they_were(&mut self) -> Result<(), String> {
        match (state(self.sleeping.id()), state(self.paused.id())) {
            (Some('S'), Some('T')) => Ok(()),
            states => Err(format!("strangers slept and were stopped, and are {states:?}")),
        }
    }
}

impl Drop for Strangers {
    fn drop(&mut self) {
        for child in [&mut self.sleeping, &mut self.paused] {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// What a run could leave on a machine.
#[derive(Debug)]
struct Machine {
    /// Links, rules of `iptables` and `nft`, named namespaces.
    network: String,
    mounts: BTreeSet<String>,
    groups: BTreeSet<String>,
    stopped: BTreeSet<String>,
}

impl Machine {
    fn look() -> Machine {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let pids = fs::read_dir("/proc").expect("there is /proc").flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Machine {
            network: host(),
            mounts: mounts.lines().map(str::to_owned).collect(),
            groups: groups_below(Path::new("/sys/fs/cgroup")),
            stopped: pids.filter(|pid| state(*pid) == Some('T')).map(|pid: u32| pid.to_string()).collect(),
        }
    }

    /// Others may work on this machine meanwhile: of what is new, only what could be of this world counts.
    fn is_as(&self, before: &Machine, world: &World) -> Result<(), String> {
        let root = world.root.path().display().to_string();
        let new = |now: &BTreeSet<String>, then: &BTreeSet<String>| now.difference(then).cloned().collect::<Vec<_>>();
        let mounts = new(&self.mounts, &before.mounts);
        let ours = |pid: &String| {
            let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            [read("cmdline"), read("environ")].iter().any(|text| String::from_utf8_lossy(text).contains(&root))
        };
        let stopped: Vec<String> = new(&self.stopped, &before.stopped).into_iter().filter(ours).collect();
        let groups: Vec<String> =
            new(&self.groups, &before.groups).into_iter().filter(|group| is_abandoned(group)).collect();
        let mounts: Vec<&String> = mounts.iter().filter(|mount| mount.contains(&root)).collect();
        if !(mounts.is_empty() && stopped.is_empty() && groups.is_empty()) {
            return Err(format!("left: mounts {mounts:?}, control groups {groups:?}, stopped processes {stopped:?}"));
        }
        match without_mounts(&self.network) == without_mounts(&before.network) {
            true => Ok(()),
            false => Err(format!("the network was\n{}\nand is\n{}", before.network, self.network)),
        }
    }
}

/// `host` tells of mounts too, on its first line; they are compared by name here.
fn without_mounts(host: &str) -> &str {
    host.split_once('\n').map_or(host, |(_, rest)| rest)
}

/// A group of a run whose process, which its name tells, is gone.
fn is_abandoned(group: &str) -> bool {
    let name = group.rsplit('/').next().unwrap_or_default();
    let Some(pid) = name.strip_prefix("disttest-").and_then(|rest| rest.split('-').next()) else { return false };
    !Path::new("/proc").join(pid).exists()
}

fn groups_below(folder: &Path) -> BTreeSet<String> {
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path());
    folders.flat_map(|path| groups_below(&path).into_iter().chain([path.display().to_string()])).collect()
}

#[test]
fn an_unkilled_run_that_would_leave_much_leaves_nothing() {
    for sabotage in ["leaves-much", "leaves-much-of-fuse"] {
        let world = World::new();
        let before = Machine::look();
        world.run(&["--exact", S1], sabotage, &[]);
        // It did all of it, or was told that it may not on this machine.
        let journal = files_below(world.root.path()).into_iter().find(|path| path.ends_with("journal.jsonl"));
        let journal = fs::read_to_string(journal.expect("a journal")).expect("readable");
        assert!(journal.contains(r#""act":"mounting""#), "{journal}");
        world.nothing_is_left().expect("daemons ended too");
        Machine::look().is_as(&before, &world).expect("nothing is left");
    }
}
