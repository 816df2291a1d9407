//! Places with addresses of their own, in namespaces of their own, and everything between them.
//!
//! ```text
//!   n1 ── 10.77.0.1          n2 ── 10.77.0.2        (a namespace each)
//!    └──────────┐             ┌──────────┘
//!             the middle (a namespace): a router with a packet filter, or the ends of a switch
//!                           │
//!          clients ── 10.77.0.250                   (the namespace of the run)
//! ```

use super::filter::{Filter, Iptables, Nft};
use super::links::{self, End};
use super::switch::Switch;
use super::{Backend, Counts, Namespace, Treatment, enclosure};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The network of all places. Nothing outside of the run's namespaces has it, so any would do.
const NET: [u8; 3] = [10, 77, 0];
/// Last part of the clients' address, and most nodes that fit below.
const CLIENTS: u8 = 250;
/// Last part of the router's address, which is the same to every place.
const ROUTER: u8 = 254;
/// Index that each place's own end has in its namespace, after the loopback interface.
const OWN_END: u32 = 2;

/// The network of a run whose nodes have addresses of their own. Clones name the same one; the last one takes it down.
#[derive(Clone)]
pub struct NetnsNet {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Backend,
    middle: Namespace,
    engine: Engine,
    places: Mutex<Places>,
}

enum Engine {
    Filter(Filter),
    Switch(Switch),
}

#[derive(Debug, Default)]
struct Places {
    names: BTreeMap<String, usize>,
    ends: Vec<Joined>,
}

/// A place that has joined.
#[derive(Clone, Debug)]
struct Joined {
    namespace: Namespace,
    address: Ipv4Addr,
    end: End,
}

/// Where a node lives.
#[derive(Clone, Debug)]
pub struct Home {
    /// Its address.
    pub address: Ipv4Addr,
    /// Its network namespace.
    pub namespace: Namespace,
}

impl fmt::Debug for NetnsNet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetnsNet").field("backend", &self.inner.backend).finish_non_exhaustive()
    }
}

impl NetnsNet {
    /// A network that acts by `backend`, with the place `clients` in the calling thread's namespace: the run's own.
    ///
    /// An error where private namespaces were not entered ([`enclosure::enter`]): the network of the host is left alone.
    pub fn new(backend: Backend, seed: u64, clients: &str) -> Result<NetnsNet> {
        if !matches!(enclosure::of_this_process(), Some(Ok(_))) {
            bail!("a network of namespaces is made inside of private namespaces only, and none were entered");
        }
        let middle = Namespace::new()?;
        let engine = match backend {
            Backend::Nft => Engine::Filter(Filter::new(Box::new(Nft::find()?), middle.clone())),
            Backend::Iptables => Engine::Filter(Filter::new(Box::new(Iptables::find()?), middle.clone())),
            Backend::Switch => Engine::Switch(Switch::new(middle.clone(), seed)?),
        };
        let inner = Inner { backend, middle, engine, places: Mutex::default() };
        let net = NetnsNet { inner: Arc::new(inner) };
        net.join(clients, CLIENTS, "clients", Namespace::of_this_thread()?)?;
        Ok(net)
    }

    /// What it acts by.
    pub fn backend(&self) -> Backend {
        self.inner.backend
    }

    /// The home of the node `name`, the `index`th from 0: made when it is asked for first.
    pub fn add_node(&self, name: &str, index: usize) -> Result<Home> {
        if let Some(home) = self.home(name) {
            return Ok(home);
        }
        let number = u8::try_from(index + 1).ok().filter(|number| *number < CLIENTS);
        let number = number.with_context(|| format!("more than {} nodes", CLIENTS - 1))?;
        let namespace = Namespace::new()?;
        namespace.run(links::loopback_up)?;
        self.join(name, number, "eth0", namespace.clone())?;
        Ok(Home { address: address(number), namespace })
    }

    fn home(&self, name: &str) -> Option<Home> {
        let places = self.places();
        let joined = &places.ends[*places.names.get(name)?];
        Some(Home { address: joined.address, namespace: joined.namespace.clone() })
    }

