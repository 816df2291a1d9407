//! Frames and messages.
//!
//! A frame is `length: u32 | id: u64 | kind: u8 | body`, integers little-endian, `length` counting what follows it. A
//! reply carries the id of its request; several requests may be under way on one connection and replies come in any
//! order. In a body, a string is `length: u32 | UTF-8`, an optional value is `0: u8` or `1: u8 | value`, and a version
//! is `counter: u64 | node: u16 | boot: u32 | write: u64 | value: string`.
//!
//! | kind | message | body | from |
//! |---|---|---|---|
//! | 1 | Get | key | client |
//! | 2 | Put | key, value | client |
//! | 3 | Ping | – | client |
//! | 4 | Stats | – | client |
//! | 5 | Query | key | coordinator |
//! | 6 | Store | key, version | coordinator |
//! | 129 | Value | optional string | reply to Get |
//! | 130 | Done | – | reply to Put |
//! | 131 | Pong | node name | reply to Ping |
//! | 132 | Stats | JSON text | reply to Stats |
//! | 133 | Version | optional version | reply to Query |
//! | 134 | Stored | – | reply to Store, after the version is durable |
//! | 135 | Failed | reason | reply to Get or Put that had no effect |
//! | 136 | Unknown | reason | reply to Put that may or may not have taken effect |

use crate::tag::{Tag, Version};
use std::io;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;

/// Longest frame, in bytes behind its length field; a peer that announces more is disconnected.
pub const MAX_FRAME: usize = 1 << 20;

/// What a client or a coordinator asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Read a key.
    Get {
        /// Which.
        key: Arc<str>,
    },
    /// Write a key.
    Put {
        /// Which.
        key: Arc<str>,
        /// What.
        value: Arc<str>,
    },
    /// Is somebody there?
    Ping,
    /// The counters of the node.
    Stats,
    /// The version a replica holds.
    Query {
        /// Of which key.
        key: Arc<str>,
    },
    /// Keep this version unless a newer one is there.
    Store {
        /// Of which key.
        key: Arc<str>,
        /// The version.
        version: Version,
    },
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The value of the key, if it was ever written.
    Value(Option<Arc<str>>),
    /// The write is at a majority.
    Done,
    /// Name of the node.
    Pong(Arc<str>),
    /// Counters as a JSON object.
    Stats(Arc<str>),
    /// What the replica holds durably.
    Version(Option<Version>),
    /// The replica holds that version or a newer one, durably.
    Stored,
    /// No effect, now or later.
    Failed(Arc<str>),
    /// May have taken effect, or may yet.
    Unknown(Arc<str>),
}

/// A message that stands behind a kind byte.
pub trait Message: Sized {
    /// Appends kind and body.
    fn write(&self, out: &mut Vec<u8>);
    /// Reads kind and body; `None` when they are malformed.
    fn read(body: &mut Body<'_>) -> Option<Self>;

    /// The whole frame.
    fn frame(&self, id: u64) -> Vec<u8> {
        let mut out = vec![0; 4];
        out.extend_from_slice(&id.to_le_bytes());
        self.write(&mut out);
        let length = u32::try_from(out.len() - 4).unwrap_or(u32::MAX);
        out[..4].copy_from_slice(&length.to_le_bytes());
        out
    }
}

impl Message for Request {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Request::Get { key } => put_text(put_kind(out, 1), key),
            Request::Put { key, value } => {
                put_text(put_kind(out, 2), key);
                put_text(out, value);
            }
            Request::Ping => out.push(3),
            Request::Stats => out.push(4),
            Request::Query { key } => put_text(put_kind(out, 5), key),
            Request::Store { key, version } => {
                put_text(put_kind(out, 6), key);
                put_version(out, version);
            }
        }
    }

    fn read(body: &mut Body<'_>) -> Option<Request> {
        Some(match body.u8()? {
            1 => Request::Get { key: body.text()? },
            2 => Request::Put { key: body.text()?, value: body.text()? },
            3 => Request::Ping,
            4 => Request::Stats,
            5 => Request::Query { key: body.text()? },
            6 => Request::Store { key: body.text()?, version: body.version()? },
            _ => return None,
        })
    }
}

