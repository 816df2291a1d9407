use super::execute::execute_within;
use super::*;
use crate::checker::{Answer, Checker, Evidence, Limits, Outcome, Violation};
use crate::cluster::{Cluster, tiny};
use crate::history::{Effect, History};
use crate::nemesis::{BoxFuture, FullPartition, HardKill, Nemesis, Pause, Plane, procfs, read_journal, undo_journal};
use crate::plan::{Budget, Tier};
use crate::verdict::{End, RunRecord, RunRequest};
use anyhow::{Result, bail};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Says valid when every acknowledged operation was answered `ok`.
pub(super) struct AllOk;

impl Checker for AllOk {
    fn name(&self) -> &str {
        "all-ok"
    }

    fn cannot_detect(&self) -> Vec<String> {
        vec!["anything but answers".to_owned()]
    }

    fn missing(&self, _history: &History) -> Vec<String> {
        Vec::new()
    }

    fn check(&self, history: &History, _limits: &dyn Limits) -> Answer {
        let acknowledged: Vec<_> = history.ops().iter().filter(|op| op.effect() == Effect::Acknowledged).collect();
        let wrong = acknowledged.iter().find(|op| op.output != "ok");
        let outcome = match wrong {
            None => Outcome::Valid,
            Some(op) => Outcome::Invalid {
                violations: vec![Violation {
                    anomaly: "not-ok".to_owned(),
                    key: None,
                    ops: vec![op.op_id],
                    explanation: "answered otherwise".to_owned(),
                }],
            },
        };
        let n = history.ops().len() as u64;
        let evidence = Evidence { recorded: n, consumed: n, fired: n, partitions: 1, peak_bytes: 0 };
        let (checker, model) = (self.name().to_owned(), None);
        Answer { checker, model, outcome, evidence, cannot_detect: self.cannot_detect() }
    }
}

pub(super) fn request(dir: &Path, seconds: u64) -> RunRequest {
    RunRequest {
        schema: "disttest.request/1".to_owned(),
        run_id: "run-1".to_owned(),
        scenario: "S1".to_owned(),
        seed: 1,
        rerun: 0,
        tier: Tier::Smoke,
        budget: Budget { nodes: 3, seconds, faults: 1, seeds: 1, operations: 0 },
        run_dir: dir.join("run").display().to_string(),
        log_dir: dir.join("logs").display().to_string(),
        sut_args: Vec::new(),
    }
}

/// The negative control that the entry declares.
pub(super) const CONTROL: &str = "somebody reads what the owner keeps";

fn entry(body: fn(Run) -> ScenarioFuture) -> Entry {
    Entry {
        function: "scenario",
        model: None,
        checkers: &[("all-ok", false)],
        injector: &["process-exit", "process-stopped", "proxy-dropped-bytes"],
        victim: &["client-timeouts", "metric:silent-peers", "log-marker:a peer is silent"],
        negative_controls: &[CONTROL],
        body,
    }
}

/// Executes `body` for about `seconds` and shows its record; `run.json` must say the same.
pub(super) fn record(body: fn(Run) -> ScenarioFuture, seconds: u64) -> (RunRecord, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("a folder");
    let record = execute_within(entry(body), request(dir.path(), seconds), Duration::from_secs(60));
    let text = std::fs::read_to_string(dir.path().join("run/run.json")).expect("run.json is there");
    assert_eq!(serde_json::from_str::<RunRecord>(&text).expect("it can be read"), record);
    (record, dir)
}

/// The first of three runs whose fault landed and healed, else the last: a machine too busy to sample in time proves no
/// fault, as it should.
pub(super) fn record_of_landing(body: fn(Run) -> ScenarioFuture, seconds: u64) -> (RunRecord, tempfile::TempDir) {
    let proven = |record: &RunRecord| record.windows.iter().all(|window| window.landed && window.recovered);
    let mut last = record(body, seconds);
    for _ in 0..2 {
        if proven(&last.0) {
            break;
        }
        last = record(body, seconds);
    }
    last
}

