//! One factor of a budget: `3 nodes`, `≥ 20,000 ops`, `1h30m`, `a single fault window`, `seeds: 3`.

use super::units::{What, seconds_of, unit, unit_length};

/// A factor that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantity {
    /// What it counts.
    pub(super) what: What,
    /// How many at least.
    pub(super) value: u64,
    /// True if the text gives a range, of which this is the lower end.
    pub(super) ranged: bool,
}

/// Reads a factor (lower case, single blanks). `None` for one without a number in front; an error for one with a
/// number that cannot be taken for what it is.
pub(super) fn read(factor: &str) -> Result<Option<Quantity>, String> {
    let bare = without_bound(factor);
    let told = ["config ", "configuration ", "cluster of ", "size "].iter().find_map(|word| bare.strip_prefix(word));
    let bare = told.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(bare);
    if let Some((what, value)) = named(bare) {
        return with_name(what, value).map(Some).ok_or_else(|| unreadable(factor, "has no number that can be read"));
    }
    let Some((amount, rest)) = amount(bare) else {
        let number = bare.starts_with(|c: char| c.is_ascii_digit());
        return if number { Err(unreadable(factor, "has no number that can be read")) } else { Ok(None) };
    };
    if let Some(seconds) = duration(factor, bare, &amount, rest)? {
        return Ok(Some(Quantity {
            what: What::Seconds, value: seconds, ranged: amount.ranged || rest.contains('–')
        }));
    }
    let what = unit(rest).ok_or_else(|| unreadable(factor, "has no unit that can be read"))?;
    let value = amount.whole().ok_or_else(|| unreadable(factor, "is no whole number"))?;
    Ok(Some(Quantity { what, value, ranged: amount.ranged }))
}

/// The number of a factor that counts something the format has no word for: `2 realms`, `3 Knoten`. `None` for what
/// counts work and not a size, and for every factor with a word that is known or a sign in it.
pub(super) fn size_in_words_of_its_own(factor: &str) -> Option<u64> {
    const WORK: &[&str] = &[
        "run",
        "time",
        "iteration",
        "round",
        "repeat",
        "repetition",
        "trial",
        "attempt",
        "schedule",
        "cycle",
        "request",
        "message",
        "event",
        "transaction",
        "record",
        "row",
        "write",
        "read",
        "percent",
        "total",
        "load",
        "byte",
    ];
    let (amount, rest) = amount(without_bound(factor))?;
    let words: Vec<&str> = rest.split(' ').collect();
    let own = |word: &&str| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        let letters = word.chars().count() > 2 && word.chars().all(char::is_alphabetic);
        letters && unit(word).is_none() && seconds_of(word).is_none() && !WORK.contains(&singular)
    };
    let spaced = factor.contains([' ', '-']);
    amount.whole().filter(|n| *n > 0 && !amount.m && spaced && words.len() <= 2 && words.iter().all(own))
}

/// True for a word or two that count something or measure time: a text with one is no mere remark.
pub(super) fn counts(number: &str, next: &str) -> bool {
    let Some((_, rest)) = amount(number) else { return false };
    let unit_of = if rest.is_empty() { next } else { rest };
    unit(unit_of).is_some() || seconds_of(unit_of).is_some()
}

/// A factor in backticks, cut to what a message can show.
pub(super) fn unreadable(factor: &str, why: &str) -> String {
    let shown: String = factor.chars().take(80).collect();
    let more = if shown.len() < factor.len() { "…" } else { "" };
    format!("`{shown}{more}` {why}")
}

/// A budget is a minimum, so that words which say so add nothing.
fn without_bound(factor: &str) -> &str {
    const BOUNDS: &[&str] = &[
        "≥",
        ">=",
        "at least",
        "no fewer than",
        "no less than",
        "not less than",
        "minimum of",
        "minimum",
        "min.",
        "min ",
    ];
    // `…, with a single seed`: the last factor of a sentence.
    let factor = ["with ", "and "].iter().find_map(|word| factor.strip_prefix(word)).unwrap_or(factor);
    let bound = BOUNDS.iter().find(|bound| factor.starts_with(**bound));
    bound.map_or(factor, |bound| factor[bound.len()..].trim_start())
}

