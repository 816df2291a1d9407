//! Messages, to the byte.
//!
//! A frame is `length: u32 | id: u64 | kind: u8 | body`, integers little-endian, `length` counting what follows it. A
//! reply carries the id of its request; several requests may be under way on one connection and replies come in any
//! order. In a body, a string is `length: u32 | UTF-8`, an optional value is `0: u8` or `1: u8 | value`, a version is
//! `counter: u64 | node: u16 | boot: u32 | write: u64 | value: string`, and increments are `number: u32` and that often
//! `idempotency key: string | amount: u64`.
//!
//! | kind | message | body | from |
//! |---|---|---|---|
//! | 1 | Get | key | client |
//! | 2 | Put | key, value | client |
//! | 3 | Ping | – | client |
//! | 4 | Stats | – | client |
//! | 5 | Query | key | coordinator |
//! | 6 | Store | key, version | coordinator |
//! | 7 | Incr | counter, idempotency key, amount: u64 | client |
//! | 8 | Sum | counter | client |
//! | 9 | Collect | counter | coordinator |
//! | 10 | Add | counter, increments | coordinator |
//! | 129 | Value | optional string | reply to Get |
//! | 130 | Done | – | reply to Put or Incr |
//! | 131 | Pong | node name | reply to Ping |
//! | 132 | Stats | JSON text | reply to Stats |
//! | 133 | Version | optional version | reply to Query |
//! | 134 | Stored | – | reply to Store or Add, after what came with it is durable |
//! | 135 | Failed | reason | reply to Get, Put, Incr or Sum that had no effect |
//! | 136 | Unknown | reason | reply to Put or Incr that may or may not have taken effect |
//! | 137 | Sum | u64 | reply to Sum |
//! | 138 | Increments | increments | reply to Collect |

use crate::counting::Increments;
use crate::tag::{Tag, Version};
use std::sync::Arc;

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
    /// Add to a counter, once for each idempotency key.
    Incr {
        /// Which counter.
        key: Arc<str>,
        /// The idempotency key: the same in every try of one increment, in no other.
        id: Arc<str>,
        /// How much.
        by: u64,
    },
    /// What a counter comes to.
    Sum {
        /// Which.
        key: Arc<str>,
    },
    /// The increments a replica holds.
    Collect {
        /// Of which counter.
        key: Arc<str>,
    },
    /// Keep these increments beside those that are there.
    Add {
        /// Of which counter.
        key: Arc<str>,
        /// The increments.
        increments: Arc<Increments>,
    },
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The value of the key, if it was ever written.
    Value(Option<Arc<str>>),
    /// The write, or the increment, is at a majority.
    Done,
    /// Name of the node.
    Pong(Arc<str>),
    /// Counters as a JSON object.
    Stats(Arc<str>),
    /// What the replica holds durably.
    Version(Option<Version>),
    /// The replica holds that version or a newer one, or those increments, durably.
    Stored,
    /// No effect, now or later.
    Failed(Arc<str>),
    /// May have taken effect, or may yet.
    Unknown(Arc<str>),
    /// What the counter comes to.
    Sum(u64),
    /// What the replica holds durably of a counter.
    Increments(Arc<Increments>),
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
            Request::Incr { key, id, by } => {
                put_text(put_kind(out, 7), key);
                put_text(out, id);
                out.extend_from_slice(&by.to_le_bytes());
            }
            Request::Sum { key } => put_text(put_kind(out, 8), key),
            Request::Collect { key } => put_text(put_kind(out, 9), key),
            Request::Add { key, increments } => {
                put_text(put_kind(out, 10), key);
                put_increments(out, increments);
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
            7 => Request::Incr { key: body.text()?, id: body.text()?, by: body.u64()? },
            8 => Request::Sum { key: body.text()? },
            9 => Request::Collect { key: body.text()? },
            10 => Request::Add { key: body.text()?, increments: body.increments()?.into() },
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
            Reply::Sum(sum) => put_kind(out, 137).extend_from_slice(&sum.to_le_bytes()),
            Reply::Increments(increments) => put_increments(put_kind(out, 138), increments),
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
            137 => Reply::Sum(body.u64()?),
            138 => Reply::Increments(body.increments()?.into()),
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

/// Appends increments as the module describes.
pub(crate) fn put_increments(out: &mut Vec<u8>, increments: &Increments) {
    out.extend_from_slice(&u32::try_from(increments.len()).unwrap_or(u32::MAX).to_le_bytes());
    for (id, by) in increments.iter() {
        put_text(out, id);
        out.extend_from_slice(&by.to_le_bytes());
    }
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

    /// Increments.
    pub fn increments(&mut self) -> Option<Increments> {
        let mut increments = Increments::default();
        for _ in 0..self.u32()? {
            increments.add(self.text()?, self.u64()?);
        }
        Some(increments)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::frames::FrameReader;
    use tokio::io::AsyncWriteExt as _;

    fn requests() -> Vec<Request> {
        let key: Arc<str> = "k\u{e9}y".into();
        let tag = Tag { counter: 7, node: 2, boot: 3, write: u64::MAX };
        vec![
            Request::Get { key: key.clone() },
            Request::Put { key: key.clone(), value: "".into() },
            Request::Ping,
            Request::Stats,
            Request::Query { key: key.clone() },
            Request::Store { key: key.clone(), version: Version { tag, value: "v".into() } },
            Request::Incr { key: key.clone(), id: "i".into(), by: u64::MAX },
            Request::Sum { key: key.clone() },
            Request::Collect { key: key.clone() },
            Request::Add { key, increments: increments() },
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
            Reply::Sum(7),
            Reply::Increments(Arc::default()),
            Reply::Increments(increments()),
        ]
    }

    fn increments() -> Arc<Increments> {
        let mut increments = Increments::one("a".into(), 1);
        increments.add("b".into(), 0);
        increments.into()
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
}
