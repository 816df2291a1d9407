//! The packet filter by `nft`: one table with a named counter for each way, which outlives the rules that count.

use super::super::treatment::{End, Treatment};
use super::super::{Counts, Namespace};
use super::{Dialect, Way, output, program, way_of};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;

/// Only packets that carry a first byte behind their transport header have one to compare.
const PAYLOAD: &str = "meta l4proto { tcp, udp } @ih,0,8 >= 0";

/// Speaks to `nft`.
#[derive(Debug)]
pub(in super::super) struct Nft {
    program: PathBuf,
}

impl Nft {
    /// An error says how to get it.
    pub(in super::super) fn find() -> Result<Nft> {
        let program = program("nft").context("`nft` is not installed: apt-get install nftables")?;
        Ok(Nft { program })
    }

    /// The program at `path`, whatever it is.
    #[cfg(test)]
    pub(super) fn at(path: &str) -> Nft {
        Nft { program: path.into() }
    }

    fn run(&self, at: &Namespace, args: &[&str], input: &str) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(args);
        output(at, command, input)
    }
}

impl Dialect for Nft {
    fn install(&self, at: &Namespace, addresses: &BTreeMap<usize, Ipv4Addr>, ways: &[Way]) -> Result<()> {
        let mut script = String::from(
            "add table inet disttest\n\
             add chain inet disttest faults\n\
             add chain inet disttest passed\n\
             add chain inet disttest forward { type filter hook forward priority 0; policy accept; }\n\
             flush chain inet disttest forward\n\
             add rule inet disttest forward jump faults\n\
             add rule inet disttest forward jump passed\n",
        );
        for (from, to) in ways {
            let (a, b) = (addresses[from], addresses[to]);
            let _ = write!(
                script,
                "add counter inet disttest d_{from}_{to}\n\
                 add counter inet disttest p_{from}_{to}\n\
                 add rule inet disttest passed ip saddr {a} ip daddr {b} {PAYLOAD} counter name p_{from}_{to}\n",
            );
        }
        self.run(at, &["-f", "-"], &script).map(drop)
    }

    fn replace(
        &self,
        at: &Namespace,
        addresses: &BTreeMap<usize, Ipv4Addr>,
        faults: &BTreeMap<Way, Treatment>,
    ) -> Result<()> {
        let mut script = String::from("flush chain inet disttest faults\n");
        for ((from, to), treatment) in faults {
            let (a, b, matching) = (addresses[from], addresses[to], matching(*treatment)?);
            let _ = writeln!(
                script,
                "add rule inet disttest faults ip saddr {a} ip daddr {b} {matching} counter name d_{from}_{to} drop",
            );
        }
        self.run(at, &["-f", "-"], &script)?;
        let listed = self.run(at, &["-j", "list", "chain", "inet", "disttest", "faults"], "")?;
        let there = objects(&listed, "rule")?.len();
        if there != faults.len() {
            bail!("{} rules were asked for and {there} are there", faults.len());
        }
        Ok(())
    }

    fn read(&self, at: &Namespace) -> Result<BTreeMap<Way, Counts>> {
        let listed = self.run(at, &["-j", "list", "counters", "table", "inet", "disttest"], "")?;
        let mut counts: BTreeMap<Way, Counts> = BTreeMap::new();
        for counter in objects(&listed, "counter")? {
            let (name, packets) = (counter["name"].as_str().unwrap_or_default(), counter["packets"].as_u64());
            let packets = packets.with_context(|| format!("counter `{name}` without a count"))?;
            if let Some(way) = way_of(name, 'd', '_') {
                counts.entry(way).or_default().dropped = packets;
            } else if let Some(way) = way_of(name, 'p', '_') {
                counts.entry(way).or_default().passed = packets;
            }
        }
        Ok(counts)
    }
}

/// What a rule matches beside its way.
fn matching(treatment: Treatment) -> Result<String> {
    Ok(match treatment {
        Treatment::Cut => String::new(),
        Treatment::CutData => PAYLOAD.to_owned(),
        Treatment::CutPort { port, of: End::Receiver } => format!("meta l4proto {{ tcp, udp }} th dport {port}"),
        Treatment::CutPort { port, of: End::Sender } => format!("meta l4proto {{ tcp, udp }} th sport {port}"),
        Treatment::Lose { share } => {
            // Of a million, as whole numbers: that is how nft draws.
            let of_a_million = (share.clamp(0.0, 1.0) * 1e6).round();
            format!("numgen random mod 1000000 < {of_a_million}")
        }
        other => bail!("nftables can drop packets and no more ({other}): that takes a switch"),
    })
}

/// The objects of `kind` in a listing.
fn objects(listing: &str, kind: &str) -> Result<Vec<Value>> {
    let listing: Value = serde_json::from_str(listing).context("nft wrote no JSON")?;
    let all = listing["nftables"].as_array().ok_or_else(|| anyhow!("nft listed nothing"))?;
    Ok(all.iter().filter_map(|object| object.get(kind)).cloned().collect())
}
