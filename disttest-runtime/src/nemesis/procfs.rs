//! What `/proc` says of a process: the state of each task and the start time that tells a process from a later one
//! with the same id.

use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, BufRead};
use std::net::SocketAddr;

/// A process of this boot, told from any later one that has its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// Process id.
    pub pid: i32,
    /// Start time in clock ticks since boot.
    pub start_time: u64,
}

impl Identity {
    /// Who `pid` is now. An error of kind `NotFound` means that there is no such process.
    pub fn of(pid: i32) -> io::Result<Identity> {
        Ok(Identity { pid, start_time: stat(pid)?.start_time })
    }

    /// Who this process is.
    pub fn of_this_process() -> io::Result<Identity> {
        Identity::of(i32::try_from(std::process::id()).map_err(io::Error::other)?)
    }

    /// It exists and is not a zombie.
    pub fn is_alive(self) -> bool {
        is_same_and_alive(self.pid, self.start_time)
    }

    /// It exists, if only as a zombie: its id is nobody else's.
    pub fn holds_its_id(self) -> bool {
        stat(self.pid).is_ok_and(|stat| stat.start_time == self.start_time)
    }
}

/// The fields of `/proc/<pid>/stat` that a nemesis relies on (proc_pid_stat(5)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// State letter: `R`, `S`, `D`, `T`, `Z`, ….
    pub state: char,
    /// Id of the parent.
    pub parent: i32,
    /// Id of the process group.
    pub group: i32,
    /// Start time in clock ticks since boot. With the id it names one process of this boot.
    pub start_time: u64,
}

/// Reads `/proc/<pid>/stat`. An error of kind `NotFound` means that there is no such process.
pub fn stat(pid: i32) -> io::Result<Stat> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat"))?)
}

/// The state letters of all tasks (threads) of `pid`.
pub fn task_states(pid: i32) -> io::Result<Vec<char>> {
    let mut states = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        match fs::read_to_string(task?.path().join("stat")) {
            Ok(text) => states.push(parse(&text)?.state),
            // The task ended between the listing and the reading.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(states)
}

/// Who traces each task of `pid`; 0 is nobody.
pub fn tracers(pid: i32) -> io::Result<Vec<i32>> {
    let mut tracers = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let Ok(status) = fs::read_to_string(task?.path().join("status")) else { continue };
        let by = status.lines().find_map(|line| line.strip_prefix("TracerPid:")?.trim().parse().ok());
        tracers.push(by.ok_or_else(|| malformed(&status))?);
    }
    Ok(tracers)
}

/// True when `pid` has tasks and every one of them is stopped (`T`). A frozen or sleeping process is not.
pub fn is_stopped(pid: i32) -> io::Result<bool> {
    let states = task_states(pid)?;
    Ok(!states.is_empty() && states.iter().all(|state| *state == 'T'))
}

/// True when a process with this id and this start time exists and is not a zombie.
pub fn is_same_and_alive(pid: i32, start_time: u64) -> bool {
    stat(pid).is_ok_and(|stat| stat.start_time == start_time && !matches!(stat.state, 'Z' | 'X'))
}

/// Ids of all processes.
pub fn processes() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Ids of all processes in the process group `group`.
pub fn group_members(group: i32) -> Vec<i32> {
    processes().into_iter().filter(|pid| stat(*pid).is_ok_and(|stat| stat.group == group)).collect()
}

/// All processes in the process group that `leader` leads. An error when `leader` is gone: then the group may be another's.
pub fn group_of(leader: Identity) -> io::Result<Vec<Identity>> {
    let members: Vec<Identity> = processes().into_iter().filter_map(|pid| member(pid, leader.pid)).collect();
    // The kernel keeps the id of a group from reuse while its leader is there, if only as a zombie.
    if !leader.holds_its_id() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("process {} has ended", leader.pid)));
    }
    Ok(members)
}

fn member(pid: i32, group: i32) -> Option<Identity> {
    let stat = stat(pid).ok()?;
    (stat.group == group).then_some(Identity { pid, start_time: stat.start_time })
}

/// True when `pid` was started with the variable `name` set to `value`. A process that may not be asked was not.
pub fn has_variable(pid: i32, name: &str, value: &str) -> bool {
    let Ok(variables) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    let wanted = format!("{name}={value}");
    variables.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}

/// True when a process of the group `group` listens on the port of `address`, in whatever network namespace it is.
///
/// A node that lost a race for its port would seem ready because a stranger answers there.
pub fn group_listens(group: i32, address: SocketAddr) -> bool {
    !group_listeners(group, address).is_empty()
}

/// The processes of `group` that listen on the port of `address`, by id and start time.
pub fn group_listeners(group: i32, address: SocketAddr) -> Vec<(i32, u64)> {
    let listens = |pid: &i32| {
        let pid = *pid;
        let inodes = listening_inodes(pid, address.port());
        let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        let targets = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        targets.filter_map(|target| target.to_str().map(str::to_owned)).any(|target| {
            let inode = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
            inode.is_some_and(|inode| inodes.iter().any(|listening| listening == inode))
        })
    };
    let listening = group_members(group).into_iter().filter(listens);
    listening.filter_map(|pid| Some((pid, stat(pid).ok()?.start_time))).collect()
}

