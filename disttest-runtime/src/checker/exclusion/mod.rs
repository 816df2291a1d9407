//! Exclusion: no two holders at once.

mod holds;
#[cfg(test)]
mod tests;
mod tokens;

use super::ahead::{Parts, ahead};
use super::keys::Keys;
use super::pointer::Pointer;
use super::work::Work;
use super::{Answer, Checker, Limits, Unlimited, recipe};
use crate::history::{Effect, History, Op};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Checks that a lock, a lease or a leadership (the `key`) is held by one holder at a time.
///
/// Operations: `acquire` (also `lock`, `elect`, `become-leader`), `release` (`unlock`, `step-down`, `resign`), `renew`
/// (`keepalive`, `heartbeat`); others are passed over. An acquire is granted when it completed without error and answered
/// neither false nor, for a lease, null. Its holder surely holds from the completion of the acquire to the invocation of
/// its next release, whose outcome may be unknown (it may have taken effect at once); a release that failed did not
/// happen. Without a release it holds to the end of the history, a lease until its time to live has run out on the
/// slowest clock: the invocation of the acquire or of the last granted renewal, plus the time to live, minus the bound of
/// clock skew. An acquire or renewal of unknown outcome is never a hold, and none counts that began before an earlier
/// release of its holder had completed, as that release may end it. Two sure holds of different holders that overlap
/// (at more than an instant) are a violation whatever happened in between.
///
/// Fencing tokens (a number at `/token` or `/fencing_token` of the answer, or where [`Exclusion::fenced_by`] says) must
/// increase: an acquire that began after another one had completed has no smaller token, and no two holders the same.
///
/// Required fields: `process_id`, `key`, `invoke_ts`, `complete_ts`, `op_type`, `output`, on one clock. Witness: the two
/// grants, `two-holders`, `fencing-token-went-back` or `fencing-token-reused`. Time O(n log n), memory O(n). The rule is
/// that of Lamport's mutual exclusion on intervals that are sure; leases after Gray and Cheriton, SOSP 1989.
#[derive(Clone, Serialize, Deserialize)]
pub struct Exclusion {
    lease: Option<Duration>,
    token: Option<Pointer>,
    #[serde(skip_deserializing, serialize_with = "recipe::no_code")]
    holder: Option<HolderOf>,
}

/// Who an operation acts for.
type HolderOf = Arc<dyn Fn(&Op) -> Option<String> + Send + Sync>;

impl Exclusion {
    /// Locks: held until released, whatever becomes of the holder.
    pub fn locks() -> Exclusion {
        Exclusion { lease: None, token: None, holder: None }
    }

    /// Leases (and leaderships with a term) that run out after `time_to_live`; `skew` bounds what the clocks of holder,
    /// service and recorder may differ in that time.
    pub fn leases(time_to_live: Duration, skew: Duration) -> Exclusion {
        Exclusion { lease: Some(time_to_live.saturating_sub(skew)), ..Exclusion::locks() }
    }

    /// Every granted acquire answers its fencing token at this JSON pointer.
    pub fn fenced_by(mut self, pointer: &str) -> Exclusion {
        self.token = Some(Pointer::new(pointer));
        self
    }

    /// The holder is what this function finds in an operation, in place of the `process_id`: a node, for leaders.
    pub fn held_by(mut self, holder: impl Fn(&Op) -> Option<String> + Send + Sync + 'static) -> Exclusion {
        self.holder = Some(Arc::new(holder));
        self
    }

    fn is_granted(&self, op: &Op) -> bool {
        op.effect() == Effect::Acknowledged && op.output != false && !(self.lease.is_some() && op.output.is_null())
    }

    fn work<'h, 'l>(&self, history: &'h History, limits: &'l dyn Limits) -> (Work<'l>, Keys<'h>) {
        let mut work = Work::new(history, limits);
        let mut keys = Keys::default();
        let mut holds = holds::Holds::default();
        let mut tokens = tokens::Tokens::default();
        let ops = history.ops();
        for (at, op) in ahead(ops, Parts::Outputs).enumerate() {
            if !work.goes_on(|| holds.bytes() + tokens.bytes()) {
                return (work, keys);
            }
            let key = keys.count(op);
            let Some(kind) = Kind::of(op) else { continue };
            let holder = match &self.holder {
                None => op.process_id,
                Some(of) => match of(op) {
                    Some(name) => holds.named(name),
                    None if op.effect() == Effect::Failed => continue,
                    None => {
                        work.lacks(op, format!("the holder of a {} is not known", op.op_type));
                        continue;
                    }
                },
            };
            holds.add(self, kind, (key, holder), at as u32, op);
            if kind == Kind::Acquire && self.is_granted(op) {
                tokens.add(self.token.as_ref(), (key, holder), at as u32, ops, &mut work, &mut keys);
            }
        }
        holds.compare(ops, &mut work, &mut keys);
        (work, keys)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Acquire,
    Release,
    Renew,
}

impl Kind {
    fn of(op: &Op) -> Option<Kind> {
        match op.op_type.as_str() {
            "acquire" | "lock" | "elect" | "become-leader" => Some(Kind::Acquire),
            "release" | "unlock" | "step-down" | "resign" => Some(Kind::Release),
            "renew" | "keepalive" | "heartbeat" => Some(Kind::Renew),
            _ => None,
        }
    }
}

impl fmt::Debug for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exclusion").field("lease", &self.lease).field("token", &self.token).finish_non_exhaustive()
    }
}

impl Checker for Exclusion {
    fn name(&self) -> &str {
        "exclusion"
    }

    fn cannot_detect(&self) -> Vec<String> {
        let mut list = vec![
            "two holders at once for less than a round trip: only the time between answers is sure".to_owned(),
            "what holders do to the guarded resource, and work that goes on after a hold has ended".to_owned(),
            "grants of unknown outcome, and a lock that nobody ever gets (liveness)".to_owned(),
            "nested acquires of one holder: its next release ends them all".to_owned(),
        ];
        if self.lease.is_some() {
            list.push("overlaps within the bound of clock skew, or beyond it if the bound does not hold".to_owned());
        }
        list
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("exclusion", self)
    }

    fn missing(&self, history: &History) -> Vec<String> {
        self.work(history, &Unlimited).0.sentences()
    }

    fn check(&self, history: &History, limits: &dyn Limits) -> Answer {
        let (work, keys) = self.work(history, limits);
        work.answer(self, &keys, "no key was granted to two holders: nothing could overlap")
    }
}
