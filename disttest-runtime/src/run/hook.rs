//! Faults that only the user's own code can make, such as a compaction or an upgrade, each with evidence of its own.

use super::{Probe, Target};
use crate::fault::Shape;
use crate::nemesis::{BoxFuture, Nemesis, Plane};
use anyhow::{Result, bail};
use std::fmt;
use std::future::Future;

type Act = Box<dyn FnMut(Plane) -> BoxFuture<'static, Result<()>> + Send>;

/// What shows, where a hook acts, that it acted: a reading of the system under test or of what the hook works with. There
/// is no hook without one.
///
/// Declare it in the attribute as `injector("hook:<name>")` and hand it to [`super::WorkloadBuilder::evidence`], so that
/// it is read from before the fault on. It is read at each node that the hook names as a victim. What a client sees of
/// the fault is not evidence of the injector's: that is the victim's signal, which is needed beside it.
#[derive(Clone, Debug)]
pub struct Evidence {
    probe: Probe,
}

impl Evidence {
    /// A count that only grows, such as compactions begun; it must grow by at least `dose` while the hook acts.
    pub fn counter<F, Fut>(name: &str, dose: f64, read: F) -> Evidence
    where
        F: Fn(Target) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<f64>> + Send + 'static,
    {
        Evidence { probe: Probe::hook(name, Shape::Counter { dose }, read) }
    }

    /// A level, such as the version that a node says it runs; it must change by `change` (its sign is the direction) while
    /// the hook acts, and come back.
    pub fn level<F, Fut>(name: &str, change: f64, read: F) -> Evidence
    where
        F: Fn(Target) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<f64>> + Send + 'static,
    {
        Evidence { probe: Probe::hook(name, Shape::Gauge { change }, read) }
    }

    /// Something that is absent (0) before and present (1 or more) while the hook acts, such as a restore that is under
    /// way.
    pub fn marker<F, Fut>(name: &str, read: F) -> Evidence
    where
        F: Fn(Target) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<f64>> + Send + 'static,
    {
        Evidence { probe: Probe::hook(name, Shape::Marker, read) }
    }

    /// The declared name it answers to: `hook:compactions`.
    pub fn signal(&self) -> &str {
        self.probe.signal()
    }

    pub(super) fn probe(&self) -> &Probe {
        &self.probe
    }
}

/// A fault that the user's code makes, with the evidence by which it is proven.
///
/// | constructor | nemesis | what the hook does |
/// |---|---|---|
/// | [`Hook::container_restart`] | `container-restart` | restarts the container of a node by its own client |
/// | [`Hook::backup_restore_race`] | `backup-restore-race` | takes a backup and restores it while the workload runs |
/// | [`Hook::mixed_version`] | `mixed-version-cluster` | has some nodes run another version, until the heal |
/// | [`Hook::rolling_upgrade`] | `rolling-upgrade` | moves one node after the other to another version |
/// | [`Hook::config_divergence`] | `config-divergence` | gives some nodes another configuration |
/// | [`Hook::credential_divergence`] | `credential-divergence` | rotates a secret on some nodes only |
/// | [`Hook::compaction`] | `compaction-during-reads` | starts a compaction under reads |
/// | [`Hook::rebalancing`] | `rebalancing-during-writes` | changes membership or placement under writes |
/// | [`Hook::named`] | as named | anything else |
///
/// Cleanup is the hook's own: what it left is taken back by `heal`, which is called on every way out but a SIGKILL of the
/// run; then what it did to the nodes ends with them.
pub struct Hook {
    name: String,
    detail: String,
    victims: Vec<String>,
    evidence: Evidence,
    inject: Act,
    heal: Act,
}

/// The start of a [`Hook`]: what it is called, what proves it, and whom it hits. [`Planned::acts`] makes it whole.
#[derive(Clone, Debug)]
#[must_use = "a hook without acts does nothing"]
pub struct Planned {
    name: String,
    victims: Vec<String>,
    evidence: Evidence,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $function:ident = $name:literal;)*) => {
        impl Hook {
            $($(#[$doc])*
            pub fn $function<S: Into<String>>(evidence: &Evidence, victims: impl IntoIterator<Item = S>) -> Planned {
                Hook::named($name, evidence, victims)
            })*
        }
    };
}

kinds! {
    /// `container-restart` of `victims`.
    container_restart = "container-restart";
    /// `backup-restore-race` at `victims`.
    backup_restore_race = "backup-restore-race";
    /// `mixed-version-cluster`: `victims` run another version.
    mixed_version = "mixed-version-cluster";
    /// `rolling-upgrade` of `victims`.
    rolling_upgrade = "rolling-upgrade";
    /// `config-divergence` of `victims`.
    config_divergence = "config-divergence";
    /// `credential-divergence` of `victims`.
    credential_divergence = "credential-divergence";
    /// `compaction-during-reads` at `victims`.
    compaction = "compaction-during-reads";
    /// `rebalancing-during-writes` at `victims`.
    rebalancing = "rebalancing-during-writes";
}

impl Hook {
    /// A hook with a name of its own.
    pub fn named<S: Into<String>>(
        name: impl Into<String>,
        evidence: &Evidence,
        victims: impl IntoIterator<Item = S>,
    ) -> Planned {
        let victims = victims.into_iter().map(Into::into).collect();
        Planned { name: name.into(), victims, evidence: evidence.clone() }
    }
}

impl Planned {
    /// What the hook does, for people (`detail`), when the fault is let loose and when it is taken back. Both get the
    /// plane: the nodes' processes can be stopped and started by it, and every such act is journaled.
    pub fn acts<I, IFut, H, HFut>(self, detail: impl Into<String>, mut inject: I, mut heal: H) -> Hook
    where
        I: FnMut(Plane) -> IFut + Send + 'static,
        IFut: Future<Output = Result<()>> + Send + 'static,
        H: FnMut(Plane) -> HFut + Send + 'static,
        HFut: Future<Output = Result<()>> + Send + 'static,
    {
        Hook {
            name: self.name,
            detail: detail.into(),
            victims: self.victims,
            evidence: self.evidence,
            inject: Box::new(move |plane| Box::pin(inject(plane))),
            heal: Box::new(move |plane| Box::pin(heal(plane))),
        }
    }
}

impl Nemesis for Hook {
    fn name(&self) -> &str {
        &self.name
    }

    fn detail(&self) -> String {
        format!("{} ({})", self.detail, self.victims.join(", "))
    }

    fn victims(&self) -> Vec<String> {
        self.victims.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        let signal = self.evidence.signal();
        self.victims.iter().map(|victim| (signal.to_owned(), victim.clone())).collect()
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.victims.is_empty() {
                bail!("no victim is named: nothing could show that the fault acted");
            }
            (self.inject)(plane.clone()).await
        })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        (self.heal)(plane.clone())
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").field("name", &self.name).field("detail", &self.detail).finish_non_exhaustive()
    }
}
