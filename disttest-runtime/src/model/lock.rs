//! A lock: held by one client at a time.

use super::{Atom, Atoms, Model, Step};
use crate::base::recipe;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `acquire` and `release`. Free until told otherwise.
///
/// An answer of `false` says that it was refused: an `acquire` because the lock was held, a `release` because it was not
/// (or not by this client, where owners count). Any other answer of a completed operation says that it was done. The
/// owner is the client that issued the operation, or the `owner` of an input that is an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutex {
    owned: bool,
    reentrant: bool,
}

impl Mutex {
    /// A lock that anybody may release.
    pub fn new() -> Mutex {
        Mutex::default()
    }

    /// A lock that only its holder may release.
    pub fn owned() -> Mutex {
        Mutex { owned: true, reentrant: false }
    }

    /// A lock that its holder may acquire again, and has to release as often.
    pub fn reentrant() -> Mutex {
        Mutex { owned: true, reentrant: true }
    }
}

/// Who holds a lock, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Held {
    owner: Option<Atom>,
    times: u32,
}

/// An operation on a lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LockCall {
    /// Acquires; else releases.
    acquire: bool,
    /// Who.
    owner: Atom,
    /// Whether it was done, if there is an answer.
    done: Option<bool>,
}

/// Who issued an operation on a lock or a lease.
pub(super) fn owner(op: &Op, atoms: &mut Atoms) -> Atom {
    match op.input.get("owner") {
        Some(owner) => atoms.of(owner),
        None => atoms.of(&Value::from(op.process_id)),
    }
}

impl Model for Mutex {
    type State = Held;
    type Call = LockCall;

    fn name(&self) -> &str {
        "lock"
    }

    fn recipe(&self) -> Option<recipe::Recipe> {
        recipe::of("lock", self)
    }

    fn start(&self, _: &mut Atoms) -> Held {
        Held::default()
    }

    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<LockCall, String> {
        let acquire = match op.op_type.as_str() {
            "acquire" | "lock" => true,
            "release" | "unlock" => false,
            other => return Err(format!("`{other}` is none of acquire, release")),
        };
        // Where owners do not count, calls of all clients are alike.
        let owner = if self.owned { owner(op, atoms) } else { Atom::NULL };
        let done = (op.effect() == Effect::Acknowledged).then_some(op.output != Value::Bool(false));
        Ok(LockCall { acquire, owner, done })
    }

    fn step(&self, held: &Held, call: &LockCall) -> Step<Held> {
        let mine = held.owner == Some(call.owner);
        let can = match call.acquire {
            true => held.owner.is_none() || self.reentrant && mine,
            false => mine,
        };
        match call.done {
            Some(done) if done != can => Step::Illegal,
            _ if !can => Step::Unchanged,
            _ if call.acquire => Step::To(Held { owner: Some(call.owner), times: held.times + 1 }),
            _ if held.times > 1 => Step::To(Held { times: held.times - 1, ..*held }),
            _ => Step::To(Held::default()),
        }
    }

    fn observes(&self, call: &LockCall) -> bool {
        call.done.is_some()
    }

    fn only_reads(&self, call: &LockCall) -> bool {
        call.done == Some(false)
    }

    fn show(&self, held: &Held, atoms: &Atoms) -> String {
        match held.owner {
            None => "free".to_owned(),
            Some(_) if !self.owned => "held".to_owned(),
            Some(owner) if held.times == 1 => format!("held-by-{}", atoms.value(owner)),
            Some(owner) => format!("held-by-{}-{}-times", atoms.value(owner), held.times),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::run;

    #[test]
    fn one_holds_it_at_a_time() {
        for (text, expect) in [
            ("c1 acquire x | c2 acquire x -> false | c2 release x | c2 acquire x -> true", "held held free held"),
            ("c1 acquire x | c2 acquire x", "held illegal"),
            ("c1 release x", "illegal"),
            ("c1 release x -> false", "free"),
            ("c1 acquire x -> false", "illegal"),
            ("c1 renew x", "refused: none of acquire"),
        ] {
            run(Mutex::new(), text, expect);
        }
    }

    #[test]
    fn where_owners_count_only_the_holder_releases() {
        for (text, expect) in [
            ("c1 acquire x | c2 release x -> false | c1 release x", "held-by-1 held-by-1 free"),
            ("c1 acquire x | c2 release x", "held-by-1 illegal"),
            ("c1 acquire x | c1 acquire x", "held-by-1 illegal"),
            ("c1 acquire x {\"owner\":\"a\"} | c2 release x {\"owner\":\"a\"}", "held-by-\"a\" free"),
        ] {
            run(Mutex::owned(), text, expect);
        }
        for (text, expect) in [
            (
                "c1 acquire x | c1 acquire x | c1 release x | c2 acquire x -> false | c1 release x | c2 acquire x",
                "held-by-1 held-by-1-2-times held-by-1 held-by-1 free held-by-2",
            ),
            (
                "c1 acquire x | c1 acquire x | c1 release x | c2 acquire x",
                "held-by-1 held-by-1-2-times held-by-1 illegal",
            ),
            ("c1 acquire x | c1 release x | c1 release x", "held-by-1 free illegal"),
        ] {
            run(Mutex::reentrant(), text, expect);
        }
    }
}
