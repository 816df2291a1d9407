//! `plan`: what a plan says, for a reviewer and for programs. Pure: the caller reads the file and prints.

use crate::diagnostics::json::diagnostic;
use crate::diagnostics::plain;
use disttest_runtime::base::diagnostic::{Diagnostic, LineIndex, Severity, Spanned};
use disttest_runtime::plan::{
    self, Arm, Budget, Budgets, EXIT_CRITERIA, Field, HARDENING, Id, ModelBlock, ORACLE, Plan, PlanMode, RELEASE,
    Release, Resolved, Row, SMOKE, Scenario,
};
use serde_json::{Map, Value, json};

/// Schema of [`json()`].
pub const SCHEMA: &str = "disttest.plan/1";

/// True if the answer of `plan` is no: an error among the diagnostics.
pub fn is_broken(diags: &[Diagnostic]) -> bool {
    diags.iter().any(|d| d.severity == Severity::Error)
}

/// What a reviewer wants to see first: counts, scenarios, and which claim is falsified by what.
pub fn summary(plan: &Plan) -> String {
    let mut out = String::new();
    let slug = plan.header.slug.as_ref().map_or("(no title)", |s| s.value.as_str());
    out.push_str(&format!("{} ({})\n", plain(slug), mode(plan)));
    let serious = plan.scenarios.iter().filter(|s| s.is_serious(plan)).count();
    let blocks = plan.scenarios.iter().filter(|s| s.model_block.is_some()).count();
    let arms: usize = plan.scenarios.iter().map(|s| s.arms.len()).sum();
    let counts = [
        (plan.claims.len(), ("claim", "claims")),
        (plan.missing_claims.len(), ("missing claim", "missing claims")),
        (plan.hypotheses.len(), ("hypothesis", "hypotheses")),
        (plan.techniques.len(), ("technique", "techniques")),
        (plan.environment.len(), ("environment requirement", "environment requirements")),
        (plan.scenarios.len(), ("scenario", "scenarios")),
        (arms, ("arm", "arms")),
        (serious, ("serious scenario", "serious scenarios")),
        (blocks, ("§7.M block", "§7.M blocks")),
        (plan.adequacy.len(), ("adequacy row", "adequacy rows")),
        (plan.residual.len(), ("residual uncertainty", "residual uncertainties")),
    ];
    counts.iter().for_each(|(n, what)| out.push_str(&format!("  {n:>4} {}\n", number(*n as u64, *what))));
    out.push_str("\nScenarios\n");
    plan.scenarios.iter().for_each(|s| scenario_lines(&mut out, plan, s));
    out.push_str("\nClaims, the hypotheses that threaten them, the scenarios that falsify them\n");
    plan.claims.iter().for_each(|claim| claim_line(&mut out, plan, &claim.id.value));
    out
}

fn mode(plan: &Plan) -> &'static str {
    match plan.header.mode {
        PlanMode::ChangeScoped => "change-scoped",
        PlanMode::ProjectWide => "project-wide",
    }
}

fn scenario_lines(out: &mut String, plan: &Plan, scenario: &Scenario) {
    let kind = if scenario.is_serious(plan) { "serious" } else { "plain" };
    out.push_str(&format!("  {:<5} {}  [{kind}]\n", scenario.id.value.to_string(), plain(&scenario.name.value)));
    out.push_str(&format!("        falsifies {}; closes {}\n", listed(&scenario.falsifies), listed(&scenario.closes)));
    match &scenario.budgets {
        None => out.push_str("        budgets: MISSING\n"),
        Some(budgets) => {
            out.push_str(&format!("        smoke     {}\n", budget_words(&budgets.smoke)));
            out.push_str(&format!("        hardening {}\n", budget_words(&budgets.hardening)));
        }
    }
    let target = scenario.target.as_ref().map_or_else(|| "none: it cannot be authored".to_owned(), |t| plain(&t.value));
    out.push_str(&format!("        target    {target}\n"));
    for arm in &scenario.arms {
        out.push_str(&format!(
            "        arm {}{}\n",
            arm.id.value,
            arm.name.as_deref().map(|n| format!(": {}", plain(n))).unwrap_or_default()
        ));
    }
}

