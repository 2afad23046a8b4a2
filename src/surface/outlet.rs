//! Standard output, for as long as somebody reads it. Writing to a terminal or a pipe that nobody reads
//! blocks, but a session must still end when a signal asks for it. So a separate thread does the
//! writing, and a caller that waits for it can be told to give up.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::{console, threads};

/// How long a write may take while the session is ending; an active reader is faster.
const AFTER_SIGNAL: Duration = Duration::from_secs(1);
/// For how long after a signal the session counts as ending.
const ENDING: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub struct Outlet {
    shared: Arc<Shared>,
    /// A write was abandoned; the thread may still be busy with it.
    given_up: bool,
}

/// Hastens pending writes when the session is to end.
#[derive(Debug, Clone)]
pub struct Hurry(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    to_write: Option<Vec<u8>>,
    written: Option<io::Result<()>>,
    hurried: Option<Instant>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outlet {
    /// Uses a duplicate of the descriptor: `std::io::Stdout` would split a write at its last newline,
    /// and its lock may be held when a panic has to write.
    pub fn stdout() -> io::Result<Self> {
        Self::to(File::from(console::stdout().as_fd().try_clone_to_owned()?))
    }

    /// The same for standard error.
    pub fn stderr() -> io::Result<Self> {
        Self::to(File::from(console::stderr().as_fd().try_clone_to_owned()?))
    }

    fn to(out: File) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writer = Arc::clone(&shared);
        threads::named("output", move || write(&out, &writer))?;
        Ok(Self { shared, given_up: false })
    }

    pub fn hurry(&self) -> Hurry {
        Hurry(Arc::clone(&self.shared))
    }
}

impl Hurry {
    /// From now on, no write waits long for a reader.
    pub fn up(&self) {
        self.0.lock().hurried = Some(Instant::now());
        self.0.changed.notify_all();
    }
}

/// Writes everything or fails, because each write is meant as one piece.
impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.given_up {
            return Err(nobody_reads());
        }
        if bytes.is_empty() {
            return Ok(0);
        }
        let mut state = self.shared.lock();
        state.to_write = Some(bytes.to_vec());
        self.shared.changed.notify_all();
        let began = Instant::now();
        loop {
            if let Some(written) = state.written.take() {
                return written.map(|()| bytes.len());
            }
            let hurried = state.hurried.filter(|at| at.elapsed() < ENDING);
            let waited = match hurried.map(|at| began.max(at).elapsed()) {
                None => self.shared.changed.wait(state),
                Some(waits) if waits >= AFTER_SIGNAL => {
                    self.given_up = true;
                    return Err(nobody_reads());
                }
                Some(waits) => {
                    let waited =
                        self.shared.changed.wait_timeout(state, AFTER_SIGNAL.saturating_sub(waits));
                    waited
                        .map(|(state, _)| state)
                        .map_err(|poisoned| PoisonError::new(poisoned.into_inner().0))
                }
            };
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        // An empty write ends the thread. A thread that is still writing is abandoned.
        self.shared.lock().to_write = Some(Vec::new());
        self.shared.changed.notify_all();
    }
}

fn nobody_reads() -> io::Error {
    io::Error::new(ErrorKind::TimedOut, "nothing is reading it")
}

fn write(mut out: &File, shared: &Shared) {
    loop {
        let mut state = shared.lock();
        let bytes = loop {
            match state.to_write.take() {
                Some(bytes) => break bytes,
                None => state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(state);
        if bytes.is_empty() {
            return;
        }
        let written = write_all(&mut out, &bytes);
        shared.lock().written = Some(written);
        shared.changed.notify_all();
    }
}

fn write_all(out: &mut &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(size) => bytes = &bytes[size..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Another program may have made this terminal non-blocking for everyone.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let mut fds = [PollFd::new(out.as_fd(), PollFlags::POLLOUT)];
                poll(&mut fds, PollTimeout::NONE)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, pipe};
    use std::os::fd::OwnedFd;
    use std::thread;

    use super::*;

    fn into_pipe() -> (std::io::PipeReader, Outlet) {
        let (reader, writer) = pipe().unwrap();
        (reader, Outlet::to(File::from(OwnedFd::from(writer))).unwrap())
    }

    #[test]
    fn everything_arrives_in_order() {
        let (mut reader, mut outlet) = into_pipe();
        let read = thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            text
        });
        let mut expected = String::new();
        for at in 0..2000 {
            let word = format!("{at} ");
            outlet.write_all(word.as_bytes()).unwrap();
            expected += &word;
        }
        outlet.write_all(b"").unwrap();
        drop(outlet);
        assert_eq!(read.join().unwrap(), expected);
    }

    #[test]
    fn a_reader_that_is_gone_is_an_error_at_once() {
        let (reader, mut outlet) = into_pipe();
        drop(reader);
        assert_eq!(outlet.write_all(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_reader_that_does_not_read_is_waited_for_until_the_end_is_wanted() {
        let (reader, mut outlet) = into_pipe();
        let hurry = outlet.hurry();
        let (tried, failed) = std::sync::mpsc::channel();
        let writer = thread::spawn(move || {
            // More than a pipe can hold.
            tried.send(()).unwrap();
            let first = outlet.write_all(&vec![b'x'; 1 << 20]).unwrap_err();
            (first.kind(), outlet.write_all(b"y").unwrap_err().kind())
        });
        failed.recv().unwrap();
        hurry.up();
        assert_eq!(writer.join().unwrap(), (ErrorKind::TimedOut, ErrorKind::TimedOut));
        drop(reader);
    }
}
