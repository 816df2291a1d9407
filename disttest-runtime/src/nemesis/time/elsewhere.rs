//! Bent clocks where there is no machine code for them: they say what is missing.

use crate::nemesis::Lacks;
use anyhow::Result;

/// How the clocks of a process are bent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bend {
    pub(super) offset: i64,
    pub(super) rate: f64,
    pub(super) monotonic: bool,
}

/// Never made.
#[derive(Debug)]
pub(super) enum Planted {}

impl Planted {
    pub(super) fn plant(_who: crate::nemesis::procfs::Identity, _bend: Bend) -> Result<Planted> {
        Err(Lacks::new("an x86-64 processor", "clocks of single processes are bent on x86-64 only").into())
    }

    pub(super) fn jump(&self, _offset: i64) -> Result<()> {
        match *self {}
    }

    pub(super) fn counter(&self) -> Result<impl FnMut() -> Option<f64> + Send + 'static> {
        match *self {}
        #[expect(unreachable_code, reason = "gives the function its type")]
        Ok(|| None)
    }

    pub(super) fn straighten(self) -> Result<()> {
        match self {}
    }
}
