//! Lock services, with and without leases and fencing.

use super::Load;
use super::stage::{Fate, STEP, Stage};
use crate::history::History;
use serde_json::{Value, json};

/// What the service promises, and keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockService {
    /// A lock is its holder's until it is released, even if the holder is gone. Fencing tokens rise.
    UntilReleased,
    /// A lock frees itself [`TIME_TO_LIVE`] after it was granted, whether its holder notices or not. Fencing tokens rise.
    Leases,
    /// A lease whose service has a clock that runs twice as fast as those of its holders.
    FastClock,
    /// Leases of a service that restarts now and then, and counts its fencing tokens from 1 again.
    UnfencedRestarts,
}

impl LockService {
    /// All of them.
    pub const ALL: [LockService; 4] =
        [LockService::UntilReleased, LockService::Leases, LockService::FastClock, LockService::UnfencedRestarts];
}

/// How long a lease lasts, in nanoseconds.
pub const TIME_TO_LIVE: u64 = 8 * STEP;

/// What clients see that `acquire` locks (`k0`, `k1`, …; answered by `{"token"}` or false) and `release` them, some only
/// after their lease has run out. Equal seeds give equal histories.
pub fn holds(system: LockService, load: Load, seed: u64) -> History {
    let mut stage = Stage::new(seed, "lock-service", load.clients);
    let lasts = match system {
        LockService::UntilReleased => u64::MAX,
        LockService::Leases | LockService::UnfencedRestarts => TIME_TO_LIVE,
        LockService::FastClock => TIME_TO_LIVE / 2,
    };
    // Of each lock: who holds it, until when, and the last token. Of each client: what it holds, and until when it works.
    let mut locks: Vec<(Option<u64>, u64, u64)> = vec![(None, 0, 0); load.keys.max(1) as usize];
    let mut working: Vec<Option<(usize, u64)>> = vec![None; stage.clients()];
    while stage.len() < load.operations {
        let client = stage.turn();
        let fate = stage.fate(load.unknown, load.failed);
        let process = stage.process(client);
        if system == LockService::UnfencedRestarts && stage.rng.chance(1, 30) {
            locks.iter_mut().for_each(|(_, _, token)| *token = 0);
        }
        if let Some((key, _)) = working[client].filter(|(_, until)| *until <= stage.now) {
            // A failed release is tried again.
            if fate != Fate::Failed {
                working[client] = None;
                if locks[key].0 == Some(process) {
                    locks[key].0 = None;
                }
            }
            stage.push(client, fate, "release", key, Value::Null, json!(true));
            continue;
        }
        if working[client].is_some() {
            continue;
        }
        let key = stage.rng.below(locks.len() as u64) as usize;
        let (holder, until, token) = locks[key];
        let granted = fate == Fate::Answered && (holder.is_none() || until < stage.now);
        let mut output = json!(false);
        if granted {
            locks[key] = (Some(process), stage.now.saturating_add(lasts), token + 1);
            output = json!({"token": token + 1});
            let works = match stage.rng.chance(1, 4) {
                true => 2 * TIME_TO_LIVE,
                false => stage.rng.below(TIME_TO_LIVE),
            };
            working[client] = Some((key, stage.now + works));
        }
        stage.push(client, fate, "acquire", key, Value::Null, output);
    }
    stage.history()
}
