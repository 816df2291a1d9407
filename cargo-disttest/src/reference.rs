//! What there is to know by name: rules, verdicts, models, checkers, nemeses, probes, anomalies. For `catalog` and
//! `explain`.

use crate::todo::{operations, snippets};
use disttest_runtime::plan::names::{CHECKERS, How, MODELS, NEMESES, Name, Nemesis, PICKER, SIGNALS, Side};
use disttest_runtime::plan::{RULES, Rule};
use include_dir::{Dir, include_dir};
use serde::Serialize;

static RULE_PAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../templates/rules");

const VERDICTS: &str = include_str!("../../templates/explain/verdicts.md");
const CHECKER_PAGES: &str = include_str!("../../templates/explain/checkers.md");
const MODEL_PAGES: &str = include_str!("../../templates/explain/models.md");
const NETWORK_NEMESES: &str = include_str!("../../templates/explain/nemeses-network.md");
const ANOMALIES: &str = include_str!("../../templates/explain/anomalies.md");

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Sequential specifications that checkers judge by
    Models,
    /// Checkers of histories
    Checkers,
    /// Faults
    Nemeses,
    /// Signals that prove a fault on the injector's side or on a victim's
    Probes,
    /// Rules of the plan format
    Rules,
    /// The ten verdicts
    Verdicts,
    /// Kinds of violation
    Anomalies,
}

impl Kind {
    /// All of them, in the order of `catalog`.
    pub(crate) const ALL: [Kind; 7] =
        [Kind::Models, Kind::Checkers, Kind::Nemeses, Kind::Probes, Kind::Rules, Kind::Verdicts, Kind::Anomalies];

    /// The word of the command line, and of one thing of this kind.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            Kind::Models => ("models", "model"),
            Kind::Checkers => ("checkers", "checker"),
            Kind::Nemeses => ("nemeses", "nemesis"),
            Kind::Probes => ("probes", "probe"),
            Kind::Rules => ("rules", "rule"),
            Kind::Verdicts => ("verdicts", "verdict"),
            Kind::Anomalies => ("anomalies", "anomaly"),
        }
    }
}

/// One thing with a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Entry {
    /// What it is.
    pub kind: Kind,
    /// As plans and reports spell it.
    pub name: String,
    /// Other spellings that plans may use.
    pub aliases: Vec<&'static str>,
    /// One line.
    pub what: String,
    /// True when this runtime has it; null where the question does not arise.
    pub available: Option<bool>,
    /// What it needs from a plan or a history, if anything.
    pub needs: Option<String>,
    /// What shows that it did its work, if anything does.
    pub evidence: Option<String>,
    /// Code that uses it.
    pub snippet: Option<String>,
    /// The page, as Markdown.
    pub page: String,
}

/// Everything of a kind, in the order of the format.
pub(crate) fn entries(kind: Kind) -> Vec<Entry> {
    match kind {
        Kind::Models => MODELS.iter().map(|name| named(kind, name, MODEL_PAGES)).collect(),
        Kind::Checkers => CHECKERS.iter().map(checker).collect(),
        Kind::Nemeses => NEMESES.iter().map(nemesis).collect(),
        Kind::Probes => SIGNALS.iter().map(probe).collect(),
        Kind::Rules => RULES.iter().map(rule).collect(),
        Kind::Verdicts => headings(VERDICTS).map(|name| plain(kind, name, VERDICTS)).collect(),
        Kind::Anomalies => headings(ANOMALIES).map(|name| plain(kind, name, ANOMALIES)).collect(),
    }
}

/// Everything of this name, whatever its case and kind; an alias counts as the name.
pub(crate) fn find(name: &str) -> Vec<Entry> {
    let wanted = name.trim().to_lowercase();
    let all = Kind::ALL.iter().flat_map(|kind| entries(*kind));
    all.filter(|e| e.name.to_lowercase() == wanted || e.aliases.contains(&wanted.as_str())).collect()
}

/// The names nearest to one that does not exist.
pub(crate) fn nearest(name: &str) -> Vec<String> {
    let wanted = name.trim().to_lowercase();
    let all = Kind::ALL.iter().flat_map(|kind| entries(*kind)).map(|entry| entry.name);
    let mut close: Vec<(f64, String)> =
        all.map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name)).filter(|(s, _)| *s > 0.8).collect();
    close.sort_by(|a, b| b.0.total_cmp(&a.0));
    close.into_iter().map(|(_, name)| name).take(3).collect()
}

fn named(kind: Kind, name: &Name, pages: &str) -> Entry {
    let page = section(pages, name.id).unwrap_or_default();
    let snippet = snippet_of(kind.words().1, name.id);
    Entry {
        kind,
        name: name.id.to_owned(),
        aliases: name.aliases.to_vec(),
        what: first_sentence(page),
        available: Some(snippet.is_some()),
        needs: paragraph(page, "Needs: "),
        evidence: None,
        page: with_snippet(page, snippet.as_deref()),
        snippet,
    }
}

