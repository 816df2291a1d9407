//! What a person sees when a scenario failed: the verdict, the witness, the ends of the logs, how to run it again.

use crate::checker::Outcome;
use crate::report::terminal::ephemeral_command;
use crate::session::{Layout, disk};
use crate::verdict::{End, RunRecord, ScenarioRecord, violates};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Lines of a witness, of the test's log and of a node's log.
const WITNESS_LINES: usize = 60;
const TEST_LINES: usize = 30;
const NODE_LINES: usize = 8;
/// Nodes whose logs are shown.
const NODES: usize = 7;
/// So much of the end of a log is read.
const TAIL_BYTES: u64 = 16 * 1024;

/// Verdict, tier met and reason in one line.
pub(crate) fn verdict_line(record: &ScenarioRecord) -> String {
    let met = record.tier_met.map_or("—", |tier| tier.as_str());
    format!("{} {} (tier met: {met}): {}", record.declared.id, record.verdict, one_line(&record.why.headline()))
}

/// The text for stderr. Its first line is `Error: …`, which nextest copies into its JUnit file.
pub(crate) fn failure_text(record: &ScenarioRecord, layout: &Layout) -> String {
    let mut text = format!("\n---- {} ----\n", record.declared.test);
    let shown = telling(record);
    let seed = shown.map(|(_, run)| format!(" seed={}", run.request.seed)).unwrap_or_default();
    line(
        &mut text,
        &format!("Error: {} {}{seed}: {}", record.verdict, record.declared.id, one_line(&record.why.headline())),
    );
    if let Some((folder, run)) = shown {
        witness(&mut text, run);
        logs(&mut text, layout, folder, run);
        line(&mut text, &format!("again: {}", again(record, run)));
    }
    line(&mut text, &format!("findings: {}", layout.finding(&record.declared.id).display()));
    text
}

/// The command that runs one execution again.
pub(crate) fn again(record: &ScenarioRecord, run: &RunRecord) -> String {
    if let Some(command) = ephemeral_command(record, run.request.seed) {
        return command;
    }
    let args = match run.request.sut_args.as_slice() {
        [] => String::new(),
        args => format!("DISTTEST_SUT_ARGS='{}' ", args.join(" ").replace('\'', r"'\''")),
    };
    let package = match record.declared.package.as_str() {
        "" => String::new(),
        package => format!(" -p {package}"),
    };
    format!(
        "DISTTEST_TIER={} DISTTEST_SEED={} {args}cargo test{package} -- --exact {}",
        record.tier, run.request.seed, record.declared.test
    )
}

/// The execution that tells most: the first violation, else the first that did not judge, else the last.
fn telling(record: &ScenarioRecord) -> Option<&(String, RunRecord)> {
    let first = |wanted: &dyn Fn(&RunRecord) -> bool| record.runs.iter().find(|(_, run)| wanted(run));
    first(&violates).or_else(|| first(&|run| run.end != End::Judged)).or_else(|| record.runs.last())
}

fn witness(text: &mut String, run: &RunRecord) {
    if run.end != End::Judged {
        line(text, &format!("  the oracle never judged: {}", ending(&run.end)));
    }
    for death in run.deaths.iter().filter(|death| !death.allowed) {
        line(text, &format!("  node {} ended by itself: {}", death.node, death.how));
    }
    for answer in &run.answers {
        match &answer.outcome {
            Outcome::Invalid { violations } => {
                for violation in violations.iter().take(1) {
                    let key = violation.key.as_ref().map(|key| format!(" on key {key}")).unwrap_or_default();
                    line(text, &format!("  {}: {}{key}", answer.checker, violation.anomaly));
                    bounded(text, &violation.explanation, WITNESS_LINES, false);
                }
            }
            Outcome::Unknown { why } => line(text, &format!("  {}: undecided: {}", answer.checker, one_line(why))),
            Outcome::Valid => {}
        }
    }
}

fn ending(end: &End) -> String {
    match end {
        End::Judged => "it judged".to_owned(),
        End::Error { message } => format!("error: {message}"),
        End::Panicked { message } => format!("panic: {message}"),
        End::TimedOut { seconds } => format!("it ran longer than its deadline of {seconds} s"),
        End::Died { how } => format!("its process died: {how}"),
        End::EnvMissing { what } => format!("the environment lacks {what}"),
    }
}

fn logs(text: &mut String, layout: &Layout, folder: &str, run: &RunRecord) {
    log(text, &layout.dir().join(folder).join("test.log"), TEST_LINES);
    let nodes = std::fs::read_dir(&run.request.log_dir).into_iter().flatten().flatten();
    let mut nodes: Vec<PathBuf> = nodes.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    nodes.sort();
    for path in nodes.iter().take(NODES) {
        log(text, path, NODE_LINES);
    }
}

/// The end of a log; nothing when it is empty or missing.
fn log(text: &mut String, path: &Path, lines: usize) {
    let Ok((tail, _)) = disk::tail(path, TAIL_BYTES) else { return };
    if !tail.trim().is_empty() {
        line(text, &format!("  end of {}:", path.display()));
        bounded(text, &tail, lines, true);
    }
}

/// Up to `max` lines of `from`, the first or the last ones, indented, without control characters.
fn bounded(text: &mut String, from: &str, max: usize, last: bool) {
    let lines: Vec<&str> = from.lines().collect();
    let left_out = lines.len().saturating_sub(max);
    let shown = if last { &lines[left_out..] } else { &lines[..lines.len() - left_out] };
    for shown in shown {
        line(text, &format!("    | {}", printable(shown)));
    }
    if left_out > 0 && !last {
        line(text, &format!("    | … {left_out} more lines in the findings"));
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing to a string");
}

/// Logs and plans are untrusted: no control character of theirs reaches the terminal.
fn printable(line: &str) -> String {
    line.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !c.is_control()).take(300).collect()
}

/// `text` on one line, printable and of bearable length.
pub(crate) fn one_line(text: &str) -> String {
    printable(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_a_log_cannot_drive_the_terminal_and_is_bounded() {
        let mut text = String::new();
        bounded(&mut text, "one\n\x1b[31mtwo\nthree", 2, true);
        assert_eq!(text, "    | [31mtwo\n    | three\n");
        text.clear();
        bounded(&mut text, "one\ntwo\nthree", 2, false);
        assert_eq!(text, "    | one\n    | two\n    | … 1 more lines in the findings\n");
        assert_eq!(one_line("a\n  b\tc"), "a b c");
    }
}
