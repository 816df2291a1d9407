//! What checkers are told beyond the history: flags, and which checkers read which.

use super::{models, size};
use disttest_runtime::checker::Guarantee;
use std::time::Duration;

/// Flags that say something to some checkers only.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Parameters of checkers")]
pub(crate) struct Parameters {
    /// session-consistency, monotonic-read: where in an output the system's own version stands, as JSON pointer; '' is
    /// the output itself
    #[arg(long, value_name = "POINTER", value_parser = pointer)]
    pub version_at: Option<String>,
    /// session-consistency: only these guarantees: read-your-writes, monotonic-reads, monotonic-writes,
    /// writes-follow-reads
    #[arg(long, value_name = "G", value_delimiter = ',', value_parser = guarantee)]
    pub guarantee: Vec<Guarantee>,
    /// session-consistency: one sequence of versions numbers the writes of all keys (with --version-at)
    #[arg(long)]
    pub across_keys: bool,
    /// session-consistency: writes of different sessions have no order by real time (without --version-at)
    #[arg(long)]
    pub ignore_real_time: bool,
    /// prefix-order: later elements that may overtake one [default: 0]
    #[arg(long, value_name = "N")]
    pub in_flight: Option<usize>,
    /// prefix-order: a consumer need not see every element, as where consumers share a queue
    #[arg(long)]
    pub gaps_allowed: bool,
    /// prefix-order: a consumer may see an element again
    #[arg(long)]
    pub redelivery_allowed: bool,
    /// exactly-once: where in an input the client's business key stands, as JSON pointer
    #[arg(long, value_name = "POINTER", value_parser = pointer)]
    pub business_key: Option<String>,
    /// exactly-once: where in an entry of the list that a read answers the business key stands; '' is the entry itself
    #[arg(long, value_name = "POINTER", value_parser = pointer, conflicts_with = "amount")]
    pub entry_key: Option<String>,
    /// exactly-once: where in an output that list stands
    #[arg(long, value_name = "POINTER", value_parser = pointer, requires = "entry_key")]
    pub entries_at: Option<String>,
    /// exactly-once: where in an input the amount stands that it adds to what a read answers [default: each adds one]
    #[arg(long, value_name = "POINTER", value_parser = pointer)]
    pub amount: Option<String>,
    /// Model lease: time after which a lease runs out
    #[arg(long, value_name = "T", value_parser = size::time)]
    pub ttl: Option<Duration>,
    /// exclusion of model lease: what the clocks of holder, service and recorder may differ in that time
    #[arg(long, value_name = "T", value_parser = size::time_or_none)]
    pub clock_skew: Option<Duration>,
    /// exclusion: where in the output of a granted acquire its fencing token stands, as JSON pointer
    #[arg(long, value_name = "POINTER", value_parser = pointer)]
    pub fencing_token: Option<String>,
    /// fairness: what is served fairly, and where an operation says of which group it is: DIMENSION=key,
    /// DIMENSION=key:SEPARATOR (what stands before it) or DIMENSION=input:FIELD; such as tenant=input:tenant
    #[arg(long, value_name = "D=WHERE", value_parser = grouping)]
    pub group_by: Option<Grouping>,
    /// fairness: groups that must be there
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    pub groups: Vec<String>,
    /// fairness: p99 of the worst group over p99 of all, at most
    #[arg(long, value_name = "RATIO", value_parser = positive)]
    pub max_p99_ratio: Option<f64>,
    /// fairness: acknowledged operations a second of each group, at least
    #[arg(long, value_name = "RATE", value_parser = positive)]
    pub min_group_throughput: Option<f64>,
    /// fairness: no operation of any group failed or was left unanswered
    #[arg(long)]
    pub no_errors: bool,
    /// fairness: the p99 of a group in N equal slices of the time spreads by at most this share of their median
    #[arg(long, value_name = "N:SHARE", value_parser = repeats)]
    pub repeat_spread: Option<(usize, f64)>,
    /// fairness, metric-slo: fewest samples of a group or window [default: 100]
    #[arg(long, value_name = "N")]
    pub min_samples: Option<usize>,
    /// freshness: how long ago the value that a read shows may have been overwritten
    #[arg(long, value_name = "T", value_parser = size::time_or_none)]
    pub max_staleness: Option<Duration>,
    /// monotonic-read, freshness (one), bounded-liveness, metric-slo: only operations of these types
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub op_type: Vec<String>,
    /// bounded-liveness: every accepted operation completes within this time
    #[arg(long, value_name = "T", value_parser = size::time)]
    pub completes_within: Option<Duration>,
    /// bounded-liveness: after every attempt somebody is served within this time
    #[arg(long, value_name = "T", value_parser = size::time)]
    pub serves_within: Option<Duration>,
    /// bounded-liveness: operations `leader` see a leader again within this time
    #[arg(long, value_name = "T", value_parser = size::time)]
    pub elects_within: Option<Duration>,
    /// bounded-liveness: only operations that overlap no fault window (fault_epoch)
    #[arg(long)]
    pub outside_faults: bool,
    /// metric-slo: a percentile of the latencies and what it is at most, such as p99:50ms
    #[arg(long, value_name = "PN:T", value_parser = latency)]
    pub latency: Option<(f64, Duration)>,
    /// metric-slo: acknowledged operations a second, at least
    #[arg(long, value_name = "RATE", value_parser = positive, conflicts_with = "latency")]
    pub throughput: Option<f64>,
    /// metric-slo: in every window of this width as well
    #[arg(long, value_name = "T", value_parser = size::time)]
    pub window: Option<Duration>,
    /// metric-slo: shortest measured time that says something
    #[arg(long, value_name = "T", value_parser = size::time)]
    pub lasting: Option<Duration>,
    /// bank: the accounts there are [default: those of the first read]
    #[arg(long, value_name = "A", value_delimiter = ',')]
    pub accounts: Vec<String>,
    /// bank: what all balances add up to [default: what the first read shows]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub total: Option<i64>,
    /// bank: balances may be negative
    #[arg(long)]
    pub allow_negative: bool,
    /// set: the last read of every client decides, not only the very last one
    #[arg(long)]
    pub each_client: bool,
    /// set-full: every read shows what was known when it began; a stale read is a violation too
    #[arg(long)]
    pub linearizable: bool,
    /// total-queue: elements come out exactly once, not at least once
    #[arg(long)]
    pub once: bool,
    /// total-queue: the queue is empty at the end, even if no operation shows it
    #[arg(long)]
    pub drained: bool,
    /// reconciliation-across-replicas: all replicas there are, as node_seen names them
    #[arg(long, value_name = "NODE", value_delimiter = ',')]
    pub replicas: Vec<String>,
    /// reconciliation-across-replicas: a replica that showed the same for this long has converged
    #[arg(long, value_name = "T", value_parser = size::time_or_none)]
    pub settle: Option<Duration>,
}

