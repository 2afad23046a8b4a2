//! Signals as events.

use anyhow::Result;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::child::named;

/// Hands over every signal that asks ccc to end, to stop, or to go on.
pub fn listen(on_signal: impl Fn(i32) -> bool + Send + 'static) -> Result<()> {
    // Caught, so that a file over the limit (`ulimit -f`) is an error of that file and not the end;
    // not ignored, since the children would inherit that.
    const TOO_LONG: i32 = SIGXFSZ;
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT, TOO_LONG])?;
    named("signals", move || {
        for signal in &mut signals {
            if signal != TOO_LONG && !on_signal(signal) {
                return;
            }
        }
    })?;
    Ok(())
}

pub fn is_stop(signal: i32) -> bool {
    signal == SIGTSTP
}

/// Ctrl-C, where the terminal makes a signal of it.
pub fn is_interrupt(signal: i32) -> bool {
    signal == SIGINT
}

/// What the terminal sends to all who are on it when the person presses a key.
pub fn is_from_keys(signal: i32) -> bool {
    matches!(signal, SIGINT | SIGQUIT)
}

pub fn is_continue(signal: i32) -> bool {
    signal == SIGCONT
}

/// Stops ccc as Ctrl-Z would have; returns when it is continued.
pub fn stop_here() {
    if let Err(error) = signal_hook::low_level::emulate_default_handler(SIGTSTP) {
        log::warn!("cannot suspend: {error}");
    }
}
