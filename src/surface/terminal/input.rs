//! The keys of the real terminal: read by a thread of their own, and only while the terminal is
//! ours. Another program on it (the person's editor, the shell) would lose keys otherwise.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossterm::event::{self, Event};
use filedescriptor::{POLLIN, poll, pollfd};
use signal_hook::consts::SIGWINCH;

use crate::child;

/// The thread leaves the terminal at once, unless half of a key has been read: then it may take
/// as long as the person pleases.
const PATIENCE: Duration = Duration::from_millis(200);
/// What was read with the last key is there already; there is nothing to wait for.
const AT_ONCE: Duration = Duration::from_micros(1);

#[derive(Debug)]
pub struct Keys {
    gate: Arc<Gate>,
    wake: UnixStream,
}

#[derive(Debug, Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    open: bool,
    /// Nobody reads the terminal.
    at_rest: bool,
}

impl Keys {
    /// `send` gets every key, paste and resize, until it returns false.
    pub fn start(send: impl Fn(Event) -> bool + Send + 'static) -> io::Result<Self> {
        let (woken, wake) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        wake.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(SIGWINCH, wake.try_clone()?)?;
        let gate = Arc::new(Gate::default());
        let thread = Reader { gate: Arc::clone(&gate), woken, size: None };
        child::named("keys", move || thread.run(send))?;
        Ok(Self { gate, wake })
    }

    pub fn open(&self) {
        self.gate.lock().open = true;
        self.gate.changed.notify_all();
    }

    /// From now on the terminal's input is left alone.
    pub fn close(&self) {
        self.gate.lock().open = false;
        // A full pipe wakes as well.
        let _ = (&self.wake).write(&[0]);
        let waits = |state: &mut State| !state.at_rest;
        let state = self.gate.changed.wait_timeout_while(self.gate.lock(), PATIENCE, waits);
        drop(state.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_open(&self) -> bool {
        self.lock().open
    }

    fn rest(&self, until_open: bool) {
        let mut state = self.lock();
        state.at_rest = true;
        self.changed.notify_all();
        while until_open && !state.open {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.at_rest = !until_open;
    }
}

struct Reader {
    gate: Arc<Gate>,
    woken: UnixStream,
    size: Option<(u16, u16)>,
}

impl Reader {
    fn run(mut self, send: impl Fn(Event) -> bool) {
        while self.turn(&send).unwrap_or(false) {}
        self.gate.rest(false);
    }

    /// False when nobody is left to read from or to send to. Waits without an end for either of
    /// the two: an idle session makes no system call.
    fn turn(&mut self, send: &impl Fn(Event) -> bool) -> io::Result<bool> {
        self.gate.rest(true);
        let wait = |fd| pollfd { fd, events: POLLIN, revents: 0 };
        let mut fds = [wait(io::stdin().as_raw_fd()), wait(self.woken.as_raw_fd())];
        match poll(&mut fds, None) {
            Err(filedescriptor::Error::Poll(error) | filedescriptor::Error::Io(error)) => {
                return if error.kind() == io::ErrorKind::Interrupted {
                    Ok(true)
                } else {
                    Err(error)
                };
            }
            result => result.map_err(io::Error::other)?,
        };
        if fds[1].revents != 0 && !self.woken(send)? {
            return Ok(false);
        }
        match fds[0].revents {
            0 => return Ok(true),
            POLLIN => {}
            // The terminal is gone; to read from it would be to read nothing for ever.
            _ => return Ok(false),
        }
        while self.gate.is_open() {
            let input = event::read()?;
            // Said already, and by ourselves.
            if !matches!(input, Event::Resize(..)) && !send(input) {
                return Ok(false);
            }
            if !event::poll(AT_ONCE)? {
                break;
            }
        }
        Ok(true)
    }

    /// The gate has changed, or the terminal's size.
    fn woken(&mut self, send: &impl Fn(Event) -> bool) -> io::Result<bool> {
        let mut bytes = [0; 64];
        while matches!((&self.woken).read(&mut bytes), Ok(1..)) {}
        let (columns, rows) = crossterm::terminal::size()?;
        let known = self.size.replace((columns, rows));
        Ok(known == self.size || send(Event::Resize(columns, rows)))
    }
}
