//! What the rules look at: the plan, its elements by id, and every scenario resolved once.

use super::argument::Arguments;
use super::oracle::{Weakness, weakness};
use super::passage::Passage;
use crate::base::diagnostic::{Diagnostic, Span, Spanned};
use crate::plan::labels::ORACLE;
use crate::plan::model::{Arm, Claim, ModelBlock, Plan, PlanMode, Row, Scenario};
use crate::plan::resolve::{resolve_arm_with, resolve_with};
use crate::plan::{Category, Id, Resolved};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::ops::Deref;

/// What a rule looks at.
pub(super) struct Context<'p> {
    /// The plan.
    pub(super) plan: &'p Plan,
    /// The text.
    pub(super) text: &'p str,
    /// The text, masked.
    pub(super) masked: &'p str,
    /// Every scenario without arms and every arm, resolved.
    pub(super) cases: Vec<Case<'p>>,
    claims: FxHashMap<&'p Id, Vec<&'p Claim>>,
    scenarios: FxHashMap<&'p Id, &'p Scenario>,
    arguments: OnceCell<Arguments<'p>>,
}

impl<'p> Context<'p> {
    /// Resolves every scenario. Linear in the text.
    pub(super) fn new(plan: &'p Plan, text: &'p str, masked: &'p str) -> Context<'p> {
        let mut claims: FxHashMap<&Id, Vec<&Claim>> = FxHashMap::default();
        for claim in &plan.claims {
            claims.entry(&claim.id.value).or_default().push(claim);
        }
        let mut context = Context {
            plan,
            text,
            masked,
            cases: Vec::new(),
            claims,
            scenarios: plan.scenarios.iter().rev().map(|s| (&s.id.value, s)).collect(),
            arguments: OnceCell::new(),
        };
        context.cases = plan.scenarios.iter().flat_map(owners).map(|owner| context.case(owner)).collect();
        context
    }

    fn case(&self, owner: Owner<'p>) -> Case<'p> {
        let categories = |id: &Id| self.claims.contains_key(id).then(|| self.categories(id));
        let serious = self.is_serious(owner.scenario);
        let (resolved, told) = match owner.arm {
            Some(arm) => resolve_arm_with(&categories, owner.scenario, arm),
            None => resolve_with(&categories, owner.scenario, serious),
        };
        let weakness = weakness(owner.oracle());
        Case { owner, resolved, told, serious, weakness, masked: self.masked, passages: Default::default() }
    }

    /// The first claim with this id.
    pub(super) fn claim(&self, id: &Id) -> Option<&'p Claim> {
        self.claims.get(id).and_then(|all| all.first()).copied()
    }

    /// The first scenario with this id; for the id of an arm its scenario.
    pub(super) fn scenario(&self, id: &Id) -> Option<&'p Scenario> {
        match id.arm() {
            None => self.scenarios.get(id).copied(),
            Some(_) => Id::parse(&format!("S{}", id.number())).and_then(|id| self.scenarios.get(&id).copied()),
        }
    }

    /// The rows of §7b, read once for all rules.
    pub(super) fn arguments(&self) -> &Arguments<'p> {
        self.arguments.get_or_init(|| Arguments::new(self))
    }

    /// The categories of a claim, those of all its definitions where there are several.
    pub(super) fn categories(&self, id: &Id) -> Vec<Category> {
        let all = self.claims.get(id).into_iter().flatten();
        let mut categories: Vec<Category> = all.flat_map(|claim| &claim.categories).copied().collect();
        categories.sort();
        categories.dedup();
        categories
    }

    /// As [`Scenario::is_serious`], by index.
    pub(super) fn is_serious(&self, scenario: &Scenario) -> bool {
        let gated = |id: &Spanned<Id>| match self.claims.get(&id.value) {
            None => true,
            Some(all) => all.iter().flat_map(|claim| &claim.categories).any(|c| c.gates_model_block()),
        };
        !scenario.arms.is_empty() || scenario.falsifies.iter().any(gated)
    }

    /// True when the scenario falsifies a claim of such a category.
    pub(super) fn falsifies(&self, scenario: &Scenario, test: impl Fn(Category) -> bool) -> bool {
        let claims = scenario.falsifies.iter().filter_map(|id| self.claims.get(&id.value)).flatten();
        claims.flat_map(|claim| &claim.categories).any(|category| test(*category))
    }

    /// True for a project-wide plan.
    pub(super) fn wide(&self) -> bool {
        self.plan.header.mode == PlanMode::ProjectWide
    }

    /// The masked text of a span.
    pub(super) fn slice(&self, span: Span) -> &'p str {
        self.masked.get(span.start..span.end).unwrap_or("")
    }

    /// Where the first section of this number stands, and its body without the heading.
    pub(super) fn section(&self, number: &str) -> Option<(Span, Span)> {
        let section = self.plan.sections.iter().find(|section| section.number == number)?;
        let heading = self.slice(section.span).lines().next().map_or(0, str::len);
        let start = section.span.start + heading;
        Some((Span::new(section.span.start, start), Span::new(start, section.span.end)))
    }

    /// Where the text of a cell stands; its row when that cannot be told.
    pub(super) fn cell(&self, row: &Row, column: &str) -> Span {
        let Some(index) = row.cells.iter().position(|(name, _)| name == column) else { return row.span };
        let line = self.slice(row.span);
        let inner = line.strip_prefix('|').unwrap_or(line);
        let mut at = row.span.start + line.len() - inner.len();
        let mut cells = Vec::new();
        for piece in split_cells(inner) {
            let lead = piece.len() - piece.trim_start().len();
            cells.push(Span::new(at + lead, at + lead + piece.trim().len()));
            at += piece.len() + 1;
        }
        let exact = cells.len() >= row.cells.len() && cells.len() <= row.cells.len() + 1;
        let found = cells.get(index).copied().filter(|span| exact && span.end > span.start);
        found.or_else(|| self.word(row.span, &row.cells[index].1)).unwrap_or(row.span)
    }

    /// The first place of `word` in a span, as it is written.
    pub(super) fn word(&self, span: Span, word: &str) -> Option<Span> {
        let start = self.slice(span).find(word).filter(|_| !word.is_empty())? + span.start;
        Some(Span::new(start, start + word.len()))
    }

    /// The first place of the id in a span, in the spelling of the format or with zeros in front of its number.
    pub(super) fn id(&self, span: Span, id: &Id) -> Option<Span> {
        self.ids(span).find(|(found, _)| found == id).map(|(_, place)| place)
    }

    /// Everything in a span that is an id, in order.
    pub(super) fn ids(&self, span: Span) -> impl Iterator<Item = (Id, Span)> {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '/' || c == '-';
        let mut at = span.start;
        self.slice(span).split_inclusive(move |c| !part(c)).filter_map(move |piece| {
            let start = at;
            at += piece.len();
            let word = piece.trim_end_matches(|c| !part(c));
            Some((Id::parse(word)?, Span::new(start, start + word.len())))
        })
    }
}

