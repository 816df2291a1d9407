use super::started::Site;
use super::*;
use crate::nemesis::{
    AsymmetricDataCut, Clock, ConnectionLoss, FullPartition, GracefulStop, HardKill, Journal, Launcher, Meters,
    Nemesis, Network, Pause, Plane, ProxyNet, Restart, procfs, read_journal, undo_journal,
};
use std::sync::Arc;
use std::time::Duration;

struct Place {
    dir: tempfile::TempDir,
    site: Arc<Site>,
}

fn place() -> Place {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().canonicalize().expect("a real path");
    let clock = Clock::start();
    let site = Site {
        log_dir: path.join("logs"),
        sut_args: vec!["extra".to_owned()],
        journal: Arc::new(Journal::open(&path, "r1").expect("a journal")),
        launcher: Launcher::new("test").expect("a thread"),
        clock,
        net: Network::proxied(ProxyNet::new(clock)),
        meters: Meters::default(),
        mourners: Mourners::default(),
        run_dir: path,
    };
    Place { dir, site: Arc::new(site) }
}

async fn three(place: &Place) -> (Cluster, Plane) {
    let cluster = Cluster::start(tiny::program(), 3, Arc::clone(&place.site)).await.expect("it comes up");
    let plane = Plane::new(place.site.net.clone(), Arc::new(cluster.clone()), place.site.tools());
    (cluster, plane)
}

