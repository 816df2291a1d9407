//! A client: one logical thread of operations, each recorded with its outcome.

use super::core::Core;
use crate::base::rng::Rng;
use crate::recorder::ClientRecorder;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Why an operation has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// It certainly had no effect: the connection was refused before anything was sent, or the system said that it did
    /// nothing. When in doubt it is not this.
    Refused(String),
    /// It may have taken effect, or may still: no answer, a connection that broke after the request was sent, an error
    /// that does not exclude an effect.
    Unknown(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Refused(why) => write!(f, "refused: {why}"),
            CallError::Unknown(why) => write!(f, "outcome unknown: {why}"),
        }
    }
}

impl std::error::Error for CallError {}

/// One client of the workload. It has at most one operation in flight.
pub struct Client {
    id: u64,
    node: String,
    address: SocketAddr,
    rng: Rng,
    core: Arc<Core>,
    recorder: ClientRecorder,
    running: Arc<AtomicBool>,
}

impl Client {
    pub(crate) fn new(
        core: &Arc<Core>,
        id: u64,
        node: &str,
        address: SocketAddr,
        running: &Arc<AtomicBool>,
    ) -> std::io::Result<Client> {
        Ok(Client {
            id,
            node: node.to_owned(),
            address,
            rng: Rng::stream(core.request.seed, &format!("client {id}")),
            recorder: core.recorder.client(id)?,
            core: Arc::clone(core),
            running: Arc::clone(running),
        })
    }

    /// Number of this client in its run, from 0; the `process_id` of its operations.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The node it talks to.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Where it reaches its node, through the proxy. What connects elsewhere is out of reach of network faults.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Its own random numbers; each client has an independent stream of the run's seed.
    pub fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// True until the workload is stopped. A client ends its loop when this turns false.
    pub fn running(&self) -> bool {
        self.running.load(Ordering::Relaxed) && !self.core.is_stopping()
    }

    /// Waits for `time`, or until the run is told to stop.
    pub async fn pause(&self, time: Duration) {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = self.core.stopping() => {}
        }
    }

    /// Begins a trial of the declared negative control `text`, at this client's node.
    ///
    /// Errors: the attribute declares no such control; no link can be made.
    pub fn control(&self, text: &str) -> anyhow::Result<super::Control> {
        super::Control::new(&self.core, self.id, &self.node, text)
    }

    /// Performs one operation and records it: invocation, outcome, node and fault window.
    ///
    /// `request` is the operation itself; it starts when this is called and is dropped at the `deadline`, after which
    /// its outcome is unknown. A connection that was in use then is in an unknown state: open a new one. The answer
    /// is returned when there is one. Each attempt of a retry is an operation of its own.
    pub async fn call<'k, F>(
        &mut self,
        op: impl Into<Cow<'static, str>>,
        key: impl Into<Option<&'k str>>,
        input: Value,
        deadline: Duration,
        request: F,
    ) -> Option<Value>
    where
        F: Future<Output = Result<Value, CallError>>,
    {
        // Before the recorded invocation: who asks whether this came after a heal is answered no when in doubt.
        let invoked = self.core.clock.now();
        let pending = self.recorder.invoke(op, key, input).node(self.node.as_str()).deadline(deadline);
        match tokio::time::timeout(deadline, request).await {
            Ok(Ok(output)) => {
                pending.ok(output.clone());
                self.core.answered(&self.node, invoked, self.core.clock.now());
                Some(output)
            }
            Ok(Err(CallError::Refused(why))) => {
                pending.fail(why);
                None
            }
            Ok(Err(CallError::Unknown(why))) => {
                pending.unknown(why);
                None
            }
            Err(_) => {
                pending.timeout();
                None
            }
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("id", &self.id).field("node", &self.node).finish_non_exhaustive()
    }
}
