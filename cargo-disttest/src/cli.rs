//! The command line as typed.

use crate::console::{Color, Verbosity};
use clap::{Args, Parser, Subcommand, ValueEnum};
use disttest_runtime::plan::Tier;
use std::path::PathBuf;

/// What cargo calls us with: `cargo-disttest disttest …`.
#[derive(Debug, Parser)]
#[command(name = "cargo", bin_name = "cargo", styles = clap_cargo::style::CLAP_STYLING)]
#[command(disable_help_subcommand = true, subcommand_required = true)]
pub(crate) enum Cargo {
    /// Turns a test plan of a distributed system into tests that cannot pass by accident
    #[command(version, disable_help_subcommand = true, after_help = EXAMPLES)]
    Disttest(Disttest),
}

const EXAMPLES: &str = "\
Examples:
  cargo disttest plan docs/testing-plans/my-plan.md
  cargo disttest author docs/testing-plans/my-plan.md
  cargo disttest run docs/testing-plans/my-plan.md --tier hardening

Exit status: `cargo disttest help exit-codes`.";

/// Flags of every verb, and the verb.
#[derive(Debug, Args)]
pub(crate) struct Disttest {
    /// Flags of every verb.
    #[command(flatten, next_help_heading = "Options of every verb")]
    pub common: Common,
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Flags of every verb.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH", global = true)]
    pub manifest_path: Option<PathBuf>,
    /// Package that the test files belong to, when the plan's place does not say it
    #[arg(short, long, value_name = "SPEC", global = true)]
    pub package: Option<String>,
    /// Coloring; NO_COLOR and CARGO_TERM_COLOR are honored
    #[arg(long, value_enum, value_name = "WHEN", global = true)]
    pub color: Option<Color>,
    /// Print warnings and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print the commands that are run and the files that are looked at
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", global = true)]
    pub format: Format,
}

impl Common {
    /// How much to print.
    pub(crate) fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        }
    }
}

/// Format of what is printed on stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people; may change between releases.
    #[default]
    Text,
    /// For programs; carries a schema and its version.
    Json,
    /// SARIF 2.1.0, for code scanning and editors; `plan` only.
    #[value(hide = true)]
    Sarif,
    /// Workflow commands of GitHub Actions; `plan` only.
    #[value(hide = true)]
    Github,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Reads and lints plans; without an argument, all plans of the workspace
    Plan(PlanArgs),
    /// Writes the test files of a plan
    Author(AuthorArgs),
    /// Runs the scenarios of a plan in plan order and says what they prove
    Run(RunArgs),
    /// Prints the help of a verb or a topic (exit-codes)
    Help(HelpArgs),
}

/// Arguments of `plan`.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  cargo disttest plan docs/testing-plans/my-plan.md
  cargo disttest plan --fix --dry-run
  cargo disttest plan --deny warnings --format github

Beside text and json, `plan` has the formats sarif (SARIF 2.1.0, for code scanning and editors)
and github (annotations of a workflow run).

