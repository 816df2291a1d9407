//! The whole system under test: one process that keeps keys of tenants and is asked through three surfaces, a line each:
//! `<surface> put <tenant> <key> <value>`, `<surface> get <tenant> <key>`, `<surface> list <tenant>`. With `--leak=<surface>` that surface answers
//! every tenant from the keys of the first one.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

type Keys = Arc<Mutex<HashMap<(String, String), String>>>;

fn main() {
    let address = std::env::args().nth(1).expect("an address to listen on");
    let leak = std::env::args().find_map(|arg| Some(arg.strip_prefix("--leak=")?.to_owned())).unwrap_or_default();
    let listener = TcpListener::bind(address).expect("the address is free");
    let keys = Keys::default();
    for stream in listener.incoming().flatten() {
        let (keys, leak) = (keys.clone(), leak.clone());
        std::thread::spawn(move || serve(&stream, &keys, &leak));
    }
}

fn serve(mut stream: &TcpStream, keys: &Keys, leak: &str) {
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        let mut keys = keys.lock().expect("no thread panics");
        let answer = match words.as_slice() {
            [_, "put", tenant, key, value] => {
                keys.insert(((*tenant).to_owned(), (*key).to_owned()), (*value).to_owned());
                "ok".to_owned()
            }
            [surface, "get", tenant, key] => {
                let tenant = if *surface == leak { "a" } else { tenant };
                keys.get(&(tenant.to_owned(), (*key).to_owned())).cloned().unwrap_or_else(|| "none".to_owned())
            }
            [surface, "list", tenant] => {
                let tenant = if *surface == leak { "a" } else { tenant };
                let own = keys.iter().filter(|((owner, _), _)| owner == tenant);
                own.map(|((_, key), value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
            }
            _ => "what?".to_owned(),
        };
        if writeln!(stream, "{answer}").is_err() {
            return;
        }
    }
}
