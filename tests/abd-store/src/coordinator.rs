//! The phases of reads, writes and increments, as any node runs them for its clients.

use crate::counting::{Increments, MAX_SET};
use crate::frames::MAX_FRAME;
use crate::link::{Answer, Link};
use crate::options::{Bug, Options};
use crate::replica::Replica;
use crate::stats::{Counters, Stats, count, get};
use crate::tag::{Tag, Version};
use crate::wire::{Message as _, Reply, Request};
use anyhow::Result;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout_at};

/// Longest key and value together, in bytes: with tag and lengths they must fit a frame, because a peer drops a
/// connection on which a longer one comes, and every call on it would have to be sent again.
const MAX_ENTRY: usize = MAX_FRAME / 2;

/// A node: its replica, its links to the others, and what it does for clients.
#[derive(Debug)]
pub(crate) struct Coordinator {
    options: Options,
    replica: Replica,
    links: Vec<Arc<Link>>,
    counters: Counters,
    calls: AtomicU64,
    writes: AtomicU64,
}

/// A phase that did not hear from a majority before the deadline of its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NoQuorum {
    got: usize,
    needed: usize,
}

impl fmt::Display for NoQuorum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} needed replicas answered", self.got, self.needed)
    }
}

impl Coordinator {
    /// Recovers the replica; links are not connected before [`Coordinator::connect`].
    pub(crate) fn open(options: Options) -> Result<Coordinator> {
        options.check()?;
        let replica = Replica::open(&options)?;
        let mut peers = options.peers.clone();
        peers.sort_by(|a, b| a.name.cmp(&b.name));
        let own = options.place();
        let places = (0..).filter(|place| *place != own);
        let limit = options.peer_timeout();
        let links =
            peers.into_iter().zip(places).map(|(peer, place)| Arc::new(Link::new(peer, place, limit))).collect();
        let (calls, writes) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Coordinator { options, replica, links, counters: Counters::new(), calls, writes })
    }

    /// Starts the tasks of the links.
    pub(crate) fn connect(&self) {
        for link in &self.links {
            let link = link.clone();
            tokio::spawn(async move { link.run().await });
        }
    }

    /// This node's copy.
    pub(crate) fn replica(&self) -> &Replica {
        &self.replica
    }

    /// Answers a request of a client.
    pub(crate) async fn serve(&self, request: Request) -> Reply {
        match request {
            Request::Get { key } => self.get(key).await,
            Request::Put { key, value } => self.put(key, value).await,
            Request::Ping => Reply::Pong(self.options.node.as_str().into()),
            Request::Stats => Reply::Stats(serde_json::to_string(&self.stats()).unwrap_or_default().into()),
            Request::Incr { key, id, by } => self.incr(key, id, by).await,
            Request::Sum { key } => self.sum(key).await,
            Request::Query { .. } | Request::Store { .. } | Request::Collect { .. } | Request::Add { .. } => {
                Reply::Failed("a request for replicas".into())
            }
        }
    }

    /// Read: query a majority, write back what is returned unless the majority already holds it.
    async fn get(&self, key: Arc<str>) -> Reply {
        let deadline = Instant::now() + self.options.quorum_timeout();
        let (newest, agreed) = match self.query(&key, deadline).await {
            Ok(answer) => answer,
            Err(missing) => return self.failed("read", &key, missing),
        };
        if let Some(version) = &newest
            && !agreed
            && !self.options.has(Bug::SkipWriteBack)
        {
            count(&self.counters.write_backs);
            if let Err(missing) = self.store(&key, version, deadline).await {
                return self.failed("read", &key, missing);
            }
        }
        count(&self.counters.gets);
        self.has_quorum(true);
        Reply::Value(newest.map(|version| version.value))
    }

    /// Write: query a majority for the highest tag, store under a higher one at a majority.
    async fn put(&self, key: Arc<str>, value: Arc<str>) -> Reply {
        if key.len() + value.len() > MAX_ENTRY {
            return Reply::Failed(format!("key and value have more than {MAX_ENTRY} bytes together").into());
        }
        if self.options.has(Bug::AckBeforeQuorum) {
            return self.put_alone(key, value).await;
        }
        let deadline = Instant::now() + self.options.quorum_timeout();
        let newest = match self.query(&key, deadline).await {
            Ok((newest, _)) => newest,
            Err(missing) => return self.failed("write", &key, missing),
        };
        let version = Version { tag: self.next_tag(newest.as_ref()), value };
        if let Err(missing) = self.store(&key, &version, deadline).await {
            return self.unknown("write", &key, missing);
        }
        count(&self.counters.puts);
        self.has_quorum(true);
        Reply::Done
    }

    /// The defect `ack-before-quorum`: only the own replica is asked and waited for.
    async fn put_alone(&self, key: Arc<str>, value: Arc<str>) -> Reply {
        let version = Version { tag: self.next_tag(self.replica.query(&key).as_ref()), value };
        let request = Request::Store { key: key.clone(), version: version.clone() };
        let frame = request.frame(self.calls.fetch_add(1, Relaxed));
        let (done, durable) = tokio::sync::oneshot::channel();
        let acknowledge = move || {
            let _ = done.send(());
        };
        self.replica.store(key, version, Box::new(acknowledge));
        let stored = durable.await.is_ok();
        self.links.iter().for_each(|link| link.tell(&frame));
        count(&self.counters.puts);
        if stored { Reply::Done } else { Reply::Unknown("the node is stopping".into()) }
    }

    /// Increment: one phase. Nothing is asked first, because the union of sets does not depend on an order.
    async fn incr(&self, key: Arc<str>, id: Arc<str>, by: u64) -> Reply {
        let id = match self.options.has(Bug::ForgetKeys) {
            true => format!("{id}@{}", self.replica.boot()).into(),
            false => id,
        };
        let (increment, held) = (Increments::one(id, by), self.replica.collect(&key));
        let grows = !held.lacks(&increment).is_empty();
        if key.len() > MAX_ENTRY || grows && held.bytes() + increment.bytes() > MAX_SET {
            return Reply::Failed("no more increments fit this counter".into());
        }
        let deadline = Instant::now() + self.options.quorum_timeout();
        if let Err(missing) = self.add(&key, increment.into(), deadline).await {
            return self.unknown("increment", &key, missing);
        }
        count(&self.counters.incrs);
        self.has_quorum(true);
        Reply::Done
    }

    /// Read of a counter: the union of what a majority holds, stored at a majority unless they agree.
    async fn sum(&self, key: Arc<str>) -> Reply {
        let deadline = Instant::now() + self.options.quorum_timeout();
        let own = |answers: UnboundedSender<Answer>| {
            let _ = answers.send((self.options.place(), Some(Reply::Increments(self.replica.collect(&key)))));
        };
        let replies = match self.phase(&Request::Collect { key: key.clone() }, own, deadline).await {
            Ok(replies) => replies,
            Err(missing) => return self.failed("sum", &key, missing),
        };
        let held: Vec<Arc<Increments>> = replies
            .into_iter()
            .filter_map(|reply| if let Reply::Increments(held) = reply { Some(held) } else { None })
            .collect();
        let mut all = Increments::default();
        held.iter().for_each(|held| all.join(held));
        let all = Arc::new(all);
        if held.iter().any(|held| *held != all) {
            count(&self.counters.write_backs);
            if let Err(missing) = self.add(&key, all.clone(), deadline).await {
                return self.failed("sum", &key, missing);
            }
        }
        count(&self.counters.sums);
        self.has_quorum(true);
        Reply::Sum(all.sum())
    }

    /// Has a majority hold `increments` durably.
    async fn add(&self, key: &Arc<str>, increments: Arc<Increments>, deadline: Instant) -> Result<(), NoQuorum> {
        let own = |answers: UnboundedSender<Answer>| {
            let place = self.options.place();
            let durable = move || drop(answers.send((place, Some(Reply::Stored))));
            self.replica.add(key.clone(), &increments, Box::new(durable));
        };
        let request = Request::Add { key: key.clone(), increments: increments.clone() };
        self.phase(&request, own, deadline).await.map(drop)
    }

    fn next_tag(&self, newest: Option<&Version>) -> Tag {
        let counter = newest.map_or(0, |version| version.tag.counter) + 1;
        let write = self.writes.fetch_add(1, Relaxed);
        Tag { counter, node: self.options.place(), boot: self.replica.boot(), write }
    }

    /// The newest version a majority knows, and whether all of that majority hold it.
    async fn query(&self, key: &Arc<str>, deadline: Instant) -> Result<(Option<Version>, bool), NoQuorum> {
        let own = |answers: UnboundedSender<Answer>| {
            let _ = answers.send((self.options.place(), Some(Reply::Version(self.replica.query(key)))));
        };
        let replies = self.phase(&Request::Query { key: key.clone() }, own, deadline).await?;
        let versions =
            replies.into_iter().map(|reply| if let Reply::Version(version) = reply { version } else { None });
        let versions: Vec<Option<Version>> = versions.collect();
        let newest = versions.iter().flatten().max_by_key(|version| version.tag).cloned();
        let tag = newest.as_ref().map(|version| version.tag);
        let agreed = versions.iter().all(|version| version.as_ref().map(|version| version.tag) == tag);
        Ok((newest, agreed))
    }

    /// Has a majority hold `version` durably.
    async fn store(&self, key: &Arc<str>, version: &Version, deadline: Instant) -> Result<(), NoQuorum> {
        let own = |answers: UnboundedSender<Answer>| {
            let place = self.options.place();
            let durable = move || drop(answers.send((place, Some(Reply::Stored))));
            self.replica.store(key.clone(), version.clone(), Box::new(durable));
        };
        let request = Request::Store { key: key.clone(), version: version.clone() };
        self.phase(&request, own, deadline).await.map(drop)
    }

    /// Asks all replicas, the own one by `own`, and returns the first replies of a majority. A peer that does not
    /// answer in time is asked again, with the same id, while the operation lasts.
    async fn phase(
        &self,
        request: &Request,
        own: impl FnOnce(UnboundedSender<Answer>),
        deadline: Instant,
    ) -> Result<Vec<Reply>, NoQuorum> {
        let id = self.calls.fetch_add(1, Relaxed);
        let frame: Arc<[u8]> = request.frame(id).into();
        let (sender, answers) = unbounded_channel();
        for link in &self.links {
            link.call(id, frame.clone(), sender.clone());
        }
        own(sender.clone());
        let again = |place: u16| {
            if let Some(link) = self.links.iter().find(|link| link.place() == place) {
                link.call(id, frame.clone(), sender.clone());
            }
        };
        self.majority(answers, again, deadline).await
    }

    async fn majority(
        &self,
        mut answers: UnboundedReceiver<Answer>,
        again: impl Fn(u16),
        deadline: Instant,
    ) -> Result<Vec<Reply>, NoQuorum> {
        let nodes = self.links.len() + 1;
        let needed = nodes / 2 + 1;
        let mut from = Vec::with_capacity(needed);
        let mut replies = Vec::with_capacity(needed);
        while replies.len() < needed {
            match timeout_at(deadline, answers.recv()).await {
                Ok(Some((place, Some(reply)))) if is_of_replica(&reply) && !from.contains(&place) => {
                    from.push(place);
                    replies.push(reply);
                }
                Ok(Some((place, None))) => again(place),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return Err(NoQuorum { got: replies.len(), needed }),
            }
        }
        Ok(replies)
    }

    fn failed(&self, what: &str, key: &str, missing: NoQuorum) -> Reply {
        count(&self.counters.failed);
        self.lost_quorum(what, key, missing);
        Reply::Failed(missing.to_string().into())
    }

    fn unknown(&self, what: &str, key: &str, missing: NoQuorum) -> Reply {
        count(&self.counters.unknown);
        self.lost_quorum(what, key, missing);
        Reply::Unknown(missing.to_string().into())
    }

    fn lost_quorum(&self, what: &str, key: &str, missing: NoQuorum) {
        if self.has_quorum(false) {
            crate::say(&self.options.node, format_args!("quorum lost: {what} of {key:?}: {missing}"));
        }
    }

    /// Notes whether operations find their majority; returns what was noted before.
    fn has_quorum(&self, now: bool) -> bool {
        if self.counters.has_quorum.load(Relaxed) == now {
            return now;
        }
        self.counters.has_quorum.store(now, Relaxed);
        if now {
            crate::say(&self.options.node, format_args!("quorum found again"));
        }
        !now
    }

    fn stats(&self) -> Stats {
        let (failed, unknown) = (get(&self.counters.failed), get(&self.counters.unknown));
        let by_peer = self.links.iter().map(|link| (link.name().to_owned(), link.timeouts()));
        Stats {
            node: self.options.node.clone(),
            boot: self.replica.boot(),
            gets: get(&self.counters.gets),
            puts: get(&self.counters.puts),
            incrs: get(&self.counters.incrs),
            sums: get(&self.counters.sums),
            quorum_failures: failed + unknown,
            unknown,
            write_backs: get(&self.counters.write_backs),
            batches: self.replica.batches(),
            peer_timeouts: self.links.iter().map(|link| link.timeouts()).sum(),
            peer_timeouts_by_peer: by_peer.collect(),
        }
    }
}

/// True for what a replica answers when it did what it was asked.
fn is_of_replica(reply: &Reply) -> bool {
    matches!(reply, Reply::Version(_) | Reply::Stored | Reply::Increments(_))
}
