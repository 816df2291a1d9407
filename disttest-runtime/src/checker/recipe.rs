//! Checkers made again from what a record says of them.

use super::{
    Bank, Checker, Comments, Compose, CounterBounds, ExactlyOnce, Exclusion, Fairness, Freshness, Kafka,
    Linearizability, Liveness, LongFork, MetricSlo, MonotonicRead, NoLostAck, PrefixOrder,
    ReconciliationAcrossReplicas, ReplayEquivalence, SequentialConsistency, Serializability, SessionConsistency, Set,
    SetFull, StatisticalBaseline, Subkeys, TotalQueue, UniqueIds,
};
pub use crate::base::recipe::Recipe;
pub(super) use crate::base::recipe::{no_code, of};
use crate::base::recipe::{read, settings};
use crate::model::{
    CasRegister, Counter, Kv, Lease, Ledger, Log, MapModel, MembershipTable, Model, MultiRegister, Mutex, Queue,
    Register, Session, SetModel, Stack,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Settings of a checker that judges against a model.
#[derive(Serialize, Deserialize)]
struct Against {
    model: Recipe,
    per_key: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effort: Option<u64>,
}

/// Settings of several checkers in one.
#[derive(Serialize, Deserialize)]
struct Parts {
    name: String,
    parts: Vec<Recipe>,
}

/// The recipe of a checker against `model`; `None` when that has none.
pub(super) fn against<M: Model>(checker: &str, model: &M, per_key: bool, effort: Option<u64>) -> Option<Recipe> {
    of(checker, &Against { model: model.recipe()?, per_key, effort })
}

/// The recipe of a checker that is made of `parts`; `None` when one of them has none.
pub(super) fn compose(name: &str, parts: &[Box<dyn Checker>]) -> Option<Recipe> {
    let parts = parts.iter().map(|part| part.recipe()).collect::<Option<Vec<Recipe>>>()?;
    of("compose", &Parts { name: name.to_owned(), parts })
}

/// The checker that [`Checker::recipe`] told of. The error says what this version cannot make of it.
pub fn rebuild(recipe: &Recipe) -> Result<Box<dyn Checker>, String> {
    let (what, with) = read(recipe)?;
    match what.as_str() {
        "bank" => plain::<Bank>(&with),
        "bounded-liveness" => plain::<Liveness>(&with),
        "comments" => plain::<Comments>(&with),
        "compose" => composed(&with),
        "counter-bounds" => plain::<CounterBounds>(&with),
        "exactly-once" => plain::<ExactlyOnce>(&with),
        "exclusion" => plain::<Exclusion>(&with),
        "fairness" => plain::<Fairness>(&with),
        "freshness" => plain::<Freshness>(&with),
        "kafka" => plain::<Kafka>(&with),
        "linearizability" | "sequential-consistency" => over(&what, &settings(&with)?),
        "long-fork" => plain::<LongFork>(&with),
        "metric-slo" => plain::<MetricSlo>(&with),
        "monotonic-read" => plain::<MonotonicRead>(&with),
        "no-lost-ack" => plain::<NoLostAck>(&with),
        "prefix-order" => plain::<PrefixOrder>(&with),
        "reconciliation-across-replicas" => plain::<ReconciliationAcrossReplicas>(&with),
        "replay-equivalence" => plain::<ReplayEquivalence>(&with),
        "serializability" => plain::<Serializability>(&with),
        "session-consistency" => plain::<SessionConsistency>(&with),
        "set" => plain::<Set>(&with),
        "set-full" => plain::<SetFull>(&with),
        "statistical-baseline" => plain::<StatisticalBaseline>(&with),
        "subkeys" => plain::<Subkeys>(&with),
        "total-queue" => plain::<TotalQueue>(&with),
        "unique-ids" => plain::<UniqueIds>(&with),
        other => Err(format!("a checker `{other}`, which this version does not know")),
    }
}

type Made = Result<Box<dyn Checker>, String>;

fn plain<C: Checker + DeserializeOwned + 'static>(with: &Value) -> Made {
    Ok(Box::new(settings::<C>(with)?))
}

fn composed(with: &Value) -> Made {
    let Parts { name, parts } = settings(with)?;
    let whole = Compose::new(&name);
    Ok(Box::new(parts.iter().try_fold(whole, |whole, part| Ok::<_, String>(whole.with_boxed(rebuild(part)?)))?))
}

