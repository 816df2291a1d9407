//! Reads transactional events as JSON Lines, byte by byte, in one pass.
//!
//! ```text
//! {"index":0,"time":0,"process":3,"type":"invoke","f":"txn","value":[["append",6,1],["r",4,null]]}
//! {"index":1,"time":9,"process":3,"type":"ok","f":"txn","value":[["append",6,1],["r",4,[1,2]]]}
//! ```
//!
//! Micro-operations are `["append",key,value]`, `["w",key,value]` and `["r",key,answer]`, where an answer is null, a list
//! or a value. Names may come in any order, further ones are skipped, `index`, `time` and `f` may be absent. Events whose
//! process is no integer are not of clients (a nemesis, say) and are skipped. Reading is strict: a line that is cut off,
//! or an event that contradicts the events before it, is an error with line and column.

use super::builder::Begun;
use super::scan::{Problem, Scan};
use super::value::integer;
use super::{Builder, EventKind, MopKind, ReadError, Txns};

/// Reads a whole history.
pub fn read(text: &[u8]) -> Result<Txns, ReadError> {
    read_into(Builder::new(), text)
}

/// [`read`] with a builder, such as one for fragments.
pub fn read_into(builder: Builder, text: &[u8]) -> Result<Txns, ReadError> {
    let mut reader = Reader { scan: Scan { text, at: 0 }, builder, spans: Vec::new() };
    let (mut line, mut start) = (1, 0);
    while start < text.len() {
        reader.scan.at = start;
        if let Err(problem) = reader.line() {
            let column = reader.scan.at.saturating_sub(start) + 1;
            return Err(ReadError { line, column, problem });
        }
        start = reader.scan.at + 1;
        line += 1;
    }
    Ok(reader.builder.finish())
}

/// Where a micro-operation of an invocation stands in the text.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    /// Bytes up to the end of the key and its comma.
    prefix: u32,
    /// Bytes in all.
    len: u32,
}

struct Reader<'a> {
    scan: Scan<'a>,
    builder: Builder,
    /// Where the micro-operations of the open transaction of each process stand.
    spans: Vec<Vec<Span>>,
}

/// What a line says beside its micro-operations.
#[derive(Default)]
struct Head<'a> {
    index: Option<u64>,
    process: Option<&'a [u8]>,
    kind: Option<EventKind>,
    /// Its `f` says that it is no transaction.
    other: bool,
}

impl<'a> Reader<'a> {
    /// Reads a line; the cursor ends at its line break, or where the error is.
    fn line(&mut self) -> Result<(), String> {
        self.scan.blanks();
        if let None | Some(b'\n') = self.scan.peek() {
            return Ok(());
        }
        self.scan.expect(b'{', "an event is a JSON object, one a line")?;
        let mut head = Head::default();
        let (mut value, mut taken) = (None, false);
        while !self.scan.take(b'}') {
            let name = self.scan.string()?;
            self.scan.expect(b':', "`:` is expected")?;
            match name {
                b"index" => head.index = Some(self.index()?),
                b"process" => head.process = Some(self.scan.value()?),
                b"type" => head.kind = Some(self.kind()?),
                b"f" => head.other = !matches!(self.scan.value()?, b"\"txn\"" | b"null"),
                b"value" if taken || value.is_some() => return Err("`value` comes twice".to_owned()),
                b"value" if head.index.is_some() && head.kind.is_some() && head.process.is_some() => {
                    self.event(&head)?;
                    taken = true;
                }
                b"value" => {
                    value = Some(self.scan.at);
                    self.scan.value()?;
                }
                _ => {
                    self.scan.value()?;
                }
            }
            if !self.scan.take(b',') && self.scan.peek() != Some(b'}') {
                return Err("`,` or `}` is expected: is the line cut off?".to_owned());
            }
        }
        self.scan.blanks();
        if !matches!(self.scan.peek(), None | Some(b'\n')) {
            return Err("one event stands on a line, and nothing after it".to_owned());
        }
        if !taken {
            let end = self.scan.at;
            self.scan.at = value.unwrap_or(end);
            if value.is_none() && head.process.is_none_or(|process| integer(process).is_some()) {
                return Err("the event has no `value`".to_owned());
            }
            self.event(&head)?;
            self.scan.at = end;
        }
        Ok(())
    }

