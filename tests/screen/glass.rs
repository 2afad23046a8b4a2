//! What the terminal shows. What ccc sends between the two marks of a synchronized update is one
//! picture; nothing in between is looked at.
//!
//! The terminal is vt100's, which never wraps anew what stands on it; for resizes there is avt's as
//! well, which does, as most terminals do today.

use std::io::Read;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use vt100::Screen;

use crate::patience::PATIENCE;
use crate::picture::{self, Picture};

const END_OF_PICTURE: &[u8] = b"\x1b[?2026l";

pub struct Glass {
    state: Mutex<SeenState>,
    pub changed: Condvar,
}

pub type Watch = Box<dyn FnMut(&Picture) -> Option<String> + Send>;

pub struct SeenState {
    pub parser: vt100::Parser<Extra>,
    reflowing: Option<Reflowing>,
    /// The last whole picture.
    pub last: Picture,
    pub pictures: usize,
    pub watch: Option<Watch>,
    pub complaints: Vec<String>,
    pub ended: bool,
}

/// What the emulator itself does not keep.
#[derive(Default)]
pub struct Extra {
    /// A picture is being sent.
    pub held: bool,
    pub no_wrap: bool,
    /// Titles kept, minus titles given back.
    pub titles: i32,
}

impl vt100::Callbacks for Extra {
    fn unhandled_csi(
        &mut self,
        _: &mut Screen,
        first: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        let on = last == 'h';
        match (first, last, params) {
            (Some(b'?'), 'h' | 'l', [[7]]) => self.no_wrap = !on,
            (Some(b'?'), 'h' | 'l', [[2026]]) => self.held = on,
            (None, 't', [[22], ..]) => self.titles += 1,
            (None, 't', [[23], ..]) => self.titles -= 1,
            _ => {}
        }
    }
}

impl Glass {
    pub fn new(columns: u16, rows: u16, reflows: bool) -> Self {
        let reflowing = reflows.then(|| Reflowing::new(columns, rows));
        let (rows, columns) = (picture::non_zero(rows), picture::non_zero(columns));
        let parser = vt100::Parser::new_with_callbacks(rows, columns, 5000, Extra::default());
        let last = picture::of(parser.screen());
        let state = SeenState {
            parser,
            reflowing,
            last,
            pictures: 0,
            watch: None,
            complaints: Vec::new(),
            ended: false,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub fn state(&self) -> MutexGuard<'_, SeenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the emulator has when no picture is half drawn.
    pub fn whole(&self) -> MutexGuard<'_, SeenState> {
        let half = |state: &mut SeenState| state.parser.callbacks().held && !state.ended;
        let whole = self.changed.wait_timeout_while(self.state(), PATIENCE, half);
        whole.unwrap_or_else(PoisonError::into_inner).0
    }

    /// The scrollback and the screen below it.
    pub fn history(&self) -> Vec<String> {
        let state = self.whole();
        match &state.reflowing {
            // Joined where the terminal has wrapped them.
            Some(reflowing) => reflowing.terminal.screen().text(),
            None => picture::history(&mut state.parser.screen().clone()),
        }
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let mut state = self.state();
        if let Some(reflowing) = &mut state.reflowing {
            reflowing.terminal.resize(columns.into(), rows.into());
        }
        let (rows, columns) = (picture::non_zero(rows), picture::non_zero(columns));
        state.parser.set_size(rows, columns);
    }

    fn takes(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let mut state = self.state();
        state.parser.process(bytes);
        if let Some(reflowing) = &mut state.reflowing {
            reflowing.takes(bytes);
        }
        if state.parser.callbacks().held {
            return;
        }
        state.last = match &state.reflowing {
            Some(reflowing) => picture::reflowed(&reflowing.terminal),
            None => picture::of(state.parser.screen()),
        };
        state.pictures += 1;
        let SeenState { last, watch, complaints, .. } = &mut *state;
        complaints.extend(watch.as_mut().and_then(|watch| watch(last)));
        drop(state);
        self.changed.notify_all();
    }
}

struct Reflowing {
    terminal: avt::Terminal,
    /// The beginning of a character.
    rest: Vec<u8>,
}

impl Reflowing {
    fn new(columns: u16, rows: u16) -> Self {
        let terminal = avt::Terminal::with_scrollback(columns.into(), rows.into(), Some(5000));
        Self { terminal: terminal.expect("a size"), rest: Vec::new() }
    }

    fn takes(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let rest = self.rest.split_off(whole);
        let text = String::from_utf8(std::mem::replace(&mut self.rest, rest)).expect("checked");
        self.terminal.feed(text.as_str());
    }
}

pub fn read(mut from: impl Read, glass: &Glass) {
    let mut buffer = [0; 16384];
    let mut rest = Vec::new();
    loop {
        match from.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // EIO is how a PTY says that nobody is on the other side any more.
            Ok(0) | Err(_) => break,
            Ok(size) => {
                rest.extend_from_slice(&buffer[..size]);
                while let Some(at) = memchr::memmem::find(&rest, END_OF_PICTURE) {
                    let next = rest.split_off(at + END_OF_PICTURE.len());
                    glass.takes(&rest);
                    rest = next;
                }
                // The mark may be cut in two; a part of it waits for the rest.
                if !(1..END_OF_PICTURE.len()).any(|some| rest.ends_with(&END_OF_PICTURE[..some])) {
                    glass.takes(&std::mem::take(&mut rest));
                }
            }
        }
    }
    glass.takes(&rest);
    glass.state().ended = true;
    glass.changed.notify_all();
}
