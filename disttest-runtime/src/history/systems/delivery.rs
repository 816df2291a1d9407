//! Queues that deliver exactly once, at least once, at most once.

use super::Load;
use super::stage::{Fate, Stage};
use crate::history::History;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// How often an element that was put in comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Once, in the order of putting in.
    ExactlyOnce,
    /// Once, and again when the queue did not hear that it had arrived.
    AtLeastOnce,
    /// Once, unless the queue forgets it.
    AtMostOnce,
}

impl Delivery {
    /// All of them.
    pub const ALL: [Delivery; 3] = [Delivery::ExactlyOnce, Delivery::AtLeastOnce, Delivery::AtMostOnce];
}

/// What clients see that `enqueue` new elements and `dequeue` them (null: the queue is empty), on queues `k0`, `k1`, …; at
/// the end a `drain` of each lists what is left. Equal seeds give equal histories.
pub fn deliveries(system: Delivery, load: Load, seed: u64) -> History {
    let mut stage = Stage::new(seed, "delivery", load.clients);
    let mut queues: Vec<VecDeque<Value>> = vec![VecDeque::new(); load.keys.max(1) as usize];
    let mut next = 0;
    for _ in 0..load.operations {
        let client = stage.turn();
        let fate = stage.fate(load.unknown, load.failed);
        let key = stage.rng.below(queues.len() as u64) as usize;
        let takes_effect = fate == Fate::Answered || fate == Fate::Unknown && stage.rng.chance(1, 2);
        if stage.rng.chance(1, 2) {
            next += 1;
            if takes_effect && !(system == Delivery::AtMostOnce && stage.rng.chance(1, 10)) {
                queues[key].push_back(json!(next));
            }
            stage.push(client, fate, "enqueue", key, json!(next), json!(true));
        } else {
            let taken = if takes_effect { queues[key].pop_front() } else { None };
            if let Some(taken) = taken.clone().filter(|_| system == Delivery::AtLeastOnce && stage.rng.chance(1, 8)) {
                queues[key].push_back(taken);
            }
            stage.push(client, fate, "dequeue", key, Value::Null, taken.unwrap_or_default());
        }
    }
    stage.quiesce();
    for (key, queue) in queues.into_iter().enumerate() {
        stage.turn_of(0);
        stage.push(0, Fate::Answered, "drain", key, Value::Null, Value::Array(queue.into()));
    }
    stage.history()
}
