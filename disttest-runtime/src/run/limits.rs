//! Runs a checker under a limit on time and memory, on its own thread, with panics caught.

use crate::checker::{Answer, Checker, Evidence, Limits, Outcome};
use crate::history::History;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// What one call of a checker may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckLimits {
    /// Longest time of one check. Default 60 s.
    pub time: Duration,
    /// Most memory that a checker may say it holds, in bytes. Default 4 GiB.
    pub bytes: u64,
}

impl Default for CheckLimits {
    fn default() -> CheckLimits {
        CheckLimits { time: Duration::from_secs(60), bytes: 4 << 30 }
    }
}

/// The limits of one call, with the clock that the checker itself must not read.
struct Clocked {
    limits: CheckLimits,
    started: Instant,
    stop: Arc<AtomicBool>,
}

impl Limits for Clocked {
    fn exceeded(&self, bytes: u64) -> Option<String> {
        if self.stop.load(Ordering::Relaxed) {
            return Some("the run was told to stop".to_owned());
        }
        if bytes > self.limits.bytes {
            return Some(format!("{} MiB of memory, of {} MiB allowed", bytes >> 20, self.limits.bytes >> 20));
        }
        let passed = self.started.elapsed();
        (passed > self.limits.time).then(|| format!("{} s of checking", self.limits.time.as_secs_f32()))
    }

    fn threads(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}

/// How long a checker may run on after its time before it is given up.
const GRACE: Duration = Duration::from_secs(10);

/// `checker`'s answer on `history`. A panic, and a checker that asks its limits too seldom to notice that its time is
/// over, are [`Outcome::Unknown`]. The name and model of the answer are those the checker claims for itself.
pub(crate) fn check_within(
    checker: &Arc<dyn Checker>,
    history: &Arc<History>,
    limits: CheckLimits,
    stop: &Arc<AtomicBool>,
) -> Answer {
    let (reply, answer) = mpsc::channel();
    let (run, seen, flag) = (Arc::clone(checker), Arc::clone(history), Arc::clone(stop));
    let spawned = std::thread::Builder::new().name(format!("check {}", checker.name())).spawn(move || {
        let clocked = Clocked { limits, started: Instant::now(), stop: flag };
        let checked = std::panic::catch_unwind(AssertUnwindSafe(|| run.check(&seen, &clocked)));
        // Nobody waits any more: the answer is late and counts for nothing.
        drop(reply.send(checked));
    });
    let unknown = |why: String| undecided(checker.as_ref(), history, why);
    if let Err(error) = spawned {
        return unknown(format!("no thread for the check: {error}"));
    }
    let until = Instant::now() + limits.time + GRACE;
    loop {
        match answer.recv_timeout(Duration::from_millis(100)) {
            Ok(Ok(answer)) => return sound(answer, checker.as_ref(), history),
            Ok(Err(panic)) => return unknown(format!("the checker panicked: {}", super::panics::message(&*panic))),
            Err(mpsc::RecvTimeoutError::Timeout) if Instant::now() < until => {}
            Err(_) => return unknown(format!("no answer after {} s", (limits.time + GRACE).as_secs())),
        }
    }
}

/// An answer that contradicts itself decides nothing: `valid` of a history it did not look at, `invalid` without a
/// violation.
fn sound(mut answer: Answer, checker: &dyn Checker, history: &History) -> Answer {
    answer.checker = checker.name().to_owned();
    answer.model = checker.model().map(str::to_owned);
    answer.evidence.recorded = history.ops().len() as u64;
    match &answer.outcome {
        Outcome::Invalid { violations } if violations.is_empty() => {
            answer.outcome = Outcome::Unknown { why: "it said invalid and named no violation".to_owned() };
        }
        Outcome::Valid if history.ops().is_empty() => {
            answer.outcome = Outcome::Unknown { why: "the history is empty".to_owned() };
        }
        _ => {}
    }
    answer
}

fn undecided(checker: &dyn Checker, history: &History, why: String) -> Answer {
    Answer {
        checker: checker.name().to_owned(),
        model: checker.model().map(str::to_owned),
        outcome: Outcome::Unknown { why },
        evidence: Evidence { recorded: history.ops().len() as u64, ..Evidence::default() },
        cannot_detect: checker.cannot_detect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::notation;

    /// A checker made of a closure.
    struct By<F>(F);

    impl<F: Fn(&dyn Limits) -> Outcome + Send + Sync> Checker for By<F> {
        fn name(&self) -> &str {
            "by"
        }

        fn cannot_detect(&self) -> Vec<String> {
            vec!["everything".to_owned()]
        }

        fn missing(&self, _history: &History) -> Vec<String> {
            Vec::new()
        }

        fn check(&self, _history: &History, limits: &dyn Limits) -> Answer {
            // It claims to be another, and to have seen more than there was.
            let evidence = Evidence { recorded: 1_000, ..Evidence::default() };
            let (checker, outcome) = ("linearizability".to_owned(), (self.0)(limits));
            Answer { checker, model: None, outcome, evidence, cannot_detect: Vec::new() }
        }
    }

    fn check(history: &str, by: impl Fn(&dyn Limits) -> Outcome + Send + Sync + 'static, expect: &str) {
        let history = Arc::new(notation::history(history).expect("a history"));
        let limits = CheckLimits { time: Duration::from_millis(50), bytes: 1 << 20 };
        let checker: Arc<dyn Checker> = Arc::new(By(by));
        let answer = check_within(&checker, &history, limits, &Arc::default());
        assert_eq!((answer.checker.as_str(), answer.evidence.recorded), ("by", history.ops().len() as u64));
        let said = match answer.outcome {
            Outcome::Valid => "valid".to_owned(),
            Outcome::Invalid { .. } => "invalid".to_owned(),
            Outcome::Unknown { why } => why,
        };
        assert!(said.contains(expect), "{said}");
    }

    #[test]
    fn no_exception_misuse_or_exhausted_limit_is_valid() {
        let write = "c1 write x 1 [0..5]";
        check(write, |_| Outcome::Valid, "valid");
        check("", |_| Outcome::Valid, "the history is empty");
        check(write, |_| Outcome::Invalid { violations: Vec::new() }, "named no violation");
        check(write, |_| panic!("out of range"), "the checker panicked: out of range");
        let until = |bytes: u64| {
            move |limits: &dyn Limits| loop {
                if let Some(why) = limits.exceeded(bytes) {
                    break Outcome::Unknown { why };
                }
                std::thread::yield_now();
            }
        };
        check(write, until(0), "0.05 s of checking");
        check(write, until(2 << 20), "2 MiB of memory, of 1 MiB allowed");
    }

    #[test]
    fn a_run_that_is_told_to_stop_stops_its_checkers() {
        let stop = Arc::new(AtomicBool::new(true));
        let clocked = Clocked { limits: CheckLimits::default(), started: Instant::now(), stop };
        assert_eq!(clocked.exceeded(0).as_deref(), Some("the run was told to stop"));
    }
}
