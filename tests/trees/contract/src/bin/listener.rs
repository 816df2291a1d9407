//! The whole system under test: a node that sends back what it gets. What it would store is in the memory of the test.

use std::net::TcpListener;

fn main() {
    let address = std::env::args().nth(1).expect("an address to listen on");
    let listener = TcpListener::bind(address).expect("the address is free");
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || std::io::copy(&mut &stream, &mut &stream));
    }
}
