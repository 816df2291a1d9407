//! Nemeses that have nodes run another variant of their program: mixed versions, and upgrades while the workload runs.

use super::contract::{at, names};
use super::{BoxFuture, Nemesis, Plane};
use anyhow::{Result, bail};
use std::collections::BTreeMap;

/// `mixed-version-cluster`: nodes run another variant of their program ([`crate::cluster::Program::variant`]) until the heal,
/// which takes them back to what they ran.
///
/// Mechanism: one node after the other is stopped by SIGTERM and started as the variant, on its data. Evidence:
/// `process-upgraded`, counted when a node is ready with a binary of another SHA-256 than the one before; a variant of the
/// same binary moves nothing. Which binary each node ran stands in the record. Needs: data that both versions read.
#[derive(Debug)]
pub struct MixedVersion {
    nodes: Vec<String>,
    variant: String,
    before: BTreeMap<String, Option<String>>,
}

/// `rolling-upgrade`: one node after the other is moved to another variant of its program
/// ([`crate::cluster::Program::variant`]), each only when the one before is ready. They stay there.
///
/// Mechanism and evidence as for [`MixedVersion`]. Cleanup: the heal finishes an upgrade that was cut short. The fault acts
/// while it is injected: hold it only as long as its victims' signals need.
#[derive(Debug)]
pub struct RollingUpgrade {
    nodes: Vec<String>,
    variant: String,
}

impl MixedVersion {
    /// `nodes` run the variant `variant`.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>, variant: impl Into<String>) -> MixedVersion {
        MixedVersion { nodes: names(nodes), variant: variant.into(), before: BTreeMap::new() }
    }
}

impl RollingUpgrade {
    /// `nodes` are moved to `variant`, in this order.
    pub fn new<S: Into<String>>(nodes: impl IntoIterator<Item = S>, variant: impl Into<String>) -> RollingUpgrade {
        RollingUpgrade { nodes: names(nodes), variant: variant.into() }
    }
}

/// Stops `node`, if it runs, and starts it as `variant`.
async fn move_to(node: &str, variant: Option<&str>, plane: &Plane) -> Result<()> {
    if plane.nodes().runs(node) {
        plane.nodes().terminate(node).await?;
    }
    plane.nodes().start_as(node, variant).await
}

async fn move_all(nodes: &[String], variant: &str, plane: &Plane) -> Result<()> {
    if nodes.is_empty() {
        bail!("no node is named: the fault would do nothing");
    }
    for node in nodes {
        if plane.nodes().variant(node)?.as_deref() == Some(variant) {
            bail!("{node} runs `{variant}` already: the fault would do nothing");
        }
        move_to(node, Some(variant), plane).await?;
    }
    Ok(())
}

impl Nemesis for MixedVersion {
    fn name(&self) -> &str {
        "mixed-version-cluster"
    }

    fn detail(&self) -> String {
        format!("{} as `{}`", self.nodes.join(", "), self.variant)
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("process-upgraded", &self.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            for node in &self.nodes {
                self.before.insert(node.clone(), plane.nodes().variant(node)?);
            }
            move_all(&self.nodes, &self.variant, plane).await
        })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut failed = Ok(());
            for (node, before) in &self.before {
                if !plane.nodes().runs(node) || plane.nodes().variant(node)? != *before {
                    failed = failed.and(move_to(node, before.as_deref(), plane).await);
                }
            }
            failed
        })
    }
}

impl Nemesis for RollingUpgrade {
    fn name(&self) -> &str {
        "rolling-upgrade"
    }

    fn detail(&self) -> String {
        format!("{} to `{}`, one after the other", self.nodes.join(", "), self.variant)
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at("process-upgraded", &self.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(move_all(&self.nodes, &self.variant, plane))
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut failed = Ok(());
            for node in &self.nodes {
                let there = plane.nodes().variant(node)?.as_deref() == Some(&self.variant);
                if !there || !plane.nodes().runs(node) {
                    failed = failed.and(move_to(node, Some(&self.variant), plane).await);
                }
            }
            failed
        })
    }
}