    fn join(&self, name: &str, number: u8, interface: &str, namespace: Namespace) -> Result<()> {
        let mut places = self.places();
        if places.names.contains_key(name) {
            bail!("there is a place `{name}` already");
        }
        let place = places.ends.len();
        let here = End { index: 10 + u32::from(number), name: format!("to-{number}"), mac: mac(1, number) };
        let there = End { index: OWN_END, name: interface.to_owned(), mac: mac(0, number) };
        let joined = Joined { namespace, address: address(number), end: there };
        self.inner.middle.run(|| links::pair(&here, &joined.end, &joined.namespace))?;
        match &self.inner.engine {
            Engine::Filter(filter) => {
                self.route(&here, &joined)?;
                filter.add_place(place, joined.address)?;
            }
            Engine::Switch(switch) => {
                self.plug(&here, &joined, &places.ends)?;
                switch.add_port(place, name, &here.name, joined.end.mac)?;
            }
        }
        self.inner.middle.run(|| links::wait_until_it_carries(&here))?;
        joined.namespace.run(|| links::wait_until_it_carries(&joined.end))?;
        places.names.insert(name.to_owned(), place);
        places.ends.push(joined);
        Ok(())
    }

    /// A place that reaches all others by the router.
    fn route(&self, here: &End, joined: &Joined) -> Result<()> {
        let (router, address, end) = (address(ROUTER), joined.address, &joined.end);
        self.inner.middle.run(|| {
            links::address_and_up(here, router, 32)?;
            links::forward(here)?;
            links::route_to_host(address, here)?;
            links::neighbour(address, end.mac, here)
        })?;
        joined.namespace.run(|| {
            // A packet is then what a wire would carry, and not 64 KB at once. An old kernel cannot be told so here.
            drop(links::without_offloads(end));
            links::address_and_up(end, address, 32)?;
            links::route_to_host(router, end)?;
            links::neighbour(router, here.mac, end)?;
            links::route_by_default(router, end)
        })
    }

    /// A place that has all others on its link.
    fn plug(&self, here: &End, joined: &Joined, others: &[Joined]) -> Result<()> {
        let (address, end) = (joined.address, &joined.end);
        self.inner.middle.run(|| links::bare_up(here))?;
        joined.namespace.run(|| {
            links::without_offloads(end)?;
            links::address_and_up(end, address, 24)?;
            others.iter().try_for_each(|other| links::neighbour(other.address, other.end.mac, end))
        })?;
        others.iter().try_for_each(|other| other.namespace.run(|| links::neighbour(address, end.mac, &other.end)))
    }

    /// Treats what travels from the first to the second of each pair; `None` ends the treatment. All at once; for a
    /// packet filter the rules are read back.
    pub fn treat(&self, pairs: &[(String, String)], treatment: Option<Treatment>) -> Result<()> {
        let ways = {
            let places = self.places();
            let number = |name: &String| places.names.get(name).copied().with_context(|| format!("no place `{name}`"));
            pairs.iter().map(|(a, b)| Ok((number(a)?, number(b)?))).collect::<Result<Vec<_>>>()?
        };
        match &self.inner.engine {
            Engine::Filter(filter) => filter.treat(&ways, treatment),
            Engine::Switch(switch) => switch.treat(&ways, treatment),
        }
    }

    /// What was counted so far of what travels from the first to the second of each pair. A packet filter is asked: a
    /// few milliseconds.
    pub fn counts(&self) -> Result<BTreeMap<(String, String), Counts>> {
        let counts = match &self.inner.engine {
            Engine::Filter(filter) => filter.read()?,
            Engine::Switch(switch) => switch.read(),
        };
        let names: BTreeMap<usize, String> = self.places().names.iter().map(|(name, at)| (*at, name.clone())).collect();
        Ok(self
            .all_pairs()
            .into_iter()
            .map(|(a, b)| {
                let counted = counts.get(&(a, b)).copied().unwrap_or_default();
                ((names[&a].clone(), names[&b].clone()), counted)
            })
            .collect())
    }

    /// Every pair of two places, in either direction.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let places = self.places();
        let names: BTreeMap<usize, &String> = places.names.iter().map(|(name, at)| (*at, name)).collect();
        let count = places.ends.len();
        let pairs = (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).filter(|(a, b)| a != b);
        pairs.map(|(a, b)| (names[&a].clone(), names[&b].clone())).collect()
    }

    fn all_pairs(&self) -> Vec<(usize, usize)> {
        let count = self.places().ends.len();
        (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).filter(|(a, b)| a != b).collect()
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.inner.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn address(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(NET[0], NET[1], NET[2], number)
}

/// A locally administered address.
fn mac(side: u8, number: u8) -> [u8; 6] {
    [2, 77, 0, 0, side, number]
}