/// `seeds: 3`, `duration = 60s`.
fn named(factor: &str) -> Option<(What, &str)> {
    let (name, value) = factor.split_once([':', '='])?;
    let what = match name.trim() {
        "duration" | "time" | "length" | "runtime" => What::Seconds,
        "config" | "configuration" | "size" | "cluster" | "cluster size" | "topology" => What::Nodes,
        name => unit(name)?,
    };
    Some((what, value.trim()))
}

fn with_name(what: What, value: &str) -> Option<Quantity> {
    let alone = amount(without_bound(value)).filter(|(_, rest)| rest.is_empty());
    if let Some((amount, _)) = alone.filter(|_| what != What::Seconds) {
        return Some(Quantity { what, value: amount.whole()?, ranged: amount.ranged });
    }
    read(value).ok().flatten().filter(|read| read.what == what || (what == What::Nodes && read.what == What::Size))
}

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Amount {
    value: f64,
    ranged: bool,
    /// It ends in `m`, which is a million or a minute.
    m: bool,
}

impl Amount {
    fn whole(&self) -> Option<u64> {
        let value = if self.m { self.value * 1e6 } else { self.value };
        (value.fract() == 0.0 && (0.0..=1e15).contains(&value)).then_some(value as u64)
    }
}

/// The number at the start, and what follows it without hyphen and blank.
fn amount(text: &str) -> Option<(Amount, &str)> {
    let (value, rest) = digits(text).or_else(|| word(text))?;
    let (value, m, rest) = scaled(value, rest);
    if let Some((_, tail)) = range_end(rest) {
        let (_, m, tail) = scaled(0.0, tail);
        let value =
            if tail.len() < rest.len() && scale_of_end(rest) > 1.0 { value * scale_of_end(rest) } else { value };
        return Some((Amount { value, ranged: true, m }, separated(tail)));
    }
    let rest = rest.strip_prefix('+').unwrap_or(rest);
    Some((Amount { value, ranged: false, m }, separated(rest)))
}

/// Digits with groups of three (`20,000`, `20 000`) and a fraction.
fn digits(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let run = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = run(0);
    if end == 0 || end > 15 {
        return None;
    }
    let mut plain = text[..end].to_owned();
    while plain.len() < 16 && bytes.get(end).is_some_and(|b| b" ,_'".contains(b)) && end <= 12 && run(end + 1) == 3 {
        plain.push_str(&text[end + 1..end + 4]);
        end += 4;
    }
    if bytes.get(end) == Some(&b'.') && run(end + 1) > 0 {
        let fraction = run(end + 1).min(9);
        plain.push_str(&text[end..end + 1 + fraction]);
        end += 1 + run(end + 1);
    }
    Some((plain.parse().ok()?, &text[end..]))
}

/// Numbers in words.
fn word(text: &str) -> Option<(f64, &str)> {
    const WORDS: &[(&str, f64)] = &[
        ("half an", 0.5),
        ("half a", 0.5),
        ("a single", 1.0),
        ("single", 1.0),
        ("one", 1.0),
        ("two", 2.0),
        ("three", 3.0),
        ("four", 4.0),
        ("five", 5.0),
        ("six", 6.0),
        ("seven", 7.0),
        ("eight", 8.0),
        ("nine", 9.0),
        ("ten", 10.0),
        ("twelve", 12.0),
        ("no", 0.0),
        ("zero", 0.0),
        ("a", 1.0),
        ("an", 1.0),
    ];
    WORDS.iter().find_map(|(word, value)| {
        let rest = text.strip_prefix(word)?;
        rest.starts_with([' ', '-']).then_some((*value, rest))
    })
}

