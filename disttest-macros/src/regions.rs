//! Finds `disttest_runtime::todo!("name")` in a function: regions that nobody has filled yet.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;

/// A region marked unfilled inside a scenario function.
pub(crate) struct Region {
    pub(crate) name: String,
    pub(crate) span: Span,
}

/// Every unfilled region of `block`, in order. Looks at tokens, so that macros and closures hide nothing.
pub(crate) fn unfilled(block: &syn::Block) -> Vec<Region> {
    let mut found = Vec::new();
    scan(block.to_token_stream(), &mut found);
    found
}

fn scan(tokens: TokenStream, found: &mut Vec<Region>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            scan(group.stream(), found);
        }
        if let Some(region) = region_at(&tokens, index) {
            found.push(region);
        }
    }
}

/// `disttest_runtime :: todo ! ( "name" )`, starting at `index`. The path's crate may be renamed, so any
/// `<ident>::todo!("…")` counts except the standard library's.
fn region_at(tokens: &[TokenTree], index: usize) -> Option<Region> {
    let is = |offset: usize, text: &str| tokens.get(index + offset).is_some_and(|token| token.to_string() == text);
    let TokenTree::Ident(krate) = tokens.get(index)? else { return None };
    if krate == "std" || krate == "core" || !(is(1, ":") && is(2, ":") && is(3, "todo") && is(4, "!")) {
        return None;
    }
    let TokenTree::Group(arguments) = tokens.get(index + 5)? else { return None };
    let name: syn::LitStr = syn::parse2(arguments.stream()).ok()?;
    Some(Region { name: name.value(), span: krate.span() })
}
