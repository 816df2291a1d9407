//! The proxy on real sockets: each rule acts and is counted, its twin that has nothing to act on counts nothing.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::base::rng::Rng;
use std::io::ErrorKind;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const PATIENCE: Duration = Duration::from_secs(10);

/// A net with one link c -> s, and the listener of s.
async fn net() -> (ProxyNet, SocketAddr, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let net = ProxyNet::seeded(Clock::start(), 7);
    let address = net.add_link("c", "s", listener.local_addr().unwrap()).unwrap();
    (net, address, listener)
}

/// Both ends of a connection through the link: (client, server).
async fn pair(address: SocketAddr, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let client = TcpStream::connect(address).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    (client, server)
}

/// Awaits a count that other tasks bring about.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "never came about: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn receive(stream: &mut TcpStream, n: usize) -> Vec<u8> {
    let mut buffer = vec![0; n];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut buffer)).await.expect("bytes in time").unwrap();
    buffer
}

/// Nothing can be read, and the stream has not ended either. Only meaningful after an event that orders it.
fn has_nothing(stream: &TcpStream) -> bool {
    matches!(stream.try_read(&mut [0; 1]), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

async fn is_reset(stream: &mut TcpStream) -> bool {
    let read = tokio::time::timeout(PATIENCE, stream.read(&mut [0; 1])).await.expect("an end in time");
    matches!(read, Err(error) if error.kind() == ErrorKind::ConnectionReset)
}

fn counters(net: &ProxyNet) -> LinkCounters {
    net.counters("c", "s").unwrap()
}

#[tokio::test]
async fn payload_passes_both_ways_and_is_counted_where_it_passed() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    client.write_all(b"request").await.unwrap();
    assert_eq!(receive(&mut server, 7).await, b"request");
    server.write_all(b"ok").await.unwrap();
    assert_eq!(receive(&mut client, 2).await, b"ok");
    let lane = |bytes_passed| LaneCounters { bytes_passed, ..LaneCounters::default() };
    let expected = LinkCounters {
        forward: lane(7),
        backward: lane(2),
        connections_opened: 1,
        connections_open: 1,
        ..LinkCounters::default()
    };
    assert_eq!(counters(&net), expected);
}

#[tokio::test]
async fn a_half_closed_stream_still_carries_the_reply() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    client.write_all(b"all").await.unwrap();
    client.shutdown().await.unwrap();
    let mut request = Vec::new();
    server.read_to_end(&mut request).await.unwrap();
    assert_eq!(request, b"all");
    server.write_all(b"answer").await.unwrap();
    drop(server);
    let mut reply = Vec::new();
    client.read_to_end(&mut reply).await.unwrap();
    assert_eq!(reply, b"answer");
    until("the connection ends", || counters(&net).connections_open == 0).await;
    assert_eq!(counters(&net).resets_relayed, 0);
}

#[tokio::test]
async fn a_data_cut_swallows_one_direction_and_delivers_the_other() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    net.cut_data("c", "s").unwrap();
    client.write_all(b"lost!").await.unwrap();
    until("the cut swallows", || counters(&net).forward.bytes_dropped == 5).await;
    assert!(has_nothing(&server));
    server.write_all(b"still heard").await.unwrap();
    assert_eq!(receive(&mut client, 11).await, b"still heard");
    // A connection opened during the cut is accepted, and cut as well.
    let (mut late, late_server) = pair(address, &listener).await;
    late.write_all(b"lost too").await.unwrap();
    until("the cut swallows", || counters(&net).forward.bytes_dropped == 13).await;
    assert!(has_nothing(&late_server));
    assert_eq!(counters(&net).forward.bytes_passed, 0);
    assert_eq!(counters(&net).backward, LaneCounters { bytes_passed: 11, ..LaneCounters::default() });
}