/// `k`, `M`, `thousand`, `million` behind a number; an `m` alone is left undecided.
fn scaled(value: f64, rest: &str) -> (f64, bool, &str) {
    const SCALES: &[(&str, f64)] = &[("k", 1e3), (" thousand", 1e3), (" million", 1e6), (" mio", 1e6)];
    for (word, scale) in SCALES {
        if let Some(tail) = rest.strip_prefix(word).filter(|tail| !starts_word(tail)) {
            return (value * scale, false, tail);
        }
    }
    match rest.strip_prefix('m').filter(|tail| !starts_word(tail)) {
        Some(tail) => (value, true, tail),
        None => (value, false, rest),
    }
}

fn scale_of_end(rest: &str) -> f64 {
    range_end(rest).map_or(1.0, |(_, tail)| scaled(1.0, tail).0)
}

/// The upper end in `3–5 nodes`, `3-5`, `3 to 5`: its number and what follows.
fn range_end(rest: &str) -> Option<(f64, &str)> {
    let tail = rest.trim_start();
    let upper = ["–", "—", "-", "to ", "..", "…"].iter().find_map(|mark| tail.strip_prefix(mark))?;
    digits(upper.trim_start_matches(['.', ' ']))
}

fn separated(rest: &str) -> &str {
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
    rest.strip_prefix("or more ").unwrap_or(rest)
}

fn starts_word(text: &str) -> bool {
    text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
}

/// Words that may follow a duration without changing it.
const REMARKS: &[&str] = &[
    "",
    "soak",
    "run",
    "of",
    "workload",
    "load",
    "each",
    "per",
    "seed",
    "scenario",
    "duration",
    "runtime",
    "wall",
    "clock",
    "wall-clock",
    "steady",
    "state",
];

/// Whole seconds of `6s`, `1.5h`, `1 min 30 s`, `24-hour soak`; `None` when the factor is no duration.
fn duration(factor: &str, bare: &str, first: &Amount, rest: &str) -> Result<Option<u64>, String> {
    let mut total = 0.0_f64;
    let (mut value, mut tail) = (first.value, rest);
    if first.m {
        // `5m`, and in `1m 30s`; but `2m operations`.
        if unit(rest).is_some() {
            return Ok(None);
        }
        total += value * 60.0;
    } else {
        let word = unit_length(tail);
        let Some(seconds) = seconds_of(&tail[..word]) else { return Ok(None) };
        total += value * seconds;
        tail = tail[word..].trim_start();
    }
    while let Some((next, after)) = digits(tail) {
        let after = after.trim_start();
        let word = unit_length(after);
        let Some(seconds) = seconds_of(&after[..word]) else { break };
        value = next;
        total += value * seconds;
        tail = after[word..].trim_start();
    }
    if let Some((_, after)) = range_end(tail) {
        let after = after.trim_start();
        let word = unit_length(after);
        tail = if seconds_of(&after[..word]).is_some() { after[word..].trim_start() } else { tail };
    }
    debug_assert!(bare.len() >= tail.len());
    if !tail.split(' ').all(|w| REMARKS.contains(&w)) {
        return Err(unreadable(factor, "has more than a duration"));
    }
    if total.fract() != 0.0 || !(1.0..=1e9).contains(&total) {
        return Err(unreadable(factor, "is no whole number of seconds"));
    }
    Ok(Some(total as u64))
}

#[cfg(test)]
mod tests {
    use super::What::*;
    use super::*;

