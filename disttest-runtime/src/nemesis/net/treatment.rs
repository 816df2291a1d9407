//! What may happen to the packets that travel from one place to another.

use std::fmt;
use std::time::Duration;

/// What happens to packets on the way from one place to another, in that direction alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Treatment {
    /// Every packet is dropped. TCP needs acknowledgements: with one direction cut, the other stands still within
    /// moments too.
    Cut,
    /// Packets that carry payload (of TCP or UDP) are dropped; bare acknowledgements pass.
    CutData,
    /// Packets of one service are dropped: those of TCP or UDP to or from its port.
    CutPort {
        /// The port.
        port: u16,
        /// Whose port it is.
        of: End,
    },
    /// Each packet is dropped with this probability.
    Lose {
        /// From 0 to 1.
        share: f64,
    },
    /// Each packet is delivered later, in order, by `mean` plus or minus up to `jitter`.
    Delay {
        /// Mean delay.
        mean: Duration,
        /// Largest deviation from it.
        jitter: Duration,
    },
    /// Packets are delivered at no more than this rate; what a quarter of a second's worth of queue cannot hold is lost.
    Throttle {
        /// Bytes per second.
        bytes_per_second: u64,
    },
    /// Each packet is delivered twice with this probability.
    Duplicate {
        /// From 0 to 1.
        share: f64,
    },
    /// Each packet is held back with this probability, so that later ones overtake it.
    Reorder {
        /// From 0 to 1.
        share: f64,
        /// How long it is held back.
        by: Duration,
    },
    /// One bit of each packet's payload is flipped with this probability. Checksums of TCP and UDP notice, so receivers
    /// drop it and count it.
    Corrupt {
        /// From 0 to 1.
        share: f64,
    },
}

/// An end of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where packets come from.
    Sender,
    /// Where packets go.
    Receiver,
}

impl fmt::Display for Treatment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Treatment::Cut => f.write_str("every packet dropped"),
            Treatment::CutData => f.write_str("payload dropped"),
            Treatment::CutPort { port, .. } => write!(f, "packets of port {port} dropped"),
            Treatment::Lose { share } => write!(f, "{}% lost", share * 100.0),
            Treatment::Delay { mean, jitter } => write!(f, "{mean:?} +- {jitter:?} later"),
            Treatment::Throttle { bytes_per_second } => write!(f, "{bytes_per_second} B/s"),
            Treatment::Duplicate { share } => write!(f, "{}% twice", share * 100.0),
            Treatment::Reorder { share, by } => write!(f, "{}% held back by {by:?}", share * 100.0),
            Treatment::Corrupt { share } => write!(f, "{}% corrupted", share * 100.0),
        }
    }
}
