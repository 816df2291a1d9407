//! The table of verdicts, and how a run ends.

use crate::exit_code::End;
use disttest_runtime::plan::Tier;
use disttest_runtime::verdict::{Harness, SessionVerdict, Verdict, aggregate};
use serde::Serialize;

/// What became of one scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    /// Its id.
    pub scenario: String,
    /// Its name.
    pub name: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// Tier that it met.
    pub tier_met: Option<Tier>,
    /// It is ok for the tier that was asked for (D18), and nothing speaks against its record.
    pub ok: bool,
    /// Why, in a sentence.
    pub reason: String,
    /// Of a scenario with arms: what became of each. Its own verdict is joined from theirs.
    pub arms: Vec<Row>,
    /// Where its test stands.
    pub harness: Harness,
    /// Its test is not what the plan says now: `author` writes it anew.
    #[serde(skip)]
    pub drifted: bool,
}

impl Row {
    /// A scenario that did not run.
    pub(crate) fn not_run(scenario: &str, name: &str, reason: String) -> Row {
        let (scenario, name) = (scenario.to_owned(), name.to_owned());
        Row {
            scenario,
            name,
            verdict: Verdict::NotRun,
            tier_met: None,
            ok: false,
            reason,
            arms: Vec::new(),
            harness: Harness::Repository,
            drifted: false,
        }
    }

    /// A scenario with arms: its verdict is joined from theirs (D4), and it is ok when each of them is.
    pub(crate) fn joined(scenario: &str, name: &str, arms: Vec<Row>) -> Row {
        let verdicts: Vec<(&str, Option<Verdict>)> =
            arms.iter().map(|arm| (arm.scenario.as_str(), Some(arm.verdict))).collect();
        let (verdict, why) = aggregate(&verdicts);
        let doubted = arms.iter().find(|arm| arm.verdict.is_pass() && !arm.ok && !arm.reason.is_empty());
        let reason = match (verdict.is_pass(), doubted) {
            (false, _) => why.headline(),
            (true, Some(arm)) => format!("{}: {}", arm.scenario, arm.reason),
            (true, None) => String::new(),
        };
        Row {
            scenario: scenario.to_owned(),
            name: name.to_owned(),
            verdict,
            tier_met: arms.iter().map(|arm| arm.tier_met).min().flatten(),
            ok: verdict.is_pass() && arms.iter().all(|arm| arm.ok),
            reason,
            harness: arms.iter().map(|arm| arm.harness).find(|h| *h == Harness::Ephemeral).unwrap_or_default(),
            drifted: arms.iter().any(|arm| arm.drifted),
            arms,
        }
    }

    fn end(&self) -> End {
        match self.verdict {
            // A FAIL outranks everything, a record that calls it ok included.
            Verdict::FailReproducible | Verdict::FailNondeterministic => End::Violation,
            Verdict::NotRun => End::NotRun,
            Verdict::PassSmoke | Verdict::PassHardening if self.ok => End::Clean,
            Verdict::PassSmoke | Verdict::PassHardening if self.reason.is_empty() => End::TierNotMet,
            Verdict::PassSmoke
            | Verdict::PassHardening
            | Verdict::InconclusiveEnv
            | Verdict::InconclusiveFaultNotProven
            | Verdict::InconclusiveOracleTooWeak
            | Verdict::PartialSurface
            | Verdict::PartialModel => End::NothingConcluded,
        }
    }
}

/// The rows of whatever has a record of its own: arms, and scenarios without any.
pub(crate) fn parts(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().flat_map(|row| if row.arms.is_empty() { std::slice::from_ref(row) } else { &row.arms })
}

/// Every row, arms before their scenario.
fn lines(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().flat_map(|row| row.arms.iter().chain([row]))
}

/// How a run with these rows ends: a violation outranks a tier that was not met, that an unknown, that a scenario that
/// did not run. Only rows that are all ok end clean, and there must be one.
pub(crate) fn end(rows: &[Row]) -> End {
    const RANK: [End; 4] = [End::Violation, End::TierNotMet, End::NothingConcluded, End::NotRun];
    let ends: Vec<End> = lines(rows).map(Row::end).collect();
    if rows.is_empty() {
        return End::NotRun;
    }
    RANK.into_iter().find(|end| ends.contains(end)).unwrap_or(End::Clean)
}

/// The session's verdict over these rows, which are whole scenarios, and over scenarios of the plan that nobody asked
/// for: what the reports of the session say.
pub(crate) fn session_verdict(rows: &[Row], not_asked_for: usize) -> SessionVerdict {
    let not_run = std::iter::repeat_n(Verdict::NotRun, not_asked_for);
    let verdicts: Vec<Verdict> = rows.iter().map(|row| row.verdict).chain(not_run).collect();
    SessionVerdict::of(&verdicts)
}

