//! The known name that somebody probably meant.

/// Longest word that is compared at all, in characters: no name of ours is that long.
const LONGEST: usize = 64;

/// The one of `known` that `word` is closest to, if it is close: a third of its letters or fewer are wrong, missing,
/// too many or swapped with their neighbour, or one of the two is the beginning of the other. The first of equals
/// wins. O(known × length²).
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word = word.trim().to_lowercase().replace('_', "-");
    let length = word.chars().count();
    if length == 0 || length > LONGEST {
        return None;
    }
    let allowed = (length / 3).max(1);
    let scored = known.into_iter().map(|name| {
        let begins = length >= 4 && (name.starts_with(&word) || word.starts_with(name));
        (if begins { 1 } else { distance(&word, name) }, name)
    });
    scored.filter(|(score, _)| *score <= allowed).min_by_key(|(score, _)| *score).map(|(_, name)| name)
}

/// Letters to insert, delete, replace or swap with their neighbour (optimal string alignment: Damerau 1964,
/// Levenshtein 1966). O(length²).
pub fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_letters() {
        let check = |a: &str, b: &str, expect: usize| {
            assert_eq!((distance(a, b), distance(b, a)), (expect, expect), "{a} {b}");
        };
        check("", "", 0);
        check("", "abc", 3);
        check("deny", "deny", 0);
        check("dney", "deny", 1);
        check("oracel", "oracle", 1);
        check("kitten", "sitting", 3);
        check("é", "e", 1);
    }

    #[test]
    fn a_name_is_suggested_only_when_it_is_close() {
        const KNOWN: [&str; 4] = ["missing-oracle", "missing-budgets", "vague-oracle", "lint"];
        let check = |word: &str, expect: Option<&str>| assert_eq!(nearest(word, KNOWN), expect, "{word}");
        check("mising-oracle", Some("missing-oracle"));
        check("Missing_Oracle", Some("missing-oracle"));
        check("missing-budget", Some("missing-budgets"));
        check("missing", Some("missing-oracle"));
        check("lints", Some("lint"));
        check("x", None);
        check("", None);
        check("something-else", None);
        check(&"a".repeat(10_000), None);
    }
}
