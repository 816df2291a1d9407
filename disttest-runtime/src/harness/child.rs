//! The process of one execution: it is told what to run by its supervisor, runs it and writes `run.json`.

use super::catalog::Entry;
use super::process;
use crate::nemesis::net::{Backend, enclosure};
use crate::run;
use crate::session::{disk, lock};
use crate::verdict::RunRequest;
use std::io::Read;
use std::path::Path;

/// Set by the supervisor to its own process id.
pub(crate) const CHILD: &str = "DISTTEST_CHILD";
/// Set by the supervisor to the path of the request.
pub(crate) const REQUEST: &str = "DISTTEST_REQUEST";
/// Set by `cargo disttest run` to its own process id: the supervisor ends with it.
pub(crate) const RUNNER: &str = "DISTTEST_RUNNER";

/// Lock in the folder of an execution that its process holds while it lives.
pub(crate) const ALIVE: &str = "alive.lock";

/// Runs the execution that the environment asks for; `None` when this process is no child. The error is a sentence: a
/// variable that leaked from somewhere else, or a request that this binary cannot answer.
pub(crate) fn run_if_child(entries: &[Entry], filters: &[String]) -> Option<Result<(), String>> {
    let var = |name| std::env::var(name).ok();
    match (var(CHILD), var(REQUEST)) {
        (None, None) => None,
        (Some(supervisor), Some(request)) => Some(answer(entries, filters, &supervisor, Path::new(&request))),
        _ => Some(Err(format!("{CHILD} and {REQUEST} are set by the harness, both or none: unset them"))),
    }
}

fn answer(entries: &[Entry], filters: &[String], supervisor: &str, request: &Path) -> Result<(), String> {
    end_with(CHILD, supervisor)?;
    let request: RunRequest = disk::read_json(request)?.ok_or_else(|| format!("{} is not there", request.display()))?;
    let named = |entry: &&Entry| filters == std::slice::from_ref(&entry.name);
    let entry = entries
        .iter()
        .find(named)
        .filter(|entry| entry.declared.id == request.scenario)
        .ok_or_else(|| format!("{filters:?} is not {} in this binary", request.scenario))?;
    let asked = std::env::var_os(enclosure::ENCLOSED).is_some();
    if asked || !Backend::bound_by(entry.registration.landing.injector).is_empty() {
        // Before any thread starts. A refusal is remembered: it makes the scenario inconclusive, and says why.
        let _ = enclosure::enter();
        // The kernel forgot about it when the rights of this process changed.
        end_with(CHILD, supervisor)?;
    }
    let run_dir = Path::new(&request.run_dir);
    // Held to the end of this process, whatever ends it: who finds it free knows that the run is over.
    let _alive = lock(&run_dir.join(ALIVE), &format!("process {}", std::process::id()))
        .map_err(|error| format!("cannot lock the folder of the run: {error}"))?;
    // Nothing of the scenario has run yet, and nothing can read it again.
    let mut secret = String::new();
    std::io::stdin().read_to_string(&mut secret).map_err(|error| format!("the supervisor said nothing: {error}"))?;
    run::seal::hold(secret);
    let record = run::execute(entry.registration, request.clone());
    run::record::write(&record).map_err(|error| format!("cannot write run.json: {error:#}"))
}

/// A supervisor that was started by `cargo disttest run` ends with it: nobody would read what it finds.
pub(crate) fn end_with_runner() -> Result<(), String> {
    std::env::var(RUNNER).map_or(Ok(()), |runner| end_with(RUNNER, &runner))
}

/// From now on this process gets SIGTERM when its parent ends, which `name`d itself as `parent`.
fn end_with(name: &str, parent: &str) -> Result<(), String> {
    process::end_with_parent();
    match process::parent_id() {
        // Asked afterwards: had it ended before, no signal would ever come.
        Some(id) if id.to_string() != parent => Err(format!(
            "{name}={parent}, but process {id} started this one: the variable leaked, or process {parent} is gone"
        )),
        _ => Ok(()),
    }
}
