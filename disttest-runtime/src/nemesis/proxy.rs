//! An in-process TCP proxy: every link between two nodes, and from clients to a node, goes through its own listener,
//! where payload can be swallowed, delayed or throttled one direction at a time, and connections reset.
//!
//! No privileges are needed, and the proxy sees payload, not packets. So the fault of one direction is a cut of data:
//! acknowledgements of the kernels still flow, which keeps the other direction alive (a cut of packets would kill both
//! within a fraction of a second). A node that is reached by another address than that of its link bypasses the proxy:
//! that is why [`LaneCounters::bytes_passed`] must rise in the baseline of a fault.

mod counters;
mod link;
mod pump;
mod rule;

#[cfg(test)]
mod landing_tests;
#[cfg(test)]
mod tests;

pub use counters::{LaneCounters, LinkCounters};
pub use rule::{Direction, Rule};

use crate::base::time::Nanos;
use crate::recorder::Clock;
use link::{Link, Shared};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::{fmt, io};

/// A rule or question was about a link that does not exist: it would act on nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLink {
    /// Who opens connections on it.
    pub from: String,
    /// Who accepts them.
    pub to: String,
}

impl fmt::Display for UnknownLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no link {} -> {} goes through the proxy", self.from, self.to)
    }
}

impl std::error::Error for UnknownLink {}

/// The links of a cluster. Cheap to clone; dropping the last clone ends every listener and connection.
#[derive(Clone)]
pub struct ProxyNet {
    inner: Arc<Inner>,
}

struct Inner {
    clock: Clock,
    seed: u64,
    runtime: tokio::runtime::Handle,
    links: RwLock<BTreeMap<(String, String), Link>>,
}

impl fmt::Debug for ProxyNet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.snapshot()).finish()
    }
}

impl ProxyNet {
    /// A net without links, whose tasks run in the current tokio runtime. Panics outside of one.
    pub fn new(clock: Clock) -> ProxyNet {
        ProxyNet::seeded(clock, 0)
    }

    /// As [`ProxyNet::new`]; jitter is drawn from `seed`, the names of the link and the number of the connection.
    pub fn seeded(clock: Clock, seed: u64) -> ProxyNet {
        let runtime = tokio::runtime::Handle::current();
        ProxyNet { inner: Arc::new(Inner { clock, seed, runtime, links: RwLock::default() }) }
    }

