//! `plan`: reads and lints plans, and tells what it found in the format asked for.

use super::states::states;
use super::{Context, shorter};
use crate::author::{diff, write};
use crate::cli::{Format, PlanArgs};
use crate::config::{self, Config};
use crate::console::visible;
use crate::diagnostics::levels::Levels;
use crate::diagnostics::sarif::Log;
use crate::diagnostics::told::{Found, Told};
use crate::diagnostics::{self, github};
use crate::exit_code::{End, Failure, Outcome};
use crate::fix::{self, Mended, guard};
use crate::plan_file::PlanFile;
use crate::surroundings::below_root;
use crate::views::graph::{Drawing, draw};
use crate::views::state::State;
use crate::views::summary::summary;
use disttest_runtime::base::diagnostic::{Diagnostic, Severity};
use disttest_runtime::plan;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A plan with what is told of it.
struct Linted {
    file: PlanFile,
    told: Told,
    /// What `--fix` did.
    fixed: Option<Value>,
}

/// A file, as it was named, and what became of it.
type Entry = (String, Result<Linted, Failure>);

/// Does it. A file that cannot be read does not keep the others from being linted.
pub(crate) fn run(context: &Context, args: &PlanArgs) -> Outcome {
    let flags = Levels::of_flags(args)?;
    let mut configs = Configs::default();
    let mut refused = Vec::new();
    let mut entries: Vec<Entry> = Vec::new();
    for (named, path) in named(context, args)? {
        let outcome = load(context, &path).and_then(|file| {
            let levels = flags.over(configs.of(&file.path)?);
            let (file, fixed, refusal) = mended(context, args, &path, file, &levels)?;
            refused.extend(refusal);
            let found = Found::new(&file.plan, &file.text, file.diagnostics.clone());
            let told = Told::new(&file.shown, file.path.clone(), &file.text, found, &levels);
            Ok(Linted { file, told, fixed })
        });
        entries.push((named, outcome));
    }
    let configs = configs.told(&flags);
    let end = end(&entries, &refused, &configs);
    match context.common.format {
        _ if args.graph.is_some() => args.graph.iter().for_each(|drawing| graphs(context, &entries, *drawing)),
        Format::Text => text(context, args, &entries, &configs),
        Format::Json => json_lines(context, &entries, &configs)?,
        Format::Sarif => sarif(context, &entries, &configs, end)?,
        Format::Github => annotations(context, &entries, &configs),
    }
    let unreadable = entries.iter().filter_map(|(_, outcome)| outcome.as_ref().err());
    // A configuration that cannot be read fails every plan below it, and is told once.
    let messages: BTreeSet<String> = unreadable.chain(&refused).map(|failure| visible(&failure.message)).collect();
    messages.iter().for_each(|message| context.console.error(message));
    Ok(end)
}

/// An error in a plan that could be read outranks a plan that could not.
fn end(entries: &[Entry], refused: &[Failure], configs: &[Told]) -> End {
    let errors = |entry: &Entry| entry.1.as_ref().is_ok_and(|linted| linted.told.has_errors());
    let failed = entries.iter().find_map(|(_, outcome)| outcome.as_ref().err()).map(|failure| failure.end);
    if entries.iter().any(errors) || configs.iter().any(Told::has_errors) {
        return End::PlanErrors;
    }
    refused.first().map(|failure| failure.end).or(failed).unwrap_or(End::Clean)
}

/// The plans that are meant: (as it is shown, the path or name to load).
fn named(context: &Context, args: &PlanArgs) -> Result<Vec<(String, PathBuf)>, Failure> {
    let shown = |path: PathBuf| (path.display().to_string(), path);
    if !args.plans.is_empty() {
        return Ok(args.plans.iter().cloned().map(shown).collect());
    }
    let all = context.workspace()?.plans();
    if all.is_empty() {
        let message = "there is no docs/testing-plans/*.md in this workspace; name a plan".to_owned();
        return Err(Failure::new(End::Unreadable, message));
    }
    Ok(all.iter().map(|path| shown(shorter(path))).collect())
}

/// A plan that is there needs no workspace round it; else the name may be the slug of one of the workspace's.
fn load(context: &Context, named: &Path) -> Result<PlanFile, Failure> {
    if named.exists() {
        return PlanFile::load(named);
    }
    match context.workspace() {
        Ok(workspace) => context.plan(&workspace, named),
        Err(_) => PlanFile::load(named),
    }
}

/// Configuration files, each read once.
#[derive(Default)]
struct Configs(Vec<(PathBuf, Config)>);

