//! A control group of our own, of either version of the kernel's interface (cgroups(7)).

use crate::nemesis::procfs::Identity;
use crate::nemesis::{Act, Journal, Lacks, Tools, procfs};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Every group of ours has a name that begins so.
const PREFIX: &str = "disttest-";
/// The period of a processor quota, in microseconds.
const PERIOD: u64 = 100_000;
/// How long the kernel may take to freeze, to thaw, and to let a group go.
const LIMIT: Duration = Duration::from_secs(5);

/// What is held down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Controller {
    /// Nothing runs.
    Freezer,
    /// Time on processors.
    Cpu { percent: u32 },
    /// Memory that is charged from now on.
    Memory { bytes: u64 },
}

/// One group.
#[derive(Debug)]
pub(super) struct Group {
    controller: Controller,
    at: PathBuf,
    unified: bool,
    journal: Arc<Journal>,
    /// Who was taken in, and the list of processes of the group that it came from.
    homes: Mutex<Vec<(i32, PathBuf)>>,
}

impl Controller {
    fn name(self) -> &'static str {
        match self {
            Controller::Freezer => "freezer",
            Controller::Cpu { .. } => "cpu",
            Controller::Memory { .. } => "memory",
        }
    }

    /// What a group must have to be of use, in the unified hierarchy or in one of its own.
    fn file(self, unified: bool) -> &'static str {
        match (self, unified) {
            (Controller::Freezer, true) => "cgroup.freeze",
            (Controller::Freezer, false) => "freezer.state",
            (Controller::Cpu { .. }, true) => "cpu.max",
            (Controller::Cpu { .. }, false) => "cpu.cfs_quota_us",
            (Controller::Memory { .. }, true) => "memory.max",
            (Controller::Memory { .. }, false) => "memory.limit_in_bytes",
        }
    }

    fn tight(self, unified: bool) -> String {
        match (self, unified) {
            (Controller::Freezer, true) => "1".to_owned(),
            (Controller::Freezer, false) => "FROZEN".to_owned(),
            (Controller::Cpu { percent }, true) => format!("{} {PERIOD}", u64::from(percent) * PERIOD / 100),
            (Controller::Cpu { percent }, false) => (u64::from(percent) * PERIOD / 100).to_string(),
            (Controller::Memory { bytes }, _) => bytes.to_string(),
        }
    }

    fn loose(self, unified: bool) -> String {
        match (self, unified) {
            (Controller::Freezer, true) => "0".to_owned(),
            (Controller::Freezer, false) => "THAWED".to_owned(),
            (Controller::Cpu { .. } | Controller::Memory { .. }, true) => "max".to_owned(),
            (Controller::Cpu { .. } | Controller::Memory { .. }, false) => "-1".to_owned(),
        }
    }

    fn lacking(self) -> Lacks {
        let hint = "run as root, or with a delegated hierarchy: systemd-run --user --scope -p Delegate=yes";
        Lacks::new(format!("a control group with the controller `{}` that can be made", self.name()), hint)
    }
}

impl Group {
    /// Makes a group for `node`, where this process may: below its own group, or beside it.
    pub(super) fn make(controller: Controller, node: &str, tools: &Tools) -> Result<Group> {
        static GROUPS: AtomicU64 = AtomicU64::new(0);
        let number = GROUPS.fetch_add(1, Ordering::Relaxed);
        // No later process with this id makes a group of this name: whoever finds the name knows whose it is.
        let Identity { pid, start_time } = Identity::of_this_process().context("the start time of this process")?;
        let name = format!("{PREFIX}{pid}-{start_time}-{number}-{node}");
        for (parent, unified) in hierarchies(controller)? {
            let at = parent.join(&name);
            tools.journal.write(&Act::Grouping { node: node.to_owned(), at: at.clone() })?;
            let made = fs::create_dir(&at).is_ok();
            if made && at.join(controller.file(unified)).exists() {
                let (journal, homes) = (Arc::clone(&tools.journal), Mutex::default());
                return Ok(Group { controller, at, unified, journal, homes });
            }
            if made {
                fs::remove_dir(&at)?;
            }
            tools.journal.write(&Act::Ungrouped { at })?;
        }
        Err(controller.lacking().into())
    }

