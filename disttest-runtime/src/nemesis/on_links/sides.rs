//! Which ways a fault acts on, who suffers, and where its evidence is read.

use super::super::Plane;
use super::super::contract::names;
use super::super::net::Treatment;
use anyhow::{Result, bail};

/// Name of the place where signals of what travels from `a` to `b` are read: `link n1->n2`.
pub fn link(a: &str, b: &str) -> String {
    format!("link {a}->{b}")
}

/// Two sides, and who of them suffers.
#[derive(Clone, Debug)]
pub(super) struct Sides {
    pub(super) a: Vec<String>,
    pub(super) b: Vec<String>,
    pub(super) victims: Vec<String>,
}

impl Sides {
    pub(super) fn new<S: Into<String>, T: Into<String>>(
        a: impl IntoIterator<Item = S>,
        b: impl IntoIterator<Item = T>,
    ) -> Sides {
        let (a, b) = (names(a), names(b));
        let victims = if a.len() <= b.len() { a.clone() } else { b.clone() };
        Sides { a, b, victims }
    }

    pub(super) fn detail(&self, arrow: &str) -> String {
        format!("{} {arrow} {}", self.a.join(", "), self.b.join(", "))
    }

    /// Every way from a to b, and back when `both`.
    pub(super) fn ways(&self, both: bool) -> Vec<(String, String)> {
        let pairs = self.a.iter().flat_map(|a| self.b.iter().map(move |b| (a.clone(), b.clone())));
        pairs.flat_map(|(a, b)| [Some((a.clone(), b.clone())), both.then_some((b, a))]).flatten().collect()
    }
}

/// A treatment of ways, taken back at the heal.
#[derive(Clone, Debug)]
pub(super) struct LinkFault {
    pub(super) name: &'static str,
    /// What its signals are called behind the word for what acts: bytes, at the proxy; packets, elsewhere. Empty where
    /// the proxy cannot act so.
    pub(super) signals: Signals,
    pub(super) detail: String,
    pub(super) victims: Vec<String>,
    /// Each treatment with the ways it is for.
    pub(super) acts: Vec<(Treatment, Vec<(String, String)>)>,
}

/// Names of the signals that show a treatment, behind the word for what acts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signals {
    pub(super) proxy: Option<&'static str>,
    pub(super) packets: &'static str,
    /// A packet filter can do it too, not only a switch.
    pub(super) filter: bool,
}

/// What is dropped, at any of them.
pub(super) const DROPPED: Signals =
    Signals { proxy: Some("proxy-dropped-bytes"), packets: "dropped-packets", filter: true };
/// Packets that are dropped, where packets are seen.
pub(super) const LOST: Signals = Signals { proxy: None, ..DROPPED };

impl LinkFault {
    /// One treatment of the ways between two sides.
    pub(super) fn between(
        name: &'static str,
        signals: Signals,
        detail: String,
        treatment: Treatment,
        sides: &Sides,
        both: bool,
    ) -> LinkFault {
        let acts = vec![(treatment, sides.ways(both))];
        LinkFault { name, signals, detail, victims: sides.victims.clone(), acts }
    }

    /// Clients are no node: nothing is read there.
    pub(super) fn victims(&self) -> Vec<String> {
        self.victims.iter().filter(|victim| *victim != "client").cloned().collect()
    }

    pub(super) fn injector(&self) -> Vec<(String, String)> {
        let Signals { proxy, packets, filter } = self.signals;
        let by = |word: &str| format!("{word}-{packets}");
        let filters = filter.then(|| [by("iptables"), by("nft")]).into_iter().flatten();
        let all: Vec<String> = proxy.map(str::to_owned).into_iter().chain(filters).chain([by("switch")]).collect();
        let ways = self.acts.iter().flat_map(|(_, ways)| ways);
        ways.flat_map(|(a, b)| all.iter().map(move |signal| (signal.clone(), link(a, b)))).collect()
    }

    pub(super) fn inject(&self, plane: &Plane) -> Result<()> {
        for (_, ways) in &self.acts {
            if ways.is_empty() {
                bail!("one side is empty: the fault would do nothing");
            }
            if let Some((itself, _)) = ways.iter().find(|(a, b)| a == b) {
                bail!("{itself} stands on both sides");
            }
        }
        self.acts.iter().try_for_each(|(treatment, ways)| plane.net().treat(ways, *treatment))
    }

    /// Each act is taken back, whatever becomes of the others.
    pub(super) fn heal(&self, plane: &Plane) -> Result<()> {
        self.acts.iter().map(|(_, ways)| plane.net().release(ways)).fold(Ok(()), Result::and)
    }
}

/// `Nemesis` for types that hold one [`LinkFault`], whose victims may be named.
macro_rules! nemesis_on_links {
    ($($type:ident),*) => {$(
        impl $type {
            /// Names the victims, where the default is wrong.
            #[must_use]
            pub fn with_victims<S: Into<String>>(mut self, victims: impl IntoIterator<Item = S>) -> $type {
                self.0.victims = $crate::nemesis::contract::names(victims);
                self
            }
        }

        impl $crate::nemesis::Nemesis for $type {
            fn name(&self) -> &str {
                self.0.name
            }

            fn detail(&self) -> String {
                self.0.detail.clone()
            }

            fn victims(&self) -> Vec<String> {
                self.0.victims()
            }

            fn injector(&self) -> Vec<(String, String)> {
                self.0.injector()
            }

            fn inject<'a>(
                &'a mut self,
                plane: &'a $crate::nemesis::Plane,
            ) -> $crate::nemesis::BoxFuture<'a, anyhow::Result<()>> {
                Box::pin(async { self.0.inject(plane) })
            }

            fn heal<'a>(
                &'a mut self,
                plane: &'a $crate::nemesis::Plane,
            ) -> $crate::nemesis::BoxFuture<'a, anyhow::Result<()>> {
                Box::pin(async { self.0.heal(plane) })
            }
        }
    )*};
}
pub(super) use nemesis_on_links;
