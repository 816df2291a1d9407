//! From what was asked for to checkers.

use super::models::{Asked, LIN, SEQ};
use super::parameters::{Parameters, Place};
use disttest_runtime::checker::isolation::Options;
use disttest_runtime::checker::{
    Bank, Checker, Comments, CounterBounds, Dimension, ExactlyOnce, Exclusion, Fairness, Freshness, Guarantee, Kafka,
    Linearizability, Liveness, LongFork, MetricSlo, MonotonicRead, NoLostAck, Percentile, PrefixOrder,
    ReconciliationAcrossReplicas, ReplayEquivalence, SequentialConsistency, SessionConsistency, Set, SetFull, Subkeys,
    TotalQueue, UniqueIds,
};
use disttest_runtime::history::{Effect, History, Op};
use disttest_runtime::model::{Lease, MapModel, Model, Register};
use serde_json::Value;

/// Whether nothing in a history could contradict a checker, whose property then holds of it.
type Blind = Box<dyn Fn(&History) -> bool>;

/// A checker, and what is known of it here.
pub(crate) struct Judge {
    /// The checker.
    pub checker: Box<dyn Checker>,
    /// Of checkers whose property no operation but an observing one can break: true when there is none. A history that
    /// is not empty then has the property, by definition; it shows nothing of the system.
    pub blind: Option<Blind>,
}

/// What is judged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// One object, without keys.
    One,
    /// Each key by itself.
    PerKey,
    /// All keys together.
    Together,
}

impl Scope {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Scope::One => "as one object",
            Scope::PerKey => "key by key",
            Scope::Together => "as a whole",
        }
    }

    /// What `checker` judges together.
    pub(crate) fn of(checker: &str, has_keys: bool, by_key: bool, per_key: Option<bool>) -> Scope {
        match checker {
            LIN if by_key => Scope::PerKey,
            LIN => Scope::One,
            SEQ if by_key && per_key == Some(true) => Scope::PerKey,
            SEQ | "fairness" | "bounded-liveness" | "metric-slo" | "unique-ids" | "long-fork" | "kafka" | "subkeys" => {
                if has_keys {
                    Scope::Together
                } else {
                    Scope::One
                }
            }
            _ if has_keys => Scope::PerKey,
            _ => Scope::One,
        }
    }
}

/// A checker, or why it cannot be made of these settings.
pub(crate) type Made = Result<Judge, String>;

fn is(checker: impl Checker + 'static) -> Made {
    Ok(Judge { checker: Box::new(checker), blind: None })
}

/// A checker that nothing in a history which fits it and of which `blind` holds could contradict.
fn unless_seen(checker: impl Checker + Clone + 'static, blind: impl Fn(&History) -> bool + 'static) -> Made {
    let fits = checker.clone();
    let blind = move |history: &History| fits.missing(history).is_empty() && blind(history);
    Ok(Judge { checker: Box::new(checker), blind: Some(Box::new(blind)) })
}

/// Linearizability of `model`.
pub(super) fn lin<M: Model + Clone + 'static>(asked: &Asked<'_>, model: M) -> Made {
    let checker = if asked.by_key { Linearizability::per_key(model) } else { Linearizability::whole(model) };
    let blind = checker.clone();
    unless_seen(checker, move |history| blind.observing(history) == 0)
}

/// Sequential consistency of `model`, whose objects are told apart by keys only if it has one per key.
pub(super) fn seq<M: Model + Clone + 'static>(asked: &Asked<'_>, model: M) -> Made {
    let per_key = asked.by_key && asked.per_key == Some(true);
    if asked.by_key && !per_key && !model.one_object_per_key() {
        return Err(format!(
            "an order of all keys together is not looked for in a `{}`; --per-key asks for an order of each key, which \
             is weaker",
            model.name()
        ));
    }
    let (checker, blind) = match per_key {
        true => (SequentialConsistency::per_key(model.clone()), Linearizability::per_key(model)),
        false => (SequentialConsistency::whole(model.clone()), Linearizability::whole(model)),
    };
    unless_seen(checker, move |history| blind.observing(history) == 0)
}

/// Of registers: those of several keys are a map.
pub(super) fn seq_registers(asked: &Asked<'_>) -> Made {
    if asked.by_key {
        seq(asked, MapModel::starting_at(init(asked)))
    } else {
        seq(asked, Register::starting_at(init(asked)))
    }
}

