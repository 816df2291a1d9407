//! A plan read from disk.

use crate::exit_code::{End, Failure};
use disttest_runtime::base::diagnostic::{Diagnostic, Severity};
use disttest_runtime::base::digest::sha256_hex;
use disttest_runtime::plan::{self, Plan, Scenario};
use std::path::{Path, PathBuf};

/// A plan and all there is to say about it.
#[derive(Debug)]
pub(crate) struct PlanFile {
    /// As it was named.
    pub shown: String,
    /// Canonical.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// What it says.
    pub plan: Plan,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

impl PlanFile {
    /// Reads, parses and lints the plan at `path`.
    ///
    /// # Errors
    /// A file that cannot be read, or is no plan.
    pub(crate) fn load(path: &Path) -> Result<PlanFile, Failure> {
        let shown = path.display().to_string();
        let unreadable = |why: String| Failure::new(End::Unreadable, format!("{shown}: {why}"));
        let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        let canonical = path.canonicalize().map_err(|error| unreadable(error.to_string()))?;
        let sha256 = sha256_hex(&bytes);
        let text = String::from_utf8(bytes).map_err(|_| unreadable("it is no UTF-8 text".to_owned()))?;
        let (plan, diagnostics) = plan::check(&text);
        if !plan::is_a_plan(&plan) {
            return Err(unreadable(
                "it is no test plan: there is no `# Test Plan: <slug>` and no section of one".to_owned(),
            ));
        }
        Ok(PlanFile { shown, path: canonical, text, sha256, plan, diagnostics })
    }

    /// True when a rule of the format is broken.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The scenarios with these ids, in plan order; all of them when none is named. The id of an arm stands for its
    /// scenario here; [`PlanFile::asks_for`] tells which of its arms are meant.
    ///
    /// # Errors
    /// An id that the plan does not have.
    pub(crate) fn select(&self, ids: &[String]) -> Result<Vec<&Scenario>, Failure> {
        let all = || self.plan.scenarios.iter();
        let known = || all().flat_map(|s| [vec![s.id.value.clone()], s.arm_ids()].concat());
        for text in ids {
            if !known().any(|id| plan::Id::parse(text) == Some(id)) {
                let known: Vec<String> = known().map(|id| id.to_string()).collect();
                let message = format!("{} has no scenario `{text}`; it has {}", self.shown, known.join(", "));
                return Err(Failure::new(End::WrongUsage, message));
            }
        }
        let part = |scenario: &Scenario, id: &plan::Id| id.number() == scenario.id.value.number();
        let asked = |scenario: &&Scenario| {
            ids.is_empty() || ids.iter().filter_map(|text| plan::Id::parse(text)).any(|id| part(scenario, &id))
        };
        Ok(all().filter(asked).collect())
    }

    /// True when `ids` name this scenario or arm, or the scenario of this arm, or nothing at all.
    pub(crate) fn asks_for(&self, ids: &[String], id: &plan::Id) -> bool {
        let named: Vec<plan::Id> = ids.iter().filter_map(|text| plan::Id::parse(text)).collect();
        let whole = |named: &plan::Id| named.arm().is_none() && named.number() == id.number();
        named.is_empty() || named.iter().any(|named| named == id || whole(named))
    }
}
