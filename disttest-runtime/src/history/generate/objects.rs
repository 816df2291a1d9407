//! The atomic objects behind generated workloads.

use super::workload::Workload;
use crate::base::rng::Rng;
use crate::history::Op;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, VecDeque};

/// One of them.
pub(super) enum Store {
    Set(Vec<Value>),
    Bank([i64; 8]),
    Counter(i64),
    Ids(u64),
    Queue(VecDeque<Value>),
    Inserts(BTreeMap<u64, Value>),
    Logs(Logs),
}

impl Store {
    pub(super) fn new(workload: Workload) -> Store {
        match workload {
            Workload::Set => Store::Set(Vec::new()),
            Workload::Bank => Store::Bank([100, 0, 0, 0, 0, 0, 0, 0]),
            Workload::Counter => Store::Counter(0),
            Workload::Ids => Store::Ids(0),
            Workload::Queue => Store::Queue(VecDeque::new()),
            Workload::Inserts => Store::Inserts(BTreeMap::new()),
            Workload::Logs => Store::Logs(Logs::default()),
        }
    }

    /// Performs `op`; the answer, or why it is refused.
    pub(super) fn act(&mut self, op: &Op, rng: &mut Rng) -> Result<Value, &'static str> {
        let reads = op.op_type == "read";
        Ok(match self {
            Store::Set(elements) if reads => Value::Array(elements.clone()),
            Store::Set(elements) => {
                elements.push(op.input.clone());
                Value::Null
            }
            Store::Bank(balances) if reads => Value::Object(
                balances.iter().enumerate().map(|(at, balance)| (at.to_string(), json!(balance))).collect(),
            ),
            Store::Bank(balances) => transfer(balances, &op.input)?,
            Store::Counter(count) if reads => json!(count),
            Store::Counter(count) => {
                let amount = op.input.as_i64().unwrap_or(0);
                *count += if op.op_type == "dec" { -amount } else { amount };
                Value::Null
            }
            Store::Ids(next) => {
                *next += 1 + rng.below(3);
                json!(next)
            }
            Store::Queue(queue) => match op.op_type.as_str() {
                "enqueue" => {
                    queue.push_back(op.input.clone());
                    Value::Null
                }
                "dequeue" => queue.pop_front().unwrap_or(Value::Null),
                _ => Value::Array(std::mem::take(queue).into()),
            },
            Store::Inserts(written) => {
                let mut answer = op.input.clone();
                for micro in answer.as_array_mut().into_iter().flatten() {
                    let key = micro[1].as_u64().unwrap_or(0);
                    if micro[0] == "w" {
                        written.insert(key, micro[2].clone());
                    } else {
                        micro[2] = written.get(&key).cloned().unwrap_or(Value::Null);
                    }
                }
                answer
            }
            Store::Logs(logs) => logs.act(op, rng),
        })
    }
}

fn transfer(balances: &mut [i64; 8], input: &Value) -> Result<Value, &'static str> {
    let part = |name: &str| input[name].as_u64().unwrap_or(0);
    let (from, to, amount) = (part("from") as usize % 8, part("to") as usize % 8, part("amount") as i64);
    if balances[from] < amount {
        return Err("insufficient funds");
    }
    balances[from] -= amount;
    balances[to] += amount;
    Ok(Value::Null)
}

/// Logs with offsets, and where each process is in them.
#[derive(Default)]
pub(super) struct Logs {
    logs: [Vec<(u64, Value)>; 3],
    places: BTreeMap<(u64, usize), usize>,
}

impl Logs {
    fn act(&mut self, op: &Op, rng: &mut Rng) -> Value {
        let micros = op.input.as_array().into_iter().flatten();
        // A transaction's own sends come after its polls: they are not committed before.
        Value::Array(
            micros.map(|micro| if micro[0] == "send" { self.send(micro, rng) } else { self.poll(op, rng) }).collect(),
        )
    }

    fn send(&mut self, micro: &Value, rng: &mut Rng) -> Value {
        let log = &mut self.logs[micro[1].as_u64().unwrap_or(0) as usize % 3];
        let gap = u64::from(rng.chance(1, 10));
        let offset = log.last().map_or(0, |(offset, _)| offset + 1 + gap);
        log.push((offset, micro[2].clone()));
        json!(["send", micro[1], [offset, micro[2]]])
    }

    fn poll(&mut self, op: &Op, rng: &mut Rng) -> Value {
        let mut polled = Map::new();
        let everything = op.process_id == u64::MAX;
        for (key, log) in self.logs.iter().enumerate() {
            let place = self.places.entry((op.process_id, key)).or_default();
            let most = if everything { log.len() } else { rng.below(6) as usize };
            let shown: Vec<Value> =
                log.iter().skip(*place).take(most).map(|(offset, value)| json!([offset, value])).collect();
            *place += shown.len();
            if !shown.is_empty() {
                polled.insert(key.to_string(), Value::Array(shown));
            }
        }
        json!(["poll", polled])
    }
}
