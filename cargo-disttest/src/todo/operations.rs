//! What clients do to each model of the format (§3), and how the runtime judges it.

use super::transactions::{self, Kind, Transactions};

/// A model as a workload sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operations {
    /// The model.
    pub model: &'static str,
    /// How a test makes it.
    pub constructor: &'static str,
    /// Kinds of operations.
    pub kinds: &'static [&'static str],
    /// The one that shows the state at quiescence.
    pub read: &'static str,
    /// Inputs that are no unique value: (pattern, expression).
    pub inputs: &'static [(&'static str, &'static str)],
    /// What an answer looks like in the history.
    pub answers: &'static str,
    /// Entries are never overwritten.
    pub appends: bool,
}

const VALUE: Operations = Operations {
    model: "register",
    constructor: "Register::new()",
    kinds: &["read", "write"],
    read: "read",
    inputs: &[("\"read\"", "Value::Null")],
    answers: "the value that a read saw (null for none); anything for a write",
    appends: false,
};

/// Every model of the format.
pub(crate) const ALL: [Operations; 10] = [
    VALUE,
    Operations {
        model: "map",
        constructor: "MapModel::new()",
        kinds: &["get", "put"],
        read: "get",
        inputs: &[("\"get\"", "Value::Null")],
        answers: "the value that a get saw (null for none); anything for a put",
        ..VALUE
    },
    Operations {
        model: "queue",
        constructor: "Queue::new()",
        kinds: &["enqueue", "dequeue"],
        read: "dequeue",
        inputs: &[("\"dequeue\"", "Value::Null")],
        answers: "the value that a dequeue took (null for none)",
        appends: true,
    },
    Operations {
        model: "log",
        constructor: "Log::new()",
        kinds: &["append", "read"],
        read: "read",
        inputs: &[("\"read\"", "Value::Null")],
        answers: "the offset that an append got; of a read `{\"offset\": n, \"values\": […], \"end\": true}`",
        appends: true,
    },
    Operations {
        model: "lock",
        constructor: "Mutex::new()",
        kinds: &["acquire", "release"],
        read: "acquire",
        inputs: &[("\"acquire\" | \"release\"", "Value::Null")],
        answers: "true when it was acquired or released",
        ..VALUE
    },
    Operations {
        model: "lease",
        constructor: "Lease::lasting(std::time::Duration::from_secs(10))",
        kinds: &["acquire", "renew", "release"],
        read: "acquire",
        inputs: &[("\"acquire\" | \"renew\" | \"release\"", "Value::Null")],
        answers: "the time to live that was granted, null for none",
        ..VALUE
    },
    Operations {
        model: "session",
        constructor: "Session::new()",
        answers: "the value and the version that a read saw; the version that a write got",
        ..VALUE
    },
    Operations {
        model: "membership-table",
        constructor: "MembershipTable::new()",
        kinds: &["join", "leave", "view"],
        read: "view",
        inputs: &[("\"view\"", "Value::Null")],
        answers: "the members that a view saw",
        ..VALUE
    },
    Operations {
        model: "counter",
        constructor: "Counter::new()",
        kinds: &["inc", "read"],
        read: "read",
        inputs: &[("\"read\"", "Value::Null"), ("\"inc\"", "json!(1)")],
        answers: "the value after it",
        ..VALUE
    },
    Operations {
        model: "ledger",
        constructor: "Ledger::new()",
        kinds: &["credit", "debit", "balance"],
        read: "balance",
        inputs: &[
            ("\"balance\"", "Value::Null"),
            ("\"credit\" | \"debit\"", "json!({\"id\": format!(\"{}-{count}\", client.id()), \"amount\": 1})"),
        ],
        answers: "the balance that was seen",
        ..VALUE
    },
];

/// The operations of `model`; those of a register for a model of the plan's own.
pub(crate) fn of(model: Option<&str>) -> &'static Operations {
    model.and_then(|model| ALL.iter().find(|one| one.model == model)).unwrap_or(&ALL[0])
}

