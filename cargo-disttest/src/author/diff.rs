//! The unified diff that stands before every change.

/// Unified diff from `before` (absent: no such file) to `after`, under `path`.
pub(crate) fn unified(path: &str, before: Option<&str>, after: &str) -> String {
    let from = if before.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
    let diff = similar::TextDiff::from_lines(before.unwrap_or_default(), after);
    diff.unified_diff().context_radius(3).header(&from, &format!("b/{path}")).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_names_both_sides() {
        assert_eq!(unified("x.rs", Some("a\n"), "b\n"), "--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n");
        assert!(unified("x.rs", None, "b\n").starts_with("--- /dev/null\n+++ b/x.rs\n"));
    }
}
