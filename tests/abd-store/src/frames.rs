//! Frames of a byte stream: cut on the way in, gathered on the way out.

use crate::wire::{Body, Message};
use std::io;
use std::sync::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;

/// Longest frame, in bytes behind its length field; a peer that announces more is disconnected.
pub const MAX_FRAME: usize = 1 << 20;

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
    use crate::wire::Request;

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
