//! When operations of a witness and its neighbours were in flight.

use super::{escape, label, push};
use disttest_runtime::history::{Effect, Op, notation};
use std::collections::{BTreeMap, BTreeSet};

/// Between two moments, in pixels.
const STEP: usize = 26;
/// Height of a client, in pixels.
const LANE: usize = 40;

/// Operations of a witness and their neighbours.
pub(super) struct Timeline<'h> {
    ops: Vec<&'h Op>,
    witness: BTreeSet<u64>,
    /// Place of each moment, in pixels: so far apart that labels fit into their bars.
    moments: BTreeMap<u64, usize>,
    width: usize,
    /// Room for the clients' names, in pixels.
    margin: usize,
    /// The row of each operation, and the client of each row.
    rows: Vec<usize>,
    clients: Vec<u64>,
}

impl<'h> Timeline<'h> {
    pub(super) fn of(witness: &'h [Op], near: &'h [Op]) -> Timeline<'h> {
        let ids: BTreeSet<u64> = witness.iter().map(|op| op.op_id).collect();
        let mut ops: Vec<&Op> = witness.iter().chain(near).collect();
        ops.sort_by_key(|op| (op.invoke_ts, op.op_id));
        let times = ops.iter().flat_map(|op| [Some(op.invoke_ts.0), op.complete_ts.map(|at| at.0)]).flatten();
        let moments: BTreeSet<u64> = times.collect();
        let (rows, clients) = rows(&ops, &ids);
        let margin = clients.iter().map(|client| name(*client).len()).max().unwrap_or(0) * 15 / 2 + 20;
        let moments = places(&moments, &ops, margin);
        let last = moments.values().max().copied().unwrap_or(margin);
        let open = ops.iter().filter(|op| op.complete_ts.is_none());
        let open = open.map(|op| moments.get(&op.invoke_ts.0).map_or(0, |x| x + room(op))).max().unwrap_or(0);
        Timeline { ops, witness: ids, moments, width: open.max(last + STEP) + STEP, margin, rows, clients }
    }

    /// As a picture; `line` tells where in its file an operation stands.
    pub(super) fn svg(&self, line: &dyn Fn(u64) -> Option<usize>) -> String {
        let (width, height) = (self.width, self.clients.len() * LANE + 6);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" role=\"img\" \
             aria-label=\"timeline of the witness\">"
        );
        for (lane, client) in self.clients.iter().enumerate() {
            let y = lane * LANE + LANE;
            push(&mut out, format_args!("<text x=\"6\" y=\"{}\">{}</text>", y - 14, name(*client)));
            push(&mut out, format_args!("<line class=\"lane\" x1=\"0\" y1=\"{y}\" x2=\"{width}\" y2=\"{y}\"/>"));
        }
        for (op, row) in self.ops.iter().zip(&self.rows) {
            self.operation(&mut out, op, *row, line(op.op_id));
        }
        out.push_str("</svg>");
        out
    }

    fn operation(&self, out: &mut String, op: &Op, row: usize, line: Option<usize>) {
        let x = self.moments.get(&op.invoke_ts.0).copied().unwrap_or(self.margin);
        let end = op.complete_ts.and_then(|at| self.moments.get(&at.0)).copied().unwrap_or(self.width - 4);
        let y = row * LANE + 8;
        let mut class = if self.witness.contains(&op.op_id) { "op witness".to_owned() } else { "op".to_owned() };
        match op.effect() {
            Effect::Unknown => class.push_str(" unknown"),
            Effect::Failed => class.push_str(" failed"),
            Effect::Acknowledged => {}
        }
        let line = line.map_or(String::new(), |line| format!(", line {line}"));
        let said = format!("{}{line}", notation::line(op));
        push(
            out,
            format_args!(
                "<g><title>{}</title><rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\"/>\
                 <text x=\"{}\" y=\"{}\">{}</text></g>",
                escape(&said),
                end.saturating_sub(x).max(8),
                LANE - 14,
                x + 4,
                y + 17,
                escape(&label(op))
            ),
        );
    }
}

/// The pixels that the label of `op` takes.
fn room(op: &Op) -> usize {
    label(op).chars().count() * 15 / 2 + 10
}

/// The row of each operation, and the client of each row: a client has more than one where it did several things at
/// once, such as go on after an answer that never came. Clients of the witness come first.
fn rows(ops: &[&Op], witness: &BTreeSet<u64>) -> (Vec<usize>, Vec<u64>) {
    // Of each client and row: when the row is free again.
    let mut free: BTreeMap<u64, Vec<Option<u64>>> = BTreeMap::new();
    let mut levels = Vec::with_capacity(ops.len());
    for op in ops {
        let rows = free.entry(op.process_id).or_default();
        let until = op.complete_ts.map(|at| at.0);
        let level = rows.iter().position(|free| free.is_some_and(|at| at <= op.invoke_ts.0));
        let level = level.unwrap_or(rows.len());
        if level == rows.len() {
            rows.push(until);
        }
        rows[level] = until;
        levels.push((op.process_id, level));
    }
    let mut first = BTreeMap::new();
    let mut clients = Vec::new();
    let of_witness = |client: &u64| ops.iter().any(|op| op.process_id == *client && witness.contains(&op.op_id));
    let (these, others): (Vec<_>, Vec<_>) = free.iter().partition(|(client, _)| of_witness(client));
    for (client, rows) in these.into_iter().chain(others) {
        first.insert(*client, clients.len());
        clients.extend(rows.iter().map(|_| *client));
    }
    let rows = levels.iter().map(|(client, level)| first.get(client).copied().unwrap_or(0) + level).collect();
    (rows, clients)
}

/// A place for each moment, in their order: the end of an operation stands behind its label.
fn places(moments: &BTreeSet<u64>, ops: &[&Op], margin: usize) -> BTreeMap<u64, usize> {
    let mut ending: BTreeMap<u64, Vec<&Op>> = BTreeMap::new();
    for op in ops {
        if let Some(at) = op.complete_ts {
            ending.entry(at.0).or_default().push(op);
        }
    }
    let (mut placed, mut x) = (BTreeMap::new(), margin);
    for moment in moments {
        let ends = ending.get(moment).into_iter().flatten();
        let behind = ends.map(|op| placed.get(&op.invoke_ts.0).copied().unwrap_or(x) + room(op));
        x = behind.max().unwrap_or(0).max(x);
        placed.insert(*moment, x);
        x += STEP;
    }
    placed
}

fn name(client: u64) -> String {
    format!("client {client}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_goes_on_after_a_lost_answer_has_another_row() {
        let history = notation::history(
            "c2 write x 1 [0..]\nc1 read x -> 1 [1..5]\nc2 read x -> 1 [2..3]\nc1 read x -> 1 [5..6]",
        );
        let history = history.expect("valid");
        let ops: Vec<&Op> = history.ops().iter().collect();
        assert_eq!(rows(&ops, &BTreeSet::new()), (vec![1, 0, 2, 0], vec![1, 2, 2]));
        assert_eq!(rows(&ops, &BTreeSet::from([0])), (vec![0, 2, 1, 2], vec![2, 2, 1]));
    }
}