/// What groups operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grouping {
    /// Word of the plan format.
    pub dimension: String,
    /// Where it stands.
    pub place: Place,
}

/// Where an operation says of which group it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Its key is the group.
    Key,
    /// What stands before the first of these in its key.
    Prefix(char),
    /// This field of its input.
    Input(String),
}

type Row = (&'static str, &'static [&'static str], fn(&Parameters) -> bool);

/// Each flag, the checkers that read it, and whether it was given.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("version-at", &["session-consistency", "monotonic-read"], |p| p.version_at.is_some()),
    ("guarantee", &["session-consistency"], |p| !p.guarantee.is_empty()),
    ("across-keys", &["session-consistency"], |p| p.across_keys),
    ("ignore-real-time", &["session-consistency"], |p| p.ignore_real_time),
    ("in-flight", &["prefix-order"], |p| p.in_flight.is_some()),
    ("gaps-allowed", &["prefix-order"], |p| p.gaps_allowed),
    ("redelivery-allowed", &["prefix-order"], |p| p.redelivery_allowed),
    ("business-key", &["exactly-once"], |p| p.business_key.is_some()),
    ("entry-key", &["exactly-once"], |p| p.entry_key.is_some()),
    ("entries-at", &["exactly-once"], |p| p.entries_at.is_some()),
    ("amount", &["exactly-once"], |p| p.amount.is_some()),
    ("ttl", &["exclusion", "linearizability"], |p| p.ttl.is_some()),
    ("clock-skew", &["exclusion"], |p| p.clock_skew.is_some()),
    ("fencing-token", &["exclusion"], |p| p.fencing_token.is_some()),
    ("group-by", &["fairness"], |p| p.group_by.is_some()),
    ("groups", &["fairness"], |p| !p.groups.is_empty()),
    ("max-p99-ratio", &["fairness"], |p| p.max_p99_ratio.is_some()),
    ("min-group-throughput", &["fairness"], |p| p.min_group_throughput.is_some()),
    ("no-errors", &["fairness"], |p| p.no_errors),
    ("repeat-spread", &["fairness"], |p| p.repeat_spread.is_some()),
    ("min-samples", &["fairness", "metric-slo"], |p| p.min_samples.is_some()),
    ("max-staleness", &["freshness"], |p| p.max_staleness.is_some()),
    ("op-type", &["monotonic-read", "freshness", "bounded-liveness", "metric-slo"], |p| !p.op_type.is_empty()),
    ("completes-within", &["bounded-liveness"], |p| p.completes_within.is_some()),
    ("serves-within", &["bounded-liveness"], |p| p.serves_within.is_some()),
    ("elects-within", &["bounded-liveness"], |p| p.elects_within.is_some()),
    ("outside-faults", &["bounded-liveness"], |p| p.outside_faults),
    ("latency", &["metric-slo"], |p| p.latency.is_some()),
    ("throughput", &["metric-slo"], |p| p.throughput.is_some()),
    ("window", &["metric-slo"], |p| p.window.is_some()),
    ("lasting", &["metric-slo"], |p| p.lasting.is_some()),
    ("accounts", &["bank"], |p| !p.accounts.is_empty()),
    ("total", &["bank"], |p| p.total.is_some()),
    ("allow-negative", &["bank"], |p| p.allow_negative),
    ("each-client", &["set"], |p| p.each_client),
    ("linearizable", &["set-full"], |p| p.linearizable),
    ("once", &["total-queue"], |p| p.once),
    ("drained", &["total-queue"], |p| p.drained),
    ("replicas", &["reconciliation-across-replicas"], |p| !p.replicas.is_empty()),
    ("settle", &["reconciliation-across-replicas"], |p| p.settle.is_some()),
];

impl Parameters {
    /// Refuses a flag that none of `checkers` reads: its user expects it to be looked at.
    pub(crate) fn all_read(&self, model: &str, checkers: &[&str]) -> Result<(), String> {
        for (flag, readers, given) in ROWS {
            let is_read = readers.iter().any(|reader| checkers.contains(reader));
            if given(self) && !is_read {
                return Err(format!(
                    "--{flag} is for {}, and says nothing to {}",
                    readers.join(", "),
                    checkers.join(", ")
                ));
            }
        }
        match (self.ttl, self.clock_skew) {
            (None, None) => Ok(()),
            _ if model == models::LEASE => Ok(()),
            _ => Err(format!("--ttl and --clock-skew are for --model lease: a `{model}` does not run out")),
        }
    }
}

/// A JSON pointer (RFC 6901).
fn pointer(text: &str) -> Result<String, String> {
    match text.is_empty() || text.starts_with('/') {
        true => Ok(text.to_owned()),
        false => Err(format!("a JSON pointer is empty or begins with `/`, such as /{text}")),
    }
}

fn guarantee(text: &str) -> Result<Guarantee, String> {
    let plain = text.trim().to_ascii_lowercase().replace('_', "-");
    let known = Guarantee::ALL.into_iter().find(|guarantee| guarantee.name() == plain);
    known.ok_or_else(|| format!("the guarantees are {}", Guarantee::ALL.map(Guarantee::name).join(", ")))
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "it is a number above 0".to_owned())
}

