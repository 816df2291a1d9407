//! Private namespaces of a run: entered by its process before any thread starts, gone with its last process.
//!
//! Everything a run makes of the network (links, addresses, rules, namespaces of nodes) lies inside of them. So nothing
//! can be left behind, whatever ends the run, and two runs at once never see each other: both may use the same
//! addresses. Mounts are private too. There is no way out: neither nodes nor clients reach any other network.

use anyhow::{Context, Result, anyhow, bail};
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

/// Set for a process that is to enter private namespaces because its program asked for them.
pub(crate) const ENCLOSED: &str = "DISTTEST_ENCLOSED";

/// What this process found when it tried.
static ENTERED: OnceLock<Result<Enclosure, String>> = OnceLock::new();

/// Private namespaces, entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enclosure {
    /// By which right, for people.
    pub how: String,
}

/// Enters private namespaces of mounts and network, with the rights of the process or, where it has none, in a user
/// namespace in which it is root. The answer is remembered for [`of_this_process`].
///
/// A user namespace can only be entered by a process of one thread; with rights of its own a thread may enter alone, and
/// takes along what it starts from then on.
pub fn enter() -> Result<Enclosure, String> {
    ENTERED.get_or_init(|| try_to_enter().map_err(|error| format!("{error:#}"))).clone()
}

/// The enclosure of this process; `None` when it never tried to enter one.
pub fn of_this_process() -> Option<Result<Enclosure, String>> {
    #[cfg(test)]
    if let Some(entered) = OF_THREAD.with_borrow(Clone::clone) {
        return Some(Ok(entered));
    }
    ENTERED.get().cloned()
}

#[cfg(test)]
thread_local! {
    /// Tests enter by threads: their process goes on outside.
    static OF_THREAD: std::cell::RefCell<Option<Enclosure>> = const { std::cell::RefCell::new(None) };
}

/// As [`enter`], for this thread and what it starts.
#[cfg(test)]
pub(crate) fn enter_thread() -> Result<Enclosure> {
    let entered = try_to_enter()?;
    OF_THREAD.set(Some(entered.clone()));
    Ok(entered)
}

fn try_to_enter() -> Result<Enclosure> {
    let inner = CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS;
    let how = match unshare(inner) {
        Ok(()) => "with the rights of the process".to_owned(),
        Err(Errno::EPERM) => in_a_user_namespace(inner)?,
        Err(errno) => return Err(anyhow!(errno)).context("namespaces cannot be made"),
    };
    // In a new namespace mounts still follow those outside, or lead them.
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>).context("mounts cannot be made private")?;
    super::links::loopback_up()?;
    Ok(Enclosure { how })
}

fn in_a_user_namespace(inner: CloneFlags) -> Result<String> {
    let (uid, gid) = (nix::unistd::geteuid(), nix::unistd::getegid());
    match unshare(CloneFlags::CLONE_NEWUSER | inner) {
        Ok(()) => {}
        Err(Errno::EINVAL) => bail!("a process with several threads cannot enter a user namespace"),
        Err(errno) => {
            return Err(anyhow!(errno)).context("neither the rights of root nor a user namespace").context(HINT);
        }
    }
    let write = |file: &str, text: String| fs::write(format!("/proc/self/{file}"), text).context(file.to_owned());
    // Without this the kernel refuses the map of groups (user_namespaces(7)).
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("0 {uid} 1"))?;
    write("gid_map", format!("0 {gid} 1"))?;
    Ok(format!("in a user namespace of user {uid}"))
}

/// Replaces this process by itself, told to enter private namespaces before anything else, with `secret` on its standard
/// input. Returns only when that failed.
pub(crate) fn begin_again_inside(secret: &str) -> anyhow::Error {
    let begin = || -> Result<std::io::Error> {
        let (given, mut give) = std::io::pipe()?;
        give.write_all(secret.as_bytes())?;
        drop(give);
        let mut command = Command::new(std::env::current_exe()?);
        Ok(command.args(std::env::args_os().skip(1)).env(ENCLOSED, "1").stdin(given).exec())
    };
    begin().map_or_else(|error| error, anyhow::Error::from)
}

/// What to do where namespaces cannot be had.
pub(crate) const HINT: &str = "network namespaces need root, or user namespaces: `sysctl -w \
     kernel.apparmor_restrict_unprivileged_userns=0` on Ubuntu 24.04 and its relatives, `sysctl -w \
     user.max_user_namespaces=10000` where there are none, `--privileged` in a container";
