//! Faults on pods, workloads and machines of a Kubernetes cluster.

use super::client::Client;
use super::fault::{Look, Seen, Step, heal_all};
use crate::nemesis::contract::at;
use crate::nemesis::{BoxFuture, Nemesis, Plane};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// A namespace of a Kubernetes cluster, by `kubectl`.
#[derive(Clone, Debug)]
pub struct Kubernetes {
    client: Client,
    scope: Vec<String>,
}

impl Kubernetes {
    /// The namespace `name`, by the `kubectl` on PATH and its current context.
    pub fn namespace(name: impl Into<String>) -> Kubernetes {
        let client = Client::new("kubectl", "https://kubernetes.io/docs/tasks/tools/");
        Kubernetes { client, scope: vec!["--namespace".to_owned(), name.into()] }
    }

    /// Another context than the current one.
    #[must_use]
    pub fn context(mut self, name: impl Into<String>) -> Kubernetes {
        self.scope.extend(["--context".to_owned(), name.into()]);
        self
    }

    /// Another client that understands the same commands, or a path.
    #[must_use]
    pub fn client(mut self, program: impl Into<PathBuf>) -> Kubernetes {
        self.client = Client::new(program, "install the client that the test names");
        self
    }

    fn line(&self, args: &[&str]) -> Vec<String> {
        self.scope.iter().cloned().chain(args.iter().map(|arg| (*arg).to_owned())).collect()
    }

    /// The object `kind/name`; `None` when there is none.
    fn get(&self, object: &str) -> Result<Option<Value>> {
        let text = self.client.ask(&self.line(&["get", object, "--ignore-not-found", "--output", "json"]))?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        serde_json::from_str(&text).map(Some).with_context(|| format!("what `get {object}` printed"))
    }
}

/// What is done, and to what.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    DeletePod,
    ScaleDown { replicas: u64 },
    Cordon,
}

/// Faults by `kubectl`, each read back by `kubectl get -o json`.
///
/// | constructor | nemesis | command | evidence | cleanup |
/// |---|---|---|---|---|
/// | [`KubeFault::delete_pod`] | `pod-delete` | `delete pod` | `kube-pod-deleted`: no such pod, or another uid | waits until a pod of the name is Running and ready |
/// | [`KubeFault::scale_down`] | `scale-down` | `scale` | `kube-scaled-down`: so many replicas are asked for and ready | `scale` to as many as before |
/// | [`KubeFault::cordon`] | `cordon` | `cordon` | `kube-node-cordoned`: spec.unschedulable is true | `uncordon` |
///
/// A cordon alone hurts nobody: let it act with a pod that is deleted ([`crate::nemesis::InTurn`]). Needs: `kubectl` and the
/// right to do this in the namespace.
#[derive(Debug)]
pub struct KubeFault {
    kubernetes: Kubernetes,
    kind: Kind,
    /// (node of the cluster, object).
    targets: Vec<(String, String)>,
    steps: Vec<Step>,
}

impl KubeFault {
    fn new(kubernetes: &Kubernetes, kind: Kind, node: impl Into<String>, object: String) -> KubeFault {
        KubeFault { kubernetes: kubernetes.clone(), kind, targets: vec![(node.into(), object)], steps: Vec::new() }
    }

    /// Deletes the pod `name`, which is `node`. Its workload must make one of the same name again, as a StatefulSet does.
    pub fn delete_pod(kubernetes: &Kubernetes, node: impl Into<String>, name: &str) -> KubeFault {
        KubeFault::new(kubernetes, Kind::DeletePod, node, format!("pod/{name}"))
    }

    /// Scales `workload` (`statefulset/store`) down to `replicas`, which takes `node` away.
    pub fn scale_down(kubernetes: &Kubernetes, node: impl Into<String>, workload: &str, replicas: u64) -> KubeFault {
        KubeFault::new(kubernetes, Kind::ScaleDown { replicas }, node, workload.to_owned())
    }

    /// Has nothing more scheduled on the machine `machine`, where `node` runs.
    pub fn cordon(kubernetes: &Kubernetes, node: impl Into<String>, machine: &str) -> KubeFault {
        KubeFault::new(kubernetes, Kind::Cordon, node, format!("node/{machine}"))
    }

