//! Plan prose → fields of the attribute (format D16). What cannot be resolved stays unfilled and is told; nothing is
//! guessed.

use super::labels::{FAULTS, ORACLE};
use super::model::{Arm, ModelBlock, Plan, Scenario};
use super::names::{self, Mention, Side};
use super::no_fault::{self, NoFault};
use super::rules::report;
use super::{Budgets, Category, Id};
use crate::base::diagnostic::{Diagnostic, Span, Spanned};

/// What the attribute of a scenario says.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// `S1`, `S5/api`.
    pub id: Id,
    /// The name in the heading.
    pub name: String,
    /// Falsified claims with their categories. An undefined claim counts as `safety`.
    pub falsifies: Vec<(Id, Vec<Category>)>,
    /// Canonical model, or `other(<name>)`.
    pub model: Option<String>,
    /// (canonical checker, per key), in the order of the plan.
    pub checkers: Vec<(String, bool)>,
    /// The fault.
    pub fault: Fault,
    /// Budgets.
    pub budgets: Option<Budgets>,
}

/// The planned fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nemeses with signals on both sides; none of the three is empty.
    Planned {
        /// Canonical nemeses.
        nemeses: Vec<String>,
        /// Injector signals.
        injector: Vec<String>,
        /// Victim signals.
        victim: Vec<String>,
    },
    /// `Faults: none — <reason>`.
    NoFault {
        /// Why.
        reason: String,
    },
    /// Neither could be read; a diagnostic says what is missing.
    Unresolved,
}

/// The categories of a claim; `None` for one that is not defined.
pub(super) type Categories<'c> = &'c dyn Fn(&Id) -> Option<Vec<Category>>;

/// Resolves a scenario.
pub fn resolve(plan: &Plan, scenario: &Scenario) -> (Resolved, Vec<Diagnostic>) {
    resolve_with(&|id| plan.claim(id).map(|claim| claim.categories.clone()), scenario, scenario.is_serious(plan))
}

/// Resolves an arm: §7.M and oracle are its own, everything else is inherited (format D4).
pub fn resolve_arm(plan: &Plan, scenario: &Scenario, arm: &Arm) -> (Resolved, Vec<Diagnostic>) {
    resolve_arm_with(&|id| plan.claim(id).map(|claim| claim.categories.clone()), scenario, arm)
}

/// [`resolve`] for who knows the claims of the plan by their ids.
pub(super) fn resolve_with(claims: Categories<'_>, scenario: &Scenario, serious: bool) -> (Resolved, Vec<Diagnostic>) {
    let view = View {
        id: &scenario.id,
        block: scenario.model_block.as_ref(),
        faults: scenario.field(FAULTS),
        oracle: scenario.field(ORACLE),
        observability: scenario.field("Observability required"),
        serious,
        falsifies: scenario.falsifies.iter().map(|id| id.value.clone()).collect(),
        budgets: scenario.budgets.clone(),
    };
    finish(claims, scenario.name.value.clone(), view)
}

/// [`resolve_arm`] for who knows the claims of the plan by their ids.
pub(super) fn resolve_arm_with(claims: Categories<'_>, scenario: &Scenario, arm: &Arm) -> (Resolved, Vec<Diagnostic>) {
    let view = View {
        id: &arm.id,
        block: arm.model_block.as_ref(),
        faults: arm.field(scenario, FAULTS),
        oracle: arm.own(ORACLE),
        observability: None,
        serious: true,
        falsifies: arm.falsifies(scenario),
        budgets: arm.budgets(scenario),
    };
    let name = arm.name.clone().unwrap_or_else(|| scenario.name.value.clone());
    finish(claims, name, view)
}

/// The parts of a scenario or arm that are prose.
struct View<'p> {
    id: &'p Spanned<Id>,
    block: Option<&'p ModelBlock>,
    faults: Option<&'p Spanned<String>>,
    oracle: Option<&'p Spanned<String>>,
    observability: Option<&'p Spanned<String>>,
    serious: bool,
    falsifies: Vec<Id>,
    budgets: Option<Budgets>,
}

fn finish(claims: Categories<'_>, name: String, view: View<'_>) -> (Resolved, Vec<Diagnostic>) {
    let mut told = Vec::new();
    let categories = |id: &Id| claims(id).unwrap_or_else(|| vec![Category::Safety]);
    let resolved = Resolved {
        id: view.id.value.clone(),
        name,
        falsifies: view.falsifies.iter().map(|id| (id.clone(), categories(id))).collect(),
        model: model(&view, &mut told),
        checkers: checkers(&view, &mut told),
        fault: fault(&view, &mut told),
        budgets: view.budgets,
    };
    (resolved, told)
}

