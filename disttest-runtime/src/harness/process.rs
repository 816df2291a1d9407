//! Operating-system details of the child process of one execution: whose it is, how it is asked to end, how it is ended.

use std::process::Command;

/// Gives the child a process group of its own: signals of the terminal and of nextest reach the supervisor alone, which
/// passes them on once.
pub(crate) fn detach(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Asks process `pid` to end: it heals its faults and writes what there is.
pub(crate) fn ask_to_end(pid: u32) {
    #[cfg(unix)]
    if let Some(pid) = to_pid(pid) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    #[cfg(not(unix))]
    let _ = pid;
}

/// Ends whatever is left in the process group of `pid`. Only for a group whose leader has not been waited for yet, or
/// its number may be another's.
pub(crate) fn kill_group(pid: u32) {
    #[cfg(unix)]
    if let Some(pid) = to_pid(pid) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = pid;
}

/// Process id of the parent; `None` where the platform does not tell.
pub(crate) fn parent_id() -> Option<u32> {
    #[cfg(unix)]
    return Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    return None;
}

/// From now on this process gets SIGTERM when its parent ends, so that a killed supervisor leaves no run behind.
/// (On Linux "parent" is the thread that started it; the supervisor starts children from its main thread.)
pub(crate) fn end_with_parent() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
}

/// `exit status 3`, `signal 9`.
pub(crate) fn describe(status: std::process::ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("signal {signal}");
    }
    status.code().map_or_else(|| "unknown status".to_owned(), |code| format!("exit status {code}"))
}

#[cfg(unix)]
fn to_pid(pid: u32) -> Option<rustix::process::Pid> {
    i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw)
}
