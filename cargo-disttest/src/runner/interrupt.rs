//! Ctrl-C while scenarios run: it is passed on to the one that is running, which heals its faults and writes what there
//! is; the others are not started, and the table is still printed.

use std::io;
use std::process::{Command, ExitStatus};
use tokio::runtime::Runtime;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Runs commands one after the other, and hears of signals meanwhile.
#[derive(Debug)]
pub(crate) struct Interruptible {
    runtime: Runtime,
    #[cfg(unix)]
    signals: [(&'static str, SignalKind, Signal); 3],
    stopped: Option<&'static str>,
}

impl Interruptible {
    /// Listens from now on: a signal no longer ends this process.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn listen() -> io::Result<Interruptible> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        #[cfg(unix)]
        let signals = {
            let _in_runtime = runtime.enter();
            let listen = |name, kind| Ok::<_, io::Error>((name, kind, signal(kind)?));
            [
                listen("SIGINT", SignalKind::interrupt())?,
                listen("SIGTERM", SignalKind::terminate())?,
                listen("SIGHUP", SignalKind::hangup())?,
            ]
        };
        Ok(Interruptible {
            runtime,
            #[cfg(unix)]
            signals,
            stopped: None,
        })
    }

    /// Runs `command` to its end. Each signal that comes meanwhile is passed on to it.
    ///
    /// # Errors
    /// It cannot be started.
    #[cfg(unix)]
    pub(crate) fn run(&mut self, mut command: Command) -> io::Result<ExitStatus> {
        // A group of its own: the terminal would signal both, and the second signal means impatience.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let Interruptible { runtime, signals, stopped } = self;
        runtime.block_on(async {
            let mut child = tokio::process::Command::from(command).spawn()?;
            loop {
                tokio::select! {
                    status = child.wait() => return status,
                    (name, kind) = next(signals) => {
                        *stopped = stopped.or(Some(name));
                        pass_on(child.id(), kind);
                    }
                }
            }
        })
    }

    /// Runs `command` to its end.
    ///
    /// # Errors
    /// It cannot be started.
    #[cfg(not(unix))]
    pub(crate) fn run(&mut self, mut command: Command) -> io::Result<ExitStatus> {
        command.status()
    }

    /// The signal that came first, if one came.
    pub(crate) fn stopped(&mut self) -> Option<&'static str> {
        #[cfg(unix)]
        if self.stopped.is_none() {
            let Interruptible { runtime, signals, stopped } = self;
            *stopped = runtime.block_on(async {
                tokio::select! {
                    biased;
                    (name, _) = next(signals) => Some(name),
                    () = tokio::task::yield_now() => None,
                }
            });
        }
        self.stopped
    }
}

/// The next signal. Safe to drop and ask again: none is lost.
#[cfg(unix)]
async fn next(signals: &mut [(&'static str, SignalKind, Signal); 3]) -> (&'static str, SignalKind) {
    let [interrupt, terminate, hangup] = signals;
    let (name, kind, _) = tokio::select! {
        _ = interrupt.2.recv() => interrupt,
        _ = terminate.2.recv() => terminate,
        _ = hangup.2.recv() => hangup,
    };
    (*name, *kind)
}

#[cfg(unix)]
fn pass_on(pid: Option<u32>, kind: SignalKind) {
    let pid = pid.and_then(|pid| i32::try_from(pid).ok()).and_then(rustix::process::Pid::from_raw);
    let signal = rustix::process::Signal::from_named_raw(kind.as_raw_value());
    if let (Some(pid), Some(signal)) = (pid, signal) {
        // It may have ended in this very moment.
        let _ = rustix::process::kill_process(pid, signal);
    }
}
