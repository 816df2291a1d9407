//! Reports compared with expected texts under `testdata/`, and fed with hostile texts.

use super::*;
use crate::base::diagnostic::{Span, Spanned};
use crate::checker::Outcome;
use crate::plan::{Budget, Category, Claim, Hypothesis, Id, Plan, Release, Row, Scenario, Tier};
use crate::verdict::fixture::*;
use crate::verdict::*;

fn spanned<T>(value: T) -> Spanned<T> {
    Spanned::new(value, Span::default())
}

fn id(text: &str) -> Spanned<Id> {
    spanned(Id::parse(text).expect("an id"))
}

fn plan() -> Plan {
    let claim = |name: &str, text: &str, category: Category| Claim {
        id: id(name),
        text: spanned(text.to_owned()),
        categories: vec![category],
        unknown_categories: Vec::new(),
        category_text: spanned(category.to_string()),
        source: "README".to_owned(),
        inferred: "no".to_owned(),
    };
    let hypothesis = |name: &str, title: &str, claims: &[&str]| Hypothesis {
        id: id(name),
        title: title.to_owned(),
        text: "…".to_owned(),
        claims: claims.iter().map(|c| id(c)).collect(),
        suspected: None,
        subsystem: None,
        other: Vec::new(),
    };
    let adequacy = |claim: &str, why: &str| Row {
        cells: vec![("Claim".to_owned(), claim.to_owned()), ("Why these are sufficient".to_owned(), why.to_owned())],
        span: Span::default(),
    };
    Plan {
        claims: vec![
            claim("C1", "reads see the last acknowledged write", Category::Safety),
            claim("C2", "acknowledged writes survive", Category::Durability),
            claim("C3", "a restarted node catches up", Category::Liveness),
        ],
        hypotheses: vec![
            hypothesis("H1", "Stale read from a cut-off replica", &["C1"]),
            hypothesis("H2", "Acknowledged before a quorum has it", &["C2"]),
            hypothesis("H3", "Catch-up never ends", &["C3"]),
            hypothesis("H4", "Disk full", &["C2"]),
        ],
        scenarios: vec![
            scenario("S1", "linearizable_register_under_partitions", &["C1", "C2"], &["H1", "H2"]),
            scenario("S2", "restarted_node_catches_up", &["C3"], &["H3"]),
        ],
        adequacy: vec![
            adequacy("C1", "one-way cuts and kills reach every quorum path"),
            adequacy("C2", "kills of a quorum"),
        ],
        ..Plan::default()
    }
}

fn scenario(name: &str, title: &str, falsifies: &[&str], closes: &[&str]) -> Scenario {
    Scenario {
        id: id(name),
        name: spanned(title.to_owned()),
        falsifies: falsifies.iter().map(|c| id(c)).collect(),
        closes: closes.iter().map(|h| id(h)).collect(),
        fields: Vec::new(),
        budgets: Some(budgets()),
        target: None,
        skeleton_language: None,
        skeleton: None,
        code_blocks: Vec::new(),
        model_block: None,
        model_block_not_applicable: false,
        surfaces: None,
        surfaces_not_applicable: false,
        arms: Vec::new(),
        span: Span::default(),
    }
}

fn record(declared: Declared, runs: Vec<RunRecord>, drift: Drift, unfilled: Vec<String>) -> ScenarioRecord {
    let (verdict, why) = decide(&Facts::gather(&declared, &runs, &drift, &unfilled));
    let folder = |run: &RunRecord| match run.request.rerun {
        0 => format!("artifacts/S1/seed-{}", run.request.seed),
        n => format!("artifacts/S1/seed-{}-rerun-{n}", run.request.seed),
    };
    ScenarioRecord {
        schema: "disttest.scenario/1".to_owned(),
        tier: Tier::Hardening,
        tier_met: tier_met(&declared, &runs),
        runs: runs.into_iter().map(|run| (folder(&run), run)).collect(),
        declared,
        unfilled,
        lacking: Vec::new(),
        drift,
        verdict,
        why,
        harness: Harness::default(),
    }
}

