//! The text of a new plan: the template of its mode with the facts filled in. What comes from the repository is made
//! inert first: it can neither open a heading, a comment or a table, nor pass for a placeholder.

use super::history::{MOST_FILES, Touched};
use super::inventory::Harness;
use super::language::Language;
use super::tools::Tool;
use super::{Facts, crates::Crate, tools};
use crate::author::prose::one_line;
use disttest_runtime::plan::{self, PlanMode};
use disttest_runtime::report::escape;
use std::path::Path;

const CHANGE: &str = include_str!("../../../templates/plan/change-scoped.md");
const PROJECT: &str = include_str!("../../../templates/plan/project-wide.md");
/// More crates than this are counted in §0, which has thirty lines.
const MOST_CRATES: usize = 12;
/// More rows than this make no readable §3.
pub(crate) const MOST_HARNESSES: usize = 60;
/// Words that make a scenario's name speak of a boundary, which needs surfaces (format §1.9).
const BOUNDARY: [&str; 12] = [
    "routing",
    "multitenant",
    "tenant",
    "blast",
    "cell",
    "region",
    "shard",
    "namespace",
    "zone",
    "replica-set",
    "placement-pool",
    "failure-domain",
];

/// What the plan is for.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    /// Its slug, checked.
    pub slug: &'a str,
    /// Its mode.
    pub mode: PlanMode,
    /// The system, if its name was given.
    pub sut: Option<&'a str>,
    /// Today.
    pub date: &'a str,
    /// The repository's folder, canonical.
    pub root: &'a Path,
    /// The plan's path as tests will name it.
    pub plan: String,
    /// The package that the tests go to, by `-p`.
    pub package: Option<&'a str>,
}

/// The plan. Its first scenario has the name of the slug, unless that makes no name for a scenario.
pub(crate) fn render(wanted: &Wanted<'_>, facts: &Facts) -> String {
    let template = if wanted.mode == PlanMode::ProjectWide { PROJECT } else { CHANGE };
    let named =
        |name: &str| fill(template, |key| if key == "scenario" { name.to_owned() } else { value(wanted, facts, key) });
    let name = wanted.slug.replace('-', "_");
    let text = named(&name);
    if speaks_of_a_boundary(wanted.slug) || is_blamed(&text) {
        return named("{{claim_shaped_snake_case_name}}");
    }
    text
}

/// True when a rule speaks of the name of the first scenario.
fn is_blamed(text: &str) -> bool {
    let (plan, told) = plan::check(text);
    let name = plan.scenarios.first().map(|scenario| scenario.name.span);
    told.iter().any(|told| Some(told.span) == name)
}

fn value(wanted: &Wanted<'_>, facts: &Facts, key: &str) -> String {
    let snake = wanted.slug.replace('-', "_");
    let home = home(wanted, facts);
    let package = home.and_then(|one| one.root.strip_prefix(wanted.root).ok());
    let package = package.map(|path| path.to_string_lossy().replace('\\', "/")).unwrap_or_default();
    const SECOND: &str = "every_healthy_node_serves";
    match key {
        "slug" => wanted.slug.to_owned(),
        "date" => wanted.date.to_owned(),
        "sut" => sut(wanted, facts),
        "change" => change(facts),
        "author" => author(facts),
        "components" => components(wanted, facts),
        "files" => files(facts),
        "scope" => scope(wanted, facts),
        "subsystems" => subsystems(facts),
        "inventory" if wanted.mode == PlanMode::ProjectWide => rows(&facts.inventory, facts.more_harnesses),
        "inventory" => section_of_inventory(facts),
        "environment" => environment(wanted, facts),
        "target" => facts.language.target(&package, "S1", &snake),
        "target2" => facts.language.target(&package, "S2", SECOND),
        "language" => facts.language.word().to_owned(),
        "skeleton" => skeleton(facts.language, &wanted.plan, "S1", &snake, "C1"),
        "skeleton2" => skeleton(facts.language, &wanted.plan, "S2", SECOND, "C2"),
        key => unreachable!("the template has no key {key}"),
    }
}

