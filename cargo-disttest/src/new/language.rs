//! The language that a repository's tests are written in, told by its manifests.

use std::path::Path;

/// A skeleton language of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Language {
    /// Also where nothing tells of another one.
    #[default]
    Rust,
    /// A `go.mod` and no cargo package.
    Go,
    /// A `pyproject.toml`, `setup.py` or `requirements.txt`.
    Python,
    /// A `package.json`.
    TypeScript,
}

impl Language {
    /// The language of the repository at `root`; `cargo` when it has cargo packages.
    pub(crate) fn of(root: &Path, cargo: bool) -> Language {
        let has = |names: &[&str]| names.iter().any(|name| root.join(name).is_file());
        match () {
            () if cargo => Language::Rust,
            () if has(&["go.mod"]) => Language::Go,
            () if has(&["pyproject.toml", "setup.py", "requirements.txt"]) => Language::Python,
            () if has(&["package.json"]) => Language::TypeScript,
            () => Language::Rust,
        }
    }

    /// As `Skeleton language` spells it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Go => "go",
            Language::Python => "python",
            Language::TypeScript => "typescript",
        }
    }

    /// Where a test of this language goes by convention (format §2), from the repository's root.
    pub(crate) fn target(self, package: &str, id: &str, slug: &str) -> String {
        let package = if package.is_empty() { String::new() } else { format!("{package}/") };
        match self {
            Language::Rust => format!("{package}tests/auto/{id}_{slug}.rs"),
            Language::Go => format!("{package}tests/auto/{slug}_test.go"),
            Language::Python => format!("{package}tests/auto/test_{slug}.py"),
            Language::TypeScript => format!("{package}tests/auto/{slug}.test.ts"),
        }
    }

    /// The template of its skeleton.
    pub(crate) fn skeleton(self) -> &'static str {
        match self {
            Language::Rust => include_str!("../../../templates/plan/skeleton.rs.txt"),
            Language::Go => include_str!("../../../templates/plan/skeleton.go.txt"),
            Language::Python => include_str!("../../../templates/plan/skeleton.py.txt"),
            Language::TypeScript => include_str!("../../../templates/plan/skeleton.ts.txt"),
        }
    }
}
