//! From events to a history: pairs completions with invocations and refuses what contradicts itself.

use super::intern::NONE;
use super::lists::Lists;
use super::{Answer, Event, EventKind, EventMop, Mop, MopKind, Refusal, Status, Txns, Value};

/// Builds a [`Txns`] from events in the order they happened.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    pub(super) txns: Txns,
    pub(super) lists: Lists,
    /// The open transaction of each process, [`NONE`] without one.
    open: Vec<u32>,
    last_index: Option<u64>,
    fragments: bool,
}

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// A new transaction, whose micro-operations follow.
    New,
    /// The completion of this transaction, whose micro-operations are known.
    Known(u32),
}

impl Builder {
    /// A builder that wants an invocation before each completion.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// A builder for fragments of histories: a completion without an invocation stands for its transaction, which
    /// began nobody knows when.
    pub fn of_fragments() -> Builder {
        Builder { fragments: true, ..Builder::default() }
    }

    /// Takes the next event.
    ///
    /// Refused: an index that does not rise, an invocation by a process with an open transaction, a completion by one
    /// without, and a completion whose micro-operations are not those of the invocation (answers of reads aside).
    pub fn event(&mut self, event: &Event<'_>) -> Result<(), Refusal> {
        match self.begin(event.index, event.process, event.kind)? {
            Begun::New => event.mops.iter().for_each(|mop| self.push(mop, event.kind)),
            Begun::Known(txn) => {
                let wanted = self.wanted(txn);
                if wanted.len() != event.mops.len() {
                    return Err(self.refuse(format!(
                        "its transaction has {} micro-operations, and the invocation had {}",
                        event.mops.len(),
                        wanted.len()
                    )));
                }
                for (at, mop) in wanted.zip(event.mops) {
                    self.agree(at, mop, event.kind)?;
                }
            }
        }
        self.end();
        Ok(())
    }

    /// The history.
    pub fn finish(self) -> Txns {
        let mut txns = self.txns;
        if txns.starts.is_empty() {
            txns.starts.push(0);
        }
        (txns.chains, txns.longest) = self.lists.finish(txns.key_names.atoms.len());
        txns.elements.freeze();
        if txns.indices.iter().zip(0..).all(|(index, position)| *index == position) {
            txns.indices = Vec::new();
        }
        txns.refer_to_the_longest();
        txns
    }

    /// The history, with these names for its events in place of their indices: one each, in order.
    pub fn finish_named(mut self, names: Vec<u64>) -> Txns {
        debug_assert_eq!(names.len(), self.txns.events as usize, "a name for each event");
        self.txns.indices = names;
        self.finish()
    }

    pub(super) fn refuse(&self, problem: impl Into<String>) -> Refusal {
        let position = u64::from(self.txns.events).saturating_sub(1);
        Refusal { position, index: self.last_index, problem: problem.into() }
    }

    /// Begins the next event.
    pub(super) fn begin(&mut self, index: Option<u64>, process: i64, kind: EventKind) -> Result<Begun, Refusal> {
        let position = self.txns.events;
        if position >= NONE >> 3 {
            return Err(self.refuse("there are too many events: 500 millions are the most"));
        }
        self.txns.events += 1;
        let named = index.unwrap_or(u64::from(position));
        let before = self.last_index.replace(named);
        match before {
            Some(before) if before == named => return Err(self.refuse(format!("index {named} was used before"))),
            Some(before) if before > named => {
                return Err(
                    self.refuse(format!("index {named} comes after index {before}: the events are out of order"))
                );
            }
            _ => self.txns.indices.push(named),
        }
        let process_number = self.txns.process_names.number(process) as usize;
        if self.open.len() <= process_number {
            self.open.resize(process_number + 1, NONE);
        }
        let open = self.open[process_number];
        match (kind, open) {
            (EventKind::Invoke, NONE) => {
                self.open[process_number] = self.new_txn(process_number, position, NONE, Status::Info);
                Ok(Begun::New)
            }
            (EventKind::Invoke, open) => {
                let earlier = self.txns.index_of_event(self.txns.invoked(open));
                Err(self.refuse(format!("process {process} invokes while its transaction of index {earlier} is open")))
            }
            (_, NONE) if self.fragments => {
                self.new_txn(process_number, 0, position, status(kind));
                Ok(Begun::New)
            }
            (_, NONE) => Err(self.refuse(format!("process {process} completes a transaction that it did not invoke"))),
            (_, open) => {
                self.open[process_number] = NONE;
                self.txns.completed[open as usize] = position;
                self.txns.statuses[open as usize] = status(kind);
                Ok(Begun::Known(open))
            }
        }
    }

    fn new_txn(&mut self, process: usize, invoked: u32, completed: u32, status: Status) -> u32 {
        let txns = &mut self.txns;
        if txns.starts.is_empty() {
            txns.starts.push(0);
        }
        txns.processes.push(process as u32);
        txns.statuses.push(status);
        txns.invoked.push(invoked);
        txns.completed.push(completed);
        txns.statuses.len() as u32 - 1
    }