/// A lease as a model.
pub(super) fn lin_lease(asked: &Asked<'_>) -> Made {
    let ttl = asked.parameters.ttl.ok_or("a `lease` needs --ttl: the time after which it runs out")?;
    lin(asked, Lease::lasting(ttl))
}

/// The value at the start, null if nothing was said.
pub(super) fn init(asked: &Asked<'_>) -> Value {
    asked.init.cloned().unwrap_or_default()
}

/// The same, of strings.
pub(super) fn text(asked: &Asked<'_>) -> Result<String, String> {
    match asked.init {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(format!("a key of a `kv` starts as a string, not as {other}")),
    }
}

/// The same, of numbers.
pub(super) fn number(asked: &Asked<'_>) -> Result<i64, String> {
    match asked.init {
        None | Some(Value::Null) => Ok(0),
        Some(other) => other.as_i64().ok_or_else(|| format!("it starts as a whole number, not as {other}")),
    }
}

/// Transactions, at the level that was asked for.
pub(super) fn at(asked: &Asked<'_>, options: Options) -> Options {
    match asked.level {
        Some(level) => options.at(level),
        None => options,
    }
}

pub(super) fn overwritable(_: &Asked<'_>) -> Made {
    is(NoLostAck::overwritable())
}

pub(super) fn append_only(_: &Asked<'_>) -> Made {
    is(NoLostAck::append_only())
}

pub(super) fn session(asked: &Asked<'_>) -> Made {
    let Parameters { version_at, guarantee, across_keys, ignore_real_time, .. } = asked.parameters;
    let mut checker = match (version_at, across_keys, ignore_real_time) {
        (Some(_), _, true) => {
            return Err("--ignore-real-time is for values without versions, not for --version-at".into());
        }
        (Some(pointer), false, _) => SessionConsistency::by_versions(pointer),
        (Some(pointer), true, _) => SessionConsistency::by_versions(pointer).across_keys(),
        (None, true, _) => {
            return Err("--across-keys compares the system's own versions: --version-at says where they are".into());
        }
        (None, _, false) => SessionConsistency::by_values(),
        (None, _, true) => SessionConsistency::by_values().ignoring_real_time(),
    };
    if version_at.is_none() && guarantee.contains(&Guarantee::MonotonicWrites) {
        return Err(
            "monotonic-writes can be seen by the system's own versions only: --version-at says where they are".into()
        );
    }
    if !guarantee.is_empty() {
        checker = checker.only(guarantee);
    }
    is(checker)
}

pub(super) fn monotonic_read(asked: &Asked<'_>) -> Made {
    let needed = "monotonic-read needs --version-at: where in the output of a read the system's own version stands ('' is \
                  the output itself); the clock of the recorder is none";
    let checker = MonotonicRead::at(asked.parameters.version_at.as_ref().ok_or(needed)?);
    let types: Vec<&str> = asked.parameters.op_type.iter().map(String::as_str).collect();
    is(if types.is_empty() { checker } else { checker.reading(&types) })
}

/// What each consumer of a queue sees.
pub(super) fn consumers(asked: &Asked<'_>) -> Made {
    prefix(asked, PrefixOrder::consumers())
}

/// What each read of a log shows.
pub(super) fn views(asked: &Asked<'_>) -> Made {
    prefix(asked, PrefixOrder::views())
}

fn prefix(asked: &Asked<'_>, checker: PrefixOrder) -> Made {
    let parameters = asked.parameters;
    let checker = checker.in_flight(parameters.in_flight.unwrap_or(0));
    let checker = if parameters.gaps_allowed { checker.gaps_allowed() } else { checker };
    is(if parameters.redelivery_allowed { checker.redelivery_allowed() } else { checker })
}

pub(super) fn exactly_once(asked: &Asked<'_>) -> Made {
    let parameters = asked.parameters;
    let needed = "exactly-once needs --business-key: where in the input of an operation the client's own key of the \
                  request stands; by op_id it would always hold";
    let key = parameters.business_key.as_ref().ok_or(needed)?;
    if let Some(entry) = &parameters.entry_key {
        if asked.init.is_some() {
            return Err("--init is of sums, and says nothing of entries (--entry-key)".into());
        }
        let checker = ExactlyOnce::entries(key, entry);
        return is(match &parameters.entries_at {
            Some(list) => checker.listed_at(list),
            None => checker,
        });
    }
    let checker = match &parameters.amount {
        Some(amount) => ExactlyOnce::counts(key, amount),
        None => ExactlyOnce::increments(key),
    };
    is(checker.starting_at(number(asked)?))
}

