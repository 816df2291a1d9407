//! Faults that are not what they say.

use crate::store::{self, FAULTS_OVER, UNDER_FAULT};
use crate::{body, on, sabotage};
use disttest_runtime::prelude::*;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The faults of the plan: n1 is cut off from the others.
pub(crate) async fn faults(run: &Run, workload: &Workload) -> Result<Landed> {
    let faults = workload.faults();
    match sabotage() {
        "faults-none" => return Ok(faults.none("the network is reliable").await),
        "fault-never-injected" => return Ok(faults.settle().await),
        _ if store::disk_of_much().is_some() => return leaving_much(workload).await,
        _ => {}
    }
    let windows = if on("one-window-of-the-budget") { 1 } else { run.budget().faults };
    for _ in 0..windows {
        let injected = faults.inject(fault(run)).await?;
        UNDER_FAULT.store(true, Ordering::Relaxed);
        if on("node-killed-under-the-fault") {
            body::kill("-9", body::pid_of(run, "n3")?)?;
        }
        if !on("healed-at-once") {
            injected.hold_for(Duration::from_secs(2)).await;
        }
        injected.heal().await?;
        UNDER_FAULT.store(false, Ordering::Relaxed);
    }
    let landed = faults.settle().await;
    FAULTS_OVER.store(true, Ordering::Relaxed);
    Ok(landed)
}

/// Faults that would stay with whoever suffers them, one on top of the other, for whoever kills the run meanwhile.
async fn leaving_much(workload: &Workload) -> Result<Landed> {
    let faults = workload.faults();
    let kinds: [fn() -> Box<dyn Nemesis>; 3] = [
        || Box::new(Pause::new(["n1"])),
        || Box::new(CgroupFreeze::new(["n2"])),
        || Box::new(CpuThrottle::new(["n3"], 20)),
    ];
    for fault in kinds {
        let injected = faults.inject(fault()).await?;
        injected.hold_for(Duration::from_millis(800)).await;
        injected.heal().await?;
    }
    Ok(faults.settle().await)
}

fn fault(run: &Run) -> Box<dyn Nemesis> {
    let others: Vec<String> = run.nodes().into_iter().filter(|node| node != "n1").collect();
    let partition = FullPartition::new(["n1"], others);
    match sabotage() {
        "another-fault-than-planned" => Box::new(Pause::new(["n1"])),
        "partition-not-applied"
        | "partition-in-part"
        | "injection-fails"
        | "injection-error-swallowed"
        | "not-healed" => Box::new(Ghost(partition)),
        _ => Box::new(partition),
    }
}

/// Claims what a partition claims, and does something else.
struct Ghost(FullPartition);

impl Nemesis for Ghost {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn detail(&self) -> String {
        self.0.detail()
    }

    fn victims(&self) -> Vec<String> {
        self.0.victims()
    }

    fn injector(&self) -> Vec<(String, String)> {
        self.0.injector()
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match sabotage() {
                // n2 is cut off from n1; n3 is not.
                "partition-in-part" => FullPartition::new(["n1"], ["n2"]).inject(plane).await,
                "not-healed" => self.0.inject(plane).await,
                "injection-fails" => FullPartition::new(["n1"], ["n9"]).inject(plane).await,
                "injection-error-swallowed" => {
                    let _ = FullPartition::new(["n1"], ["n9"]).inject(plane).await;
                    Ok(())
                }
                _ => Ok(()),
            }
        })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match sabotage() {
                "partition-in-part" => self.0.heal(plane).await,
                _ => Ok(()),
            }
        })
    }
}
