//! `probe`: the capability matrix of a plan's §6b. Asks before it looks, installs nothing.

use super::{Context, failed};
use crate::author::write::{self, Edit};
use crate::cli::ProbeArgs;
use crate::console::visible;
use crate::exit_code::{End, Failure, Outcome};
use crate::plan_file::PlanFile;
use crate::probe::answers::{Answer, Answers, Choice};
use crate::probe::finding::{Finding, Presence, find_out, names};
use crate::probe::need::{Need, needs, unread};
use disttest_runtime::session::discover_toolbox;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Does it.
pub(super) fn run(context: &Context, args: &ProbeArgs) -> Outcome {
    let (workspace, plan) = match context.workspace_of(&args.plan) {
        Ok(workspace) => {
            let plan = context.plan(&workspace, &args.plan)?;
            (Some(workspace), plan)
        }
        // The needs of a plan can be looked at without a workspace.
        Err(_) => (None, PlanFile::load(&args.plan)?),
    };
    let needs = needs(&plan.plan);
    let mut asked = args.answers.is_some();
    let mut answers = answers(context, args.answers.as_deref(), &needs)?;
    if !asked && !context.json() {
        asked = ask_what_is_there(context, &needs, &mut answers).ok_or_else(ended)?;
    }
    let mut findings = matrix(&needs, &answers);
    if asked && args.answers.is_none() {
        ask_what_to_do(context, &needs, &mut answers, &findings).ok_or_else(ended)?;
        findings = matrix(&needs, &answers);
    }
    let root = workspace.map_or_else(|| plan.path.parent().map(Path::to_path_buf), |workspace| Some(workspace.root));
    let toolbox = root.map(|root| discover_toolbox(&root)).unwrap_or_default();
    let unread = unread(&plan.plan, &plan.text);
    let report = Report { schema: "disttest.probe/1", plan: plan.shown.clone(), asked, unread, findings, toolbox };
    if let Some(path) = &args.save {
        save(context, path, &answers)?;
    }
    report.print(context, args)?;
    Ok(report.end())
}

/// The matrix as `run` puts it into the session: nobody is asked.
pub(super) fn for_session(context: &Context, plan: &PlanFile, file: Option<&Path>) -> Result<Vec<Finding>, Failure> {
    let needs = needs(&plan.plan);
    let answers = answers(context, file, &needs)?;
    let mut findings = matrix(&needs, &answers);
    if file.is_none() {
        findings.iter_mut().for_each(|finding| finding.source.push_str(" (nobody was asked)"));
    }
    Ok(findings)
}

fn matrix(needs: &[Need], answers: &Answers) -> Vec<Finding> {
    needs.iter().map(|need| find_out(need, answers)).collect()
}

fn answers(context: &Context, file: Option<&Path>, needs: &[Need]) -> Result<Answers, Failure> {
    let Some(path) = file else { return Ok(Answers::default()) };
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| failed(End::Unreadable)(format!("{shown}: {error}")))?;
    let answers = Answers::parse(&text).map_err(|why| failed(End::Unreadable)(format!("{shown}: {why}")))?;
    let known: Vec<String> = needs.iter().flat_map(names).map(str::to_owned).collect();
    for name in answers.unused(&known) {
        context.console.warning(format_args!("{shown}: the plan requires no `{}`", visible(name)));
    }
    Ok(answers)
}

/// Who ends the questions has said nothing: half of the answers would be read as all of them.
fn ended() -> Failure {
    let message = "the questions were ended before the last one: nothing is saved (--answers FILE says what you know)";
    Failure::new(End::Ended, message)
}

