//! Executes one seed of a scenario in this process and leaves nothing behind, however it ends.

use super::core::Core;
use super::{Entry, Judged, Run, faults, panics, record};
use crate::nemesis::{Lacks, undo_journal};
use crate::plan::Budget;
use crate::verdict::{End, RunRecord, RunRequest};
use anyhow::{Context, Result};
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long code that does not yield is waited for after it was told to stop.
const GRACE: Duration = Duration::from_secs(5);
/// Time between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(2);

/// Executes `request` of the scenario `entry` and writes `run.json` and its companions into the run's folder.
///
/// Owns the tokio runtime; the body runs on the calling thread. A panic, an error, the deadline, SIGTERM and SIGINT end
/// the run; in each case faults are healed, processes ended, and the record says what there is. Code that blocks its
/// thread past the deadline (or 5 s past a signal) is not waited for: the record is written, everything taken down and
/// this process exits with status 101.
///
/// Takes over the process's handling of SIGTERM and SIGINT: call it in a process that runs nothing else.
pub fn execute(entry: impl Into<Entry>, request: RunRequest) -> RunRecord {
    let limit = deadline(&request.budget);
    execute_within(entry.into(), request, limit)
}

/// As [`execute`], with another deadline.
pub(super) fn execute_within(entry: Entry, request: RunRequest, limit: Duration) -> RunRecord {
    panics::remember_places();
    let record = match Execution::prepare(entry, &request) {
        Ok(execution) => execution.run(limit),
        Err(error) => record::never_began(request, format!("the run could not begin: {error:#}")),
    };
    if let Err(error) = record::write(&record) {
        return record::never_began(record.request, format!("{error:#}"));
    }
    record
}

/// How long a scenario may take until its oracle judges; checkers have their own limits.
pub fn deadline(budget: &Budget) -> Duration {
    // Start-up, the workload (which may wait for operations), each window's baseline and recovery, final reads.
    Duration::from_secs(180 + 3 * budget.seconds + 30 * budget.faults)
}

struct Execution {
    core: Arc<Core>,
    runtime: Runtime,
    terminated: Signal,
    interrupted: Signal,
}

impl Execution {
    fn prepare(entry: Entry, request: &RunRequest) -> Result<Execution> {
        let workers = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .thread_name(entry.function)
            .enable_all()
            .build()
            .context("the tokio runtime did not start")?;
        let (core, terminated, interrupted) = {
            let _in_runtime = runtime.enter();
            // Before anything acts: a signal from here on is never lost.
            (Core::new(entry, request.clone())?, signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?)
        };
        Ok(Execution { core: Arc::new(core), runtime, terminated, interrupted })
    }

    fn run(self, limit: Duration) -> RunRecord {
        let Execution { core, runtime, terminated, interrupted } = self;
        core.events.say("start", format!("seed {}, {}", core.request.seed, core.request.tier));
        core.say_backend();
        runtime.spawn(report_progress(Arc::clone(&core)));
        let told = Arc::new(AtomicBool::new(false));
        runtime.spawn(listen(Arc::clone(&core), terminated, interrupted, Arc::clone(&told)));
        let watchdog = Watchdog::start(&core, limit);
        let body = (core.entry.body)(Run::new(Arc::clone(&core)));
        let ended = panics::caught(|| runtime.block_on(supervise(&core, body, &told, limit)));
        let end = ended.unwrap_or_else(|message| End::Panicked { message });
        watchdog.call_off();
        core.tell_to_stop();
        // The fault is healed before the processes go: a heal of the last window may still be seen.
        if let Err(panic) = panics::caught(|| runtime.block_on(faults::heal_at_the_end(&core))) {
            core.facts().note(format!("the heal at the end panicked: {panic}"));
        }
        if end == End::Judged {
            let cluster = core.facts().cluster.clone();
            runtime.block_on(async {
                if let Some(cluster) = cluster {
                    cluster.last_sign_of_life().await;
                }
            });
        }
        let record = conclude(&core, end);
        runtime.shutdown_timeout(Duration::from_secs(2));
        record
    }
}

