//! A PTY that passes bytes on unchanged.

use std::os::fd::AsFd;

use nix::sys::termios::{LocalFlags, SetArg, cfmakeraw, tcgetattr, tcsetattr};

/// A fresh PTY echoes its input and cuts lines at 4,095 bytes (1,024 on macOS). Signals stay on.
pub fn make_raw(terminal: impl AsFd) {
    if let Ok(mut modes) = tcgetattr(&terminal) {
        cfmakeraw(&mut modes);
        modes.local_flags.insert(LocalFlags::ISIG);
        if let Err(error) = tcsetattr(&terminal, SetArg::TCSANOW, &modes) {
            log::warn!("the PTY stays in canonical mode: {error}");
        }
    }
}
