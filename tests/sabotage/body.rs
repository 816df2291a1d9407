//! The scenario itself, filled once for all attributes, with a hole at each step for a sabotage.

use crate::checkers::Twisted;
use crate::{faults, on, sabotage, store};
use anyhow::{Context as _, bail, ensure};
use disttest_runtime::prelude::*;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Clients of the workload.
const CLIENTS: usize = 6;

pub(crate) async fn judged(run: Run) -> Result<Judged> {
    let cluster = run.cluster(store::program(&run)).await?;
    let began = Instant::now();
    let builder = run.workload(cluster).probe(store::peer_timeouts());
    let builder = match sabotage() {
        "no-client-at-the-victim" => builder.clients(0).pinned("n2", CLIENTS / 2).pinned("n3", CLIENTS / 2),
        "more-clients-at-the-victim" => builder.clients(CLIENTS).pinned("n1", 2 * CLIENTS),
        _ => builder.clients(CLIENTS),
    };
    let workload = builder.start(move |client: Client| store::hot_keys(client, began)).await?;
    let landed = faults::faults(&run, &workload).await?;
    half_way(&run).await?;
    let history = workload.stop(move |client: Client| store::read_everything(client, began)).await?;
    if on("history-edited-before-it-is-judged") {
        edit(&run)?;
    }
    let judged = oracle(&run, history, landed)?;
    at_the_end(&run)?;
    Ok(judged)
}

fn oracle(run: &Run, history: Recorded, landed: Landed) -> Result<Judged> {
    let oracle = run.oracle(history).check(Twisted::new(Linearizability::per_key(Register::new())));
    match on("checker-not-run") {
        true => oracle.judge(landed),
        false => oracle.check(NoLostAck::overwritable()).judge(landed),
    }
}

/// Everything went well up to here.
async fn half_way(run: &Run) -> Result<()> {
    match sabotage() {
        "process-aborts" => std::process::abort(),
        "process-kills-itself" => kill("-9", std::process::id()),
        "process-exits-with-0" => std::process::exit(0),
        "panic" => panic!("half-way"),
        "panic-in-a-task" => {
            drop(tokio::spawn(async { panic!("nobody asks how this task ended") }).await);
            Ok(())
        }
        "panic-in-a-thread" => {
            drop(std::thread::spawn(|| panic!("nobody joins this thread")).join());
            Ok(())
        }
        "process-stops-itself" => kill("-STOP", std::process::id()),
        "error" => bail!("half-way"),
        "hangs" => std::future::pending().await,
        "blocks" => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        "node-killed" => kill("-9", pid_of(run, "n3")?),
        "node-stopped" => kill("-TERM", pid_of(run, "n3")?),
        "waits-to-be-killed" => {
            std::fs::write(run.dir().join("half-way"), "")?;
            std::future::pending().await
        }
        _ => Ok(()),
    }
}

/// The oracle has judged, and found nothing.
fn at_the_end(run: &Run) -> Result<()> {
    match sabotage() {
        "history-truncated" => truncate(run),
        "history-edited" => edit(run),
        "history-removed" => Ok(std::fs::remove_file(run.dir().join("history.jsonl"))?),
        "journal-removed" => Ok(std::fs::remove_file(run.dir().join("journal.jsonl"))?),
        "folder-moved-away" => Ok(std::fs::rename(run.dir(), run.dir().with_extension("away"))?),
        "exits-with-0-after-the-judgement" => std::process::exit(0),
        "panic-after-the-judgement" => panic!("at the end"),
        "error-after-the-judgement" => bail!("at the end"),
        "node-killed-after-the-judgement" => kill("-9", pid_of(run, "n3")?),
        _ => Ok(()),
    }
}

fn truncate(run: &Run) -> Result<()> {
    let path = run.dir().join("history.jsonl");
    let text = std::fs::read_to_string(&path)?;
    let half: Vec<&str> = text.lines().take(text.lines().count() / 2).collect();
    Ok(std::fs::write(path, half.join("\n") + "\n")?)
}

/// Changes a value and no count, nor the length of the file.
fn edit(run: &Run) -> Result<()> {
    let path = run.dir().join("history.jsonl");
    let text = std::fs::read_to_string(&path)?;
    let (from, to) = (r#""node_seen":"n1""#, r#""node_seen":"n2""#);
    ensure!(text.contains(from), "nothing to edit");
    Ok(std::fs::write(path, text.replacen(from, to, 1))?)
}

/// Sends a signal, outside of any nemesis.
pub(crate) fn kill(signal: &str, pid: u32) -> Result<()> {
    let status = Command::new("kill").args([signal, &pid.to_string()]).status()?;
    ensure!(status.success(), "kill {signal} {pid}: {status}");
    Ok(())
}

/// The process of `node` of this run, as the kernel shows it.
pub(crate) fn pid_of(run: &Run, node: &str) -> Result<u32> {
    let (name, dir) = (format!("--node={node}"), run.dir().display().to_string());
    let is_it = |process: &Path| {
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        line.split('\0').any(|arg| arg == name) && line.contains(&dir)
    };
    let mut processes = std::fs::read_dir("/proc")?.flatten().map(|entry| entry.path());
    let found = processes.find(|process| is_it(process)).context("the node runs")?;
    Ok(found.file_name().and_then(|name| name.to_str()).context("a process")?.parse()?)
}