/// Runs the body until it ends, the deadline passes or a signal comes. What is ready first in this order counts, so a
/// body that has judged has judged.
async fn supervise(core: &Core, body: impl Future<Output = Result<Judged>>, told: &AtomicBool, limit: Duration) -> End {
    tokio::select! {
        biased;
        result = body => match result {
            Ok(judged) if judged.run_id == core.request.run_id && core.facts().judged => End::Judged,
            Ok(judged) => End::Error { message: format!("it returned the judgement of another run, {}", judged.run_id) },
            Err(error) if told.load(Ordering::Relaxed) => End::Died { how: format!("told to stop by a signal ({error:#})") },
            Err(error) => match Lacks::of(&error) {
                Some(lacks) => End::EnvMissing { what: lacks.to_string() },
                None => End::Error { message: format!("{error:#}") },
            },
        },
        () = core.stopping() => End::Died { how: "told to stop by a signal".to_owned() },
        () = tokio::time::sleep(limit) => End::TimedOut { seconds: limit.as_secs() },
    }
}

/// Takes everything down and makes the record.
fn conclude(core: &Core, end: End) -> RunRecord {
    let cluster = core.facts().cluster.clone();
    if let Some(cluster) = &cluster {
        cluster.close();
    }
    for undone in undo_journal(core.run_dir()) {
        core.facts().note(format!("left behind and undone at the end: {undone}"));
    }
    let record = record::gather(core, end);
    let notes = match &record.end {
        End::Judged => "judged".to_owned(),
        other => serde_json::to_string(other).unwrap_or_default(),
    };
    core.events.say("end", notes);
    record
}

async fn listen(core: Arc<Core>, mut terminated: Signal, mut interrupted: Signal, told: Arc<AtomicBool>) {
    tokio::select! {
        _ = terminated.recv() => {}
        _ = interrupted.recv() => {}
    }
    told.store(true, Ordering::Relaxed);
    core.tell_to_stop();
}

async fn report_progress(core: Arc<Core>) {
    while !core.is_stopping() {
        tokio::time::sleep(PROGRESS).await;
        let said = format!("{} operations, {} acknowledged", core.recorder.invoked(), core.acknowledged());
        core.events.say("progress", said);
    }
}

/// Ends the process when code blocks its thread past all patience.
struct Watchdog {
    call_off: mpsc::Sender<()>,
}

impl Watchdog {
    fn start(core: &Arc<Core>, limit: Duration) -> Watchdog {
        let (call_off, called_off) = mpsc::channel();
        let core = Arc::clone(core);
        let watch = move || {
            let mut impatient_since = None;
            let started = Instant::now();
            // Called off, or the run is over and its end of the channel is gone: then there is nothing to watch.
            while let Err(mpsc::RecvTimeoutError::Timeout) = called_off.recv_timeout(Duration::from_millis(100)) {
                let late = started.elapsed() > limit && !core.judging.load(Ordering::Relaxed);
                if !late && !core.is_stopping() {
                    impatient_since = None;
                    continue;
                }
                if impatient_since.get_or_insert_with(Instant::now).elapsed() > GRACE {
                    bite(&core, late, limit);
                }
            }
        };
        // Without the thread only code that never yields goes unwatched; the supervisor kills it from outside.
        drop(std::thread::Builder::new().name("watchdog".to_owned()).spawn(watch));
        Watchdog { call_off }
    }

    fn call_off(self) {
        // The thread may have ended already.
        let _ = self.call_off.send(());
    }
}

fn bite(core: &Core, late: bool, limit: Duration) -> ! {
    let end = match late {
        true => End::TimedOut { seconds: limit.as_secs() },
        false => End::Died { how: "told to stop by a signal, and its code did not yield".to_owned() },
    };
    core.tell_to_stop();
    let record = conclude(core, end);
    drop(record::write(&record));
    std::process::exit(101)
}
