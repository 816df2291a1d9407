//! Faults in networks of namespaces, on real processes: each lands and heals, and its twin that acts on nothing, or on
//! others, does not.

use super::execute::execute_within;
use super::tests::{AllOk, final_ping, pings};
use super::*;
use crate::cluster::tiny;
use crate::fault::Assessment;
use crate::nemesis::net::testing::{afresh, enclosed};
use crate::nemesis::net::{Backend, Treatment};
use crate::nemesis::{
    AsymmetricDataCut, AsymmetricPartition, BandwidthCap, BoxFuture, BridgePartition, FullPartition, Latency,
    LeaderIsolation, MajoritySidePartition, MetadataStoreOutage, MinoritySidePartition, Nemesis, PacketCorruption,
    PacketDuplication, PacketLoss, PacketReordering, Plane, RingPartition, SlowFollower, SplitBrain,
};
use crate::plan::{Budget, Tier};
use crate::verdict::{End, RunRecord, RunRequest};
use anyhow::Result;
use std::path::Path;
use std::time::Duration;

const OF_SWITCH: &[&str] = &[
    "switch-dropped-packets",
    "switch-delayed-packets",
    "switch-throttled-packets",
    "switch-duplicated-packets",
    "switch-reordered-packets",
    "switch-corrupted-packets",
];
const VICTIM: &[&str] = &[
    "client-timeouts",
    "client-latency",
    "metric:silent-peers",
    "metric:Tcp.RetransSegs",
    "metric:Tcp.InCsumErrors",
    "metric:TcpExt.TCPDSACKOldSent",
];
const PORT: u16 = 7000;

type Faults = Vec<Box<dyn Nemesis>>;

/// What every backend can do.
fn cuts() -> Faults {
    let leader = || async { Ok("n2".to_owned()) };
    vec![
        Box::new(FullPartition::new(["n1"], ["n2", "n3", "n4"])),
        Box::new(AsymmetricPartition::new(["n1"], ["n2", "n3", "n4"])),
        Box::new(AsymmetricDataCut::new(["n1"], ["n2", "n3", "n4"])),
        Box::new(MinoritySidePartition::new(["n3"], ["n1", "n2", "n4"])),
        Box::new(MajoritySidePartition::new(["n1", "n2", "n4"], ["n3"])),
        Box::new(BridgePartition::new(["n1"], ["n2", "n4"], "n3")),
        Box::new(RingPartition::new(["n1", "n2", "n3", "n4"])),
        Box::new(LeaderIsolation::found_by(leader)),
        Box::new(SplitBrain::found_by(leader, Duration::from_millis(400))),
        Box::new(MetadataStoreOutage::new(["n1", "n2"], "n3", PORT)),
        Box::new(PacketLoss::new(["n1"], ["n2", "n3", "n4"], 0.4)),
    ]
}

/// What only a switch can do.
fn bad_links() -> Faults {
    let (mean, jitter) = (Duration::from_millis(25), Duration::from_millis(5));
    let (one, others) = (["n1"], ["n2", "n3", "n4"]);
    vec![
        Box::new(Latency::new(one, others, mean, jitter)),
        Box::new(SlowFollower::new("n4", ["n1", "n2", "n3"], mean, jitter)),
        Box::new(BandwidthCap::new(one, others, 4_000)),
        Box::new(PacketDuplication::new(one, others, 0.4)),
        Box::new(PacketReordering::new(one, others, 0.4, 2 * mean)),
        Box::new(PacketCorruption::new(one, others, 0.3)),
    ]
}

fn all() -> Faults {
    cuts().into_iter().chain(bad_links()).collect()
}

/// A nemesis that says what another says and does nothing.
struct Ghost(Box<dyn Nemesis>);

/// A nemesis that says what another says and acts on links of others.
struct Astray(Box<dyn Nemesis>);

macro_rules! says_what_another_says {
    ($type:ident) => {
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

        fn prepare<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
            self.0.prepare(plane)
        }
    };
}

