//! Changes that cannot change what a program does: pages, and comments (format §1.9, early exit).

use super::history::{History, How};
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Why the whole change needs no plan; `None` when some file of it may change behaviour, and for no change at all.
pub(crate) fn quiet(history: &History) -> Option<String> {
    let (mut pages, mut comments) = (0, 0);
    for file in &history.touched {
        if is_page(&file.path) {
            pages += 1;
        } else if file.how == How::Modified && file.path.ends_with(".rs") && only_comments(history, &file.path) {
            comments += 1;
        } else {
            return None;
        }
    }
    match (pages, comments) {
        (0, 0) => None,
        (_, 0) => Some("it touches documentation only".to_owned()),
        (0, _) => Some("it touches comments only".to_owned()),
        _ => Some("it touches documentation and comments only".to_owned()),
    }
}

/// Folders whose texts a program or a test reads.
const DATA: [&str; 9] =
    ["src", "tests", "test", "testdata", "tests-data", "fixtures", "snapshots", "templates", "benches"];
const PAGES: [&str; 6] = [".md", ".markdown", ".rst", ".adoc", ".asciidoc", ".mdx"];
const IN_DOCS: [&str; 9] = [".txt", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp", ".puml", ".dot"];
const LOOSE: [&str; 8] =
    ["license", "licence", "copying", "notice", "authors", "contributors", "codeowners", "changelog"];

fn is_page(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    if folders.split('/').any(|folder| DATA.contains(&folder)) {
        return false;
    }
    let in_docs = folders.split('/').any(|folder| folder == "docs" || folder == "doc");
    let stem = name.split(['.', '-']).next().unwrap_or_default();
    PAGES.iter().any(|end| name.ends_with(end))
        || (in_docs && IN_DOCS.iter().any(|end| name.ends_with(end)))
        || (LOOSE.contains(&stem) && !name.ends_with(".rs"))
}

fn only_comments(history: &History, path: &str) -> bool {
    let after = std::fs::read_to_string(history.root.join(path)).ok();
    let tokens = |text: Option<String>| text.and_then(|text| code(&text));
    match (tokens(history.before(path)), tokens(after)) {
        (Some(before), Some(after)) => before == after,
        _ => false,
    }
}

/// The tokens of a Rust text without comments and documentation; `None` when it is no Rust.
fn code(text: &str) -> Option<String> {
    let stream: TokenStream = text.parse().ok()?;
    let mut out = String::new();
    write(stream, &mut out);
    Some(out)
}

fn write(stream: TokenStream, out: &mut String) {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        if is_mark(&tree, '#') {
            let inner = trees.next_if(|tree| is_mark(tree, '!'));
            if trees.next_if(is_documentation).is_some() {
                continue;
            }
            out.push_str(if inner.is_some() { "#!" } else { "#" });
            continue;
        }
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                out.push_str(open);
                write(group.stream(), out);
                out.push_str(close);
            }
            other => {
                out.push_str(&other.to_string());
                // `&&` is another thing than `& &`.
                if !matches!(&other, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint) {
                    out.push(' ');
                }
            }
        }
    }
}

fn is_mark(tree: &TokenTree, mark: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == mark)
}

fn is_documentation(tree: &TokenTree) -> bool {
    let TokenTree::Group(group) = tree else { return false };
    let mut inside = group.stream().into_iter();
    let named = matches!(inside.next(), Some(TokenTree::Ident(name)) if name == "doc");
    // `#[doc(hidden)]` and `#[doc = include_str!("x")]` are more than a comment.
    let assigned = inside.next().is_some_and(|tree| is_mark(&tree, '='));
    let text = matches!((inside.next(), inside.next()), (Some(TokenTree::Literal(_)), None));
    group.delimiter() == Delimiter::Bracket && named && assigned && text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_known_by_their_names() {
        let check = |path: &str, expect: bool| assert_eq!(is_page(path), expect, "{path}");
        check("README.md", true);
        check("docs/guide/intro.rst", true);
        check("docs/picture.svg", true);
        check("CHANGELOG", true);
        check("LICENSE-MIT", true);
        check("crates/a/README.md", true);
        check("src/lib.rs", false);
        check("src/help.md", false);
        check("templates/page.md", false);
        check("tests/data/case.md", false);
        check("Cargo.toml", false);
        check("picture.svg", false);
        check("requirements.txt", false);
        check("docs/build.rs", false);
        check("notice.rs", false);
        check(".github/workflows/ci.yml", false);
    }

    #[test]
    fn comments_and_documentation_are_no_code() {
        let check = |before: &str, after: &str, expect: bool| {
            assert_eq!(code(before) == code(after), expect, "{before} / {after}");
        };
        check("fn f() {}", "/// Says so.\nfn f() { /* here */ } // there", true);
        check("//! old\nfn f() {}", "//! new\n\nfn f() {\n}\n", true);
        check("fn f() {}", "#[inline] fn f() {}", false);
        check("#[doc(hidden)] fn f() {}", "fn f() {}", false);
        check("#[doc = include_str!(\"x\")] fn f() {}", "fn f() {}", false);
        check("const A: &str = \"// a\";", "const A: &str = \"// b\";", false);
        check("fn f() { a(1) }", "fn f() { a(2) }", false);
        check("fn f() { a - -1 }", "fn f() { a - 1 }", false);
        check("fn f() { a & &b }", "fn f() { a && b }", false);
        assert_eq!(code("fn f( {"), None);
    }
}
