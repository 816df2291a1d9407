//! What a nemesis needs of the machine and does not find there.

use std::fmt;
use std::path::{Path, PathBuf};

/// The machine lacks what a nemesis needs. In the chain of an error of [`super::Nemesis::inject`] or of the start of a
/// cluster it makes the run INCONCLUSIVE-env: the fault was not tried, so nothing was found out about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacks {
    /// What is missing, such as `strace`.
    pub what: String,
    /// What to do about it, such as `apt-get install strace`.
    pub hint: String,
}

impl Lacks {
    /// `what` is missing; `hint` mends it.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Lacks {
        Lacks { what: what.into(), hint: hint.into() }
    }

    /// The `Lacks` in the chain of `error`, if there is one.
    pub fn of(error: &anyhow::Error) -> Option<&Lacks> {
        error.downcast_ref::<Lacks>().or_else(|| error.chain().find_map(|cause| cause.downcast_ref::<Lacks>()))
    }
}

impl fmt::Display for Lacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the machine lacks {} ({})", self.what, self.hint)
    }
}

impl std::error::Error for Lacks {}

/// The executable `name` on PATH.
pub(crate) fn program(name: &str, hint: &str) -> Result<PathBuf, Lacks> {
    use std::os::unix::fs::PermissionsExt;
    let executable = |path: &Path| path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&path).map(|dir| dir.join(name));
    candidates.find(|path| executable(path)).ok_or_else(|| Lacks::new(format!("`{name}`"), hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn what_is_lacking_is_found_under_any_context_and_says_what_to_install() {
        let missing = program("no-such-program-anywhere", "apt-get install it").expect_err("not there");
        let error = Err::<(), _>(missing).context("n1").context("the fault").expect_err("an error");
        let lacks = Lacks::of(&error).expect("found");
        assert_eq!(lacks.to_string(), "the machine lacks `no-such-program-anywhere` (apt-get install it)");
        assert!(Lacks::of(&anyhow::anyhow!("another")).is_none());
        assert!(program("sh", "a shell").is_ok());
    }
}
