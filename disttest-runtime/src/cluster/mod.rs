//! L4: clusters of real processes on this machine, wired so that each link between two nodes, and from clients to a
//! node, goes through the proxy, or in namespaces with addresses of their own.

mod binaries;
mod config;
mod life;
mod node;
mod ports;
mod program;
mod started;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod tiny;

pub use node::NodeSpec;
pub use program::Program;
pub use started::Cluster;
pub(crate) use started::{CLIENT, Mourners, Site};
