//! One server of the store; `abd-node --help` lists its options.

use abd_store::{Options, server};
use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match server::run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "abd-node: {error:#}");
            ExitCode::FAILURE
        }
    }
}
