//! Attribute macros of disttest. Use them through `disttest-runtime`.

use proc_macro::TokenStream;

/// Registers a scenario.
#[proc_macro_attribute]
pub fn scenario(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    item
}