fn model(view: &View<'_>, told: &mut Vec<Diagnostic>) -> Option<String> {
    let field = view.block?.model.as_ref()?;
    let found = model_named(&field.value);
    if found.is_none() {
        let known: Vec<&str> = names::MODELS.iter().map(|m| m.id).collect();
        let help = format!("start with one of {}, or `other(<name>)`", known.join(", "));
        told.push(report("unresolved-model", field.span, "no single model of the format is named here", help));
    }
    found
}

/// The model that a text names: one in backticks, or the word it starts with. Two different ones are none.
fn model_named(text: &str) -> Option<String> {
    let quoted = || text.split('`').skip(1).step_by(2).filter_map(names::model);
    let bare = text.trim_start_matches(['*', '`', '_', ' ']);
    let lower = bare.to_ascii_lowercase();
    let head = match lower.strip_prefix("other(").and_then(|rest| rest.find(')')) {
        Some(close) => names::model(&bare[..close + "other()".len()]),
        None => longest_model(&bare[..bare.len().min(lower.len())]),
    };
    let alternatives = || names::model_mentions(text).into_iter().filter(|m| m.affirmed).map(|m| m.id);
    match head {
        // `register or map`: the format wants one model.
        Some(head) if offers_another(&lower) && alternatives().any(|a| a != head) => None,
        Some(head) => Some(head),
        None => {
            let affirmed: Vec<&str> = alternatives().collect();
            let known = |q: &String| q.starts_with("other(") || affirmed.contains(&q.as_str());
            let mut unique: Vec<String> = quoted().filter(known).collect();
            unique.dedup();
            (unique.len() == 1).then(|| unique.remove(0))
        }
    }
}

/// The longest known model at the start of a text, ending at a word border.
fn longest_model(text: &str) -> Option<String> {
    let ends = |c: char| !(c.is_alphanumeric() || c == '-' || c == '_');
    let spellings = names::MODELS.iter().flat_map(|m| std::iter::once(&m.id).chain(m.aliases).map(|s| (*s, m.id)));
    spellings
        .filter(|(spelling, _)| text.get(..spelling.len()).is_some_and(|head| head.eq_ignore_ascii_case(spelling)))
        .filter(|(spelling, _)| text[spelling.len()..].chars().next().is_none_or(ends))
        .max_by_key(|(spelling, _)| spelling.len())
        .map(|(_, id)| id.to_owned())
}

fn offers_another(lower: &str) -> bool {
    let end = lower.char_indices().nth(80).map_or(lower.len(), |(at, _)| at);
    [" or ", " / ", "/`", " and ", " | "].iter().any(|joint| lower[..end].contains(joint))
}

fn checkers(view: &View<'_>, told: &mut Vec<Diagnostic>) -> Vec<(String, bool)> {
    let field = view.block.and_then(|b| b.checker.as_ref());
    let mut found: Vec<(String, bool)> = Vec::new();
    let mut in_field = false;
    for text in field.into_iter().chain(view.oracle) {
        for (mention, per_key) in checkers_named(&text.value) {
            in_field |= field.is_some_and(|field| std::ptr::eq(field, text));
            match found.iter_mut().find(|(id, _)| id == mention.id) {
                Some((_, keyed)) => *keyed |= per_key,
                None => found.push((mention.id.to_owned(), per_key)),
            }
        }
    }
    if found.is_empty() && view.serious {
        let span = field.or(view.oracle).map_or(view.id.span, |f| f.span);
        let known: Vec<&str> = names::CHECKERS.iter().map(|c| c.id).collect();
        let help = format!("name one of {}", known.join(", "));
        told.push(report("unresolved-checker", span, format!("{}: no checker is named", view.id.value), help));
    }
    if let Some(field) = field.filter(|_| !in_field && !found.is_empty()) {
        let message = "this names no checker; those of the oracle are taken";
        told.push(report("unresolved-checker", field.span, message, "name the checkers here as well"));
    }
    found
}

