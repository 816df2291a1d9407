//! `run`: builds and runs the scenarios of a plan, and says what they prove.

use super::{Context, author, shorter};
use crate::author::attribute::Attribute;
use crate::cli::RunArgs;
use crate::exit_code::{End, Failure, Outcome};
use crate::harness::place::{Unauthored, unauthored};
use crate::harness::stage::Stage;
use crate::harness::{self, Site};
use crate::plan_file::PlanFile;
use crate::probe::finding::Finding;
use crate::runner::execute::{self, Order};
use crate::runner::interrupt::Interruptible;
use crate::runner::rows::{self, Row};
use crate::runner::{build, needs, record, session};
use crate::targets::{self, Target};
use crate::workspace::Workspace;
use disttest_runtime::plan::{Id, Scenario, Tier};
use disttest_runtime::verdict::{Harness, ScenarioRecord, SessionVerdict, Verdict, test_is_ok};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Does it.
pub(super) fn run(context: &Context, args: &RunArgs) -> Outcome {
    check_arguments(args)?;
    say_what_is_not_used(context);
    let mut workspace = workspace(context, args)?;
    let plan = context.plan(&workspace, &args.plan)?;
    let scenarios = plan.select(&args.scenario)?;
    halt_if_lacking(&plan, &scenarios, args)?;
    if author::author_mode() {
        author::author_missing(context, &plan, &args.scenario, args.harness.as_deref())?;
        workspace = context.workspace()?;
    }
    if plan.has_errors() {
        context
            .console
            .warning(format_args!("the plan breaks rules of the format: cargo disttest plan {}", plan.shown));
    }
    let environment = super::probe::for_session(context, &plan, args.answers.as_deref())?;
    halt_if_waiting(&environment)?;
    let mut found = targets::find(&workspace, &plan, &args.scenario)?;
    context.show(&plan, &found.diagnostics);
    let order = order(&workspace, &plan, args)?;
    let folder = args.harness.as_deref().map(std::path::absolute).transpose();
    let folder = folder.map_err(|error| Failure::new(End::WrongUsage, format!("--harness: {error}")))?;
    let (session, root) = (Path::new(&order.session), Path::new(&order.session_root));
    let site = Site { refresh: args.refresh_harness, ..Site::new(&workspace, session, root, folder.as_deref()) };
    let (unauthored, told) = unauthored(&workspace, &plan, &scenarios, &site.folder(), &mut found);
    context.show(&plan, &told);
    if unauthored.is_empty() && folder.is_some() {
        context.console.warning("--harness has no effect: every test that could be in it stands in the repository");
    }
    let named = named(&workspace, &plan, &found, &unauthored);
    let targets: Vec<&Target> = found.targets.iter().collect();
    let options = build::Options { release: args.release, quiet: context.common.quiet };
    let executables = build::executables(&workspace, &targets, options)?;
    if !environment.is_empty() {
        session::open(&workspace, &named, &order, &environment)
            .map_err(|why| Failure::new(End::Unwritable, format!("the session folder: {why:#}")))?;
    }
    let stage = Stage::set(&context.console, &site, &unauthored, &named, &order, options);
    found.targets.extend(unauthored.into_iter().map(|test| test.target));
    let interruptible = Interruptible::listen()
        .map_err(|error| Failure::new(End::Bug, format!("signals cannot be listened for: {error}")))?;
    let (executables, found) = (&executables, &found);
    let asked = args.scenario.as_slice();
    let mut job = Job { context, plan: &plan, asked, order: &order, executables, found, stage: &stage, interruptible };
    // Each binary notes every function it has, so that what nobody asked for is known only when all have run.
    let ran: Vec<Vec<Row>> = scenarios.iter().map(|scenario| job.parts(scenario)).collect();
    stage.clear(&site);
    let rows: Vec<Row> = scenarios.iter().zip(ran).map(|(scenario, parts)| whole(scenario, parts, &order)).collect();
    if rows::parts(&rows).any(|row| row.verdict == Verdict::NotRun) {
        let noted = session::note_not_run(&workspace, &plan, &named, &order, &rows);
        if let Err(why) = noted {
            context.console.warning(format_args!("the session lacks what did not run: {why:#}"));
        }
    }
    let summary = Summary::new(&plan, &order, args.tier, rows, &stage);
    summary.print(context)
}

