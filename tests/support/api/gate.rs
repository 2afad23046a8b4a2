//! A door that a test opens: it lets a scripted answer wait for the test instead of for time.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Closed at first; once opened it stays open. Clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    open: bool,
    arrivals: usize,
}

impl Gate {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub fn open(&self) {
        self.state().open = true;
        self.0.changed.notify_all();
    }

    /// Waits until an answer stands at the gate (or went through it).
    ///
    /// # Panics
    /// After `timeout`.
    #[track_caller]
    pub fn wait_reached(&self, timeout: Duration) {
        let (state, wait) = self
            .0
            .changed
            .wait_timeout_while(self.state(), timeout, |state| state.arrivals == 0)
            .unwrap_or_else(PoisonError::into_inner);
        drop(state);
        assert!(!wait.timed_out(), "no answer came to the gate within {timeout:?}");
    }

    /// Blocks until the gate is open.
    pub(super) fn pass(&self) {
        let mut state = self.state();
        state.arrivals += 1;
        self.0.changed.notify_all();
        while !state.open {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
