//! A client of one member of etcd, over the JSON form of its gRPC protocol that every member serves.

use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// One connection to one member. A request that is given up leaves the connection in the middle of an answer: drop it.
pub struct Connection {
    address: SocketAddr,
    send: SendRequest<Full<Bytes>>,
}

/// Who a member is, and whom it follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The member that was asked.
    pub member: String,
    /// The leader as that member knows it; `0` when it knows none.
    pub leader: String,
    /// The Raft term it is in.
    pub term: u64,
}

impl Connection {
    /// Connects. An error means that nothing was sent.
    pub async fn open(address: SocketAddr) -> Result<Connection> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (send, connection) = handshake(TokioIo::new(stream)).await?;
        // Ends with the connection, whose errors the calls report.
        tokio::spawn(async move { drop(connection.await) });
        Ok(Connection { address, send })
    }

    /// No request can be sent any more.
    pub fn is_closed(&self) -> bool {
        self.send.is_closed()
    }

    /// Sets `key` to `value`.
    pub async fn put(&mut self, key: &str, value: &str) -> Result<()> {
        let body = json!({ "key": STANDARD.encode(key), "value": STANDARD.encode(value) });
        self.call("/v3/kv/put", &body).await.map(drop)
    }

    /// The value of `key`; `serializable` asks this member alone.
    pub async fn get(&mut self, key: &str, serializable: bool) -> Result<Option<String>> {
        let body = json!({ "key": STANDARD.encode(key), "serializable": serializable });
        let answer = self.call("/v3/kv/range", &body).await?;
        let Some(found) = answer["kvs"].get(0) else { return Ok(None) };
        let value = STANDARD.decode(found["value"].as_str().unwrap_or_default()).context("a value in base64")?;
        String::from_utf8(value).context("a value that is text").map(Some)
    }

    /// Who it is and whom it follows.
    pub async fn status(&mut self) -> Result<Status> {
        let answer = self.call("/v3/maintenance/status", &json!({})).await?;
        let text = |value: &Value| value.as_str().unwrap_or("0").to_owned();
        let term = text(&answer["raftTerm"]).parse().context("a term")?;
        Ok(Status { member: text(&answer["header"]["member_id"]), leader: text(&answer["leader"]), term })
    }

    async fn call(&mut self, path: &str, body: &Value) -> Result<Value> {
        let request = Request::post(path)
            .header("host", self.address.to_string())
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.to_string())))?;
        self.send.ready().await?;
        let answer = self.send.send_request(request).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            bail!("{path}: {status}: {}", String::from_utf8_lossy(&body).trim());
        }
        serde_json::from_slice(&body).with_context(|| format!("{path}: an answer that is no JSON"))
    }
}
