//! Handles signals while sessions are shown, checked or played one after another. The session that
//! runs gets them itself.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use crossbeam_channel::{Receiver, Sender, bounded};

use crate::process::signals;
use crate::session::Incoming;

#[derive(Default)]
struct Received {
    session: Option<Sender<Incoming>>,
    seen: Option<i32>,
}

pub struct Stop {
    state: Arc<Mutex<Received>>,
    wake: Receiver<()>,
}

impl Stop {
    pub fn listen() -> Result<Self> {
        let state = Arc::new(Mutex::new(Received::default()));
        let (to_wake, wake) = bounded(1);
        let stop = Self { state: state.clone(), wake };
        signals::listen(move |signal| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if signals::asks_to_end(signal) {
                state.seen.get_or_insert(signal);
                let _ = to_wake.try_send(());
            }
            if let Some(session) = &state.session {
                let _ = session.send(Incoming::Signal(signal));
            } else if signals::is_stop(signal) {
                signals::stop_group();
            }
            true
        })?;
        Ok(stop)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, Received> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn hand_to(&self, session: Option<Sender<Incoming>>) {
        self.state().session = session;
    }

    /// The first signal that asked to stop, if any.
    pub fn seen(&self) -> Option<i32> {
        self.state().seen
    }

    /// Waits, but returns early if a signal asks to stop.
    pub fn wait(&self, time: Duration) {
        if self.seen().is_none() {
            let _ = self.wake.recv_timeout(time);
        }
    }
}