pub(super) fn exclusion_of_locks(asked: &Asked<'_>) -> Made {
    fenced(asked, Exclusion::locks())
}

pub(super) fn exclusion_of_leases(asked: &Asked<'_>) -> Made {
    let (Some(ttl), Some(skew)) = (asked.parameters.ttl, asked.parameters.clock_skew) else {
        return Err(
            "exclusion of leases needs --ttl, after which a lease runs out, and --clock-skew, what the clocks may \
                    differ in that time (0s if they are one)"
                .into(),
        );
    };
    fenced(asked, Exclusion::leases(ttl, skew))
}

fn fenced(asked: &Asked<'_>, checker: Exclusion) -> Made {
    is(match &asked.parameters.fencing_token {
        Some(pointer) => checker.fenced_by(pointer),
        None => checker,
    })
}

pub(super) fn fairness(asked: &Asked<'_>) -> Made {
    let parameters = asked.parameters;
    let needed = "fairness needs --group-by: what is served fairly, and where an operation says of which group it is, such \
                  as tenant=input:tenant";
    let grouping = parameters.group_by.as_ref().ok_or(needed)?;
    let dimension = dimension(&grouping.dimension)?;
    let mut checker = match &grouping.place {
        Place::Key => Fairness::by_key(dimension),
        Place::Prefix(separator) => Fairness::by_key_prefix(dimension, *separator),
        Place::Input(field) => Fairness::by_input(dimension, field),
    };
    let mut formulas = 0;
    let mut formula = |with: Option<Fairness>, checker: &mut Fairness| {
        if let Some(with) = with {
            *checker = with;
            formulas += 1;
        }
    };
    formula(parameters.max_p99_ratio.map(|ratio| checker.clone().worst_p99_over_aggregate(ratio)), &mut checker);
    formula(parameters.min_group_throughput.map(|rate| checker.clone().min_throughput(rate)), &mut checker);
    formula(parameters.no_errors.then(|| checker.clone().no_errors()), &mut checker);
    formula(parameters.repeat_spread.map(|(n, share)| checker.clone().repeat_spread(n, share)), &mut checker);
    if formulas == 0 {
        return Err(
            "fairness needs a formula: --max-p99-ratio, --min-group-throughput, --no-errors or --repeat-spread".into(),
        );
    }
    if let Some(samples) = parameters.min_samples {
        checker = checker.at_least(samples);
    }
    is(if parameters.groups.is_empty() { checker } else { checker.groups(parameters.groups.clone()) })
}

fn dimension(word: &str) -> Result<Dimension, String> {
    Ok(match word {
        "tenant" => Dimension::Tenant,
        "shard" => Dimension::Shard,
        "queue" => Dimension::Queue,
        "partition" => Dimension::Partition,
        "region" => Dimension::Region,
        "priority" => Dimension::Priority,
        "user" => Dimension::User,
        "table" => Dimension::Table,
        "workload-class" => Dimension::WorkloadClass,
        _ => {
            return Err(format!(
                "groups are of tenant, shard, queue, partition, region, priority, user, table or workload-class, not of \
                 `{word}`"
            ));
        }
    })
}

pub(super) fn freshness(asked: &Asked<'_>) -> Made {
    let needed = "freshness needs --max-staleness: how long ago the value that a read shows may have been overwritten";
    let checker = Freshness::within(asked.parameters.max_staleness.ok_or(needed)?);
    match asked.parameters.op_type.as_slice() {
        [] => is(checker),
        [one] => is(checker.of(one)),
        _ => Err("freshness is asked of all reads or of one type of them (--op-type)".into()),
    }
}

pub(super) fn liveness(asked: &Asked<'_>) -> Made {
    let parameters = asked.parameters;
    let checker = match (parameters.completes_within, parameters.serves_within, parameters.elects_within) {
        (Some(bound), None, None) => Liveness::completes_within(bound),
        (None, Some(bound), None) => Liveness::serves_within(bound),
        (None, None, Some(bound)) => Liveness::elects_within(bound),
        _ => {
            return Err(
                "bounded-liveness needs one of --completes-within, --serves-within and --elects-within: what is owed, \
                        and how soon"
                    .into(),
            );
        }
    };
    let checker = if parameters.op_type.is_empty() { checker } else { checker.of(parameters.op_type.clone()) };
    is(if parameters.outside_faults { checker.outside_faults() } else { checker })
}

