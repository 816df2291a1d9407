//! Packets dropped by the kernel's packet filter, where they cross the router between all places.
//!
//! All rules stand in one namespace and one table, and change together: a partition of any shape is there at once, and
//! gone at once. What each way dropped and let through is counted by rules that stay, so counters only grow. After each
//! change the rules are read back.

mod iptables;
mod nft;

use super::{Counts, Namespace, Treatment};
use anyhow::{Context, Result, bail};
pub(super) use iptables::Iptables;
pub(super) use nft::Nft;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// A way: the places that packets travel from and to, by their numbers.
pub(super) type Way = (usize, usize);

/// How a kind of packet filter is spoken to.
pub(super) trait Dialect: Send + Sync + std::fmt::Debug {
    /// Makes counters for what passes `ways` and what is dropped there. Called again when there are more places.
    fn install(&self, at: &Namespace, addresses: &BTreeMap<usize, Ipv4Addr>, ways: &[Way]) -> Result<()>;

    /// Replaces all faults by `faults`, at once, and reads back that they are what is there.
    fn replace(
        &self,
        at: &Namespace,
        addresses: &BTreeMap<usize, Ipv4Addr>,
        faults: &BTreeMap<Way, Treatment>,
    ) -> Result<()>;

    /// What was counted so far.
    fn read(&self, at: &Namespace) -> Result<BTreeMap<Way, Counts>>;
}

/// A packet filter in one namespace.
#[derive(Debug)]
pub(super) struct Filter {
    dialect: Box<dyn Dialect>,
    at: Namespace,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    addresses: BTreeMap<usize, Ipv4Addr>,
    faults: BTreeMap<Way, Treatment>,
}

impl Filter {
    pub(super) fn new(dialect: Box<dyn Dialect>, at: Namespace) -> Filter {
        Filter { dialect, at, state: Mutex::default() }
    }

    /// A place more: its ways to and from all others are counted from now on.
    pub(super) fn add_place(&self, place: usize, address: Ipv4Addr) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let ways: Vec<Way> = state.addresses.keys().flat_map(|other| [(place, *other), (*other, place)]).collect();
        state.addresses.insert(place, address);
        self.dialect.install(&self.at, &state.addresses, &ways)
    }

    /// Treats `ways`; [`None`] ends their treatment.
    pub(super) fn treat(&self, ways: &[Way], treatment: Option<Treatment>) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut faults = state.faults.clone();
        for way in ways {
            match treatment {
                Some(treatment) => faults.insert(*way, treatment),
                None => faults.remove(way),
            };
        }
        self.dialect.replace(&self.at, &state.addresses, &faults)?;
        state.faults = faults;
        Ok(())
    }

    /// What was counted so far, on each way.
    pub(super) fn read(&self) -> Result<BTreeMap<Way, Counts>> {
        self.dialect.read(&self.at)
    }
}

/// The program `name`, on PATH or where administrators' programs lie.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Runs `command` inside of `at` with `input`; gives what it wrote. Anything but success is an error with its words.
fn output(at: &Namespace, mut command: Command, input: &str) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    at.run(|| {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("{name} did not start"))?;
        // Who ends before it has read everything has more to say than that.
        let given = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().with_context(|| name.clone())?;
        if !output.status.success() {
            bail!("{name}: {} ({})", String::from_utf8_lossy(&output.stderr).trim(), output.status);
        }
        given.with_context(|| format!("{name} did not read its input"))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    })
}

#[cfg(test)]
mod tests;

/// `D1-2` or `d_1_2`: a kind of counter and its way.
fn way_of(name: &str, kind: char, between: char) -> Option<Way> {
    let (from, to) = name.strip_prefix(kind)?.trim_start_matches(between).split_once(between)?;
    Some((from.parse().ok()?, to.parse().ok()?))
}
