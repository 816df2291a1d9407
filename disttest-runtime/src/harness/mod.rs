//! L4: the libtest-compatible main of a scenario file, its registry, and the supervisor of runs.
//!
//! One process per execution: the process that `cargo test`, nextest or an IDE starts is the supervisor of each
//! scenario it was asked to run; for each seed it starts this same binary again as a child, which runs the scenario and
//! leaves its record on disk. What counts is what is on disk and agrees with itself; a child that leaves nothing died.

mod argv;
mod budget;
mod catalog;
mod child;
mod console;
mod entry;
mod execution;
mod failure;
mod interrupt;
pub mod leftovers;
mod main_macro;
mod options;
mod process;
mod progress;
mod registry;
mod seeds;
mod select;
mod supervisor;
mod turn;

pub use registry::{
    BoxedScenario, DeclaredBudget, DeclaredBudgets, DeclaredLanding, DeclaredRelease, Registration, UnfilledRegion,
};
pub use seeds::executions;

use crate::session::{Key, KeyInputs};

/// What `cargo test` expects of a test binary that failed, for whatever reason; anything else makes it print an error
/// of its own.
const FAILED: i32 = 101;

/// `main` of a test target with `harness = false`; written by [`crate::main!`], which knows the package and the crate
/// name of the target. Never returns.
pub fn main_of_tests(package: &'static str, target: &'static str) -> ! {
    std::process::exit(match run(catalog::Binary { package, target }) {
        Ok(true) => 0,
        Ok(false) => FAILED,
        Err(message) => {
            console::fatal(&message);
            FAILED
        }
    })
}

/// True when nothing failed; the error is a sentence for the person at the terminal.
fn run(binary: catalog::Binary) -> Result<bool, String> {
    let entries = catalog::catalog(binary)?;
    let line = argv::CommandLine::parse(std::env::args().skip(1));
    let options = options::Options::read(|name| {
        // A value that is no text is no absent one: it must be refused, not passed over.
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    })?;
    let mut console = console::Console::new(&line);
    if line.arguments.list {
        console.out(&select::list(&entries, &line, options.strict));
        return Ok(true);
    }
    if let Some(done) = child::run_if_child(&entries, &line.filters) {
        return done.map(|()| true);
    }
    child::end_with_runner()?;
    // One thread: children are started from it, and theirs end with it.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the harness: {error}"))?;
    let key = Key::choose(KeyInputs::from_process());
    let passed = runtime.block_on(async {
        let supervisor = supervisor::Supervisor::new(&entries, &options, key, console)
            .map_err(|error| format!("cannot listen for signals: {error}"))?;
        Ok(supervisor.run(&line).await)
    });
    // A thread that still waits for a lock must not keep the process.
    runtime.shutdown_background();
    passed
}

#[cfg(test)]
mod tests;