/// Lists the needs and asks what is there and what not to look for; false without a terminal, `None` when input ends.
fn ask_what_is_there(context: &Context, needs: &[Need], answers: &mut Answers) -> Option<bool> {
    let console = &context.console;
    if needs.is_empty() || !console.is_interactive() {
        return Some(false);
    }
    console.message_text("The plan requires:\n");
    for need in needs {
        let line = format!("  {} ({}), for {}\n", need.requirement, need.floor, need.used_by);
        console.message_text(&visible(&line));
    }
    for need in needs.iter().filter(|need| !need.bundled) {
        let question = format!("{}: [l]ook for it, it [i]s there, it is [n]ot there, [s]kip it?", need.requirement);
        let answer = match console.key(&question, "lins")? {
            'i' => {
                let question = format!("  which version of {} (empty: it has none)?", need.requirement);
                let version = console.ask(&visible(&question))?;
                Answer { present: Some(true), version: Some(version).filter(|it| !it.is_empty()), ..Answer::default() }
            }
            'n' => Answer { present: Some(false), ..Answer::default() },
            's' => Answer { skip: true, ..Answer::default() },
            _ => continue,
        };
        answers.set(&need.requirement, answer);
    }
    Some(true)
}

/// Tells what is missing and asks what to do about it; `None` when input ends.
fn ask_what_to_do(context: &Context, needs: &[Need], answers: &mut Answers, findings: &[Finding]) -> Option<()> {
    let console = &context.console;
    for (need, finding) in needs.iter().zip(findings).filter(|(_, finding)| finding.presence.is_lacking()) {
        let told = format!(
            "{} is {}; {} depend on it; install: {}\n",
            finding.requirement,
            if finding.presence == Presence::TooOld { "too old" } else { "missing" },
            finding.used_by,
            finding.install_hint
        );
        console.message_text(&visible(&told));
        let question = "[w]ait for it, [p]roceed without it, [s]ubstitute something weaker for it?";
        let choice = match console.key(question, "wps")? {
            'w' => Choice::Wait,
            'p' => Choice::Proceed,
            _ => loop {
                let what = console.ask("  by what?")?;
                if !what.is_empty() {
                    break Choice::Substitute(what);
                }
            },
        };
        let answer = answers.about(names(need)).cloned().unwrap_or_default();
        answers.set(&need.requirement, Answer { missing: Some(choice), ..answer });
    }
    Some(())
}

fn save(context: &Context, path: &Path, answers: &Answers) -> Result<(), Failure> {
    let before = write::read(path).map_err(failed(End::Unreadable))?;
    let edit = Edit { path: path.to_path_buf(), before, after: answers.text() };
    write::write_all(&[edit]).map_err(failed(End::Unwritable))?;
    context.console.status("Saved", path.display());
    Ok(())
}

/// `disttest.probe/1`.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    plan: String,
    /// Whether anybody was asked before the machine was looked at.
    asked: bool,
    /// Why §6b yields no findings, when that is not because it requires nothing.
    unread: Option<&'static str>,
    findings: Vec<Finding>,
    /// (path, role) of what the repository has for testing.
    toolbox: Vec<(String, String)>,
}

impl Report {
    /// What is missing outranks what nobody can tell, and that is no yes either.
    fn end(&self) -> End {
        let any = |test: fn(Presence) -> bool| self.findings.iter().any(|finding| test(finding.presence));
        if any(Presence::is_lacking) {
            End::Lacking
        } else if self.unread.is_some() || any(|presence| matches!(presence, Presence::Unknown | Presence::Skipped)) {
            End::NothingConcluded
        } else {
            End::Clean
        }
    }

