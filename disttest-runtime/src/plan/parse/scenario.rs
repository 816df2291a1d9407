//! §7: scenarios, their fields, §7.M, §7.M.S and arms.

use super::fields::{Collector, bullet};
use super::source::Line;
use super::{Reader, budget};
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::labels::{self, FALSIFIES, FAULTS, HARDENING, NOTES, RELEASE, SKELETON, SMOKE};
use crate::plan::model::{Arm, Field, ModelBlock, Scenario};
use crate::plan::no_fault::{self, NoFault};
use crate::plan::rules::report;
use crate::plan::{Budget, Budgets, Id};
use std::collections::HashSet;

/// A scenario heading.
struct Head {
    id: Option<Spanned<Id>>,
    name: Spanned<String>,
    span: Span,
}

/// What a run of lines in a scenario belongs to.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Base,
    Model,
    Surfaces,
    Arm(Spanned<Id>, Option<String>),
    /// A sub-heading that the format does not know: its title is a label.
    Titled(String),
}

/// A run of lines of one kind, and what its first line says behind the marker.
struct Segment<'a> {
    kind: Kind,
    tail: String,
    at: usize,
    lines: &'a [Line<'a>],
}

/// A heading that opens a scenario outside any numbered section.
pub(super) fn opens_alone(line: &Line<'_>) -> bool {
    line.heading().is_some_and(|(level, ..)| level == 2) && head(line, false).is_some()
}