/// The affirmed checkers of a text, and whether the words around say `per key`.
fn checkers_named(text: &str) -> Vec<(Mention, bool)> {
    let all = names::checker_mentions(text);
    let mut out = Vec::new();
    for (i, mention) in all.iter().enumerate().filter(|(_, m)| m.affirmed) {
        // An alias in parentheses (`linearizability (Porcupine) per key`) is a mention of its own, joined by the caller.
        let next = all.get(i + 1).map_or(text.len(), |m| m.at.start);
        let behind = &text[mention.at.end..next];
        let behind = behind.split([';', '\n']).next().unwrap_or("").split(". ").next().unwrap_or("");
        // `… and per-key no-lost-ack`: the words in front of the next name are the next name's.
        let behind = behind.rsplit_once([',', '+']).filter(|_| next < text.len()).map_or(behind, |(own, _)| own);
        let behind = behind.split(" and ").next().unwrap_or("");
        let from = all[..i].last().map_or(0, |m| m.at.end);
        let before = text[from..mention.at.start].trim_end_matches(['`', '*', ' ', '\n']).as_bytes();
        let ends = |w: &[u8]| before.len().checked_sub(w.len()).is_some_and(|i| before[i..].eq_ignore_ascii_case(w));
        let ahead = [&b"per-key"[..], b"per key", b"per_key", b"keyed"].into_iter().any(ends);
        out.push((mention.clone(), ahead || says_per_key(behind)));
    }
    out
}

fn says_per_key(text: &str) -> bool {
    if !text.as_bytes().windows(3).any(|word| word.eq_ignore_ascii_case(b"key")) {
        return false;
    }
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    let said = ["per key", "per-key", "per_key", "for each key", "of each key", "on each key", "key by key"];
    said.iter().any(|w| flat.contains(w)) && !flat.contains("not per") && !flat.contains("cross-key")
}

fn fault(view: &View<'_>, told: &mut Vec<Diagnostic>) -> Fault {
    let landing = view.block.and_then(|b| b.nemesis.as_ref());
    let none = view.faults.map_or(NoFault::Planned, |f| no_fault::read(&f.value));
    let span = view.faults.or(landing).map_or(view.id.span, |f| f.span);
    if none != NoFault::Planned {
        return no_fault(view, none, span, landing, told);
    }
    let nemeses = unique(view.faults.into_iter().chain(landing).flat_map(|f| nemeses_named(f, told)));
    // A serious scenario's signals are those that its §7.M declares; another one may name them elsewhere (format §10).
    let elsewhere = [view.faults, view.observability].into_iter().flatten().filter(|_| !view.serious);
    let signals: Vec<names::SignalMention> = landing
        .into_iter()
        .chain(elsewhere)
        .flat_map(|f| names::signal_mentions(&f.value))
        .filter(|s| s.affirmed)
        .collect();
    let side = |side: Side| unique(signals.iter().filter(move |s| s.side == side).map(|s| s.text.clone()));
    let (injector, victim) = (side(Side::Injector), side(Side::Victim));
    let missing: Vec<&str> = [("a nemesis", &nemeses), ("an injector signal", &injector), ("a victim signal", &victim)]
        .into_iter()
        .filter(|(_, list)| list.is_empty())
        .map(|(what, _)| what)
        .collect();
    if missing.is_empty() {
        return Fault::Planned { nemeses, injector, victim };
    }
    let message = format!("{}: the fault does not name {}", view.id.value, missing.join(", "));
    let help = "name them as the runtime knows them, here or in `Nemesis + landing evidence`: `hard-kill`, `process-exit`, \
                `client-timeouts` (`catalog nemeses`, `catalog probes`)";
    let none = if nemeses.is_empty() { "; without a fault, write `none — <reason>`" } else { "" };
    told.push(report("unresolved-fault", span, message, format!("{help}{none}")));
    Fault::Unresolved
}

/// `none` stands only if nothing else names a nemesis.
fn no_fault(
    view: &View<'_>,
    none: NoFault,
    span: Span,
    landing: Option<&Spanned<String>>,
    told: &mut Vec<Diagnostic>,
) -> Fault {
    let named = view.faults.into_iter().chain(landing).flat_map(|f| names::nemesis_mentions(&f.value));
    if let Some(nemesis) = named.filter(|m| m.affirmed).map(|m| m.id).next() {
        let message = format!("{}: `Faults` says none, and yet `{nemesis}` is named", view.id.value);
        told.push(report("unresolved-fault", span, message, "say which one holds"));
        return Fault::Unresolved;
    }
    match none {
        NoFault::Reason(reason) => Fault::NoFault { reason },
        _ => {
            let message = format!("{} plans no fault and does not say why", view.id.value);
            told.push(report("no-fault-without-reason", span, message, "write `none — <reason>`"));
            Fault::Unresolved
        }
    }
}

