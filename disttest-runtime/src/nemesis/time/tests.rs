//! Clocks of real programs, dynamic and static ones: each reads what it is made to read, and the truth before and after.

use super::plant::{Bend, Planted};
use super::plant_all;
use crate::nemesis::{Launcher, Process, procfs};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Reads clocks as fast as it can in two threads, and prints both, in milliseconds.
const PROGRAM: &str = r#"
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
fn main() {
    let start = Instant::now();
    for _ in 0..2 {
        std::thread::spawn(|| while SystemTime::now() > UNIX_EPOCH {});
    }
    loop {
        println!("{} {}", UNIX_EPOCH.elapsed().unwrap().as_millis(), start.elapsed().as_millis());
        std::thread::sleep(Duration::from_millis(10));
    }
}
"#;

/// A running program and what it prints.
struct Running {
    process: Process,
    dir: tempfile::TempDir,
    _launcher: Launcher,
}

impl Running {
    /// Builds and starts it; `None`, said aloud, where it cannot be built.
    fn start(flags: &[&str]) -> Option<Running> {
        let dir = tempfile::tempdir().expect("a folder");
        let source = dir.path().join("clock.rs");
        std::fs::write(&source, PROGRAM).expect("written");
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        let mut build = Command::new(rustc);
        build
            .args(["--edition=2021", "-Cdebuginfo=0"])
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(dir.path().join("clock"));
        let built = build.output();
        if !built.as_ref().is_ok_and(|output| output.status.success()) {
            let _ = writeln!(std::io::stderr(), "skipped: a program with {flags:?} cannot be built here: {built:?}");
            return None;
        }
        let launcher = Launcher::new("clock").expect("a thread");
        let mut command = Command::new(dir.path().join("clock"));
        command.stdout(std::fs::File::create(dir.path().join("out")).expect("a file"));
        let process = launcher.spawn(command).expect("it starts");
        Some(Running { process, dir, _launcher: launcher })
    }

    /// The last line that it printed: by how much its realtime is ahead of ours, and its monotonic time; both in
    /// milliseconds.
    fn shows(&self) -> Option<(i64, i64)> {
        let text = std::fs::read_to_string(Path::new(self.dir.path()).join("out")).expect("a file");
        let (line, _) = text.rsplit_once('\n')?;
        let (real, monotonic) = line.rsplit('\n').next()?.split_once(' ')?;
        let ours = i64::try_from(UNIX_EPOCH.elapsed().expect("after 1970").as_millis()).expect("fits");
        Some((real.parse::<i64>().expect("a number") - ours, monotonic.parse().expect("a number")))
    }

    fn until(&self, what: &str, holds: impl Fn(i64) -> bool) {
        let until = Instant::now() + Duration::from_secs(20);
        while !self.shows().is_some_and(|(ahead, _)| holds(ahead)) {
            assert!(Instant::now() < until, "{what}: {:?}", self.shows());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// More than `least` bent calls were counted.
fn counter_shows(planted: &Planted, least: f64) -> bool {
    planted.counter().expect("a counter")().is_some_and(|calls| calls > least)
}

/// The clock is an hour ahead, then a minute behind, then right again; and the program lives on.
fn is_bent_and_straightened(flags: &[&str]) {
    let Some(running) = Running::start(flags) else { return };
    let right = |ahead: i64| ahead.abs() < 2_000;
    running.until("right at first", right);
    let bend = Bend { offset: 3_600_000_000_000, rate: 1.0, monotonic: false };
    let planted = match Planted::plant(running.process.identity(), bend) {
        Err(error) if crate::nemesis::Lacks::of(&error).is_some() => {
            let _ = writeln!(std::io::stderr(), "skipped: {error:#}");
            return;
        }
        planted => planted.expect("its clock can be bent"),
    };
    running.until("an hour ahead", |ahead| (ahead - 3_600_000).abs() < 2_000);
    let mut counter = planted.counter().expect("a counter");
    running.until("bent calls are counted", |_| counter_shows(&planted, 100.0));
    planted.jump(-60_000_000_000).expect("it runs");
    running.until("a minute behind", |ahead| (ahead + 60_000).abs() < 2_000);
    planted.straighten().expect("it can be straightened");
    running.until("right again", right);
    // A call that was under way is counted still.
    let mut quiet = || {
        let calls = counter();
        std::thread::sleep(Duration::from_millis(100));
        counter() == calls
    };
    assert!((0..50).any(|_| quiet()), "calls are counted on and on");
    assert_eq!(running.process.exit(), None, "it lives on");
}

#[test]
fn the_clock_of_a_dynamic_program_is_bent_and_straightened() {
    is_bent_and_straightened(&[]);
}

#[test]
fn the_clock_of_a_static_program_is_bent_and_straightened() {
    is_bent_and_straightened(&["-Ctarget-feature=+crt-static"]);
}

#[test]
fn a_clock_runs_at_the_rate_that_it_is_given_and_never_goes_back() {
    let Some(running) = Running::start(&[]) else { return };
    running.until("right at first", |ahead| ahead.abs() < 2_000);
    let bend = Bend { offset: 0, rate: 0.25, monotonic: true };
    let Ok(planted) = Planted::plant(running.process.identity(), bend) else { return };
    let (began, start) = (SystemTime::now(), running.shows().expect("a line").1);
    std::thread::sleep(Duration::from_secs(2));
    let passed = i64::try_from(began.elapsed().expect("forward").as_millis()).expect("fits");
    let shown = running.shows().expect("a line").1 - start;
    // A quarter, give or take what stands between two prints of a busy machine.
    assert!(shown > passed / 8 && shown < passed / 2, "{shown} ms were shown in {passed} ms");
    planted.straighten().expect("it can be straightened");
    let text = std::fs::read_to_string(running.dir.path().join("out")).expect("a file");
    let lines: Vec<(u64, u64)> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(real, monotonic)| Some((real.parse().ok()?, monotonic.parse().ok()?)))
        .collect();
    assert!(lines.is_sorted_by_key(|(real, _)| *real) && lines.is_sorted_by_key(|(_, monotonic)| *monotonic));
}

#[test]
fn a_process_that_is_gone_cannot_be_bent() {
    let Some(running) = Running::start(&[]) else { return };
    running.process.signal(rustix::process::Signal::KILL).expect("it runs");
    running.process.ended_within(Duration::from_secs(10)).expect("it ends");
    let bend = Bend { offset: 1, rate: 1.0, monotonic: false };
    assert!(Planted::plant(running.process.identity(), bend).is_err());
}

#[test]
fn the_clock_of_a_process_that_took_over_an_id_is_not_bent() {
    let me = procfs::Identity::of_this_process().expect("we exist");
    let earlier = procfs::Identity { start_time: me.start_time - 1, ..me };
    let bend = Bend { offset: 1_000_000_000, rate: 1.0, monotonic: false };
    assert!(plant_all(&[earlier], bend).is_err());
}
