//! The person's terminal while a client draws on it through ccc. Every byte passes, and the
//! terminal is restored in the end, whatever happens.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Mutex, PoisonError};

use nix::libc;
use nix::pty::Winsize;
use nix::sys::termios::{
    LocalFlags, OutputFlags, SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr,
};

use crate::console;

/// Switches off what a client that could not clean up leaves on: synchronised output, the mouse,
/// focus reports, bracketed paste, enhanced keys, the alternate screen, a hidden cursor, colours.
const TIDY: &[u8] =
    b"\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\
    \x1b[<u\x1b[>4m\x1b[?1l\x1b>\x1b[?1049l\x1b[?7h\x1b[?25h\x1b[0m";

/// The modes to restore after a panic. There is only one terminal.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

#[derive(Debug)]
pub struct PersonsTerminal {
    device: File,
    before: Termios,
}

impl PersonsTerminal {
    /// Standard input, if that is a terminal.
    pub fn open() -> io::Result<Self> {
        let device = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let before = tcgetattr(&device)?;
        Ok(Self { device, before })
    }

    pub fn device(&self) -> &File {
        &self.device
    }

    /// The modes that the terminal had when ccc started.
    pub fn modes(&self) -> &Termios {
        &self.before
    }

    /// Puts the terminal into raw mode, so that every key and byte passes unchanged.
    pub fn take(&self) -> io::Result<()> {
        let mut raw = self.before.clone();
        cfmakeraw(&mut raw);
        *before() = Some(self.before.clone());
        // Does not flush the input: what was typed before goes to the client.
        Ok(tcsetattr(&self.device, SetArg::TCSADRAIN, &raw)?)
    }

    pub fn give_back(&self) {
        if before().take().is_some() {
            set_modes(&self.device, &self.before);
        }
    }

    /// For a client that could not clean up after itself. Also erases what it drew below the cursor,
    /// because the shell would write into the middle of it.
    pub fn tidy(&self) {
        tidy(&self.device, &[TIDY, b"\r\n\x1b[J"].concat());
    }

    pub fn size(&self) -> Option<Winsize> {
        size(&self.device)
    }
}

/// Restores an abandoned terminal. A shell may already be using it to edit a line; it then has some
/// modes on that are off while ccc uses the terminal, and its modes must not be changed.
pub fn reset(device: &File, modes: &Termios) {
    tidy(device, TIDY);
    let is_abandoned = tcgetattr(device).is_ok_and(|now| {
        !now.local_flags.contains(LocalFlags::ISIG)
            && !now.output_flags.contains(OutputFlags::OPOST)
    });
    if is_abandoned {
        set_modes(device, modes);
    }
}

fn tidy(mut device: &File, how: &[u8]) {
    if let Err(error) = device.write_all(how) {
        log::debug!("the terminal is gone: {error}");
    }
}

fn set_modes(device: &File, modes: &Termios) {
    if let Err(error) = tcsetattr(device, SetArg::TCSADRAIN, modes) {
        log::debug!("the terminal keeps its modes: {error}");
    }
}

fn before() -> std::sync::MutexGuard<'static, Option<Termios>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Columns, rows and pixels.
pub fn size(device: &impl AsRawFd) -> Option<Winsize> {
    let mut size = Winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the call fills in a valid struct of plain numbers.
    #[expect(unsafe_code, reason = "nix has no function for it")]
    let result = unsafe { libc::ioctl(device.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    (result == 0 && size.ws_col > 0 && size.ws_row > 0).then_some(size)
}

pub fn set_size(device: &impl AsRawFd, size: &Winsize) {
    // SAFETY: the call reads a valid struct of plain numbers.
    #[expect(unsafe_code, reason = "nix has no function for it")]
    let result = unsafe { libc::ioctl(device.as_raw_fd(), libc::TIOCSWINSZ, &raw const *size) };
    if result != 0 {
        log::debug!("the PTY keeps its size");
    }
}

/// From now on a panic in any thread first restores the terminal.
pub fn restore_on_panic() {
    let device = console::stdout().as_fd().try_clone_to_owned().map(File::from);
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if let (Some(modes), Ok(device)) = (before().take(), &device) {
            reset(device, &modes);
        }
        previous(info);
    }));
}
