//! A process whose every thread is held by ptrace for a moment, so that its code can be changed under it.

use anyhow::{Context, Result, bail};
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// How long a thread may take to stop.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// All threads of a process, stopped. The thread that stopped them must also let them go; dropping does.
pub(super) struct Held {
    threads: Vec<(Pid, Option<Signal>)>,
}

impl Held {
    /// Stops all threads of `pid`, those that it starts meanwhile too.
    pub(super) fn all_threads(pid: i32) -> Result<Held> {
        let mut held = Held { threads: Vec::new() };
        loop {
            let before = held.threads.len();
            for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
                let thread = entry?.file_name().to_str().and_then(|name| name.parse().ok()).map(Pid::from_raw);
                let thread = thread.context("a thread without a number")?;
                if !held.threads.iter().any(|(known, _)| *known == thread) {
                    held.stop(thread)?;
                }
            }
            // A stopped thread starts no other, so one look without news is the last.
            if held.threads.len() == before {
                return Ok(held);
            }
        }
    }

    fn stop(&mut self, thread: Pid) -> Result<()> {
        match ptrace::seize(thread, ptrace::Options::empty()) {
            Ok(()) => {}
            // It ended between the listing and this.
            Err(nix::Error::ESRCH) => return Ok(()),
            Err(error) => return Err(error).context("the process cannot be traced"),
        }
        self.threads.push((thread, None));
        ptrace::interrupt(thread).context("a thread cannot be interrupted")?;
        let at = self.threads.len() - 1;
        self.threads[at].1 = wait_for_stop(thread)?;
        Ok(())
    }

    /// No thread stands inside of any of `ranges` (at the first byte of one is outside: nothing of it has run).
    pub(super) fn outside_of(&self, ranges: &[Range<u64>]) -> Result<bool> {
        for (thread, _) in &self.threads {
            let at = ptrace::getregs(*thread).context("registers cannot be read")?.rip;
            if ranges.iter().any(|range| range.start < at && at < range.end) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Has a thread make a system call; `scratch` is an address of code that may be overwritten for the moment.
    pub(super) fn system_call(&self, memory: &File, scratch: u64, number: u64, args: [u64; 6]) -> Result<u64> {
        const SYSCALL: [u8; 2] = [0x0f, 0x05];
        let thread = self.threads.first().context("the process has no thread")?.0;
        let mut was = [0; 2];
        memory.read_exact_at(&mut was, scratch)?;
        memory.write_all_at(&SYSCALL, scratch).context("code cannot be changed")?;
        let done = call(thread, scratch, number, args);
        memory.write_all_at(&was, scratch).context("code cannot be put back")?;
        // The kernel answers with -errno in the topmost page.
        match done? {
            failed if failed > u64::MAX - 4095 => {
                bail!("system call {number} failed with errno {}", failed.wrapping_neg())
            }
            answer => Ok(answer),
        }
    }
}

/// One step over the instruction at `scratch`, with everything as it was afterwards.
fn call(thread: Pid, scratch: u64, number: u64, [a, b, c, d, e, f]: [u64; 6]) -> Result<u64> {
    let was = ptrace::getregs(thread).context("registers cannot be read")?;
    let mut regs = was;
    (regs.rip, regs.rax) = (scratch, number);
    // No system call is under way that would have to be started over.
    regs.orig_rax = u64::MAX;
    (regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9) = (a, b, c, d, e, f);
    ptrace::setregs(thread, regs).context("registers cannot be set")?;
    let stepped = ptrace::step(thread, None).context("a thread cannot be stepped").and_then(|()| wait_for_stop(thread));
    let answer = ptrace::getregs(thread).map(|regs| regs.rax).context("registers cannot be read");
    ptrace::setregs(thread, was).context("registers cannot be put back")?;
    stepped?;
    answer
}

/// Waits until `thread` is stopped; a signal that it was about to get is handed on when it goes on.
fn wait_for_stop(thread: Pid) -> Result<Option<Signal>> {
    let until = Instant::now() + STOP_LIMIT;
    loop {
        match waitpid(thread, Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) if Instant::now() < until => std::thread::sleep(Duration::from_micros(200)),
            Ok(WaitStatus::StillAlive) => bail!("a thread did not stop within {} s", STOP_LIMIT.as_secs()),
            Ok(WaitStatus::PtraceEvent(..) | WaitStatus::Stopped(_, Signal::SIGTRAP)) => return Ok(None),
            Ok(WaitStatus::Stopped(_, signal)) => return Ok(Some(signal)),
            Ok(other) => bail!("the process ended: {other:?}"),
            Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error).context("a thread cannot be waited for"),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for (thread, signal) in &self.threads {
            // One that ended has nothing to go on with.
            let _ = ptrace::detach(*thread, *signal);
        }
    }
}
