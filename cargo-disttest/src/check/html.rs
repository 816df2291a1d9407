//! Answers as one page for a browser: the witness and its neighbourhood as a picture. No script, nothing loaded.

mod cycle;
mod timeline;

use super::Settings;
use super::answer::{Checked, Judged, One};
use super::text::{neither, of_each_kind, summary};
use crate::import::Body;
use cycle::Cycle;
use disttest_runtime::checker::{Outcome, Violation};
use disttest_runtime::history::{Effect, Op};
use serde_json::Value;
use std::fmt::Write;
use timeline::Timeline;

/// Violations that are drawn for one answer, at most.
const DRAWN: usize = 8;
/// Operations of the witness that are drawn, at most: the last ones tell.
const WITNESS: usize = 40;
/// Operations beside the witness that are drawn, at most.
const NEIGHBOURS: usize = 16;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8888;--in:#b3261e;--in-fill:#b3261e22;--good:#1b6e20;--doubt:#8a5000;\
--op:#4263eb;--op-fill:#4263eb2e;--soft:#5f6368}\
@media(prefers-color-scheme:dark){:root{--in:#ff8a80;--in-fill:#ff8a8033;--good:#81c784;--doubt:#ffb74d;--op:#91a7ff;\
--op-fill:#91a7ff2e;--soft:#a8adb3}}\
body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.1rem;color:var(--soft);font-weight:600}h2{font-size:1.35rem;overflow-wrap:anywhere}\
h3{font-size:1.1rem;margin:1.5rem 0 .5rem}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:.75rem;border:1px solid var(--line);border-radius:6px;\
font:13px/1.5 ui-monospace,monospace}\
.picture{overflow-x:auto;border:1px solid var(--line);border-radius:6px;margin:.75rem 0}\
.key{color:var(--soft);font-size:.9rem}\
svg{display:block}svg text{font:12px ui-monospace,monospace;fill:CanvasText}svg .why{fill:var(--soft)}\
.lane{stroke:var(--line)}.op{fill:var(--op-fill);stroke:var(--op)}.edge{stroke:var(--in);stroke-width:2;fill:none}\
.head{fill:var(--in)}.witness{fill:var(--in-fill);stroke:var(--in);stroke-width:2.5}.unknown{stroke-dasharray:5 4}\
.failed{opacity:.45}.valid{color:var(--good)}.invalid{color:var(--in)}.unknown-outcome{color:var(--doubt)}";

/// The page of all files.
pub(crate) fn page(files: &[(String, Judged)], settings: &Settings) -> String {
    let mut body = String::new();
    for (file, judged) in files {
        match judged {
            Judged::Unreadable(problem) => {
                push(
                    &mut body,
                    format_args!("<h2>{}: <span class=\"invalid\">cannot be read</span></h2>\n", escape(file)),
                );
                push(&mut body, format_args!("<pre>{}</pre>\n", escape(&problem.render(file))));
            }
            Judged::Undecided(undecided) => {
                push(
                    &mut body,
                    format_args!("<h2>{}: <span class=\"unknown-outcome\">unknown</span></h2>\n", escape(file)),
                );
                push(&mut body, format_args!("<p>{}</p>\n", escape(&undecided.why)));
            }
            Judged::Read(checked) => {
                checked.answers.iter().for_each(|one| section(&mut body, file, checked, one, settings))
            }
        }
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>disttest check</title>\n\
         <style>{STYLE}</style></head>\n<body>\n<h1>disttest check</h1>\n{body}</body></html>\n"
    )
}

fn section(body: &mut String, file: &str, checked: &Checked, one: &One, settings: &Settings) {
    let class = if one.word() == "unknown" { "unknown-outcome" } else { one.word() };
    push(body, format_args!("<h2>{}: <span class=\"{class}\">{}</span></h2>\n", escape(file), one.word()));
    let scope = one.scope.words();
    push(
        body,
        format_args!(
            "<p>{} of {}, {scope}: {} operations, {} consumed.</p>\n",
            escape(&one.answer.checker),
            settings.model.name,
            checked.imported.len(),
            one.answer.evidence.consumed
        ),
    );
    for warning in &one.warnings {
        push(body, format_args!("<p class=\"unknown-outcome\">Warning: {}.</p>\n", escape(warning)));
    }
    list(body, "", &checked.imported.assumed);
    match &one.answer.outcome {
        Outcome::Unknown { why } => push(body, format_args!("<p>{}</p>\n", escape(why))),
        Outcome::Valid => list(body, "<p>A valid answer does not exclude:</p>\n", &one.answer.cannot_detect),
        Outcome::Invalid { violations } => {
            if violations.len() > 1 {
                push(body, format_args!("<p>{}.</p>\n", escape(&summary(violations))));
            }
            let told = of_each_kind(violations, DRAWN);
            told.iter().for_each(|violation| drawn(body, checked, violation));
            if violations.len() > told.len() {
                push(
                    body,
                    format_args!("<p>… and {} more (--format json has all).</p>\n", violations.len() - told.len()),
                );
            }
            if !one.not.is_empty() {
                push(body, format_args!("<p>Not {}{}.</p>\n", one.not.join(", "), neither(&one.also_not)));
            }
        }
    }
}

