//! Attribute macros of disttest. Use them through `disttest-runtime`, which re-exports them.
//!
//! The macro sees what the plan declared and refuses, at compile time, an attribute that breaks a gate of the plan
//! format. It reads no files: that the plan still says the same is checked when the test runs.

mod ast;
mod check;
mod emit;
mod names;
mod parse;
mod regions;
mod signature;

use proc_macro::TokenStream;

/// Registers a function as a scenario of a test plan.
///
/// ```text
/// #[disttest_runtime::scenario(
///     id = "S3", plan = "docs/testing-plans/replicated-log.md",
///     plan_sha256 = "…", scenario_sha256 = "…",
///     falsifies("C1": durability, "C5": (safety, ordering)),
///     model = log,                                     // or other("name")
///     checkers("linearizability" per_key, "no-lost-ack", custom("our-own")),
///     nemesis("asymmetric-data-cut"),                  // or: no_fault = "why none is planned"
///     landing(injector("proxy-dropped-bytes"), victim("client-timeouts")),
///     budget(smoke(nodes = 3, seconds = 10, faults = 1, seeds = 1),
///            hardening(nodes = 5, seconds = 300, faults = 5, seeds = 3, operations = 20000),
///            release = "not provided — no soak rig yet. Revisit when: we have one."),
/// )]
/// async fn linearizable_append_under_partition(run: Run) -> Result<Judged> { … }
/// ```
///
/// An arm of a scenario has an id such as `S5/api`, a function `<scenario>__<arm>`, a model, checkers and a fault of its
/// own, and for a boundary claim `surface = "…"` and `negative_controls("…")`. Its `scenario_sha256` is that of the whole
/// scenario: an edit of one arm in the plan is drift of all of them. What `negative_controls` declares is tried by
/// `Client::control` in each run; without that the arm does not pass hardening.
///
/// Further fields: `negative_controls("…")` (for a boundary or fairness claim outside an arm, too),
/// `exit_criteria = "…"` (a legacy plan without budgets: the verdict is capped at PASS-smoke), `shares_nothing`
/// (may run beside other scenarios of its plan), and `unresolved("model", …)` (fields that `author` could not read
/// from the plan's prose: they may be missing, and the scenario stays NOT-RUN).
///
/// The function takes one `Run` and returns `Result<Judged>`; it is async or sync. A region marked
/// `disttest_runtime::todo!("name")` is found here, so that the runner knows, without running anything, that the
/// scenario is not filled.
#[proc_macro_attribute]
pub fn scenario(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand(attribute.into(), item.into()).into()
}

fn expand(attribute: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let function: syn::ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            let error = syn::Error::new_spanned(
                &item,
                "`#[scenario]` belongs on a function: `async fn name(run: Run) -> Result<Judged>`",
            );
            let error = error.into_compile_error();
            return quote::quote!(#error #item);
        }
    };
    let mut errors = ast::Errors::default();
    let written = parse::attribute(attribute, &mut errors);
    signature::check(&function, &mut errors);
    check::gates(&written, &function, &mut errors);
    match errors.into_compile_errors() {
        Some(errors) => emit::rejected(&function, &errors),
        None => emit::registered(&function, &written, &regions::unfilled(&function.block)),
    }
}
