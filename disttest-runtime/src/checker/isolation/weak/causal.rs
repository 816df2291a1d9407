//! Causal consistency: whoever comes after a transaction sees what it wrote.
//!
//! A line of all transactions is guessed. Where a read saw the last write of its key in the line, nothing contradicts the
//! line, whatever happened before; only where it saw an older one is it asked which of the writes between are among its
//! causes, by a search that does not leave the stretch of the line between them. What contradicts is added to what the next
//! line must keep. Where the guesses do not get there, clocks decide (`clocks.rs`).

use super::clocks;
use super::line::{Line, Must, Musts};
use super::observed::pair;
use super::parts::{Parts, Read};
use crate::checker::isolation::effort::{Effort, Stopped};
use crate::txn::NONE;

/// How many lines are guessed.
const GUESSES: u32 = 24;
/// How many steps back the searches of one guess may make, for each transaction.
const PATIENCE: u64 = 64;

/// All transactions in a line that keeps the causal axiom, or pairs of which no line keeps all.
pub(super) fn decide(
    parts: &Parts,
    known: &Musts,
    line: Line,
    effort: &mut Effort<'_>,
) -> Result<Result<Line, Musts>, Stopped> {
    let (mut line, mut musts) = (line, known.clone());
    for _ in 0..GUESSES {
        let found = match contradictions(parts, &line, PATIENCE * parts.len() as u64, effort)? {
            Some(found) => found,
            None => break,
        };
        if found.is_empty() {
            return Ok(Ok(line));
        }
        musts = musts.with(found, parts.len());
        line = match Line::of(parts, &musts, &line.txns) {
            Some(line) => line,
            None => return Ok(Err(musts)),
        };
    }
    let all = clocks::pairs(parts, &line, effort)?;
    let musts = known.clone().with(all, parts.len());
    Ok(Line::of(parts, &musts, &line.txns).ok_or(musts))
}

/// Pairs that follow and that `line` does not keep; none when it keeps the axiom. `None` when that would take more than
/// `patience` steps.
fn contradictions(
    parts: &Parts,
    line: &Line,
    patience: u64,
    effort: &mut Effort<'_>,
) -> Result<Option<Vec<Must>>, Stopped> {
    let mut found = Vec::new();
    let mut last = vec![NONE; parts.keys];
    let mut writers: Option<Writers> = None;
    let mut past = Past { seen: vec![NONE; parts.len()], path: Vec::new(), steps: 0 };
    let mut stale: Vec<(Read, usize)> = Vec::new();
    for (at, &reader) in line.txns.iter().enumerate() {
        for read in parts.reads(reader).iter().filter(|read| last[read.key as usize] != read.from) {
            let writers = writers.get_or_insert_with(|| Writers::of(parts, line));
            let next = writers.after(line, *read);
            // Its own write, and nothing else, stands between.
            if writers.of_key(read.key).get(next).is_some_and(|next| line.place[*next as usize] < at as u32) {
                stale.push((*read, next));
            }
        }
        parts.wrote(reader).iter().for_each(|key| last[*key as usize] = reader);
        let Some(writers) = writers.as_ref().filter(|_| !stale.is_empty()) else { continue };
        let first = stale.iter().map(|(read, next)| line.place[writers.of_key(read.key)[*next] as usize]).min();
        past.mark(parts, line, reader, first.unwrap_or(0));
        for (read, next) in stale.drain(..) {
            let between =
                writers.of_key(read.key)[next..].iter().take_while(|txn| line.place[**txn as usize] < at as u32);
            for &before in between {
                past.steps += 1;
                if past.seen[before as usize] == reader {
                    found.push(pair(before, read, reader));
                }
            }
        }
        if past.steps > patience {
            return Ok(None);
        }
    }
    effort.spend(parts.len() as u64 + past.steps)?;
    Ok(Some(found))
}

/// Who wrote each key, in the order of a line.
struct Writers {
    list: Vec<u32>,
    starts: Vec<u32>,
}

impl Writers {
    fn of(parts: &Parts, line: &Line) -> Writers {
        let mut starts = vec![0_u32; parts.keys + 2];
        let all = line.txns.iter().flat_map(|txn| parts.wrote(*txn).iter().map(move |key| (*key, *txn)));
        all.clone().for_each(|(key, _)| starts[key as usize + 2] += 1);
        for key in 2..starts.len() {
            starts[key] += starts[key - 1];
        }
        let mut list = vec![NONE; starts.last().map_or(0, |end| *end as usize)];
        for (key, txn) in all {
            let next = &mut starts[key as usize + 1];
            list[*next as usize] = txn;
            *next += 1;
        }
        Writers { list, starts }
    }

    fn of_key(&self, key: u32) -> &[u32] {
        &self.list[self.starts[key as usize] as usize..self.starts[key as usize + 1] as usize]
    }

    /// Where among the writers of its key those begin that stand in the line after the one that was read.
    fn after(&self, line: &Line, read: Read) -> usize {
        match read.from {
            NONE => 0,
            from => {
                let from = line.place[from as usize];
                self.of_key(read.key).partition_point(|txn| line.place[*txn as usize] <= from)
            }
        }
    }
}

/// What happened before one transaction.
struct Past {
    /// Of each transaction: of whom it was last found to be in the past.
    seen: Vec<u32>,
    path: Vec<u32>,
    steps: u64,
}

impl Past {
    /// Marks the past of `txn` as far back as place `first` of the line.
    fn mark(&mut self, parts: &Parts, line: &Line, txn: u32, first: u32) {
        self.path.push(txn);
        while let Some(now) = self.path.pop() {
            for cause in parts.causes(now) {
                self.steps += 1;
                if line.place[cause as usize] >= first && self.seen[cause as usize] != txn {
                    self.seen[cause as usize] = txn;
                    self.path.push(cause);
                }
            }
        }
    }
}
