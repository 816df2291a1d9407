//! The level that each rule is told at: by the rule itself, by `.config/disttest.toml`, by flags.

use super::told::{By, Untold};
use crate::cli::PlanArgs;
use crate::config::Config;
use crate::exit_code::{End, Failure};
use disttest_runtime::base::diagnostic::{Diagnostic, Severity};
use disttest_runtime::base::nearest::nearest;
use disttest_runtime::plan::{RULES, may_be_suppressed, rule};
use std::collections::BTreeMap;

/// What becomes of the findings of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// They are not told.
    Allow,
    /// They are warnings.
    Warn,
    /// They are errors.
    Deny,
}

impl Level {
    /// All, as they are written.
    pub(crate) const ALL: [(&str, Level); 3] = [("allow", Level::Allow), ("warn", Level::Warn), ("deny", Level::Deny)];

    /// The level of this name.
    pub(crate) fn parse(text: &str) -> Option<Level> {
        Level::ALL.iter().find(|(name, _)| *name == text).map(|(_, level)| *level)
    }
}

/// A level, and who gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The level.
    pub level: Level,
    /// `.config/disttest.toml:3`, `--allow`.
    pub by: String,
}

/// Why a rule may not have a level; `None` when it may.
pub(crate) fn refusal(rule: &str, level: Level) -> Option<String> {
    let lowered = level < Level::Deny && !may_be_suppressed(rule);
    lowered.then(|| format!("`{rule}` stays an error: a run relies on it"))
}

/// What somebody who wrote `name` for a rule probably meant.
pub(crate) fn near_rule(name: &str) -> Option<&'static str> {
    nearest(name, RULES.iter().map(|rule| rule.name))
}

/// What to write in place of a rule's `name` that does not exist.
pub(crate) fn where_rules_are(name: &str) -> String {
    let near = near_rule(name).map(|near| format!("did you mean `{near}`? "));
    format!("{}`cargo disttest catalog rules` lists them all", near.unwrap_or_default())
}

/// The levels in force for a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    of: BTreeMap<String, Setting>,
    deny_warnings: bool,
}

impl Levels {
    /// Those of the command line alone.
    ///
    /// # Errors
    /// A rule that there is none of, that has two levels, or that cannot have the level.
    pub(crate) fn of_flags(args: &PlanArgs) -> Result<Levels, Failure> {
        let mut levels = Levels::default();
        let flags = [("--allow", Level::Allow, &args.allow), ("--warn", Level::Warn, &args.warn)];
        for (flag, level, name) in flags
            .into_iter()
            .chain([("--deny", Level::Deny, &args.deny)])
            .flat_map(|(flag, level, names)| names.iter().map(move |name| (flag, level, name)))
        {
            if level == Level::Deny && name == "warnings" {
                levels.deny_warnings = true;
                continue;
            }
            levels.by_flag(flag, level, name)?;
        }
        Ok(levels)
    }

    fn by_flag(&mut self, flag: &str, level: Level, name: &str) -> Result<(), Failure> {
        let wrong = |message: String| Err(Failure::new(End::WrongUsage, message));
        if rule(name).is_none() {
            return wrong(format!("{flag} {name}: there is no rule `{name}`; {}", where_rules_are(name)));
        }
        if let Some(why) = refusal(name, level) {
            return wrong(format!("{flag} {name}: {why}"));
        }
        let setting = Setting { level, by: flag.to_owned() };
        match self.of.insert(name.to_owned(), setting) {
            Some(other) if other.level != level => wrong(format!("`{name}` is given to both {} and {flag}", other.by)),
            _ => Ok(()),
        }
    }

    /// The same with those of a configuration file, which flags outrank.
    pub(crate) fn over(&self, config: Option<&Config>) -> Levels {
        let mut of = config.map(|config| config.lint.clone()).unwrap_or_default();
        of.extend(self.of.clone());
        Levels { of, deny_warnings: self.deny_warnings }
    }

