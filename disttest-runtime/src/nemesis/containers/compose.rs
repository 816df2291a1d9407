//! Faults on the containers of a Compose project.

use super::client::Client;
use super::fault::{Look, Seen, Step, heal_all};
use crate::nemesis::contract::{at, names};
use crate::nemesis::{BoxFuture, Nemesis, Plane};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A Compose project whose services are nodes of the cluster.
#[derive(Clone, Debug)]
pub struct DockerCompose {
    client: Client,
    project: Vec<String>,
    services: BTreeMap<String, String>,
}

impl DockerCompose {
    /// The project `name`, by the `docker` on PATH.
    pub fn project(name: impl Into<String>) -> DockerCompose {
        let client = Client::new("docker", "apt-get install docker.io docker-compose-v2");
        DockerCompose { client, project: vec!["--project-name".to_owned(), name.into()], services: BTreeMap::new() }
    }

    /// Its Compose file. Without one the client looks for it by itself.
    #[must_use]
    pub fn file(mut self, path: impl Into<String>) -> DockerCompose {
        self.project.extend(["--file".to_owned(), path.into()]);
        self
    }

    /// `node` is the service `service`.
    #[must_use]
    pub fn service(mut self, node: impl Into<String>, service: impl Into<String>) -> DockerCompose {
        self.services.insert(node.into(), service.into());
        self
    }

    /// Another client that understands the same commands, such as `podman`, or a path.
    #[must_use]
    pub fn client(mut self, program: impl Into<PathBuf>) -> DockerCompose {
        self.client = Client::new(program, "install the client that the test names");
        self
    }

    fn compose(&self, args: &[&str]) -> Vec<String> {
        let start = std::iter::once("compose".to_owned()).chain(self.project.iter().cloned());
        start.chain(args.iter().map(|arg| (*arg).to_owned())).collect()
    }

    fn service_of(&self, node: &str) -> Result<&str> {
        self.services.get(node).map(String::as_str).with_context(|| format!("`{node}` is no service of the project"))
    }

    /// The container of `node`, whether it runs or not.
    fn container(&self, node: &str) -> Result<String> {
        let service = self.service_of(node)?;
        let ids = self.client.ask(&self.compose(&["ps", "--all", "--quiet", service]))?;
        match ids.split_whitespace().collect::<Vec<_>>()[..] {
            [id] => Ok(id.to_owned()),
            [] => bail!("service `{service}` has no container"),
            _ => bail!("service `{service}` has several containers: which one is {node}?"),
        }
    }
}

/// What is read back of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Container {
    running: bool,
    paused: bool,
    pid: i64,
    started_at: String,
    restarts: i64,
    networks: Vec<String>,
}

impl Container {
    fn read(client: &Client, id: &str) -> Result<Container> {
        let text = client.ask(&["inspect", id])?;
        let all: Value = serde_json::from_str(&text).with_context(|| format!("what `inspect {id}` printed"))?;
        let (one, state) = (&all[0], &all[0]["State"]);
        let networks = one["NetworkSettings"]["Networks"].as_object();
        let missing = || format!("`inspect {id}` shows no state");
        Ok(Container {
            running: state["Running"].as_bool().with_context(missing)?,
            paused: state["Paused"].as_bool().unwrap_or(false),
            pid: state["Pid"].as_i64().with_context(missing)?,
            started_at: state["StartedAt"].as_str().with_context(missing)?.to_owned(),
            restarts: one["RestartCount"].as_i64().unwrap_or_default(),
            networks: networks.map(|all| all.keys().cloned().collect()).unwrap_or_default(),
        })
    }

    fn said(&self) -> String {
        let state = if self.paused { "paused" } else { "running" };
        let state = if self.running { state } else { "not running" };
        let (pid, at, restarts, networks) = (self.pid, &self.started_at, self.restarts, self.networks.join(", "));
        format!("{state}, process {pid}, started {at}, restarted {restarts} times, networks {networks}")
    }
}

/// What is done to containers.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Kill,
    Restart,
    Pause,
    Disconnect(String),
}

/// Faults on containers of a Compose project, each read back by `docker inspect`.
///
/// | constructor | nemesis | commands | evidence | cleanup |
/// |---|---|---|---|---|
/// | [`ContainerFault::kill`] | `container-kill` | `compose kill` | `container-exited`: State.Running is false | `compose start` |
/// | [`ContainerFault::restart`] | `container-restart` | `compose restart` | `container-restarted`: another StartedAt and Pid | none |
/// | [`ContainerFault::pause`] | `container-pause` | `compose pause` | `container-paused`: State.Paused is true | `compose unpause` |
/// | [`ContainerFault::disconnect`] | `container-disconnect` | `network disconnect` | `container-disconnected`: the network is not among the container's | `network connect` |
///
/// Needs: the client, and a service with one container for each node.
#[derive(Debug)]
pub struct ContainerFault {
    compose: DockerCompose,
    kind: Kind,
    nodes: Vec<String>,
    steps: Vec<Step>,
}

