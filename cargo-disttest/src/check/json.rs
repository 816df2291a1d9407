//! Answers for programs: `disttest.check/1`, one document for each file and checker.

use super::Settings;
use super::answer::{Checked, Judged, One};
use super::makers::Scope;
use super::memory;
use disttest_runtime::checker::{Outcome, Violation};
use disttest_runtime::history::Op;
use serde_json::{Value, json};
use std::time::Duration;

/// The schema and its version.
pub(crate) const SCHEMA: &str = "disttest.check/1";

/// The documents of a file.
pub(crate) fn documents(file: &str, judged: &Judged, settings: &Settings) -> Vec<Value> {
    match judged {
        Judged::Unreadable(problem) => {
            let error = json!({
                "line": problem.line,
                "column": problem.column,
                "text": problem.text.as_ref().map(|(text, _)| text),
                "message": problem.problem,
            });
            vec![json!({ "schema": SCHEMA, "file": file, "model": settings.model.name, "error": error })]
        }
        Judged::Undecided(undecided) => {
            let peak_bytes = memory::peak().unwrap_or(0);
            let one = |checker| {
                json!({
                    "schema": SCHEMA, "file": file, "outcome": "unknown", "why": undecided.why, "checker": checker,
                    "model": settings.model.name, "ops": null, "consumed": 0, "anomalies": [], "not": [],
                    "also_not": [], "witness": null, "warnings": [], "elapsed_ms": 0.0, "peak_bytes": peak_bytes, "read_ms": milliseconds(undecided.read_in),
                })
            };
            settings.checkers.iter().map(one).collect()
        }
        Judged::Read(checked) => checked.answers.iter().map(|one| document(file, checked, one, settings)).collect(),
    }
}

fn document(file: &str, checked: &Checked, one: &One, settings: &Settings) -> Value {
    let imported = &checked.imported;
    let counts = checked.counts;
    let (why, violations): (_, &[Violation]) = match &one.answer.outcome {
        Outcome::Valid => (None, &[]),
        Outcome::Unknown { why } => (Some(why), &[]),
        Outcome::Invalid { violations } => (None, violations),
    };
    let anomaly = |violation: &Violation| {
        json!({
            "type": violation.anomaly, "key": violation.key, "ops": violation.ops, "explanation": violation.explanation,
        })
    };
    let witness = checked.witness(one);
    let witness = violations.first().map(|first| {
        let ops: Vec<Value> = witness.iter().map(|op| operation(op, checked)).collect();
        json!({ "type": first.anomaly, "key": first.key, "ops": ops, "explanation": first.explanation })
    });
    json!({
        "schema": SCHEMA,
        "file": file,
        "outcome": one.word(),
        "why": why,
        "checker": one.answer.checker,
        "model": settings.model.name,
        "per_key": one.scope == Scope::PerKey,
        "ops": imported.len(),
        "consumed": one.answer.evidence.consumed,
        "acknowledged": counts.acknowledged,
        "failed": counts.failed,
        "unknown": counts.unknown,
        "partitions": one.answer.evidence.partitions,
        "fired": one.answer.evidence.fired,
        "anomalies": violations.iter().map(anomaly).collect::<Vec<_>>(),
        "not": one.not,
        "also_not": one.also_not,
        "witness": witness,
        "missing": one.missing,
        "warnings": one.warnings,
        "cannot_detect": one.answer.cannot_detect,
        "assumed": imported.assumed,
        "skipped": imported.skipped,
        "input_format": imported.format.name(),
        "packing": imported.packing.name(),
        "elapsed_ms": milliseconds(one.elapsed),
        "read_ms": milliseconds(checked.read_in),
        "peak_bytes": one.peak_bytes,
    })
}

fn operation(op: &Op, checked: &Checked) -> Value {
    let mut value = serde_json::to_value(op).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("line".to_owned(), json!(checked.imported.line(op.op_id)));
    }
    value
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
