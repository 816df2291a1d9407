//! The layer rule: a module of the runtime imports lower layers only; the sideways edges are named here.

use disttest_tests::{rust_files, workspace};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Modules of `disttest-runtime` by layer, lowest first.
const LAYERS: [&[&str]; 5] = [
    &["base"],
    &["plan", "history", "txn", "fault"],
    &["model", "checker", "sim", "reduce", "spec"],
    &["verdict", "audit", "report"],
    &["recorder", "session", "nemesis", "cluster", "run", "harness", "verify"],
];

/// Allowed edges inside one layer.
const SIDEWAYS: [(&str, &str); 16] = [
    ("checker", "model"),
    ("audit", "verdict"),
    ("audit", "checker"),
    ("report", "audit"),
    ("report", "verdict"),
    ("nemesis", "recorder"),
    ("cluster", "nemesis"),
    ("cluster", "recorder"),
    ("run", "cluster"),
    ("run", "nemesis"),
    ("run", "recorder"),
    ("harness", "run"),
    ("harness", "session"),
    ("harness", "nemesis"),
    ("verify", "run"),
    ("verify", "session"),
];

/// The registry is data that the macro fills; a run is started from one.
const EXCEPTIONS: [(&str, &str, &str); 1] = [("run", "harness", "run::execute takes the registration it runs")];

/// What a pure layer must not touch: clocks, files, processes, sockets, the environment.
const IMPURE: [&str; 11] = [
    "std::fs",
    "std::env",
    "std::process",
    "std::net",
    "Instant::now",
    "SystemTime",
    "tokio::",
    "thread::spawn",
    "thread::sleep",
    "available_parallelism",
    "rustix::",
];

#[test]
fn each_module_of_the_runtime_imports_lower_layers_only() {
    let mut violations = Vec::new();
    for_each_module_file(|module, file, text| {
        for target in imported_modules(text) {
            if !allowed(module, &target) {
                violations.push(format!("{}: `{module}` imports `crate::{target}`", file.display()));
            }
        }
    });
    assert!(violations.is_empty(), "the layer rule is broken:\n{}", violations.join("\n"));
}

#[test]
fn pure_layers_read_no_clock_no_file_and_no_environment() {
    let mut violations = Vec::new();
    for_each_module_file(|module, file, text| {
        if layer(module).is_some_and(|layer| layer < 4) && !is_test_module(file) {
            let code = without_tests(text);
            violations.extend(
                IMPURE.iter().filter(|what| code.contains(**what)).map(|what| format!("{}: {what}", file.display())),
            );
        }
    });
    assert!(violations.is_empty(), "a pure layer touches the world:\n{}", violations.join("\n"));
}

#[test]
fn unsafe_code_stands_in_one_file() {
    let mut violations = Vec::new();
    for root in ["disttest-runtime/src", "disttest-macros/src", "cargo-disttest/src"] {
        for file in rust_files(&workspace().join(root)) {
            let text = fs::read_to_string(&file).expect("a source file is readable");
            // Code in a string, which some tests judge, stands behind a quotation mark.
            let code = |line: &str| line.split(['"', '/']).next().unwrap_or_default().contains("unsafe {");
            let allows = text.lines().any(code);
            if allows && !file.ends_with("nemesis/sys.rs") {
                violations.push(file.display().to_string());
            }
        }
    }
    assert!(violations.is_empty(), "unsafe outside nemesis/sys.rs: {violations:?}");
}

#[test]
fn the_layer_check_sees_a_violation() {
    assert!(!allowed("plan", "harness"));
    assert!(!allowed("history", "plan"));
    assert!(allowed("checker", "model"));
    let seen = imported_modules("use crate::{plan::Id, verdict::{Facts}};\nfn f() { crate::report::x() }");
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["plan", "report", "verdict"]);
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn allowed(from: &str, to: &str) -> bool {
    let (Some(a), Some(b)) = (layer(from), layer(to)) else { return false };
    from == to || b < a || SIDEWAYS.contains(&(from, to)) || EXCEPTIONS.iter().any(|(f, t, _)| (*f, *t) == (from, to))
}

fn for_each_module_file(mut visit: impl FnMut(&str, &Path, &str)) {
    let src = workspace().join("disttest-runtime/src");
    let mut files = 0;
    for file in rust_files(&src) {
        let first = file.strip_prefix(&src).expect("a file below src").components().next().expect("a path has a part");
        let name = first.as_os_str().to_string_lossy();
        let module = name.trim_end_matches(".rs");
        if module != "lib" {
            assert!(layer(module).is_some(), "module `{module}` has no layer; name it in {}", file!());
            visit(module, &file, &fs::read_to_string(&file).expect("a source file is readable"));
            files += 1;
        }
    }
    assert!(files > 20, "only {files} files found below {}", src.display());
}

/// First segments behind every `crate::` in the code (comments left out).
fn imported_modules(text: &str) -> BTreeSet<String> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate::` in a macro is expanded in the user's crate.
        if code[..at].ends_with('$') || code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(top_level_names(group)),
            None => found.extend(leading_name(rest)),
        }
    }
    // Items of the crate root that are no modules.
    found.retain(|name| layer(name).is_some());
    found
}

fn leading_name(text: &str) -> Option<String> {
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

fn top_level_names(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let (mut depth, mut start) = (0_usize, true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => start = true,
            c if start && !c.is_whitespace() => {
                names.extend(leading_name(&group[at..]));
                start = false;
            }
            _ => {}
        }
    }
    names
}

/// True when the module around `file` declares it under `#[cfg(test)]`.
fn is_test_module(file: &Path) -> bool {
    let name = file.file_stem().expect("a source file has a name").to_string_lossy();
    let folder = file.parent().expect("a source file stands in a folder");
    let declarations = ["", "pub(crate) ", "pub(super) "].map(|public| format!("#[cfg(test)]\n{public}mod {name};"));
    [folder.join("mod.rs"), folder.with_extension("rs")].iter().any(|parent| {
        fs::read_to_string(parent).is_ok_and(|text| declarations.iter().any(|declaration| text.contains(declaration)))
    })
}

/// The text before its first test module.
fn without_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}
