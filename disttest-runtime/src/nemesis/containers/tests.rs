//! Recorded clients: a script in the place of `docker` and `kubectl` that keeps what it is called with, and answers from files.

use super::*;
use crate::nemesis::on_links::tests::Nobody;
use crate::nemesis::{Clock, Journal, Launcher, Meters, Nemesis, Network, Plane, ProxyNet, Tools, undo_journal};
use anyhow::Result;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `state` is what reading back prints. A call that acts is answered by the file `on-VERB` becoming the state, where there is
/// one: a client without any returns 0 and does nothing.
const SCRIPT: &str = r#"#!/bin/sh
cd "$(dirname "$0")" || exit 9
echo "$@" >> calls
for word in "$@"; do
  case "$word" in
    ps) echo c0ffee; exit 0;;
    inspect|get) cat state; exit 0;;
    kill|start|restart|pause|unpause|connect|disconnect|delete|scale|cordon|uncordon)
      key="$word"
      case "$*" in *--replicas=*) key="$word${*##*--replicas=}";; esac
      if [ -e "on-$key" ]; then cp "on-$key" state.new && mv state.new state; fi
      exit 0;;
  esac
done
exit 3
"#;

struct Recorded {
    dir: tempfile::TempDir,
    program: PathBuf,
}

impl Recorded {
    /// A client called `name` that shows `state`, and `after` each verb another one.
    fn new(name: &str, state: &serde_json::Value, after: &[(&str, serde_json::Value)]) -> Recorded {
        let dir = tempfile::tempdir().expect("a folder");
        let program = dir.path().join(name);
        std::fs::write(&program, SCRIPT).expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
        let put = |file: String, value: &serde_json::Value| {
            let text = if value.is_null() { String::new() } else { value.to_string() };
            std::fs::write(dir.path().join(file), text).expect("written");
        };
        put("state".to_owned(), state);
        after.iter().for_each(|(verb, state)| put(format!("on-{verb}"), state));
        Recorded { program, dir }
    }

    /// The calls that were made, without those that only read.
    fn calls(&self) -> Vec<String> {
        let calls = std::fs::read_to_string(self.dir.path().join("calls")).unwrap_or_default();
        let reads = |call: &&str| call.contains(" ps ") || call.starts_with("inspect") || call.contains(" get ");
        calls.lines().filter(|call| !reads(call)).map(str::to_owned).collect()
    }
}

fn container(state: serde_json::Value, networks: &[&str]) -> serde_json::Value {
    let networks: serde_json::Map<_, _> = networks.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
    json!([{ "State": state, "RestartCount": 0, "NetworkSettings": { "Networks": networks } }])
}

fn up(pid: i64, at: &str) -> serde_json::Value {
    container(json!({"Running": true, "Paused": false, "Pid": pid, "StartedAt": at}), &["shop_default"])
}

/// A plane whose nodes are no processes of ours.
fn plane(dir: &Path) -> Plane {
    let tools = Tools {
        journal: Arc::new(Journal::open(dir, "r1").expect("a journal")),
        launcher: Launcher::new("test").expect("a thread"),
        meters: Meters::default(),
        run_dir: dir.to_owned(),
    };
    Plane::new(Network::proxied(ProxyNet::new(Clock::start())), Arc::new(Nobody), tools)
}

