//! `run`: builds and runs the scenarios of a plan, and says what they prove.

mod job;
mod summary;

use super::{Context, author, shorter};
use crate::cli::RunArgs;
use crate::exit_code::{End, Failure, Outcome};
use crate::git;
use crate::harness::Site;
use crate::harness::place::{Unauthored, unauthored};
use crate::harness::stage::Stage;
use crate::plan_file::PlanFile;
use crate::probe::finding::Finding;
use crate::runner::execute::Order;
use crate::runner::interrupt::Interruptible;
use crate::runner::record::Reader;
use crate::runner::rows::Row;
use crate::runner::{build, needs, open, session};
use crate::targets::{self, Target};
use crate::workspace::Workspace;
use disttest_runtime::plan::{self, Budgets, Id, Release, Scenario, Tier};
use disttest_runtime::verdict::{ScenarioRecord, Verdict};
use job::Job;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use summary::Summary;

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
        workspace = context.workspace_of(&plan.path)?;
    }
    if args.tier == Tier::Release {
        say_what_has_no_release_tier(context, &plan, &scenarios);
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
    say_what_git_ignores(context, &workspace, &found);
    let named = named(&workspace, &plan, &found, &unauthored);
    let matrix = session::matrix(&environment);
    let reader = Reader { plan: &plan.plan, environment: &matrix };
    let open_session = || {
        session::open(&workspace, &named, &order, &matrix)
            .map_err(|why| Failure::new(End::Unwritable, format!("the session folder: {why:#}")))
    };
    // A session is of one state of the tree: it is begun as late as can be. Evidence of an ephemeral package needs it.
    let mut session = if unauthored.is_empty() { None } else { Some(open_session()?) };
    let mut stage = match &mut session {
        Some(session) => Stage::set(&context.console, &site, &unauthored, session),
        None => Stage::default(),
    };
    let options = build::Options { release: args.release, quiet: context.common.quiet };
    let in_repository: Vec<&Target> = found.targets.iter().collect();
    let all: Vec<&Target> = found.targets.iter().chain(unauthored.iter().map(|test| &test.target)).collect();
    let nothing_could_run = open::nothing_could_run(&all);
    let authored = if nothing_could_run {
        context
            .console
            .warning("no scenario could run: nothing is built (the table says which regions are to be filled)");
        build::Authored::default()
    } else {
        let authored = build::authored(&workspace, &in_repository, options)?;
        stage.build(&context.console, &site, options);
        authored
    };
    let session = session.map_or_else(open_session, Ok)?;
    found.targets.extend(unauthored.into_iter().map(|test| test.target));
    let interruptible = Interruptible::listen()
        .map_err(|error| Failure::new(End::Bug, format!("signals cannot be listened for: {error}")))?;
    let (authored, found) = (&authored, &found);
    let asked = args.scenario.as_slice();
    let mut job = Job {
        context,
        plan: &plan,
        asked,
        order: &order,
        reader,
        workspace: &workspace,
        authored,
        found,
        stage: &stage,
        nothing_could_run,
        interruptible,
    };
    // Each binary notes every function it has, so that what nobody asked for is known only when all have run.
    let ran: Vec<Vec<Row>> = scenarios.iter().map(|scenario| job.parts(scenario)).collect();
    stage.clear(&site);
    let rows: Vec<Row> =
        scenarios.iter().zip(ran).map(|(scenario, parts)| whole(scenario, parts, reader, &order)).collect();
    let closed = session::close(&session, &plan, &named.0, &order, reader, &rows);
    let summary = Summary::new(&plan, &order, args.tier, rows, &stage, found.refused(), closed.is_ok());
    let end = summary.print(context, &plan)?;
    // What the tests found stands in the table; a report of ours there is not.
    match closed {
        Err(why) if end == End::Clean => {
            Err(Failure::new(End::Unwritable, format!("the reports of the session cannot be written: {why:#}")))
        }
        Err(why) => {
            context.console.error(format_args!("the reports of the session cannot be written: {why:#}"));
            Ok(end)
        }
        Ok(()) => Ok(end),
    }
}

/// The workspace; where there is none at all, the plan may be fine and still nothing can be run.
fn workspace(context: &Context, args: &RunArgs) -> Result<Workspace, Failure> {
    context.workspace_of(&args.plan).map_err(|failure| {
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

/// The reports name a commit: a test that it does not have must not be taken for a part of it.
fn say_what_git_ignores(context: &Context, workspace: &Workspace, found: &targets::Found) {
    let paths = found.targets.iter().map(|target| target.placed.path());
    for path in paths.filter(|path| git::is_ignored(&workspace.root, path) == Some(true)) {
        let shown = shorter(&path).display().to_string();
        let told = format!("git ignores {shown}: the commit that the reports name does not have this test");
        context.console.warning(crate::console::visible(&told));
    }
}

/// A release run of a scenario without a release budget is a hardening run, and cannot be ok (D18).
fn say_what_has_no_release_tier(context: &Context, plan: &PlanFile, scenarios: &[&Scenario]) {
    let parts = scenarios.iter().flat_map(|scenario| ids_of_parts(scenario).into_iter().map(move |id| (*scenario, id)));
    for (scenario, id) in parts {
        let arm = scenario.arm(&id).map(|arm| plan::resolve_arm(&plan.plan, scenario, arm).0.budgets);
        let budgets = arm.unwrap_or_else(|| scenario.budgets.clone());
        if let Some(Budgets { release: Release::NotProvided { reason, .. }, .. }) = budgets {
            let id = plan.written(&id.to_string());
            let told = format!(
                "{id} has no release budget ({}): its hardening budget is run, and the release tier cannot be met",
                reason.trim_end_matches('.')
            );
            context.console.warning(crate::console::visible(&told));
        }
    }
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

fn ids_of_parts(scenario: &Scenario) -> Vec<Id> {
    let arms = scenario.arm_ids();
    if arms.is_empty() { vec![scenario.id.value.clone()] } else { arms }
}

/// The row of a scenario whose parts ran, with those that the plan does not ask for.
fn whole(scenario: &Scenario, mut parts: Vec<Row>, reader: Reader<'_>, order: &Order) -> Row {
    let (id, name) = (scenario.id.value.to_string(), scenario.name.value.as_str());
    let known: Vec<String> = ids_of_parts(scenario).iter().map(Id::to_string).collect();
    parts.extend(reader.strays(order, &id, &known).iter().map(|record| stray(name, record)));
    match parts.len() {
        1 if known == [id.clone()] => parts.remove(0),
        _ => Row::joined(&id, name, parts),
    }
}

/// A test that stands for the scenario beside those that the plan asks for: whatever it found, it is drift.
fn stray(name: &str, record: &ScenarioRecord) -> Row {
    let id = &record.declared.id;
    let why = format!("the plan has no {id} to be tested, and yet there is `{}`", record.declared.place());
    let reason = format!("{why}: remove it, or put {id} into the plan (cargo disttest author --check)");
    let verdict = record.verdict.at_most(Verdict::PartialSurface);
    Row { verdict, tier_met: record.tier_met, ..Row::not_run(id, name, reason) }
}
