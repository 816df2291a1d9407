//! What the operator says: what is there, what not to look for, and what to do about what is missing.

use std::collections::BTreeMap;
use std::fmt::Write;
use toml_edit::{DocumentMut, Item};

/// What is to happen with scenarios whose requirement is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// They wait: `run` does not start.
    Wait,
    /// They run without it, and say what they could not do.
    Proceed,
    /// They run with this named, degraded approximation of it.
    Substitute(String),
}

impl Choice {
    /// In words.
    pub(crate) fn words(&self) -> String {
        match self {
            Choice::Wait => "wait for it".to_owned(),
            Choice::Proceed => "proceed without it".to_owned(),
            Choice::Substitute(what) => format!("substituted by a degraded approximation: {what}"),
        }
    }
}

/// What the operator says of one requirement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// It is there, or is not; `None`: look.
    pub present: Option<bool>,
    /// Its version.
    pub version: Option<String>,
    /// Not to be looked for.
    pub skip: bool,
    /// What to do if it is missing.
    pub missing: Option<Choice>,
}

/// Answers by requirement, as the plan or the matrix names it, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answers(BTreeMap<String, Answer>);

impl Answers {
    /// The answer about a requirement that goes by `names`.
    pub(crate) fn about<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> Option<&Answer> {
        names.find_map(|name| self.0.get(&key(name)))
    }

    /// Sets one.
    pub(crate) fn set(&mut self, requirement: &str, answer: Answer) {
        self.0.insert(key(requirement), answer);
    }

    /// Names that no requirement goes by.
    pub(crate) fn unused<'a>(&'a self, names: &[String]) -> Vec<&'a str> {
        let names: Vec<String> = names.iter().map(|name| key(name)).collect();
        self.0.keys().filter(|name| !names.contains(name)).map(String::as_str).collect()
    }

    /// Reads a TOML file: a table for each requirement, with `present`, `version`, `skip`, and `missing` (`"wait"`,
    /// `"proceed"`) or `substitute`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Answers, String> {
        let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
        let mut answers = Answers::default();
        for (name, item) in document.iter() {
            let answer = answer(item).map_err(|why| format!("[\"{name}\"]: {why}"))?;
            answers.set(name, answer);
        }
        Ok(answers)
    }

    /// The file that [`Answers::parse`] reads.
    pub(crate) fn text(&self) -> String {
        let mut out = "# What the operator said; `cargo disttest run PLAN --answers FILE` goes by it.\n".to_owned();
        for (name, answer) in &self.0 {
            let quoted = |text: &str| toml_edit::value(text).to_string().trim().to_owned();
            let _ = writeln!(out, "\n[{}]", quoted(name));
            let mut line = |key: &str, value: String| {
                let _ = writeln!(out, "{key} = {value}");
            };
            answer.present.iter().for_each(|present| line("present", present.to_string()));
            answer.version.iter().for_each(|version| line("version", quoted(version)));
            if answer.skip {
                line("skip", "true".to_owned());
            }
            match &answer.missing {
                None => {}
                Some(Choice::Wait) => line("missing", quoted("wait")),
                Some(Choice::Proceed) => line("missing", quoted("proceed")),
                Some(Choice::Substitute(what)) => line("substitute", quoted(what)),
            }
        }
        out
    }
}

fn key(name: &str) -> String {
    name.replace(['`', '*'], "").trim().to_lowercase()
}

fn answer(item: &Item) -> Result<Answer, String> {
    let table = item.as_table_like().ok_or("write a table: present, version, skip, missing or substitute")?;
    let mut answer = Answer::default();
    for (key, value) in table.iter() {
        let boolean = || value.as_bool().ok_or_else(|| format!("`{key}` is true or false"));
        let text = || value.as_str().map(str::to_owned).ok_or_else(|| format!("`{key}` is a text"));
        match key {
            "present" => answer.present = Some(boolean()?),
            "skip" => answer.skip = boolean()?,
            "version" => answer.version = Some(text()?),
            "substitute" => answer.missing = Some(named(text()?)?),
            "missing" => {
                answer.missing = Some(match text()?.as_str() {
                    "wait" => Choice::Wait,
                    "proceed" => Choice::Proceed,
                    other => return Err(format!("`missing = \"{other}\"`: write \"wait\" or \"proceed\"")),
                });
            }
            other => return Err(format!("unknown key `{other}`: present, version, skip, missing, substitute")),
        }
    }
    Ok(answer)
}

fn named(what: String) -> Result<Choice, String> {
    match what.trim() {
        "" => Err("`substitute` names the approximation".to_owned()),
        what => Ok(Choice::Substitute(what.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_survive_being_written_and_read() {
        let mut answers = Answers::default();
        let one = Answer { present: Some(true), version: Some("3.5".into()), ..Answer::default() };
        answers.set("`etcd` cluster", one.clone());
        let substitute = Choice::Substitute("a proxy's \"latency\"".into());
        answers.set("netem", Answer { skip: true, missing: Some(substitute), ..Answer::default() });
        answers.set("docker", Answer { missing: Some(Choice::Wait), ..Answer::default() });
        assert_eq!(Answers::parse(&answers.text()), Ok(answers.clone()));
        assert_eq!(answers.about(["x", "ETCD cluster"].into_iter()), Some(&one));
        assert_eq!(answers.unused(&["etcd cluster".into(), "Netem".into()]), ["docker"]);
    }

    #[test]
    fn what_cannot_be_an_answer_is_said() {
        let check = |text: &str, expect: &str| {
            let error = Answers::parse(text).expect_err(text);
            assert!(error.contains(expect), "{text}: {error}");
        };
        check("etcd = true", "write a table");
        check("[etcd]\npresent = 1", "`present` is true or false");
        check("[etcd]\nmissing = \"hope\"", "write \"wait\" or \"proceed\"");
        check("[etcd]\nsubstitute = \" \"", "names the approximation");
        check("[etcd]\nis = true", "unknown key `is`");
        check("[etcd", "TOML parse error");
    }
}