fn list(body: &mut String, before: &str, items: &[String]) {
    if !items.is_empty() {
        let items: String = items.iter().map(|item| format!("<li>{}</li>", escape(item))).collect();
        push(body, format_args!("{before}<ul>{items}</ul>\n"));
    }
}

fn drawn(body: &mut String, checked: &Checked, violation: &Violation) {
    let key = violation.key.as_ref().map_or(String::new(), |key| format!(" on {}", escape(key)));
    push(body, format_args!("<h3>{}{key}</h3>\n", escape(&violation.anomaly)));
    push(body, format_args!("<pre>{}</pre>\n", escape(&violation.explanation)));
    let witness = checked.imported.ops(&violation.ops);
    let witness = &witness[witness.len().saturating_sub(WITNESS)..];
    if witness.is_empty() {
        return;
    }
    if let Some(cycle) = Cycle::of(violation, witness) {
        push(body, format_args!("<div class=\"picture\">{}</div>\n", cycle.svg()));
    }
    let near = checked.imported.near(witness, NEIGHBOURS);
    let picture = Timeline::of(witness, &near).svg(&|op| checked.imported.line(op));
    push(body, format_args!("<div class=\"picture\">{picture}</div>\n"));
    let rows = match &checked.imported.body {
        Body::Ops { .. } => "a row a client, those of the witness first",
        Body::Txns(_) => "a row a process",
    };
    push(
        body,
        format_args!(
            "<p class=\"key\">Time goes to the right, one step a moment, not to scale; {rows}. Red: the witness. Dashed: of \
             unknown outcome, it may take effect any time after it began, or never. Pale: failed.</p>\n"
        ),
    );
}

/// The witness of `violation` and what stands near it: as a cycle where it argues with one, else over time.
pub(crate) fn picture(violation: &Violation, witness: &[Op], near: &[Op]) -> String {
    match Cycle::of(violation, witness) {
        Some(cycle) => cycle.svg(),
        None => Timeline::of(witness, near).svg(&|_| None),
    }
}

/// `#7 w 4`, short enough to be read in a bar.
fn label(op: &Op) -> String {
    let answered = op.effect() == Effect::Acknowledged;
    if op.op_type == "txn"
        && let Some(mops) = micro_operations(if answered && !op.output.is_null() { &op.output } else { &op.input })
    {
        return shortened(format!("#{} {mops}", op.op_id), 64);
    }
    let show = |value: &Value| if value.is_null() { String::new() } else { format!(" {value}") };
    let answer = match answered && (!op.output.is_null() || op.input.is_null()) {
        true => format!(" → {}", op.output),
        false => String::new(),
    };
    shortened(format!("#{} {}{}{answer}", op.op_id, op.op_type, show(&op.input)), 48)
}

/// `r x → [1], append y 2`.
fn micro_operations(list: &Value) -> Option<String> {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let one = |mop: &Value| match mop.as_array().map(Vec::as_slice) {
        Some([f, key, value]) if f == "r" || f == "read" => Some(format!("r {} → {value}", plain(key))),
        Some([f, key, value]) => Some(format!("{} {} {value}", f.as_str()?, plain(key))),
        _ => None,
    };
    let all: Option<Vec<String>> = list.as_array()?.iter().map(one).collect();
    all.map(|all| all.join(", "))
}

fn shortened(text: String, most: usize) -> String {
    if text.chars().count() > most { text.chars().take(most - 1).chain(['…']).collect() } else { text }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a text cannot fail.
    let _ = out.write_fmt(text);
}

/// Files are untrusted: nothing of them is markup, and no control character of them arrives.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            c if c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c) => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_file_is_markup() {
        assert_eq!(escape("<a b='\"'>&\u{202e}\u{0}\n"), "&lt;a b=&#39;&quot;&#39;&gt;&amp;\u{fffd}\u{fffd}\n");
    }
}
