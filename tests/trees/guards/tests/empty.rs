//! The crate of scenarios is a dependency, but nothing here names it: the linker leaves it out.

disttest_runtime::main!();
