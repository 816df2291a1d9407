//! A scenario under construction.

use super::fields::{Collector, bullet};
use super::segments::{Kind, Segment, says_not_applicable};
use crate::base::diagnostic::{Span, Spanned};
use crate::plan::Id;
use crate::plan::labels::{self, NOTES, SKELETON};
use crate::plan::model::{Arm, Field, ModelBlock, Scenario};

/// A scenario under construction.
pub(super) struct Draft {
    pub(super) scenario: Scenario,
    /// (offset, whether it is a skeleton, arm) of every field, to know to which one a code block belongs.
    pub(super) starts: Vec<(usize, bool, Option<usize>)>,
    model: ModelBlock,
    model_seen: bool,
    surfaces: Vec<Field>,
    arm: Option<usize>,
}

impl Draft {
    pub(super) fn new(id: Spanned<Id>, name: Spanned<String>, span: Span) -> Draft {
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

    pub(super) fn take(&mut self, segment: Segment<'_>) {
        let sets: &[&'static [labels::Label]] = match segment.kind {
            Kind::Model => &[labels::MODEL_BLOCK, labels::SCENARIO],
            Kind::Surfaces => &[labels::SURFACES, labels::SCENARIO],
            _ => &[labels::SCENARIO, labels::MODEL_BLOCK_EXACT],
        };
        let mut collector = Collector::new(sets);
        if let Kind::Titled(title) = &segment.kind {
            let sets = [labels::SCENARIO, labels::MODEL_BLOCK_EXACT];
            let known = sets.into_iter().find_map(|set| labels::find(set, title));
            collector.open(known.unwrap_or(title), known.is_some(), segment.at);
        }
        segment.lines.iter().for_each(|line| collector.line(line));
        let mut fields = collector.finish();
        if let Kind::Arm(id, name) = &segment.kind {
            self.close_blocks();
            self.open_arm(id.clone(), name.clone());
        }
        if matches!(segment.kind, Kind::Model | Kind::Surfaces) {
            let not_applicable = not_applicable(&segment.tail, &fields);
            match segment.kind {
                Kind::Model if not_applicable && self.arm.is_none() => self.scenario.model_block_not_applicable = true,
                Kind::Surfaces if not_applicable => self.scenario.surfaces_not_applicable = true,
                _ => {}
            }
            fields.retain(|f| f.label != NOTES || !not_applicable);
        }
        if segment.kind != Kind::Base {
            // Code under a sub-heading is none of the field above it.
            self.starts.push((segment.at, false, self.arm));
        }
        self.starts.reserve(fields.len());
        for field in fields.into_iter().filter(|f| f.label != NOTES || !f.value.value.is_empty()) {
            self.starts.push((field.value.span.start, field.label == SKELETON, self.arm));
            self.route(&segment.kind, field);
        }
    }

    fn route(&mut self, kind: &Kind, field: Field) {
        let is = |set| labels::is_in(set, &field.label);
        let of_scenario = is(labels::SCENARIO);
        match kind {
            Kind::Surfaces if !of_scenario => return self.surfaces.push(field),
            Kind::Model if !of_scenario => return self.model_field(field),
            Kind::Surfaces => {}
            _ if is(labels::MODEL_BLOCK) => return self.model_field(field),
            _ => {}
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
        let value = in_a_line(field.value.value);
        *slot = (!value.is_empty()).then(|| Spanned::new(value, span));
    }

    /// Ends the §7.M that is open and hands it to the arm or the scenario.
    pub(super) fn close_blocks(&mut self) {
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

/// A value that is a list, as what it would be in a line: the items behind their marks, parted by semicolons.
fn in_a_line(value: String) -> String {
    if !value.lines().any(|line| bullet(line).is_some()) {
        return value;
    }
    let mut out = String::with_capacity(value.len());
    for line in value.lines() {
        let item = bullet(line);
        let closed = out.is_empty() || out.ends_with(['.', ';', ':', ',']);
        out.push_str(if item.is_some() && !closed {
            "; "
        } else if out.is_empty() {
            ""
        } else {
            " "
        });
        out.push_str(item.map_or(line, |(_, content)| content));
    }
    out
}

/// Whether a block says that it is not applicable: as the first words of its heading (`tail`) or of a note, or in a
/// block without labels among the first words of either.
fn not_applicable(tail: &str, fields: &[Field]) -> bool {
    let notes = || fields.iter().filter(|f| f.label == NOTES).map(|f| f.value.value.as_str());
    let first = notes().next().unwrap_or("");
    let said = words(&format!("{} {}", words(tail), words(first)));
    if notes().any(says_not_applicable) || says_not_applicable(&said) {
        return true;
    }
    let of_block = |f: &&Field| f.label != NOTES && !labels::is_in(labels::SCENARIO, &f.label);
    let says = |text: &str| text.to_lowercase().replace(['*', '_', '`'], "").contains("not applicable");
    fields.iter().find(of_block).is_none() && (says(&said) || notes().any(|note| says(&words(note))))
}

/// The first words of `text`, in which a block says that it is not applicable, if it does.
fn words(text: &str) -> String {
    text.split_whitespace().take(40).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_under_a_label_reads_as_the_same_words_in_a_line() {
        let check = |value: &str, expect: &str| assert_eq!(in_a_line(value.to_owned()), expect, "{value}");
        check("log", "log");
        check("a\nb", "a\nb");
        check("- ledger", "ledger");
        check("1. lease", "lease");
        check("1. hard-kill\n2. exit line\nof the node\n3) a", "hard-kill; exit line of the node; a");
        check("hard-kill:\n- exit line.\n* restart", "hard-kill: exit line. restart");
    }
}
