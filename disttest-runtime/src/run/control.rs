//! A negative control as a scenario tries it: on a link of its own, each access recorded as it happened.

use super::client::CallError;
use super::core::Core;
use crate::history::Op;
use crate::verdict::{Attempt, Channel, ControlResult, Denial, Exchange, Trial};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// How long bytes that an answer came with may take to be counted.
const COUNTED: Duration = Duration::from_millis(500);
/// More than this is no page of metrics.
const LONGEST: usize = 16 << 20;
/// How long a channel may take to be read.
const READ: Duration = Duration::from_secs(30);

/// A trial of a declared negative control; made by [`super::Client::control`].
///
/// In order: [`Control::permitted`] by somebody who may have the access, answered with a value that can be told from
/// every other (8 characters or more); [`Control::refused`] or [`Control::blind`] by somebody who may not;
/// [`Control::unseen`] for each place in which a leak would show. What they found is recorded when this is dropped, and
/// the verdict is derived from the record. These operations are no part of the history that checkers judge: use keys
/// that the workload does not write, or reads.
#[must_use = "a control that is not tried shows nothing"]
pub struct Control {
    core: Arc<Core>,
    client: u64,
    node: String,
    link: String,
    address: SocketAddr,
    trial: Trial,
    texts: Vec<Option<String>>,
    number: u64,
}

