//! L2: models: what an operation may answer, as a sequential machine. One file each.

mod atoms;
mod cas_register;
mod catalog;
mod counter;
mod fifo;
mod held;
mod kv;
mod lease;
mod ledger;
mod lifo;
mod lock;
mod log;
mod map;
mod membership;
mod multi_register;
mod queue;
mod register;
mod session;
mod set;
mod snapshots;
mod stack;
#[cfg(test)]
mod table;
mod unseen;
mod zones;

pub use atoms::{Atom, Atoms};
pub use cas_register::CasRegister;
pub use catalog::{CATALOG, Entry, find};
pub use counter::{Counter, CounterCall};
pub use kv::{Kv, KvCall, Text};
pub use lease::{Lease, LeaseCall, LeaseState};
pub use ledger::{Ledger, LedgerCall};
pub use lock::{Held, LockCall, Mutex};
pub use log::{Log, LogCall, LogState};
pub use map::MapModel;
pub use membership::{MembershipCall, MembershipTable};
pub use multi_register::{MultiCall, MultiRegister, MultiState};
pub use queue::{Queue, TakeCall};
pub use register::{Register, RegisterCall};
pub use session::{Session, SessionCall, Versioned};
pub use set::{SetCall, SetModel};
pub use stack::Stack;

use crate::base::recipe::Recipe;
use crate::history::Op;
use std::fmt::Debug;
use std::hash::Hash;

/// What an operation does to a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<S> {
    /// It cannot have answered what it answered.
    Illegal,
    /// It can, and leaves the state as it is.
    Unchanged,
    /// It can, and leaves this state.
    To(S),
}

/// A sequential specification: the states of one object and what operations do to them.
///
/// Four short methods make a model; a counter whose `inc` answers the new value:
///
/// ```
/// use disttest_runtime::history::{Effect, Op};
/// use disttest_runtime::model::{Atoms, Model, Step};
///
/// struct Counter;
///
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// enum Call { Inc { by: i64, after: Option<i64> }, Read(Option<i64>) }
///
/// impl Model for Counter {
///     type State = i64;
///     type Call = Call;
///
///     fn name(&self) -> &str { "counter" }
///
///     fn start(&self, _: &mut Atoms) -> i64 { 0 }
///
///     fn call(&self, op: &Op, _: &mut Atoms) -> Result<Call, String> {
///         // `output` of an operation whose outcome is unknown is null, which says nothing.
///         match op.op_type.as_str() {
///             "inc" => Ok(Call::Inc { by: op.input.as_i64().ok_or("inc needs a number")?, after: op.output.as_i64() }),
///             "read" if op.effect() == Effect::Acknowledged && op.output.is_null() => Err("a read answers".to_owned()),
///             "read" => Ok(Call::Read(op.output.as_i64())),
///             other => Err(format!("`{other}` is no operation of a counter")),
///         }
///     }
///
///     fn step(&self, state: &i64, call: &Call) -> Step<i64> {
///         match *call {
///             Call::Inc { by, after } if after.is_none_or(|after| after == state + by) => Step::To(state + by),
///             Call::Read(seen) if seen.is_none_or(|seen| seen == *state) => Step::Unchanged,
///             _ => Step::Illegal,
///         }
///     }
/// }
/// ```
///
/// The other methods make checking faster or its answer clearer; their defaults are always right.
pub trait Model: Send + Sync {
    /// The state of the object. Cheap to clone, or shared.
    type State: Clone + Eq + Hash + Send + Sync;
    /// An operation as this model understands it: what it asks and what it was answered.
    type Call: Clone + Eq + Hash + Debug + Send + Sync;

    /// The name a plan and an attribute use, such as `register`.
    fn name(&self) -> &str;

    /// Its settings as data, from which it can be made again; `None` for a model that is code of its author.
    fn recipe(&self) -> Option<Recipe> {
        None
    }

    /// The state before the first operation.
    fn start(&self, atoms: &mut Atoms) -> Self::State;

    /// Reads an operation that was acknowledged or whose outcome is unknown (then its output is null and must be
    /// taken to say nothing). `Err` says what the model does not understand: the history then fits no verdict.
    fn call(&self, op: &Op, atoms: &mut Atoms) -> Result<Self::Call, String>;

    /// What `call` does to `state`. Must be a function of its arguments.
    fn step(&self, state: &Self::State, call: &Self::Call) -> Step<Self::State>;

    /// True when the model describes one object per key, so that a whole history is checked key by key: a history is
    /// linearizable if and only if each object's is (Herlihy and Wing, TOPLAS 1990).
    fn one_object_per_key(&self) -> bool {
        false
    }

    /// False when no state forbids `call`. A history in which nothing observes is no evidence.
    fn observes(&self, call: &Self::Call) -> bool {
        let _ = call;
        true
    }

    /// True only when no state is changed by `call`, whenever it is legal: a read, a `cas` that answered `false`. (A
    /// write of the value that is there leaves that state alone, but not every state.)
    fn only_reads(&self, call: &Self::Call) -> bool {
        let _ = call;
        false
    }

    /// True only when `call` is illegal in `state` and in every state that can follow it.
    fn hopeless(&self, state: &Self::State, call: &Self::Call) -> bool {
        let _ = (state, call);
        false
    }

    /// The independent part of the object that `call` is about, if it is about one: its answer and its effect depend on
    /// earlier calls about the same part only, from the start state on. Where all calls are about parts, each part is
    /// checked by itself.
    fn part(&self, call: &Self::Call) -> Option<Atom> {
        let _ = call;
        None
    }

    /// `call` as one that may take effect at any time after its invocation. Differs where calls hold their times.
    fn freed(&self, call: &Self::Call) -> Self::Call {
        call.clone()
    }

    /// Adds to each call what the others imply of it (such as the offset of an append that a read shows). The set of
    /// legal orders must stay the same.
    fn refine(&self, calls: &mut [Timed<Self::Call>]) {
        let _ = calls;
    }

    /// Decides at once, where a faster way than search is known for these calls; `None` means search.
    fn decide(&self, start: &Self::State, calls: &[Timed<Self::Call>]) -> Option<Decision> {
        let _ = (start, calls);
        None
    }

    /// `call` as one of a register, for models whose state is one value that such calls read and write.
    fn on_value<'c>(&self, call: &'c Self::Call) -> Option<&'c RegisterCall> {
        let _ = call;
        None
    }

    /// `state` for people, such as `22`; empty to say nothing.
    fn show(&self, state: &Self::State, atoms: &Atoms) -> String {
        let _ = (state, atoms);
        String::new()
    }
}

/// A call with its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timed<C> {
    /// The call.
    pub call: C,
    /// When it was invoked.
    pub invoke: u64,
    /// When it completed; `None` when its outcome is unknown: it may take effect any time after `invoke`, or never.
    pub complete: Option<u64>,
}

/// What [`Model::decide`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// There is a legal order.
    Linearizable,
    /// There is none, because of these calls (indices): already they cannot be ordered.
    NotLinearizable(Vec<usize>),
}
