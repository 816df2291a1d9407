//! Clients of counters that try again: what was not answered, and at times what was.

use abd_store::client::{Connection, Error};
use disttest_runtime::prelude::*;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How long a client waits for an answer.
const DEADLINE: Duration = Duration::from_millis(650);
/// Pause of a client after an operation without an answer.
const PAUSE: Duration = Duration::from_millis(250);
/// Pause after one with an answer, which keeps a client below 60 operations a second.
const PERIOD: Duration = Duration::from_micros(16_667);
/// How often a read at quiescence is tried.
const ATTEMPTS: u32 = 40;
/// Counters that are added to at a time, and for how long.
const HOT: u64 = 2;
const ROUND: Duration = Duration::from_millis(500);

/// An increment as its client wants it: once.
#[derive(Clone)]
struct Request {
    counter: String,
    id: String,
    by: u64,
}

/// What all clients of a run asked for.
#[derive(Clone)]
pub(crate) struct Requests {
    began: Instant,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    /// Counters that somebody added to, in the order of the first acknowledgement: a read of any other shows nothing.
    counters: Vec<String>,
    unanswered: VecDeque<Request>,
    acknowledged: Vec<Request>,
}

impl Shared {
    fn acknowledge(&mut self, request: Request) {
        if !self.counters.contains(&request.counter) {
            self.counters.push(request.counter.clone());
        }
        self.acknowledged.push(request);
    }
}

impl Requests {
    pub(crate) fn new() -> Requests {
        Requests { began: Instant::now(), shared: Arc::default() }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counter of that number among those that are added to now.
    fn hot(&self, number: u64) -> String {
        format!("r{}-{number}", self.began.elapsed().as_millis() / ROUND.as_millis())
    }

    /// The counter that was the `back`-th to be added to, from the last one on.
    fn recent(&self, back: u64) -> Option<String> {
        self.shared().counters.iter().rev().nth(back as usize).cloned()
    }
}

/// A client with its connection. Each try is one recorded operation.
struct Session {
    client: Client,
    connection: Connection,
    requests: Requests,
    made: u64,
}

impl Session {
    fn new(client: Client, requests: Requests) -> Session {
        let connection = Connection::new(client.addr());
        Session { client, connection, requests, made: 0 }
    }

    /// What is to be tried now: what nobody answered, something old again, or something new.
    fn next(&mut self, counter: String) -> Request {
        let mut shared = self.requests.shared();
        if let Some(request) = shared.unanswered.pop_front() {
            return request;
        }
        if self.client.rng().chance(2, 7)
            && let Some(request) = self.client.rng().pick(&shared.acknowledged)
        {
            return request.clone();
        }
        drop(shared);
        self.made += 1;
        let id = format!("client-{}-{}", self.client.id(), self.made);
        Request { counter, id, by: 1 + self.client.rng().below(9) }
    }

    /// One try. True when there was an answer.
    async fn add(&mut self, request: Request) -> bool {
        let Request { counter, id, by } = &request;
        let connection = &mut self.connection;
        let ask = async {
            let done = connection.incr(counter, id, *by, 2 * DEADLINE).await;
            done.map(|()| json!("ok")).map_err(told)
        };
        let input = json!({"id": id, "by": by});
        let answered = self.client.call("credit", counter.as_str(), input, DEADLINE, ask).await.is_some();
        let mut shared = self.requests.shared();
        match answered {
            true => shared.acknowledge(request),
            false => shared.unanswered.push_back(request),
        }
        answered
    }

    async fn read(&mut self, counter: &str) -> bool {
        let connection = &mut self.connection;
        let ask = async { connection.sum(counter, 2 * DEADLINE).await.map(|sum| json!(sum)).map_err(told) };
        self.client.call("balance", counter, Value::Null, DEADLINE, ask).await.is_some()
    }
}

/// The workload of a client.
pub(crate) async fn add_and_try_again(client: Client, requests: Requests) -> Result<()> {
    let mut session = Session::new(client, requests);
    while session.client.running() {
        let (number, read) = (session.client.rng().below(HOT), session.client.rng().chance(1, 8));
        let answered = match session.requests.recent(number).filter(|_| read) {
            Some(counter) => session.read(&counter).await,
            None => {
                let request = session.next(session.requests.hot(number));
                session.add(request).await
            }
        };
        sleep(if answered { PERIOD } else { PAUSE }).await;
    }
    Ok(())
}

/// The reads at quiescence of a client: every counter, each until there is an answer.
pub(crate) async fn read_every_counter(client: Client, requests: Requests) -> Result<()> {
    let mut session = Session::new(client, requests);
    let counters = session.requests.shared().counters.clone();
    for counter in counters {
        let mut attempts = 1;
        while !session.read(&counter).await {
            anyhow::ensure!(attempts < ATTEMPTS, "{} answers no read of {counter}", session.client.node());
            attempts += 1;
            sleep(PAUSE).await;
        }
    }
    Ok(())
}

fn told(error: Error) -> CallError {
    match error {
        Error::Failed(why) => CallError::Refused(why),
        Error::Unknown(why) => CallError::Unknown(why),
    }
}
