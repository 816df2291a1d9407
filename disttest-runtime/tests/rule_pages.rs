//! The pages of the rules: one each, whose bad example breaks the rule and whose good one does not.

use disttest_runtime::base::diagnostic::Severity;
use disttest_runtime::plan::{self, RULES, Rule};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the pages; `None` in a packaged crate, which does not have it.
fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../templates/rules");
    folder.is_dir().then_some(folder)
}

/// A page, taken apart.
struct Page {
    severity: String,
    base: String,
    what: String,
    why: String,
    bad: String,
    good: String,
}

fn page(folder: &Path, rule: &Rule) -> Page {
    let path = folder.join(format!("{}.md", rule.name));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let part = |from: &str, to: &str| {
        let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("{} has no `{from}`", path.display()));
        let end = if to.is_empty() {
            rest.len()
        } else {
            rest.find(to).unwrap_or_else(|| panic!("{} has no `{to}`", path.display()))
        };
        rest[..end].trim_matches('\n').to_owned()
    };
    assert!(text.starts_with(&format!("# {}\n", rule.name)), "{}", path.display());
    Page {
        severity: part(&format!("# {}\n", rule.name), "<!--"),
        base: part("<!-- ", " -->"),
        what: part("\n## What\n", "\n## Why\n"),
        why: part("\n## Why\n", "\n## Bad\n"),
        bad: excerpt(&part("\n## Bad\n", "\n## Good\n")),
        good: excerpt(&part("\n## Good\n", "")),
    }
}

/// What stands in the fence.
fn excerpt(part: &str) -> String {
    let (fence, rest) = part.split_once("markdown\n").expect("a fence opens");
    let body = rest.strip_suffix(fence).expect("the fence closes");
    body.trim_end_matches('\n').to_owned()
}

/// The sound plan that the excerpts belong to.
fn base(name: &str) -> Option<String> {
    let register = include_str!("../tests-data/plans/register.md");
    match name.strip_prefix("the rest of the plan: ")? {
        "register" => Some(register.to_owned()),
        "gateway" => Some(include_str!("../tests-data/plans/gateway.md").to_owned()),
        // The register whose writes have a business key.
        "register-idempotent" => {
            let keyed = "`linearizability` per key, and `exactly-once` keyed by the order number";
            let plan = register.replace("| durability |", "| idempotency |");
            Some(plan.replace("`linearizability` per key, and `no-lost-ack`", keyed))
        }
        // The register whose `Faults` leaves the names of its nemeses to §7.M.
        "register-cut" => {
            let named = "`asymmetric-data-cut` and `hard-kill` in turn";
            Some(register.replace(named, "a link is cut and a node is killed in turn"))
        }
        _ => None,
    }
}

/// The rules that a plan breaks, those about suppressions included.
fn broken(text: &str) -> BTreeSet<String> {
    let (plan, mut told) = plan::check(text);
    let (suppressions, wrong) = plan::suppressions(&plan, text);
    told.extend(wrong);
    let (kept, _) = plan::suppress(&suppressions, told);
    kept.into_iter().map(|diagnostic| diagnostic.rule).collect()
}

#[test]
fn every_rule_has_a_page_and_every_page_a_rule() {
    let Some(folder) = folder() else { return };
    let files = fs::read_dir(&folder).expect("the folder can be read");
    let pages: BTreeSet<String> = files
        .map(|file| file.expect("an entry").file_name().into_string().expect("a name in UTF-8"))
        .map(|name| name.strip_suffix(".md").unwrap_or(&name).to_owned())
        .collect();
    let rules: BTreeSet<String> = RULES.iter().map(|rule| rule.name.to_owned()).collect();
    assert_eq!(pages, rules);
    for rule in RULES {
        let page = page(&folder, rule);
        let article = match rule.severity {
            Severity::Error => "An error on ",
            Severity::Warning => "A warning on ",
            Severity::Note => "A note on ",
        };
        assert!(page.severity.starts_with(article), "{}: {}", rule.name, page.severity);
        assert_eq!(
            page.severity.contains("can neither be suppressed nor lowered"),
            rule.never_allowed,
            "{}",
            rule.name
        );
        assert!(page.what.len() > 20 && page.why.len() > 20 && page.bad != page.good, "{}", rule.name);
    }
}

#[test]
fn the_bad_example_of_a_page_breaks_its_rule_and_the_good_one_does_not() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    let mut sound = BTreeMap::new();
    for rule in RULES {
        let page = page(&folder, rule);
        // Two tables of hundreds of rows are no example; `lint/tests.rs` has them.
        let Some(plan) = base(&page.base) else {
            assert_eq!((page.base.as_str(), rule.name), ("too long to be run as it stands", "coverage-not-split"));
            continue;
        };
        if !plan.contains(&page.good) {
            wrong.push(format!("{}: the good example is no part of its plan", rule.name));
            continue;
        }
        sound.entry(page.base).or_insert_with(|| broken(&plan));
        let found = broken(&plan.replacen(&page.good, &page.bad, 1));
        if !found.contains(rule.name) {
            wrong.push(format!("{}: the bad example breaks {found:?}", rule.name));
        }
    }
    assert!(sound.values().all(BTreeSet::is_empty), "{sound:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