fn session() -> SessionRecord {
    SessionRecord {
        schema: "disttest.session/1".to_owned(),
        slug: "abd-register".to_owned(),
        started: "20261130T192154Z".to_owned(),
        sut: "abd-store".to_owned(),
        plan: "docs/testing-plans/abd-register.md".to_owned(),
        commit: "1a2b3c4-dirty".to_owned(),
        changes: None,
        dir: "test-sessions/abd-register/20261130T192154Z".to_owned(),
        operator: "ci".to_owned(),
        toolbox: vec![("tests/smoke.rs".to_owned(), "existing test".to_owned())],
        environment: vec![("loopback TCP".to_owned(), "yes".to_owned(), "—".to_owned(), "probe".to_owned())],
        missing_budgets_allowed: false,
        tier: Tier::Hardening,
        sut_args: Vec::new(),
        harness: None,
    }
}

fn events() -> Vec<Event> {
    let event = |unix_ms, event: &str, notes: &str| Event {
        unix_ms,
        scenario: "S1".to_owned(),
        seed: Some(1),
        event: event.to_owned(),
        notes: notes.to_owned(),
    };
    vec![
        event(1_796_066_514_000, "start", "seed 1 of 3"),
        event(1_796_066_519_000, "progress", "1000 operations"),
        event(1_796_066_520_000, "fault injected: hard-kill", "n2"),
        event(1_796_066_545_000, "oracle: valid", ""),
    ]
}

fn healthy() -> ScenarioRecord {
    record(declared(), perfect(), Drift::None, Vec::new())
}

/// A violation that its re-run repeats, beside a seed whose test panicked and a node that died.
fn failing() -> ScenarioRecord {
    let mut runs = perfect();
    runs[0].answers[0] = answer(CHECKERS[0], invalid("non-linearizable"));
    runs[0].request.sut_args = vec!["--bug=stale reads".to_owned()];
    let again = rerun(&runs[0], 1);
    runs[1].end = End::Panicked { message: "index | out of bounds".to_owned() };
    runs[1].answers.clear();
    runs[2].windows[1].landed = false;
    runs[2].windows[1].victim.moved = false;
    runs[2].windows[1].victim.why = "client-timeouts at n1: 3 before, 3 during".to_owned();
    runs[2].deaths.push(death(false));
    runs.insert(1, again);
    record(declared(), runs, Drift::PlanOnly, Vec::new())
}

fn arm(name: &str, runs: Vec<RunRecord>) -> ScenarioRecord {
    let mut declared = declared();
    declared.id = format!("S5/{name}");
    declared.name = "tenants_stay_apart".to_owned();
    declared.falsifies = vec![("C7".to_owned(), vec![Category::Boundary])];
    if let Some(budgets) = &mut declared.budgets {
        budgets.release = Release::Budget(Budget { seeds: 30, ..budgets.hardening });
    }
    let owned = |mut run: RunRecord| {
        run.request.scenario.clone_from(&declared.id);
        run
    };
    let runs = runs.into_iter().map(owned).collect();
    record(declared, runs, Drift::None, Vec::new())
}

/// Compares with the expected text; a difference prints the whole text between two lines of `=`.
fn check(name: &str, actual: &str, expect: &str) {
    let rule = "=".repeat(20);
    assert!(actual == expect, "{name} differs; it is now:\n{rule} {name}\n{actual}{rule}");
}

#[test]
fn the_report_of_a_healthy_session_has_every_section() {
    let text = report_markdown(Some(&plan()), &session(), &[healthy()], &events());
    check("report-healthy.md", &text, include_str!("testdata/report-healthy.md"));
}

#[test]
fn the_report_of_a_failing_session_tells_the_violation_first() {
    let mut session = session();
    session.sut_args = vec!["--bug=stale reads".to_owned()];
    let text = report_markdown(Some(&plan()), &session, &[failing()], &[]);
    check("report-failing.md", &text, include_str!("testdata/report-failing.md"));
}

