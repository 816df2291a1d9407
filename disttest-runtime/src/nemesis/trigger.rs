//! Events that an injection can wait for, instead of a guess of time.

use super::BoxFuture;
use anyhow::Result;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Asks the system under test; `Some` says what showed the event.
pub(crate) type Ask = Arc<dyn Fn() -> BoxFuture<'static, Result<Option<String>>> + Send + Sync>;

/// An event that an injection waits for, within a limit. When it is seen, and by what, stands in the record of the fault
/// window; when it is not seen in time nothing is injected, the window says so, and the verdict is
/// INCONCLUSIVE-fault-not-proven.
///
/// ```no_run
/// # async fn leader() -> disttest_runtime::Result<Option<String>> { Ok(None) }
/// # async fn scenario(workload: disttest_runtime::prelude::Workload) -> disttest_runtime::Result<()> {
/// use disttest_runtime::prelude::*;
///
/// let faults = workload.faults();
/// let injected = faults.when(Trigger::acknowledged(500).of("write")).inject(HardKill::new(["n1"])).await?;
/// injected.hold().await;
/// injected.heal().await?;
/// let elected = Trigger::answers("a leader is elected", || leader());
/// let injected = faults.when(elected).inject(Pause::new(["n2"])).await?;
/// # injected.heal().await
/// # }
/// ```
#[derive(Clone)]
pub struct Trigger {
    pub(crate) event: Event,
    pub(crate) limit: Option<Duration>,
}

/// What is waited for.
#[derive(Clone)]
pub(crate) enum Event {
    /// So many operations acknowledged from now on.
    Acknowledged { count: u64, node: Option<String>, op_type: Option<String> },
    /// A line with this text in a node's log, written from now on.
    Log { node: String, text: String },
    /// A probe of the user's has an answer.
    Answers { what: String, ask: Ask },
    /// Every window before has recovered.
    Recovered,
}

impl Trigger {
    /// `count` operations more are acknowledged than when the wait began, by the recorder's own count.
    pub fn acknowledged(count: u64) -> Trigger {
        Trigger::new(Event::Acknowledged { count, node: None, op_type: None })
    }

    /// Of [`Trigger::acknowledged`]: counts those of `node` only. No effect on other events.
    #[must_use]
    pub fn by(mut self, node: impl Into<String>) -> Trigger {
        if let Event::Acknowledged { node: only, .. } = &mut self.event {
            *only = Some(node.into());
        }
        self
    }

    /// Of [`Trigger::acknowledged`]: counts operations of this type only, such as `write`. No effect on other events.
    #[must_use]
    pub fn of(mut self, op_type: impl Into<String>) -> Trigger {
        if let Event::Acknowledged { op_type: only, .. } = &mut self.event {
            *only = Some(op_type.into());
        }
        self
    }

    /// A line that contains `text`, to the letter, is written to the log of `node` after the wait began.
    pub fn log(node: impl Into<String>, text: impl Into<String>) -> Trigger {
        Trigger::new(Event::Log { node: node.into(), text: text.into() })
    }

    /// `ask`, called every 50 ms, answers with `Some`, such as the name of an elected leader. An error, and silence for
    /// 2 s, are no answer.
    pub fn answers<F, Fut, T>(what: impl Into<String>, ask: F) -> Trigger
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<T>>> + Send + 'static,
        T: fmt::Display,
    {
        let ask = move || -> BoxFuture<'static, Result<Option<String>>> {
            let asked = ask();
            Box::pin(async move { Ok(asked.await?.map(|answer| answer.to_string())) })
        };
        Trigger::new(Event::Answers { what: what.into(), ask: Arc::new(ask) })
    }

    /// There was a fault window before, and the system recovered after each. Known at once: a heal waits for the recovery.
    pub fn recovered() -> Trigger {
        Trigger::new(Event::Recovered)
    }

    /// The longest wait. Default: the budget's seconds.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Trigger {
        self.limit = Some(limit);
        self
    }

    fn new(event: Event) -> Trigger {
        Trigger { event, limit: None }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.event {
            Event::Acknowledged { count, node, op_type } => {
                let op_type = op_type.as_ref().map(|op_type| format!(" `{op_type}`")).unwrap_or_default();
                let node = node.as_ref().map(|node| format!(" by {node}")).unwrap_or_default();
                write!(f, "{count}{op_type} operations acknowledged{node}")
            }
            Event::Log { node, text } => write!(f, "`{text}` in the log of {node}"),
            Event::Answers { what, .. } => f.write_str(what),
            Event::Recovered => f.write_str("every fault before has recovered"),
        }
    }
}

impl fmt::Debug for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trigger").field("event", &self.to_string()).field("limit", &self.limit).finish()
    }
}
