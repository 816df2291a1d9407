//! What a plan says, for programs. Pure: the caller reads the file and prints.

use crate::diagnostics::json::diagnostic;
use crate::views::summary::{States, mode};
use disttest_runtime::base::diagnostic::{Diagnostic, LineIndex, Spanned};
use disttest_runtime::plan::{
    self, Arm, Budget, EXIT_CRITERIA, Field, HARDENING, Id, ModelBlock, ORACLE, Plan, RELEASE, Release, Resolved, Row,
    SMOKE, Scenario,
};
use serde_json::{Map, Value, json};

/// Schema of [`json()`].
pub(crate) const SCHEMA: &str = "disttest.plan/1";

/// The whole plan, schema [`SCHEMA`]. `file` goes into each diagnostic; `text` gives lines and columns.
/// `states` tells how far the test files are, by scenario or arm.
pub(crate) fn json(plan: &Plan, text: &str, file: &str, states: &States, diags: &[Diagnostic]) -> Value {
    let places = Places { text, index: LineIndex::new(text) };
    let claim = |c: &plan::Claim| {
        json!({
            "id": c.id.value.to_string(),
            "written": c.id.value.written(),
            "text": c.text.value,
            "categories": c.categories.iter().map(|k| k.as_str()).collect::<Vec<_>>(),
            "unknown_categories": c.unknown_categories,
            "source": c.source,
            "inferred": c.inferred,
            "line": places.line(c.id.span.start),
        })
    };
    let missing = |m: &plan::MissingClaim| {
        json!({
            "id": m.id.value.to_string(),
            "written": m.id.value.written(),
            "behavior": m.behavior,
            "evidence": m.evidence,
            "action": m.action,
            "line": places.line(m.id.span.start),
        })
    };
    let hypothesis = |h: &plan::Hypothesis| {
        json!({
            "id": h.id.value.to_string(),
            "written": h.id.value.written(),
            "title": h.title,
            "text": h.text,
            "claims": strings(&h.claims),
            "suspected": h.suspected,
            "subsystem": h.subsystem,
            "line": places.line(h.id.span.start),
        })
    };
    json!({
        "schema": SCHEMA,
        "plan": {
            "file": file,
            "slug": plan.header.slug.as_ref().map(|s| s.value.as_str()),
            "mode": mode(plan),
            "header": labelled(&plan.header.fields),
            "sha256": plan::plan_digest(text.as_bytes()),
        },
        "claims": plan.claims.iter().map(claim).collect::<Vec<_>>(),
        "missing_claims": plan.missing_claims.iter().map(missing).collect::<Vec<_>>(),
        "hypotheses": plan.hypotheses.iter().map(hypothesis).collect::<Vec<_>>(),
        "techniques": plan.techniques.iter().map(|t| json!({ "id": t.id.as_ref().map(|id| id.value.to_string()), "name": t.name.value, "fields": labelled(&t.fields) })).collect::<Vec<_>>(),
        "scenarios": plan.scenarios.iter().map(|s| scenario(plan, s, states, &places)).collect::<Vec<_>>(),
        "inventory": rows(&plan.inventory, &places),
        "coverage": rows(&plan.coverage, &places),
        "environment": rows(&plan.environment, &places),
        "adequacy": rows(&plan.adequacy, &places),
        "residual": rows(&plan.residual, &places),
        "confidence": {
            "statement": plan.confidence.statement.value,
            "aspects": rows(&plan.confidence.aspects, &places),
        },
        "not_covered": plan.not_covered.iter().map(|s| s.value.as_str()).collect::<Vec<_>>(),
        "open_questions": plan.open_questions.iter().map(|s| s.value.as_str()).collect::<Vec<_>>(),
        "diagnostics": diags.iter().map(|d| diagnostic(d, file, text, &places.index)).collect::<Vec<_>>(),
    })
}

struct Places<'t> {
    text: &'t str,
    index: LineIndex,
}

impl Places<'_> {
    fn line(&self, at: usize) -> usize {
        self.index.position(self.text, at).line
    }
}

