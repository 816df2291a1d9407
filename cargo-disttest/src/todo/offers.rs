//! What the runtime offers for a region: what the plan names first, then the rest of the catalogue.

use super::fills::{Fill, Known, no_checker, read_by_the_runtime};
use super::operations;
use super::snippets;
use disttest_runtime::plan::Fault;
use disttest_runtime::plan::names::{CHECKERS, NEMESES, SIGNALS, Side};
use serde::Serialize;

/// One thing of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Offer {
    /// `model`, `checker`, `nemesis`, `signal`, `control`.
    pub kind: &'static str,
    /// Its name in a plan.
    pub name: String,
    /// The plan names it for this scenario.
    pub planned: bool,
    /// The runtime has it.
    pub available: bool,
    /// The whole region by it alone; `None` where nothing is to be written, or nothing can.
    pub snippet: Option<Fill>,
    /// What it does, or why there is no snippet.
    pub note: String,
}

/// The offers for the region of this name.
pub(crate) fn of(known: &Known<'_>, region: &str) -> Vec<Offer> {
    let mut offers = match region.rsplit('/').next() {
        Some("workload") => [models(known), signals(known)].concat(),
        Some("faults") => [nemeses(known), signals(known)].concat(),
        Some("oracle") => [checkers(known), controls(known)].concat(),
        _ => Vec::new(),
    };
    // Stable: within each half the order of the format stays.
    offers.sort_by_key(|offer| !offer.planned);
    offers
}

fn models(known: &Known<'_>) -> Vec<Offer> {
    let planned = known.resolved.model.as_deref();
    let mut offers: Vec<Offer> = operations::ALL
        .iter()
        .map(|one| Offer {
            kind: "model",
            name: one.model.to_owned(),
            planned: planned == Some(one.model),
            available: one.constructor.is_some(),
            snippet: one.constructor.map(|_| known.workload(one)),
            note: match one.constructor {
                Some(new) => format!("`{new}`; operations {}; the history shows {}", one.kinds.join(", "), one.answers),
                None => format!(
                    "operations {}; the history shows {}; the runtime has no such model yet: write one with `impl Model`",
                    one.kinds.join(", "),
                    one.answers
                ),
            },
        })
        .collect();
    if let Some(other) = planned.filter(|name| !operations::ALL.iter().any(|one| one.model == *name)) {
        let note = "a model of the plan's own: write it with `impl Model`".to_owned();
        offers.push(Offer {
            kind: "model",
            name: other.to_owned(),
            planned: true,
            available: false,
            snippet: None,
            note,
        });
    }
    offers
}

fn nemeses(known: &Known<'_>) -> Vec<Offer> {
    let planned: &[String] = match &known.resolved.fault {
        Fault::Planned { nemeses, .. } => nemeses,
        _ => &[],
    };
    let offer = |nemesis: &disttest_runtime::plan::names::Nemesis| {
        let name = nemesis.name.id;
        let available = snippets::nemesis(name).is_some();
        Offer {
            kind: "nemesis",
            name: name.to_owned(),
            planned: planned.iter().any(|planned| planned == name),
            available,
            snippet: available.then(|| known.nemesis(name)),
            note: match available {
                true => format!("evidence: {}; injector signal {}", nemesis.evidence, nemesis.signals.join(" or ")),
                false => format!("evidence: {}; the runtime has no such nemesis yet", nemesis.evidence),
            },
        }
    };
    NEMESES.iter().map(offer).collect()
}

