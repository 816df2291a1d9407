//! Signals that a test reads from its system under test, beside those the runtime reads by itself.

use crate::fault::Shape;
use crate::nemesis::{BoxFuture, procfs};
use anyhow::{Context, Result};
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

/// The node a probe is asked to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `n1`, `n2`, ….
    pub node: String,
    /// Where clients reach it.
    pub address: SocketAddr,
    /// Its process; `None` while it does not run.
    pub pid: Option<i32>,
}

type Read = Arc<dyn Fn(Target) -> BoxFuture<'static, Result<f64>> + Send + Sync>;

/// A signal read from every node at least every 250 ms, from the start of the workload on.
///
/// A read that errs or takes longer than 1 s is a gap, never a value: a series with a gap around a fault proves nothing.
#[derive(Clone)]
pub struct Probe {
    signal: String,
    shape: Shape,
    read: Read,
}

impl Probe {
    /// The signal `metric:<name>`: a count that only grows, such as timeouts of requests to peers, and must grow by at
    /// least 1 inside a fault. [`Probe::shaped`] changes that.
    pub fn metric<F, Fut>(name: &str, read: F) -> Probe
    where
        F: Fn(Target) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<f64>> + Send + 'static,
    {
        Probe {
            signal: format!("metric:{name}"),
            shape: Shape::Counter { dose: 1.0 },
            read: Arc::new(move |target| Box::pin(read(target))),
        }
    }

    /// The signal `hook:<name>`, evidence of a [`super::Hook`].
    pub(super) fn hook<F, Fut>(name: &str, shape: Shape, read: F) -> Probe
    where
        F: Fn(Target) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<f64>> + Send + 'static,
    {
        Probe { signal: format!("hook:{name}"), shape, read: Arc::new(move |target| Box::pin(read(target))) }
    }

    /// The signal `metric:<counter>`: a counter that the kernel keeps of the network namespace the node lives in, by
    /// its name in `/proc/net/snmp` or `/proc/net/netstat` with its group, such as `TcpExt.TCPOFOQueue` (segments that came
    /// out of order), `Tcp.InCsumErrors` (damaged ones) or `TcpExt.TCPDSACKOfoSent`.
    ///
    /// What the victim's kernel noticed, below the application: prefer a metric of the application where there is one.
    /// Only for nodes with addresses of their own; behind the proxy all share one namespace with everything else.
    pub fn kernel(counter: &str) -> Probe {
        let name = counter.to_owned();
        Probe::metric(counter, move |target| {
            let name = name.clone();
            async move {
                let pid = target.pid.with_context(|| format!("{} does not run", target.node))?;
                procfs::network_counter(pid, &name).with_context(|| format!("no counter `{name}`"))
            }
        })
    }

    /// How the signal moves when the fault acts.
    #[must_use]
    pub fn shaped(mut self, shape: Shape) -> Probe {
        self.shape = shape;
        self
    }

    /// The declared name it answers to: `metric:peer-timeouts`.
    pub fn signal(&self) -> &str {
        &self.signal
    }

    /// How it should move.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Reads `target` once.
    pub(crate) fn read(&self, target: Target) -> BoxFuture<'static, Result<f64>> {
        (self.read)(target)
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("signal", &self.signal).field("shape", &self.shape).finish_non_exhaustive()
    }
}
