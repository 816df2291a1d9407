//! The review of `author` on a real pseudo-terminal.
#![cfg(unix)]

use crate::package::{PLAN_PATH, Package, binary};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const S1: &str = "tests/auto/s1.rs";
const S2: &str = "tests/auto/s2.rs";
const QUESTION: &str = "[q]uit ?";

/// A command whose stdin, stdout and stderr are a terminal, and the person in front of it.
struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    /// The terminal's other side, kept open so that its state can be looked at when the command has ended.
    line: File,
    seen: String,
}

impl Terminal {
    fn start(package: &Package, args: &[&str]) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let line = File::options().read(true).write(true).open(name).unwrap();
        let mut command = binary();
        command.current_dir(package.root()).arg("disttest").args(args).env("TERM", "dumb").env("NO_COLOR", "1");
        let side = || Stdio::from(line.try_clone().unwrap());
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let keyboard = File::from(master);
        let mut reader = keyboard.try_clone().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Terminal { child, keyboard, screen, line, seen: String::new() }
    }

    /// Waits until `text` is on the screen, and forgets all before its end.
    #[track_caller]
    fn see(&mut self, text: &str) -> String {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            match self.screen.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes).replace('\r', "")),
                Err(_) => panic!("{text:?} never came; on the screen:\n{}", self.seen),
            }
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).unwrap();
    }

    /// The command's end: its status, and what it said last.
    #[track_caller]
    fn end(mut self, status: i32) -> String {
        let ended = self.child.wait().unwrap();
        let modes = tcgetattr(&self.line).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG), "the terminal is as before");
        std::thread::sleep(Duration::from_millis(50));
        while let Ok(bytes) = self.screen.try_recv() {
            self.seen.push_str(&String::from_utf8_lossy(&bytes).replace('\r', ""));
        }
        assert_eq!(ended.code(), Some(status), "{}", self.seen);
        self.seen
    }
}

/// Both files are written and then edited outside of their regions.
fn edited() -> Package {
    let package = Package::with_git();
    package.disttest(&["author", PLAN_PATH]).expect(0);
    for file in [S1, S2] {
        package.edit(file, "use disttest_runtime::prelude::*;", "use disttest_runtime::prelude::*; // mine");
    }
    package
}

fn is_mine(package: &Package, file: &str) -> bool {
    package.read(file).contains("// mine")
}

#[test]
fn each_file_in_the_way_is_shown_with_its_diff_and_gets_its_own_answer() {
    let package = edited();
    let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
    let shown = terminal.see(QUESTION);
    for part in [
        "-use disttest_runtime::prelude::*; // mine",
        "[1/2] tests/auto/s1.rs (S1): it was edited outside of its regions",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(!shown.contains("s2.rs"), "one file at a time: {shown}");
    terminal.press(b"a");
    let shown = terminal.see(QUESTION);
    assert!(shown.contains("[2/2] tests/auto/s2.rs (S2)"), "{shown}");
    assert!(is_mine(&package, S1), "nothing is written before the last answer");
    terminal.press(b"s");
    let shown = terminal.end(0);
    assert!(shown.contains("Overwrote S1") && shown.contains("Skipped S2"), "{shown}");
    assert!(!is_mine(&package, S1) && is_mine(&package, S2));
}

#[test]
fn a_whole_diff_a_sibling_and_all_at_once() {
    let package = edited();
    let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
    terminal.see(QUESTION);
    terminal.press(b"d");
    let diff = terminal.see(QUESTION);
    assert!(diff.contains("--- a/tests/auto/s1.rs"), "{diff}");
    terminal.press(b"n");
    terminal.see(QUESTION);
    terminal.press(b"A");
    terminal.end(0);
    assert!(is_mine(&package, S1) && !is_mine(&package, S2));
    assert!(!package.read("tests/auto/s1.new.rs").contains("// mine"));
    let package = edited();
    let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
    terminal.see(QUESTION);
    terminal.press(b"A");
    terminal.end(0);
    assert!(!is_mine(&package, S1) && !is_mine(&package, S2));
}

#[test]
fn who_ends_the_review_has_nothing_written_that_was_not_accepted() {
    for quit in [&b"q"[..], b"\x03", b"\x04"] {
        let package = edited();
        let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
        terminal.see(QUESTION);
        terminal.press(b"a");
        terminal.see(QUESTION);
        terminal.press(quit);
        terminal.end(1);
        assert!(!is_mine(&package, S1) && is_mine(&package, S2), "{quit:?}");
        let package = edited();
        package.write("Cargo.toml", &package.read("Cargo.toml").replace("harness = false\n", ""));
        let before = package.files();
        let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
        terminal.see(QUESTION);
        terminal.press(quit);
        terminal.end(1);
        assert_eq!(package.files(), before, "{quit:?}");
    }
}

#[test]
fn other_keys_are_no_answer() {
    let package = edited();
    let before = package.files();
    let mut terminal = Terminal::start(&package, &["author", PLAN_PATH]);
    terminal.see(QUESTION);
    // Enter, an arrow up (which ends in A), a letter, an accent.
    terminal.press(b"\n\x1b[A");
    std::thread::sleep(Duration::from_millis(200));
    terminal.press("xé s".as_bytes());
    let shown = terminal.see(QUESTION);
    assert!(shown.contains("[2/2]"), "{shown}");
    terminal.press(b"s\n");
    terminal.end(0);
    assert_eq!(package.files(), before);
}

#[test]
fn with_review_every_change_is_looked_at() {
    let package = Package::with_git();
    let mut terminal = Terminal::start(&package, &["author", PLAN_PATH, "--review"]);
    let shown = terminal.see(QUESTION);
    assert!(
        shown.contains("[1/2] tests/auto/s1.rs (S1): a new file") && shown.contains("more lines: d shows them"),
        "{shown}"
    );
    terminal.press(b"d");
    let shown = terminal.see(QUESTION);
    assert!(shown.contains("+disttest_runtime::main!();"), "{shown}");
    terminal.press(b"s");
    terminal.see(QUESTION);
    terminal.press(b"a");
    terminal.end(0);
    assert!(!package.path(S1).exists() && package.path(S2).exists());
    let manifest = package.read("Cargo.toml");
    assert!(manifest.contains("s2.rs") && !manifest.contains("s1.rs"), "{manifest}");
    let answer = package.disttest(&["author", PLAN_PATH, "--review"]).expect(2);
    assert!(answer.err.contains("--review needs a terminal"), "{}", answer.err);
}

#[test]
fn a_dry_run_and_json_ask_nothing() {
    let package = edited();
    let before = package.files();
    for extra in [&["--dry-run"][..], &["--format", "json"]] {
        let args = [&["author", PLAN_PATH], extra].concat();
        let terminal = Terminal::start(&package, &args);
        let shown = terminal.end(1);
        assert!(!shown.contains(QUESTION), "{shown}");
        assert_eq!(package.files(), before);
    }
}
