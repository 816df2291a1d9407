//! Nemeses that act together, and injections that wait for their event, on real processes.

use super::tests::{AllOk, Ghost, final_ping, no_process_is_left, record, record_of_landing, workload};
use super::*;
use crate::cluster::tiny;
use crate::nemesis::{FullPartition, HardKill, InTurn, Nemesis, Pause, Together, Trigger, read_journal};
use crate::verdict::{End, RunRecord};
use anyhow::Result;
use std::time::Duration;

fn cut() -> FullPartition {
    FullPartition::new(["n1"], ["n2", "n3"])
}

/// A whole scenario under `nemesis`, which waits for `trigger`, if any.
async fn scenario(run: Run, nemesis: impl Nemesis + 'static, trigger: Option<Trigger>) -> Result<Judged> {
    let workload = workload(&run).await?;
    let landed = {
        let faults = workload.faults();
        let injected = match trigger {
            Some(trigger) => faults.when(trigger).inject(nemesis).await?,
            None => faults.inject(nemesis).await?,
        };
        injected.hold_for(Duration::from_millis(1500)).await;
        injected.heal().await?;
        faults.settle().await
    };
    let history = workload.stop(final_ping).await?;
    run.oracle(history).check(AllOk).judge(landed)
}

fn landed(record: &RunRecord, name: &str, parts: &[&str]) {
    assert_eq!(record.end, End::Judged, "{record:#?}");
    let window = &record.windows[0];
    assert!(window.landed && window.recovered, "{window:#?}");
    assert_eq!(window.nemesis, name);
    assert_eq!(window.parts.iter().map(|part| part.nemesis.as_str()).collect::<Vec<_>>(), parts);
    assert_eq!((record.measured.faults, record.injections), (1, 1));
    assert_eq!(record.deaths, []);
}

fn caught(body: fn(Run) -> ScenarioFuture, why: &str) -> RunRecord {
    let (record, dir) = record(body, 1);
    assert_eq!(record.end, End::Judged, "{record:#?}");
    let window = &record.windows[0];
    assert!(!window.landed, "{window:#?}");
    let said = format!("{} {}", window.injector.why, window.victim.why);
    assert!(said.contains(why), "`{why}` in {said}");
    assert_eq!(record.measured.faults, 0);
    assert_eq!(record.deaths, []);
    no_process_is_left(dir.path());
    record
}

#[test]
fn a_partition_and_a_kill_act_at_once_and_each_lands() {
    fn both() -> Together {
        Together::new(cut(), HardKill::new(["n2"]))
    }
    let (record, dir) = record_of_landing(|run| Box::pin(scenario(run, both(), None)), 4);
    landed(&record, "full-partition + hard-kill", &["full-partition", "hard-kill"]);
    assert!(record.windows[0].parts[1].injector.signal.as_deref().is_some_and(|s| s == "process-exit at n2"));
    no_process_is_left(dir.path());
}

#[test]
fn a_kill_while_a_partition_acts_waits_for_what_the_log_says() {
    // A peer of n1 is silent once n1 is cut off; n2 is killed then.
    fn both() -> Box<dyn Nemesis> {
        let silent = Trigger::log("n1", "a peer is silent");
        Box::new(InTurn::new(cut(), HardKill::new(["n2"])).when(silent))
    }
    let (record, dir) = record_of_landing(|run| Box::pin(scenario(run, both(), None)), 4);
    landed(&record, "full-partition + hard-kill", &["full-partition", "hard-kill"]);
    let occasion = record.windows[0].parts[1].occasion.as_ref().expect("it waited");
    assert!(occasion.seen_at.is_some() && occasion.evidence.contains("a peer is silent"), "{occasion:?}");
    no_process_is_left(dir.path());
}

#[test]
fn a_part_that_does_nothing_is_caught_whatever_the_other_does() {
    caught(|run| Box::pin(scenario(run, Together::new(cut(), Ghost(HardKill::new(["n2"]))), None)), "hard-kill: ");
    caught(|run| Box::pin(scenario(run, Together::new(Ghost(cut()), HardKill::new(["n2"])), None)), "full-partition: ");
    caught(|run| Box::pin(scenario(run, InTurn::new(cut(), Ghost(Pause::new(["n2"]))), None)), "pause: ");
    let hidden = caught(
        |run| Box::pin(scenario(run, Ghost(Together::new(cut(), HardKill::new(["n2"]))), None)),
        "process-exit at n2: absent",
    );
    hidden.windows.iter().for_each(|window| assert!(window.parts.is_empty()));
}

#[test]
fn parts_that_cannot_be_told_apart_are_refused_before_anything_acts() {
    let unharmed =
        |record: RunRecord| assert_eq!((record.injections, record.operations.unknown), (1, 0), "{record:#?}");
    unharmed(caught(
        |run| Box::pin(scenario(run, Together::new(cut(), Pause::new(["n1"])), None)),
        "`full-partition` has no victim of its own",
    ));
    unharmed(caught(
        |run| Box::pin(scenario(run, Together::new(cut(), FullPartition::new(["n2"], ["n1"])), None)),
        "two parts act at link n1->n2",
    ));
}