fn checker(name: &Name) -> Entry {
    let entry = named(Kind::Checkers, name, CHECKER_PAGES);
    let rows = PICKER.iter().filter(|row| row.checkers.contains(&name.id));
    let fits: Vec<String> = rows.map(|row| format!("{} of a {}", row.category, any(row.model))).collect();
    let picked =
        if fits.is_empty() { String::new() } else { format!("\nThe picker recommends it for: {}.\n", fits.join(", ")) };
    Entry { page: entry.page.clone() + &picked, ..entry }
}

fn any(model: &str) -> &str {
    if model == "*" { "system of any model" } else { model }
}

fn nemesis(nemesis: &Nemesis) -> Entry {
    let name = &nemesis.name;
    let available = !nemesis.signals.is_empty();
    let origin = match nemesis.row {
        0 => "one of the runtime's own".to_owned(),
        row => format!("row {row} of the plan format's taxonomy"),
    };
    let what = format!("{} fault: {}", nemesis.group, name.id.replace('-', " "));
    let signals = match nemesis.signals {
        [] => "The runtime has no such nemesis yet: a scenario that names it stays NOT-RUN.".to_owned(),
        signals => format!("Injector signals that can prove it: {}.", signals.join(", ")),
    };
    let snippet = snippet_of("nemesis", name.id);
    let told = section(NETWORK_NEMESES, name.id).map(|page| format!("{}\n\n", page.trim())).unwrap_or_default();
    let how = How::of(name.id).map_or_else(String::new, |how| {
        format!("\nMechanism: {}.\n\nCleanup: {}.\n\nNeeds: {}.\n", how.mechanism, how.cleanup, how.needs)
    });
    let page = format!("{what} ({origin}).\n\n{told}Landing evidence: {}.\n\n{signals}\n{how}", nemesis.evidence);
    Entry {
        kind: Kind::Nemeses,
        name: name.id.to_owned(),
        aliases: name.aliases.to_vec(),
        what,
        available: Some(available),
        needs: available.then(|| {
            let host = How::of(name.id).map(|how| how.needs).filter(|needs| *needs != "nothing");
            let machine = section(NETWORK_NEMESES, name.id).and_then(|page| paragraph(page, "Needs: "));
            let signals = "a victim's signal beside the injector's".to_owned();
            host.map(str::to_owned).into_iter().chain(machine).fold(signals, |all, more| format!("{all}; {more}"))
        }),
        evidence: Some(nemesis.evidence.to_owned()),
        page: with_snippet(&page, snippet.as_deref()),
        snippet,
    }
}

fn probe(signal: &disttest_runtime::plan::names::Signal) -> Entry {
    let side = match signal.side {
        Side::Injector => "injector's side: shows that the fault was made",
        Side::Victim => "victim's side: shows that the fault was suffered",
    };
    let argument = if signal.argument { format!("{}:<what>", signal.name.id) } else { signal.name.id.to_owned() };
    let proves = NEMESES.iter().filter(|n| n.signals.contains(&signal.name.id)).map(|n| n.name.id);
    let proves: Vec<&str> = proves.collect();
    let proves = if proves.is_empty() { String::new() } else { format!("It can prove {}.\n", proves.join(", ")) };
    Entry {
        kind: Kind::Probes,
        name: signal.name.id.to_owned(),
        aliases: signal.name.aliases.to_vec(),
        what: side.to_owned(),
        available: Some(true),
        needs: signal.argument.then(|| format!("an argument: `{argument}`")),
        evidence: None,
        snippet: None,
        page: format!("A signal on the {side}. A plan writes it as `{argument}`.\n\n{proves}"),
    }
}

fn rule(rule: &Rule) -> Entry {
    let page = RULE_PAGES.get_file(format!("{}.md", rule.name)).and_then(|file| file.contents_utf8());
    let page = page.map(without_remarks).unwrap_or_else(|| format!("{}\n", rule.what));
    Entry { what: rule.what.to_owned(), ..plain_entry(Kind::Rules, rule.name, page) }
}

/// A page without the remarks at its head, which are for its tests. Comments in its examples are what they explain.
fn without_remarks(page: &str) -> String {
    let (head, body) = page.split_once("\n## ").unwrap_or((page, ""));
    let kept = head.lines().filter(|line| !(line.starts_with("<!--") && line.ends_with("-->")));
    let head = kept.collect::<Vec<_>>().join("\n");
    if body.is_empty() { head } else { format!("{}\n\n## {body}", head.trim_end()) }
}

fn plain(kind: Kind, name: &str, pages: &str) -> Entry {
    let page = section(pages, name).unwrap_or_default();
    plain_entry(kind, name, page.to_owned())
}

