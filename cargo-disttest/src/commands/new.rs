//! `new`: writes a plan from the template.

use super::{Context, failed, shorter};
use crate::author::diff::unified;
use crate::author::write::{self, Edit};
use crate::cli::{NewArgs, NewMode};
use crate::console::visible;
use crate::exit_code::{End, Failure, Outcome};
use crate::new::crates::Crates;
use crate::new::history::History;
use crate::new::language::Language;
use crate::new::template::{self, MOST_HARNESSES, Wanted};
use crate::new::{Facts, inventory, quiet_change, slug, tools};
use disttest_runtime::plan::{self, PlanMode};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Does it.
pub(super) fn run(context: &Context, args: &NewArgs) -> Outcome {
    slug::check(&args.slug).map_err(failed(End::WrongUsage))?;
    let crates = crates(context)?;
    let here = std::env::current_dir().map_err(|error| Failure::new(End::Unreadable, error.to_string()))?;
    let history = History::read(crates.root.as_deref().unwrap_or(&here));
    let place = place(context, args, &crates, history.as_ref(), &here)?;
    // A plan that is there was needed: nothing else is said of it.
    let before = in_the_way(&place.file, args.force)?;
    if let Some(why) = history.as_ref().and_then(quiet_change::quiet).filter(|_| args.mode == NewMode::Change) {
        if !args.force {
            return not_needed(context, args, &place, &why);
        }
        context.console.warning(format_args!("this change hardly needs a plan: {why}"));
    }
    let facts = facts(&place.root, crates, history);
    let text = template::render(&wanted(context, args, &place, &today()), &facts);
    let edits = edits(&place.file, before.as_deref(), &text)?;
    let report = Report::new(args, &place, &facts, &text, &edits);
    show(context, &report)?;
    write::write_all(&edits).map_err(failed(End::Unwritable))?;
    tell(context, &report);
    Ok(End::Clean)
}

/// Where a plan goes.
struct Place {
    /// The repository's folder: that of the workspace, else of git, else the current one.
    root: PathBuf,
    /// The plan's file.
    file: PathBuf,
}

fn crates(context: &Context) -> Result<Crates, Failure> {
    let named = context.common.manifest_path.as_deref();
    let crates = match Crates::load(named) {
        Ok(crates) => crates,
        Err(why) if named.is_some() => return Err(Failure::new(End::Unreadable, why)),
        Err(why) => {
            let why = visible(&why);
            context.console.warning(format_args!("cargo cannot read this workspace, so nothing is said of it: {why}"));
            Crates::default()
        }
    };
    if let Some(name) = context.common.package.as_deref().filter(|name| crates.named(name).is_none()) {
        let members: Vec<&str> = crates.all.iter().map(|one| one.name.as_str()).collect();
        let message = format!("package `{name}` is no member of the workspace; members: {}", members.join(", "));
        return Err(Failure::new(End::WrongUsage, message));
    }
    Ok(crates)
}

fn place(
    context: &Context,
    args: &NewArgs,
    crates: &Crates,
    history: Option<&History>,
    here: &Path,
) -> Result<Place, Failure> {
    let repository = crates.root.clone().or_else(|| history.map(|history| history.root.clone()));
    let package = context.common.package.as_deref().and_then(|name| crates.named(name));
    let name = format!("{}.md", args.slug);
    let file = match (&args.output, package, &repository) {
        (Some(output), _, _) if output.is_dir() => here.join(output).join(name),
        (Some(output), _, _) => here.join(output),
        (None, Some(package), _) => package.root.join("docs/testing-plans").join(name),
        (None, None, Some(root)) => root.join("docs/testing-plans").join(name),
        (None, None, None) => here.join("testing-plans").join(name),
    };
    if file.extension().is_none_or(|end| end != "md") {
        let message = format!("a plan is a Markdown file: `{}` does not end in `.md`", file.display());
        return Err(Failure::new(End::WrongUsage, message));
    }
    let root = repository.unwrap_or_else(|| here.to_path_buf());
    Ok(Place { root: root.canonicalize().unwrap_or(root), file })
}

