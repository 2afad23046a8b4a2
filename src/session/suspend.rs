//! Ctrl-Z, and stops without warning: the shell has the terminal in the meantime.

use super::Session;
use crate::process::signals;

const CANNOT_SUSPEND: &str = "Cannot suspend: ccc was not started from a shell in this window, so nothing \
    could resume it.";

impl Session<'_> {
    pub(super) fn suspend(&mut self) {
        if !signals::can_be_continued() {
            return self.surface.told(Err(CANNOT_SUSPEND.to_owned()));
        }
        self.surface.suspend();
        self.suspended = true;
        // Reading the clock here keeps the time spent stopped out of it.
        self.now();
        signals::stop_group();
        if self.editing.is_none() {
            self.surface.resume();
        }
    }

    /// After a stop without warning (SIGSTOP), the shell has changed the terminal's modes.
    pub(super) fn continued(&mut self) {
        if !std::mem::take(&mut self.suspended) && self.editing.is_none() {
            self.surface.suspend();
            self.surface.resume();
        }
    }
}
