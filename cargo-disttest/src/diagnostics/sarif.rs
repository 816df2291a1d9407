//! Diagnostics as SARIF 2.1.0 (OASIS standard), which code scanning and editors read: one run for all plans.
//!
//! Columns count UTF-16 units. Paths are relative to the root of the repository (`%SRCROOT%`). What is suppressed is a
//! result with a suppression: `inSource` for a comment of the plan, `external` for a setting.

use super::plain;
use super::told::{By, Told, Untold};
use disttest_runtime::base::diagnostic::{Diagnostic, LineIndex, Severity, Span};
use disttest_runtime::base::digest::sha256_hex;
use disttest_runtime::plan::RULES;
use serde_json::{Value, json};
use std::collections::HashMap;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const ROOT: &str = "%SRCROOT%";
/// The notification about a file that could not be read.
const UNREADABLE: &str = "unreadable";

/// What goes into one log.
pub(crate) struct Log<'t> {
    /// The plans, each with its path from the root of the repository.
    pub plans: Vec<(String, &'t Told)>,
    /// Configuration files with what is wrong with them, likewise.
    pub configs: Vec<(String, &'t Told)>,
    /// Files that could not be read: (as named, why).
    pub unreadable: Vec<(String, String)>,
    /// The exit status of the command.
    pub exit_status: u8,
}

impl Log<'_> {
    /// The whole document.
    pub(crate) fn to_json(&self) -> Value {
        let results = self.plans.iter().flat_map(|(path, told)| results(path, told));
        json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": driver() },
                "automationDetails": { "id": "cargo-disttest/plan/" },
                "columnKind": "utf16CodeUnits",
                "originalUriBaseIds": { ROOT: { "description": { "text": "The root of the repository." } } },
                "invocations": [self.invocation()],
                "results": results.collect::<Vec<_>>(),
            }],
        })
    }

    fn invocation(&self) -> Value {
        let unreadable = |(file, why): &(String, String)| {
            json!({
                "descriptor": { "id": UNREADABLE },
                "level": "error",
                "message": { "text": words(why) },
                "locations": [{ "physicalLocation": { "artifactLocation": artifact(file) } }],
            })
        };
        let config = |(path, told): &(String, &Told)| {
            let of = |d: &Diagnostic| {
                json!({
                    "descriptor": { "id": crate::config::RULE },
                    "level": level(d.severity),
                    "message": message(d),
                    "locations": [location(path, told, d.span)],
                })
            };
            told.diagnostics.iter().map(of).collect::<Vec<_>>()
        };
        json!({
            "executionSuccessful": self.unreadable.is_empty(),
            "exitCode": self.exit_status,
            "toolExecutionNotifications": self.unreadable.iter().map(unreadable).collect::<Vec<_>>(),
            "toolConfigurationNotifications": self.configs.iter().flat_map(config).collect::<Vec<_>>(),
        })
    }
}

fn driver() -> Value {
    let (repository, version) = (env!("CARGO_PKG_REPOSITORY"), env!("CARGO_PKG_VERSION"));
    let rules = RULES.iter().map(|rule| {
        json!({
            "id": rule.name,
            "shortDescription": { "text": sentence(rule.what) },
            "helpUri": format!("{repository}/blob/v{version}/templates/rules/{}.md", rule.name),
            "help": { "text": format!("Run `cargo disttest explain {}`.", rule.name) },
            "defaultConfiguration": { "level": level(rule.severity) },
        })
    });
    json!({
        "name": "cargo-disttest",
        "version": version,
        "semanticVersion": version,
        "informationUri": repository,
        "rules": rules.collect::<Vec<_>>(),
        "notifications": [
            { "id": UNREADABLE, "shortDescription": { "text": "A file cannot be read, or is no test plan." } },
            { "id": crate::config::RULE, "shortDescription": { "text": "A setting has no effect." } },
        ],
    })
}

/// A text that starts with a capital and ends with a full stop, as code scanning shows it.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let rest = chars.as_str();
    format!("{first}{rest}{}", if rest.ends_with('.') { "" } else { "." })
}

fn results(path: &str, told: &Told) -> Vec<Value> {
    let mut seen = HashMap::new();
    let numbers: HashMap<&str, usize> = RULES.iter().enumerate().map(|(i, rule)| (rule.name, i)).collect();
    let mut result = |diagnostic: &Diagnostic, suppressions: Vec<Value>| {
        let mut value = json!({
            "ruleId": diagnostic.rule,
            "level": level(diagnostic.severity),
            "message": message(diagnostic),
            "locations": [location(path, told, diagnostic.span)],
            "partialFingerprints": { "disttestPlanLine/v1": fingerprint(told, diagnostic, &mut seen) },
            "suppressions": suppressions,
        });
        if let Some(index) = numbers.get(diagnostic.rule.as_str()) {
            value["ruleIndex"] = json!(index);
        }
        if !diagnostic.edits.is_empty() {
            value["fixes"] = json!([fix(path, told, diagnostic)]);
        }
        value
    };
    let mut out: Vec<Value> = told.diagnostics.iter().map(|diagnostic| result(diagnostic, Vec::new())).collect();
    out.extend(told.untold.iter().map(|untold| result(&untold.diagnostic, vec![suppression(path, told, untold)])));
    out
}

