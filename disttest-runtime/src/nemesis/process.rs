//! Processes of the system under test: started in their own group, watched until reaped, signalled only while alive.

use super::net::Namespace;
use super::procfs::{self, Identity};
use super::sys;
use anyhow::{Context, Result, anyhow, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid};
use std::fmt;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use tokio::sync::watch;

/// Spawns processes from one thread that lives as long as this value or a clone of it. When it is dropped, or the whole
/// test process is killed, the kernel kills every process it started.
#[derive(Clone, Debug)]
pub struct Launcher {
    requests: mpsc::Sender<Request>,
}

struct Request {
    command: Command,
    reply: mpsc::Sender<std::io::Result<Child>>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.command.fmt(f)
    }
}

impl Launcher {
    /// Starts the spawning thread, named `name`.
    pub fn new(name: &str) -> Result<Launcher> {
        Launcher::start(name, None)
    }

    /// As [`Launcher::new`]; its processes live in `namespace`.
    pub fn inside(name: &str, namespace: Namespace) -> Result<Launcher> {
        Launcher::start(name, Some(namespace))
    }

    fn start(name: &str, namespace: Option<Namespace>) -> Result<Launcher> {
        let (requests, inbox) = mpsc::channel::<Request>();
        let (entering, entered) = mpsc::channel();
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let inside = namespace.map_or(Ok(()), |namespace| namespace.enter());
                // Without it nothing is started: a node outside of its network would be another cluster.
                let failed = inside.is_err();
                if entering.send(inside).is_err() || failed {
                    return;
                }
                for mut request in inbox {
                    let child = sys::tie_to_this_thread(&mut request.command).spawn();
                    // Nobody waits for the answer: then nobody would watch the child either.
                    if let Err(mpsc::SendError(Ok(mut orphan))) = request.reply.send(child) {
                        drop(orphan.kill());
                        drop(orphan.wait());
                    }
                }
            })
            .context("the thread that spawns processes did not start")?;
        entered.recv().context("the thread that spawns processes has ended")??;
        Ok(Launcher { requests })
    }

    /// Starts `command` and a thread that reaps it. Blocks for the time of a fork and an exec.
    pub fn spawn(&self, command: Command) -> Result<Process> {
        let program = command.get_program().to_string_lossy().into_owned();
        let (reply, answer) = mpsc::channel();
        self.requests.send(Request { command, reply }).map_err(|_| anyhow!("the spawning thread has ended"))?;
        let child = answer.recv().context("the spawning thread has ended")?;
        Process::watch(child.with_context(|| format!("`{program}` did not start"))?)
    }
}

/// How a process ended, from its wait status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Exit code, if it exited.
    pub code: Option<i32>,
    /// Signal, if one ended it.
    pub signal: Option<i32>,
}

impl Exit {
    fn of(status: ExitStatus) -> Exit {
        Exit { code: status.code(), signal: status.signal() }
    }

    /// SIGKILL ended it.
    pub fn is_sigkill(&self) -> bool {
        self.signal == Some(Signal::KILL.as_raw())
    }

    /// It ended as a process asked to stop by SIGTERM does: code 0, the signal itself, or a shell's code for it.
    pub fn is_graceful(&self) -> bool {
        matches!(self.code, Some(0 | 143)) || self.signal == Some(Signal::TERM.as_raw())
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit status {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => f.write_str("unknown wait status"),
        }
    }
}

/// A started process. Clones name the same one.
#[derive(Clone, Debug)]
pub struct Process {
    pid: i32,
    start_time: u64,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Held while signalling and while reaping, so that a signal never meets a recycled process id.
    gate: Mutex<()>,
    exit: watch::Sender<Option<Exit>>,
    /// Readable once the process has ended; `None` on a kernel without such descriptors (Linux before 5.3). Asked first,
    /// since a wait of any kind also answers for a process that is only stopped, while this process traces it.
    ending: Option<OwnedFd>,
}

impl Process {
    fn watch(mut child: Child) -> Result<Process> {
        let pid = i32::try_from(child.id()).context("process id out of range")?;
        // A child that has ended already is a zombie until we reap it: its stat is still there.
        let start_time = procfs::stat(pid).context("the start time of a new process cannot be read")?.start_time;
        let ending = group(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let shared = Arc::new(Shared { gate: Mutex::new(()), exit: watch::Sender::new(None), ending });
        let watched = Arc::clone(&shared);
        std::thread::Builder::new()
            .name(format!("wait-{pid}"))
            .spawn(move || reap(&mut child, Identity { pid, start_time }, &watched))
            .context("the thread that waits for a process did not start")?;
        Ok(Process { pid, start_time, shared })
    }

    /// Process id; also the id of its group.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Start time in clock ticks since boot.
    pub fn start_time(&self) -> u64 {
        self.start_time
    }

    /// Both.
    pub fn identity(&self) -> Identity {
        Identity { pid: self.pid, start_time: self.start_time }
    }

    /// How it ended; `None` while it has not. Asks the kernel, so it is right at the moment of the call.
    pub fn exit(&self) -> Option<Exit> {
        if let Some(exit) = *self.shared.exit.borrow() {
            return Some(exit);
        }
        let _gate = self.gate();
        if let Some(exit) = *self.shared.exit.borrow() {
            return Some(exit);
        }
        if !has_ended(self.shared.ending.as_ref()) {
            return None;
        }
        // Ended, and its waiter has not come to reap it yet.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let status = waitid(WaitId::Pid(group(self.pid)?), options).ok()??;
        Some(Exit { code: status.exit_status(), signal: status.terminating_signal() })
    }

    /// Waits until it has ended and is reaped.
    pub async fn ended(&self) -> Exit {
        let mut exit = self.shared.exit.subscribe();
        match exit.wait_for(Option::is_some).await.map(|exit| *exit) {
            Ok(Some(exit)) => exit,
            _ => Exit { code: None, signal: None },
        }
    }

    /// Waits, blocking the thread, at most `limit` until it has ended.
    pub fn ended_within(&self, limit: Duration) -> Option<Exit> {
        let until = std::time::Instant::now() + limit;
        loop {
            match self.exit() {
                None if std::time::Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
                answer => return answer,
            }
        }
    }

    /// Sends `signal` to the whole group. An error when the process has ended.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let _gate = self.gate();
        if let Some(exit) = *self.shared.exit.borrow() {
            bail!("process {} has ended already ({exit})", self.pid);
        }
        // Only the waiter reaps, under the gate. But whoever waits for any process of ours would reap it too, unseen.
        if !self.identity().holds_its_id() {
            bail!("process {} is gone, and its id may be another's", self.pid);
        }
        let group = group(self.pid).ok_or_else(|| anyhow!("process id {} is not one", self.pid))?;
        kill_process_group(group, signal).with_context(|| format!("signal {} to group {}", signal.as_raw(), self.pid))
    }

