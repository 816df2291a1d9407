//! Scenarios of one plan take turns, whatever process they run in.

use super::console::Console;
use super::interrupt::Interrupts;
use crate::session::{Held, lock, lock_holder, try_lock};
use anyhow::{Context, Result};
use std::path::Path;
use std::time::Duration;

/// Between two reminders that a scenario waits.
const REMINDER: Duration = Duration::from_secs(60);

/// Waits for the turn at `path`, saying for whom. `Ok(Err(signal))` when the supervisor was asked to stop meanwhile.
pub(crate) async fn take_turn(
    path: &Path,
    scenario: &str,
    console: &mut Console,
    interrupts: &mut Interrupts,
) -> Result<std::result::Result<Held, &'static str>> {
    let holder = format!("{scenario} (process {})", std::process::id());
    let cannot = || format!("cannot lock {}", path.display());
    if let Some(held) = try_lock(path, &holder).with_context(cannot)? {
        return Ok(Ok(held));
    }
    let say = |console: &mut Console| {
        console.note(&format!(
            "{scenario} waits: scenarios of one plan take turns, and {} has it (lock {})",
            lock_holder(path),
            path.display()
        ));
    };
    say(console);
    // The wait is a blocking system call: it has a thread of its own, which is left behind on an interrupt.
    let mut waiting = tokio::task::spawn_blocking({
        let path = path.to_path_buf();
        move || lock(&path, &holder)
    });
    loop {
        tokio::select! {
            held = &mut waiting => return Ok(Ok(held?.with_context(cannot)?)),
            signal = interrupts.next() => return Ok(Err(signal)),
            () = tokio::time::sleep(REMINDER) => say(console),
        }
    }
}