/// The workspace; where there is none at all, the plan may be fine and still nothing can be run.
fn workspace(context: &Context, args: &RunArgs) -> Result<Workspace, Failure> {
    context.workspace().map_err(|failure| {
        let here = std::env::current_dir().unwrap_or_default();
        let none = !here.ancestors().any(|folder| folder.join("Cargo.toml").is_file());
        if context.common.manifest_path.is_some() || !none || !args.plan.is_file() {
            return failure;
        }
        let message = format!(
            "nothing was run: {} is not in a cargo workspace, and `run` builds and runs Rust scenarios only. Run the \
             tests of other languages with their own tools, or name the workspace that drives the system with \
             --manifest-path",
            here.display()
        );
        Failure::new(End::NotRun, message)
    })
}

/// A forgotten export must not shorten a run, nor be taken for honoured.
fn say_what_is_not_used(context: &Context) {
    let flags = [
        ("DISTTEST_TIER", "--tier"),
        ("DISTTEST_SEED", "--seed"),
        ("DISTTEST_SEEDS", "--seeds"),
        ("DISTTEST_STRICT", "--strict"),
        ("DISTTEST_SUT_ARGS", "--sut-arg"),
        ("DISTTEST_SESSION_ROOT", "--session-root"),
        ("DISTTEST_ALLOW_MISSING_BUDGETS", "--allow-missing-budgets"),
    ];
    for (variable, flag) in flags.iter().filter(|(variable, _)| std::env::var_os(variable).is_some()) {
        context.console.warning(format_args!("{variable} is set and has no effect on `run`, which takes {flag}"));
    }
}

fn check_arguments(args: &RunArgs) -> Result<(), Failure> {
    match args.sut_arg.iter().find(|arg| arg.is_empty() || arg.contains(char::is_whitespace)) {
        Some(arg) => {
            let message = format!("--sut-arg `{arg}`: the harness splits these at white space; give one word each");
            Err(Failure::new(End::WrongUsage, message))
        }
        None => Ok(()),
    }
}

/// D2: nothing runs while a scenario has nothing to be judged by.
fn halt_if_lacking(plan: &PlanFile, scenarios: &[&Scenario], args: &RunArgs) -> Result<(), Failure> {
    if scenarios.is_empty() {
        return Err(Failure::new(End::PlanNotRunnable, format!("{} has no scenario", plan.shown)));
    }
    let lacking = needs::lacking(plan, scenarios, args.allow_missing_budgets);
    if lacking.is_empty() {
        return Ok(());
    }
    let message = format!("nothing was run, because the plan lacks what a run needs:\n  {}", lacking.join("\n  "));
    Err(Failure::new(End::PlanNotRunnable, message))
}

/// The operator chose to wait for something that is not there.
fn halt_if_waiting(environment: &[Finding]) -> Result<(), Failure> {
    let waits = environment.iter().filter(|finding| finding.waits);
    let list: Vec<String> =
        waits.map(|f| format!("{} (for {}; install: {})", f.requirement, f.used_by, f.install_hint)).collect();
    if list.is_empty() {
        return Ok(());
    }
    let message = format!("nothing was run: the answers say to wait for what is missing:\n  {}", list.join("\n  "));
    Err(Failure::new(End::PlanNotRunnable, message))
}

fn order(workspace: &Workspace, plan: &PlanFile, args: &RunArgs) -> Result<Order, Failure> {
    let given = args.session_root.as_deref().map(std::path::absolute).transpose();
    let unwritable = |error: std::io::Error| Failure::new(End::Unwritable, format!("the session folder: {error}"));
    let root = given.map_err(unwritable)?.unwrap_or_else(|| workspace.root.join("test-sessions"));
    let slug = plan.plan.header.slug.as_ref().map_or("plan", |slug| slug.value.as_str());
    let folder = session::create(&root, &session::folder_name(slug), SystemTime::now()).map_err(unwritable)?;
    Ok(Order {
        tier: args.tier,
        seed: args.seed,
        seeds: args.seeds,
        strict: args.strict,
        allow_missing_budgets: args.allow_missing_budgets,
        sut_args: args.sut_arg.clone(),
        ephemeral_of: None,
        session: folder.into(),
        session_root: root.into(),
    })
}

/// The plan as its tests name it, and the folder of their package.
fn named(
    workspace: &Workspace,
    plan: &PlanFile,
    found: &targets::Found,
    unauthored: &[Unauthored],
) -> (String, PathBuf) {
    let ephemeral = unauthored.first().map(|test| (&test.target.wanted, &test.sut));
    let first = found.targets.first().map(|target| (&target.wanted, &target.placed.member)).or(ephemeral);
    let below = || plan.path.strip_prefix(&workspace.root).unwrap_or(&plan.path).display().to_string();
    first.map_or_else(
        || (below(), workspace.root.clone()),
        |(wanted, member)| (wanted.attribute.plan.clone(), member.root.clone()),
    )
}

