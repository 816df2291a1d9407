//! One fault window: samples of declared signals before, during and after, and what they prove.

use crate::base::time::Nanos;
use serde::{Deserialize, Serialize};

/// How a signal moves when the fault acts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "lowercase")]
pub enum Shape {
    /// A count that only grows; it must grow by at least `dose` inside the window.
    Counter {
        /// Smallest growth that counts. It must lie above what the system does by itself now and then: a baseline of
        /// a second cannot show an event that comes by every ten.
        dose: f64,
    },
    /// A level; its median must change by at least `change`.
    Gauge {
        /// Smallest change that counts. Its sign is the direction: 20 is a rise by 20 or more, -20 a fall.
        change: f64,
    },
    /// Absent (0) before, present (1 or more) in the window. Readings count from the baseline of their own window:
    /// what an earlier window left in a log is not present. A one-off event (an election, an exit) is a marker, not a
    /// counter.
    Marker,
}

/// One reading. A probe that errs gives a gap, never a value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When the reading was complete, on the run's clock.
    pub at: Nanos,
    /// The reading; `None` is a gap.
    pub value: Option<f64>,
}

/// Readings of one signal at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Declared name, such as `proxy-dropped-bytes` or `client-timeouts`.
    pub signal: String,
    /// Where it was read, such as `link n1->n2` or `n1`. On the victim's side it names a node of [`Window::victims`].
    pub source: String,
    /// How it should move.
    pub shape: Shape,
    /// Readings in time order.
    pub samples: Vec<Sample>,
}

/// Between the names of nemeses that act together, as in `full-partition + hard-kill`.
pub const TOGETHER: &str = " + ";

/// The event that an injection waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occasion {
    /// What was waited for, such as `500 operations acknowledged by n1`.
    pub event: String,
    /// Since when.
    pub from: Nanos,
    /// When it was seen; `None`: not within `limit`, and so nothing was injected.
    pub seen_at: Option<Nanos>,
    /// The longest wait.
    pub limit: Nanos,
    /// What showed the event, or the last that was seen of it.
    pub evidence: String,
}

impl Occasion {
    /// Why nothing was injected; `None` when the event was seen.
    pub fn missed(&self) -> Option<String> {
        let limit = self.limit.as_duration().as_secs_f32();
        let (event, evidence) = (&self.event, &self.evidence);
        self.seen_at
            .is_none()
            .then(|| format!("not injected: event `{event}` not seen within {limit:.1} s ({evidence})"))
    }
}

/// Raw facts of one fault window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Number of the window in its run, from 1; operations that overlap it carry it.
    pub epoch: u64,
    /// Name of the nemesis, such as `asymmetric-data-cut`.
    pub nemesis: String,
    /// What it did to whom, for people.
    pub detail: String,
    /// Nodes on the victim's side.
    pub victims: Vec<String>,
    /// Start of the baseline that belongs to this window.
    pub baseline_from: Nanos,
    /// When the injection was requested, where the baseline ends; `None`: at [`Window::injected_at`]. An injection that
    /// takes a while (a graceful stop) moves signals before it is acknowledged.
    #[serde(default)]
    pub requested_at: Option<Nanos>,
    /// When the injection had been requested and acknowledged.
    pub injected_at: Nanos,
    /// When the heal had been requested and acknowledged; `None` when it never was.
    pub healed_at: Option<Nanos>,
    /// Last moment sampled for this window.
    pub observed_until: Nanos,
    /// The injection failed, with this message.
    pub injection_error: Option<String>,
    /// The heal failed, with this message.
    pub heal_error: Option<String>,
    /// When an application probe of the victims first succeeded after the heal; `None` when none did.
    pub probe_ok_at: Option<Nanos>,
    /// Injector-side signals.
    pub injector: Vec<Series>,
    /// Victim-side signals.
    pub victim: Vec<Series>,
    /// The event that the injection waited for, if it waited for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occasion: Option<Occasion>,
    /// When the next nemesis of a sequence was requested while this one acted: what is suffered from then on may be the
    /// other's doing and shows nothing of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone_until: Option<Nanos>,
    /// Several nemeses in one window, each with evidence and victims of its own, in the order in which they were let loose.
    /// The window itself then has no signals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Window>,
}

/// Which side of a fault a signal is read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Where the fault is made.
    Injector,
    /// Where it is suffered.
    Victim,
}

/// What one side proves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideFinding {
    /// Which side.
    pub side: Side,
    /// A declared signal moved as D15 asks.
    pub moved: bool,
    /// The signals and places that decided, if any did: `SIGNAL at SOURCE`, separated by a comma and a space.
    pub signal: Option<String>,
    /// Reading in numbers, or why nothing is proven.
    pub why: String,
}

/// What a window proves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    /// [`Window::epoch`].
    pub epoch: u64,
    /// [`Window::nemesis`].
    pub nemesis: String,
    /// [`Window::detail`].
    pub detail: String,
    /// Length of the fault, in nanoseconds.
    pub held: Nanos,
    /// Injector's side.
    pub injector: SideFinding,
    /// Victim's side.
    pub victim: SideFinding,
    /// Both sides moved and the injection reported no error.
    pub landed: bool,
    /// The heal took: signals quiet again and an application probe succeeded in time.
    pub recovered: bool,
    /// Why it recovered or not, in numbers.
    pub recovery: String,
    /// [`Window::occasion`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occasion: Option<Occasion>,
    /// What each nemesis of a composed window proves; the window landed and recovered only if each of them did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Assessment>,
}

impl Assessment {
    /// Why nothing was injected in this window, or in a part of it: the event that was waited for never came.
    pub fn missed(&self) -> Option<String> {
        let own = self.occasion.as_ref().and_then(Occasion::missed);
        own.or_else(|| self.parts.iter().find_map(|part| Some(format!("{}: {}", part.nemesis, part.missed()?))))
    }
}
