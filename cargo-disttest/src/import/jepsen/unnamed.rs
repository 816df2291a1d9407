//! Events that do not say which client they are of.

use super::super::Problem;
use super::event::{Event, Kind};
use serde_json::Value;

/// What is said of them.
pub(in crate::import) const UNNAMED: &str =
    "`process` is absent, taken as one client, or as more where several things were done at once";

/// Gives each such event a client: one that is free, or whose operation it completes.
#[derive(Debug, Default)]
pub(super) struct Unnamed {
    /// Some event said its client, or did not.
    named: Option<bool>,
    /// Of each client, its operation in flight.
    open: Vec<Option<(Option<String>, Value)>>,
}

impl Unnamed {
    /// Sees to it that `event` has a client.
    pub(super) fn name(&mut self, event: &mut Event) -> Result<(), Problem> {
        if event.process.is_some() && *self.named.get_or_insert(!event.unnamed) == event.unnamed {
            let problem = "some events say of which `process` they are, and some do not";
            return Err(Problem::at(event.line, problem));
        }
        if !event.unnamed {
            return Ok(());
        }
        let client = match event.kind {
            Kind::Invoke => {
                let free = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
                self.open.resize(self.open.len().max(free + 1), None);
                self.open[free] = Some((event.f.clone(), event.value.clone()));
                free
            }
            _ => {
                let client = self.completed_by(event)?;
                self.open[client] = None;
                client
            }
        };
        event.process = Some(client as u64);
        Ok(())
    }

    /// The client whose operation `event` completes: the only one with that `f`, or the only one with that value too.
    fn completed_by(&self, event: &Event) -> Result<usize, Problem> {
        let with = |value: bool| -> Vec<usize> {
            let meant = |(_, open): &(usize, &Option<(Option<String>, Value)>)| {
                open.as_ref().is_some_and(|(f, asked)| *f == event.f && (!value || *asked == event.value))
            };
            self.open.iter().enumerate().filter(meant).map(|(client, _)| client).collect()
        };
        match (with(false).as_slice(), with(true).as_slice()) {
            ([one], _) | (_, [one]) => Ok(*one),
            ([], _) => {
                let problem =
                    format!("`{}` without an invocation: a line is missing, or stands elsewhere", event.kind.word());
                Err(Problem::at(event.line, problem))
            }
            (several, _) => {
                let problem = format!(
                    "completes one of {} operations in flight, and nothing says which: the events have no `process`",
                    several.len()
                );
                Err(Problem::at(event.line, problem))
            }
        }
    }
}
