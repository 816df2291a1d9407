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

    /// The scenarios with these ids, in plan order; all of them when none is named.
    ///
    /// # Errors
    /// An id that the plan does not have.
    pub(crate) fn select(&self, ids: &[String]) -> Result<Vec<&Scenario>, Failure> {
        let known = || self.plan.scenarios.iter().map(|s| s.id.value.to_string()).collect::<Vec<_>>().join(", ");
        let mut wanted = Vec::new();
        for text in ids {
            let id = plan::Id::parse(text).filter(|id| self.plan.scenario(id).is_some());
            let id = id.ok_or_else(|| {
                let message = format!("{} has no scenario `{text}`; it has {}", self.shown, known());
                Failure::new(End::WrongUsage, message)
            })?;
            wanted.push(id);
        }
        let all = self.plan.scenarios.iter();
        Ok(all.filter(|scenario| ids.is_empty() || wanted.contains(&scenario.id.value)).collect())
    }
}
