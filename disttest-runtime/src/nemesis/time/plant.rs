//! A process whose clocks are bent, and straightened again.

use super::code::{self, JUMP, ROUTINES, at, jump_to};
use super::tracee::Held;
use super::vdso::Vdso;
use crate::nemesis::Lacks;
use crate::nemesis::procfs::Identity;
use anyhow::{Context, Result, bail};
use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Numbers of mmap(2) on x86-64, and of its arguments.
const MMAP: u64 = 9;
const PAGE: u64 = 4096;
const READ_WRITE: u64 = 3;
const READ_EXECUTE: u64 = 5;
const SHARED_ANONYMOUS: u64 = 0x21;
const PRIVATE_ANONYMOUS: u64 = 0x22;

/// How the clocks of a process are bent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bend {
    /// Added to realtime, in nanoseconds.
    pub(super) offset: i64,
    /// Nanoseconds shown for each that passes.
    pub(super) rate: f64,
    /// The monotonic clock too has this rate.
    pub(super) monotonic: bool,
}

impl Bend {
    /// A bit for each clock id of clock_gettime(2): realtime (0, coarse 5), monotonic (1, coarse 6).
    fn clocks(self) -> u64 {
        if self.monotonic { 0b110_0011 } else { 0b010_0001 }
    }

    fn rate_bits(self) -> i64 {
        (self.rate * 4_294_967_296.0) as i64
    }
}

/// The bent clocks of one process.
#[derive(Debug)]
pub(super) struct Planted {
    who: Identity,
    memory: File,
    data: u64,
    /// Where jumps stand, and what stood there.
    jumps: Vec<(u64, [u8; JUMP], [u8; JUMP])>,
}

impl Planted {
    /// Bends the clocks of `who`. On a thread of its own, since the thread that traces must be the one that lets go.
    pub(super) fn plant(who: Identity, bend: Bend) -> Result<Planted> {
        on_a_thread(move || {
            let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{}/mem", who.pid));
            let memory = memory.map_err(|error| lacks_tracing(&error))?;
            let Some(vdso) = Vdso::of(who.pid, &memory)? else {
                let hint = "a kernel that maps one: it may be started with vdso=0, or not be Linux";
                return Err(Lacks::new("a vDSO", hint).into());
            };
            let functions = functions(&vdso)?;
            let ranges: Vec<Range<u64>> = functions.iter().map(|(_, entry)| *entry..*entry + JUMP as u64).collect();
            let held = held_outside_of(who, &ranges)?;
            let planted = Planted::into(&held, who, memory, &functions)?;
            planted.bend(bend)?;
            for (entry, jump, _) in &planted.jumps {
                planted.memory.write_all_at(jump, *entry).context("the vDSO cannot be changed")?;
                if read::<JUMP>(&planted.memory, *entry)? != *jump {
                    bail!("what was written into the vDSO does not read back");
                }
            }
            Ok(planted)
        })
    }

