//! The command line as typed.

use crate::check::FailSemantics;
use crate::check::parameters::Parameters;
use crate::console::{Color, Verbosity};
use crate::import::InputFormat;
use crate::reference::Kind;
use crate::views::graph::Drawing;
use clap::{Args, Parser, Subcommand, ValueEnum};
use disttest_runtime::plan::Tier;
use std::path::PathBuf;
use std::time::Duration;

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
  cargo disttest new no-lost-acks-under-failover
  cargo disttest plan docs/testing-plans/my-plan.md
  cargo disttest author docs/testing-plans/my-plan.md
  cargo disttest todo docs/testing-plans/my-plan.md
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
    /// Writes a plan from the template, with what the repository shows filled in
    New(NewArgs),
    /// Reads and lints plans; without an argument, all plans of the workspace
    Plan(PlanArgs),
    /// Writes the test files of a plan
    Author(AuthorArgs),
    /// Lists what is still to be filled in test files, with code to start from
    Todo(TodoArgs),
    /// Runs the scenarios of a plan in plan order and says what they prove
    Run(RunArgs),
    /// Undoes what killed runs left behind: processes, disks, control groups
    Heal(HealArgs),
    /// Tells what a plan needs of the machine and whether it is there; installs nothing
    Probe(ProbeArgs),
    /// Draws a session as one page for a browser
    Report(ReportArgs),
    /// Says whether a session's verdicts follow from its files, on any machine
    Verify(VerifyArgs),
    /// Judges recorded histories against a model
    Check(Box<CheckArgs>),
    /// Lists what the runtime and the format offer: models, checkers, nemeses, probes, rules, verdicts, anomalies
    Catalog(CatalogArgs),
    /// Prints the page of a rule, verdict, checker, model, nemesis, probe or anomaly
    Explain(ExplainArgs),
    /// Prints the completion script of a shell
    Completions(CompletionsArgs),
    /// Prints the manual page of a verb, or writes all of them
    Man(ManArgs),
    /// Prints the help of a verb or a topic (exit-codes)
    Help(HelpArgs),
}

/// Arguments of `new`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest new no-lost-acks-under-failover
  cargo disttest new durable-replicated-log --mode project --sut \"the log service\"

The plan goes to docs/testing-plans/SLUG.md of the workspace (outside of a workspace and a git
repository: ./testing-plans/SLUG.md). Crates, existing tests, the change and the tools that it
seems to need are filled in; {{placeholders}} are left where a person must write. Nothing else is
written, and no program is run but git, cargo and rustc, and tools for their --version.

A change that touches documentation or comments only needs no plan: none is written, exit 1. A plan
that is there already is told first.

--format json: one document, schema disttest.new/1: slug, mode, path, written, reason (why not),
backup, diff, placeholders[] (line, text), facts (crates[], harnesses, tools[] (name, because,
present, version), commit, branch, compared_with, files_touched, language), next.

Exit status: 0 written, 1 not written (the file exists, or the change needs no plan), 2 wrong
usage, or the file cannot be written.")]
pub(crate) struct NewArgs {
    /// Name of the plan in kebab-case, after the promise it is about
    #[arg(value_name = "SLUG")]
    pub slug: String,
    /// A plan for one change, or for the whole project
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    pub mode: NewMode,
    /// Name of the system under test [default: from Cargo.toml]
    #[arg(long, value_name = "NAME")]
    pub sut: Option<String>,
    /// Where the plan goes: a file, or an existing folder
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Write even if the change needs no plan, or the file exists: the diff is shown and the old
    /// text is kept beside it as SLUG.md.bak
    #[arg(long)]
    pub force: bool,
}

/// What a plan is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewMode {
    /// One change: what differs from the main branch
    #[default]
    Change,
    /// The whole project
    Project,
}

/// Arguments of `todo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest todo
  cargo disttest todo docs/testing-plans/my-plan.md --scenario S3 --format json

Each region that nobody has filled, with its file and lines, what the plan says of it, a test
nearby to imitate, what the runtime offers for it, code that compiles when it is pasted there, and
the command that checks it. Fields of the attribute that the plan's prose does not yield, and
scenarios whose file is not written yet, are listed too.