impl Nemesis for Ghost {
    says_what_another_says!(Ghost);

    fn inject<'a>(&'a mut self, _: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn heal<'a>(&'a mut self, _: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

fn elsewhere() -> Vec<(String, String)> {
    [("n2", "n3"), ("n3", "n2")].map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec()
}

impl Nemesis for Astray {
    says_what_another_says!(Astray);

    fn inject<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { plane.net().treat(&elsewhere(), Treatment::Cut) })
    }

    fn heal<'a>(&'a mut self, plane: &'a Plane) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { plane.net().release(&elsewhere()) })
    }
}

/// One window after another.
async fn windows(run: Run, faults: Faults) -> Result<Judged> {
    let cluster = run.cluster(tiny::program().port(PORT)).await?;
    let silent = |target: Target| async move { Ok(tiny::ask(target.address, "timeouts").await?.parse()?) };
    let mut workload = run.workload(cluster).clients(8).probe(Probe::metric("silent-peers", silent));
    for counter in VICTIM.iter().filter_map(|signal| signal.strip_prefix("metric:")).filter(|name| name.contains('.')) {
        workload = workload.probe(Probe::kernel(counter));
    }
    let workload = workload.start(pings).await?;
    let landed = {
        let windows = workload.faults();
        for fault in faults {
            let injected = windows.inject(fault).await?;
            injected.hold_for(Duration::from_millis(1_500)).await;
            injected.heal().await?;
        }
        windows.settle().await
    };
    let history = workload.stop(final_ping).await?;
    run.oracle(history).check(AllOk).judge(landed)
}

/// A run in namespaces of its own.
fn enclosed_record(injector: &'static [&'static str], body: fn(Run) -> ScenarioFuture) -> RunRecord {
    afresh(move || record(injector, body)).expect("namespaces, once more")
}

fn record(injector: &'static [&'static str], body: fn(Run) -> ScenarioFuture) -> RunRecord {
    let dir = tempfile::tempdir().expect("a folder");
    let entry = Entry {
        function: "scenario",
        model: None,
        checkers: &[("all-ok", false)],
        injector,
        victim: VICTIM,
        negative_controls: &[],
        body,
    };
    execute_within(entry, request(dir.path()), Duration::from_secs(300))
}

fn request(dir: &Path) -> RunRequest {
    RunRequest {
        schema: "disttest.request/1".to_owned(),
        run_id: "run-1".to_owned(),
        scenario: "S1".to_owned(),
        seed: 1,
        rerun: 0,
        tier: Tier::Smoke,
        budget: Budget { nodes: 4, seconds: 60, faults: 1, seeds: 1, operations: 0 },
        run_dir: dir.join("run").display().to_string(),
        log_dir: dir.join("logs").display().to_string(),
        sut_args: Vec::new(),
    }
}

fn describe(window: &Assessment) -> String {
    let Assessment { nemesis, injector, victim, recovery, .. } = window;
    format!("{nemesis}: {}; {}; {recovery}", injector.why, victim.why)
}

/// Each of the windows of `body` lands and heals in one of three runs: a machine too busy to sample in time proves
/// nothing, as it should.
fn each_lands(injector: &'static [&'static str], body: fn(Run) -> ScenarioFuture) {
    let (mut proven, mut last) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let record = enclosed_record(injector, body);
        assert_eq!(record.end, End::Judged, "{:?}", record.preconditions);
        assert!(record.preconditions.iter().all(|p| p.ok), "{:?}", record.preconditions);
        assert!(record.deaths.is_empty(), "{:?}", record.deaths);
        proven.resize(record.windows.len(), false);
        let whole = record.windows.iter().map(|window| window.landed && window.recovered);
        proven.iter_mut().zip(whole).for_each(|(proven, now)| *proven |= now);
        let failing = record.windows.iter().zip(&proven).filter(|(_, proven)| !**proven);
        last = failing.map(|(window, _)| describe(window)).collect();
        last.iter().for_each(|window| told(window));
        if last.is_empty() && !proven.is_empty() {
            return;
        }
    }
    panic!("not proven:\n{}", last.join("\n"));
}

