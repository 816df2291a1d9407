//! Negative controls (§7.M.S): access that must be denied and unobservable, judged from what was recorded of it.
//!
//! A denial proves nothing by itself: a name that does not exist is "denied", too. So the same access by somebody who may
//! have it, its twin, must have been answered on the same way before, and what the twin was answered is what must be seen
//! nowhere: not in an answer, not in an error, not in a channel that is shown to work.

use crate::base::time::Nanos;
use crate::history::{Effect, Op};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Shorter texts are found anywhere by chance.
const LEAST: usize = 8;

/// One time that a negative control was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The control, as the attribute declares it.
    pub control: String,
    /// The same access by somebody who may have it.
    pub twins: Vec<Exchange>,
    /// What must be denied.
    pub attempts: Vec<Attempt>,
    /// Where it must not be seen.
    pub channels: Vec<Channel>,
    /// What follows from the above, for readers; a verdict judges again.
    pub result: ControlResult,
}

/// An operation, and what went over the wire for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// As recorded. It is no part of the run's history.
    pub op: Op,
    /// Payload bytes to the node while it ran, on a link that nobody else uses.
    pub sent: u64,
    /// Payload bytes back.
    pub received: u64,
}

/// An access that must be denied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// What a denial looks like.
    pub denial: Denial,
    /// What was done.
    pub exchange: Exchange,
}

/// What a denial looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Denial {
    /// The system refuses.
    Refused,
    /// The system may answer, with nothing of what the twin was answered.
    Blind,
}

/// Something that was read in search of what must not be seen: metrics, a log, a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// When it began to be read, on the run's clock.
    pub at: Nanos,
    /// What must be in it, since otherwise it shows nothing.
    pub witness: String,
    /// File in the run's folder with what was read.
    pub file: Option<String>,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
    /// The witness is in it.
    pub shows_witness: bool,
    /// Something that a twin was answered is in it.
    pub shows_secret: bool,
    /// Why it was not read.
    pub error: Option<String>,
}

/// What a trial showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum ControlResult {
    /// Denied, while its twin was not, and seen nowhere.
    Held {
        /// In numbers.
        evidence: String,
    },
    /// The access was given: a violation.
    Granted {
        /// What was answered to whom.
        why: String,
    },
    /// The access was denied, and what it was for is seen elsewhere: a violation.
    Observed {
        /// Where.
        why: String,
    },
    /// Nothing is shown.
    NotShown {
        /// What is missing.
        why: String,
    },
}

impl ControlResult {
    /// The word for it, and the reason.
    pub fn told(&self) -> (&'static str, &str) {
        match self {
            ControlResult::Held { evidence } => ("held", evidence),
            ControlResult::Granted { why } => ("granted", why),
            ControlResult::Observed { why } => ("observed", why),
            ControlResult::NotShown { why } => ("not shown", why),
        }
    }
}

impl Trial {
    /// What the trial shows, from its data alone.
    pub fn judge(&self) -> ControlResult {
        let secrets = secrets(&self.twins);
        let attempts = self.attempts.iter().map(|attempt| attempt.finding(&secrets));
        let channels = self.channels.iter().map(Channel::finding);
        let missing = self.missing(&secrets).map(|why| ControlResult::NotShown { why });
        // A violation is told whatever else is missing.
        let found: Vec<ControlResult> = attempts.chain(channels).flatten().chain(missing).collect();
        let rank = |result: &&ControlResult| match result {
            ControlResult::Granted { .. } => 0,
            ControlResult::Observed { .. } => 1,
            ControlResult::NotShown { .. } | ControlResult::Held { .. } => 2,
        };
        found.iter().min_by_key(rank).cloned().unwrap_or_else(|| ControlResult::Held {
            evidence: format!(
                "{} of {} attempts denied after {} answered twins, nothing of them seen in {}",
                self.attempts.len(),
                self.attempts.len(),
                self.twins.len(),
                self.channels.iter().map(|c| format!("{} ({} bytes)", c.name, c.bytes)).collect::<Vec<_>>().join(", ")
            ),
        })
    }

    /// What the trial lacks.
    fn missing(&self, told_to_twins: &[String]) -> Option<String> {
        if self.attempts.is_empty() {
            return Some("nothing was attempted".to_owned());
        }
        for Attempt { denial, exchange: tried } in &self.attempts {
            let told = told(&tried.op);
            // What an answer does not hold says something only where the owner's answer holds something.
            let tells = |twin: &Exchange| *denial == Denial::Refused || !secrets([twin]).is_empty();
            if !self.twins.iter().any(|twin| twin.is_twin_of(tried) && tells(twin)) {
                let length = match denial {
                    Denial::Refused => String::new(),
                    Denial::Blind => format!(" with {LEAST} characters or more"),
                };
                return Some(format!(
                    "{told} has no positive twin: nobody was answered the same{length} on the same way before, so it \
                     may be denied for another reason"
                ));
            }
            if let Some(why) = tried.silent() {
                return Some(format!("{told}: {why}"));
            }
            let after = |channel: &Channel| tried.op.complete_ts.is_some_and(|ended| channel.at >= ended);
            if !self.channels.iter().any(after) {
                return Some(format!("no channel was looked at after {told}: a denial may still be observed"));
            }
        }
        let why = || format!("no twin was answered with {LEAST} characters or more that could be looked for");
        told_to_twins.is_empty().then(why)
    }
}

