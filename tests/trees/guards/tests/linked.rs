//! The crate of scenarios is named.

use guards as _;

disttest_runtime::main!();