impl Configs {
    /// The one that holds for the plan at `path`.
    fn of(&mut self, path: &Path) -> Result<Option<&Config>, Failure> {
        let Some(place) = config::find(path) else { return Ok(None) };
        if !self.0.iter().any(|(known, _)| *known == place) {
            let config = Config::load(&place, &shorter(&place).display().to_string())?;
            self.0.push((place.clone(), config));
        }
        Ok(self.0.iter().find(|(known, _)| *known == place).map(|(_, config)| config))
    }

    /// What is wrong with them.
    fn told(self, flags: &Levels) -> Vec<Told> {
        let told = |(path, config): (PathBuf, Config)| {
            let found = Found::of_config(config.diagnostics);
            Told::new(&config.shown, path, &config.text, found, flags)
        };
        self.0.into_iter().map(told).filter(|told| !told.diagnostics.is_empty()).collect()
    }
}

/// `file` after `--fix`, what was done, and why it was not; `file` itself without the flag.
fn mended(
    context: &Context,
    args: &PlanArgs,
    named: &Path,
    file: PlanFile,
    levels: &Levels,
) -> Result<(PlanFile, Option<Value>, Option<Failure>), Failure> {
    if !args.fix {
        return Ok((file, None, None));
    }
    let find = |text: &str| -> Vec<Diagnostic> {
        let (plan, diagnostics) = plan::check(text);
        Found::new(&plan, text, diagnostics).at(levels).0
    };
    let mended = fix::mend(&file.text, find);
    mended.refused.iter().for_each(|why| context.console.warning(visible(why)));
    if mended.text == file.text {
        let left = if find(&file.text).is_empty() { "there is nothing to fix" } else { "nothing here mends itself" };
        context.console.status("Unchanged", format_args!("{}: {left}", file.shown));
        return Ok((file, Some(json!({ "written": false, "mended": {} })), None));
    }
    show(context, &file, &mended);
    let fixed = |written: bool| Some(json!({ "written": written, "mended": mended.mended }));
    if args.dry_run {
        return Ok((file, fixed(false), None));
    }
    if let Err(refusal) = write(named, &file, &mended, args.allow_dirty) {
        return Ok((file, fixed(false), Some(refusal)));
    }
    let count: usize = mended.mended.values().sum();
    context
        .console
        .status("Fixed", format_args!("{} ({count} finding{})", file.shown, if count == 1 { "" } else { "s" }));
    let file = PlanFile::of_text(file.shown, file.path, mended.text.clone())?;
    Ok((file, fixed(true), None))
}

/// The changes as a diff, on stdout where people read it.
fn show(context: &Context, file: &PlanFile, mended: &Mended) {
    let diff = diff::unified(&file.shown, Some(&file.text), &mended.text);
    match context.common.format {
        Format::Text => context.console.diff(&diff),
        _ => context.console.message_text(&visible(&diff)),
    }
}

fn write(named: &Path, file: &PlanFile, mended: &Mended, allow_dirty: bool) -> Result<(), Failure> {
    let named = if named.exists() { named } else { &file.path };
    guard::check(named, &file.path, allow_dirty)?;
    let (before, after) = (Some(file.text.clone()), mended.text.clone());
    let edit = write::Edit { path: file.path.clone(), before, after };
    write::write_all(&[edit]).map_err(|error| Failure::new(End::Unwritable, error))
}

/// The pictures alone on stdout, so that they can be piped; how many complaints there are goes to stderr.
fn graphs(context: &Context, entries: &[Entry], drawing: Drawing) {
    for Linted { file, told, .. } in entries.iter().filter_map(|(_, outcome)| outcome.as_ref().ok()) {
        context.console.result_text(&draw(&file.plan, drawing));
        if told.has_errors() {
            let shown = visible(&file.shown);
            context.console.error(format_args!("{shown}: {}; cargo disttest plan {shown} shows them", told.count()));
        }
    }
}

/// For people.
fn text(context: &Context, args: &PlanArgs, entries: &[Entry], configs: &[Told]) {
    let console = &context.console;
    let most = if args.all { usize::MAX } else { diagnostics::MOST };
    let page = |told: &Told| diagnostics::render_most(&told.shown, &told.text, &told.diagnostics, true, most);
    configs.iter().for_each(|told| console.message_text(&page(told)));
    for linted in entries.iter().filter_map(|(_, outcome)| outcome.as_ref().ok()) {
        let Linted { file, told, .. } = linted;
        console.result_text(&page(told));
        if !told.diagnostics.is_empty() {
            console.result("");
        }
        if !context.common.quiet {
            console.result(format_args!("{}:", visible(&file.shown)));
            let states = states(context, file);
            console.result_text(&summary(&file.plan, &states));
            console.result("");
        }
        if !context.common.quiet || !told.diagnostics.is_empty() {
            console.result(format_args!("{}: {}", visible(&file.shown), told.count()));
        }
        hints(context, args, linted);
    }
}

