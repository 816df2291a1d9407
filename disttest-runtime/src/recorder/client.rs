//! One client's side of the recorder: its operations in flight, and what became of those that ended.
//!
//! An operation in flight lives here, not in its handle: a handle that is dropped, leaked or lost with a task leaves
//! an operation of unknown outcome, never none.

use super::part::{Line, Part};
use super::stats::NodeStats;
use super::{Pending, Shared};
use crate::base::time::Nanos;
use serde_json::Value;
use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Records what one client (process, session) does. Clones are the same client. No lock is shared between clients.
#[derive(Clone, Debug)]
pub struct ClientRecorder {
    pub(super) client: Arc<Client>,
}

impl ClientRecorder {
    /// The id that its operations carry.
    pub fn process_id(&self) -> u64 {
        self.client.process
    }

    /// Records that an operation begins now. End it through the handle; until then, and if that is lost, its outcome
    /// is unknown.
    pub fn invoke<'k>(
        &self,
        op_type: impl Into<Cow<'static, str>>,
        key: impl Into<Option<&'k str>>,
        input: Value,
    ) -> Pending {
        let (op_type, key) = (op_type.into(), key.into().map(str::to_owned));
        Pending::new(self.client.clone(), self.client.begin(op_type, key, input))
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Client {
    process: u64,
    shared: Arc<Shared>,
    /// Operations begun; read for progress while the run goes on.
    pub(super) invoked: AtomicU64,
    desk: Mutex<Desk>,
}

#[derive(Debug)]
struct Desk {
    in_flight: Vec<Option<Invocation>>,
    free: Vec<usize>,
    part: Part,
    nodes: Vec<(String, Arc<NodeStats>)>,
    defects: Vec<String>,
    /// Defects beyond those spelled out.
    more_defects: u64,
    closed: bool,
}

#[derive(Debug)]
struct Invocation {
    op_id: u64,
    invoke_ts: Nanos,
    op_type: Cow<'static, str>,
    key: Option<String>,
    input: Value,
}

/// How an operation ended.
#[derive(Debug)]
pub(super) enum Ending {
    Ok(Value),
    Fail(String),
    Unknown(String),
    Timeout,
    /// Its handle was dropped.
    Dropped,
    /// Its handle still existed, or had been leaked, when the recorder finished.
    LeftOver,
}

/// What the caller knew of an operation besides its ending.
#[derive(Debug, Default)]
pub(super) struct Circumstances {
    pub(super) node: Option<String>,
    pub(super) deadline: Option<Duration>,
}

/// What is left of a client when the recorder finishes.
#[derive(Debug)]
pub(super) struct Remains {
    pub(super) invoked: u64,
    pub(super) lines: u64,
    pub(super) defects: Vec<String>,
}

/// Defects of one client that are spelled out; the rest is counted.
const SPELLED_OUT: usize = 5;

impl Client {
    pub(super) fn create(process: u64, shared: Arc<Shared>, path: &Path) -> io::Result<Client> {
        let desk = Desk {
            in_flight: Vec::new(),
            free: Vec::new(),
            part: Part::create(path)?,
            nodes: Vec::new(),
            defects: Vec::new(),
            more_defects: 0,
            closed: false,
        };
        Ok(Client { process, shared, invoked: AtomicU64::new(0), desk: Mutex::new(desk) })
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up an operation; its slot. `None` when the recorder has finished: nothing that begins after every
    /// recorded operation ended can explain, or contradict, any of them.
    fn begin(&self, op_type: Cow<'static, str>, key: Option<String>, input: Value) -> Option<usize> {
        let op_id = self.shared.next_op.fetch_add(1, Relaxed);
        let mut desk = self.desk();
        if desk.closed {
            return None;
        }
        self.invoked.fetch_add(1, Relaxed);
        let slot = desk.free.pop().unwrap_or_else(|| {
            desk.in_flight.push(None);
            desk.in_flight.len() - 1
        });
        // Read last: the operation begins no earlier than it is said to.
        let invoke_ts = self.shared.clock.now();
        desk.part.flush_if_due(invoke_ts);
        desk.in_flight[slot] = Some(Invocation { op_id, invoke_ts, op_type, key, input });
        Some(slot)
    }

    /// Operations that have begun and not ended.
    pub(super) fn in_flight(&self) -> usize {
        self.desk().in_flight.iter().flatten().count()
    }

    /// Records the end of the operation in `slot`.
    pub(super) fn end(&self, slot: usize, ending: Ending, circumstances: &Circumstances) {
        // Read first: the operation ended no later than it is said to.
        let now = self.shared.clock.now();
        let mut desk = self.desk();
        if let Some(invocation) = desk.in_flight[slot].take() {
            desk.free.push(slot);
            self.record(&mut desk, &invocation, &ending, circumstances, now);
        }
    }

    fn record(&self, desk: &mut Desk, op: &Invocation, ending: &Ending, circumstances: &Circumstances, now: Nanos) {
        let took = now.since(op.invoke_ts);
        if let Some(defect) = self.defect(ending, circumstances, took) {
            desk.defect(|| format!("operation {} ({} by client {}) {defect}", op.op_id, op.op_type, self.process));
        }
        if let Some(node) = &circumstances.node {
            desk.node(node, &self.shared).count(&op.op_type, ending, took);
        }
        let known = matches!(ending, Ending::Ok(_) | Ending::Fail(_));
        let line = Line {
            op_id: op.op_id,
            process_id: self.process,
            invoke_ts: op.invoke_ts,
            complete_ts: known.then_some(now),
            op_type: &op.op_type,
            key: op.key.as_deref(),
            input: &op.input,
            output: ending.output(),
            error: ending.error(),
            timeout_marker: !known,
            node_seen: circumstances.node.as_deref(),
            fault_epoch: self.shared.epochs.overlapping(op.invoke_ts, now),
        };
        desk.part.push(&line, now);
    }

    /// What makes this ending a defect of the recording (D19), if anything does.
    fn defect(&self, ending: &Ending, circumstances: &Circumstances, took: Duration) -> Option<String> {
        if self.shared.is_closing() {
            return None;
        }
        match (ending, circumstances.deadline) {
            (Ending::Dropped, _) => Some(format!("lost its handle after {took:?} while the run went on")),
            (Ending::LeftOver, _) => Some("was still in flight when the run ended".to_owned()),
            (Ending::Timeout, None) => Some(format!("timed out after {took:?} without a declared deadline")),
            (Ending::Timeout, Some(deadline)) if took < deadline => {
                Some(format!("timed out after {took:?}, before its deadline of {deadline:?}"))
            }
            _ => None,
        }
    }

    /// Ends what is in flight, hands all to the kernel, and takes nothing more.
    pub(super) fn close(&self) -> io::Result<Remains> {
        let now = self.shared.clock.now();
        let mut desk = self.desk();
        desk.closed = true;
        let left: Vec<Invocation> = desk.in_flight.iter_mut().filter_map(Option::take).collect();
        for invocation in left {
            self.record(&mut desk, &invocation, &Ending::LeftOver, &Circumstances::default(), now);
        }
        desk.part.flush()?;
        let mut defects = std::mem::take(&mut desk.defects);
        if desk.more_defects > 0 {
            defects.push(format!("{} more operations of client {} like these", desk.more_defects, self.process));
        }
        Ok(Remains { invoked: self.invoked.load(Relaxed), lines: desk.part.lines(), defects })
    }
}

impl Desk {
    fn defect(&mut self, describe: impl FnOnce() -> String) {
        if self.defects.len() < SPELLED_OUT {
            self.defects.push(describe());
        } else {
            self.more_defects += 1;
        }
    }

    fn node(&mut self, node: &str, shared: &Shared) -> &NodeStats {
        let at = self.nodes.iter().position(|(name, _)| name == node).unwrap_or_else(|| {
            self.nodes.push((node.to_owned(), shared.stats.node(node)));
            self.nodes.len() - 1
        });
        &self.nodes[at].1
    }
}

impl NodeStats {
    fn count(&self, op_type: &str, ending: &Ending, took: Duration) {
        match ending {
            Ending::Ok(_) => self.acknowledged(op_type, took),
            Ending::Fail(_) => _ = self.errors.fetch_add(1, Relaxed),
            Ending::Unknown(_) | Ending::Timeout => _ = self.timeouts.fetch_add(1, Relaxed),
            Ending::Dropped | Ending::LeftOver => {}
        }
    }
}

impl Ending {
    fn output(&self) -> &Value {
        match self {
            Ending::Ok(output) => output,
            _ => &Value::Null,
        }
    }

    fn error(&self) -> Option<&str> {
        match self {
            Ending::Fail(error) | Ending::Unknown(error) => Some(error),
            Ending::Ok(_) | Ending::Timeout | Ending::Dropped | Ending::LeftOver => None,
        }
    }
}
