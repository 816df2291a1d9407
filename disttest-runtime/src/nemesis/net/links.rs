//! Links, addresses and routes, made by netlink: no program of the host is needed.

use super::Namespace;
use super::netlink::{CHANGE, CREATE, Message, Netlink, find_attr};
use anyhow::{Context, Result, bail};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

/// Index of the loopback interface, in every network namespace.
const LOOPBACK: u32 = 1;
const INET: u8 = 2;
const INET6: u16 = 10;

/// One end of a link: its index, name and hardware address.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) index: u32,
    pub(super) name: String,
    pub(super) mac: [u8; 6],
}

/// Sets the loopback interface of this thread's namespace up.
pub(super) fn loopback_up() -> Result<()> {
    up(&mut Netlink::route()?, LOOPBACK, "lo")
}

/// Makes a pair of linked interfaces: `here` in this thread's namespace, `there` in another one. Both are down.
///
/// No IPv6 addresses come with them where the kernel can be told so: nobody asked for what they would send.
pub(super) fn pair(here: &End, there: &End, namespace: &Namespace) -> Result<()> {
    let fd = u32::try_from(namespace.as_fd().as_raw_fd()).context("a file descriptor is not negative")?;
    let end = |message: Message, end: &End| message.text(3, &end.name).attr(1, &end.mac);
    // IFLA_LINKINFO { IFLA_INFO_KIND, IFLA_INFO_DATA { VETH_INFO_PEER { ifinfomsg, its attributes } } }
    let message = end(Message::new(16, CREATE, &link_header(here.index, 0, 0)), here).nest(18, |info| {
        info.text(1, "veth").nest(2, |data| {
            data.nest(1, |peer| {
                let peer = peer.raw(&link_header(there.index, 0, 0));
                end(peer, there).attr(28, &fd.to_ne_bytes())
            })
        })
    });
    let mut route = Netlink::route()?;
    route.request(&format!("link {}", here.name), message)?;
    let quiet = |index| Message::new(19, CHANGE, &link_header(index, 0, 0)).nest(26, no_ipv6_address);
    // A kernel without IPv6 refuses, and needs it not.
    drop(route.request("no IPv6 address", quiet(here.index)));
    namespace.run(|| {
        drop(Netlink::route()?.request("no IPv6 address", quiet(there.index)));
        Ok(())
    })
}

/// Sets interface `end` of this thread's namespace up, with an address in a network of `prefix` bits.
pub(super) fn address_and_up(end: &End, address: Ipv4Addr, prefix: u8) -> Result<()> {
    let mut route = Netlink::route()?;
    let fixed = [&[INET, prefix, 0, 0][..], &end.index.to_ne_bytes()].concat();
    let message = Message::new(20, CREATE, &fixed).attr(2, &address.octets()).attr(1, &address.octets());
    route.request(&format!("address {address} of {}", end.name), message)?;
    up(&mut route, end.index, &end.name)
}

/// Sets interface `end` of this thread's namespace up, without an address.
pub(super) fn bare_up(end: &End) -> Result<()> {
    up(&mut Netlink::route()?, end.index, &end.name)
}

/// Packets to `to` leave by `end`.
pub(super) fn route_to_host(to: Ipv4Addr, end: &End) -> Result<()> {
    let message = Message::new(24, CREATE, &route_header(32, 253)).attr(1, &to.octets());
    let message = message.attr(4, &end.index.to_ne_bytes());
    Netlink::route()?.request(&format!("route to {to}"), message).map(drop)
}

/// Everything without a route of its own goes to `gateway`, by `end`.
pub(super) fn route_by_default(gateway: Ipv4Addr, end: &End) -> Result<()> {
    let message = Message::new(24, CREATE, &route_header(0, 0)).attr(5, &gateway.octets());
    let message = message.attr(4, &end.index.to_ne_bytes());
    Netlink::route()?.request(&format!("default route by {gateway}"), message).map(drop)
}

