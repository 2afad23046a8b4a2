//! What the agent's and the supervisor's processes have in common: threads that read lines from a
//! child, write lines to it and wait for its end, so that nothing a child does can block the loop.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;

use crossbeam_channel::{Sender, unbounded};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::client::stream::{Line, Lines, SplitLine};
use crate::threads::named;

/// Tells the shim to close the child's input. It cannot be part of a message, because JSON has no
/// control bytes.
pub const END_OF_INPUT: u8 = 0x04;

/// Tells the shim that the grace period is over.
pub const HURRY: Signal = Signal::SIGUSR1;

/// Large enough to make waking the loop worthwhile, and small enough that a key never waits long.
const BATCH: usize = 16 << 10;
/// More than a PTY ever returns at once: the kernel's buffer has 4 KB.
const READ: usize = 16 << 10;

#[derive(Debug)]
pub enum ChildEvent {
    Lines(Vec<Line>),
    /// No more output. The child itself may still be running.
    OutputEnded,
}

/// Reads until the end and passes on whole lines: all that can be read without blocking, up to a
/// batch. A PTY returns 4 KB at a time, and waking the loop for each would cost more than
/// everything else.
///
/// `decode` turns bytes into a line. `on_event` returns false if nobody listens any more.
pub fn read_lines(
    mut from: impl Read + AsFd,
    decode: impl Fn(Vec<u8>) -> Line,
    on_event: impl Fn(ChildEvent) -> bool,
) {
    let mut lines = Lines::default();
    let mut buffer = vec![0; READ];
    let mut batch = Vec::new();
    let mut size = 0;
    let take = |piece: SplitLine<'_>, batch: &mut Vec<Line>| match piece {
        SplitLine::Line(line) => batch.push(decode(line.into_owned())),
        SplitLine::TooLong(size, kind) => {
            log::warn!("skipped a line of {size} bytes");
            batch.push(Line::too_long(size, kind));
        }
    };
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                size += read;
                lines.push(&buffer[..read], |piece| take(piece, &mut batch));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A PTY whose other side is closed returns EIO, which means the same as 0.
            Err(error) => {
                log::debug!("end of output: {error}");
                break;
            }
        }
        if batch.is_empty() || (size < BATCH && is_readable(&from, PollTimeout::ZERO)) {
            continue;
        }
        size = 0;
        if !on_event(ChildEvent::Lines(std::mem::take(&mut batch))) {
            return;
        }
    }
    let whole = batch.len();
    lines.finish(|piece| take(piece, &mut batch));
    if let Some(last) = batch.get_mut(whole) {
        *last = last.clone().cut_off();
    }
    if !batch.is_empty() && !on_event(ChildEvent::Lines(batch)) {
        return;
    }
    on_event(ChildEvent::OutputEnded);
}

/// Whether something can be read, or the end has come, within this time.
pub fn is_readable(from: &impl AsFd, within: impl Into<PollTimeout>) -> bool {
    let mut fds = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, within.into()).is_ok_and(|ready| ready > 0)
}

/// Starts a thread that writes to the child, so that a child that does not read cannot block the
/// loop. When the sender is dropped, the thread closes the child's input and ends.
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

/// The process group of a child. The shim leads it, so its id is the shim's process id.
#[derive(Debug, Clone, Copy)]
pub struct Group(Pid);

impl Group {
    pub fn of(leader: u32) -> Self {
        Self(Pid::from_raw(leader.cast_signed()))
    }

    /// The shim reacts to TERM by ending everything below it in order. CONT wakes a stopped shim.
    pub fn terminate(self) {
        self.signal(Signal::SIGTERM);
        self.signal(Signal::SIGCONT);
    }

    /// Tells the shim to skip the rest of the grace period.
    pub fn hurry(self) {
        if let Err(error) = kill(self.0, HURRY) {
            log::debug!("{HURRY} to {}: {error}", self.0);
        }
    }

    pub fn kill(self) {
        self.signal(Signal::SIGKILL);
    }

    fn signal(self, signal: Signal) {
        if let Err(error) = killpg(self.0, signal) {
            log::debug!("{signal} to group {}: {error}", self.0);
        }
    }
}
