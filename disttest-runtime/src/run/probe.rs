//! Signals that a test reads from its system under test, beside those the runtime reads by itself.

use crate::fault::Shape;
use crate::nemesis::BoxFuture;
use anyhow::Result;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

/// The node a probe is asked to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// `n1`, `n2`, ….
    pub node: String,
    /// Where clients reach it, through the proxy.
    pub address: SocketAddr,
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
