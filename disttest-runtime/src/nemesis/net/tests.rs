//! Networks of namespaces with real packets, as root or in a user namespace.

use super::fabric::Home;
use super::testing::enclosed;
use super::treatment::End;
use super::{Backend, Counts, NetnsNet, Treatment};
use anyhow::Result;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

const FILTERS: [Backend; 2] = [Backend::Nft, Backend::Iptables];
const EVERY: [Backend; 3] = [Backend::Nft, Backend::Iptables, Backend::Switch];

/// Three nodes and the clients.
struct Net {
    net: NetnsNet,
    homes: Vec<Home>,
}

impl Net {
    fn new(backend: Backend) -> Result<Net> {
        let net = NetnsNet::new(backend, 7, "client")?;
        let homes = (0..3).map(|i| net.add_node(&format!("n{}", i + 1), i)).collect::<Result<_>>()?;
        Ok(Net { net, homes })
    }

    /// Runs `act` in the namespace of a place; 0 stands for the clients.
    fn at<T: Send>(&self, place: usize, act: impl FnOnce() -> std::io::Result<T> + Send) -> Result<T> {
        match place {
            0 => Ok(act()?),
            node => self.homes[node - 1].namespace.run(|| Ok(act()?)),
        }
    }

    fn address(&self, node: usize) -> Ipv4Addr {
        self.homes[node - 1].address
    }

    fn counts(&self, a: &str, b: &str) -> Result<Counts> {
        Ok(self.net.counts()?[&(a.to_owned(), b.to_owned())])
    }

    fn treat(&self, pairs: &[(&str, &str)], treatment: impl Into<Option<Treatment>>) -> Result<()> {
        let pairs: Vec<_> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        self.net.treat(&pairs, treatment.into())
    }

    /// A TCP connection from a place to a node: both ends.
    fn connect(&self, from: usize, to: usize) -> Result<(TcpStream, TcpStream)> {
        let address = SocketAddr::from((self.address(to), 7000));
        let listener = self.at(to, || TcpListener::bind(address))?;
        let opened = self.at(from, || TcpStream::connect_timeout(&address, Duration::from_millis(500)))?;
        let (accepted, _) = listener.accept()?;
        for end in [&opened, &accepted] {
            end.set_nodelay(true)?;
            end.set_read_timeout(Some(Duration::from_millis(300)))?;
        }
        Ok((opened, accepted))
    }

    /// A datagram socket at a place.
    fn datagrams(&self, place: usize) -> Result<UdpSocket> {
        let socket = self.at(place, || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 9000)))?;
        socket.set_read_timeout(Some(Duration::from_millis(300)))?;
        Ok(socket)
    }
}

/// `message` arrives within the patience of the stream.
fn passes(from: &mut TcpStream, to: &mut TcpStream, message: &[u8]) -> bool {
    let mut got = vec![0; message.len()];
    from.write_all(message).is_ok() && to.read_exact(&mut got).is_ok() && got == message
}

/// Everything that has come in order of arrival, until nothing comes any more.
fn received(socket: &UdpSocket) -> Vec<u32> {
    let (mut all, mut buffer) = (Vec::new(), [0; 2000]);
    loop {
        match socket.recv(&mut buffer) {
            Ok(length) if length >= 4 => all.push(u32::from_be_bytes([buffer[0], buffer[1], buffer[2], buffer[3]])),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return all,
            Err(_) => {}
        }
    }
}

fn send_numbers(from: &UdpSocket, to: Ipv4Addr, count: u32, pace: Duration) -> Result<()> {
    for number in 0..count {
        from.send_to(&[&number.to_be_bytes()[..], &[7; 60]].concat(), (to, 9000))?;
        std::thread::sleep(pace);
    }
    Ok(())
}

/// Sends numbers and gives those that came, read as they come: a socket holds a few hundred.
fn exchange(from: &UdpSocket, to: &UdpSocket, address: Ipv4Addr, count: u32, pace: Duration) -> Result<Vec<u32>> {
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| received(to));
        send_numbers(from, address, count, pace)?;
        Ok(reading.join().expect("no panic"))
    })
}

#[test]
fn every_place_reaches_every_other_and_what_passes_is_counted() {
    fn body(backend: Backend) -> Result<()> {
        let net = Net::new(backend)?;
        for (from, to) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 1), (3, 1)] {
            let (mut a, mut b) = net.connect(from, to)?;
            assert!(passes(&mut a, &mut b, b"x") && passes(&mut b, &mut a, &[7; 5000]), "{from} -> {to}");
        }
        assert!(net.counts("client", "n1")?.passed >= 1);
        assert!(net.counts("n1", "client")?.passed >= 4, "5000 bytes are several packets");
        assert_eq!(net.counts("n2", "n3")?, Counts::default(), "nobody asked");
        Ok(())
    }
    enclosed("nemesis::net::tests::every_place_reaches_every_other_and_what_passes_is_counted", body, &EVERY);
}