/// For whoever reads the output of a test that took several runs.
#[expect(clippy::print_stderr, reason = "a test that had to repeat a run says why")]
fn told(window: &str) {
    eprintln!("not proven in this run: {window}");
}

fn none_lands(injector: &'static [&'static str], body: fn(Run) -> ScenarioFuture) {
    let record = enclosed_record(injector, body);
    assert_eq!(record.end, End::Judged, "{:?}", record.preconditions);
    let landed: Vec<String> = record.windows.iter().filter(|window| window.landed).map(describe).collect();
    assert!(landed.is_empty() && !record.windows.is_empty(), "{}", landed.join("\n"));
}

const FILTERS: [Backend; 2] = [Backend::Nft, Backend::Iptables];

#[test]
fn every_cut_by_a_packet_filter_lands_and_heals() {
    fn body(backend: Backend) -> Result<()> {
        let injector: &[&str] =
            if backend == Backend::Nft { &["nft-dropped-packets"] } else { &["iptables-dropped-packets"] };
        each_lands(injector, |run| Box::pin(windows(run, cuts())));
        Ok(())
    }
    enclosed("run::net_tests::every_cut_by_a_packet_filter_lands_and_heals", body, &FILTERS);
}

#[test]
fn every_fault_of_a_switch_lands_and_heals() {
    fn body(_: Backend) -> Result<()> {
        each_lands(OF_SWITCH, |run| Box::pin(windows(run, all())));
        Ok(())
    }
    enclosed("run::net_tests::every_fault_of_a_switch_lands_and_heals", body, &[Backend::Switch]);
}

#[test]
fn twins_that_do_nothing_do_not_land_in_namespaces() {
    fn body(_: Backend) -> Result<()> {
        fn ghosts() -> Faults {
            all().into_iter().map(|fault| Box::new(Ghost(fault)) as Box<dyn Nemesis>).collect()
        }
        none_lands(OF_SWITCH, |run| Box::pin(windows(run, ghosts())));
        Ok(())
    }
    enclosed("run::net_tests::twins_that_do_nothing_do_not_land_in_namespaces", body, &[Backend::Switch]);
}

#[test]
fn a_rule_on_a_wrong_address_does_not_land() {
    fn body(backend: Backend) -> Result<()> {
        fn astray() -> Faults {
            let of_n1: Faults = vec![
                Box::new(FullPartition::new(["n1"], ["n2", "n3", "n4"])),
                Box::new(AsymmetricPartition::new(["n1"], ["n2"])),
                Box::new(MinoritySidePartition::new(["n1"], ["n2", "n4"])),
            ];
            of_n1.into_iter().map(|fault| Box::new(Astray(fault)) as Box<dyn Nemesis>).collect()
        }
        let injector: &[&str] =
            if backend == Backend::Nft { &["nft-dropped-packets"] } else { &["iptables-dropped-packets"] };
        none_lands(injector, |run| Box::pin(windows(run, astray())));
        Ok(())
    }
    enclosed("run::net_tests::a_rule_on_a_wrong_address_does_not_land", body, &FILTERS);
}

#[test]
fn declared_signals_without_namespaces_are_a_missing_environment_and_no_weaker_fault() {
    let record = record(&["nft-dropped-packets"], |run| Box::pin(windows(run, cuts())));
    assert!(matches!(record.end, End::Error { .. }), "{:?}", record.end);
    let up = record.preconditions.iter().find(|p| p.name == "cluster up").expect("a precondition");
    assert!(!up.ok && up.evidence.contains("nft") && up.evidence.contains("namespaces"), "{}", up.evidence);
    assert_eq!(record.injections, 0);
}
