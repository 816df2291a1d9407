//! The rows of §7b as rules look at them: their ids and letters, read once.
//!
//! A row of ten bytes may name a hundred claims by a range, so that only what the rules ask for is kept.

use super::{Context, SHOWN, enumerated, enumerated_of};
use crate::plan::Id;
use crate::plan::model::{Row, Scenario};
use crate::plan::parse::ids_in;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::HashMap;

/// Column of the threats.
pub(super) const THREATS: &str = "Threat model (how it could fail)";
/// Column of the scenarios.
pub(super) const SCENARIOS: &str = "Scenarios that exercise the threats";

/// All rows.
pub(super) struct Arguments<'p> {
    /// In order.
    pub(super) rows: Vec<Argument<'p>>,
    /// Numbers of all scenarios that a row names.
    pub(super) scenarios: FxHashSet<u32>,
    claims: FxHashSet<u32>,
}

/// One row.
pub(super) struct Argument<'p> {
    /// As it was read.
    pub(super) row: &'p Row,
    /// It names a scenario.
    pub(super) names_scenario: bool,
    /// §7c or §8 names each of its claims.
    pub(super) admitted: bool,
    /// Letters of the threats.
    pub(super) threats: Letters,
    /// Letters behind the scenarios.
    pub(super) tagged: Letters,
    /// The scenarios that falsify none of its claims, if there are any.
    pub(super) idle: Option<Idle>,
    /// The first of its claims, and how many there are.
    claims: (Vec<Id>, usize),
}

/// Scenarios of a row that falsify none of its claims.
pub(super) struct Idle {
    /// The first.
    pub(super) first: Id,
    /// How many.
    pub(super) count: usize,
    /// Their names.
    pub(super) names: String,
}

impl<'p> Arguments<'p> {
    /// Reads every row. Time about linear in the text, with a factor for what its ranges stand for.
    pub(super) fn new(context: &Context<'p>) -> Arguments<'p> {
        let deeds = Deeds::new(&context.plan.scenarios);
        let (named, admitted) = (Named::new(&context.plan.scenarios), admitted(context));
        let mut all = Arguments { rows: Vec::new(), scenarios: FxHashSet::default(), claims: FxHashSet::default() };
        for row in &context.plan.adequacy {
            let claims = ids_in(row.cell("Claim"), 'C');
            let scenarios = named.ids(row.cell(SCENARIOS));
            all.claims.extend(claims.iter().map(Id::rank));
            all.scenarios.extend(scenarios.iter().map(Id::rank));
            let names_scenario = !scenarios.is_empty();
            let idle = deeds.idle(context, &claims, scenarios);
            let count = claims.len();
            all.rows.push(Argument {
                row,
                names_scenario,
                admitted: claims.iter().all(|claim| admitted.contains(claim)),
                threats: Letters::of(row.cell(THREATS), true),
                tagged: Letters::of(row.cell(SCENARIOS), false),
                idle,
                claims: (claims.into_iter().take(SHOWN).collect(), count),
            });
        }
        all
    }

    /// True when a row argues for this claim.
    pub(super) fn has(&self, claim: &Id) -> bool {
        claim.letter() == 'C' && self.claims.contains(&claim.rank())
    }
}

impl Argument<'_> {
    /// The claims of the row as it writes them.
    pub(super) fn subject(&self) -> String {
        let (first, count) = &self.claims;
        if first.is_empty() { "a row".to_owned() } else { enumerated_of(first, *count) }
    }
}

/// The claims that §7c or §8 names.
fn admitted(context: &Context<'_>) -> FxHashSet<Id> {
    let plan = context.plan;
    let residual = plan.residual.iter().flat_map(|row| &row.cells).map(|(_, cell)| cell.as_str());
    let texts = residual.chain(plan.not_covered.iter().map(|text| text.value.as_str()));
    texts.flat_map(|text| ids_in(text, 'C')).collect()
}

/// The scenarios that a plan names in §7b: by id, or by the name of the scenario.
struct Named<'p>(HashMap<&'p str, &'p Id>);

impl<'p> Named<'p> {
    fn new(scenarios: &'p [Scenario]) -> Named<'p> {
        // A short name may be any word.
        let told = scenarios.iter().filter(|s| s.name.value.len() > 7 && s.name.value.contains('_'));
        Named(told.map(|s| (s.name.value.as_str(), &s.id.value)).collect())
    }

    /// Those of a cell.
    fn ids(&self, cell: &str) -> Vec<Id> {
        let mut found = ids_in(cell, 'S');
        if self.0.is_empty() {
            return found;
        }
        let word = |c: char| !(c.is_alphanumeric() || c == '_');
        let name = |word: &str| self.0.get(word).or_else(|| self.0.get(word.strip_prefix("S_")?)).copied();
        found.extend(cell.split(word).filter(|word| word.contains('_')).filter_map(name).cloned());
        found
    }
}

/// Which claims each scenario falsifies, by number, ascending.
struct Deeds<'p> {
    of: FxHashMap<&'p Id, Vec<u32>>,
    anywhere: FxHashSet<u32>,
}

