//! `author`: writes the test files of a plan.

use super::{Context, failed, shorter};
use crate::author::diff::unified;
use crate::author::write::{self, Edit};
use crate::author::{FileChange, Unfilled, file_change, manifest, rustfmt};
use crate::cli::{AuthorArgs, OnConflict};
use crate::exit_code::{End, Failure, Outcome};
use crate::plan_file::PlanFile;
use crate::targets::{self, Target};
use crate::workspace::{Member, Workspace};
use crate::{dependency, git};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Does it.
pub(super) fn run(context: &Context, args: &AuthorArgs) -> Outcome {
    let workspace = context.workspace()?;
    let plan = context.plan(&workspace, &args.plan)?;
    let found = targets::find(&workspace, &plan, &args.scenario)?;
    context.show(&plan, &found.diagnostics);
    if found.refused() {
        return Err(Failure::new(End::UnsafeTarget, format!("{} is not authored: see above", plan.shown)));
    }
    for (scenario, why) in &found.left_out {
        context.console.warning(format_args!("{scenario} is not written: {why}"));
    }
    let files = found.targets.iter().map(compute).collect::<Result<Vec<_>, _>>()?;
    if args.check {
        return check(context, &workspace, &plan, &files);
    }
    let decided = decide(context, files, args)?;
    let manifests = manifests(&workspace, decided.iter().filter(|file| file.is_ours()).map(|file| file.target))?;
    let report = Report::new(&plan, &decided, &manifests, args);
    show(context, &report, args)?;
    let edits = if args.dry_run { Vec::new() } else { edits(&decided, &manifests, args) };
    write::write_all(&edits).map_err(failed(End::Unwritable))?;
    stage(context, &workspace, &edits);
    report.files.iter().for_each(|file| tell(context, file, args.dry_run));
    context.console.next(&report.next);
    Ok(End::Clean)
}

/// A file and what is to happen to it.
struct File<'a> {
    target: &'a Target,
    before: Option<String>,
    change: FileChange,
}

fn compute(target: &Target) -> Result<File<'_>, Failure> {
    let before = write::read(&target.placed.path()).map_err(failed(End::Unreadable))?;
    let member = &target.placed.member;
    let format = |text: &str| rustfmt::format(text, &member.root, member.edition);
    let change = file_change(&target.wanted, before.as_deref(), &format);
    Ok(File { target, before, change })
}

/// A file whose fate is sealed.
struct Decided<'a> {
    target: &'a Target,
    action: Action,
    path: PathBuf,
    before: Option<String>,
    after: Option<String>,
    kept: Vec<String>,
    unfilled: Vec<Unfilled>,
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Action {
    UpToDate,
    Create,
    Update,
    Overwrite,
    Skip,
    Sibling,
}

impl Decided<'_> {
    /// The target holds our file once this is done.
    fn is_ours(&self) -> bool {
        !matches!(self.action, Action::Skip | Action::Sibling)
    }
}

fn decide<'a>(context: &Context, files: Vec<File<'a>>, args: &AuthorArgs) -> Result<Vec<Decided<'a>>, Failure> {
    let mut decided = Vec::new();
    let mut conflicts = Vec::new();
    for File { target, before, change } in files {
        let path = target.placed.path();
        let plain = |action, after, kept, unfilled| Decided {
            target,
            action,
            path: path.clone(),
            before: before.clone(),
            after,
            kept,
            unfilled,
            reason: None,
        };
        match change {
            FileChange::UpToDate { unfilled } => decided.push(plain(Action::UpToDate, None, Vec::new(), unfilled)),
            FileChange::Create { text } => decided.push(plain(Action::Create, Some(text), Vec::new(), Vec::new())),
            FileChange::Update { text, kept, unfilled } => {
                decided.push(plain(Action::Update, Some(text), kept, unfilled));
            }
            FileChange::Conflict { reason, overwrite, sibling } => {
                let shown = shorter(&path).display().to_string();
                let choice = choose(context, args, &shown, &reason, before.as_deref(), &overwrite);
                let told = |file| Decided { reason: Some(reason.clone()), ..file };
                match choice {
                    None => conflicts.push(format!("{shown}: {reason}")),
                    Some(Action::Sibling) => {
                        decided.push(beside(told(plain(Action::Sibling, Some(sibling), vec![], vec![])))?);
                    }
                    Some(Action::Skip) => decided.push(told(plain(Action::Skip, None, vec![], vec![]))),
                    Some(action) => decided.push(told(plain(action, Some(overwrite), vec![], vec![]))),
                }
            }
        }
    }
    if conflicts.is_empty() {
        return Ok(decided);
    }
    let list = conflicts.join("\n  ");
    Err(Failure::new(
        End::Conflict,
        format!(
            "nothing was written; in the way:\n  {list}\nchoose: --on-conflict skip (leave it), overwrite (regions that \
             can be read are kept), or sibling (write <name>.new.rs beside it)"
        ),
    ))
}

