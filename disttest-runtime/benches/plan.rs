//! What reading and linting a plan costs: a plan of 1,000 scenarios, and ten megabytes of hostile texts.
//!
//! `cargo bench -p disttest-runtime --bench plan` (`… --bench plan -- thousand` leaves the hostile texts out)

use disttest_runtime::plan;
use divan::Bencher;
use divan::counter::BytesCount;
use std::fmt::Write;

#[path = "../src/plan/hostile.rs"]
mod hostile;

fn main() {
    divan::main();
}

const REGISTER: &str = include_str!("../tests-data/plans/register.md");

/// The plan of the register with `scenarios` copies of its first scenario, each with claims, hypotheses and rows of its
/// own.
fn large(scenarios: usize) -> String {
    let part = |from: &str, to: &str| {
        let start = REGISTER.find(from).expect("the fixture has this part");
        let end = start + REGISTER[start..].find(to).expect("the fixture has its end");
        (start, end)
    };
    let (first, last) = part("### Scenario S1", "### Scenario S2");
    let scenario = &REGISTER[first..last];
    let mut text = REGISTER.to_owned();
    let mut insert = |before: &str, each: &dyn Fn(usize) -> String| {
        let at = text.find(before).expect("the fixture has this part");
        let all = (100..100 + scenarios).fold(String::new(), |mut all, n| {
            let _ = writeln!(all, "{}", each(n));
            all
        });
        text.insert_str(at, &all);
    };
    insert("\n## 1c.", &|n| {
        format!("| C{n} | Reads and writes of key {n} are linearizable. | safety | README §2 | no |")
    });
    insert("\n## 6. ", &|n| {
        format!(
            "H{n}. **A read of key {n} skips its write-back** — a later read returns an older value.\n  - Could falsify: C{n}\n  - Suspected because: the change touches it\n  - Subsystem: read path"
        )
    });
    insert("\n## 7b.", &|n| {
        let own = scenario.replace("S1", &format!("S{n}")).replace("C1, C2", &format!("C{n}"));
        own.replace("H1, H2", &format!("H{n}")).replace("s1_linearizable_register", &format!("s{n}_register"))
    });
    insert("\n## 7c.", &|n| {
        format!("| C{n} | (a) stale read (b) lost write | S{n} (a)(b) | one-way cuts force every quorum |")
    });
    text
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn check_of_a_thousand_scenarios(bencher: Bencher<'_, '_>) {
    let text = large(1_000);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| plan::check(&text));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn parse_of_a_thousand_scenarios(bencher: Bencher<'_, '_>) {
    let text = large(1_000);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| plan::parse(&text));
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn render_of_a_thousand_scenarios(bencher: Bencher<'_, '_>) {
    let plan = plan::parse(&large(1_000)).0;
    bencher.bench_local(|| plan::render(&plan));
}

/// Each kind of hostile text; the time must grow with the length, not with its square.
#[divan::bench(args = hostile::KINDS.iter().map(|kind| kind.name), sample_count = 1, sample_size = 1)]
fn parse_of_10_mb(bencher: Bencher<'_, '_>, name: &str) {
    let text = hostile_text(name);
    bencher.bench_local(|| plan::parse(&text));
}

/// The same with the lint.
#[divan::bench(args = hostile::KINDS.iter().map(|kind| kind.name), sample_count = 1, sample_size = 1)]
fn check_of_10_mb(bencher: Bencher<'_, '_>, name: &str) {
    let text = hostile_text(name);
    bencher.bench_local(|| plan::check(&text));
}

/// Every kind of hostile text, one after the other: twice the length, twice the time.
#[divan::bench(args = [1, 2, 4], sample_count = 1, sample_size = 1)]
fn check_of_every_hostile_text_of_so_many_mb(bencher: Bencher<'_, '_>, megabytes: usize) {
    bencher.bench_local(|| {
        hostile::KINDS
            .iter()
            .map(|kind| plan::check(&hostile::text(kind, megabytes * 1_000_000)).1.len())
            .sum::<usize>()
    });
}

fn hostile_text(name: &str) -> String {
    let kind = hostile::KINDS.iter().find(|kind| kind.name == name).expect("the argument is one of the names");
    hostile::text(kind, 10_000_000)
}
