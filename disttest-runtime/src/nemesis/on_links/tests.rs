use super::super::net::Treatment;
use super::super::procfs::Identity;
use super::super::storage::Mounted;
use super::super::{BoxFuture, Exit, Nemesis};
use super::*;
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const NONE: [&str; 0] = [];

#[test]
fn the_smaller_side_is_the_victim_unless_named() {
    let check = |nemesis: &dyn Nemesis, expect: &[&str]| assert_eq!(nemesis.victims(), expect, "{}", nemesis.name());
    check(&FullPartition::new(["n1"], ["n2", "n3"]), &["n1"]);
    check(&FullPartition::new(["n1", "n2"], ["n3"]), &["n3"]);
    check(&AsymmetricDataCut::new(["n1"], ["n2"]), &["n1"]);
    check(&AsymmetricDataCut::new(["n1"], ["n2"]).with_victims(["n2"]), &["n2"]);
    check(&Latency::new(["client"], ["n1"], Duration::ZERO, Duration::ZERO).with_victims(["n1"]), &["n1"]);
    check(&MinoritySidePartition::new(["n1"], ["n2", "n3"]), &["n1"]);
    check(&MajoritySidePartition::new(["n2", "n3"], ["n1"]), &["n2", "n3"]);
    check(&SlowFollower::new("n3", ["n1", "n2"], Duration::ZERO, Duration::ZERO), &["n3"]);
    check(&MetadataStoreOutage::new(["n1", "n2"], "n3", 2379), &["n1", "n2"]);
}

#[test]
fn a_cut_is_read_one_way_and_a_partition_both_ways() {
    let places = |nemesis: &dyn Nemesis| {
        let read = nemesis.injector().into_iter();
        read.filter(|(signal, _)| signal == "switch-dropped-packets").map(|(_, at)| at).collect::<Vec<_>>()
    };
    assert_eq!(places(&AsymmetricDataCut::new(["n1"], ["n2", "n3"])), ["link n1->n2", "link n1->n3"]);
    assert_eq!(places(&AsymmetricPartition::new(["n1"], ["n2"])), ["link n1->n2"]);
    assert_eq!(places(&FullPartition::new(["n1"], ["n2"])), ["link n1->n2", "link n2->n1"]);
    assert_eq!(places(&MetadataStoreOutage::new(["n1"], "n3", 1)), ["link n1->n3", "link n3->n1"]);
    let apart = ["link n1->n3", "link n2->n4", "link n3->n1", "link n4->n2"];
    assert_eq!(places(&RingPartition::new(["n1", "n2", "n3", "n4"])), apart);
    let bridged = places(&BridgePartition::new(["n1", "n2"], ["n4", "n5"], "n3"));
    assert!(bridged.len() == 8 && !bridged.iter().any(|place| place.contains("n3")));
}

#[test]
fn each_nemesis_is_read_by_what_can_act_so_and_by_nothing_else() {
    let check = |nemesis: &dyn Nemesis, expect: &[&str]| {
        let mut signals: Vec<String> = nemesis.injector().into_iter().map(|(signal, _)| signal).collect();
        signals.dedup();
        signals.truncate(expect.len().max(signals.len() / 2));
        assert_eq!(signals, expect, "{}", nemesis.name());
        let known = crate::plan::names::Nemesis::find(nemesis.name()).expect("a plan may name it");
        assert_eq!(known.signals, expect, "{}", nemesis.name());
    };
    let all = ["proxy-dropped-bytes", "iptables-dropped-packets", "nft-dropped-packets", "switch-dropped-packets"];
    check(&FullPartition::new(["n1"], ["n2"]), &all);
    check(&AsymmetricPartition::new(["n1"], ["n2"]), &all[1..]);
    check(&PacketLoss::new(["n1"], ["n2"], 0.1), &all[1..]);
    let (mean, jitter) = (Duration::ZERO, Duration::ZERO);
    check(&Latency::new(["n1"], ["n2"], mean, jitter), &["proxy-delayed-chunks", "switch-delayed-packets"]);
    check(&BandwidthCap::new(["n1"], ["n2"], 1), &["proxy-throttled-bytes", "switch-throttled-packets"]);
    check(&PacketDuplication::new(["n1"], ["n2"], 0.1), &["switch-duplicated-packets"]);
    check(&PacketReordering::new(["n1"], ["n2"], 0.1, mean), &["switch-reordered-packets"]);
    check(&PacketCorruption::new(["n1"], ["n2"], 0.1), &["switch-corrupted-packets"]);
}

#[tokio::test]
async fn a_fault_on_nobody_or_on_itself_is_an_error() {
    use crate::nemesis::{Clock, Journal, Launcher, Meters, Network, Plane, ProxyNet, Tools};
    let dir = tempfile::tempdir().expect("a folder");
    let tools = Tools {
        journal: Arc::new(Journal::open(dir.path(), "r1").expect("a journal")),
        launcher: Launcher::new("test").expect("a thread"),
        meters: Meters::default(),
        run_dir: dir.path().to_owned(),
    };
    let plane = || Plane::new(Network::proxied(ProxyNet::new(Clock::start())), Arc::new(Nobody), tools.clone());
    let check = |fault: LinkFault, expect: &str| {
        let error = fault.inject(&plane()).expect_err("nothing to act on");
        assert!(format!("{error:#}").contains(expect), "{error:#}");
    };
    check(FullPartition::new(["n1"], NONE).0, "would do nothing");
    check(FullPartition::new(["n1"], ["n1"]).0, "stands on both sides");
    let both = [("n1".to_owned(), "n2".to_owned()), ("n2".to_owned(), "n1".to_owned())];
    let net = plane();
    for (ways, treatment, expect) in [
        (&both[..1], Treatment::Cut, "cannot be cut there"),
        (&both[..], Treatment::Lose { share: 0.1 }, "payload, not packets"),
        (&both[..], Treatment::Cut, "goes through the proxy"),
    ] {
        let error = net.net().treat(ways, treatment).expect_err("not by the proxy");
        assert!(format!("{error:#}").contains(expect), "{error:#}");
    }
}

/// No nodes.
pub(in crate::nemesis) struct Nobody;

impl crate::nemesis::Nodes for Nobody {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn runs(&self, _: &str) -> bool {
        false
    }

    fn kill<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Exit>> {
        Box::pin(async { bail!("nobody") })
    }

    fn terminate<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Exit>> {
        Box::pin(async { bail!("nobody") })
    }

    fn pause<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { bail!("nobody") })
    }

    fn resume<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { bail!("nobody") })
    }

    fn start<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { bail!("nobody") })
    }

    fn start_as<'a>(&'a self, _: &'a str, _: Option<&'a str>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { bail!("nobody") })
    }

    fn variant(&self, _: &str) -> Result<Option<String>> {
        bail!("nobody")
    }

    fn data_dir(&self, _: &str) -> Result<PathBuf> {
        bail!("nobody")
    }

    fn process(&self, _: &str) -> Result<Identity> {
        bail!("nobody")
    }

    fn expect_kill(&self, _: &str, _: bool) -> Result<()> {
        bail!("nobody")
    }

    fn disk(&self, _: &str) -> Result<Option<Arc<Mounted>>> {
        bail!("nobody")
    }
}