fn scenario(plan: &Plan, scenario: &Scenario, states: &States, places: &Places<'_>) -> Value {
    let resolved = plan::resolve(plan, scenario).0;
    let skeleton = scenario.skeleton.is_some() || scenario.arms.iter().any(|a| a.skeleton.is_some());
    json!({
        "id": scenario.id.value.to_string(),
        "written": scenario.id.value.written(),
        "name": scenario.name.value,
        "falsifies": strings(&scenario.falsifies),
        "closes": strings(&scenario.closes),
        "serious": scenario.is_serious(plan),
        "has_model_block": scenario.model_block.is_some(),
        "model_block": scenario.model_block.as_ref().map(|b| model_block(b, &resolved)),
        "model_block_not_applicable": scenario.model_block_not_applicable,
        "surfaces": scenario.surfaces.as_deref().map(labelled),
        "arms": scenario.arms.iter().map(|a| arm(plan, scenario, a, states, places)).collect::<Vec<_>>(),
        "fields": labelled(&scenario.fields),
        "budgets": budgets(scenario),
        "target": scenario.target.as_ref().map(|t| t.value.as_str()),
        "skeleton_language": scenario.skeleton_language.as_ref().map(|l| l.value.as_str()),
        "has_skeleton": skeleton,
        "state": state(states, &scenario.id.value),
        "sha256": plan::scenario_digest(plan, scenario),
        "line": places.line(scenario.span.start),
    })
}

fn arm(plan: &Plan, scenario: &Scenario, arm: &Arm, states: &States, places: &Places<'_>) -> Value {
    let resolved = plan::resolve_arm(plan, scenario, arm).0;
    json!({
        "id": arm.id.value.to_string(),
        "written": arm.id.value.written(),
        "name": arm.name,
        "oracle": arm.fields.iter().find(|f| f.label == ORACLE).map(|f| f.value.value.as_str()),
        "fields": labelled(&arm.fields),
        "has_model_block": arm.model_block.is_some(),
        "model_block": arm.model_block.as_ref().map(|b| model_block(b, &resolved)),
        "target": arm.target.as_ref().map(|t| t.value.as_str()),
        "has_skeleton": arm.skeleton.is_some(),
        "state": state(states, &arm.id.value),
        "line": places.line(arm.id.span.start),
    })
}

/// `model` is canonical where it could be resolved, else as written; so are `checkers`.
fn model_block(block: &ModelBlock, resolved: &Resolved) -> Value {
    let text = |field: &Option<Spanned<String>>| field.as_ref().map(|f| f.value.clone());
    let checkers: Vec<String> = match &block.checker {
        None => Vec::new(),
        Some(checker) => {
            let named: Vec<String> = plan::names::mentions(plan::names::CHECKERS, &checker.value)
                .into_iter()
                .filter(|m| m.affirmed)
                .map(|m| m.id.to_owned())
                .fold(Vec::new(), |mut all, id| {
                    if !all.contains(&id) {
                        all.push(id);
                    }
                    all
                });
            if named.is_empty() { vec![checker.value.clone()] } else { named }
        }
    };
    let (nemesis, landing) = block.nemesis.as_ref().map_or((None, None), |f| nemesis_and_landing(&f.value));
    json!({
        "model": resolved.model.clone().or_else(|| text(&block.model)),
        "history": text(&block.history),
        "checkers": checkers,
        "checker": text(&block.checker),
        "nemesis": nemesis,
        "landing": landing,
        "ambiguous": text(&block.ambiguous),
        "reduction": text(&block.reduction),
        "other": labelled(&block.other),
    })
}

/// How far the test is; null where nobody looked.
fn state(states: &States, id: &Id) -> Value {
    let id = id.to_string();
    let state = states.iter().find(|(other, _)| *other == id).map(|(_, state)| state);
    state.map_or(Value::Null, |state| json!({ "state": state.word(), "text": state.sentence() }))
}

/// Words that open the second half of `Nemesis + landing evidence`.
const LANDING: [&str; 5] = ["landing evidence:", "landing:", "evidence:", "landing signal:", "landed when"];

/// The two halves of `Nemesis + landing evidence`: at a word that says so, else at the first strong border. Without a
/// border all of it is the nemesis.
fn nemesis_and_landing(text: &str) -> (Option<String>, Option<String>) {
    let lower = text.to_ascii_lowercase();
    let word = LANDING.iter().filter_map(|w| lower.find(w).map(|at| (at, at + w.len()))).min();
    let border = |signs: &[&str]| signs.iter().filter_map(|b| text.find(b).map(|at| (at, at + b.len()))).min();
    let border = word.or_else(|| border(&[";", " — ", " -- ", ". ", ".\n"])).or_else(|| border(&[" + "]));
    let trimmed = |half: &str| half.trim_matches(|c: char| c.is_whitespace() || "*_;,:—–+-".contains(c)).to_owned();
    let halves = border.map(|(end, start)| (trimmed(&text[..end]), trimmed(&text[start..])));
    match halves.filter(|(nemesis, landing)| !nemesis.is_empty() && !landing.is_empty()) {
        Some((nemesis, landing)) => (Some(nemesis), Some(landing)),
        None => (Some(text.to_owned()), None),
    }
}

