//! Signals as events.

use anyhow::Result;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpgrp, getsid};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::threads::named;

/// Hands over every signal that asks ccc to end, to stop, or to go on. A hang-up that was ignored when
/// ccc started stays ignored: that is what `nohup` is for. An interrupt does not, since every shell
/// without job control starts its background commands so, and somebody may still want to end them.
pub fn listen(on_signal: impl Fn(i32) -> bool + Send + 'static) -> Result<()> {
    // Caught, so that a file over the limit (`ulimit -f`) is an error of that file and not the end;
    // not ignored, since the children would inherit that.
    const TOO_LONG: i32 = SIGXFSZ;
    let mut heeded = vec![SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT, TOO_LONG];
    if !is_ignored(SIGHUP) {
        heeded.push(SIGHUP);
    }
    let mut signals = Signals::new(heeded)?;
    named("signals", move || {
        for signal in &mut signals {
            if signal != TOO_LONG && !on_signal(signal) {
                return;
            }
        }
    })?;
    Ok(())
}

/// The window has another size. Until `on_resize` returns false.
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

/// Whether nothing happens when this signal comes.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: without a new action the call only fills in the present one, which is plain data.
    #[expect(
        unsafe_code,
        reason = "nix can only set an action, and what is asked for is the old one"
    )]
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
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

/// Neither to stop nor to go on.
pub fn asks_to_end(signal: i32) -> bool {
    !is_stop(signal) && !is_continue(signal)
}

pub fn is_continue(signal: i32) -> bool {
    signal == SIGCONT
}

/// In the group of the process that leads the terminal's session (the command of a new window, say) there
/// is no shell above that could continue ccc: it would be stopped for good.
pub fn can_be_continued() -> bool {
    getsid(None).is_ok_and(|session| session != getpgrp())
}

/// Stops ccc as Ctrl-Z would have, and with it all who are in its process group: behind `cargo run`,
/// `time` or `sh -c` the shell waits for the others as well. Returns when it is continued.
pub fn stop_group() {
    let everybody = Pid::from_raw(0);
    if let Err(error) = kill(everybody, Signal::SIGSTOP) {
        log::warn!("cannot suspend: {error}");
    }
}
