//! Clients whose operations are transactions, for the checkers that read nothing else.

use super::snippets::Helper;
use crate::new::template::fill;
use disttest_runtime::checker::isolation::Level;
use disttest_runtime::plan::Resolved;

/// What transactions do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Append to lists and read whole lists.
    ListAppend,
    /// Write and read registers.
    RwRegister,
    /// Write keys once, or read several of them.
    Inserts,
}

/// Transactions as a plan asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transactions {
    /// What they do.
    pub kind: Kind,
    /// The isolation that is promised; `None` for the strictest.
    pub level: Option<Level>,
}

/// The models of transactions that `serializability` knows, as a plan names them.
pub(crate) const MODELS: [(&str, Kind); 2] =
    [("other(list-append)", Kind::ListAppend), ("other(rw-register)", Kind::RwRegister)];

/// True when `serializability` is for this model: transactions run over keys and values, and over models of the plan's
/// own.
pub(crate) fn fits(model: &str) -> bool {
    matches!(model, "register" | "map" | "ledger") || model.starts_with("other(")
}

impl Transactions {
    /// What a scenario asks for whose §7.M says `told` of its model and checker; `None` when its operations are none.
    pub(crate) fn of(resolved: &Resolved, told: &str) -> Option<Transactions> {
        let names = |checker: &str| resolved.checkers.iter().any(|(name, _)| name == checker);
        let told = plain(told);
        let own = resolved.model.as_deref().filter(|model| model.starts_with("other(")).map(plain);
        let said = |words: &str| told.contains(words) || own.as_ref().is_some_and(|own| own.contains(words));
        let registers = said(" rw register ") || said(" read write register ") || said(" read write registers ");
        let transactional =
            own.is_some() && (registers || said(" list append ") || said(" txn ") || said(" transactional "));
        let kind = match () {
            () if names("long-fork") => Kind::Inserts,
            () if !names("serializability") && !transactional => return None,
            () if registers || resolved.model.as_deref() == Some("register") => Kind::RwRegister,
            () => Kind::ListAppend,
        };
        Some(Transactions { kind, level: level(&told) })
    }

    /// The checker of isolation for them.
    ///
    /// Where strict serializability is promised each key is linearizable, which orders its versions; below it nothing is
    /// assumed of them.
    pub(crate) fn checker(self) -> String {
        const PATH: &str = "disttest_runtime::checker::isolation::";
        let mut code = match (self.kind, self.level) {
            (Kind::ListAppend, _) => "Serializability::list_append()".to_owned(),
            (_, None) => {
                format!("Serializability::register({PATH}KeyOrder {{ linearizable: true, ..Default::default() }})")
            }
            (_, Some(_)) => format!("Serializability::register({PATH}KeyOrder::default())"),
        };
        if let Some(level) = self.level {
            code.push_str(&format!(".at({PATH}Level::named({:?}).expect(\"a level\"))", level.name()));
        }
        code
    }

    /// What its clients do, where the package has no client that records.
    pub(crate) fn clients(self, keys: u64) -> Helper {
        let mixed = |writes: &str, verb: &str| {
            fill(include_str!("../../../templates/snippets/transactions/mixed.rs.txt"), |key| match key {
                "keys" => keys.to_string(),
                "writes" => writes.to_owned(),
                _ => format!("{verb:?}"),
            })
        };
        let (transaction, answers) = match self.kind {
            Kind::ListAppend => (mixed("appends", "append"), "a list, or null where there is none"),
            Kind::RwRegister => (mixed("writes", "w"), "a value, or null where there is none"),
            Kind::Inserts => (
                include_str!("../../../templates/snippets/transactions/inserts.rs.txt").to_owned(),
                "a value, or null where there is none",
            ),
        };
        let code = fill(include_str!("../../../templates/snippets/transactions.rs.txt"), |key| match key {
            "transaction" => transaction.clone(),
            _ => answers.to_owned(),
        });
        Helper { name: format!("clients of {}", self.kind.word()), code }
    }
}

impl Kind {
    /// How a plan names them.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::ListAppend => "list-append transactions",
            Kind::RwRegister => "rw-register transactions",
            Kind::Inserts => "inserting transactions",
        }
    }
}

/// Lower case, words between single blanks, a blank at each end.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |all, word| all + &word.to_lowercase() + " ")
}

