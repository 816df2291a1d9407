//! Negative controls on real processes: what is recorded of one that is tried well, in each wrong way, or not at all.

use super::tests::{AllOk, CONTROL, final_ping, record, workload};
use super::*;
use crate::cluster::tiny;
use crate::verdict::{End, RunRecord};
use anyhow::Result;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(2);

/// Reads the secret; `denied` is a refusal.
async fn secret(address: SocketAddr, who: &str) -> Result<Value, CallError> {
    let answer = tiny::ask(address, &format!("secret as {who}")).await;
    match answer.map_err(|error| CallError::Unknown(format!("{error:#}")))?.as_str() {
        "denied" => Err(CallError::Refused("denied".into())),
        answer => Ok(json!(answer)),
    }
}

async fn page(client: &Client) -> Result<String> {
    Ok(format!("timeouts {}", tiny::ask(client.addr(), "timeouts").await?))
}

async fn twin(control: &mut Control) {
    let asking = secret(control.addr(), "its owner");
    control.permitted("read", "secret", Value::Null, DEADLINE, asking).await;
}

/// A whole scenario whose final reads of node `n1` are `trial`.
async fn scenario<F, Fut>(run: Run, trial: F) -> Result<Judged>
where
    F: Fn(Client) -> Fut + Send + Sync + Clone + 'static,
    Fut: Future<Output = Result<()>> + Send + 'static,
{
    let workload = workload(&run).await?;
    let landed = workload.faults().none("it is about access").await;
    let reads = move |client: Client| {
        let trial = trial.clone();
        async move { if client.node() == "n1" { trial(client).await } else { final_ping(client).await } }
    };
    let history = workload.stop(reads).await?;
    run.oracle(history).check(AllOk).judge(landed)
}

/// What the one trial of `record` showed.
fn shown(record: &RunRecord) -> (&'static str, String) {
    assert_eq!((&record.end, record.controls.len()), (&End::Judged, 1), "{record:#?}");
    let (word, why) = record.controls[0].result.told();
    (word, why.to_owned())
}

#[test]
fn a_control_that_is_denied_after_its_twin_holds_and_its_data_is_on_record() {
    async fn trial(client: Client) -> Result<()> {
        let mut control = client.control("somebody reads\n  what the owner keeps")?;
        twin(&mut control).await;
        let asking = secret(control.addr(), "somebody");
        control.refused("read", "secret", Value::Null, DEADLINE, asking).await;
        control.unseen("timeouts", "timeouts", page(&client)).await;
        drop(control);
        final_ping(client).await
    }
    let (record, dir) = record(|run| Box::pin(scenario(run, trial)), 1);
    let (word, why) = shown(&record);
    assert_eq!(word, "held", "{why}");
    let control = &record.controls[0];
    assert_eq!((control.control.as_str(), control.twins[0].op.output.clone()), (CONTROL, json!("secret-of-the-owner")));
    assert_eq!((control.attempts[0].exchange.sent, control.attempts[0].exchange.received), (19, 7));
    assert_eq!(record.history_weak, Vec::<String>::new());
    let text = std::fs::read_to_string(dir.path().join("run/control-1-1.txt")).expect("what was read is kept");
    assert!(text.starts_with("timeouts "), "{text}");
    let events = std::fs::read_to_string(dir.path().join("run/events.jsonl")).expect("events");
    assert!(events.contains("negative control: held"), "{events}");
    let history = std::fs::read_to_string(dir.path().join("run/history.jsonl")).expect("a history");
    assert!(!history.contains("secret"), "checkers judge the workload");
}

#[test]
fn a_control_that_is_only_said_to_be_denied_shows_nothing() {
    async fn trial(client: Client) -> Result<()> {
        let mut control = client.control(CONTROL)?;
        twin(&mut control).await;
        let pretended = async { Err(CallError::Refused("denied, believe me".into())) };
        control.refused("read", "secret", Value::Null, DEADLINE, pretended).await;
        control.unseen("timeouts", "timeouts", page(&client)).await;
        Ok(())
    }
    let (record, _dir) = record(|run| Box::pin(scenario(run, trial)), 1);
    let (word, why) = shown(&record);
    assert_eq!(word, "not shown");
    assert!(why.contains("nothing was sent to the node on the control's link"), "{why}");
}

#[test]
fn a_control_that_is_granted_or_tried_by_half_is_on_record_as_that() {
    async fn granted(client: Client) -> Result<()> {
        let mut control = client.control(CONTROL)?;
        twin(&mut control).await;
        let asking = secret(control.addr(), "its owner");
        control.refused("read", "secret", Value::Null, DEADLINE, asking).await;
        Ok(())
    }
    async fn half(client: Client) -> Result<()> {
        drop(client.control(CONTROL)?);
        Ok(())
    }
    let (record_of_granted, _dir) = record(|run| Box::pin(scenario(run, granted)), 1);
    assert_eq!(shown(&record_of_granted).0, "granted");
    assert!(crate::verdict::violates(&record_of_granted));
    let (record_of_half, _dir) = record(|run| Box::pin(scenario(run, half)), 1);
    assert_eq!(shown(&record_of_half), ("not shown", "nothing was attempted".to_owned()));
}

#[test]
fn a_control_that_nobody_declared_is_refused_and_the_oracle_never_judges() {
    async fn trial(client: Client) -> Result<()> {
        drop(client.control("somebody writes what the owner keeps")?);
        Ok(())
    }
    let (record, _dir) = record(|run| Box::pin(scenario(run, trial)), 1);
    let End::Error { message } = &record.end else { panic!("{:?}", record.end) };
    assert!(message.contains("no declared negative control") && message.contains(CONTROL), "{message}");
    assert_eq!(record.controls, []);
}
