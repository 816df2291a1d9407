//! Tests inside of private namespaces, as root and as a user without rights; where that cannot be they say so.

use super::{Backend, enclosure};
use anyhow::{Context, Result};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Set for a copy of this test binary that runs one test inside of a user namespace.
const INSIDE: &str = "DISTTEST_TEST_INSIDE";

/// Why this machine cannot run these tests, said where a person looks for it.
#[expect(clippy::print_stderr, reason = "a test that could not run must say so")]
pub(crate) fn skipped(test: &str, why: &str) {
    eprintln!("SKIPPED {test}: {why}");
}

/// Runs `body` in private namespaces: with the rights of this process where it has them, and once more as a user without
/// any. Says so where one or the other is not to be had.
pub(crate) fn enclosed(test: &str, body: fn(Backend) -> Result<()>, backends: &[Backend]) {
    let backends: Vec<Backend> = backends
        .iter()
        .filter(|backend| match backend.available() {
            Ok(()) => true,
            Err(error) => {
                skipped(test, &format!("{error:#}"));
                false
            }
        })
        .copied()
        .collect();
    if std::env::var_os(INSIDE).is_none() && nix::unistd::geteuid().is_root() {
        without_rights(test);
    }
    for backend in backends {
        match afresh(move || body(backend)) {
            Ok(done) => done.with_context(|| format!("{backend}")).expect(test),
            Err(why) => skipped(test, &format!("{why:#}")),
        }
    }
}

/// Runs `act` in new private namespaces; an error where there are none. A thread of its own may enter alone.
pub(crate) fn afresh<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let run = move || enclosure::enter_thread().map(|_| act());
    std::thread::spawn(run).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The same test again, by a copy of this binary, as a user without rights in a user namespace.
fn without_rights(test: &str) {
    const NOBODY: u32 = 65534;
    let mut command = Command::new("unshare");
    command.args(["-Urn"]).arg(std::env::current_exe().expect("this binary"));
    command.args(["--exact", test, "--nocapture"]);
    match command.env(INSIDE, "1").uid(NOBODY).gid(NOBODY).output() {
        Err(error) => skipped(test, &format!("as a user without rights: no `unshare` ({error})")),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            if said.contains("unshare failed") || said.contains("failed to execute") {
                return skipped(test, &format!("as a user without rights: {said}"));
            }
            assert!(output.status.success() && said.contains("1 passed"), "as a user without rights: {said}");
        }
    }
}