fn plain_entry(kind: Kind, name: &str, page: String) -> Entry {
    Entry {
        kind,
        name: name.to_owned(),
        aliases: Vec::new(),
        what: first_sentence(&page),
        available: None,
        needs: None,
        evidence: None,
        snippet: None,
        page,
    }
}

fn with_snippet(page: &str, snippet: Option<&str>) -> String {
    let page = page.trim_end();
    snippet.map_or_else(|| format!("{page}\n"), |code| format!("{page}\n\n```rust\n{}\n```\n", code.trim_end()))
}

fn headings(pages: &str) -> impl Iterator<Item = &str> {
    pages.lines().filter_map(|line| line.strip_prefix("## "))
}

/// The text under `## name`.
fn section<'t>(pages: &'t str, name: &str) -> Option<&'t str> {
    let start = format!("\n## {name}\n");
    let (_, rest) = pages.split_once(&start)?;
    Some(rest.split_once("\n## ").map_or(rest, |(section, _)| section).trim())
}

fn paragraph(page: &str, head: &str) -> Option<String> {
    let text = page.split("\n\n").find_map(|paragraph| paragraph.strip_prefix(head))?;
    let text = text.split(" Cannot detect:").next().unwrap_or(text);
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn first_sentence(page: &str) -> String {
    let text: String = page.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    text[..end].to_owned()
}

/// Code that makes the thing, as `todo` offers it; what has none is not in this runtime.
fn snippet_of(kind: &str, name: &str) -> Option<String> {
    match kind {
        "model" => Some(operations::ALL.iter().find(|one| one.model == name)?.constructor.to_owned()),
        "checker" => {
            let models = operations::ALL.iter().map(|one| one.model).chain(["other"]);
            models.into_iter().find_map(|model| operations::checker(name, Some(model), true))
        }
        _ => snippets::nemesis(name).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::plan::names;
    use disttest_runtime::verdict::Verdict;

    #[test]
    fn every_name_has_a_page_and_a_line() {
        for entry in Kind::ALL.iter().flat_map(|kind| entries(*kind)) {
            assert!(!entry.page.trim().is_empty() && !entry.what.is_empty(), "{:?} {}", entry.kind, entry.name);
        }
    }

    #[test]
    fn pages_of_rules_are_shown_without_the_remarks_for_their_tests() {
        for entry in entries(Kind::Rules) {
            assert!(!entry.page.contains("<!-- the rest of the plan"), "{}", entry.page);
            assert!(entry.page.contains("\n\n## What\n"), "{}", entry.page);
        }
        let page = entries(Kind::Rules).into_iter().find(|entry| entry.name == "unused-suppression").map(|e| e.page);
        assert!(page.is_some_and(|page| page.contains("<!-- disttest:allow(open-question-owner)")));
    }

    #[test]
    fn what_the_runtime_has_comes_with_code() {
        let has = |kind: Kind| entries(kind).into_iter().filter(|e| e.available == Some(true)).map(|e| e.name);
        assert_eq!(has(Kind::Models).collect::<Vec<_>>(), names::RUNTIME_MODELS);
        assert_eq!(has(Kind::Checkers).collect::<Vec<_>>(), names::RUNTIME_CHECKERS);
        let nemeses = entries(Kind::Nemeses);
        assert!(
            nemeses.iter().all(|e| e.available == Some(e.snippet.is_some())),
            "a nemesis and its snippet go together"
        );
    }

    #[test]
    fn pages_are_of_names_that_exist() {
        let verdicts: Vec<String> = Verdict::ALL.iter().map(|verdict| verdict.to_string()).collect();
        let mut pages: Vec<&str> = headings(VERDICTS).collect();
        assert_eq!(pages.len(), verdicts.len());
        pages.retain(|page| !verdicts.iter().any(|verdict| verdict == page));
        assert!(pages.is_empty(), "{pages:?}");
        assert!(headings(CHECKER_PAGES).all(|page| CHECKERS.iter().any(|name| name.id == page)));
        assert!(headings(MODEL_PAGES).all(|page| MODELS.iter().any(|name| name.id == page)));
    }

    #[test]
    fn names_are_found_whatever_their_case_and_by_alias() {
        let check = |name: &str, expect: &[(Kind, &str)]| {
            let found = find(name);
            let found: Vec<(Kind, &str)> = found.iter().map(|e| (e.kind, e.name.as_str())).collect();
            assert_eq!(found, expect, "{name}");
        };
        check("pass-SMOKE", &[(Kind::Verdicts, "PASS-smoke")]);
        check("kill -9", &[(Kind::Nemeses, "hard-kill")]);
        check("Porcupine", &[(Kind::Checkers, "linearizability")]);
        check("missing-oracle", &[(Kind::Rules, "missing-oracle")]);
        check("nothing", &[]);
        assert!(nearest("mising-oracle").contains(&"missing-oracle".to_owned()));
    }
}