/// What `address` is at, once and for all: nobody asks for it on the link.
pub(super) fn neighbour(address: Ipv4Addr, mac: [u8; 6], end: &End) -> Result<()> {
    const PERMANENT: u16 = 0x80;
    let fixed = [&[INET, 0, 0, 0][..], &end.index.to_ne_bytes(), &PERMANENT.to_ne_bytes(), &[0, 0]].concat();
    let message = Message::new(28, CREATE, &fixed).attr(1, &address.octets()).attr(2, &mac);
    Netlink::route()?.request(&format!("neighbour {address}"), message).map(drop)
}

/// Packets that come in by `end` and are for others are passed on.
pub(super) fn forward(end: &End) -> Result<()> {
    // IFLA_AF_SPEC { AF_INET { IFLA_INET_CONF { IPV4_DEVCONF_FORWARDING = 1 } } }
    let message = Message::new(19, CHANGE, &link_header(end.index, 0, 0)).nest(26, |families| {
        families.nest(u16::from(INET), |inet| inet.nest(1, |conf| conf.attr(1, &1_u32.to_ne_bytes())))
    });
    Netlink::route()?.request(&format!("forwarding by {}", end.name), message).map(drop)
}

/// Has the kernel compute checksums and cut segments of what leaves by `end` itself: who reads packets off the other end
/// sees them as a wire would carry them.
pub(super) fn without_offloads(end: &End) -> Result<()> {
    let mut generic = Netlink::generic()?;
    // CTRL_CMD_GETFAMILY of the controller (16), CTRL_ATTR_FAMILY_NAME; the answer has CTRL_ATTR_FAMILY_ID.
    let ask = Message::new(16, CHANGE, &[3, 1, 0, 0]).text(2, "ethtool");
    let answers = generic.request("the kernel has no ethtool over netlink (Linux 5.6)", ask)?;
    let id = answers.iter().find_map(|answer| find_attr(answer.get(4..)?, 1)?.try_into().ok().map(u16::from_ne_bytes));
    let id = id.context("the kernel did not say how to reach ethtool")?;
    // ETHTOOL_MSG_FEATURES_SET; ETHTOOL_A_FEATURES_WANTED as a list of bits, one that is named without a value is off.
    // Segmentation needs checksums, so it goes with them.
    let message = Message::new(id, CHANGE, &[12, 1, 0, 0])
        .nest(1, |header| header.attr(1, &end.index.to_ne_bytes()))
        .nest(3, |wanted| wanted.nest(3, |bits| bits.nest(1, |bit| bit.text(2, "tx-checksum-ip-generic"))));
    generic.request(&format!("offloads of {}", end.name), message).map(drop)
}

/// Waits until interface `end` of this thread's namespace carries packets: the kernel says so a moment after both ends were
/// set up, and until then drops what is sent.
pub(super) fn wait_until_it_carries(end: &End) -> Result<()> {
    const OPERATIONAL: u8 = 6;
    let (mut route, until) = (Netlink::route()?, Instant::now() + Duration::from_secs(5));
    loop {
        let ask = Message::new(18, CHANGE, &link_header(end.index, 0, 0));
        let answers = route.request(&format!("state of {}", end.name), ask)?;
        let state = answers.first().and_then(|answer| find_attr(answer.get(16..)?, 16)).and_then(|state| state.first());
        if state == Some(&OPERATIONAL) {
            return Ok(());
        }
        if Instant::now() > until {
            bail!("{} carries nothing after 5 s: its state is {state:?}", end.name);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn up(route: &mut Netlink, index: u32, name: &str) -> Result<()> {
    const UP: u32 = 1;
    route.request(&format!("link {name} up"), Message::new(19, CHANGE, &link_header(index, UP, UP))).map(drop)
}

/// `struct ifinfomsg`.
fn link_header(index: u32, flags: u32, change: u32) -> Vec<u8> {
    [&[0; 4][..], &index.to_ne_bytes(), &flags.to_ne_bytes(), &change.to_ne_bytes()].concat()
}

/// `struct rtmsg` of the main table: protocol static, type unicast.
fn route_header(bits: u8, scope: u8) -> Vec<u8> {
    [&[INET, bits, 0, 0, 254, 4, scope, 1][..], &[0; 4]].concat()
}

/// IFLA_INET6_ADDR_GEN_MODE = none.
fn no_ipv6_address(families: Message) -> Message {
    families.nest(INET6, |inet6| inet6.attr(8, &[1]))
}