/// The one level of isolation that `told` names; none where it names several, denies one, or speaks of
/// serializability beside it: a level below the one that is promised would accept what breaks the promise.
fn level(told: &str) -> Option<Level> {
    const DENIED: [&str; 9] =
        [" not ", " no ", " than ", " beyond ", " above ", " below ", " without ", " rather ", " beats "];
    let mut found: Vec<(Level, String)> = Vec::new();
    for level in Level::all() {
        let names = std::iter::once(level.name()).chain(level.aliases().iter().copied()).map(plain);
        // One word may be of any topic.
        found
            .extend(names.filter(|name| name.trim().contains(' ') && told.contains(name.as_str())).map(|n| (level, n)));
    }
    let within = |name: &str| found.iter().any(|(_, other)| other != name && other.contains(name));
    let whole: Vec<&(Level, String)> = found.iter().filter(|(_, name)| !within(name)).collect();
    let [(level, name)] = whole.as_slice() else { return None };
    let rest = told.replace(name.as_str(), " ");
    let other = ["serializab", "serialisab", "linearizab", "linearisab"].iter().any(|stem| rest.contains(stem));
    let denied = DENIED.iter().any(|word| rest.contains(word));
    (!other && !denied && *level != Level::STRICT_SERIALIZABLE).then_some(*level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::plan;

    fn asked(model: &str, checker: &str) -> Option<Transactions> {
        let text = format!(
            "# Test Plan: p\n\n## 7. Scenarios\n\n### Scenario S1: s\n\n#### §7.M\n\n- **Model under test:** {model}\n- **Checker:** {checker}\n"
        );
        let (plan, _) = plan::parse(&text);
        let resolved = plan::resolve(&plan, &plan.scenarios[0]).0;
        Transactions::of(&resolved, &format!("{model} {checker}"))
    }

    #[test]
    fn a_plan_about_isolation_has_clients_with_transactions() {
        let check = |model: &str, checker: &str, kind: Option<Kind>| {
            assert_eq!(asked(model, checker).map(|asked| asked.kind), kind, "{model}; {checker}");
        };
        check("map", "serializability (Elle), per-key + cross-key", Some(Kind::ListAppend));
        check("`other(list-append)`", "Elle", Some(Kind::ListAppend));
        check("other(rw-register)", "serializability", Some(Kind::RwRegister));
        check("other(txn)", "invariant-over-final-state", Some(Kind::ListAppend));
        check("register", "serializable over read-write registers", Some(Kind::RwRegister));
        check("register", "long-fork", Some(Kind::Inserts));
        check("map", "linearizability", None);
        check("other(crdt)", "invariant-over-final-state", None);
        check("log of transactional appends", "no-lost-ack", None);
    }

    #[test]
    fn a_level_below_the_strictest_is_taken_only_when_it_alone_is_named() {
        let check = |checker: &str, level: Option<&str>| {
            let asked = asked("other(list-append)", checker).expect("transactions");
            assert_eq!(asked.level.map(Level::name), level, "{checker}");
        };
        check("Elle at snapshot isolation", Some("snapshot-isolation"));
        check("Elle, `parallel-snapshot-isolation`", Some("parallel-snapshot-isolation"));
        check("Elle: read committed", Some("read-committed"));
        check("Elle", None);
        check("strict serializability (Elle)", None);
        check("serializability; snapshot isolation would let write skew pass", None);
        check("Elle, not snapshot isolation", None);
        check("Elle, stronger than snapshot isolation", None);
        check("Elle: snapshot isolation or read committed", None);
    }

    #[test]
    fn a_checker_assumes_of_keys_what_the_promise_implies() {
        let code = |kind, level: Option<&str>| Transactions { kind, level: level.and_then(Level::named) }.checker();
        assert_eq!(code(Kind::ListAppend, None), "Serializability::list_append()");
        assert!(code(Kind::RwRegister, None).contains("linearizable: true"));
        assert!(!code(Kind::RwRegister, Some("snapshot-isolation")).contains("linearizable"));
        assert!(code(Kind::ListAppend, Some("read-committed")).contains(".at("));
        for kind in [Kind::ListAppend, Kind::RwRegister, Kind::Inserts] {
            assert!(syn::parse_str::<syn::Expr>(&code(kind, Some("read-committed"))).is_ok());
            let clients = Transactions { kind, level: None }.clients(4).code;
            syn::parse_file(&clients).unwrap_or_else(|error| panic!("{error}: {clients}"));
            assert!(clients.contains("client.call(\"txn\", "), "{clients}");
        }
    }
}
