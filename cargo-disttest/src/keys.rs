//! Single keys from a terminal.

/// What reading a key came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character; what else a keyboard sends (arrows, function keys) is passed over.
    Pressed(char),
    /// Ctrl-C, Ctrl-D, or the terminal is gone.
    End,
}

/// The terminal while keys are read one by one, without echo and without Enter; as before when this is dropped. To be
/// made before the question is shown: a key pressed while lines are read would be kept until the end of the line.
#[cfg(unix)]
pub(crate) struct Keys(rustix::termios::Termios);

#[cfg(unix)]
impl Keys {
    /// Makes the terminal so; `None` when it has no single keys.
    pub(crate) fn listen() -> Option<Keys> {
        use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
        let stdin = rustix::stdio::stdin();
        let before = tcgetattr(stdin).ok()?;
        let mut raw = before.clone();
        // Without ISIG, Ctrl-C is a key: it must not end us while the terminal is in this state.
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(stdin, OptionalActions::Now, &raw).ok()?;
        Some(Keys(before))
    }

    /// Waits for one.
    pub(crate) fn next(&self) -> Key {
        loop {
            let Some(byte) = next_byte() else {
                return Key::End;
            };
            match byte {
                3 | 4 => return Key::End,
                0x1b => skip_sequence(),
                byte if byte.is_ascii_graphic() => return Key::Pressed(char::from(byte)),
                _ => {}
            }
        }
    }
}

#[cfg(unix)]
impl Drop for Keys {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Unbuffered: a byte read ahead would be lost for whoever reads next.
#[cfg(unix)]
fn next_byte() -> Option<u8> {
    let mut byte = [0];
    loop {
        match rustix::io::read(rustix::stdio::stdin(), &mut byte[..]) {
            Ok(1) => return Some(byte[0]),
            Err(rustix::io::Errno::INTR) => {}
            _ => return None,
        }
    }
}

/// The rest of an escape sequence: the `A` of an arrow is no answer.
#[cfg(unix)]
fn skip_sequence() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let wait = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    loop {
        let stdin = rustix::stdio::stdin();
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&wait));
        if !matches!(ready, Ok(1)) || next_byte().is_none() {
            return;
        }
    }
}

/// No single keys here.
#[cfg(not(unix))]
pub(crate) struct Keys;

#[cfg(not(unix))]
impl Keys {
    /// There are none.
    pub(crate) fn listen() -> Option<Keys> {
        None
    }

    /// Never asked.
    pub(crate) fn next(&self) -> Key {
        Key::End
    }
}