/// Replaces each `<<key>>` of `template`. Values are not looked at again.
pub(crate) fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("<<") {
        let (key, tail) = after.split_once(">>").expect("a key of a template is closed");
        out.push_str(before);
        out.push_str(&value(key));
        rest = tail;
    }
    out + rest
}

/// Text of the repository as inline Markdown.
fn inert(text: &str) -> String {
    let short: String = text.chars().take(200).collect();
    escape::inline(&short).replace("{{", "{ {").replace("}}", "} }")
}

/// A path or a name of the repository as a code span, in a table as well.
fn code(text: &str) -> String {
    escape::code(text).replace('|', "\\|").replace("{{", "{ {").replace("}}", "} }").replace("<!--", "< !--")
}

/// The package whose folder the tests go to: the one that was named, else the one that was touched most, else one
/// with a binary.
fn home<'f>(wanted: &Wanted<'_>, facts: &'f Facts) -> Option<&'f Crate> {
    if let Some(name) = wanted.package {
        return facts.crates.named(name);
    }
    let root = facts.history.as_ref().map(|history| history.root.as_path());
    let touched = |one: &Crate| {
        let files = facts.history.iter().flat_map(|history| &history.touched);
        files
            .filter(|file| {
                root.is_some_and(|root| {
                    facts.crates.holding(&root.join(&file.path)).is_some_and(|c| c.name == one.name)
                })
            })
            .count()
    };
    let change = wanted.mode == PlanMode::ChangeScoped;
    let by = |one: &&Crate| {
        (if change { touched(one) } else { 0 }, !one.bins.is_empty(), std::cmp::Reverse(one.name.clone()))
    };
    facts.crates.all.iter().max_by_key(by)
}

fn sut(wanted: &Wanted<'_>, facts: &Facts) -> String {
    if let Some(name) = wanted.sut {
        return inert(name);
    }
    let root = facts.crates.all.iter().find(|one| one.root == wanted.root).or(home(wanted, facts));
    let described = |one: &Crate| match &one.description {
        Some(description) => format!("{}, {}", inert(&one.name), inert(description)),
        None => format!("{}, {{{{what it is, in a few words}}}}", inert(&one.name)),
    };
    root.map(described).unwrap_or_else(|| {
        let folder = wanted.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        format!("{}, {{{{what it is, in a few words}}}}", inert(&folder))
    })
}

fn change(facts: &Facts) -> String {
    let Some(history) = &facts.history else {
        return "not in git; {{commit or PR link}}".to_owned();
    };
    let branch = history.branch.as_deref().map(|branch| format!(" on {}", inert(branch))).unwrap_or_default();
    match &history.commit {
        Some(commit) => format!("{commit}{branch}, compared with {}; {{{{PR link}}}}", inert(&history.base)),
        None => format!("not committed yet{branch}; {{{{PR link}}}}"),
    }
}

fn author(facts: &Facts) -> String {
    let name = facts.history.as_ref().and_then(|history| history.author.as_deref());
    name.map_or_else(|| "an agent or a human: {{name}}".to_owned(), inert)
}

fn components(wanted: &Wanted<'_>, facts: &Facts) -> String {
    let mut lines: Vec<String> = facts.crates.all.iter().take(MOST_CRATES).map(component).collect();
    let more = facts.crates.all.len().saturating_sub(MOST_CRATES);
    if more > 0 {
        lines.push(format!("- {more} crates more: {{{{which of them matter here}}}}"));
    }
    if lines.is_empty() {
        let folder = wanted.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        lines.push(format!("- {}: {{{{major components}}}}", code(&folder)));
    }
    lines.join("\n")
}

