//! Command line of a node.

use clap::{Parser, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// One server of a replicated store of registers and counters.
#[derive(Clone, Debug, Parser)]
#[command(name = "abd-node", version)]
pub struct Options {
    /// Name of this node.
    #[arg(long, value_name = "NAME")]
    pub node: String,
    /// Address to serve clients and peers on.
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: SocketAddr,
    /// Folder of the log; created when it is missing.
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Another node of the cluster; give each one once.
    #[arg(long = "peer", value_name = "NAME=HOST:PORT")]
    pub peers: Vec<Peer>,
    /// How long an operation may wait for a majority.
    #[arg(long, value_name = "MS", default_value_t = 800)]
    pub quorum_timeout_ms: u64,
    /// How long a request to a peer may stay unanswered before it counts as a timeout (and is sent again while the
    /// operation lasts).
    #[arg(long, value_name = "MS", default_value_t = 300)]
    pub peer_timeout_ms: u64,
    /// Switch a known defect on; may be given several times.
    #[arg(long = "bug", value_name = "NAME", value_enum)]
    pub bugs: Vec<Bug>,
}

impl Options {
    /// Errs when two nodes share a name: their replies would be counted as one, or one's as two.
    pub fn check(&self) -> anyhow::Result<()> {
        let mut names: Vec<&str> = self.peers.iter().map(|peer| peer.name.as_str()).collect();
        names.push(&self.node);
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => anyhow::bail!("two nodes are named {}", pair[0]),
            None => Ok(()),
        }
    }

    /// Whether a defect is switched on.
    pub fn has(&self, bug: Bug) -> bool {
        self.bugs.contains(&bug)
    }

    /// [`Options::quorum_timeout_ms`].
    pub fn quorum_timeout(&self) -> Duration {
        Duration::from_millis(self.quorum_timeout_ms)
    }

    /// [`Options::peer_timeout_ms`].
    pub fn peer_timeout(&self) -> Duration {
        Duration::from_millis(self.peer_timeout_ms)
    }

    /// Place of this node among the sorted names of all nodes; the same on every node.
    pub fn place(&self) -> u16 {
        let before = self.peers.iter().filter(|peer| peer.name < self.node).count();
        u16::try_from(before).unwrap_or(u16::MAX)
    }
}

/// Name and address of another node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its `--node`.
    pub name: String,
    /// Where to reach it.
    pub address: SocketAddr,
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Peer, String> {
        let (name, address) = text.split_once('=').ok_or("expected NAME=HOST:PORT")?;
        let address = address.parse().map_err(|error| format!("address of {name}: {error}"))?;
        Ok(Peer { name: name.to_owned(), address })
    }
}

/// Defects that can be switched on, to see whether a test notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bug {
    /// Reads return what the query phase found without storing it at a majority: a later read may see an older value.
    SkipWriteBack,
    /// The coordinator asks and stores at its own replica only, acknowledges, and sends to the others without waiting
    /// or resending: an acknowledged write may never reach a majority.
    AckBeforeQuorum,
    /// A replica acknowledges from a buffer of its process, written only when it is full or at a graceful stop:
    /// acknowledged writes die with the processes of a majority.
    AckBeforeWrite,
    /// An idempotency key is good for one start of the node that is asked: an increment that is tried again after a
    /// restart is counted twice.
    ForgetKeys,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_names_defects_and_peers() {
        let line = "abd-node --node n2 --listen 127.0.0.1:1 --data d --peer n3=127.0.0.1:3 --peer n1=127.0.0.1:2 \
                    --bug skip-write-back --bug ack-before-write --quorum-timeout-ms 5";
        let options = Options::try_parse_from(line.split_whitespace()).expect("a valid command line");
        assert_eq!(options.place(), 1);
        assert!(options.check().is_ok());
        let twins = Options::try_parse_from(line.replace("n3=", "n2=").split_whitespace()).expect("syntax is valid");
        assert!(twins.check().is_err());
        assert!(
            options.has(Bug::SkipWriteBack) && options.has(Bug::AckBeforeWrite) && !options.has(Bug::AckBeforeQuorum)
        );
        assert_eq!(options.quorum_timeout(), Duration::from_millis(5));
        assert!(Options::try_parse_from(line.replace("n3=", "n3:").split_whitespace()).is_err());
    }
}
