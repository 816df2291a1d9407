//! The coverage matrix: claims × hypotheses, and in each cell the scenarios that tie the two together.

use super::{falsifying, has};
use disttest_runtime::plan::{Claim, Hypothesis, Plan, Scenario};

/// A threat that no scenario turns into a test.
const GAP: &str = "GAP";
/// The hypothesis does not threaten the claim.
const NOTHING: &str = "·";
/// Columns of a terminal that a grid may take.
const WIDTH: usize = 110;

/// The matrix as text; wide plans as a list. Every gap says `GAP`.
pub(crate) fn text(plan: &Plan) -> String {
    let cells: Vec<Vec<String>> =
        plan.claims.iter().map(|claim| plan.hypotheses.iter().map(|h| cell(plan, claim, h)).collect()).collect();
    grid(plan, &cells).unwrap_or_else(|| list(plan, &cells))
}

/// What is missing, one sentence each: claims without a scenario, hypotheses without one, threats not exercised.
pub(crate) fn gaps(plan: &Plan) -> Vec<String> {
    let claims = plan.claims.iter().filter(|c| falsifying(plan, &c.id.value).next().is_none());
    let claims = claims.map(|c| format!("{}: no scenario falsifies it", c.id.value.written()));
    let untested = plan.hypotheses.iter().filter(|h| !plan.scenarios.iter().any(|s| has(&s.closes, &h.id.value)));
    let hypotheses = untested.map(|h| format!("{}: no scenario closes it", h.id.value.written()));
    let pairs = plan.claims.iter().flat_map(|claim| plan.hypotheses.iter().map(move |h| (claim, h)));
    let open = pairs.filter(|(claim, h)| {
        let closed = plan.scenarios.iter().any(|s| has(&s.closes, &h.id.value));
        closed && falsifying(plan, &claim.id.value).next().is_some() && cell(plan, claim, h) == GAP
    });
    let pairs = open.map(|(claim, h)| {
        let (claim, h) = (claim.id.value.written(), h.id.value.written());
        format!("{claim} × {h}: no scenario that falsifies {claim} closes {h}")
    });
    claims.chain(hypotheses).chain(pairs).collect()
}

/// The scenarios that falsify the claim and close the hypothesis; in parentheses where the hypothesis does not say that
/// it threatens the claim.
fn cell(plan: &Plan, claim: &Claim, hypothesis: &Hypothesis) -> String {
    let closing = |s: &&Scenario| has(&s.closes, &hypothesis.id.value);
    let ids: Vec<String> = falsifying(plan, &claim.id.value).filter(closing).map(|s| s.id.value.written()).collect();
    match (has(&hypothesis.claims, &claim.id.value), ids.is_empty()) {
        (true, true) => GAP.to_owned(),
        (true, false) => ids.join(" "),
        (false, true) => NOTHING.to_owned(),
        (false, false) => format!("({})", ids.join(" ")),
    }
}

fn grid(plan: &Plan, cells: &[Vec<String>]) -> Option<String> {
    let ids: Vec<String> = plan.hypotheses.iter().map(|h| h.id.value.written()).collect();
    let column = |i: usize| cells.iter().map(|row| row[i].chars().count()).chain([ids[i].chars().count()]).max();
    let widths: Vec<usize> = (0..ids.len()).map(|i| column(i).unwrap_or(0)).collect();
    if ids.is_empty() || 8 + widths.iter().map(|w| w + 2).sum::<usize>() > WIDTH {
        return None;
    }
    let line = |head: &str, row: &[String]| {
        let row: String = row.iter().zip(&widths).map(|(text, width)| format!("  {text:<width$}")).collect();
        format!("  {head:<6}{row}").trim_end().to_owned() + "\n"
    };
    let rows = plan.claims.iter().zip(cells).map(|(claim, row)| {
        let uncovered = falsifying(plan, &claim.id.value).next().is_none();
        let mark = if uncovered { "  <- no scenario falsifies it" } else { "" };
        let text = line(&claim.id.value.written(), row);
        format!("{}{mark}\n", text.trim_end())
    });
    Some(line("", &ids) + &rows.collect::<String>())
}

fn list(plan: &Plan, cells: &[Vec<String>]) -> String {
    let mut out = String::new();
    for (claim, row) in plan.claims.iter().zip(cells) {
        let named = plan.hypotheses.iter().zip(row).filter(|(_, cell)| cell.as_str() != NOTHING);
        let mut threats: Vec<String> = named.map(|(h, cell)| format!("{} {cell}", h.id.value.written())).collect();
        if threats.is_empty() {
            let ids: Vec<String> = falsifying(plan, &claim.id.value).map(|s| s.id.value.written()).collect();
            threats.push(if ids.is_empty() { GAP.to_owned() } else { ids.join(" ") });
        }
        out.push_str(&format!("  {:<6}{}\n", claim.id.value.written(), threats.join("; ")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use disttest_runtime::plan::parse;

    fn plan(hypotheses: usize) -> Plan {
        let mut text = "# Test Plan: x\n\n## 1b. Claims under test\n\n| ID | Claim | Category | Source | Inferred? |\n\
                        |---|---|---|---|---|\n| C1 | a | safety | d | no |\n| C2 | b | liveness | d | no |\n\
                        | C3 | c | liveness | d | no |\n\n## 4. Failure-mode hypotheses\n\n"
            .to_owned();
        for n in 1..=hypotheses {
            text.push_str(&format!("H{n}. **t** — s.\n  - Could falsify: C1, C2\n\n"));
        }
        text.push_str("## 7. Scenarios\n\n### Scenario S1: x\n\n- **Falsifies if it FAILs:** C1\n- **Closes:** H1\n\n");
        text.push_str("### Scenario S2: y\n\n- **Falsifies if it FAILs:** C1, C3\n- **Closes:** H1, H2\n");
        parse(&text).0
    }

    #[test]
    fn a_small_plan_is_a_grid_with_its_gaps() {
        let expect = "          H1     H2    H3
  C1      S1 S2  S2    GAP
  C2      GAP    GAP   GAP  <- no scenario falsifies it
  C3      (S2)   (S2)  ·
";
        assert_eq!(text(&plan(3)), expect);
    }

    #[test]
    fn a_wide_plan_is_a_list() {
        let text = text(&plan(40));
        assert!(text.starts_with("  C1    H1 S1 S2; H2 S2; H3 GAP; "), "{text}");
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn gaps_are_told_once_at_the_highest_level() {
        assert_eq!(gaps(&plan(3)), ["C2: no scenario falsifies it", "H3: no scenario closes it"]);
        assert!(gaps(&plan(0)).contains(&"C2: no scenario falsifies it".to_owned()));
    }
}
