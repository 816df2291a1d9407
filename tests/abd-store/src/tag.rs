//! The order of versions of a key.

use std::fmt;
use std::sync::Arc;

/// Position of a written value among all values of its key; unique to one write, ordered by field.
///
/// The counter alone is what the algorithm compares. The other fields make the tag unique: two writes through one node
/// may see the same highest counter (they overlap, or the first one reached only replicas that the second did not
/// ask), and a node must not reuse a tag after a restart, so the number of its start and of the write are part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// One more than the highest counter the writer saw at a majority.
    pub counter: u64,
    /// The coordinating node: its place among the sorted names of all nodes.
    pub node: u16,
    /// How often that node had started, itself included; durable before the node serves.
    pub boot: u32,
    /// Number of the write within that start.
    pub write: u64,
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{}", self.counter, self.node, self.boot, self.write)
    }
}

/// A value with its tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its place in the order of its key.
    pub tag: Tag,
    /// The value.
    pub value: Arc<str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_decides_before_the_writer_and_the_writer_before_its_restarts() {
        let tag = |counter, node, boot, write| Tag { counter, node, boot, write };
        let ascending =
            [tag(0, 0, 0, 0), tag(1, 0, 9, 9), tag(1, 1, 1, 7), tag(1, 1, 2, 1), tag(1, 1, 2, 2), tag(2, 0, 1, 1)];
        assert!(ascending.is_sorted_by(|a, b| a < b));
    }
}
