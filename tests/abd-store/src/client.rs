//! The client library: one connection to one node.

use crate::frames::FrameReader;
use crate::stats::Stats;
use crate::wire::{Message as _, Reply, Request};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, timeout_at};

/// Why a call has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// It had no effect and will have none: the request never left, or the node says so.
    Failed(String),
    /// It may have taken effect, or may still: no reply in time, connection lost after sending, or the node says so.
    Unknown(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Failed(why) => write!(f, "no effect: {why}"),
            Error::Unknown(why) => write!(f, "outcome unknown: {why}"),
        }
    }
}

impl std::error::Error for Error {}

/// A connection that sends one request at a time. It connects when it is first used and again after anything that
/// leaves it in doubt. It never repeats a request: a retry is the caller's decision, because it is a second operation
/// (of an increment, a second try of it, when the caller gives it the same idempotency key).
#[derive(Debug)]
pub struct Connection {
    address: SocketAddr,
    stream: Option<Stream>,
    requests: u64,
}

type Stream = (FrameReader<OwnedReadHalf>, OwnedWriteHalf);

impl Connection {
    /// A connection to the node at `address`; nothing is sent yet.
    pub fn new(address: SocketAddr) -> Connection {
        Connection { address, stream: None, requests: 0 }
    }

    /// Reads `key`; `None` when it was never written.
    pub async fn get(&mut self, key: &str, limit: Duration) -> Result<Option<Arc<str>>, Error> {
        match self.call(&Request::Get { key: key.into() }, limit).await? {
            Reply::Value(value) => Ok(value),
            other => Err(refused(other)),
        }
    }

    /// Writes `key`. `Ok` means that every later read returns this value or one written after it.
    pub async fn put(&mut self, key: &str, value: &str, limit: Duration) -> Result<(), Error> {
        match self.call(&Request::Put { key: key.into(), value: value.into() }, limit).await? {
            Reply::Done => Ok(()),
            other => Err(refused(other)),
        }
    }

    /// Adds `by` to the counter `key`, once for each `id` however often and through whatever node it is tried. `Ok`
    /// means that every later read of the counter shows it.
    pub async fn incr(&mut self, key: &str, id: &str, by: u64, limit: Duration) -> Result<(), Error> {
        match self.call(&Request::Incr { key: key.into(), id: id.into(), by }, limit).await? {
            Reply::Done => Ok(()),
            other => Err(refused(other)),
        }
    }

    /// What the counter `key` comes to; 0 when nobody added to it.
    pub async fn sum(&mut self, key: &str, limit: Duration) -> Result<u64, Error> {
        match self.call(&Request::Sum { key: key.into() }, limit).await? {
            Reply::Sum(sum) => Ok(sum),
            other => Err(refused(other)),
        }
    }

    /// Name of the node. Says nothing about its majority.
    pub async fn ping(&mut self, limit: Duration) -> Result<Arc<str>, Error> {
        match self.call(&Request::Ping, limit).await? {
            Reply::Pong(name) => Ok(name),
            other => Err(refused(other)),
        }
    }

    /// Counters of the node.
    pub async fn stats(&mut self, limit: Duration) -> Result<Stats, Error> {
        match self.call(&Request::Stats, limit).await? {
            Reply::Stats(json) => serde_json::from_str(&json).map_err(|error| Error::Failed(error.to_string())),
            other => Err(refused(other)),
        }
    }

    /// Sends a request and waits for its reply until `limit` has passed, connecting included. The stream is put back
    /// only after a whole exchange: a call that fails or is dropped half-way leaves none that a late reply could use.
    async fn call(&mut self, request: &Request, limit: Duration) -> Result<Reply, Error> {
        let deadline = Instant::now() + limit;
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => match timeout_at(deadline, connect(self.address)).await {
                Ok(connected) => connected.map_err(|error| Error::Failed(error.to_string()))?,
                Err(_) => return Err(Error::Failed("not connected in time".into())),
            },
        };
        self.requests += 1;
        match timeout_at(deadline, exchange(&mut stream, self.requests, request)).await {
            Ok(Ok(reply)) => {
                self.stream = Some(stream);
                Ok(reply)
            }
            Ok(Err(why)) => Err(Error::Unknown(why)),
            Err(_) => Err(Error::Unknown("no reply in time".into())),
        }
    }
}

async fn connect(address: SocketAddr) -> std::io::Result<Stream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (reader, writer) = stream.into_split();
    Ok((FrameReader::new(reader), writer))
}

async fn exchange((reader, writer): &mut Stream, id: u64, request: &Request) -> Result<Reply, String> {
    writer.write_all(&request.frame(id)).await.map_err(|error| error.to_string())?;
    match reader.next::<Reply>().await {
        Ok(Some((answered, reply))) if answered == id => Ok(reply),
        Ok(Some((answered, _))) => Err(format!("reply to request {answered} instead of {id}")),
        Ok(None) => Err("connection closed by the node".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn refused(reply: Reply) -> Error {
    match reply {
        Reply::Failed(why) => Error::Failed(why.to_string()),
        Reply::Unknown(why) => Error::Unknown(why.to_string()),
        other => Error::Unknown(format!("unexpected reply {other:?}")),
    }
}
