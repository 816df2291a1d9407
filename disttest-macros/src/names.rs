//! The words of the plan format that an attribute may use. `disttest-runtime` has the same tables for plans; a
//! compile-fail test holds the two together.

/// Claim categories, and whether they make a scenario serious.
pub(crate) const CATEGORIES: [(&str, bool); 11] = [
    ("safety", true),
    ("liveness", false),
    ("durability", true),
    ("performance-SLO", false),
    ("operational", false),
    ("idempotency", true),
    ("isolation", true),
    ("ordering", true),
    ("membership", true),
    ("boundary", false),
    ("fairness", false),
];

/// Models of §7.M.
pub(crate) const MODELS: [&str; 10] =
    ["register", "map", "queue", "log", "lock", "lease", "session", "membership-table", "counter", "ledger"];

/// Known checkers and the models they fit; an empty list fits every model.
pub(crate) const CHECKERS: [(&str, &[&str]); 24] = [
    ("linearizability", &["register", "map", "queue", "log", "lock", "counter", "ledger"]),
    ("no-lost-ack", &["register", "map", "queue", "log", "ledger"]),
    ("serializability", &["register", "map", "ledger"]),
    ("replay-equivalence", &["register", "map", "log", "queue", "counter", "ledger"]),
    ("session-consistency", &["session", "register", "map"]),
    ("monotonic-read", &["session", "register", "map", "log", "counter"]),
    ("exactly-once", &["ledger", "queue", "counter", "map", "register"]),
    ("reconciliation-across-replicas", &["membership-table", "register", "map", "log", "ledger"]),
    ("prefix-order", &["queue", "log"]),
    ("invariant-over-final-state", &[]),
    ("exclusion", &["lock", "lease"]),
    ("fairness", &[]),
    ("set-full", &["other(\"set\")"]),
    ("bank", &["ledger"]),
    ("counter-bounds", &["counter"]),
    ("unique-ids", &["other(\"ids\")"]),
    ("total-queue", &["queue"]),
    ("long-fork", &["register", "map"]),
    ("freshness", &["register", "map", "session"]),
    ("bounded-liveness", &[]),
    ("property-assertion", &[]),
    ("metric-slo", &[]),
    ("statistical-baseline", &[]),
    ("differential", &[]),
];

/// Signals read where a fault is suffered.
pub(crate) fn is_victim_signal(signal: &str) -> bool {
    signal.starts_with("client-") || signal.starts_with("log-marker:") || signal.starts_with("metric:")
}

/// Signals read where a fault is made.
pub(crate) fn is_injector_signal(signal: &str) -> bool {
    const PREFIXES: [&str; 13] = [
        "proxy-",
        "iptables-",
        "nft-",
        "switch-",
        "process-",
        "disk-",
        "syscall-",
        "clock-",
        "cgroup-",
        "failpoint-",
        "container-",
        "kube-",
        "hook:",
    ];
    PREFIXES.iter().any(|prefix| signal.starts_with(prefix))
}

/// True for a signal whose parameter says nothing: `metric:` or `hook:` without a name, and a log marker so short that any line
/// of a log may hold it.
pub(crate) fn is_blank(signal: &str) -> bool {
    let short = |prefix: &str, least: usize| {
        signal.strip_prefix(prefix).is_some_and(|text| text.trim().chars().count() < least)
    };
    short("log-marker:", SHORTEST_MARKER) || short("metric:", 1) || short("hook:", 1)
}

/// Fewest characters of a log marker.
pub(crate) const SHORTEST_MARKER: usize = 4;

/// Words that name the injector's own word for it, which proves nothing.
pub(crate) fn is_no_evidence(signal: &str) -> bool {
    let signal = signal.to_ascii_lowercase();
    let claims =
        ["exit-status", "exit-code", "exit status", "exit code", "success", "succeeded", "return-code", "injected-ok"];
    signal.trim().is_empty() || claims.iter().any(|word| signal.contains(word)) || signal == "ok" || signal == "none"
}

/// The candidate within a third of the word's length in edits, if there is one.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let scored = candidates.iter().map(|candidate| (strsim::levenshtein(word, candidate), *candidate));
    scored.min().filter(|(edits, _)| *edits <= word.chars().count().div_ceil(3)).map(|(_, candidate)| candidate)
}