#[test]
fn programs_read_the_same_verdicts() {
    let records = [healthy(), arm("api", perfect())];
    let json: serde_json::Value =
        serde_json::from_str(&report_json(Some(&plan()), &session(), &records)).expect("JSON");
    assert_eq!((&json["schema"], &json["verdict"]), (&"disttest.report/1".into(), &"DONE_WITH_CONCERNS".into()));
    let of = |at: usize| (json["scenarios"][at]["id"].clone(), json["scenarios"][at]["verdict"].clone());
    assert_eq!(of(0), ("S1".into(), "PASS-hardening".into()));
    assert_eq!(of(1), ("S2".into(), "NOT-RUN".into()), "the plan's, without a record");
    assert_eq!(json["scenarios"][2]["parts"][0]["id"], "S5/api");
    let part = &json["scenarios"][0]["parts"][0];
    assert_eq!(
        (part["red_flags"].as_array().map(Vec::len), part["weak_oracles"].as_array().map(Vec::len)),
        (Some(10), Some(14))
    );
    assert_eq!(part["runs"][0]["seed"], 1);
    assert_eq!(json["release_disclosures"][0]["reason"], "no soak rig yet");
    let failing: serde_json::Value =
        serde_json::from_str(&report_json(Some(&plan()), &session(), &[failing()])).expect("JSON");
    assert_eq!((&failing["verdict"], &failing["findings"][0]["id"]), (&"FAIL".into(), &"F1".into()));
}

#[test]
fn a_scenario_that_did_not_conclude_is_no_green_line_in_ci() {
    let xml = |records: &[ScenarioRecord]| junit_xml(Some(&plan()), &session(), records);
    let healthy = xml(&[healthy()]);
    assert!(healthy.contains("tests=\"2\" failures=\"0\" errors=\"1\""), "S2 did not run: {healthy}");
    assert!(healthy.contains("<error type=\"NOT-RUN\"") && !healthy.contains("<skipped"), "{healthy}");
    let failing = xml(&[failing()]);
    assert!(failing.contains("<failure type=\"FAIL-reproducible\""), "{failing}");
    // Of a run that asks for more than it met.
    let low = xml(&[record(declared(), perfect().into_iter().take(1).collect(), Drift::None, Vec::new())]);
    assert!(low.contains("errors=\"2\""), "{low}");
    // Nothing, and arms of a plan that is not at hand.
    let nothing = junit_xml(None, &session(), &[]);
    assert!(nothing.contains("tests=\"1\"") && nothing.contains("<error type=\"BLOCKED\""), "{nothing}");
    let arms = junit_xml(None, &session(), &[arm("api", perfect())]);
    assert!(arms.contains("<error type=\"PARTIAL-surface\""), "{arms}");
}

#[test]
fn the_report_of_arms_has_their_rows_and_the_joined_one() {
    let records = [arm("api", perfect()), arm("sdk", Vec::new())];
    let text = report_markdown(None, &session(), &records, &[]);
    check("report-arms.md", &text, include_str!("testdata/report-arms.md"));
}

/// The plan with a scenario S5 of three arms, the last of which is only listed.
fn plan_with_arms() -> Plan {
    let text = "## 1b. Claims under test\n\n| ID | Claim | Category | Source | Inferred? |\n|---|---|---|---|---|\n\
        | C7 | tenants stay apart | boundary | README | no |\n\n## 4. Failure-mode hypotheses\n\n\
        H7. **Leak** \u{2014} one tenant sees another's.\n  - Could falsify: C7\n\n\
        ## 7. Scenarios\n\n### Scenario S5: tenants_stay_apart\n\
        - **Falsifies if it FAILs:** C7\n- **Closes:** H7\n\n\
        #### \u{a7}7.M.S\n- **Scenario arms:** S5/api, S5/sdk, S5/admin\n\n\
        #### Arm S5/api: public API\n- **Oracle:** linearizability\n\n#### Arm S5/sdk\n- **Oracle:** linearizability\n";
    crate::plan::parse(text).0
}

