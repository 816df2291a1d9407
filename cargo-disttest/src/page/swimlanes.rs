//! What each client did when: a row a client, time cut into parts so that a hundred thousand operations stay legible.

use super::axis::{Axis, LEFT, WIDTH};
use super::push;
use disttest_runtime::fault::Window;
use disttest_runtime::history::{Effect, History};
use std::collections::{BTreeMap, BTreeSet};

/// Parts of the time.
const PARTS: usize = 400;
/// Height of a row.
const ROW: f64 = 9.0;
/// Rows at most; further clients share the last one.
const ROWS: usize = 48;

/// What a part of a row shows: the most telling operation in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Idle,
    Ok,
    Failed,
    Unknown,
    Witness,
}

/// The classes of [`Shown`], but for the first.
const CLASSES: [(Shown, &str); 4] =
    [(Shown::Ok, "ok"), (Shown::Failed, "failed"), (Shown::Unknown, "unknown"), (Shown::Witness, "hit")];

/// Draws them; operations of `witness` stand out.
pub(super) fn svg(history: &History, windows: &[Window], axis: Axis, witness: &BTreeSet<u64>) -> String {
    let rows = rows(history, axis, witness);
    let height = rows.len() as f64 * ROW + 30.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" \
         aria-label=\"operations of each client over time\">"
    );
    axis.frame(&mut out, windows, height);
    push(&mut out, format_args!("<text x=\"2\" y=\"12\">clients</text>"));
    let width = (WIDTH - LEFT) / PARTS as f64;
    for (shown, class) in CLASSES {
        let mut path = String::new();
        for (row, parts) in rows.iter().enumerate() {
            let y = row as f64 * ROW + ROW;
            for (from, length) in runs(parts, shown) {
                let x = LEFT + from as f64 * width;
                push(&mut path, format_args!("M{x:.1} {y:.0}h{:.1}", length as f64 * width));
            }
        }
        if !path.is_empty() {
            let stroke = if shown == Shown::Witness { ROW } else { ROW - 3.0 };
            push(&mut out, format_args!("<path class=\"{class}\" stroke-width=\"{stroke:.0}\" d=\"{path}\"/>"));
        }
    }
    out.push_str("</svg>");
    out
}

/// What each row shows in each part. A client that came later takes the row of one that had ended.
fn rows(history: &History, axis: Axis, witness: &BTreeSet<u64>) -> Vec<Vec<Shown>> {
    let mut lives: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    for op in history.ops() {
        let parts = span(axis, op.invoke_ts.0, op.complete_ts.map(|at| at.0));
        let life = lives.entry(op.process_id).or_insert(parts);
        *life = (life.0.min(parts.0), life.1.max(parts.1));
    }
    let mut by_start: Vec<(u64, (usize, usize))> = lives.into_iter().collect();
    by_start.sort_by_key(|(process, life)| (life.0, *process));
    let (mut free, mut row_of) = (Vec::<usize>::new(), BTreeMap::new());
    for (process, (from, to)) in by_start {
        let row = free.iter().position(|until| *until < from).unwrap_or(free.len());
        if row == free.len() && row < ROWS {
            free.push(to);
        }
        let row = row.min(ROWS - 1);
        free[row] = free[row].max(to);
        row_of.insert(process, row);
    }
    let mut rows = vec![vec![Shown::Idle; PARTS]; free.len()];
    for op in history.ops() {
        let shown = match op.effect() {
            _ if witness.contains(&op.op_id) => Shown::Witness,
            Effect::Acknowledged => Shown::Ok,
            Effect::Failed => Shown::Failed,
            Effect::Unknown => Shown::Unknown,
        };
        let (from, to) = span(axis, op.invoke_ts.0, op.complete_ts.map(|at| at.0));
        for part in &mut rows[row_of[&op.process_id]][from..=to] {
            *part = (*part).max(shown);
        }
    }
    rows
}

/// The first and last part of an operation; one that was never answered is shown where it began.
fn span(axis: Axis, from: u64, to: Option<u64>) -> (usize, usize) {
    let from_part = axis.part(from, PARTS);
    (from_part, to.map_or(from_part, |to| axis.part(to, PARTS)).max(from_part))
}

/// Where `shown` begins, and for how many parts.
fn runs(parts: &[Shown], shown: Shown) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in parts.iter().enumerate().filter(|(_, part)| **part == shown) {
        match runs.last_mut() {
            Some((from, length)) if *from + *length == at => *length += 1,
            _ => runs.push((at, 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::history::notation;

    #[test]
    fn a_part_shows_its_most_telling_operation_and_rows_are_used_again() {
        let text =
            "c1 write x 1 [0..40]\nc2 write x 2 !timeout [10..]\nc3 read x -> 1 [50..60]\nc1 read x -> 2 [70..100]";
        let history = notation::history(text).expect("a history");
        let rows = rows(&history, Axis::of(&history, &[]), &BTreeSet::from([3]));
        assert_eq!(rows.len(), 2, "c3 came when c2 had gone");
        assert_eq!((rows[0][0], rows[0][200], rows[0][399]), (Shown::Ok, Shown::Idle, Shown::Witness));
        assert_eq!((rows[1][40], rows[1][41], rows[1][210]), (Shown::Unknown, Shown::Idle, Shown::Ok));
        assert_eq!(runs(&rows[1], Shown::Unknown), [(40, 1)]);
    }
}
