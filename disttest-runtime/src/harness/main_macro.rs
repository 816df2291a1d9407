//! `disttest_runtime::main!()`.

/// The one line that ends a test target of scenarios: its `main`, and a guard against a missing `harness = false`.
///
/// Without `harness = false` the standard test harness would replace this `main`, run no scenario, and report success
/// with 0 tests. The guard is compiled in exactly then, and does not compile.
///
/// ```toml
/// [[test]]
/// name = "scenarios"
/// harness = false
/// ```
#[macro_export]
macro_rules! main {
    () => {
        fn main() {
            // Not every build tool sets them.
            let (package, target) = (::core::option_env!("CARGO_PKG_NAME"), ::core::option_env!("CARGO_CRATE_NAME"));
            $crate::main_of_tests(package.unwrap_or(""), target.unwrap_or(""))
        }

        // Items under this attribute exist only under the standard harness; a constant inside them is evaluated even
        // though nothing calls them.
        #[::core::prelude::v1::test]
        fn disttest_requires_harness_false() {
            const _: () = ::core::panic!(
                "this target holds disttest scenarios, so its [[test]] entry in Cargo.toml needs `harness = false`: with \
                 the standard test harness no scenario would run and the result would be `ok`"
            );
        }
    };
}
