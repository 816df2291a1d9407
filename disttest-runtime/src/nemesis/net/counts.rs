//! What was counted of the packets that travel from one place to another: the injector's evidence.

/// Counts of one way, from the start of the network on. They only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets with payload (of TCP or UDP) that were let through.
    pub passed: u64,
    /// Packets dropped by a treatment.
    pub dropped: u64,
    /// Packets delivered after they had waited for their delay.
    pub delayed: u64,
    /// Packets delivered after they had waited for the bandwidth.
    pub throttled: u64,
    /// Packets delivered twice.
    pub duplicated: u64,
    /// Packets delivered after one that had been sent later.
    pub reordered: u64,
    /// Packets delivered with a bit flipped.
    pub corrupted: u64,
}

impl Counts {
    /// What the part of a signal's name behind its backend stands for: `dropped-packets`, `passed-payloads`.
    pub(crate) fn of(&self, what: &str) -> Option<u64> {
        Some(match what {
            "passed-payloads" => self.passed,
            "dropped-packets" => self.dropped,
            "delayed-packets" => self.delayed,
            "throttled-packets" => self.throttled,
            "duplicated-packets" => self.duplicated,
            "reordered-packets" => self.reordered,
            "corrupted-packets" => self.corrupted,
            _ => return None,
        })
    }
}