    #[test]
    fn factors_are_numbers_of_something() {
        let check = |text: &str, what: What, value: u64| {
            assert_eq!(read(text), Ok(Some(Quantity { what, value, ranged: false })), "{text}");
        };
        for (text, what, value) in [
            ("3 nodes", Nodes, 3),
            ("3-node cluster", Nodes, 3),
            ("three-node cluster", Nodes, 3),
            ("5 voting members", Nodes, 5),
            ("2 tenants", Size, 2),
            ("8 clients", Size, 8),
            ("≥ 3 seeds", Seeds, 3),
            (">= 3 seeds", Seeds, 3),
            ("at least 3 seeds", Seeds, 3),
            ("3+ seeds", Seeds, 3),
            ("3 or more seeds", Seeds, 3),
            ("10k seeds", Seeds, 10_000),
            ("1.5k seeds", Seeds, 1_500),
            ("20,000 operations", Operations, 20_000),
            ("20 000 ops", Operations, 20_000),
            ("1 million operations", Operations, 1_000_000),
            ("2m operations", Operations, 2_000_000),
            ("20000 operations per seed", Operations, 20_000),
            ("5 nemesis windows", Faults, 5),
            ("5 nemesis variants", Variants, 5),
            ("3 fault types", Variants, 3),
            ("1 fault per seed", Faults, 1),
            ("5 leader kills", Faults, 5),
            ("a single fault window", Faults, 1),
            ("no faults", Faults, 0),
            ("no fault injection", Faults, 0),
            ("seeds: 3", Seeds, 3),
            ("config: 3 nodes", Nodes, 3),
            ("duration = 60s", Seconds, 60),
            ("6s", Seconds, 6),
            ("60 sec", Seconds, 60),
            ("30min", Seconds, 1_800),
            ("30m", Seconds, 1_800),
            ("1h30m", Seconds, 5_400),
            ("1 min 30 s", Seconds, 90),
            ("5m 30s", Seconds, 330),
            ("1.5 hours", Seconds, 5_400),
            ("24-hour soak", Seconds, 86_400),
            ("2 days", Seconds, 172_800),
            ("half an hour", Seconds, 1_800),
            ("with a single seed", Seeds, 1),
            ("and at least 4 seeds", Seeds, 4),
            ("30 abstürze", Faults, 30),
            ("2 stunden", Seconds, 7_200),
            ("6 pannes", Faults, 6),
            ("3 graines", Seeds, 3),
            ("half a day", Seconds, 43_200),
            ("30′", Seconds, 1_800),
            ("30'", Seconds, 1_800),
            ("30 ′", Seconds, 1_800),
            ("30″", Seconds, 30),
            ("30\"", Seconds, 30),
            ("90''", Seconds, 90),
            ("1′30″", Seconds, 90),
            ("1h 5′", Seconds, 3_900),
            ("duration: 10′", Seconds, 600),
            ("10′ per seed", Seconds, 600),
            ("3 formats", Size, 3),
            ("2 wire protocols", Size, 2),
            ("4 codecs", Size, 4),
            ("2000ms", Seconds, 2),
            ("60s per seed", Seconds, 60),
        ] {
            check(text, what, value);
        }
    }

    #[test]
    fn a_range_is_its_lower_end() {
        let check = |text: &str, what: What, value: u64| {
            assert_eq!(read(text), Ok(Some(Quantity { what, value, ranged: true })), "{text}");
        };
        check("3–5 nodes", Nodes, 3);
        check("3-5 nodes", Nodes, 3);
        check("3 to 5 nodes", Nodes, 3);
        check("30–60s", Seconds, 30);
        check("30s–60s", Seconds, 30);
        check("5–10 min", Seconds, 300);
        check("1–2k seeds", Seeds, 1_000);
    }

    #[test]
    fn what_is_no_number_of_anything_is_told() {
        let check = |text: &str| assert!(read(text).is_err(), "{text}: {:?}", read(text));
        for text in [
            "100 frobs",
            "20 ops/s",
            "3.5 nodes",
            "500ms",
            "0s",
            "99999999999999999999 nodes",
            "6s of 2 faults",
            "1 fault per 10 minutes",
            "30 min total",
            "3 node seeds",
            "10x load",
            "3",
        ] {
            check(text);
        }
        for text in ["bootstrap ci on p99", "tbd", "see §6b", "~3 nodes", "about 24h", "up to 5 nodes", "<3 nodes"] {
            assert_eq!(read(text), Ok(None), "{text}");
        }
    }
}
