//! The models there are, by name.

/// A model of this library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name that [`super::Model::name`] answers, and that a plan declares (as `other(name)` where the plan format has
    /// no such model).
    pub name: &'static str,
    /// Other names of it, with blanks for separators.
    pub aliases: &'static [&'static str],
    /// The type, in this module.
    pub type_name: &'static str,
    /// What it is, in a sentence.
    pub what: &'static str,
    /// Operation types it understands, with input and answer.
    pub operations: &'static [&'static str],
    /// One object per key, even when a history is checked as a whole.
    pub per_key: bool,
}

/// All models, by name.
pub const CATALOG: &[Entry] = &[
    Entry {
        name: "cas-register",
        aliases: &["cas register"],
        type_name: "CasRegister",
        what: "A register that starts at 0; a read that answers null says nothing.",
        operations: &["read -> value", "write value", "cas [from, to] -> true|false"],
        per_key: false,
    },
    Entry {
        name: "counter",
        aliases: &[],
        type_name: "Counter",
        what: "A whole number that is increased.",
        operations: &["inc delta -> value after it", "dec delta -> value after it", "read -> value"],
        per_key: false,
    },
    Entry {
        name: "kv",
        aliases: &["key-value store", "string map"],
        type_name: "Kv",
        what: "Strings by key, empty at first, with append.",
        operations: &["get -> text", "put text", "append text"],
        per_key: true,
    },
    Entry {
        name: "lease",
        aliases: &[],
        type_name: "Lease",
        what: "A lock that its holder loses after a time, unless renewed.",
        operations: &["acquire -> true|false", "renew -> true|false", "release -> true|false"],
        per_key: false,
    },
    Entry {
        name: "ledger",
        aliases: &["account"],
        type_name: "Ledger",
        what: "Balances by account, credited and debited, never below zero.",
        operations: &["credit amount -> balance after it", "debit amount -> true|false", "balance -> amount"],
        per_key: true,
    },
    Entry {
        name: "lock",
        aliases: &["mutex"],
        type_name: "Mutex",
        what: "Held by one client at a time; owner-aware and reentrant if asked.",
        operations: &["acquire -> true|false", "release -> true|false"],
        per_key: false,
    },
    Entry {
        name: "log",
        aliases: &["append-only log"],
        type_name: "Log",
        what: "Entries that are appended at the end and never change.",
        operations: &["append value -> offset", "read -> {offset, value} or {offset, values, end} or all entries"],
        per_key: false,
    },
    Entry {
        name: "map",
        aliases: &["key-value map", "kv map"],
        type_name: "MapModel",
        what: "A value per key, null at first.",
        operations: &["get -> value", "put value", "delete -> true|false", "cas [from, to] -> true|false"],
        per_key: true,
    },
    Entry {
        name: "membership-table",
        aliases: &["membership table", "membership"],
        type_name: "MembershipTable",
        what: "Who is a member.",
        operations: &["join member -> true|false", "leave member -> true|false", "view -> members"],
        per_key: false,
    },
    Entry {
        name: "multi-register",
        aliases: &["multi register"],
        type_name: "MultiRegister",
        what: "Registers that are read and written together, atomically.",
        operations: &["txn [[\"read\"|\"write\", key, value], …] -> the same with what was read"],
        per_key: false,
    },
    Entry {
        name: "queue",
        aliases: &["fifo queue", "fifo"],
        type_name: "Queue",
        what: "First in, first out.",
        operations: &["enqueue value", "dequeue -> value, or null when empty"],
        per_key: false,
    },
    Entry {
        name: "register",
        aliases: &["registers"],
        type_name: "Register",
        what: "One value that is read, overwritten, compared and set; null at first.",
        operations: &["read -> value", "write value", "cas [from, to] -> true|false"],
        per_key: false,
    },
    Entry {
        name: "session",
        aliases: &["versioned register"],
        type_name: "Session",
        what: "A value per key with a version that grows with every write.",
        operations: &["write value -> version", "read -> {value, version}"],
        per_key: true,
    },
    Entry {
        name: "set",
        aliases: &[],
        type_name: "SetModel",
        what: "Elements that are added and removed.",
        operations: &[
            "add element -> true|false",
            "remove element -> true|false",
            "contains element -> true|false",
            "read -> elements",
        ],
        per_key: false,
    },
    Entry {
        name: "stack",
        aliases: &["lifo stack", "lifo"],
        type_name: "Stack",
        what: "Last in, first out.",
        operations: &["push value", "pop -> value, or null when empty"],
        per_key: false,
    },
];

/// The model of this name or alias, however it is spelt: `other(FIFO queue)` and `fifo-queue` are `queue`.
pub fn find(name: &str) -> Option<&'static Entry> {
    let plain = name.trim().to_lowercase();
    let inner = plain.strip_prefix("other(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(&plain);
    let spelt = |text: &str| text.trim().trim_matches(['"', '`']).replace(['-', '_'], " ");
    let wanted = spelt(inner);
    CATALOG.iter().find(|entry| spelt(entry.name) == wanted || entry.aliases.iter().any(|alias| spelt(alias) == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::*;
    use std::time::Duration;

    #[test]
    fn every_model_is_there_under_the_name_it_answers() {
        fn check<M: Model>(model: M, type_name: &str, per_key: bool) {
            let entry = find(model.name()).unwrap_or_else(|| panic!("{} is not in the catalogue", model.name()));
            assert_eq!((entry.type_name, entry.per_key), (type_name, model.one_object_per_key()));
            assert_eq!(per_key, model.one_object_per_key());
        }
        check(CasRegister::new(), "CasRegister", false);
        check(Counter::new(), "Counter", false);
        check(Kv::new(), "Kv", true);
        check(Lease::lasting(Duration::from_secs(1)), "Lease", false);
        check(Ledger::new(), "Ledger", true);
        check(Mutex::new(), "Mutex", false);
        check(Log::new(), "Log", false);
        check(MapModel::new(), "MapModel", true);
        check(MembershipTable::new(), "MembershipTable", false);
        check(MultiRegister::new(), "MultiRegister", false);
        check(Queue::new(), "Queue", false);
        check(Register::new(), "Register", false);
        check(Session::new(), "Session", true);
        check(SetModel::new(), "SetModel", false);
        check(Stack::new(), "Stack", false);
        assert_eq!(CATALOG.len(), 15);
        assert!(CATALOG.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn names_are_found_however_they_are_spelt() {
        for (spelt, name) in [
            ("other(FIFO queue)", Some("queue")),
            ("cas_register", Some("cas-register")),
            ("other(\"mutex\")", Some("lock")),
            ("Membership Table", Some("membership-table")),
            ("other(crdt)", None),
        ] {
            assert_eq!(find(spelt).map(|entry| entry.name), name, "{spelt}");
        }
    }
}
