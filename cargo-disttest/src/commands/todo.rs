//! `todo`: lists what is still to be filled in test files.

use super::{Context, shorter};
use crate::cli::TodoArgs;
use crate::console::visible;
use crate::diagnostics::plain;
use crate::exit_code::{End, Failure, Outcome};
use crate::new::crates::Crates;
use crate::new::inventory::count;
use crate::plan_file::PlanFile;
use crate::targets;
use crate::todo::item::{Filled, Item, Left, NotAuthored, Package, Subject};
use crate::todo::lacking::Lacking;
use crate::todo::offers::Offer;
use crate::workspace::Workspace;
use disttest_runtime::report::escape::shell;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Does it. A plan that cannot be read does not keep the others from being looked at.
pub(super) fn run(context: &Context, args: &TodoArgs) -> Outcome {
    let workspace = match &args.plan {
        Some(plan) => context.workspace_of(plan)?,
        None => context.workspace()?,
    };
    let (plans, failures) = load(context, &workspace, args)?;
    let crates = Crates::load(Some(&workspace.root.join("Cargo.toml"))).unwrap_or_default();
    let mut left = Left::default();
    let mut packages = BTreeMap::new();
    for plan in &plans {
        look(&workspace, &crates, plan, &args.scenario, &mut packages, &mut left)?;
    }
    let report = Report::new(&plans, left);
    if context.json() {
        let json = serde_json::to_string_pretty(&report).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
        context.console.result(json);
    } else {
        print(context, &report, &plans);
    }
    context.console.next(&report.next);
    for failure in &failures {
        context.console.error(visible(&failure.message));
    }
    Ok(if failures.is_empty() { End::Clean } else { End::Unreadable })
}

fn load(context: &Context, workspace: &Workspace, args: &TodoArgs) -> Result<(Vec<PlanFile>, Vec<Failure>), Failure> {
    if let Some(named) = &args.plan {
        return Ok((vec![context.plan(workspace, named)?], Vec::new()));
    }
    let all = workspace.plans();
    if all.is_empty() {
        let message = "there is no docs/testing-plans/*.md in this workspace; name a plan, or write one with \
                       `cargo disttest new SLUG`";
        return Err(Failure::new(End::Unreadable, message));
    }
    let (mut plans, mut failures) = (Vec::new(), Vec::new());
    for path in &all {
        match PlanFile::load(&shorter(path)) {
            Ok(plan) => plans.push(plan),
            Err(failure) => failures.push(failure),
        }
    }
    Ok((plans, failures))
}

fn look(
    workspace: &Workspace,
    crates: &Crates,
    plan: &PlanFile,
    ids: &[String],
    packages: &mut BTreeMap<PathBuf, Package>,
    left: &mut Left,
) -> Result<(), Failure> {
    let found = targets::find(workspace, plan, ids)?;
    let rust = found.targets.iter().map(|target| (&target.placed, &target.wanted, None));
    let foreign = found.foreign.iter().map(|target| (&target.placed, &target.foreign.wanted, Some(&target.foreign)));
    let mut files: Vec<_> = rust.chain(foreign).collect();
    files.sort_by_key(|(_, wanted, _)| found.order.iter().position(|id| *id == wanted.attribute.id));
    let manifest = workspace.folder.as_ref().map(|_| workspace.root.join("Cargo.toml").display().to_string());
    for (placed, wanted, foreign) in files {
        let member = &placed.member;
        let package = packages.entry(member.root.clone()).or_insert_with(|| Package::of(member, crates));
        let shown = |path: &Path| shorter(path).display().to_string();
        let subject = Subject { plan, placed, wanted, package, manifest: manifest.clone(), shown: &shown };
        let looked = match foreign {
            None => subject.look(left),
            Some(foreign) => subject.look_foreign(foreign, left),
        };
        looked.map_err(|why| Failure::new(End::Unreadable, why))?;
    }
    left.not_authored.extend(without_target(plan, ids, &found)?);
    Ok(())
}