/// What to do next.
fn hints(context: &Context, args: &PlanArgs, linted: &Linted) {
    let (console, shown) = (&context.console, visible(&linted.file.shown));
    let told = &linted.told;
    let first = told.diagnostics.iter().find(|d| d.severity == Severity::Error);
    if let Some(error) = first {
        console.next(format_args!("cargo disttest explain {}  # more about the first error", error.rule));
    }
    let mendable = told.diagnostics.iter().filter(|d| !d.edits.is_empty()).count();
    if mendable > 0 && !args.fix {
        console.next(format_args!("cargo disttest plan --fix {shown}  # mends {mendable} of these"));
    }
    match first {
        Some(_) => console.next(format_args!("cargo disttest plan {shown}  # once the errors are corrected")),
        None if all_filled(context, &linted.file) => console.next(format_args!("cargo disttest run {shown}")),
        None => console.next(format_args!("cargo disttest author {shown}")),
    }
}

/// Every test of the plan is written and filled.
fn all_filled(context: &Context, file: &PlanFile) -> bool {
    let states = states(context, file);
    !states.is_empty() && states.iter().all(|(_, state)| *state == State::Filled)
}

/// One document a line, so that several plans are one stream. A file that is no plan is a document with an `error`.
fn json_lines(context: &Context, entries: &[Entry], configs: &[Told]) -> Result<(), Failure> {
    let mut of_configs: Vec<Value> = configs
        .iter()
        .flat_map(|told| {
            let one = |d| diagnostics::json::diagnostic(d, &told.shown, &told.text, &told.index);
            told.diagnostics.iter().map(one).collect::<Vec<_>>()
        })
        .collect();
    for (named, outcome) in entries {
        let document = match outcome {
            Ok(linted) => {
                let Linted { file, told, fixed } = linted;
                let mut document =
                    super::plan::json(&file.plan, &file.text, &file.shown, &states(context, file), &told.diagnostics);
                document["suppressed"] = diagnostics::json::suppressed(told);
                // What is wrong with a configuration is told once, with the first plan.
                if let Some(list) = document["diagnostics"].as_array_mut() {
                    list.append(&mut of_configs);
                }
                if let Some(fixed) = fixed {
                    document["fix"] = fixed.clone();
                }
                document
            }
            Err(failure) => json!({ "schema": super::plan::SCHEMA, "file": named, "error": failure.message }),
        };
        print(context, &document)?;
    }
    Ok(())
}

fn sarif(context: &Context, entries: &[Entry], configs: &[Told], end: End) -> Result<(), Failure> {
    fn placed(told: &Told) -> (String, &Told) {
        (below_root(&told.path), told)
    }
    let plans = entries.iter().filter_map(|(_, outcome)| outcome.as_ref().ok());
    let unreadable = entries.iter().filter_map(|(named, outcome)| {
        let failure = outcome.as_ref().err()?;
        Some((below_root(&crate::surroundings::lexical(Path::new(named))), failure.message.clone()))
    });
    let log = Log {
        plans: plans.map(|linted| placed(&linted.told)).collect(),
        configs: configs.iter().map(placed).collect(),
        unreadable: unreadable.collect(),
        exit_status: end.exit_code().number(),
    };
    print(context, &log.to_json())
}

fn print(context: &Context, document: &Value) -> Result<(), Failure> {
    let line = serde_json::to_string(document).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
    context.console.result(line);
    Ok(())
}

fn annotations(context: &Context, entries: &[Entry], configs: &[Told]) {
    let all = |told: &Told| {
        let file = below_root(&told.path);
        for diagnostic in &told.diagnostics {
            context.console.result(github::command(diagnostic, &file, &told.text, &told.index));
        }
    };
    configs.iter().for_each(all);
    for (named, outcome) in entries {
        match outcome {
            Ok(linted) => all(&linted.told),
            Err(failure) => {
                let file = below_root(&crate::surroundings::lexical(Path::new(named)));
                context.console.result(github::unreadable(&file, &failure.message));
            }
        }
    }
}
