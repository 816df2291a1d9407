//! Whether the times of a history can show an order at all.

use super::Problem;
use disttest_runtime::base::time::Nanos;
use disttest_runtime::history::History;
use rustc_hash::FxHashMap;

/// Refuses a history without a clock, and tells of clients that did several things at once. `lines` are those of the
/// operations, by id.
///
/// Operations that share a moment are concurrent, and what is concurrent may stand in any order: where all share one,
/// almost every answer would be right.
pub(super) fn look(history: &History, lines: &[(u64, usize)], assumed: &mut Vec<String>) -> Result<(), Problem> {
    let ops = history.ops();
    let instant = |at: Nanos| ops.iter().all(|op| op.invoke_ts == at && op.complete_ts.is_none_or(|end| end == at));
    if ops.len() > 1 && ops.iter().any(|op| op.complete_ts.is_some()) && instant(ops[0].invoke_ts) {
        let problem = format!(
            "every operation began and ended at the moment {}: the recorder had no clock, and what came before what \
             cannot be told",
            ops[0].invoke_ts.0
        );
        return Err(Problem::at(lines.iter().map(|(_, line)| *line).min().unwrap_or(1), problem));
    }
    let mut until: FxHashMap<u64, Nanos> = FxHashMap::default();
    let mut overlapping = 0_usize;
    for op in ops {
        let Some(complete) = op.complete_ts else { continue };
        let last = until.entry(op.process_id).or_default();
        overlapping += usize::from(op.invoke_ts < *last);
        *last = complete.max(*last);
    }
    if overlapping > 0 {
        let s = if overlapping == 1 { "" } else { "s" };
        assumed.push(format!("{overlapping} operation{s} began while another of the same client was in flight"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::history::notation::history;

    fn check(text: &str, expect: &str) {
        let mut told = Vec::new();
        let got = look(&history(text).expect("valid"), &[], &mut told);
        let got = got.map_or_else(|problem| problem.problem, |()| told.join("; "));
        assert!(got.contains(expect) && got.is_empty() == expect.is_empty(), "{text}: {got}");
    }

    #[test]
    fn a_history_without_a_clock_is_refused() {
        check("c1 write x 1 [0..0]\nc2 read x -> 1 [0..0]", "began and ended at the moment 0");
        check("c1 write x 1 [5..]\nc2 read x -> 1 [5..5]", "began and ended at the moment 5");
        check("c1 write x 1 [0..0]", "");
        check("c1 write x 1 [0..0]\nc2 read x -> 1 [0..1]", "");
        check("", "");
    }

    #[test]
    fn a_client_that_does_two_things_at_once_is_told() {
        check("c1 write x 1 [0..5]\nc1 read x -> 1 [4..9]", "1 operation began while");
        check("c1 write x 1 [0..5]\nc1 read x -> 1 [5..9]\nc2 read x -> 1 [0..9]", "");
        check("c1 write x 1 [0..]\nc1 read x -> 1 [5..9]", "");
    }
}