struct Job<'a> {
    interruptible: Interruptible,
    context: &'a Context,
    plan: &'a PlanFile,
    /// Ids of scenarios and arms; none: all.
    asked: &'a [String],
    order: &'a Order,
    executables: &'a BTreeMap<PathBuf, PathBuf>,
    found: &'a targets::Found,
    stage: &'a Stage,
}

impl<'a> Job<'a> {
    /// The arms of a scenario; of one without any, the scenario itself.
    fn parts(&mut self, scenario: &Scenario) -> Vec<Row> {
        ids_of_parts(scenario).iter().map(|part| self.part(scenario, part)).collect()
    }

    /// A scenario without arms, or one arm.
    fn part(&mut self, scenario: &Scenario, id: &Id) -> Row {
        let name = scenario.name.value.as_str();
        let found = self.found;
        let of_target = |target: &'_ Target| {
            let functions = target.wanted.functions().into_iter();
            functions.map(|(attribute, function)| (attribute.clone(), function)).find(|(a, _)| a.id == id.to_string())
        };
        let here = found.targets.iter().find_map(|target| Some((target, of_target(target)?)));
        let ephemeral = here.as_ref().is_some_and(|(target, _)| self.stage.holds(target));
        let harness = if ephemeral { Harness::Ephemeral } else { Harness::Repository };
        let not_run = |why: String| Row { harness, ..Row::not_run(&id.to_string(), name, why) };
        if !self.plan.asks_for(self.asked, id) {
            return not_run(format!("not asked for (--scenario {})", self.asked.join(" --scenario ")));
        }
        if let Some(signal) = self.interruptible.stopped() {
            return not_run(format!("the run was stopped before it ({signal})"));
        }
        let Some((target, (attribute, function))) = here else {
            return not_run(self.why_no_target(scenario, id));
        };
        let part = Part { target, attribute: &attribute, function: &function, scenario };
        self.judged(&part).unwrap_or_else(not_run)
    }

    fn why_no_target(&self, scenario: &Scenario, id: &Id) -> String {
        let whole = &scenario.id.value;
        let left_out = |wanted: &Id| self.found.left_out.iter().find(|(left_out, _)| *left_out == wanted.to_string());
        let listed_only = id.arm().is_some() && scenario.arm(id).is_none();
        match left_out(id) {
            Some((_, why)) => why.clone(),
            None if listed_only => format!("§7.M.S of {whole} lists it and it has no block: write `#### Arm {id}: …`"),
            None => "its target is refused".to_owned(),
        }
    }

    /// The executable of a test, and the order that it is given.
    fn launch(&self, target: &Target) -> Result<(&'a Path, Order), String> {
        match self.stage.launch(target) {
            Some(launch) => {
                let (executable, sut) = launch?;
                Ok((executable, Order { ephemeral_of: Some(sut.to_path_buf()), ..self.order.clone() }))
            }
            None => Ok((self.authored(target)?, self.order.clone())),
        }
    }

    /// The executable of a test in the repository.
    fn authored(&self, target: &Target) -> Result<&'a Path, String> {
        let path = target.placed.path();
        let shown = shorter(&path).display().to_string();
        if !path.is_file() {
            return Err(format!("{shown} does not exist: cargo disttest author writes it"));
        }
        if target.placed.test_target().is_none() {
            return Err(format!("Cargo.toml has no [[test]] entry for {shown}: cargo disttest author writes it"));
        }
        Ok(self.executables.get(&path).ok_or(format!("{shown} does not build"))?)
    }

    /// The row of a scenario or arm that ran; `Err` says why it did not.
    fn judged(&mut self, part: &Part<'_>) -> Result<Row, String> {
        let Part { target, attribute, function, scenario } = *part;
        let (executable, order) = self.launch(target)?;
        let order = &order;
        let root = &target.placed.member.root;
        let test = execute::find(order, executable, root, function)?;
        self.announce(part, executable, &test);
        let status = execute::run(&mut self.interruptible, order, executable, root, &test, self.context.json())?;
        let record = record::read(order, &attribute.id)
            .map_err(|why| format!("{why} (the test process ended with {status})"))?;
        if !record::is_of(&record, &target.placed) {
            let place = record.declared.place();
            return Err(format!("its record is of another test, {place} (the test process ended with {status})"));
        }
        let verdict = record.verdict;
        let mut against = Vec::new();
        let edited = record::edited(&record, &self.plan.plan, scenario, attribute);
        if !edited.is_empty() {
            let fields = edited.join(", ");
            against.push(format!("its attribute is not what the plan says: {fields} (cargo disttest author --check)"));
        }
        let ok = test_is_ok(&record.declared, verdict, record.tier_met, self.order.tier);
        if verdict.is_pass() && ok && !status.success() {
            against.push(format!("its record says {verdict}, but the test process ended with {status}"));
        }
        let reason = match record.why.steps.last() {
            _ if !against.is_empty() => against.join("; "),
            Some(step) if !verdict.is_pass() => step.reason.clone(),
            _ => String::new(),
        };
        Ok(Row {
            scenario: record.declared.id.clone(),
            name: target.wanted.name.clone(),
            verdict,
            tier_met: record.tier_met,
            ok: ok && against.is_empty(),
            reason,
            arms: Vec::new(),
            harness: record.harness,
        })
    }

    /// What is about to run, and how long that takes.
    fn announce(&self, part: &Part<'_>, executable: &Path, test: &str) {
        let id = &part.attribute.id;
        let budget = part.attribute.budgets.as_ref().map(|budgets| match self.order.tier {
            Tier::Smoke => budgets.smoke,
            Tier::Hardening | Tier::Release => budgets.hardening,
        });
        let expected = budget.map(|budget| {
            let seeds = self.order.seed.map_or(self.order.seeds.unwrap_or(budget.seeds), |_| 1);
            let total = budget.seconds.saturating_mul(seeds);
            let plural = if seeds == 1 { "" } else { "s" };
            format!(", {seeds} seed{plural} × {} s of workload: at least {total} s", budget.seconds)
        });
        let console = &self.context.console;
        console.status("Running", format_args!("{id} {}{}", part.target.wanted.name, expected.unwrap_or_default()));
        console.detail(format_args!("{} --exact {test} --nocapture --include-ignored", executable.display()));
    }
}