#[tokio::test]
async fn data_from_a_to_b_is_requests_on_one_link_and_replies_on_the_other() {
    let (listener_a, listener_b) =
        (TcpListener::bind("127.0.0.1:0").await.unwrap(), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let net = ProxyNet::new(Clock::start());
    let to_b = net.add_link("a", "b", listener_b.local_addr().unwrap()).unwrap();
    let to_a = net.add_link("b", "a", listener_a.local_addr().unwrap()).unwrap();
    let (mut a_opened, mut b_accepted) = pair(to_b, &listener_b).await;
    let (mut b_opened, mut a_accepted) = pair(to_a, &listener_a).await;
    net.cut_data("a", "b").unwrap();
    a_opened.write_all(b"request").await.unwrap();
    a_accepted.write_all(b"reply").await.unwrap();
    until("both are swallowed", || net.data_counters("a", "b").unwrap().bytes_dropped == 12).await;
    b_opened.write_all(b"request").await.unwrap();
    b_accepted.write_all(b"reply").await.unwrap();
    assert_eq!(receive(&mut a_accepted, 7).await, b"request");
    assert_eq!(receive(&mut a_opened, 5).await, b"reply");
    let back = net.data_counters("b", "a").unwrap();
    assert_eq!(back, LaneCounters { bytes_passed: 12, ..LaneCounters::default() });
    assert_eq!(net.data_counters("a", "b").unwrap().bytes_passed, 0);
}

#[tokio::test]
async fn healing_resets_connections_that_lost_bytes_and_keeps_the_others() {
    let (net, address, listener) = net().await;
    let (mut holed, mut holed_server) = pair(address, &listener).await;
    let (mut whole, mut whole_server) = pair(address, &listener).await;
    net.cut_both("c", "s").unwrap();
    holed.write_all(b"lost").await.unwrap();
    until("the cut swallows", || counters(&net).forward.bytes_dropped == 4).await;
    net.heal_pair("c", "s").unwrap();
    assert!(is_reset(&mut holed).await);
    assert!(is_reset(&mut holed_server).await);
    until("counted", || counters(&net).connections_reset_at_heal == 1).await;
    whole.write_all(b"whole").await.unwrap();
    assert_eq!(receive(&mut whole_server, 5).await, b"whole");
    let (mut fresh, mut fresh_server) = pair(address, &listener).await;
    fresh.write_all(b"fresh").await.unwrap();
    assert_eq!(receive(&mut fresh_server, 5).await, b"fresh");
    assert_eq!(counters(&net).connections_reset, 0, "a reset at the heal is no evidence of asked-for resets");
}

#[tokio::test]
async fn bytes_sent_after_a_swallowed_one_are_never_delivered() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    net.cut_data("c", "s").unwrap();
    client.write_all(b"x").await.unwrap();
    until("the cut swallows", || counters(&net).forward.bytes_dropped == 1).await;
    net.heal_all();
    // The write may or may not be refused already: the proxy resets as soon as it looks.
    drop(client.write_all(b"after the hole").await);
    assert!(is_reset(&mut server).await);
    assert_eq!(counters(&net).forward.bytes_passed, 0);
}

#[tokio::test]
async fn a_cut_withholds_the_end_of_a_stream_until_it_heals() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    net.cut_data("c", "s").unwrap();
    client.shutdown().await.unwrap();
    // A later connection through the same cut orders this check after the end of stream was read.
    let (mut later, _later_server) = pair(address, &listener).await;
    later.write_all(b"x").await.unwrap();
    until("the cut swallows", || counters(&net).forward.bytes_dropped == 1).await;
    assert!(has_nothing(&server));
    net.heal_pair("c", "s").unwrap();
    assert_eq!(server.read(&mut [0; 1]).await.unwrap(), 0, "a clean end, since nothing was lost");
}

