//! One verb a file.

mod author;
mod check;
mod completions;
mod explain;
mod heal;
mod help;
mod lint;
mod new;
mod plan;
mod probe;
mod report;
mod run;
mod states;
mod todo;
mod verify;

use crate::cli::{Common, Disttest, Format, Verb};
use crate::console::Console;
use crate::exit_code::{End, Failure, Outcome};
use crate::plan_file::PlanFile;
use crate::workspace::Workspace;
use disttest_runtime::base::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};

/// What every verb has at hand.
#[derive(Debug)]
pub(crate) struct Context {
    /// Printer.
    pub console: Console,
    /// Flags of every verb.
    pub common: Common,
}

/// Does what was asked.
///
/// # Errors
/// An end whose message is still to be printed.
pub(crate) fn dispatch(console: Console, arguments: Disttest) -> Outcome {
    let context = Context { console, common: arguments.common };
    let format = context.common.format;
    let outcome = match arguments.verb {
        verb if matches!(format, Format::Sarif | Format::Github) && !matches!(verb, Verb::Plan(_)) => {
            let format = if format == Format::Sarif { "sarif" } else { "github" };
            Err(Failure::new(
                End::WrongUsage,
                format!("--format {format} is for `plan`; the others print text or json"),
            ))
        }
        Verb::New(args) => new::run(&context, &args),
        Verb::Plan(args) => lint::run(&context, &args),
        Verb::Author(args) => author::run(&context, &args),
        Verb::Todo(args) => todo::run(&context, &args),
        Verb::Run(args) => run::run(&context, &args),
        Verb::Heal(args) => heal::run(&context, &args),
        Verb::Probe(args) => probe::run(&context, &args),
        Verb::Report(args) => report::run(&context, &args),
        Verb::Verify(args) => verify::run(&context, &args),
        Verb::Check(args) => check::run(&context, &args),
        Verb::Catalog(args) => explain::catalog(&context, &args),
        Verb::Explain(args) => explain::explain(&context, &args),
        Verb::Completions(args) => completions::completions(&context, &args),
        Verb::Man(args) => completions::man(&context, &args),
        Verb::Help(args) => help::run(&context, &args),
    };
    if let Err(failure) = &outcome {
        context.console.error(crate::console::visible(&failure.message));
    }
    outcome
}

impl Context {
    fn json(&self) -> bool {
        self.common.format == Format::Json
    }

    fn workspace(&self) -> Result<Workspace, Failure> {
        Workspace::load(self.common.manifest_path.as_deref(), self.common.package.as_deref())
    }

    /// The workspace that the plan which a user means belongs to: the one that is named by its manifest, else the one
    /// round the plan's file, else the current folder's.
    fn workspace_of(&self, plan: &Path) -> Result<Workspace, Failure> {
        let package = self.common.package.as_deref();
        let round = || Workspace::holding(plan, package).unwrap_or_else(|| self.workspace());
        if self.common.manifest_path.is_some() { self.workspace() } else { round() }
    }

    /// The plan a user means: a path, or the slug of a plan of the workspace.
    fn plan(&self, workspace: &Workspace, named: &Path) -> Result<PlanFile, Failure> {
        if named.exists() {
            return PlanFile::load(named);
        }
        let file = |plan: &PathBuf| plan.file_stem() == Some(named.as_os_str());
        match workspace.plans().iter().filter(|plan| file(plan)).collect::<Vec<_>>().as_slice() {
            [plan] => PlanFile::load(&shorter(plan)),
            _ => PlanFile::load(named).map_err(|mut failure| {
                let plans: Vec<String> = workspace.plans().iter().map(|p| shorter(p).display().to_string()).collect();
                if !plans.is_empty() {
                    failure.message = format!("{}; plans of this workspace: {}", failure.message, plans.join(", "));
                }
                failure
            }),
        }
    }

    /// Prints diagnostics on stderr, with their place in the plan.
    fn show(&self, plan: &PlanFile, diagnostics: &[Diagnostic]) {
        if !diagnostics.is_empty() {
            // The console takes the colours out again where nobody can see them.
            self.console.message_text(&crate::diagnostics::render(&plan.shown, &plan.text, diagnostics, true));
        }
    }
}

/// `path` from the current folder, when it stands below it.
pub(crate) fn shorter(path: &Path) -> PathBuf {
    let below = std::env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf));
    below.unwrap_or_else(|| path.to_path_buf())
}

/// An `Err` of kind `end` for every error text.
fn failed(end: End) -> impl Fn(String) -> Failure {
    move |message| Failure::new(end, message)
}
