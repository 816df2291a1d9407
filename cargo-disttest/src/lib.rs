//! The cargo subcommand as a library, so that tests and the binary are one code.

/// Entry point of the binary.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(2)
}
