//! The real terminal: raw mode, its size, its bytes, and that it is restored even if the program
//! dies.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use super::super::outlet::Outlet;
use super::input::KeyReader;
use crate::console;

/// Bracketed paste on.
pub const TAKE: &str = "\x1b[?2004h";
/// Bracketed paste off, wrapping on, colours off, cursor visible, synchronized output off.
pub const GIVE_BACK: &str = "\x1b[?2004l\x1b[?7h\x1b[0m\x1b[?25h\x1b[?2026l";

/// What the panic hook needs to know. There is only one terminal.
static TAKEN: AtomicBool = AtomicBool::new(false);
static ABOVE: AtomicU16 = AtomicU16::new(0);

/// Where the terminal surface draws.
pub trait Screen: Write {
    /// Columns and rows.
    fn size(&self) -> (u16, u16);
    fn take(&mut self) -> io::Result<()>;
    /// Returns whether ccc still had the terminal.
    fn give_back(&mut self) -> bool;
    /// How many rows of the live area are above the cursor.
    fn set_above(&mut self, _rows: u16) {}
}

#[derive(Debug)]
pub struct RealScreen {
    out: Outlet,
    /// Reads keys only while ccc has the terminal.
    keys: KeyReader,
}

impl RealScreen {
    pub fn new(out: Outlet, keys: KeyReader) -> Self {
        Self { out, keys }
    }
}

impl Write for RealScreen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Screen for RealScreen {
    fn size(&self) -> (u16, u16) {
        crossterm::terminal::size().unwrap_or_default()
    }

    fn take(&mut self) -> io::Result<()> {
        crossterm::terminal::enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        self.keys.open();
        Ok(())
    }

    fn give_back(&mut self) -> bool {
        self.keys.close();
        let taken = TAKEN.swap(false, Ordering::SeqCst);
        if taken && let Err(error) = crossterm::terminal::disable_raw_mode() {
            log::error!("the terminal could not be restored: {error}");
        }
        taken
    }

    fn set_above(&mut self, rows: u16) {
        ABOVE.store(rows, Ordering::SeqCst);
    }
}

/// From now on a panic in any thread first restores the terminal, so that its message is readable.
pub fn restore_on_panic() {
    let out = console::stdout().as_fd().try_clone_to_owned().map(File::from);
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if TAKEN.swap(false, Ordering::SeqCst) {
            let _ = crossterm::terminal::disable_raw_mode();
            if let Ok(mut out) = out.as_ref() {
                let clear = cleared(ABOVE.load(Ordering::SeqCst));
                let _ = out.write_all(format!("{clear}{GIVE_BACK}").as_bytes());
            }
        }
        previous(info);
    }));
}

/// Moves to the top of the live area and erases everything below. The first row is erased
/// separately: tmux takes an erasure that begins in the first cell of the screen for a cleared
/// screen, and keeps a copy in its scrollback.
pub fn cleared(above: u16) -> String {
    let up = if above == 0 { String::new() } else { format!("\x1b[{above}A") };
    format!("\r{up}\x1b[K\x1b[C\x1b[J\x1b[D")
}