pub(super) async fn workload(run: &Run) -> Result<Workload> {
    let cluster: Cluster = run.cluster(tiny::program()).await?;
    let silent = |target: Target| async move { Ok(tiny::ask(target.address, "timeouts").await?.parse()?) };
    run.workload(cluster).clients(6).probe(Probe::metric("silent-peers", silent)).start(pings).await
}

pub(super) async fn pings(mut client: Client) -> Result<()> {
    while client.running() {
        ping_once(&mut client).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

async fn ping_once(client: &mut Client) {
    let address = client.addr();
    let asking = async move {
        let answer = tiny::ask(address, "ping").await;
        answer.map(Into::into).map_err(|error| CallError::Unknown(format!("{error:#}")))
    };
    client.call("read", "x", json!(null), Duration::from_millis(300), asking).await;
}

pub(super) async fn final_ping(mut client: Client) -> Result<()> {
    ping_once(&mut client).await;
    Ok(())
}

/// A whole scenario under `nemesis`.
async fn scenario(run: Run, nemesis: impl Nemesis + 'static) -> Result<Judged> {
    let workload = workload(&run).await?;
    let landed = {
        let faults = workload.faults();
        let injected = faults.inject(nemesis).await?;
        injected.hold_for(Duration::from_millis(1500)).await;
        injected.heal().await?;
        faults.settle().await
    };
    let history = workload.stop(final_ping).await?;
    run.oracle(history).check(AllOk).judge(landed)
}

pub(super) fn no_process_is_left(dir: &Path) {
    for act in read_journal(&dir.join("run")).expect("a journal") {
        if let crate::nemesis::Act::Started { pid, start_time, .. } = act {
            assert!(!procfs::is_same_and_alive(pid, start_time), "process {pid} is left");
        }
    }
    assert_eq!(undo_journal(&dir.join("run")), Vec::<String>::new());
}

fn landed(record: &RunRecord) {
    assert_eq!(record.end, End::Judged, "{record:#?}");
    let window = &record.windows[0];
    assert!(window.landed && window.recovered, "{window:#?}");
    assert!(record.preconditions.iter().all(|p| p.ok), "{:#?}", record.preconditions);
    assert_eq!((record.measured.faults, record.injections), (1, 1));
    assert_eq!(record.history_weak, Vec::<String>::new());
    assert_eq!(record.deaths, []);
}

#[test]
fn a_partition_lands_and_the_run_is_judged() {
    let (record, dir) = record_of_landing(|run| Box::pin(scenario(run, FullPartition::new(["n1"], ["n2", "n3"]))), 4);
    landed(&record);
    assert!(record.windows[0].injector.signal.as_deref().is_some_and(|s| s.contains("proxy-dropped-bytes at link")));
    assert_eq!(record.measured.nodes, 3);
    assert!(record.measured.seconds >= 4 && record.measured.operations > 10, "{:?}", record.measured);
    assert_eq!(record.answers.len(), 1);
    let control = record.teeth.last().map(|tooth| (tooth.damage.as_str(), tooth.bite));
    assert_eq!(control, Some(("undamaged-control", crate::verdict::Bite::Accepted)));
    no_process_is_left(dir.path());
    for file in ["history.jsonl", "landing.json", "journal.jsonl", "events.jsonl"] {
        assert!(dir.path().join("run").join(file).exists(), "{file}");
    }
    let events = std::fs::read_to_string(dir.path().join("run/events.jsonl")).expect("events");
    for event in
        ["\"start\"", "\"progress\"", "fault injected: full-partition", "fault healed: full-partition", "oracle: valid"]
    {
        assert!(events.contains(event), "{event} in\n{events}");
    }
}

#[test]
fn a_hard_kill_lands() {
    let (record, dir) = record_of_landing(|run| Box::pin(scenario(run, HardKill::new(["n2"]))), 4);
    landed(&record);
    assert!(record.windows[0].injector.signal.as_deref().is_some_and(|s| s == "process-exit at n2"));
    no_process_is_left(dir.path());
}

#[test]
fn a_pause_lands() {
    let (record, dir) = record_of_landing(|run| Box::pin(scenario(run, Pause::new(["n3"]))), 4);
    landed(&record);
    no_process_is_left(dir.path());
}

/// Claims what another nemesis claims, and does nothing.
pub(super) struct Ghost<N>(pub(super) N);

impl<N: Nemesis> Nemesis for Ghost<N> {
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

    fn inject<'a>(&'a mut self, _plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn heal<'a>(&'a mut self, _plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

#[test]
fn twins_that_do_nothing_do_not_land() {
    let twins: [fn(Run) -> ScenarioFuture; 3] = [
        |run| Box::pin(scenario(run, Ghost(FullPartition::new(["n1"], ["n2", "n3"])))),
        |run| Box::pin(scenario(run, Ghost(HardKill::new(["n2"])))),
        |run| Box::pin(scenario(run, Ghost(Pause::new(["n3"])))),
    ];
    for twin in twins {
        let (record, _dir) = record(twin, 1);
        assert_eq!(record.end, End::Judged);
        assert!(!record.windows[0].landed, "{:#?}", record.windows[0]);
        assert_eq!((record.measured.faults, record.injections), (0, 1));
    }
}

#[test]
fn an_injection_error_is_a_fact_and_the_oracle_still_judges() {
    let (record, _dir) = record(|run| Box::pin(scenario(run, HardKill::new(["n9"]))), 1);
    assert_eq!(record.end, End::Judged);
    assert!(!record.windows[0].landed);
    assert!(record.windows[0].injector.why.contains("`n9` is no node"), "{:#?}", record.windows[0]);
}

#[test]
fn a_node_that_dies_by_itself_is_recorded() {
    async fn dies(run: Run) -> Result<Judged> {
        let workload = workload(&run).await?;
        let address = workload.cluster().client_address("n1").expect("a node");
        drop(tiny::ask(address, "die").await);
        let landed = workload.faults().none("it dies by itself").await;
        let history = workload.stop(final_ping).await?;
        run.oracle(history).check(AllOk).judge(landed)
    }
    let (record, dir) = record(|run| Box::pin(dies(run)), 1);
    assert_eq!(record.end, End::Judged);
    assert_eq!(record.deaths.len(), 1);
    assert_eq!((record.deaths[0].node.as_str(), record.deaths[0].how.as_str()), ("n1", "exit status 3"));
    assert_eq!(record.no_fault.as_deref(), Some("it dies by itself"));
    no_process_is_left(dir.path());
}

#[test]
fn a_server_that_dies_outside_of_any_window_and_is_back_at_once_is_told_at_once() {
    async fn dies(run: Run) -> Result<Judged> {
        let program = tiny::by_shell("while :; do \"$0\" \"$@\"; done");
        let cluster: Cluster = run.cluster(program).await?;
        let workload = run.workload(cluster).clients(3).start(pings).await?;
        let address = workload.cluster().client_address("n1").expect("a node");
        drop(tiny::ask(address, "die").await);
        let landed = workload.faults().none("it dies by itself").await;
        let history = workload.stop(final_ping).await?;
        run.oracle(history).check(AllOk).judge(landed)
    }
    let (record, dir) = record(|run| Box::pin(dies(run)), 2);
    assert_eq!(record.end, End::Judged, "{record:#?}");
    assert_eq!(record.deaths.len(), 1, "{:?}", record.deaths);
    assert!(!record.deaths[0].allowed && record.deaths[0].how.contains("which listened for it"));
    assert!(record.quiescence.as_ref().is_some_and(|rest| rest.reached), "it is back: {:?}", record.quiescence);
    let events = std::fs::read_to_string(dir.path().join("run/events.jsonl")).expect("events");
    let (died, stopped) = (events.find("node died"), events.find("workload stopped"));
    assert!(died.is_some() && died < stopped, "{events}");
    assert_eq!(record.binaries.iter().map(|b| b.node.as_str()).collect::<Vec<_>>(), ["n1", "n2", "n3"]);
    no_process_is_left(dir.path());
}

#[test]
fn saying_that_there_was_no_fault_after_one_does_not_hide_it() {
    async fn hides(run: Run) -> Result<Judged> {
        let workload = workload(&run).await?;
        let landed = {
            let faults = workload.faults();
            drop(faults.inject(Pause::new(["n1"])).await?);
            faults.none("nothing happened").await
        };
        let history = workload.stop(final_ping).await?;
        run.oracle(history).check(AllOk).judge(landed)
    }
    let (record, dir) = record(|run| Box::pin(hides(run)), 1);
    assert_eq!((record.end.clone(), record.injections, record.windows.len()), (End::Judged, 1, 1), "{record:#?}");
    assert_eq!(record.no_fault.as_deref(), Some("nothing happened"));
    no_process_is_left(dir.path());
}

#[test]
fn an_error_between_inject_and_heal_leaves_nothing_behind() {
    async fn errs(run: Run) -> Result<Judged> {
        let workload = workload(&run).await?;
        let faults = workload.faults();
        let _injected = faults.inject(Pause::new(["n1"])).await?;
        bail!("the middle of nowhere")
    }
    let (record, dir) = record(|run| Box::pin(errs(run)), 1);
    assert_eq!(record.end, End::Error { message: "the middle of nowhere".to_owned() });
    assert_eq!(record.windows.len(), 1, "the fault is on record");
    assert!(record.operations.recorded > 0 && record.history_sha256.is_some());
    assert_eq!(record.measured.seeds, 0);
    no_process_is_left(dir.path());
}

#[test]
fn a_panic_under_a_fault_leaves_nothing_behind() {
    async fn panics(run: Run) -> Result<Judged> {
        let workload = workload(&run).await?;
        let faults = workload.faults();
        let _injected = faults.inject(FullPartition::new(["n1"], ["n2", "n3"])).await?;
        panic!("at the worst moment")
    }
    let (record, dir) = record(|run| Box::pin(panics(run)), 1);
    let End::Panicked { message } = &record.end else { panic!("{:?}", record.end) };
    assert!(message.starts_with("at the worst moment (at ") && message.contains("tests.rs"), "{message}");
    no_process_is_left(dir.path());
}

#[test]
fn a_client_that_panics_or_errs_is_an_error_of_the_test() {
    async fn body(run: Run, client: fn(Client) -> ScenarioClient) -> Result<Judged> {
        let cluster = run.cluster(tiny::program()).await?;
        let workload = run.workload(cluster).clients(2).start(client).await?;
        let landed = workload.faults().none("none").await;
        let history = workload.stop(final_ping).await?;
        run.oracle(history).check(AllOk).judge(landed)
    }
    type ScenarioClient = std::pin::Pin<Box<dyn Future<Output = Result<()>> + Send>>;
    let check = |scenario: fn(Run) -> ScenarioFuture, expect: &str| {
        let (record, dir) = record(scenario, 5);
        let End::Error { message } = &record.end else { panic!("{:?}", record.end) };
        assert!(message.contains("client ") && message.contains(expect), "{message}");
        no_process_is_left(dir.path());
    };
    check(|run| Box::pin(body(run, |_| Box::pin(async { panic!("oh no") }))), "panicked: oh no (at ");
    check(|run| Box::pin(body(run, |_| Box::pin(async { bail!("cannot go on") }))), "cannot go on");
}

#[test]
fn a_body_that_never_ends_times_out() {
    let dir = tempfile::tempdir().expect("a folder");
    let body: fn(Run) -> ScenarioFuture = |_| Box::pin(std::future::pending());
    let record = execute_within(entry(body), request(dir.path(), 1), Duration::from_secs(1));
    assert_eq!(record.end, End::TimedOut { seconds: 1 });
    assert!(record.preconditions.iter().all(|p| !p.ok));
}

#[test]
fn the_tokens_of_another_run_are_refused() {
    async fn foreign(run: Run, history: bool) -> Result<Judged> {
        let workload = workload(&run).await?;
        let mut landed = workload.faults().none("none").await;
        let mut recorded = workload.stop(final_ping).await?;
        if history {
            recorded.run_id = "run-0".to_owned();
        } else {
            landed.run_id = "run-0".to_owned();
        }
        run.oracle(recorded).check(AllOk).judge(landed)
    }
    for body in
        [(|run| Box::pin(foreign(run, true)) as ScenarioFuture) as fn(Run) -> _, |run| Box::pin(foreign(run, false))]
    {
        let (record, _dir) = record(body, 1);
        assert!(matches!(&record.end, End::Error { message } if message.contains("of run run-0")), "{:?}", record.end);
        assert_eq!(record.answers, []);
    }
}

/// What the next tests run as a process of its own; nothing by itself.
#[test]
fn child() {
    let Ok(dir) = std::env::var("RUN_TESTS_CHILD") else { return };
    let body: fn(Run) -> ScenarioFuture = match std::env::var("RUN_TESTS_BODY").as_deref() {
        Ok("blocks") => |run| {
            Box::pin(async move {
                let _workload = workload(&run).await?;
                std::fs::write(run.dir().join("up"), "")?;
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            })
        },
        _ => |run| {
            Box::pin(async move {
                let workload = workload(&run).await?;
                let faults = workload.faults();
                let injected = faults.inject(Pause::new(["n1"])).await?;
                std::fs::write(run.dir().join("up"), "")?;
                injected.hold_for(Duration::from_secs(600)).await;
                bail!("held to the end")
            })
        },
    };
    drop(execute_within(entry(body), request(Path::new(&dir), 1), Duration::from_secs(60)));
}

/// Starts [`child`], and once its fault acts (its cluster is up) ends it by `signal`.
fn child_ended_by(body: &str, signal: rustix::process::Signal) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let me = std::env::current_exe().expect("the test executable");
    let mut child = std::process::Command::new(me)
        .args(["--exact", "run::tests::child", "--nocapture"])
        .env("RUN_TESTS_CHILD", dir.path())
        .env("RUN_TESTS_BODY", body)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let up = dir.path().join("run/up");
    let until = std::time::Instant::now() + Duration::from_secs(40);
    while !up.exists() {
        assert!(std::time::Instant::now() < until, "the child's cluster does not come up");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, signal).expect("it runs");
    child.wait().expect("it ends");
    dir
}

fn run_json(dir: &Path) -> Option<RunRecord> {
    let text = std::fs::read_to_string(dir.join("run/run.json")).ok()?;
    serde_json::from_str(&text).ok()
}

#[test]
fn sigterm_heals_everything_and_leaves_a_record() {
    let dir = child_ended_by("holds", rustix::process::Signal::TERM);
    let record = run_json(dir.path()).expect("a record");
    assert!(matches!(&record.end, End::Died { how } if how.contains("signal")), "{:?}", record.end);
    assert_eq!(record.windows.len(), 1);
    no_process_is_left(dir.path());
}

#[test]
fn a_body_that_blocks_its_thread_is_not_waited_for() {
    let dir = child_ended_by("blocks", rustix::process::Signal::INT);
    let record = run_json(dir.path()).expect("a record");
    assert!(matches!(&record.end, End::Died { how } if how.contains("did not yield")), "{:?}", record.end);
    assert!(record.operations.recorded > 0);
    no_process_is_left(dir.path());
}

#[test]
fn after_a_sigkill_no_process_is_left_and_the_journal_can_be_undone() {
    let dir = child_ended_by("holds", rustix::process::Signal::KILL);
    assert!(run_json(dir.path()).is_none(), "nobody wrote a record");
    undo_journal(&dir.path().join("run"));
    no_process_is_left(dir.path());
    let injections = crate::nemesis::journaled_injections(&dir.path().join("run")).expect("a journal");
    assert_eq!(injections, 1);
}
