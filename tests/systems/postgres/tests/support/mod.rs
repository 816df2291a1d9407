//! What the scenarios share: how an instance is started, and a client that records what it does.

use anyhow::Context;
use disttest_runtime::prelude::*;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_postgres::{Config, NoTls};

/// How long a client waits for an answer.
const DEADLINE: Duration = Duration::from_secs(1);
/// Pause of a client after an operation without an answer.
const PAUSE: Duration = Duration::from_millis(100);
/// How often a read at quiescence is tried.
const ATTEMPTS: u32 = 60;

/// Why a server may write `FATAL`, once for each connection that it refuses.
const RECOVERS: &str = "a server that starts or recovers refuses connections until it is consistent";

/// A server process for each node, with a folder of its own. It is ready when it answers a query.
pub(crate) fn program() -> Result<Program> {
    let (command, before) = postgres_example::unprivileged(&postgres_example::program("postgres")?);
    let program = Program::new(command)
        .args_with(move |node| {
            let (listen, folder) = (node.listen(), node.data_dir().display());
            let settings = [
                format!("listen_addresses={}", listen.ip()),
                format!("port={}", listen.port()),
                // No socket outside of the node's own folder.
                "unix_socket_directories=".to_owned(),
                "shared_buffers=32MB".to_owned(),
            ];
            let settings = settings.iter().flat_map(|setting| ["-c".to_owned(), setting.clone()]);
            before.iter().cloned().chain(["-D".to_owned(), folder.to_string()]).chain(settings).collect()
        })
        .prepare(|node: NodeSpec| async move {
            tokio::task::spawn_blocking(move || postgres_example::init(node.data_dir())).await?
        })
        .expects_in_log("FATAL:  the database system is ", RECOVERS)
        .expects_in_log("FATAL:  terminating connection due to unexpected postmaster exit", "the nemesis kills it")
        .ready(|address| async move {
            connect(address).await?.simple_query("SELECT 1").await?;
            Ok(())
        });
    Ok(program)
}

/// Makes the table of each instance.
pub(crate) async fn create_tables(cluster: &Cluster) -> Result<()> {
    for node in cluster.specs() {
        let sql = "CREATE TABLE rows (k text PRIMARY KEY, v text NOT NULL)";
        let connection = connect(node.client_address()).await?;
        connection.batch_execute(sql).await.with_context(|| format!("the table of {}", node.name()))?;
    }
    Ok(())
}

async fn connect(address: SocketAddr) -> Result<tokio_postgres::Client> {
    let mut config = Config::new();
    config.host(address.ip().to_string()).port(address.port()).user("postgres").dbname("postgres");
    let (client, connection) = config.connect(NoTls).await?;
    // Ends with the connection, whose errors the client's calls report.
    tokio::spawn(async move { drop(connection.await) });
    Ok(client)
}

/// A client with its connection. Each call is one recorded operation; nothing is retried behind the recorder's back.
pub(crate) struct Session {
    pub(crate) client: Client,
    connection: Option<tokio_postgres::Client>,
    next: Instant,
}

impl Session {
    pub(crate) fn new(client: Client) -> Session {
        Session { client, connection: None, next: Instant::now() }
    }

    /// Inserts the row `key` and commits. True when the commit was reported.
    pub(crate) async fn insert(&mut self, key: &str, value: &str) -> bool {
        let (address, connection) = (self.client.addr(), &mut self.connection);
        let request = async {
            let sql = "INSERT INTO rows (k, v) VALUES ($1, $2)";
            // Taken out, so that a request that is given up takes its connection with it.
            let open = open(address, connection).await?;
            open.execute(sql, &[&key, &value]).await.map_err(|error| CallError::Unknown(told(&error)))?;
            *connection = Some(open);
            Ok(json!("ok"))
        };
        self.client.call("write", key, json!(value), DEADLINE, request).await.is_some()
    }

    /// Reads the row `key`. True when there was an answer.
    pub(crate) async fn read(&mut self, key: &str) -> bool {
        let (address, connection) = (self.client.addr(), &mut self.connection);
        let request = async {
            let open = open(address, connection).await?;
            let row = open.query_opt("SELECT v FROM rows WHERE k = $1", &[&key]).await;
            let row = row.map_err(|error| CallError::Unknown(told(&error)))?;
            *connection = Some(open);
            Ok(json!(row.map(|row| row.get::<_, String>(0))))
        };
        self.client.call("read", key, Value::Null, DEADLINE, request).await.is_some()
    }

    /// Reads `key` again and again, an operation each time, until there is an answer.
    pub(crate) async fn read_at_quiescence(&mut self, key: &str) -> Result<()> {
        for _ in 0..ATTEMPTS {
            if self.read(key).await {
                return Ok(());
            }
            sleep(PAUSE).await;
        }
        anyhow::bail!("{} did not answer a read of {key} in {ATTEMPTS} attempts", self.client.node())
    }

    /// Waits until the next operation is due: `period` after the last one was, or a pause after one without answer.
    pub(crate) async fn pace(&mut self, period: Duration, answered: bool) {
        let now = Instant::now();
        self.next = if answered { (self.next + period).max(now) } else { now + PAUSE };
        sleep_until(self.next).await;
    }
}

/// The connection that is open, or a new one. A server that cannot be reached did nothing.
async fn open(
    address: SocketAddr,
    connection: &mut Option<tokio_postgres::Client>,
) -> Result<tokio_postgres::Client, CallError> {
    match connection.take().filter(|open| !open.is_closed()) {
        Some(open) => Ok(open),
        None => connect(address).await.map_err(|error| CallError::Refused(format!("{error:#}"))),
    }
}

fn told(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string)
}
