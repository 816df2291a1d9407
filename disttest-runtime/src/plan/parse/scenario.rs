//! §7: scenarios, their fields, §7.M, §7.M.S and arms.

use super::draft::Draft;
use super::fields::{bullet, label_at};
use super::head::{Head, head};
use super::line::Line;
use super::rows::leading_id;
use super::segments::{opens_part, segments};
use super::source::Code;
use super::table::tables;
use super::{Lists, Reader, budget};
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::labels::{self, CLOSES, FALSIFIES, FAULTS, HARDENING, RELEASE, SKELETON, SMOKE};
use crate::plan::model::{Field, Scenario};
use crate::plan::no_fault::{self, NoFault};
use crate::plan::rules::report;
use crate::plan::{Budget, Budgets, Id};
use rustc_hash::FxHashSet;

/// Where a scenario stands among the lines of a section: its heading, and the end of what belongs to it.
pub(super) struct Place {
    head: Head,
    /// Line of the heading.
    pub(super) start: usize,
    end: usize,
}

/// The words that mark the generated header of a skeleton.
const GENERATED: &str = "AUTO-GENERATED from test plan";

/// The scenarios among `lines`. `expected`: this is §7, where the word `Scenario` may be missing and no heading over
/// the fields of a scenario is overlooked.
pub(super) fn places(lines: &[Line<'_>], expected: bool) -> Vec<Place> {
    let headings: Vec<usize> = (0..lines.len()).filter(|i| lines[*i].heading().is_some()).collect();
    let mut out: Vec<Place> = Vec::new();
    // Whether the open scenario has said what it falsifies.
    let mut said = false;
    for (n, start) in headings.iter().copied().enumerate() {
        let below = &lines[start + 1..headings.get(n + 1).copied().unwrap_or(lines.len())];
        let falsifies = below.iter().any(is_falsifies);
        let own = out.last().and_then(|place| place.head.id.as_ref()).map(|id| &id.value);
        let found = head(&lines[start], expected || falsifies)
            .filter(|head| head.id.is_some() || expected || falsifies)
            .filter(|head| !(head.level > 3 && own.is_some() && head.id.as_ref().map(|id| &id.value) == own));
        let lost = || {
            let lost = expected && falsifies && (said || own.is_none()) && !opens_part(&lines[start]);
            lost.then(|| Head::without_id(&lines[start])).flatten()
        };
        match found.or_else(lost) {
            Some(head) => {
                if let Some(last) = out.last_mut() {
                    last.end = group_heading(lines, &headings[..n], last).unwrap_or(start);
                }
                said = falsifies;
                out.push(Place { head, start, end: lines.len() });
            }
            None => said |= falsifies,
        }
    }
    out
}

/// The line of the heading right above the next scenario, if it groups scenarios and is no part of `last`.
fn group_heading(lines: &[Line<'_>], above: &[usize], last: &Place) -> Option<usize> {
    let start = *above.last().filter(|start| **start > last.start)?;
    let (level, _, title) = lines[start].heading()?;
    let known = labels::find(labels::SCENARIO, title).is_some() || opens_part(&lines[start]);
    let labelled = |line: &Line<'_>| {
        let (_, body) = line.trimmed();
        label_at(bullet(body).map_or(body, |(_, content)| content), &[labels::SCENARIO, labels::MODEL_BLOCK]).is_some()
    };
    let below = lines[start + 1..].iter().take_while(|line| line.heading().is_none());
    (level <= last.head.level && !known && !below.into_iter().any(labelled)).then_some(start)
}

/// True for a line that says what a scenario falsifies.
fn is_falsifies(line: &Line<'_>) -> bool {
    let (_, body) = line.trimmed();
    let content = bullet(body).map_or(body, |(_, content)| content);
    let first = content.trim_start_matches(['*', '_', '`']).bytes().next();
    matches!(first, Some(b'F' | b'f')) && label_at(content, &[labels::SCENARIO]).is_some_and(|l| l.name == FALSIFIES)
}

impl Reader<'_> {
    /// Reads the scenarios at these places.
    pub(super) fn scenarios(&mut self, lines: &[Line<'_>], places: Vec<Place>, expected: bool) {
        let first = places.first().map_or(lines.len(), |place| place.start);
        if let Some(line) = lines[..first].iter().find(|line| expected && is_falsifies(line)) {
            let (at, body) = line.trimmed();
            self.without_id(Span::new(at, at + body.len()), "the fields of a scenario stand here without a heading");
        }
        for Place { head, start, end } in places {
            let Some(id) = head.id.clone() else {
                self.without_id(head.span, "this scenario has no id that can be read; it is not read");
                continue;
            };
            if !expected {
                let message = format!("scenario {} stands outside `## 7. Scenarios`", id.value);
                let help = "move it under `## 7. Scenarios`";
                self.told.push(report("scenario-outside-section", head.span, message, help));
            }
            self.scenario(id, head, &lines[start + 1..end]);
        }
    }

    /// Remembers the rows that start with the id of a scenario: an overview, or all there is of it.
    pub(super) fn scenarios_in_tables(&mut self, lines: &[Line<'_>]) {
        let rows = tables(lines).into_iter().flat_map(|table| table.rows);
        self.rows_of_scenarios.extend(rows.filter_map(|(cells, span)| {
            let id = leading_id(&cells.first()?.text).filter(|id| id.letter() == 'S')?;
            Some(Spanned::new(id, span))
        }));
    }

    /// Tells each of those that no heading defines.
    pub(super) fn tell_rows_of_scenarios(&mut self) {
        let rows = std::mem::take(&mut self.rows_of_scenarios);
        let defined: FxHashSet<&Id> = self.plan.scenarios.iter().map(|s| &s.id.value).collect();
        for Spanned { value: id, span } in rows.into_iter().filter(|id| !defined.contains(&id.value)) {
            let message = format!("{id} stands in a table; a scenario is read from its heading only");
            let help = format!("write `### Scenario {id}: <name>` and its fields below the table");
            self.told.push(report("unreadable-scenario", span, message, help));
        }
    }

    fn without_id(&mut self, span: Span, message: &str) {
        self.told.push(report("unreadable-scenario", span, message, "write `### Scenario S<n>: <name>` above it"));
    }

    fn scenario(&mut self, id: Spanned<Id>, head: Head, lines: &[Line<'_>]) {
        let last = lines.iter().rev().find(|l| !l.is_blank() && !l.is_rule());
        let end = last.map_or(head.span.end, Line::end);
        let codes_end = lines.last().map_or(end, |l| l.end() + 1);
        let mut draft = Draft::new(id, head.name, Span::new(head.span.start, end));
        segments(lines).into_iter().for_each(|segment| draft.take(segment));
        draft.close_blocks();
        let source = self.source;
        let codes = source.codes_in(Span::new(head.span.end, codes_end));
        let skeleton = self.assign_codes(&mut draft, codes);
        let mut scenario = draft.scenario;
        self.check_duplicates(&scenario.fields);
        for arm in &mut scenario.arms {
            self.check_duplicates(&arm.fields);
            arm.target = self.target(&arm.fields);
            self.check_skeleton(&arm.fields, arm.skeleton.is_some());
        }
        self.check_skeleton(&scenario.fields, scenario.skeleton.is_some());
        scenario.falsifies = self.ids_of(&scenario, FALSIFIES, 'C');
        scenario.closes = self.ids_of(&scenario, CLOSES, 'H');
        scenario.target = self.target(&scenario.fields);
        scenario.skeleton_language = self.language(&scenario.fields, skeleton);
        scenario.budgets = self.budgets(&scenario);
        self.plan.scenarios.push(scenario);
    }

    /// Gives each code block to the skeleton it is, or to the other blocks of the scenario. The first skeleton.
    fn assign_codes<'c>(&mut self, draft: &mut Draft, codes: &'c [Code]) -> Option<&'c Code> {
        let scenario = &mut draft.scenario;
        let (mut first, mut generated) = (None, None);
        for code in codes {
            scenario.span.end = scenario.span.end.max(code.span.end);
            let before = draft.starts.partition_point(|(at, ..)| *at <= code.span.start);
            let owner = before.checked_sub(1).and_then(|i| draft.starts.get(i));
            let of_skeleton = owner.filter(|(_, skeleton, _)| *skeleton);
            let body = Spanned::new(code.body.clone(), code.span);
            let slot = match of_skeleton.map(|(.., arm)| *arm) {
                Some(Some(arm)) => Some(&mut scenario.arms[arm].skeleton),
                Some(None) => Some(&mut scenario.skeleton),
                None => None,
            };
            match slot {
                Some(slot @ None) if code.fenced => {
                    *slot = Some(body);
                    first.get_or_insert(code);
                    continue;
                }
                Some(None) => self.skeleton_prose(code.span),
                _ => {}
            }
            if generated.is_none() && code.body.contains(GENERATED) {
                generated = Some((scenario.code_blocks.len(), code));
            }
            scenario.code_blocks.push(body);
        }
        if let Some((i, code)) = generated.filter(|_| first.is_none()) {
            // Its label is missing; its header says what it is.
            scenario.skeleton = Some(scenario.code_blocks.remove(i));
            first = Some(code);
        }
        first
    }

    fn check_skeleton(&mut self, fields: &[Field], fenced: bool) {
        let prose = fields.iter().find(|f| f.label == SKELETON && !f.value.value.is_empty());
        if let Some(field) = prose.filter(|_| !fenced) {
            self.skeleton_prose(field.value.span);
        }
    }

    fn check_duplicates(&mut self, fields: &[Field]) {
        // Labels of the format only, so that there are few.
        let mut seen: Vec<&str> = Vec::new();
        for field in fields.iter().filter(|f| labels::is_in(labels::SCENARIO, &f.label)) {
            if seen.contains(&field.label.as_str()) {
                let message = format!("`{}` stands here for the second time; the first one counts", field.label);
                self.told.push(report("duplicate-field", field.value.span, message, "join the two"));
            } else {
                seen.push(&field.label);
            }
        }
    }

    fn ids_of(&mut self, scenario: &Scenario, label: &str, letter: char) -> Vec<Spanned<Id>> {
        let Some(field) = scenario.field(label) else { return Vec::new() };
        let ids = self.id_list(field.span, letter, Lists::Scenarios);
        if ids.is_empty() {
            let message = format!("`{label}` names no {letter} id: `{}`", field.value);
            let help = format!("write ids such as `{letter}1, {letter}3`");
            self.told.push(report("unreadable-id-list", field.span, message, help));
        }
        ids
    }

    /// The three tiers; `None` unless all can be read.
    fn budgets(&mut self, scenario: &Scenario) -> Option<Budgets> {
        let no_faults = scenario.field(FAULTS).is_some_and(|f| no_fault::read(&f.value) != NoFault::Planned);
        let smoke = self.tier(scenario, SMOKE, no_faults);
        let hardening = self.tier(scenario, HARDENING, no_faults);
        let release = scenario.field(RELEASE).and_then(|field| {
            let read = budget::read_release(&field.value, hardening.as_ref());
            let help = "write a budget, or `not provided — <reason>. Revisit when: <condition>.`";
            self.budget("release-budget", RELEASE, field, read, help)
        });
        Some(Budgets { smoke: smoke?, hardening: hardening?, release: release? })
    }

    fn tier(&mut self, scenario: &Scenario, label: &str, no_faults: bool) -> Option<Budget> {
        let field = scenario.field(label)?;
        let help = "write `<n> nodes × <n>s × <n> faults × <n> seeds`, with `× <n> operations` if it matters";
        self.budget("unreadable-budget", label, field, budget::read(&field.value, no_faults), help)
    }

    /// What was read, its remarks told; or nothing, and why told.
    fn budget<T>(
        &mut self,
        rule: &'static str,
        label: &str,
        field: &Spanned<String>,
        read: Result<(T, budget::Remarks), String>,
        help: &str,
    ) -> Option<T> {
        let (found, remarks) = read
            .map_err(|why| {
                let message = format!("`{label}` cannot be read as a budget: {why}");
                self.told.push(report(rule, field.span, message, help));
            })
            .ok()?;
        for factor in &remarks.unmeasured {
            let message = format!("`{factor}` is no dimension that is measured; reaching the tier does not show it");
            let help = "state it in the oracle, where it is checked";
            self.told.push(report("unmeasured-budget", field.span, message, help));
        }
        for factor in &remarks.ranges {
            let message = format!("`{factor}` is a range; a budget is a minimum, and its lower end is what counts");
            self.told.push(report("budget-range", field.span, message, "write the number that a run must reach"));
        }
        Some(found)
    }
}
