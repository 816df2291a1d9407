//! Pages of sessions as runs leave them.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use super::*;
use disttest_runtime::checker::{Answer, Evidence, Outcome, Violation};
use disttest_runtime::fault::{Policy, Sample, Series, Shape, Window, assess};
use disttest_runtime::history::generate::{Shape as Load, history};
use disttest_runtime::history::jsonl;
use disttest_runtime::plan::{Budget, Tier};
use disttest_runtime::session::{judge, planned};
use disttest_runtime::verdict::{Drift, End, LogScan, OpCounts, RunRecord, RunRequest};
use std::fs;

const PLAN: &str = include_str!("../../tests/it/plan.md");

/// A session of one scenario with a violation, of so many operations.
fn session(dir: &Path, operations: u64, name: &str) {
    let plan = parse(PLAN).0;
    let scenario = &plan.scenarios[0];
    let mut declared = planned(&plan, "docs/plan.md", scenario, &scenario.id.value);
    declared.name = name.to_owned();
    let run_dir = dir.join("artifacts/S1/seed-1");
    fs::create_dir_all(&run_dir).unwrap();
    let load = Load { clients: 32, keys: 4, operations, final_reads: true, ..Load::default() };
    let history = history(load, 1);
    let mut text = Vec::new();
    jsonl::write(&history, &mut text).unwrap();
    fs::write(run_dir.join("history.jsonl"), &text).unwrap();
    let end = history.ops().iter().filter_map(|op| op.complete_ts).max().unwrap();
    let at = |share: u64| disttest_runtime::base::time::Nanos(end.0 / 10 * share);
    let samples = (0..10).map(|i| Sample { at: at(i), value: Some(if i > 4 { i as f64 } else { 0.0 }) }).collect();
    let window = Window {
        epoch: 1,
        nemesis: "hard-kill".into(),
        detail: "n1 <b>".into(),
        victims: vec!["n1".into()],
        baseline_from: at(1),
        requested_at: None,
        injected_at: at(4),
        healed_at: Some(at(7)),
        observed_until: at(10),
        injection_error: None,
        heal_error: None,
        probe_ok_at: Some(at(8)),
        injector: vec![Series { signal: "process-exit".into(), source: "n1".into(), shape: Shape::Marker, samples }],
        victim: Vec::new(),
        ..Window::default()
    };
    fs::write(run_dir.join("landing.json"), serde_json::to_string(&[&window]).unwrap()).unwrap();
    let middle = history.ops()[history.ops().len() / 2].op_id;
    let violation = Violation {
        anomaly: "non-linearizable".into(),
        key: Some("k1".into()),
        ops: vec![middle, middle + 1],
        explanation: "c1 read 1 <script>alert(1)</script> after 2 was acknowledged".into(),
    };
    let recorded = history.ops().len() as u64;
    let request = RunRequest {
        schema: "disttest.request/1".into(),
        run_id: "S1-1".into(),
        scenario: "S1".into(),
        seed: 1,
        rerun: 0,
        tier: Tier::Smoke,
        budget: Budget::default(),
        run_dir: run_dir.display().to_string(),
        log_dir: String::new(),
        sut_args: Vec::new(),
    };
    let run = RunRecord {
        workload: end,
        operations: OpCounts { recorded, ..OpCounts::default() },
        windows: vec![assess(&window, &Policy::default())],
        injections: 1,
        history_sha256: Some(disttest_runtime::base::digest::sha256_hex(&text)),
        answers: vec![Answer {
            checker: "linearizability".into(),
            model: Some("register".into()),
            outcome: Outcome::Invalid { violations: vec![violation] },
            evidence: Evidence { recorded, consumed: recorded, fired: 1, partitions: 1, peak_bytes: 1 },
            cannot_detect: Vec::new(),
        }],
        log_scan: Some(LogScan::default()),
        ..RunRecord::of_nothing(request, End::Judged)
    };
    disk::write_json(&run_dir.join("run.json"), &run).unwrap();
    let folder = "artifacts/S1/seed-1".to_owned();
    let record = judge(&declared, Tier::Smoke, vec![(folder, run)], Drift::None, Vec::new(), Vec::new());
    disk::write_json(&dir.join("artifacts/S1/scenario.json"), &record).unwrap();
    fs::write(dir.join("plan.md"), PLAN).unwrap();
    let session = serde_json::json!({
        "schema": "disttest.session/1", "slug": "small", "started": "20261130T192154Z", "sut": "x", "plan": "docs/plan.md",
        "commit": "unknown", "dir": dir.display().to_string(), "operator": "ci", "toolbox": [], "environment": [],
        "missing_budgets_allowed": false, "tier": "smoke", "sut_args": [],
    });
    fs::write(dir.join("session.json"), session.to_string()).unwrap();
}

fn page(operations: u64, name: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    session(dir.path(), operations, name);
    of_session(dir.path(), "..").unwrap()
}

#[test]
fn a_page_shows_the_violation_first_and_every_part_of_its_evidence() {
    let page = page(300, "reads_never_go_back");
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what} is on the page"));
    assert!(place("<h2>Findings") < place("<h2>Scenarios") && place("<h2>Scenarios") < place("<h2>Claims"));
    assert!(place("timeline of the witness") < place("<h2>Scenarios"), "drawn where it is seen at once");
    for what in ["operations of each client", "latency over time", "operations a second", "readings before", "seed 1:"]
    {
        place(what);
    }
    assert!(page.contains("href=\"../artifacts/S1/seed-1/history.jsonl\""));
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
}

#[test]
fn nothing_of_a_session_is_markup_and_nothing_is_loaded() {
    let page = page(50, "\"><img src=x onerror=alert(1)>");
    for markup in ["<script", "<img", "n1 <b>", "onerror=alert(1)>"] {
        assert!(!page.contains(markup), "{markup}");
    }
    for loads in ["http://", "https://", "url(", "@import", "src="] {
        let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.replace("src=x", "").contains(loads), "{loads}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn a_hundred_thousand_operations_stay_a_small_page() {
    let page = page(100_000, "large");
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

/// In a browser, where there is one: what the page's own policy refuses, and what is no markup, would be missing.
#[test]
fn a_browser_shows_the_whole_page_of_a_hundred_thousand_operations_and_refuses_nothing_of_it() {
    let browser = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        std::process::Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    let Some(browser) = browser else {
        eprintln!("skipped: there is no chromium on this machine");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let (file, html) = (dir.path().join("page.html"), page(100_000, "large"));
    fs::write(&file, &html).unwrap();
    let arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"];
    let mut command = std::process::Command::new(browser);
    command.args(arguments).arg(format!("--user-data-dir={}", dir.path().display()));
    let output = command.arg(format!("file://{}", file.display())).output().unwrap();
    let (shown, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("Refused to") && !said.contains("Content Security Policy"), "{said}");
    for element in ["<svg", "<path", "<section", "<figure", "<details"] {
        assert_eq!(shown.matches(element).count(), html.matches(element).count(), "{element}");
    }
}

#[test]
fn what_is_no_session_has_no_page() {
    let dir = tempfile::tempdir().unwrap();
    assert!(of_session(dir.path(), "..").unwrap_err().contains("no session.json"));
}
