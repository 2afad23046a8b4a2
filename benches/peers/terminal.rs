//! ccc as a person sees it: on a terminal, which is read and forgotten.

use std::io::{self, Read, Write};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

use super::place::{CCC, Place};

pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    pub pid: u32,
    // While it is open, the terminal is.
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    pub fn start(place: &Place, args: &[&str]) -> io::Result<Self> {
        let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).map_err(io::Error::other)?;
        let mut command = CommandBuilder::new(CCC);
        command.args(args);
        command.env_clear();
        for (name, value) in place.env() {
            command.env(name, value);
        }
        command.cwd(place.project());
        let child = pair.slave.spawn_command(command).map_err(io::Error::other)?;
        let pid = child.process_id().ok_or_else(|| io::Error::other("no process id"))?;
        let mut screen = pair.master.try_clone_reader().map_err(io::Error::other)?;
        let mut keys = pair.master.take_writer().map_err(io::Error::other)?;
        thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            while let Ok(size @ 1..) = screen.read(&mut buffer) {
                // A terminal answers when it is asked where its cursor is.
                if memchr::memmem::find(&buffer[..size], b"\x1b[6n").is_some() {
                    let _ = keys.write_all(b"\x1b[1;1R");
                }
            }
        });
        Ok(Self { child, pid, _master: pair.master })
    }

    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// As a closed window would.
    pub fn end(mut self) -> io::Result<()> {
        end(self.pid);
        self.child.wait().map(drop)
    }
}

/// Only for processes of ours that have not been waited for, so the id is still theirs.
pub fn end(pid: u32) {
    let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGTERM);
}
