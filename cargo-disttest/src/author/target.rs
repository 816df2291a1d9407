//! Where a plan may have a file written. Plans are untrusted input.

use std::path::Path;

/// A target path that is relative, stays where it starts and names a Rust test file, with `/` between its parts.
///
/// # Errors
/// Why it is refused.
pub(crate) fn lexical(target: &str) -> Result<String, String> {
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
    match parts.last().and_then(|file| file.strip_suffix(".rs")) {
        Some(stem) if !stem.is_empty() => Ok(parts.join("/")),
        _ => refuse("a Rust test file ends in `.rs`"),
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
        let check =
            |target: &str, expect: Option<&str>| assert_eq!(lexical(target).ok().as_deref(), expect, "{target}");
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
    fn a_target_is_no_source_of_the_package_itself() {
        let check = |relative: &str, ok: bool| assert_eq!(place(relative).is_ok(), ok, "{relative}");
        check("tests/s1.rs", true);
        check("s1.rs", true);
        check("src/lib.rs", false);
        check("build.rs", false);
        check("target/x.rs", false);
    }
}