fn grouping(text: &str) -> Result<Grouping, String> {
    let (dimension, place) = text.split_once('=').ok_or("it is DIMENSION=WHERE, such as tenant=input:tenant")?;
    let separator = |rest: &str| {
        let mut chars = rest.chars();
        chars.next().filter(|_| chars.next().is_none())
    };
    let place = match place.split_once(':') {
        None if place == "key" => Some(Place::Key),
        Some(("key", rest)) => separator(rest).map(Place::Prefix),
        Some(("input", field)) if !field.is_empty() => Some(Place::Input(field.to_owned())),
        _ => None,
    };
    let place = place.ok_or("WHERE is key, key:SEPARATOR (one character) or input:FIELD")?;
    Ok(Grouping { dimension: dimension.trim().to_ascii_lowercase(), place })
}

fn repeats(text: &str) -> Result<(usize, f64), String> {
    let (count, share) = text.split_once(':').ok_or("it is N:SHARE, such as 5:0.2")?;
    let count = count.trim().parse().ok().filter(|count| *count >= 2).ok_or("N is a whole number from 2")?;
    Ok((count, positive(share)?))
}

fn latency(text: &str) -> Result<(f64, Duration), String> {
    let (percent, time) = text.split_once(':').ok_or("it is PN:T, such as p99:50ms")?;
    let percent = percent.trim().trim_start_matches(['p', 'P']);
    let percent = percent.parse().ok().filter(|percent| *percent > 0.0 && *percent <= 100.0);
    Ok((percent.ok_or("a percentile is above 0 and at most 100")?, size::time(time)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args;
    use std::collections::BTreeSet;

    #[test]
    fn every_flag_has_its_readers_and_every_reader_is_a_checker() {
        let command = Parameters::augment_args(clap::Command::new("check"));
        let flags: BTreeSet<String> = command.get_arguments().filter_map(|a| a.get_long()).map(str::to_owned).collect();
        let rows: BTreeSet<String> = ROWS.iter().map(|(flag, ..)| (*flag).to_owned()).collect();
        assert_eq!(flags, rows);
        let none = Parameters::default();
        let known: BTreeSet<&str> = models::MODELS.iter().flat_map(|model| model.names()).collect();
        for (flag, readers, given) in ROWS {
            assert!(!given(&none) && readers.iter().all(|reader| known.contains(reader)), "{flag}: {readers:?}");
        }
    }

    #[test]
    fn values_are_read_as_they_are_written() {
        assert_eq!(pointer("/a/b").as_deref(), Ok("/a/b"));
        assert!(pointer("a").is_err() && pointer("").is_ok());
        assert_eq!(grouping("tenant=key").map(|g| g.place), Ok(Place::Key));
        assert_eq!(grouping("tenant=key:/").map(|g| g.place), Ok(Place::Prefix('/')));
        assert_eq!(
            grouping("User=input:id"),
            Ok(Grouping { dimension: "user".into(), place: Place::Input("id".into()) })
        );
        for text in ["tenant", "tenant=", "tenant=key:", "tenant=key:ab", "tenant=input:", "tenant=output:x"] {
            assert!(grouping(text).is_err(), "{text}");
        }
        assert_eq!(repeats("5:0.2"), Ok((5, 0.2)));
        assert!(repeats("1:0.2").is_err() && repeats("5:0").is_err() && repeats("5:NaN").is_err());
        assert_eq!(latency("p99.9:50ms"), Ok((99.9, Duration::from_millis(50))));
        assert!(latency("p0:1s").is_err() && latency("p101:1s").is_err() && latency("p99").is_err());
        assert!(guarantee("monotonic_reads").is_ok() && guarantee("causal").is_err());
    }
}