#[test]
fn a_cut_drops_and_counts_and_its_heal_takes_and_nobody_else_suffers() {
    fn body(backend: Backend) -> Result<()> {
        let net = Net::new(backend)?;
        let (mut a, mut b) = net.connect(1, 2)?;
        let (mut c, mut d) = net.connect(1, 3)?;
        assert!(passes(&mut a, &mut b, b"before"));
        // A switch counts a packet once it is written: by then it may have been read already.
        while net.counts("n1", "n2")?.passed == 0 {}
        let before = net.counts("n1", "n2")?;
        assert_eq!(before.dropped, 0);
        net.treat(&[("n1", "n2"), ("n2", "n1")], Treatment::Cut)?;
        assert!(!passes(&mut a, &mut b, b"during"));
        assert!(net.connect(1, 2).is_err() && passes(&mut c, &mut d, b"others"));
        let during = net.counts("n1", "n2")?;
        assert!(during.dropped > before.dropped && during.passed == before.passed, "{before:?} {during:?}");
        assert_eq!(net.counts("n1", "n3")?.dropped, 0);
        net.treat(&[("n1", "n2"), ("n2", "n1")], None)?;
        b.set_read_timeout(Some(Duration::from_secs(5)))?;
        let mut late = [0; 6];
        b.read_exact(&mut late)?;
        assert_eq!(&late, b"during", "TCP sends again what was dropped");
        let healed = net.counts("n1", "n2")?;
        assert!(passes(&mut a, &mut b, b"after"));
        assert_eq!(net.counts("n1", "n2")?.dropped, healed.dropped, "the counter stopped");
        Ok(())
    }
    enclosed("nemesis::net::tests::a_cut_drops_and_counts_and_its_heal_takes_and_nobody_else_suffers", body, &EVERY);
}

#[test]
fn one_direction_of_packets_stops_both_and_one_direction_of_data_does_not() {
    fn body(backend: Backend) -> Result<()> {
        let net = Net::new(backend)?;
        let (mut a, mut b) = net.connect(1, 2)?;
        net.treat(&[("n1", "n2")], Treatment::CutData)?;
        for size in [1, 2, 3, 4, 100, 5000] {
            assert!(!passes(&mut a, &mut b, &vec![1; size]), "payload of {size} is dropped");
            assert!(passes(&mut b, &mut a, &vec![2; size]), "the other direction goes on");
        }
        net.treat(&[("n1", "n2")], None)?;
        let (mut a, mut b) = net.connect(3, 2)?;
        net.treat(&[("n3", "n2")], Treatment::Cut)?;
        // What n2 sends is delivered, and sent again and again, since no acknowledgement comes back; its window of
        // unacknowledged data bounds how much.
        assert!(!passes(&mut a, &mut b, b"x"));
        b.set_write_timeout(Some(Duration::from_millis(500)))?;
        let mut sent = 0;
        while let Ok(bytes) = b.write(&[0; 64 << 10]) {
            sent += bytes;
            assert!(sent < 64 << 20, "TCP goes on without acknowledgements");
        }
        Ok(())
    }
    enclosed(
        "nemesis::net::tests::one_direction_of_packets_stops_both_and_one_direction_of_data_does_not",
        body,
        &EVERY,
    );
}

#[test]
fn a_cut_of_one_port_leaves_the_others_alone() {
    fn body(backend: Backend) -> Result<()> {
        let net = Net::new(backend)?;
        let (mut a, mut b) = net.connect(1, 2)?;
        let (ask, answer) = (net.datagrams(1)?, net.datagrams(2)?);
        net.treat(&[("n1", "n2")], Treatment::CutPort { port: 7000, of: End::Receiver })?;
        net.treat(&[("n2", "n1")], Treatment::CutPort { port: 7000, of: End::Sender })?;
        assert!(!passes(&mut a, &mut b, b"x"));
        send_numbers(&ask, net.address(2), 3, Duration::ZERO)?;
        assert_eq!(received(&answer), [0, 1, 2]);
        assert!(net.counts("n1", "n2")?.dropped > 0);
        Ok(())
    }
    enclosed("nemesis::net::tests::a_cut_of_one_port_leaves_the_others_alone", body, &EVERY);
}

