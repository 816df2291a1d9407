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

    /// The address the node must listen on. Behind the proxy use it for nothing else: what connects here bypasses it.
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// The address at which clients reach the node: the proxy's, or the node's own.
    pub fn client_address(&self) -> SocketAddr {
        self.client
    }

    /// The node's own folder. It exists and survives restarts of the node.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// The other nodes with the address at which this node reaches each: the proxy's, or the peer's own.
    pub fn peers(&self) -> &[(String, SocketAddr)] {
        &self.peers
    }
}
