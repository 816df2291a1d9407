//! One scenario: its verdict with the steps to it, its audits, and its executions as pictures.

use super::axis::Axis;
use super::{Page, anchor, badge, latency, push, rates, signals, swimlanes};
use crate::check::html::escape;
use disttest_runtime::checker::Outcome;
use disttest_runtime::fault::Window;
use disttest_runtime::history::{History, jsonl};
use disttest_runtime::session::disk;
use disttest_runtime::verdict::{Bite, RunRecord, ScenarioRecord, violates};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Executions that are drawn, at most; those with a violation come first.
const DRAWN: usize = 6;
/// Fault windows of one execution whose signals are drawn, at most.
const WINDOWS: usize = 8;

/// Adds it.
pub(super) fn add(body: &mut String, page: &Page<'_>, record: &ScenarioRecord) {
    let (id, name) = (&record.declared.id, &record.declared.name);
    push(
        body,
        format_args!(
            "<section id=\"{}\"><h2>{} {} {}</h2>\n<ol>",
            anchor(id),
            escape(id),
            escape(name),
            badge(record.verdict)
        ),
    );
    for step in &record.why.steps {
        push(
            body,
            format_args!(
                "<li>{}: {} <span class=\"soft\">({})</span>",
                step.verdict,
                escape(&step.reason),
                escape(&step.rule)
            ),
        );
    }
    body.push_str("</ol>\n");
    let link = format!("{}/findings/{}.md", page.root, id.replace('/', "__"));
    push(body, format_args!("<p><a href=\"{}\">All of its evidence and audits</a></p>\n", escape(&link)));
    let mut runs: Vec<&(String, RunRecord)> = record.runs.iter().collect();
    runs.sort_by_key(|(_, run)| !violates(run));
    for (at, (folder, run)) in runs.iter().take(DRAWN).enumerate() {
        execution(body, page, folder, run, at == 0);
    }
    if runs.len() > DRAWN {
        push(body, format_args!("<p>{} more executions are in the artifacts.</p>\n", runs.len() - DRAWN));
    }
    body.push_str("</section>\n");
}

fn execution(body: &mut String, page: &Page<'_>, folder: &str, run: &RunRecord, open: bool) {
    let again = if run.request.rerun > 0 { format!(", re-run {}", run.request.rerun) } else { String::new() };
    let ops = run.operations;
    push(
        body,
        format_args!(
            "<details{}><summary>seed {}{again}: {} operations ({} acknowledged, {} failed, {} unknown), {} fault \
             windows</summary>\n",
            if open { " open" } else { "" },
            run.request.seed,
            ops.recorded,
            ops.acknowledged,
            ops.failed,
            ops.unknown,
            run.windows.len()
        ),
    );
    answers(body, run);
    let file = |name: &str| format!("<a href=\"{}/{}/{name}\">{name}</a>", escape(page.root), escape(folder));
    push(body, format_args!("<p>{} · {} · {}</p>\n", file("run.json"), file("history.jsonl"), file("landing.json")));
    let windows: Vec<Window> =
        disk::read_json(&page.dir.join(folder).join("landing.json")).ok().flatten().unwrap_or_default();
    match history(page.dir, folder) {
        Some(history) if !history.ops().is_empty() => pictures(body, &history, &windows, run),
        _ => body.push_str("<p class=\"soft\">No history to draw.</p>\n"),
    }
    for (window, assessed) in windows.iter().zip(&run.windows).take(WINDOWS) {
        signals::add(body, window, assessed);
    }
    body.push_str("</details>\n");
}

fn answers(body: &mut String, run: &RunRecord) {
    body.push_str("<ul>");
    for answer in &run.answers {
        let (class, said) = match &answer.outcome {
            Outcome::Valid => ("pass", "valid".to_owned()),
            Outcome::Invalid { violations } => {
                ("fail", violations.first().map(|v| format!("{}: {}", v.anomaly, v.explanation)).unwrap_or_default())
            }
            Outcome::Unknown { why } => ("doubt", format!("unknown: {why}")),
        };
        let rejected = run.teeth.iter().filter(|t| t.checker == answer.checker && t.bite == Bite::Rejected).count();
        let teeth = if rejected > 0 { format!("; rejected {rejected} damaged copies") } else { String::new() };
        push(
            body,
            format_args!(
                "<li>{}: <span class=\"{class}\">{}</span> <span class=\"soft\">({} of {} operations{teeth})</span>",
                escape(&answer.checker),
                escape(&said),
                answer.evidence.consumed,
                answer.evidence.recorded
            ),
        );
    }
    body.push_str("</ul>\n");
}

fn pictures(body: &mut String, history: &History, windows: &[Window], run: &RunRecord) {
    let axis = Axis::of(history, windows);
    let of = |answer: &disttest_runtime::checker::Answer| match &answer.outcome {
        Outcome::Invalid { violations } => violations.first().map(|v| v.ops.clone()).unwrap_or_default(),
        _ => Vec::new(),
    };
    let hit: BTreeSet<u64> = run.answers.iter().flat_map(of).collect();
    let key = "<b class=\"pass\">blue</b>: acknowledged, grey: failed, <b class=\"doubt\">amber</b>: unknown outcome, \
               <b class=\"fail\">red</b>: the witness; bands: faults";
    let key = key.replace("class=\"pass\"", "style=\"color:var(--ok)\"");
    let all = [
        (swimlanes::svg(history, windows, axis, &hit), format!("Operations of each client ({key}).")),
        (
            latency::svg(history, windows, axis),
            "Latency, logarithmic; unanswered operations on the upper edge.".to_owned(),
        ),
        (rates::svg(history, windows, axis), "Operations a second.".to_owned()),
    ];
    for (svg, caption) in all {
        push(body, format_args!("<figure>{svg}<figcaption class=\"key\">{caption}</figcaption></figure>\n"));
    }
}

/// The history of the execution in `folder`, if it can be read.
pub(super) fn history(dir: &Path, folder: &str) -> Option<History> {
    let file = File::open(dir.join(folder).join("history.jsonl")).ok()?;
    jsonl::read(BufReader::new(file), "history.jsonl").ok()
}