    fn index(&mut self) -> Result<u64, Problem> {
        let number = integer(self.scan.value()?).and_then(|number| u64::try_from(number).ok());
        number.ok_or("an index is a whole number")
    }

    fn kind(&mut self) -> Result<EventKind, Problem> {
        match self.scan.string()? {
            b"invoke" => Ok(EventKind::Invoke),
            b"ok" => Ok(EventKind::Ok),
            b"fail" => Ok(EventKind::Fail),
            b"info" => Ok(EventKind::Info),
            _ => Err("the type of an event is invoke, ok, fail or info"),
        }
    }

    /// The event whose micro-operations begin at the cursor.
    fn event(&mut self, head: &Head<'_>) -> Result<(), String> {
        let process = head.process.ok_or("the event has no `process`")?;
        let Some(process) = integer(process) else {
            // Not of a client.
            if let Some(b'[' | b'{' | b'"' | b'n') | Some(b'a'..=b'z' | b'0'..=b'9' | b'-') = self.scan.peek() {
                self.scan.value()?;
            }
            return Ok(());
        };
        if head.other {
            return Err("`f` is not \"txn\": this is no transactional history".to_owned());
        }
        let kind = head.kind.ok_or("the event has no `type`")?;
        let begun = self.builder.begin(head.index, process, kind).map_err(|refusal| refusal.problem)?;
        match begun {
            Begun::New => {
                self.invocation(kind)?;
                self.builder.end();
            }
            Begun::Known(txn) => self.completion(txn, kind)?,
        }
        Ok(())
    }

    fn spans_of(&mut self, txn: u32) -> &mut Vec<Span> {
        let process = self.builder.txns.process(txn) as usize;
        if self.spans.len() <= process {
            self.spans.resize_with(process + 1, Vec::new);
        }
        &mut self.spans[process]
    }

    fn invocation(&mut self, kind: EventKind) -> Result<(), String> {
        let txn = self.builder.txns.len() as u32 - 1;
        let mut spans = std::mem::take(self.spans_of(txn));
        spans.clear();
        self.scan.expect(b'[', "the value of an event is a list of micro-operations")?;
        while !self.scan.take(b']') {
            spans.push(self.new_mop(kind)?);
            if !self.scan.take(b',') && self.scan.peek() != Some(b']') {
                return Err("`,` or `]` is expected".to_owned());
            }
        }
        *self.spans_of(txn) = spans;
        Ok(())
    }

    fn new_mop(&mut self, kind: EventKind) -> Result<Span, String> {
        let start = self.scan.at;
        let verb = self.verb()?;
        let key = self.key()?;
        let prefix = (self.scan.at - start) as u32;
        match verb {
            Verb::Read if kind == EventKind::Ok => {
                let saw = self.answer(key)?;
                self.builder.push_read(key, saw);
            }
            Verb::Read => {
                self.scan.value()?;
                self.builder.push_read(key, MopKind::Unread);
            }
            Verb::Append | Verb::Write => {
                let value = self.written()?;
                self.builder.push_write(key, value, verb == Verb::Append);
            }
        }
        // Blanks after the bracket are not part of the micro-operation: another one may stand without them.
        let end = self.scan.at + usize::from(self.scan.peek() == Some(b']'));
        self.scan.expect(b']', "`]` is expected")?;
        Ok(Span { start, prefix, len: (end - start) as u32 })
    }

