//! The program a node runs: command, arguments, environment, and how to tell that it is ready.

use super::NodeSpec;
use super::binaries::Identity;
use super::config::Config;
use crate::nemesis::{BoxFuture, Disk, RUN_VARIABLE};
use crate::verdict::ExpectedLog;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Port of nodes that have addresses of their own, unless the program names one.
const PORT: u16 = 7000;

type ArgsOf = Arc<dyn Fn(&NodeSpec) -> Vec<String> + Send + Sync>;
type Prepare = Arc<dyn Fn(NodeSpec) -> BoxFuture<'static, Result<()>> + Send + Sync>;
type ReadyProbe = Arc<dyn Fn(SocketAddr) -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// What every node of a cluster runs.
///
/// ```
/// use disttest_runtime::cluster::Program;
///
/// let program = Program::new("/usr/local/bin/my-store")
///     .args(["--name", "{node}", "--listen", "{listen}", "--data", "{data_dir}", "--peer={peer}"])
///     .env("RUST_LOG", "info");
/// ```
///
/// In each argument these are replaced:
///
/// | placeholder | by |
/// |---|---|
/// | `{node}` | the node's name: `n1`, `n2`, … |
/// | `{listen}` | the address and port the node must listen on, for clients and peers |
/// | `{ip}` | the address alone |
/// | `{data_dir}` | the node's own folder; it survives restarts of the node |
/// | `{peers}` | the other nodes as `n2=127.0.0.1:4001,n3=127.0.0.1:4002` |
/// | `{peer:n2}` | the address and port at which this node reaches `n2` (its own listen address for itself) |
/// | `{ip:n2}` | the address alone |
/// | `{peer}` | the argument is repeated for each other node, with `n2=127.0.0.1:4001` in this place |
///
/// Behind the proxy all addresses are loopback, and those of peers are the proxy's: a node that reaches a peer in any
/// other way is out of reach of network faults. In namespaces ([`Program::own_addresses`]) they are the nodes' own, the
/// same for everybody, and every port of a node is within reach of faults. The environment is inherited without what belongs to the
/// harness (`DISTTEST_*`, `NEXTEST_*`, `CARGO_*`), but for `DISTTEST_RUN_DIR`: whatever a node starts is ended with the run by
/// it, a daemon too.
#[derive(Clone)]
pub struct Program {
    command: PathBuf,
    args: Args,
    env: Vec<(String, String)>,
    prepare: Option<Prepare>,
    ready: Option<ReadyProbe>,
    ready_within: Duration,
    stop_within: Duration,
    allowed_exit: Option<String>,
    disk: Disk,
    failpoints: bool,
    expected_log: Vec<ExpectedLog>,
    own_addresses: bool,
    port: u16,
    configs: Vec<Config>,
    version_args: Vec<String>,
    variants: BTreeMap<String, Program>,
    /// The variant that a node begins with.
    begins_with: BTreeMap<String, String>,
}

#[derive(Clone)]
enum Args {
    Template(Vec<String>),
    Of(ArgsOf),
}

impl Program {
    /// The program at `command`, without arguments. Until [`Program::ready`] says otherwise a node is ready once it
    /// accepts a TCP connection, within 20 s.
    pub fn new(command: impl Into<PathBuf>) -> Program {
        Program {
            command: command.into(),
            args: Args::Template(Vec::new()),
            env: Vec::new(),
            prepare: None,
            ready: None,
            ready_within: Duration::from_secs(20),
            stop_within: Duration::from_secs(10),
            allowed_exit: None,
            disk: Disk::Folder,
            failpoints: false,
            expected_log: Vec::new(),
            own_addresses: false,
            port: PORT,
            configs: Vec::new(),
            version_args: Vec::new(),
            variants: BTreeMap::new(),
            begins_with: BTreeMap::new(),
        }
    }

    /// Arguments of each node, with placeholders. Replaces what was set before.
    #[must_use]
    pub fn args<S: Into<String>>(mut self, template: impl IntoIterator<Item = S>) -> Program {
        self.args = Args::Template(template.into_iter().map(Into::into).collect());
        self
    }

    /// Arguments of each node as a function of its wiring. Replaces what was set before.
    #[must_use]
    pub fn args_with(mut self, args: impl Fn(&NodeSpec) -> Vec<String> + Send + Sync + 'static) -> Program {
        self.args = Args::Of(Arc::new(args));
        self
    }

