//! What a nemesis may act upon: the nodes' processes and the links between them. Nothing else of the host.

use super::procfs::Identity;
use super::storage::Mounted;
use super::{Exit, Journal, Launcher, Meters, Network};
use anyhow::Result;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The nodes' processes, as a nemesis sees them. Each act is journaled before it is done and is an error unless the
/// kernel shows that it took.
pub trait Nodes: Send + Sync {
    /// Names of all nodes, in order.
    fn names(&self) -> Vec<String>;

    /// The process of `node` runs (paused counts), as the kernel shows it at the moment of the call.
    fn runs(&self, node: &str) -> bool;

    /// Sends SIGKILL and waits for the wait status; an error unless that says SIGKILL.
    fn kill<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<Exit>>;

    /// Sends SIGTERM and waits for the wait status; an error when the node does not end in time or crashes.
    fn terminate<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<Exit>>;

    /// Sends SIGSTOP and waits until every task of the process is stopped.
    fn pause<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<()>>;

    /// Sends SIGCONT and waits until a task of the process is no longer stopped.
    fn resume<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<()>>;

    /// Starts a node that has ended, with the same arguments and data, and waits until it is ready.
    fn start<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<()>>;

    /// Starts a node that has ended as another variant of its program (`None`: the program itself), on its data, and waits
    /// until it is ready.
    fn start_as<'a>(&'a self, node: &'a str, variant: Option<&'a str>) -> BoxFuture<'a, Result<()>>;

    /// The variant of its program that `node` runs, or ran last; `None`: the program itself.
    fn variant(&self, node: &str) -> Result<Option<String>>;

    /// The node's own folder.
    fn data_dir(&self, node: &str) -> Result<PathBuf>;

    /// Process id and start time of the node's process, which leads its group; an error when it does not run.
    fn process(&self, node: &str) -> Result<Identity>;

    /// From now on (`true`) an exit by SIGKILL of the process that runs now is the doing of a nemesis, which has the kernel
    /// kill; or no longer (`false`). An error when the node does not run and is expected to.
    fn expect_kill(&self, node: &str, expected: bool) -> Result<()>;

    /// The disk that is mounted as the node's folder; `None` when that is a plain folder.
    fn disk(&self, node: &str) -> Result<Option<Arc<Mounted>>>;
}

/// What a run lends to its nemeses.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    pub(crate) journal: Arc<Journal>,
    pub(crate) launcher: Launcher,
    pub(crate) meters: Meters,
    pub(crate) run_dir: PathBuf,
}

/// The nodes and the network between them. Handed to [`super::Nemesis::inject`] and [`super::Nemesis::heal`].
#[derive(Clone)]
pub struct Plane {
    net: Network,
    nodes: Arc<dyn Nodes>,
    tools: Tools,
}

impl Plane {
    /// The plane over `nodes` with `net` between them.
    pub(crate) fn new(net: Network, nodes: Arc<dyn Nodes>, tools: Tools) -> Plane {
        Plane { net, nodes, tools }
    }

    /// The network between nodes, and between clients and nodes.
    pub fn net(&self) -> &Network {
        &self.net
    }

    /// The nodes' processes.
    pub fn nodes(&self) -> &dyn Nodes {
        &*self.nodes
    }

    /// What the run lends to its nemeses.
    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }
}

impl fmt::Debug for Plane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plane").field("nodes", &self.nodes.names()).finish_non_exhaustive()
    }
}
