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

/// Tells the shim to close the child's input. It cannot be part of a message: JSON has no control
/// bytes.
pub const END_OF_INPUT: u8 = 0x04;

/// Tells the shim that the grace period is over.
pub const HURRY: Signal = Signal::SIGUSR1;

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
/// `decode` says what a line is. `on_event` returning false means that nobody listens any more.
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

/// A process group of ours. The shim leads it, so its id is the shim's process id.
#[derive(Debug, Clone, Copy)]
pub struct Group(Pid);

impl Group {
    pub fn of(leader: u32) -> Self {
        Self(Pid::from_raw(leader.cast_signed()))
    }

    /// The shim turns TERM into an orderly end of everything below it, also one that was stopped.
    pub fn terminate(self) {
        self.signal(Signal::SIGTERM);
        self.signal(Signal::SIGCONT);
    }

    /// The shim is not to wait any longer for what it has told to end.
    pub fn hurry(self) {
        if let Err(error) = kill(self.0, HURRY) {
            log::debug!("{HURRY} to {}: {error}", self.0);
        }
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