/// Inodes of the sockets that listen on `port` in the network namespace of `pid`, from its tables of TCP sockets (state
/// 0A is LISTEN).
fn listening_inodes(pid: i32, port: u16) -> Vec<String> {
    let suffix = format!(":{port:04X}");
    let mut inodes = Vec::new();
    for table in ["tcp", "tcp6"] {
        let Ok(file) = fs::File::open(format!("/proc/{pid}/net/{table}")) else { continue };
        for line in io::BufReader::new(file).lines().skip(1).map_while(Result::ok) {
            let fields: Vec<&str> = line.split_whitespace().take(10).collect();
            let [_, local, _, state, .., inode] = fields[..] else { break };
            // The kernel lists listeners first; behind them there may be thousands of dying connections.
            if state != "0A" {
                break;
            }
            if local.ends_with(&suffix) {
                inodes.push(inode.to_owned());
            }
        }
    }
    inodes
}

/// The counter `Group.Name` of the network namespace that `pid` lives in, from its `snmp` and `netstat` tables: a line
/// of names for each group, followed by one of values.
pub fn network_counter(pid: i32, counter: &str) -> Option<f64> {
    let (group, name) = counter.split_once('.')?;
    let tables = ["snmp", "netstat"].map(|table| fs::read_to_string(format!("/proc/{pid}/net/{table}")));
    tables.into_iter().flatten().find_map(|table| counter_in(&table, group, name))
}

fn counter_in(table: &str, group: &str, name: &str) -> Option<f64> {
    let mut lines = table.lines().filter_map(|line| line.strip_prefix(group)?.strip_prefix(": "));
    let (names, values) = (lines.next()?, lines.next()?);
    let at = names.split(' ').position(|known| known == name)?;
    values.split(' ').nth(at)?.parse().ok()
}

/// The id of this boot, which start times are relative to.
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}

/// The namespace that ids of processes are seen from (pid_namespaces(7)).
pub fn pid_namespace() -> String {
    fs::read_link("/proc/self/ns/pid").map(|to| to.display().to_string()).unwrap_or_default()
}

fn parse(text: &str) -> io::Result<Stat> {
    // The command name stands in parentheses and may itself hold parentheses and blanks.
    let fields: Vec<&str> = text.rsplit_once(')').map_or(text, |(_, rest)| rest).split_whitespace().collect();
    let field = |n: usize| fields.get(n).copied().ok_or_else(|| malformed(text));
    Ok(Stat {
        state: field(0)?.chars().next().ok_or_else(|| malformed(text))?,
        parent: field(1)?.parse().map_err(|_| malformed(text))?,
        group: field(2)?.parse().map_err(|_| malformed(text))?,
        start_time: field(19)?.parse().map_err(|_| malformed(text))?,
    })
}

fn malformed(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not a line of /proc/<pid>/stat: `{}`", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_name_with_parentheses_and_blanks_hides_no_field() {
        let line = "42 (a) b) (c) T 7 42 42 0 -1 1077936128 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";
        assert_eq!(parse(line).ok(), Some(Stat { state: 'T', parent: 7, group: 42, start_time: 987_654 }));
        assert!(parse("42 (short) S 1").is_err());
    }

    #[test]
    fn a_counter_is_the_value_below_its_name_in_its_group() {
        let table = "Tcp: A InErrs B\nTcp: 1 2 3\nUdp: InErrs\nUdp: 9\n";
        assert_eq!(counter_in(table, "Tcp", "InErrs"), Some(2.0));
        assert_eq!(counter_in(table, "Udp", "InErrs"), Some(9.0));
        assert_eq!(counter_in(table, "Udp", "A"), None);
        assert_eq!(counter_in(table, "Ip", "A"), None);
        let me = i32::try_from(std::process::id()).expect("ids fit");
        assert!(network_counter(me, "Tcp.ActiveOpens").is_some() && network_counter(me, "Tcp.Nonsense").is_none());
    }

    #[test]
    fn a_listener_belongs_to_the_group_that_opened_it() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let me = i32::try_from(std::process::id()).expect("ids fit");
        let group = stat(me).expect("we exist").group;
        assert!(group_listens(group, address));
        assert!(!group_listens(1, address), "init does not");
        drop(listener);
        assert!(!group_listens(group, address));
    }

    #[test]
    fn this_process_is_itself_and_no_later_one() {
        let pid = i32::try_from(std::process::id()).expect("ids fit");
        let start_time = stat(pid).expect("we exist").start_time;
        assert!(is_same_and_alive(pid, start_time));
        assert!(!is_same_and_alive(pid, start_time + 1));
        assert!(!is_stopped(pid).expect("we exist"));
    }
}
