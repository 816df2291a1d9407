//! What was found out about each need. What nobody told and nobody could see is unknown, never guessed.

use super::answers::{Answer, Answers, Choice};
use super::look::{self, Seen};
use super::need::Need;
use super::version::{Floor, floor, reaches};
use serde::Serialize;

/// Whether a requirement is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Presence {
    /// It is there.
    Present,
    /// It is there, older than the plan's floor.
    TooOld,
    /// It is not there.
    Missing,
    /// Nobody could tell.
    Unknown,
    /// Brought up by the system under test.
    Bundled,
    /// The operator said not to look.
    Skipped,
}

impl Presence {
    /// In a word for the matrix.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Presence::Present => "yes",
            Presence::TooOld => "too old",
            Presence::Missing => "no",
            Presence::Unknown => "unknown",
            Presence::Bundled => "brought up by SUT",
            Presence::Skipped => "skipped",
        }
    }

    /// A scenario that depends on it lacks something.
    pub(crate) fn is_lacking(self) -> bool {
        matches!(self, Presence::Missing | Presence::TooOld)
    }
}

/// A row of the capability matrix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Finding {
    /// As the plan writes it.
    pub requirement: String,
    /// Is it there?
    pub presence: Presence,
    /// Its version, where one was told.
    pub version: Option<String>,
    /// The plan's floor.
    pub floor: String,
    /// Who says so: a path, the operator, the plan.
    pub source: String,
    /// Which scenarios depend on it.
    pub used_by: String,
    /// How to install it.
    pub install_hint: String,
    /// What the operator chose to do about its absence.
    pub choice: Option<String>,
    #[serde(skip)]
    pub(crate) waits: bool,
}

/// The names by which answers may speak of a need.
pub(crate) fn names(need: &Need) -> impl Iterator<Item = &str> {
    std::iter::once(need.requirement.as_str()).chain(need.known.iter().map(|known| known.name))
}

/// Finds out about one need: the operator's word first, then the machine.
pub(crate) fn find_out(need: &Need, answers: &Answers) -> Finding {
    let answer = answers.about(names(need)).cloned().unwrap_or_default();
    let (presence, seen) = presence(need, &answer);
    let choice = answer.missing.filter(|_| presence.is_lacking() || presence == Presence::Skipped);
    Finding {
        requirement: need.requirement.clone(),
        presence,
        version: seen.version,
        floor: need.floor.clone(),
        source: seen.source,
        used_by: need.used_by.clone(),
        install_hint: hint(need),
        waits: choice == Some(Choice::Wait),
        choice: choice.as_ref().map(Choice::words),
    }
}

fn presence(need: &Need, answer: &Answer) -> (Presence, Seen) {
    let said = |present| Seen { present, version: answer.version.clone(), source: "operator".to_owned() };
    if let Some(present) = answer.present {
        let seen = said(Some(present));
        return (judged(need, &seen), seen);
    }
    if need.bundled {
        return (Presence::Bundled, Seen { present: None, version: None, source: "plan §6b".to_owned() });
    }
    if answer.skip {
        return (Presence::Skipped, said(None));
    }
    let seen = seen(need);
    (judged(need, &seen), seen)
}

fn judged(need: &Need, seen: &Seen) -> Presence {
    match (seen.present, floor(&need.floor), &seen.version) {
        (None, ..) => Presence::Unknown,
        (Some(false), ..) => Presence::Missing,
        (Some(true), Floor::AtLeast(least), Some(version)) if !reaches(version, &least) => Presence::TooOld,
        // There, but nobody can say that it is new enough.
        (Some(true), Floor::AtLeast(_), None) => Presence::Unknown,
        (Some(true), Floor::Unread, _) => Presence::Unknown,
        (Some(true), ..) => Presence::Present,
    }
}