/// Scenarios and arms that have no file of ours, each with what must change first: none is passed over in silence.
fn without_target(plan: &PlanFile, ids: &[String], found: &targets::Found) -> Result<Vec<NotAuthored>, Failure> {
    let belongs = |part: &str, id: &str| part == id || part.split('/').next() == Some(id);
    let mut list = Vec::new();
    for scenario in plan.select(ids)? {
        let id = scenario.id.value.to_string();
        let entry = |part: &str, why: String| NotAuthored {
            plan: plan.shown.clone(),
            scenario: part.to_owned(),
            name: scenario.name.value.clone(),
            file: scenario.target.as_ref().map(|target| target.value.clone()),
            why,
            command: format!("cargo disttest plan {}", shell(&plan.shown)),
        };
        let refused = found.refusals.iter().map(|(part, told)| (part, told.message.clone()));
        let left_out = found.not_authored().map(|(part, why)| (part, why.clone())).chain(refused);
        let left_out: Vec<_> = left_out.filter(|(part, _)| belongs(part, &id)).collect();
        let placed = found.targets.iter().any(|target| belongs(&target.wanted.attribute.id, &id))
            || found.foreign.iter().any(|target| target.foreign.wanted.attribute.id == id);
        let nowhere = left_out.is_empty() && !placed;
        list.extend(left_out.into_iter().map(|(part, why)| entry(part, why)));
        if nowhere {
            let why = found.refusal(scenario);
            list.push(entry(&id, why.unwrap_or_else(|| "the plan does not say enough to write it".to_owned())));
        }
    }
    Ok(list)
}

/// `disttest.todo/1`.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    plans: Vec<String>,
    counts: Counts,
    items: Vec<Item>,
    not_authored: Vec<NotAuthored>,
    filled: Vec<Filled>,
    lacking: Vec<LackingChecker>,
    next: String,
}

/// A checker of the plan that a filled oracle does not make.
#[derive(Serialize)]
struct LackingChecker {
    plan: String,
    file: String,
    #[serde(flatten)]
    what: Lacking,
    message: String,
}

#[derive(Serialize)]
struct Counts {
    /// Regions and fields to be written.
    items: usize,
    /// Scenarios with nothing left.
    filled: usize,
    /// Scenarios without a file.
    not_authored: usize,
    /// Files that are not what their plan says.
    drifted: usize,
}

impl Report {
    fn new(plans: &[PlanFile], left: Left) -> Report {
        let Left { items, not_authored, lacking, filled } = left;
        let lacks = |(plan, file, what): (String, String, Lacking)| {
            let message = what.message();
            LackingChecker { plan, file, what, message }
        };
        let lacking = lacking.into_iter().map(lacks).collect();
        let drifted = items.iter().filter(|item| item.drift.is_some()).map(|item| item.file.as_str());
        let drifted = drifted.chain(filled.iter().filter(|one| one.drift.is_some()).map(|one| one.file.as_str()));
        let drifted = drifted.collect::<std::collections::BTreeSet<_>>().len();
        let counts = Counts { items: items.len(), filled: filled.len(), not_authored: not_authored.len(), drifted };
        let next = next(plans, &items, &not_authored, &filled);
        let plans = plans.iter().map(|plan| plan.shown.clone()).collect();
        Report { schema: "disttest.todo/1", plans, counts, items, not_authored, filled, lacking, next }
    }
}

/// Files first: what is not written cannot be filled.
fn next(plans: &[PlanFile], items: &[Item], not_authored: &[NotAuthored], filled: &[Filled]) -> String {
    let drifted = filled.iter().find_map(|one| one.command.clone());
    if let Some(one) = not_authored.first() {
        return one.command.clone();
    }
    if let Some(item) = items.first() {
        let lines = lines_text(item);
        return format!("fill {} in {}{lines}, then {}", item.region, item.file, item.commands.check);
    }
    drifted.unwrap_or_else(|| match plans.first() {
        Some(plan) => format!("cargo disttest run {}", shell(&plan.shown)),
        None => "cargo disttest plan".to_owned(),
    })
}

