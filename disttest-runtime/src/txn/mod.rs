//! L1: transactional histories: transactions of appends, writes and reads, in columns of numbers.
//!
//! A reader feeds a [`Builder`] event by event (or calls [`jsonl::read`] on the bytes of a file) and gets a validated
//! [`Txns`]: every transaction with its process, what became of it, when it began and ended, and its micro-operations
//! with numbers for keys and values. What was appended or written to a key is an *element*: a pair of key and value.
//! Lists that reads saw are not stored one by one: most are prefixes of the longest list of their key, so that a read
//! is a length in it; the odd ones stand apart.

mod builder;
mod error;
mod event;
mod intern;
pub mod jsonl;
mod lists;
pub mod notation;
mod scan;
mod value;

pub use builder::Builder;
pub use error::{ReadError, Refusal};
pub use event::{Answer, Event, EventKind, EventMop};
pub use intern::NONE;
pub use value::Value;

use intern::{Elements, Interner};
use std::borrow::Cow;
use value::Texts;

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It committed.
    Ok,
    /// It is known not to have happened.
    Fail,
    /// Unknown: it may have taken effect at any time after its invocation, or never. Also one that never completed.
    Info,
}

/// A micro-operation, packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mop {
    /// Kind in the top three bits, key below.
    head: u32,
    first: u32,
    second: u32,
}

/// A micro-operation of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MopKind {
    /// It appends this element to the list at its key.
    Append(u32),
    /// It sets its key to this element.
    Write(u32),
    /// It reads, and nobody knows what it saw: the transaction did not commit.
    Unread,
    /// It reads and sees nothing: the initial state, or an empty list.
    Nil,
    /// It reads and sees the first `len` elements (at least one) of list `chain`.
    List {
        /// Number of the list: [`Txns::chain`].
        chain: u32,
        /// How many of its elements.
        len: u32,
    },
    /// It reads and sees this element.
    Value(u32),
}

const KEY_BITS: u32 = 29;

impl Mop {
    fn new(key: u32, kind: MopKind) -> Mop {
        let (tag, first, second) = match kind {
            MopKind::Append(element) => (0, element, 0),
            MopKind::Write(element) => (1, element, 0),
            MopKind::Unread => (2, 0, 0),
            MopKind::Nil => (3, 0, 0),
            MopKind::List { chain, len } => (4, chain, len),
            MopKind::Value(element) => (5, element, 0),
        };
        Mop { head: tag << KEY_BITS | key, first, second }
    }

    /// The key it addresses.
    pub fn key(self) -> u32 {
        self.head & ((1 << KEY_BITS) - 1)
    }

    /// What it does.
    pub fn kind(self) -> MopKind {
        match self.head >> KEY_BITS {
            0 => MopKind::Append(self.first),
            1 => MopKind::Write(self.first),
            2 => MopKind::Unread,
            3 => MopKind::Nil,
            4 => MopKind::List { chain: self.first, len: self.second },
            _ => MopKind::Value(self.first),
        }
    }

    /// The element that a read of a value sees, as a list of one.
    pub fn value_slice(&self) -> &[u32] {
        std::slice::from_ref(&self.first)
    }

    /// The element it appends or writes.
    pub fn written(self) -> Option<u32> {
        (self.head >> KEY_BITS < 2).then_some(self.first)
    }
}

/// A validated transactional history. Transactions are numbered in the order of their invocations.
#[derive(Clone, Debug, Default)]
pub struct Txns {
    processes: Vec<u32>,
    statuses: Vec<Status>,
    invoked: Vec<u32>,
    /// [`NONE`] when it never completed.
    completed: Vec<u32>,
    /// Where the micro-operations of each transaction begin; one more than there are transactions.
    starts: Vec<u32>,
    mops: Vec<Mop>,
    /// Index of each event as the history gives it; empty when it is the position.
    indices: Vec<u64>,
    events: u32,
    process_names: Interner,
    key_names: Interner,
    elements: Elements,
    texts: Texts,
    chains: Vec<Box<[u32]>>,
    longest: Vec<u32>,
    twice_written: Vec<(u32, u32)>,
}

impl Txns {
    /// How many transactions there are.
    pub fn len(&self) -> usize {
        self.statuses.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.statuses.is_empty()
    }

    /// The numbers of all transactions.
    pub fn all(&self) -> std::ops::Range<u32> {
        0..self.statuses.len() as u32
    }

    /// What became of it.
    pub fn status(&self, txn: u32) -> Status {
        self.statuses[txn as usize]
    }

    /// True when it committed.
    pub fn is_ok(&self, txn: u32) -> bool {
        self.status(txn) == Status::Ok
    }

