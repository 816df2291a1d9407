//! Budgets as data: `3 nodes × 6s × 1 fault × 1 seed × 20000 operations`.

use super::laid_out;
use super::quantity::{self, Quantity, unreadable};
use super::units::What;
use crate::plan::{Budget, Release};

/// A budget as read. `None` is a dimension that the text does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Read {
    nodes: Option<u64>,
    seconds: Option<u64>,
    faults: Option<u64>,
    /// Kinds of faults.
    variants: Option<u64>,
    seeds: Option<u64>,
    operations: Option<u64>,
}

/// What a budget says beside its numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Remarks {
    /// Factors that no run measures, such as `8 clients` beside nodes, or `bootstrap CI on p99` in the release tier.
    pub(super) unmeasured: Vec<String>,
    /// Factors that are ranges.
    pub(super) ranges: Vec<String>,
}

/// Reads a smoke or hardening budget. `no_faults`: the scenario plans none, so the text need not name a number.
pub(super) fn read(text: &str, no_faults: bool) -> Result<(Budget, Remarks), String> {
    let Factors { read: found, remarks, words } = factors(text)?;
    if let Some(factor) = words.first() {
        return Err(unreadable(factor, "is no dimension of a budget"));
    }
    // Zero of them is a budget that an empty run would meet; only faults may be none.
    let need = |value: Option<u64>, what: &str| match value {
        Some(0) => Err(format!("it says zero for {what}")),
        value => value.ok_or_else(|| format!("it does not name {what}")),
    };
    let budget = Budget {
        nodes: need(found.nodes, "the size (such as `3 nodes`; `1 node` of a system that is one process)")?,
        seconds: need(found.seconds, "the duration (such as `60s`)")?,
        faults: found
            .faults
            .or(found.variants)
            .or(no_faults.then_some(0))
            .ok_or("it does not name the faults (such as `1 fault`)")?,
        seeds: need(found.seeds, "the seeds (such as `1 seed`)")?,
        operations: found.operations.unwrap_or(0),
    };
    Ok((budget, remarks))
}

/// Reads a release budget. A dimension it does not name is that of `hardening`, so that it is never met by less.
pub(super) fn read_release(text: &str, hardening: Option<&Budget>) -> Result<(Release, Remarks), String> {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let bare = flat.trim_start_matches(['*', '`', '"', '_']);
    if bare.get(..12).is_some_and(|head| head.eq_ignore_ascii_case("not provided")) {
        return not_provided(bare).map(|release| (release, Remarks::default()));
    }
    let Factors { read: found, mut remarks, words } = factors(&flat)?;
    remarks.unmeasured.extend(words);
    if found == Read::default() {
        return Err("it is neither a budget nor a disclosure".to_owned());
    }
    if found.seconds.is_none() && found.seeds.is_none() {
        return Err("it names neither a duration nor seeds".to_owned());
    }
    let floor = hardening.copied().unwrap_or_default();
    let budget = Budget {
        nodes: found.nodes.unwrap_or(floor.nodes),
        seconds: found.seconds.unwrap_or(floor.seconds),
        // Five kinds of faults are at least five, and no fewer than the tier below asks for.
        faults: found.faults.unwrap_or(floor.faults.max(found.variants.unwrap_or(0))),
        seeds: found.seeds.unwrap_or(floor.seeds),
        operations: found.operations.unwrap_or(floor.operations),
    };
    Ok((Release::Budget(budget), remarks))
}

/// Reads `not provided — <reason>. Revisit when: <condition>.`; `flat` is on one line.
fn not_provided(flat: &str) -> Result<Release, String> {
    let flat = flat.trim_end_matches(['*', '`', '"', '_']);
    let rest = flat["not provided".len()..].trim_start_matches([' ', '—', '–', '-', ':', ',']);
    // ASCII letters only are lowered, so that offsets stay.
    let Some(at) = rest.to_ascii_lowercase().find("revisit when") else {
        return Err("`not provided` needs `Revisit when: <condition>.`".to_owned());
    };
    let reason = rest[..at].trim_end().trim_end_matches(['.', ';', ',', '*', '_']).trim();
    let revisit = rest[at + "revisit when".len()..].trim_start_matches([' ', ':', '*', '_']);
    let revisit = revisit.trim_end().trim_end_matches('.').trim();
    let unfilled =
        |part: &str| ["tbd", "todo", "tba", "tbc", "?", "…", "n/a", "none"].contains(&part.to_lowercase().as_str());
    let empty = |part: &str| part.is_empty() || part.starts_with('<') || part.contains("{{") || unfilled(part);
    if empty(reason) || empty(revisit) {
        return Err("`not provided` needs a reason and a condition".to_owned());
    }
    Ok(Release::NotProvided { reason: reason.to_owned(), revisit: revisit.to_owned() })
}