/// An arm that passed with a verdict of its own, as far as the report is concerned.
fn arm_with(name: &str, verdict: Verdict) -> ScenarioRecord {
    let mut record = arm(name, if verdict == Verdict::NotRun { Vec::new() } else { perfect() });
    record.verdict = verdict;
    record.why = Why { steps: vec![Step { rule: "rule".to_owned(), verdict, reason: format!("as {verdict} does") }] };
    record
}

fn section<'t>(text: &'t str, title: &str) -> &'t str {
    let (_, rest) = text.split_once(&format!("## {title}\n\n")).expect("the section is there");
    rest.split("\n\n## ").next().unwrap_or_default()
}

#[test]
fn a_scenario_with_arms_has_a_row_for_each_and_its_own_verdict_everywhere_else() {
    use Verdict::{FailReproducible, NotRun, PartialSurface, PassSmoke};
    let armed = plan_with_arms();
    let report = |records: &[ScenarioRecord]| report_markdown(Some(&armed), &session(), records, &[]);
    let two = [arm_with("api", PassSmoke), arm_with("sdk", PassSmoke)];
    let text = report(&two);
    let surfaces = section(&text, "Surface coverage (boundary and fairness scenarios)");
    let rows = [
        "| S5/admin | admin | yes | no | NOT-RUN | not attempted in this session |",
        "| S5/api | public API | yes | yes | PASS-smoke | — |",
        "| S5/sdk | sdk | yes | yes | PASS-smoke | — |",
        "| S5 | (aggregate) | yes | 2 of 3 | PARTIAL-surface | capped by S5/admin NOT-RUN |",
        "\n**Missing surfaces this run did not cover:** admin (S5/admin NOT-RUN)",
    ];
    assert_eq!(surfaces.lines().skip(2).collect::<Vec<_>>().join("\n"), rows.join("\n"));
    let told = "S5 PARTIAL-surface (S5/admin NOT-RUN, S5/api PASS-smoke, S5/sdk PASS-smoke)";
    assert!(section(&text, "Adequacy assessment vs the plan's coverage argument").contains(told), "{text}");
    assert!(section(&text, "Confidence delta").contains(&format!("does not settle it: C7 ({told})")), "{text}");
    assert!(section(&text, "Coverage summary").contains("not exercised to a conclusion: S5 (PARTIAL-surface)"));
    assert!(section(&text, "Scenario results").contains("| S5 | tenants_stay_apart | PARTIAL-surface | joined from"));
    assert!(text.contains("**INCONCLUSIVE** — no scenario passed"), "no whole scenario did: {text}");
    let log = session_log_markdown(Some(&armed), &session(), &two, &[]);
    let verdicts = section(&log, "Scenario verdicts");
    assert!(verdicts.contains("| S5/api | hardening | PASS-smoke | as PASS-smoke does"), "{verdicts}");
    let parent = "| S5 | — | PARTIAL-surface | (aggregate) capped by S5/admin NOT-RUN |";
    assert!(verdicts.ends_with(parent), "{verdicts}");

    let three = [arm_with("api", PassSmoke), arm_with("sdk", PassSmoke), arm_with("admin", PassSmoke)];
    let text = report(&three);
    assert!(
        text.contains("**DONE** — 1 of 1 scenarios passed") && text.contains("All planned surfaces were executed.")
    );
    let check = |records: &[ScenarioRecord], plan: Option<&Plan>, expect: SessionVerdict| {
        assert_eq!(session_verdict(plan, records).0, expect);
    };
    check(&three, Some(&armed), SessionVerdict::Done);
    // Nobody knows which arms are missing.
    check(&three, None, SessionVerdict::Inconclusive);
    check(&[arm_with("api", PassSmoke), arm_with("sdk", FailReproducible)], Some(&armed), SessionVerdict::Fail);
    check(&[arm_with("api", NotRun)], Some(&armed), SessionVerdict::Blocked);
    // An arm that the plan does not have, and a test of the whole where the plan wants arms, are rows as well.
    let stray = [&three[..], &[arm_with("old", PartialSurface)]].concat();
    check(&stray, Some(&armed), SessionVerdict::Inconclusive);
    assert!(report(&stray).contains("| S5/old | old | no | yes | PARTIAL-surface |"));
    let mut whole = arm_with("api", PassSmoke);
    whole.declared.id = "S5".to_owned();
    check(&[whole.clone()], Some(&armed), SessionVerdict::Inconclusive);
    let mut of_another = arm_with("api", PassSmoke);
    of_another.declared.id = "S1/api".to_owned();
    check(&[of_another], Some(&plan()), SessionVerdict::Inconclusive);
}

