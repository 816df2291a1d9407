//! What the proxy costs: throughput of one stream and time of a round trip, beside the bare loopback.

use disttest_runtime::nemesis::proxy::ProxyNet;
use disttest_runtime::recorder::Clock;
use divan::Bencher;
use divan::counter::BytesCount;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

fn main() {
    divan::main();
}

/// How the client reaches the server.
#[derive(Clone, Copy, Debug)]
enum Path {
    Bare,
    Proxied,
}

const PATHS: [Path; 2] = [Path::Bare, Path::Proxied];
const STREAM: usize = 64 << 20;

/// The address to connect to for `path`, and what must stay alive meanwhile.
fn address(path: Path, server: SocketAddr) -> (SocketAddr, Option<ProxyNet>) {
    match path {
        Path::Bare => (server, None),
        Path::Proxied => {
            let net = ProxyNet::new(Clock::start());
            (net.add_link("client", "server", server).expect("a free port"), Some(net))
        }
    }
}

async fn pair(path: Path) -> (TcpStream, TcpStream, Option<ProxyNet>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let (address, net) = address(path, listener.local_addr().expect("bound"));
    let client = TcpStream::connect(address).await.expect("connected");
    let (server, _) = listener.accept().await.expect("accepted");
    client.set_nodelay(true).expect("set");
    server.set_nodelay(true).expect("set");
    (client, server, net)
}

#[divan::bench(args = PATHS, sample_count = 20, sample_size = 1)]
fn stream_of_64_mib(bencher: Bencher<'_, '_>, path: Path) {
    let runtime = Runtime::new().expect("a runtime");
    bencher.counter(BytesCount::new(STREAM)).with_inputs(|| runtime.block_on(pair(path))).bench_local_values(
        |(mut client, mut server, _net)| {
            runtime.block_on(async move {
                let sender = tokio::spawn(async move {
                    let piece = vec![1; 64 << 10];
                    for _ in 0..STREAM / piece.len() {
                        client.write_all(&piece).await.expect("sent");
                    }
                });
                let receiver = tokio::spawn(async move {
                    let mut buffer = vec![0; 256 << 10];
                    let mut received = 0;
                    while received < STREAM {
                        received += server.read(&mut buffer).await.expect("received");
                    }
                });
                sender.await.expect("sent");
                receiver.await.expect("received");
            });
        },
    );
}

#[divan::bench(args = PATHS, sample_count = 50, sample_size = 200)]
fn round_trip_of_64_bytes(bencher: Bencher<'_, '_>, path: Path) {
    let runtime = Runtime::new().expect("a runtime");
    let (mut client, mut server, _net) = runtime.block_on(pair(path));
    runtime.spawn(async move {
        let mut buffer = [0; 64];
        while server.read_exact(&mut buffer).await.is_ok() {
            server.write_all(&buffer).await.expect("answered");
        }
    });
    bencher.bench_local(|| {
        runtime.block_on(async {
            let mut buffer = [7; 64];
            client.write_all(&buffer).await.expect("asked");
            client.read_exact(&mut buffer).await.expect("answered");
        });
    });
}