fn print(context: &Context, report: &Report, plans: &[PlanFile]) {
    // As the plan's author spelt it.
    let written = |shown: &str, id: &str| {
        let plan = plans.iter().find(|plan| plan.shown == shown);
        plan.map_or_else(|| id.to_owned(), |plan| plan.written(id))
    };
    let mut out = String::new();
    for (n, item) in report.items.iter().enumerate() {
        out.push_str(&item_text(item, &written(&item.plan, &item.scenario), &report.items[..n]));
        out.push('\n');
    }
    for one in &report.not_authored {
        let file = one.file.as_ref().map(|file| format!("{}: ", plain(file))).unwrap_or_default();
        out.push_str(&format!(
            "{file}{} {}: {}\n",
            written(&one.plan, &one.scenario),
            plain(&one.name),
            plain(&one.why)
        ));
        out.push_str(&field("do", &one.command));
        out.push('\n');
    }
    for one in report.filled.iter().filter(|one| one.drift.is_some()) {
        let drift = one.drift.as_deref().unwrap_or_default();
        let id = written(&one.plan, &one.scenario);
        out.push_str(&format!("{}: {id} is filled, but {}\n\n", plain(&one.file), plain(drift)));
    }
    for LackingChecker { file, what, message, .. } in &report.lacking {
        out.push_str(&format!("{}:{}: {}\n\n", plain(file), what.line, whole(message)));
    }
    let Counts { items, filled, not_authored, drifted } = &report.counts;
    out.push_str(&format!(
        "{items} to fill, {not_authored} not written yet, {drifted} drifted; {} filled\n",
        count(*filled, "scenario")
    ));
    context.console.result_text(&visible(&out));
}

/// The lines to be replaced; of an empty region, the one before which its code goes.
fn lines_text(item: &Item) -> String {
    match item.lines {
        None => String::new(),
        Some((from, to)) if to < from => format!(":{from}"),
        Some((from, to)) => format!(":{from}-{to}"),
    }
}

/// An item of the scenario `id`; what was said in `before` of the same scenario or file is not said again.
fn item_text(item: &Item, id: &str, before: &[Item]) -> String {
    let lines = lines_text(item);
    let what = if item.kind == "field" { "attribute field" } else { "region" };
    let mut out = format!("{}{lines}: {id} {} — {what} `{}`\n", plain(&item.file), plain(&item.name), item.region);
    out.push_str(&field("plan says", &item.prose));
    if !before.last().is_some_and(|last| last.plan == item.plan && last.scenario == item.scenario) {
        out.push_str(&claims_text(item));
    }
    if let Some(sibling) = &item.sibling {
        let lines = sibling.lines.map(|(from, to)| format!(":{from}-{to}")).unwrap_or_default();
        out.push_str(&field("see", &format!("{}{lines}: {}", sibling.path, sibling.why)));
    }
    out.push_str(&offers_text(&item.offers));
    if let Some(note) = &item.note {
        out.push_str(&field("note", note));
    }
    if let Some(drift) = &item.drift {
        out.push_str(&field("drift", drift));
    }
    if let Some(fill) = &item.fill {
        out.push_str(&code("start from", &fill.code));
        let told = |name: &str| {
            let mut fills = before.iter().filter(|one| one.file == item.file).filter_map(|one| one.fill.as_ref());
            fills.any(|fill| fill.helpers.iter().any(|helper| helper.name == name))
        };
        for helper in fill.helpers.iter().filter(|helper| !told(&helper.name)) {
            out.push_str(&code(&format!("in region `helpers`, {}", plain(&helper.name)), &helper.code));
        }
    }
    out.push_str(&field("check", &item.commands.check));
    out.push_str(&field("check", item.commands.test.as_deref().unwrap_or_default()));
    out
}

fn claims_text(item: &Item) -> String {
    let claims = item
        .claims
        .iter()
        .map(|claim| field("falsifies", &format!("{} ({}) {}", claim.id, claim.categories.join(", "), claim.text)));
    let hypotheses =
        item.hypotheses.iter().map(|one| field("closes", &format!("{} {} — {}", one.id, one.title, one.text)));
    claims.chain(hypotheses).collect()
}

/// What the plan names, in full; of the rest, what the runtime has, by name.
fn offers_text(offers: &[Offer]) -> String {
    let planned = offers.iter().filter(|offer| offer.planned);
    let mut out: String = planned.map(|offer| field(offer.kind, &format!("{} — {}", offer.name, offer.note))).collect();
    let mut more: Vec<&str> =
        offers.iter().filter(|offer| !offer.planned && offer.available).map(|offer| offer.name.as_str()).collect();
    more.dedup();
    if !more.is_empty() {
        out.push_str(&field("also here", &more.join(", ")));
    }
    out
}

fn field(label: &str, text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.is_empty() { String::new() } else { format!("  {label:<10} {}\n", whole(&flat)) }
}

/// Untrusted text on one line, however long.
fn whole(text: &str) -> String {
    // `plain` shortens; pieces of its length do not get shorter.
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(300).map(|piece| plain(&piece.iter().collect::<String>())).collect()
}

fn code(label: &str, text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("      {line}\n") };
    format!("  {label}:\n{}", text.lines().map(line).collect::<String>())
}