    /// `diagnostics` at their levels; second, those that are allowed.
    pub(crate) fn apply(&self, diagnostics: Vec<Diagnostic>) -> (Vec<Diagnostic>, Vec<Untold>) {
        let (mut kept, mut untold) = (Vec::new(), Vec::new());
        for mut diagnostic in diagnostics {
            // Whoever made these levels, what a run relies on stays what it is.
            let setting = self.of.get(&diagnostic.rule).filter(|s| refusal(&diagnostic.rule, s.level).is_none());
            match setting.map(|setting| setting.level) {
                None => {}
                Some(Level::Warn) => diagnostic.severity = Severity::Warning,
                Some(Level::Deny) => diagnostic.severity = Severity::Error,
                Some(Level::Allow) => {
                    let by = By::Setting(setting.map(|setting| setting.by.clone()).unwrap_or_default());
                    let reason = "allowed by configuration".to_owned();
                    untold.push(Untold { diagnostic, reason, by });
                    continue;
                }
            }
            if self.deny_warnings && diagnostic.severity == Severity::Warning {
                diagnostic.severity = Severity::Error;
            }
            kept.push(diagnostic);
        }
        (kept, untold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(allow: &[&str], warn: &[&str], deny: &[&str]) -> PlanArgs {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        PlanArgs { allow: owned(allow), warn: owned(warn), deny: owned(deny), ..PlanArgs::default() }
    }

    fn found(rule: &str, severity: Severity) -> Diagnostic {
        Diagnostic { rule: rule.to_owned(), severity, ..Diagnostic::default() }
    }

    fn config(settings: &[(&str, Level)]) -> Config {
        let lint = settings.iter().map(|(rule, level)| {
            ((*rule).to_owned(), Setting { level: *level, by: ".config/disttest.toml:1".to_owned() })
        });
        Config { lint: lint.collect(), ..Config::default() }
    }

    #[test]
    fn flags_outrank_the_configuration_which_outranks_the_rule() {
        let check = |args: &PlanArgs, settings: &[(&str, Level)], expect: Option<Severity>| {
            let levels = Levels::of_flags(args).expect("they are right").over(Some(&config(settings)));
            let (kept, untold) = levels.apply(vec![found("missing-header", Warning)]);
            assert_eq!(kept.first().map(|d| d.severity), expect, "{args:?} {settings:?}");
            assert_eq!(kept.len() + untold.len(), 1);
        };
        use Severity::{Error, Warning};
        let rule: &[&str] = &["missing-header"];
        check(&args(&[], &[], &[]), &[], Some(Warning));
        check(&args(&[], &[], &[]), &[("missing-header", Level::Deny)], Some(Error));
        check(&args(&[], &[], &[]), &[("missing-header", Level::Allow)], None);
        check(&args(&[], rule, &[]), &[("missing-header", Level::Allow)], Some(Warning));
        check(&args(rule, &[], &[]), &[("missing-header", Level::Deny)], None);
        check(&args(&[], &[], rule), &[], Some(Error));
        check(&args(&[], &[], &["warnings"]), &[], Some(Error));
        check(&args(&[], rule, &["warnings"]), &[], Some(Error));
        check(&args(rule, &[], &["warnings"]), &[], None);
        check(&args(rule, &[], &["sut-model-bullet"]), &[], None);
    }

    #[test]
    fn a_flag_that_can_have_no_effect_is_wrong_usage() {
        let check = |args: PlanArgs, expect: &str| {
            let failure = Levels::of_flags(&args).expect_err("it is wrong");
            assert_eq!(failure.end, End::WrongUsage);
            assert!(failure.message.contains(expect), "{}", failure.message);
        };
        check(args(&["missing-headr"], &[], &[]), "did you mean `missing-header`?");
        check(args(&["warnings"], &[], &[]), "there is no rule `warnings`");
        assert_eq!(near_rule("nosuchrule"), None, "a name that is like none is not explained by one");
        check(args(&[], &[], &["nonsense"]), "`cargo disttest catalog rules` lists them all");
        check(args(&["missing-oracle"], &[], &[]), "`missing-oracle` stays an error");
        check(args(&[], &["undefined-id"], &[]), "`undefined-id` stays an error");
        check(args(&["bad-name", "missing-header"], &[], &[]), "there is no rule `bad-name`");
        check(args(&["missing-header"], &[], &["missing-header"]), "given to both --allow and --deny");
        assert!(Levels::of_flags(&args(&["missing-header", "missing-header"], &[], &["missing-oracle"])).is_ok());
    }

    #[test]
    fn what_a_run_relies_on_stays_an_error_whoever_made_the_levels() {
        let settings: Vec<(&str, Level)> = RULES.iter().map(|rule| (rule.name, Level::Allow)).collect();
        let levels = Levels::default().over(Some(&config(&settings)));
        let all = RULES.iter().map(|rule| found(rule.name, rule.severity)).collect();
        let (kept, _) = levels.apply(all);
        assert!(kept.iter().all(|d| !may_be_suppressed(&d.rule) && d.severity == Severity::Error));
        assert_eq!(kept.len(), RULES.iter().filter(|rule| !may_be_suppressed(rule.name)).count());
    }
}
