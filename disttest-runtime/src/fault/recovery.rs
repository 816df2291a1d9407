//! Whether the heal took: every signal that had moved is quiet again, and the application answers.

use super::series::{Point, median, num, rate, secs, span_of};
use super::signal::{Moved, Quiet};
use super::{Policy, Series, Window};
use crate::base::time::Nanos;
use std::time::Duration;

/// How `window` recovered, in numbers; the error says why it did not. `moved` are the signals that must be quiet again.
pub(super) fn recovery(window: &Window, moved: &[(&Series, Moved)], policy: &Policy) -> Result<String, String> {
    let healed = window.healed_at.ok_or("never healed")?;
    if let Some(error) = &window.heal_error {
        return Err(format!("the heal failed: {error}"));
    }
    if window.observed_until < healed {
        return Err("not watched after the heal".to_owned());
    }
    let probe = answers(window, healed, policy)?;
    let mut said = vec![format!("the application probe succeeded {} after the heal", secs(probe))];
    for (series, moved) in moved {
        let place = format!("{} at {}", series.signal, series.source);
        let quiet = quiet_after(series, &moved.quiet, healed, window.observed_until, policy);
        let after = quiet.map_err(|why| format!("{place}: {why}"))?;
        said.push(format!("{place} was quiet from {} after the heal", secs(after)));
    }
    if moved.is_empty() {
        said.push("no signal had moved, so none could show the heal".to_owned());
    }
    Ok(said.join("; "))
}

fn answers(window: &Window, healed: Nanos, policy: &Policy) -> Result<Duration, String> {
    let at = window.probe_ok_at.ok_or("no application probe succeeded after the heal")?;
    if at < healed {
        return Err("the application probe succeeded before the heal, not after it".to_owned());
    }
    let after = at.since(healed);
    if after > policy.heal_within {
        return Err(format!("the application probe took {}, more than {}", secs(after), secs(policy.heal_within)));
    }
    Ok(after)
}

/// When, after the heal, `series` became quiet for good.
fn quiet_after(
    series: &Series,
    quiet: &Quiet,
    healed: Nanos,
    until: Nanos,
    policy: &Policy,
) -> Result<Duration, String> {
    let tail = usable_tail(series, quiet, healed, until, policy);
    let long_enough = |from: &usize| {
        let stretch = &tail[*from..];
        stretch.len() >= policy.baseline_samples && span_of(stretch) >= policy.shortest_span()
    };
    let Some(shortest) = (0..tail.len()).rev().find(long_enough) else {
        let needed = secs(policy.shortest_span());
        return Err(format!(
            "sampled without a gap for {} at the end of the after-window, {needed} and {} samples are needed",
            secs(span_of(&tail)),
            policy.baseline_samples
        ));
    };
    is_quiet(&tail[shortest..], quiet)?;
    // A burst that the end of the stretch averages away is no reason to call the stretch longer.
    let noisy = (0..shortest).rev().find(|i| is_quiet(&tail[*i..*i + 2], quiet).is_err());
    let start = tail[noisy.map_or(0, |i| i + 1)].at;
    let after = start.since(healed);
    if after > policy.heal_within {
        return Err(format!("quiet only {} after the heal, more than {}", secs(after), secs(policy.heal_within)));
    }
    Ok(after)
}

/// The last readings after the heal, as far back as there is no gap, hole or reset.
fn usable_tail(series: &Series, quiet: &Quiet, healed: Nanos, until: Nanos, policy: &Policy) -> Vec<Point> {
    let mut tail: Vec<Point> = Vec::new();
    for sample in series.samples.iter().rev().filter(|s| healed < s.at && s.at <= until) {
        let Ok(point) = Point::of(sample) else { break };
        let (next_at, next_value) = tail.last().map_or((until, f64::INFINITY), |next| (next.at, next.value));
        let reset = matches!(quiet, Quiet::Below(_)) && next_value < point.value;
        if next_at < point.at || next_at.since(point.at) > policy.longest_hole || reset {
            break;
        }
        tail.push(point);
    }
    tail.reverse();
    tail
}

fn is_quiet(stretch: &[Point], quiet: &Quiet) -> Result<(), String> {
    match *quiet {
        Quiet::Below(limit) if rate(stretch) < limit => Ok(()),
        Quiet::Below(limit) => Err(format!("still {}/s, quiet is below {}/s", num(rate(stretch)), num(limit))),
        Quiet::Within { center, distance } if (median(stretch) - center).abs() <= distance => Ok(()),
        Quiet::Within { center, distance } => {
            Err(format!("still at {}, quiet is {} +- {}", num(median(stretch)), num(center), num(distance)))
        }
        Quiet::NoMore => match stretch {
            [first, .., last] if last.value > first.value => Err("still appearing".to_owned()),
            _ => Ok(()),
        },
    }
}
