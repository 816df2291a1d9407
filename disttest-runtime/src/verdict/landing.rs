//! What the fault windows of all runs prove (format.md D15, §6; tree step 4).
//!
//! One window that did not land does not spoil the run: it is disclosed, counts for no budget, and its nemesis must
//! have landed in another window of the same seed. A window counts only when both sides moved on signals that the
//! scenario declared, for a nemesis that it declared.

use super::{Declared, DeclaredFault, RunRecord};
use crate::fault::{Assessment, Side, SideFinding, TOGETHER};
use std::collections::BTreeSet;

/// Facts about faults, over all runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Landing {
    /// Why the planned fault is not proven; empty when it is (or when none is planned and none was made).
    pub not_proven: Vec<String>,
    /// Windows in all runs.
    pub windows: u64,
    /// Those that landed.
    pub landed: u64,
    /// Windows that did not land or were not planned, with the reason: disclosed, never counted.
    pub not_counted: Vec<String>,
    /// Windows after whose heal the system did not recover in time, with the reason (red flag 8).
    pub not_recovered: Vec<String>,
    /// Declared nemeses for which the budget asked for had no room: no more than PASS-smoke.
    pub no_room: Vec<String>,
    /// Landed windows of nemeses that take a process away.
    pub failovers: u64,
    /// Landed windows of partitions whose both directions are cut.
    pub symmetric: u64,
    /// Landed windows of one-way cuts.
    pub asymmetric: u64,
}

/// Nemeses that take a process away: a failover follows.
const FAILOVERS: [&str; 10] = [
    "hard-kill",
    "graceful-stop",
    "restart",
    "container-restart",
    "container-kill",
    "pod-delete",
    "scale-down",
    "leader-isolation",
    "rolling-restart",
    "rolling-upgrade",
];
/// Partitions by the planned names; the first two cut one direction.
const PARTITIONS: [&str; 11] = [
    "asymmetric-data-cut",
    "asymmetric-partition",
    "full-partition",
    "minority-side-partition",
    "majority-side-partition",
    "leader-isolation",
    "metadata-store-outage",
    "split-brain",
    "bridge-partition",
    "ring-partition",
    "container-disconnect",
];

pub(super) fn is_failover(nemesis: &str) -> bool {
    FAILOVERS.contains(&nemesis)
}

pub(super) fn is_partition(nemesis: &str) -> bool {
    PARTITIONS.contains(&nemesis)
}

pub(super) fn is_one_way(nemesis: &str) -> bool {
    PARTITIONS[..2].contains(&nemesis)
}

impl Landing {
    /// Facts of all `runs`, and for each run whether a planned fault was proven in it.
    pub(super) fn gather(declared: &Declared, runs: &[RunRecord]) -> (Landing, Vec<bool>) {
        let mut all = Landing::default();
        let mut attributed = Vec::with_capacity(runs.len());
        for run in runs {
            let before = all.not_proven.len();
            all.add_windows(declared, run);
            match &declared.fault {
                DeclaredFault::Planned { nemeses, .. } => all.add_planned(declared, nemeses, run),
                DeclaredFault::None { .. } => all.add_unplanned(run),
            }
            attributed.push(declared.fault.is_planned() && all.not_proven.len() == before);
        }
        (all, attributed)
    }

    fn add_windows(&mut self, declared: &Declared, run: &RunRecord) {
        let mut epochs = BTreeSet::new();
        for window in &run.windows {
            self.windows += 1;
            let place = format!("{}, window {} ({})", run.place(), window.epoch, window.nemesis);
            if !window.recovered {
                self.not_recovered.push(format!("{place}: {}", window.recovery));
            }
            match does_not_count(declared, window) {
                Some(why) => self.not_counted.push(format!("{place}: {why}")),
                None if !epochs.insert(window.epoch) => self.not_counted.push(format!("{place}: the epoch is taken")),
                None => self.add_landed(window),
            }
        }
    }

    fn add_landed(&mut self, window: &Assessment) {
        let any = |is: fn(&str) -> bool| u64::from(names_of(&window.nemesis).any(is));
        self.landed += 1;
        self.failovers += any(is_failover);
        self.asymmetric += any(is_one_way);
        self.symmetric += any(|nemesis| is_partition(nemesis) && !is_one_way(nemesis));
    }

