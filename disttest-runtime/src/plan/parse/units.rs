//! Words for what a budget counts, and for time.

/// What a factor counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Machines of the system: nodes, replicas, brokers, ….
    Nodes,
    /// Anything else whose number is a size: tenants, shards, clients, ….
    Size,
    /// Network faults or shards: only the factors beside it can tell.
    Partitions,
    /// Whole seconds.
    Seconds,
    /// Fault windows.
    Faults,
    /// Kinds of faults, each of which is at least one window.
    Variants,
    /// Seeds.
    Seeds,
    /// Operations.
    Operations,
}

/// Seconds in a unit of time.
pub(super) fn seconds_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "s" | "″" | "\"" | "”" | "''" | "′′" | "sec" | "secs" | "second" | "seconds" | "sekunde" | "sekunden"
        | "seconde" | "secondes" => 1.0,
        "m" | "′" | "'" | "’" | "min" | "mins" | "minute" | "minutes" | "minuten" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" | "std" | "stunde" | "stunden" | "heure" | "heures" => 3600.0,
        "d" | "day" | "days" | "tag" | "tage" | "jour" | "jours" => 86_400.0,
        "w" | "week" | "weeks" => 604_800.0,
        _ => return None,
    })
}

/// Length of the unit of time that a text may begin with: a word, or signs such as `′`.
pub(super) fn unit_length(text: &str) -> usize {
    let is_sign = |c: char| matches!(c, '′' | '″' | '\'' | '"' | '’' | '”');
    match text.chars().next() {
        // `1′30″`, and two signs of minutes for one of seconds.
        Some(first) if is_sign(first) => {
            let double = text[first.len_utf8()..].starts_with(first) && matches!(first, '′' | '\'');
            first.len_utf8() * (1 + usize::from(double))
        }
        _ => text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len()),
    }
}

/// Nouns that are counted, in the singular.
const NOUNS: &[(&str, What)] = &[
    ("node", What::Nodes),
    ("server", What::Nodes),
    ("replica", What::Nodes),
    ("broker", What::Nodes),
    ("member", What::Nodes),
    ("voter", What::Nodes),
    ("peer", What::Nodes),
    ("process", What::Nodes),
    ("instance", What::Nodes),
    ("host", What::Nodes),
    ("machine", What::Nodes),
    ("container", What::Nodes),
    ("pod", What::Nodes),
    ("vm", What::Nodes),
    ("tenant", What::Size),
    ("shard", What::Size),
    ("client", What::Size),
    ("worker", What::Size),
    ("thread", What::Size),
    ("connection", What::Size),
    ("session", What::Size),
    ("user", What::Size),
    ("format", What::Size),
    ("protocol", What::Size),
    ("codec", What::Size),
    ("account", What::Size),
    ("key", What::Size),
    ("queue", What::Size),
    ("topic", What::Size),
    ("table", What::Size),
    ("group", What::Size),
    ("region", What::Size),
    ("zone", What::Size),
    ("cell", What::Size),
    ("cluster", What::Size),
    ("namespace", What::Size),
    ("bucket", What::Size),
    ("database", What::Size),
    ("workspace", What::Size),
    ("project", What::Size),
    ("organisation", What::Size),
    ("organization", What::Size),
    ("customer", What::Size),
    ("stream", What::Size),
    ("channel", What::Size),
    ("volume", What::Size),
    ("datacenter", What::Size),
    ("rack", What::Size),
    ("site", What::Size),
    ("device", What::Size),
    ("agent", What::Size),
    ("service", What::Size),
    ("writer", What::Size),
    ("reader", What::Size),
    ("subscriber", What::Size),
    ("publisher", What::Size),
    ("producer", What::Size),
    ("consumer", What::Size),
    ("partition", What::Partitions),
    ("fault", What::Faults),
    ("nemesis", What::Faults),
    ("window", What::Faults),
    ("injection", What::Faults),
    ("kill", What::Faults),
    ("crash", What::Faults),
    ("restart", What::Faults),
    ("failover", What::Faults),
    ("outage", What::Faults),
    ("seed", What::Seeds),
    ("operation", What::Operations),
    ("op", What::Operations),
    // The same in German and French, in which such plans are written as well.
    ("knoten", What::Nodes),
    ("nœud", What::Nodes),
    ("noeud", What::Nodes),
    ("fehler", What::Faults),
    ("ausfall", What::Faults),
    ("ausfälle", What::Faults),
    ("absturz", What::Faults),
    ("abstürze", What::Faults),
    ("panne", What::Faults),
    ("graine", What::Seeds),
];

/// Nouns that say nothing by themselves, and count what the word before them names: `5 nemesis variants`.
const HOLLOW: &[&str] = &[
    "variant", "type", "kind", "event", "cycle", "episode", "round", "cluster", "ring", "ensemble", "setup", "quorum",
];

/// What a unit in words counts: its last noun, or the one before a hollow noun. Adjectives are let pass.
pub(super) fn unit(text: &str) -> Option<What> {
    let text = [" per seed", " per run", " per scenario", " each", " total per seed"]
        .iter()
        .find_map(|tail| text.strip_suffix(tail))
        .unwrap_or(text);
    if text.len() > 60 {
        return None;
    }
    let words: Vec<&str> = text.split([' ', '-']).filter(|w| !w.is_empty()).collect();
    let (last, before) = words.split_last()?;
    let plain = |w: &&str| w.bytes().all(|b| b.is_ascii_alphabetic()) && seconds_of(w).is_none();
    if before.len() > 3 || !before.iter().all(plain) {
        return None;
    }
    let nouns: Vec<What> = before.iter().filter_map(|w| noun(w)).collect();
    let hollow = HOLLOW.contains(&singular(last));
    let head = if hollow { nouns.last().copied().or_else(|| noun(last)) } else { noun(last) }?;
    let sound = nouns.iter().all(|what| *what == head || (head == What::Faults));
    let kinds = matches!(singular(last), "variant" | "type" | "kind") && head == What::Faults;
    sound.then_some(if kinds { What::Variants } else { head })
}

fn noun(word: &str) -> Option<What> {
    let word = singular(word);
    NOUNS.iter().find(|(noun, _)| *noun == word).map(|(_, what)| *what)
}

fn singular(word: &str) -> &str {
    match word {
        "nemeses" => "nemesis",
        "processes" => "process",
        "crashes" => "crash",
        "nemesis" | "process" => word,
        _ => word.strip_suffix('s').unwrap_or(word),
    }
}