    fn completion(&mut self, txn: u32, kind: EventKind) -> Result<(), String> {
        let wanted = self.builder.wanted(txn);
        let spans = std::mem::take(self.spans_of(txn));
        self.scan.expect(b'[', "the value of an event is a list of micro-operations")?;
        for (nth, at) in wanted.enumerate() {
            if nth > 0 {
                self.scan.expect(b',', "fewer micro-operations than were invoked")?;
            }
            self.same_mop(at, spans[nth], kind)?;
        }
        self.scan.expect(b']', "more micro-operations than were invoked")?;
        // The room serves the next transaction of the process.
        *self.spans_of(txn) = spans;
        Ok(())
    }

    /// Reads the micro-operation of a completion that must be the one at `at`, spelt at `span` in the invocation.
    fn same_mop(&mut self, at: usize, span: Span, kind: EventKind) -> Result<(), String> {
        let known = self.builder.txns.mops[at];
        let text = self.scan.text;
        let spelling = &text[span.start..span.start + span.len as usize];
        if known.written().is_some() && self.scan.literal(spelling) {
            return Ok(());
        }
        let start = self.scan.at;
        let is_read = known.written().is_none();
        if !(is_read && self.scan.literal(&spelling[..span.prefix as usize])) {
            let verb = self.verb()?;
            let key = self.key()?;
            let same_verb = match known.kind() {
                MopKind::Append(_) => verb == Verb::Append,
                MopKind::Write(_) => verb == Verb::Write,
                _ => verb == Verb::Read,
            };
            if !same_verb || key != known.key() {
                self.scan.at = start;
                return Err(self.builder.differs(at).problem);
            }
        }
        match known.written() {
            Some(element) => {
                let value = self.written()?;
                if value != self.builder.txns.elements.atoms[element as usize] {
                    self.scan.at = start;
                    return Err(self.builder.differs(at).problem);
                }
            }
            None if kind == EventKind::Ok => {
                let saw = self.answer(known.key())?;
                self.builder.answer(at, saw);
            }
            None => {
                self.scan.value()?;
            }
        }
        Ok(self.scan.expect(b']', "`]` is expected")?)
    }

    fn verb(&mut self) -> Result<Verb, Problem> {
        self.scan.expect(
            b'[',
            "a micro-operation is a list: [\"append\",key,value], [\"w\",key,value] or [\"r\",key,answer]",
        )?;
        let verb = match self.scan.string()? {
            b"append" => Verb::Append,
            b"w" => Verb::Write,
            b"r" => Verb::Read,
            _ => return Err("a micro-operation is append, w or r"),
        };
        self.scan.expect(b',', "`,` is expected")?;
        Ok(verb)
    }

    fn key(&mut self) -> Result<u32, Problem> {
        let token = self.scan.value()?;
        let txns = &mut self.builder.txns;
        let atom = txns.texts.token(token).ok_or("a key is a JSON value other than null")?;
        let key = txns.key_names.number(atom);
        self.scan.expect(b',', "`,` is expected")?;
        Ok(key)
    }

    fn written(&mut self) -> Result<i64, Problem> {
        let token = self.scan.value()?;
        let value = self.builder.txns.texts.token(token).ok_or("what is written is a JSON value other than null")?;
        self.scan.blanks();
        Ok(value)
    }

    fn answer(&mut self, key: u32) -> Result<MopKind, Problem> {
        let txns = &mut self.builder.txns;
        match self.scan.peek() {
            Some(b'[') => {
                let list = self.scan.flat_list()?;
                if list.is_empty() {
                    return Ok(MopKind::Nil);
                }
                let read = self.builder.lists.read_text(key, list, &mut txns.elements, &mut txns.texts);
                let (chain, len) = read.ok_or("a read is null, a value, or a list of values")?;
                Ok(MopKind::List { chain, len })
            }
            _ => {
                let token = self.scan.value()?;
                if token == b"null" {
                    return Ok(MopKind::Nil);
                }
                let atom = txns.texts.token(token).ok_or("a read is null, a value, or a list of values")?;
                Ok(MopKind::Value(txns.elements.number(key, atom)))
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Append,
    Write,
    Read,
}

#[cfg(test)]
mod tests;