fn seen(need: &Need) -> Seen {
    let all: Vec<Seen> = need.known.iter().map(|known| look::look(known)).collect();
    let unknown = |source: &str| Seen { present: None, version: None, source: source.to_owned() };
    if all.is_empty() {
        let quoted = need.quoted.iter().find_map(|name| look::quoted(name));
        return quoted.unwrap_or_else(|| unknown("nothing here knows how to look for it"));
    }
    if need.any {
        let there = all.iter().find(|seen| seen.present == Some(true));
        let undecided = || all.iter().find(|seen| seen.present.is_none());
        return there.or_else(undecided).unwrap_or(&all[0]).clone();
    }
    let absent = all.iter().find(|seen| seen.present == Some(false));
    let undecided = || all.iter().find(|seen| seen.present.is_none());
    // A floor belongs to the first thing that the row names.
    absent.or_else(undecided).unwrap_or(&all[0]).clone()
}

fn hint(need: &Need) -> String {
    let empty = ["", "-", "–", "—", "n/a", "none"].contains(&need.hint.to_lowercase().as_str());
    if !empty {
        return need.hint.clone();
    }
    need.known.first().map_or_else(|| "the plan gives none".to_owned(), |known| known.hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::need::needs;
    use super::*;
    use disttest_runtime::plan::parse;

    fn found(row: &str, answers: &str) -> Finding {
        let text = format!(
            "# Test Plan: x\n\n## 6b. Environment requirements\n\n| Requirement | Version floor | Used by scenarios | \
             Install hint |\n|---|---|---|---|\n{row}\n"
        );
        let needs = needs(&parse(&text).0);
        find_out(&needs[0], &Answers::parse(answers).expect("good answers"))
    }

    #[test]
    fn presence_is_told_or_seen_and_never_guessed() {
        let check = |row: &str, answers: &str, presence: Presence, source: &str| {
            let found = found(row, answers);
            assert_eq!((found.presence, found.source.as_str()), (presence, source), "{row} {answers}");
        };
        check("| A flurble | 1 | S1 | — |", "", Presence::Unknown, "nothing here knows how to look for it");
        check(
            "| A flurble | 1 | S1 | — |",
            "[\"a flurble\"]\npresent = true\nversion = \"2\"",
            Presence::Present,
            "operator",
        );
        check(
            "| A flurble | 3 | S1 | — |",
            "[\"a flurble\"]\npresent = true\nversion = \"2\"",
            Presence::TooOld,
            "operator",
        );
        check("| A flurble | 3 | S1 | — |", "[\"a flurble\"]\npresent = true", Presence::Unknown, "operator");
        check("| etcd | — | S1 | — |", "[etcd]\npresent = false", Presence::Missing, "operator");
        check("| etcd | — | S1 | — |", "[etcd]\nskip = true", Presence::Skipped, "operator");
        check("| etcd | — | S1 | brought up by SUT |", "", Presence::Bundled, "plan §6b");
    }

    #[test]
    fn the_machine_is_looked_at_for_what_is_known() {
        let rust = found("| Rust toolchain | 1.60 | S1 | rustup |", "");
        assert_eq!(rust.presence, Presence::Present);
        assert!(rust.version.is_some() && rust.source.contains("rustc"));
        assert_eq!(found("| Rust toolchain | 99.0 | S1 | rustup |", "").presence, Presence::TooOld);
        assert_eq!(found("| Rust toolchain | nightly | S1 | rustup |", "").presence, Presence::Unknown);
    }

    #[test]
    fn a_verdict_takes_for_absent_what_the_matrix_says_is_lacking() {
        use Presence::*;
        for presence in [Present, TooOld, Missing, Unknown, Bundled, Skipped] {
            assert_eq!(disttest_runtime::session::ABSENT.contains(&presence.word()), presence.is_lacking());
        }
    }

    #[test]
    fn a_choice_stands_only_where_something_is_missing() {
        let gone = found("| etcd | — | S1 | — |", "[etcd]\npresent = false\nmissing = \"wait\"");
        assert!(gone.waits && gone.choice.is_some());
        assert_eq!(gone.install_hint, "apt-get install etcd-server");
        let there = found("| etcd | — | S1 | — |", "[etcd]\npresent = true\nmissing = \"wait\"");
        assert!(!there.waits && there.choice.is_none());
    }
}