/// A budget under reading.
#[derive(Debug, Default)]
struct Factors {
    read: Read,
    remarks: Remarks,
    /// Factors without a number.
    words: Vec<String>,
}

impl Factors {
    fn set(&mut self, what: What, value: u64, factor: &str) -> Result<(), String> {
        let slot = match what {
            What::Nodes | What::Size | What::Partitions => &mut self.read.nodes,
            What::Seconds => &mut self.read.seconds,
            What::Faults => &mut self.read.faults,
            What::Variants => &mut self.read.variants,
            What::Seeds => &mut self.read.seeds,
            What::Operations => &mut self.read.operations,
        };
        match slot.replace(value) {
            None => Ok(()),
            Some(_) => Err(unreadable(factor, "names a dimension for the second time")),
        }
    }

    /// A size of something else than machines is the size of the configuration where no machines are counted.
    fn size(&mut self, value: u64, factor: String) {
        if self.read.nodes.is_none() {
            self.read.nodes = Some(value);
        } else {
            self.remarks.unmeasured.push(factor);
        }
    }
}

fn factors(text: &str) -> Result<Factors, String> {
    let mut out = Factors::default();
    let mut sizes = Vec::new();
    // The size stands first, in whatever the system is made of: `2 realms × 60s × 1 fault × 1 seed`.
    let mut own: Option<(u64, String)> = None;
    let listed = laid_out::on_one_line(text);
    for (i, factor) in split(without_prose(listed.as_deref().unwrap_or(text))?).into_iter().enumerate() {
        let read = match (quantity::read(&factor), quantity::size_in_words_of_its_own(&factor)) {
            (Err(why), Some(value)) if i == 0 => {
                own = Some((value, why));
                continue;
            }
            (read, _) => read?,
        };
        let Some(Quantity { what, value, ranged }) = read else {
            if hides_dimension(&factor) {
                return Err(unreadable(&factor, "is no exact number of anything"));
            }
            out.words.push(factor);
            continue;
        };
        if ranged {
            out.remarks.ranges.push(factor.clone());
        }
        match what {
            What::Size | What::Partitions => sizes.push((what, value, factor)),
            _ => out.set(what, value, &factor)?,
        }
    }
    for (what, value, factor) in sizes {
        // Beside a number of faults, partitions can only be shards.
        if what == What::Partitions && out.read.faults.is_none() {
            return Err(unreadable(&factor, "may be faults or shards; name the faults, as in `1 fault`"));
        }
        out.size(value, factor);
    }
    if let Some((value, why)) = own {
        // Beside a size that is known, nobody can tell what it counts.
        if out.read.nodes.replace(value).is_some() {
            return Err(why);
        }
    }
    Ok(out)
}

/// The budget without the prose behind it: what follows its first sentence or a dash. Prose with a number of something
/// could be part of the budget, and is an error.
fn without_prose(text: &str) -> Result<&str, String> {
    let mut depth = 0_usize;
    for (i, c) in text.char_indices() {
        let rest = &text[i + c.len_utf8()..];
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '.' | '—' | '–' if i > 0 && ends_budget(c, &text[..i], rest) => {
                let lower = rest.to_lowercase();
                return match split(&lower).iter().find(|part| hides_dimension(part)) {
                    Some(part) => Err(unreadable(part, "stands behind the end of the budget")),
                    None => Ok(&text[..i]),
                };
            }
            _ => {}
        }
    }
    Ok(text)
}

fn ends_budget(mark: char, before: &str, after: &str) -> bool {
    let spaced = after.starts_with(char::is_whitespace);
    let digits_around = after.trim_start().starts_with(|c: char| c.is_ascii_digit());
    match mark {
        '.' => spaced && !before.ends_with("min"),
        _ => spaced && before.ends_with(char::is_whitespace) && !digits_around,
    }
}