/// Lets `fault` loose and heals it; what its signal showed before, during and after, and how both acts ended.
async fn round(fault: &mut dyn Nemesis, plane: &Plane) -> ([Option<f64>; 3], Result<()>, Result<()>) {
    let (signal, node) = fault.injector().remove(0);
    let read = || plane.tools().meters.read(&signal, &node);
    let before = read();
    let injected = fault.inject(plane).await;
    // The reading follows within one look.
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    let during = read();
    let healed = fault.heal(plane).await;
    ([before, during, read()], injected, healed)
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_on_containers_are_made_by_compose_and_read_back_by_inspect() {
    let down = container(json!({"Running": false, "Paused": false, "Pid": 0, "StartedAt": "09:00"}), &["shop_default"]);
    let paused = container(json!({"Running": true, "Paused": true, "Pid": 7, "StartedAt": "09:00"}), &["shop_default"]);
    let alone = container(json!({"Running": true, "Paused": false, "Pid": 7, "StartedAt": "09:00"}), &[]);
    let dir = tempfile::tempdir().expect("a folder");
    let plane = plane(dir.path());
    let compose = |client: &Recorded| {
        DockerCompose::project("shop").file("c.yaml").service("n1", "store-1").client(&client.program)
    };
    let first = up(7, "09:00");
    let start = "compose --project-name shop --file c.yaml";
    type Make = fn(&DockerCompose) -> ContainerFault;
    type Case = (Make, Vec<(&'static str, serde_json::Value)>, Vec<String>, f64);
    let cases: [Case; 4] = [
        (
            |c| ContainerFault::kill(c, ["n1"]),
            vec![("kill", down), ("start", up(9, "09:05"))],
            vec![format!("{start} kill store-1"), format!("{start} start store-1")],
            0.0,
        ),
        (
            |c| ContainerFault::restart(c, ["n1"]),
            vec![("restart", up(8, "09:04"))],
            vec![format!("{start} restart store-1")],
            1.0,
        ),
        (
            |c| ContainerFault::pause(c, ["n1"]),
            vec![("pause", paused), ("unpause", first.clone())],
            vec![format!("{start} pause store-1"), format!("{start} unpause store-1")],
            0.0,
        ),
        (
            |c| ContainerFault::disconnect(c, "shop_default", ["n1"]),
            vec![("disconnect", alone), ("connect", first.clone())],
            vec!["network disconnect shop_default c0ffee".to_owned(), "network connect shop_default c0ffee".to_owned()],
            0.0,
        ),
    ];
    for (make, after, calls, left) in cases {
        let client = Recorded::new("docker", &first, &after);
        let mut fault = make(&compose(&client));
        let (read, injected, healed) = round(&mut fault, &plane).await;
        injected.expect("it shows");
        healed.expect("it is back");
        assert_eq!(read, [Some(0.0), Some(1.0), Some(left)], "{}", fault.name());
        assert_eq!(client.calls(), calls);
        // Its twin: the same client returns 0 and does nothing.
        let client = Recorded::new("docker", &first, &[]);
        let (read, injected, _) = round(&mut make(&compose(&client)), &plane).await;
        let error = format!("{:#}", injected.expect_err("nothing shows"));
        assert!(error.contains("returned and nothing shows for it at n1: it shows running, process 7"), "{error}");
        assert_eq!(read[1], read[0], "{}", fault.name());
    }
}

fn pod(uid: &str, phase: &str) -> serde_json::Value {
    let ready = if phase == "Running" { "True" } else { "False" };
    let status = json!({"phase": phase, "conditions": [{"type": "Ready", "status": ready}]});
    json!({"metadata": {"uid": uid}, "status": status})
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_on_pods_are_made_by_kubectl_and_read_back_by_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let plane = plane(dir.path());
    let scaled = |asked: u64, ready: u64| json!({"spec": {"replicas": asked}, "status": {"readyReplicas": ready}});
    let machine = |cordoned: bool| json!({"spec": {"unschedulable": cordoned}});
    type Make = fn(&Kubernetes) -> KubeFault;
    type Case = (Make, serde_json::Value, Vec<(&'static str, serde_json::Value)>, Vec<&'static str>, f64);
    let cases: [Case; 3] = [
        (
            |k| KubeFault::delete_pod(k, "n1", "store-0"),
            pod("a", "Running"),
            vec![("delete", pod("b", "Running"))],
            vec!["--namespace shop delete pod/store-0 --wait=false"],
            1.0,
        ),
        (
            |k| KubeFault::scale_down(k, "n1", "statefulset/store", 2),
            scaled(3, 3),
            vec![("scale2", scaled(2, 2)), ("scale3", scaled(3, 3))],
            vec![
                "--namespace shop scale statefulset/store --replicas=2",
                "--namespace shop scale statefulset/store --replicas=3",
            ],
            0.0,
        ),
        (
            |k| KubeFault::cordon(k, "n1", "worker-1"),
            machine(false),
            vec![("cordon", machine(true)), ("uncordon", machine(false))],
            vec!["--namespace shop cordon worker-1", "--namespace shop uncordon worker-1"],
            0.0,
        ),
    ];
    for (make, first, after, calls, left) in cases {
        let client = Recorded::new("kubectl", &first, &after);
        let mut fault = make(&Kubernetes::namespace("shop").client(&client.program));
        let (read, injected, healed) = round(&mut fault, &plane).await;
        injected.expect("it shows");
        healed.expect("it is back");
        assert_eq!(read, [Some(0.0), Some(1.0), Some(left)], "{}", fault.name());
        assert_eq!(client.calls(), calls);
        let client = Recorded::new("kubectl", &first, &[]);
        let twin = make(&Kubernetes::namespace("shop").client(&client.program));
        let (read, injected, _) = round(&mut { twin }, &plane).await;
        assert!(format!("{:#}", injected.expect_err("nothing shows")).contains("nothing shows for it at n1"));
        assert_eq!(read[1], read[0], "{}", fault.name());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_does_not_come_back_is_an_error_of_the_heal_and_stays_journaled() {
    let dir = tempfile::tempdir().expect("a folder");
    let plane = plane(dir.path());
    let down = container(json!({"Running": false, "Paused": false, "Pid": 0, "StartedAt": "09:00"}), &[]);
    let client = Recorded::new("docker", &up(7, "09:00"), &[("kill", down)]);
    let compose = DockerCompose::project("shop").service("n1", "store-1").client(&client.program);
    let (_, injected, healed) = round(&mut ContainerFault::kill(&compose, ["n1"]), &plane).await;
    injected.expect("it shows");
    let error = format!("{:#}", healed.expect_err("it stays down"));
    assert!(error.contains("n1 did not come back: it shows not running"), "{error}");
    drop(plane);
    let calls = client.calls().len();
    let undone = undo_journal(dir.path());
    assert!(undone.iter().any(|what| what.contains("start store-1")), "{undone:?}");
    assert_eq!(client.calls().len(), calls + 1, "tried once more for the run that could not");
    assert_eq!(undo_journal(dir.path()), Vec::<String>::new(), "and then never again");
}

#[test]
fn nothing_but_a_client_of_containers_is_started_to_undo() {
    let line = |program: &str| [program.to_owned(), "-rf".to_owned()];
    assert!(undo_by_client(&line("/bin/rm")).expect_err("refused").to_string().contains("is no client of containers"));
    assert!(undo_by_client(&[]).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_or_not_well_is_said_before_anything_acts() {
    let dir = tempfile::tempdir().expect("a folder");
    let plane = plane(dir.path());
    let paused = container(json!({"Running": true, "Paused": true, "Pid": 7, "StartedAt": "09:00"}), &[]);
    let client = Recorded::new("docker", &paused, &[]);
    let compose = DockerCompose::project("shop").service("n1", "store-1").client(&client.program);
    let mut unwell = ContainerFault::kill(&compose, ["n1"]);
    assert!(
        format!("{:#}", unwell.inject(&plane).await.expect_err("paused")).contains("is not as it should be before")
    );
    let mut stranger = ContainerFault::kill(&compose, ["n2"]);
    assert!(format!("{:#}", stranger.inject(&plane).await.expect_err("no service")).contains("`n2` is no service"));
    assert_eq!(client.calls(), Vec::<String>::new());
    let missing = DockerCompose::project("shop").service("n1", "store-1").client("no-such-client-anywhere");
    let error = ContainerFault::kill(&missing, ["n1"]).inject(&plane).await.expect_err("not there");
    assert!(crate::nemesis::Lacks::of(&error).is_some(), "{error:#}");
}
