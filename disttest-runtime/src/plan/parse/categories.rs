//! Category cells: one word, a set, qualifiers in parentheses, and words outside the vocabulary.

use crate::plan::Category;

/// What a category cell says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Categories {
    /// Categories, in order, each once. A word outside the vocabulary and an empty cell count as `safety`.
    pub(super) categories: Vec<Category>,
    /// Words outside the vocabulary.
    pub(super) unknown: Vec<String>,
}

/// Reads a cell.
pub(super) fn read(cell: &str) -> Categories {
    let mut out = Categories::default();
    for word in words(cell) {
        let category = Category::ALL.into_iter().find(|c| c.as_str().eq_ignore_ascii_case(&word));
        if category.is_none() {
            out.unknown.push(word);
        }
        // Gating like safety is the strict reading: a typing error must not make a scenario less serious.
        let category = category.unwrap_or(Category::Safety);
        if !out.categories.contains(&category) {
            out.categories.push(category);
        }
    }
    if out.categories.is_empty() {
        out.categories.push(Category::Safety);
    }
    out
}

/// The category an author probably meant by `word`.
pub(in crate::plan) fn nearest(word: &str) -> Category {
    let known = MEANT.iter().find(|(stem, _)| word.contains(stem));
    known.map_or_else(|| closest_spelling(word), |(_, category)| *category)
}

/// Stems of words seen in plans, and the category they stand for.
const MEANT: &[(&str, Category)] = &[
    ("consisten", Category::Safety),
    ("lineariz", Category::Safety),
    ("correct", Category::Safety),
    ("integrity", Category::Safety),
    ("secur", Category::Boundary),
    ("authz", Category::Boundary),
    ("authori", Category::Boundary),
    ("tenan", Category::Boundary),
    ("namespace", Category::Boundary),
    ("routing", Category::Boundary),
    ("protocol", Category::Boundary),
    ("compat", Category::Boundary),
    ("availab", Category::Liveness),
    ("progress", Category::Liveness),
    ("recover", Category::Liveness),
    ("perf", Category::PerformanceSlo),
    ("latency", Category::PerformanceSlo),
    ("throughput", Category::PerformanceSlo),
    ("slo", Category::PerformanceSlo),
    ("dedup", Category::Idempotency),
    ("exactly", Category::Idempotency),
    ("persist", Category::Durability),
    ("serializ", Category::Isolation),
    ("transaction", Category::Isolation),
    ("order", Category::Ordering),
    ("config", Category::Operational),
    ("upgrade", Category::Operational),
    ("observab", Category::Operational),
    ("fair", Category::Fairness),
];

fn closest_spelling(word: &str) -> Category {
    let word: String = word.chars().take(40).collect();
    Category::ALL
        .into_iter()
        .min_by_key(|c| strsim::levenshtein(&word, &c.as_str().to_lowercase()))
        .unwrap_or(Category::Safety)
}

fn words(cell: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut depth = 0_usize;
    for c in cell.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '*' | '`' | '_' | '~' => {}
            _ if depth == 0 => plain.extend(c.to_lowercase()),
            _ => {}
        }
    }
    let spaced = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    // The two spellings with a slash that the format itself accepts.
    let spaced = ["performance / slo", "performance/slo", "performance slo"]
        .iter()
        .fold(spaced, |text, two| text.replace(two, "performance-slo"));
    let spaced =
        ["idempotency / dedup", "idempotency/dedup"].iter().fold(spaced, |text, two| text.replace(two, "idempotency"));
    spaced
        .replace(" and ", ",")
        .split(['/', ',', ';', '&', '+', '\n'])
        .map(|w| w.trim().trim_end_matches('.').to_owned())
        .filter(|w| !w.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Category::*;

    #[test]
    fn a_cell_is_a_set_of_categories() {
        let check = |cell: &str, expect: &[Category], unknown: &[&str]| {
            let found = read(cell);
            assert_eq!(found.categories, expect, "{cell}");
            assert_eq!(found.unknown, unknown, "{cell}");
        };
        check("safety", &[Safety], &[]);
        check("**Durability**", &[Durability], &[]);
        check("safety / liveness", &[Safety, Liveness], &[]);
        check("ordering, idempotency", &[Ordering, Idempotency], &[]);
        check("Performance / SLO", &[PerformanceSlo], &[]);
        check("performance-SLO and fairness", &[PerformanceSlo, Fairness], &[]);
        check("Idempotency / dedup", &[Idempotency], &[]);
        check("ordering (queue example)", &[Ordering], &[]);
        check("(negative) consistency", &[Safety], &["consistency"]);
        check("availability", &[Safety], &["availability"]);
        check("liveness / availability", &[Liveness, Safety], &["availability"]);
        check("", &[Safety], &[]);
        check("performance", &[Safety], &["performance"]);
    }

    #[test]
    fn the_nearest_category_is_suggested() {
        let check = |word: &str, expect: Category| assert_eq!(nearest(word), expect, "{word}");
        check("durabilty", Durability);
        check("consistency", Safety);
        check("tenancy", Boundary);
        check("performance", PerformanceSlo);
        check("orderng", Ordering);
        check("livenes", Liveness);
    }
}
