//! The numbers of the landing rule (D15), with what we decided where it leaves room.

use std::time::Duration;

/// Signal of the bytes that a proxied link delivered: its carrier signal.
pub const CARRIER_SIGNAL: &str = "proxy-passed-bytes";

/// First words of an injector's signals on links, and the carrier signals that belong to them.
const CARRIERS: [(&str, &str); 4] = [
    ("proxy-", CARRIER_SIGNAL),
    ("iptables-", "iptables-passed-payloads"),
    ("nft-", "nft-passed-payloads"),
    ("switch-", "switch-passed-payloads"),
];

/// The carrier signal of an injector's signal on links: what was let through there.
///
/// The injector's signal proves nothing unless this one, read at the same source, rose in the baseline: where nobody
/// talks nothing can be cut. By itself it is evidence of no fault.
pub fn carrier_of(signal: &str) -> Option<&'static str> {
    CARRIERS.iter().find(|(first, _)| signal.starts_with(first)).map(|(_, carrier)| *carrier)
}

/// True for a carrier signal.
pub fn is_carrier(signal: &str) -> bool {
    CARRIERS.iter().any(|(_, carrier)| *carrier == signal)
}

/// The numbers by which a window is judged. [`Policy::default`] holds those of D15.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Signals are sampled at least this often, on average over a window (a tenth more is allowed for jitter).
    pub cadence: Duration,
    /// Longest time between two samples. Twice the cadence: one late tick is jitter, a missing one is a hole.
    pub longest_hole: Duration,
    /// Shortest baseline before the injection; also the shortest quiet stretch that shows a heal.
    pub baseline: Duration,
    /// Fewest samples in the baseline, and in the quiet stretch after the heal.
    pub baseline_samples: usize,
    /// Fewest samples inside the fault.
    pub fault_samples: usize,
    /// A counter is quiet when its rate is at most this share of its rate inside the fault.
    pub quiet_share: f64,
    /// A gauge has moved when its median left that of the baseline by this many median absolute deviations.
    pub deviations: f64,
    /// Latest first move, after the injection was acknowledged.
    pub land_within: Duration,
    /// Latest start of the quiet stretch, and latest success of the application probe, after the heal.
    pub heal_within: Duration,
    /// Longest lull after the first move, as a share of the fault's length. A signal that lulls longer blipped: the
    /// victim reconnected, or was restarted behind the harness's back. Asked of every signal on the victim's side and
    /// of levels on the injector's; an injector's counter may stop, since a system may stop trying.
    pub longest_lull: f64,
    /// Nemeses that act at one moment and leave the victim free to recover inside the window: no lull is too long.
    pub act_once: Vec<String>,
    /// Nemeses that swallow all payload at every place they name: what passes at one of them while the fault acts makes
    /// it another fault than planned.
    pub cuts: Vec<String>,
    /// Share of the baseline's rate that may still pass at a cut: on a busy machine a message that was under way is
    /// counted late, and a link that was left open passes much more.
    pub leak_share: f64,
}

/// See [`Policy::act_once`].
const ACT_ONCE: [&str; 6] =
    ["connection-loss", "container-restart", "pod-delete", "restart", "rolling-restart", "rolling-upgrade"];

/// Nemeses that let nothing through at the places they name.
const CUTS: [&str; 9] = [
    "asymmetric-data-cut",
    "full-partition",
    "asymmetric-partition",
    "minority-side-partition",
    "majority-side-partition",
    "leader-isolation",
    "bridge-partition",
    "ring-partition",
    "split-brain",
];

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            cadence: Duration::from_millis(250),
            longest_hole: Duration::from_millis(500),
            baseline: Duration::from_secs(1),
            baseline_samples: 4,
            fault_samples: 2,
            quiet_share: 0.1,
            deviations: 3.0,
            land_within: Duration::from_secs(5),
            heal_within: Duration::from_secs(10),
            longest_lull: 0.5,
            act_once: ACT_ONCE.map(str::to_owned).to_vec(),
            cuts: CUTS.map(str::to_owned).to_vec(),
            leak_share: 0.01,
        }
    }
}

impl Policy {
    /// Time between the first and last of the fewest samples a baseline may have.
    pub(super) fn shortest_span(&self) -> Duration {
        let intervals = u32::try_from(self.baseline_samples.saturating_sub(1)).unwrap_or(u32::MAX);
        self.cadence.saturating_mul(intervals).min(self.baseline)
    }
}
