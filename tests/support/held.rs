//! A shell command that says when it runs and ends when the test lets it: no test has to guess how
//! long a tool takes.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::ccc::PATIENCE;
use super::client::CleanRoom;

/// Waits for a file that something else writes.
#[track_caller]
pub fn wait_for_file(path: &Path) {
    let deadline = Instant::now() + PATIENCE;
    while !path.exists() {
        assert!(Instant::now() < deadline, "{} did not appear within {PATIENCE:?}", path.display());
        thread::sleep(Duration::from_millis(10));
    }
}

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
        wait_for_file(&self.started);
    }

    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.exists()
    }

    /// Lets the command end. It must be running.
    #[track_caller]
    pub fn let_go(&self) {
        // The command is between its first line and opening the FIFO for a moment; without a
        // reader, opening it fails instead of blocking the test for ever.
        let deadline = Instant::now() + PATIENCE;
        loop {
            let opened = OpenOptions::new()
                .write(true)
                .custom_flags(OFlag::O_NONBLOCK.bits())
                .open(&self.fifo)
                .and_then(|mut fifo| fifo.write_all(b"let go\n"));
            match opened {
                Ok(()) => return,
                Err(error) => assert!(Instant::now() < deadline, "nobody is held: {error}"),
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}