/// The cells of a row without its first pipe; escaped pipes and those in code are text.
fn split_cells(row: &str) -> Vec<&str> {
    let (mut cells, mut from, mut code, mut escaped) = (Vec::new(), 0, false, false);
    for (i, byte) in row.bytes().enumerate() {
        match byte {
            b'\\' if !escaped => {
                escaped = true;
                continue;
            }
            b'`' => code = !code,
            b'|' if !escaped && !code => {
                cells.push(&row[from..i]);
                from = i + 1;
            }
            _ => {}
        }
        escaped = false;
    }
    if from < row.len() {
        cells.push(&row[from..]);
    }
    cells
}

/// Who owns an oracle and a §7.M: the arms of a scenario, or without arms the scenario itself.
#[derive(Clone, Copy)]
pub(super) struct Owner<'p> {
    /// The scenario.
    pub(super) scenario: &'p Scenario,
    /// The arm.
    pub(super) arm: Option<&'p Arm>,
    /// Of the arm or else of the scenario.
    pub(super) id: &'p Spanned<Id>,
}

impl<'p> Owner<'p> {
    fn own(&self, label: &str) -> Option<&'p Spanned<String>> {
        match self.arm {
            Some(arm) => arm.fields.iter().find(|f| f.label == label).map(|f| &f.value),
            None => self.scenario.field(label),
        }
    }

    /// Its own oracle.
    pub(super) fn oracle(&self) -> Option<&'p Spanned<String>> {
        self.own(ORACLE)
    }

    /// Its own field or the inherited one.
    pub(super) fn field(&self, label: &str) -> Option<&'p Spanned<String>> {
        self.own(label).filter(|v| !v.value.is_empty()).or_else(|| self.scenario.field(label))
    }

    /// Each tier can be read, its own or the inherited one.
    pub(super) fn has_budgets(&self) -> bool {
        match self.arm {
            Some(arm) => arm.budgets(self.scenario).is_some(),
            None => self.scenario.budgets.is_some(),
        }
    }

    /// Its own §7.M.
    pub(super) fn model_block(&self) -> Option<&'p ModelBlock> {
        match self.arm {
            Some(arm) => arm.model_block.as_ref(),
            None => self.scenario.model_block.as_ref(),
        }
    }
}

/// The arms of a scenario, or without arms the scenario itself.
pub(super) fn owners(scenario: &Scenario) -> impl Iterator<Item = Owner<'_>> {
    let arms = scenario.arms.iter().map(move |arm| Owner { scenario, arm: Some(arm), id: &arm.id });
    let alone = scenario.arms.is_empty().then_some(Owner { scenario, arm: None, id: &scenario.id });
    arms.chain(alone)
}

/// An owner with what its prose was resolved to.
pub(super) struct Case<'p> {
    owner: Owner<'p>,
    /// What the attribute would say.
    pub(super) resolved: Resolved,
    /// What could not be resolved.
    pub(super) told: Vec<Diagnostic>,
    /// It needs §7.M.
    pub(super) serious: bool,
    /// What is wrong with its oracle.
    pub(super) weakness: Option<Weakness>,
    masked: &'p str,
    passages: [OnceCell<Option<Passage<'p>>>; PARTS],
}

/// A field of a case that several rules read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Its own oracle.
    Oracle,
    /// `Checker` of its §7.M.
    Checker,
    /// `Nemesis + landing evidence` of its §7.M.
    Nemesis,
    /// `Operation history` of its §7.M.
    History,
    /// `Ambiguous outcomes` of its §7.M.
    Ambiguous,
}

const PARTS: usize = 5;

impl<'p> Case<'p> {
    /// A field, if it is there.
    pub(super) fn part(&self, part: Part) -> Option<&'p Spanned<String>> {
        let block = self.owner.model_block();
        match part {
            Part::Oracle => self.owner.oracle(),
            Part::Checker => block?.checker.as_ref(),
            Part::Nemesis => block?.nemesis.as_ref(),
            Part::History => block?.history.as_ref(),
            Part::Ambiguous => block?.ambiguous.as_ref(),
        }
    }

    /// A field as a passage, read once for all rules.
    pub(super) fn passage(&self, part: Part) -> Option<&Passage<'p>> {
        let read = || self.part(part).map(|field| Passage::new(self.masked, field.span));
        self.passages[part as usize].get_or_init(read).as_ref()
    }
}

impl<'p> Deref for Case<'p> {
    type Target = Owner<'p>;

    fn deref(&self) -> &Owner<'p> {
        &self.owner
    }
}