    /// Ends the event.
    pub(super) fn end(&mut self) {
        if self.txns.starts.len() == self.txns.statuses.len() {
            self.txns.starts.push(self.txns.mops.len() as u32);
        }
    }

    /// Where the micro-operations of `txn` stand.
    pub(super) fn wanted(&self, txn: u32) -> std::ops::Range<usize> {
        self.txns.starts[txn as usize] as usize..self.txns.starts[txn as usize + 1] as usize
    }

    fn push(&mut self, mop: &EventMop, kind: EventKind) {
        match mop {
            EventMop::Append(key, value) => {
                let (key, value) = (self.key(key), self.txns.texts.atom(value));
                self.push_write(key, value, true);
            }
            EventMop::Write(key, value) => {
                let (key, value) = (self.key(key), self.txns.texts.atom(value));
                self.push_write(key, value, false);
            }
            EventMop::Read(key, answer) => {
                let key = self.key(key);
                let kind = if kind == EventKind::Ok { self.saw(key, answer) } else { MopKind::Unread };
                self.txns.mops.push(Mop::new(key, kind));
            }
        }
    }

    fn key(&mut self, key: &Value) -> u32 {
        let atom = self.txns.texts.atom(key);
        self.txns.key_names.number(atom)
    }

    /// Adds an append or a write to the newest transaction.
    pub(super) fn push_write(&mut self, key: u32, value: i64, append: bool) {
        let txns = &mut self.txns;
        let txn = txns.statuses.len() as u32 - 1;
        let element = txns.elements.number(key, value);
        match &mut txns.elements.writers[element as usize] {
            writer if *writer == NONE => *writer = txn,
            _ => txns.twice_written.push((element, txn)),
        }
        txns.mops.push(Mop::new(key, if append { MopKind::Append(element) } else { MopKind::Write(element) }));
    }

    /// Adds a read to the newest transaction.
    pub(super) fn push_read(&mut self, key: u32, kind: MopKind) {
        self.txns.mops.push(Mop::new(key, kind));
    }

    /// Sets what the read at `at` saw.
    pub(super) fn answer(&mut self, at: usize, kind: MopKind) {
        let key = self.txns.mops[at].key();
        self.txns.mops[at] = Mop::new(key, kind);
    }

    fn saw(&mut self, key: u32, answer: &Answer) -> MopKind {
        let txns = &mut self.txns;
        match answer {
            Answer::Nil => MopKind::Nil,
            Answer::List(values) if values.is_empty() => MopKind::Nil,
            Answer::Value(value) => {
                let atom = txns.texts.atom(value);
                MopKind::Value(txns.elements.number(key, atom))
            }
            Answer::List(values) => {
                let list: Vec<u32> = values
                    .iter()
                    .map(|value| {
                        let atom = txns.texts.atom(value);
                        txns.elements.number(key, atom)
                    })
                    .collect();
                let (chain, len) = self.lists.read(key, &list, &txns.elements, &txns.texts);
                MopKind::List { chain, len }
            }
        }
    }

    /// The micro-operation `mop` of a completion must be the one at `at`; takes the answer of a read that committed.
    fn agree(&mut self, at: usize, mop: &EventMop, kind: EventKind) -> Result<(), Refusal> {
        let known = self.txns.mops[at];
        let (key, value) = match mop {
            EventMop::Append(key, value) | EventMop::Write(key, value) => (key, Some(value)),
            EventMop::Read(key, _) => (key, None),
        };
        let same_verb = match known.kind() {
            MopKind::Append(_) => matches!(mop, EventMop::Append(..)),
            MopKind::Write(_) => matches!(mop, EventMop::Write(..)),
            _ => matches!(mop, EventMop::Read(..)),
        };
        let same_key = self.key(key) == known.key();
        let same_value = match (value, known.written()) {
            (Some(value), Some(element)) => self.txns.texts.atom(value) == self.txns.elements.atoms[element as usize],
            _ => true,
        };
        if !(same_verb && same_key && same_value) {
            return Err(self.differs(at));
        }
        if let (EventMop::Read(_, answer), EventKind::Ok) = (mop, kind) {
            let saw = self.saw(known.key(), answer);
            self.answer(at, saw);
        }
        Ok(())
    }

    /// The micro-operation at `at` of the invocation is another one in the completion.
    pub(super) fn differs(&self, at: usize) -> Refusal {
        let start = self.txns.starts.partition_point(|start| *start as usize <= at).saturating_sub(1);
        let nth = at - self.txns.starts[start] as usize + 1;
        self.refuse(format!("micro-operation {nth} is not the one that was invoked"))
    }
}

fn status(kind: EventKind) -> Status {
    match kind {
        EventKind::Ok => Status::Ok,
        EventKind::Fail => Status::Fail,
        EventKind::Invoke | EventKind::Info => Status::Info,
    }
}