impl Message for Reply {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Reply::Value(None) => out.extend_from_slice(&[129, 0]),
            Reply::Value(Some(value)) => {
                out.extend_from_slice(&[129, 1]);
                put_text(out, value);
            }
            Reply::Done => out.push(130),
            Reply::Pong(name) => put_text(put_kind(out, 131), name),
            Reply::Stats(json) => put_text(put_kind(out, 132), json),
            Reply::Version(None) => out.extend_from_slice(&[133, 0]),
            Reply::Version(Some(version)) => {
                out.extend_from_slice(&[133, 1]);
                put_version(out, version);
            }
            Reply::Stored => out.push(134),
            Reply::Failed(reason) => put_text(put_kind(out, 135), reason),
            Reply::Unknown(reason) => put_text(put_kind(out, 136), reason),
        }
    }

    fn read(body: &mut Body<'_>) -> Option<Reply> {
        Some(match body.u8()? {
            129 => Reply::Value(if body.flag()? { Some(body.text()?) } else { None }),
            130 => Reply::Done,
            131 => Reply::Pong(body.text()?),
            132 => Reply::Stats(body.text()?),
            133 => Reply::Version(if body.flag()? { Some(body.version()?) } else { None }),
            134 => Reply::Stored,
            135 => Reply::Failed(body.text()?),
            136 => Reply::Unknown(body.text()?),
            _ => return None,
        })
    }
}

fn put_kind(out: &mut Vec<u8>, kind: u8) -> &mut Vec<u8> {
    out.push(kind);
    out
}

/// Appends a string as the module describes.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// Appends a version as the module describes.
pub(crate) fn put_version(out: &mut Vec<u8>, version: &Version) {
    let Tag { counter, node, boot, write } = version.tag;
    out.extend_from_slice(&counter.to_le_bytes());
    out.extend_from_slice(&node.to_le_bytes());
    out.extend_from_slice(&boot.to_le_bytes());
    out.extend_from_slice(&write.to_le_bytes());
    put_text(out, &version.value);
}

/// Reads fields from the front of a byte slice; each read is `None` when there is too little or it is malformed.
#[derive(Debug)]
pub struct Body<'a>(pub &'a [u8]);

impl Body<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    /// One byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A 32-bit integer.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A 64-bit integer.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.u8()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A string.
    pub fn text(&mut self) -> Option<Arc<str>> {
        let length = self.u32()? as usize;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok().map(Arc::from)
    }

    /// A version.
    pub fn version(&mut self) -> Option<Version> {
        let counter = self.u64()?;
        let node = self.array().map(u16::from_le_bytes)?;
        let tag = Tag { counter, node, boot: self.u32()?, write: self.u64()? };
        Some(Version { tag, value: self.text()? })
    }
}

/// Cuts a byte stream into messages.
#[derive(Debug)]
pub struct FrameReader<R> {
    inner: R,
    buffer: Vec<u8>,
    read: usize,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads from `inner`.
    pub fn new(inner: R) -> FrameReader<R> {
        FrameReader { inner, buffer: Vec::with_capacity(8 << 10), read: 0 }
    }