    fn signal(&self) -> &'static str {
        match self.kind {
            Kind::DeletePod => "kube-pod-deleted",
            Kind::ScaleDown { .. } => "kube-scaled-down",
            Kind::Cordon => "kube-node-cordoned",
        }
    }

    fn step(kubernetes: &Kubernetes, kind: &Kind, node: &str, object: &str) -> Result<Step> {
        let before = kubernetes.get(object)?.with_context(|| format!("there is no {object}"))?;
        let name = object.rsplit('/').next().unwrap_or(object);
        let (act, undo) = match kind {
            Kind::DeletePod => (kubernetes.line(&["delete", object, "--wait=false"]), Vec::new()),
            Kind::ScaleDown { replicas } => {
                let asked = before["spec"]["replicas"].as_u64().with_context(|| format!("{object} has no replicas"))?;
                if asked <= *replicas {
                    bail!("{object} has {asked} replicas: it cannot be scaled down to {replicas}");
                }
                let scale = |to: u64| kubernetes.line(&["scale", object, &format!("--replicas={to}")]);
                (scale(*replicas), scale(asked))
            }
            Kind::Cordon => (kubernetes.line(&["cordon", name]), kubernetes.line(&["uncordon", name])),
        };
        let (kubernetes, kind, object) = (kubernetes.clone(), kind.clone(), object.to_owned());
        let look: Look = Arc::new(move || Ok(seen(&kind, &before, kubernetes.get(&object)?.as_ref())));
        Ok(Step::new(node, act, undo, look))
    }
}

fn seen(kind: &Kind, before: &Value, now: Option<&Value>) -> Seen {
    let Some(now) = now else {
        let acts = *kind == Kind::DeletePod;
        return Seen { acts, well: false, what: "no such object".to_owned() };
    };
    match kind {
        Kind::DeletePod => {
            let (uid, phase) = (&now["metadata"]["uid"], now["status"]["phase"].as_str().unwrap_or("unknown"));
            let conditions = now["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
            let ready = conditions.iter().any(|it| it["type"] == "Ready" && it["status"] == "True");
            let leaving = !now["metadata"]["deletionTimestamp"].is_null();
            let restarts = &now["status"]["containerStatuses"][0]["restartCount"];
            Seen {
                acts: uid.is_string() && *uid != before["metadata"]["uid"],
                well: phase == "Running" && ready && !leaving,
                what: format!(
                    "uid {uid}, {phase}, ready: {ready}, being deleted: {leaving}, restarted {restarts} times"
                ),
            }
        }
        Kind::ScaleDown { replicas } => {
            let asked = now["spec"]["replicas"].as_u64();
            let ready = now["status"]["readyReplicas"].as_u64().unwrap_or(0);
            let wanted = before["spec"]["replicas"].as_u64();
            Seen {
                acts: asked == Some(*replicas) && ready <= *replicas,
                well: asked == wanted && Some(ready) == wanted,
                what: format!("{asked:?} replicas are asked for, {ready} are ready"),
            }
        }
        Kind::Cordon => {
            let cordoned = now["spec"]["unschedulable"].as_bool().unwrap_or(false);
            Seen { acts: cordoned, well: !cordoned, what: format!("unschedulable: {cordoned}") }
        }
    }
}

impl Nemesis for KubeFault {
    fn name(&self) -> &str {
        match self.kind {
            Kind::DeletePod => "pod-delete",
            Kind::ScaleDown { .. } => "scale-down",
            Kind::Cordon => "cordon",
        }
    }

    fn detail(&self) -> String {
        let targets = self.targets.iter().map(|(node, object)| format!("{object} ({node})"));
        targets.collect::<Vec<_>>().join(", ")
    }

    fn victims(&self) -> Vec<String> {
        self.targets.iter().map(|(node, _)| node.clone()).collect()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at(self.signal(), &self.victims())
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.targets.is_empty() {
                bail!("no object is named: the fault would do nothing");
            }
            let signal = self.signal();
            for (node, object) in self.targets.clone() {
                let (kubernetes, kind) = (self.kubernetes.clone(), self.kind.clone());
                let step = move || KubeFault::step(&kubernetes, &kind, &node, &object);
                self.steps.push(tokio::task::spawn_blocking(step).await??);
                if let Some(step) = self.steps.last_mut() {
                    step.inject(&self.kubernetes.client, signal, plane).await?;
                }
            }
            Ok(())
        })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        let signal = self.signal();
        Box::pin(heal_all(&mut self.steps, &self.kubernetes.client, signal, plane))
    }
}
