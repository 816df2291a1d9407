//! Single keys from a terminal.

/// What reading a key came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character; what else a keyboard sends (arrows, function keys) is passed over.
    Pressed(char),
    /// Ctrl-C, Ctrl-D, or the terminal is gone.
    End,
    /// This platform or this terminal has no single keys.
    Unsupported,
}

/// Waits for one key, without echo and without Enter. The terminal is as before when this returns.
#[cfg(unix)]
pub(crate) fn read() -> Key {
    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    /// Puts the terminal back, on every way out.
    struct Before(Termios);
    impl Drop for Before {
        fn drop(&mut self) {
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.0);
        }
    }

    let stdin = rustix::stdio::stdin();
    let Ok(before) = tcgetattr(stdin) else {
        return Key::Unsupported;
    };
    let mut raw = before.clone();
    // Without ISIG, Ctrl-C is a key: it must not end us while the terminal is in this state.
    raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
    raw.special_codes[SpecialCodeIndex::VMIN] = 1;
    raw.special_codes[SpecialCodeIndex::VTIME] = 0;
    let _before = Before(before);
    if tcsetattr(stdin, OptionalActions::Now, &raw).is_err() {
        return Key::Unsupported;
    }
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
pub(crate) fn read() -> Key {
    Key::Unsupported
}