/// What to do with a file in the way; `None` when nobody says.
fn choose(
    context: &Context,
    args: &AuthorArgs,
    shown: &str,
    reason: &str,
    before: Option<&str>,
    overwrite: &str,
) -> Option<Action> {
    match args.on_conflict {
        OnConflict::Skip => Some(Action::Skip),
        OnConflict::Overwrite => Some(Action::Overwrite),
        OnConflict::Sibling => Some(Action::Sibling),
        OnConflict::Ask if args.dry_run || context.json() => None,
        OnConflict::Ask => loop {
            let question =
                format!("{shown}: {reason}.\n[o]verwrite, [s]kip, write a [n]ew file beside it, or show the [d]iff?");
            match context.console.ask(&question)?.to_lowercase().as_str() {
                "o" | "overwrite" => return Some(Action::Overwrite),
                "s" | "skip" => return Some(Action::Skip),
                "n" | "new" | "sibling" => return Some(Action::Sibling),
                "d" | "diff" => context.console.diff(&unified(shown, before, overwrite)),
                _ => {}
            }
        },
    }
}

/// The file beside it. One that is there already is somebody's work, too.
fn beside(file: Decided<'_>) -> Result<Decided<'_>, Failure> {
    let path = file.path.with_extension("new.rs");
    let before = write::read(&path).map_err(failed(End::Unreadable))?;
    match &before {
        Some(text) if Some(text) != file.after.as_ref() => {
            let message = format!("{} exists: merge it, delete it, or choose another --on-conflict", path.display());
            Err(Failure::new(End::Conflict, message))
        }
        _ => Ok(Decided { path, before, ..file }),
    }
}

/// A manifest and its new text.
struct Manifest {
    path: PathBuf,
    before: String,
    after: String,
}

fn manifests<'a>(workspace: &Workspace, targets: impl Iterator<Item = &'a Target>) -> Result<Vec<Manifest>, Failure> {
    let mut members: Vec<(&Member, Vec<String>)> = Vec::new();
    for target in targets {
        let (member, relative) = (&target.placed.member, target.placed.relative.clone());
        match members.iter_mut().find(|(known, _)| *known == member) {
            Some((_, paths)) => paths.push(relative),
            None => members.push((member, vec![relative])),
        }
    }
    let mut manifests = Vec::new();
    for (member, paths) in members {
        let path = member.root.join("Cargo.toml");
        crate::author::target::no_symlink(&member.root, "Cargo.toml").map_err(failed(End::UnsafeTarget))?;
        let missing = || Failure::new(End::Unreadable, format!("{}: it does not exist", path.display()));
        let before = write::read(&path).map_err(failed(End::Unreadable))?.ok_or_else(missing)?;
        let dependency = dependency::choose(&workspace.root, &member.root);
        let after = manifest::edit(&before, &paths, &dependency)
            .map_err(|why| Failure::new(End::Unreadable, format!("{}: {why}", path.display())))?;
        manifests.push(Manifest { path, before, after });
    }
    manifests.retain(|manifest| manifest.before != manifest.after);
    Ok(manifests)
}

/// `disttest.author/1`.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    plan: String,
    dry_run: bool,
    files: Vec<ReportFile>,
    manifests: Vec<ReportManifest>,
    next: String,
}

#[derive(Serialize)]
struct ReportFile {
    scenario: String,
    path: String,
    action: Action,
    /// Why the file was in the way.
    reason: Option<String>,
    /// Filled regions that were kept.
    kept: Vec<String>,
    /// Regions that are to be filled.
    unfilled: Vec<ReportRegion>,
    diff: String,
}

