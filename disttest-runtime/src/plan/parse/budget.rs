//! Budgets as data: `3 nodes × 6s × 1 fault × 1 seed × 20000 operations`.

use crate::plan::{Budget, Release};

/// A budget as read. `None` is a dimension that the text does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Read {
    nodes: Option<u64>,
    seconds: Option<u64>,
    faults: Option<u64>,
    seeds: Option<u64>,
    operations: Option<u64>,
}

/// A budget, and the factors that are no dimension (allowed in the release tier only).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReleaseRead {
    /// The tier.
    pub(super) release: Release,
    /// Factors without a number, such as `bootstrap CI on p99`.
    pub(super) extra: Vec<String>,
}

/// Reads a smoke or hardening budget. `no_faults`: the scenario plans none, so the text need not name a number.
pub(super) fn read(text: &str, no_faults: bool) -> Result<Budget, String> {
    let (found, extra) = factors(text)?;
    if let Some(factor) = extra.first() {
        return Err(format!("`{factor}` is no dimension of a budget"));
    }
    // Zero of them is a budget that an empty run would meet; only faults may be none.
    let need =
        |value: Option<u64>, what: &str| value.filter(|n| *n > 0).ok_or_else(|| format!("it does not name {what}"));
    Ok(Budget {
        nodes: need(found.nodes, "the size (such as `3 nodes`)")?,
        seconds: need(found.seconds, "the duration (such as `60s`)")?,
        faults: found.faults.or(no_faults.then_some(0)).ok_or("it does not name the faults (such as `1 fault`)")?,
        seeds: need(found.seeds, "the seeds (such as `1 seed`)")?,
        operations: found.operations.unwrap_or(0),
    })
}

/// Reads a release budget. A dimension it does not name is that of `hardening`, so that it is never met by less.
pub(super) fn read_release(text: &str, hardening: Option<&Budget>) -> Result<ReleaseRead, String> {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.to_lowercase().trim_start_matches(['*', '`', '"', '_']).starts_with("not provided") {
        return not_provided(&flat).map(|release| ReleaseRead { release, extra: Vec::new() });
    }
    let (found, extra) = factors(&flat)?;
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
        faults: found.faults.unwrap_or(floor.faults),
        seeds: found.seeds.unwrap_or(floor.seeds),
        operations: found.operations.unwrap_or(floor.operations),
    };
    Ok(ReleaseRead { release: Release::Budget(budget), extra })
}

/// Reads `not provided — <reason>. Revisit when: <condition>.`; `flat` is on one line.
fn not_provided(flat: &str) -> Result<Release, String> {
    let flat = flat.trim_matches(['*', '`', '"', '_']);
    let rest = flat["not provided".len()..].trim_start_matches([' ', '—', '–', '-', ':', ',']);
    // ASCII letters only are lowered, so that offsets stay.
    let Some(at) = rest.to_ascii_lowercase().find("revisit when") else {
        return Err("`not provided` needs `Revisit when: <condition>.`".to_owned());
    };
    let reason = rest[..at].trim_end().trim_end_matches(['.', ';', ',', '*', '_']).trim();
    let revisit = rest[at + "revisit when".len()..].trim_start_matches([' ', ':', '*', '_']);
    let revisit = revisit.trim_end().trim_end_matches('.').trim();
    let empty = |part: &str| part.is_empty() || part.starts_with('<') || part.contains("{{");
    if empty(reason) || empty(revisit) {
        return Err("`not provided` needs a reason and a condition".to_owned());
    }
    Ok(Release::NotProvided { reason: reason.to_owned(), revisit: revisit.to_owned() })
}

fn factors(text: &str) -> Result<(Read, Vec<String>), String> {
    let mut read = Read::default();
    let mut extra = Vec::new();
    for factor in split(text) {
        if !factor.starts_with(|c: char| c.is_ascii_digit()) {
            match factor.as_str() {
                "no fault" | "no faults" => set(&mut read.faults, 0, &factor)?,
                _ if hides_dimension(&factor) => return Err(format!("`{factor}` is no exact number of anything")),
                _ => extra.push(factor),
            }
            continue;
        }
        if let Some(seconds) = duration(&factor)? {
            set(&mut read.seconds, seconds, &factor)?;
            continue;
        }
        let (number, unit) = number(&factor).ok_or_else(|| format!("`{factor}` has no number that can be read"))?;
        let slot = match dimension(unit) {
            Some(Dimension::Nodes) => &mut read.nodes,
            Some(Dimension::Faults) => &mut read.faults,
            Some(Dimension::Seeds) => &mut read.seeds,
            Some(Dimension::Operations) => &mut read.operations,
            None => return Err(format!("`{factor}` has no unit that can be read")),
        };
        set(slot, number, &factor)?;
    }
    Ok((read, extra))
}