/// Checkers that the runtime has, and how a test makes them for a model; `None` for another checker or another model.
pub(crate) fn checker(name: &str, model: Option<&str>, per_key: bool) -> Option<String> {
    let known = model.and_then(|model| ALL.iter().find(|one| one.model == model));
    match (name, known) {
        ("linearizability", Some(model)) => {
            let scope = if per_key { "per_key" } else { "whole" };
            Some(format!("Linearizability::{scope}({})", model.constructor))
        }
        ("no-lost-ack", Some(model)) if matches!(model.model, "register" | "map" | "log") => {
            Some(format!("NoLostAck::{}()", if model.appends { "append_only" } else { "overwritable" }))
        }
        ("serializability", _) if model.is_some_and(transactions::fits) => {
            let kind = if model == Some("register") { Kind::RwRegister } else { Kind::ListAppend };
            Some(Transactions { kind, level: None }.checker())
        }
        ("replay-equivalence", Some(Operations { model: "log", .. })) => Some("ReplayEquivalence::of_log()".to_owned()),
        _ => {
            let promise = model.and_then(|model| of_promise(name, model)).map(str::to_owned);
            promise.or_else(|| of_any_model(name, per_key)).or_else(|| of_workload(name, model))
        }
    }
}

/// One of [`OF_ANY_MODEL`], for each key or not.
fn of_any_model(name: &str, per_key: bool) -> Option<String> {
    let code = OF_ANY_MODEL.iter().find(|(known, _)| *known == name)?.1.trim();
    let keyed = per_key && matches!(name, "property-assertion" | "invariant-over-final-state");
    Some(if keyed { format!("{code}\n.per_key()") } else { code.to_owned() })
}

/// One of [`WORKLOADS`].
fn of_workload(name: &str, model: Option<&str>) -> Option<String> {
    let (_, expression, models) = WORKLOADS.iter().find(|(workload, ..)| *workload == name)?;
    let own = || model.is_some_and(|model| !ALL.iter().any(|one| one.model == model));
    let fits = models.is_empty() || model.is_some_and(|model| models.contains(&model)) || own();
    fits.then(|| (*expression).to_owned())
}

/// Checkers of a promise that is no model's whole behaviour.
fn of_promise(checker: &str, model: &str) -> Option<&'static str> {
    match (checker, model) {
        ("session-consistency", "session") => Some("SessionConsistency::by_versions(\"/version\")"),
        ("session-consistency", "register" | "map") => Some("SessionConsistency::by_values()"),
        ("monotonic-read", "session" | "register" | "map") => Some("MonotonicRead::at(\"/version\")"),
        ("monotonic-read", "log") => Some("MonotonicRead::at(\"/offset\")"),
        ("monotonic-read", "counter") => Some("MonotonicRead::at(\"\")"),
        ("prefix-order", "queue") => Some("PrefixOrder::consumers()"),
        ("prefix-order", "log") => Some("PrefixOrder::views()"),
        ("exactly-once", "ledger") => Some("ExactlyOnce::counts(\"/id\", \"/amount\")"),
        ("exactly-once", "counter") => Some("ExactlyOnce::increments(\"/id\")"),
        ("exclusion", "lock") => Some("Exclusion::locks()"),
        ("exclusion", "lease") => {
            Some("Exclusion::leases(std::time::Duration::from_secs(10), std::time::Duration::from_millis(500))")
        }
        _ => None,
    }
}

/// Checkers of one workload: how a test makes them, and the models they fit beside a plan's own; none for any.
const WORKLOADS: [(&str, &str, &[&str]); 8] = [
    ("set-full", "SetFull::new()", NONE),
    ("bank", "Bank::new()", &["ledger"]),
    ("counter-bounds", "CounterBounds::new()", &["counter"]),
    ("unique-ids", "UniqueIds::new()", NONE),
    ("total-queue", "TotalQueue::new()", &["queue"]),
    ("long-fork", "LongFork::new()", &["register", "map"]),
    ("freshness", "Freshness::within(std::time::Duration::from_secs(1))", &["register", "map", "session"]),
    ("bounded-liveness", "Liveness::completes_within(std::time::Duration::from_secs(10))", &[]),
];

/// No model of the format.
const NONE: &[&str] = &["other"];

