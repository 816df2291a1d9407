//! What the runtime offers for a region: what the plan names first, then the rest of the catalogue.

use super::fills::{Fill, Known, Work, no_checker, read_by_the_runtime};
use super::operations;
use super::snippets;
use super::transactions::{self, Kind, Transactions};
use disttest_runtime::plan::Fault;
use disttest_runtime::plan::names::{CHECKERS, NEMESES, SIGNALS, Side, parts_of};
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
    let offer = |name: &str, work: Work, note: String| Offer {
        kind: "model",
        name: name.to_owned(),
        planned: planned == Some(name),
        available: true,
        snippet: Some(known.workload(work)),
        note,
    };
    let of_format = operations::ALL.iter().map(|one| {
        let (new, kinds, answers) = (one.constructor, one.kinds.join(", "), one.answers);
        // A plan may ask for transactions over a model.
        let work = if planned == Some(one.model) { known.work() } else { Work::Operations(one) };
        let note = match work {
            Work::Operations(_) => format!("`{new}`; operations {kinds}; the history shows {answers}"),
            Work::Transactions(work) => format!("`{}`; operations are {}", work.checker(), work.kind.word()),
        };
        offer(one.model, work, note)
    });
    let of_transactions = transactions::MODELS.iter().map(|(name, kind)| {
        let work = match known.work() {
            Work::Transactions(asked) if planned == Some(name) => asked,
            _ => Transactions { kind: *kind, level: None },
        };
        offer(name, Work::Transactions(work), format!("`{}`; operations are {}", work.checker(), kind.word()))
    });
    let mut offers: Vec<Offer> = of_format.chain(of_transactions).collect();
    if let Some(other) = planned.filter(|name| !offers.iter().any(|offer| offer.name == *name)) {
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
            planned: planned.iter().flat_map(|planned| parts_of(planned)).any(|planned| planned == name),
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
        let transactional = matches!(known.work(), Work::Transactions(_));
        let reads = |name: &str| !transactional || matches!(name, "long-fork" | "bounded-liveness");
        if let Some(own) = model.filter(|model| model.starts_with("other(") && reads(checker.id)) {
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
        if checker.id == "serializability" && model.is_none_or(transactions::fits) {
            for work in works_of_isolation(known, planned.is_some()) {
                let expression = work.checker();
                let note = format!(
                    "`{expression}`, for {}; strict serializability, unless `.at(level)` names another",
                    work.kind.word()
                );
                offers.push(offer(Some(known.judged_by(&[expression], Work::Transactions(work))), note));
            }
            continue;
        }
        let per_key = planned.is_none_or(|(_, per_key)| *per_key);
        let of_any = operations::OF_ANY_MODEL.iter().any(|(name, _)| *name == checker.id);
        // One that fits every model is offered once, and for a model of the plan's own as well.
        if let Some(expression) = operations::checker(checker.id, model, per_key).filter(|_| of_any) {
            let note = format!("`{}`, for any model", expression.lines().next().unwrap_or_default());
            offers.push(offer(Some(known.judged_by(&[expression], known.work())), note));
            continue;
        }
        if made.is_empty() {
            offers.push(offer(None, no_checker(checker.id, model)));
        }
        for (model, expression) in made {
            let article = if model.starts_with('o') { "an" } else { "a" };
            let note = format!("`{expression}`, for {article} {model}");
            let work = match checker.id {
                "long-fork" => Work::Transactions(Transactions { kind: Kind::Inserts, level: None }),
                _ if transactional && model.starts_with("other(") => known.work(),
                _ => Work::Operations(operations::of(Some(model))),
            };
            offers.push(offer(Some(known.judged_by(&[expression], work)), note));
        }
    }
    offers
}

/// The transactions that `serializability` may judge: those that the plan asks for, else of every kind.
fn works_of_isolation(known: &Known<'_>, planned: bool) -> Vec<Transactions> {
    match known.work() {
        Work::Transactions(work) if planned => vec![work],
        _ => transactions::MODELS.iter().map(|(_, kind)| Transactions { kind: *kind, level: None }).collect(),
    }
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
        let judged = String::new();
        let known =
            Known { resolved: &resolved, judged, workload: "", program, support: None, arm: Some("api"), controls };
        let offers = |region: &str| -> Vec<String> {
            of(&known, region).into_iter().filter(|o| o.kind == "control").map(|offer| offer.name).collect()
        };
        assert_eq!(offers("api/oracle"), ["tenant B reads A's key"]);
        assert_eq!(offers("api/workload"), Vec::<String>::new());
    }
}
