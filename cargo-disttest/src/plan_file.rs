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
    /// A file that cannot be read, or is no plan: one sentence that names it.
    pub(crate) fn load(path: &Path) -> Result<PlanFile, Failure> {
        let shown = path.display().to_string();
        let text = read(path).map_err(|why| Failure::new(End::Unreadable, format!("{shown}: {why}")))?;
        let canonical = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        PlanFile::of_text(shown, canonical, text)
    }

    /// The plan that `text`, read from `path`, is.
    ///
    /// # Errors
    /// A text that is no plan.
    pub(crate) fn of_text(shown: String, path: PathBuf, text: String) -> Result<PlanFile, Failure> {
        let (plan, diagnostics) = plan::check(&text);
        if !plan::is_a_plan(&plan) {
            let why = "it is no test plan: there is no `# Test Plan: <slug>` and no section of one";
            return Err(Failure::new(End::Unreadable, format!("{shown}: {why}")));
        }
        let sha256 = sha256_hex(text.as_bytes());
        Ok(PlanFile { shown, path, text, sha256, plan, diagnostics })
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
                let known: Vec<String> = known().map(|id| id.written()).collect();
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

    /// The id of a scenario or arm as the plan's author spelt it.
    pub(crate) fn written(&self, id: &str) -> String {
        let parsed = plan::Id::parse(id);
        let all = self.plan.scenarios.iter().flat_map(|s| [vec![s.id.value.clone()], s.arm_ids()].concat());
        all.into_iter().find(|known| Some(known) == parsed.as_ref()).map_or_else(|| id.to_owned(), |id| id.written())
    }

    /// True when `ids` name this scenario or arm, or the scenario of this arm, or nothing at all.
    pub(crate) fn asks_for(&self, ids: &[String], id: &plan::Id) -> bool {
        let named: Vec<plan::Id> = ids.iter().filter_map(|text| plan::Id::parse(text)).collect();
        let whole = |named: &plan::Id| named.arm().is_none() && named.number() == id.number();
        named.is_empty() || named.iter().any(|named| named == id || whole(named))
    }
}

/// The text of a file that may be a plan; an error says in a few words why it is none.
fn read(path: &Path) -> Result<String, String> {
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    })?;
    if metadata.is_dir() {
        return Err("it is a folder; name the plans in it".to_owned());
    }
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err("it is UTF-16 text; save it as UTF-8".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("it is no UTF-8 text (the first wrong byte is in line {line})")
    })?;
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err("the file is empty".to_owned());
    }
    Ok(text)
}
