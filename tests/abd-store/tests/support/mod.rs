//! What the scenarios share: how a node is started, what is read from it, and a client that records what it does.

use abd_store::client::{Connection, Error};
use disttest_runtime::prelude::*;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// How long a client waits for an answer: longer than a node waits for its majority, and short enough that a client of
/// a dead node notices several times in a fault window.
const DEADLINE: Duration = Duration::from_millis(650);
/// Pause of a client after an operation without an answer. Each may leave a write of unknown outcome behind, and a
/// history full of those can be explained in too many ways.
const PAUSE: Duration = Duration::from_millis(250);
/// How often a read at quiescence is tried.
const ATTEMPTS: u32 = 40;

/// A node. It is ready when a read through it has found a majority.
pub(crate) fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_abd-node"))
        .args(["--node={node}", "--listen={listen}", "--data={data_dir}", "--peer={peer}", "--quorum-timeout-ms=500"])
        .ready(|address| async move {
            Connection::new(address).get("ready", DEADLINE).await?;
            Ok(())
        })
}

/// `metric:peer-timeouts`: requests to its peers that a node saw unanswered.
pub(crate) fn peer_timeouts() -> Probe {
    Probe::metric("peer-timeouts", |target: Target| async move {
        let stats = Connection::new(target.address).stats(Duration::from_millis(400)).await?;
        Ok(stats.peer_timeouts as f64)
    })
}

/// A client with its connection. Each call is one recorded operation; nothing is retried behind the recorder's back.
pub(crate) struct Session {
    pub(crate) client: Client,
    connection: Connection,
    writes: u64,
    next: Instant,
}

impl Session {
    pub(crate) fn new(client: Client) -> Session {
        let connection = Connection::new(client.addr());
        Session { client, connection, writes: 0, next: Instant::now() }
    }

    /// Writes a value that nobody else writes, to `key`. True when the write was acknowledged.
    pub(crate) async fn write(&mut self, key: &str) -> bool {
        self.writes += 1;
        let value = format!("{}-{}", self.client.id(), self.writes);
        let connection = &mut self.connection;
        let request = async {
            let put = connection.put(key, &value, 2 * DEADLINE).await;
            put.map(|()| json!("ok")).map_err(told)
        };
        self.client.call("write", key, json!(value), DEADLINE, request).await.is_some()
    }

    /// Reads `key`. True when there was an answer; without one the outcome is unknown, since the read's write-back may
    /// have taken effect.
    pub(crate) async fn read(&mut self, key: &str) -> bool {
        let connection = &mut self.connection;
        let request = async {
            let got = connection.get(key, 2 * DEADLINE).await;
            got.map(|value| json!(value.as_deref())).map_err(|error| CallError::Unknown(error.to_string()))
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
    /// A client that is late does not catch up in a burst.
    pub(crate) async fn pace(&mut self, period: Duration, answered: bool) {
        let now = Instant::now();
        self.next = if answered { (self.next + period).max(now) } else { now + PAUSE };
        sleep_until(self.next).await;
    }
}

fn told(error: Error) -> CallError {
    match error {
        Error::Failed(why) => CallError::Refused(why),
        Error::Unknown(why) => CallError::Unknown(why),
    }
}
