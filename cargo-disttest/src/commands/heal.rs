//! `heal`: undoes what killed runs left behind.

use super::{Context, failed, shorter};
use crate::cli::HealArgs;
use crate::console::visible;
use crate::exit_code::{End, Failure, Outcome};
use disttest_runtime::harness::leftovers;
use disttest_runtime::nemesis::{Keeper, Left, Undone, keeper, left_behind, read_journal};
use disttest_runtime::session::sessions;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Does it.
pub(super) fn run(context: &Context, args: &HealArgs) -> Outcome {
    let mut report = Report {
        schema: "disttest.heal/1",
        dry_run: args.dry_run,
        sessions: 0,
        runs: Vec::new(),
        unreadable: Vec::new(),
    };
    for session in wanted(context, args)? {
        report.sessions += 1;
        for run_dir in leftovers::executions(&session) {
            context.console.detail(shorter(&run_dir).display());
            // One journal that cannot be read keeps no other run from being healed.
            match look(&run_dir, args.dry_run) {
                Ok(found) => {
                    report.runs.extend(found.filter(Run::is_news));
                    report.unreadable.extend(read_journal(&run_dir).err().map(|why| format!("{why:#}")));
                }
                Err(why) => report.unreadable.push(format!("{}: {why:#}", shorter(&run_dir).display())),
            }
        }
    }
    report.print(context)?;
    Ok(report.end())
}

/// The sessions that are looked at: those that were named, or all of the workspace.
fn wanted(context: &Context, args: &HealArgs) -> Result<Vec<PathBuf>, Failure> {
    if !args.session.is_empty() {
        if let Some(none) = args.session.iter().find(|dir| !dir.join("session.json").is_file()) {
            let message = format!("{} is no session: it has no session.json", none.display());
            return Err(Failure::new(End::Unreadable, message));
        }
        return Ok(args.session.clone());
    }
    let root = match &args.session_root {
        Some(root) if !root.is_dir() => {
            return Err(Failure::new(End::Unreadable, format!("{} is no folder", root.display())));
        }
        Some(root) => root.clone(),
        None => {
            let given = std::env::var("DISTTEST_SESSION_ROOT").ok();
            disttest_runtime::session::session_root(given.as_deref(), &context.workspace()?.root)
        }
    };
    Ok(sessions(&root))
}

/// What is to be told of the run in `run_dir`; `None` of one whose boot is over.
fn look(run_dir: &Path, dry_run: bool) -> anyhow::Result<Option<Run>> {
    let (keeper, left) = if dry_run {
        let keeper = keeper(run_dir)?;
        let left = if matches!(keeper, Keeper::Nobody) { left_behind(run_dir)? } else { Vec::new() };
        (keeper, left.into_iter().map(|left| Item::of(left, false, None)).collect())
    } else {
        let (keeper, undone) = leftovers::heal(run_dir)?;
        (keeper, undone.into_iter().map(Item::undone).collect())
    };
    let (state, pid) = match keeper {
        Keeper::AnotherBoot => return Ok(None),
        Keeper::Nobody => (State::Ended, None),
        Keeper::Supervisor(who) => (State::Running, Some(who.pid)),
        Keeper::Itself(who) => (State::Ending, Some(who.pid)),
        Keeper::Elsewhere => (State::Elsewhere, None),
    };
    Ok(Some(Run { folder: shorter(run_dir), state, pid, left }))
}

/// `disttest.heal/1`.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    dry_run: bool,
    /// How many sessions were looked at.
    sessions: usize,
    /// Runs that are under way, and those that left something behind.
    runs: Vec<Run>,
    /// Journals, or lines of them, that cannot be read: what they tell of cannot be undone.
    unreadable: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Run {
    folder: PathBuf,
    state: State,
    /// Of its supervisor, or of the run itself, when that one lives.
    pid: Option<i32>,
    left: Vec<Item>,
}

/// Whether somebody looks after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// Its supervisor lives.
    Running,
    /// Its supervisor was killed, and it is about to undo everything itself.
    Ending,
    /// It ran where process ids are others.
    Elsewhere,
    /// It is over.
    Ended,
}

/// Something that was left.
#[derive(Debug, Serialize)]
struct Item {
    #[serde(flatten)]
    left: Left,
    undone: bool,
    error: Option<String>,
    by_hand: String,
    #[serde(skip)]
    sentence: String,
}

impl Item {
    fn of(left: Left, undone: bool, error: Option<String>) -> Item {
        Item { by_hand: left.by_hand(), sentence: format!("would undo: {left}"), left, undone, error }
    }

    fn undone(undone: Undone) -> Item {
        let sentence = undone.to_string();
        let Undone { left, error } = undone;
        Item { sentence, ..Item::of(left, error.is_none(), error) }
    }
}

impl Run {
    fn is_news(&self) -> bool {
        self.state != State::Ended || !self.left.is_empty()
    }

    /// Why nothing of it was touched, if somebody looks after it.
    fn left_alone(&self) -> Option<String> {
        let (folder, pid) = (self.folder.display(), self.pid.unwrap_or_default());
        match self.state {
            State::Running => Some(format!("{folder} is under way (supervisor: process {pid}): left alone")),
            State::Ending => Some(format!("{folder} is ending by itself (process {pid}): left alone")),
            State::Elsewhere => Some(format!(
                "{folder} ran where process ids are others, such as in a container: heal it there, if that exists still"
            )),
            State::Ended => None,
        }
    }
}

impl Report {
    fn items(&self) -> impl Iterator<Item = &Item> {
        self.runs.iter().flat_map(|run| &run.left)
    }

    fn end(&self) -> End {
        let done = self.unreadable.is_empty() && self.items().all(|item| item.undone);
        if done { End::Clean } else { End::LeftBehind }
    }

    fn print(&self, context: &Context) -> Result<(), Failure> {
        let console = &context.console;
        if context.json() {
            let json = serde_json::to_string(self).map_err(|error| failed(End::Bug)(error.to_string()))?;
            console.result(json);
            return Ok(());
        }
        for told in self.runs.iter().filter_map(Run::left_alone) {
            console.status("Live", visible(&told));
        }
        for item in self.items() {
            match &item.error {
                None => console.result(visible(&item.sentence)),
                Some(_) => console.error(visible(&item.sentence)),
            }
        }
        for why in &self.unreadable {
            console.error(visible(&format!("{why}: what it tells of is not undone; look for it by hand")));
        }
        if self.unreadable.is_empty() && self.items().next().is_none() {
            console.result("nothing to heal");
        }
        Ok(())
    }
}