#[test]
fn an_error_in_one_part_takes_the_others_back() {
    async fn body(run: Run) -> Result<Judged> {
        let workload = workload(&run).await?;
        let address = workload.cluster().client_address("n1").expect("a node");
        let landed = {
            let faults = workload.faults();
            let injected = faults.inject(Together::new(Pause::new(["n1"]), HardKill::new(["n9"]))).await?;
            tiny::ping(address).await?;
            injected.heal().await?;
            let injected = faults.inject(InTurn::new(Pause::new(["n1"]), HardKill::new(["n9"])).then(cut())).await?;
            tiny::ping(address).await?;
            injected.heal().await?;
            faults.settle().await
        };
        let history = workload.stop(final_ping).await?;
        run.oracle(history).check(AllOk).judge(landed)
    }
    let (record, dir) = record(|run| Box::pin(body(run)), 1);
    assert_eq!((record.end.clone(), record.windows.len()), (End::Judged, 2), "{record:#?}");
    for window in &record.windows {
        assert!(!window.landed && window.injector.why.contains("`n9` is no node"), "{window:#?}");
    }
    assert!(record.windows[1].parts[2].injector.why.contains("not injected"), "{:#?}", record.windows[1]);
    let resumed = |act: &crate::nemesis::Act| matches!(act, crate::nemesis::Act::Resumed { .. });
    assert_eq!(read_journal(&dir.path().join("run")).expect("a journal").iter().filter(|act| resumed(act)).count(), 2);
    no_process_is_left(dir.path());
}

#[test]
fn an_injection_waits_for_its_event() {
    fn after_ten() -> Option<Trigger> {
        Some(Trigger::acknowledged(10).by("n2").of("read").within(Duration::from_secs(20)))
    }
    let (record, _dir) = record_of_landing(|run| Box::pin(scenario(run, Pause::new(["n3"]), after_ten())), 4);
    landed(&record, "pause", &[]);
    let occasion = record.windows[0].occasion.as_ref().expect("it waited");
    assert_eq!(occasion.event, "10 `read` operations acknowledged by n2");
    assert!(occasion.seen_at.is_some_and(|seen| seen > occasion.from), "{occasion:?}");
    fn up() -> Option<Trigger> {
        Some(Trigger::answers("somebody leads", || async { Ok(Some("n2 leads")) }))
    }
    let (record, dir) = record_of_landing(|run| Box::pin(scenario(run, Pause::new(["n3"]), up())), 4);
    assert_eq!(record.windows[0].occasion.as_ref().map(|o| o.evidence.as_str()), Some("n2 leads"));
    let events = std::fs::read_to_string(dir.path().join("run/events.jsonl")).expect("events");
    assert!(events.contains("event seen") && events.contains("somebody leads: n2 leads"), "{events}");
}

#[test]
fn an_event_that_never_comes_is_a_window_in_which_nothing_was_injected() {
    let check = |body: fn(Run) -> ScenarioFuture, why: &str| {
        let record = caught(body, why);
        assert_eq!((record.windows.len(), record.injections), (1, 0), "{record:#?}");
        assert!(record.windows[0].missed().is_some() && record.windows[0].recovered);
        assert_eq!(record.operations.unknown, 0, "nothing acted");
    };
    fn soon(trigger: Trigger) -> Option<Trigger> {
        Some(trigger.within(Duration::from_millis(600)))
    }
    fn nobody() -> Trigger {
        Trigger::answers("somebody leads", || async { Ok(None::<String>) })
    }
    check(
        |run| Box::pin(scenario(run, HardKill::new(["n1"]), soon(Trigger::acknowledged(1).of("no such type")))),
        "not injected: event `1 `no such type` operations acknowledged` not seen within 0.6 s (0 since",
    );
    check(|run| Box::pin(scenario(run, HardKill::new(["n1"]), soon(Trigger::log("n1", "never said")))), "none since");
    check(|run| Box::pin(scenario(run, HardKill::new(["n1"]), soon(nobody()))), "the answer is no");
    check(|run| Box::pin(scenario(run, cut(), soon(Trigger::recovered()))), "no fault before this one");
    let record = caught(
        |run| Box::pin(scenario(run, InTurn::new(cut(), HardKill::new(["n2"])).when(never_said()), None)),
        "not seen within 0.6 s",
    );
    assert!(record.windows[0].parts[1].missed().is_some());
}

fn never_said() -> Trigger {
    Trigger::log("n2", "never said").within(Duration::from_millis(600))
}

#[test]
fn a_trigger_that_names_what_is_not_there_is_an_error_of_the_test() {
    let check = |body: fn(Run) -> ScenarioFuture, why: &str| {
        let (record, _dir) = record(body, 1);
        let End::Error { message } = &record.end else { panic!("{:?}", record.end) };
        assert!(message.contains(why), "{message}");
    };
    check(|run| Box::pin(scenario(run, cut(), Some(Trigger::log("n9", "x is said")))), "`n9` is no node");
    check(|run| Box::pin(scenario(run, cut(), Some(Trigger::log("n1", " ")))), "an empty text");
    check(|run| Box::pin(scenario(run, cut(), Some(Trigger::acknowledged(0)))), "waits for nothing");
}
