//! What is undone, and what is not.

use super::*;
use crate::nemesis::journal::{JOURNAL_FILE, Journal};
use rustix::process::kill_process_group;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

fn started(pid: i32, start_time: u64) -> Act {
    Act::Started { node: "n1".into(), pid, start_time, log: "/nowhere".into() }
}

/// A journal with `acts` of a run whose process is gone.
fn journal(acts: &[Act]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let journal = Journal::open(dir.path(), "r1").expect("a journal");
    acts.iter().for_each(|act| journal.write(act).expect("written"));
    dir
}

fn sleeper() -> (Child, i32, u64) {
    let mut command = Command::new("/bin/sleep");
    let child = command.arg("600").process_group(0).stdout(Stdio::null()).spawn().expect("sleep starts");
    let pid = i32::try_from(child.id()).expect("ids fit");
    (child, pid, procfs::stat(pid).expect("it runs").start_time)
}

#[test]
fn a_leftover_is_killed_even_when_it_is_paused() {
    let (mut child, pid, start_time) = sleeper();
    kill_process_group(Pid::from_raw(pid).expect("an id"), Signal::STOP).expect("stopped");
    let dir = journal(&[started(pid, start_time), Act::Pausing { node: "n1".into(), pid, start_time }]);
    // The parent (this test) reaps: `undo_journal` runs beside it.
    let undo = std::thread::spawn({
        let path = dir.path().to_owned();
        move || undo_journal(&path)
    });
    let status = child.wait().expect("it ends");
    assert!(!status.success());
    assert!(undo.join().expect("no panic")[0].starts_with("killed n1"));
    assert_eq!(undo_journal(dir.path()), Vec::<String>::new(), "a second time there is nothing to do");
}

#[test]
fn a_process_that_took_over_the_id_is_not_touched() {
    let (mut child, pid, start_time) = sleeper();
    let dir = journal(&[started(pid, start_time - 1)]);
    assert_eq!(undo_journal(dir.path()), Vec::<String>::new());
    assert!(procfs::is_same_and_alive(pid, start_time));
    child.kill().expect("still ours");
    child.wait().expect("reaped");
}

#[test]
fn what_the_run_ended_itself_is_not_touched() {
    let (mut child, pid, start_time) = sleeper();
    let ended = Act::Ended { node: "n1".into(), pid, how: "signal 9".into() };
    let dir = journal(&[started(pid, start_time), ended]);
    assert_eq!(undo_journal(dir.path()), Vec::<String>::new());
    assert!(procfs::is_same_and_alive(pid, start_time));
    child.kill().expect("still ours");
    child.wait().expect("reaped");
}

#[test]
fn a_journal_of_another_boot_or_none_undoes_nothing() {
    let (mut child, pid, start_time) = sleeper();
    let dir = tempfile::tempdir().expect("a folder");
    let opened = Act::Opened { run_id: "r1".into(), boot_id: "another".into() };
    let lines = [opened, started(pid, start_time)].map(|act| serde_json::to_string(&act).expect("json"));
    fs::write(dir.path().join(JOURNAL_FILE), lines.join("\n")).expect("written");
    assert_eq!(undo_journal(dir.path()), Vec::<String>::new());
    assert_eq!(undo_journal(Path::new("/nowhere")), Vec::<String>::new());
    assert!(procfs::is_same_and_alive(pid, start_time));
    child.kill().expect("still ours");
    child.wait().expect("reaped");
}

/// A shell in a session of its own, as a daemon is, whose leader in turn is gone: neither id nor group tell of the run.
fn daemon(variable: Option<&Path>) -> Identity {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "setsid sleep 600 >/dev/null 2>&1 & echo $!"]).stdout(Stdio::piped());
    if let Some(run_dir) = variable {
        command.env(RUN_VARIABLE, run_dir);
    }
    let output = command.output().expect("a shell starts");
    let pid: i32 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("it says who it is");
    let who = Identity::of(pid).expect("it runs");
    // Until then it is the shell, forked.
    while fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() != "sleep") {
        std::thread::sleep(Duration::from_millis(1));
    }
    who
}

