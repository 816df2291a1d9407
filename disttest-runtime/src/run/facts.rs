//! Facts of a run, gathered as it proceeds. Whatever way the run ends, its record is made of them.

use crate::base::time::Nanos;
use crate::checker::{Answer, Recipe};
use crate::cluster::Cluster;
use crate::fault::{Assessment, Window};
use crate::verdict::{OpCounts, Precondition, Quiesced, Tooth, Trial};
use std::collections::BTreeMap;

/// The four preconditions, in order.
pub(crate) const PRECONDITIONS: [&str; 4] =
    ["cluster up", "observability live", "baseline captured", "fault plane responsive"];

/// Facts gathered so far.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) cluster: Option<Cluster>,
    pub(crate) preconditions: BTreeMap<&'static str, (bool, String)>,
    pub(crate) windows: Vec<Window>,
    pub(crate) assessed: Vec<Assessment>,
    /// Start of the workload, and its length once it ended.
    pub(crate) workload_from: Option<Nanos>,
    pub(crate) workload: Option<Nanos>,
    /// Where the next baseline starts: the start of the workload, or the end of the last window.
    pub(crate) baseline_from: Nanos,
    pub(crate) epochs: u64,
    pub(crate) no_fault: Option<String>,
    pub(crate) recording_finished: bool,
    /// Of the history as the recorder wrote it.
    pub(crate) history_sha256: Option<String>,
    pub(crate) operations: OpCounts,
    pub(crate) history_weak: Vec<String>,
    pub(crate) history_lacks: Vec<String>,
    /// Whether the system was at rest before the final reads.
    pub(crate) quiescence: Option<Quiesced>,
    pub(crate) answers: Vec<Answer>,
    /// Of the checkers that gave the answers.
    pub(crate) recipes: Vec<Option<Recipe>>,
    pub(crate) teeth: Vec<Tooth>,
    /// Negative controls that were tried.
    pub(crate) controls: Vec<Trial>,
    /// Trials begun.
    control_count: u64,
    pub(crate) judged: bool,
    pub(crate) notes: Vec<String>,
}

impl Facts {
    /// Records whether a precondition held. One that failed once stays failed; evidence is added.
    pub(crate) fn precondition(&mut self, name: &'static str, ok: bool, evidence: String) {
        let (held, said) = self.preconditions.entry(name).or_insert((true, String::new()));
        *held &= ok;
        if !said.is_empty() {
            said.push_str("; ");
        }
        said.push_str(&evidence);
    }

    /// All four in order; one that was never reached did not hold.
    pub(crate) fn all_preconditions(&self) -> Vec<Precondition> {
        let one = |name: &&'static str| match self.preconditions.get(name) {
            Some((ok, evidence)) => Precondition { name: (*name).into(), ok: *ok, evidence: evidence.clone() },
            None => Precondition { name: (*name).into(), ok: false, evidence: "the run did not get so far".into() },
        };
        PRECONDITIONS.iter().map(one).collect()
    }

    /// The number of a trial that begins, from 1.
    pub(crate) fn next_control(&mut self) -> u64 {
        self.control_count += 1;
        self.control_count
    }

    /// Adds a note once.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precondition_that_failed_once_stays_failed_and_one_not_reached_did_not_hold() {
        let mut facts = Facts::default();
        facts.precondition("baseline captured", false, "0 samples".into());
        facts.precondition("baseline captured", true, "5 samples".into());
        let all = facts.all_preconditions();
        assert_eq!(all.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), PRECONDITIONS);
        assert!(all.iter().all(|p| !p.ok));
        assert_eq!(all[2].evidence, "0 samples; 5 samples");
    }
}
