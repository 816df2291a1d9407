//! A runtime that does nothing, for packages whose tests are built and not run for what they find: it compiles in a
//! second, and what a generated test file asks of the real one it has.

use crate::package::Package;
use std::fs;
use std::path::{Path, PathBuf};

const MANIFEST: &str = r#"
[package]
name = "disttest-runtime"
version = "0.1.0"
edition = "2021"

[workspace]

[dependencies]
disttest-macros = { path = "macros" }
"#;

/// A test whose regions are filled leaves the evidence that lies in `STUB/ID` (`fake/ID` without `STUB`) and tells
/// `STUB/ID.told` of itself: a program that fabricates all that a run would have left.
const RUNTIME: &str = r##"
pub use disttest_macros::{__main, scenario};
pub mod prelude {
    pub struct Run;
    pub struct Judged;
    pub struct Workload;
    pub struct Landed;
    pub type Result<T> = std::result::Result<T, ()>;
}
#[macro_export]
macro_rules! todo { ($name:literal) => { panic!($name) }; }
#[macro_export]
macro_rules! main { () => { $crate::__main!(); }; }
pub fn stand_in(scenarios: &[(&str, &str, bool)]) {
    use std::{env, fs, path::Path};
    if env::args().any(|arg| arg == "--list") {
        scenarios.iter().for_each(|(_, function, _)| println!("{function}: test"));
        return;
    }
    let asked: Vec<String> = env::args().collect();
    let (id, _, filled) = *scenarios.iter().find(|(_, function, _)| asked.iter().any(|arg| arg == function)).unwrap();
    let id = &id.replace('/', "__");
    println!("stand-in {id} runs");
    let stub = env::var("STUB").unwrap_or("fake".to_owned());
    let stub = Path::new(&stub);
    if stub.join(format!("{id}.waits")).exists() {
        loop {
            std::thread::park();
        }
    }
    let session = env::var("DISTTEST_SESSION").unwrap();
    let of = env::var("DISTTEST_EPHEMERAL_OF").unwrap_or_default();
    let here = env::current_dir().unwrap();
    let mut told = format!("{}\nin {}\nof {of}\n", asked[1..].join(" "), here.display());
    for (name, value) in env::vars().filter(|(name, _)| name.starts_with("DISTTEST_") || name.starts_with("NEXTEST")) {
        told += &format!("{name}={value}\n");
    }
    fs::create_dir_all(stub).unwrap();
    fs::write(stub.join(format!("{id}.told")), told).unwrap();
    let left = stub.join(id);
    if filled && left.exists() {
        leave(&left, &Path::new(&session).join("artifacts"), &session);
    }
    let status = fs::read_to_string(stub.join(format!("{id}.status"))).map_or(0, |text| text.trim().parse().unwrap());
    std::process::exit(status);
}
/// Copies evidence; `@SESSION@` in it is where it comes to lie.
fn leave(from: &std::path::Path, to: &std::path::Path, session: &str) {
    use std::fs;
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let there = to.join(entry.file_name());
        if entry.path().is_dir() {
            leave(&entry.path(), &there, session);
        } else {
            fs::create_dir_all(to).unwrap();
            fs::write(there, fs::read_to_string(entry.path()).unwrap().replace("@SESSION@", session)).unwrap();
        }
    }
}
"##;

const MACROS_MANIFEST: &str = r#"
[package]
name = "disttest-macros"
version = "0.1.0"
edition = "2021"

[lib]
proc-macro = true
"#;

const MACROS: &str = r##"
use proc_macro::{TokenStream, TokenTree};
use std::sync::Mutex;
/// One process expands one crate, and a test file has its `main!()` last.
static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
#[proc_macro]
pub fn __main(_: TokenStream) -> TokenStream {
    let all = SEEN.lock().unwrap().join(", ");
    format!("fn main() {{ ::disttest_runtime::stand_in(&[{all}]) }}").parse().unwrap()
}
#[proc_macro_attribute]
pub fn scenario(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let id = attribute.into_iter().find_map(|token| match token {
        TokenTree::Literal(id) => Some(id.to_string()),
        _ => None,
    });
    let tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    let at = tokens.iter().position(|token| token.to_string() == "fn").unwrap();
    let filled = !item.to_string().replace(' ', "").contains("todo!");
    let one = format!("({}, \"{}\", {filled})", id.unwrap(), tokens[at + 1]);
    SEEN.lock().unwrap().push(one);
    item
}
"##;

/// Its folder: the same for all tests, so that it is built once.
fn stub() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stub-runtime");
    let files = [
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", RUNTIME),
        ("macros/Cargo.toml", MACROS_MANIFEST),
        ("macros/src/lib.rs", MACROS),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        if fs::read_to_string(&path).is_ok_and(|there| there == text) {
            continue;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Other tests may be at it, too.
        let half = path.with_extension(format!("{:?}.half", std::thread::current().id()).replace(['(', ')'], ""));
        fs::write(&half, text).unwrap();
        fs::rename(half, path).unwrap();
    }
    folder
}

/// The line that makes it the runtime of a workspace.
pub(crate) fn declare(package: &Package) {
    let manifest = package.read("Cargo.toml");
    let line = format!("[workspace.dependencies]\ndisttest-runtime = {{ path = \"{}\" }}\n", stub().display());
    package.write("Cargo.toml", &manifest.replace("[workspace]\n", &format!("[workspace]\n{line}")));
}
