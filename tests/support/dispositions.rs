//! Signals as a shell at a terminal leaves them.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sys::signal::{SigHandler, Signal, signal};

/// A signal that is ignored stays ignored in what is started, and ccc respects that: under `nohup` a test
/// could not hang up on it.
pub fn with_default_signals(command: &mut Command) {
    let reset = || {
        for ignored in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM] {
            // SAFETY: this process has only one thread, and its default dispositions are no functions.
            unsafe { signal(ignored, SigHandler::SigDfl) }.map_err(io::Error::from)?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec it makes system calls and nothing else.
    unsafe { command.pre_exec(reset) };
}