    /// Moves all processes of the process group that `leader` leads in.
    pub(super) fn take_in(&self, leader: Identity) -> Result<()> {
        for member in procfs::group_of(leader)? {
            let Some(home) = group_of(member.pid, self.controller, self.unified)? else { continue };
            if !member.holds_its_id() {
                continue;
            }
            let mut homes = self.homes.lock().unwrap_or_else(PoisonError::into_inner);
            homes.push((member.pid, home.join("cgroup.procs")));
            fs::write(self.at.join("cgroup.procs"), member.pid.to_string()).context("a process cannot be moved in")?;
        }
        if self.members()?.is_empty() {
            bail!("no process came into the group");
        }
        Ok(())
    }

    /// Lets the fault act; the kernel confirms it.
    pub(super) async fn tighten(&self) -> Result<()> {
        self.set(&self.controller.tight(self.unified))?;
        self.until_frozen(true).await
    }

    /// Takes the fault back; the kernel confirms it.
    pub(super) async fn loosen(&self) -> Result<()> {
        self.set(&self.controller.loose(self.unified))?;
        self.until_frozen(false).await
    }

    fn set(&self, value: &str) -> Result<()> {
        let file = self.at.join(self.controller.file(self.unified));
        fs::write(&file, value).with_context(|| format!("`{value}` cannot be written to {}", file.display()))
    }

