//! Reads the keys of the real terminal on its own thread, and only while ccc has the terminal.
//! Otherwise another program on it (the person's editor, the shell) would lose keys.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossterm::event::{self, Event};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::threads;

/// How long to wait for the thread. It stops reading at once, unless half of a key has been read:
/// then it waits for the rest.
const PATIENCE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct KeyReader {
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    state: Mutex<KeyState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct KeyState {
    open: bool,
    /// The thread is not reading the terminal.
    at_rest: bool,
}

impl KeyReader {
    /// `send` gets every key, paste and resize until it returns false, or an error after which
    /// nothing more can be read. Nothing is read before the first `open`.
    pub fn start(send: impl Fn(io::Result<Event>) -> bool + Send + 'static) -> io::Result<Self> {
        // Reads nothing, but makes crossterm notice SIGWINCH from now on, which `close` relies on.
        event::poll(Duration::ZERO)?;
        let gate = Arc::new(Gate::default());
        let reader = Arc::clone(&gate);
        threads::named("keys", move || {
            read(&reader, event::read, send);
            reader.lock().at_rest = true;
            reader.changed.notify_all();
        })?;
        Ok(Self { gate })
    }

    pub fn open(&self) {
        self.gate.lock().open = true;
        self.gate.changed.notify_all();
    }

    /// Stops reading the terminal's input.
    pub fn close(&self) {
        if !std::mem::take(&mut self.gate.lock().open) {
            return;
        }
        // The thread waits without a timeout, so that an idle session makes no system call. Besides
        // a key, only a change of the terminal's size wakes it, so this simulates one.
        if let Err(error) = kill(Pid::this(), Signal::SIGWINCH) {
            log::warn!("the keys cannot be left to others: {error}");
        }
        let waits = |state: &mut KeyState| !state.at_rest;
        let state = self.gate.changed.wait_timeout_while(self.gate.lock(), PATIENCE, waits);
        drop(state.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, KeyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until_open(&self) {
        let mut state = self.lock();
        while !state.open {
            state.at_rest = true;
            self.changed.notify_all();
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.at_rest = false;
    }
}

fn read(
    gate: &Gate,
    next: impl Fn() -> io::Result<Event>,
    send: impl Fn(io::Result<Event>) -> bool,
) {
    let mut size = crossterm::terminal::size().ok();
    loop {
        gate.wait_until_open();
        let input = next();
        if let Ok(Event::Resize(columns, rows)) = input
            && size.replace((columns, rows)) == Some((columns, rows))
        {
            continue;
        }
        let lost = input.is_err();
        if !send(input) || lost {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn an_error_of_the_keyboard_is_reported_before_the_thread_ends() {
        let gate = Gate::default();
        gate.lock().open = true;
        let inputs = RefCell::new(vec![
            Ok(Event::FocusGained),
            Err(io::Error::other("broken")),
            Ok(Event::FocusLost),
        ]);
        let heard = RefCell::new(Vec::new());
        let next = || inputs.borrow_mut().remove(0);
        read(&gate, next, |input| {
            heard.borrow_mut().push(input.map_err(|error| error.to_string()));
            true
        });
        assert_eq!(heard.into_inner(), [Ok(Event::FocusGained), Err("broken".to_owned())]);
    }
}