impl<'p> Deeds<'p> {
    fn new(scenarios: &'p [Scenario]) -> Deeds<'p> {
        let mut of: FxHashMap<&Id, Vec<u32>> = FxHashMap::default();
        for scenario in scenarios {
            let claims = scenario.falsifies.iter().map(|id| &id.value).filter(|id| id.letter() == 'C');
            of.entry(&scenario.id.value).or_default().extend(claims.map(Id::rank));
        }
        of.values_mut().for_each(|claims| claims.sort_unstable());
        let anywhere = of.values().flatten().copied().collect();
        Deeds { of, anywhere }
    }

    /// Those of `scenarios` that falsify none of `claims`. What no scenario falsifies is told as such, and counts for
    /// nothing here.
    fn idle(&self, context: &Context<'_>, claims: &[Id], mut scenarios: Vec<Id>) -> Option<Idle> {
        if !claims.iter().any(|id| self.anywhere.contains(&id.rank())) {
            return None;
        }
        let claims = runs(claims.iter().map(Id::rank).collect());
        scenarios.retain(|id| {
            let deeds = context.scenario(id).and_then(|scenario| self.of.get(&scenario.id.value));
            deeds.is_some_and(|deeds| !meet(deeds, &claims))
        });
        scenarios.sort();
        scenarios.dedup();
        let first = scenarios.first()?.clone();
        Some(Idle { first, count: scenarios.len(), names: enumerated(&scenarios) })
    }
}

/// Numbers as runs of neighbours, ascending: a range of a hundred claims is one.
fn runs(mut numbers: Vec<u32>) -> Vec<(u32, u32)> {
    numbers.sort_unstable();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if number - *last <= 1 => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}

/// True when one of `numbers`, ascending, lies in one of `runs`. As many steps as the shorter of the two has entries,
/// with a search in the longer for each: a row with a thousand claims and a thousand scenarios costs no million.
fn meet(numbers: &[u32], runs: &[(u32, u32)]) -> bool {
    if numbers.len() < runs.len() {
        let run = |number: &u32| runs.get(runs.partition_point(|(_, last)| last < number));
        return numbers.iter().any(|number| run(number).is_some_and(|(first, _)| first <= number));
    }
    let number = |first: u32| numbers.get(numbers.partition_point(|number| *number < first));
    runs.iter().any(|(first, last)| number(*first).is_some_and(|number| number <= last))
}

/// A set of the letters `a` to `z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Letters(u32);

impl Letters {
    /// The letters in parentheses of a text: `(a)(b)`, `(a, c)`, `(a–c)`; `bare`: also `a)` at the start of a clause.
    pub(super) fn of(text: &str, bare: bool) -> Letters {
        let mut found = Letters::default();
        if !text.contains(['(', '[', ')']) {
            return found;
        }
        let flat = text.to_lowercase().replace(['*', '`', '_'], "");
        for (open, _) in flat.match_indices(['(', '[']) {
            let inner = &flat[open + 1..];
            let end = inner.char_indices().take(24).find(|(_, c)| ")]".contains(*c)).map(|(at, _)| at);
            let end = end.unwrap_or_else(|| inner.char_indices().nth(24).map_or(inner.len(), |(at, _)| at));
            let words = inner[..end].split(|c: char| c.is_whitespace() || ",/;+&".contains(c));
            let words = words.filter(|word| !word.is_empty() && *word != "and");
            let all: Option<u32> = words.map(Letters::word).try_fold(0, |all, word| Some(all | word?.0));
            found.0 |= all.unwrap_or(0);
        }
        if bare {
            let mut start = true;
            let mut chars = flat.chars().peekable();
            while let Some(c) = chars.next() {
                if start && c.is_ascii_lowercase() && chars.peek() == Some(&')') {
                    found.0 |= Letters::span(c, c);
                }
                start = ",;.\n".contains(c) || (start && c.is_whitespace());
            }
        }
        found
    }

    /// `a`, `a–c`.
    fn word(word: &str) -> Option<Letters> {
        let mut chars = word.chars().filter(|c| !"().".contains(*c));
        let letter = |c: char| c.is_ascii_lowercase();
        match [chars.next(), chars.next(), chars.next(), chars.next()] {
            [Some(one), None, ..] if letter(one) => Some(Letters(Letters::span(one, one))),
            [Some(from), Some('-' | '–'), Some(to), None] if letter(from) && from < to && letter(to) => {
                Some(Letters(Letters::span(from, to)))
            }
            _ => None,
        }
    }

    fn span(from: char, to: char) -> u32 {
        (from..=to).map(|c| 1 << (u32::from(c) - u32::from('a'))).sum()
    }

    /// There is none.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those that `others` has not.
    pub(super) fn without(self, others: Letters) -> Letters {
        Letters(self.0 & !others.0)
    }

    /// `(a), (b)`.
    pub(super) fn spelt(self) -> String {
        let all = ('a'..='z').filter(|c| self.0 & Letters::span(*c, *c) != 0);
        all.map(|c| format!("({c})")).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_threats_are_read_in_every_form() {
        let check = |text: &str, expect: &str| {
            let found: String = Letters::of(text, true).spelt().replace(['(', ')', ',', ' '], "");
            assert_eq!(found, expect, "{text}");
        };
        check("(a) stale read (b) lost write", "ab");
        check("S1 (a)(b), S2 (c)", "abc");
        check("S1 (a, c)", "ac");
        check("S1 (a–c); S2 (d/e)", "abcde");
        check("S1 (a) full partition of n1", "a");
        check("a) one, b) two", "ab");
        check("S1 (variants A + B)", "");
        check("S1 (real fault), S2 (1)", "");
        check("a claim (see b)", "");
    }

    proptest::proptest! {
        #[test]
        fn numbers_meet_runs_when_one_is_in_both(
            mut numbers in proptest::collection::vec(0_u32..60, 0..12),
            claims in proptest::collection::vec(0_u32..60, 0..12),
        ) {
            let expect = numbers.iter().any(|number| claims.contains(number));
            numbers.sort_unstable();
            proptest::prop_assert_eq!(meet(&numbers, &runs(claims)), expect);
        }
    }
}