#[test]
fn all_planned_surfaces_were_executed_only_when_each_was_to_a_conclusion() {
    use Verdict::*;
    const ALL: &str = "All planned surfaces were executed.";
    const MISSING: &str = "**Missing surfaces this run did not cover:** ";
    let armed = |fields: &str| -> Plan {
        let text = "## 1b. Claims under test\n\n| ID | Claim | Category | Source | Inferred? |\n|---|---|---|---|---|\n\
            | C7 | tenants stay apart | boundary | README | no |\n\n## 7. Scenarios\n\n### Scenario S5: apart\n\
            - **Falsifies if it FAILs:** C7\n\n#### \u{a7}7.M.S\n- FIELDS\n\n#### Arm S5/api: public API\n- **Oracle:** o\n";
        crate::plan::parse(&text.replace("- FIELDS", fields)).0
    };
    let check = |fields: &str, ran: &[(&str, Verdict)], expect: &str| {
        let records: Vec<ScenarioRecord> = ran.iter().map(|(name, verdict)| arm_with(name, *verdict)).collect();
        let text = report_markdown(Some(&armed(fields)), &session(), &records, &[]);
        let told = section(&text, "Surface coverage (boundary and fairness scenarios)");
        assert!(told.contains(expect), "{fields} {ran:?} {expect}: {told}");
        assert_eq!((told.contains(ALL), told.contains(MISSING)), (expect == ALL, expect != ALL), "{told}");
    };
    let missing = |which: &str| format!("{MISSING}{which}");
    let one = "- **Surfaces:** public API";
    let two = "- **Surfaces:** public API, SDK\n- **Scenario arms:** S5/api, S5/sdk";
    let armless = "- **Surfaces:** public API, admin console, SDK\n- **Scenario arms:** S5/api";
    check(one, &[("api", PassHardening)], ALL);
    check(two, &[("api", PassSmoke), ("sdk", PassSmoke)], ALL);
    check(two, &[("api", PassSmoke), ("sdk", FailNondeterministic)], ALL);
    check(two, &[("api", PassSmoke)], &missing("SDK (S5/sdk NOT-RUN)"));
    for open in
        [NotRun, InconclusiveEnv, InconclusiveFaultNotProven, InconclusiveOracleTooWeak, PartialSurface, PartialModel]
    {
        check(two, &[("api", PassSmoke), ("sdk", open)], &missing(&format!("SDK (S5/sdk {open})")));
    }
    let both = "admin console (S5 has no arm for it), SDK (S5 has no arm for it)";
    check(armless, &[("api", PassHardening)], &missing(both));
    check(armless, &[("api", PassHardening)], "| — | admin console | yes | no | — | S5 has no arm for it |");
    check(armless, &[("api", NotRun)], &missing(&format!("public API (S5/api NOT-RUN), {both}")));
    check(armless, &[], &missing(&format!("public API (S5/api NOT-RUN), {both}")));
    // An arm of another name is not taken for that of the surface.
    check(armless, &[("api", PassSmoke), ("old", PassSmoke)], &missing(both));
    let collapsed =
        "- **Surfaces:** api, sdk\n- **Scenario arms:** S5/sdk collapsed into S5/api \u{2014} one code path";
    check(collapsed, &[("api", PassSmoke)], ALL);
    check(
        collapsed,
        &[("api", InconclusiveEnv)],
        &missing("api (S5/api INCONCLUSIVE-env), sdk (in S5/api INCONCLUSIVE-env)"),
    );
    let text = report_markdown(Some(&armed(collapsed)), &session(), &[arm_with("api", PassSmoke)], &[]);
    assert!(text.contains("together with others: sdk (in S5/api PASS-smoke)\n"), "{text}");
}

