//! A port: a socket that reads and writes whole frames at one interface.

use anyhow::{Context, Result};
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrLike, bind, recv, send, setsockopt, socket,
    sockopt,
};
use nix::sys::time::TimeVal;
use std::os::fd::{AsRawFd, OwnedFd};

/// How long a read waits before it says that nothing came.
const PATIENCE: TimeVal = TimeVal::new(0, 500_000);
/// Bytes that may wait to be read: a burst of a fast sender.
const BACKLOG: usize = 8 << 20;

/// A port of the switch.
#[derive(Debug)]
pub(super) struct Port {
    name: String,
    mac: [u8; 6],
    socket: OwnedFd,
}

impl Port {
    /// Opens `interface` of this thread's namespace, behind which is the place `name` at `mac`.
    pub(super) fn open(name: &str, interface: &str, mac: [u8; 6]) -> Result<Port> {
        let kind = (AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::EthAll);
        let socket = socket(kind.0, kind.1, kind.2, kind.3).context("no packet socket")?;
        // The kernel's own list of interfaces has their link-layer addresses, whose protocol is 0: that of the socket.
        let address = getifaddrs()?.filter(|found| found.interface_name == interface).find_map(|found| {
            let address = found.address?;
            address.as_link_addr().filter(|link| link.len() > 0).copied()
        });
        let address = address.with_context(|| format!("no interface {interface}"))?;
        // The first needs rights outside of a user namespace; what the other gives is enough for most.
        if setsockopt(&socket, sockopt::RcvBufForce, &BACKLOG).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &BACKLOG)?;
        }
        setsockopt(&socket, sockopt::ReceiveTimeout, &PATIENCE)?;
        bind(socket.as_raw_fd(), &address).with_context(|| format!("no packets of {interface}"))?;
        Ok(Port { name: name.to_owned(), mac, socket })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// The next frame from the place; `None` when none came in half a second.
    pub(super) fn read(&self, buffer: &mut [u8]) -> Option<usize> {
        match recv(self.socket.as_raw_fd(), buffer, MsgFlags::empty()) {
            Ok(length) => Some(length),
            Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => None,
            // The interface went down, say: nothing comes until it is up again.
            Err(_) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
                None
            }
        }
    }

    /// Gives a frame to the place; false when its link would not take it.
    pub(super) fn write(&self, frame: &[u8]) -> bool {
        send(self.socket.as_raw_fd(), frame, MsgFlags::empty()).is_ok()
    }
}
