//! What the scenarios share: how a member is started, who leads, and a client that records what it does.

use disttest_runtime::prelude::*;
use etcd_example::Connection;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// Where a member serves clients and where it serves other members, at its own address.
const CLIENTS: u16 = 2379;
const MEMBERS: u16 = 2380;
/// How long a client waits for an answer: longer than an election takes.
const DEADLINE: Duration = Duration::from_secs(1);
/// Pause of a client after an operation without an answer.
const PAUSE: Duration = Duration::from_millis(200);
/// How often a read at quiescence is tried.
const ATTEMPTS: u32 = 40;
/// At most 20 operations a second and client.
const PERIOD: Duration = Duration::from_millis(50);
/// Keys that the clients share.
const KEYS: [&str; 5] = ["k0", "k1", "k2", "k3", "k4"];

/// A member of the cluster. It is ready when a linearizable read through it is answered.
pub(crate) fn program() -> Program {
    Program::new("etcd")
        .port(CLIENTS)
        .args_with(|node| {
            let own = |port| format!("http://{}:{port}", node.listen().ip());
            let members = std::iter::once((node.name(), node.listen()))
                .chain(node.peers().iter().map(|(name, address)| (name.as_str(), *address)))
                .map(|(name, address)| format!("{name}=http://{}:{MEMBERS}", address.ip()));
            let members = members.collect::<Vec<_>>().join(",");
            let flags = [
                ("name", node.name().to_owned()),
                ("data-dir", node.data_dir().display().to_string()),
                ("listen-client-urls", own(CLIENTS)),
                ("advertise-client-urls", own(CLIENTS)),
                ("listen-peer-urls", own(MEMBERS)),
                ("initial-advertise-peer-urls", own(MEMBERS)),
                ("initial-cluster", members),
                ("initial-cluster-state", "new".to_owned()),
                ("heartbeat-interval", "50".to_owned()),
                ("election-timeout", "500".to_owned()),
                ("logger", "zap".to_owned()),
            ];
            flags.into_iter().map(|(flag, value)| format!("--{flag}={value}")).collect()
        })
        .ready(|address| async move {
            Connection::open(address).await?.get("ready", false).await?;
            Ok(())
        })
}

/// Addresses of all members by name.
pub(crate) fn members(cluster: &Cluster) -> Vec<(String, SocketAddr)> {
    cluster.specs().map(|node| (node.name().to_owned(), node.client_address())).collect()
}

/// The member that leads, in its own words.
pub(crate) async fn leader(members: Vec<(String, SocketAddr)>) -> Result<String> {
    let mut leading = None;
    for (name, address) in members {
        let asked = async { Connection::open(address).await?.status().await };
        let Ok(Ok(status)) = tokio::time::timeout(Duration::from_millis(500), asked).await else { continue };
        if status.leader == status.member && leading.as_ref().is_none_or(|(term, _)| *term < status.term) {
            leading = Some((status.term, name));
        }
    }
    leading.map(|(_, name)| name).ok_or_else(|| anyhow::anyhow!("no member says that it leads"))
}

/// Whoever leads is cut off, both ways, or `deaf` from the second window on: then it is heard and hears nobody. With
/// `WRONG_ADDRESS` in the environment the same is said to be done, and what is cut off is an address that nobody has.
pub(crate) async fn isolate_leaders(
    run: &Run,
    workload: &Workload,
    members: &[(String, SocketAddr)],
    deaf: bool,
) -> Result<Landed> {
    let faults = workload.faults();
    for window in 0..run.budget().faults {
        let asked = members.to_vec();
        let fault: Box<dyn Nemesis> = match deaf && window > 0 {
            false => Box::new(LeaderIsolation::found_by(move || leader(asked.clone()))),
            true => {
                let leader = leader(asked).await?;
                let others = run.nodes().into_iter().filter(|node| *node != leader).collect::<Vec<_>>();
                Box::new(AsymmetricPartition::new(others, [leader]))
            }
        };
        let injected = match std::env::var_os("WRONG_ADDRESS") {
            None => faults.inject(fault).await?,
            Some(_) => faults.inject(WrongAddress(fault)).await?,
        };
        injected.hold_for(Duration::from_secs(6)).await;
        injected.heal().await?;
    }
    Ok(faults.settle().await)
}