fn suppression(path: &str, told: &Told, untold: &Untold) -> Value {
    match &untold.by {
        By::Comment(span) => json!({
            "kind": "inSource",
            "status": "accepted",
            "justification": untold.reason,
            "location": location(path, told, *span),
        }),
        By::Setting(place) => json!({
            "kind": "external",
            "status": "accepted",
            "justification": format!("{} ({place})", untold.reason),
        }),
    }
}

fn fix(path: &str, told: &Told, diagnostic: &Diagnostic) -> Value {
    let text = words(diagnostic.help.as_deref().unwrap_or(&diagnostic.message));
    let replacements = diagnostic.edits.iter().map(|edit| {
        json!({
            "deletedRegion": region(&told.index, &told.text, edit.span),
            "insertedContent": { "text": edit.replacement },
        })
    });
    json!({
        "description": { "text": text },
        "artifactChanges": [{
            "artifactLocation": artifact(path),
            "replacements": replacements.collect::<Vec<_>>(),
        }],
    })
}

/// The same for a finding after lines above it have come or gone: rule, message and line, and a number where that is
/// not enough.
fn fingerprint(told: &Told, diagnostic: &Diagnostic, seen: &mut HashMap<String, usize>) -> String {
    let line = told.index.line(&told.text, diagnostic.span.start);
    // An endless line would be hashed once for each of its findings.
    let end = told.text.floor_char_boundary(line.end.min(line.start + 4096));
    let line = told.text.get(line.start..end).unwrap_or_default().trim();
    let hash = sha256_hex(format!("{}\n{}\n{line}", diagnostic.rule, diagnostic.message).as_bytes());
    let count = seen.entry(hash.clone()).and_modify(|n| *n += 1).or_insert(1);
    format!("{}:{count}", &hash[..32])
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn message(diagnostic: &Diagnostic) -> Value {
    let help = diagnostic.help.as_deref().map(|help| format!("\nHelp: {}", words(help))).unwrap_or_default();
    json!({ "text": format!("{}{help}", words(&diagnostic.message)) })
}

/// `text` as a plain text message says it (SARIF §3.11.5, §3.11.6): a brace is doubled, or it would start a
/// placeholder, and what looks like a link is none, for it came from a plan.
fn words(text: &str) -> String {
    plain(text).replace('{', "{{").replace('}', "}}").replace("](", "] (")
}

fn location(path: &str, told: &Told, span: Span) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": artifact(path),
            "region": region(&told.index, &told.text, span),
        }
    })
}

fn region(index: &LineIndex, text: &str, span: Span) -> Value {
    let (start, end) = (index.position_utf16(text, span.start), index.position_utf16(text, span.end));
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

fn artifact(path: &str) -> Value {
    if path.starts_with('/') {
        return json!({ "uri": format!("file://{}", encoded(path)) });
    }
    json!({ "uri": encoded(path), "uriBaseId": ROOT })
}

/// A path as a URI reference (RFC 3986): everything but unreserved characters and slashes percent-encoded.
fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(artifact("docs/a b%c.md"), json!({ "uri": "docs/a%20b%25c.md", "uriBaseId": ROOT }));
        assert_eq!(artifact("/é.md"), json!({ "uri": "file:///%C3%A9.md" }));
        assert_eq!(artifact("docs/a:b#c?d.md")["uri"], "docs/a%3Ab%23c%3Fd.md");
    }

    #[test]
    fn text_of_a_plan_is_no_placeholder_and_no_link() {
        assert_eq!(words("`{{x}}` [a](http://b)\n{0}"), "`{{{{x}}}}` [a] (http://b) {{0}}");
    }

    #[test]
    fn columns_are_utf16_and_the_end_is_not_meant() {
        let text = "a😀bc\nd";
        let at = |start, end| region(&LineIndex::new(text), text, Span::new(start, end));
        assert_eq!(at(5, 6), json!({ "startLine": 1, "startColumn": 4, "endLine": 1, "endColumn": 5 }));
        assert_eq!(at(5, 9), json!({ "startLine": 1, "startColumn": 4, "endLine": 2, "endColumn": 2 }));
    }
}