    /// Sets an environment variable of every node.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Program {
        self.env.push((name.into(), value.into()));
        self
    }

    /// A configuration file in each node's folder, rendered from `template` before every start, with the placeholders of
    /// arguments; a line with `{peer}` is repeated for each other node. The program is told of it by an argument such as
    /// `--config={data_dir}/store.toml`. A file that would lie outside of the folder keeps the node from starting.
    ///
    /// ```
    /// use disttest_runtime::cluster::Program;
    ///
    /// let program = Program::new("/usr/local/bin/my-store")
    ///     .config("store.toml", "name = \"{node}\"\nlisten = \"{listen}\"\npeers = \"{peers}\"\n")
    ///     .args(["--config", "{data_dir}/store.toml"]);
    /// ```
    #[must_use]
    pub fn config(mut self, path: impl Into<PathBuf>, template: impl Into<String>) -> Program {
        self.configs.push(Config::new(path.into(), template.into()));
        self
    }

    /// How the program is asked for its version, such as `--version`: run once for each binary, and what it prints stands
    /// in the record of the run beside the binary's SHA-256. Default: it is not asked.
    #[must_use]
    pub fn version_args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Program {
        self.version_args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Another program for nodes of the same cluster, called `name`: another version, other arguments, another
    /// configuration. What belongs to the wiring (disk, own addresses, port) is taken from this one. A node begins with it by
    /// [`Program::begins_with`], or is moved to it by [`crate::nemesis::RollingUpgrade`] or
    /// [`crate::nemesis::MixedVersion`].
    ///
    /// ```
    /// use disttest_runtime::cluster::Program;
    ///
    /// let of = |version: &str| Program::new(format!("/opt/store-{version}/store")).args(["{listen}"]).version_args(["-V"]);
    /// let mixed = of("1.9").variant("next", of("2.0")).begins_with("n3", "next");
    /// ```
    #[must_use]
    pub fn variant(mut self, name: impl Into<String>, program: Program) -> Program {
        self.variants.insert(name.into(), program);
        self
    }

    /// `node` begins with the variant `name`.
    #[must_use]
    pub fn begins_with(mut self, node: impl Into<String>, name: impl Into<String>) -> Program {
        self.begins_with.insert(node.into(), name.into());
        self
    }

    /// The variant that `node` begins with. An error when it is none, or the cluster of `nodes` has no such node.
    pub(super) fn first_variant(&self, node: &str, nodes: &[String]) -> Result<Option<String>> {
        if let Some(stranger) = self.begins_with.keys().find(|named| !nodes.contains(named)) {
            bail!("`{stranger}` is to begin with a variant and is no node of this cluster");
        }
        let variant = self.begins_with.get(node).cloned();
        self.of(variant.as_deref()).map(|_| variant)
    }

    /// The program called `variant`; this one without a name.
    pub(super) fn of(&self, variant: Option<&str>) -> Result<&Program> {
        let Some(name) = variant else { return Ok(self) };
        let known = || self.variants.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        self.variants.get(name).with_context(|| format!("the program has no variant `{name}` (known: {})", known()))
    }

    /// Writes the configuration files of `node`.
    pub(super) fn configure(&self, node: &NodeSpec) -> Result<()> {
        self.configs.iter().try_for_each(|config| config.write(node)).with_context(|| node.name().to_owned())
    }

    /// The file of the program, and the identity of what is in it now.
    pub(super) fn binary(&self) -> (&Path, Arc<Identity>) {
        (&self.command, Identity::of(&self.command, &self.version_args))
    }

    /// What is done before a node starts for the first time, such as filling its data folder or writing its
    /// configuration: `prepare` is given the node's wiring. It is not called for restarts; when a port was taken and
    /// the cluster is wired anew it is called again on the same folder. An error keeps the cluster from coming up.
    #[must_use]
    pub fn prepare<F, Fut>(mut self, prepare: F) -> Program
    where
        F: Fn(NodeSpec) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.prepare = Some(Arc::new(move |node| Box::pin(prepare(node))));
        self
    }

    /// How to tell that a node is ready: `probe` is called with the address at which clients reach the node (through
    /// the proxy) until it succeeds. It should do what a client does, such as a read: a connection alone is accepted
    /// by the proxy.
    #[must_use]
    pub fn ready<F, Fut>(mut self, probe: F) -> Program
    where
        F: Fn(SocketAddr) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.ready = Some(Arc::new(move |address| Box::pin(probe(address))));
        self
    }

    /// How long a node may take until it is ready, at each start. Default 20 s.
    #[must_use]
    pub fn ready_within(mut self, limit: Duration) -> Program {
        self.ready_within = limit;
        self
    }

    /// How long a node may take to end after SIGTERM. Default 10 s.
    #[must_use]
    pub fn stop_within(mut self, limit: Duration) -> Program {
        self.stop_within = limit;
        self
    }

    /// Allows nodes to exit by themselves, for the given reason. Otherwise an exit that no nemesis caused is a
    /// violation.
    #[must_use]
    pub fn allow_exit(mut self, reason: impl Into<String>) -> Program {
        self.allowed_exit = Some(reason.into());
        self
    }

    /// What is mounted as each node's folder (`{data_dir}`), so that storage faults can act on it. Default: a plain folder.
    #[must_use]
    pub fn disk(mut self, disk: Disk) -> Program {
        self.disk = disk;
        self
    }

    /// Nodes have failpoints: each is told where to listen for [`crate::nemesis::Failpoint`], by the environment variable
    /// `DISTTEST_FAILPOINTS`. See [`crate::nemesis::failpoints`].
    #[must_use]
    pub fn failpoints(mut self) -> Program {
        self.failpoints = true;
        self
    }

    pub(super) fn has_failpoints(&self) -> bool {
        self.failpoints
    }

    pub(super) fn disk_of_a_node(&self) -> &Disk {
        &self.disk
    }

    /// Lines of the nodes' logs that look like a crash and are none: those with `text` in them, to the letter, for the
    /// given reason. A database may write `FATAL` for each connection it refuses while it recovers. How many lines were
    /// left out and the reason stand in the audit of every run.
    ///
    /// # Panics
    /// When `text` has fewer than 12 characters or the reason none: that would excuse lines that nobody thought of.
    #[must_use]
    pub fn expects_in_log(mut self, text: impl Into<String>, reason: impl Into<String>) -> Program {
        let expected = ExpectedLog { contains: text.into(), reason: reason.into() };
        assert!(expected.contains.trim().chars().count() >= 12, "`{}` is too short to name a line", expected.contains);
        assert!(!expected.reason.trim().is_empty(), "an expected line needs a reason");
        self.expected_log.push(expected);
        self
    }

    /// Its own expected lines, and those of its variants.
    pub(super) fn expected_log_of_all(&self) -> Vec<ExpectedLog> {
        let all = std::iter::once(self).chain(self.variants.values());
        all.flat_map(|program| program.expected_log.clone()).collect()
    }

    /// Gives each node a network namespace of its own, with an address of its own, whatever signals are declared.
    ///
    /// A scenario that declares an injector signal of `iptables`, `nft` or `switch` has that anyway. Ask for it where the
    /// fault is another one and the program needs real addresses (one list of members for all, several ports). The run
    /// then lives in private namespaces, as root or in a user namespace: it reaches no other network. Where they cannot
    /// be had, the scenario is INCONCLUSIVE-env. Call [`crate::run::Run::cluster`] before anything else: what the
    /// scenario did before is done again once the namespaces are entered.
    #[must_use]
    pub fn own_addresses(mut self) -> Program {
        self.own_addresses = true;
        self
    }

    /// The port that nodes with addresses of their own listen on, the same for all. Default 7000. Behind the proxy ports
    /// are chosen by the run.
    #[must_use]
    pub fn port(mut self, port: u16) -> Program {
        self.port = port;
        self
    }

    pub(crate) fn wants_own_addresses(&self) -> bool {
        self.own_addresses
    }

    pub(super) fn fixed_port(&self) -> u16 {
        self.port
    }

    pub(super) fn stop_limit(&self) -> Duration {
        self.stop_within
    }

    pub(super) fn ready_limit(&self) -> Duration {
        self.ready_within
    }

    pub(super) fn exit_is_allowed(&self) -> bool {
        self.allowed_exit.is_some()
    }

    /// Does what [`Program::prepare`] says, if anything.
    pub(super) async fn prepared(&self, node: &NodeSpec) -> Result<()> {
        match &self.prepare {
            Some(prepare) => prepare(node.clone()).await.with_context(|| format!("{} was not prepared", node.name())),
            None => Ok(()),
        }
    }

    /// One attempt of the readiness probe.
    pub(super) async fn probe(&self, node: &NodeSpec) -> Result<()> {
        match &self.ready {
            Some(probe) => probe(node.client_address()).await,
            None => {
                // Not through the proxy, which accepts for a node that is down.
                tokio::net::TcpStream::connect(node.listen()).await?;
                Ok(())
            }
        }
    }

    /// The command line of `node`; `more` are appended.
    pub(super) fn command(&self, node: &NodeSpec, more: &[String]) -> Result<std::process::Command> {
        let args = match &self.args {
            Args::Of(args) => args(node),
            Args::Template(template) => expand_all(template, node)?,
        };
        let mut command = std::process::Command::new(&self.command);
        for (name, _) in std::env::vars_os().filter(|(name, _)| belongs_to_the_harness(name)) {
            command.env_remove(name);
        }
        command.args(args).args(more).envs(self.env.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("command", &self.command).finish_non_exhaustive()
    }
}

