//! Answers as one page for a browser: the witness and its neighbourhood as a picture. No script, nothing loaded.

use super::Settings;
use super::answer::{Checked, Judged, One};
use super::text::neither;
use disttest_runtime::checker::{Outcome, Violation};
use disttest_runtime::history::{Effect, Op, notation};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Violations that are drawn for one answer, at most.
const DRAWN: usize = 5;
/// Operations of the witness that are drawn, at most: the last ones tell.
const WITNESS: usize = 40;
/// Operations beside the witness that are drawn, at most.
const NEIGHBOURS: usize = 30;
/// Between two moments, in pixels.
const STEP: usize = 34;
/// Height of a client, in pixels.
const LANE: usize = 40;
/// Room for the clients' names, in pixels.
const MARGIN: usize = 90;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8888;--in:#c62828;--ok:#5c7cfa44;--edge:#5c7cfa}\
body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}\
pre{white-space:pre-wrap;padding:.75rem;border:1px solid var(--line);border-radius:6px}\
.picture{overflow-x:auto;border:1px solid var(--line);border-radius:6px}\
svg{display:block}svg text{font:12px ui-monospace,monospace;fill:CanvasText}\
.lane{stroke:var(--line)}.op{fill:var(--ok);stroke:var(--edge)}\
.witness{fill:#c6282833;stroke:var(--in);stroke-width:2.5}.unknown{stroke-dasharray:5 4}.failed{opacity:.45}\
.valid{color:#2e7d32}.invalid{color:var(--in)}.unknown-outcome{color:#b26a00}";

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
    list(body, "", &checked.imported.assumed);
    match &one.answer.outcome {
        Outcome::Unknown { why } => push(body, format_args!("<p>{}</p>\n", escape(why))),
        Outcome::Valid => list(body, "<p>A valid answer does not exclude:</p>\n", &one.answer.cannot_detect),
        Outcome::Invalid { violations } => {
            for violation in violations.iter().take(DRAWN) {
                drawn(body, checked, violation);
            }
            if violations.len() > DRAWN {
                push(body, format_args!("<p>… and {} more.</p>\n", violations.len() - DRAWN));
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
    let near = checked.imported.near(witness, NEIGHBOURS);
    let picture = Picture::of(witness, &near);
    push(body, format_args!("<div class=\"picture\">{}</div>\n", picture.svg(checked)));
    push(
        body,
        format_args!(
            "<p>Time goes to the right, one step a moment, not to scale; a row a client. Thick: the witness. \
             Dashed: of unknown outcome, it may take effect any time after it began, or never. Pale: failed.</p>\n"
        ),
    );
}

/// Operations of a witness and their neighbours.
struct Picture<'h> {
    ops: Vec<&'h Op>,
    witness: BTreeSet<u64>,
    /// Place of each moment, in pixels: so far apart that labels fit into their bars.
    moments: BTreeMap<u64, usize>,
    width: usize,
    /// The row of each operation, and the client of each row.
    rows: Vec<usize>,
    clients: Vec<u64>,
}

impl<'h> Picture<'h> {
    fn of(witness: &'h [Op], near: &'h [Op]) -> Picture<'h> {
        let ids: BTreeSet<u64> = witness.iter().map(|op| op.op_id).collect();
        let mut ops: Vec<&Op> = witness.iter().chain(near).collect();
        ops.sort_by_key(|op| (op.invoke_ts, op.op_id));
        let times = ops.iter().flat_map(|op| [Some(op.invoke_ts.0), op.complete_ts.map(|at| at.0)]).flatten();
        let moments: BTreeSet<u64> = times.collect();
        let moments = places(&moments, &ops);
        let last = moments.values().max().copied().unwrap_or(MARGIN);
        let open = ops.iter().filter(|op| op.complete_ts.is_none());
        let open = open.map(|op| moments.get(&op.invoke_ts.0).map_or(0, |x| x + room(op))).max().unwrap_or(0);
        let (rows, clients) = rows(&ops);
        Picture { ops, witness: ids, moments, width: open.max(last + STEP) + STEP, rows, clients }
    }

    fn svg(&self, checked: &Checked) -> String {
        let (width, height) = (self.width, (self.clients.len() + 1) * LANE);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" role=\"img\" \
             aria-label=\"timeline of the witness\">"
        );
        for (lane, client) in self.clients.iter().enumerate() {
            let y = lane * LANE + LANE;
            push(&mut out, format_args!("<text x=\"6\" y=\"{}\">client {client}</text>", y - 10));
            push(&mut out, format_args!("<line class=\"lane\" x1=\"0\" y1=\"{y}\" x2=\"{width}\" y2=\"{y}\"/>"));
        }
        for (op, row) in self.ops.iter().zip(&self.rows) {
            self.operation(&mut out, op, *row, checked);
        }
        out.push_str("</svg>");
        out
    }

    fn operation(&self, out: &mut String, op: &Op, row: usize, checked: &Checked) {
        let x = self.moments.get(&op.invoke_ts.0).copied().unwrap_or(MARGIN);
        let end = op.complete_ts.and_then(|at| self.moments.get(&at.0)).copied().unwrap_or(self.width - 4);
        let y = row * LANE + 8;
        let mut class = if self.witness.contains(&op.op_id) { "op witness".to_owned() } else { "op".to_owned() };
        match op.effect() {
            Effect::Unknown => class.push_str(" unknown"),
            Effect::Failed => class.push_str(" failed"),
            Effect::Acknowledged => {}
        }
        let line = checked.imported.line(op.op_id).map_or(String::new(), |line| format!(", line {line}"));
        let said = format!("{}{line}", notation::line(op));
        push(
            out,
            format_args!(
                "<g><title>{}</title><rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\"/>\
                 <text x=\"{}\" y=\"{}\">{}</text></g>",
                escape(&said),
                end.saturating_sub(x).max(8),
                LANE - 14,
                x + 4,
                y + 17,
                escape(&label(op))
            ),
        );
    }
}

/// The pixels that the label of `op` takes.
fn room(op: &Op) -> usize {
    label(op).chars().count() * 15 / 2 + 10
}

/// The row of each operation, and the client of each row: a client has more than one where it did several things at
/// once, such as go on after an answer that never came.
fn rows(ops: &[&Op]) -> (Vec<usize>, Vec<u64>) {
    // Of each client and row: when the row is free again.
    let mut free: BTreeMap<u64, Vec<Option<u64>>> = BTreeMap::new();
    let mut levels = Vec::with_capacity(ops.len());
    for op in ops {
        let rows = free.entry(op.process_id).or_default();
        let until = op.complete_ts.map(|at| at.0);
        let level = rows.iter().position(|free| free.is_some_and(|at| at <= op.invoke_ts.0));
        let level = level.unwrap_or(rows.len());
        if level == rows.len() {
            rows.push(until);
        }
        rows[level] = until;
        levels.push((op.process_id, level));
    }
    let mut first = BTreeMap::new();
    let mut clients = Vec::new();
    for (client, rows) in &free {
        first.insert(*client, clients.len());
        clients.extend(rows.iter().map(|_| *client));
    }
    let rows = levels.iter().map(|(client, level)| first.get(client).copied().unwrap_or(0) + level).collect();
    (rows, clients)
}

/// A place for each moment, in their order: the end of an operation stands behind its label.
fn places(moments: &BTreeSet<u64>, ops: &[&Op]) -> BTreeMap<u64, usize> {
    let mut ending: BTreeMap<u64, Vec<&Op>> = BTreeMap::new();
    for op in ops {
        if let Some(at) = op.complete_ts {
            ending.entry(at.0).or_default().push(op);
        }
    }
    let (mut placed, mut x) = (BTreeMap::new(), MARGIN);
    for moment in moments {
        let ends = ending.get(moment).into_iter().flatten();
        let behind = ends.map(|op| placed.get(&op.invoke_ts.0).copied().unwrap_or(x) + room(op));
        x = behind.max().unwrap_or(0).max(x);
        placed.insert(*moment, x);
        x += STEP;
    }
    placed
}

/// `#7 w 4`, short enough to be read in a bar.
fn label(op: &Op) -> String {
    let show = |value: &serde_json::Value| if value.is_null() { String::new() } else { format!(" {value}") };
    let answered = op.effect() == Effect::Acknowledged && (!op.output.is_null() || op.input.is_null());
    let answer = if answered { format!(" → {}", op.output) } else { String::new() };
    let whole = format!("#{} {}{}{answer}", op.op_id, op.op_type, show(&op.input));
    if whole.chars().count() > 48 { whole.chars().take(47).chain(['…']).collect() } else { whole }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a text cannot fail.
    let _ = out.write_fmt(text);
}

/// Files are untrusted: nothing of them is markup, and no control character of them arrives.
fn escape(text: &str) -> String {
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
    fn a_client_that_goes_on_after_a_lost_answer_has_another_row() {
        let history = notation::history(
            "c2 write x 1 [0..]\nc1 read x -> 1 [1..5]\nc2 read x -> 1 [2..3]\nc1 read x -> 1 [5..6]",
        );
        let history = history.expect("valid");
        let ops: Vec<&Op> = history.ops().iter().collect();
        assert_eq!(rows(&ops), (vec![1, 0, 2, 0], vec![1, 2, 2]));
    }

    #[test]
    fn nothing_of_a_file_is_markup() {
        assert_eq!(escape("<a b='\"'>&\u{202e}\u{0}\n"), "&lt;a b=&#39;&quot;&#39;&gt;&amp;\u{fffd}\u{fffd}\n");
    }
}
