//! A lease: a lock that its holder loses after a time, unless renewed.

use super::lock::owner;
use super::{Atom, Atoms, Model, Step};
use crate::base::recipe;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// `acquire`, `renew` and `release` of a lease that lasts a fixed time after it took effect, on the history's clock.
///
/// A call takes effect at a moment between its invocation and its completion. A lease is granted only when none is in
/// force: the one before was released, or it is not renewed for the whole time to live. The holder may renew a lease that
/// has expired, as long as nobody else got it. Answers of `false` say nothing: a service may refuse out of caution.
/// Clock skew between nodes is not modelled: give the shortest time to live that is promised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    ttl: u64,
}

impl Lease {
    /// Leases that last `ttl`.
    pub fn lasting(ttl: Duration) -> Lease {
        Lease { ttl: u64::try_from(ttl.as_nanos()).unwrap_or(u64::MAX) }
    }
}

/// Who holds a lease until when, and how late it is at least.
///
/// Each call takes effect as early as the calls before it allow. Moments are bounded from below by invocations and
/// expiries, from above by completions, so that the earliest moment is as good as any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LeaseState {
    holder: Option<Atom>,
    until: u64,
    now: u64,
}

/// What is done to a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Deed {
    Acquire,
    Renew,
    Release,
    Refused,
}

/// An operation on a lease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaseCall {
    deed: Deed,
    owner: Atom,
    /// When it was invoked.
    from: u64,
    /// When it completed.
    by: Option<u64>,
}

impl Model for Lease {
    type State = LeaseState;
    type Call = LeaseCall;

    fn name(&self) -> &str {
        "lease"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("lease", self)
    }

    fn start(&self, _: &mut Atoms) -> LeaseState {
        LeaseState::default()
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<LeaseCall, String> {
        let refused = op.output == Value::Bool(false);
        let deed = match op.op_type.as_str() {
            "acquire" | "renew" | "release" if refused => Deed::Refused,
            "acquire" => Deed::Acquire,
            "renew" => Deed::Renew,
            "release" => Deed::Release,
            other => return Err(format!("`{other}` is none of acquire, renew, release")),
        };
        let by = op.complete_ts.filter(|_| op.effect() == Effect::Acknowledged).map(|at| at.0);
        Ok(LeaseCall { deed, owner: owner(op, atoms), from: op.invoke_ts.0, by })
    }

    fn step(&self, state: &LeaseState, call: &LeaseCall) -> Step<LeaseState> {
        let mine = state.holder == Some(call.owner);
        let now = state.now.max(call.from);
        let at = match call.deed {
            Deed::Refused => return Step::Unchanged,
            // Expired leases end for others; who holds it need not wait.
            Deed::Acquire if state.holder.is_some() && !mine => now.max(state.until),
            Deed::Acquire => now,
            Deed::Renew | Deed::Release if !mine => return Step::Illegal,
            Deed::Renew | Deed::Release => now,
        };
        if call.by.is_some_and(|by| by < at) {
            return Step::Illegal;
        }
        Step::To(match call.deed {
            Deed::Release => LeaseState { holder: None, until: 0, now: at },
            _ => LeaseState { holder: Some(call.owner), until: at.saturating_add(self.ttl), now: at },
        })
    }

    fn one_object_per_key(&self) -> bool {
        false
    }

    fn observes(&self, call: &LeaseCall) -> bool {
        call.deed != Deed::Refused
    }

    fn only_reads(&self, call: &LeaseCall) -> bool {
        call.deed == Deed::Refused
    }

    fn freed(&self, call: &LeaseCall) -> LeaseCall {
        LeaseCall { by: None, ..call.clone() }
    }

    fn show(&self, state: &LeaseState, atoms: &Atoms) -> String {
        match state.holder {
            None => "free".to_owned(),
            Some(holder) => format!("held-by-{}-until-{}", atoms.value(holder), state.until),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::run;

    #[test]
    fn a_lease_is_for_others_when_it_was_released_or_has_expired() {
        // Operation n runs from 2n to 2n+1.
        let lease = |ttl| Lease::lasting(Duration::from_nanos(ttl));
        for (ttl, text, expect) in [
            (100, "c1 acquire x | c1 release x | c2 acquire x", "held-by-1-until-100 free held-by-2-until-104"),
            (100, "c1 acquire x | c2 acquire x", "held-by-1-until-100 illegal"),
            (2, "c1 acquire x | c2 acquire x", "held-by-1-until-2 held-by-2-until-4"),
            (3, "c1 acquire x | c2 acquire x", "held-by-1-until-3 held-by-2-until-6"),
            (4, "c1 acquire x | c2 acquire x", "held-by-1-until-4 illegal"),
            (3, "c1 acquire x | c1 renew x | c2 acquire x", "held-by-1-until-3 held-by-1-until-5 held-by-2-until-8"),
            (4, "c1 acquire x | c1 renew x | c2 acquire x", "held-by-1-until-4 held-by-1-until-6 illegal"),
            (1, "c1 acquire x | c2 acquire x | c1 renew x", "held-by-1-until-1 held-by-2-until-3 illegal"),
            (
                9,
                "c1 acquire x | c2 acquire x -> false | c1 acquire x",
                "held-by-1-until-9 held-by-1-until-9 held-by-1-until-13",
            ),
            (9, "c1 release x", "illegal"),
            (9, "c1 read x", "refused: none of acquire"),
        ] {
            run(lease(ttl), text, expect);
        }
    }
}
