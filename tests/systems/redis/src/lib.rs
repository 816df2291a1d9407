//! Servers of Redis as an operator sees them: who is primary, how far its replicas are, and a failover by hand.

use anyhow::{Context, Result};
use redis::aio::MultiplexedConnection;
use std::net::SocketAddr;
use std::time::Duration;

/// How long a server may take to answer an operator.
const PATIENCE: Duration = Duration::from_millis(800);

/// Connects. An error means that nothing was sent.
pub async fn connect(address: SocketAddr) -> Result<MultiplexedConnection> {
    let client = redis::Client::open(format!("redis://{address}/"))?;
    Ok(client.get_multiplexed_async_connection().await?)
}

/// The server at `address` answers, and follows its primary if it has one.
pub async fn in_step(address: SocketAddr) -> Result<()> {
    let told = replication(address).await?;
    let follows = field(&told, "role") == Some("master") || field(&told, "master_link_status") == Some("up");
    anyhow::ensure!(follows, "{address} is not in step with its primary");
    Ok(())
}

/// Seconds since the primary at `address` last heard of the replica that it has heard of least; 0 at a replica.
pub async fn replica_silence(address: SocketAddr) -> Result<f64> {
    let told = replication(address).await?;
    let replicas = told.lines().filter(|line| line.starts_with("slave") && line.contains("lag="));
    let lag = |line: &str| line.rsplit("lag=").next().and_then(|lag| lag.trim().parse::<f64>().ok());
    Ok(replicas.filter_map(lag).fold(0.0, f64::max))
}

/// Makes the server at `address` a primary, or a replica of `primary`.
pub async fn follow(address: SocketAddr, primary: Option<SocketAddr>) -> Result<()> {
    let (host, port) = match primary {
        Some(primary) => (primary.ip().to_string(), primary.port().to_string()),
        None => ("NO".to_owned(), "ONE".to_owned()),
    };
    let told = async {
        let mut connection = connect(address).await?;
        redis::cmd("REPLICAOF").arg(host).arg(port).query_async::<()>(&mut connection).await?;
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, told).await.context("no answer")?.with_context(|| format!("REPLICAOF at {address}"))
}

async fn replication(address: SocketAddr) -> Result<String> {
    let told = async {
        let mut connection = connect(address).await?;
        anyhow::Ok(redis::cmd("INFO").arg("replication").query_async::<String>(&mut connection).await?)
    };
    tokio::time::timeout(PATIENCE, told).await.context("no answer")?
}

fn field<'t>(told: &'t str, name: &str) -> Option<&'t str> {
    told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}
