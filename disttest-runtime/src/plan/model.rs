//! The plan as typed values. Every value that came from the text knows where it stands.

use super::index::Index;
use super::{Budgets, Category, Id};
use crate::base::diagnostic::{Span, Spanned};
use serde::{Deserialize, Serialize};

/// A whole plan. The parser never fails: what it could not read is a diagnostic and an empty value here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The bold-key lines under the title.
    pub header: Header,
    /// Every `## n. title` section found, in order, with its raw text.
    pub sections: Vec<Section>,
    /// §1b.
    pub claims: Vec<Claim>,
    /// §1c.
    pub missing_claims: Vec<MissingClaim>,
    /// §2, the seven labels that were found: (label, text).
    pub sut_model: Vec<Field>,
    /// §3.
    pub inventory: Vec<Row>,
    /// §4.
    pub hypotheses: Vec<Hypothesis>,
    /// §5.
    pub coverage: Vec<Row>,
    /// §6.
    pub techniques: Vec<Technique>,
    /// §6b.
    pub environment: Vec<Row>,
    /// §7.
    pub scenarios: Vec<Scenario>,
    /// §7b: Claim, Threat model, Scenarios, Why sufficient.
    pub adequacy: Vec<Row>,
    /// §7c: Uncertainty, Why uncovered, Why acceptable today, When to revisit.
    pub residual: Vec<Row>,
    /// §7d.
    pub confidence: Confidence,
    /// §8, one entry a bullet.
    pub not_covered: Vec<Spanned<String>>,
    /// §9, one entry a bullet.
    pub open_questions: Vec<Spanned<String>>,
    /// Sections of level 2 without a number, such as an appendix; their `number` is empty.
    #[serde(default)]
    pub appendices: Vec<Section>,
    /// Where elements stand by id; made when it is first needed.
    #[doc(hidden)]
    #[serde(skip)]
    pub index: Index,
}

/// The bold-key lines of the header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// From `# Test Plan: <slug>`.
    pub slug: Option<Spanned<String>>,
    /// `change-scoped` (default) or `project-wide`.
    pub mode: PlanMode,
    /// Every bold-key line, `Plan mode` included.
    pub fields: Vec<Field>,
}

/// Plan mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanMode {
    /// For one change.
    #[default]
    ChangeScoped,
    /// For the whole project.
    ProjectWide,
}

/// A labelled value; `label` as the format spells it when known, else as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Without colon and emphasis.
    pub label: String,
    /// The text behind it, continuation lines joined by single newlines, outer white space trimmed.
    pub value: Spanned<String>,
}

/// A numbered section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// `0`, `1b`, `7d`, ….
    pub number: String,
    /// The title behind the number.
    pub title: String,
    /// The whole section, heading included.
    pub span: Span,
    /// What stands in it and nowhere else in the plan: the whole source text of a section that is prose (0, 1,
    /// numbers the format does not know, appendices), and the prose beside the elements of the others.
    #[serde(default)]
    pub text: String,
}

/// A row of a table: cells by the header word of their column (canonical spelling where the format has one).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// (column, text) in the order of the columns.
    pub cells: Vec<(String, String)>,
    /// The row.
    pub span: Span,
}

impl Row {
    /// The text of the column whose header is `column`; empty when there is none.
    pub fn cell(&self, column: &str) -> &str {
        self.cells.iter().find(|(name, _)| name == column).map_or("", |(_, text)| text)
    }
}

/// §1b: a promise of the system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// `C<n>`.
    pub id: Spanned<Id>,
    /// The promise.
    pub text: Spanned<String>,
    /// The cell's categories; words outside the vocabulary are diagnostics and gate like `safety`.
    pub categories: Vec<Category>,
    /// Words of the cell outside the vocabulary, in lower case.
    #[serde(default)]
    pub unknown_categories: Vec<String>,
    /// The cell as written.
    pub category_text: Spanned<String>,
    /// Where the promise is made.
    pub source: String,
    /// `no`, `yes` or `partial — <why>`.
    pub inferred: String,
}

/// §1c: behaviour the code relies on that nobody promised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MissingClaim {
    /// `M<n>`.
    pub id: Spanned<Id>,
    /// The behaviour.
    pub behavior: String,
    /// Source or evidence.
    pub evidence: String,
    /// Suggested action.
    pub action: String,
}

