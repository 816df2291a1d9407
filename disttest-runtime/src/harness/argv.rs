//! The command line of a test binary: everything that `cargo test`, nextest, IDEs and people pass to libtest.
//!
//! libtest-mimic's `Arguments` parses it, but rejects flags of today's libtest and a second filter; so the line is
//! normalised first. One unknown flag would break `cargo test --workspace -- FLAG` for every other target too.

use libtest_mimic::Arguments;

/// A command line that was understood.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine {
    /// What libtest-mimic makes of it; its `filter` is unused.
    pub(crate) arguments: Arguments,
    /// All filters: a scenario runs when any matches.
    pub(crate) filters: Vec<String>,
    /// Stop at the first failure.
    pub(crate) fail_fast: bool,
    /// What was accepted and has no effect, for a note on stderr.
    pub(crate) without_effect: Vec<String>,
}

/// Flags that libtest-mimic does not know; `true`: worth a note, as a person might rely on it.
const DROPPED_FLAGS: [(&str, bool); 6] = [
    ("--no-capture", false),
    ("--report-time", false),
    ("--ensure-time", true),
    ("--shuffle", true),
    ("--exclude-should-panic", false),
    ("--force-run-in-process", true),
];

/// Options with a value that have no effect: scenarios of a plan take turns whatever the number of threads.
const DROPPED_OPTIONS: [&str; 3] = ["--test-threads", "--shuffle-seed", "--logfile"];

/// Options with a value that libtest-mimic knows.
const KEPT_OPTIONS: [&str; 3] = ["--skip", "--color", "-Z"];

impl CommandLine {
    /// Reads the line without the program name. Prints usage and exits on `--help` and on what libtest does not know.
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> CommandLine {
        let normal = normalise(args);
        CommandLine {
            arguments: Arguments::from_iter(std::iter::once("test".to_owned()).chain(normal.args)),
            filters: normal.filters,
            fail_fast: normal.fail_fast,
            without_effect: normal.without_effect,
        }
    }
}

#[derive(Debug, Default, PartialEq)]
struct Normal {
    args: Vec<String>,
    filters: Vec<String>,
    fail_fast: bool,
    without_effect: Vec<String>,
}

impl Normal {
    /// Adds a flag once; clap rejects a flag that is given twice.
    fn flag(&mut self, flag: String) {
        if !self.args.contains(&flag) {
            self.args.push(flag);
        }
    }

    /// The last format wins, and `--quiet` is a format.
    fn format(&mut self, format: &str) {
        self.args.retain(|arg| !arg.starts_with("--format="));
        let known = match format {
            "pretty" | "terse" | "json" => format,
            other => {
                self.without_effect.push(format!("--format {other} (printed as pretty)"));
                "pretty"
            }
        };
        self.args.push(format!("--format={known}"));
    }
}

fn normalise(args: impl IntoIterator<Item = String>) -> Normal {
    let mut normal = Normal::default();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let (name, joined) = match arg.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value.to_owned())),
            _ => (arg.clone(), None),
        };
        if let Some((_, note)) = DROPPED_FLAGS.iter().find(|(flag, _)| *flag == name) {
            if *note {
                normal.without_effect.push(arg);
            }
        } else if DROPPED_OPTIONS.contains(&name.as_str()) {
            let value = joined.or_else(|| args.next()).unwrap_or_default();
            if name != "--test-threads" {
                normal.without_effect.push(format!("{name} {value}"));
            }
        } else if KEPT_OPTIONS.contains(&name.as_str()) {
            let value = joined.or_else(|| args.next());
            // `-Z` may come more than once; only one of its values exists.
            if name != "-Z" || !normal.args.contains(&name) {
                normal.args.push(name);
                normal.args.extend(value);
            }
        } else {
            match name.as_str() {
                "--" => normal.filters.extend(args.by_ref()),
                "--fail-fast" => normal.fail_fast = true,
                "--format" => normal.format(&joined.or_else(|| args.next()).unwrap_or_default()),
                "-q" | "--quiet" => normal.format("terse"),
                "-Zunstable-options" => normal.flag("-Zunstable-options".to_owned()),
                _ if arg.starts_with('-') && arg.len() > 1 => normal.flag(arg),
                _ => normal.filters.push(arg),
            }
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, args: &str, filters: &[&str], without_effect: &[&str]) {
        let normal = normalise(line.split_whitespace().map(str::to_owned));
        assert_eq!(normal.args.join(" "), args, "{line}");
        assert_eq!(normal.filters, filters, "{line}");
        assert_eq!(normal.without_effect, without_effect, "{line}");
    }

    #[test]
    fn every_libtest_flag_is_accepted_and_what_has_no_effect_is_said() {
        check("", "", &[], &[]);
        check("--list --format terse --ignored", "--list --format=terse --ignored", &[], &[]);
        check("--exact a::b --nocapture --include-ignored", "--exact --nocapture --include-ignored", &["a::b"], &[]);
        check("one two --skip three", "--skip three", &["one", "two"], &[]);
        check("--no-capture --no-capture --test-threads=0 --test-threads 4", "", &[], &[]);
        check("--shuffle --shuffle-seed 7 --report-time=plain", "", &[], &["--shuffle", "--shuffle-seed 7"]);
        check("--nocapture --nocapture", "--nocapture", &[], &[]);
        check("-q", "--format=terse", &[], &[]);
        check(
            "--format=json --show-output -Z unstable-options",
            "--format=json --show-output -Z unstable-options",
            &[],
            &[],
        );
        check("-Z unstable-options --format json -Z unstable-options", "-Z unstable-options --format=json", &[], &[]);
        check("--format junit", "--format=pretty", &[], &["--format junit (printed as pretty)"]);
        check("-- --strange", "", &["--strange"], &[]);
    }

    #[test]
    fn a_normalised_line_is_one_that_libtest_mimic_takes() {
        let line = "-Z unstable-options --format=json --show-output --exact x y --skip z --color always --fail-fast";
        let line = CommandLine::parse(line.split_whitespace().map(str::to_owned));
        assert!(line.arguments.exact && line.arguments.show_output && line.fail_fast);
        assert_eq!(line.filters, ["x", "y"]);
        assert_eq!(line.arguments.skip, ["z"]);
        assert_eq!(line.arguments.format, Some(libtest_mimic::FormatSetting::Json));
    }
}
