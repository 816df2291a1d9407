//! Nemeses that act on the links between nodes, at the proxy: cuts, latency, bandwidth, resets.
//!
//! Sides are lists of nodes; `client` stands for all clients. Unless victims are named, the smaller side is the victim
//! (the first when they are equal).

use super::contract::names;
use super::proxy::Rule;
use super::{BoxFuture, Nemesis, Plane};
use anyhow::{Result, bail};
use std::time::Duration;

/// `asymmetric-data-cut`: payload from one side to the other is swallowed; what travels back is delivered.
///
/// TCP itself goes on in both directions, so connections stay open and silent one way (a cut of packets in one
/// direction would kill both within a fraction of a second). Connections that lost bytes are reset at the heal.
/// Evidence: `proxy-dropped-bytes`, read at `link n1->n2` for the payload that travels from n1 to n2.
#[derive(Debug)]
pub struct AsymmetricDataCut(LinkRule);

/// `full-partition`: payload between two sides is swallowed in both directions.
///
/// Clients reach both sides. Connections that lost bytes are reset at the heal. Evidence: `proxy-dropped-bytes`.
#[derive(Debug)]
pub struct FullPartition(LinkRule);

/// `latency`: payload between two sides is delivered later, in both directions and in order.
///
/// Evidence: `proxy-delayed-chunks`.
#[derive(Debug)]
pub struct Latency(LinkRule);

/// `bandwidth-cap`: payload between two sides is delivered at no more than a rate, on each connection and direction.
///
/// Evidence: `proxy-throttled-bytes`.
#[derive(Debug)]
pub struct BandwidthCap(LinkRule);

/// `connection-loss`: every open connection between two sides is reset, once; new ones are not hindered.
///
/// Evidence: `proxy-reset-connections`.
#[derive(Debug)]
pub struct ConnectionLoss(Sides);

impl AsymmetricDataCut {
    /// Swallows payload from each of `from` to each of `to`.
    ///
    /// Cut off from `to`, a node in `from` gets no request out, and its peers in `to` get no reply of it.
    pub fn new<S: Into<String>, T: Into<String>>(
        from: impl IntoIterator<Item = S>,
        to: impl IntoIterator<Item = T>,
    ) -> AsymmetricDataCut {
        let sides = Sides::new(from, to);
        let (detail, both) = (sides.detail("-/>"), false);
        let (name, signal) = ("asymmetric-data-cut", "proxy-dropped-bytes");
        AsymmetricDataCut(LinkRule { name, signal, both, detail, rule: Rule::Drop, sides })
    }
}

impl FullPartition {
    /// Separates `a` from `b`.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
    ) -> FullPartition {
        let sides = Sides::new(a, b);
        let (detail, both) = (sides.detail("</>"), true);
        let (name, signal) = ("full-partition", "proxy-dropped-bytes");
        FullPartition(LinkRule { name, signal, both, detail, rule: Rule::Drop, sides })
    }
}

impl Latency {
    /// Delays each chunk of payload between `a` and `b` by `mean` plus or minus up to `jitter`.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
        mean: Duration,
        jitter: Duration,
    ) -> Latency {
        let sides = Sides::new(a, b);
        let detail = format!("{}: {mean:?} +- {jitter:?}", sides.detail("<~>"));
        let (name, signal, both) = ("latency", "proxy-delayed-chunks", true);
        Latency(LinkRule { name, signal, both, detail, rule: Rule::Delay { mean, jitter }, sides })
    }
}

impl BandwidthCap {
    /// Caps each connection between `a` and `b` at `bytes_per_second` in each direction.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
        bytes_per_second: u64,
    ) -> BandwidthCap {
        let sides = Sides::new(a, b);
        let detail = format!("{}: {bytes_per_second} B/s", sides.detail("<~>"));
        let (name, signal, both) = ("bandwidth-cap", "proxy-throttled-bytes", true);
        BandwidthCap(LinkRule { name, signal, both, detail, rule: Rule::Throttle { bytes_per_second }, sides })
    }
}

impl ConnectionLoss {
    /// Resets the connections between `a` and `b`.
    pub fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
    ) -> ConnectionLoss {
        ConnectionLoss(Sides::new(a, b))
    }

    /// Names the victims, where the default is wrong.
    #[must_use]
    pub fn with_victims<S: Into<String>>(mut self, victims: impl IntoIterator<Item = S>) -> ConnectionLoss {
        self.0.victims = names(victims);
        self
    }
}

/// Name of the place where signals of the payload that travels from `a` to `b` are read: `link n1->n2`.
pub fn link(a: &str, b: &str) -> String {
    format!("link {a}->{b}")
}

/// Two sides, and who of them suffers.
#[derive(Clone, Debug)]
struct Sides {
    a: Vec<String>,
    b: Vec<String>,
    victims: Vec<String>,
}

impl Sides {
    fn new<S: Into<String>, T: Into<String>>(a: impl IntoIterator<Item = S>, b: impl IntoIterator<Item = T>) -> Sides {
        let (a, b) = (names(a), names(b));
        let victims = if a.len() <= b.len() { a.clone() } else { b.clone() };
        Sides { a, b, victims }
    }

    /// Every (member of a, member of b); an error when there is none, for then the fault would do nothing.
    fn pairs(&self) -> Result<Vec<(&String, &String)>> {
        if let Some(both) = self.a.iter().find(|name| self.b.contains(name)) {
            bail!("{both} stands on both sides");
        }
        let pairs: Vec<_> = self.a.iter().flat_map(|a| self.b.iter().map(move |b| (a, b))).collect();
        if pairs.is_empty() {
            bail!("one side is empty: the fault would do nothing");
        }
        Ok(pairs)
    }

