//! Processor time: what else runs on the machine does not count.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// What this thread has used so far.
fn used() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

/// The shortest of the times that `run` takes: five at least, and as many as fit into `patience`.
pub(crate) fn fastest(patience: Duration, mut run: impl FnMut()) -> Duration {
    let (mut best, mut all, mut count) = (Duration::MAX, Duration::ZERO, 0);
    while count < 5 || all < patience && count < 10_000 {
        let before = used();
        run();
        let took = used().saturating_sub(before);
        (best, all, count) = (best.min(took), all + took, count + 1);
    }
    best
}