/// §4: a way the system could fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// `H<n>`.
    pub id: Spanned<Id>,
    /// Short title.
    pub title: String,
    /// The sentence behind it.
    pub text: String,
    /// Claims it could falsify.
    pub claims: Vec<Spanned<Id>>,
    /// Why it is suspected.
    pub suspected: Option<String>,
    /// Its subsystem.
    pub subsystem: Option<String>,
    /// Its other labelled fields.
    #[serde(default)]
    pub other: Vec<Field>,
}

/// §6: a technique.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Technique {
    /// `T<n>`, if the heading carries one.
    #[serde(default)]
    pub id: Option<Spanned<Id>>,
    /// As its heading names it, id included.
    pub name: Spanned<String>,
    /// Its labelled fields.
    pub fields: Vec<Field>,
}

/// §7: a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// `S<n>`.
    pub id: Spanned<Id>,
    /// `claim_shaped_snake_case_name`, without backticks.
    pub name: Spanned<String>,
    /// Claims it falsifies if it FAILs.
    pub falsifies: Vec<Spanned<Id>>,
    /// Hypotheses it closes.
    pub closes: Vec<Spanned<Id>>,
    /// Every labelled field in order, known ones under the format's spelling (`Workload`, `Faults`, `Oracle`, …).
    pub fields: Vec<Field>,
    /// The three budgets as data; `None` when one is missing or could not be read (a diagnostic says which).
    pub budgets: Option<Budgets>,
    /// First path of `Target test file`.
    pub target: Option<Spanned<String>>,
    /// `rust`, `go`, `python`, `typescript`, `shell`, or the word that stands there (told).
    pub skeleton_language: Option<Spanned<String>>,
    /// Body of the fenced skeleton.
    pub skeleton: Option<Spanned<String>>,
    /// Code blocks of the scenario other than the skeleton: no plan content, but part of its digest.
    #[serde(default)]
    pub code_blocks: Vec<Spanned<String>>,
    /// §7.M; `None` when it is absent or said to be not applicable.
    pub model_block: Option<ModelBlock>,
    /// True when the not-applicable sentence of §7.M stands there.
    pub model_block_not_applicable: bool,
    /// §7.M.S fields, if the block is filled.
    pub surfaces: Option<Vec<Field>>,
    /// True when the not-applicable sentence of §7.M.S stands there.
    #[serde(default)]
    pub surfaces_not_applicable: bool,
    /// Arms.
    pub arms: Vec<Arm>,
    /// The whole scenario, heading included.
    pub span: Span,
}

impl Scenario {
    /// The text of field `label`; `None` when absent or empty.
    pub fn field(&self, label: &str) -> Option<&Spanned<String>> {
        self.fields.iter().find(|f| f.label == label).map(|f| &f.value).filter(|v| !v.value.is_empty())
    }

    /// Serious: a falsified claim has a gated category, or the scenario has arms. An unknown claim gates.
    pub fn is_serious(&self, plan: &Plan) -> bool {
        let gated =
            |id: &Spanned<Id>| plan.claim(&id.value).is_none_or(|c| c.categories.iter().any(|k| k.gates_model_block()));
        !self.arms.is_empty() || self.falsifies.iter().any(gated)
    }
}

/// §7.M.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelBlock {
    /// Model under test.
    pub model: Option<Spanned<String>>,
    /// Operation history.
    pub history: Option<Spanned<String>>,
    /// Checker, as written.
    pub checker: Option<Spanned<String>>,
    /// Nemesis + landing evidence, as written.
    pub nemesis: Option<Spanned<String>>,
    /// Ambiguous outcomes.
    pub ambiguous: Option<Spanned<String>>,
    /// Reduction plan.
    pub reduction: Option<Spanned<String>>,
    /// Every other field of the block.
    #[serde(default)]
    pub other: Vec<Field>,
    /// The block.
    pub span: Span,
}

/// An arm of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// `S5/api`.
    pub id: Spanned<Id>,
    /// Name behind the id, if any.
    pub name: Option<String>,
    /// Its own fields; others are inherited.
    pub fields: Vec<Field>,
    /// Its own §7.M.
    pub model_block: Option<ModelBlock>,
    /// Its own target, if any.
    pub target: Option<Spanned<String>>,
    /// Its own skeleton, if any.
    pub skeleton: Option<Spanned<String>>,
}

/// §7d.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Confidence {
    /// The leading paragraph.
    pub statement: Spanned<String>,
    /// Per-aspect rows: Claim, Aspect, Confidence, Reason.
    pub aspects: Vec<Row>,
}
