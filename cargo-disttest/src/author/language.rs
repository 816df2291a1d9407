//! The languages that a plan's skeleton may be written in, and what differs between them for `author`.

/// A skeleton language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Run by our own harness.
    Rust,
    /// `_test.go` files.
    Go,
    /// pytest or unittest.
    Python,
    /// Any runner for TypeScript.
    TypeScript,
    /// POSIX shells and bash.
    Shell,
}

impl Language {
    /// The language with this name in a plan.
    pub(crate) fn parse(word: &str) -> Option<Language> {
        Some(match word.trim().to_ascii_lowercase().as_str() {
            "rust" => Language::Rust,
            "go" => Language::Go,
            "python" => Language::Python,
            "typescript" => Language::TypeScript,
            "shell" => Language::Shell,
            _ => return None,
        })
    }

    /// As a plan names it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Go => "go",
            Language::Python => "python",
            Language::TypeScript => "typescript",
            Language::Shell => "shell",
        }
    }

    /// What a line comment starts with.
    pub(crate) fn comment(self) -> &'static str {
        match self {
            Language::Python | Language::Shell => "#",
            Language::Rust | Language::Go | Language::TypeScript => "//",
        }
    }

    /// How its test files may end; the first is the convention.
    pub(crate) fn suffixes(self) -> &'static [&'static str] {
        match self {
            Language::Rust => &[".rs"],
            Language::Go => &["_test.go"],
            Language::Python => &[".py"],
            Language::TypeScript => &[".ts", ".tsx", ".mts", ".cts"],
            Language::Shell => &[".sh", ".bash", ".bats"],
        }
    }

    /// The commands that format a text of it from stdin to stdout, the most usual first. `{file}` stands for the path.
    pub(crate) fn formatters(self) -> &'static [(&'static str, &'static [&'static str])] {
        match self {
            Language::Rust => &[],
            Language::Go => &[("gofmt", &[])],
            Language::Python => &[
                ("ruff", &["format", "--no-cache", "--stdin-filename", "{file}", "-"]),
                ("black", &["--quiet", "--stdin-filename", "{file}", "-"]),
            ],
            Language::TypeScript => &[("prettier", &["--stdin-filepath", "{file}"])],
            Language::Shell => &[("shfmt", &["-filename", "{file}"])],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_named_as_in_a_plan() {
        for name in ["rust", "go", "python", "typescript", "shell"] {
            assert_eq!(Language::parse(name).map(Language::as_str), Some(name));
        }
        assert_eq!(Language::parse("cobol"), None);
    }
}
