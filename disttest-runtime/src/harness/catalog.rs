//! The scenarios of a test binary: what the macros registered, sorted, checked and completed.

use super::{Registration, UnfilledRegion, budget};
use crate::plan::Category;
use crate::verdict::{Declared, DeclaredFault, Scope};
use std::collections::BTreeMap;

/// A scenario of this binary.
#[derive(Debug)]
pub(crate) struct Entry {
    /// What the macro registered.
    pub(crate) registration: &'static Registration,
    /// Test name: module path without the crate, and the function.
    pub(crate) name: String,
    /// What the attribute declared.
    pub(crate) declared: Declared,
    /// Regions that keep it from running, each with its place; its own and those of helpers in its file or module.
    pub(crate) unfilled: Vec<String>,
}

impl Entry {
    /// Why it is ignored, for a person; `None` when every region is filled.
    pub(crate) fn ignore_reason(&self) -> Option<String> {
        (!self.unfilled.is_empty()).then(|| format!("not filled: {}", self.unfilled.join(", ")))
    }
}

/// The test binary: package and crate name of its target, as `main!` saw them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binary {
    /// Package.
    pub(crate) package: &'static str,
    /// Crate name.
    pub(crate) target: &'static str,
}

/// Everything registered in this binary, sorted by name. Errors: no scenario at all, two of one name, or two of one id
/// in one plan.
pub(crate) fn catalog(binary: Binary) -> Result<Vec<Entry>, String> {
    build(binary, inventory::iter::<Registration>.into_iter(), inventory::iter::<UnfilledRegion>.into_iter())
}

/// [`catalog`] of given registrations.
pub(super) fn build(
    binary: Binary,
    registrations: impl Iterator<Item = &'static Registration>,
    regions: impl Iterator<Item = &'static UnfilledRegion>,
) -> Result<Vec<Entry>, String> {
    let regions: Vec<_> = regions.collect();
    let registrations: Vec<_> = registrations.collect();
    let owned = |region: &UnfilledRegion| {
        registrations.iter().any(|r| r.file == region.file && r.unfilled.iter().any(|(_, line)| *line == region.line))
    };
    let helper = |region: &'static UnfilledRegion| Helper { region, helps: module_helped(region, &registrations) };
    let helpers: Vec<Helper> = regions.into_iter().filter(|region| !owned(region)).map(helper).collect();
    let mut entries: Vec<Entry> = registrations.iter().map(|r| entry(binary, r, &helpers)).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    if entries.is_empty() {
        return Err(
            "no scenario is registered in this test binary: nothing would run, and nothing ran is no success. \
             Does each module with scenarios belong to it (`mod x;`), and each crate with scenarios (`use x as _;`)?"
                .to_owned(),
        );
    }
    duplicates(&entries, |entry| format!("name `{}`", entry.name))?;
    duplicates(&entries, |entry| format!("id {} of {}", entry.declared.id, entry.declared.plan))?;
    Ok(entries)
}

fn duplicates(entries: &[Entry], key: impl Fn(&Entry) -> String) -> Result<(), String> {
    let mut seen: BTreeMap<String, &Entry> = BTreeMap::new();
    for entry in entries {
        if let Some(first) = seen.insert(key(entry), entry) {
            let place = |entry: &Entry| format!("{}:{}", entry.registration.file, entry.registration.line);
            return Err(format!("two scenarios have the {}: {} and {}", key(entry), place(first), place(entry)));
        }
    }
    Ok(())
}

/// A region outside of scenarios. It blocks every scenario of its file and of the module it helps.
struct Helper {
    region: &'static UnfilledRegion,
    helps: Option<&'static str>,
}

fn entry(binary: Binary, registration: &'static Registration, helpers: &[Helper]) -> Entry {
    let place = |name: &str, file: &str, line: u32| format!("region `{name}` ({file}:{line})");
    let own = registration.unfilled.iter().map(|(name, line)| place(name, registration.file, *line));
    let blocks = |h: &&Helper| h.region.file == registration.file || h.helps == Some(registration.module);
    let of_helpers = helpers.iter().filter(blocks).map(|h| place(h.region.name, h.region.file, h.region.line));
    let unfilled = own.chain(of_helpers).collect();
    Entry { registration, name: test_name(registration), declared: declared(binary, registration), unfilled }
}

/// The module whose scenarios a helper's region belongs to: the nearest one around it that has any.
fn module_helped(region: &UnfilledRegion, registrations: &[&'static Registration]) -> Option<&'static str> {
    let around = |module: &&str| {
        region.module.strip_prefix(*module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    registrations.iter().map(|r| r.module).filter(around).max_by_key(|module| module.len())
}

/// The module path without the crate, and the function: what rust-analyzer and nextest call it.
fn test_name(registration: &Registration) -> String {
    match registration.module.split_once("::") {
        Some((_, inner)) => format!("{inner}::{}", registration.function),
        None => registration.function.to_owned(),
    }
}

fn declared(binary: Binary, registration: &Registration) -> Declared {
    let owned = |list: &[&str]| list.iter().map(|item| (*item).to_owned()).collect();
    // An arm's function is `<scenario>__<arm>` (D4).
    let is_arm = registration.id.contains('/');
    let name = registration.function.rsplit_once("__").filter(|_| is_arm).map_or(registration.function, |(s, _)| s);
    Declared {
        id: registration.id.to_owned(),
        name: name.to_owned(),
        test: test_name(registration),
        plan: registration.plan.to_owned(),
        scenario_sha256: registration.scenario_sha256.to_owned(),
        falsifies: registration
            .falsifies
            .iter()
            .map(|(claim, words)| ((*claim).to_owned(), words.iter().map(|word| category(word)).collect()))
            .collect(),
        model: registration.model.map(str::to_owned),
        checkers: registration
            .checkers
            .iter()
            .map(|(checker, per_key)| ((*checker).to_owned(), if *per_key { Scope::PerKey } else { Scope::Whole }))
            .collect(),
        fault: match registration.no_fault {
            Some(reason) if registration.nemeses.is_empty() => DeclaredFault::None { reason: reason.to_owned() },
            _ => DeclaredFault::Planned {
                nemeses: owned(registration.nemeses),
                injector: owned(registration.landing.injector),
                victim: owned(registration.landing.victim),
            },
        },
        budgets: registration.budgets.as_ref().map(budget::budgets),
        shares_nothing: registration.shares_nothing,
        package: binary.package.to_owned(),
        target: binary.target.to_owned(),
        surface: registration.surface.map(str::to_owned),
        negative_controls: owned(registration.negative_controls),
    }
}

/// A word outside the vocabulary gates like `safety`.
fn category(word: &str) -> Category {
    Category::ALL.into_iter().find(|category| category.as_str() == word).unwrap_or(Category::Safety)
}