#[test]
fn a_daemon_that_descends_from_the_run_is_killed_and_one_of_the_same_name_is_not() {
    let dir = journal(&[]);
    let run_dir = dir.path().canonicalize().expect("it is there");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let (ours, strangers) = (daemon(Some(&run_dir)), [daemon(None), daemon(Some(elsewhere.path()))]);
    let undone = undo(&run_dir).expect("a journal");
    assert_eq!(undone.iter().map(|undone| &undone.error).collect::<Vec<_>>(), [&None]);
    assert!(undone[0].to_string().contains(&format!("process {}", ours.pid)), "{}", undone[0]);
    assert!(!ours.is_alive());
    for stranger in strangers {
        assert!(stranger.is_alive());
        end(stranger).expect("it is this test's");
    }
}

#[test]
fn a_paused_stranger_stays_paused() {
    let (mut child, pid, start_time) = sleeper();
    kill_process_group(Pid::from_raw(pid).expect("an id"), Signal::STOP).expect("stopped");
    while !procfs::is_stopped(pid).expect("it is there") {
        std::thread::sleep(Duration::from_millis(1));
    }
    let pausing = Act::Pausing { node: "n1".into(), pid, start_time: start_time - 1 };
    let dir = journal(&[started(pid, start_time - 1), pausing]);
    assert_eq!(undo_journal(dir.path()), Vec::<String>::new());
    assert!(procfs::is_stopped(pid).expect("it is there"));
    child.kill().expect("still ours");
    child.wait().expect("reaped");
}

#[test]
fn a_run_is_kept_by_whoever_has_the_id_and_the_start_time_of_its_supervisor_or_of_its_process() {
    let me = Identity::of_this_process().expect("we exist");
    let gone = Identity { start_time: me.start_time + 1, ..me };
    let supervised = |by, boot_id: &str, pid_namespace: &str| Act::Supervised {
        by,
        boot_id: boot_id.to_owned(),
        pid_namespace: pid_namespace.to_owned(),
    };
    let (boot, namespace) = (procfs::boot_id(), procfs::pid_namespace());
    let here = |by| supervised(by, &boot, &namespace);
    let check = |acts: &[Act], expect: Keeper| assert_eq!(keeper(journal(acts).path()).expect("a journal"), expect);
    check(&[], Keeper::Nobody);
    check(&[here(me)], Keeper::Supervisor(me));
    check(&[here(gone)], Keeper::Nobody);
    check(&[here(gone), Act::Executing { by: me }], Keeper::Itself(me));
    check(&[here(me), Act::Executing { by: gone }], Keeper::Supervisor(me));
    check(&[here(gone), Act::Executing { by: gone }], Keeper::Nobody);
    check(&[supervised(me, "another", &namespace)], Keeper::AnotherBoot);
    check(&[supervised(me, &boot, "pid:[1]")], Keeper::Elsewhere);
}

#[test]
fn where_process_ids_are_others_nothing_is_touched() {
    let (mut child, pid, start_time) = sleeper();
    let by = Identity::of_this_process().expect("we exist");
    let elsewhere = Act::Supervised { by, boot_id: procfs::boot_id(), pid_namespace: "pid:[1]".to_owned() };
    let dir = journal(&[elsewhere, started(pid, start_time)]);
    assert_eq!(undo_journal(dir.path()), Vec::<String>::new());
    assert_eq!(left_behind(dir.path()).expect("a journal"), []);
    assert!(procfs::is_same_and_alive(pid, start_time));
    child.kill().expect("still ours");
    child.wait().expect("reaped");
}

#[test]
fn what_undoes_a_thing_by_hand_is_a_line_for_a_shell() {
    let disk = Left::Disk { node: "n1".into(), at: "/a b/it's".into() };
    assert_eq!(disk.by_hand(), r"umount --lazy '/a b/it'\''s'");
    let undone = Undone { left: disk, error: Some("EPERM".into()) };
    assert_eq!(
        undone.to_string(),
        r"the disk of n1 at /a b/it's is still there: EPERM; by hand: umount --lazy '/a b/it'\''s'"
    );
}
