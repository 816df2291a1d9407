//! The files of a session against its manifest: what was altered, and what a run that was cut off left unfinished.

use crate::session::{Contents, MANIFEST};
use std::collections::BTreeSet;

/// What the files show.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Folder {
    /// Differences that no honest run leaves.
    pub(super) contradictions: Vec<String>,
    /// Folders of scenarios that were under way when the run was cut off.
    pub(super) unfinished: BTreeSet<String>,
}

/// Files of a scenario that are written while it is under way.
const GROWING: [&str; 2] = ["scenario.json", "events.jsonl"];

/// Tells altered files from those of a run that was cut off. The manifest is written whenever a scenario ends, and what has
/// ended is never touched again; so files that it does not list, and records that have changed, are those of a scenario
/// that had not ended, or were put there. `ended` says of a scenario's folder that its record tells of executions.
pub(super) fn judge(contents: &Contents, expect: Option<&str>, ended: &dyn Fn(&str) -> bool) -> Folder {
    let mut found = Folder::default();
    let mut wrong: Vec<String> = unexpected(contents, expect).into_iter().collect();
    wrong.extend(contents.unreadable.iter().cloned());
    wrong.extend(contents.links.iter().map(|name| format!("{name} is a link: what it points to is in no manifest")));
    let as_listed = |record: &str| {
        let touched = contents.changed.iter().any(|name| name == record);
        let listed = !contents.unlisted.iter().any(|(name, _)| name == record);
        let gone = contents.missing.iter().any(|(name, _)| name == record);
        listed && !touched && !gone
    };
    // What its own record, as the manifest lists it, says has ended is not under way.
    let may_be_under_way = |folder: &str| !(as_listed(&format!("artifacts/{folder}/scenario.json")) && ended(folder));
    for (name, hash) in &contents.unlisted {
        let kept_aside = contents.missing.iter().any(|(missing, was)| was == hash && is_aside(missing, name));
        match scenario_of(name) {
            _ if kept_aside => {}
            Some(folder) if may_be_under_way(folder) => drop(found.unfinished.insert(folder.to_owned())),
            None if contents.sha256.is_none() => {}
            _ => wrong.push(format!("{name} is not in the manifest")),
        }
    }
    for name in &contents.changed {
        let growing = GROWING.iter().any(|file| name.ends_with(&format!("/{file}")));
        let under_way = scenario_of(name).is_some_and(|folder| found.unfinished.contains(folder));
        if !(growing && under_way) {
            wrong.push(format!("{name} is not the file that the manifest tells of"));
        }
    }
    for (name, hash) in &contents.missing {
        if !contents.unlisted.iter().any(|(other, now)| now == hash && is_aside(name, other)) {
            wrong.push(format!("{name} is gone, and the manifest tells of it"));
        }
    }
    if contents.sha256.is_none() && found.unfinished.is_empty() {
        wrong.push(format!("it has no {MANIFEST}"));
    }
    found.contradictions = wrong;
    found
}

fn unexpected(contents: &Contents, expect: Option<&str>) -> Option<String> {
    let expect = expect?;
    match &contents.sha256 {
        Some(sha256) if sha256 == expect => None,
        Some(sha256) => Some(format!(
            "{MANIFEST} has the SHA-256 {sha256}, not the expected {expect}: it is another session, or was altered"
        )),
        None => Some(format!("it has no {MANIFEST}, whose SHA-256 was to be {expect}")),
    }
}

/// The folder of the scenario that a file is about.
fn scenario_of(name: &str) -> Option<&str> {
    let below = name.strip_prefix("artifacts/").or_else(|| name.strip_prefix("logs/"))?;
    below.split_once('/').map(|(folder, _)| folder)
}

