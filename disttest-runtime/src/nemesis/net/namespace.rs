//! A network namespace without a name: it lives as long as a handle of it or a process in it, and leaves nothing.

use anyhow::{Context, Result, anyhow};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// The network namespace of the thread that asks.
const OF_THIS_THREAD: &str = "/proc/thread-self/ns/net";

/// A network namespace. Clones name the same one.
#[derive(Clone, Debug)]
pub struct Namespace {
    file: Arc<File>,
}

impl Namespace {
    /// A new one: loopback only, and that down.
    pub fn new() -> Result<Namespace> {
        on_a_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).context("a network namespace cannot be made")?;
            Namespace::of_this_thread()
        })
    }

    /// That of the calling thread.
    pub fn of_this_thread() -> Result<Namespace> {
        let file = File::open(OF_THIS_THREAD).with_context(|| OF_THIS_THREAD.to_owned())?;
        Ok(Namespace { file: Arc::new(file) })
    }

    /// Moves the calling thread into it. What the thread opens and starts from now on is there.
    pub fn enter(&self) -> Result<()> {
        setns(&*self.file, CloneFlags::CLONE_NEWNET).context("a network namespace cannot be entered")
    }

    /// Runs `act` on a thread inside of it.
    pub fn run<T: Send>(&self, act: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        on_a_thread(|| {
            self.enter()?;
            act()
        })
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Runs `act` on a thread of its own, whose namespaces nobody else has.
fn on_a_thread<T: Send>(act: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| scope.spawn(act).join()).map_err(|_| anyhow!("a thread in a namespace panicked"))?
}
