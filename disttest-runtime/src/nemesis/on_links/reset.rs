//! Connections reset, once.

use super::super::contract::names;
use super::super::{BoxFuture, Nemesis, Plane};
use super::{Sides, link};
use anyhow::{Result, bail};

/// `connection-loss`: every open connection between two sides is reset, once; new ones are not hindered.
///
/// Acts at the proxy. Evidence: `proxy-reset-connections`.
#[derive(Debug)]
pub struct ConnectionLoss(Sides);

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

impl Nemesis for ConnectionLoss {
    fn name(&self) -> &str {
        "connection-loss"
    }

    fn detail(&self) -> String {
        self.0.detail("x")
    }

    fn victims(&self) -> Vec<String> {
        self.0.victims.iter().filter(|victim| *victim != "client").cloned().collect()
    }

    fn injector(&self) -> Vec<(String, String)> {
        let ways = self.0.ways(true).into_iter();
        ways.map(|(a, b)| ("proxy-reset-connections".to_owned(), link(&a, &b))).collect()
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if let Some(net) = plane.net().namespaces() {
                bail!("connections are reset at the proxy, and these nodes talk by {}", net.backend());
            }
            let (proxy, mut reset) = (plane.net().proxy(), 0);
            for (a, b) in self.0.ways(false) {
                // One of the two links may not exist (clients only open connections); both missing is an error.
                reset += match (proxy.reset_connections(&a, &b), proxy.reset_connections(&b, &a)) {
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