/// The affirmed nemeses of a field. Where some are in backticks, those count; another one in prose is told. Names joined by
/// a `+` are one nemesis: those that act together.
pub(super) fn nemeses_named(field: &Spanned<String>, told: &mut Vec<Diagnostic>) -> Vec<String> {
    let found = joined(&field.value, names::nemesis_mentions(&field.value));
    let quoted = unique(found.iter().filter(|(_, quoted)| *quoted).map(|(name, _)| name.clone()));
    if quoted.is_empty() {
        return unique(found.into_iter().map(|(name, _)| name));
    }
    for id in unique(found.into_iter().map(|(name, _)| name)).iter().filter(|id| !quoted.contains(id)) {
        let message = format!("`{id}` is named without backticks beside others in backticks; it is not taken");
        told.push(report(
            "unresolved-fault",
            field.span,
            message,
            format!("write it as `` `{id}` `` if it is planned"),
        ));
    }
    quoted
}

/// The affirmed of `mentions`, those with nothing but a `+` between them joined; and whether they are in backticks.
fn joined(text: &str, mentions: Vec<Mention>) -> Vec<(String, bool)> {
    let mut found: Vec<(String, bool, usize)> = Vec::new();
    for mention in mentions.into_iter().filter(|mention| mention.affirmed) {
        let opens = text[..mention.at.start].ends_with('`');
        let closes = text[mention.at.end..].starts_with('`');
        let with = found.last_mut().filter(|(.., end)| {
            let between = text.get(*end..mention.at.start).unwrap_or_default();
            between.trim_matches(|c: char| c.is_whitespace() || c == '`' || c == '*') == "+"
        });
        match with {
            // `` `a + b` `` is quoted as `` `a` + `b` `` is: opened before the first and closed behind the last.
            Some((name, opened, end)) => {
                *name = format!("{name}{}{}", names::TOGETHER, mention.id);
                (*opened, *end) = (*opened && closes, mention.at.end);
            }
            None => {
                let joins = text[mention.at.end..].trim_start().starts_with('+');
                found.push((mention.id.to_owned(), opens && (closes || joins), mention.at.end));
            }
        }
    }
    found.into_iter().map(|(name, quoted, _)| (name, quoted)).collect()
}

