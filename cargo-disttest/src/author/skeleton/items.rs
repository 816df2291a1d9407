//! The items of a skeleton: the test, and what helps it.

use super::super::foreign::MANDATORY;
use super::outside::{reaches, taken_name};
use super::{Remark, Source};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Item, ItemFn};

/// A skeleton, sorted.
pub(super) struct Sorted {
    /// The function that becomes the scenario.
    pub test: Option<ItemFn>,
    /// All other items that may be kept, as text.
    pub helpers: String,
    /// What was left out.
    pub remarks: Vec<Remark>,
}

/// Sorts `file`, whose test becomes `function`.
pub(super) fn sort(source: &Source<'_>, file: syn::File, function: &str) -> Sorted {
    let mut sorted = Sorted { test: None, helpers: String::new(), remarks: Vec::new() };
    for attribute in file.attrs.iter().filter(|attribute| !attribute.path().is_ident("doc")) {
        sorted.leave_out(source, attribute.span(), "an attribute of the whole file");
    }
    let nested = !file.items.iter().any(is_test);
    let only_function = file.items.iter().filter(|item| matches!(item, Item::Fn(_))).count() == 1;
    for item in file.items {
        match item {
            Item::Mod(module)
                if nested && module.content.as_ref().is_some_and(|(_, items)| items.iter().any(is_test)) =>
            {
                let items = module.content.map(|(_, items)| items).unwrap_or_default();
                items.into_iter().for_each(|item| sorted.take(source, item, function, Layout::Printed, false));
            }
            item => sorted.take(source, item, function, Layout::AsWritten, nested && only_function),
        }
    }
    if sorted.test.is_none() {
        let help = "write one function with `#[test]`, with the three TODO comments in it".to_owned();
        sorted.remarks.push((1, "its skeleton has no test function: the scenario's is synthesized".to_owned(), help));
    }
    sorted
}

/// How a kept item is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Its own text, with the comments above it.
    AsWritten,
    /// Printed anew: its own text is indented as in the module it stood in.
    Printed,
}

impl Sorted {
    fn take(&mut self, source: &Source<'_>, item: Item, function: &str, layout: Layout, only_function: bool) {
        if is_ours(&item) {
            return;
        }
        let test = is_test(&item) || only_function && matches!(item, Item::Fn(_));
        match item {
            Item::Fn(item) if test => self.test(source, item),
            item => self.helper(source, &item, function, layout),
        }
    }

    fn test(&mut self, source: &Source<'_>, item: ItemFn) {
        if self.test.is_some() {
            let why = "a second test function, which needs a scenario of its own";
            return self.leave_out(source, item.sig.ident.span(), why);
        }
        for attribute in item.attrs.iter().filter(|attribute| !is_test_attribute(attribute)) {
            if !attribute.path().is_ident("doc") && !attribute.path().is_ident("allow") {
                let what = attribute.path().to_token_stream().to_string().replace(' ', "");
                let line = source.line(source.range(attribute.span()).start);
                let help =
                    "a scenario runs by its tier and ends with a verdict: say in the plan what is special about it";
                let message =
                    format!("left out of its skeleton: `#[{what}]`, an attribute that a scenario does not have");
                self.remarks.push((line, message, help.to_owned()));
            }
        }
        let inputs = item.sig.inputs.to_token_stream().to_string().replace(' ', "");
        if !matches!(inputs.as_str(), "" | "run:Run" | "run:disttest_runtime::run::Run") {
            self.leave_out(source, item.sig.inputs.span(), "parameters, for which a scenario has its `run`");
        }
        self.test = Some(item);
    }

    fn helper(&mut self, source: &Source<'_>, item: &Item, function: &str, layout: Layout) {
        let outside = match item {
            Item::Mod(module) if module.content.is_none() => Some("a module in another file".to_owned()),
            Item::ExternCrate(_) => Some("`extern crate`".to_owned()),
            Item::Verbatim(_) => Some("syntax that is not known here".to_owned()),
            item => reaches(item.to_token_stream()).map(|why| format!("{why}, which reaches outside of the test")),
        };
        let taken = || taken_name(item, function).map(|name| format!("`{name}`, a name that the test has already"));
        if let Some(why) = outside.or_else(taken) {
            return self.leave_out(source, item.span(), &why);
        }
        if !self.helpers.is_empty() && !matches!(item, Item::Use(_)) {
            self.helpers.push('\n');
        }
        let text = match layout {
            Layout::AsWritten => as_written(source, item),
            Layout::Printed => prettyplease::unparse(&syn::File {
                shebang: None,
                attrs: Vec::new(),
                items: vec![item.clone()],
                frontmatter: None,
            }),
        };
        self.helpers.push_str(&text);
    }

    fn leave_out(&mut self, source: &Source<'_>, span: proc_macro2::Span, why: &str) {
        let help = "write it by hand into the file, if it is needed".to_owned();
        let line = source.line(source.range(span).start);
        self.remarks.push((line, format!("left out of its skeleton: {why}"), help));
    }
}

/// Items that the frame has already.
fn is_ours(item: &Item) -> bool {
    let text = item.to_token_stream().to_string().replace(' ', "");
    let glob =
        matches!(item, Item::Use(_)) && matches!(text.as_str(), "usedisttest_runtime::prelude::*;" | "usesuper::*;");
    glob || text.starts_with("disttest_runtime::main!")
}

fn is_test(item: &Item) -> bool {
    matches!(item, Item::Fn(function) if function.attrs.iter().any(is_test_attribute))
}

/// `#[test]`, `#[tokio::test(…)]`, `#[test_log::test]`, `#[rstest]`, our own `#[scenario(…)]`.
fn is_test_attribute(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last().map(|segment| segment.ident.to_string());
    matches!(last.as_deref(), Some("test" | "rstest" | "scenario"))
}

/// The item's own text, and the comments directly above it, unless they are the header.
fn as_written(source: &Source<'_>, item: &Item) -> String {
    let range = source.range(item.span());
    let first = source.line(range.start);
    let mut from = first;
    let line = |number: usize| {
        let start = source.starts[number - 1];
        source.text[start..].split_inclusive('\n').next().unwrap_or_default()
    };
    while from > 1 && line(from - 1).trim_start().starts_with("//") && !line(from - 1).trim_start().starts_with("//!") {
        from -= 1;
    }
    let above: String = (from..first).map(line).collect();
    let header = MANDATORY.iter().any(|words| above.contains(words)) || above.contains("disttest:");
    let above = if header { "" } else { above.as_str() };
    format!("{above}{}\n", &source.text[range])
}