--format json: one document, schema disttest.todo/1: plans[], counts (items, filled, not_authored,
drifted), items[] (plan, scenario, name, kind (region or field), region, file, lines (first and
last to be replaced, between the markers; last = first - 1 when there is none), helpers_before
(line), package, prose, claims[], hypotheses[], sibling (path, lines, why), fill (code, helpers[]
by name), helpers[] (name, code), note, offers[] (kind, name, planned, available, snippet, note),
drift, commands (check, test)), not_authored[] (plan, scenario, name, file, why, command),
filled[] (plan, scenario, file, drift, command), lacking[] (plan, file, scenario, region, line,
checker, code, message: a checker of the plan that a filled oracle does not make), next.

To paste: `fill.code` in place of `lines`; and of `helpers[]` the code of the names in
`fill.helpers`, and of no others, before the line `helpers_before`, each name once a file. The
other helpers belong to the snippets of `offers`. Line numbers are those of the file as it was
listed: paste from its end to its beginning.

Exit status: 0 listed, whether or not anything is to do; 2 a plan cannot be read.
`cargo disttest author PLAN --check` says by its exit status whether something is left.")]
pub(crate) struct TodoArgs {
    /// Plan file; none: every docs/testing-plans/*.md of the workspace
    #[arg(value_name = "PLAN")]
    pub plan: Option<PathBuf>,
    /// Only these scenarios
    #[arg(long, value_name = "ID", requires = "plan")]
    pub scenario: Vec<String>,
}

/// Arguments of `plan`.
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  cargo disttest plan docs/testing-plans/my-plan.md
  cargo disttest plan --fix --dry-run
  cargo disttest plan --deny warnings --format github
  cargo disttest plan docs/testing-plans/my-plan.md --graph=dot | dot -Tsvg > plan.svg

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
    /// Draw claims → hypotheses → scenarios instead: mermaid, dot, or both
    #[arg(long, value_enum, value_name = "DRAWING", num_args = 0..=1, require_equals = true,
          default_missing_value = "both")]
    pub graph: Option<Drawing>,
}

/// Arguments of `author`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest author docs/testing-plans/my-plan.md --dry-run
  cargo disttest author docs/testing-plans/my-plan.md --check
  cargo disttest author docs/testing-plans/my-plan.md --review

Filled regions (between `disttest:begin` and `disttest:end`) are kept to the byte. A change of
the plan that does not touch a scenario leaves its file alone. New and changed files are staged
when the tree is a git repository, and never committed.

Skeletons in rust, go, python, typescript and shell are written; only Rust tests are run by
`cargo disttest run`. On a terminal, a file in the way is shown with its diff, and one key says
what becomes of it. `DIST_TEST_AUTHOR_MODE=1` makes `run` write the test files that are missing.

