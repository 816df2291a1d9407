//! The only printer of a test binary: libtest's lines and JSON events on stdout, everything for people on stderr.

use super::argv::CommandLine;
use libtest_mimic::{ColorSetting, FormatSetting};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// How a scenario ended, as the test runner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TestOutcome {
    /// Its verdict is what was asked for, or stronger.
    Ok,
    /// Anything else.
    Failed,
    /// Shown in the list, not run.
    Ignored,
}

/// One line of the result.
#[derive(Clone, Debug)]
pub(crate) struct TestResult {
    /// Test name.
    pub(crate) name: String,
    /// What the runner sees.
    pub(crate) outcome: TestOutcome,
    /// Verdict, tier met and reason in one line.
    pub(crate) line: String,
    /// What a person needs on a failure: the `Error:` line first, then witness and logs.
    pub(crate) failure: Option<String>,
    /// The `disttest` key of the JSON event.
    pub(crate) extra: Value,
    /// How long it took.
    pub(crate) took: Duration,
}

/// Numbers of the closing line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Tests that are ok.
    pub(crate) passed: usize,
    /// Tests that failed.
    pub(crate) failed: usize,
    /// Tests that were ignored at list time.
    pub(crate) ignored: usize,
    /// Tests that the command line left out.
    pub(crate) filtered_out: usize,
}

/// Writes to stdout and stderr; a closed pipe is nobody's failure.
#[derive(Debug)]
pub(crate) struct Console {
    format: FormatSetting,
    color: bool,
    /// Stderr is a terminal: progress may overwrite its line.
    pub(crate) live: bool,
    /// A progress line stands on the terminal.
    pending: bool,
}

impl Console {
    /// A console for this command line.
    pub(crate) fn new(line: &CommandLine) -> Console {
        let quiet = if line.arguments.quiet { FormatSetting::Terse } else { FormatSetting::Pretty };
        let set = |name| std::env::var(name).unwrap_or_default();
        let color = match (line.arguments.color, set("CARGO_TERM_COLOR").as_str()) {
            (Some(ColorSetting::Always), _) => true,
            (Some(ColorSetting::Never), _) => false,
            (_, "always") => true,
            (_, "never") => false,
            _ => set("NO_COLOR").is_empty() && std::io::stdout().is_terminal(),
        };
        Console {
            format: line.arguments.format.unwrap_or(quiet),
            color,
            live: std::io::stderr().is_terminal() && set("CI").is_empty(),
            pending: false,
        }
    }

    /// The opening line.
    pub(crate) fn suite_started(&mut self, count: usize) {
        match self.format {
            FormatSetting::Json => {
                self.json(&json!({ "type": "suite", "event": "started", "test_count": count }));
            }
            _ => self.out(&format!("\nrunning {count} test{}\n", if count == 1 { "" } else { "s" })),
        }
    }

    /// A scenario begins.
    pub(crate) fn test_started(&mut self, name: &str) {
        if self.format == FormatSetting::Json {
            self.json(&json!({ "type": "test", "event": "started", "name": name }));
        }
    }

    /// A scenario ended.
    pub(crate) fn test_ended(&mut self, result: &TestResult) {
        match self.format {
            FormatSetting::Json => self.json(&event(result)),
            FormatSetting::Terse => self.out(match result.outcome {
                TestOutcome::Ok => ".",
                TestOutcome::Failed => "F",
                TestOutcome::Ignored => "i",
            }),
            FormatSetting::Pretty => self.out(&self.pretty(result)),
        }
        if let Some(failure) = &result.failure {
            let newline = if self.format == FormatSetting::Terse { "\n" } else { "" };
            self.err(&format!("{newline}{failure}"));
        }
    }

    /// The closing lines.
    pub(crate) fn suite_ended(&mut self, totals: &Totals, failed: &[String], took: Duration) {
        let Totals { passed, failed: failures, ignored, filtered_out } = *totals;
        let seconds = took.as_secs_f64();
        if self.format == FormatSetting::Json {
            self.json(&json!({
                "type": "suite", "event": if failures == 0 { "ok" } else { "failed" }, "passed": passed,
                "failed": failures, "ignored": ignored, "measured": 0, "filtered_out": filtered_out,
                "exec_time": seconds,
            }));
            return;
        }
        let mut text = String::new();
        if self.format == FormatSetting::Terse {
            text.push('\n');
        }
        if !failed.is_empty() {
            text.push_str(&format!("\nfailures:\n    {}\n", failed.join("\n    ")));
        }
        let word = if failures == 0 { self.paint("ok", true) } else { self.paint("FAILED", false) };
        text.push_str(&format!(
            "\ntest result: {word}. {passed} passed; {failures} failed; {ignored} ignored; 0 measured; {filtered_out} \
             filtered out; finished in {seconds:.2}s\n\n"
        ));
        self.out(&text);
    }

    /// A line for people, on stderr.
    pub(crate) fn note(&mut self, text: &str) {
        self.err(&format!("{text}\n"));
    }

    /// What a scenario does now: overwrites its own line on a terminal, else a line of its own (the caller spaces them).
    pub(crate) fn progress(&mut self, text: &str) {
        if self.live {
            let short: String = text.chars().take(110).collect();
            self.raw_err(&format!("\r\x1b[2K{short}"));
            self.pending = true;
        } else {
            self.note(text);
        }
    }

    /// Text for stdout as it is.
    pub(crate) fn out(&mut self, text: &str) {
        self.clear();
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    }

    fn pretty(&self, result: &TestResult) -> String {
        let TestResult { name, line, .. } = result;
        let seconds = result.took.as_secs_f64();
        match result.outcome {
            TestOutcome::Ok => format!("test {name} ... {} <{seconds:.1}s> {line}\n", self.paint("ok", true)),
            TestOutcome::Failed => format!("test {name} ... {} <{seconds:.1}s> {line}\n", self.paint("FAILED", false)),
            TestOutcome::Ignored => format!("test {name} ... ignored, {line}\n"),
        }
    }

    fn paint(&self, word: &str, good: bool) -> String {
        if self.color { format!("\x1b[{}m{word}\x1b[0m", if good { 32 } else { 31 }) } else { word.to_owned() }
    }

    fn json(&mut self, value: &Value) {
        self.out(&format!("{value}\n"));
    }

    fn err(&mut self, text: &str) {
        self.clear();
        self.raw_err(text);
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.pending) {
            self.raw_err("\r\x1b[2K");
        }
    }

    fn raw_err(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }
}

/// A sentence that ends the process.
pub(crate) fn fatal(message: &str) {
    let _ = writeln!(std::io::stderr().lock(), "error: {message}");
}

/// libtest's event, with ours under one extra key, as nextest does it.
fn event(result: &TestResult) -> Value {
    let mut event = json!({
        "type": "test", "name": result.name, "exec_time": result.took.as_secs_f64(), "disttest": result.extra,
        "event": match result.outcome {
            TestOutcome::Ok => "ok",
            TestOutcome::Failed => "failed",
            TestOutcome::Ignored => "ignored",
        },
    });
    match (&result.outcome, &result.failure) {
        (TestOutcome::Ignored, _) => event["message"] = json!(result.line),
        (_, Some(failure)) => event["stdout"] = json!(failure),
        (_, None) => event["stdout"] = json!(format!("{}\n", result.line)),
    }
    event
}