/// True for `≥5 nodes`, `at least 24h` and the like: a dimension that must not be taken for a remark.
fn hides_dimension(factor: &str) -> bool {
    let words: Vec<&str> = factor
        .split(' ')
        .map(|w| w.trim_start_matches(|c: char| !c.is_alphanumeric()))
        .filter(|w| !w.is_empty())
        .collect();
    words.iter().enumerate().filter(|(_, w)| w.starts_with(|c: char| c.is_ascii_digit())).any(|(i, word)| {
        let next = words.get(i + 1).copied().unwrap_or("");
        let counted =
            number(word).is_some_and(|(_, unit)| dimension(if unit.is_empty() { next } else { unit }).is_some());
        counted || duration(word) != Ok(None) || seconds_of(next).is_some()
    })
}

fn set(slot: &mut Option<u64>, value: u64, factor: &str) -> Result<(), String> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("`{factor}` names a dimension for the second time")),
    }
}

/// Factors, in lower case, without parenthesised remarks and emphasis.
fn split(text: &str) -> Vec<String> {
    let mut flat = String::new();
    let mut depth = 0_usize;
    let chars: Vec<char> = text.chars().collect();
    for (i, c) in chars.iter().copied().enumerate() {
        let near =
            |at: Option<usize>, test: fn(char) -> bool| at.and_then(|at| chars.get(at)).is_some_and(|c| test(*c));
        let before = i.checked_sub(1);
        let digits = near(before, |c| c.is_ascii_digit()) && near(Some(i + 1), |c| c.is_ascii_digit());
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            // `20,000` and `20_000` are one number.
            ',' | '_' if digits => {}
            '`' | '*' if !near(before, |c| c == ' ') || !near(Some(i + 1), |c| c == ' ') => {}
            '×' | '*' | ',' | ';' => flat.push('×'),
            // An ASCII x between blanks, or between a digit-led factor and a number, is a times sign.
            'x' | 'X' if near(before, char::is_whitespace) && near(Some(i + 1), char::is_whitespace) => flat.push('×'),
            _ if c.is_whitespace() => flat.push(' '),
            _ => flat.extend(c.to_lowercase()),
        }
    }
    flat.split('×')
        .map(|f| f.split_whitespace().collect::<Vec<_>>().join(" "))
        .map(|f| f.trim_end_matches(['.', ' ']).to_owned())
        .filter(|f| !f.is_empty())
        .collect()
}

/// `20000 operations`, `20k ops`, `5-node cluster`: the number and the words behind it.
fn number(factor: &str) -> Option<(u64, &str)> {
    let digits = factor.bytes().take_while(u8::is_ascii_digit).count();
    let value: u64 = factor[..digits].parse().ok()?;
    let rest = &factor[digits..];
    let (scale, rest) = match rest.as_bytes() {
        [b'k', tail @ ..] if !starts_word(tail) => (1_000, &rest[1..]),
        [b'm', tail @ ..] if !starts_word(tail) => (1_000_000, &rest[1..]),
        _ => (1, rest),
    };
    // A number with a fraction, a range or a plus sign is none of a budget.
    let unit = rest.trim_start_matches([' ', '-']);
    let plain = rest.is_empty() || rest.starts_with([' ', '-']) || starts_word(rest.as_bytes());
    (plain && !unit.starts_with(|c: char| c.is_ascii_digit())).then_some(())?;
    Some((value.checked_mul(scale)?, unit))
}

fn starts_word(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphabetic)
}

/// Whole seconds of `6s`, `1.5h`, `1 min 30 s`, `24h soak`; `None` when the factor is no duration.
fn duration(factor: &str) -> Result<Option<u64>, String> {
    let mut rest = factor;
    let mut total = 0.0_f64;
    let mut any = false;
    while let Some(first) = rest.chars().next().filter(char::is_ascii_digit) {
        debug_assert!(first.is_ascii_digit());
        let len = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let amount: f64 = rest[..len].parse().map_err(|_| format!("`{factor}` has no number that can be read"))?;
        let tail = rest[len..].trim_start();
        let word = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let Some(unit) = seconds_of(&tail[..word]) else { break };
        total += amount * unit;
        any = true;
        rest = tail[word..].trim_start();
    }
    if !any {
        return Ok(None);
    }
    let remark = rest.split(' ').all(|w| ["", "soak", "run", "of", "workload", "each", "per", "seed"].contains(&w));
    if !remark {
        return Err(format!("`{factor}` has more than a duration"));
    }
    if total.fract() != 0.0 || !(1.0..=1e9).contains(&total) {
        return Err(format!("`{factor}` is no whole number of seconds"));
    }
    Ok(Some(total as u64))
}