fn budgets(scenario: &Scenario) -> Value {
    let text = |label: &str| scenario.field(label).map(|f| f.value.as_str());
    let tier = |label: &str, budget: Option<Budget>| {
        text(label).map(|text| {
            let mut value = budget.map_or_else(|| json!({}), |b| json!(b));
            value["text"] = json!(text);
            value
        })
    };
    let release = |release: Release| match release {
        Release::Budget(budget) => json!({ "budget": budget }),
        Release::NotProvided { reason, revisit } => json!({ "not_provided": { "reason": reason, "revisit": revisit } }),
    };
    let released = text(RELEASE).map(|text| {
        let mut value = scenario.release().map_or_else(|| json!({}), release);
        value["text"] = json!(text);
        value
    });
    json!({
        "smoke": tier(SMOKE, scenario.smoke()),
        "hardening": tier(HARDENING, scenario.hardening()),
        "release": released,
        "exit_criteria": text(EXIT_CRITERIA),
    })
}

fn labelled(fields: &[Field]) -> Vec<Value> {
    fields.iter().map(|f| json!({ "label": f.label, "text": f.value.value })).collect()
}

fn rows(rows: &[Row], places: &Places<'_>) -> Vec<Value> {
    let one = |row: &Row| {
        let mut object: Map<String, Value> =
            row.cells.iter().map(|(column, text)| (column.clone(), json!(text))).collect();
        object.insert("line".to_owned(), json!(places.line(row.span.start)));
        Value::Object(object)
    };
    rows.iter().map(one).collect()
}

fn strings(ids: &[Spanned<Id>]) -> Vec<String> {
    ids.iter().map(|id| id.value.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = include_str!("../../../disttest-runtime/tests-data/plans/register.md");

    #[test]
    fn the_nemesis_is_told_from_its_landing_evidence() {
        let check = |text: &str, nemesis: &str, landing: Option<&str>| {
            assert_eq!(nemesis_and_landing(text), (Some(nemesis.to_owned()), landing.map(str::to_owned)), "{text}");
        };
        check("`pause`; victim: `client-timeouts`", "`pause`", Some("victim: `client-timeouts`"));
        check("cut + latency; landing evidence: drop counter", "cut + latency", Some("drop counter"));
        check("Kill -9 the leader. **Landing:** exit line", "Kill -9 the leader.", Some("exit line"));
        check("pause + process-stopped", "pause", Some("process-stopped"));
        check("one-way cut -- counters on both sides", "one-way cut", Some("counters on both sides"));
        check("pause", "pause", None);
    }

    #[test]
    fn the_json_carries_the_documented_names() {
        let text = PLAN.replace("client p99 <= 500 ms over the whole run", "logs look fine");
        let (plan, told) = plan::check(&text);
        let value = json(&plan, &text, "docs/p.md", &States::new(), &told);
        assert_eq!(value["schema"], "disttest.plan/1");
        assert_eq!(
            (&value["plan"]["slug"], &value["plan"]["mode"]),
            (&json!("quorum-register"), &json!("change-scoped"))
        );
        assert_eq!(value["claims"][1]["categories"], json!(["durability"]));
        assert_eq!(value["hypotheses"][1]["claims"], json!(["C1", "C2"]));
        let first = &value["scenarios"][0];
        assert_eq!(first["falsifies"], json!(["C1", "C2"]));
        assert_eq!(first["model_block"]["model"], "register");
        assert_eq!(first["model_block"]["checkers"], json!(["linearizability", "no-lost-ack"]));
        assert_eq!(first["model_block"]["nemesis"], "`asymmetric-data-cut` and `hard-kill`");
        assert_eq!(first["budgets"]["hardening"]["operations"], 20000);
        assert_eq!(first["budgets"]["release"]["not_provided"]["reason"], "no soak rig yet");
        assert_eq!(
            (&first["serious"], &first["has_skeleton"], &first["surfaces"]),
            (&json!(true), &json!(true), &json!(null))
        );
        let second = &value["scenarios"][1];
        assert_eq!((&second["model_block"], &second["has_model_block"]), (&json!(null), &json!(false)));
        assert_eq!(value["adequacy"][0]["Claim"], "C1");
        let told = &value["diagnostics"][0];
        assert_eq!(
            (&told["rule"], &told["severity"], &told["file"]),
            (&json!("vague-oracle"), &json!("error"), &json!("docs/p.md"))
        );
        let line = text.lines().position(|l| l.contains("logs look fine")).expect("it is there") + 1;
        assert_eq!((told["line"].as_u64(), told["column"].as_u64()), (Some(line as u64), Some(20)));
        for key in ["missing_claims", "inventory", "environment", "residual"] {
            assert!(value[key].is_array(), "{key}");
        }
    }
}
