//! Starting one scenario's executable, as `cargo test` would.

use super::interrupt::Interruptible;
use disttest_runtime::plan::Tier;
use disttest_runtime::verdict::Harness;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// What the harness is told by its environment.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// Tier to reach.
    pub tier: Tier,
    /// Exactly this seed.
    pub seed: Option<u64>,
    /// This many seeds.
    pub seeds: Option<u64>,
    /// Unfilled regions fail.
    pub strict: bool,
    /// Scenarios without budgets run, capped.
    pub allow_missing_budgets: bool,
    /// Arguments of every node.
    pub sut_args: Vec<String>,
    /// The package under test, when the test stands in an ephemeral package.
    pub ephemeral_of: Option<PathBuf>,
    /// The session's folder, absolute.
    pub session: OsString,
    /// The folder of sessions, absolute.
    pub session_root: OsString,
}

impl Order {
    /// Where the test stands that this order is for.
    pub(crate) fn harness(&self) -> Harness {
        if self.ephemeral_of.is_some() { Harness::Ephemeral } else { Harness::Repository }
    }

    /// The environment that carries it.
    pub(crate) fn variables(&self) -> Vec<(&'static str, OsString)> {
        let flag = |name, on: bool| on.then(|| (name, OsString::from("1")));
        let number = |name, value: Option<u64>| value.map(|value| (name, OsString::from(value.to_string())));
        let args = (!self.sut_args.is_empty()).then(|| ("DISTTEST_SUT_ARGS", self.sut_args.join(" ").into()));
        [
            Some(("DISTTEST_TIER", self.tier.as_str().into())),
            Some(("DISTTEST_SESSION", self.session.clone())),
            Some(("DISTTEST_SESSION_ROOT", self.session_root.clone())),
            number("DISTTEST_SEED", self.seed),
            number("DISTTEST_SEEDS", self.seeds),
            flag("DISTTEST_STRICT", self.strict),
            flag("DISTTEST_ALLOW_MISSING_BUDGETS", self.allow_missing_budgets),
            args,
            self.ephemeral_of.as_ref().map(|folder| ("DISTTEST_EPHEMERAL_OF", folder.into())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn command(&self, executable: &Path, package: &Path) -> Command {
        let mut command = Command::new(executable);
        // What an outer test run or a forgotten export says must not shorten this run.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            // The deadline is the one setting without a flag; a short one makes no run look better.
            let ours = text.starts_with("DISTTEST_") && text != "DISTTEST_DEADLINE";
            if ours || text == "NEXTEST" || text.starts_with("NEXTEST_") {
                command.env_remove(&name);
            }
        }
        // It ends with this process: what it finds then nobody reads.
        command.env("DISTTEST_RUNNER", std::process::id().to_string());
        command.envs(self.variables()).current_dir(package).stdin(Stdio::null());
        command.env("CARGO_MANIFEST_DIR", package);
        command
    }
}

/// The name of the test that is `function`.
///
/// # Errors
/// The executable lists no such test, several, or cannot list.
pub(crate) fn find(order: &Order, executable: &Path, package: &Path, function: &str) -> Result<String, String> {
    let output = order
        .command(executable, package)
        .args(["--list", "--format", "terse"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("its executable cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("its executable cannot list its tests ({})", output.status));
    }
    pick(&String::from_utf8_lossy(&output.stdout), function)
}

fn pick(list: &str, function: &str) -> Result<String, String> {
    let names = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let found: Vec<&str> = names.filter(|name| name.rsplit("::").next() == Some(function)).collect();
    match found.as_slice() {
        [name] => Ok((*name).to_owned()),
        [] => Err(format!("its executable has no test `{function}`: is it another scenario's file?")),
        several => Err(format!("its executable has several tests `{function}`: {}", several.join(", "))),
    }
}

/// Runs the test `name` to its end. Its stdout goes to ours, or to stderr when ours is for programs.
///
/// # Errors
/// It cannot be started.
pub(crate) fn run(
    interruptible: &mut Interruptible,
    order: &Order,
    executable: &Path,
    package: &Path,
    name: &str,
    quiet: bool,
) -> Result<ExitStatus, String> {
    let mut command = order.command(executable, package);
    command.args(["--exact", name, "--nocapture", "--include-ignored"]);
    if quiet {
        command.stdout(Stdio::from(std::io::stderr()));
    }
    interruptible.run(command).map_err(|error| format!("its executable cannot be started: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_found_by_its_function() {
        let check = |list: &str, expect: Option<&str>| assert_eq!(pick(list, "f").ok().as_deref(), expect, "{list}");
        check("f: test\ng: test\n", Some("f"));
        check("a::f: test\n", Some("a::f"));
        check("ff: test\nf::g: test\nf: benchmark\n", None);
        check("a::f: test\nb::f: test\n", None);
        check("", None);
    }

    #[test]
    fn an_order_says_only_what_was_asked() {
        let mut order = Order {
            tier: Tier::Hardening,
            seed: None,
            seeds: None,
            strict: false,
            allow_missing_budgets: false,
            sut_args: Vec::new(),
            ephemeral_of: None,
            session: "/s/p/t".into(),
            session_root: "/s".into(),
        };
        let names = |order: &Order| order.variables().into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(&order), "DISTTEST_TIER DISTTEST_SESSION DISTTEST_SESSION_ROOT");
        order.seed = Some(7);
        order.strict = true;
        order.sut_args = vec!["--bug".into(), "lost".into()];
        assert!(order.variables().contains(&("DISTTEST_SUT_ARGS", "--bug lost".into())));
        assert!(names(&order).ends_with("DISTTEST_SEED DISTTEST_STRICT DISTTEST_SUT_ARGS"));
    }
}
