//! A plan's own Rust skeleton, planted into the file that `author` makes: its test function becomes the scenario, its
//! other items become helpers. Decided on the syntax tree; what is kept keeps its own text, comments included.
//!
//! A skeleton is untrusted. It is parsed and never run; what reaches outside of its file is left out and told; and
//! whatever it says, each region keeps the `todo!` that makes the scenario NOT-RUN until a person takes it away.

mod arms;
mod body;
mod depth;
mod items;
mod outside;

pub(crate) use arms::{ArmSkeletons, plant_arms};

use super::frame::{Wanted, function_name, render};
use super::{foreign, regions};
use disttest_runtime::base::diagnostic::{Span, Spanned};
use items::{Helper, Slots};
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

/// A remark with its place in the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The line of the plan.
    pub span: Span,
    /// What its author should know.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// Enough for trees of depth [`depth::DEEPEST`] in a debug build.
const STACK: usize = 64 << 20;

/// `wanted` with what the plan's skeleton says, and what there is to tell about it. A skeleton that cannot be used
/// leaves `wanted` as it is.
pub(crate) fn plant(wanted: Wanted, plan: &str, skeleton: Option<&Spanned<String>>) -> (Wanted, Vec<Note>) {
    let Some(skeleton) = skeleton else {
        return (wanted, Vec::new());
    };
    let text = bare(skeleton);
    let (seeds, remarks) = on_its_own_stack(|| planted(&wanted, text)).unwrap_or_else(|| {
        let message = "its skeleton cannot be used: reading it failed".to_owned();
        (Seeds::default(), vec![(1, message, UNUSED.to_owned())])
    });
    let notes = notes(remarks, &wanted.attribute.id, plan, skeleton.span);
    (Wanted { seeds, ..wanted }, notes)
}

fn bare(skeleton: &Spanned<String>) -> &str {
    skeleton.value.trim_start_matches('\u{feff}')
}

/// `remarks` on the skeleton of `id`, which stands at `block` of the plan.
fn notes(remarks: Vec<Remark>, id: &str, plan: &str, block: Span) -> Vec<Note> {
    let note = |(line, message, help): Remark| {
        let message = format!("{id}: {message}");
        Note { span: place(plan, block, line), message, help }
    };
    remarks.into_iter().map(note).collect()
}

const UNUSED: &str = "correct it; until then the test is synthesized from the plan's fields";

/// `None` when there can be no such stack, or the work failed.
fn on_its_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok()?;
        thread.join().ok()
    })
}

/// Seeds that stay where they belong, and what there is to tell about them.
fn planted(wanted: &Wanted, skeleton: &str) -> (Seeds, Vec<Remark>) {
    let Read { mut seeds, helpers, mut remarks } = read(skeleton, &Slots::One(function_name(&wanted.name)));
    let seeds = Seeds { helpers: Helper::join(&helpers), ..seeds.swap_remove(0) };
    if seeds.is_empty() || stays_inside(wanted, &Wanted { seeds: seeds.clone(), ..wanted.clone() }) {
        return (seeds, remarks);
    }
    remarks.push(leaves_its_regions());
    (Seeds::default(), remarks)
}

fn leaves_its_regions() -> Remark {
    let message = "its skeleton cannot be put into the regions without changing what is around them".to_owned();
    let help = "write it as one test function whose statements stand below the three TODO comments".to_owned();
    (1, message, help)
}

/// What a skeleton holds.
#[derive(Debug)]
struct Read {
    /// Of each slot, without helpers.
    seeds: Vec<Seeds>,
    helpers: Vec<Helper>,
    remarks: Vec<Remark>,
}

/// What a skeleton holds for `slots`: nothing when it cannot be used.
fn read(skeleton: &str, slots: &Slots) -> Read {
    try_read(skeleton, slots).unwrap_or_else(|(line, why)| {
        let remarks = vec![(line, format!("its skeleton cannot be used: {why}"), UNUSED.to_owned())];
        Read { seeds: vec![Seeds::default(); slots.count()], helpers: Vec::new(), remarks }
    })
}

fn try_read(skeleton: &str, slots: &Slots) -> Result<Read, (usize, String)> {
    if let Some(at) = skeleton.find(foreign::is_treacherous) {
        let line = skeleton[..at].matches('\n').count() + 1;
        return Err((line, "it has a character that hides or reorders code".to_owned()));
    }
    let at = |span: proc_macro2::Span, why: String| {
        (span.start().line, format!("{why} (column {} of the skeleton)", span.start().column + 1))
    };
    let tokens: proc_macro2::TokenStream =
        skeleton.parse().map_err(|error: proc_macro2::LexError| at(error.span(), error.to_string()))?;
    if depth::bound(tokens) > depth::DEEPEST {
        return Err((1, "it is nested too deep".to_owned()));
    }
    let file = syn::parse_file(skeleton).map_err(|error| at(error.span(), error.to_string()))?;
    let source = Source::new(skeleton);
    let items::Sorted { tests, helpers, mut remarks, .. } = items::sort(&source, file, slots);
    let mut seeds = vec![Seeds::default(); slots.count()];
    for (seeds, test) in seeds.iter_mut().zip(&tests) {
        if let Some(test) = test {
            body::read(&source, test, seeds, &mut remarks);
        }
    }
    remarks.sort_by_key(|remark| remark.0);
    Ok(Read { seeds, helpers, remarks })
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
    /// For each line that is not ASCII, the byte at which each of its characters begins.
    characters: Vec<Option<Vec<usize>>>,
}

impl Source<'_> {
    fn new(text: &str) -> Source<'_> {
        let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let characters =
            text.split('\n').map(|line| (!line.is_ascii()).then(|| line.char_indices().map(|(at, _)| at).collect()));
        Source { text, starts, characters: characters.collect() }
    }

    /// Byte offset of a place that proc-macro2 tells in lines and characters.
    fn offset(&self, place: proc_macro2::LineColumn) -> usize {
        let line = place.line.saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        let column = match self.characters.get(line) {
            Some(Some(characters)) => characters.get(place.column).copied().unwrap_or(end - start),
            _ => place.column,
        };
        (start + column).min(end)
    }

    fn range(&self, span: proc_macro2::Span) -> Range<usize> {
        self.offset(span.start())..self.offset(span.end())
    }

    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }
}

/// The line of the plan at which line `line` of the skeleton in `block` stands.
fn place(plan: &str, block: Span, line: usize) -> Span {
    let text = plan.get(block.start..block.end).unwrap_or_default();
    let fence = text.trim_start().starts_with("```") || text.trim_start().starts_with("~~~");
    let wanted = line - 1 + usize::from(fence);
    let before: usize = text.split_inclusive('\n').take(wanted).map(str::len).sum();
    let whole = text[before..].split_inclusive('\n').next().unwrap_or_default();
    let start = block.start + before + (whole.len() - whole.trim_start().len());
    match whole.trim() {
        "" => block,
        bare => Span::new(start, start + bare.len()),
    }
}

#[cfg(test)]
mod tests;
