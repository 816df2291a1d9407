//! The sole home of `unsafe`: a child process that cannot outlive the thread that started it.
#![expect(unsafe_code, reason = "pre_exec is unsafe, and only it can set a parent-death signal between fork and exec")]

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes the process of `command` lead its own process group and die by SIGKILL with the thread that spawns it.
///
/// The kernel sends the signal when the spawning *thread* ends, so spawn from a thread that lives as long as the run.
pub(super) fn tie_to_this_thread(command: &mut Command) -> &mut Command {
    let parent = getpid();
    command.process_group(0);
    // SAFETY: the closure runs in the forked child before exec. It makes two system calls, allocates nothing, takes no
    // lock and touches no memory of the parent, so it is async-signal-safe.
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have died before the request took effect; then no signal would ever come.
            if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from_raw_os_error(3)) }
        })
    }
}