/// Each item once, in order. Few are looked through; a hostile field has a hundred thousand.
fn unique(items: impl Iterator<Item = String>) -> Vec<String> {
    const FEW: usize = 16;
    let mut seen = std::collections::HashSet::new();
    let mut found: Vec<String> = Vec::new();
    for item in items {
        if found.len() == FEW {
            seen.extend(found.iter().cloned());
        }
        let fresh = if found.len() < FEW { !found.contains(&item) } else { seen.insert(item.clone()) };
        if fresh {
            found.push(item);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Budget, parse};

    const PLAN: &str = include_str!("../../tests-data/plans/register.md");

    fn first(text: &str) -> (Resolved, Vec<String>) {
        let (plan, _) = parse(text);
        let (resolved, told) = resolve(&plan, &plan.scenarios[0]);
        (resolved, told.into_iter().map(|d| d.rule).collect())
    }

    fn edited(from: &str, to: &str) -> (Resolved, Vec<String>) {
        assert!(PLAN.contains(from), "{from}");
        first(&PLAN.replacen(from, to, 1))
    }

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|s| (*s).to_owned()).collect()
    }

    #[test]
    fn the_fixture_resolves_whole() {
        let (found, told) = first(PLAN);
        assert_eq!(told, Vec::<String>::new());
        assert_eq!(
            (found.id.to_string().as_str(), found.name.as_str()),
            ("S1", "linearizable_register_under_partitions")
        );
        let falsifies: Vec<(String, Vec<Category>)> =
            found.falsifies.iter().map(|(id, c)| (id.to_string(), c.clone())).collect();
        assert_eq!(
            falsifies,
            [("C1".to_owned(), vec![Category::Safety]), ("C2".to_owned(), vec![Category::Durability])]
        );
        assert_eq!(found.model.as_deref(), Some("register"));
        assert_eq!(found.checkers, [("linearizability".to_owned(), true), ("no-lost-ack".to_owned(), false)]);
        let fault = Fault::Planned {
            nemeses: strings(&["asymmetric-data-cut", "hard-kill"]),
            injector: strings(&["proxy-dropped-bytes", "process-exit"]),
            victim: strings(&["client-timeouts", "metric:peer-timeouts"]),
        };
        assert_eq!(found.fault, fault);
        assert_eq!(
            found.budgets.map(|b| b.smoke),
            Some(Budget { nodes: 3, seconds: 6, faults: 1, seeds: 1, operations: 0 })
        );
        let (plan, _) = parse(PLAN);
        let (second, told) = resolve(&plan, &plan.scenarios[1]);
        assert_eq!(
            (second.fault, told),
            (Fault::NoFault { reason: "the claim is about the steady state".to_owned() }, vec![])
        );
        assert_eq!((second.model, second.checkers), (None, vec![]));
    }

    #[test]
    fn nemeses_joined_by_a_plus_act_together() {
        let check = |text: &str, expect: &[&str]| {
            let field = Spanned { value: text.to_owned(), span: Span::default() };
            assert_eq!(nemeses_named(&field, &mut Vec::new()), expect, "{text}");
        };
        check("full partition + hard kill, then a slow disk", &["full-partition + hard-kill", "slow-disk"]);
        check("`full-partition` + `hard-kill`", &["full-partition + hard-kill"]);
        check("`full-partition + hard-kill` of the rest", &["full-partition + hard-kill"]);
        check("**hard-kill** + `pause` + disk full", &["hard-kill + pause + disk-full"]);
        check("full-partition and hard-kill", &["full-partition", "hard-kill"]);
        check("hard-kill (+ a restart)", &["hard-kill"]);
        check("`pause`; full partition + hard kill", &["pause"]);
        check("hard kill + nothing else + disk full", &["hard-kill", "disk-full"]);
    }

    #[test]
    fn models_are_resolved_or_left_open() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(model_named(text).as_deref(), expect, "{text}");
        check("register", Some("register"));
        check("`register`, one per key", Some("register"));
        check("Membership table of all nodes", Some("membership-table"));
        check("other(crdt set)", Some("other(crdt set)"));
        check("`other(bank)` with transfers", Some("other(bank)"));
        check("the key space is a `map`", Some("map"));
        check("`register` (read and write)", Some("register"));
        check("register or map", None);
        check("`register` / `map`", None);
        check("not a `register`", None);
        check("a bank", None);
        check("registered users", None);
        check("map-like thing", None);
    }

    #[test]
    fn per_key_belongs_to_the_checker_it_stands_at() {
        let check = |text: &str, expect: &[(&str, bool)]| {
            let found: Vec<(&str, bool)> = checkers_named(text).into_iter().map(|(m, keyed)| (m.id, keyed)).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("`linearizability` per key, and `no-lost-ack`", &[("linearizability", true), ("no-lost-ack", false)]);
        check("per-key linearizability; no-lost-ack", &[("linearizability", true), ("no-lost-ack", false)]);
        check("no-lost-ack and per-key linearizability", &[("no-lost-ack", false), ("linearizability", true)]);
        check("no-lost-ack, linearizability per key", &[("no-lost-ack", false), ("linearizability", true)]);
        check("linearizability of the whole history", &[("linearizability", false)]);
        check("linearizability, not per key", &[("linearizability", false)]);
    }

    #[test]
    fn what_is_denied_or_missing_stays_unfilled_and_is_told() {
        let (found, told) = edited("`linearizability` per key, and `no-lost-ack`", "not linearizability");
        assert_eq!(
            found.checkers,
            [("linearizability".to_owned(), true), ("no-lost-ack".to_owned(), false)],
            "from the oracle"
        );
        assert_eq!(told, ["unresolved-checker"]);
        let (found, told) = edited("`register`, one per key", "a bank");
        assert_eq!((found.model, told), (None, strings(&["unresolved-model"])));
        let (found, told) = edited("victim: `client-timeouts`, `metric:peer-timeouts`", "the victim notices");
        assert_eq!((found.fault, told), (Fault::Unresolved, strings(&["unresolved-fault"])));
        let (found, told) = edited("`asymmetric-data-cut` and `hard-kill` in turn", "none — too slow for it");
        assert_eq!(
            (found.fault, told),
            (Fault::Unresolved, strings(&["unresolved-fault"])),
            "§7.M still names nemeses"
        );
        let (found, _) =
            edited("`asymmetric-data-cut` and `hard-kill` in turn", "no `pause`; `full-partition` in turn");
        let Fault::Planned { nemeses, .. } = found.fault else { panic!("a fault is planned") };
        assert_eq!(nemeses, ["full-partition", "asymmetric-data-cut", "hard-kill"]);
        let (found, _) = edited("- **Falsifies if it FAILs:** C1, C2", "- **Falsifies if it FAILs:** C9");
        assert_eq!(found.falsifies[0].1, [Category::Safety], "an undefined claim gates");
        let (found, _) = edited("| safety |", "| consistency |");
        assert_eq!(found.falsifies[0].1, [Category::Safety], "an unknown category gates");
    }
}