/// Checkers that fit every model, as expressions; what only a person knows of them is left open.
pub(crate) const OF_ANY_MODEL: [(&str, &str); 8] = [
    ("property-assertion", include_str!("../../../templates/snippets/checker/property-assertion.rs.txt")),
    ("replay-equivalence", include_str!("../../../templates/snippets/checker/replay-equivalence.rs.txt")),
    ("metric-slo", include_str!("../../../templates/snippets/checker/metric-slo.rs.txt")),
    ("statistical-baseline", include_str!("../../../templates/snippets/checker/statistical-baseline.rs.txt")),
    ("differential", include_str!("../../../templates/snippets/checker/differential.rs.txt")),
    (
        "invariant-over-final-state",
        include_str!("../../../templates/snippets/checker/invariant-over-final-state.rs.txt"),
    ),
    (
        "reconciliation-across-replicas",
        include_str!("../../../templates/snippets/checker/reconciliation-across-replicas.rs.txt"),
    ),
    ("fairness", include_str!("../../../templates/snippets/checker/fairness.rs.txt")),
];

/// Checkers that the runtime has for some model.
pub(crate) use disttest_runtime::plan::names::RUNTIME_CHECKERS as CHECKERS;

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::plan::names;

    #[test]
    fn every_model_of_the_format_is_here() {
        let here: Vec<&str> = ALL.iter().map(|one| one.model).collect();
        let known: Vec<&str> = names::MODELS.iter().map(|one| one.id).collect();
        assert_eq!(here, known);
        for one in &ALL {
            assert!(one.kinds.contains(&one.read) && one.kinds.len() > 1, "{}", one.model);
        }
    }

    #[test]
    fn a_checker_is_made_for_the_models_that_the_runtime_has() {
        let check = |name: &str, model: Option<&str>, per_key: bool, expect: Option<&str>| {
            assert_eq!(checker(name, model, per_key).as_deref(), expect, "{name} {model:?}");
        };
        check("linearizability", Some("register"), true, Some("Linearizability::per_key(Register::new())"));
        check("linearizability", Some("log"), false, Some("Linearizability::whole(Log::new())"));
        check("no-lost-ack", Some("map"), true, Some("NoLostAck::overwritable()"));
        check("no-lost-ack", Some("log"), false, Some("NoLostAck::append_only()"));
        check("no-lost-ack", Some("queue"), false, None);
        check("linearizability", Some("other(crdt)"), false, None);
        check("linearizability", None, false, None);
        check("serializability", Some("map"), false, Some("Serializability::list_append()"));
        check("serializability", Some("other(list-append)"), false, Some("Serializability::list_append()"));
        check("serializability", Some("lock"), false, None);
        check("serializability", None, false, None);
        check("session-consistency", Some("map"), true, Some("SessionConsistency::by_values()"));
        check("monotonic-read", Some("log"), true, Some("MonotonicRead::at(\"/offset\")"));
        check("prefix-order", Some("queue"), false, Some("PrefixOrder::consumers()"));
        check("exactly-once", Some("ledger"), true, Some("ExactlyOnce::counts(\"/id\", \"/amount\")"));
        check("exclusion", Some("lock"), true, Some("Exclusion::locks()"));
        check("exclusion", Some("register"), true, None);
        check("set-full", Some("other(set)"), false, Some("SetFull::new()"));
        check("set-full", Some("register"), false, None);
        check("bank", Some("ledger"), false, Some("Bank::new()"));
        let somewhere = |name: &&str| {
            let models = ALL.iter().map(|one| one.model).chain(["other(set)"]);
            models.into_iter().any(|model| checker(name, Some(model), true).is_some())
        };
        assert!(CHECKERS.iter().all(somewhere));
        check("replay-equivalence", Some("log"), false, Some("ReplayEquivalence::of_log()"));
        for (name, code) in OF_ANY_MODEL {
            assert!(checker(name, None, true).is_some() && checker(name, Some("other(x)"), false).is_some(), "{name}");
            assert!(syn::parse_str::<syn::Expr>(code).is_ok(), "{name}: {code}");
        }
        assert!(checker("invariant-over-final-state", None, true).is_some_and(|code| code.ends_with(".per_key()")));
    }
}
