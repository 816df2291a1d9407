//! What is left to do in a test file in another language than Rust: the runtime has no code for it, the plan has the
//! prose.

use super::item::{Commands, Filled, Item, Left, Subject};
use crate::author::foreign::{Foreign, Open, foreign_change, open_regions};
use crate::author::{FileChange, write};
use disttest_runtime::report::escape::shell;

impl Subject<'_> {
    /// Adds what is left to do for the file of `foreign`.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn look_foreign(&self, foreign: &Foreign, left: &mut Left) -> Result<(), String> {
        let path = self.placed.path();
        let text = write::read(&path)?;
        let author = format!("cargo disttest author {}", shell(&self.plan.shown));
        let drift = match foreign_change(foreign, text.as_deref(), &|_| None) {
            FileChange::Create { .. } | FileChange::UpToDate { .. } => None,
            FileChange::Update { .. } => Some(format!("it is not what the plan says: run `{author}`")),
            FileChange::Conflict { reason, .. } => Some(format!("{reason}: run `{author}`")),
        };
        let Some(open) = text.as_deref().and_then(|text| open_regions(foreign, text)) else {
            left.not_authored.push(self.not_written(drift));
            return Ok(());
        };
        left.items.extend(open.iter().map(|open| self.foreign_region(foreign, open, drift.as_ref())));
        if open.is_empty() {
            let (plan, file) = (self.plan.shown.clone(), (self.shown)(&path));
            let command = drift.is_some().then_some(author);
            let scenario = self.wanted.attribute.id.clone();
            left.filled.push(Filled { plan, scenario, file, drift, command });
        }
        Ok(())
    }

    fn foreign_region(&self, foreign: &Foreign, open: &Open, drift: Option<&String>) -> Item {
        let owner = self.owner(&open.name);
        let marks = open.marks.iter().map(|(line, text)| format!("line {line}: {text}"));
        let runner = format!("written in {}: run it with your own runner", foreign.language.as_str());
        let id = shell(&self.wanted.attribute.id);
        let check = format!("cargo disttest author {} --check --scenario {id}", shell(&self.plan.shown));
        let all = || ["workload", "faults", "oracle"].map(|part| owner.prose(part).unwrap_or_default()).join("\n");
        let (path, told) = (self.placed.path(), owner.told(&self.plan.plan));
        let sibling = self.package.tests(foreign.language).sibling(&path, &open.name, &told, self.shown);
        Item {
            region: open.name.clone(),
            sibling,
            lines: Some(open.lines),
            prose: owner.prose(&open.name).map_or_else(all, str::to_owned),
            note: Some(marks.chain([runner]).collect::<Vec<_>>().join("; ")),
            commands: Commands { check, test: None },
            ..self.item(&owner, drift)
        }
    }
}
