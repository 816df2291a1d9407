//! What a link does with the payload of one direction.

use std::time::Duration;

/// Direction of payload on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the side that opened the connection to the side that accepted it: requests.
    Forward,
    /// Back to the side that opened the connection: replies.
    Backward,
}

/// What happens to payload. Each rule acts on established and new connections alike, from the moment it is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// It is delivered.
    #[default]
    Pass,
    /// It is swallowed, like every packet of a blackhole: no byte, no end of stream, no reset and no refusal gets
    /// through. Connections stay open and new ones are accepted. When the rule ends, a connection that lost bytes is
    /// reset on both sides, since its stream has a hole; one that lost none goes on, and gets the end of stream that
    /// was withheld.
    Drop,
    /// It is delivered later, in order, without a limit on throughput: each chunk by `mean`, plus or minus up to
    /// `jitter`, uniform and drawn from the seed of the net. Chunks under way when the rule ends are delivered at once;
    /// when it turns to [`Rule::Drop`] they are lost.
    Delay {
        /// Mean delay.
        mean: Duration,
        /// Largest deviation from it.
        jitter: Duration,
    },
    /// It is delivered at no more than this many bytes per second on each connection (0 counts as 1).
    Throttle {
        /// Bytes per second.
        bytes_per_second: u64,
    },
}
