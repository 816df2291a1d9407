//! The packet filter by `iptables`: a chain for each way, whose rules stay and count; faults jump to them.

use super::super::treatment::{End, Treatment};
use super::super::{Counts, Namespace};
use super::{Dialect, Way, output, program, way_of};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;

/// Packets of TCP that carry payload: those that say "push", and those with four bytes or more behind their header. A
/// piece of one to three bytes is the last of what was written, and says so.
const PUSH: &str = "-p tcp -m tcp --tcp-flags PSH PSH";
const FOUR_BYTES: &str = "-p tcp -m u32 --u32 0>>22&0x3C@12>>26&0x3C@0&0=0";

/// Speaks to `iptables-restore` and `iptables-save`.
#[derive(Debug)]
pub(in super::super) struct Iptables {
    restore: PathBuf,
    save: PathBuf,
}

impl Iptables {
    /// An error says how to get it.
    pub(in super::super) fn find() -> Result<Iptables> {
        let find = |name| program(name).context("`iptables` is not installed: apt-get install iptables");
        Ok(Iptables { restore: find("iptables-restore")?, save: find("iptables-save")? })
    }

    /// The programs at these paths, whatever they are.
    #[cfg(test)]
    pub(super) fn at(restore: &str, save: &str) -> Iptables {
        Iptables { restore: restore.into(), save: save.into() }
    }

    fn restore(&self, at: &Namespace, script: &str) -> Result<()> {
        let mut command = Command::new(&self.restore);
        // The lock of the legacy variant is for tables that several share; these are of one namespace and one process.
        command.args(["--noflush", "--wait"]).env("XTABLES_LOCKFILE", "/dev/null");
        output(at, command, script).map(drop)
    }

    fn saved(&self, at: &Namespace) -> Result<String> {
        let mut command = Command::new(&self.save);
        command.args(["--counters", "--table", "filter"]).env("XTABLES_LOCKFILE", "/dev/null");
        output(at, command, "")
    }
}

impl Dialect for Iptables {
    fn install(&self, at: &Namespace, addresses: &BTreeMap<usize, Ipv4Addr>, ways: &[Way]) -> Result<()> {
        let mut script = String::from("*filter\n");
        if !self.saved(at)?.contains(":FAULTS ") {
            script += ":FAULTS - [0:0]\n:PASSED - [0:0]\n-A FORWARD -j FAULTS\n-A FORWARD -j PASSED\n";
        }
        for (from, to) in ways {
            let (a, b) = (addresses[from], addresses[to]);
            let _ = write!(
                script,
                ":D{from}-{to} - [0:0]\n:P{from}-{to} - [0:0]\n\
                 -A D{from}-{to} -j DROP\n\
                 -A PASSED -s {a} -d {b} -j P{from}-{to}\n\
                 -A P{from}-{to} {PUSH} -j RETURN\n\
                 -A P{from}-{to} {FOUR_BYTES} -j RETURN\n\
                 -A P{from}-{to} -p udp -j RETURN\n",
            );
        }
        self.restore(at, &(script + "COMMIT\n"))
    }

    fn replace(
        &self,
        at: &Namespace,
        addresses: &BTreeMap<usize, Ipv4Addr>,
        faults: &BTreeMap<Way, Treatment>,
    ) -> Result<()> {
        let (mut script, mut asked) = (String::from("*filter\n-F FAULTS\n"), 0);
        for ((from, to), treatment) in faults {
            for matching in matching(*treatment)? {
                let (a, b) = (addresses[from], addresses[to]);
                let _ = writeln!(script, "-A FAULTS -s {a} -d {b} {matching} -j D{from}-{to}");
                asked += 1;
            }
        }
        self.restore(at, &(script + "COMMIT\n"))?;
        let there = rules(&self.saved(at)?).filter(|(chain, ..)| *chain == "FAULTS").count();
        if there != asked {
            bail!("{asked} rules were asked for and {there} are there");
        }
        Ok(())
    }

    fn read(&self, at: &Namespace) -> Result<BTreeMap<Way, Counts>> {
        let saved = self.saved(at)?;
        let mut counts: BTreeMap<Way, Counts> = BTreeMap::new();
        for (chain, packets) in rules(&saved) {
            if let Some(way) = way_of(chain, 'D', '-') {
                counts.entry(way).or_default().dropped += packets;
            } else if let Some(way) = way_of(chain, 'P', '-') {
                counts.entry(way).or_default().passed += packets;
            }
        }
        Ok(counts)
    }
}

/// What rules match beside their way; each drops what the ones before let through.
fn matching(treatment: Treatment) -> Result<Vec<String>> {
    let port = |which: &str, port: u16| ["tcp", "udp"].map(|of| format!("-p {of} -m {of} --{which} {port}")).to_vec();
    Ok(match treatment {
        Treatment::Cut => vec![String::new()],
        Treatment::CutData => [PUSH, FOUR_BYTES, "-p udp"].map(str::to_owned).to_vec(),
        Treatment::CutPort { port: number, of: End::Receiver } => port("dport", number),
        Treatment::CutPort { port: number, of: End::Sender } => port("sport", number),
        Treatment::Lose { share } => {
            vec![format!("-m statistic --mode random --probability {:.6}", share.clamp(0.0, 1.0))]
        }
        other => bail!("iptables can drop packets and no more ({other}): that takes a switch"),
    })
}

/// (chain, packets) of each rule of a listing.
fn rules(saved: &str) -> impl Iterator<Item = (&str, u64)> {
    saved.lines().filter_map(|line| {
        let (packets, rest) = line.strip_prefix('[')?.split_once(':')?;
        let chain = rest.split_once("] -A ")?.1.split(' ').next()?;
        Some((chain, packets.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_with_their_counters_and_other_lines_are_not() {
        let saved = "# by iptables-save\n*filter\n:FORWARD ACCEPT [9:900]\n[3:265] -A D1-2 -j DROP\n\
                     [7:1] -A P2-10 -p udp -j RETURN\nCOMMIT\n";
        assert_eq!(rules(saved).collect::<Vec<_>>(), [("D1-2", 3), ("P2-10", 7)]);
        assert_eq!(way_of("P2-10", 'P', '-'), Some((2, 10)));
        assert_eq!(way_of("PASSED", 'P', '-'), None);
        assert_eq!(way_of("d_0_3", 'd', '_'), Some((0, 3)));
    }
}
