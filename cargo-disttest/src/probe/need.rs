//! The rows of §6b as needs.

use super::known::{self, Known};
use disttest_runtime::plan::{Plan, Row};

/// A requirement of the plan.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    /// As the plan writes it.
    pub requirement: String,
    /// Its `Version floor` cell.
    pub floor: String,
    /// Its `Used by scenarios` cell, ids only where there are some, else the words.
    pub used_by: String,
    /// Its `Install hint` cell.
    pub hint: String,
    /// The system under test brings it up itself.
    pub bundled: bool,
    /// What it names that we know how to look for. Any of them is enough when `any`, else all are needed.
    pub known: Vec<&'static Known>,
    /// The row says `or` between alternatives.
    pub any: bool,
    /// Words in backticks, which may be programs.
    pub quoted: Vec<String>,
}

/// What a plan needs, in its order.
pub(crate) fn needs(plan: &Plan) -> Vec<Need> {
    plan.environment.iter().map(need).collect()
}

/// Why there are no needs, when that is not because the plan says that it has none.
pub(crate) fn unread(plan: &Plan, text: &str) -> Option<&'static str> {
    if !plan.environment.is_empty() {
        return None;
    }
    let Some(section) = plan.sections.iter().find(|section| section.number == "6b") else {
        return Some("the plan has no §6b, so that nothing is known of what it requires");
    };
    let said = text.get(section.span.start..section.span.end).unwrap_or_default();
    let body = said.split_once('\n').map_or("", |(_, body)| body).trim().to_lowercase();
    let none = ["none", "nothing", "n/a", "not applicable", "no requirement"].iter().any(|word| body.starts_with(word));
    (!none).then_some("§6b has no table of requirements that can be read")
}

fn need(row: &Row) -> Need {
    let cell = |column: &str| row.cell(column).trim().to_owned();
    let requirement = cell("Requirement");
    let whole = row.cells.iter().map(|(_, text)| text.to_lowercase()).collect::<Vec<_>>().join(" | ");
    let bundled = ["brought up by sut", "brought up by the sut", "bundled with the sut", "bundled by sut"];
    let lower = requirement.to_lowercase();
    Need {
        bundled: bundled.iter().any(|words| whole.contains(words)),
        known: known::named_in(&requirement),
        any: lower.contains(" or ") || lower.contains(" / "),
        quoted: quoted(&requirement),
        floor: cell("Version floor"),
        used_by: cell("Used by scenarios"),
        hint: cell("Install hint"),
        requirement,
    }
}

/// Words in backticks that could be the name of a program.
fn quoted(text: &str) -> Vec<String> {
    let spans = text.split('`').skip(1).step_by(2);
    let programs = spans.filter(|span| {
        !span.is_empty() && span.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+".contains(&b)) && *span != ".."
    });
    programs.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::plan::parse;

    #[test]
    fn a_section_that_cannot_be_read_is_not_one_that_requires_nothing() {
        let check = |text: &str, expect: bool| assert_eq!(unread(&parse(text).0, text).is_some(), expect, "{text}");
        check("# Test Plan: x\n", true);
        check("# Test Plan: x\n\n## 6b. Environment requirements\n\n- etcd 3.5\n", true);
        check("# Test Plan: x\n\n## 6b. Environment requirements\n", true);
        check("# Test Plan: x\n\n## 6b. Environment requirements\n\nNone: it is one process.\n", false);
        let table = "| Requirement | Version floor | Used by scenarios | Install hint |\n|---|---|---|---|\n| etcd | 3 | S1 | a |\n";
        check(&format!("# Test Plan: x\n\n## 6b. Environment requirements\n\n{table}"), false);
    }

    #[test]
    fn rows_of_the_plan_become_needs() {
        let text = "# Test Plan: x\n\n## 6b. Environment requirements\n\n\
            | Requirement | Version floor | Used by scenarios | Install hint |\n|---|---|---|---|\n\
            | etcd cluster | ≥ 3.5 | S1, S2 | apt-get install etcd-server |\n\
            | iptables or nft | any | S3 | — |\n| `flurble` daemon | — | S1 | brought up by SUT |\n";
        let needs = needs(&parse(text).0);
        let shown: Vec<String> = needs
            .iter()
            .map(|n| {
                let known: Vec<&str> = n.known.iter().map(|k| k.name).collect();
                format!("{} {known:?} any={} bundled={} {:?}", n.requirement, n.any, n.bundled, n.quoted)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "etcd cluster [\"etcd\"] any=false bundled=false []",
                "iptables or nft [\"iptables\", \"nft\"] any=true bundled=false []",
                "`flurble` daemon [] any=false bundled=true [\"flurble\"]",
            ]
        );
    }
}