impl Exchange {
    /// This is `tried` by somebody who may: answered on the same way, earlier.
    fn is_twin_of(&self, tried: &Exchange) -> bool {
        let (own, other) = (&self.op, &tried.op);
        let same = (&own.op_type, &own.key, &own.node_seen) == (&other.op_type, &other.key, &other.node_seen);
        let before = own.complete_ts.is_some_and(|ended| ended <= other.invoke_ts);
        same && before && own.effect() == Effect::Acknowledged && self.silent().is_none()
    }

    /// Why the system cannot have had a say in it.
    fn silent(&self) -> Option<&'static str> {
        match (self.sent, self.received) {
            (0, _) => Some("nothing was sent to the node on the control's link (connect to `Control::addr`)"),
            (_, 0) => Some("the node sent nothing back, so it denied nothing"),
            _ => None,
        }
    }
}

impl Attempt {
    fn finding(&self, secrets: &[String]) -> Option<ControlResult> {
        let op = &self.exchange.op;
        let told = told(op);
        match (op.effect(), self.denial) {
            (Effect::Acknowledged, _) if holds(&op.output.to_string(), secrets) || holds_value(&op.output, secrets) => {
                Some(ControlResult::Granted { why: format!("{told} was answered as the one who may have it") })
            }
            (Effect::Acknowledged, Denial::Refused) => {
                Some(ControlResult::Granted { why: format!("{told} was answered {}", op.output) })
            }
            (Effect::Failed, _) if op.error.as_deref().is_some_and(|error| holds(error, secrets)) => {
                Some(ControlResult::Observed { why: format!("{told}: its error tells what is denied") })
            }
            (Effect::Unknown, _) => {
                let why = op.error.as_deref().unwrap_or("no answer in time");
                Some(ControlResult::NotShown { why: format!("{told} was not denied, it has no known outcome: {why}") })
            }
            (Effect::Acknowledged, Denial::Blind) | (Effect::Failed, _) => None,
        }
    }
}

impl Channel {
    /// What `text`, read from the channel, shows; what must not be seen is in `twins`.
    #[must_use]
    pub fn with(self, text: &str, twins: &[Exchange]) -> Channel {
        Channel {
            bytes: text.len() as u64,
            sha256: crate::base::digest::sha256_hex(text.as_bytes()),
            shows_witness: !self.witness.trim().is_empty() && text.contains(&self.witness),
            shows_secret: holds(text, &secrets(twins)),
            ..self
        }
    }

    fn finding(&self) -> Option<ControlResult> {
        let name = &self.name;
        if let Some(why) = &self.error {
            return Some(ControlResult::NotShown { why: format!("{name} was not read: {why}") });
        }
        if self.shows_secret {
            return Some(ControlResult::Observed { why: format!("{name} shows what is denied") });
        }
        let why = format!("{name} does not even show `{}`, so that it shows nothing", self.witness);
        (!self.shows_witness).then_some(ControlResult::NotShown { why })
    }
}

/// `read of a/k by client 3`.
fn told(op: &Op) -> String {
    format!("{} of {} by client {}", op.op_type, op.key.as_deref().unwrap_or("everything"), op.process_id)
}

/// What twins were answered: each text and number that is long enough to be found again.
fn secrets<'t>(twins: impl IntoIterator<Item = &'t Exchange>) -> Vec<String> {
    let mut found = Vec::new();
    let answered = twins.into_iter().filter(|twin| twin.op.effect() == Effect::Acknowledged);
    answered.for_each(|twin| leaves(&twin.op.output, &mut found));
    found.retain(|text| text.len() >= LEAST);
    found
}

fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.trim().to_owned()),
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| leaves(value, found)),
        Value::Object(values) => values.values().for_each(|value| leaves(value, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn holds(text: &str, secrets: &[String]) -> bool {
    secrets.iter().any(|secret| text.contains(secret.as_str()))
}

fn holds_value(value: &Value, secrets: &[String]) -> bool {
    let mut found = Vec::new();
    leaves(value, &mut found);
    found.iter().any(|text| holds(text, secrets))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    fn op(at: u64, client: u64, output: Value, error: Option<&str>) -> Exchange {
        let op = Op {
            op_id: at,
            process_id: client,
            invoke_ts: Nanos(at),
            complete_ts: Some(Nanos(at + 5)),
            op_type: "read".to_owned(),
            key: Some("a/k".to_owned()),
            input: Value::Null,
            output,
            error: error.map(str::to_owned),
            timeout_marker: false,
            node_seen: Some("n1".to_owned()),
            fault_epoch: None,
        };
        Exchange { op, sent: 20, received: 12 }
    }

    /// A trial in which everything is as it must be.
    pub(crate) fn held(control: &str) -> Trial {
        let denied = Attempt { denial: Denial::Refused, exchange: op(20, 2, Value::Null, Some("403 forbidden")) };
        let twins = vec![op(10, 1, json!({ "value": "secret-of-a" }), None)];
        let (name, witness) = ("metrics".to_owned(), "tenant b".to_owned());
        let metrics = Channel { name, at: Nanos(30), witness, ..Channel::default() };
        let channels = vec![metrics.with("reads of tenant b: 1, denied: 1", &twins)];
        let trial = Trial {
            control: control.to_owned(),
            twins,
            attempts: vec![denied],
            channels,
            result: ControlResult::NotShown { why: String::new() },
        };
        Trial { result: trial.judge(), ..trial }
    }

    fn read(trial: &mut Trial, text: &str) {
        trial.channels[0] = trial.channels[0].clone().with(text, &trial.twins);
    }

    #[test]
    fn a_control_holds_when_it_was_denied_after_its_twin_was_answered_and_is_seen_nowhere() {
        let result = held("x").result;
        let expect = "1 of 1 attempts denied after 1 answered twins, nothing of them seen in metrics (31 bytes)";
        assert_eq!(result.told(), ("held", expect));
    }

    #[test]
    fn a_control_that_lacks_anything_does_not_hold() {
        let check = |expect: (&str, &str), change: fn(&mut Trial)| {
            let mut trial = held("x");
            change(&mut trial);
            let result = trial.judge();
            let (word, why) = result.told();
            assert_eq!(word, expect.0, "{why}");
            assert!(why.contains(expect.1), "{why}");
        };
        // Given.
        let granted = |why| ("granted", why);
        check(granted("as the one who may have it"), |t| {
            t.attempts[0].exchange = op(20, 2, json!("secret-of-a"), None)
        });
        check(granted("was answered \"ok\""), |t| t.attempts[0].exchange = op(20, 2, json!("ok"), None));
        check(granted("as the one who"), |t| {
            t.attempts[0] = Attempt { denial: Denial::Blind, exchange: op(20, 2, json!(["b", "x secret-of-a"]), None) };
        });
        check(granted("was answered"), |t| {
            t.attempts[0].exchange = op(20, 2, json!("ok"), None);
            t.twins.clear();
        });
        // Seen.
        check(("observed", "its error tells"), |t| {
            t.attempts[0].exchange.op.error = Some("403: secret-of-a is not yours".into());
        });
        check(("observed", "metrics shows"), |t| read(t, "tenant b asked for secret-of-a"));
        // Not shown.
        let open = |why| ("not shown", why);
        check(open("nothing was attempted"), |t| t.attempts.clear());
        check(open("no positive twin"), |t| t.twins.clear());
        check(open("no positive twin"), |t| t.twins[0].op.key = Some("b/k".into()));
        check(open("no positive twin"), |t| t.twins[0].op.op_type = "write".into());
        check(open("no positive twin"), |t| t.twins[0].op.node_seen = Some("n2".into()));
        check(open("no positive twin"), |t| t.twins[0].op.error = Some("503".into()));
        check(open("no positive twin"), |t| t.twins[0].op.complete_ts = Some(Nanos(21)));
        check(open("no positive twin"), |t| t.twins[0].received = 0);
        check(open("nothing was sent"), |t| t.attempts[0].exchange.sent = 0);
        check(open("denied nothing"), |t| t.attempts[0].exchange.received = 0);
        check(open("no known outcome"), |t| t.attempts[0].exchange.op.timeout_marker = true);
        check(open("8 characters"), |t| t.twins[0].op.output = json!({ "value": "v1", "ok": true }));
        check(open("no channel"), |t| t.channels.clear());
        check(open("no channel was looked at after read of a/k by client 2"), |t| t.channels[0].at = Nanos(24));
        check(open("no positive twin"), |t| {
            let mut write = op(12, 1, json!("ok"), None);
            (write.op.op_type, t.attempts[0].denial) = ("write".into(), Denial::Blind);
            t.attempts[0].exchange =
                Exchange { op: Op { process_id: 2, invoke_ts: Nanos(20), ..write.op.clone() }, ..write.clone() };
            t.twins.push(write);
        });
        check(open("does not even show `tenant b`"), |t| read(t, "404 not found"));
        check(open("was not read: gone"), |t| t.channels[0].error = Some("gone".into()));
        check(open("does not even show"), |t| {
            t.channels[0].witness = " ".into();
            read(t, "anything");
        });
    }

    #[test]
    fn an_answer_without_what_the_twin_was_told_is_a_denial_where_the_trial_says_so() {
        let mut trial = held("x");
        trial.attempts[0] = Attempt { denial: Denial::Blind, exchange: op(20, 2, json!(["own-value-of-b"]), None) };
        assert_eq!(trial.judge().told().0, "held");
    }
}
