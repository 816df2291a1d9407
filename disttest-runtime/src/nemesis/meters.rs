//! Meters: what nemeses on disks, clocks, resources and failpoints count, for each node.
//!
//! A meter reads 0 from the start of the cluster on, so a window has its baseline before the fault is let loose. Who
//! advances it has seen the effect at its source (a byte read back, a line of the tracer, a counter of the kernel); a
//! meter that asks its source itself reads a gap when the source does not answer.

use crate::fault::Shape;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The signals that are metered, and how each moves.
const METERED: [(&str, Shape); 19] = [
    ("cgroup-frozen", Shape::Marker),
    ("cgroup-memory-failures", Shape::Counter { dose: 1.0 }),
    ("cgroup-throttled", Shape::Counter { dose: 1.0 }),
    ("clock-skewed-calls", Shape::Counter { dose: 1.0 }),
    ("container-disconnected", Shape::Marker),
    ("container-exited", Shape::Marker),
    ("container-paused", Shape::Marker),
    ("container-restarted", Shape::Marker),
    ("disk-corrupted-bytes", Shape::Counter { dose: 1.0 }),
    ("disk-delayed-calls", Shape::Counter { dose: 1.0 }),
    ("disk-exhausted", Shape::Marker),
    ("disk-failed-calls", Shape::Counter { dose: 1.0 }),
    ("disk-flipped-bits", Shape::Counter { dose: 1.0 }),
    ("disk-lost-bytes", Shape::Counter { dose: 1.0 }),
    ("failpoint-hits", Shape::Counter { dose: 1.0 }),
    ("kube-node-cordoned", Shape::Marker),
    ("kube-pod-deleted", Shape::Marker),
    ("kube-scaled-down", Shape::Marker),
    ("syscall-injections", Shape::Counter { dose: 1.0 }),
];

/// How the metered signal `signal` moves; `None` for a signal that is not metered.
pub(crate) fn shape_of(signal: &str) -> Option<Shape> {
    METERED.iter().find(|(name, _)| *name == signal).map(|(_, shape)| *shape)
}

/// Asks the source of a meter; `None` is a gap. Must not block for long.
pub(crate) type Source = Box<dyn FnMut() -> Option<f64> + Send>;

/// The meters of a run. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Meters {
    all: Arc<Mutex<BTreeMap<(String, String), Meter>>>,
}

#[derive(Default)]
struct Meter {
    /// What sources that are gone had counted, and what was added by hand.
    settled: f64,
    source: Option<Source>,
}

impl Meters {
    /// Adds to the meter of `signal` at `node`.
    pub(crate) fn add(&self, signal: &str, node: &str, more: f64) {
        self.with(signal, node, |meter| meter.settled += more);
    }

    /// From now on `source` is asked for what it has counted since its own start; that is added to what stood before.
    pub(crate) fn follow(&self, signal: &str, node: &str, source: Source) {
        self.with(signal, node, |meter| {
            meter.settle();
            meter.source = Some(source);
        });
    }

    /// The source is asked once more, and never again.
    pub(crate) fn settle(&self, signal: &str, node: &str) {
        self.with(signal, node, Meter::settle);
    }

    /// What the meter of `signal` at `node` shows; `None` is a gap.
    pub(crate) fn read(&self, signal: &str, node: &str) -> Option<f64> {
        self.with(signal, node, |meter| match &mut meter.source {
            None => Some(meter.settled),
            Some(source) => source().map(|counted| meter.settled + counted),
        })
    }

    fn with<T>(&self, signal: &str, node: &str, act: impl FnOnce(&mut Meter) -> T) -> T {
        act(self.all().entry((signal.to_owned(), node.to_owned())).or_default())
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<(String, String), Meter>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Meter {
    /// A source that does not answer any more had counted something unknown: what stood before stays, which lowers the
    /// count and so proves nothing.
    fn settle(&mut self) {
        if let Some(mut source) = self.source.take() {
            self.settled += source().unwrap_or_default();
        }
    }
}

impl fmt::Debug for Meters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.all().keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::names::{SIGNALS, Side};

    #[test]
    fn a_meter_starts_at_zero_and_a_source_adds_to_what_stood_before() {
        let meters = Meters::default();
        let read = || meters.read("disk-failed-calls", "n1");
        assert_eq!(read(), Some(0.0));
        meters.add("disk-failed-calls", "n1", 2.0);
        meters.follow("disk-failed-calls", "n1", Box::new(|| Some(5.0)));
        assert_eq!(read(), Some(7.0));
        meters.follow("disk-failed-calls", "n1", Box::new(|| None));
        assert_eq!(read(), None, "a source that does not answer is a gap");
        meters.settle("disk-failed-calls", "n1");
        assert_eq!(read(), Some(7.0));
        assert_eq!(meters.read("disk-failed-calls", "n2"), Some(0.0));
    }

    #[test]
    fn every_metered_signal_is_an_injector_signal_that_plans_may_name() {
        for (name, _) in METERED {
            let known = SIGNALS.iter().find(|signal| signal.name.id == name);
            assert!(known.is_some_and(|signal| signal.side == Side::Injector && !signal.argument), "{name}");
        }
    }
}