The level of a rule is that of a flag, else that of .config/disttest.toml ([lint], such as
missing-header = \"allow\"), else the rule's own. In a plan,
<!-- disttest:allow(rule-name) — reason --> suppresses a rule: in or directly above a scenario for
that scenario, before the first section for the whole plan, elsewhere for its section. What a run
relies on can be neither lowered nor suppressed.

Exit status: 0 no errors, 1 a plan breaks a rule of the format, or --fix was refused, 2 a file
cannot be read or is no plan.")]
pub(crate) struct PlanArgs {
    /// Plan files; none: every docs/testing-plans/*.md of the workspace
    #[arg(value_name = "PLAN")]
    pub plans: Vec<PathBuf>,
    /// Show every diagnostic, however often a rule is broken
    #[arg(long)]
    pub all: bool,
    /// Make the changes that are safe, after showing them
    #[arg(long)]
    pub fix: bool,
    /// With --fix: only show them
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
    /// With --fix: also in a plan with changes that are not committed
    #[arg(long, requires = "fix")]
    pub allow_dirty: bool,
    /// Do not tell what breaks this rule
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Tell what breaks this rule as a warning
    #[arg(long, value_name = "RULE")]
    pub warn: Vec<String>,
    /// Tell what breaks this rule as an error; `warnings`: every warning
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
}

/// Arguments of `author`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest author docs/testing-plans/my-plan.md --dry-run
  cargo disttest author docs/testing-plans/my-plan.md --check

Filled regions (between `disttest:begin` and `disttest:end`) are kept to the byte. A change of
the plan that does not touch a scenario leaves its file alone. New and changed files are staged
when the tree is a git repository, and never committed.

Exit status: 0 written or nothing to do, 1 refused, or --check found drift or unfilled regions,
2 a file cannot be read or written.")]
pub(crate) struct AuthorArgs {
    /// Plan file
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Show the diff and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write nothing; exit 1 on drift, edits outside of regions, or unfilled regions
    #[arg(long, conflicts_with_all = ["dry_run", "on_conflict"])]
    pub check: bool,
    /// What to do with a file that was edited outside of its regions, or is not ours
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub on_conflict: OnConflict,
    /// Only these scenarios
    #[arg(long, value_name = "ID")]
    pub scenario: Vec<String>,
    /// Do not edit Cargo.toml; print the text to paste
    #[arg(long)]
    pub no_manifest: bool,
}

/// What to do with a file in the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnConflict {
    /// Ask on a terminal; otherwise exit 1 and write nothing
    #[default]
    Ask,
    /// Leave the file as it is
    Skip,
    /// Rewrite it; regions that can be read are kept
    Overwrite,
    /// Write `<name>.new.rs` beside it
    Sibling,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest run docs/testing-plans/my-plan.md
  cargo disttest run docs/testing-plans/my-plan.md --tier hardening --release
  cargo disttest run docs/testing-plans/my-plan.md --scenario S3 --seed 7

The last line is the SHA-256 of the session's MANIFEST.sha256: keep it where nobody can edit it.

Exit status: 0 every scenario is ok for the tier, 1 a violation or a PASS below the tier,
3 nothing could be concluded of some scenario, 4 a scenario did not run, or the plan lacks
an oracle or budgets.")]
pub(crate) struct RunArgs {
    /// Plan file
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Tier to reach: smoke, hardening or release
    #[arg(long, value_parser = tier, default_value = "smoke", value_name = "TIER")]
    pub tier: Tier,
    /// Only these scenarios
    #[arg(long, value_name = "ID")]
    pub scenario: Vec<String>,
    /// Number of seeds, in place of the tier's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "seed")]
    pub seeds: Option<u64>,
    /// Exactly this seed
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// Folder that sessions are written to [default: ./test-sessions of the workspace]
    #[arg(long, value_name = "DIR")]
    pub session_root: Option<PathBuf>,
    /// Unfilled regions fail instead of being passed over
    #[arg(long)]
    pub strict: bool,
    /// Run scenarios without budgets; each is capped at PASS-smoke
    #[arg(long)]
    pub allow_missing_budgets: bool,
    /// Argument for every node of the system under test; may be repeated
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub sut_arg: Vec<String>,
    /// Build with optimizations
    #[arg(long)]
    pub release: bool,
}

/// Arguments of `help`.
#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// A verb, or `exit-codes`
    #[arg(value_name = "TOPIC")]
    pub topic: Option<String>,
}

fn tier(text: &str) -> Result<Tier, String> {
    Tier::parse(text).ok_or_else(|| "the tiers are smoke, hardening and release".to_owned())
}

/// Cargo passes the name of the subcommand as first argument; a direct call need not.
pub(crate) fn normalise(mut arguments: Vec<std::ffi::OsString>) -> Vec<std::ffi::OsString> {
    if arguments.get(1).is_none_or(|first| first != "disttest") {
        arguments.insert(arguments.len().min(1), "disttest".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cargo::command().debug_assert();
    }

    #[test]
    fn a_direct_call_works_like_one_by_cargo() {
        let check = |given: &[&str]| {
            let given = normalise(given.iter().map(Into::into).collect());
            assert_eq!(given, ["cargo-disttest", "disttest", "plan"]);
        };
        check(&["cargo-disttest", "disttest", "plan"]);
        check(&["cargo-disttest", "plan"]);
    }
}
