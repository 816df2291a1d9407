//! Networks of namespaces: how fast three nodes are up, and how fast a stream goes through what lies between them.

use disttest_runtime::nemesis::net::{Backend, Home, Namespace, NetnsNet, enclosure};
use divan::Bencher;
use divan::counter::BytesCount;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// Bytes of one round: at 500 Mbit/s a quarter of a second.
const ROUND: usize = 16 << 20;
const ALL: [Backend; 3] = [Backend::Switch, Backend::Nft, Backend::Iptables];

fn main() {
    // Before any thread starts: a user namespace is closed to a process of several.
    if let Err(why) = enclosure::enter() {
        panic!("no namespaces: {why}");
    }
    divan::main();
}

fn three_nodes(backend: Backend) -> (NetnsNet, Vec<Home>) {
    let net = NetnsNet::new(backend, 0, "client").expect("a network");
    let homes = (0..3).map(|i| net.add_node(&format!("n{}", i + 1), i).expect("a node"));
    let homes = homes.collect();
    (net, homes)
}

/// On threads of its own namespace each: all of them begin with the same name for their clients.
#[divan::bench(args = ALL)]
fn three_nodes_up(bencher: Bencher<'_, '_>, backend: Backend) {
    if backend.available().is_ok() {
        bencher.bench_local(|| in_a_new_namespace(|| drop(three_nodes(backend))));
    }
}

#[divan::bench(args = ALL)]
fn a_stream_from_node_to_node(bencher: Bencher<'_, '_>, backend: Backend) {
    if backend.available().is_err() {
        return;
    }
    let (_net, homes) = in_a_new_namespace(|| three_nodes(backend));
    let address = SocketAddr::from((homes[1].address, 7000));
    let listener = homes[1].namespace.run(|| Ok(TcpListener::bind(address)?)).expect("a listener");
    let mut from = homes[0].namespace.run(|| Ok(TcpStream::connect(address)?)).expect("a connection");
    let (mut to, _) = listener.accept().expect("accepted");
    let (give, go) = std::sync::mpsc::channel::<()>();
    let sending = std::thread::spawn(move || {
        let block = vec![7; 1 << 20];
        while go.recv().is_ok() {
            (0..ROUND / block.len()).for_each(|_| from.write_all(&block).expect("written"));
        }
    });
    let mut buffer = vec![0; 1 << 20];
    bencher.counter(BytesCount::new(ROUND)).bench_local(|| {
        give.send(()).expect("it sends");
        let mut left = ROUND;
        while left > 0 {
            left -= to.read(&mut buffer).expect("read");
        }
    });
    drop(give);
    sending.join().expect("no panic");
}

fn in_a_new_namespace<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    Namespace::new().and_then(|namespace| namespace.run(|| Ok(act()))).expect("a namespace")
}
