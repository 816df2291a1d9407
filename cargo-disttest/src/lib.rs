//! The cargo subcommand as a library, so that tests and the binary are one code.

mod author;
mod check;
mod cli;
pub mod commands;
mod config;
mod console;
mod declare;
mod dependency;
pub mod diagnostics;
mod exit_code;
mod fix;
mod git;
mod harness;
pub mod import;
mod keys;
mod markdown;
mod new;
mod page;
mod plan_file;
mod probe;
mod reference;
mod runner;
mod surroundings;
mod targets;
mod todo;
mod views;
mod workspace;

use clap::Parser;
use console::{Console, Verbosity};
use exit_code::ExitCode;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Entry point of the binary.
pub fn main() -> std::process::ExitCode {
    // The default hook prints message and place; what is left to say is that it is our fault.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(code) => code.into(),
        Err(_) => {
            let console = Console::new(None, None, Verbosity::Normal);
            console.error(format_args!(
                "this is a bug in cargo-disttest {}; please report it with the command line and the message above",
                env!("CARGO_PKG_VERSION")
            ));
            ExitCode::Bug.into()
        }
    }
}

fn run() -> ExitCode {
    let arguments = cli::normalise(std::env::args_os().collect());
    let cli::Cargo::Disttest(arguments) = match cli::Cargo::try_parse_from(arguments) {
        Ok(cargo) => cargo,
        Err(error) => {
            // clap prints help and version on stdout and errors on stderr, in colours that suit the terminal.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::Usage } else { ExitCode::Done };
        }
    };
    let variable = std::env::var("CARGO_TERM_COLOR").ok();
    let console = Console::new(arguments.common.color, variable.as_deref(), arguments.common.verbosity());
    let end = commands::dispatch(console, arguments).unwrap_or_else(|failure| failure.end);
    end.exit_code()
}
