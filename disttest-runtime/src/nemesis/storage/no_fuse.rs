//! Faulty disks in a build without the feature `fuse`: there are none.

use super::wrong::{Count, Loss, Wrong};
use crate::base::rng::Rng;
use crate::nemesis::Lacks;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Never made.
#[derive(Debug)]
pub(super) enum Faulty {}

/// Never made.
#[derive(Debug)]
pub(super) enum Session {}

/// Says what is missing.
pub(super) fn mount(_at: &Path, _root: PathBuf, _source: &str) -> Result<(std::sync::Arc<Faulty>, Session)> {
    let hint = "disttest-runtime = { features = [\"fuse\"] } in Cargo.toml";
    Err(Lacks::new("the feature `fuse` of disttest-runtime", hint).into())
}

impl Faulty {
    pub(super) fn set(&self, _change: impl FnOnce(&mut Wrong)) {
        match *self {}
    }

    pub(super) fn unsynced(&self) -> u64 {
        match *self {}
    }

    pub(super) fn open_files(&self) -> usize {
        match *self {}
    }

    pub(super) fn lose(&self, _tear: Option<&mut Rng>) -> std::io::Result<Loss> {
        match *self {}
    }

    pub(super) fn count(&self, _what: Count) -> u64 {
        match *self {}
    }
}
