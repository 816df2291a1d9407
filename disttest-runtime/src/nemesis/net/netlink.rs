//! Netlink, as far as links need it: messages of attributes, each request acknowledged by the kernel (RFC 3549,
//! netlink(7)).

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send, socket,
};
use std::os::fd::{AsRawFd, OwnedFd};

const REQUEST: u16 = 0x1;
const ACK: u16 = 0x4;
const NESTED: u16 = 0x8000;
const ERROR: u16 = 2;
const HEADER: usize = 16;

/// Flags of a request that makes something that must not exist yet (`NLM_F_CREATE | NLM_F_EXCL`).
pub(super) const CREATE: u16 = 0x400 | 0x200;
/// Flags of a request that changes what is there.
pub(super) const CHANGE: u16 = 0;

/// A message under construction: the fixed part of its kind, then attributes.
#[derive(Debug)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// A message of `kind`, with its fixed part.
    pub(super) fn new(kind: u16, flags: u16, fixed: &[u8]) -> Message {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(flags | REQUEST | ACK).to_ne_bytes());
        bytes.extend_from_slice(fixed);
        Message { bytes }
    }

    /// Adds an attribute.
    pub(super) fn attr(mut self, kind: u16, value: &[u8]) -> Message {
        let length = u16::try_from(4 + value.len()).expect("attributes are short");
        self.bytes.extend_from_slice(&length.to_ne_bytes());
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        self.bytes.extend_from_slice(value);
        self.pad()
    }

    /// Adds a text, ended by a zero byte.
    pub(super) fn text(self, kind: u16, value: &str) -> Message {
        self.attr(kind, &[value.as_bytes(), &[0]].concat())
    }

    /// Adds an attribute that holds attributes.
    pub(super) fn nest(mut self, kind: u16, fill: impl FnOnce(Message) -> Message) -> Message {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0, 0]);
        self.bytes.extend_from_slice(&(kind | NESTED).to_ne_bytes());
        let mut filled = fill(self);
        let length = u16::try_from(filled.bytes.len() - start).expect("attributes are short");
        filled.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        filled
    }

    /// Adds bytes that are no attribute, as some nested structures begin with.
    pub(super) fn raw(mut self, bytes: &[u8]) -> Message {
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn pad(mut self) -> Message {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }
}

/// A socket to one part of the kernel, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// To links, addresses, routes and neighbours.
    pub(super) fn route() -> Result<Netlink> {
        Netlink::open(SockProtocol::NetlinkRoute)
    }

    /// To the families of generic netlink.
    pub(super) fn generic() -> Result<Netlink> {
        Netlink::open(SockProtocol::NetlinkGeneric)
    }

    fn open(protocol: SockProtocol) -> Result<Netlink> {
        let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
        Ok(Netlink { socket, sequence: 0 })
    }

    /// Sends `message` and waits until the kernel has done it; gives what it answered before its acknowledgement, each
    /// answer without its header. `what` names the request in the error.
    pub(super) fn request(&mut self, what: &str, mut message: Message) -> Result<Vec<Vec<u8>>> {
        self.sequence += 1;
        let length = u32::try_from(message.bytes.len()).context("too long")?;
        message.bytes[0..4].copy_from_slice(&length.to_ne_bytes());
        message.bytes[8..12].copy_from_slice(&self.sequence.to_ne_bytes());
        send(self.socket.as_raw_fd(), &message.bytes, MsgFlags::empty()).with_context(|| what.to_owned())?;
        let (mut answers, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            let got = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()).with_context(|| what.to_owned())?;
            for (kind, sequence, body) in messages(&buffer[..got]) {
                match (sequence == self.sequence, kind) {
                    (true, ERROR) => match word(body, 0) {
                        Some(0) => return Ok(answers),
                        Some(code) => {
                            let code = i32::from_ne_bytes(code.to_ne_bytes()).wrapping_neg();
                            return Err(Errno::from_raw(code)).with_context(|| what.to_owned());
                        }
                        None => bail!("{what}: the kernel's answer is cut off"),
                    },
                    (true, _) => answers.push(body.to_vec()),
                    (false, _) => {}
                }
            }
        }
    }
}

/// (kind, sequence, body) of each message in `bytes`; what is cut off is left out.
fn messages(mut bytes: &[u8]) -> Vec<(u16, u32, &[u8])> {
    let mut found = Vec::new();
    while let Some(length) = word(bytes, 0).map(|length| length as usize) {
        if length < HEADER || length > bytes.len() {
            break;
        }
        let kind = u16::from_ne_bytes([bytes[4], bytes[5]]);
        found.push((kind, word(bytes, 8).unwrap_or_default(), &bytes[HEADER..length]));
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    found
}

/// The value of attribute `kind` in `bytes`.
pub(super) fn find_attr(mut bytes: &[u8], kind: u16) -> Option<&[u8]> {
    while bytes.len() >= 4 {
        let length = usize::from(u16::from_ne_bytes([bytes[0], bytes[1]]));
        let value = bytes.get(4..length)?;
        if u16::from_ne_bytes([bytes[2], bytes[3]]) & !NESTED == kind {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
    None
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_and_nested_ones_know_their_length() {
        let message = Message::new(16, CREATE, &[]).text(3, "ab").nest(18, |m| m.attr(1, &[7]).attr(2, &[8, 9]));
        let body = &message.bytes[HEADER..];
        assert_eq!(body.len() % 4, 0);
        assert_eq!(find_attr(body, 3), Some(&b"ab\0"[..]));
        let inner = find_attr(body, 18).expect("nested");
        assert_eq!((find_attr(inner, 1), find_attr(inner, 2)), (Some(&[7][..]), Some(&[8, 9][..])));
        assert_eq!(find_attr(inner, 3), None);
    }

    #[test]
    fn a_cut_off_answer_holds_no_message() {
        let mut whole = Message::new(2, 0, &[0; 4]).bytes;
        let length = u32::try_from(whole.len()).expect("short");
        whole[0..4].copy_from_slice(&length.to_ne_bytes());
        assert_eq!(messages(&whole).len(), 1);
        (0..whole.len()).for_each(|cut| assert!(messages(&whole[..cut]).is_empty(), "{cut}"));
        assert_eq!(find_attr(&[9, 0, 1, 0], 1), None);
    }

    #[test]
    fn what_the_kernel_refuses_is_an_error_with_its_reason() {
        let mut route = Netlink::route().expect("a socket");
        let none = [&[0; 4][..], &i32::MAX.to_ne_bytes(), &[0; 8]].concat();
        let error = route.request("link 2147483647", Message::new(18, CHANGE, &none)).expect_err("no such link");
        assert!(format!("{error:#}").contains("ENODEV"), "{error:#}");
    }
}