pub(super) fn slo(asked: &Asked<'_>) -> Made {
    let parameters = asked.parameters;
    let mut checker = match (parameters.latency, parameters.throughput) {
        (Some((percent, bound)), _) => {
            let percentile = Percentile::new(percent).ok_or("a percentile is above 0 and at most 100")?;
            MetricSlo::latency(percentile, bound)
        }
        (None, Some(rate)) => MetricSlo::throughput(rate),
        (None, None) => {
            return Err(
                "metric-slo needs --latency (such as p99:50ms) or --throughput: a threshold from before the run".into(),
            );
        }
    };
    if !parameters.op_type.is_empty() {
        checker = checker.only(parameters.op_type.clone());
    }
    if let Some(window) = parameters.window {
        checker = checker.per_window(window);
    }
    if let Some(time) = parameters.lasting {
        checker = checker.lasting(time);
    }
    if let Some(samples) = parameters.min_samples {
        checker = checker.at_least(samples);
    }
    is(checker)
}

pub(super) fn set(asked: &Asked<'_>) -> Made {
    is(if asked.parameters.each_client { Set::each_client() } else { Set::new() })
}

pub(super) fn set_full(asked: &Asked<'_>) -> Made {
    is(if asked.parameters.linearizable { SetFull::linearizable() } else { SetFull::new() })
}

pub(super) fn counter_bounds(asked: &Asked<'_>) -> Made {
    // What a change answers is judged as well; of `add` anything goes.
    let judged = |history: &History| {
        let says = |value: &Value| value.is_number();
        history.ops().iter().any(|op| {
            op.effect() == Effect::Acknowledged && op.op_type != "add" && (op.op_type == "read" || says(&op.output))
        })
    };
    unless_seen(CounterBounds::starting_at(number(asked)?), move |history| !judged(history))
}

pub(super) fn bank(asked: &Asked<'_>) -> Made {
    let parameters = asked.parameters;
    let mut checker = Bank::new();
    if !parameters.accounts.is_empty() {
        checker = checker.accounts(parameters.accounts.clone());
    }
    if let Some(total) = parameters.total {
        checker = checker.total(total);
    }
    let checker = if parameters.allow_negative { checker.allow_negative() } else { checker };
    // That no read was answered is among what it calls missing.
    let blind = |history: &History| {
        let unseen = |op: &Op| op.op_type == "read" && op.effect() != Effect::Acknowledged;
        history.ops().iter().all(|op| op.op_type == "transfer" || unseen(op))
    };
    Ok(Judge { checker: Box::new(checker), blind: Some(Box::new(blind)) })
}

pub(super) fn total_queue(asked: &Asked<'_>) -> Made {
    let checker = if asked.parameters.once { TotalQueue::new().once() } else { TotalQueue::new() };
    is(if asked.parameters.drained { checker.drained() } else { checker })
}

pub(super) fn unique_ids(_: &Asked<'_>) -> Made {
    unless_seen(UniqueIds::new(), |history| {
        let ids = history.ops().iter().filter(|op| op.effect() == Effect::Acknowledged && op.op_type == "generate");
        ids.count() < 2
    })
}

pub(super) fn comments(_: &Asked<'_>) -> Made {
    unless_seen(Comments::new(), |history| Comments::new().observing(history) == 0)
}

pub(super) fn subkeys(_: &Asked<'_>) -> Made {
    unless_seen(Subkeys::new(), |history| {
        let shows = |op: &Op| op.output.as_array().is_some_and(|all| all.iter().any(|value| !value.is_null()));
        !history.ops().iter().any(|op| op.op_type == "read" && op.effect() == Effect::Acknowledged && shows(op))
    })
}

pub(super) fn long_fork(_: &Asked<'_>) -> Made {
    is(LongFork::new())
}

pub(super) fn kafka(_: &Asked<'_>) -> Made {
    is(Kafka::new())
}

pub(super) fn replay(_: &Asked<'_>) -> Made {
    is(ReplayEquivalence::of_log())
}

pub(super) fn reconciliation(asked: &Asked<'_>) -> Made {
    let parameters = asked.parameters;
    let (false, Some(settle)) = (parameters.replicas.is_empty(), parameters.settle) else {
        return Err(
            "reconciliation-across-replicas needs --replicas, all that there are, and --settle: how long a replica \
                    shows the same once it has converged"
                .into(),
        );
    };
    is(ReconciliationAcrossReplicas::of_reads(parameters.replicas.clone(), settle))
}