fn ids_of_parts(scenario: &Scenario) -> Vec<Id> {
    let arms = scenario.arm_ids();
    if arms.is_empty() { vec![scenario.id.value.clone()] } else { arms }
}

/// The row of a scenario whose parts ran, with those that the plan does not ask for.
fn whole(scenario: &Scenario, mut parts: Vec<Row>, order: &Order) -> Row {
    let (id, name) = (scenario.id.value.to_string(), scenario.name.value.as_str());
    let known: Vec<String> = ids_of_parts(scenario).iter().map(Id::to_string).collect();
    parts.extend(record::strays(Path::new(&order.session), &id, &known).iter().map(|record| stray(name, record)));
    match parts.len() {
        1 if known == [id.clone()] => parts.remove(0),
        _ => Row::joined(&id, name, parts),
    }
}

/// One function of a test file.
#[derive(Clone, Copy)]
struct Part<'a> {
    target: &'a Target,
    attribute: &'a Attribute,
    function: &'a str,
    scenario: &'a Scenario,
}

/// A test that stands for the scenario beside those that the plan asks for: whatever it found, it is drift.
fn stray(name: &str, record: &ScenarioRecord) -> Row {
    let id = &record.declared.id;
    let why = format!("the plan has no {id} to be tested, and yet there is `{}`", record.declared.place());
    let reason = format!("{why}: remove it, or put {id} into the plan (cargo disttest author --check)");
    let verdict = record.verdict.at_most(Verdict::PartialSurface);
    Row { verdict, tier_met: record.tier_met, ..Row::not_run(id, name, reason) }
}

/// `disttest.run-summary/1`.
#[derive(Serialize)]
struct Summary {
    schema: &'static str,
    plan: String,
    tier: Tier,
    scenarios: Vec<Row>,
    /// The ephemeral package of scenarios without a test in the repository, when there are such.
    harness: Option<String>,
    session_verdict: SessionVerdict,
    /// The session's folder; `None` when nothing got as far as writing into it.
    session: Option<String>,
    report: Option<String>,
    session_log: Option<String>,
    /// SHA-256 of the session's MANIFEST.sha256.
    manifest_sha256: Option<String>,
    next: String,
    exit_status: u8,
}

