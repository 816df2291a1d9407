//! The part of a run that is for scenarios without a test in the repository: their package written and built, or the
//! reason why they cannot run. Whatever goes wrong here is theirs alone: tests that stand in the repository run all
//! the same.

use super::place::Unauthored;
use super::{Package, Site, Test, folder_of, prepare};
use crate::console::Console;
use crate::runner::build::Options;
use crate::runner::execute::Order;
use crate::runner::session;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The stage of a run.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    /// The scenarios that it is for, by id.
    ids: Vec<String>,
    package: Option<Package>,
    executables: BTreeMap<PathBuf, PathBuf>,
    /// Why none of them runs.
    why: Option<String>,
}

impl Stage {
    /// Writes and builds the package of `tests`. `named` is the plan as its tests name it, and the folder of their
    /// package.
    pub(crate) fn set(
        console: &Console,
        site: &Site<'_>,
        tests: &[Unauthored],
        named: &(String, PathBuf),
        order: &Order,
        options: Options,
    ) -> Stage {
        let mut stage = Stage::default();
        if tests.is_empty() {
            return stage;
        }
        stage.ids = tests.iter().map(|test| test.wanted.attribute.id.clone()).collect();
        let sealed = site.named.filter(|folder| is_sealed(folder, site.session));
        let site = &match sealed {
            Some(_) => Site { named: None, copied: sealed, ..*site },
            None => *site,
        };
        let folder = site.named.map_or_else(|| folder_of(site.session), Path::to_path_buf);
        let listed = stage.ids.join(", ");
        console.status("Harness", format_args!("{}: ephemeral, for {listed}", folder.display()));
        if let Some(evidence) = sealed {
            console.warning(format_args!(
                "{} is evidence of an earlier session, and a copy of it is run: fill its tests in a folder of their own",
                evidence.display()
            ));
        }
        let begun = session::begin_ephemeral(site.workspace, named, order, &folder)
            .map_err(|error| format!("the session cannot be begun: {error:#}"));
        match begun.and_then(|()| prepare(site, tests)) {
            Err(why) => stage.why = Some(why),
            Ok(package) => {
                package.notes.iter().for_each(|note| console.warning(note));
                let show = |text: &str| console.message_text(text);
                match package.build(site.workspace, options, &show) {
                    Ok(executables) => stage.executables = executables,
                    Err(why) => stage.why = Some(why),
                }
                stage.package = Some(package);
            }
        }
        stage
    }

    /// The test of scenario `id` and its executable, or why there is none; `None` when its test is in the repository.
    pub(crate) fn of(&self, id: &str) -> Option<Result<(&Test, &Path), String>> {
        self.ids.iter().any(|known| known == id).then(|| self.test(id))
    }

    fn test(&self, id: &str) -> Result<(&Test, &Path), String> {
        if let Some(why) = &self.why {
            return Err(why.clone());
        }
        let package = self.package.as_ref().ok_or("there is no ephemeral package")?;
        if let Some((_, why)) = package.refused.iter().find(|(refused, _)| refused == id) {
            return Err(why.clone());
        }
        let test = package.tests.iter().find(|test| test.target.wanted.attribute.id == id);
        let test = test.ok_or("the ephemeral package has no test of it")?;
        let file = test.target.placed.path();
        let executable = self.executables.get(&file.canonicalize().unwrap_or_else(|_| file.clone()));
        Ok((test, executable.ok_or_else(|| format!("{} does not build", file.display()))?))
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

/// True for a part of another session: the manifest of that one speaks of its bytes.
fn is_sealed(folder: &Path, session: &Path) -> bool {
    folder.ancestors().filter(|above| *above != session).any(|above| above.join("MANIFEST.sha256").is_file())
}