/// The text that is there now, if it may be replaced.
fn in_the_way(file: &Path, force: bool) -> Result<Option<String>, Failure> {
    let shown = shorter(file).display().to_string();
    let refuse = |why: &str| Err(Failure::new(End::Conflict, format!("{shown} {why}")));
    match std::fs::symlink_metadata(file) {
        Err(_) => Ok(None),
        Ok(there) if !there.is_file() => refuse("is there and is no plain file: nothing is written in its place"),
        Ok(_) if !force => refuse(
            "exists: choose another slug or `--output`; `--force` replaces it, shows the diff and keeps the old text \
             beside it",
        ),
        Ok(_) => write::read(file).map_err(failed(End::Unreadable)),
    }
}

fn facts(root: &Path, crates: Crates, history: Option<History>) -> Facts {
    let repository = history.as_ref().map_or(root, |history| &history.root);
    let mut inventory = inventory::find(root, &crates, repository);
    let more_harnesses = inventory.len().saturating_sub(MOST_HARNESSES);
    inventory.truncate(MOST_HARNESSES);
    Facts {
        tools: tools::find(root, &crates),
        language: Language::of(root, crates.root.is_some()),
        inventory,
        more_harnesses,
        crates,
        history,
    }
}

fn wanted<'a>(context: &'a Context, args: &'a NewArgs, place: &'a Place, date: &'a str) -> Wanted<'a> {
    let canonical = place.file.parent().and_then(|folder| folder.canonicalize().ok());
    let file =
        canonical.zip(place.file.file_name()).map_or_else(|| place.file.clone(), |(folder, name)| folder.join(name));
    let plan = file.strip_prefix(&place.root).unwrap_or(&place.file).to_string_lossy().replace('\\', "/");
    Wanted {
        slug: &args.slug,
        mode: if args.mode == NewMode::Project { PlanMode::ProjectWide } else { PlanMode::ChangeScoped },
        sut: args.sut.as_deref().map(str::trim).filter(|name| !name.is_empty()),
        date,
        root: &place.root,
        plan,
        package: context.common.package.as_deref(),
    }
}

fn today() -> String {
    let now = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    now.chars().take("2026-11-30".len()).collect()
}

/// The plan and, when one was there, its old text beside it.
fn edits(file: &Path, before: Option<&str>, text: &str) -> Result<Vec<Edit>, Failure> {
    let mut edits = Vec::new();
    if let Some(before) = before.filter(|before| *before != text) {
        let name = |n: usize| match n {
            1 => format!("{}.bak", file.display()),
            n => format!("{}.bak{n}", file.display()),
        };
        let free = (1..1000).map(|n| PathBuf::from(name(n))).find(|path| std::fs::symlink_metadata(path).is_err());
        let path =
            free.ok_or_else(|| Failure::new(End::Unwritable, "there are a thousand backups beside it already"))?;
        edits.push(Edit { path, before: None, after: before.to_owned() });
    }
    edits.push(Edit { path: file.to_owned(), before: before.map(str::to_owned), after: text.to_owned() });
    Ok(edits)
}

fn not_needed(context: &Context, args: &NewArgs, place: &Place, why: &str) -> Outcome {
    let advice = "review, the doc tests and the tests that exist are enough; `--force` writes a plan all the same, \
                  `--mode project` one for the whole project";
    if context.json() {
        let report = Report { reason: Some(format!("{why}: {advice}")), ..Report::empty(args, &place.file) };
        show(context, &report)?;
    }
    context.console.warning(format_args!("no plan is written: {why}; {advice}"));
    Ok(End::NotNeeded)
}

/// `disttest.new/1`.
#[derive(Default, Serialize)]
struct Report {
    schema: &'static str,
    slug: String,
    mode: &'static str,
    path: String,
    /// False when the change needs no plan.
    written: bool,
    /// Why it was not written.
    reason: Option<String>,
    /// Where the text that was replaced is kept.
    backup: Option<String>,
    /// What was replaced, as a unified diff.
    diff: Option<String>,
    /// Placeholders that a person must fill: (line, text).
    placeholders: Vec<Placeholder>,
    facts: ReportFacts,
    next: String,
}