    /// Opens the link on which `from` opens connections to `to`, and says where `from` must connect to. Until there is
    /// an upstream, connections are refused (accepted and reset). An error when the link exists or no port is free.
    pub fn add_link(&self, from: &str, to: &str, upstream: impl Into<Option<SocketAddr>>) -> io::Result<SocketAddr> {
        let mut links = self.inner.links.write().unwrap_or_else(PoisonError::into_inner);
        let key = (from.to_owned(), to.to_owned());
        if links.contains_key(&key) {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("the link {from} -> {to} exists")));
        }
        let link = Link::open(format!("{from} -> {to}"), self.inner.seed, upstream.into(), &self.inner.runtime)?;
        let address = link.address;
        links.insert(key, link);
        Ok(address)
    }

    /// Where new connections of the link lead from now on; established ones stay.
    pub fn set_upstream(
        &self,
        from: &str,
        to: &str,
        upstream: impl Into<Option<SocketAddr>>,
    ) -> Result<(), UnknownLink> {
        self.on(from, to, |link| link.set_upstream(upstream.into()))
    }

    /// Where `from` must connect to in order to reach `to`.
    pub fn address(&self, from: &str, to: &str) -> Option<SocketAddr> {
        let links = self.inner.links.read().unwrap_or_else(PoisonError::into_inner);
        links.get(&(from.to_owned(), to.to_owned())).map(|link| link.address)
    }

    /// All links, (opener, accepter), in order.
    pub fn links(&self) -> Vec<(String, String)> {
        self.inner.links.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Sets the rule for one direction of one link, and says since when it acts.
    pub fn set_rule(&self, from: &str, to: &str, direction: Direction, rule: Rule) -> Result<Nanos, UnknownLink> {
        self.on(from, to, |link| link.lane(direction).rule.send_replace(rule))?;
        Ok(self.inner.clock.now())
    }

    /// Sets the rule for all payload that travels from `a` to `b`: requests on the link a -> b and replies on the link
    /// b -> a, as far as those links exist. An error when neither does.
    pub fn set_data_rule(&self, a: &str, b: &str, rule: Rule) -> Result<Nanos, UnknownLink> {
        let requests = self.set_rule(a, b, Direction::Forward, rule);
        let replies = self.set_rule(b, a, Direction::Backward, rule);
        requests.or(replies)?;
        Ok(self.inner.clock.now())
    }

    /// Swallows all payload from `a` to `b`; what travels from `b` to `a` is still delivered.
    pub fn cut_data(&self, a: &str, b: &str) -> Result<Nanos, UnknownLink> {
        self.set_data_rule(a, b, Rule::Drop)
    }

    /// Swallows all payload between `a` and `b`.
    pub fn cut_both(&self, a: &str, b: &str) -> Result<Nanos, UnknownLink> {
        self.cut_data(a, b)?;
        self.cut_data(b, a)
    }

    /// Delivers all payload between `a` and `b` again. Connections that lost bytes are reset (see [`Rule::Drop`]).
    pub fn heal_pair(&self, a: &str, b: &str) -> Result<Nanos, UnknownLink> {
        self.set_data_rule(a, b, Rule::Pass)?;
        self.set_data_rule(b, a, Rule::Pass)
    }

    /// Sets every lane of every link to [`Rule::Pass`].
    pub fn heal_all(&self) -> Nanos {
        for link in self.inner.links.read().unwrap_or_else(PoisonError::into_inner).values() {
            link.shared.lane(Direction::Forward).rule.send_replace(Rule::Pass);
            link.shared.lane(Direction::Backward).rule.send_replace(Rule::Pass);
        }
        self.inner.clock.now()
    }

    /// The rule of one direction of a link.
    pub fn rule(&self, from: &str, to: &str, direction: Direction) -> Result<Rule, UnknownLink> {
        self.on(from, to, |link| *link.lane(direction).rule.borrow())
    }

    /// Resets (RST to both ends) every open connection of the link; how many were open. What the kernels still held of
    /// them is lost. [`LinkCounters::connections_reset`] counts them as they are done.
    pub fn reset_connections(&self, from: &str, to: &str) -> Result<u64, UnknownLink> {
        self.on(from, to, Shared::reset)
    }

    /// What a link has counted so far.
    pub fn counters(&self, from: &str, to: &str) -> Result<LinkCounters, UnknownLink> {
        self.on(from, to, Shared::snapshot)
    }

    /// What was counted of the payload that travels from `a` to `b`, on both links; see [`ProxyNet::set_data_rule`].
    pub fn data_counters(&self, a: &str, b: &str) -> Result<LaneCounters, UnknownLink> {
        match (self.counters(a, b), self.counters(b, a)) {
            (Ok(requests), Ok(replies)) => Ok(requests.forward.plus(replies.backward)),
            (Ok(requests), Err(_)) => Ok(requests.forward),
            (Err(_), Ok(replies)) => Ok(replies.backward),
            (Err(unknown), Err(_)) => Err(unknown),
        }
    }

    /// The counters of every link.
    pub fn snapshot(&self) -> Vec<((String, String), LinkCounters)> {
        let links = self.inner.links.read().unwrap_or_else(PoisonError::into_inner);
        links.iter().map(|(key, link)| (key.clone(), link.shared.snapshot())).collect()
    }

    fn on<T>(&self, from: &str, to: &str, act: impl FnOnce(&Shared) -> T) -> Result<T, UnknownLink> {
        let links = self.inner.links.read().unwrap_or_else(PoisonError::into_inner);
        let key = (from.to_owned(), to.to_owned());
        match links.get(&key) {
            Some(link) => Ok(act(&link.shared)),
            None => Err(UnknownLink { from: key.0, to: key.1 }),
        }
    }
}
