//! How deep a parser would have to go: syn and its trees are recursive, and a skeleton is untrusted.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// More than any test that a person wrote, and far less than what fills the stack that a skeleton is read on.
pub(super) const DEEPEST: usize = 1500;

/// An upper bound of the nesting of any tree made of `tokens`: brackets, and within each pair the tokens since the last
/// `;`, `,` or end of a block, because each of them may be an operator. Itself not recursive.
pub(super) fn bound(tokens: TokenStream) -> usize {
    let mut deepest = 0;
    let mut open = vec![(tokens, 0)];
    while let Some((tokens, base)) = open.pop() {
        let mut chain = 0;
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            chain += 1;
            deepest = deepest.max(base + chain);
            match token {
                TokenTree::Punct(punct) if matches!(punct.as_char(), ';' | ',') => chain = 0,
                TokenTree::Group(group) => {
                    open.push((group.stream(), base + chain));
                    if group.delimiter() == Delimiter::Brace && !tokens.peek().is_some_and(goes_on) {
                        chain = 0;
                    }
                }
                _ => {}
            }
        }
    }
    deepest
}

/// The token behind a block belongs to the same expression.
fn goes_on(token: &TokenTree) -> bool {
    match token {
        TokenTree::Punct(punct) => punct.as_char() != '#',
        TokenTree::Ident(word) => word == "else" || word == "as",
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_brackets_and_the_longest_chain_in_them() {
        let check = |text: &str, expect: usize| assert_eq!(bound(text.parse().expect(text)), expect, "{text}");
        check("", 0);
        check("a; b; c;", 2);
        check("a(b(c))", 5);
        check("!!!!x", 5);
        check("fn a() {} fn b() {} fn c() {}", 4);
        check("if a {} else if b {} else {}", 9);
        check("match a { 1 => {} _ => {} }", 7);
    }
}
