//! What the environment asks of a run, read once and checked before anything starts.

use crate::plan::Tier;
use crate::verdict::Harness;
use std::path::PathBuf;

/// The `DISTTEST_*` variables of a run (keys and roots of sessions are read by the session module).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// `DISTTEST_TIER`.
    pub(crate) tier: Tier,
    /// `DISTTEST_SEED` or `DISTTEST_SEEDS`.
    pub(crate) seeds: SeedChoice,
    /// `DISTTEST_STRICT`, else whether this is CI: unfilled scenarios fail in place of being ignored.
    pub(crate) strict: bool,
    /// Running under nextest, which shows a scenario that ignores itself at run time as a PASS.
    pub(crate) nextest_attempt: Option<String>,
    /// `DISTTEST_SESSION_ROOT`.
    pub(crate) session_root: Option<String>,
    /// `DISTTEST_EPHEMERAL_OF`: this test stands in an ephemeral package, and the package under test is in this folder.
    pub(crate) ephemeral_of: Option<PathBuf>,
    /// `DISTTEST_SUT_ARGS`, split at white space.
    pub(crate) sut_args: Vec<String>,
    /// `DISTTEST_ALLOW_MISSING_BUDGETS`.
    pub(crate) allow_missing_budgets: bool,
    /// `DISTTEST_DEADLINE`, in seconds for one execution; otherwise it follows from the budget.
    pub(crate) deadline: Option<u64>,
}

/// Which seeds to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeedChoice {
    /// As many as the tier's budget asks for.
    Budget,
    /// So many.
    Count(u64),
    /// Exactly this one.
    Exactly(u64),
}

impl Options {
    /// Where the tests of this process stand.
    pub(crate) fn harness(&self) -> Harness {
        if self.ephemeral_of.is_some() { Harness::Ephemeral } else { Harness::Repository }
    }

    /// Reads the variables through `var`. The error is for the person who set one.
    pub(crate) fn read(var: impl Fn(&str) -> Option<String>) -> Result<Options, String> {
        let given = |name: &str| var(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let number = |name: &str| given(name).map(|text| parse_number(name, &text)).transpose();
        let tier = match given("DISTTEST_TIER") {
            None => Tier::Smoke,
            Some(text) => {
                Tier::parse(&text).ok_or(format!("DISTTEST_TIER={text}: write smoke, hardening or release"))?
            }
        };
        let seeds = match (number("DISTTEST_SEED")?, number("DISTTEST_SEEDS")?) {
            (Some(seed), _) => SeedChoice::Exactly(seed),
            (None, Some(0)) => return Err("DISTTEST_SEEDS=0 would run nothing".to_owned()),
            (None, Some(count)) => SeedChoice::Count(count),
            (None, None) => SeedChoice::Budget,
        };
        Ok(Options {
            tier,
            seeds,
            strict: var("DISTTEST_STRICT").filter(|v| !v.is_empty()).or_else(|| var("CI")).is_some_and(|v| is_true(&v)),
            nextest_attempt: given("NEXTEST_ATTEMPT_ID"),
            session_root: given("DISTTEST_SESSION_ROOT"),
            ephemeral_of: given("DISTTEST_EPHEMERAL_OF").map(PathBuf::from),
            sut_args: given("DISTTEST_SUT_ARGS").map(words).unwrap_or_default(),
            allow_missing_budgets: given("DISTTEST_ALLOW_MISSING_BUDGETS").is_some_and(|value| is_true(&value)),
            deadline: number("DISTTEST_DEADLINE")?,
        })
    }
}

fn is_true(value: &str) -> bool {
    !matches!(value.trim().to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}

fn words(text: String) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn parse_number(name: &str, text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("{name}={text} is not a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Result<Options, String> {
        Options::read(|name| vars.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn strict_is_the_default_in_ci_and_an_explicit_choice_wins() {
        let check = |vars: &[(&str, &str)], expect| assert_eq!(read(vars).map(|o| o.strict), Ok(expect), "{vars:?}");
        check(&[], false);
        check(&[("CI", "true")], true);
        check(&[("CI", "false")], false);
        check(&[("CI", "true"), ("DISTTEST_STRICT", "0")], false);
        check(&[("CI", "true"), ("DISTTEST_STRICT", "")], true);
        check(&[("DISTTEST_STRICT", "1")], true);
    }

    #[test]
    fn a_value_that_cannot_be_meant_is_refused() {
        let check = |vars: &[(&str, &str)], expect: Result<SeedChoice, ()>| {
            assert_eq!(read(vars).map(|o| o.seeds).map_err(drop), expect, "{vars:?}");
        };
        check(&[], Ok(SeedChoice::Budget));
        check(&[("DISTTEST_SEEDS", "3")], Ok(SeedChoice::Count(3)));
        check(&[("DISTTEST_SEEDS", "3"), ("DISTTEST_SEED", "0x1f")], Ok(SeedChoice::Exactly(31)));
        check(&[("DISTTEST_SEEDS", "0")], Err(()));
        check(&[("DISTTEST_SEED", "seven")], Err(()));
        check(&[("DISTTEST_TIER", "hard")], Err(()));
    }
}
