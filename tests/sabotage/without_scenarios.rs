//! A scenario binary with no scenario in it: it must not end well.

disttest_runtime::main!();
