//! A plan's own Rust skeleton, planted into the file that `author` makes: its test function becomes the scenario, its
//! other items become helpers. Decided on the syntax tree; what is kept keeps its own text, comments included.
//!
//! A skeleton is untrusted. It is parsed and never run; what reaches outside of its file is left out and told; and
//! whatever it says, each region keeps the `todo!` that makes the scenario NOT-RUN until a person takes it away.

mod body;
mod items;
mod outside;

use super::frame::{Wanted, function_name, render};
use super::{foreign, regions};
use disttest_runtime::base::diagnostic::{Diagnostic, Severity, Span, Spanned};
use std::ops::Range;

/// Text that a skeleton puts into the regions of a new file, whole lines each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seeds {
    /// Before the `todo!` of the workload.
    pub workload: String,
    /// Before the `todo!` of the faults.
    pub faults: String,
    /// Before the `todo!` of the oracle.
    pub oracle: String,
    /// Imports and helpers.
    pub helpers: String,
}

impl Seeds {
    /// True when there is nothing to put anywhere.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Seeds::default()
    }
}

/// Something about a skeleton that its author should know: (line of the skeleton from 1, message, help).
type Remark = (usize, String, String);

/// `wanted` with what the plan's skeleton says, and what there is to tell about it. A skeleton that cannot be used
/// leaves `wanted` as it is.
pub(crate) fn plant(wanted: Wanted, plan: &str, skeleton: Option<&Spanned<String>>) -> (Wanted, Vec<Diagnostic>) {
    let Some(skeleton) = skeleton else {
        return (wanted, Vec::new());
    };
    let id = wanted.attribute.id.clone();
    let (seeds, remarks) = match read(&skeleton.value, &function_name(&wanted.name)) {
        Ok(read) => read,
        Err((line, why)) => {
            let help = "correct it; until then the test is synthesized from the plan's fields".to_owned();
            (Seeds::default(), vec![(line, format!("its skeleton cannot be used: {why}"), help)])
        }
    };
    let planted = Wanted { seeds, ..wanted.clone() };
    let mut told: Vec<Diagnostic> =
        remarks.into_iter().map(|remark| diagnostic(&id, plan, skeleton.span, remark)).collect();
    if stays_inside(&wanted, &planted) {
        return (planted, told);
    }
    let message = "its skeleton cannot be put into the regions without changing what is around them".to_owned();
    let help = "write it as one test function whose statements stand below the three TODO comments".to_owned();
    told.push(diagnostic(&id, plan, skeleton.span, (1, message, help)));
    (wanted, told)
}

/// The seeds of a skeleton.
fn read(skeleton: &str, function: &str) -> Result<(Seeds, Vec<Remark>), (usize, String)> {
    if let Some(at) = skeleton.find(foreign::is_treacherous) {
        let line = skeleton[..at].matches('\n').count() + 1;
        return Err((line, "it has a character that hides or reorders code".to_owned()));
    }
    let file = syn::parse_file(skeleton).map_err(|error| {
        let start = error.span().start();
        (start.line, format!("{error} (column {} of the skeleton)", start.column + 1))
    })?;
    let source = Source::new(skeleton);
    let mut sorted = items::sort(&source, file, function);
    let mut seeds = Seeds { helpers: sorted.helpers, ..Seeds::default() };
    if let Some(test) = sorted.test {
        body::read(&source, &test, &mut seeds, &mut sorted.remarks);
    }
    sorted.remarks.sort_by_key(|remark| remark.0);
    Ok((seeds, sorted.remarks))
}

/// Nothing of a skeleton left its region, and each region still has its `todo!`.
fn stays_inside(wanted: &Wanted, planted: &Wanted) -> bool {
    let (plain, text) = (render(wanted, &|_| None), render(planted, &|_| None));
    let (Ok(before), Ok(after)) = (regions::parse(&plain), regions::parse(&text)) else {
        return false;
    };
    let frame = |pieces: &regions::Pieces<'_>| {
        let empty = pieces.join(|_| "");
        let ours = |line: &&str| !line.starts_with(regions::FRAME_DIGEST) && !line.starts_with(regions::SEED_DIGESTS);
        empty.lines().filter(ours).collect::<Vec<_>>().join("\n")
    };
    let open = |pieces: &regions::Pieces<'_>| {
        pieces
            .regions
            .iter()
            .filter(|region| !region.is_filled())
            .map(|region| region.name.to_owned())
            .collect::<Vec<_>>()
    };
    let still_open = open(&before).iter().all(|name| open(&after).contains(name));
    frame(&before) == frame(&after) && still_open && syn::parse_file(&text).is_ok()
}

/// The text of a skeleton, and where its lines begin.
struct Source<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl Source<'_> {
    fn new(text: &str) -> Source<'_> {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        Source { text, starts: starts.collect() }
    }

    /// Byte offset of a place that proc-macro2 tells in lines and characters.
    fn offset(&self, place: proc_macro2::LineColumn) -> usize {
        let start = self.starts.get(place.line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        let line = &self.text[start..];
        start + line.char_indices().nth(place.column).map_or(line.len(), |(at, _)| at)
    }

    fn range(&self, span: proc_macro2::Span) -> Range<usize> {
        self.offset(span.start())..self.offset(span.end())
    }

    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }
}

/// A remark as a diagnostic at its line of the plan.
fn diagnostic(id: &str, plan: &str, block: Span, (line, message, help): Remark) -> Diagnostic {
    let text = plan.get(block.start..block.end).unwrap_or_default();
    let fence = text.trim_start().starts_with("```") || text.trim_start().starts_with("~~~");
    let wanted = line - 1 + usize::from(fence);
    let mut at = block.start;
    let mut span = Span::new(block.start, block.end);
    for (number, whole) in text.split_inclusive('\n').enumerate() {
        let bare = whole.trim();
        if number == wanted && !bare.is_empty() {
            let start = at + (whole.len() - whole.trim_start().len());
            span = Span::new(start, start + bare.len());
        }
        at += whole.len();
    }
    Diagnostic {
        rule: "skeleton".to_owned(),
        severity: Severity::Warning,
        message: format!("{id}: {message}"),
        span,
        help: Some(help),
    }
}

#[cfg(test)]
mod tests;
