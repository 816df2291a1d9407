//! Where a plan may have a file written. Plans are untrusted input.

use super::language::Language;
use std::path::Path;

/// A target path that is relative, stays where it starts and names a test file of `language`, with `/` between its
/// parts.
///
/// # Errors
/// Why it is refused.
pub(crate) fn lexical(target: &str, language: Language) -> Result<String, String> {
    let refuse = |why: &str| Err(why.to_owned());
    if target.trim().is_empty() {
        return refuse("it is empty");
    }
    if target.chars().any(|c| c.is_control() || "\\:*?\"<>|".contains(c)) {
        return refuse("it has a character that a portable path cannot have");
    }
    if target.starts_with('/') || target.starts_with('~') {
        return refuse("it is not relative");
    }
    let parts: Vec<&str> = target.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return refuse("`..` leads out of the package");
    }
    if let Some(hidden) = parts.iter().find(|part| part.starts_with('.')) {
        return Err(format!("`{hidden}` is a hidden file or folder"));
    }
    let file = parts.last().copied().unwrap_or_default();
    if language.suffixes().iter().filter_map(|suffix| file.strip_suffix(suffix)).any(|stem| !stem.is_empty()) {
        return Ok(parts.join("/"));
    }
    Err(format!("a {} test file ends in `{}`", language.as_str(), language.suffixes()[0]))
}

/// A path relative to its package where a test file of another language than Rust can stand.
///
/// # Errors
/// Why it is refused.
pub(crate) fn foreign_place(relative: &str) -> Result<(), String> {
    match relative.split('/').next() {
        Some(first @ ("target" | "node_modules" | "vendor")) => Err(format!("`{first}/` holds what tools put there")),
        _ => Ok(()),
    }
}

/// A path relative to its package where a test target with a `main` of its own can stand.
///
/// # Errors
/// Why it is refused.
pub(crate) fn place(relative: &str) -> Result<(), String> {
    let first = relative.split('/').next().unwrap_or_default();
    if relative == "build.rs" {
        return Err("`build.rs` is the package's build script".to_owned());
    }
    if relative.contains('/') && matches!(first, "src" | "target") {
        return Err(format!("a test file with its own `main` cannot stand in `{first}/`"));
    }
    Ok(())
}

/// No part of `relative` below `root` is a symbolic link, and the parts that exist are folders, but for the last.
///
/// # Errors
/// Which part is refused, and why.
pub(crate) fn no_symlink(root: &Path, relative: &str) -> Result<(), String> {
    let mut path = root.to_path_buf();
    let parts: Vec<&str> = relative.split('/').collect();
    for (index, part) in parts.iter().enumerate() {
        path.push(part);
        let Ok(metadata) = path.symlink_metadata() else {
            continue;
        };
        let last = index + 1 == parts.len();
        if metadata.is_symlink() {
            return Err(format!("`{}` is a symbolic link", parts[..=index].join("/")));
        }
        if !last && !metadata.is_dir() || last && !metadata.is_file() {
            let kind = if last { "file" } else { "folder" };
            return Err(format!("`{}` is no {kind}", parts[..=index].join("/")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_stays_inside_and_is_a_rust_file() {
        let check = |target: &str, expect: Option<&str>| {
            assert_eq!(lexical(target, Language::Rust).ok().as_deref(), expect, "{target}")
        };
        check("tests/auto/s1.rs", Some("tests/auto/s1.rs"));
        check("./tests//s1.rs", Some("tests/s1.rs"));
        check("crates/a/tests/s1.rs", Some("crates/a/tests/s1.rs"));
        check("", None);
        check("/etc/s1.rs", None);
        check("~/s1.rs", None);
        check("../s1.rs", None);
        check("tests/../../s1.rs", None);
        check("tests/a/../s1.rs", None);
        check("C:/s1.rs", None);
        check("tests\\s1.rs", None);
        check(".git/hooks/s1.rs", None);
        check("tests/s1.py", None);
        check("tests/.rs", None);
        check("tests/", None);
        check("tests/s1.rs\nx", None);
    }

    #[test]
    fn a_target_ends_as_its_language_asks() {
        let check = |language: Language, target: &str, ok: bool| {
            assert_eq!(lexical(target, language).is_ok(), ok, "{target}");
        };
        check(Language::Go, "pkg/a_test.go", true);
        check(Language::Go, "pkg/a.go", false);
        check(Language::Go, "pkg/_test.go", false);
        check(Language::Python, "tests/test_a.py", true);
        check(Language::Python, "tests/test_a.rs", false);
        check(Language::TypeScript, "a.test.ts", true);
        check(Language::TypeScript, "a.js", false);
        check(Language::Shell, "a.bats", true);
        check(Language::Shell, "../a.sh", false);
        check(Language::Shell, ".git/hooks/a.sh", false);
    }

    #[test]
    fn a_target_is_no_source_of_the_package_itself() {
        let check = |relative: &str, ok: bool| assert_eq!(place(relative).is_ok(), ok, "{relative}");
        check("tests/s1.rs", true);
        check("s1.rs", true);
        check("src/lib.rs", false);
        check("build.rs", false);
        check("target/x.rs", false);
    }
}