#[test]
fn the_report_of_nothing_has_every_section_in_the_prescribed_words() {
    let text = report_markdown(None, &session(), &[], &[]);
    check("report-empty.md", &text, include_str!("testdata/report-empty.md"));
}

#[test]
fn the_page_of_a_scenario_shows_runs_windows_and_findings() {
    let text = scenario_markdown(Some(&plan()), &session(), &failing(), &events());
    check("scenario-failing.md", &text, include_str!("testdata/scenario-failing.md"));
}

#[test]
fn the_session_log_is_that_of_the_format() {
    let text = session_log_markdown(Some(&plan()), &session(), &[healthy()], &events());
    check("session-log.md", &text, include_str!("testdata/session-log.md"));
}

#[test]
fn a_terminal_line_names_verdict_tier_and_reason() {
    let line = terminal::line(&failing());
    let expect = "S1 linearizable_register_under_partitions  FAIL-reproducible  tier smoke  C1, C2 violated: \
                  non-linearizable on k1 (linearizability); 1 of 1 re-runs of seed 1 saw it again";
    assert_eq!(line, expect);
    let command = "DISTTEST_SEED=1 DISTTEST_TIER=hardening DISTTEST_SUT_ARGS='--bug=stale reads' cargo test -p abd-store \
                   linearizable_register_under_partitions -- --exact";
    assert_eq!(terminal::reproducer(&failing()).as_deref(), Some(command));
    assert_eq!(terminal::reproducer(&healthy()), None);
}

#[test]
fn a_session_is_done_only_when_all_of_its_plan_passed() {
    let check = |plan: Option<&Plan>, records: &[ScenarioRecord], verdict: SessionVerdict, told: &str| {
        assert_eq!(session_verdict(plan, records), (verdict, told.to_owned()));
    };
    let (plan, not_run) = (plan(), record(declared(), Vec::new(), Drift::None, Vec::new()));
    let mut once = perfect();
    once[0].deaths.push(death(false));
    let once = record(declared(), once, Drift::None, Vec::new());
    let told = "1 of 1 scenarios passed; no violation observed under the tested threats";
    check(None, &[healthy()], SessionVerdict::Done, told);
    let told = "1 of 2 scenarios passed; 1 did not conclude";
    check(Some(&plan), &[healthy()], SessionVerdict::DoneWithConcerns, told);
    check(None, &[not_run], SessionVerdict::Blocked, "nothing ran");
    check(None, &[], SessionVerdict::Blocked, "nothing ran");
    check(None, &[once], SessionVerdict::Fail, "violation seen, not reproduced (1 of 1 scenarios)");
    check(None, &[failing()], SessionVerdict::Fail, "violation seen and reproduced (1 of 1 scenarios)");
}

