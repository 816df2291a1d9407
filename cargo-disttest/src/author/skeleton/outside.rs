//! What a piece of a skeleton must not do: reach outside of its file, or give another meaning to the names that the
//! frame around it uses.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Names of the frame. A helper with such a name would change what the frame says.
const RESERVED: [&str; 7] = ["Run", "Result", "Judged", "Workload", "Landed", "disttest_runtime", "main"];
/// Macros that read other files, or leave Rust.
const MACROS: [&str; 7] = ["include", "include_str", "include_bytes", "asm", "global_asm", "naked_asm", "llvm_asm"];
/// Attributes that read other files, or act on more than the item below them.
const ATTRIBUTES: [&str; 15] = [
    "path",
    "no_mangle",
    "export_name",
    "link",
    "link_name",
    "link_section",
    "used",
    "unsafe",
    "global_allocator",
    "panic_handler",
    "macro_export",
    "macro_use",
    "ctor",
    "dtor",
    "proc_macro",
];

/// Why code must not be taken over; `None` when nothing speaks against it.
pub(super) fn reaches(tokens: TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let punct = |offset: usize, sign: char| matches!(tokens.get(index + offset), Some(TokenTree::Punct(p)) if p.as_char() == sign);
        match token {
            TokenTree::Ident(word) if *word == "unsafe" => return Some("`unsafe` code".to_owned()),
            TokenTree::Ident(word) if *word == "extern" => return Some("`extern`".to_owned()),
            TokenTree::Ident(word) if punct(1, '!') && MACROS.iter().any(|name| *word == *name) => {
                return Some(format!("`{word}!`"));
            }
            TokenTree::Group(group) => {
                let attribute = index > 0 && group.delimiter() == Delimiter::Bracket;
                let sign =
                    |at: usize, sign: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == sign);
                let attribute =
                    attribute && (sign(index - 1, '#') || index > 1 && sign(index - 1, '!') && sign(index - 2, '#'));
                let reach = if attribute { reaching_attribute(group.stream()) } else { None };
                if let Some(why) = reach.or_else(|| reaches(group.stream())) {
                    return Some(why);
                }
            }
            _ => {}
        }
    }
    None
}

/// Any of the names, at any depth: `cfg_attr(all(), path = "…")` is one, too.
fn reaching_attribute(tokens: TokenStream) -> Option<String> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) if ATTRIBUTES.iter().any(|name| word == name) => Some(format!("`#[{word}]`")),
        TokenTree::Group(group) => reaching_attribute(group.stream()),
        _ => None,
    })
}

/// A name that `item` brings and that the frame or one of its `functions` has already.
pub(super) fn taken_name(item: &syn::Item, functions: &[&str]) -> Option<String> {
    let taken = |name: &String| RESERVED.contains(&name.as_str()) || functions.contains(&name.as_str());
    names(item).into_iter().find(taken)
}

/// The names that `item` brings.
pub(super) fn names(item: &syn::Item) -> Vec<String> {
    use syn::Item;
    let one = |ident: &syn::Ident| vec![ident.to_string().trim_start_matches("r#").to_owned()];
    match item {
        Item::Const(item) => one(&item.ident),
        Item::Enum(item) => one(&item.ident),
        Item::Fn(item) => one(&item.sig.ident),
        Item::Mod(item) => one(&item.ident),
        Item::Static(item) => one(&item.ident),
        Item::Struct(item) => one(&item.ident),
        Item::Trait(item) => one(&item.ident),
        Item::TraitAlias(item) => one(&item.ident),
        Item::Type(item) => one(&item.ident),
        Item::Union(item) => one(&item.ident),
        Item::Use(item) => {
            let mut found = Vec::new();
            used(&item.tree, "", &mut found);
            found
        }
        _ => Vec::new(),
    }
}

/// The names that a `use` binds; `self` is the name before it.
fn used(tree: &syn::UseTree, before: &str, found: &mut Vec<String>) {
    let bare = |ident: &syn::Ident| ident.to_string().trim_start_matches("r#").to_owned();
    match tree {
        syn::UseTree::Path(path) => used(&path.tree, &bare(&path.ident), found),
        syn::UseTree::Name(name) if name.ident == "self" => found.push(before.to_owned()),
        syn::UseTree::Name(name) => found.push(bare(&name.ident)),
        syn::UseTree::Rename(rename) => found.push(bare(&rename.rename)),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| used(tree, before, found)),
        _ => {}
    }
}