/// The rows as an aligned table; `written` spells an id as the plan's author does.
pub(crate) fn table(rows: &[Row], written: &dyn Fn(&str) -> String) -> String {
    let id = lines(rows).map(|row| written(&row.scenario).chars().count()).max().unwrap_or(0);
    let name = lines(rows).map(|row| row.name.chars().count()).max().unwrap_or(0);
    let line = |row: &Row| {
        let tier = row.tier_met.map_or("—", Tier::as_str);
        let mut reason = if row.reason.is_empty() { String::new() } else { format!("      {}\n", row.reason) };
        if let Some(note) = row.harness.note() {
            reason.push_str(&format!("      {note}\n"));
        }
        format!("  {:id$}  {:name$}  {:28}  {tier}\n{reason}", written(&row.scenario), row.name, row.verdict)
    };
    lines(rows).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(verdict: Verdict, ok: bool, reason: &str) -> Row {
        Row { verdict, ok, reason: reason.to_owned(), ..Row::not_run("S1", "n", String::new()) }
    }

    #[test]
    fn a_run_ends_clean_only_when_every_scenario_ran_and_is_ok() {
        for verdict in Verdict::ALL {
            for ok in [true, false] {
                let end = end(&[row(verdict, ok, "")]);
                assert_eq!(end == End::Clean, ok && verdict.is_pass(), "{verdict} {ok}");
            }
        }
        assert_eq!(end(&[]), End::NotRun);
    }

    #[test]
    fn the_worst_row_decides() {
        use Verdict::{FailNondeterministic, InconclusiveEnv, NotRun, PartialModel, PassHardening, PassSmoke};
        let check = |rows: &[(Verdict, bool)], expect: End| {
            let rows: Vec<Row> = rows.iter().map(|(verdict, ok)| row(*verdict, *ok, "")).collect();
            assert_eq!(end(&rows), expect);
        };
        check(&[(PassSmoke, true), (PassHardening, true)], End::Clean);
        check(&[(PassSmoke, true), (NotRun, false)], End::NotRun);
        check(&[(NotRun, false), (InconclusiveEnv, false)], End::NothingConcluded);
        check(&[(PartialModel, false), (PassHardening, true)], End::NothingConcluded);
        check(&[(PassSmoke, false), (PartialModel, false), (NotRun, false)], End::TierNotMet);
        check(&[(PassSmoke, false), (FailNondeterministic, false)], End::Violation);
        check(&[(FailNondeterministic, true)], End::Violation);
    }

    #[test]
    fn a_pass_with_something_against_it_concludes_nothing() {
        let row = row(Verdict::PassHardening, false, "its attribute is not what the plan says: checkers");
        assert_eq!(end(&[row]), End::NothingConcluded);
    }

    fn arm(name: &str, verdict: Verdict, ok: bool) -> Row {
        Row { scenario: format!("S5/{name}"), ..row(verdict, ok, "") }
    }

    #[test]
    fn a_scenario_with_arms_is_ok_only_when_each_of_them_is() {
        use Verdict::{FailReproducible, NotRun, PartialSurface, PassHardening, PassSmoke};
        let check = |arms: [Row; 2], verdict: Verdict, end_of_run: End, session: SessionVerdict| {
            let rows = [Row::joined("S5", "n", arms.to_vec())];
            assert_eq!((rows[0].verdict, end(&rows), session_verdict(&rows, 0)), (verdict, end_of_run, session));
            assert_eq!(rows[0].ok, end_of_run == End::Clean);
        };
        let ok = arm("api", PassSmoke, true);
        check([ok.clone(), arm("sdk", PassSmoke, true)], PassSmoke, End::Clean, SessionVerdict::Done);
        check(
            [ok.clone(), arm("sdk", NotRun, false)],
            PartialSurface,
            End::NothingConcluded,
            SessionVerdict::Inconclusive,
        );
        check(
            [ok.clone(), arm("sdk", FailReproducible, false)],
            FailReproducible,
            End::Violation,
            SessionVerdict::Fail,
        );
        check([arm("api", NotRun, false), arm("sdk", NotRun, false)], NotRun, End::NotRun, SessionVerdict::Blocked);
        let below = arm("sdk", PassSmoke, false);
        check([arm("api", PassHardening, true), below.clone()], PassSmoke, End::TierNotMet, SessionVerdict::Done);
        let doubted = Row { reason: "its attribute is not what the plan says".to_owned(), ..below };
        check([ok, doubted], PassSmoke, End::NothingConcluded, SessionVerdict::Done);
    }

    #[test]
    fn a_session_of_some_scenarios_is_not_done() {
        let check = |verdict: Verdict, not_asked_for: usize, expect: SessionVerdict| {
            assert_eq!(session_verdict(&[row(verdict, true, "")], not_asked_for), expect, "{verdict} {not_asked_for}");
        };
        check(Verdict::PassSmoke, 0, SessionVerdict::Done);
        check(Verdict::PassSmoke, 1, SessionVerdict::DoneWithConcerns);
        check(Verdict::FailReproducible, 1, SessionVerdict::Fail);
        check(Verdict::InconclusiveEnv, 2, SessionVerdict::Inconclusive);
        check(Verdict::NotRun, 2, SessionVerdict::Blocked);
    }

    #[test]
    fn arms_stand_above_their_scenario() {
        let arms = vec![arm("api", Verdict::PassSmoke, true), arm("sdk", Verdict::NotRun, false)];
        let expect = "  S5/api  n  PASS-smoke                    —\n  S5/sdk  n  NOT-RUN                       —\n  \
                      S5      n  PARTIAL-surface               —\n      capped by S5/sdk NOT-RUN\n";
        assert_eq!(table(&[Row::joined("S5", "n", arms)], &str::to_owned), expect);
    }

    #[test]
    fn a_table_is_aligned() {
        let rows = [row(Verdict::PassSmoke, true, ""), Row::not_run("S10", "longer", "why".to_owned())];
        assert_eq!(
            table(&rows, &str::to_owned),
            "  S1   n       PASS-smoke                    —\n  S10  longer  NOT-RUN                       —\n      why\n"
        );
    }
}
