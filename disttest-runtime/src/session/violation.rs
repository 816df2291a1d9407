//! When an execution saw a violation, and when another one saw the same.

use crate::checker::Outcome;
use crate::verdict::RunRecord;
use std::collections::BTreeSet;

/// True when a checker found a violation, or a node died by itself and was not allowed to (D17).
pub fn violates(run: &RunRecord) -> bool {
    !kinds(run).is_empty()
}

/// True when `again` saw a violation that `first` saw too: the same checker, the same kind of anomaly (D5).
pub fn reproduces(first: &RunRecord, again: &RunRecord) -> bool {
    !kinds(first).is_disjoint(&kinds(again))
}

/// (checker, anomaly) of every violation.
fn kinds(run: &RunRecord) -> BTreeSet<(&str, &str)> {
    let mut kinds = BTreeSet::new();
    for answer in &run.answers {
        if let Outcome::Invalid { violations } = &answer.outcome {
            kinds.extend(violations.iter().map(|violation| (answer.checker.as_str(), violation.anomaly.as_str())));
            // Invalid without a listed violation is a broken checker, not a clean run.
            if violations.is_empty() {
                kinds.insert((answer.checker.as_str(), ""));
            }
        }
    }
    if run.deaths.iter().any(|death| !death.allowed) {
        kinds.insert(("", "node-death"));
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::super::evidence::read_run;
    use super::super::scenario::tests::request;
    use super::*;
    use crate::checker::{Answer, Evidence, Violation};
    use std::path::Path;

    fn run(checker: &str, anomaly: Option<&str>) -> RunRecord {
        let mut run = read_run(Path::new("/nonexistent"), &request("S1", 1));
        let violation = |anomaly: &str| Violation {
            anomaly: anomaly.to_owned(),
            key: None,
            ops: Vec::new(),
            explanation: String::new(),
        };
        let outcome = match anomaly {
            Some(anomaly) => Outcome::Invalid { violations: vec![violation(anomaly)] },
            None => Outcome::Valid,
        };
        run.answers = vec![Answer {
            checker: checker.to_owned(),
            model: None,
            outcome,
            evidence: Evidence::default(),
            cannot_detect: Vec::new(),
        }];
        run
    }

    #[test]
    fn only_the_same_anomaly_of_the_same_checker_reproduces() {
        let first = run("linearizability", Some("non-linearizable"));
        assert!(violates(&first) && reproduces(&first, &first));
        assert!(!violates(&run("linearizability", None)));
        assert!(!reproduces(&first, &run("linearizability", None)));
        assert!(!reproduces(&first, &run("linearizability", Some("phantom"))));
        assert!(!reproduces(&first, &run("no-lost-ack", Some("non-linearizable"))));
    }
}
