//! A shell command that says when it runs and ends when the test lets it: no test has to guess how
//! long a tool takes.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::client::CleanRoom;
use super::patience::wait_until;

pub struct Held {
    fifo: PathBuf,
    started: PathBuf,
    ended: PathBuf,
}

impl Held {
    /// `name` tells several of them in one room apart.
    #[must_use]
    pub fn new(room: &CleanRoom, name: &str) -> Self {
        let fifo = room.project().join(format!("{name}.hold"));
        mkfifo(&fifo, Mode::S_IRUSR | Mode::S_IWUSR).expect("create the FIFO");
        let (started, ended) = (fifo.with_extension("started"), fifo.with_extension("ended"));
        Self { fifo, started, ended }
    }

    /// For a Bash tool. Prints "let go" at the end.
    #[must_use]
    pub fn command(&self) -> String {
        let (started, fifo, ended) =
            (self.started.display(), self.fifo.display(), self.ended.display());
        format!("echo up > '{started}'; cat '{fifo}'; echo down > '{ended}'")
    }

    #[track_caller]
    pub fn wait_started(&self) {
        wait_until("the command runs", || self.started.exists());
    }

    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.exists()
    }

    /// Lets the command end. It must be running.
    #[track_caller]
    pub fn let_go(&self) {
        // For a moment the command runs and has not opened the FIFO. Without a reader, opening it
        // here would block; like this it fails.
        wait_until("the command lets itself be held", || {
            OpenOptions::new()
                .write(true)
                .custom_flags(OFlag::O_NONBLOCK.bits())
                .open(&self.fifo)
                .and_then(|mut fifo| fifo.write_all(b"let go\n"))
                .is_ok()
        });
    }
}
