//! What reading and linting a plan costs: a plan of 1,000 scenarios, and ten megabytes of hostile texts.

use disttest_runtime::plan;
use divan::Bencher;
use divan::counter::BytesCount;
use std::fmt::Write;

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
