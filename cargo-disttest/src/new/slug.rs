//! The slug of a plan: the name by which a person asks for it again.

/// Longest slug; a file name and a title must hold it.
const LONGEST: usize = 80;
/// Words that say nothing about a plan.
const EMPTY_WORDS: [&str; 22] = [
    "a", "an", "the", "my", "our", "new", "old", "plan", "plans", "test", "tests", "testing", "draft", "final", "temp",
    "tmp", "foo", "bar", "misc", "stuff", "scenario", "version",
];
/// Names that Windows keeps for devices.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// `text` as it is, when it is a slug.
///
/// # Errors
/// What is wrong with it, and what to write.
pub(crate) fn check(text: &str) -> Result<(), String> {
    if text.contains(['/', '\\']) || text.contains("..") || text.contains('\0') {
        return Err(format!("the slug `{text}` is a name, not a path; `--output PATH` says where the plan goes"));
    }
    let kebab = kebab(text);
    if text.is_empty() || kebab != text {
        let hint = if kebab.is_empty() { "durable-idempotent-append-replay" } else { &kebab };
        return Err(format!("the slug `{text}` is not kebab-case (a-z, 0-9 and single `-`): write `{hint}`"));
    }
    if text.len() > LONGEST {
        return Err(format!("the slug has {} characters; at most {LONGEST} make a file name and a title", text.len()));
    }
    if DEVICES.contains(&text) {
        return Err(format!("`{text}` is the name of a device on Windows: choose another slug"));
    }
    if !text.split('-').any(says_something) {
        return Err(format!(
            "the slug `{text}` does not say what the plan is about: name the promise, such as \
             `durable-idempotent-append-replay`"
        ));
    }
    Ok(())
}

fn says_something(word: &str) -> bool {
    let numbered = word.trim_start_matches('v').bytes().all(|b| b.is_ascii_digit());
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
    word.len() > 2 && !numbered && !EMPTY_WORDS.contains(&bare)
}

/// The nearest kebab-case word.
fn kebab(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => out.push(c.to_ascii_lowercase()),
            _ if out.is_empty() || out.ends_with('-') => {}
            _ => out.push('-'),
        }
    }
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_descriptive_kebab_case_and_nothing_else() {
        let check = |text: &str, expect: Option<&str>| match (check(text), expect) {
            (Ok(()), None) => {}
            (Err(why), Some(part)) => assert!(why.contains(part), "{text}: {why}"),
            (got, _) => panic!("{text}: {got:?}"),
        };
        check("durable-idempotent-append-replay", None);
        check("abd-register", None);
        check("raft3", None);
        check("plan-1", Some("does not say what the plan is about"));
        check("plan", Some("does not say"));
        check("my-new-test-plan-v2", Some("does not say"));
        check("test1", Some("does not say"));
        check("42", Some("does not say"));
        check("Lost Acks", Some("write `lost-acks`"));
        check("lost_acks", Some("write `lost-acks`"));
        check("lost--acks", Some("write `lost-acks`"));
        check("-lost-acks", Some("write `lost-acks`"));
        check("日本", Some("write `durable-"));
        check("", Some("write `durable-"));
        check("../lost-acks", Some("a name, not a path"));
        check("docs/lost-acks", Some("a name, not a path"));
        check("lost\\acks", Some("a name, not a path"));
        check("lost..acks", Some("a name, not a path"));
        check("lost-acks.md", Some("write `lost-acks-md`"));
        check("lost\u{1b}[31m", Some("kebab-case"));
        check("nul", Some("device"));
        check("long-".repeat(20).trim_end_matches('-'), Some("at most 80"));
    }
}