fn over(checker: &str, against: &Against) -> Made {
    let (model, with) = read(&against.model)?;
    match model.as_str() {
        "cas-register" => on::<CasRegister>(checker, &with, against),
        "counter" => on::<Counter>(checker, &with, against),
        "kv" => on::<Kv>(checker, &with, against),
        "lease" => on::<Lease>(checker, &with, against),
        "ledger" => on::<Ledger>(checker, &with, against),
        "lock" => on::<Mutex>(checker, &with, against),
        "log" => on::<Log>(checker, &with, against),
        "map" => on::<MapModel>(checker, &with, against),
        "membership-table" => on::<MembershipTable>(checker, &with, against),
        "multi-register" => on::<MultiRegister>(checker, &with, against),
        "queue" => on::<Queue>(checker, &with, against),
        "register" => on::<Register>(checker, &with, against),
        "session" => on::<Session>(checker, &with, against),
        "set" => on::<SetModel>(checker, &with, against),
        "stack" => on::<Stack>(checker, &with, against),
        other => Err(format!("a model `{other}`, which this version does not know")),
    }
}

fn on<M: Model + Clone + DeserializeOwned + 'static>(checker: &str, with: &Value, against: &Against) -> Made {
    let model: M = settings(with)?;
    Ok(match (checker, against.per_key) {
        ("linearizability", true) => Box::new(Linearizability::per_key(model)),
        ("linearizability", false) => Box::new(Linearizability::whole(model)),
        (_, per_key) => {
            let checker = match per_key {
                true => SequentialConsistency::per_key(model),
                false => SequentialConsistency::whole(model),
            };
            Box::new(match against.effort {
                Some(effort) => checker.effort(effort),
                None => checker,
            })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Bound, Dimension, Guarantee, Invariant, Percentile, Sample, Statistic, Version};
    use super::*;
    use crate::base::time::Nanos;
    use crate::checker::isolation::{KeyOrder, Level};
    use crate::plan::names;
    use serde_json::json;
    use std::collections::BTreeSet;
    use std::time::Duration;

    fn all() -> Vec<Box<dyn Checker>> {
        let ms = Duration::from_millis;
        let sample = Sample { at: Nanos(7), value: 1.5 };
        let slo = MetricSlo::of_samples("queue depth", vec![sample], Statistic::Mean, Bound::AtMost(2.0));
        vec![
            Box::new(Bank::new()),
            Box::new(Liveness::completes_within(ms(9)).of(["read"]).outside_faults()),
            Box::new(Liveness::elects_within(ms(9))),
            Box::new(Comments::new()),
            Box::new(Compose::new("both").with(Set::new()).with(SetFull::linearizable())),
            Box::new(CounterBounds::starting_at(7)),
            Box::new(ExactlyOnce::entries("/id", "/id").listed_at("/all")),
            Box::new(ExactlyOnce::counts("/id", "/by").starting_at(3)),
            Box::new(Exclusion::leases(ms(900), ms(10)).fenced_by("/token")),
            Box::new(Fairness::by_key_prefix(Dimension::Tenant, '/').worst_p99_over_aggregate(2.0).groups(["a", "b"])),
            Box::new(Fairness::by_input(Dimension::Shard, "shard").repeat_spread(3, 0.5)),
            Box::new(Freshness::within(ms(5)).of("get")),
            Box::new(Kafka::new()),
            Box::new(Linearizability::per_key(Register::starting_at(json!({"v": 1})))),
            Box::new(LongFork::new()),
            Box::new(slo.per_window(ms(100)).lasting(ms(50))),
            Box::new(MetricSlo::latency(Percentile::P99_9, ms(3)).only(["read"]).at_least(9)),
            Box::new(MonotonicRead::at("/version").reading(&["get"])),
            Box::new(NoLostAck::append_only()),
            Box::new(PrefixOrder::views().in_flight(4).gaps_allowed()),
            Box::new(ReconciliationAcrossReplicas::of_reads(["n1", "n2"], ms(10))),
            Box::new(ReplayEquivalence::of_log()),
            Box::new(SequentialConsistency::whole(MapModel::starting_at(json!(0))).effort(10)),
            Box::new(Serializability::list_append().at(Level::named("snapshot-isolation").expect("known"))),
            Box::new(Serializability::register(KeyOrder { linearizable: true, ..KeyOrder::default() })),
            Box::new(SessionConsistency::by_versions("/tag").across_keys().only(&[Guarantee::MonotonicReads])),
            Box::new(SessionConsistency::by_values().ignoring_real_time()),
            Box::new(Set::each_client()),
            Box::new(SetFull::new()),
            Box::new(StatisticalBaseline::new(Percentile::P99, vec![vec![1.0]], vec![vec![2.0]]).tolerance(0.1)),
            Box::new(Subkeys::new()),
            Box::new(TotalQueue::new()),
            Box::new(UniqueIds::new()),
        ]
    }

    #[test]
    fn every_checker_without_code_is_made_again_with_the_settings_that_it_had() {
        let (mut seen, mut settings) = (BTreeSet::new(), BTreeSet::new());
        for checker in all() {
            let recipe = checker.recipe().unwrap_or_else(|| panic!("{} has a recipe", checker.name()));
            // As it comes back from a file.
            let read = serde_json::from_str(&recipe.to_string()).expect("JSON");
            let again = rebuild(&read).unwrap_or_else(|why| panic!("{}: {why}", checker.name()));
            assert_eq!((again.name(), again.model()), (checker.name(), checker.model()));
            assert_eq!(again.cannot_detect(), checker.cannot_detect());
            assert_eq!(again.recipe().as_ref(), Some(&recipe), "{}", checker.name());
            assert!(settings.insert(recipe.to_string()), "{recipe}: settings are told apart");
            seen.insert(checker.name().to_owned());
        }
        // These hold code of their authors.
        let code = ["property-assertion", "invariant-over-final-state", "differential"];
        for checker in names::CHECKERS.iter().filter(|checker| !code.contains(&checker.id)) {
            assert!(seen.contains(checker.id), "{} has no row here", checker.id);
        }
    }

    #[test]
    fn models_keep_their_settings() {
        let check = |checker: Box<dyn Checker>| {
            let recipe = checker.recipe().expect("a recipe");
            let again = rebuild(&recipe).expect("made");
            assert_eq!((again.recipe(), again.model()), (Some(recipe), checker.model()));
        };
        check(Box::new(Linearizability::whole(CasRegister::starting_at(json!(3)))));
        check(Box::new(Linearizability::whole(Counter::starting_at(3))));
        check(Box::new(Linearizability::whole(Kv::starting_at("x"))));
        check(Box::new(Linearizability::whole(Lease::lasting(Duration::from_secs(3)))));
        check(Box::new(Linearizability::whole(Ledger::starting_at(3))));
        check(Box::new(Linearizability::whole(Mutex::reentrant())));
        check(Box::new(Linearizability::whole(Log::new())));
        check(Box::new(Linearizability::whole(MembershipTable::starting_with(["n1"]))));
        check(Box::new(Linearizability::whole(MultiRegister::starting_at(json!(0)))));
        check(Box::new(Linearizability::whole(Queue::new())));
        check(Box::new(Linearizability::whole(Session::new())));
        check(Box::new(Linearizability::whole(SetModel::new())));
        check(Box::new(Linearizability::whole(Stack::new())));
    }

    #[test]
    fn code_has_no_recipe() {
        let check = |checker: &dyn Checker| assert_eq!(checker.recipe(), None, "{}", checker.name());
        check(&Exclusion::locks().held_by(|op| op.node_seen.clone()));
        check(&Fairness::by(Dimension::User, |_| None).no_errors());
        check(&MonotonicRead::by(|_| Some(Version(1, 0))));
        check(&Invariant::at_every_step(0, |_: &mut i32, _| Ok(())));
        check(&Compose::new("both").with(Set::new()).with(Exclusion::locks().held_by(|_| None)));
    }

    #[test]
    fn what_this_version_does_not_know_is_refused() {
        let check = |recipe: Value, expect: &str| {
            let said = rebuild(&recipe).map(|checker| checker.name().to_owned()).expect_err("refused");
            assert!(said.contains(expect), "{said}");
        };
        check(json!(null), "no recipe");
        check(json!({"make": "oracle-of-delphi"}), "`oracle-of-delphi`");
        check(json!({"make": "no-lost-ack", "of": {"kind": "Sometimes"}}), "settings that this version does not know");
        check(json!({"make": "linearizability", "of": {"model": {"make": "tape"}, "per_key": true}}), "a model `tape`");
        check(json!({"make": "compose", "of": {"name": "x", "parts": [{"make": "y"}]}}), "`y`");
    }
}