#[test]
fn hostile_texts_change_no_structure() {
    let hostile = "x\n# Findings\n| a | b |\n<img src=x> `` [l](http://e) **b** \u{1b}[2J\n```\n- [x] ok";
    let benign = "x";
    let texts = |evil: &str| {
        let (mut record, mut session, mut plan) = (failing(), session(), plan());
        let (_, run) = &mut record.runs[0];
        run.answers[0].outcome = Outcome::Invalid {
            violations: vec![crate::checker::Violation {
                anomaly: evil.to_owned(),
                key: Some(evil.to_owned()),
                ops: vec![1],
                explanation: evil.to_owned(),
            }],
        };
        run.windows[0].injector.why = evil.to_owned();
        run.windows[0].detail = evil.to_owned();
        run.windows[0].recovery = evil.to_owned();
        run.teeth[0].detail = evil.to_owned();
        run.notes.push(evil.to_owned());
        record.runs[2].1.end = End::Panicked { message: evil.to_owned() };
        record.declared.name = evil.to_owned();
        record.why.steps[0].reason = evil.to_owned();
        record.declared.budgets.as_mut().expect("has").release =
            Release::NotProvided { reason: evil.to_owned(), revisit: evil.to_owned() };
        (session.sut, session.commit, session.operator) = (evil.to_owned(), evil.to_owned(), evil.to_owned());
        session.toolbox = vec![(evil.to_owned(), evil.to_owned())];
        session.sut_args = vec![evil.to_owned()];
        session.environment = vec![(evil.to_owned(), evil.to_owned(), evil.to_owned(), evil.to_owned())];
        plan.hypotheses[0].title = evil.to_owned();
        plan.adequacy[0].cells[1].1 = evil.to_owned();
        let mut events = events();
        events[0].notes = evil.to_owned();
        let records = [record];
        [
            report_markdown(Some(&plan), &session, &records, &events),
            scenario_markdown(Some(&plan), &session, &records[0], &events),
            session_log_markdown(Some(&plan), &session, &records, &events),
        ]
    };
    for (evil, good) in texts(hostile).iter().zip(&texts(benign)) {
        assert_eq!(structure(evil), structure(good));
        assert!(!evil.contains('\u{1b}'), "{evil}");
    }
}

/// What a Markdown parser sees beside text, code blocks reduced to their presence.
fn structure(page: &str) -> Vec<String> {
    use pulldown_cmark::{Event, Options, Parser, Tag};
    Parser::new_ext(page, Options::all())
        .filter_map(|event| match event {
            Event::Start(Tag::CodeBlock(_)) => Some("code block".to_owned()),
            Event::Start(tag) => Some(format!("{tag:?}")),
            Event::Text(_) | Event::SoftBreak | Event::End(_) => None,
            Event::Code(_) => Some("code".to_owned()),
            other => Some(format!("{other:?}")),
        })
        .collect()
}

#[test]
fn every_report_says_which_tests_the_repository_does_not_hold() {
    let mut record = healthy();
    let session = SessionRecord { harness: Some("artifacts/harness".to_owned()), ..session() };
    let texts = |record: &ScenarioRecord| {
        let records = std::slice::from_ref(record);
        [
            scenario_markdown(None, &session, record, &events()),
            report_markdown(None, &session, records, &events()),
            session_log_markdown(None, &session, records, &events()),
        ]
    };
    assert!(texts(&record).iter().all(|text| !text.contains(Harness::EPHEMERAL)));
    record.harness = Harness::Ephemeral;
    assert!(texts(&record).iter().all(|text| text.contains(Harness::EPHEMERAL)));
    assert!(texts(&record)[1].contains("The repository holds no test of S1: run from an ephemeral harness"));
}

#[test]
fn a_violation_seen_from_an_ephemeral_package_is_run_again_from_what_the_session_holds_of_it() {
    let mut record = ScenarioRecord { harness: Harness::Ephemeral, ..failing() };
    for (folder, run) in &mut record.runs {
        run.request.run_dir = format!("/s/{folder}");
        run.request.sut_args = vec!["--bug=stale reads".to_owned()];
    }
    let expect = "cargo disttest run docs/testing-plans/register.md --scenario S1 --tier hardening --seed 1 \
        --sut-arg='--bug=stale reads' --harness /s/artifacts/harness";
    assert_eq!(terminal::reproducer(&record).as_deref(), Some(expect));
}