impl Summary {
    fn new(plan: &PlanFile, order: &Order, tier: Tier, rows: Vec<Row>, stage: &Stage) -> Summary {
        let session = PathBuf::from(&order.session);
        // Succeeds on an empty folder only: a session in which nothing was written is none.
        let written = std::fs::remove_dir(&session).is_err();
        let existing = |name: &str| Some(session.join(name)).filter(|path| path.is_file());
        let shown = |path: PathBuf| shorter(&path).display().to_string();
        let end = rows::end(&rows);
        Summary {
            schema: "disttest.run-summary/1",
            plan: plan.shown.clone(),
            tier,
            session_verdict: rows::session_verdict(&rows),
            report: existing("findings/report.md").map(shown),
            session_log: existing("session-log.md").map(shown),
            manifest_sha256: session::manifest_sha256(&session),
            harness: stage.package().map(|package| shown(package.folder.clone())),
            next: next(plan, end, tier, &rows, &session, stage),
            session: written.then(|| shown(session)),
            exit_status: end.exit_code().number(),
            scenarios: rows,
        }
    }

    fn print(&self, context: &Context) -> Outcome {
        let console = &context.console;
        let end = rows::end(&self.scenarios);
        if context.json() {
            let json = serde_json::to_string_pretty(self).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
            console.result(json);
            return Ok(end);
        }
        console.result_text(&crate::console::visible(&format!("\n{}\n", rows::table(&self.scenarios))));
        console.result(format_args!("Session: {} ({} tier{})", self.session_verdict, self.tier, self.short_of_it()));
        let places = [("Harness", &self.harness), ("Report", &self.report), ("Log", &self.session_log)];
        for (label, path) in places.iter().filter_map(|(label, path)| path.as_ref().map(|path| (label, path))) {
            console.result(format_args!("{label}: {path}"));
        }
        console.result(format_args!("Next: {}", self.next));
        match &self.manifest_sha256 {
            Some(hash) => {
                let session = self.session.as_deref().unwrap_or_default();
                console.result(format_args!("{hash}  {session}/MANIFEST.sha256"));
            }
            None => console.error("the session has no MANIFEST.sha256: there is nothing to verify later"),
        }
        Ok(end)
    }

    /// Which scenarios passed below the tier that was asked for: a reader must not take "DONE" for it.
    fn short_of_it(&self) -> String {
        let short = self.scenarios.iter().filter(|row| row.verdict.is_pass() && !row.ok);
        let short: Vec<&str> = short.map(|row| row.scenario.as_str()).collect();
        if short.is_empty() { String::new() } else { format!(" asked for, not met by {}", short.join(", ")) }
    }
}

fn next(plan: &PlanFile, end: End, tier: Tier, rows: &[Row], session: &Path, stage: &Stage) -> String {
    let plan = &plan.shown;
    let first_bad = rows::parts(rows).find(|row| !row.ok).map_or("", |row| row.scenario.as_str());
    match end {
        End::Clean if tier == Tier::Smoke => format!("cargo disttest run {plan} --tier hardening"),
        End::Clean => "keep the line below where nobody can edit it".to_owned(),
        End::Violation | End::NothingConcluded => {
            let findings = session.join("findings").join(format!("{}.md", first_bad.replace('/', "__")));
            format!("read {}", shorter(&findings).display())
        }
        End::TierNotMet => format!("cargo disttest run {plan} --tier {tier} --scenario {first_bad}"),
        _ if rows.iter().any(|row| row.harness == Harness::Ephemeral) => fill(plan, session, stage),
        _ => format!("cargo disttest author {plan} --check"),
    }
}

/// How the tests of an ephemeral package come to be filled. The package of a session is evidence, so that a person
/// works on one of their own.
fn fill(plan: &str, session: &Path, stage: &Stage) -> String {
    let unfilled = stage.package().map_or(&[][..], |package| &package.unfilled);
    match (unfilled, stage.package()) {
        ([(file, line, name), ..], Some(package)) if package.folder != harness::folder_of(session) => {
            let (file, folder) = (shorter(file), shorter(&package.folder));
            let (file, folder) = (file.display(), folder.display());
            format!("fill region {name} ({file}:{line}), then cargo disttest run {plan} --harness {folder}")
        }
        _ => {
            let folder = session.parent().unwrap_or(session).join("harness");
            let folder = shorter(&folder);
            let folder = folder.display();
            format!(
                "cargo disttest author {plan} (writes the tests into the repository), or cargo disttest run {plan} \
                 --harness {folder} (writes them there; the repository stays as it is)"
            )
        }
    }
}