    /// Maps the pages and fills them; nothing jumps there yet.
    fn into(held: &Held, who: Identity, memory: File, functions: &[(&'static code::Routine, u64)]) -> Result<Planted> {
        let scratch = functions.first().context("the vDSO has no clock")?.1;
        let map =
            |protection, flags| held.system_call(&memory, scratch, MMAP, [0, PAGE, protection, flags, u64::MAX, 0]);
        // Shared, so that what the process forks counts on the same page.
        let data = map(READ_WRITE, SHARED_ANONYMOUS)?;
        let mut free = map(READ_EXECUTE, PRIVATE_ANONYMOUS)?;
        let mut jumps = Vec::new();
        for (routine, entry) in functions {
            let code = routine.code(data);
            memory.write_all_at(&code, free).context("code cannot be written")?;
            jumps.push((*entry, jump_to(free), read::<JUMP>(&memory, *entry)?));
            free += (code.len() as u64).next_multiple_of(16);
        }
        Ok(Planted { who, memory, data, jumps })
    }

    /// Bends the clocks otherwise from now on.
    pub(super) fn bend(&self, bend: Bend) -> Result<()> {
        let now = |clock| {
            let now = rustix::time::clock_gettime(clock);
            now.tv_sec * 1_000_000_000 + now.tv_nsec
        };
        let (real, monotonic) = (now(rustix::time::ClockId::Realtime), now(rustix::time::ClockId::Monotonic));
        let put = |at, value: i64| self.memory.write_all_at(&value.to_le_bytes(), self.data + at);
        let all = put(at::BASE, real)
            .and_then(|()| put(at::MONOTONIC_BASE, monotonic))
            .and_then(|()| put(at::OFFSET, bend.offset))
            .and_then(|()| put(at::RATE, bend.rate_bits()))
            .and_then(|()| put(at::CLOCKS, bend.clocks().cast_signed()));
        all.context("the process is gone, or runs another program now")
    }

    /// Adds `offset` to realtime in place of what was added before.
    pub(super) fn jump(&self, offset: i64) -> Result<()> {
        self.memory.write_all_at(&offset.to_le_bytes(), self.data + at::OFFSET).context("the process is gone")
    }

    /// Asks for the number of bent calls.
    pub(super) fn counter(&self) -> Result<impl FnMut() -> Option<f64> + Send + 'static> {
        let (memory, at) = (self.memory.try_clone()?, self.data + at::CALLS);
        Ok(move || read::<8>(&memory, at).ok().map(|count| u64::from_le_bytes(count) as f64))
    }

    /// Straightens the clocks. The pages stay: a thread may be on its way through them.
    pub(super) fn straighten(self) -> Result<()> {
        on_a_thread(move || {
            let ranges: Vec<Range<u64>> = self.jumps.iter().map(|(at, ..)| *at..*at + JUMP as u64).collect();
            let _held = held_outside_of(self.who, &ranges)?;
            for (entry, jump, was) in &self.jumps {
                if read::<JUMP>(&self.memory, *entry)? != *jump {
                    bail!("the process runs another program now");
                }
                self.memory.write_all_at(was, *entry).context("the vDSO cannot be put back")?;
            }
            Ok(())
        })
    }
}

/// The clocks that the vDSO has, each with its entry. A function shorter than a jump stays as it is, unless it is the one
/// that matters.
fn functions(vdso: &Vdso) -> Result<Vec<(&'static code::Routine, u64)>> {
    static ALL: [code::Routine; 3] = ROUTINES;
    let mut found = Vec::new();
    for routine in &ALL {
        match vdso.function(routine.symbol)? {
            Some((entry, length)) if length >= JUMP as u64 => found.push((routine, entry)),
            _ if routine.symbol == "__vdso_clock_gettime" => bail!("the vDSO has no clock that can be replaced"),
            _ => {}
        }
    }
    Ok(found)
}

/// Holds all threads of `who` at a moment when none is inside of `ranges`.
fn held_outside_of(who: Identity, ranges: &[Range<u64>]) -> Result<Held> {
    for _ in 0..200 {
        let held = Held::all_threads(who.pid).map_err(|error| match error.downcast_ref::<nix::Error>() {
            Some(nix::Error::EPERM) => lacks_tracing(&std::io::Error::from_raw_os_error(1)).into(),
            _ => error,
        })?;
        // What is held now keeps its id, so this is true of whatever is done to it next.
        if !who.holds_its_id() {
            bail!("process {} has ended, and its id is another's", who.pid);
        }
        if held.outside_of(ranges)? {
            return Ok(held);
        }
        drop(held);
        std::thread::sleep(Duration::from_millis(1));
    }
    bail!("some thread was reading the clock each time that we looked")
}

fn lacks_tracing(error: &std::io::Error) -> Lacks {
    let hint = "CAP_SYS_PTRACE, or sysctl kernel.yama.ptrace_scope=1, and a container that allows ptrace";
    Lacks::new(format!("the right to trace its own processes: {error}"), hint)
}

fn read<const N: usize>(memory: &File, at: u64) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    memory.read_exact_at(&mut bytes, at).context("the memory of the process cannot be read")?;
    Ok(bytes)
}

/// Runs `act` on a thread that does nothing else and ends with it.
fn on_a_thread<T: Send + 'static>(act: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let thread = std::thread::Builder::new().name("clock".to_owned()).spawn(act)?;
    thread.join().map_err(|_| anyhow::anyhow!("the thread that traces panicked"))?
}
