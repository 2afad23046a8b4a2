//! ccc on a terminal of the test's own: what it draws is read as a person would see it.
//!
//! Every wait is for something on the screen, and fails after a while with the screen in the message.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use nix::sys::termios::{LocalFlags, tcgetattr};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::ccc::Ccc;
use super::patience::{PATIENCE, wait_within};
use super::shell::as_a_job;

pub const COLUMNS: u16 = 100;
pub const ROWS: u16 = 50;

pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    display: Arc<Display>,
}

impl Ccc {
    #[must_use]
    pub fn on_terminal(self) -> Terminal {
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("open a PTY");
        let ccc = [env!("CARGO_BIN_EXE_ccc")];
        let argv = if self.job { as_a_job(&ccc) } else { ccc.to_vec() };
        let mut command = CommandBuilder::from_argv(argv.into_iter().map(Into::into).collect());
        command.args(&self.args);
        command.cwd(&self.project);
        command.env_clear();
        for (name, value) in &self.env {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("start ccc");
        // Ours has to be closed, or the end of the output would never come.
        drop(pair.slave);
        let reader = pair.master.try_clone_reader().expect("read the PTY");
        let writer = pair.master.take_writer().expect("write the PTY");
        let display = Arc::new(Display::new());
        let shown = Arc::clone(&display);
        thread::spawn(move || read(reader, &shown));
        Terminal { child, master: pair.master, writer, display }
    }
}

/// What of a terminal's modes tells whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    /// Line by line, as a shell leaves it to others.
    pub canonical: bool,
}

impl Terminal {
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.child.process_id().expect("ccc's process id").cast_signed()
    }

    /// Keys as the terminal sends them.
    pub fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("type");
        self.writer.flush().expect("type");
    }

    /// Types a message, sees it on the screen, and sends it.
    #[track_caller]
    pub fn say(&mut self, text: &str) {
        self.keys(text);
        self.wait_for(text);
        self.keys("\r");
    }

    pub fn ctrl_c(&mut self) {
        self.keys("\x03");
    }

    pub fn ctrl_d(&mut self) {
        self.keys("\x04");
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.display.state().parser.screen_mut().set_size(
            rows.try_into().expect("a row at least"),
            columns.try_into().expect("a column at least"),
        );
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).expect("resize the PTY");
    }

    /// How the terminal treats what is typed.
    #[must_use]
    pub fn modes(&self) -> Modes {
        let fd = self.master.as_raw_fd().expect("the PTY's descriptor");
        // SAFETY: the master is open for as long as this terminal is there.
        let modes = tcgetattr(unsafe { BorrowedFd::borrow_raw(fd) }).expect("the terminal's modes");
        Modes { canonical: modes.local_flags.contains(LocalFlags::ICANON) }
    }

    #[must_use]
    pub fn screen(&self) -> String {
        self.display.state().parser.screen().contents()
    }

    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), |screen| screen.contains(text));
    }

    #[track_caller]
    pub fn wait_until(&self, what: &str, reached: impl Fn(&str) -> bool) {
        let (state, wait) = self
            .display
            .changed
            .wait_timeout_while(self.display.state(), PATIENCE, |state| {
                !state.ended && !reached(&state.parser.screen().contents())
            })
            .unwrap_or_else(PoisonError::into_inner);
        let screen = state.parser.screen().contents();
        let why = if wait.timed_out() { "in time" } else { "before the end of the output" };
        drop(state);
        assert!(reached(&screen), "no {what} {why}; the screen:\n{screen}");
    }

    /// Waits for the end of ccc and returns its exit code; 1 too, if a signal ended it.
    #[track_caller]
    pub fn wait_exit(&mut self) -> u32 {
        let status = wait_within(PATIENCE, || self.child.try_wait().expect("wait for ccc"));
        let status = status.unwrap_or_else(|| panic!("ccc does not end:\n{}", self.screen()));
        status.exit_code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Its own `kill` begins with a HUP, which the test may be about.
        let _ = nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(self.pid()),
            nix::sys::signal::Signal::SIGKILL,
        );
        let _ = self.child.wait();
    }
}

struct Display {
    state: Mutex<DisplayState>,
    changed: Condvar,
}

struct DisplayState {
    parser: vt100::Parser,
    ended: bool,
}

impl Display {
    fn new() -> Self {
        let (rows, columns) =
            (ROWS.try_into().expect("rows"), COLUMNS.try_into().expect("columns"));
        let parser = vt100::Parser::new(rows, columns, 1000);
        Self { state: Mutex::new(DisplayState { parser, ended: false }), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, DisplayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(mut from: impl Read, display: &Display) {
    let mut buffer = [0; 8192];
    loop {
        match from.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // EIO is how a PTY says that nobody is on the other side any more.
            Ok(0) | Err(_) => break,
            Ok(size) => {
                display.state().parser.process(&buffer[..size]);
                display.changed.notify_all();
            }
        }
    }
    display.state().ended = true;
    display.changed.notify_all();
}