#[tokio::test]
async fn a_cut_withholds_resets_and_refusals_too() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    client.write_all(b"x").await.unwrap();
    receive(&mut server, 1).await;
    net.cut_both("c", "s").unwrap();
    server.set_zero_linger().unwrap();
    drop((server, listener));
    let mut refused = TcpStream::connect(address).await.unwrap();
    until("the upstream refuses", || counters(&net).connections_opened == 2).await;
    tokio::task::yield_now().await;
    assert!(has_nothing(&client) && has_nothing(&refused));
    net.heal_pair("c", "s").unwrap();
    assert!(is_reset(&mut client).await);
    assert!(is_reset(&mut refused).await);
    until("both end", || counters(&net).connections_open == 0).await;
    assert_eq!((counters(&net).resets_relayed, counters(&net).refused), (1, 1), "{:?}", counters(&net));
}

#[tokio::test]
async fn a_delay_delays_keeps_the_order_and_counts_what_waited() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    let rule = Rule::Delay { mean: Duration::from_millis(60), jitter: Duration::from_millis(50) };
    net.set_rule("c", "s", Direction::Forward, rule).unwrap();
    let start = Instant::now();
    for i in 0..20_u8 {
        client.write_all(&[i]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let bytes = receive(&mut server, 20).await;
    assert_eq!(bytes, (0..20).collect::<Vec<u8>>());
    assert!(start.elapsed() >= Duration::from_millis(60), "20 draws of 10 to 110 ms have one over 40 ms");
    until("counted", || counters(&net).forward.chunks_delayed > 1).await;
    assert_eq!(counters(&net).backward.chunks_delayed, 0);
    server.write_all(b"ok").await.unwrap();
    assert_eq!(receive(&mut client, 2).await, b"ok");
}

#[tokio::test]
async fn healing_a_delay_delivers_at_once_what_was_under_way() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    let rule = Rule::Delay { mean: Duration::from_secs(3_600), jitter: Duration::ZERO };
    net.set_data_rule("c", "s", rule).unwrap();
    client.write_all(b"under way").await.unwrap();
    net.heal_pair("c", "s").unwrap();
    client.write_all(b", then this").await.unwrap();
    assert_eq!(receive(&mut server, 20).await, b"under way, then this");
    assert_eq!(counters(&net).forward.chunks_delayed, 0, "what did not wait to the end is not counted");
}

#[tokio::test]
async fn a_cut_loses_what_a_delay_had_under_way() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    let rule = Rule::Delay { mean: Duration::from_secs(3_600), jitter: Duration::ZERO };
    net.set_data_rule("c", "s", rule).unwrap();
    client.write_all(b"under way").await.unwrap();
    net.cut_data("c", "s").unwrap();
    until("it is lost", || counters(&net).forward.bytes_dropped == 9).await;
    net.heal_pair("c", "s").unwrap();
    assert!(is_reset(&mut server).await);
}

#[tokio::test]
async fn a_throttle_holds_its_rate_and_counts_what_waited() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    net.set_rule("c", "s", Direction::Forward, Rule::Throttle { bytes_per_second: 200_000 }).unwrap();
    let start = Instant::now();
    client.write_all(&[7; 60_000]).await.unwrap();
    receive(&mut server, 60_000).await;
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(250), "60 kB at 200 kB/s took {took:?}");
    assert!(counters(&net).forward.bytes_throttled >= 40_000);
    // Healing lets the rest through at once.
    client.write_all(&[7; 100_000]).await.unwrap();
    net.heal_pair("c", "s").unwrap();
    receive(&mut server, 100_000).await;
}

#[tokio::test]
async fn a_receiver_that_does_not_read_gets_nothing_that_a_cut_came_before() {
    let (net, address, listener) = net().await;
    let (client, mut server) = pair(address, &listener).await;
    // Fill every buffer between the two ends.
    let mut sent = 0_u64;
    while let Ok(Ok(n)) = tokio::time::timeout(Duration::from_millis(100), async {
        client.writable().await?;
        client.try_write(&[1; 65_536]).or_else(|e| if e.kind() == ErrorKind::WouldBlock { Ok(0) } else { Err(e) })
    })
    .await
    {
        sent += n as u64;
    }
    net.cut_data("c", "s").unwrap();
    until("the rest is swallowed", || {
        let lane = counters(&net).forward;
        lane.bytes_dropped > 0 && lane.bytes_passed + lane.bytes_dropped == sent
    })
    .await;
    let passed = usize::try_from(counters(&net).forward.bytes_passed).unwrap();
    receive(&mut server, passed).await;
    assert!(has_nothing(&server));
}