/// True for `~5 nodes`, `about 24h` and the like: a dimension that must not be taken for a remark.
fn hides_dimension(factor: &str) -> bool {
    let words: Vec<&str> = factor
        .split(' ')
        .map(|w| w.trim_start_matches(|c: char| !c.is_alphanumeric()))
        .filter(|w| !w.is_empty())
        .collect();
    let digit = |w: &str| w.starts_with(|c: char| c.is_ascii_digit());
    words.iter().enumerate().filter(|(_, w)| digit(w)).any(|(i, word)| {
        let next = words.get(i + 1).copied().unwrap_or("");
        quantity::counts(word, next.trim_end_matches(|c: char| !c.is_alphanumeric()))
    })
}

/// Factors, in lower case, without parenthesised remarks and emphasis.
fn split(text: &str) -> Vec<String> {
    let mut flat = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            // `20,000` and `20_000` are one number.
            ',' | '_' if before.is_ascii_digit() && after.is_ascii_digit() => {}
            '*' if before == '*' || after == '*' => {}
            '`' | '_' => {}
            '×' | '⨯' | '✕' | '·' | '•' | '|' | '*' | ',' | ';' => flat.push('×'),
            // An ASCII x behind a blank and before a blank or a number is a times sign.
            'x' | 'X' if before.is_whitespace() && (after.is_whitespace() || after.is_ascii_digit()) => flat.push('×'),
            _ if c.is_whitespace() => {
                if !flat.ends_with([' ', '×']) {
                    flat.push(' ');
                }
            }
            _ if c.is_ascii() => flat.push(c.to_ascii_lowercase()),
            _ => flat.extend(c.to_lowercase()),
        }
        before = c;
    }
    if !flat.contains('×') && flat.matches('=').count() > 1 {
        // `nodes=3 duration=60s`
        flat = flat.replace(' ', "×");
    }
    for word in [" and ", " with ", " for ", " / ", " + "] {
        if flat.contains(word) {
            flat = flat.replace(word, "×");
        }
    }
    let factors = flat.split('×').map(|f| f.trim().trim_end_matches(['.', ' ']));
    factors.filter(|f| !f.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(nodes: u64, seconds: u64, faults: u64, seeds: u64, operations: u64) -> Budget {
        Budget { nodes, seconds, faults, seeds, operations }
    }

    #[test]
    fn budgets_are_read_as_numbers_with_units() {
        let check = |text: &str, expect: Budget| {
            assert_eq!(read(text, false), Ok((expect, Remarks::default())), "{text}");
        };
        check("3 nodes × 6s × 1 fault × 1 seed", budget(3, 6, 1, 1, 0));
        check("5 nodes × 30s × 5 faults × 3 seeds × 20000 operations", budget(5, 30, 5, 3, 20000));
        check("2 tenants × 60s × 1 fault × 1 seed.", budget(2, 60, 1, 1, 0));
        check("8 tenants × 30min × 5 nemesis windows × 3 seeds", budget(8, 1800, 5, 3, 0));
        check("3 nodes x 6 s x 1 fault window x 1 seed x 20,000 ops", budget(3, 6, 1, 1, 20000));
        check("3 nodes × 1 min 30 s × 2 fault\n  windows × 1 seed", budget(3, 90, 2, 1, 0));
        check("5-node cluster × 1.5h × 2 fault windows × 3 seeds × 20k operations", budget(5, 5400, 2, 3, 20000));
        check("`3 nodes` × **6s** × no faults × 1 seed (quick)", budget(3, 6, 0, 1, 0));
        check("3 nodes, 6s, 1 fault, 1 seed", budget(3, 6, 1, 1, 0));
        check("3 nodes × 1h × 1 fault × 1 seed × 2m operations", budget(3, 3600, 1, 1, 2_000_000));
        check("2 tenants*60s*1 fault*1 seed", budget(2, 60, 1, 1, 0));
        check("2 tenants x60s x1 fault x1 seed", budget(2, 60, 1, 1, 0));
        check("three nodes for 60 s with one fault and a single seed", budget(3, 60, 1, 1, 0));
        check("nodes: 3, duration: 60s, faults: 1, seeds: 1", budget(3, 60, 1, 1, 0));
        check("≥3 nodes × ≥ 60s × at least 1 fault × 3+ seeds", budget(3, 60, 1, 3, 0));
        check("3 nodes × 60s × 1 fault × 1 seed. Runs on a laptop.", budget(3, 60, 1, 1, 0));
        check("3 nodes × 60s × 1 fault × 1 seed — a quick look", budget(3, 60, 1, 1, 0));
        check("4 partitions × 60s × 1 fault × 1 seed", budget(4, 60, 1, 1, 0));
        check("2 realms × 60s × 1 fault × 1 seed", budget(2, 60, 1, 1, 0));
        check("nodes=3 duration=60s faults=1 seeds=1", budget(3, 60, 1, 1, 0));
        check("3 nodes / 60 s / 1 fault / 1 seed", budget(3, 60, 1, 1, 0));
        check("3 nodes + 60 s + 1 fault + 1+ seeds", budget(3, 60, 1, 1, 0));
        check("3 nodes • 60 s • 1 fault • 1 seed", budget(3, 60, 1, 1, 0));
        check("config 3 nodes; 60 s; 1 fault; 1 seed", budget(3, 60, 1, 1, 0));
        check("- 3 nodes\n- 60 s\n- 1 fault\n- 1 seed", budget(3, 60, 1, 1, 0));
        check("* config: 3 nodes\n  * duration: 60 s\n  * faults: 1\n  * seeds: 1", budget(3, 60, 1, 1, 0));
        check("3 nodes × 30′ × 1 fault × 1 seed", budget(3, 1800, 1, 1, 0));
        check("3 nodes × 30″ × 1 fault × 1 seed", budget(3, 30, 1, 1, 0));
        check("3 nodes, 1'30\", 1 fault, 1 seed", budget(3, 90, 1, 1, 0));
        check("3 formats × 30″ × 1 fault × 1 seed", budget(3, 30, 1, 1, 0));
        check("2 wire protocols × 1′ × 1 fault × 1 seed", budget(2, 60, 1, 1, 0));
        check("5 Auskunftsknoten × half an hour × 2 faults × 1 seed", budget(5, 1800, 2, 1, 0));
        check(
            "| Dimension | Value |\n|---|---|\n| nodes | 3 |\n| duration | 60s |\n| faults | 1 |\n| seeds | 1 |",
            budget(3, 60, 1, 1, 0),
        );
        check(
            "| nodes | duration | faults | seeds |\n|:--|--:|---|---|\n| 3 | 2 min | 1 | 1 |",
            budget(3, 120, 1, 1, 0),
        );
    }

    #[test]
    fn ranges_and_sizes_that_nobody_measures_are_remarks() {
        let check = |text: &str, expect: Budget, ranges: &[&str], unmeasured: &[&str]| {
            let (found, remarks) = read(text, false).expect(text);
            assert_eq!(found, expect, "{text}");
            assert_eq!((remarks.ranges, remarks.unmeasured), (owned(ranges), owned(unmeasured)), "{text}");
        };
        fn owned(list: &[&str]) -> Vec<String> {
            list.iter().map(|s| (*s).to_owned()).collect()
        }
        check("3–5 nodes × 6s × 1 fault × 1 seed", budget(3, 6, 1, 1, 0), &["3–5 nodes"], &[]);
        check("8 clients × 3 nodes × 6s × 1 fault × 1 seed", budget(3, 6, 1, 1, 0), &[], &["8 clients"]);
        check("1 node × 3 formats × 30″ × 1 fault × 1 seed", budget(1, 30, 1, 1, 0), &[], &["3 formats"]);
        check("20–30′ × 3 nodes × 1 fault × 1 seed", budget(3, 1200, 1, 1, 0), &["20–30′"], &[]);
        check("2 tenants × 4 shards × 6s × 1 fault × 1 seed", budget(2, 6, 1, 1, 0), &[], &["4 shards"]);
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_never_a_smaller_budget() {
        let check = |text: &str, expect: &str| {
            let error = read(text, false).expect_err(text);
            assert!(error.contains(expect), "{text}: {error}");
        };
        check("", "size");
        check("TBD", "tbd");
        check("see §6b", "§6b");
        check("0 nodes × 6s × 1 fault × 1 seed", "size");
        check("3 nodes × 0s × 1 fault × 1 seed", "0s");
        check("3 nodes × 6s × 1 fault × 0 seeds", "seeds");
        check("3 nodes × 6s × 1 seed", "faults");
        check("3 nodes × 1 fault × 1 seed", "duration");
        check("6s × 1 fault × 1 seed", "size");
        check("3 nodes × 6s × 1 fault", "seeds");
        check("3 nodes × 6s × 1 fault × 1 seed × 100 frobs", "100 frobs");
        check("100 frobs × 3 nodes × 6s × 1 fault × 1 seed", "100 frobs");
        check("100 frobs × 8 tenants × 6s × 1 fault × 1 seed", "100 frobs");
        check("5 runs × 6s × 1 fault × 1 seed", "5 runs");
        check("0 realms × 6s × 1 fault × 1 seed", "0 realms");
        check("| nodes | 3 |\n| duration | 60s |", "`3`");
        check("3 nodes × 0′ × 1 fault × 1 seed", "0′");
        check("3 nodes × 6s × 1 fault × 1 seed. Then 5′ of rest.", "5′");
        check("3 nodes × 500ms × 1 fault × 1 seed", "500ms");
        check("3 nodes × 6s × 1 fault × 1 seed × 20 ops/s", "20 ops/s");
        check("3 nodes × 5 nodes × 6s × 1 fault × 1 seed", "second time");
        check("3 nodes × 6s × 2 partitions × 1 seed", "2 partitions");
        check("3 nodes × 6s × 1 fault × 1 seed. Then 5 nodes.", "5 nodes");
        check("up to 3 nodes × 6s × 1 fault × 1 seed", "up to 3 nodes");
        check("3.5 nodes × 6s × 1 fault × 1 seed", "3.5 nodes");
        check("99999999999999999999 nodes × 6s × 1 fault × 1 seed", "number");
        check("3 nodes × 6s × 1 fault × 1 seed × bootstrap CI", "bootstrap");
        check("~3 nodes × 6s × 1 fault × 1 seed", "~3 nodes");
        check("3 nodes × 6s of 2 faults × 1 seed", "more than a duration");
    }

    #[test]
    fn a_scenario_without_faults_needs_no_number_of_faults() {
        assert_eq!(read("1 node × 5s × 1 seed", true), Ok((budget(1, 5, 0, 1, 0), Remarks::default())));
    }

    #[test]
    fn a_release_tier_is_a_budget_or_a_disclosure() {
        let told =
            |reason: &str, revisit: &str| Release::NotProvided { reason: reason.into(), revisit: revisit.into() };
        let check = |text: &str, expect: Release| {
            let found = read_release(text, Some(&budget(5, 30, 5, 3, 0))).expect(text);
            assert_eq!(found.0, expect, "{text}")
        };
        check("not provided — no soak rig yet. Revisit when: we have one.", told("no soak rig yet", "we have one"));
        check("Not provided -- no rig.\n  Revisit when: v1.2 ships.", told("no rig", "v1.2 ships"));
        check("24h soak × ≥30 seeds", Release::Budget(budget(5, 86400, 5, 30, 0)));
        check("24h soak × 30 seeds × 3 nemesis variants", Release::Budget(budget(5, 86400, 5, 30, 0)));
        check(
            "24h soak × 30 seeds × 6 nemesis variants × bootstrap CI on p99",
            Release::Budget(budget(5, 86400, 6, 30, 0)),
        );
        for bad in [
            "",
            "TBD",
            "see §6b",
            "not provided",
            "not provided — no rig.",
            "not provided. Revisit when: x.",
            "not provided — <reason>. Revisit when: <condition>.",
            "not provided: TBD. Revisit when: TBD.",
            "not provided — no rig. Revisit when: n/a.",
            "a long soak",
            "5 nodes",
            "24h × ~5 nodes",
            "24h × up to 30 seeds",
            "30 seeds × about 24 h",
        ] {
            assert!(read_release(bad, None).is_err(), "{bad}");
        }
    }
}
