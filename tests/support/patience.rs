//! Waiting for something that nobody announces: looked at again and again, and not for ever.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take that a test waits for. Only a failing test gets there: on a machine that has
/// ten times as much to do as it has processors, a start of the client alone takes ten seconds.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// What `found` has found in time.
pub fn wait_within<T>(patience: Duration, mut found: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = found() {
            return Some(found);
        }
        if Instant::now() > deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// # Panics
/// When it does not hold in time.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let held = wait_within(PATIENCE, || holds().then_some(()));
    assert!(held.is_some(), "{what}: not within {PATIENCE:?}");
}
