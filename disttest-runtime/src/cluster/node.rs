//! The wiring of one node: its name, addresses and folder.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// What a node is told at its start, and what others need to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    name: String,
    index: usize,
    listen: SocketAddr,
    client: SocketAddr,
    data_dir: PathBuf,
    peers: Vec<(String, SocketAddr)>,
}

impl NodeSpec {
    pub(super) fn new(
        name: String,
        index: usize,
        listen: SocketAddr,
        client: SocketAddr,
        data_dir: PathBuf,
        peers: Vec<(String, SocketAddr)>,
    ) -> NodeSpec {
        NodeSpec { name, index, listen, client, data_dir, peers }
    }

    /// `n1`, `n2`, ….
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Place in the cluster, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The address the node must listen on. Use it for nothing else: what connects here bypasses the proxy.
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// The proxy's address at which clients reach the node.
    pub fn client_address(&self) -> SocketAddr {
        self.client
    }

    /// The node's own folder. It exists and survives restarts of the node.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// The other nodes with the proxy's address at which this node reaches each.
    pub fn peers(&self) -> &[(String, SocketAddr)] {
        &self.peers
    }
}
