//! The person's terminal is gone: the window was closed, the output cannot be written, or keys
//! cannot be read.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;

use nix::libc;
use signal_hook::consts::SIGHUP;

use super::{Incoming, Session};
use crate::console;
use crate::event::{Event, Outcome};
use crate::process::signals;

impl Session<'_> {
    /// Ends the session through the machine: otherwise it would still respond to the children, and
    /// restart a dying agent.
    pub(super) fn lost(&mut self, error: &io::Error, outcome: Outcome) {
        let signal = self.waiting_signal().or_else(|| is_hang_up(error).then_some(SIGHUP));
        if let Some(signal) = signal {
            self.step(Event::Signal(signal));
        } else {
            self.step(Event::Leave);
            self.outcome = Some(outcome);
        }
    }

    /// A signal to end that is queued but not yet handled.
    fn waiting_signal(&mut self) -> Option<i32> {
        while let Ok(control) = self.control.try_recv() {
            match control {
                Incoming::Signal(signal) if signals::asks_to_end(signal) => return Some(signal),
                exited @ (Incoming::AgentExited(..)
                | Incoming::Screen(_)
                | Incoming::SupervisorExited(..)) => {
                    self.control(exited);
                }
                _ => {}
            }
        }
        None
    }
}

/// Whether the terminal is gone: its window was closed, and SIGHUP is on its way or was ignored.
fn is_hang_up(error: &io::Error) -> bool {
    let is_device =
        |out: OwnedFd| File::from(out).metadata().is_ok_and(|out| out.file_type().is_char_device());
    error.raw_os_error() == Some(libc::EIO)
        && console::stdout().as_fd().try_clone_to_owned().is_ok_and(is_device)
        && !signals::is_ignored(SIGHUP)
}
