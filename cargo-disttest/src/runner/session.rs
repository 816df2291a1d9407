//! The folder of a session, as far as the one who starts it is concerned.

use super::execute::Order;
use super::record::Reader;
use super::rows::{Row, parts};
use crate::page;
use crate::plan_file::PlanFile;
use crate::probe::finding::{Finding, Presence};
use crate::workspace::Workspace;
use disttest_runtime::base::digest::sha256_hex;
use disttest_runtime::plan::Id;
use disttest_runtime::session::{self, Depth, Key, Session, SessionSpec};
use disttest_runtime::verdict::{Drift, ScenarioRecord, Verdict};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A new, empty folder `<root>/<slug>/<UTC>`: what is in it later was written by this run.
///
/// # Errors
/// It cannot be made.
pub(crate) fn create(root: &Path, slug: &str, now: SystemTime) -> io::Result<PathBuf> {
    session::create_root(root)?;
    let parent = root.join(slug);
    std::fs::create_dir_all(&parent)?;
    let started = humantime::format_rfc3339_seconds(now).to_string().replace(['-', ':'], "");
    for number in 1.. {
        let dir = parent.join(if number == 1 { started.clone() } else { format!("{started}-{number}") });
        match std::fs::create_dir(&dir) {
            Ok(()) => return dir.canonicalize(),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("there are more numbers than folders")
}

/// Opens the session with what the machine has of what the plan requires, before anything runs in it.
///
/// # Errors
/// The session cannot be joined or written.
pub(crate) fn open(
    workspace: &Workspace,
    named: &(String, PathBuf),
    order: &Order,
    environment: &[(String, String, String, String)],
) -> anyhow::Result<Session> {
    join(workspace, named, order, environment)
}

/// The environment capability matrix of the session log.
pub(crate) fn matrix(environment: &[Finding]) -> Vec<(String, String, String, String)> {
    environment.iter().map(capability).collect()
}

/// A row of the matrix in the session log.
fn capability(found: &Finding) -> (String, String, String, String) {
    let choice = found.choice.as_deref().map(|choice| format!("; operator: {choice}")).unwrap_or_default();
    let version = found.version.clone().unwrap_or_else(|| "—".to_owned());
    let source = format!("{}{choice}", found.source);
    // What nobody looked for, and the operator says how to do without, is missing.
    let without = found.presence == Presence::Skipped && found.choice.is_some();
    let presence = if without { Presence::Missing } else { found.presence };
    (found.requirement.clone(), presence.word().to_owned(), version, source)
}

fn join(
    workspace: &Workspace,
    named: &(String, PathBuf),
    order: &Order,
    environment: &[(String, String, String, String)],
) -> anyhow::Result<Session> {
    Session::join(&SessionSpec {
        root: Path::new(&order.session_root),
        workspace: &workspace.root,
        key: &Key::Folder(PathBuf::from(&order.session)),
        plan: &session::PlanFile::find(&named.0, &named.1),
        tier: order.tier,
        sut_args: &order.sut_args,
        missing_budgets_allowed: order.allow_missing_budgets,
        environment,
    })
}

/// Ends the session with what `rows` say: each scenario that did not run is written down with its reason, in place of a
/// record that is not believed, if there is one. Then the reports, the page and the manifest are built anew from all files: what
/// the processes of the tests left of them is no word of ours. `named` is the plan as its tests name it.
///
/// # Errors
/// The session cannot be written.
pub(crate) fn close(
    session: &Session,
    plan: &PlanFile,
    named: &str,
    order: &Order,
    reader: Reader<'_>,
    rows: &[Row],
) -> anyhow::Result<()> {
    let not_run = parts(rows).filter(|row| row.verdict == Verdict::NotRun);
    let (contested, absent): (Vec<&Row>, Vec<&Row>) = not_run.partition(|row| reader.has_result(order, &row.scenario));
    let records = |rows: &[&Row]| -> Vec<ScenarioRecord> {
        rows.iter().filter_map(|row| not_run_record(plan, named, row, order)).collect()
    };
    session.register(&records(&absent))?;
    session.reject(&records(&contested))?;
    session.rebuild(Depth::Files)?;
    let page = page::of_session(session.layout().dir(), "..").map_err(anyhow::Error::msg)?;
    session.publish(&page)?;
    Ok(())
}

fn not_run_record(plan: &PlanFile, named: &str, row: &Row, order: &Order) -> Option<ScenarioRecord> {
    let id = Id::parse(&row.scenario)?;
    let scenario = plan.plan.scenarios.iter().find(|scenario| scenario.id.value.number() == id.number())?;
    let declared = session::planned(&plan.plan, named, scenario, &id);
    let (tier, reason) = (order.tier, row.reason.clone());
    let record = session::not_run(&declared, tier, Drift::None, Vec::new(), "not-started", reason);
    Some(ScenarioRecord { harness: row.harness, ..record })
}

/// A plan's slug as a folder name: nothing of it can lead elsewhere.
pub(crate) fn folder_name(slug: &str) -> String {
    let safe: String =
        slug.chars().map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '-' }).take(100).collect();
    let safe = safe.trim_matches('-');
    if safe.is_empty() { "plan".to_owned() } else { safe.to_owned() }
}

/// SHA-256 of the session's manifest; `None` when it has none.
pub(crate) fn manifest_sha256(session: &Path) -> Option<String> {
    std::fs::read(session.join("MANIFEST.sha256")).ok().map(|bytes| sha256_hex(&bytes))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn two_sessions_of_one_second_have_two_folders() {
        let root = tempfile::tempdir().unwrap();
        let now = SystemTime::UNIX_EPOCH;
        let first = create(root.path(), "p", now).unwrap();
        let second = create(root.path(), "p", now).unwrap();
        assert!(first.ends_with("p/19700101T000000Z"));
        assert!(second.ends_with("p/19700101T000000Z-2"));
    }

    #[test]
    fn a_slug_cannot_lead_elsewhere() {
        assert_eq!(folder_name("abd-register"), "abd-register");
        assert_eq!(folder_name("../../etc"), "etc");
        assert_eq!(folder_name("/"), "plan");
    }
}