    fn add_planned(&mut self, declared: &Declared, nemeses: &[String], run: &RunRecord) {
        let (place, before) = (run.place(), self.not_proven.len());
        if let Some(reason) = &run.no_fault {
            self.not_proven
                .push(format!("{place}: a fault is planned, but the test said there is none (\"{reason}\")"));
        }
        if nemeses.is_empty() {
            self.not_proven.push(format!("{place}: a fault is planned, but no nemesis is named"));
        }
        if run.windows.is_empty() {
            self.not_proven.push(format!("{place}: no fault was injected"));
            return;
        }
        for window in &run.windows {
            if let Some(missed) = window.missed() {
                self.not_proven.push(format!("{place}, window {} ({}): {missed}", window.epoch, window.nemesis));
            }
        }
        let injected =
            |window: &&Assessment| window.occasion.as_ref().is_none_or(|occasion| occasion.seen_at.is_some());
        let windows = run.windows.iter().filter(injected).count() as u64;
        if run.injections < windows {
            let journaled = run.injections;
            self.not_proven
                .push(format!("{place}: {windows} fault windows, but the journal holds {journaled} injections"));
        }
        let has_room = run.request.budget.faults >= nemeses.len() as u64;
        for nemesis in nemeses {
            self.add_nemesis(declared, nemesis, has_room, run);
        }
        if landed_windows(declared, run) == 0 && self.not_proven.len() == before {
            self.not_proven.push(format!("{place}: no fault window landed"));
        }
    }

    fn add_nemesis(&mut self, declared: &Declared, nemesis: &str, has_room: bool, run: &RunRecord) {
        let place = run.place();
        let mine: Vec<&Assessment> = run.windows.iter().filter(|window| acts(window, nemesis)).collect();
        if mine.iter().any(|window| counts(declared, window)) {
            return;
        }
        match mine.first() {
            Some(window) => {
                let why = does_not_count(declared, window).unwrap_or_default();
                self.not_proven.push(format!("{place}: `{nemesis}` never landed: {why}"));
            }
            None if has_room => self.not_proven.push(format!("{place}: the planned `{nemesis}` never acted")),
            None => self.no_room.push(format!(
                "{place}: the planned `{nemesis}` did not act, the budget asked for has {} fault windows",
                run.request.budget.faults
            )),
        }
    }

    fn add_unplanned(&mut self, run: &RunRecord) {
        let (windows, injections) = (run.windows.len(), run.injections);
        if windows > 0 || injections > 0 {
            let place = run.place();
            self.not_proven.push(format!(
                "{place}: no fault is planned, but the journal holds {injections} injections and {windows} fault windows"
            ));
        }
    }
}

impl RunRecord {
    /// `seed 7`, or `seed 7, re-run 1`.
    pub(super) fn place(&self) -> String {
        match self.request.rerun {
            0 => format!("seed {}", self.request.seed),
            n => format!("seed {}, re-run {n}", self.request.seed),
        }
    }
}

/// Windows of `run` that landed on declared signals with a declared nemesis; each epoch counts once.
pub(super) fn landed_windows(declared: &Declared, run: &RunRecord) -> u64 {
    let epochs: BTreeSet<u64> = run.windows.iter().filter(|w| counts(declared, w)).map(|w| w.epoch).collect();
    epochs.len() as u64
}

pub(super) fn counts(declared: &Declared, window: &Assessment) -> bool {
    does_not_count(declared, window).is_none()
}

/// Why `window` proves nothing of the planned fault; `None` when it landed and counts.
pub fn does_not_count(declared: &Declared, window: &Assessment) -> Option<String> {
    let DeclaredFault::Planned { nemeses, injector, victim } = &declared.fault else {
        return Some("no fault is planned".to_owned());
    };
    if let Some(why) = is_not_planned(nemeses, &window.nemesis).or_else(|| hides_parts(window)) {
        return Some(why);
    }
    if let Some(missed) = window.missed() {
        return Some(missed);
    }
    for part in &window.parts {
        let why = signals_prove_nothing(part, injector, victim);
        if let Some(why) = why {
            return Some(format!("{}: {why}", part.nemesis));
        }
    }
    signals_prove_nothing(window, injector, victim)
}