    /// Every task is stopped (`T` in `/proc`).
    pub fn is_stopped(&self) -> Result<bool> {
        Ok(procfs::is_stopped(self.pid)?)
    }

    fn gate(&self) -> MutexGuard<'_, ()> {
        self.shared.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn group(pid: i32) -> Option<Pid> {
    Pid::from_raw(pid)
}

/// Waits without reaping, then reaps under the gate. What the leader left behind in its group goes with it; the group
/// id cannot be reused before the leader is reaped.
fn reap(child: &mut Child, who: Identity, shared: &Shared) {
    let pid = group(who.pid);
    if let Some(ending) = &shared.ending {
        while !matches!(poll(&mut [PollFd::new(ending, PollFlags::IN)], None), Ok(1)) {}
    } else if let Some(pid) = pid {
        while waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).is_err_and(is_interruption) {}
    }
    let _gate = shared.gate.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pid) = pid.filter(|_| who.holds_its_id()) {
        // An error only says that nothing was left.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let exit = child.wait().map_or(Exit { code: None, signal: None }, Exit::of);
    shared.exit.send_replace(Some(exit));
}

/// It has ended, as far as `ending` can tell.
fn has_ended(ending: Option<&OwnedFd>) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    ending.is_none_or(|ending| matches!(poll(&mut [PollFd::new(ending, PollFlags::IN)], Some(&at_once)), Ok(1)))
}

fn is_interruption(error: rustix::io::Errno) -> bool {
    error == rustix::io::Errno::INTR
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper(launcher: &Launcher) -> Process {
        let mut command = Command::new("/bin/sleep");
        command.arg("600");
        launcher.spawn(command).expect("sleep starts")
    }

    #[tokio::test]
    async fn a_killed_process_ends_by_signal_9_and_is_no_longer_signalled() {
        let launcher = Launcher::new("t").expect("a thread");
        let process = sleeper(&launcher);
        assert_eq!(process.exit(), None);
        process.signal(Signal::KILL).expect("alive");
        let exit = process.ended().await;
        assert!(exit.is_sigkill(), "{exit}");
        assert!(process.signal(Signal::CONT).is_err());
        assert!(!procfs::is_same_and_alive(process.pid(), process.start_time()));
    }

    #[tokio::test]
    async fn a_stopped_process_shows_t_in_every_task_and_a_sleeping_one_does_not() {
        let launcher = Launcher::new("t").expect("a thread");
        let process = sleeper(&launcher);
        assert!(!process.is_stopped().expect("proc"));
        process.signal(Signal::STOP).expect("alive");
        while !process.is_stopped().expect("proc") {
            tokio::task::yield_now().await;
        }
        process.signal(Signal::CONT).expect("alive");
        while process.is_stopped().expect("proc") {
            tokio::task::yield_now().await;
        }
        process.signal(Signal::KILL).expect("alive");
        process.ended().await;
    }

    #[test]
    fn processes_die_with_the_launcher() {
        let launcher = Launcher::new("t").expect("a thread");
        let process = sleeper(&launcher);
        drop(launcher);
        let exit = process.ended_within(Duration::from_secs(10)).expect("the kernel kills it");
        assert!(exit.is_sigkill(), "{exit}");
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error_with_its_name() {
        let launcher = Launcher::new("t").expect("a thread");
        let error = launcher.spawn(Command::new("/no/such/program")).expect_err("nothing there");
        assert!(format!("{error:#}").contains("/no/such/program"), "{error:#}");
    }

    #[tokio::test]
    async fn what_a_leader_leaves_in_its_group_is_killed_with_it() {
        let launcher = Launcher::new("t").expect("a thread");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "sleep 600 & exit 7"]);
        let process = launcher.spawn(command).expect("sh starts");
        assert_eq!(process.ended().await, Exit { code: Some(7), signal: None });
        let until = std::time::Instant::now() + Duration::from_secs(10);
        let runs = |member: &i32| procfs::stat(*member).is_ok_and(|stat| stat.state != 'Z');
        while procfs::group_members(process.pid()).iter().any(runs) {
            assert!(std::time::Instant::now() < until, "a member of the group still runs");
            tokio::task::yield_now().await;
        }
    }
}
