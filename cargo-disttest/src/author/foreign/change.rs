//! What `author` does to a test file in another language: computed from texts alone.

use super::super::change::{FileChange, Unfilled, is_digest};
use super::open::open;
use super::sheet::{Region, Sheet};
use super::{Foreign, GENERATED};

/// What is to happen to the file of `foreign`, whose text now is `existing`.
pub(crate) fn foreign_change(
    foreign: &Foreign,
    existing: Option<&str>,
    format: &dyn Fn(&str) -> Option<String>,
) -> FileChange {
    let Some(existing) = existing else {
        return FileChange::Create { text: foreign.text(format) };
    };
    let sheet = match Sheet::parse(foreign.language, existing) {
        Ok(sheet) => sheet,
        Err(reason) => return conflict(foreign, reason, None, format),
    };
    if let Err(Foreigner { reason, keeps }) = ours(foreign, &sheet) {
        return conflict(foreign, reason, Some(&sheet).filter(|_| keeps), format);
    }
    let fresh_text = settled(foreign, &sheet).text(&|_| None);
    let fresh = Sheet::parse(foreign.language, &fresh_text).expect("a file that was just made");
    let same_skeleton = sheet.word("Skeleton-SHA256:") == fresh.word("Skeleton-SHA256:");
    let unfilled = unfilled(&sheet, Some(&fresh).filter(|_| same_skeleton));
    let recorded = sheet.word("Body-SHA256:").unwrap_or_default();
    let header = settled(foreign, &sheet).header(recorded, fresh.rest);
    if same_skeleton && fresh.frame_under(&header) == sheet.frame() {
        return FileChange::UpToDate { unfilled };
    }
    let kept = || sheet.regions.iter().map(|region| region.name.clone()).filter(|name| !is_open(&unfilled, name));
    if same_skeleton && let Some(text) = with_our_lines(foreign, &sheet) {
        return FileChange::Update { kept: kept().collect(), text, unfilled };
    }
    if sheet.word("Body-SHA256:") == Some(sheet.body_digest().as_str()) {
        let text = like(existing, &foreign.text(format));
        let now = Sheet::parse(foreign.language, &text).expect("a file that was just made");
        return FileChange::Update { kept: Vec::new(), unfilled: self::unfilled(&now, Some(&now)), text };
    }
    let reason = "both it and the plan's skeleton were changed".to_owned();
    conflict(foreign, reason, Some(&sheet), format)
}

/// Why a file is not simply ours.
struct Foreigner {
    reason: String,
    /// Its regions belong to this scenario.
    keeps: bool,
}

fn ours(foreign: &Foreign, sheet: &Sheet<'_>) -> Result<(), Foreigner> {
    let refuse = |reason: String, keeps: bool| Err(Foreigner { reason, keeps });
    let attribute = &foreign.wanted.attribute;
    let plan = sheet.line(GENERATED).unwrap_or_default();
    let scenario = sheet.line("Scenario:").unwrap_or_default();
    let (id, name) = scenario.split_once(' ').unwrap_or((scenario, ""));
    if id != foreign.value(&attribute.id) {
        return refuse(format!("it belongs to scenario `{id}` of {plan}"), false);
    }
    if plan != foreign.value(&attribute.plan) {
        let moved = name == foreign.value(&foreign.wanted.name);
        return refuse(format!("it was made from another plan, {plan}"), moved);
    }
    if !sheet.is_intact() {
        return refuse("its header or its region markers were edited by hand".to_owned(), true);
    }
    Ok(())
}

/// A file in the way. Overwriting keeps what people wrote: all of it when the plan's skeleton is the same, else the
/// regions.
fn conflict(
    foreign: &Foreign,
    reason: String,
    sheet: Option<&Sheet<'_>>,
    format: &dyn Fn(&str) -> Option<String>,
) -> FileChange {
    let sibling = foreign.text(format);
    let overwrite = sheet.and_then(|sheet| {
        let fresh = Sheet::parse(foreign.language, &sibling).ok()?;
        let same = sheet.word("Skeleton-SHA256:") == fresh.word("Skeleton-SHA256:");
        let all = same.then(|| with_our_lines(foreign, sheet)).flatten();
        all.or_else(|| with_regions(foreign, sheet, &fresh))
    });
    FileChange::Conflict { reason, overwrite: overwrite.unwrap_or_else(|| sibling.clone()), sibling }
}

/// The file with header and markers as the plan wants them, and every other byte as it is.
fn with_our_lines(foreign: &Foreign, sheet: &Sheet<'_>) -> Option<String> {
    let text = foreign.text(&|_| None);
    let fresh = Sheet::parse(foreign.language, &text).ok()?;
    let eol = eol(sheet);
    let rest = sheet.rest_with(&fresh, |old, _| sheet.rest[old.body.clone()].to_owned(), eol)?;
    let header = foreign.header(sheet.word("Body-SHA256:").filter(|word| is_digest(word))?, &rest);
    Some(sheet_text(sheet, &header, &rest, eol))
}

fn sheet_text(sheet: &Sheet<'_>, header: &str, rest: &str, eol: &str) -> String {
    format!("{}{}{eol}{rest}", sheet.lead, header.replace('\n', eol))
}

/// The fresh file with the bodies of regions that people wrote.
fn with_regions(foreign: &Foreign, old: &Sheet<'_>, fresh: &Sheet<'_>) -> Option<String> {
    let body = |_: &Region, new: &Region| {
        let written = old.regions.iter().find(|region| region.name == new.name);
        let written = written.map(|region| &old.rest[region.body.clone()]);
        written.unwrap_or(&fresh.rest[new.body.clone()]).to_owned()
    };
    let rest = fresh.rest_with(fresh, body, "\n")?;
    let header = foreign.header(fresh.word("Body-SHA256:")?, &rest);
    Some(sheet_text(fresh, &header, &rest, "\n"))
}

/// `foreign` as it was when the file was written, as far as the difference does not matter to the test.
pub(super) fn settled(foreign: &Foreign, sheet: &Sheet<'_>) -> Foreign {
    let mut settled = foreign.clone();
    if sheet.word("Scenario-SHA256:") != Some(foreign.wanted.attribute.scenario_sha256.as_str()) {
        return settled;
    }
    if let Some(digest) = sheet.word("Plan-SHA256:").filter(|digest| is_digest(digest)) {
        settled.wanted.attribute.plan_sha256 = digest.to_owned();
    }
    if let Some(version) = sheet.word("Generator: cargo-disttest") {
        settled.wanted.generator = format!("cargo-disttest {version}");
    }
    settled
}

/// The line ends of a checkout.
fn eol(sheet: &Sheet<'_>) -> &'static str {
    if sheet.header.lines().next().is_some_and(|line| sheet.header[line.len()..].starts_with("\r\n")) {
        "\r\n"
    } else {
        "\n"
    }
}

fn like(existing: &str, text: &str) -> String {
    let crlf = existing.lines().next().is_some_and(|line| existing[line.len()..].starts_with("\r\n"));
    if crlf { text.replace('\n', "\r\n") } else { text.to_owned() }
}

fn is_open(unfilled: &[Unfilled], name: &str) -> bool {
    unfilled.iter().any(|region| region.name == name)
}

fn unfilled(sheet: &Sheet<'_>, fresh: Option<&Sheet<'_>>) -> Vec<Unfilled> {
    open(sheet, fresh).into_iter().map(|open| Unfilled { name: open.name, line: open.line }).collect()
}