Exit status: 0 written or nothing to do, 1 refused, or --check found drift or unfilled regions,
2 a file cannot be read or written.")]
pub(crate) struct AuthorArgs {
    /// Plan file
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Show the diff and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write nothing; exit 1 on missing files, drift, edits outside of regions, or unfilled regions
    #[arg(long, conflicts_with_all = ["dry_run", "on_conflict", "review"])]
    pub check: bool,
    /// Look at every change on the terminal before it is written, file by file
    #[arg(long, conflicts_with = "dry_run")]
    pub review: bool,
    /// What to do with a file that was edited outside of its regions, or is not ours
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub on_conflict: OnConflict,
    /// Rewrite our lines in a file although git has no copy of what they are now
    #[arg(long)]
    pub allow_dirty: bool,
    /// Only these scenarios or arms (S5, S5/api)
    #[arg(long, value_name = "ID")]
    pub scenario: Vec<String>,
    /// Do not edit Cargo.toml; print the text to paste
    #[arg(long)]
    pub no_manifest: bool,
    /// Take regions that were filled in the ephemeral package DIR (of `run --harness`) into new files
    #[arg(long, value_name = "DIR")]
    pub from_harness: Option<PathBuf>,
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
    /// Write `<name>.new.<suffix>` beside it
    Sibling,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest run docs/testing-plans/my-plan.md
  cargo disttest run docs/testing-plans/my-plan.md --tier hardening --release
  cargo disttest run docs/testing-plans/my-plan.md --scenario S3 --seed 7

Scenarios without a test in the repository are run from an ephemeral package in the session, and
nothing is written into the repository: they are NOT-RUN until somebody fills their regions, with
`author` in the repository or with --harness DIR elsewhere. With DIST_TEST_AUTHOR_MODE=1 `run`
writes them to their places first, as `author` does.

Every verdict is derived again from the files that the tests left (records, histories, samples of
faults, logs), from the plan, and from what was asked for. A claim that its evidence does not come to
is NOT-RUN with both verdicts named; a violation in it stands. The reports are built from the same
files. What cannot be told: a program that makes up all files of a run so that they agree, another
crate in the place of disttest-runtime, a checker of your own that calls everything valid. Read the
tests and Cargo.toml before you trust a PASS.

The last line is the SHA-256 of the session's MANIFEST.sha256: keep it where nobody can edit it.

While no scenario could run, since each has an empty region, nothing is compiled.

A scenario without a release budget is run with its hardening budget at --tier release, and the tier
is not met: it is said before the run.

Exit status: 0 every scenario is ok for the tier, 1 a violation, a PASS below the tier, or a file in
the way of DIST_TEST_AUTHOR_MODE, 2 wrong usage, or a file that cannot be read or written, 3 nothing
could be concluded of some scenario, 4 a scenario did not run, or the plan lacks an oracle or budgets,
70 a bug in cargo-disttest. Of several, the first of 1, 3, 4 stands.")]
pub(crate) struct RunArgs {
    /// Plan file
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Tier to reach: smoke, hardening or release
    #[arg(long, value_parser = tier, default_value = "smoke", value_name = "TIER")]
    pub tier: Tier,
    /// Only these scenarios or arms (S5, S5/api)
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
    /// Folder of an ephemeral package to work on, for scenarios without a test in the repository: made when there is
    /// none, its filled regions kept. Without it, each run makes a new one in its session
    #[arg(long, value_name = "DIR")]
    pub harness: Option<PathBuf>,
    /// Bring tests of --harness up to date that were filled for an earlier text of the plan
    #[arg(long, requires = "harness")]
    pub refresh_harness: bool,
    /// Pass DISTTEST_STRICT=1 to the tests. With or without it, an unfilled region is NOT-RUN here and ends with exit 4.
    /// It matters to `cargo test`, which ignores such tests and exits 0: with DISTTEST_STRICT=1, the default where CI is
    /// set, they are FAILED
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
    /// What the operator knows and decides of the plan's §6b, as `probe --save` writes it
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
}

/// Arguments of `heal`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest heal
  cargo disttest heal --dry-run
  cargo disttest heal --session test-sessions/my-plan/20261130T192154Z --format json

A run that ends undoes what it did, however it ends. Of one that was killed with SIGKILL the kernel
ends most at once: its nodes, and its networks, which have no names and end with their processes. The
supervisor undoes the rest when its child was killed, and the next run of the plan when both were.
`heal` does the same without a run, for every session of the workspace, those that it keeps elsewhere
included: what the journals of the runs name and what is still there, one line each, the latest first
(processes, then disks, then control groups).

A run whose supervisor lives is left alone: the journal names it by process id and start time, and a
process that has this id since then is it. One whose supervisor was killed and that lives itself was
told to end; it has 10 s for that.

Only what is the run's own is touched: processes by id and start time, and those that inherited
DISTTEST_RUN_DIR from it or write to the log of one of its nodes; disks by the name of the mount,
control groups by theirs. Nothing is done to a network of the host, as no run does anything to one.
What was done in an earlier boot, or where process ids are others (a container), is left alone.

--format json: one document, schema disttest.heal/1: dry_run, sessions, runs[] (folder, state: running,
ending, elsewhere or ended, pid, left[] (kind: process, disk or group; whose, pid, start_time and paused,
or node and at; undone, error, by_hand)), unreadable[] (journals, or lines of them).

Exit status: 0 nothing is left, 1 something is left (it could not be undone, and the command to do it
by hand is told; or --dry-run) or a journal cannot be read (all others are healed), 2 wrong usage.")]
pub(crate) struct HealArgs {
    /// Only tell what would be undone
    #[arg(long)]
    pub dry_run: bool,
    /// Only the session in this folder; may be repeated
    #[arg(long, value_name = "DIR", conflicts_with = "session_root")]
    pub session: Vec<PathBuf>,
    /// All sessions of this folder [default: DISTTEST_SESSION_ROOT, else ./test-sessions of the workspace]
    #[arg(long, value_name = "DIR")]
    pub session_root: Option<PathBuf>,
}

/// Arguments of `probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest probe docs/testing-plans/my-plan.md --save answers.toml
  cargo disttest probe docs/testing-plans/my-plan.md --answers answers.toml --format json

On a terminal it lists the needs and asks what is there and what not to look for before it looks. It
starts known programs with their version flag and reads /proc and /sys; nothing else.

An answers file is TOML, a table for each requirement:
  [\"etcd\"]
  present = true          # or false; without it the machine is looked at
  version = \"3.5.9\"
  skip = false            # true: do not look for it
  missing = \"wait\"      # or \"proceed\"; or substitute = \"what stands in for it\"

Exit status: 0 everything is there, 1 something is missing or too old, 2 a file cannot be read, 3 of
something nobody can tell whether it is there, or §6b cannot be read.")]
pub(crate) struct ProbeArgs {
    /// Plan file
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// What the operator knows and decides; nobody is asked
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Write the answers to this file, for `run --answers`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest report test-sessions/my-plan/20261130T192154Z
  cargo disttest report session --output findings.html

`run` writes the page into its session (findings/report.html); this verb draws one of any session, such
as one of `cargo test`, beside it: a file in the session would not be in its manifest. The page has no
script and loads nothing. Verdicts are derived from the session's files.

--format json: one document, schema disttest.page/1: session, page, bytes.

Exit status: 0, or 2 for what is no session and for a page that cannot be written.")]
pub(crate) struct ReportArgs {
    /// Folder of the session
    #[arg(value_name = "SESSION")]
    pub session: PathBuf,
    /// The page [default: SESSION.html]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest verify test-sessions/my-plan/20261130T192154Z
  cargo disttest verify session --expect 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08

Reads the session and nothing else: no system under test, no repository, no test binary. Its files are
compared with MANIFEST.sha256; each record is derived again from the raw files beside it; each
checker judges each recorded history once more, and the damaged copies of it; reports and the
session's verdict must follow from the records. One line says of each scenario whether it stands.

A file that was altered is named. What was altered and made consistent again, manifest included, is
told by --expect alone: the hash that `run` printed last, kept where nobody can edit it. Who controls
the machine, the test binary and the log can lie.

An oracle that is code of its author cannot be asked again here: not re-derivable, never \"stands\". A
scenario that was under way when its run was cut off is told as unfinished: nothing is claimed of it,
and what had ended before it is verified as ever; the report and the log are of before and are not.

--format json: one document, schema disttest.verify/1: dir, slug, manifest_sha256, contradictions[],
unfinished[], scenarios[] (id, name, verdict, derived, standing (stands, unfinished,
not-rederivable, contradicted), executions, checks, reasons[]), verdict, standing, exit_status.

Exit status: 0 all of it stands, 1 something does not, 3 something could not be derived again, or the
run was cut off, 2 no session.")]
pub(crate) struct VerifyArgs {
    /// Folder of the session
    #[arg(value_name = "SESSION")]
    pub session: PathBuf,
    /// SHA-256 that MANIFEST.sha256 must have
    #[arg(long, value_name = "HASH", value_parser = sha256)]
    pub expect: Option<String>,
    /// Time for each check; one that is undecided then could not be derived again
    #[arg(long, value_name = "T", value_parser = crate::check::size::time, default_value = "5m")]
    pub timeout: Duration,
    /// Memory that a checker may say it holds
    #[arg(long, value_name = "M", value_parser = crate::check::size::bytes, default_value = "4G")]
    pub memory: u64,
}

/// A hash, or the whole line of it that `run` prints.
fn sha256(text: &str) -> Result<String, String> {
    let hash = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    let right = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    right
        .then_some(hash)
        .ok_or_else(|| "a SHA-256 is 64 hexadecimal digits: the last line that `run` printed".to_owned())
}

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest check history.jsonl --model register
  cargo disttest check history.edn.gz --model cas-register --per-key --html page.html
  zstdcat h.jsonl.zst | cargo disttest check - --model kv --format json

Histories: operations with the plan format's twelve names (an absent name is null), Jepsen's events
(type, f, value, process), either as JSON Lines or as a JSON array, and Jepsen's events as EDN; plain,
gzip or zstd. What is packed is told by its first bytes, the format by the first value. `[key value]`
in Jepsen's values is taken apart when every value is such a pair and the invocation of every read
is `[key nil]`, or with --per-key. Events without `time` stand in their order: what compares times
does not judge them.

Checkers: --model nothing lists the models, --checker nothing those that fit a model. What one needs
beyond the history is among the parameters below; a flag that no checker reads is an error, and so is
a checker that does not fit the model. Serializability holds at the level of --consistency-model
(strict-serializable unless told); at a level that holds real time the order of a session is part of
it, so that what would be a -process anomaly at a session's level is told as -realtime, as Elle does.

A history that cannot have happened (an operation twice, a completion without its invocation or
before it, lines that are cut off or in no order, an answer of an operation that timed out) is
refused with file:line. An empty history is unknown, and so is one in which everything timed out. One
that is not, and in which no operation could have contradicted the property (all failed, or only wrote), has it
by definition: valid, with nothing consumed and a warning, as it shows nothing of the system. Of what must be seen at the end (no-lost-ack,
set, exactly-once, …) and of transactions that do not depend on each other, that is unknown.

--format json: a document a line, schema disttest.check/1, for each file and checker: file, outcome
(valid, invalid or unknown), why, checker, model, per_key, ops, consumed, acknowledged, failed,
unknown, partitions, fired, anomalies[] (type, key, ops[], explanation), not[], also_not[], witness
(type, key, ops[] in full with their line, explanation), warnings[], missing[], cannot_detect[],
assumed[],
skipped, input_format, packing, elapsed_ms, read_ms, peak_bytes. Of a file that cannot be read:
error (line, column, text, message).

Exit status: 0 valid, 1 a violation, 3 unknown (time or memory ran out, or nothing was observed),
2 wrong usage or a file that cannot be read. Of several files the worst: 1, then 2, then 3.")]
pub(crate) struct CheckArgs {
    /// Files with histories; `-` is standard input
    #[arg(value_name = "HISTORY", required = true)]
    pub histories: Vec<PathBuf>,
    /// What the operations act on; an unknown name lists those that are known
    #[arg(long, value_name = "M")]
    pub model: String,
    /// What is checked [default: the first one that fits the model]
    #[arg(long, value_name = "C", value_delimiter = ',')]
    pub checker: Vec<String>,
    /// One object for each key [default: when operations have keys]
    #[arg(long, conflicts_with = "whole")]
    pub per_key: bool,
    /// One object for the whole history; `[key value]` is a value
    #[arg(long)]
    pub whole: bool,
    /// Consistency model that must hold, such as linearizable
    #[arg(long, value_name = "LEVEL")]
    pub consistency_model: Option<String>,
    /// Value before the first operation, as JSON
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    pub init: Option<String>,
    /// Time for reading and checking each file; what is undecided then is unknown
    #[arg(long, value_name = "T", value_parser = crate::check::size::time, default_value = "5m")]
    pub timeout: Duration,
    /// Memory of the process, such as 2G [default: four fifths of what is free]
    #[arg(long, value_name = "M", value_parser = crate::check::size::bytes)]
    pub memory: Option<u64>,
    /// Threads, at most; the answer does not depend on it [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Format of the histories
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub input_format: InputFormat,
    /// Write the answers to this file as a page for a browser, with a picture of each witness
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// What a failed cas says
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub fail_semantics: FailSemantics,
    /// rw-register: a transaction that writes a key it read installs the next version
    #[arg(long)]
    pub wfr_keys: bool,
    /// rw-register: each key is sequentially consistent
    #[arg(long)]
    pub sequential_keys: bool,
    /// rw-register: each key is linearizable
    #[arg(long)]
    pub linearizable_keys: bool,
    /// What checkers are told beyond the history
    #[command(flatten)]
    pub parameters: Parameters,
}

/// Arguments of `catalog`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo disttest catalog nemeses

Exit status: 0.")]
pub(crate) struct CatalogArgs {
    /// Only this kind
    #[arg(value_enum, value_name = "KIND")]
    pub kind: Option<Kind>,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo disttest explain vague-oracle
  cargo disttest explain PASS-smoke

Exit status: 0, 2 when nothing has that name.")]
pub(crate) struct ExplainArgs {
    /// Name, in any case, or an alias of it
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo disttest completions bash > ~/.local/share/bash-completion/completions/cargo-disttest

The script completes `cargo-disttest`.")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo disttest man author | man -l -
  cargo disttest man --output ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The verb; none: the program
    #[arg(value_name = "VERB", conflicts_with = "output")]
    pub verb: Option<String>,
    /// Write the pages of all verbs to this folder
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
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
