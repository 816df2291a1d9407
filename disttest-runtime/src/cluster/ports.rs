//! Free loopback ports for nodes to listen on.

use anyhow::{Context, Result};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// Picks `count` loopback addresses nobody listens on, starting the search at a place that `salt` decides.
///
/// They lie below the kernel's range of ephemeral ports, so that an outgoing connection cannot take the port of a node
/// that is down for a while. Between the choice and the node's own `bind` another process may take one: the caller
/// starts over with another salt.
pub(super) fn free_addresses(count: usize, salt: u64) -> Result<Vec<SocketAddr>> {
    let (first, last) = (10_240_u64, u64::from(ephemeral_start()).max(12_288));
    let candidates = (0..last - first).map(|i| first + (salt + i) % (last - first));
    let held: Vec<TcpListener> = candidates
        .filter_map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, u16::try_from(port).ok()?)).ok())
        .take(count)
        .collect();
    anyhow::ensure!(held.len() == count, "only {} of {count} loopback ports are free", held.len());
    held.iter().map(|listener| listener.local_addr().context("a bound socket has an address")).collect()
}

/// First port that the kernel gives to outgoing connections (ip_local_port_range).
fn ephemeral_start() -> u16 {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    range.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(32_768)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn chosen_ports_are_distinct_free_and_not_ephemeral() {
        let chosen = free_addresses(5, 777).expect("ports are free");
        let distinct: BTreeSet<u16> = chosen.iter().map(SocketAddr::port).collect();
        assert_eq!(distinct.len(), 5);
        assert!(distinct.iter().all(|port| *port < ephemeral_start()));
        let taken = TcpListener::bind(chosen[0]).expect("free");
        assert!(!free_addresses(5, 777).expect("others are free").contains(&taken.local_addr().expect("bound")));
    }
}
