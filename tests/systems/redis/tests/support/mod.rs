//! What the scenarios share: how servers are started, a failover by hand, and a client that records what it does.
#![allow(dead_code, reason = "each scenario uses a part of it")]

use disttest_runtime::prelude::*;
use redis::aio::MultiplexedConnection;
use redis_example::{connect, follow, in_step, replica_silence};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

const PORT: u16 = 6379;
/// How long a client waits for an answer.
const DEADLINE: Duration = Duration::from_secs(1);
/// How long `WAIT` waits, in milliseconds.
const CONFIRM: u64 = 300;
/// At most 40 operations a second and client.
const PERIOD: Duration = Duration::from_millis(25);
/// Registers that the clients share.
const REGISTERS: [&str; 4] = ["r0", "r1", "r2", "r3"];
const SET: &str = "set";
/// A register that nobody writes.
const UNTOUCHED: &str = "untouched";
/// How often a client of a replica looks.
const LOOK: Duration = Duration::from_millis(250);

/// A server: `n1` is the first primary, the others its replicas.
pub(crate) fn program() -> Program {
    Program::new("redis-server")
        .port(PORT)
        .args_with(|node| {
            let mut args: Vec<String> = ["--bind", &node.listen().ip().to_string(), "--port", &PORT.to_string()]
                .into_iter()
                .chain(["--dir", &node.data_dir().display().to_string(), "--save", "", "--appendonly", "no"])
                .chain(["--protected-mode", "no", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"])
                .map(str::to_owned)
                .collect();
            let primary = node.peers().iter().find(|(name, _)| name == "n1");
            if let Some((_, primary)) = primary {
                args.extend(["--replicaof".to_owned(), primary.ip().to_string(), PORT.to_string()]);
            }
            args
        })
        .ready(in_step)
}

/// `metric:replica-silence`: how long a primary has not heard of one of its replicas.
pub(crate) fn silence() -> Probe {
    let probe = Probe::metric("replica-silence", |target: Target| replica_silence(target.address));
    probe.shaped(Shape::Gauge { change: 1.0 })
}

/// Who is taken for the primary, by whom.
#[derive(Clone)]
pub(crate) struct Roles {
    nodes: Vec<(String, SocketAddr)>,
    primaries: Arc<Mutex<Vec<String>>>,
}

impl Roles {
    pub(crate) fn new(cluster: &Cluster) -> Roles {
        let nodes = cluster.specs().map(|node| (node.name().to_owned(), node.client_address())).collect();
        Roles { nodes, primaries: Arc::new(Mutex::new(vec!["n1".to_owned()])) }
    }

    fn is_primary(&self, node: &str) -> bool {
        self.primaries().iter().any(|primary| primary == node)
    }

    fn replicas(&self) -> usize {
        self.nodes.len() - 1
    }

    fn address(&self, node: &str) -> Result<SocketAddr> {
        let found = self.nodes.iter().find(|(name, _)| name == node);
        found.map(|(_, address)| *address).ok_or_else(|| anyhow::anyhow!("no node {node}"))
    }

    fn primaries(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.primaries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts off the primary, makes another one, and joins them again: once for each fault of the budget, from `n1` to `n2`
    /// and back. With `WRONG_ADDRESS` in the environment the same is said to be done, and what is cut off is an address that
    /// nobody has.
    pub(crate) async fn fail_over(&self, run: &Run, workload: &Workload) -> Result<Landed> {
        let faults = workload.faults();
        for window in 0..run.budget().faults {
            let (old, new) = if window % 2 == 0 { ("n1", "n2") } else { ("n2", "n1") };
            let others: Vec<String> = run.nodes().into_iter().filter(|node| node != old).collect();
            let cut: Box<dyn Nemesis> = match window {
                0 => Box::new(FullPartition::new([old], others)),
                _ => Box::new(AsymmetricPartition::new(others, [old])),
            };
            let (from, to) = (self.address(old)?, self.address(new)?);
            let wrong_address = std::env::var_os("WRONG_ADDRESS").is_some();
            let injected = faults.inject(Failover { cut, from, to, wrong_address }).await?;
            sleep(Duration::from_secs(1)).await;
            follow(to, None).await?;
            for (_, replica) in self.nodes.iter().filter(|(name, _)| name != old && name != new) {
                follow(*replica, Some(to)).await?;
            }
            self.primaries().push(new.to_owned());
            injected.hold_for(Duration::from_secs(6)).await;
            self.primaries().retain(|primary| primary != old);
            injected.heal().await?;
        }
        Ok(faults.settle().await)
    }

    /// Waits until every server follows the last primary.
    async fn until_in_step(&self) -> Result<()> {
        for (name, address) in &self.nodes {
            let mut attempts = 0;
            while let Err(error) = in_step(*address).await {
                attempts += 1;
                anyhow::ensure!(attempts < 100, "{name}: {error:#}");
                sleep(Duration::from_millis(100)).await;
            }
        }
        Ok(())
    }
}

/// A cut whose heal is the operator's: the network heals, and the old primary follows the new one.
struct Failover {
    cut: Box<dyn Nemesis>,
    from: SocketAddr,
    to: SocketAddr,
    /// The cut is of an address that nobody has: its command succeeds, and nothing is dropped.
    wrong_address: bool,
}

/// Adds (`-I`) or removes (`-D`) a rule that drops what comes from an address that nobody has.
async fn rule(action: &str) -> Result<()> {
    let rule = [action, "INPUT", "-s", "10.99.99.99", "-j", "DROP"];
    let status = tokio::process::Command::new("iptables").args(rule).status().await?;
    anyhow::ensure!(status.success(), "iptables: {status}");
    Ok(())
}

impl Nemesis for Failover {
    fn name(&self) -> &str {
        self.cut.name()
    }

    fn detail(&self) -> String {
        self.cut.detail()
    }

    fn victims(&self) -> Vec<String> {
        self.cut.victims()
    }

    fn injector(&self) -> Vec<(String, String)> {
        self.cut.injector()
    }

    fn prepare<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        self.cut.prepare(plane)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        if self.wrong_address { Box::pin(rule("-I")) } else { self.cut.inject(plane) }
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.wrong_address {
                rule("-D").await?;
            } else {
                self.cut.heal(plane).await?;
            }
            follow(self.from, Some(self.to)).await
        })
    }
}

