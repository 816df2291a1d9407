//! The body of a skeleton's test, put into the three regions statement by statement, with the comments between them.

use super::super::comments::line_comments;
use super::super::parts::{Part, opened_by};
use super::outside::{reaches, taken_name};
use super::{Remark, Seeds, Source};
use quote::ToTokens;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::{Expr, ItemFn, Stmt};

/// Fills the seeds of the three regions from `test`.
pub(super) fn read(source: &Source<'_>, test: &ItemFn, seeds: &mut Seeds, remarks: &mut Vec<Remark>) {
    let braces = test.block.brace_token.span;
    let inside = source.range(braces.open()).end..source.range(braces.close()).start;
    let statements: Vec<Range<usize>> =
        test.block.stmts.iter().map(|statement| source.range(statement.span())).collect();
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    for (statement, range) in test.block.stmts.iter().zip(&statements) {
        if let Some(why) = left_out(statement, test) {
            edits.push((range.clone(), ""));
            if let Some(why) = why {
                let help = "write it by hand into the file, if it is needed".to_owned();
                remarks.push((source.line(range.start), format!("left out of its skeleton: {why}"), help));
            }
        } else if matches!(statement, Stmt::Expr(_, None)) {
            edits.push((range.end..range.end, ";"));
        }
    }
    let comments = line_comments(source.text).unwrap_or_default();
    let between = |at: usize| inside.contains(&at) && !statements.iter().any(|range| range.contains(&at));
    let mut parts: Vec<(usize, Part)> = Vec::new();
    for comment in comments.into_iter().filter(|comment| between(comment.start)) {
        let text = &source.text[comment.clone()];
        if let Some(part) = opened_by(text) {
            parts.push((comment.start, part));
        }
        if opened_by(text).is_some() || text.contains("disttest:") {
            edits.push((comment, ""));
        }
    }
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let slots = [&mut seeds.workload, &mut seeds.faults, &mut seeds.oracle];
    if !parts.iter().map(|(_, part)| *part).eq(Part::ALL) {
        *slots[0] = text(source, inside.clone(), &edits);
        if !statements.is_empty() && !slots[0].is_empty() {
            let help =
                "write `// 1. Workload — …`, `// 2. Faults — …`, `// 3. Oracle — …` between its statements".to_owned();
            let message =
                "its skeleton has no three TODO comments: all of it stands in the workload's region".to_owned();
            remarks.push((source.line(inside.start), message, help));
        }
        return;
    }
    let starts = [inside.start, parts[1].0, parts[2].0];
    let ends = [parts[1].0, parts[2].0, inside.end];
    for ((slot, start), end) in slots.into_iter().zip(starts).zip(ends) {
        *slot = text(source, start..end, &edits);
    }
}

/// `range` of the source after `edits`, without lines that they left blank at its ends.
fn text(source: &Source<'_>, range: Range<usize>, edits: &[(Range<usize>, &str)]) -> String {
    let mut out = String::new();
    let mut from = range.start;
    for (edit, instead) in edits.iter().filter(|(edit, _)| range.start <= edit.start && edit.end <= range.end) {
        out.push_str(&source.text[from..edit.start]);
        out.push_str(instead);
        from = edit.end;
    }
    out.push_str(&source.text[from..range.end]);
    let lines: Vec<&str> = out.lines().collect();
    let full = |line: &&str| !line.trim().is_empty();
    let Some(first) = lines.iter().position(full) else {
        return String::new();
    };
    let last = lines.iter().rposition(full).unwrap_or(first);
    let lead = if first == 0 { "    " } else { "" };
    format!("{lead}{}\n", lines[first..=last].join("\n").trim_end())
}

/// `Some` when a statement is not taken over, with the reason if its author should know.
fn left_out(statement: &Stmt, test: &ItemFn) -> Option<Option<String>> {
    if is_placeholder(statement) {
        return Some(None);
    }
    if let Some(why) = reaches(statement.to_token_stream()) {
        return Some(Some(format!("{why}, which reaches outside of the test")));
    }
    let Stmt::Item(item) = statement else {
        return None;
    };
    let taken = taken_name(item, &[&test.sig.ident.to_string()]);
    taken.map(|name| Some(format!("`{name}`, a name that the test has already")))
}

/// `todo!()`, `unimplemented!()`, `Ok(())`, `()`: nothing but a place for code.
fn is_placeholder(statement: &Stmt) -> bool {
    let empty = |path: &syn::Path| {
        let last = path.segments.last().map(|segment| segment.ident.to_string());
        matches!(last.as_deref(), Some("todo" | "unimplemented"))
    };
    match statement {
        Stmt::Macro(statement) => empty(&statement.mac.path),
        Stmt::Expr(Expr::Macro(expression), _) => empty(&expression.mac.path),
        Stmt::Expr(expression, _) => {
            let text = expression.to_token_stream().to_string().replace(' ', "");
            matches!(text.as_str(), "Ok(())" | "()" | "returnOk(())" | "return")
        }
        Stmt::Local(_) | Stmt::Item(_) => false,
    }
}