fn claim_line(out: &mut String, plan: &Plan, id: &Id) {
    let named = |ids: &[Spanned<Id>]| ids.iter().any(|other| other.value == *id);
    let threats: Vec<String> =
        plan.hypotheses.iter().filter(|h| named(&h.claims)).map(|h| h.id.value.to_string()).collect();
    let tests: Vec<String> =
        plan.scenarios.iter().filter(|s| named(&s.falsifies)).map(|s| s.id.value.to_string()).collect();
    let categories = plan.claim(id).map(|c| c.categories.iter().map(|k| k.as_str()).collect::<Vec<_>>().join(", "));
    let or_gap = |list: Vec<String>| if list.is_empty() { "GAP".to_owned() } else { list.join(" ") };
    let (id, categories) = (id.to_string(), categories.unwrap_or_default());
    out.push_str(&format!("  {id:<5} {categories:<24} {:<16} {}\n", or_gap(threats), or_gap(tests)));
}

fn listed(ids: &[Spanned<Id>]) -> String {
    if ids.is_empty() { "NOTHING".to_owned() } else { strings(ids).join(", ") }
}

fn budget_words(budget: &Budget) -> String {
    let Budget { nodes, seconds, faults, seeds, operations } = budget;
    let counted = |n: &u64, words| format!("{n} {}", number(*n, words));
    let operations = if *operations == 0 {
        String::new()
    } else {
        format!(" × {}", counted(operations, ("operation", "operations")))
    };
    let (nodes, faults) = (counted(nodes, ("node", "nodes")), counted(faults, ("fault", "faults")));
    format!("{nodes} × {seconds}s × {faults} × {}{operations}", counted(seeds, ("seed", "seeds")))
}

/// The singular or the plural.
fn number(n: u64, (one, many): (&'static str, &'static str)) -> &'static str {
    if n == 1 { one } else { many }
}

