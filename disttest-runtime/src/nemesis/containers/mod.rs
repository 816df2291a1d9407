//! Nemeses on containers, by their own clients: `docker compose` and `kubectl`.
//!
//! That a client returned 0 proves nothing: what it did is read back through it (`docker inspect`, `kubectl get -o json`),
//! five times a second while the fault acts, and that reading is the signal. What must be undone is journaled first.
//!
//! No live cluster of containers ran in the tests of this crate: the commands issued, and what is made of the answers, are
//! tested against recorded clients.
//!
//! A node of the cluster is then a process that forwards the node's address to its container, so that clients and probes have a
//! place to go to:
//!
//! ```no_run
//! use disttest_runtime::prelude::*;
//!
//! let port = |node: &NodeSpec| format!("TCP:127.0.0.1:{}", 15_001 + node.index());
//! let program = Program::new("socat")
//!     .args_with(move |node| vec![format!("TCP-LISTEN:{},fork,reuseaddr", node.listen().port()), port(node)]);
//! let compose = DockerCompose::project("shop").service("n1", "store-1").service("n2", "store-2");
//! let fault = ContainerFault::kill(&compose, ["n1"]);
//! ```

mod client;
mod compose;
mod fault;
mod kubernetes;

#[cfg(test)]
mod tests;

pub(super) use client::undo_by_client;
pub use compose::{ContainerFault, DockerCompose};
pub use kubernetes::{KubeFault, Kubernetes};
