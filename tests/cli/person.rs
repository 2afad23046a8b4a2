//! A person at a terminal: reads what ccc asks, and types. Waits for what is on the screen, never for
//! a time.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::patience::PATIENCE;
use crate::room::Room;

pub struct Person {
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: Vec<u8>,
    read: usize,
    master: Box<dyn MasterPty + Send>,
}

impl Person {
    pub fn runs(room: &Room, args: &[&str]) -> Self {
        Self::with_env(room, args, &[])
    }

    pub fn with_env(room: &Room, args: &[&str], env: &[(&str, &str)]) -> Self {
        let argv = [&[env!("CARGO_BIN_EXE_ccc")], args].concat();
        Self::starts(room, &argv, env)
    }

    /// Any program, with variables of its own; an empty one is taken away.
    pub fn starts(room: &Room, argv: &[&str], env: &[(&str, &str)]) -> Self {
        let size = PtySize { rows: 50, cols: 200, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a PTY");
        let mut command = CommandBuilder::from_argv(argv.iter().map(Into::into).collect());
        command.cwd(room.path("project"));
        command.env_clear();
        command.env("HOME", room.path("home"));
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("LANG", "C.UTF-8");
        command.env("TERM", "xterm");
        command.env("CCC_CLAUDE", room.path("claude"));
        command.env("ROOM", room.path("seen"));
        for (name, value) in env {
            command.env_remove(name);
            if !value.is_empty() {
                command.env(name, value);
            }
        }
        let child = pair.slave.spawn_command(command).expect("ccc starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("its output");
        let writer = pair.master.take_writer().expect("its input");
        let (send, output) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // EIO and 0 both mean that nobody is on the other side any more.
            while let Ok(size @ 1..) = reader.read(&mut buffer) {
                if send.send(buffer[..size].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, writer, output, screen: Vec::new(), read: 0, master: pair.master }
    }

    pub fn pid(&self) -> i32 {
        self.child.process_id().expect("a process id").cast_signed()
    }

    /// Waits for a text that was not there when the last one was found.
    #[track_caller]
    pub fn sees(&mut self, text: &str) -> &mut Self {
        loop {
            if let Some(at) = memchr::memmem::find(&self.screen[self.read..], text.as_bytes()) {
                self.read += at + text.len();
                return self;
            }
            match self.output.recv_timeout(PATIENCE) {
                Ok(bytes) => self.screen.extend(bytes),
                Err(end) => panic!("no {text:?} on the screen ({end}):\n{}", self.text()),
            }
        }
    }

    pub fn types(&mut self, keys: &str) -> &mut Self {
        self.sends(keys.as_bytes())
    }

    pub fn sends(&mut self, bytes: &[u8]) -> &mut Self {
        self.writer.write_all(bytes).expect("ccc reads");
        self.writer.flush().expect("ccc reads");
        self
    }

    /// Every byte so far.
    pub fn shown(&self) -> Vec<u8> {
        self.screen.clone()
    }

    /// The name of the terminal that the person sits at.
    pub fn terminal(&self) -> PathBuf {
        self.master.tty_name().expect("a name")
    }

    pub fn resizes(&mut self, columns: u16, rows: u16) -> &mut Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).expect("a PTY");
        self
    }

    /// Waits for the end: the exit code, and everything that was on the screen.
    #[track_caller]
    pub fn leaves(mut self) -> (u32, String) {
        loop {
            match self.output.recv_timeout(PATIENCE) {
                Ok(bytes) => self.screen.extend(bytes),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("ccc does not leave:\n{}", self.text()),
            }
        }
        let status = self.child.wait().expect("ccc ends");
        (status.exit_code(), self.text())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.screen).into_owned()
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
