//! Events as EDN.

use super::super::Problem;
use super::super::edn::{Bad, Edn, Place, Reader};
use super::event::{Event, Kind};
use super::json::other_process;
use rustc_hash::FxHasher;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::io::Read;

/// Events one after the other: maps on their own, or all of them in one list or vector.
#[derive(Debug, Default)]
pub(super) struct Events {
    state: State,
    words: Words,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    #[default]
    Start,
    Single,
    Inside(u8),
    Closed,
}

impl Events {
    /// The next event.
    pub(super) fn next<R: Read>(&mut self, reader: &mut Reader<R>) -> Result<Option<Event>, Problem> {
        if self.state == State::Start {
            self.state = reader.open()?.map_or(State::Single, State::Inside);
        }
        let next = match self.state {
            State::Inside(close) => reader.element(close)?,
            _ => reader.value()?,
        };
        match (next, self.state) {
            (None, State::Inside(_)) => {
                self.state = State::Closed;
                self.next(reader)
            }
            (None, _) => Ok(None),
            (Some((_, place)), State::Closed) => {
                Err(reader.bad_at(place, "something follows the history: a file holds one").into())
            }
            (Some((value, place)), _) => {
                let event = self.words.event(value, place.line);
                event.map(Some).map_err(|problem| refused(reader, place, problem))
            }
        }
    }
}

fn refused<R: Read>(reader: &mut Reader<R>, place: Place, problem: String) -> Problem {
    let bad: Bad = reader.bad_at(place, problem);
    bad.into()
}

/// Turns values of EDN into those of JSON, and sees to it that no two become one: a keyword and a text of the same
/// spelling in one history are refused.
#[derive(Debug, Default)]
struct Words {
    /// What kind of value each spelling was, by its hash.
    seen: HashMap<u64, Kinds, BuildHasherDefault<FxHasher>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kinds {
    Text,
    Keyword,
    Symbol,
    Char,
}

impl Words {
    fn event(&mut self, value: Edn, line: usize) -> Result<Event, String> {
        let Edn::Map(fields) = value.untagged() else {
            return Err("an event is a map (or a record) with :type, :process, :f and :value".to_owned());
        };
        let (mut kind, mut process, mut f, mut payload) = (None, None, None, Value::Null);
        let (mut index, mut time, mut error) = (None, None, None);
        for (name, value) in fields {
            // Keys are told once: a text of the same spelling is another name, which is not read.
            let Edn::Keyword(name) = name else { continue };
            match name.as_str() {
                "type" => kind = Some(kind_of(&value)?),
                "process" => process = Some(process_of(&value)?),
                "f" => f = f_of(&value)?,
                "value" => payload = self.json(value)?,
                "index" => index = number(&value, "index")?,
                "time" => time = number(&value, "time")?,
                "error" => error = (value != Edn::Nil).then(|| value.to_string()),
                _ => {}
            }
        }
        Ok(Event {
            kind: kind.ok_or("the event has no :type")?,
            unnamed: process.is_none(),
            process: process.unwrap_or(Some(0)),
            f,
            value: payload,
            index,
            time,
            error,
            line,
        })
    }

    fn json(&mut self, value: Edn) -> Result<Value, String> {
        let tagged = |tag: &str, text: String| Value::Object(Map::from_iter([(tag.to_owned(), Value::String(text))]));
        Ok(match value {
            Edn::Nil => Value::Null,
            Edn::Bool(value) => value.into(),
            Edn::Int(value) => value.into(),
            Edn::Float(value) if value.is_finite() => value.into(),
            Edn::Float(_) => tagged("#", value.to_string()),
            Edn::Big(digits) => tagged("#bigint", digits),
            Edn::Decimal(digits) => tagged("#decimal", digits),
            Edn::Ratio(text) => tagged("#ratio", text),
            Edn::Char(c) => self.word(Kinds::Char, c.to_string())?.into(),
            Edn::Text(text) => self.word(Kinds::Text, text)?.into(),
            Edn::Keyword(name) => self.word(Kinds::Keyword, name)?.into(),
            Edn::Symbol(name) => self.word(Kinds::Symbol, name)?.into(),
            Edn::List(items) | Edn::Vector(items) | Edn::Set(items) => {
                Value::Array(items.into_iter().map(|item| self.json(item)).collect::<Result<_, _>>()?)
            }
            Edn::Map(entries) => self.object(entries)?,
            Edn::Tagged(tag, value) => Value::Object(Map::from_iter([(format!("#{tag}"), self.json(*value)?)])),
        })
    }

    fn object(&mut self, entries: Vec<(Edn, Edn)>) -> Result<Value, String> {
        let mut fields = Map::new();
        for (key, value) in entries {
            let name = match key {
                Edn::Text(text) => self.word(Kinds::Text, text)?,
                Edn::Keyword(name) => self.word(Kinds::Keyword, name)?,
                Edn::Symbol(name) => self.word(Kinds::Symbol, name)?,
                other => other.to_string(),
            };
            if fields.contains_key(&name) {
                return Err(format!("two keys of a map are both `{name}` in JSON"));
            }
            fields.insert(name, self.json(value)?);
        }
        Ok(Value::Object(fields))
    }

    fn word(&mut self, kind: Kinds, text: String) -> Result<String, String> {
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        let known = *self.seen.entry(hasher.finish()).or_insert(kind);
        if known == kind {
            return Ok(text);
        }
        Err(format!(
            "`{text}` is a {} here and a {} before: the check could not tell them apart",
            kind.word(),
            known.word()
        ))
    }
}

impl Kinds {
    fn word(self) -> &'static str {
        match self {
            Kinds::Text => "text",
            Kinds::Keyword => "keyword",
            Kinds::Symbol => "symbol",
            Kinds::Char => "character",
        }
    }
}

fn kind_of(value: &Edn) -> Result<Kind, String> {
    let known = match value {
        Edn::Keyword(word) | Edn::Text(word) => Kind::parse(word),
        _ => None,
    };
    known.ok_or_else(|| format!(":type is :invoke, :ok, :fail or :info, not {value}"))
}

fn process_of(value: &Edn) -> Result<Option<u64>, String> {
    match value {
        Edn::Int(process) => {
            u64::try_from(*process).map(Some).map_err(|_| format!("{process} is the number of no process"))
        }
        Edn::Keyword(name) | Edn::Text(name) | Edn::Symbol(name) => other_process(name),
        other => Err(format!(":process is a number or :nemesis, not {other}")),
    }
}

fn f_of(value: &Edn) -> Result<Option<String>, String> {
    match value {
        Edn::Nil => Ok(None),
        Edn::Keyword(name) | Edn::Text(name) | Edn::Symbol(name) => Ok(Some(name.clone())),
        other => Err(format!(":f is a keyword, not {other}")),
    }
}

fn number(value: &Edn, name: &str) -> Result<Option<u64>, String> {
    match value {
        Edn::Nil => Ok(None),
        Edn::Int(number) if *number >= 0 => Ok(u64::try_from(*number).ok()),
        // Clocks that were set back before the run began.
        Edn::Int(_) if name == "time" => Ok(Some(0)),
        other => Err(format!(":{name} is a whole number, not {other}")),
    }
}
