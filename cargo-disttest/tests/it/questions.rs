//! The questions of `probe` on a real pseudo-terminal.
#![cfg(unix)]

use crate::package::{PLAN_PATH, Package, binary};
use crate::probe::package;
use crate::terminal::Terminal;
use std::process::Command;

const IS_IT_THERE: &str = "[s]kip it?";
const WHAT_TO_DO: &str = "[s]ubstitute something weaker for it?";
const SAVED: &str = "what-i-know.toml";

fn probe(package: &Package) -> Terminal {
    Terminal::start(package, &["probe", PLAN_PATH, "--save", SAVED])
}

#[test]
fn the_needs_are_listed_before_the_first_question_and_every_answer_is_recorded() {
    let package = package();
    let mut terminal = probe(&package);
    let shown = terminal.see(IS_IT_THERE);
    for part in
        ["The plan requires:", "  Rust toolchain (1.60), for S1", "  A flurble (—), for S1", "  etcd (3.4), for S1"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains("Rust toolchain: [l]ook for it, it [i]s there, it is [n]ot there,"), "{shown}");
    terminal.press(b"l");
    assert!(terminal.see(IS_IT_THERE).contains("A flurble: "));
    terminal.press(b"s");
    assert!(terminal.see(IS_IT_THERE).contains("etcd: "));
    terminal.press(b"n");
    let shown = terminal.see(WHAT_TO_DO);
    assert!(shown.contains("etcd is missing; S1 depend on it; install: apt-get install etcd-server"), "{shown}");
    assert!(!package.path(SAVED).exists(), "nothing is written before the last answer");
    terminal.press(b"s");
    terminal.see("by what?");
    terminal.press(b"\nan in-process map\n");
    let shown = terminal.end(1);
    assert!(shown.contains("chosen: substituted by a degraded approximation: an in-process map"), "{shown}");
    assert!(!shown.contains("nobody was asked"), "{shown}");
    assert!(shown.contains(&format!("next: cargo disttest run {PLAN_PATH} --answers {SAVED}")), "{shown}");
    let saved = package.read(SAVED);
    for part in ["[\"a flurble\"]\nskip = true\n", "[\"etcd\"]\npresent = false\nsubstitute = \"an in-process map\"\n"]
    {
        assert!(saved.contains(part), "{part}: {saved}");
    }
    assert!(!saved.contains("toolchain"), "what is to be looked for is no answer: {saved}");
}

#[test]
fn a_version_is_asked_of_what_is_there_and_held_against_the_floor() {
    let package = package();
    let mut terminal = probe(&package);
    for key in [b"l", b"s", b"i"] {
        terminal.see(IS_IT_THERE);
        terminal.press(key);
    }
    terminal.see("which version of etcd (empty: it has none)?");
    terminal.press(b"3.3\n");
    assert!(terminal.see(WHAT_TO_DO).contains("etcd is too old"));
    terminal.press(b"p");
    terminal.end(1);
    let saved = package.read(SAVED);
    assert!(saved.contains("present = true\nversion = \"3.3\"\nmissing = \"proceed\"\n"), "{saved}");
}

#[test]
fn a_run_goes_by_the_answers_that_were_saved() {
    let package = package();
    let mut terminal = probe(&package);
    for key in [b"l", b"s", b"n"] {
        terminal.see(IS_IT_THERE);
        terminal.press(key);
    }
    terminal.see(WHAT_TO_DO);
    terminal.press(b"w");
    terminal.end(1);
    let run = ["run", PLAN_PATH, "--allow-missing-budgets", "--answers", SAVED];
    let answer = package.disttest(&run).expect(4);
    assert!(answer.err.contains("wait for what is missing") && answer.err.contains("etcd"), "{}", answer.err);
}

#[test]
fn other_keys_are_no_answer() {
    let package = package();
    let mut terminal = probe(&package);
    terminal.see(IS_IT_THERE);
    // Enter, an arrow up, a capital, a letter that is none of the choices.
    terminal.press(b"\n\x1b[A");
    std::thread::sleep(std::time::Duration::from_millis(200));
    terminal.press(b"Sx");
    terminal.press(b"s");
    assert!(terminal.see(IS_IT_THERE).contains("A flurble: "), "one answer, one question");
    terminal.press(b"\x03");
    terminal.end(1);
}

#[test]
fn who_ends_the_questions_has_said_nothing() {
    for end in [b"\x03", b"\x04"] {
        for given in 0..4 {
            let package = package();
            package.write(SAVED, "# mine\n");
            let before = package.files();
            let mut terminal = probe(&package);
            for key in [b"l", b"s", b"n"].into_iter().take(given) {
                terminal.see(IS_IT_THERE);
                terminal.press(key);
            }
            terminal.see(if given < 3 { IS_IT_THERE } else { WHAT_TO_DO });
            terminal.press(end);
            let shown = terminal.end(1);
            assert!(shown.contains("nothing is saved"), "{end:?} after {given}: {shown}");
            assert_eq!(package.files(), before, "{end:?} after {given}");
        }
    }
}

/// A command in a session of its own, whose terminal sends it the signals of its keys.
fn in_front(package: &Package, args: &[&str]) -> Command {
    let inner = binary();
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait"]).arg(inner.get_program()).arg("disttest").args(args);
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(package.root()).env("TERM", "dumb").env("NO_COLOR", "1");
    command
}

#[test]
fn an_end_while_a_line_is_typed_leaves_nothing_half_written() {
    for (end, status) in [(&b"3.\x03"[..], None), (b"\x04", Some(1))] {
        let package = package();
        let before = package.files();
        let mut terminal = Terminal::of(in_front(&package, &["probe", PLAN_PATH, "--save", SAVED]));
        for key in [b"l", b"s", b"i"] {
            terminal.see(IS_IT_THERE);
            terminal.press(key);
        }
        terminal.see("which version of etcd");
        terminal.press(end);
        terminal.ends(status);
        assert_eq!(package.files(), before, "{end:?}");
    }
}
