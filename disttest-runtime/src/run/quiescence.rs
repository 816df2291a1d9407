//! Waiting until the system is at rest before its final state is read: shown, and not slept for.

use super::core::Core;
use crate::cluster::Cluster;
use crate::nemesis::{Ask, BoxFuture, join_all};
use crate::verdict::Quiesced;
use anyhow::Result;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked at, and how long one answer of the user's probe may take.
const LOOK: Duration = Duration::from_millis(100);
const ANSWER: Duration = Duration::from_secs(2);

/// When a system counts as quiescent, after the last heal and with the clients stopped: no operation is in flight, every node
/// that runs answers its readiness probe, and what the test itself asks for is stable. All of it holds in one look.
///
/// Without one, [`super::WorkloadBuilder`] asks for the first two. The outcome stands in the record of the run; final reads
/// of a system that did not come to rest make the history weak.
///
/// ```
/// use disttest_runtime::prelude::*;
///
/// # async fn applied() -> disttest_runtime::Result<u64> { Ok(7) }
/// let rest = Quiescent::new().stable("applied index of all replicas", 5, || applied());
/// ```
#[derive(Clone)]
pub struct Quiescent {
    within: Duration,
    stable: Vec<Stable>,
}

#[derive(Clone)]
struct Stable {
    what: String,
    readings: usize,
    ask: Ask,
}

impl Default for Quiescent {
    fn default() -> Quiescent {
        Quiescent { within: Duration::from_secs(10), stable: Vec::new() }
    }
}

impl Quiescent {
    /// No operation in flight, and every node that runs answers; within 10 s.
    pub fn new() -> Quiescent {
        Quiescent::default()
    }

    /// And `ask`, called every 100 ms, has given the same answer so many times in a row (twice at least). An error, and
    /// silence for 2 s, begin the count anew.
    #[must_use]
    pub fn stable<F, Fut, T>(mut self, what: impl Into<String>, readings: usize, ask: F) -> Quiescent
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T>> + Send + 'static,
        T: fmt::Display,
    {
        let ask = move || -> BoxFuture<'static, Result<Option<String>>> {
            let asked = ask();
            Box::pin(async move { Ok(Some(asked.await?.to_string())) })
        };
        self.stable.push(Stable { what: what.into(), readings: readings.max(2), ask: Arc::new(ask) });
        self
    }

    /// The longest wait. Default: 10 s.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Quiescent {
        self.within = limit;
        self
    }

    /// Waits, records how it came out, and says so.
    pub(super) async fn wait(&self, core: &Core, cluster: &Cluster) {
        let from = core.clock.now();
        let mut last = "nothing was seen".to_owned();
        let reached = tokio::select! {
            seen = self.until_reached(core, cluster, &mut last) => Some(seen),
            () = tokio::time::sleep(self.within) => None,
            () = core.stopping() => None,
        };
        let outcome = Quiesced {
            reached: reached.is_some(),
            waited: core.clock.now().since(from).into(),
            evidence: reached.unwrap_or(last),
        };
        let waited = outcome.waited.as_duration().as_secs_f32();
        let (event, evidence) = (if outcome.reached { "quiescent" } else { "not quiescent" }, &outcome.evidence);
        core.events.say(event, format!("after {waited:.2} s: {evidence}"));
        let mut facts = core.facts();
        if !outcome.reached {
            facts.history_weak.push(format!("not quiescent {waited:.1} s after the workload: {evidence}"));
        }
        facts.quiescence = Some(outcome);
    }

    async fn until_reached(&self, core: &Core, cluster: &Cluster, last: &mut String) -> String {
        let mut counts = vec![(String::new(), 0); self.stable.len()];
        loop {
            let in_flight = core.recorder.in_flight();
            let running = cluster.running();
            let asking = running.iter().map(|node| Box::pin(cluster.answers(node)) as BoxFuture<'_, bool>).collect();
            let answers = join_all(asking).await;
            let silent: Vec<&str> =
                running.iter().zip(answers).filter(|(_, answers)| !answers).map(|(node, _)| node.as_str()).collect();
            let mut lacks = Vec::new();
            if in_flight > 0 {
                lacks.push(format!("{in_flight} operations are in flight"));
            }
            if !silent.is_empty() {
                lacks.push(format!("no answer of {}", silent.join(", ")));
            }
            for (stable, count) in self.stable.iter().zip(&mut counts) {
                lacks.extend(stable.read(count).await);
            }
            if lacks.is_empty() {
                return self.shown(&running, &counts);
            }
            *last = lacks.join("; ");
            tokio::time::sleep(LOOK).await;
        }
    }

    fn shown(&self, running: &[String], counts: &[(String, usize)]) -> String {
        let stable = self.stable.iter().zip(counts);
        let stable = stable.map(|(stable, (value, n))| format!("; {}: `{value}` {n} times in a row", stable.what));
        format!("no operation in flight; {} answer{}", running.join(", "), stable.collect::<String>())
    }
}

impl Stable {
    /// Reads once more and counts; what is lacking still.
    async fn read(&self, (value, count): &mut (String, usize)) -> Option<String> {
        let answer = match tokio::time::timeout(ANSWER, (self.ask)()).await {
            Ok(Ok(Some(answer))) => Ok(answer),
            Ok(Ok(None)) => Err("no answer".to_owned()),
            Ok(Err(error)) => Err(format!("{error:#}")),
            Err(_) => Err(format!("no answer within {} s", ANSWER.as_secs())),
        };
        match answer {
            Ok(answer) if answer == *value && *count > 0 => *count += 1,
            Ok(answer) => (*value, *count) = (answer, 1),
            Err(why) => {
                *count = 0;
                return Some(format!("{}: {why}", self.what));
            }
        }
        let (what, readings) = (&self.what, self.readings);
        (*count < readings).then(|| format!("{what}: `{value}` {count} times in a row, {readings} are needed"))
    }
}

impl fmt::Debug for Quiescent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stable: Vec<&str> = self.stable.iter().map(|stable| stable.what.as_str()).collect();
        f.debug_struct("Quiescent").field("within", &self.within).field("stable", &stable).finish()
    }
}