fn component(one: &Crate) -> String {
    let kinds = if one.kinds.is_empty() { String::new() } else { format!(" ({})", inert(&one.kinds.join(", "))) };
    let what = one.description.as_deref().map_or_else(|| "{{what it does}}".to_owned(), inert);
    format!("- {}{kinds}: {what}", code(&one.name))
}

fn files(facts: &Facts) -> String {
    let Some(history) = facts.history.as_ref().filter(|history| !history.touched.is_empty()) else {
        return "- `{{path}}` — {{what changed}}".to_owned();
    };
    let bullet = |file: &Touched| format!("- {} — {}: {{{{what changed}}}}", code(&file.path), file.how.word());
    let mut lines: Vec<String> = history.touched.iter().take(MOST_FILES).map(bullet).collect();
    let more = history.touched.len().saturating_sub(MOST_FILES);
    if more > 0 {
        lines.push(format!("- {more} files more: {{{{which, and what changed}}}}"));
    }
    lines.join("\n")
}

fn scope(wanted: &Wanted<'_>, facts: &Facts) -> String {
    let bullet = |one: &Crate| {
        let path = one.root.strip_prefix(wanted.root).ok().map(|path| path.to_string_lossy().replace('\\', "/"));
        let path = path.filter(|path| !path.is_empty()).map(|path| format!(", {}", code(&path))).unwrap_or_default();
        format!("- {}{path} — {{{{in scope or not, and what of it}}}}", code(&one.name))
    };
    match facts.crates.all.as_slice() {
        [] => "- {{subsystem}} — {{what of it}}".to_owned(),
        all => all.iter().map(bullet).collect::<Vec<_>>().join("\n"),
    }
}

/// Inside of a placeholder.
fn subsystems(facts: &Facts) -> String {
    let plain = |one: &Crate| inert(&one.name).replace(['{', '}'], "");
    let names: Vec<String> = facts.crates.all.iter().take(MOST_CRATES).map(plain).collect();
    if names.is_empty() { "subsystem".to_owned() } else { format!("subsystem: {}", names.join(", ")) }
}

/// A change-scoped plan has §3 only where something touched has tests (D1).
fn section_of_inventory(facts: &Facts) -> String {
    let Some(history) = &facts.history else { return String::new() };
    let touched: Vec<&str> = history
        .touched
        .iter()
        .filter_map(|file| facts.crates.holding(&history.root.join(&file.path)))
        .map(|one| one.name.as_str())
        .collect();
    let near: Vec<Harness> =
        facts.inventory.iter().filter(|one| touched.contains(&one.subsystem.as_str())).cloned().collect();
    if near.is_empty() {
        return String::new();
    }
    format!(
        "\n## 3. Existing test inventory\n\n\
         | Test / harness | Subsystem | Invariant pinned | Failure modes it catches |\n|---|---|---|---|\n{}\n",
        rows(&near, 0)
    )
}

fn rows(inventory: &[Harness], more: usize) -> String {
    if inventory.is_empty() {
        return "| (none) | whole repository | no test was found | none |".to_owned();
    }
    let mut lines: Vec<String> = inventory.iter().map(row).collect();
    if more > 0 {
        lines.push(format!(
            "| {more} more | whole repository | {{{{which of them matter here}}}} | {{{{failure modes}}}} |"
        ));
    }
    lines.join("\n")
}

fn row(one: &Harness) -> String {
    let subsystem = if one.subsystem.is_empty() { "whole repository".to_owned() } else { inert(&one.subsystem) };
    let pinned = match (&one.says, one.tests.as_slice()) {
        (Some(says), _) => inert(says),
        (None, []) => "{{invariant}}".to_owned(),
        (None, tests) => {
            let named: Vec<String> = tests.iter().take(3).map(|test| code(test)).collect();
            let more = tests.len().saturating_sub(3);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}: {{{{invariant}}}}", named.join(", "))
        }
    };
    format!("| {} ({}) | {subsystem} | {pinned} | {{{{failure modes}}}} |", code(&one.path), inert(&one.what))
}

