//! The crate of scenarios is named by a second target.

use guards as _;

disttest_runtime::main!();
