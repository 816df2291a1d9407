//! Whether a history can carry a verdict under the faults of its run.

use crate::base::time::Nanos;
use crate::fault::Window;
use crate::history::{FaultSpan, History, Seen, Watched, overwritten, unobserved, unread_across, weakness};

/// What [`weigh`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Why the history is too weak, one sentence each; empty when nothing makes it so.
    pub weak: Vec<String>,
    /// What was in flight in each window that landed.
    pub notes: Vec<String>,
}

/// Weighs `history` for a scenario on `model` that declares `checkers`, under `windows`, each with whether it landed;
/// one that was not healed lasts until `end`. O(operations × windows).
pub fn weigh(
    history: &History,
    model: Option<&str>,
    checkers: &[&str],
    windows: &[(&Window, bool)],
    end: Nanos,
) -> Weight {
    let span = |window: &Window| FaultSpan {
        epoch: window.epoch,
        from: window.requested_at.unwrap_or(window.injected_at),
        to: window.healed_at.unwrap_or(end),
    };
    let spans: Vec<FaultSpan> = windows.iter().map(|(window, _)| span(window)).collect();
    let mut weak = weakness(history, model, &spans);
    let landed = windows.iter().zip(&spans).filter(|((_, landed), _)| *landed);
    let watched: Vec<Watched> = landed
        .map(|((window, _), span)| Watched {
            epoch: window.epoch,
            nemesis: window.nemesis.clone(),
            victims: window.victims.clone(),
            from: span.from,
            to: span.to,
        })
        .collect();
    weak.extend(unobserved(history, &watched));
    let declares = |name: &str| checkers.contains(&name);
    if declares("no-lost-ack") && !declares("linearizability") {
        weak.extend(overwritten(history, &watched));
    }
    if declares("no-lost-ack") || declares("linearizability") {
        weak.extend(unread_across(history, &watched));
    }
    let note = |window: &Watched| {
        let Seen { overlapping, acknowledged, at_victims } = Seen::of(history, window);
        format!(
            "window {} ({}): {overlapping} operations in flight, {at_victims} of them at victims, {acknowledged} \
             acknowledged",
            window.epoch, window.nemesis
        )
    };
    Weight { weak, notes: watched.iter().map(note).collect() }
}