/// Says what the fault says and cuts off an address that nobody has: its command succeeds, and nothing is dropped.
struct WrongAddress(Box<dyn Nemesis>);

impl Nemesis for WrongAddress {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn detail(&self) -> String {
        self.0.detail()
    }

    fn victims(&self) -> Vec<String> {
        self.0.victims()
    }

    fn injector(&self) -> Vec<(String, String)> {
        self.0.injector()
    }

    fn prepare<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        self.0.prepare(plane)
    }

    fn inject<'a>(&'a mut self, _plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            let rule = ["-I", "INPUT", "-s", "10.99.99.99", "-j", "DROP"];
            let status = tokio::process::Command::new("iptables").args(rule).status().await?;
            anyhow::ensure!(status.success(), "iptables: {status}");
            Ok(())
        })
    }

    fn heal<'a>(&'a mut self, _plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            let rule = ["-D", "INPUT", "-s", "10.99.99.99", "-j", "DROP"];
            tokio::process::Command::new("iptables").args(rule).status().await?;
            Ok(())
        })
    }
}

/// A client with its connection. Each call is one recorded operation; nothing is retried behind the recorder's back.
pub(crate) struct Session {
    client: Client,
    connection: Option<Connection>,
    serializable: bool,
    puts: u64,
}

impl Session {
    /// A session whose reads are `serializable`, or not.
    pub(crate) fn new(client: Client, serializable: bool) -> Session {
        Session { client, connection: None, serializable, puts: 0 }
    }

    /// Reads and puts in turn, on keys drawn at random, until the workload ends.
    pub(crate) async fn read_and_put(mut self) -> Result<()> {
        let mut next = Instant::now();
        while self.client.running() {
            let key = self.client.rng().pick(&KEYS).copied().unwrap_or(KEYS[0]);
            let answered = match self.client.rng().chance(1, 2) {
                true => self.read(key).await,
                false => self.put(key).await,
            };
            let now = Instant::now();
            next = if answered { (next + PERIOD).max(now) } else { now + PAUSE };
            sleep_until(next).await;
        }
        Ok(())
    }

    /// Reads every key, each again and again until there is an answer.
    pub(crate) async fn read_everything(mut self) -> Result<()> {
        for key in KEYS {
            let mut attempts = 0;
            while !self.read(key).await {
                attempts += 1;
                anyhow::ensure!(attempts < ATTEMPTS, "{} did not answer a read of {key}", self.client.node());
                sleep(PAUSE).await;
            }
        }
        Ok(())
    }

    async fn put(&mut self, key: &str) -> bool {
        self.puts += 1;
        let value = format!("{}-{}", self.client.id(), self.puts);
        let (address, connection) = (self.client.addr(), &mut self.connection);
        let request = async {
            // Taken out, so that a request that is given up takes its connection with it.
            let mut open = open(address, connection).await?;
            open.put(key, &value).await.map_err(unknown)?;
            *connection = Some(open);
            Ok(json!("ok"))
        };
        self.client.call("write", key, json!(value), DEADLINE, request).await.is_some()
    }

    async fn read(&mut self, key: &str) -> bool {
        let (address, serializable, connection) = (self.client.addr(), self.serializable, &mut self.connection);
        let request = async {
            let mut open = open(address, connection).await?;
            let value = open.get(key, serializable).await.map_err(unknown)?;
            *connection = Some(open);
            Ok(json!(value))
        };
        self.client.call("read", key, Value::Null, DEADLINE, request).await.is_some()
    }
}

async fn open(address: SocketAddr, connection: &mut Option<Connection>) -> Result<Connection, CallError> {
    match connection.take().filter(|open| !open.is_closed()) {
        Some(open) => Ok(open),
        None => Connection::open(address).await.map_err(|error| CallError::Refused(format!("{error:#}"))),
    }
}

fn unknown(error: anyhow::Error) -> CallError {
    CallError::Unknown(format!("{error:#}"))
}
