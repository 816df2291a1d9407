//! Schedules that are followed on real processes, and quiescence that is shown.

use super::tests::{AllOk, final_ping, no_process_is_left, pings, record, record_of_landing, workload};
use super::*;
use crate::cluster::tiny;
use crate::fault::{FaultBudget, Kind};
use crate::nemesis::{FullPartition, Nemesis, Pause};
use crate::verdict::End;
use anyhow::Result;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[test]
fn a_schedule_is_followed_within_its_budget() {
    async fn body(run: Run) -> Result<Judged> {
        let budget = FaultBudget::new(run.nodes(), 2, Duration::from_secs(8));
        let schedule = run.schedule(&[Kind::passing("cut", 1), Kind::owing("pause", 1)], &budget)?;
        let workload = workload(&run).await?;
        let landed = {
            let (faults, all) = (workload.faults(), run.nodes());
            let fault = |kind: &&str, nodes: &[String]| -> Box<dyn Nemesis> {
                match *kind {
                    "cut" => {
                        let rest = all.iter().filter(|node| !nodes.contains(node)).cloned();
                        Box::new(FullPartition::new(nodes.to_vec(), rest))
                    }
                    _ => Box::new(Pause::new(nodes.to_vec())),
                }
            };
            faults.follow(schedule, fault).await?;
            faults.settle().await
        };
        let history = workload.stop(final_ping).await?;
        run.oracle(history).check(AllOk).judge(landed)
    }
    let (record, dir) = record_of_landing(|run| Box::pin(body(run)), 4);
    assert_eq!(record.end, End::Judged, "{record:#?}");
    let landed = record.windows.iter().filter(|window| window.landed).map(|window| window.nemesis.as_str());
    assert_eq!(landed.collect::<BTreeSet<_>>(), BTreeSet::from(["full-partition", "pause"]), "{:#?}", record.windows);
    assert!(record.quiescence.as_ref().is_some_and(|rest| rest.reached && rest.evidence.contains("n1, n2, n3 answer")));
    no_process_is_left(dir.path());
}

/// A run without a fault, which is at rest when `rest` says so.
async fn at_rest(run: Run, rest: Quiescent) -> Result<Judged> {
    let cluster = run.cluster(tiny::program()).await?;
    let workload = run.workload(cluster).clients(3).quiescent(rest).start(pings).await?;
    let landed = workload.faults().none("it is about the time after them").await;
    let history = workload.stop(final_ping).await?;
    run.oracle(history).check(AllOk).judge(landed)
}

#[test]
fn final_reads_wait_for_what_must_be_stable() {
    fn counts_to_five() -> Quiescent {
        let reads = AtomicU64::new(0);
        Quiescent::new().stable("index", 3, move || {
            let read = reads.fetch_add(1, Ordering::Relaxed).min(5);
            async move { Ok(read) }
        })
    }
    let (record, _dir) = record(|run| Box::pin(at_rest(run, counts_to_five())), 1);
    assert_eq!((record.end.clone(), record.history_weak.len()), (End::Judged, 0), "{record:#?}");
    let rest = record.quiescence.expect("it was waited for");
    assert!(rest.reached && rest.evidence.contains("index: `5` 3 times in a row"), "{rest:?}");
}

#[test]
fn a_system_that_does_not_come_to_rest_makes_the_history_weak() {
    fn restless() -> Quiescent {
        let reads = AtomicU64::new(0);
        let ask = move || {
            let read = reads.fetch_add(1, Ordering::Relaxed);
            async move { Ok(read) }
        };
        Quiescent::new().stable("index", 1, ask).within(Duration::from_millis(700))
    }
    fn mute() -> Quiescent {
        let ask = || async { anyhow::bail!("not now") as Result<u64> };
        Quiescent::new().stable("index", 2, ask).within(Duration::from_millis(700))
    }
    let check = |body: fn(Run) -> ScenarioFuture, why: &str| {
        let (record, _dir) = record(body, 1);
        assert_eq!(record.end, End::Judged, "{record:#?}");
        let rest = record.quiescence.as_ref().expect("it was waited for");
        assert!(!rest.reached && rest.evidence.contains(why), "{rest:?}");
        assert!(record.history_weak.iter().any(|weak| weak.starts_with("not quiescent")), "{:?}", record.history_weak);
    };
    check(|run| Box::pin(at_rest(run, restless())), "1 times in a row, 2 are needed");
    check(|run| Box::pin(at_rest(run, mute())), "index: not now");
}