#[derive(Serialize)]
struct ReportRegion {
    name: String,
    line: usize,
}

#[derive(Serialize)]
struct ReportManifest {
    path: String,
    diff: String,
    /// Lines to paste, with --no-manifest.
    paste: Option<String>,
}

impl Report {
    fn new(plan: &PlanFile, files: &[Decided<'_>], manifests: &[Manifest], args: &AuthorArgs) -> Report {
        let files: Vec<ReportFile> = files.iter().map(report_file).collect();
        let manifests = manifests.iter().map(|manifest| ReportManifest {
            path: shorter(&manifest.path).display().to_string(),
            diff: diff_of(&manifest.path, Some(&manifest.before), &manifest.after),
            paste: args.no_manifest.then(|| manifest::to_paste(&manifest.before, &manifest.after)),
        });
        let open = files.iter().any(|file| !file.unfilled.is_empty() || file.action == Action::Create);
        let next = if open {
            format!("fill the regions, then cargo disttest run {}", plan.shown)
        } else {
            format!("cargo disttest run {}", plan.shown)
        };
        let schema = "disttest.author/1";
        Report { schema, plan: plan.shown.clone(), dry_run: args.dry_run, manifests: manifests.collect(), files, next }
    }
}

fn report_file(file: &Decided<'_>) -> ReportFile {
    ReportFile {
        scenario: file.target.wanted.attribute.id.clone(),
        path: shorter(&file.path).display().to_string(),
        action: file.action,
        reason: file.reason.clone(),
        kept: file.kept.clone(),
        unfilled: file.unfilled.iter().map(|r| ReportRegion { name: r.name.clone(), line: r.line }).collect(),
        diff: file.after.as_deref().map_or(String::new(), |after| diff_of(&file.path, file.before.as_deref(), after)),
    }
}

fn diff_of(path: &Path, before: Option<&str>, after: &str) -> String {
    unified(&shorter(path).display().to_string(), before, after)
}

fn show(context: &Context, report: &Report, args: &AuthorArgs) -> Result<(), Failure> {
    let console = &context.console;
    if context.json() {
        let json = serde_json::to_string_pretty(report).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
        console.result(json);
        return Ok(());
    }
    // A dry run is asked for its diff; otherwise `-q` means that nobody reads it.
    let diffs = args.dry_run || !context.common.quiet;
    for file in report.files.iter().filter(|_| diffs) {
        console.diff(&file.diff);
    }
    for manifest in &report.manifests {
        match &manifest.paste {
            Some(text) => console.result(format_args!("Add to {}:\n\n{text}", manifest.path)),
            None if diffs => console.diff(&manifest.diff),
            None => {}
        }
    }
    Ok(())
}

fn tell(context: &Context, file: &ReportFile, dry_run: bool) {
    let console = &context.console;
    let (done, planned) = match file.action {
        Action::UpToDate => ("Up to date", "Up to date"),
        Action::Create => ("Created", "Would create"),
        Action::Update => ("Updated", "Would update"),
        Action::Overwrite => ("Overwrote", "Would write"),
        Action::Skip => ("Skipped", "Would skip"),
        Action::Sibling => ("Created", "Would create"),
    };
    let why = file.reason.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    console.status(if dry_run { planned } else { done }, format_args!("{} {}{why}", file.scenario, file.path));
    if file.action == Action::Update && !file.kept.is_empty() {
        let kept = file.kept.join(", ");
        console.warning(format_args!(
            "{}: {} changed in the plan; the code in {kept} was kept as it was. Does it still do what the plan says?",
            file.path, file.scenario
        ));
    }
    if file.action == Action::Sibling {
        console.warning(format_args!(
            "{}: cargo takes a file directly in tests/ for a test target and this one will not compile as such: merge \
             it, then delete it",
            file.path
        ));
    }
    for region in &file.unfilled {
        console.status("To fill", format_args!("{}:{} {}", file.path, region.line, region.name));
    }
}

fn edits(files: &[Decided<'_>], manifests: &[Manifest], args: &AuthorArgs) -> Vec<Edit> {
    let files = files.iter().filter_map(|file| {
        let after = file.after.clone()?;
        (file.before.as_ref() != Some(&after)).then(|| Edit {
            path: file.path.clone(),
            before: file.before.clone(),
            after,
        })
    });
    let manifests = manifests.iter().filter(|_| !args.no_manifest).map(|manifest| Edit {
        path: manifest.path.clone(),
        before: Some(manifest.before.clone()),
        after: manifest.after.clone(),
    });
    files.chain(manifests).collect()
}

fn stage(context: &Context, workspace: &Workspace, edits: &[Edit]) {
    let paths: Vec<PathBuf> = edits.iter().map(|edit| edit.path.clone()).collect();
    match git::stage(&workspace.root, &paths) {
        Ok(true) => context.console.status("Staged", format_args!("{} files", paths.len())),
        Ok(false) => {}
        Err(why) => context.console.warning(format_args!("written, but not staged: {why}")),
    }
}

/// `--check`: everything that keeps the test files from being what the plan says.
fn check(context: &Context, workspace: &Workspace, plan: &PlanFile, files: &[File<'_>]) -> Outcome {
    let mut problems: Vec<Problem> = files.iter().flat_map(problems_of).collect();
    for manifest in manifests(workspace, files.iter().map(|file| file.target))? {
        let diff = diff_of(&manifest.path, Some(&manifest.before), &manifest.after);
        problems.push(Problem::new(None, &manifest.path, "manifest", "it lacks entries for the test files", diff));
    }
    let fix = format!("cargo disttest author {}", plan.shown);
    if context.json() {
        let report = CheckReport { schema: "disttest.author-check/1", plan: plan.shown.clone(), problems, fix };
        let json = serde_json::to_string_pretty(&report).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
        context.console.result(json);
        return Ok(if report.problems.is_empty() { End::Clean } else { End::Drift });
    }
    for problem in &problems {
        context.console.diff(&problem.diff);
    }
    for Problem { scenario, path, line, message, .. } in &problems {
        let scenario = scenario.as_ref().map(|id| format!("{id}: ")).unwrap_or_default();
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        context.console.error(format_args!("{path}{line}: {scenario}{message}"));
    }
    if problems.is_empty() {
        context.console.status("Up to date", format_args!("{} test files of {}", files.len(), plan.shown));
        return Ok(End::Clean);
    }
    context.console.next(&fix);
    Ok(End::Drift)
}

/// `disttest.author-check/1`.
#[derive(Serialize)]
struct CheckReport {
    schema: &'static str,
    plan: String,
    problems: Vec<Problem>,
    fix: String,
}

#[derive(Serialize)]
struct Problem {
    scenario: Option<String>,
    path: String,
    line: Option<usize>,
    /// `missing`, `drift`, `edited`, `unfilled`, `manifest`.
    kind: &'static str,
    message: String,
    diff: String,
}

impl Problem {
    fn new(scenario: Option<&str>, path: &Path, kind: &'static str, message: &str, diff: String) -> Problem {
        let path = shorter(path).display().to_string();
        Problem { scenario: scenario.map(str::to_owned), path, line: None, kind, message: message.to_owned(), diff }
    }
}

fn problems_of(file: &File<'_>) -> Vec<Problem> {
    let path = file.target.placed.path();
    let id = Some(file.target.wanted.attribute.id.as_str());
    let diff = |after: &str| diff_of(&path, file.before.as_deref(), after);
    let (problem, unfilled) = match &file.change {
        FileChange::UpToDate { unfilled } => (None, unfilled.as_slice()),
        FileChange::Create { text } => {
            (Some(Problem::new(id, &path, "missing", "it was never written", diff(text))), &[][..])
        }
        FileChange::Update { text, unfilled, .. } => {
            (Some(Problem::new(id, &path, "drift", "it is not what the plan says", diff(text))), unfilled.as_slice())
        }
        FileChange::Conflict { reason, overwrite, .. } => {
            (Some(Problem::new(id, &path, "edited", reason, diff(overwrite))), &[][..])
        }
    };
    let unfilled = unfilled.iter().map(|region| Problem {
        line: Some(region.line),
        ..Problem::new(id, &path, "unfilled", &format!("{} is not filled", region.name), String::new())
    });
    problem.into_iter().chain(unfilled).collect()
}
