//! The code an attribute becomes: the function as written, and a constant that registers it.

use crate::ast::{Attribute, Release, Tier};
use crate::regions::Region;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ItemFn;

/// The function with the errors beside it. Unused names in it are the error's fault, not the author's.
pub(crate) fn rejected(function: &ItemFn, errors: &TokenStream) -> TokenStream {
    quote! {
        #[allow(dead_code, unused, non_snake_case)]
        #function
        #errors
    }
}

pub(crate) fn registered(function: &ItemFn, attribute: &Attribute, unfilled: &[Region]) -> TokenStream {
    let name = &function.sig.ident;
    let open = attribute
        .unresolved
        .iter()
        .map(|field| Region { name: format!("attribute {}", field.value()), span: field.span() });
    let regions: Vec<TokenStream> = open
        .chain(unfilled.iter().map(|r| Region { name: r.name.clone(), span: r.span }))
        .map(|r| region(&r))
        .collect();
    let quiet = (!regions.is_empty())
        .then(|| quote!(#[allow(unused_variables, unused_mut, unused_assignments, clippy::diverging_sub_expression)]));
    // `tenants_stay_apart__api`: two `_` in a row are no snake case.
    let arm = attribute.is_arm().then(|| quote!(#[allow(non_snake_case)]));
    let call = if function.sig.asyncness.is_some() {
        quote!(::std::boxed::Box::pin(#name(run)))
    } else {
        quote!(::std::boxed::Box::pin(async move { ::disttest_runtime::__private::blocking(#name, run) }))
    };
    let registration = registration(function, attribute, &regions);
    let guard = quote::format_ident!("{name}_needs_the_disttest_harness");
    quote! {
        #[cfg_attr(rust_analyzer, ::core::prelude::v1::test)]
        #quiet
        #arm
        #function

        const _: () = {
            fn body(run: ::disttest_runtime::run::Run) -> ::disttest_runtime::harness::BoxedScenario {
                #call
            }

            ::disttest_runtime::__private::inventory::submit! { #registration }
        };

        // Compiled in only when this target is run by the standard test harness, which would never run the scenario
        // and would report success. The standard harness finds no test inside of a constant or a function.
        #[::core::prelude::v1::test]
        #arm
        fn #guard() {
            panic!("this target holds disttest scenarios but is run by the standard test harness. In a test target set \
                `harness = false` and end the file with `disttest_runtime::main!();`; in a library set `test = false` \
                under `[lib]`");
        }
    }
}

fn region(region: &Region) -> TokenStream {
    let Region { name, span } = region;
    let line = quote_spanned!(*span=> ::core::line!());
    quote!((#name, #line))
}

fn registration(function: &ItemFn, attribute: &Attribute, regions: &[TokenStream]) -> TokenStream {
    let name = &function.sig.ident;
    let function_name = name.to_string();
    let line = quote_spanned!(name.span()=> ::core::line!());
    let Attribute { id, plan, plan_sha256, scenario_sha256, nemeses, shares_nothing, .. } = attribute;
    let falsifies = attribute.falsifies.iter().map(|falsified| {
        let (claim, words) = (&falsified.claim, falsified.categories.iter().map(|word| &word.text));
        quote!((#claim, &[#(#words),*]))
    });
    let checkers = attribute.checkers.iter().map(|checker| {
        let (name, per_key) = (&checker.name, checker.per_key);
        quote!((#name, #per_key))
    });
    let model = option(attribute.model.as_ref().map(|model| model_name(&model.name.text, model.other)));
    let no_fault = option(attribute.no_fault.as_ref());
    let (injector, victim) =
        attribute.landing.as_ref().map_or((&[][..], &[][..]), |l| (&l.injector[..], &l.victim[..]));
    let budgets = option(budgets(attribute));
    let surface = option(attribute.surface.as_ref());
    let negative_controls = &attribute.negative_controls;
    quote! {
        ::disttest_runtime::harness::Registration {
            id: #id,
            function: #function_name,
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: #line,
            manifest_dir: ::core::env!("CARGO_MANIFEST_DIR"),
            package: ::core::env!("CARGO_PKG_NAME"),
            plan: #plan,
            plan_sha256: #plan_sha256,
            scenario_sha256: #scenario_sha256,
            falsifies: &[#(#falsifies),*],
            model: #model,
            checkers: &[#(#checkers),*],
            nemeses: &[#(#nemeses),*],
            no_fault: #no_fault,
            landing: ::disttest_runtime::harness::DeclaredLanding { injector: &[#(#injector),*], victim: &[#(#victim),*] },
            budgets: #budgets,
            surface: #surface,
            negative_controls: &[#(#negative_controls),*],
            unfilled: &[#(#regions),*],
            shares_nothing: #shares_nothing,
            body,
        }
    }
}

fn model_name(name: &str, other: bool) -> String {
    if other { format!("other({name})") } else { name.to_owned() }
}

fn option<T: quote::ToTokens>(value: Option<T>) -> TokenStream {
    value.map_or_else(|| quote!(::core::option::Option::None), |value| quote!(::core::option::Option::Some(#value)))
}

/// `None` for a legacy plan and for budgets that `author` could not read.
fn budgets(attribute: &Attribute) -> Option<TokenStream> {
    let budgets = attribute.budgets.as_ref()?;
    let (smoke, hardening) = (tier(budgets.smoke.as_ref()?), tier(budgets.hardening.as_ref()?));
    let release = match budgets.release.as_ref()? {
        Release::Budget(numbers) => {
            let numbers = tier(numbers);
            quote!(::disttest_runtime::harness::DeclaredRelease::Budget(#numbers))
        }
        Release::NotProvided(text) => quote!(::disttest_runtime::harness::DeclaredRelease::NotProvided(#text)),
    };
    Some(
        quote!(::disttest_runtime::harness::DeclaredBudgets { smoke: #smoke, hardening: #hardening, release: #release }),
    )
}

fn tier(tier: &Tier) -> TokenStream {
    let of = |dimension: &str| tier.get(dimension).unwrap_or(0);
    let (nodes, seconds, faults, seeds, operations) =
        (of("nodes"), of("seconds"), of("faults"), of("seeds"), of("operations"));
    quote! {
        ::disttest_runtime::harness::DeclaredBudget {
            nodes: #nodes, seconds: #seconds, faults: #faults, seeds: #seeds, operations: #operations,
        }
    }
}