impl ContainerFault {
    fn new<S: Into<String>>(compose: &DockerCompose, kind: Kind, nodes: impl IntoIterator<Item = S>) -> ContainerFault {
        ContainerFault { compose: compose.clone(), kind, nodes: names(nodes), steps: Vec::new() }
    }

    /// Kills the containers of `nodes`.
    pub fn kill<S: Into<String>>(compose: &DockerCompose, nodes: impl IntoIterator<Item = S>) -> ContainerFault {
        ContainerFault::new(compose, Kind::Kill, nodes)
    }

    /// Restarts the containers of `nodes`.
    pub fn restart<S: Into<String>>(compose: &DockerCompose, nodes: impl IntoIterator<Item = S>) -> ContainerFault {
        ContainerFault::new(compose, Kind::Restart, nodes)
    }

    /// Pauses the containers of `nodes`.
    pub fn pause<S: Into<String>>(compose: &DockerCompose, nodes: impl IntoIterator<Item = S>) -> ContainerFault {
        ContainerFault::new(compose, Kind::Pause, nodes)
    }

    /// Takes the containers of `nodes` off `network`.
    pub fn disconnect<S: Into<String>>(
        compose: &DockerCompose,
        network: impl Into<String>,
        nodes: impl IntoIterator<Item = S>,
    ) -> ContainerFault {
        ContainerFault::new(compose, Kind::Disconnect(network.into()), nodes)
    }

    fn signal(&self) -> &'static str {
        match self.kind {
            Kind::Kill => "container-exited",
            Kind::Restart => "container-restarted",
            Kind::Pause => "container-paused",
            Kind::Disconnect(_) => "container-disconnected",
        }
    }

    /// What is to be done to `node`.
    fn step(compose: &DockerCompose, kind: &Kind, node: &str) -> Result<Step> {
        let (service, id) = (compose.service_of(node)?.to_owned(), compose.container(node)?);
        let before = Container::read(&compose.client, &id)?;
        let by = |verb: &str| compose.compose(&[verb, &service]);
        let network = |verb: &str, network: &str| ["network", verb, network, id.as_str()].map(str::to_owned).to_vec();
        let (act, undo) = match kind {
            Kind::Kill => (by("kill"), by("start")),
            Kind::Restart => (by("restart"), Vec::new()),
            Kind::Pause => (by("pause"), by("unpause")),
            Kind::Disconnect(name) => (network("disconnect", name), network("connect", name)),
        };
        let (client, kind, id) = (compose.client.clone(), kind.clone(), id.clone());
        let look: Look = Arc::new(move || Ok(seen(&kind, &before, &Container::read(&client, &id)?)));
        Ok(Step::new(node, act, undo, look))
    }
}

fn seen(kind: &Kind, before: &Container, now: &Container) -> Seen {
    let another = now.started_at != before.started_at && now.pid != before.pid;
    let connected = |name: &String| now.networks.contains(name);
    let acts = match kind {
        Kind::Kill => !now.running && now.pid == 0,
        Kind::Restart => now.running && another,
        Kind::Pause => now.running && now.paused,
        Kind::Disconnect(name) => now.running && !connected(name),
    };
    let well = now.running && !now.paused && now.pid != 0;
    let well = well && !matches!(kind, Kind::Disconnect(name) if !connected(name));
    Seen { acts, well, what: now.said() }
}

impl Nemesis for ContainerFault {
    fn name(&self) -> &str {
        match self.kind {
            Kind::Kill => "container-kill",
            Kind::Restart => "container-restart",
            Kind::Pause => "container-pause",
            Kind::Disconnect(_) => "container-disconnect",
        }
    }

    fn detail(&self) -> String {
        let of = match &self.kind {
            Kind::Disconnect(network) => format!(" from {network}"),
            _ => String::new(),
        };
        format!("containers of {}{of}", self.nodes.join(", "))
    }

    fn victims(&self) -> Vec<String> {
        self.nodes.clone()
    }

    fn injector(&self) -> Vec<(String, String)> {
        at(self.signal(), &self.nodes)
    }

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if self.nodes.is_empty() {
                bail!("no node is named: the fault would do nothing");
            }
            let signal = self.signal();
            for node in self.nodes.clone() {
                let (compose, kind) = (self.compose.clone(), self.kind.clone());
                let step = tokio::task::spawn_blocking(move || ContainerFault::step(&compose, &kind, &node)).await??;
                self.steps.push(step);
                if let Some(step) = self.steps.last_mut() {
                    step.inject(&self.compose.client, signal, plane).await?;
                }
            }
            Ok(())
        })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        let signal = self.signal();
        Box::pin(heal_all(&mut self.steps, &self.compose.client, signal, plane))
    }
}