#[test]
fn lost_packets_are_those_that_were_counted_and_about_as_many_as_asked_for() {
    fn body(backend: Backend) -> Result<()> {
        let net = Net::new(backend)?;
        let (from, to) = (net.datagrams(1)?, net.datagrams(2)?);
        net.treat(&[("n1", "n2")], Treatment::Lose { share: 0.3 })?;
        let got = exchange(&from, &to, net.address(2), 1000, Duration::from_micros(50))?.len();
        let lost = net.counts("n1", "n2")?.dropped;
        assert_eq!(got as u64 + lost, 1000);
        assert!((200..400).contains(&lost), "{lost}");
        Ok(())
    }
    enclosed(
        "nemesis::net::tests::lost_packets_are_those_that_were_counted_and_about_as_many_as_asked_for",
        body,
        &EVERY,
    );
}

#[test]
fn what_a_packet_filter_cannot_do_is_an_error_and_changes_nothing() {
    fn body(backend: Backend) -> Result<()> {
        let net = Net::new(backend)?;
        let by = Duration::from_millis(20);
        for treatment in [
            Treatment::Duplicate { share: 0.5 },
            Treatment::Corrupt { share: 0.5 },
            Treatment::Reorder { share: 0.5, by },
            Treatment::Delay { mean: by, jitter: by },
            Treatment::Throttle { bytes_per_second: 1 },
        ] {
            let error = net.treat(&[("n1", "n2")], treatment).expect_err("a switch could");
            assert!(format!("{error:#}").contains("that takes a switch"), "{error:#}");
        }
        assert!(net.treat(&[("n1", "n9")], Treatment::Cut).is_err(), "no such place");
        let (mut a, mut b) = net.connect(1, 2)?;
        assert!(passes(&mut a, &mut b, b"x"));
        Ok(())
    }
    enclosed("nemesis::net::tests::what_a_packet_filter_cannot_do_is_an_error_and_changes_nothing", body, &FILTERS);
}

#[test]
fn a_switch_delays_doubles_reorders_damages_and_throttles_and_counts_each() {
    fn body(backend: Backend) -> Result<()> {
        let net = Net::new(backend)?;
        let (from, to) = (net.datagrams(1)?, net.datagrams(2)?);
        let pair = [("n1", "n2")];
        let sent = |count, pace| exchange(&from, &to, net.address(2), count, Duration::from_micros(pace));

        net.treat(&pair, Treatment::Duplicate { share: 0.2 })?;
        let (got, twice) = (sent(500, 50)?.len(), net.counts("n1", "n2")?.duplicated);
        assert_eq!(got as u64, 500 + twice);
        assert!((50..150).contains(&twice), "{twice}");

        net.treat(&pair, Treatment::Corrupt { share: 0.2 })?;
        let (got, damaged) = (sent(500, 50)?.len(), net.counts("n1", "n2")?.corrupted);
        // A flip in the port or the length misses the socket, too.
        assert_eq!(got as u64, 500 - damaged, "checksums notice");
        assert!((50..150).contains(&damaged), "{damaged}");

        net.treat(&pair, Treatment::Reorder { share: 0.2, by: Duration::from_millis(20) })?;
        let (got, overtaken) = (sent(500, 200)?, net.counts("n1", "n2")?.reordered);
        let late = got.iter().scan(0, |newest, n| {
            let late = n < newest;
            *newest = *n.max(newest);
            Some(late)
        });
        assert_eq!((got.len(), late.filter(|late| *late).count() as u64), (500, overtaken));
        assert!((50..150).contains(&overtaken), "{overtaken}");

        let mean = Duration::from_millis(80);
        net.treat(&pair, Treatment::Delay { mean, jitter: Duration::from_millis(20) })?;
        let asked = Instant::now();
        from.send_to(&[0; 8], (net.address(2), 9000))?;
        to.recv(&mut [0; 8])?;
        assert!(asked.elapsed() >= Duration::from_millis(60));
        let got = sent(200, 50)?;
        assert!(got.is_sorted() && got.len() == 200, "in order");
        assert_eq!(net.counts("n1", "n2")?.delayed, 201);

        net.treat(&pair, Treatment::Throttle { bytes_per_second: 100_000 })?;
        let asked = Instant::now();
        // 100 frames of 106 bytes at 100,000 bytes a second.
        let got = sent(100, 0)?;
        assert_eq!(got.len(), 100);
        assert!(asked.elapsed() >= Duration::from_millis(100), "{:?}", asked.elapsed());
        assert_eq!(net.counts("n1", "n2")?.throttled, 100);
        assert_eq!(net.counts("n2", "n1")?.dropped, 0);
        Ok(())
    }
    enclosed(
        "nemesis::net::tests::a_switch_delays_doubles_reorders_damages_and_throttles_and_counts_each",
        body,
        &[Backend::Switch],
    );
}

#[test]
fn the_network_of_the_host_is_out_of_reach() {
    for backend in EVERY {
        let refused = NetnsNet::new(backend, 7, "client").expect_err("nobody entered private namespaces");
        assert!(refused.to_string().contains("none were entered"), "{refused:#}");
    }
}
