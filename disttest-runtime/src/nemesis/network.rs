//! The network between the places of a run: proxied links, or namespaces with addresses of their own.

use super::ProxyNet;
use super::net::{Backend, NetnsNet, Treatment};
use super::proxy::Rule;
use anyhow::{Result, bail};

/// What lies between the nodes, and between clients and nodes. Clones name the same one.
#[derive(Clone, Debug)]
pub struct Network {
    proxy: ProxyNet,
    own: Own,
}

/// Whether nodes have addresses of their own.
#[derive(Clone, Debug)]
enum Own {
    /// Every link goes through the proxy.
    No,
    /// They have.
    Addresses(NetnsNet),
    /// They should have, and cannot; why.
    Missing(String),
}

impl Network {
    /// Every link goes through `proxy`.
    pub fn proxied(proxy: ProxyNet) -> Network {
        Network { proxy, own: Own::No }
    }

    /// Nodes have the addresses of `net`; `proxy` only serves links that somebody opens beside them.
    pub fn of_namespaces(proxy: ProxyNet, net: NetnsNet) -> Network {
        Network { proxy, own: Own::Addresses(net) }
    }

    /// There should be namespaces, and `why` there are none. No cluster starts on it.
    pub(crate) fn missing(proxy: ProxyNet, why: String) -> Network {
        Network { proxy, own: Own::Missing(why) }
    }

    /// The proxy. Where nodes have addresses of their own it has no links between them.
    pub fn proxy(&self) -> &ProxyNet {
        &self.proxy
    }

    /// The namespaces; `None` where every link goes through the proxy.
    pub fn namespaces(&self) -> Option<&NetnsNet> {
        match &self.own {
            Own::Addresses(net) => Some(net),
            Own::No | Own::Missing(_) => None,
        }
    }

    /// Why there are no namespaces though there should be.
    pub(crate) fn why_missing(&self) -> Option<&str> {
        match &self.own {
            Own::Missing(why) => Some(why),
            Own::No | Own::Addresses(_) => None,
        }
    }

    /// Treats what travels from the first to the second of each pair. An error when this network cannot do that, or a
    /// pair is none: nothing weaker is put in its place.
    pub fn treat(&self, pairs: &[(String, String)], treatment: Treatment) -> Result<()> {
        match &self.own {
            Own::Addresses(net) => net.treat(pairs, Some(treatment)),
            Own::No => {
                let rule = rule(pairs, treatment)?;
                pairs.iter().try_for_each(|(a, b)| self.set(a, b, rule))
            }
            Own::Missing(why) => bail!("{why}"),
        }
    }

    /// Ends the treatment of each pair. Each is tried: one unknown link must not leave the others cut.
    pub fn release(&self, pairs: &[(String, String)]) -> Result<()> {
        match &self.own {
            Own::Addresses(net) => net.treat(pairs, None),
            Own::No => pairs.iter().map(|(a, b)| self.set(a, b, Rule::Pass)).fold(Ok(()), Result::and),
            Own::Missing(why) => bail!("{why}"),
        }
    }

    fn set(&self, a: &str, b: &str, rule: Rule) -> Result<()> {
        self.proxy.set_data_rule(a, b, rule)?;
        Ok(())
    }
}

/// What the proxy does instead of `treatment`: it sees payload, not packets.
fn rule(pairs: &[(String, String)], treatment: Treatment) -> Result<Rule> {
    let both_ways = pairs.iter().all(|(a, b)| pairs.iter().any(|(c, d)| (a, b) == (d, c)));
    Ok(match treatment {
        // Without payload in either direction no packet matters to what runs above.
        Treatment::Cut | Treatment::CutPort { .. } if both_ways => Rule::Drop,
        Treatment::Cut | Treatment::CutPort { .. } => bail!(
            "the proxy sees payload, not packets: one direction of packets cannot be cut there. Declare \
             `iptables-dropped-packets`, `nft-dropped-packets` or `switch-dropped-packets`, or use asymmetric-data-cut"
        ),
        Treatment::CutData => Rule::Drop,
        Treatment::Delay { mean, jitter } => Rule::Delay { mean, jitter },
        Treatment::Throttle { bytes_per_second } => Rule::Throttle { bytes_per_second },
        Treatment::Lose { .. }
        | Treatment::Duplicate { .. }
        | Treatment::Reorder { .. }
        | Treatment::Corrupt { .. } => {
            bail!("the proxy sees payload, not packets ({treatment}): declare a signal of {}", Backend::Switch)
        }
    })
}
