//! Networks of namespaces: nodes with addresses of their own, whose packets can be dropped, lost, delayed, doubled,
//! overtaken, damaged or throttled on the way, rootless or as root, with nothing left behind by construction.

mod backend;
mod counts;
pub mod enclosure;
mod fabric;
mod filter;
mod links;
mod namespace;
mod netlink;
mod switch;
mod treatment;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use backend::Backend;
pub use counts::Counts;
pub use fabric::{Home, NetnsNet};
pub use namespace::Namespace;
pub use treatment::{End, Treatment};