fn environment(wanted: &Wanted<'_>, facts: &Facts) -> String {
    let mut lines = Vec::new();
    if facts.language == Language::Rust {
        let floor = tools::rust().map_or_else(|| "{{version}}".to_owned(), |text| format!("{} is here", inert(&text)));
        lines.push(format!("| Rust toolchain | {floor} | S1 | https://rustup.rs |"));
    }
    let bins = home(wanted, facts).map(|one| one.bins.as_slice()).unwrap_or_default();
    lines.extend(bins.iter().map(|bin| format!("| {} | – | S1 | brought up by SUT |", code(bin))));
    lines.extend(facts.tools.iter().map(tool));
    lines.push("| {{another requirement, or delete this row}} | {{version}} | S1 | {{install hint}} |".to_owned());
    lines.join("\n")
}

fn tool(tool: &Tool) -> String {
    let floor = match tool.version.as_deref() {
        None => "not found here; {{version}}".to_owned(),
        Some("") => "found here; {{version}}".to_owned(),
        Some(version) => format!("{} is here", inert(version)),
    };
    format!("| {} (seen in {}) | {floor} | S1 | {} |", tool.name, inert(&tool.because), tool.install)
}

fn speaks_of_a_boundary(slug: &str) -> bool {
    let singular: Vec<&str> = slug.split('-').map(|word| word.strip_suffix('s').unwrap_or(word)).collect();
    let padded = format!("-{slug}-{}-", singular.join("-"));
    BOUNDARY.iter().any(|word| padded.contains(&format!("-{word}-")))
}