    /// A dense number for the process that ran it.
    pub fn process(&self, txn: u32) -> u32 {
        self.processes[txn as usize]
    }

    /// The process that ran it, as the history names it.
    pub fn process_name(&self, txn: u32) -> i64 {
        self.process_names.atoms[self.process(txn) as usize]
    }

    /// How many processes there are.
    pub fn process_count(&self) -> usize {
        self.process_names.atoms.len()
    }

    /// Position of its invocation among all events; 0 when the history lacks the invocation.
    pub fn invoked(&self, txn: u32) -> u32 {
        self.invoked[txn as usize]
    }

    /// Position of its completion among all events; [`NONE`] when it has none.
    pub fn completed(&self, txn: u32) -> u32 {
        self.completed[txn as usize]
    }

    /// How many events there are: invocations and completions.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// The index by which the history names it: of its completion, or of its invocation when it has none.
    pub fn index(&self, txn: u32) -> u64 {
        match self.completed(txn) {
            NONE => self.index_of_event(self.invoked(txn)),
            at => self.index_of_event(at),
        }
    }

    /// The index of the event at `position`, as the history gives it.
    pub fn index_of_event(&self, position: u32) -> u64 {
        self.indices.get(position as usize).copied().unwrap_or(u64::from(position))
    }

    /// Its micro-operations.
    pub fn mops(&self, txn: u32) -> &[Mop] {
        &self.mops[self.starts[txn as usize] as usize..self.starts[txn as usize + 1] as usize]
    }

    /// How many micro-operations there are in all.
    pub fn mop_count(&self) -> usize {
        self.mops.len()
    }

    /// How many keys there are.
    pub fn key_count(&self) -> usize {
        self.key_names.atoms.len()
    }

    /// How many elements there are.
    pub fn element_count(&self) -> usize {
        self.elements.atoms.len()
    }

    /// The key as the history spells it, as JSON.
    pub fn key_name(&self, key: u32) -> Cow<'_, str> {
        self.texts.show(self.key_names.atoms[key as usize])
    }

    /// The value of an element, as JSON.
    pub fn value_name(&self, element: u32) -> Cow<'_, str> {
        self.texts.show(self.elements.atoms[element as usize])
    }

    /// The value of an element, when it is an integer.
    pub fn value_number(&self, element: u32) -> Option<i64> {
        self.texts.number(self.elements.atoms[element as usize])
    }

    /// The key of an element.
    pub fn key_of(&self, element: u32) -> u32 {
        self.elements.keys[element as usize]
    }

    /// The transaction that first appended or wrote an element, whatever became of it; `None` when nobody did.
    pub fn writer(&self, element: u32) -> Option<u32> {
        Some(self.elements.writers[element as usize]).filter(|writer| *writer != NONE)
    }

    /// Elements that were appended or written more than once, each with the transaction that did it again.
    pub fn twice_written(&self) -> &[(u32, u32)] {
        &self.twice_written
    }

    /// The elements of a list that some read saw.
    pub fn chain(&self, chain: u32) -> &[u32] {
        &self.chains[chain as usize]
    }

    /// How many different lists are stored.
    pub fn chain_count(&self) -> usize {
        self.chains.len()
    }

    /// The longest list that a read of `key` saw; reads of its prefixes refer to it.
    pub fn longest(&self, key: u32) -> Option<u32> {
        self.longest.get(key as usize).copied().filter(|chain| *chain != NONE)
    }

    /// About how many bytes the columns hold.
    pub fn bytes(&self) -> u64 {
        let chains: usize = self.chains.iter().map(|chain| 4 * chain.len() + 16).sum();
        (self.len() * 17
            + self.mops.len() * size_of::<Mop>()
            + self.indices.len() * 8
            + self.element_count() * 16
            + self.key_count() * 12
            + chains) as u64
    }

    /// Reads of a prefix of the longest list of their key refer to that list, whichever list they were compared with.
    fn refer_to_the_longest(&mut self) {
        let mut common: Vec<Option<(u32, u32)>> = vec![None; self.chains.len()];
        for (number, chain) in self.chains.iter().enumerate() {
            let Some(main) = chain.first().and_then(|element| self.longest(self.key_of(*element))) else { continue };
            let same = chain.iter().zip(self.chain(main)).take_while(|(a, b)| a == b).count();
            common[number] = (main as usize != number).then_some((main, same as u32));
        }
        if common.iter().all(Option::is_none) {
            return;
        }
        for mop in &mut self.mops {
            if let MopKind::List { chain, len } = mop.kind()
                && let Some((main, same)) = common[chain as usize]
                && len <= same
            {
                *mop = Mop::new(mop.key(), MopKind::List { chain: main, len });
            }
        }
    }
}