/// The whole plan, schema [`SCHEMA`]. `file` goes into each diagnostic; `text` gives lines and columns.
pub fn json(plan: &Plan, text: &str, file: &str, diags: &[Diagnostic]) -> Value {
    let places = Places { text, index: LineIndex::new(text) };
    let claim = |c: &plan::Claim| {
        json!({
            "id": c.id.value.to_string(),
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
            "behavior": m.behavior,
            "evidence": m.evidence,
            "action": m.action,
            "line": places.line(m.id.span.start),
        })
    };
    let hypothesis = |h: &plan::Hypothesis| {
        json!({
            "id": h.id.value.to_string(),
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
        "techniques": plan.techniques.iter().map(|t| json!({ "name": t.name.value, "fields": labelled(&t.fields) })).collect::<Vec<_>>(),
        "scenarios": plan.scenarios.iter().map(|s| scenario(plan, s, &places)).collect::<Vec<_>>(),
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

fn scenario(plan: &Plan, scenario: &Scenario, places: &Places<'_>) -> Value {
    let resolved = plan::resolve(plan, scenario).0;
    let skeleton = scenario.skeleton.is_some() || scenario.arms.iter().any(|a| a.skeleton.is_some());
    json!({
        "id": scenario.id.value.to_string(),
        "name": scenario.name.value,
        "falsifies": strings(&scenario.falsifies),
        "closes": strings(&scenario.closes),
        "serious": scenario.is_serious(plan),
        "has_model_block": scenario.model_block.is_some(),
        "model_block": scenario.model_block.as_ref().map(|b| model_block(b, &resolved)),
        "model_block_not_applicable": scenario.model_block_not_applicable,
        "surfaces": scenario.surfaces.as_deref().map(labelled),
        "arms": scenario.arms.iter().map(|a| arm(plan, scenario, a, places)).collect::<Vec<_>>(),
        "fields": labelled(&scenario.fields),
        "budgets": budgets(scenario),
        "target": scenario.target.as_ref().map(|t| t.value.as_str()),
        "skeleton_language": scenario.skeleton_language.as_ref().map(|l| l.value.as_str()),
        "has_skeleton": skeleton,
        "sha256": plan::scenario_digest(plan, scenario),
        "line": places.line(scenario.span.start),
    })
}

fn arm(plan: &Plan, scenario: &Scenario, arm: &Arm, places: &Places<'_>) -> Value {
    let resolved = plan::resolve_arm(plan, scenario, arm).0;
    json!({
        "id": arm.id.value.to_string(),
        "name": arm.name,
        "oracle": arm.fields.iter().find(|f| f.label == ORACLE).map(|f| f.value.value.as_str()),
        "fields": labelled(&arm.fields),
        "has_model_block": arm.model_block.is_some(),
        "model_block": arm.model_block.as_ref().map(|b| model_block(b, &resolved)),
        "target": arm.target.as_ref().map(|t| t.value.as_str()),
        "has_skeleton": arm.skeleton.is_some(),
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

/// The two halves of `Nemesis + landing evidence`; without a border both are the whole text.
fn nemesis_and_landing(text: &str) -> (Option<String>, Option<String>) {
    let border = [";", " — ", " -- ", " + ", ". "].iter().filter_map(|b| text.find(b).map(|at| (at, b.len()))).min();
    match border {
        Some((at, len)) if !text[at + len..].trim().is_empty() => {
            (Some(text[..at].trim().to_owned()), Some(text[at + len..].trim().to_owned()))
        }
        _ => (Some(text.to_owned()), None),
    }
}

fn budgets(scenario: &Scenario) -> Value {
    let text = |label: &str| scenario.field(label).map(|f| f.value.as_str());
    let read = scenario.budgets.as_ref();
    let tier = |label: &str, budget: Option<&Budget>| {
        text(label).map(|text| {
            let mut value = budget.map_or_else(|| json!({}), |b| json!(b));
            value["text"] = json!(text);
            value
        })
    };
    let release = |budgets: &Budgets| match &budgets.release {
        Release::Budget(budget) => json!({ "budget": budget }),
        Release::NotProvided { reason, revisit } => json!({ "not_provided": { "reason": reason, "revisit": revisit } }),
    };
    let released = text(RELEASE).map(|text| {
        let mut value = read.map_or_else(|| json!({}), release);
        value["text"] = json!(text);
        value
    });
    json!({
        "smoke": tier(SMOKE, read.map(|b| &b.smoke)),
        "hardening": tier(HARDENING, read.map(|b| &b.hardening)),
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
    fn the_summary_counts_and_marks_gaps() {
        let (plan, _) = plan::check(PLAN);
        let shown = summary(&plan);
        let expect = "\
quorum-register (change-scoped)
     3 claims
     1 missing claim
     3 hypotheses
     2 techniques
     1 environment requirement
     2 scenarios
     0 arms
     1 serious scenario
     1 §7.M block
     3 adequacy rows
     1 residual uncertainty

Scenarios
  S1    linearizable_register_under_partitions  [serious]
        falsifies C1, C2; closes H1, H2
        smoke     3 nodes × 6s × 1 fault × 1 seed
        hardening 5 nodes × 30s × 5 faults × 3 seeds × 20000 operations
        target    tests/auto/s1_linearizable_register.rs
  S2    bounded_latency_in_steady_state  [plain]
        falsifies C3; closes H3
        smoke     3 nodes × 10s × 0 faults × 1 seed
        hardening 5 nodes × 60s × 0 faults × 3 seeds
        target    tests/auto/s2_bounded_latency.rs

Claims, the hypotheses that threaten them, the scenarios that falsify them
  C1    safety                   H1 H2            S1
  C2    durability               H2               S1
  C3    performance-SLO          H3               S2
";
        assert_eq!(shown, expect);
        let (plan, _) =
            plan::check(&PLAN.replace("- **Closes:** H1, H2\n", "").replace("it FAILs:** C3", "it FAILs:** C2"));
        let shown = summary(&plan);
        assert!(shown.contains("closes NOTHING") && shown.contains("H3               GAP"), "{shown}");
    }

    #[test]
    fn the_json_carries_the_documented_names() {
        let text = PLAN.replace("client p99 <= 500 ms over the whole run", "logs look fine");
        let (plan, told) = plan::check(&text);
        let value = json(&plan, &text, "docs/p.md", &told);
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
        assert_eq!((told["line"].as_u64(), told["column"].as_u64()), (Some(line as u64), Some(15)));
        for key in ["missing_claims", "inventory", "environment", "residual"] {
            assert!(value[key].is_array(), "{key}");
        }
    }
}