impl Reader<'_> {
    /// Every scenario of a section. `expected`: this is §7, where the word `Scenario` may be missing.
    pub(super) fn scenarios(&mut self, lines: &[Line<'_>], expected: bool) {
        let starts: Vec<usize> = (0..lines.len()).filter(|i| head(&lines[*i], expected).is_some()).collect();
        for (i, start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(lines.len());
            let Some(head) = head(&lines[*start], expected) else { continue };
            let Some(id) = head.id.clone() else {
                let message = "this scenario has no id that can be read; it is not read";
                self.diagnostics.push(report(
                    "unreadable-scenario",
                    head.span,
                    message,
                    "write `### Scenario S<n>: <name>`",
                ));
                continue;
            };
            if !expected {
                let message = format!("scenario {} stands outside `## 7. Scenarios`", id.value);
                self.diagnostics.push(report(
                    "scenario-outside-section",
                    head.span,
                    message,
                    "move it under `## 7. Scenarios`",
                ));
            }
            self.scenario(id, head, &lines[*start + 1..end]);
        }
    }

    fn scenario(&mut self, id: Spanned<Id>, head: Head, lines: &[Line<'_>]) {
        let last = lines.iter().rev().find(|l| !l.is_blank() && !l.is_rule());
        let end = last.map_or(head.span.end, |l| l.start + l.text.len());
        let codes_end = lines.last().map_or(end, |l| l.start + l.text.len() + 1);
        let mut draft = Draft::new(id, head.name, Span::new(head.span.start, end));
        for segment in segments(lines) {
            draft.take(segment);
        }
        draft.close_blocks();
        let codes = self.source.codes_in(Span::new(head.span.end, codes_end)).to_vec();
        let mut scenario = draft.scenario;
        let mut skeleton = None;
        for code in codes {
            scenario.span.end = scenario.span.end.max(code.span.end);
            let before = draft.starts.partition_point(|(at, ..)| *at <= code.span.start);
            let owner = before.checked_sub(1).and_then(|i| draft.starts.get(i));
            let body = Spanned::new(code.body.clone(), code.span);
            let slot = match owner {
                Some((_, label, arm)) if label == SKELETON && code.fenced => match arm {
                    Some(arm) => Some(&mut scenario.arms[*arm].skeleton),
                    None => Some(&mut scenario.skeleton),
                },
                _ => None,
            };
            match slot {
                Some(slot @ None) => {
                    *slot = Some(body);
                    skeleton.get_or_insert(code);
                }
                _ => scenario.code_blocks.push(body),
            }
        }
        self.check_duplicates(&scenario.fields);
        for arm in &mut scenario.arms {
            self.check_duplicates(&arm.fields);
            arm.target = self.target(&arm.fields);
            self.check_skeleton(&arm.fields, arm.skeleton.is_some());
        }
        self.check_skeleton(&scenario.fields, scenario.skeleton.is_some());
        scenario.falsifies = self.ids_of(&scenario, FALSIFIES, 'C');
        scenario.closes = self.ids_of(&scenario, labels::CLOSES, 'H');
        scenario.target = self.target(&scenario.fields);
        scenario.skeleton_language = self.language(&scenario.fields, skeleton.as_ref());
        scenario.budgets = self.budgets(&scenario);
        self.plan.scenarios.push(scenario);
    }

    fn check_skeleton(&mut self, fields: &[Field], fenced: bool) {
        let prose = fields.iter().find(|f| f.label == SKELETON && !f.value.value.is_empty());
        if let Some(field) = prose.filter(|_| !fenced) {
            self.skeleton_prose(field);
        }
    }

    fn check_duplicates(&mut self, fields: &[Field]) {
        let mut seen = HashSet::new();
        for field in fields.iter().filter(|f| labels::find_exact(labels::SCENARIO, &f.label).is_some()) {
            if !seen.insert(&field.label) {
                let message = format!("`{}` stands here for the second time; the first one counts", field.label);
                self.diagnostics.push(report("duplicate-field", field.value.span, message, "join the two"));
            }
        }
    }

    fn ids_of(&mut self, scenario: &Scenario, label: &str, letter: char) -> Vec<Spanned<Id>> {
        let Some(field) = scenario.field(label) else { return Vec::new() };
        let ids = self.id_list(field.span, letter);
        if ids.is_empty() {
            let message = format!("`{label}` names no {letter} id: `{}`", field.value);
            self.diagnostics.push(report(
                "unreadable-id-list",
                field.span,
                message,
                format!("write ids such as `{letter}1, {letter}3`"),
            ));
        }
        ids
    }

    /// The three tiers; `None` unless all can be read.
    fn budgets(&mut self, scenario: &Scenario) -> Option<Budgets> {
        let no_faults = scenario.field(FAULTS).is_some_and(|f| no_fault::read(&f.value) != NoFault::Planned);
        let smoke = self.tier(scenario, SMOKE, no_faults);
        let hardening = self.tier(scenario, HARDENING, no_faults);
        let release = scenario.field(RELEASE).and_then(|field| {
            budget::read_release(&field.value, hardening.as_ref())
                .map_err(|why| self.unreadable_release(field, &why))
                .ok()
                .inspect(|read| self.extra_factors(field, &read.extra))
        });
        Some(Budgets { smoke: smoke?, hardening: hardening?, release: release?.release })
    }

    fn tier(&mut self, scenario: &Scenario, label: &str, no_faults: bool) -> Option<Budget> {
        let field = scenario.field(label)?;
        let read = budget::read(&field.value, no_faults);
        read.map_err(|why| {
            let message = format!("`{label}` cannot be read as a budget: {why}");
            let help = "write `<n> nodes × <n>s × <n> faults × <n> seeds`, with `× <n> operations` if it matters";
            self.diagnostics.push(report("unreadable-budget", field.span, message, help));
        })
        .ok()
    }

    fn unreadable_release(&mut self, field: &Spanned<String>, why: &str) {
        let help = "write a budget, or `not provided — <reason>. Revisit when: <condition>.`";
        let message = format!("`{RELEASE}` cannot be read: {why}");
        self.diagnostics.push(report("release-budget", field.span, message, help));
    }

    fn extra_factors(&mut self, field: &Spanned<String>, extra: &[String]) {
        for factor in extra {
            let message =
                format!("`{factor}` is no dimension that is measured; reaching the release tier does not show it");
            let help = "state it in the oracle, where it is checked";
            self.diagnostics.push(report("unmeasured-budget", field.span, message, help));
        }
    }
}

/// A scenario under construction.
struct Draft {
    scenario: Scenario,
    /// (offset, label, arm) of every field, to know to which one a code block belongs.
    starts: Vec<(usize, String, Option<usize>)>,
    model: ModelBlock,
    model_seen: bool,
    surfaces: Vec<Field>,
    arm: Option<usize>,
}

impl Draft {
    fn new(id: Spanned<Id>, name: Spanned<String>, span: Span) -> Draft {
        let scenario = Scenario {
            id,
            name,
            falsifies: Vec::new(),
            closes: Vec::new(),
            fields: Vec::new(),
            budgets: None,
            target: None,
            skeleton_language: None,
            skeleton: None,
            code_blocks: Vec::new(),
            model_block: None,
            model_block_not_applicable: false,
            surfaces: None,
            surfaces_not_applicable: false,
            arms: Vec::new(),
            span,
        };
        let (starts, surfaces) = (Vec::new(), Vec::new());
        Draft { scenario, starts, model: ModelBlock::default(), model_seen: false, surfaces, arm: None }
    }

    fn take(&mut self, segment: Segment<'_>) {
        let sets: &[&'static [labels::Label]] = match segment.kind {
            Kind::Model => &[labels::MODEL_BLOCK, labels::SCENARIO],
            Kind::Surfaces => &[labels::SURFACES, labels::SCENARIO],
            _ => &[labels::SCENARIO, labels::MODEL_BLOCK_EXACT],
        };
        let mut collector = Collector::new(sets);
        if let Kind::Titled(title) = &segment.kind {
            let known = labels::find(labels::SCENARIO, title);
            collector.open(known.unwrap_or(title), known.is_some(), segment.at);
        }
        segment.lines.iter().for_each(|line| collector.line(line));
        let mut fields = collector.finish();
        if let Kind::Arm(id, name) = &segment.kind {
            self.close_blocks();
            self.open_arm(id.clone(), name.clone());
        }
        if matches!(segment.kind, Kind::Model | Kind::Surfaces) {
            let at = Span::new(segment.at, segment.at);
            fields.insert(0, Field { label: NOTES.to_owned(), value: Spanned::new(segment.tail.clone(), at) });
            let said: Vec<&str> = fields.iter().filter(|f| f.label == NOTES).map(|f| f.value.value.as_str()).collect();
            let said = said.join(" ").to_lowercase().replace(['*', '_', '`'], "");
            let not_applicable = said.split_whitespace().collect::<Vec<_>>().join(" ").contains("not applicable");
            match segment.kind {
                Kind::Model if not_applicable && self.arm.is_none() => self.scenario.model_block_not_applicable = true,
                Kind::Surfaces if not_applicable => self.scenario.surfaces_not_applicable = true,
                _ => {}
            }
            fields.retain(|f| f.label != NOTES || !(f.value.value.is_empty() || not_applicable || f.value.span == at));
        }
        for field in fields {
            self.starts.push((field.value.span.start, field.label.clone(), self.arm));
            self.route(&segment.kind, field);
        }
    }

    fn route(&mut self, kind: &Kind, field: Field) {
        if labels::find_exact(labels::MODEL_BLOCK, &field.label).is_some() && *kind != Kind::Surfaces {
            return self.model_field(field);
        }
        if labels::find_exact(labels::SCENARIO, &field.label).is_none() {
            match kind {
                Kind::Model => return self.model_field(field),
                Kind::Surfaces => return self.surfaces.push(field),
                _ => {}
            }
        }
        match self.arm {
            Some(arm) => self.scenario.arms[arm].fields.push(field),
            None => self.scenario.fields.push(field),
        }
    }

    fn model_field(&mut self, field: Field) {
        let span = field.value.span;
        let block = &mut self.model;
        block.span = if self.model_seen { Span::new(block.span.start, block.span.end.max(span.end)) } else { span };
        self.model_seen = true;
        let slot = match field.label.as_str() {
            "Model under test" => &mut block.model,
            "Operation history" => &mut block.history,
            "Checker" => &mut block.checker,
            "Nemesis + landing evidence" => &mut block.nemesis,
            "Ambiguous outcomes" => &mut block.ambiguous,
            "Reduction plan" => &mut block.reduction,
            _ => return block.other.push(field),
        };
        if slot.is_some() {
            return block.other.push(field);
        }
        // An empty value is an absent one: it must not pass for a filled field.
        *slot = Some(field.value).filter(|v| !v.value.is_empty());
    }

    /// Ends the §7.M that is open and hands it to the arm or the scenario.
    fn close_blocks(&mut self) {
        let block = std::mem::take(&mut self.model);
        if std::mem::take(&mut self.model_seen) {
            match self.arm {
                Some(arm) => self.scenario.arms[arm].model_block = Some(block),
                None => self.scenario.model_block = Some(block),
            }
        }
        if !self.surfaces.is_empty() {
            self.scenario.surfaces.get_or_insert_default().append(&mut self.surfaces);
        }
    }

    fn open_arm(&mut self, id: Spanned<Id>, name: Option<String>) {
        let arm = Arm { id, name, fields: Vec::new(), model_block: None, target: None, skeleton: None };
        self.scenario.arms.push(arm);
        self.arm = Some(self.scenario.arms.len() - 1);
    }
}

/// Cuts a scenario's lines at its sub-headings and §7.M markers.
fn segments<'a>(lines: &'a [Line<'a>]) -> Vec<Segment<'a>> {
    let marks: Vec<(usize, Kind, String, usize)> = lines
        .iter()
        .enumerate()
        .filter_map(|(i, line)| marker(line).map(|(kind, tail, at)| (i, kind, tail, at)))
        .collect();
    let first = marks.first().map_or(lines.len(), |m| m.0);
    let at = lines.first().map_or(0, |l| l.start);
    let mut out = vec![Segment { kind: Kind::Base, tail: String::new(), at, lines: &lines[..first] }];
    for (n, (i, kind, tail, at)) in marks.iter().enumerate() {
        let end = marks.get(n + 1).map_or(lines.len(), |m| m.0);
        out.push(Segment { kind: kind.clone(), tail: tail.clone(), at: *at, lines: &lines[i + 1..end] });
    }
    out
}

/// The kind of segment that a line opens, the text behind its marker, and the offset after the line.
fn marker(line: &Line<'_>) -> Option<(Kind, String, usize)> {
    let after = line.start + line.text.len();
    let heading = line.heading();
    let (at, body) = heading.map_or_else(|| line.trimmed(), |(_, at, title)| (at, title));
    if heading.is_none() && line.indent() > 1 {
        return None;
    }
    let content = if heading.is_some() { body } else { bullet(body).map_or(body, |(_, content)| content) };
    if let Some((kind, tail)) = block_marker(content) {
        let separated = tail.is_empty() || tail.starts_with([':', '—', '–', '-', '(']);
        if heading.is_some() || separated {
            let tail = tail.trim_start_matches([':', '—', '–', '-', ' ', '*']);
            return Some((kind, tail.to_owned(), after));
        }
    }
    heading?;
    if let Some((id, name)) = arm(body) {
        return Some((Kind::Arm(Spanned::new(id, Span::new(at, at + body.len())), name), String::new(), after));
    }
    let title = body.trim_matches(['*', '`', ' ', ':']).to_owned();
    Some((Kind::Titled(if title.is_empty() { NOTES.to_owned() } else { title }), String::new(), after))
}

/// `§7.M`, `7.M`, `Sec.7.M`, and the same with `.S`, whatever follows: the kind and the rest.
fn block_marker(text: &str) -> Option<(Kind, &str)> {
    let bare = text.trim_start_matches(['*', '`', '_', '§', ' ']);
    let lower = bare.get(..8.min(bare.len())).unwrap_or("").to_ascii_lowercase();
    let skip = ["section ", "sec. ", "sec."].iter().find(|w| lower.starts_with(**w)).map_or(0, |w| w.len());
    let bare = bare[skip..].trim_start_matches(['§', ' ']);
    let (kind, rest) = match bare.strip_prefix("7.M.S") {
        Some(rest) => (Kind::Surfaces, rest),
        None => (Kind::Model, bare.strip_prefix("7.M")?),
    };
    let joined = rest.starts_with(|c: char| c.is_alphanumeric())
        || rest.strip_prefix('.').is_some_and(|r| r.starts_with(|c: char| c.is_alphanumeric()));
    (!joined).then(|| (kind, rest.trim_start_matches(['*', '`', '_', ' ', '.'])))
}

/// `Arm S5/api: name`, `Scenario arm S5/api`, `S5/api`.
fn arm(title: &str) -> Option<(Id, Option<String>)> {
    let bare = title.trim_start_matches(['*', '`', ' ']);
    let lower = bare.to_ascii_lowercase();
    let skip = ["scenario arm ", "scenario ", "arm "].iter().find(|w| lower.starts_with(**w)).map_or(0, |w| w.len());
    let rest = bare[skip..].trim_start_matches(['*', '`', ' ', ':']);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "/-_".contains(c))).unwrap_or(rest.len());
    let id = Id::parse(&rest[..end]).filter(|id| id.arm().is_some())?;
    let name =
        rest[end..].trim_start_matches([':', '—', '–', '-', ' ', '`', '*', '.']).trim_end_matches(['`', '*', ' ']);
    Some((id, (!name.is_empty()).then(|| name.to_owned())))
}