/// True when `name` is where the record `record` is kept once a later attempt has begun.
fn is_aside(record: &str, name: &str) -> bool {
    let attempt = record.strip_suffix("scenario.json").and_then(|folder| name.strip_prefix(folder));
    attempt.is_some_and(|file| file.starts_with("scenario-attempt-") && file.ends_with(".json") && !file.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `~name` changed, `-name` is gone, `+name` is new, `@name` is a link, `x` no manifest; hashes are the names, unless given behind `=`.
    fn check(files: &[&str], unfinished: &[&str], expect: &[&str]) {
        let mut contents = Contents { sha256: Some("m".to_owned()), ..Contents::default() };
        for file in files {
            let (kind, name) = file.split_at(1);
            let (name, hash) = name.split_once('=').unwrap_or((name, name));
            match kind {
                "~" => contents.changed.push(name.to_owned()),
                "-" => contents.missing.push((name.to_owned(), hash.to_owned())),
                "@" => contents.links.push(name.to_owned()),
                "+" => contents.unlisted.push((name.to_owned(), hash.to_owned())),
                _ => contents.sha256 = None,
            }
        }
        let found = judge(&contents, None, &|folder| folder == "S1");
        assert_eq!(found.unfinished.iter().map(String::as_str).collect::<Vec<_>>(), unfinished, "{files:?}");
        let told = |what: &&str| found.contradictions.iter().any(|why| why.contains(what));
        assert!(found.contradictions.len() == expect.len() && expect.iter().all(told), "{files:?}: {found:?}");
    }

    #[test]
    fn a_session_as_it_was_left_is_whole() {
        check(&[], &[], &[]);
    }

    #[test]
    fn a_run_that_was_cut_off_leaves_files_of_scenarios_that_had_not_ended() {
        check(
            &["+artifacts/S2/seed-1/run.json", "+logs/S2/seed-1/n1.log", "~artifacts/S2/scenario.json"],
            &["S2"],
            &[],
        );
        check(&["x", "+session.json", "+plan.md", "+artifacts/S1/scenario.json"], &["S1"], &[]);
        // A second attempt had begun.
        let again =
            ["-artifacts/S1/scenario.json=h", "+artifacts/S1/scenario-attempt-1.json=h", "+artifacts/S1/events.jsonl"];
        check(&again, &["S1"], &[]);
    }

    #[test]
    fn what_had_ended_is_never_touched_again() {
        check(&["~artifacts/S1/seed-1/history.jsonl"], &[], &["not the file"]);
        check(&["~artifacts/S1/scenario.json"], &[], &["not the file"]);
        check(&["-artifacts/S1/seed-1/run.json"], &[], &["is gone"]);
        check(&["+artifacts/S1/seed-9/run.json"], &[], &["not in the manifest"]);
        check(&["+findings/S9.md"], &[], &["not in the manifest"]);
        check(&["@artifacts/S9", "+artifacts/S2/seed-1/x"], &["S2"], &["artifacts/S9 is a link"]);
        check(&["~findings/report.md", "+artifacts/S2/seed-1/x"], &["S2"], &["not the file"]);
        check(&["~artifacts/S2/seed-1/history.jsonl", "+artifacts/S2/seed-1/x"], &["S2"], &["not the file"]);
        check(&["-artifacts/S1/scenario.json=h", "+artifacts/S1/scenario-attempt-1.json=other"], &["S1"], &["is gone"]);
        check(&["x"], &[], &["no MANIFEST"]);
    }

    #[test]
    fn the_expected_manifest_is_that_one() {
        let contents = |sha256: Option<&str>| Contents { sha256: sha256.map(str::to_owned), ..Contents::default() };
        let check = |sha256, expect: &str| {
            let found = judge(&contents(sha256), Some("m"), &|_| true);
            assert!(found.contradictions.iter().any(|why| why.contains(expect)), "{found:?}");
        };
        assert_eq!(judge(&contents(Some("m")), Some("m"), &|_| true), Folder::default());
        check(Some("other"), "not the expected m");
        check(None, "was to be m");
    }
}
