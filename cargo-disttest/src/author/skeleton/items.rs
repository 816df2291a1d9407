//! The items of a skeleton: the test, and what helps it.

use super::super::foreign::MANDATORY;
use super::super::frame::slug;
use super::outside::{names, reaches, taken_name};
use super::{Remark, Source};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Item, ItemFn};

/// A skeleton, sorted.
pub(super) struct Sorted<'s> {
    slots: &'s Slots,
    /// The function that becomes each of the slots.
    pub tests: Vec<Option<ItemFn>>,
    /// All other items that may be kept.
    pub helpers: Vec<Helper>,
    /// What was left out.
    pub remarks: Vec<Remark>,
}

/// An item that is kept beside the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Helper {
    /// Its text, whole lines.
    pub text: String,
    /// The item by its tokens: equal ones are one item.
    pub tokens: String,
    /// Names that it brings.
    pub names: Vec<String>,
    is_use: bool,
    /// Its line in the skeleton.
    pub line: usize,
}

impl Helper {
    /// The text of the region.
    pub(super) fn join(helpers: &[Helper]) -> String {
        let mut text = String::new();
        for helper in helpers {
            if !text.is_empty() && !helper.is_use {
                text.push('\n');
            }
            text.push_str(&helper.text);
        }
        text
    }
}

/// The functions that the tests of a skeleton may become.
#[derive(Clone, Debug)]
pub(super) enum Slots {
    /// One, whatever its test is called.
    One(String),
    /// Those of several arms, told by their names.
    Arms {
        /// Function and arm, of this file.
        here: Vec<(String, String)>,
        /// The same of arms whose tests come from elsewhere, or stand there.
        elsewhere: Vec<(String, String)>,
    },
}

impl Slots {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Slots::One(_) => 1,
            Slots::Arms { here, .. } => here.len(),
        }
    }

    fn functions(&self) -> Vec<&str> {
        match self {
            Slots::One(function) => vec![function],
            Slots::Arms { here, .. } => here.iter().map(|(function, _)| function.as_str()).collect(),
        }
    }

    /// The function that a test of this name becomes.
    fn of(&self, name: &str) -> Option<usize> {
        match self {
            Slots::One(_) => Some(0),
            Slots::Arms { here, .. } => here.iter().position(|arm| is_called(arm, name)),
        }
    }

    fn is_elsewhere(&self, name: &str) -> bool {
        matches!(self, Slots::Arms { elsewhere, .. } if elsewhere.iter().any(|arm| is_called(arm, name)))
    }
}

/// `tenants_stay_apart__api`, or `api`.
fn is_called((function, arm): &(String, String), name: &str) -> bool {
    let name = name.trim_start_matches("r#");
    name == function || slug(name) == slug(arm)
}

/// Sorts `file`, whose tests become the functions of `slots`.
pub(super) fn sort<'s>(source: &Source<'_>, file: syn::File, slots: &'s Slots) -> Sorted<'s> {
    let tests = vec![None; slots.count()];
    let mut sorted = Sorted { slots, tests, helpers: Vec::new(), remarks: Vec::new() };
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
                items.into_iter().for_each(|item| sorted.take(source, item, Layout::Printed, false));
            }
            item => sorted.take(source, item, Layout::AsWritten, nested && only_function),
        }
    }
    if sorted.tests.iter().all(Option::is_none) {
        sorted.remarks.push(without_test(slots));
    }
    sorted
}

fn without_test(slots: &Slots) -> Remark {
    let (message, help) = match slots {
        Slots::One(_) => (
            "its skeleton has no test function: the scenario's is synthesized",
            "write one function with `#[test]`, with the three TODO comments in it".to_owned(),
        ),
        Slots::Arms { .. } => (
            "its skeleton has no test function of an arm: those of the arms are synthesized",
            format!("name the test of each arm after it, such as `{}`", slots.functions().join("`, `")),
        ),
    };
    (1, message.to_owned(), help)
}

/// How a kept item is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Its own text, with the comments above it.
    AsWritten,
    /// Printed anew: its own text is indented as in the module it stood in.
    Printed,
}

impl Sorted<'_> {
    fn take(&mut self, source: &Source<'_>, item: Item, layout: Layout, only_function: bool) {
        if is_ours(&item) {
            return;
        }
        let arm = |function: &ItemFn| match self.slots {
            Slots::One(_) => only_function,
            Slots::Arms { .. } => {
                let name = function.sig.ident.to_string();
                self.slots.functions().contains(&name.as_str())
            }
        };
        let test = is_test(&item) || matches!(&item, Item::Fn(function) if arm(function));
        match item {
            Item::Fn(item) if test => self.test(source, item),
            item => self.helper(source, &item, layout),
        }
    }

    fn test(&mut self, source: &Source<'_>, item: ItemFn) {
        let name = item.sig.ident.to_string();
        if self.slots.is_elsewhere(&name) {
            return;
        }
        let Some(slot) = self.slots.of(&name) else {
            let why = format!("the test function `{name}`, which is called after none of the arms");
            return self.leave_out(source, item.sig.ident.span(), &why);
        };
        if self.tests[slot].is_some() {
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
        self.tests[slot] = Some(item);
    }

    fn helper(&mut self, source: &Source<'_>, item: &Item, layout: Layout) {
        let outside = match item {
            Item::Mod(module) if module.content.is_none() => Some("a module in another file".to_owned()),
            Item::ExternCrate(_) => Some("`extern crate`".to_owned()),
            Item::Verbatim(_) => Some("syntax that is not known here".to_owned()),
            item => reaches(item.to_token_stream()).map(|why| format!("{why}, which reaches outside of the test")),
        };
        let taken = || {
            taken_name(item, &self.slots.functions()).map(|name| format!("`{name}`, a name that the test has already"))
        };
        if let Some(why) = outside.or_else(taken) {
            return self.leave_out(source, item.span(), &why);
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
        let (tokens, is_use) = (item.to_token_stream().to_string(), matches!(item, Item::Use(_)));
        let line = source.line(source.range(item.span()).start);
        self.helpers.push(Helper { text, tokens, names: names(item), is_use, line });
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
