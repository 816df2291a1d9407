//! A cluster: nodes started and ready, and taken down on every way out.

use super::life::Node;
use super::{NodeSpec, Program, ports};
use crate::base::rng::Rng;
use crate::nemesis::net::NetnsNet;
use crate::nemesis::procfs::Identity;
use crate::nemesis::storage::Mounted;
use crate::nemesis::{BoxFuture, Clock, Exit, Journal, Launcher, Meters, Network, Nodes, ProxyNet, Tools};
use crate::verdict::{ExpectedLog, NodeBinary, NodeDeath};
use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Name of the outside world in the proxy's links: clients come from here.
pub(crate) const CLIENT: &str = "client";

/// Where a cluster runs: what its run lends it.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) run_dir: PathBuf,
    pub(crate) log_dir: PathBuf,
    pub(crate) sut_args: Vec<String>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) launcher: Launcher,
    pub(crate) clock: Clock,
    pub(crate) net: Network,
    pub(crate) meters: Meters,
    pub(crate) mourners: Mourners,
}

type Mourner = Arc<dyn Fn(&NodeDeath) + Send + Sync>;

/// Who is told at once of a node that ended by itself.
#[derive(Clone, Default)]
pub(crate) struct Mourners(Option<Mourner>);

impl Mourners {
    /// Tells `who`.
    pub(crate) fn new(who: impl Fn(&NodeDeath) + Send + Sync + 'static) -> Mourners {
        Mourners(Some(Arc::new(who)))
    }

    pub(super) fn tell(&self, death: &NodeDeath) {
        if let Some(who) = &self.0 {
            who(death);
        }
    }
}

impl fmt::Debug for Mourners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mourners").field(&self.0.is_some()).finish()
    }
}

impl Site {
    /// What nemeses may use of it.
    pub(crate) fn tools(&self) -> Tools {
        let (journal, launcher) = (Arc::clone(&self.journal), self.launcher.clone());
        Tools { journal, launcher, meters: self.meters.clone(), run_dir: self.run_dir.clone() }
    }
}

/// Nodes that were started and have answered their readiness probe. Clones name the same cluster.
///
/// When the run ends, in whatever way, every process of it is killed.
#[derive(Clone, Debug)]
pub struct Cluster {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    nodes: Vec<Arc<Node>>,
    /// What is mounted as the nodes' folders, by the node's name.
    disks: BTreeMap<String, Arc<Mounted>>,
}

impl Cluster {
    /// Starts `count` nodes of `program` and waits until all are ready. Ports that another process took in the
    /// meantime are replaced, at most four times.
    pub(crate) async fn start(program: Program, count: usize, site: Arc<Site>) -> Result<Cluster> {
        // Ports are no part of what a seed repeats: two runs at one time must look in different places.
        static CLUSTERS: AtomicU64 = AtomicU64::new(0);
        let salt = u64::from(std::process::id()) << 20 | CLUSTERS.fetch_add(1, Ordering::Relaxed);
        let mut salts = Rng::stream(salt, "ports");
        let mut attempt = 1;
        loop {
            let cluster = Cluster::wire(&program, count, &site, salts.next_u64() >> 8)?;
            let Err(error) = cluster.launch_all().await else { return Ok(cluster) };
            let clash = cluster.inner.nodes.iter().any(|node| tells_of_a_port_clash(&node.log_tail()));
            cluster.close();
            if !clash || attempt == 4 {
                return Err(error.context("the cluster did not come up"));
            }
            attempt += 1;
        }
    }

    fn wire(program: &Program, count: usize, site: &Arc<Site>, salt: u64) -> Result<Cluster> {
        if count == 0 {
            bail!("the budget names no nodes");
        }
        if let Some(why) = site.net.why_missing() {
            bail!("nodes cannot have addresses of their own: {why}");
        }
        std::fs::create_dir_all(&site.log_dir).with_context(|| format!("{}", site.log_dir.display()))?;
        let names: Vec<String> = (1..=count).map(|i| format!("n{i}")).collect();
        let wired = match site.net.namespaces() {
            Some(net) => by_own_addresses(net, &names, program.fixed_port())?,
            None if program.wants_own_addresses() => bail!("nodes cannot have addresses of their own in this process"),
            None => by_proxy(site, &names, salt)?,
        };
        let (mut nodes, mut disks) = (Vec::new(), BTreeMap::new());
        for (index, (name, wiring)) in names.iter().zip(wired).enumerate() {
            let mut data_dir = site.run_dir.join("data").join(name);
            std::fs::create_dir_all(&data_dir).with_context(|| format!("{}", data_dir.display()))?;
            if let Some(disk) = program.disk_of_a_node().mount(name, &data_dir, &site.tools())? {
                data_dir = disk.folder();
                disks.insert(name.clone(), disk);
            }
            let spec = NodeSpec::new(name.clone(), index, wiring.listen, wiring.client, data_dir, wiring.peers);
            let variant = program.first_variant(name, &names)?;
            nodes.push(Arc::new(Node::new(spec, program.clone(), variant, Arc::clone(site), wiring.launcher)));
        }
        Ok(Cluster { inner: Arc::new(Inner { nodes, disks }) })
    }

