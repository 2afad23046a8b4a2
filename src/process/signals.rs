//! Signals as events.

use std::sync::Arc;

use anyhow::Result;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgrp, getsid};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::threads::named;

/// From now on a file over the limit (`ulimit -f`) is a write error and does not end ccc. The signal is
/// caught and not ignored, because the children would inherit that.
pub fn survive_long_files() {
    // Fails only for signals that nobody may catch.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Reports every signal that asks ccc to end, to stop or to continue. A hang-up that was ignored at
/// the start stays ignored, for `nohup`. An ignored interrupt does not: shells without job control
/// start their background commands like that, and it must be possible to end them.
pub fn listen(on_signal: impl Fn(i32) -> bool + Send + 'static) -> Result<()> {
    let mut handled = vec![SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT];
    if !is_ignored(SIGHUP) {
        handled.push(SIGHUP);
    }
    let mut signals = Signals::new(handled)?;
    named("signals", move || {
        for signal in &mut signals {
            if !on_signal(signal) {
                return;
            }
        }
    })?;
    Ok(())
}

/// Calls `on_resize` when the window changes its size, until it returns false.
pub fn on_resize(on_resize: impl Fn() -> bool + Send + 'static) -> Result<()> {
    let mut signals = Signals::new([SIGWINCH])?;
    named("size", move || {
        for _ in &mut signals {
            if !on_resize() {
                return;
            }
        }
    })?;
    Ok(())
}

pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: without a new action the call only fills in the current one, which is plain data.
    #[expect(unsafe_code, reason = "nix can only set an action, but this reads the current one")]
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

pub fn is_stop(signal: i32) -> bool {
    signal == SIGTSTP
}

/// Ctrl-C, if the terminal turns it into a signal.
pub fn is_interrupt(signal: i32) -> bool {
    signal == SIGINT
}

/// Signals that the terminal sends to its whole foreground group when a key is pressed.
pub fn is_from_keys(signal: i32) -> bool {
    matches!(signal, SIGINT | SIGQUIT)
}

pub fn asks_to_end(signal: i32) -> bool {
    !is_stop(signal) && !is_continue(signal)
}

pub fn is_continue(signal: i32) -> bool {
    signal == SIGCONT
}

/// In the process group of the session leader, as the command of a new window, there is no shell
/// that could continue ccc: it would stay stopped.
pub fn can_be_continued() -> bool {
    getsid(None).is_ok_and(|session| session != getpgrp())
}

/// Stops ccc and its whole process group, as Ctrl-Z would: under `cargo run`, `time` or `sh -c` the
/// shell waits for the other processes too. Returns when ccc is continued.
pub fn stop_group() {
    let whole_group = Pid::from_raw(0);
    if let Err(error) = kill(whole_group, Signal::SIGSTOP) {
        log::warn!("cannot suspend: {error}");
    }
}