fn belongs_to_the_harness(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    // By it whatever a node starts is found again, though the node is gone.
    if name == RUN_VARIABLE {
        return false;
    }
    ["DISTTEST_", "NEXTEST_", "CARGO_"].iter().any(|prefix| name.starts_with(prefix)) || name == "NEXTEST"
}

pub(super) fn expand_all(template: &[String], node: &NodeSpec) -> Result<Vec<String>> {
    let mut args = Vec::new();
    for arg in template {
        if arg.contains("{peer}") {
            for (name, address) in node.peers() {
                args.push(expand(&arg.replace("{peer}", &format!("{name}={address}")), node)?);
            }
        } else {
            args.push(expand(arg, node)?);
        }
    }
    Ok(args)
}

/// Replaces placeholders once, from left to right. Braces that hold no placeholder's name (JSON, say) stay.
fn expand(arg: &str, node: &NodeSpec) -> Result<String> {
    let mut out = String::new();
    let mut rest = arg;
    while let Some((before, tail)) = rest.split_once('{') {
        out.push_str(before);
        let value = match tail.split_once('}') {
            Some((name, after)) => {
                value_of(name, node).with_context(|| format!("argument `{arg}`"))?.map(|v| (v, after))
            }
            None => None,
        };
        match value {
            Some((value, after)) => {
                out.push_str(&value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn value_of(placeholder: &str, node: &NodeSpec) -> Result<Option<String>> {
    Ok(Some(match placeholder {
        "node" => node.name().to_owned(),
        "listen" => node.listen().to_string(),
        "ip" => node.listen().ip().to_string(),
        "data_dir" => node.data_dir().display().to_string(),
        "peers" => {
            let peers: Vec<String> = node.peers().iter().map(|(name, address)| format!("{name}={address}")).collect();
            peers.join(",")
        }
        other => match (other.strip_prefix("peer:"), other.strip_prefix("ip:")) {
            (Some(name), _) => address_of(name, node)?.to_string(),
            (_, Some(name)) => address_of(name, node)?.ip().to_string(),
            (None, None) => return Ok(None),
        },
    }))
}

/// Where `node` reaches the node `name`.
fn address_of(name: &str, node: &NodeSpec) -> Result<SocketAddr> {
    if name == node.name() {
        return Ok(node.listen());
    }
    let peer = node.peers().iter().find(|(peer, _)| peer == name);
    peer.map(|(_, address)| *address).with_context(|| format!("`{name}` names no node of this cluster"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> NodeSpec {
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let peers = vec![("n1".to_owned(), at(41)), ("n3".to_owned(), at(43))];
        NodeSpec::new("n2".into(), 1, at(2), at(92), "/data/n2".into(), peers)
    }

    #[test]
    fn placeholders_are_replaced_and_other_braces_stay() {
        let check = |arg: &str, expect: &[&str]| {
            assert_eq!(expand_all(&[arg.to_owned()], &node()).expect(arg), expect, "{arg}");
        };
        check("--name={node}", &["--name=n2"]);
        check("{listen}", &["127.0.0.1:2"]);
        check("{data_dir}/wal", &["/data/n2/wal"]);
        check("{peers}", &["n1=127.0.0.1:41,n3=127.0.0.1:43"]);
        check("--peer={peer}", &["--peer=n1=127.0.0.1:41", "--peer=n3=127.0.0.1:43"]);
        check("{peer:n3} {peer:n2}", &["127.0.0.1:43 127.0.0.1:2"]);
        check("{ip} {ip:n1}:99", &["127.0.0.1 127.0.0.1:99"]);
        check("{\"a\": {\"node\": 1}}", &["{\"a\": {\"node\": 1}}"]);
        check("{{node}", &["{n2"]);
        check("{", &["{"]);
    }

    #[test]
    fn a_peer_that_is_no_node_is_an_error() {
        let error = expand("{peer:n9}", &node()).expect_err("there is no n9");
        assert!(format!("{error:#}").contains("n9"));
    }

    #[test]
    fn what_belongs_to_the_harness_is_not_inherited() {
        let check = |name: &str, expect: bool| assert_eq!(belongs_to_the_harness(&name.into()), expect, "{name}");
        check("DISTTEST_CHILD", true);
        check(RUN_VARIABLE, false);
        check("NEXTEST", true);
        check("NEXTEST_RUN_ID", true);
        check("CARGO_MANIFEST_DIR", true);
        check("PATH", false);
        check("CARGOES", false);
    }

    #[test]
    fn extra_arguments_come_last() {
        let program = Program::new("/bin/x").args(["--a"]).env("K", "V");
        let command = program.command(&node(), &["--bug".into(), "b".into()]).expect("valid");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--a", "--bug", "b"]);
    }
}
