//! Which means a network of namespaces acts by, and why: declared signals bind it, and nothing is put in its place.

use super::filter::{Iptables, Nft};
use anyhow::{Result, bail};
use std::fmt;

/// What drops packets, and counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backend {
    /// The kernel's packet filter, by `nft`.
    Nft,
    /// The kernel's packet filter, by `iptables`.
    Iptables,
    /// A switch in this process.
    Switch,
}

/// In the order in which they are taken when nothing binds one: the kernel's own first.
const ALL: [Backend; 3] = [Backend::Nft, Backend::Iptables, Backend::Switch];

/// A backend and why it is the one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) backend: Backend,
    pub(crate) why: String,
}

impl Backend {
    /// First word of the names of its signals: `iptables-dropped-packets`.
    pub fn word(self) -> &'static str {
        match self {
            Backend::Nft => "nft",
            Backend::Iptables => "iptables",
            Backend::Switch => "switch",
        }
    }

    /// What the signal `name` counts, if it is one of this backend's: `dropped-packets`.
    pub(crate) fn signal(self, name: &str) -> Option<&str> {
        name.strip_prefix(self.word())?.strip_prefix('-')
    }

    /// An error says what is missing, and how to get it.
    pub fn available(self) -> Result<()> {
        match self {
            Backend::Nft => Nft::find().map(drop),
            Backend::Iptables => Iptables::find().map(drop),
            Backend::Switch => Ok(()),
        }
    }

    /// Those whose signals are among `declared`.
    pub(crate) fn bound_by(declared: &[&str]) -> Vec<Backend> {
        ALL.into_iter().filter(|backend| declared.iter().any(|name| backend.signal(name).is_some())).collect()
    }

    /// The backend for a scenario that declares these injector signals.
    pub(crate) fn choose(declared: &[&str]) -> Result<Choice> {
        let proxied = declared.iter().find(|name| name.starts_with("proxy-"));
        match (Backend::bound_by(declared).as_slice(), proxied) {
            (bound, Some(proxied)) => {
                let bound = bound.first().map_or("addresses of their own".to_owned(), |b| format!("`{b}`"));
                bail!("`{proxied}` binds the proxy, which nodes with {bound} talk past: declare one or the other")
            }
            ([], None) => {
                let there = ALL.into_iter().find(|backend| backend.available().is_ok()).unwrap_or(Backend::Switch);
                Ok(Choice { backend: there, why: "no declared signal binds another".to_owned() })
            }
            ([one], None) => {
                one.available()?;
                let why = declared.iter().find(|name| one.signal(name).is_some()).copied().unwrap_or_default();
                Ok(Choice { backend: *one, why: format!("`{why}` is declared") })
            }
            ([one, two, ..], None) => bail!("signals of `{one}` and of `{two}` are declared: one of them must act"),
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_signal_binds_its_backend_and_two_bind_none() {
        let check = |declared: &[&str], expect: &str| {
            let said = match Backend::choose(declared) {
                Ok(choice) => format!("{}: {}", choice.backend, choice.why),
                Err(error) => format!("{error:#}"),
            };
            assert!(said.contains(expect), "{declared:?}: {said}");
        };
        check(&["process-exit", "switch-dropped-packets"], "switch: `switch-dropped-packets` is declared");
        check(&["process-exit"], "no declared signal binds another");
        check(&["iptables-dropped-packets", "nft-dropped-packets"], "one of them must act");
        check(&["proxy-dropped-bytes", "switch-dropped-packets"], "binds the proxy");
        check(&["proxy-dropped-bytes"], "addresses of their own");
        assert_eq!(Backend::bound_by(&["switchboard", "nft-dropped-packets"]), [Backend::Nft]);
    }
}
