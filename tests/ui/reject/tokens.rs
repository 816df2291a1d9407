//! What proves that an oracle judged cannot be made by hand, and the order of the steps cannot be changed.

use disttest_runtime::prelude::*;

fn copied(judged: &Judged) -> Judged {
    judged.clone()
}

fn by_default() -> Landed {
    Default::default()
}

async fn judges_without_landing(run: Run, history: Recorded) -> Result<Judged> {
    run.oracle(history).check(NoLostAck::overwritable()).judge()
}

async fn judges_without_history(run: Run, landed: Landed) -> Result<Judged> {
    run.oracle().check(NoLostAck::overwritable()).judge(landed)
}

async fn stops_before_its_faults_are_settled(workload: Workload) -> Result<Landed> {
    let faults = workload.faults();
    workload.stop(|_client: Client| async { Ok(()) }).await?;
    Ok(faults.settle().await)
}

async fn heals_after_settling(workload: &Workload) -> Result<()> {
    let faults = workload.faults();
    let injected = faults.inject(HardKill::new(["n1"])).await?;
    faults.settle().await;
    injected.heal().await
}

fn main() {}