/// Indented two blanks, so that it belongs to its bullet.
fn skeleton(language: Language, plan: &str, id: &str, name: &str, claims: &str) -> String {
    let text = fill(language.skeleton().trim_end(), |key| match key {
        "plan" => one_line(plan).replace('`', ""),
        "id" => id.to_owned(),
        "scenario" | "function" => name.to_owned(),
        "claims" => claims.to_owned(),
        key => unreachable!("the skeleton has no key {key}"),
    });
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("  {line}") };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::history::{History, How};
    use super::*;

    fn wanted(slug: &str, mode: PlanMode) -> Wanted<'_> {
        Wanted {
            slug,
            mode,
            sut: None,
            date: "2026-11-30",
            root: Path::new("/w"),
            plan: format!("docs/testing-plans/{slug}.md"),
            package: None,
        }
    }

    /// Everything of which the text is somebody else's, and bad.
    fn hostile() -> Facts {
        let evil = "x | y <!-- `z\n## 7. Scenarios\n### Scenario S9: evil\n| a | {{b}} \u{1b}[31m\u{202e}";
        let one = Crate {
            name: evil.to_owned(),
            description: Some(evil.to_owned()),
            root: "/w/x".into(),
            kinds: vec![evil.to_owned()],
            bins: vec![evil.to_owned()],
            ..Crate::default()
        };
        let harness = Harness {
            path: evil.to_owned(),
            what: evil.to_owned(),
            subsystem: evil.to_owned(),
            says: Some(evil.to_owned()),
            tests: vec![evil.to_owned()],
        };
        Facts {
            crates: crate::new::crates::Crates { root: Some("/w".into()), all: vec![one] },
            history: Some(History {
                root: "/w".into(),
                author: Some(evil.to_owned()),
                commit: Some("0123456789ab".to_owned()),
                branch: Some(evil.to_owned()),
                base: evil.to_owned(),
                base_id: String::new(),
                touched: vec![Touched { path: format!("x/{evil}"), how: How::Modified }],
            }),
            inventory: vec![harness.clone(), Harness { says: None, ..harness }],
            more_harnesses: 3,
            tools: vec![Tool { name: "etcd", because: evil.to_owned(), version: Some(evil.to_owned()), install: "x" }],
            language: Language::Rust,
        }
    }

    #[test]
    fn what_is_written_breaks_no_rule_but_those_about_placeholders() {
        for mode in [PlanMode::ChangeScoped, PlanMode::ProjectWide] {
            for (name, facts) in [("empty", Facts::default()), ("hostile", hostile())] {
                let text = render(&wanted("no-lost-acks", mode), &facts);
                let (plan, told) = plan::check(&text);
                let other: Vec<_> =
                    told.iter().filter(|d| !["placeholder", "filler-row"].contains(&&*d.rule)).collect();
                assert!(other.is_empty(), "{name} {mode:?}: {other:#?}\n{text}");
                let wide = mode == PlanMode::ProjectWide;
                assert_eq!((plan.header.mode, plan.scenarios.len()), (mode, if wide { 2 } else { 1 }), "{name}");
                assert_eq!(plan.claims.len(), plan.hypotheses.len());
                assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{name}");
                assert!(told.len() > 30 && plan::is_a_plan(&plan));
            }
        }
    }

    #[test]
    fn every_scenario_resolves_whole() {
        let (plan, _) = plan::parse(&render(&wanted("no-lost-acks", PlanMode::ProjectWide), &Facts::default()));
        for scenario in &plan.scenarios {
            let (resolved, told) = plan::resolve(&plan, scenario);
            assert!(told.is_empty(), "{told:?}");
            assert_ne!(resolved.fault, plan::Fault::Unresolved);
            assert!(resolved.budgets.is_some() && scenario.target.is_some() && scenario.skeleton.is_some());
        }
        assert_eq!(plan.scenarios[0].name.value, "no_lost_acks");
    }

    #[test]
    fn a_placeholder_ends_on_its_line_so_that_it_is_found() {
        for template in [CHANGE, PROJECT] {
            for line in template.lines() {
                assert_eq!(line.matches("{{").count(), line.matches("}}").count(), "{line}");
            }
        }
    }

    #[test]
    fn the_sentences_of_the_format_stand_there_to_the_letter() {
        for text in [CHANGE, PROJECT] {
            let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for sentence in [
                "the docs and code appear aligned on every behavior the plan exercised.",
                "the plan exercises every claim under at least one realistic threat; the only residual uncertainty is \
                 bug density we cannot quantify.",
                "All aspects rated `high`.",
                "§7.M.S: not applicable (no boundary or fairness claim falsified)",
            ] {
                assert!(flat.contains(sentence), "{sentence}");
            }
        }
        assert!(PROJECT.contains("\n§7.M: not applicable (no gated claim category falsified)\n"));
    }

    #[test]
    fn a_slug_that_speaks_of_a_boundary_is_no_name_of_a_scenario_without_surfaces() {
        let check = |slug: &str, expect: bool| assert_eq!(speaks_of_a_boundary(slug), expect, "{slug}");
        check("shard-splits-keep-writes", true);
        check("split-of-shards", true);
        check("a-replica-set-elects", true);
        check("replicas-converge", false);
        check("regional", false);
        assert!(
            render(&wanted("shards-keep-writes", PlanMode::ChangeScoped), &Facts::default())
                .contains("S1: {{claim_shaped")
        );
        check("no-lost-acks", false);
    }

    #[test]
    fn skeletons_of_every_language_start_with_the_header() {
        for language in [Language::Rust, Language::Go, Language::Python, Language::TypeScript] {
            let text = skeleton(language, "docs/p.md", "S1", "no_lost_acks", "C1");
            for part in [
                "AUTO-GENERATED from test plan: docs/p.md",
                "Scenario: S1 no_lost_acks",
                "Falsifies: C1 (see",
                "3. Oracle — from",
            ] {
                assert!(text.contains(part), "{language:?}: {part}");
            }
            assert!(text.lines().all(|line| line.is_empty() || line.starts_with("  ")));
        }
    }
}
