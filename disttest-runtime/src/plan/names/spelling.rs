//! Names that are almost ones of the format. Prose is searched for known names, so a misspelt one is not seen at all:
//! beside another name that is spelt right, a checker or a nemesis of the plan would be lost without a word.

use super::{CHECKERS, MODELS, NEMESES, SIGNALS};
use std::sync::LazyLock;

/// The known name that `word` (from a plan, any case) was meant to be: one or two letters away, and not a name itself.
/// O(names × length²).
pub fn misspelt(word: &str) -> Option<&'static str> {
    let length = word.chars().count();
    let allowed = match length {
        0..7 => return None,
        7..10 => 1,
        _ => 2,
    };
    if length > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let letters: Vec<char> = word.chars().collect();
    let known = letters_of_spellings();
    if known.iter().any(|(name, _)| **name == word) {
        return None;
    }
    let near = |name: &Vec<char>| {
        name.len().abs_diff(letters.len()) <= allowed && strsim::generic_levenshtein(name, &letters) <= allowed
    };
    known.iter().find(|(_, name)| near(name)).map(|(name, _)| *name)
}

/// Longest word that is compared: no name of ours comes near.
const LONGEST: usize = 64;

/// Every spelling of every name.
pub(crate) fn spellings() -> impl Iterator<Item = &'static str> {
    letters_of_spellings().iter().map(|(name, _)| *name)
}

/// Every spelling of every name, with its letters.
fn letters_of_spellings() -> &'static [(&'static str, Vec<char>)] {
    static SPELLINGS: LazyLock<Vec<(&'static str, Vec<char>)>> = LazyLock::new(|| {
        let nemeses = NEMESES.iter().map(|nemesis| &nemesis.name);
        let names = CHECKERS.iter().chain(MODELS).chain(nemeses);
        let names = names.flat_map(|name| std::iter::once(name.id).chain(name.aliases.iter().copied()));
        let all = names.chain(SIGNALS.iter().map(|signal| signal.name.id));
        all.map(|name| (name, name.chars().collect())).collect()
    });
    &SPELLINGS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_almost_one_of_the_format_is_recognised() {
        let check = |word: &str, expect: Option<&str>| assert_eq!(misspelt(word), expect, "{word}");
        check("linearizabilty", Some("linearizability"));
        check("line\u{430}rizability", Some("linearizability"));
        check("Linearizability", None);
        check("linearisability", None);
        check("no-lost-acks", None);
        check("no-lost-akc", Some("no-lost-ack"));
        check("asymetric-data-cut", Some("asymmetric-data-cut"));
        check("client-timeout", Some("client-timeouts"));
        check("metrics", Some("metric"));
        check("pause", None);
        check("node_seen", None);
        check("peer-timeouts", None);
        check("quorum-loss", None);
    }
}
