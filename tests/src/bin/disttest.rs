//! `cargo disttest`, built with the tests that run it.

fn main() -> std::process::ExitCode {
    cargo_disttest::main()
}
