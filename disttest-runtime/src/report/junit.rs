//! `findings/junit.xml`: verdicts as CI systems show them. A scenario that did not conclude is an error there, never
//! "skipped": most of them show what was skipped in green.

use super::case::{Case, Whole, cases, wholes};
use crate::plan::Plan;
use crate::verdict::{ScenarioRecord, SessionRecord, SessionVerdict, test_is_ok};
use std::fmt::Write;

/// A test suite of the session, a test case for each scenario and arm of the plan, those without a record included, and
/// one for each scenario that its arms make up. A session without any is an error: nothing is no green suite.
/// Linear in the records.
pub fn junit_xml(plan: Option<&Plan>, session: &SessionRecord, scenarios: &[ScenarioRecord]) -> String {
    let cases = cases(plan, scenarios);
    let wholes = wholes(plan, &cases);
    let mut told: Vec<Told> = Vec::new();
    for whole in &wholes {
        told.extend(whole.parts.iter().map(|part| Told::of(part, session)));
        told.extend(whole.joined.then(|| Told::joined(whole)));
    }
    if told.is_empty() {
        told.push(Told::nothing());
    }
    let count = |kind: Kind| told.iter().filter(|told| told.kind == kind).count();
    let (failures, errors) = (count(Kind::Failure), count(Kind::Error));
    let seconds: f64 = told.iter().map(|told| told.seconds).sum();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\"", told.len());
    let name = escape(&session.slug);
    line(&mut text, &format!("<testsuites name=\"{name}\" {counts}>"));
    line(&mut text, &format!("  <testsuite name=\"{name}\" {counts} skipped=\"0\">"));
    told.iter().for_each(|told| told.add(&mut text));
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ok,
    Failure,
    Error,
}

struct Told {
    name: String,
    kind: Kind,
    verdict: String,
    tier: &'static str,
    why: String,
    seconds: f64,
}

impl Told {
    fn of(case: &Case<'_>, session: &SessionRecord) -> Told {
        let verdict = case.verdict();
        let record = case.ran.as_ref().map(|(record, _)| *record);
        let is_ok =
            |record: &&ScenarioRecord| test_is_ok(&record.declared, record.verdict, record.tier_met, session.tier);
        let kind = match record {
            _ if verdict.is_fail() => Kind::Failure,
            Some(record) if is_ok(&record) => Kind::Ok,
            _ => Kind::Error,
        };
        let runs = record.map_or(&[][..], |record| &record.runs);
        Told {
            name: format!("{} {}", case.id, case.name),
            kind,
            verdict: verdict.to_string(),
            tier: case.tier(),
            why: case.headline(),
            seconds: runs.iter().map(|(_, run)| run.workload.as_duration().as_secs_f64()).sum(),
        }
    }

    /// A scenario as a whole, whose arms may be missing.
    fn joined(whole: &Whole<'_, '_>) -> Told {
        let verdict = whole.verdict;
        let kind = match verdict {
            _ if verdict.is_fail() => Kind::Failure,
            _ if verdict.is_pass() => Kind::Ok,
            _ => Kind::Error,
        };
        Told {
            name: format!("{} {}", whole.id, whole.name),
            kind,
            verdict: verdict.to_string(),
            tier: whole.tier(),
            why: whole.headline.clone(),
            seconds: 0.0,
        }
    }

    fn nothing() -> Told {
        let why = "the session holds no scenario, and its plan names none".to_owned();
        let verdict = SessionVerdict::Blocked.to_string();
        Told { name: "session".to_owned(), kind: Kind::Error, verdict, tier: "—", why, seconds: 0.0 }
    }

    fn add(&self, text: &mut String) {
        let Told { name, kind, verdict, tier, why, seconds } = self;
        let open = format!("    <testcase name=\"{}\" classname=\"disttest\" time=\"{seconds:.3}\">", escape(name));
        line(text, &open);
        let told = format!("{verdict} (tier met: {tier}) — {why}");
        let element = match kind {
            Kind::Ok => None,
            Kind::Failure => Some("failure"),
            Kind::Error => Some("error"),
        };
        match element {
            None => line(text, &format!("      <system-out>{}</system-out>", escape(&told))),
            Some(element) => {
                line(text, &format!("      <{element} type=\"{}\" message=\"{}\"/>", escape(verdict), escape(&told)))
            }
        }
        line(text, "    </testcase>");
    }
}

fn line(text: &mut String, line: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{line}");
}

/// `text` inside an element or an attribute; what XML 1.0 has no form for becomes U+FFFD.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            c if u32::from(c) < 0x20 || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn what_came_from_outside_cannot_leave_its_place() {
        assert_eq!(escape("<a b=\"c\">&'\u{1b}[0m\n"), "&lt;a b=&quot;c&quot;&gt;&amp;&apos;\u{fffd}[0m&#10;");
    }
}