fn seconds_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86400.0,
        _ => return None,
    })
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Dimension {
    Nodes,
    Faults,
    Seeds,
    Operations,
}

/// Words that name a dimension, in the singular.
const UNITS: &[(&str, Dimension)] = &[
    ("node", Dimension::Nodes),
    ("node cluster", Dimension::Nodes),
    ("tenant", Dimension::Nodes),
    ("shard", Dimension::Nodes),
    ("server", Dimension::Nodes),
    ("replica", Dimension::Nodes),
    ("broker", Dimension::Nodes),
    ("member", Dimension::Nodes),
    ("process", Dimension::Nodes),
    ("fault", Dimension::Faults),
    ("fault window", Dimension::Faults),
    ("nemesis window", Dimension::Faults),
    ("nemesis variant", Dimension::Faults),
    ("nemesis", Dimension::Faults),
    ("window", Dimension::Faults),
    ("injection", Dimension::Faults),
    ("seed", Dimension::Seeds),
    ("operation", Dimension::Operations),
    ("op", Dimension::Operations),
];

fn dimension(unit: &str) -> Option<Dimension> {
    let unit = unit.strip_suffix(" per seed").or(unit.strip_suffix(" each")).unwrap_or(unit);
    let singular = match unit {
        "nemeses" => "nemesis",
        "processes" => "process",
        _ => unit.strip_suffix('s').filter(|_| unit != "nemesis" && unit != "process").unwrap_or(unit),
    };
    UNITS.iter().find(|(word, _)| *word == singular).map(|(_, dimension)| *dimension)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(nodes: u64, seconds: u64, faults: u64, seeds: u64, operations: u64) -> Budget {
        Budget { nodes, seconds, faults, seeds, operations }
    }

    #[test]
    fn budgets_are_read_as_numbers_with_units() {
        let check = |text: &str, expect: Budget| assert_eq!(read(text, false), Ok(expect), "{text}");
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
        check("3 nodes × 500ms × 1 fault × 1 seed", "500ms");
        check("3 nodes × 6s × 1 fault × 1 seed × 20 ops/s", "20 ops/s");
        check("3 nodes × 5 nodes × 6s × 1 fault × 1 seed", "second time");
        check("3–5 nodes × 6s × 1 fault × 1 seed", "3–5 nodes");
        check("3.5 nodes × 6s × 1 fault × 1 seed", "3.5 nodes");
        check("99999999999999999999 nodes × 6s × 1 fault × 1 seed", "number");
        check("3 nodes × 6s × 1 fault × 1 seed × bootstrap CI", "bootstrap");
        check("~3 nodes × 6s × 1 fault × 1 seed", "~3 nodes");
        check("3 nodes × 6s of 2 faults × 1 seed", "more than a duration");
    }

    #[test]
    fn a_scenario_without_faults_needs_no_number_of_faults() {
        assert_eq!(read("1 node × 5s × 1 seed", true), Ok(budget(1, 5, 0, 1, 0)));
    }

    #[test]
    fn a_release_tier_is_a_budget_or_a_disclosure() {
        let told =
            |reason: &str, revisit: &str| Release::NotProvided { reason: reason.into(), revisit: revisit.into() };
        let check = |text: &str, expect: Release| {
            let found = read_release(text, Some(&budget(5, 30, 5, 3, 0))).expect(text);
            assert_eq!(found.release, expect, "{text}")
        };
        check("not provided — no soak rig yet. Revisit when: we have one.", told("no soak rig yet", "we have one"));
        check("Not provided -- no rig.\n  Revisit when: v1.2 ships.", told("no rig", "v1.2 ships"));
        check("24h soak × 30 seeds", Release::Budget(budget(5, 86400, 5, 30, 0)));
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
            "a long soak",
            "5 nodes",
            "24h × ≥5 nodes",
            "24h × at least 30 seeds",
            "30 seeds × about 24 h",
        ] {
            assert!(read_release(bad, None).is_err(), "{bad}");
        }
    }
}
