//! `cargo disttest`: see `cargo disttest --help`.

fn main() -> std::process::ExitCode {
    cargo_disttest::main()
}