/// A scenario heading, with an id or (told) without one.
fn head(line: &Line<'_>, in_section: bool) -> Option<Head> {
    let (level, at, title) = line.heading()?;
    let (start, _) = line.trimmed();
    let span = Span::new(start, at + title.len());
    let bare = title.trim_start_matches(['*', '`', ' ']);
    let word = bare.get(..8).is_some_and(|w| w.eq_ignore_ascii_case("scenario"));
    let rest = if word { bare[8..].trim_start_matches(['*', '`', ' ']) } else { bare };
    let wordless = in_section && level == 3;
    if !(2..=4).contains(&level) || !(word || wordless) {
        return None;
    }
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '/')).unwrap_or(rest.len());
    let id = Id::parse(&rest[..end].to_ascii_uppercase()).filter(|id| id.letter() == 'S' && id.arm().is_none());
    let tail = &rest[end..];
    let separated = ["", ":", "—", "–", "-", ".", "`", "*"].iter().any(|s| match *s {
        "" => tail.trim().is_empty(),
        s => tail.trim_start().starts_with(s),
    });
    match id {
        Some(id) if separated || word => {
            let id_at = at + title.len() - rest.len();
            let name = tail.trim_start_matches([':', '—', '–', '-', '.', ' ', '`', '*', '\t']);
            let from = at + title.len() - name.len();
            let name = name.trim_end_matches(['`', '*', ' ']);
            Some(Head {
                id: Some(Spanned::new(id, Span::new(id_at, id_at + end))),
                name: Spanned::new(name.to_owned(), Span::new(from, from + name.len())),
                span,
            })
        }
        _ => {
            // `Scenario: x`, `Scenario 1`, `S: x` mean to be one; `Scenario overview` does not.
            let meant = word
                && !rest[..end].contains('/')
                && (rest.starts_with(':') || rest.starts_with(|c: char| c.is_ascii_digit()) || starts_like_id(rest));
            meant.then(|| Head { id: None, name: Spanned::default(), span })
        }
    }
}

fn starts_like_id(rest: &str) -> bool {
    let mut chars = rest.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next().is_some_and(|c| c.is_ascii_digit())
}