fn address(cluster: &Cluster, node: &str) -> std::net::SocketAddr {
    cluster.client_address(node).expect("a node")
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(tokio::time::Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_answers_and_leaves_no_process_when_it_is_dropped() {
    let place = place();
    let (cluster, plane) = three(&place).await;
    for node in cluster.nodes() {
        tiny::ping(address(&cluster, &node)).await.expect("ready means it answers");
    }
    assert!(
        place.site.net.proxy().counters("n1", "n2").expect("a link").forward.bytes_passed > 0,
        "peers go through the proxy"
    );
    let pids: Vec<i32> = read_journal(place.dir.path())
        .expect("read")
        .iter()
        .filter_map(|act| if let crate::nemesis::Act::Started { pid, .. } = act { Some(*pid) } else { None })
        .collect();
    assert_eq!(pids.len(), 3);
    drop((cluster, plane));
    let alive = |pid: &i32| procfs::stat(*pid).is_ok_and(|stat| stat.state != 'Z');
    assert!(!pids.iter().any(alive));
    assert_eq!(undo_journal(place.dir.path()), Vec::<String>::new(), "nothing is left to undo");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_is_prepared_before_its_first_start_and_not_before_the_next() {
    let place = place();
    let program = tiny::program().prepare(|node: NodeSpec| async move {
        use std::io::Write;
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(node.data_dir().join("prepared"))?;
        Ok(write!(file, "{};", node.name())?)
    });
    let cluster = Cluster::start(program, 2, Arc::clone(&place.site)).await.expect("it comes up");
    let plane = Plane::new(place.site.net.clone(), Arc::new(cluster.clone()), place.site.tools());
    let mut kill = HardKill::new(["n2"]);
    kill.inject(&plane).await.expect("killed");
    kill.heal(&plane).await.expect("started again");
    let done: Vec<_> = cluster
        .specs()
        .map(|node| std::fs::read_to_string(node.data_dir().join("prepared")).expect("written"))
        .collect();
    assert_eq!(done, ["n1;", "n2;"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preparation_that_fails_keeps_the_cluster_from_coming_up() {
    let place = place();
    let program = tiny::program().prepare(|_| async { anyhow::bail!("no template of a database") });
    let error = Cluster::start(program, 1, Arc::clone(&place.site)).await.expect_err("it was not prepared");
    assert!(format!("{error:#}").contains("n1 was not prepared: no template of a database"), "{error:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hard_kill_is_an_exit_by_signal_9_and_no_death_of_the_node() {
    let place = place();
    let (cluster, plane) = three(&place).await;
    let mut kill = HardKill::new(["n2"]);
    assert_eq!(cluster.reading("process-exit", "n2"), Some(0.0));
    kill.inject(&plane).await.expect("killed");
    assert_eq!(cluster.reading("process-exit", "n2"), Some(1.0));
    assert_eq!(cluster.running(), ["n1", "n3"]);
    assert!(tiny::ping(address(&cluster, "n2")).await.is_err());
    kill.heal(&plane).await.expect("started again");
    assert_eq!(cluster.reading("process-restarted", "n2"), Some(1.0));
    tiny::ping(address(&cluster, "n2")).await.expect("it is back");
    assert_eq!(cluster.deaths(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_exits_by_itself_is_a_death_and_cannot_be_killed() {
    let place = place();
    let (cluster, plane) = three(&place).await;
    // It exits before it can answer.
    drop(tiny::ask(address(&cluster, "n1"), "die").await);
    until("the death is seen", || !cluster.deaths().is_empty()).await;
    let deaths = cluster.deaths();
    assert_eq!((deaths[0].node.as_str(), deaths[0].how.as_str(), deaths[0].allowed), ("n1", "exit status 3", false));
    let error = HardKill::new(["n1"]).inject(&plane).await.expect_err("nothing to kill");
    assert!(format!("{error:#}").contains("does not run: exit status 3"), "{error:#}");
    assert_eq!(cluster.reading("process-exit", "n1"), Some(0.0), "no nemesis ended it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_stops_every_task_and_a_heal_lets_them_run() {
    let place = place();
    let (cluster, plane) = three(&place).await;
    let mut pause = Pause::new(["n3"]);
    pause.inject(&plane).await.expect("paused");
    assert_eq!(cluster.reading("process-stopped", "n3"), Some(1.0));
    assert_eq!(cluster.reading("process-stopped", "n1"), Some(0.0));
    assert!(tiny::ping(address(&cluster, "n3")).await.is_err());
    pause.heal(&plane).await.expect("resumed");
    assert_eq!(cluster.reading("process-stopped", "n3"), Some(0.0));
    tiny::ping(address(&cluster, "n3")).await.expect("it answers again");
}

#[tokio::test(flavor = "multi_thread")]
async fn stops_and_restarts_leave_a_new_process() {
    let place = place();
    let (cluster, plane) = three(&place).await;
    let mut stop = GracefulStop::new(["n1"]);
    stop.inject(&plane).await.expect("stopped");
    assert_eq!(cluster.reading("process-exit", "n1"), Some(1.0));
    stop.heal(&plane).await.expect("started");
    let mut restart = Restart::new(["n1", "n2"]);
    restart.inject(&plane).await.expect("restarted");
    restart.heal(&plane).await.expect("nothing to do");
    assert_eq!(cluster.reading("process-restarted", "n1"), Some(2.0));
    assert_eq!(cluster.reading("process-restarted", "n2"), Some(1.0));
    assert_eq!(cluster.deaths(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn cuts_swallow_what_they_name_and_heal() {
    let place = place();
    let (cluster, plane) = three(&place).await;
    let dropped = |a: &str, b: &str| place.site.net.proxy().data_counters(a, b).expect("a link").bytes_dropped;
    let mut cut = AsymmetricDataCut::new(["n1"], ["n2", "n3"]);
    cut.inject(&plane).await.expect("cut");
    assert!(tiny::ping(address(&cluster, "n1")).await.is_err(), "no majority behind the cut");
    tiny::ping(address(&cluster, "n2")).await.expect("the others go on");
    assert!(dropped("n1", "n2") > 0);
    assert_eq!(dropped("n2", "n1"), 0, "one way only");
    cut.heal(&plane).await.expect("healed");
    tiny::ping(address(&cluster, "n1")).await.expect("healed");
    let mut partition = FullPartition::new(["n3"], ["n1", "n2"]);
    partition.inject(&plane).await.expect("cut");
    assert!(tiny::ping(address(&cluster, "n3")).await.is_err());
    partition.heal(&plane).await.expect("healed");
    tiny::ping(address(&cluster, "n3")).await.expect("healed");
}

#[tokio::test(flavor = "multi_thread")]
async fn nemeses_that_would_do_nothing_are_errors() {
    let place = place();
    let (_cluster, plane) = three(&place).await;
    let nobody: [&str; 0] = [];
    let useless: Vec<Box<dyn Nemesis>> = vec![
        Box::new(HardKill::new(nobody)),
        Box::new(Pause::new(nobody)),
        Box::new(GracefulStop::new(["n9"])),
        Box::new(Restart::new(["n9"])),
        Box::new(FullPartition::new(["n1"], ["n9"])),
        Box::new(AsymmetricDataCut::new(nobody, ["n1"])),
        Box::new(ConnectionLoss::new(["n1"], ["n9"])),
    ];
    for mut nemesis in useless {
        assert!(nemesis.inject(&plane).await.is_err(), "{} {}", nemesis.name(), nemesis.detail());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_never_ready_is_an_error_with_its_log() {
    let place = place();
    let program = tiny::program().args(["--exact", "cluster::tiny::node", "--nocapture", "listen={listen}", "die=1"]);
    let error = Cluster::start(program, 2, Arc::clone(&place.site)).await.expect_err("they exit");
    let said = format!("{error:#}");
    assert!(said.contains("ended before it was ready: exit status 3") && said.contains("its log ends"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_cluster_is_taken_down_too() {
    let place = place();
    let (cluster, plane) = three(&place).await;
    plane.nodes().pause("n1").await.expect("paused");
    cluster.close();
    assert_eq!(cluster.running(), Vec::<String>::new());
    assert!(plane.nodes().start("n1").await.is_err(), "nothing starts after the end");
    assert_eq!(cluster.deaths(), [], "the end is no death");
}

const EXEC: &str = "exec \"$0\" \"$@\"";
const AGAIN_AND_AGAIN: &str = "while :; do \"$0\" \"$@\"; done";

async fn start(place: &Place, program: Program) -> anyhow::Result<(Cluster, Plane)> {
    let cluster = Cluster::start(program, 3, Arc::clone(&place.site)).await?;
    let plane = Plane::new(place.site.net.clone(), Arc::new(cluster.clone()), place.site.tools());
    Ok((cluster, plane))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_its_own_supervisor_starts_again_has_died() {
    let place = place();
    let (cluster, plane) = start(&place, tiny::by_shell(AGAIN_AND_AGAIN)).await.expect("it comes up");
    HardKill::new(["n2"]).inject(&plane).await.expect("killed");
    plane.nodes().start("n2").await.expect("it starts again");
    drop(tiny::ask(address(&cluster, "n1"), "die").await);
    until("the death is seen", || !cluster.deaths().is_empty()).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let deaths = cluster.deaths();
    assert_eq!(deaths.iter().map(|death| death.node.as_str()).collect::<Vec<_>>(), ["n1"], "{deaths:?}");
    assert!(deaths[0].how.contains("which listened for it, ended by itself") && !deaths[0].allowed, "{deaths:?}");
    until("the server is back, and dies again", || cluster.running().len() == 3).await;
    while tiny::ask(address(&cluster, "n1"), "die").await.is_ok() || cluster.deaths().len() < 2 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(cluster.deaths().len() >= 2, "each death is one");
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_run_variants_of_their_program_and_it_is_told_which() {
    let place = place();
    let next = tiny::by_shell(EXEC).config("version", "2\n");
    let same = tiny::program().config("version", "3\n");
    let program = tiny::program().config("version", "1\n").variant("next", next).variant("other", same);
    let (cluster, plane) = start(&place, program.begins_with("n3", "next")).await.expect("it comes up");
    let version = |node: &'static str| tiny::ask(address(&cluster, node), "version");
    assert_eq!((version("n1").await.expect("1").as_str(), version("n3").await.expect("2").as_str()), ("1", "2"));
    assert!(plane.nodes().start_as("n1", Some("next")).await.is_err(), "it runs still");
    plane.nodes().terminate("n1").await.expect("stopped");
    assert!(plane.nodes().start_as("n1", Some("none such")).await.is_err());
    plane.nodes().start_as("n1", Some("next")).await.expect("started");
    assert_eq!(version("n1").await.expect("2"), "2");
    assert_eq!(cluster.reading("process-upgraded", "n1"), Some(1.0));
    plane.nodes().terminate("n2").await.expect("stopped");
    plane.nodes().start_as("n2", Some("other")).await.expect("started");
    assert_eq!(cluster.reading("process-upgraded", "n2"), Some(0.0), "another configuration is no other binary");
    let told: Vec<(String, Option<String>)> =
        cluster.binaries().into_iter().map(|binary| (binary.node, binary.variant)).collect();
    let expect = [("n1", None), ("n1", Some("next")), ("n2", None), ("n2", Some("other")), ("n3", Some("next"))];
    assert_eq!(told, expect.map(|(node, variant)| (node.to_owned(), variant.map(str::to_owned))));
    assert!(cluster.binaries().iter().all(|binary| binary.sha256.as_ref().is_some_and(|sha| sha.len() == 64)));
    assert_eq!(cluster.deaths(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variant_or_node_that_is_none_keeps_the_cluster_from_coming_up() {
    for (node, variant, why) in [("n1", "none", "no variant `none`"), ("n9", "next", "`n9` is to begin with")] {
        let program = tiny::program().variant("next", tiny::by_shell(EXEC)).begins_with(node, variant);
        let error = start(&place(), program).await.map(|_| ()).expect_err("refused");
        assert!(format!("{error:#}").contains(why), "{error:#}");
    }
}
