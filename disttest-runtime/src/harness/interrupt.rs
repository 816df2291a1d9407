//! Ctrl-C and its relatives, as events that the supervisor waits for beside everything else.

/// The signals that ask the supervisor to stop.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Interrupts {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Interrupts {
    /// Listens from now on. Needs the tokio runtime.
    pub(crate) fn listen() -> std::io::Result<Interrupts> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Interrupts {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The next one, by name. Safe to drop and ask again: none is lost.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hangup.recv() => "SIGHUP",
        }
    }
}

/// Ctrl-C.
#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct Interrupts;

#[cfg(not(unix))]
impl Interrupts {
    /// Listens from now on.
    pub(crate) fn listen() -> std::io::Result<Interrupts> {
        Ok(Interrupts)
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> &'static str {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        "Ctrl-C"
    }
}
