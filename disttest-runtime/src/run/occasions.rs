//! Waiting for the event of a [`Trigger`], and what was seen of it.

use super::core::Core;
use super::log_marker::LogMarker;
use crate::fault::Occasion;
use crate::nemesis::{Event, Trigger};
use anyhow::{Context, Result, bail, ensure};
use std::time::Duration;

/// How often counts and logs are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// How often the user's probe is asked, and how long an answer may take.
const ASK: Duration = Duration::from_millis(50);
const ANSWER: Duration = Duration::from_secs(2);
/// Bytes of a log line that are kept as evidence.
const LINE: usize = 200;

/// Waits for `trigger`, at most for its limit. An event that does not come is no error: the occasion says so.
///
/// Errors: the trigger names what is not there; the run was told to stop.
pub(super) async fn wait(core: &Core, trigger: &Trigger) -> Result<Occasion> {
    let limit = trigger.limit.unwrap_or(Duration::from_secs(core.request.budget.seconds));
    let from = core.clock.now();
    let mut last = String::from("nothing seen");
    core.events.say("waiting", format!("for {trigger}, at most {:.1} s", limit.as_secs_f32()));
    let seen = tokio::select! {
        seen = until_seen(core, trigger, &mut last) => seen?,
        () = tokio::time::sleep(limit) => None,
        () = core.stopping() => bail!("the run was told to stop"),
    };
    let (seen_at, evidence) = match seen {
        Some(evidence) => (Some(core.clock.now()), evidence),
        None => (None, last),
    };
    let said = if seen_at.is_some() { "seen" } else { "not seen" };
    core.events.say(format!("event {said}"), format!("{trigger}: {evidence}"));
    Ok(Occasion { event: trigger.to_string(), from, seen_at, limit: limit.into(), evidence })
}

/// What showed the event; `None` when it cannot come any more. `last` is what was seen of it so far.
async fn until_seen(core: &Core, trigger: &Trigger, last: &mut String) -> Result<Option<String>> {
    match &trigger.event {
        Event::Acknowledged { count, node, op_type } => {
            ensure!(*count > 0, "`{trigger}` waits for nothing");
            let acknowledged = || acknowledged(core, node.as_deref(), op_type.as_deref());
            let before = acknowledged();
            loop {
                let since = acknowledged().saturating_sub(before);
                *last = format!("{since} since, {before} before");
                if since >= *count {
                    return Ok(Some(last.clone()));
                }
                tokio::time::sleep(LOOK).await;
            }
        }
        Event::Log { node, text } => {
            ensure!(!text.trim().is_empty(), "an empty text is in every line of a log");
            let path = core.facts().cluster.as_ref().and_then(|cluster| Some(cluster.log_path(node)?.to_owned()));
            let mut marker = LogMarker::new(path.with_context(|| format!("`{node}` is no node of the cluster"))?, text);
            let before = marker.count().unwrap_or_default();
            loop {
                if marker.count().is_some_and(|found| found > before) {
                    let line: String = marker.latest().unwrap_or_default().chars().take(LINE).collect();
                    return Ok(Some(format!("`{}`", line.trim())));
                }
                *last = format!("{before} lines before, none since");
                tokio::time::sleep(LOOK).await;
            }
        }
        Event::Answers { ask, .. } => loop {
            *last = match tokio::time::timeout(ANSWER, ask()).await {
                Ok(Ok(Some(answer))) => return Ok(Some(answer)),
                Ok(Ok(None)) => "asked, and the answer is no".to_owned(),
                Ok(Err(error)) => format!("{error:#}"),
                Err(_) => format!("no answer within {} s", ANSWER.as_secs()),
            };
            tokio::time::sleep(ASK).await;
        },
        Event::Recovered => {
            let facts = core.facts();
            let stuck = facts.assessed.iter().find(|window| !window.recovered);
            *last = match (stuck, facts.assessed.last()) {
                (Some(window), _) => format!("window {} has not recovered: {}", window.epoch, window.recovery),
                (None, Some(window)) => return Ok(Some(format!("window {}: {}", window.epoch, window.recovery))),
                (None, None) => "no fault before this one".to_owned(),
            };
            Ok(None)
        }
    }
}

fn acknowledged(core: &Core, node: Option<&str>, op_type: Option<&str>) -> u64 {
    let stats = core.recorder.stats();
    let of = |node: &str| op_type.map_or_else(|| stats.acks(node), |op_type| stats.acks_of(node, op_type));
    match node {
        Some(node) => of(node),
        None => stats.nodes().iter().map(|node| of(node)).sum(),
    }
}
