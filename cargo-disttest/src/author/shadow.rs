//! The runtime's name belongs to the runtime: a test file that gives it to another item would be judged by that item.

use proc_macro2::{Ident, TokenStream, TokenTree};

/// The runtime as test files name it.
const RUNTIME: &str = "disttest_runtime";

/// Line (from 1) on which `text` makes `disttest_runtime` the name of something else: a module, a renamed crate, an
/// import. `None` as well for what is no Rust: that does not build.
pub(crate) fn shadowed(text: &str) -> Option<usize> {
    text.parse().ok().and_then(|stream| in_stream(stream, false))
}

/// True when `text` calls the runtime's `main!`, without which nothing in the program that it becomes is the runtime's.
/// True as well for what is no Rust: that does not build.
pub(crate) fn calls_main(text: &str) -> bool {
    text.parse().map_or(true, calls_main_in)
}

fn calls_main_in(stream: TokenStream) -> bool {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let is_main = |five: &[TokenTree]| match five {
        [TokenTree::Ident(runtime), .., TokenTree::Ident(main), TokenTree::Punct(mark)] => {
            is(runtime, RUNTIME) && ends_in_colons(&five[..3]) && is(main, "main") && mark.as_char() == '!'
        }
        _ => false,
    };
    trees.windows(5).any(is_main)
}

/// `imported`: the stream stands in the braces of a path, as in `use other::{…}`.
fn in_stream(stream: TokenStream, imported: bool) -> Option<usize> {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    trees.iter().enumerate().find_map(|(at, tree)| match tree {
        TokenTree::Group(group) => in_stream(group.stream(), ends_in_colons(&trees[..at])),
        TokenTree::Ident(ident) if is(ident, RUNTIME) && (names(&trees[..at]) || imported) => {
            Some(ident.span().start().line)
        }
        _ => None,
    })
}

/// True behind what gives a name: `mod`, `as`, and a path from somewhere, whose last part an import brings into scope.
fn names(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(word)] => is(word, "mod") || is(word, "as"),
        [rest @ .., TokenTree::Punct(_), TokenTree::Punct(_)] => {
            ends_in_colons(before) && matches!(rest.last(), Some(TokenTree::Ident(_)))
        }
        _ => false,
    }
}

fn ends_in_colons(trees: &[TokenTree]) -> bool {
    let colon = |tree: &TokenTree| matches!(tree, TokenTree::Punct(mark) if mark.as_char() == ':');
    matches!(trees, [.., first, second] if colon(first) && colon(second))
}

fn is(ident: &Ident, word: &str) -> bool {
    let text = ident.to_string();
    text.strip_prefix("r#").unwrap_or(&text) == word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_calls_the_main_of_the_runtime_is_judged_by_it() {
        let check = |text: &str, expect: bool| assert_eq!(calls_main(text), expect, "{text}");
        check("use x::y;\ndisttest_runtime::main!();\n", true);
        check("::disttest_runtime::main! {}\n", true);
        check("fn main() {} // disttest_runtime::main!();\n", false);
        check("const X: &str = \"disttest_runtime::main!();\";\n", false);
        check("disttest_runtime::todo!(\"main\");\n", false);
        check("not ( rust", true);
    }

    #[test]
    fn only_a_file_that_gives_the_name_to_another_item_shadows_the_runtime() {
        let check = |text: &str, expect: Option<usize>| assert_eq!(shadowed(text), expect, "{text}");
        check("use disttest_runtime::prelude::*;\ndisttest_runtime::main!();\n", None);
        check("fn f() {\n    disttest_runtime::todo!(\"as disttest_runtime\"); // mod disttest_runtime\n}\n", None);
        check("#[::disttest_runtime::scenario]\nfn f(x: disttest_runtime::X) {}\n", None);
        check("\nmod disttest_runtime { pub fn x() {} }\n", Some(2));
        check("extern crate other as disttest_runtime;\n", Some(1));
        check("fn f() {\n    mod r#disttest_runtime {}\n}\n", Some(2));
        check("use other::disttest_runtime;\n", Some(1));
        check("use other::{a, disttest_runtime};\n", Some(1));
        check("use other::{self as disttest_runtime};\n", Some(1));
        check("not ( rust", None);
    }
}