impl Control {
    pub(super) fn new(core: &Arc<Core>, client: u64, node: &str, text: &str) -> Result<Control> {
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let declared = core.entry.negative_controls;
        let Some(control) = declared.iter().find(|declared| flat(declared) == flat(text)) else {
            let known = declared.iter().map(|control| format!("\"{control}\"")).collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "none".to_owned() } else { known };
            bail!("\"{text}\" is no declared negative control; `negative_controls` of the attribute: {known}");
        };
        let cluster = core.facts().cluster.clone().context("a control needs a cluster")?;
        let listen = cluster.specs().find(|spec| spec.name() == node).map(crate::cluster::NodeSpec::listen);
        let listen = listen.ok_or_else(|| anyhow!("`{node}` is no node of the cluster"))?;
        let number = core.facts().next_control();
        let link = format!("control-{number}");
        let address = core.site.net.proxy().add_link(&link, node, listen).context("no link for the control")?;
        let trial = Trial {
            control: (*control).to_owned(),
            twins: Vec::new(),
            attempts: Vec::new(),
            channels: Vec::new(),
            result: ControlResult::NotShown { why: "nothing was attempted".to_owned() },
        };
        let (core, node) = (Arc::clone(core), node.to_owned());
        Ok(Control { core, client, node, link, address, trial, texts: Vec::new(), number })
    }

    /// Where its operations reach the node: a link that nobody else uses. What connects elsewhere does not count.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The access by somebody who may have it; gives the answer. Comes before the attempts it is the twin of: same kind of
    /// operation, same key.
    pub async fn permitted<'k, F>(
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
        let exchange = self.exchange(op.into(), key.into(), input, deadline, request).await;
        let output =
            Some(exchange.op.output.clone()).filter(|_| exchange.op.error.is_none() && !exchange.op.timeout_marker);
        self.trial.twins.push(exchange);
        output
    }

    /// The access by somebody who may not have it, which the system must refuse ([`CallError::Refused`]).
    pub async fn refused<'k, F>(
        &mut self,
        op: impl Into<Cow<'static, str>>,
        key: impl Into<Option<&'k str>>,
        input: Value,
        deadline: Duration,
        request: F,
    ) where
        F: Future<Output = Result<Value, CallError>>,
    {
        let exchange = self.exchange(op.into(), key.into(), input, deadline, request).await;
        self.trial.attempts.push(Attempt { denial: Denial::Refused, exchange });
    }

    /// The access by somebody who may not have it, where a system denies by an answer that has nothing of it: an empty
    /// list, a value of one's own. Not for writes, of which an answer tells little.
    pub async fn blind<'k, F>(
        &mut self,
        op: impl Into<Cow<'static, str>>,
        key: impl Into<Option<&'k str>>,
        input: Value,
        deadline: Duration,
        request: F,
    ) where
        F: Future<Output = Result<Value, CallError>>,
    {
        let exchange = self.exchange(op.into(), key.into(), input, deadline, request).await;
        self.trial.attempts.push(Attempt { denial: Denial::Blind, exchange });
    }

    /// Reads a channel in which the access must not show: metrics, a log, a list, as text. `witness` is something that
    /// must be in it, such as a name of the one who was denied: a page that shows nothing hides nothing.
    pub async fn unseen<F>(&mut self, channel: &str, witness: &str, read: F)
    where
        F: Future<Output = Result<String>>,
    {
        let at = self.core.clock.now();
        let text = match tokio::time::timeout(READ, read).await {
            Ok(Ok(text)) if text.len() > LONGEST => {
                Err(format!("it has {} bytes, at most {LONGEST} are read", text.len()))
            }
            Ok(Ok(text)) => Ok(text),
            Ok(Err(error)) => Err(format!("{error:#}")),
            Err(_) => Err(format!("it took longer than {} s", READ.as_secs())),
        };
        let (name, witness, error) = (channel.to_owned(), witness.to_owned(), text.as_ref().err().cloned());
        self.trial.channels.push(Channel { name, at, witness, error, ..Channel::default() });
        self.texts.push(text.ok());
    }

    async fn exchange<F>(
        &self,
        op: Cow<'static, str>,
        key: Option<&str>,
        input: Value,
        deadline: Duration,
        request: F,
    ) -> Exchange
    where
        F: Future<Output = Result<Value, CallError>>,
    {
        let before = self.counted();
        let invoke_ts = self.core.clock.now();
        let ended = tokio::time::timeout(deadline, request).await;
        let now = self.core.clock.now();
        let (output, error, known) = match ended {
            Ok(Ok(output)) => (output, None, true),
            Ok(Err(CallError::Refused(why))) => (Value::Null, Some(why), true),
            Ok(Err(CallError::Unknown(why))) => (Value::Null, Some(why), false),
            Err(_) => (Value::Null, None, false),
        };
        let (sent, received) = self.counted_since(before, known).await;
        let op = Op {
            op_id: (self.trial.twins.len() + self.trial.attempts.len()) as u64,
            process_id: self.client,
            invoke_ts,
            complete_ts: known.then_some(now),
            op_type: op.into_owned(),
            key: key.map(str::to_owned),
            input,
            output,
            error,
            timeout_marker: !known,
            node_seen: Some(self.node.clone()),
            fault_epoch: self.core.epochs.overlapping(invoke_ts, now),
        };
        Exchange { op, sent, received }
    }

    /// Payload bytes to the node and back, so far.
    fn counted(&self) -> (u64, u64) {
        let counters = self.core.site.net.proxy().counters(&self.link, &self.node).unwrap_or_default();
        (counters.forward.bytes_passed, counters.backward.bytes_passed)
    }

    /// Bytes since `before`. A byte is counted once it was delivered, so an answer may be here before its count is.
    async fn counted_since(&self, before: (u64, u64), answered: bool) -> (u64, u64) {
        let until = self.core.clock.now().plus(COUNTED);
        loop {
            let now = self.counted();
            let (sent, received) = (now.0 - before.0, now.1 - before.1);
            if !answered || (sent > 0 && received > 0) || self.core.clock.now() >= until {
                return (sent, received);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Fills in what the channels show, and keeps what was read beside the record.
    fn look(&mut self) {
        let twins = &self.trial.twins;
        for (at, (channel, text)) in self.trial.channels.iter_mut().zip(&self.texts).enumerate() {
            let Some(text) = text else { continue };
            let file = format!("control-{}-{}.txt", self.number, at + 1);
            let error = std::fs::write(self.core.run_dir().join(&file), text).err().map(|error| error.to_string());
            *channel = Channel { file: Some(file), error, ..std::mem::take(channel) }.with(text, twins);
        }
    }
}

impl Drop for Control {
    /// However the scenario goes on, what was tried is recorded.
    fn drop(&mut self) {
        self.look();
        self.trial.result = self.trial.judge();
        let (word, why) = self.trial.result.told();
        self.core.events.say(format!("negative control: {word}"), format!("{}: {why}", self.trial.control));
        self.core.facts().controls.push(self.trial.clone());
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("control", &self.trial.control).finish_non_exhaustive()
    }
}