    async fn launch_all(&self) -> Result<()> {
        let mut starting = Vec::new();
        for node in &self.inner.nodes {
            node.prepare().await?;
        }
        for node in &self.inner.nodes {
            starting.push((node, node.launch()?));
        }
        for (node, process) in starting {
            node.until_ready(&process).await?;
        }
        Ok(())
    }

    /// Names of the nodes: `n1`, `n2`, ….
    pub fn nodes(&self) -> Vec<String> {
        self.inner.nodes.iter().map(|node| node.spec.name().to_owned()).collect()
    }

    /// The wiring of each node, in order.
    pub fn specs(&self) -> impl Iterator<Item = &NodeSpec> {
        self.inner.nodes.iter().map(|node| &node.spec)
    }

    /// The address at which clients reach `node`, through the proxy; `None` when there is no such node.
    pub fn client_address(&self, node: &str) -> Option<SocketAddr> {
        self.find(node).ok().map(|node| node.spec.client_address())
    }

    /// The log of `node`: its standard output and error, appended across restarts.
    pub fn log_path(&self, node: &str) -> Option<&Path> {
        self.find(node).ok().map(|node| node.log.as_path())
    }

    /// Exits that no nemesis caused, so far, as the kernel shows them at the moment of the call.
    pub fn deaths(&self) -> Vec<NodeDeath> {
        self.inner.nodes.iter().flat_map(|node| node.deaths()).collect()
    }

    /// What the program's author expects in the nodes' logs.
    pub(crate) fn expected_log(&self) -> Vec<ExpectedLog> {
        self.inner.nodes.first().map(|node| node.expected_log()).unwrap_or_default()
    }

    /// Which binary each node ran, by SHA-256 and by what it says of its version, in order of its starts.
    pub fn binaries(&self) -> Vec<NodeBinary> {
        self.inner.nodes.iter().flat_map(|node| node.binaries()).collect()
    }

    /// Names of the nodes whose process runs.
    pub fn running(&self) -> Vec<String> {
        let running = self.inner.nodes.iter().filter(|node| node.runs());
        running.map(|node| node.spec.name().to_owned()).collect()
    }

    /// Id of the process that plays `node` now; `None` while none does.
    pub fn pid(&self, node: &str) -> Option<i32> {
        self.find(node).ok()?.pid()
    }

    /// The readiness probe of `node` succeeds within 1 s.
    pub(crate) async fn answers(&self, node: &str) -> bool {
        match self.find(node) {
            Ok(node) => node.answers().await,
            Err(_) => false,
        }
    }

    /// Reading of a process signal of `node`; `None` is a gap.
    pub(crate) fn reading(&self, signal: &str, node: &str) -> Option<f64> {
        self.find(node).ok()?.reading(signal)
    }

    /// Waits until every node that runs has given a sign of life, or has ended; at most 1 s for each. Who was killed a
    /// moment ago is found dead after this.
    pub(crate) async fn last_sign_of_life(&self) {
        for node in &self.inner.nodes {
            node.answers_or_ends(Duration::from_secs(1)).await;
        }
    }

    /// Kills every process and waits until the kernel has reaped them. May be called again.
    pub(crate) fn close(&self) {
        self.inner.close();
    }

    fn find(&self, node: &str) -> Result<&Arc<Node>> {
        let found = self.inner.nodes.iter().find(|candidate| candidate.spec.name() == node);
        found.with_context(|| format!("`{node}` is no node of this cluster"))
    }
}

