//! A terminal with somebody typing. One thread does it all, so that no change of threads is among
//! what is measured: it writes a key, and reads until its echo is there.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::Pid;
use portable_pty::{Child, CommandBuilder, MasterPty};

use crate::fake::make_raw;
use crate::measure::now;
use crate::terminal;

/// An echo that takes longer is lost.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Keyboard {
    child: Box<dyn Child + Send + Sync>,
    /// While it is open, the terminal is.
    _master: Box<dyn MasterPty + Send>,
    terminal: File,
    buffer: Vec<u8>,
    /// So much at the beginning of the buffer was read before: a letter may come in two pieces.
    kept: usize,
    pub bytes: u64,
}

impl Keyboard {
    pub fn start(command: CommandBuilder) -> io::Result<Self> {
        let (master, child) = terminal::open(command)?;
        let fd = master.as_raw_fd().ok_or_else(|| io::Error::other("no descriptor"))?;
        // SAFETY: the master is open, and stays so for longer than this borrow.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        let terminal = File::from(fd.try_clone_to_owned()?);
        // As long as the program has not done it itself.
        make_raw(&terminal)?;
        let buffer = vec![0; 64 << 10];
        Ok(Self { child, _master: master, terminal, buffer, kept: 0, bytes: 0 })
    }

    /// Whether the kernel itself gives back the keys, which then would say nothing about the program.
    pub fn echoes_by_itself(&self) -> io::Result<bool> {
        Ok(tcgetattr(&self.terminal)?.local_flags.contains(LocalFlags::ECHO))
    }

    /// Nanoseconds from the key to its echo.
    pub fn key(&mut self, letter: char) -> io::Result<u64> {
        let mut bytes = [0; 4];
        let letter = letter.encode_utf8(&mut bytes).as_bytes();
        let before = now();
        self.terminal.write_all(letter)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            if self.read(deadline, letter)? {
                return Ok(now() - before);
            }
            if Instant::now() > deadline {
                let secs = PATIENCE.as_secs();
                return Err(io::Error::other(format!("no echo within {secs} s")));
            }
        }
    }

    pub fn send(&mut self, key: u8) -> io::Result<()> {
        self.terminal.write_all(&[key])
    }

    /// Somebody always reads the terminal, also between two keys.
    pub fn rest(&mut self, time: Duration) -> io::Result<()> {
        let deadline = Instant::now() + time;
        while Instant::now() < deadline {
            self.read(deadline, b"")?;
        }
        Ok(())
    }

    /// Reads once if there is something before the deadline; whether `letter` was in it.
    fn read(&mut self, deadline: Instant, letter: &[u8]) -> io::Result<bool> {
        let mut fds = [PollFd::new(self.terminal.as_fd(), PollFlags::POLLIN)];
        let left = deadline.saturating_duration_since(Instant::now()).as_millis() + 1;
        if poll(&mut fds, PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX))? == 0 {
            return Ok(false);
        }
        let size = self.terminal.read(&mut self.buffer[self.kept..])?;
        if size == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.bytes += size as u64;
        let all = self.kept + size;
        let seen = &self.buffer[..all];
        // A terminal answers when it is asked where its cursor is.
        if memchr::memmem::find(seen, b"\x1b[6n").is_some() {
            self.terminal.write_all(b"\x1b[1;1R")?;
        }
        let found = !letter.is_empty() && memchr::memmem::find(seen, letter).is_some();
        // One byte less than a letter, and than the question for the cursor.
        self.kept = all.min(3);
        self.buffer.copy_within(all - self.kept..all, 0);
        Ok(found)
    }

    /// Ends the program, by a signal unless it was told already.
    pub fn end(mut self, told: bool) -> io::Result<()> {
        let signal = |child: &dyn Child, signal| {
            let pid = child.process_id().map(|pid| Pid::from_raw(pid.cast_signed()));
            pid.map(|pid| kill(pid, signal))
        };
        if !told {
            signal(self.child.as_ref(), Signal::SIGTERM);
        }
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait()?.is_none() {
            // The end of the terminal is no mistake now.
            if self.rest(Duration::from_millis(10)).is_err() {
                std::thread::sleep(Duration::from_millis(10));
            }
            if Instant::now() > deadline {
                signal(self.child.as_ref(), Signal::SIGKILL);
            }
        }
        Ok(())
    }
}
