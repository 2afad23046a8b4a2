//! A program as a person sees it: on a terminal, which is read, counted and forgotten.

use std::io::{self, Read, Write};
use std::thread::{self, JoinHandle};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

use super::prose::END;

pub type Pty = (Box<dyn MasterPty + Send>, Box<dyn Child + Send + Sync>);

/// A program on a new PTY.
pub fn open(command: CommandBuilder) -> io::Result<Pty> {
    let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).map_err(io::Error::other)?;
    let child = pair.slave.spawn_command(command).map_err(io::Error::other)?;
    Ok((pair.master, child))
}

pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    pub pid: u32,
    // While it is open, the terminal is.
    _master: Box<dyn MasterPty + Send>,
    screen: JoinHandle<Shown>,
}

/// What was on it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown {
    pub bytes: u64,
    /// The end of the prose was among it.
    pub end: bool,
}

impl Terminal {
    pub fn start(command: CommandBuilder) -> io::Result<Self> {
        let (master, child) = open(command)?;
        let pid = child.process_id().ok_or_else(|| io::Error::other("no process id"))?;
        let mut screen = master.try_clone_reader().map_err(io::Error::other)?;
        let mut keys = master.take_writer().map_err(io::Error::other)?;
        let screen = thread::spawn(move || {
            let mut shown = Shown::default();
            let mut buffer = vec![0; 64 << 10];
            // What is looked for may come in two pieces.
            let mut kept = 0;
            while let Ok(size @ 1..) = screen.read(&mut buffer[kept..]) {
                shown.bytes += size as u64;
                let seen = &buffer[..kept + size];
                shown.end |= memchr::memmem::find(seen, END.as_bytes()).is_some();
                // A terminal answers when it is asked where its cursor is.
                if memchr::memmem::find(&seen[kept..], b"\x1b[6n").is_some() {
                    let _ = keys.write_all(b"\x1b[1;1R");
                }
                let all = seen.len();
                kept = all.min(END.len() - 1);
                buffer.copy_within(all - kept..all, 0);
            }
            shown
        });
        Ok(Self { child, pid, _master: master, screen })
    }

    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// As a closed window would.
    pub fn end(self) -> io::Result<Shown> {
        end(self.pid);
        self.wait().map(|(_, shown)| shown)
    }

    /// Until it ends by itself.
    pub fn wait(mut self) -> io::Result<(ExitStatus, Shown)> {
        let status = self.child.wait()?;
        Ok((status, self.screen.join().unwrap_or_default()))
    }
}

/// Only for processes of ours that have not been waited for, so the id is still theirs.
pub fn end(pid: u32) {
    let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGTERM);
}
