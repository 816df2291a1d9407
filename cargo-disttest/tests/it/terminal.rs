//! A command on a pseudo-terminal, and the person in front of it.
#![cfg(unix)]

use crate::package::{Package, binary};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A command whose stdin, stdout and stderr are a terminal, and the person in front of it.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    /// The terminal's other side, kept open so that its state can be looked at when the command has ended.
    line: File,
    seen: String,
}

impl Terminal {
    /// The command of these arguments, in a package.
    pub(crate) fn start(package: &Package, args: &[&str]) -> Terminal {
        let mut command = binary();
        command.current_dir(package.root()).arg("disttest").args(args).env("TERM", "dumb").env("NO_COLOR", "1");
        Terminal::of(command)
    }

    /// This command.
    pub(crate) fn of(mut command: Command) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let line = File::options().read(true).write(true).open(name).unwrap();
        let side = || Stdio::from(line.try_clone().unwrap());
        let child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let keyboard = File::from(master);
        let mut reader = keyboard.try_clone().unwrap();
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Terminal { child, keyboard, screen, line, seen: String::new() }
    }

    /// Waits until `text` is on the screen, and forgets all before its end.
    #[track_caller]
    pub(crate) fn see(&mut self, text: &str) -> String {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            match self.screen.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes).replace('\r', "")),
                Err(_) => panic!("{text:?} never came; on the screen:\n{}", self.seen),
            }
        }
    }

    /// Keys as the keyboard sends them.
    pub(crate) fn press(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).unwrap();
    }

    /// The command's end: its status, and what it said last.
    #[track_caller]
    pub(crate) fn end(self, status: i32) -> String {
        self.ends(Some(status))
    }

    /// The same; without a status, a signal ended it.
    #[track_caller]
    pub(crate) fn ends(mut self, status: Option<i32>) -> String {
        let ended = self.child.wait().unwrap();
        let modes = tcgetattr(&self.line).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG), "the terminal is as before");
        std::thread::sleep(Duration::from_millis(50));
        while let Ok(bytes) = self.screen.try_recv() {
            self.seen.push_str(&String::from_utf8_lossy(&bytes).replace('\r', ""));
        }
        assert_eq!(ended.code(), status, "{}", self.seen);
        self.seen
    }
}