#[tokio::test]
async fn asked_for_resets_reach_both_ends_and_only_they_are_counted_as_such() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    let (mut other, mut other_server) = pair(address, &listener).await;
    assert_eq!(net.reset_connections("c", "s").unwrap(), 2);
    for stream in [&mut client, &mut server, &mut other, &mut other_server] {
        assert!(is_reset(stream).await);
    }
    until("counted", || counters(&net).connections_reset == 2 && counters(&net).connections_open == 0).await;
    assert_eq!(net.reset_connections("c", "s").unwrap(), 0, "nothing was open");
    let (client, mut server) = pair(address, &listener).await;
    client.set_zero_linger().unwrap();
    drop(client);
    assert!(is_reset(&mut server).await, "a reset by one end reaches the other");
    until("counted", || counters(&net).resets_relayed == 1).await;
    assert_eq!(counters(&net).connections_reset, 2);
}

#[tokio::test]
async fn a_link_without_a_living_upstream_refuses_until_it_has_one() {
    let net = ProxyNet::new(Clock::start());
    let address = net.add_link("c", "s", None).unwrap();
    assert_eq!(net.address("c", "s"), Some(address));
    assert!(is_reset(&mut TcpStream::connect(address).await.unwrap()).await);
    until("counted", || counters(&net).refused == 1).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    net.set_upstream("c", "s", listener.local_addr().unwrap()).unwrap();
    let (mut client, mut server) = pair(address, &listener).await;
    client.write_all(b"hello").await.unwrap();
    assert_eq!(receive(&mut server, 5).await, b"hello");
}

#[tokio::test]
async fn a_rule_about_a_link_that_does_not_exist_is_an_error() {
    let (net, _address, listener) = net().await;
    let unknown = |from: &str, to: &str| UnknownLink { from: from.to_owned(), to: to.to_owned() };
    assert_eq!(net.cut_data("c", "x"), Err(unknown("x", "c")));
    assert_eq!(net.cut_both("y", "x"), Err(unknown("x", "y")));
    assert_eq!(net.heal_pair("c", "x"), Err(unknown("x", "c")));
    assert_eq!(net.reset_connections("s", "c"), Err(unknown("s", "c")), "a link has a direction");
    assert!(net.counters("c", "x").is_err() && net.data_counters("c", "x").is_err());
    assert!(net.data_counters("s", "c").is_ok(), "replies travel on the link of the opener");
    let taken = net.add_link("c", "s", listener.local_addr().unwrap()).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
}

#[tokio::test]
async fn a_rule_with_nothing_to_act_on_counts_nothing() {
    let rules = [
        Rule::Drop,
        Rule::Delay { mean: Duration::from_millis(1), jitter: Duration::ZERO },
        Rule::Throttle { bytes_per_second: 1 },
    ];
    for rule in rules {
        let (net, address, listener) = net().await;
        let (mut client, mut server) = pair(address, &listener).await;
        net.set_rule("c", "s", Direction::Forward, rule).unwrap();
        server.write_all(b"the other way").await.unwrap();
        receive(&mut client, 13).await;
        // The proxy bypassed: a connection straight to the server.
        let direct = listener.local_addr().unwrap();
        let (mut bypass, mut bypassed) = pair(direct, &listener).await;
        bypass.write_all(b"around it").await.unwrap();
        receive(&mut bypassed, 9).await;
        assert_eq!(counters(&net).forward, LaneCounters::default(), "{rule:?}");
    }
}

