//! The cargo subcommand as a library, so that tests and the binary are one code.

pub mod commands;
pub mod diagnostics;

/// Entry point of the binary.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(2)
}
