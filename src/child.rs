//! What the agent's and the supervisor's processes have in common: threads that read lines from a
//! child, write lines to it and wait for its end, so that nothing a child does can block the loop.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crossbeam_channel::{Sender, unbounded};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::termios::{LocalFlags, SetArg, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::Pid;

use crate::event::Gone;
use crate::stream::{Line, Lines, Piece};

/// Tells the shim to close the child's input. It cannot be part of a message: JSON has no control
/// bytes.
pub const END_OF_INPUT: u8 = 0x04;

/// Enough to make a wake-up of the loop worth its while; so little that a key never waits long for
/// the end of it.
const BATCH: usize = 16 << 10;
/// More than a PTY ever gives at once: the kernel's own buffer has 4 KB.
const READ: usize = 16 << 10;

#[derive(Debug)]
pub enum ChildEvent {
    Lines(Vec<Line>),
    /// No more output. The child itself may be gone already, or not yet.
    OutputEnded,
}

/// Reads until the end and hands over whole lines: all that can be read without waiting, up to a
/// batch. A PTY gives 4 KB at a time, and to wake the loop for each would cost more than the rest.
///
/// `on_event` returning false means that nobody listens any more.
pub fn read_lines(mut from: impl Read + AsFd, on_event: impl Fn(ChildEvent) -> bool) {
    let mut lines = Lines::default();
    let mut buffer = vec![0; READ];
    let mut batch = Vec::new();
    let mut size = 0;
    let take = |piece: Piece<'_>, batch: &mut Vec<Line>| match piece {
        Piece::Line(line) => batch.push(Line::decode(line.into_owned())),
        Piece::TooLong(size) => log::warn!("skipped a line of {size} bytes"),
    };
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                size += read;
                lines.push(&buffer[..read], |piece| take(piece, &mut batch));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A PTY whose other side is closed gives EIO; it means the same as 0.
            Err(error) => {
                log::debug!("end of output: {error}");
                break;
            }
        }
        if batch.is_empty() || (size < BATCH && has_more(&from)) {
            continue;
        }
        size = 0;
        if !on_event(ChildEvent::Lines(std::mem::take(&mut batch))) {
            return;
        }
    }
    lines.finish(|piece| take(piece, &mut batch));
    if !batch.is_empty() && !on_event(ChildEvent::Lines(batch)) {
        return;
    }
    on_event(ChildEvent::OutputEnded);
}

fn has_more(from: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

/// A thread that writes what it is given: a child that does not read must not stop the loop.
/// Ends, and closes the child's input, when the sender is dropped.
pub fn writer(name: &str, mut to: impl Write + Send + 'static) -> std::io::Result<Sender<Vec<u8>>> {
    let (sender, receiver) = unbounded::<Vec<u8>>();
    named(name, move || {
        for bytes in receiver {
            if let Err(error) = to.write_all(&bytes).and_then(|()| to.flush()) {
                log::warn!("input of the child is closed: {error}");
                return;
            }
        }
    })?;
    Ok(sender)
}

/// A thread with a name. A panic in one ends ccc, since what waits for it would wait for ever; the
/// shims end the children.
pub fn named(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let run = move || {
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            std::process::exit(101);
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}

/// A fresh PTY echoes its input and cuts lines at 4,095 bytes (1,024 on macOS). Signals stay on.
pub fn make_raw(terminal: impl AsFd) {
    if let Ok(mut modes) = tcgetattr(&terminal) {
        cfmakeraw(&mut modes);
        modes.local_flags.insert(LocalFlags::ISIG);
        if let Err(error) = tcsetattr(&terminal, SetArg::TCSANOW, &modes) {
            log::warn!("the PTY stays in canonical mode: {error}");
        }
    }
}

/// How a child ended. The shim hands a signal of its child on as 128 + its number.
pub fn gone(code: Option<i32>, signal: Option<i32>) -> Gone {
    let signal = signal.or_else(|| code.filter(|code| *code > 128).map(|code| code - 128));
    let how = match (signal, code) {
        (Some(signal), _) => match Signal::try_from(signal) {
            Ok(signal) => format!("was ended by {signal}"),
            Err(_) => format!("was ended by signal {signal}"),
        },
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => "ended".to_owned(),
    };
    Gone { how, code, last_words: String::new() }
}

/// A process group of ours. The shim leads it, so its id is the shim's process id.
#[derive(Debug, Clone, Copy)]
pub struct Group(Pid);

impl Group {
    pub fn of(leader: u32) -> Self {
        Self(Pid::from_raw(leader.cast_signed()))
    }

    /// The shim turns TERM into an orderly end of everything below it.
    pub fn terminate(self) {
        self.signal(Signal::SIGTERM);
    }

    /// What is still there after that.
    pub fn kill(self) {
        self.signal(Signal::SIGKILL);
    }

    fn signal(self, signal: Signal) {
        if let Err(error) = killpg(self.0, signal) {
            log::debug!("{signal} to group {}: {error}", self.0);
        }
    }
}