#[tokio::test]
async fn a_rule_too_weak_to_act_counts_nothing() {
    let rules = [
        Rule::Delay { mean: Duration::ZERO, jitter: Duration::ZERO },
        Rule::Throttle { bytes_per_second: u64::MAX },
        Rule::Pass,
    ];
    for rule in rules {
        let (net, address, listener) = net().await;
        let (mut client, mut server) = pair(address, &listener).await;
        net.set_rule("c", "s", Direction::Forward, rule).unwrap();
        for _ in 0..3 {
            client.write_all(b"payload").await.unwrap();
            receive(&mut server, 7).await;
        }
        let expected = LaneCounters { bytes_passed: 21, ..LaneCounters::default() };
        assert_eq!(counters(&net).forward, expected, "{rule:?}");
    }
}

#[tokio::test]
async fn dropping_the_net_frees_every_listener_and_connection() {
    let (net, address, listener) = net().await;
    let (mut client, mut server) = pair(address, &listener).await;
    let clone = net.clone();
    drop(net);
    client.write_all(b"x").await.unwrap();
    assert_eq!(receive(&mut server, 1).await, b"x", "a clone keeps it");
    drop(clone);
    let ended = tokio::time::timeout(PATIENCE, client.read(&mut [0; 1])).await.expect("an end in time");
    assert!(matches!(ended, Ok(0) | Err(_)));
    let start = Instant::now();
    while TcpStream::connect(address).await.is_ok() {
        assert!(start.elapsed() < PATIENCE, "still listening");
        tokio::task::yield_now().await;
    }
}

/// The bytes of a stream, so that a hole shows.
fn pattern(n: usize) -> Vec<u8> {
    let mut rng = Rng::new(3);
    (0..n.div_ceil(8)).flat_map(|_| rng.next_u64().to_le_bytes()).take(n).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_the_rules_do_a_receiver_sees_a_prefix_of_what_was_sent() {
    const BYTES: usize = 1 << 20;
    let sent = Arc::new(pattern(BYTES));
    for seed in 0..12 {
        let (net, address, listener) = net().await;
        let (mut client, mut server) = pair(address, &listener).await;
        let stream = sent.clone();
        let sender = tokio::spawn(async move {
            for piece in stream.chunks(10_000) {
                if client.write_all(piece).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_micros(300)).await;
            }
            drop(client.shutdown().await);
        });
        let receiver = tokio::spawn(async move {
            let mut received = Vec::new();
            let clean = server.read_to_end(&mut received).await.is_ok();
            (received, clean)
        });
        let mut rng = Rng::new(seed);
        // Odd seeds cut as well; the others must deliver all.
        let cuts = seed % 2 == 1;
        let millis = |n| Duration::from_millis(n);
        for _ in 0..25 {
            let rule = match rng.below(if cuts { 5 } else { 4 }) {
                0 => Rule::Pass,
                1 => Rule::Delay { mean: millis(3), jitter: millis(3) },
                2 => Rule::Throttle { bytes_per_second: 20_000_000 },
                3 => Rule::Delay { mean: millis(1), jitter: millis(1) },
                _ => Rule::Drop,
            };
            net.set_data_rule("c", "s", rule).unwrap();
            tokio::time::sleep(Duration::from_micros(rng.below(3_000))).await;
        }
        net.heal_all();
        let (received, clean) = tokio::time::timeout(PATIENCE, receiver).await.expect("an end in time").unwrap();
        sender.await.unwrap();
        let lane = counters(&net).forward;
        assert!(sent.starts_with(&received), "seed {seed}: a hole after {} bytes", received.len());
        assert_eq!(clean, received.len() == BYTES, "seed {seed}: a clean end means all of it");
        assert_eq!(clean, lane.bytes_dropped == 0, "seed {seed}: {lane:?}");
        assert!(cuts || clean, "seed {seed}: nothing was cut, all must arrive");
    }
}