fn signals_prove_nothing(window: &Assessment, injector: &[String], victim: &[String]) -> Option<String> {
    side_proves_nothing(&window.injector, Side::Injector, injector)
        .or_else(|| side_proves_nothing(&window.victim, Side::Victim, victim))
        .or_else(|| {
            (!window.landed).then(|| format!("it did not land: {}; {}", window.injector.why, window.victim.why))
        })
        .or_else(|| (window.held.0 == 0).then(|| "it was held for no time".to_owned()))
}

/// The nemeses that a name joins by ` + `; a name of one is that one.
pub(super) fn names_of(nemesis: &str) -> impl Iterator<Item = &str> {
    nemesis.split(TOGETHER)
}

/// Both join the same nemeses, in whatever order.
fn same_nemeses(one: &str, other: &str) -> bool {
    let sorted = |name: &str| {
        let mut names: Vec<String> = names_of(name).map(str::to_owned).collect();
        names.sort();
        names
    };
    one == other || sorted(one) == sorted(other)
}

/// The planned `nemesis` acts in `window`: by itself or among others, and where several are planned together, those.
fn acts(window: &Assessment, nemesis: &str) -> bool {
    same_nemeses(&window.nemesis, nemesis) || names_of(&window.nemesis).any(|part| part == nemesis)
}

/// Planned is the very composition, or each nemesis of it by itself.
fn is_not_planned(nemeses: &[String], name: &str) -> Option<String> {
    if nemeses.iter().any(|planned| same_nemeses(planned, name)) {
        return None;
    }
    let missing = names_of(name).find(|part| !nemeses.iter().any(|planned| planned == part))?;
    let joined =
        nemeses.iter().find(|planned| names_of(planned).count() > 1 && names_of(planned).any(|part| part == missing));
    Some(match joined {
        Some(joined) => format!("`{missing}` is planned in `{joined}` only"),
        None => format!("`{missing}` is not planned"),
    })
}

/// A window named after several nemeses is judged by each of them.
fn hides_parts(window: &Assessment) -> Option<String> {
    let parts: Vec<&str> = window.parts.iter().map(|part| part.nemesis.as_str()).collect();
    let named: Vec<&str> = names_of(&window.nemesis).collect();
    let single = named.len() == 1 && parts.is_empty();
    (!single && parts != named).then(|| format!("its parts were not judged each for itself: {}", parts.join(", ")))
}

fn side_proves_nothing(finding: &SideFinding, side: Side, declared: &[String]) -> Option<String> {
    let name = match side {
        Side::Injector => "injector",
        Side::Victim => "victim",
    };
    if finding.side != side {
        return Some(format!("the {name}'s side was not read"));
    }
    if !finding.moved {
        return Some(format!("{name}: {}", finding.why));
    }
    match &finding.signal {
        None => Some(format!("{name}: moved, but no signal is named")),
        Some(signal) if !declared.iter().any(|name| names(signal, name)) => {
            Some(format!("{name}: `{signal}` is not a declared signal"))
        }
        Some(_) => None,
    }
}

/// True when `text` (a signal and its place) holds `name` as a whole word.
fn names(text: &str, name: &str) -> bool {
    let in_name = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
    !name.is_empty()
        && text.match_indices(name).any(|(at, found)| {
            let before = text[..at].chars().next_back();
            let after = text[at + found.len()..].chars().next();
            !before.is_some_and(in_name) && !after.is_some_and(|c| in_name(c) && c != ':')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_recognised_as_a_whole_word() {
        let check = |text: &str, name: &str, expect: bool| assert_eq!(names(text, name), expect, "{text} / {name}");
        check("client-timeouts", "client-timeouts", true);
        check("client-timeouts at n1", "client-timeouts", true);
        check("client-timeouts: n1", "client-timeouts", true);
        check("proxy-dropped-bytes@link n1->n2", "proxy-dropped-bytes", true);
        check("n1/client-timeouts", "client-timeouts", true);
        check("log-marker:leader lost (n2)", "log-marker:leader lost", true);
        check("client-timeouts-total", "client-timeouts", false);
        check("metric:client-timeouts", "client-timeouts", false);
        check("the proxy reported success", "proxy-dropped-bytes", false);
        check("anything", "", false);
    }
}