    async fn until_frozen(&self, expect: bool) -> Result<()> {
        if self.controller != Controller::Freezer {
            return Ok(());
        }
        let until = tokio::time::Instant::now() + LIMIT;
        while is_frozen(&self.at, self.unified) != Some(expect) {
            if tokio::time::Instant::now() > until {
                bail!("the group did not {} within {} s", if expect { "freeze" } else { "thaw" }, LIMIT.as_secs());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    /// Asks the kernel for what it counted since now.
    pub(super) fn meter(&self) -> Result<impl FnMut() -> Option<f64> + Send + 'static> {
        let (at, controller, unified) = (self.at.clone(), self.controller, self.unified);
        let read = move || match controller {
            Controller::Freezer => is_frozen(&at, unified).map(|frozen| f64::from(u8::from(frozen))),
            Controller::Cpu { .. } => field(&at.join("cpu.stat"), "nr_throttled"),
            Controller::Memory { .. } if unified => field(&at.join("memory.events"), "max"),
            Controller::Memory { .. } => fs::read_to_string(at.join("memory.failcnt")).ok()?.trim().parse().ok(),
        };
        read().context("the kernel counts nothing for the group")?;
        Ok(read)
    }

    /// Moves everybody back to where they came from and removes the group.
    pub(super) async fn dissolve(&self) -> Result<()> {
        let homes = std::mem::take(&mut *self.homes.lock().unwrap_or_else(PoisonError::into_inner));
        let anywhere = homes.first().map(|(_, home)| home.clone());
        for member in self.members()? {
            // What was forked in here has no home of its own.
            let home = homes.iter().find(|(pid, _)| *pid == member).map(|(_, home)| home.clone()).or(anywhere.clone());
            if let Some(home) = home
                && fs::write(home, member.to_string()).is_err()
                && procfs::stat(member).is_ok_and(|stat| stat.state != 'Z')
            {
                bail!("process {member} cannot be moved back");
            }
        }
        let until = tokio::time::Instant::now() + LIMIT;
        while let Err(error) = fs::remove_dir(&self.at) {
            if tokio::time::Instant::now() > until {
                return Err(error).context("it cannot be removed");
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.journal.write(&Act::Ungrouped { at: self.at.clone() })
    }

    fn members(&self) -> Result<Vec<i32>> {
        members(&self.at).context("the members of the group cannot be read")
    }
}

fn members(group: &Path) -> std::io::Result<Vec<i32>> {
    Ok(fs::read_to_string(group.join("cgroup.procs"))?.lines().filter_map(|line| line.parse().ok()).collect())
}

fn is_frozen(group: &Path, unified: bool) -> Option<bool> {
    if unified {
        return field(&group.join("cgroup.events"), "frozen").map(|frozen| frozen == 1.0);
    }
    Some(fs::read_to_string(group.join("freezer.state")).ok()?.trim() == "FROZEN")
}

/// The number behind `name` in a file of such lines.
fn field(file: &Path, name: &str) -> Option<f64> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Folders in which a group could be made, and whether each is of the unified hierarchy; the likelier ones first.
fn hierarchies(controller: Controller) -> Result<Vec<(PathBuf, bool)>> {
    let me = i32::try_from(std::process::id())?;
    let mut found = Vec::new();
    for unified in [false, true] {
        if let Some(own) = group_of(me, controller, unified)? {
            // Processes in a group keep controllers from groups below it, in the unified hierarchy: then beside it.
            let beside = own.parent().filter(|parent| parent.join("cgroup.procs").exists()).map(Path::to_owned);
            found.push((own, unified));
            found.extend(beside.map(|beside| (beside, unified)));
        }
    }
    Ok(found)
}

/// The folder of the group that `pid` is in; `None` when there is no such hierarchy, or the process has ended.
fn group_of(pid: i32, controller: Controller, unified: bool) -> Result<Option<PathBuf>> {
    let Ok(groups) = fs::read_to_string(format!("/proc/{pid}/cgroup")) else { return Ok(None) };
    let line = groups.lines().find_map(|line| {
        let [id, controllers, path] = line.splitn(3, ':').collect::<Vec<&str>>()[..] else { return None };
        let of_it = if unified { id == "0" } else { controllers.split(',').any(|name| name == controller.name()) };
        of_it.then(|| path.to_owned())
    });
    let (Some(path), Some((root, mounted))) = (line, mount_of(controller, unified)?) else { return Ok(None) };
    // Inside a container the mount may show a part of the tree only.
    let below = Path::new(&path).strip_prefix(&root).unwrap_or(Path::new("")).to_owned();
    Ok(Some(mounted.join(below)))
}

/// Where the hierarchy is mounted: the part of it that is shown there, and the place.
fn mount_of(controller: Controller, unified: bool) -> Result<Option<(PathBuf, PathBuf)>> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").context("the table of mounts")?;
    Ok(mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let place: Vec<&str> = place.split(' ').collect();
        let kind: Vec<&str> = kind.split(' ').collect();
        let of_it = match *kind.first()? {
            "cgroup2" => unified,
            "cgroup" => !unified && kind.last()?.split(',').any(|option| option == controller.name()),
            _ => false,
        };
        of_it.then(|| Some((PathBuf::from(place.get(3)?), PathBuf::from(place.get(4)?))))?
    }))
}

/// The group at `at` was made by a run.
pub(crate) fn is_leftover(at: &Path) -> bool {
    let named = at.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    named && at.join("cgroup.procs").exists()
}

/// Lets a group that a run left behind go on, so that its processes can end.
pub(crate) fn thaw_leftover(at: &Path) {
    if is_leftover(at) {
        // Whichever of the two it has.
        drop(fs::write(at.join("freezer.state"), "THAWED"));
        drop(fs::write(at.join("cgroup.freeze"), "0"));
    }
}

/// Removes a group that a run left behind, once its processes have ended; `None` when there is none.
pub(crate) fn remove_leftover(at: &Path) -> Option<std::io::Result<()>> {
    is_leftover(at).then(|| {
        let until = std::time::Instant::now() + LIMIT;
        loop {
            match fs::remove_dir(at) {
                Err(_) if std::time::Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                done => return done,
            }
        }
    })
}