#[derive(Serialize)]
struct Placeholder {
    line: usize,
    text: String,
}

/// What was found and filled in.
#[derive(Default, Serialize)]
struct ReportFacts {
    crates: Vec<String>,
    harnesses: usize,
    tools: Vec<ReportTool>,
    commit: Option<String>,
    branch: Option<String>,
    compared_with: Option<String>,
    files_touched: usize,
    language: &'static str,
}

#[derive(Serialize)]
struct ReportTool {
    name: &'static str,
    because: String,
    present: bool,
    version: Option<String>,
}

impl Report {
    fn empty(args: &NewArgs, file: &Path) -> Report {
        Report {
            schema: "disttest.new/1",
            slug: args.slug.clone(),
            mode: if args.mode == NewMode::Project { "project-wide" } else { "change-scoped" },
            path: shorter(file).display().to_string(),
            ..Report::default()
        }
    }

    fn new(args: &NewArgs, place: &Place, facts: &Facts, text: &str, edits: &[Edit]) -> Report {
        let replaced = edits.last().and_then(|edit| edit.before.as_deref());
        let report = Report::empty(args, &place.file);
        let history = facts.history.as_ref();
        let tool = |tool: &tools::Tool| ReportTool {
            name: tool.name,
            because: tool.because.clone(),
            present: tool.version.is_some(),
            version: tool.version.clone().filter(|version| !version.is_empty()),
        };
        Report {
            written: true,
            backup: (edits.len() > 1).then(|| shorter(&edits[0].path).display().to_string()),
            diff: replaced.map(|before| unified(&report.path, Some(before), text)),
            placeholders: placeholders(text),
            facts: ReportFacts {
                crates: facts.crates.all.iter().map(|one| one.name.clone()).collect(),
                harnesses: facts.inventory.len() + facts.more_harnesses,
                tools: facts.tools.iter().map(tool).collect(),
                commit: history.and_then(|history| history.commit.clone()),
                branch: history.and_then(|history| history.branch.clone()),
                compared_with: history.map(|history| history.base.clone()),
                files_touched: history.map_or(0, |history| history.touched.len()),
                language: facts.language.word(),
            },
            next: format!("cargo disttest plan {}", report.path),
            ..report
        }
    }
}

/// What `plan` says is left of the template.
fn placeholders(text: &str) -> Vec<Placeholder> {
    let (_, diagnostics) = plan::check(text);
    let left = diagnostics.iter().filter(|diagnostic| diagnostic.rule == "placeholder");
    left.map(|diagnostic| Placeholder {
        line: text[..diagnostic.span.start].matches('\n').count() + 1,
        text: text[diagnostic.span.start..diagnostic.span.end].to_owned(),
    })
    .collect()
}

fn show(context: &Context, report: &Report) -> Result<(), Failure> {
    if context.json() {
        let json = serde_json::to_string_pretty(report).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
        context.console.result(json);
    } else if let Some(diff) = &report.diff {
        context.console.diff(diff);
    }
    Ok(())
}

fn tell(context: &Context, report: &Report) {
    let console = &context.console;
    if let Some(backup) = &report.backup {
        console.status("Kept", format_args!("the old text as {backup}"));
    }
    console.status("Wrote", format_args!("{} ({})", report.path, report.mode));
    let facts = &report.facts;
    let touched = match (&facts.compared_with, report.mode) {
        (Some(base), "change-scoped") => {
            format!(", {} compared with {}", inventory::count(facts.files_touched, "file"), visible(base))
        }
        _ => String::new(),
    };
    let counts = [inventory::count(facts.crates.len(), "crate"), inventory::count(facts.tools.len(), "tool")];
    let harnesses =
        if facts.harnesses == 1 { "1 harness".to_owned() } else { format!("{} harnesses", facts.harnesses) };
    console.status("Found", format_args!("{}, {harnesses}, {}{touched}", counts[0], counts[1]));
    console.next(format_args!("fill {} placeholders, then {}", report.placeholders.len(), report.next));
}