    /// The next message with its id; `None` at the end of the stream (bytes of an unfinished frame are dropped).
    /// Safe to cancel: what was read stays in the buffer. A malformed or too long frame is an error.
    pub async fn next<M: Message>(&mut self) -> io::Result<Option<(u64, M)>> {
        loop {
            if let Some(message) = self.take()? {
                return Ok(Some(message));
            }
            self.buffer.drain(..self.read);
            self.read = 0;
            if self.inner.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    fn take<M: Message>(&mut self) -> io::Result<Option<(u64, M)>> {
        let malformed = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let mut unread = Body(&self.buffer[self.read..]);
        let Some(length) = unread.u32().map(|length| length as usize) else { return Ok(None) };
        if length > MAX_FRAME {
            return Err(malformed("frame too long"));
        }
        let Some((frame, _)) = unread.0.split_at_checked(length) else { return Ok(None) };
        let mut body = Body(frame);
        let message = body.u64().and_then(|id| Some((id, M::read(&mut body)?))).filter(|_| body.0.is_empty());
        self.read += 4 + length;
        message.map(Some).ok_or_else(|| malformed("malformed frame"))
    }
}

/// Frames waiting to be written to one connection: whoever has some adds them, one task writes all there are at once.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Mutex<Vec<u8>>,
    filled: Notify,
}

impl Outbox {
    /// Adds a frame.
    pub fn push(&self, frame: &[u8]) {
        crate::lock(&self.bytes).extend_from_slice(frame);
        self.filled.notify_one();
    }

    /// Forgets what waits.
    pub fn clear(&self) {
        crate::lock(&self.bytes).clear();
    }

    /// Writes what is and will be there, until the connection fails.
    pub async fn drain_to(&self, mut writer: impl AsyncWrite + Unpin) -> io::Result<()> {
        loop {
            let bytes = std::mem::take(&mut *crate::lock(&self.bytes));
            if bytes.is_empty() {
                self.filled.notified().await;
            } else {
                writer.write_all(&bytes).await?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn requests() -> Vec<Request> {
        let key: Arc<str> = "k\u{e9}y".into();
        let tag = Tag { counter: 7, node: 2, boot: 3, write: u64::MAX };
        vec![
            Request::Get { key: key.clone() },
            Request::Put { key: key.clone(), value: "".into() },
            Request::Ping,
            Request::Stats,
            Request::Query { key: key.clone() },
            Request::Store { key, version: Version { tag, value: "v".into() } },
        ]
    }

    fn replies() -> Vec<Reply> {
        let version = Version { tag: Tag { counter: 1, ..Tag::default() }, value: "x".into() };
        vec![
            Reply::Value(None),
            Reply::Value(Some("v".into())),
            Reply::Done,
            Reply::Pong("n1".into()),
            Reply::Stats("{}".into()),
            Reply::Version(None),
            Reply::Version(Some(version)),
            Reply::Stored,
            Reply::Failed("no quorum".into()),
            Reply::Unknown("timeout".into()),
        ]
    }

    async fn round_trip<M: Message + Clone + PartialEq + std::fmt::Debug>(messages: Vec<M>, chunk: usize) {
        let stream: Vec<u8> = messages.iter().zip(1..).flat_map(|(m, id)| m.frame(id)).collect();
        let (mut tx, rx) = tokio::io::duplex(chunk);
        let writer = async move { tx.write_all(&stream).await.unwrap() };
        let reader = async move {
            let mut frames = FrameReader::new(rx);
            let mut got = Vec::new();
            while let Some((id, message)) = frames.next::<M>().await.unwrap() {
                assert_eq!(id, got.len() as u64 + 1);
                got.push(message);
            }
            got
        };
        let ((), got) = tokio::join!(writer, reader);
        assert_eq!(got, messages);
    }

    #[tokio::test]
    async fn every_message_survives_the_wire_in_chunks_of_any_size() {
        for chunk in [1, 3, 7, 4096] {
            round_trip(requests(), chunk).await;
            round_trip(replies(), chunk).await;
        }
    }

    #[tokio::test]
    async fn a_malformed_frame_is_an_error_and_an_unfinished_one_is_the_end() {
        let whole = Request::Put { key: "k".into(), value: "v".into() }.frame(1);
        let mut trailing = whole.clone();
        trailing[0] += 1;
        trailing.push(0);
        let mut kind = whole.clone();
        kind[12] = 99;
        let mut long = whole.clone();
        long[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        for bad in [trailing, kind, long] {
            assert!(FrameReader::new(&bad[..]).next::<Request>().await.is_err());
        }
        for cut in 0..whole.len() {
            assert!(FrameReader::new(&whole[..cut]).next::<Request>().await.unwrap().is_none());
        }
    }
}