impl Inner {
    fn close(&self) {
        let ending: Vec<_> = self.nodes.iter().filter_map(|node| node.close()).collect();
        for process in &ending {
            process.ended_within(Duration::from_secs(5));
        }
        self.nodes.iter().for_each(|node| node.account());
        self.disks.values().for_each(|disk| disk.unmount());
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

impl Nodes for Cluster {
    fn names(&self) -> Vec<String> {
        self.nodes()
    }

    fn runs(&self, node: &str) -> bool {
        self.find(node).is_ok_and(|node| node.runs())
    }

    fn kill<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<Exit>> {
        Box::pin(async move { self.find(node)?.end(Signal::KILL).await })
    }

    fn terminate<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<Exit>> {
        Box::pin(async move { self.find(node)?.end(Signal::TERM).await })
    }

    fn pause<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.find(node)?.pause().await })
    }

    fn resume<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.find(node)?.resume().await })
    }

    fn start<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.find(node)?.restart().await })
    }

    fn start_as<'a>(&'a self, node: &'a str, variant: Option<&'a str>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.find(node)?.restart_as(variant).await })
    }

    fn variant(&self, node: &str) -> Result<Option<String>> {
        Ok(self.find(node)?.variant())
    }

    fn data_dir(&self, node: &str) -> Result<PathBuf> {
        Ok(self.find(node)?.spec.data_dir().to_owned())
    }

    fn process(&self, node: &str) -> Result<Identity> {
        self.find(node)?.process()
    }

    fn expect_kill(&self, node: &str, expected: bool) -> Result<()> {
        self.find(node)?.expect_kill(expected)
    }

    fn disk(&self, node: &str) -> Result<Option<Arc<Mounted>>> {
        self.find(node)?;
        Ok(self.inner.disks.get(node).cloned())
    }
}

/// Where a node listens, how others reach it, and what starts its process.
struct Wiring {
    listen: SocketAddr,
    client: SocketAddr,
    peers: Vec<(String, SocketAddr)>,
    launcher: Launcher,
}

/// Every link by a listener of the proxy.
fn by_proxy(site: &Site, names: &[String], salt: u64) -> Result<Vec<Wiring>> {
    let (addresses, net) = (ports::free_addresses(names.len(), salt)?, site.net.proxy());
    let wire = |(name, listen): (&String, &SocketAddr)| {
        let others = names.iter().zip(&addresses).filter(|(peer, _)| *peer != name);
        let peers = others.map(|(peer, address)| Ok((peer.clone(), link(net, name, peer, *address)?)));
        Ok(Wiring {
            listen: *listen,
            client: link(net, CLIENT, name, *listen)?,
            peers: peers.collect::<Result<_>>()?,
            launcher: site.launcher.clone(),
        })
    };
    names.iter().zip(&addresses).map(wire).collect()
}

/// Each node in a namespace of its own, at the same port of its own address.
fn by_own_addresses(net: &NetnsNet, names: &[String], port: u16) -> Result<Vec<Wiring>> {
    let homes = names.iter().enumerate().map(|(index, name)| Ok((name, net.add_node(name, index)?)));
    let homes = homes.collect::<Result<Vec<_>>>()?;
    let wire = |(name, home): &(&String, _)| {
        let home: &crate::nemesis::net::Home = home;
        let others = homes.iter().filter(|(peer, _)| peer != name);
        let listen = SocketAddr::from((home.address, port));
        Ok(Wiring {
            listen,
            client: listen,
            peers: others.map(|(peer, home)| ((*peer).clone(), (home.address, port).into())).collect(),
            launcher: Launcher::inside(name, home.namespace.clone())?,
        })
    };
    homes.iter().map(wire).collect()
}

/// The address of the link from `from` to `to`, opened or led to the node's new port.
fn link(net: &ProxyNet, from: &str, to: &str, upstream: SocketAddr) -> Result<SocketAddr> {
    match net.address(from, to) {
        Some(address) => {
            net.set_upstream(from, to, upstream)?;
            Ok(address)
        }
        None => net.add_link(from, to, upstream).with_context(|| format!("link {from} -> {to}")),
    }
}

/// The words of strerror(EADDRINUSE), which most programs print.
fn tells_of_a_port_clash(log: &str) -> bool {
    let log = log.to_ascii_lowercase();
    log.contains("address already in use") || log.contains("os error 98") || log.contains("eaddrinuse")
}