    fn detail(&self, arrow: &str) -> String {
        format!("{} {arrow} {}", self.a.join(", "), self.b.join(", "))
    }

    /// Clients are no node: nothing is read there.
    fn victims(&self) -> Vec<String> {
        self.victims.iter().filter(|victim| *victim != "client").cloned().collect()
    }

    /// `signal` on the links from a to b, and back when `both`.
    fn read(&self, signal: &str, both: bool) -> Vec<(String, String)> {
        let pairs = self.a.iter().flat_map(|a| self.b.iter().map(move |b| (a, b)));
        pairs
            .flat_map(|(a, b)| {
                let back = both.then(|| (signal.to_owned(), link(b, a)));
                std::iter::once((signal.to_owned(), link(a, b))).chain(back)
            })
            .collect()
    }
}

/// A rule set on the links between two sides, and taken back at the heal.
#[derive(Debug)]
struct LinkRule {
    name: &'static str,
    signal: &'static str,
    both: bool,
    detail: String,
    rule: Rule,
    sides: Sides,
}

impl LinkRule {
    fn inject(&self, plane: &Plane) -> Result<()> {
        for (a, b) in self.sides.pairs()? {
            self.set(plane, a, b, self.rule)?;
        }
        Ok(())
    }

    /// Each pair is tried: one unknown link must not leave the others cut.
    fn heal(&self, plane: &Plane) -> Result<()> {
        let pairs = self.sides.pairs()?;
        pairs.into_iter().map(|(a, b)| self.set(plane, a, b, Rule::Pass)).fold(Ok(()), Result::and)
    }

    fn set(&self, plane: &Plane, a: &str, b: &str, rule: Rule) -> Result<()> {
        plane.net().set_data_rule(a, b, rule)?;
        if self.both {
            plane.net().set_data_rule(b, a, rule)?;
        }
        Ok(())
    }
}

macro_rules! nemesis_by_rule {
    ($($type:ident),*) => {$(
        impl $type {
            /// Names the victims, where the default is wrong.
            #[must_use]
            pub fn with_victims<S: Into<String>>(mut self, victims: impl IntoIterator<Item = S>) -> $type {
                self.0.sides.victims = names(victims);
                self
            }
        }

        impl Nemesis for $type {
            fn name(&self) -> &str {
                self.0.name
            }

            fn detail(&self) -> String {
                self.0.detail.clone()
            }

            fn victims(&self) -> Vec<String> {
                self.0.sides.victims()
            }

            fn injector(&self) -> Vec<(String, String)> {
                self.0.sides.read(self.0.signal, self.0.both)
            }

            fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
                Box::pin(async { self.0.inject(plane) })
            }

            fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
                Box::pin(async { self.0.heal(plane) })
            }
        }
    )*};
}

nemesis_by_rule!(AsymmetricDataCut, FullPartition, Latency, BandwidthCap);

impl Nemesis for ConnectionLoss {
    fn name(&self) -> &str {
        "connection-loss"
    }

    fn detail(&self) -> String {
        self.0.detail("x")
    }

    fn victims(&self) -> Vec<String> {
        self.0.victims()
    }

    fn injector(&self) -> Vec<(String, String)> {
        self.0.read("proxy-reset-connections", true)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut reset = 0;
            for (a, b) in self.0.pairs()? {
                // One of the two links may not exist (clients only open connections); both missing is an error.
                reset += match (plane.net().reset_connections(a, b), plane.net().reset_connections(b, a)) {
                    (Ok(one), Ok(back)) => one + back,
                    (one, back) => one.or(back)?,
                };
            }
            if reset == 0 {
                bail!("no connection was open");
            }
            Ok(())
        })
    }

    fn heal<'a>(&'a mut self, _plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_side_is_the_victim_unless_named() {
        let check = |nemesis: &dyn Nemesis, expect: &[&str]| assert_eq!(nemesis.victims(), expect);
        check(&FullPartition::new(["n1"], ["n2", "n3"]), &["n1"]);
        check(&FullPartition::new(["n1", "n2"], ["n3"]), &["n3"]);
        check(&AsymmetricDataCut::new(["n1"], ["n2"]), &["n1"]);
        check(&AsymmetricDataCut::new(["n1"], ["n2"]).with_victims(["n2"]), &["n2"]);
        check(&Latency::new(["client"], ["n1"], Duration::ZERO, Duration::ZERO).with_victims(["n1"]), &["n1"]);
    }

    #[test]
    fn a_cut_is_read_one_way_and_a_partition_both_ways() {
        let places = |nemesis: &dyn Nemesis| nemesis.injector().into_iter().map(|(_, at)| at).collect::<Vec<_>>();
        assert_eq!(places(&AsymmetricDataCut::new(["n1"], ["n2", "n3"])), ["link n1->n2", "link n1->n3"]);
        assert_eq!(places(&FullPartition::new(["n1"], ["n2"])), ["link n1->n2", "link n2->n1"]);
    }

    #[test]
    fn a_fault_on_nobody_or_on_itself_is_an_error() {
        assert!(Sides::new(["n1"], Vec::<String>::new()).pairs().is_err());
        assert!(Sides::new(["n1"], ["n1"]).pairs().is_err());
        assert_eq!(Sides::new(["n1"], ["n2"]).pairs().expect("two nodes").len(), 1);
    }
}
