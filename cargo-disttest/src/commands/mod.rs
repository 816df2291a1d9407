//! One verb a file.

pub mod plan;