/// A client with its connection. Each call is one recorded operation; nothing is retried behind the recorder's back.
pub(crate) struct Session {
    client: Client,
    roles: Roles,
    connection: Option<MultiplexedConnection>,
    /// A write counts once all replicas have confirmed it.
    confirmed: bool,
    writes: u64,
}

impl Session {
    pub(crate) fn new(client: Client, roles: Roles, confirmed: bool) -> Session {
        Session { client, roles, connection: None, confirmed, writes: 0 }
    }

    /// Adds elements to the set while its node is taken for the primary, and reads it otherwise.
    pub(crate) async fn add(mut self) -> Result<()> {
        let mut next = Instant::now();
        while self.client.running() {
            if self.roles.is_primary(self.client.node()) {
                self.writes += 1;
                let element = format!("{}-{}", self.client.id(), self.writes);
                self.write("add", SET, "SADD", &element).await;
                next = (next + PERIOD).max(Instant::now());
            } else {
                self.read(SET, "SMEMBERS").await;
                next = Instant::now() + LOOK;
            }
            sleep_until(next).await;
        }
        Ok(())
    }

    /// Reads and writes registers while its node is taken for the primary.
    pub(crate) async fn read_and_write(mut self) -> Result<()> {
        let mut next = Instant::now();
        while self.client.running() {
            if self.roles.is_primary(self.client.node()) {
                let register = self.client.rng().pick(&REGISTERS).copied().unwrap_or(REGISTERS[0]);
                if self.client.rng().chance(1, 2) {
                    self.read(register, "GET").await;
                } else {
                    self.writes += 1;
                    let value = format!("{}-{}", self.client.id(), self.writes);
                    self.write("write", register, "SET", &value).await;
                }
                next = (next + PERIOD).max(Instant::now());
            } else {
                // What a replica shows of registers that are written is no promise.
                self.read(UNTOUCHED, "GET").await;
                next = Instant::now() + LOOK;
            }
            sleep_until(next).await;
        }
        Ok(())
    }

    /// Reads the whole set, once all servers follow one primary.
    pub(crate) async fn read_set(mut self) -> Result<()> {
        self.roles.until_in_step().await?;
        self.read(SET, "SMEMBERS").await;
        Ok(())
    }

    /// Reads every register, once all servers follow one primary.
    pub(crate) async fn read_registers(mut self) -> Result<()> {
        self.roles.until_in_step().await?;
        for register in REGISTERS {
            self.read(register, "GET").await;
        }
        Ok(())
    }

    async fn write(&mut self, op: &'static str, key: &str, command: &str, value: &str) {
        let (address, connection) = (self.client.addr(), &mut self.connection);
        let replicas = if self.confirmed { self.roles.replicas() } else { 0 };
        let request = async {
            // Taken out, so that a request that is given up takes its connection with it.
            let mut open = open(address, connection).await?;
            redis::cmd(command).arg(key).arg(value).query_async::<()>(&mut open).await.map_err(told)?;
            if replicas > 0 {
                let asked = redis::cmd("WAIT").arg(replicas).arg(CONFIRM).query_async::<usize>(&mut open).await;
                let confirmed = asked.map_err(|error| CallError::Unknown(error.to_string()))?;
                if confirmed < replicas {
                    return Err(CallError::Unknown(format!("{confirmed} of {replicas} replicas confirmed")));
                }
            }
            *connection = Some(open);
            Ok(json!("ok"))
        };
        self.client.call(op, key, json!(value), DEADLINE, request).await;
    }

    async fn read(&mut self, key: &str, command: &str) {
        let (address, connection) = (self.client.addr(), &mut self.connection);
        let request = async {
            let mut open = open(address, connection).await?;
            let mut query = redis::cmd(command);
            query.arg(key);
            let unknown = |error: redis::RedisError| CallError::Unknown(error.to_string());
            let value = match command {
                "SMEMBERS" => json!(query.query_async::<Vec<String>>(&mut open).await.map_err(unknown)?),
                _ => json!(query.query_async::<Option<String>>(&mut open).await.map_err(unknown)?),
            };
            *connection = Some(open);
            Ok(value)
        };
        self.client.call("read", key, Value::Null, DEADLINE, request).await;
    }
}

async fn open(
    address: SocketAddr,
    connection: &mut Option<MultiplexedConnection>,
) -> Result<MultiplexedConnection, CallError> {
    match connection.take() {
        Some(open) => Ok(open),
        None => connect(address).await.map_err(|error| CallError::Refused(format!("{error:#}"))),
    }
}

/// A server that is no primary says so before it does anything.
fn told(error: redis::RedisError) -> CallError {
    match error.code() {
        Some("READONLY") => CallError::Refused(error.to_string()),
        _ => CallError::Unknown(error.to_string()),
    }
}