    fn print(&self, context: &Context, args: &ProbeArgs) -> Result<(), Failure> {
        let console = &context.console;
        if context.json() {
            let json = serde_json::to_string(self).map_err(|error| Failure::new(End::Bug, error.to_string()))?;
            console.result(json);
            return Ok(());
        }
        let heads = ["Requirement", "Present?", "Version", "Floor", "Source", "Used by"];
        let row = |f: &Finding| {
            let dash = |text: &str| if text.is_empty() { "—".to_owned() } else { visible(text) };
            let version = f.version.as_deref().unwrap_or_default();
            [&f.requirement, f.presence.word(), version, &f.floor, &f.source, &f.used_by].map(dash)
        };
        let rows: Vec<[String; 6]> = self.findings.iter().map(row).collect();
        if let Some(why) = self.unread {
            console.error(format_args!("{why}: write the rows of §6b (cargo disttest plan {})", self.plan));
        } else if rows.is_empty() {
            console.result("The plan requires nothing of its environment (§6b).");
        } else {
            console.result_text(&table(&heads, &rows));
        }
        for finding in self.findings.iter().filter(|f| f.presence.is_lacking() || f.choice.is_some()) {
            let choice = finding.choice.as_deref().map(|choice| format!("; chosen: {choice}")).unwrap_or_default();
            let (name, word) = (visible(&finding.requirement), finding.presence.word());
            let (hint, used) = (visible(&finding.install_hint), visible(&finding.used_by));
            console
                .result(format_args!("\n{name}: {word}\n  install: {hint}\n  needed by: {used}{}", visible(&choice)));
        }
        console.result("\nToolbox of the repository");
        for line in tools(&self.toolbox) {
            console.result(format_args!("  {}", visible(&line)));
        }
        if self.toolbox.is_empty() {
            console.result("  none found");
        }
        if !self.asked && !self.findings.is_empty() {
            console.warning("nobody was asked: this is what the machine shows (--answers FILE says what you know)");
        }
        console.next(self.next(args));
        Ok(())
    }

    /// What is missing, old or unknown comes before the run: with it, the scenarios that use it can conclude nothing.
    fn next(&self, args: &ProbeArgs) -> String {
        let answers = args.save.as_ref().or(args.answers.as_ref());
        let answers = answers.map(|path| format!(" --answers {}", path.display())).unwrap_or_default();
        let run = format!("cargo disttest run {}{answers}", self.plan);
        let probe = format!("cargo disttest probe {}{answers}", self.plan);
        let open = |test: fn(Presence) -> bool| {
            let names = self.findings.iter().filter(|f| test(f.presence) && f.choice.is_none());
            names.map(|f| visible(&f.requirement)).collect::<Vec<_>>().join(", ")
        };
        let lacking = open(Presence::is_lacking);
        let unknown = open(|presence| presence == Presence::Unknown);
        if self.unread.is_some() {
            return format!("write the rows of §6b, then {probe}");
        }
        let then = "what needs it stays INCONCLUSIVE-env until then";
        match (lacking.is_empty(), unknown.is_empty()) {
            (true, true) => run,
            (false, true) => format!("install {lacking}, then {probe}  # {then}"),
            (true, false) => format!("say in an answers file whether {unknown} is there (probe --help), then {run}"),
            (false, false) => {
                format!(
                    "install {lacking}, and say in an answers file whether {unknown} is there (probe --help), then \
                     {probe}  # {then}"
                )
            }
        }
    }
}

/// A line a tool; several of one role in one folder share a line.
fn tools(toolbox: &[(String, String)]) -> Vec<String> {
    const FEW: usize = 3;
    let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (path, role) in toolbox {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        groups.entry((folder, role)).or_default().push(path);
    }
    let line = |((folder, role), paths): ((&str, &str), Vec<&str>)| match paths.len() {
        ..=FEW => paths.iter().map(|path| format!("{path} — {role}")).collect(),
        many => vec![format!("{folder}/ — {role}, {many} files")],
    };
    groups.into_iter().flat_map(line).collect()
}

fn table(heads: &[&str; 6], rows: &[[String; 6]]) -> String {
    let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).chain([heads[i].len()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: [&str; 6]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let rows = rows.iter().map(|row| line(row.each_ref().map(String::as_str)));
    line(*heads) + &rows.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_tools_of_one_kind_share_a_line() {
        let toolbox: Vec<(String, String)> = ["a/1", "a/2", "a/3", "a/4", "b/1"]
            .iter()
            .map(|path| ((*path).to_owned(), "existing test".to_owned()))
            .collect();
        assert_eq!(tools(&toolbox), ["a/ — existing test, 4 files", "b/1 — existing test"]);
    }
}