fn checkers(known: &Known<'_>) -> Vec<Offer> {
    let model = known.resolved.model.as_deref();
    let mut offers = Vec::new();
    for checker in CHECKERS {
        let planned = known.resolved.checkers.iter().find(|(name, _)| name == checker.id);
        // Without a model of the plan, or with one that the runtime lacks, those that it has are shown.
        let mut made: Vec<(&str, String)> = operations::ALL
            .iter()
            .filter(|one| model.is_none_or(|model| model == one.model))
            .filter_map(|one| {
                let per_key = planned.is_none_or(|(_, per_key)| *per_key);
                Some((one.model, operations::checker(checker.id, Some(one.model), per_key)?))
            })
            .collect();
        // A model of the plan's own is one that the runtime does not know.
        if let Some(own) = model.filter(|model| model.starts_with("other(")) {
            made.extend(operations::checker(checker.id, Some(own), false).map(|expression| (own, expression)));
        }
        let offer = |snippet: Option<Fill>, note: String| Offer {
            kind: "checker",
            name: checker.id.to_owned(),
            planned: planned.is_some(),
            available: snippet.is_some(),
            snippet,
            note,
        };
        let per_key = planned.is_none_or(|(_, per_key)| *per_key);
        let of_any = operations::OF_ANY_MODEL.iter().any(|(name, _)| *name == checker.id);
        // One that fits every model is offered once, and for a model of the plan's own as well.
        if let Some(expression) = operations::checker(checker.id, model, per_key).filter(|_| of_any) {
            let note = format!("`{}`, for any model", expression.lines().next().unwrap_or_default());
            offers.push(offer(Some(known.judged_by(&[expression])), note));
            continue;
        }
        if made.is_empty() {
            offers.push(offer(None, no_checker(checker.id, model)));
        }
        for (model, expression) in made {
            let note = format!("`{expression}`, for a {model}");
            offers.push(offer(Some(known.judged_by(&[expression])), note));
        }
    }
    offers
}

/// What must be denied, to be tried among the final reads.
fn controls(known: &Known<'_>) -> Vec<Offer> {
    let how = "in the final reads of one client: `let mut control = client.control(\"…\")?;` with this text, then \
               `control.permitted(…)` by who may, `control.refused(…)` or `control.blind(…)` by who may not, and \
               `control.unseen(…)` for each place where it must not show, all of them over `control.addr()`";
    let offer = |control: &String| Offer {
        kind: "control",
        name: control.split_whitespace().collect::<Vec<_>>().join(" "),
        planned: true,
        available: true,
        snippet: None,
        note: how.to_owned(),
    };
    known.controls.iter().map(offer).collect()
}

/// The declared signals of both sides, and the rest of those that the runtime reads.
fn signals(known: &Known<'_>) -> Vec<Offer> {
    let declared: Vec<(&String, Side)> = match &known.resolved.fault {
        Fault::Planned { injector, victim, .. } => {
            injector.iter().map(|s| (s, Side::Injector)).chain(victim.iter().map(|s| (s, Side::Victim))).collect()
        }
        _ => Vec::new(),
    };
    let offer = |name: &str, side: Side, planned: bool| {
        let side = if side == Side::Injector { "injector" } else { "victim" };
        let metric = name.strip_prefix("metric:");
        let snippet =
            metric.filter(|name| !name.contains('…')).map(|metric| match known.support.and_then(|s| s.probe(metric)) {
                Some(call) => Fill {
                    code: format!("    // in the workload: .probe({call})\n"),
                    helpers: known.support.map(snippets::module).into_iter().collect(),
                },
                None => {
                    let (call, helper) = snippets::probe(metric, &[]);
                    Fill { code: format!("    // in the workload: .probe({call})\n"), helpers: vec![helper] }
                }
            });
        let note = match metric {
            Some(_) => format!("{side} side; read by a probe of the test"),
            None => format!("{side} side; the runtime reads it, nothing is to be written"),
        };
        Offer {
            kind: "signal",
            name: name.to_owned(),
            planned,
            available: metric.is_some() || read_by_the_runtime(name),
            snippet,
            note,
        }
    };
    let mut offers: Vec<Offer> = declared.iter().map(|(name, side)| offer(name, *side, true)).collect();
    for signal in SIGNALS {
        let name = if signal.argument { format!("{}:…", signal.name.id) } else { signal.name.id.to_owned() };
        if !declared.iter().any(|(declared, _)| **declared == name) {
            offers.push(offer(&name, signal.side, false));
        }
    }
    offers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::todo::support::Program;
    use disttest_runtime::plan;

    #[test]
    fn an_oracle_is_told_which_negative_controls_it_must_try() {
        let (plan, _) = plan::parse("# Test Plan: p\n\n## 7. Scenarios\n\n### Scenario S1: apart\n");
        let resolved = plan::resolve(&plan, &plan.scenarios[0]).0;
        let controls = vec!["tenant B reads\n  A's key".to_owned()];
        let program = &Program::Unknown;
        let known = Known { resolved: &resolved, workload: "", program, support: None, arm: Some("api"), controls };
        let offers = |region: &str| -> Vec<String> {
            of(&known, region).into_iter().filter(|o| o.kind == "control").map(|offer| offer.name).collect()
        };
        assert_eq!(offers("api/oracle"), ["tenant B reads A's key"]);
        assert_eq!(offers("api/workload"), Vec::<String>::new());
    }
}
