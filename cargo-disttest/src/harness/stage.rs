//! The part of a run that is for scenarios without a test in the repository: their package written and built, or the
//! reason why they cannot run. Whatever goes wrong here is theirs alone: tests that stand in the repository run all
//! the same.

use super::place::Unauthored;
use super::{Package, Site, folder_of, prepare};
use crate::console::Console;
use crate::runner::build::Options;
use crate::targets::Target;
use disttest_runtime::session::Session;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The stage of a run.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    tests: Vec<Unauthored>,
    package: Option<Package>,
    executables: BTreeMap<PathBuf, PathBuf>,
    /// Why none of them runs.
    why: Option<String>,
}

impl Stage {
    /// Writes the package of `tests`, and into the session, before it, that there is one.
    pub(crate) fn set(console: &Console, site: &Site<'_>, tests: &[Unauthored], session: &mut Session) -> Stage {
        let mut stage = Stage::default();
        if tests.is_empty() {
            return stage;
        }
        stage.tests = tests.to_vec();
        let folder = site.folder();
        let listed = tests.iter().map(Unauthored::id).collect::<Vec<_>>().join(", ");
        console.status("Harness", format_args!("{}: ephemeral, for {listed}", folder.display()));
        if let Some(evidence) = site.copied {
            console.warning(format_args!(
                "{} is evidence of an earlier session, and a copy of it is run: fill its tests in a folder of their own",
                evidence.display()
            ));
        }
        let begun = session.note_harness(&folder).map_err(|error| format!("the session cannot be begun: {error:#}"));
        match begun.and_then(|()| prepare(site, tests)) {
            Err(why) => stage.why = Some(why),
            Ok(package) => {
                package.notes.iter().for_each(|note| console.warning(note));
                stage.package = Some(package);
            }
        }
        stage
    }

    /// Builds the package, where there is one.
    pub(crate) fn build(&mut self, console: &Console, site: &Site<'_>, options: Options) {
        let Some(package) = &self.package else { return };
        let show = |text: &str| console.message_text(text);
        match package.build(site.workspace, options, &show) {
            Ok(executables) => self.executables = executables,
            Err(why) => self.why = Some(why),
        }
    }

    /// True for a test that the repository does not hold.
    pub(crate) fn holds(&self, target: &Target) -> bool {
        self.of(target).is_some()
    }

    fn of(&self, target: &Target) -> Option<&Unauthored> {
        self.tests.iter().find(|test| test.target.placed == target.placed)
    }

    /// The executable of `target` and the folder of the package under test, or why there is none; `None` for a test
    /// that the repository holds.
    pub(crate) fn launch(&self, target: &Target) -> Option<Result<(&Path, &Path), String>> {
        let test = self.of(target)?;
        Some(self.executable(test).map(|executable| (executable, test.sut.root.as_path())))
    }

    fn executable(&self, test: &Unauthored) -> Result<&Path, String> {
        if let Some(why) = self.refusal(test) {
            return Err(why.to_owned());
        }
        let file = test.target.placed.path();
        let executable = self.executables.get(&file.canonicalize().unwrap_or_else(|_| file.clone()));
        Ok(executable.ok_or_else(|| format!("{} does not build", file.display()))?)
    }

    /// True for a test of the package that could not be put into it, whatever it holds.
    pub(crate) fn refuses(&self, target: &Target) -> bool {
        self.of(target).is_some_and(|test| self.refusal(test).is_some())
    }

    fn refusal(&self, test: &Unauthored) -> Option<&str> {
        let refused = self.package.iter().flat_map(|package| &package.refused);
        let of_test = refused.into_iter().find(|(refused, _)| refused == test.relative());
        self.why.as_deref().or(of_test.map(|(_, why)| why.as_str()))
    }

    /// Removes the executables of a package that is for this run only: its next one stands in another folder, and these
    /// are in nobody's way but the disk's.
    pub(crate) fn clear(&self, site: &Site<'_>) {
        let once = self.package.as_ref().is_some_and(|package| package.folder == folder_of(site.session));
        for executable in self.executables.values().filter(|_| once) {
            let _ = std::fs::remove_file(executable);
        }
    }

    /// The package, when it was written.
    pub(crate) fn package(&self) -> Option<&Package> {
        self.package.as_ref()
    }
}
