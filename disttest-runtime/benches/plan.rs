//! Reading and checking plans: one of 1,000 scenarios, and 10 MB of Markdown written against the parser.
//!
//! `cargo bench -p disttest-runtime --bench plan` (`… --bench plan scenarios` leaves the hostile texts out)

use disttest_runtime::plan;

#[path = "../src/plan/hostile.rs"]
mod hostile;

const PLAN: &str = include_str!("../tests-data/plans/register.md");

fn main() {
    divan::main();
}

/// The plan of the tests with that many claims, hypotheses, scenarios and rows of §7b.
fn plan_of(count: usize) -> String {
    let mut text = PLAN.to_owned();
    for (from, to) in [("| C1 |", "| C2 |"), ("H1. ", "H2. "), ("### Scenario S1", "### Scenario S2")] {
        text = repeated(&text, from, to, count);
    }
    repeated(&text, "| C1 | (a)", "| C2 | (a)", count)
}

/// `text` with the block between the two marks repeated, its ids counted up.
fn repeated(text: &str, from: &str, to: &str, count: usize) -> String {
    let start = text.find(from).expect("the plan has the mark");
    let end = start + text[start..].find(to).expect("the plan has the mark");
    let block = text[start..end].replace("C1, C2", "C1").replace("H1, H2", "H1");
    let numbered = |n: usize| {
        // The elements that stay keep their numbers, so the copies are counted from 4.
        let n = if n == 0 { 1 } else { n + 3 };
        [('C', "C1"), ('H', "H1"), ('S', "S1"), ('s', "s1_")].iter().fold(block.clone(), |text, (letter, id)| {
            text.replace(id, &format!("{letter}{n}{}", if *letter == 's' { "_" } else { "" }))
        })
    };
    let blocks: String = (0..count).map(numbered).collect();
    format!("{}{blocks}{}", &text[..start], &text[end..])
}

#[divan::bench]
fn parse_1000_scenarios(bencher: divan::Bencher<'_, '_>) {
    let text = plan_of(998);
    let (plan, told) = plan::parse(&text);
    assert_eq!((plan.scenarios.len(), plan.claims.len(), told.len()), (999, 1000, 0), "{:?}", told.first());
    bencher.bench(|| plan::parse(&text));
}

#[divan::bench]
fn check_1000_scenarios(bencher: divan::Bencher<'_, '_>) {
    let text = plan_of(998);
    bencher.bench(|| plan::check(&text));
}

/// Each kind of hostile text; the time must grow with the length, not with its square.
#[divan::bench(args = hostile::KINDS.iter().map(|kind| kind.name), sample_count = 1, sample_size = 1)]
fn parse_10_mb(bencher: divan::Bencher<'_, '_>, name: &str) {
    let text = hostile_text(name);
    bencher.bench_local(|| plan::parse(&text));
}

/// The same with the lint.
#[divan::bench(args = hostile::KINDS.iter().map(|kind| kind.name), sample_count = 1, sample_size = 1)]
fn check_10_mb(bencher: divan::Bencher<'_, '_>, name: &str) {
    let text = hostile_text(name);
    bencher.bench_local(|| plan::check(&text));
}

fn hostile_text(name: &str) -> String {
    let kind = hostile::KINDS.iter().find(|kind| kind.name == name).expect("the argument is one of the names");
    hostile::text(kind, 10_000_000)
}
