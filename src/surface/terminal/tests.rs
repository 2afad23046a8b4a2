use std::io::Write;
use std::num::NonZeroU16;

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::client::stream::{Permission, PermissionRequest};
use crate::event::{Asker, Event, Outcome};
use crate::surface::transcript::tests::LOOK;
use crate::surface::{Intent, Surface, sample};

mod live;
mod prompt;
mod questions;
mod storm;

/// A fake terminal whose screen can be examined; it does not rewrap.
pub struct FakeScreen {
    parser: vt100::Parser,
    raw: bool,
    writes: usize,
    written: Vec<u8>,
    /// How often something was erased from the first cell on, of which tmux keeps a copy.
    kept: usize,
}

fn non_zero(value: u16) -> NonZeroU16 {
    NonZeroU16::new(value).unwrap()
}

impl FakeScreen {
    fn new(columns: u16, rows: u16) -> Self {
        let parser = vt100::Parser::new(non_zero(rows), non_zero(columns), 1000);
        Self { parser, raw: false, writes: 0, written: Vec::new(), kept: 0 }
    }
}

impl Write for FakeScreen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        const ERASE: &[u8] = b"\x1b[J";
        let mut rest = bytes;
        while let Some(at) = memchr::memmem::find(rest, ERASE) {
            self.parser.process(&rest[..at]);
            let screen = self.parser.screen();
            if screen.cursor_position() == (0, 0) && !screen.contents().trim().is_empty() {
                self.kept += 1;
            }
            self.parser.process(ERASE);
            rest = &rest[at + ERASE.len()..];
        }
        self.parser.process(rest);
        self.writes += 1;
        self.written.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Screen for FakeScreen {
    fn size(&self) -> (u16, u16) {
        let (rows, columns) = self.parser.screen().size();
        (columns.get(), rows.get())
    }

    fn take(&mut self) -> io::Result<()> {
        self.raw = true;
        Ok(())
    }

    fn give_back(&mut self) -> bool {
        std::mem::take(&mut self.raw)
    }
}

/// A session at a terminal: keys in, screen out.
struct Bench {
    terminal: Terminal<FakeScreen>,
    status: Status,
    now: Now,
}

impl Bench {
    fn new(columns: u16, rows: u16) -> Self {
        let terminal = Terminal::new(FakeScreen::new(columns, rows), LOOK, false).unwrap();
        let mut bench = Self { terminal, status: sample::status(), now: Now::ZERO };
        bench.update();
        bench
    }

    fn phase(mut self, phase: Phase) -> Self {
        self.status.phase = phase;
        self.update();
        self
    }

    /// Updates after the next frame is due.
    fn update(&mut self) {
        self.now += FRAME_INTERVAL;
        self.terminal.update(&self.status, self.now).unwrap();
    }

    fn wait(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
        self.update();
    }

    fn input(&mut self, input: Input) -> Vec<Intent> {
        self.terminal.set_now(self.now);
        let intents = self.terminal.input(input);
        self.update();
        intents
    }

    fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Option<Intent> {
        let mut intents = self.input(Input::Key(KeyEvent::new(code, modifiers)));
        assert!(intents.len() <= 1);
        intents.pop()
    }

    fn key(&mut self, code: KeyCode) -> Option<Intent> {
        self.press(code, KeyModifiers::NONE)
    }

    fn control(&mut self, c: char) -> Option<Intent> {
        self.press(KeyCode::Char(c), KeyModifiers::CONTROL)
    }

    fn type_in(&mut self, text: &str) {
        for c in text.chars() {
            assert_eq!(self.key(KeyCode::Char(c)), None, "{c:?} in {text:?}");
        }
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.screen.parser.set_size(non_zero(rows), non_zero(columns));
        self.input(Input::Resize(columns, rows));
    }

    /// A resize by a terminal that rewraps its lines and moves the cursor with its text.
    fn reflow(&mut self, columns: u16) {
        let (row, column) = self.cursor();
        let mut parser = vt100::Parser::new(non_zero(60), non_zero(columns), 0);
        let mut cursor = (0, 0);
        for (at, text) in self.rows().iter().enumerate() {
            let here = if at == usize::from(row) { usize::from(column) } else { 0 };
            let before: String = text.chars().take(here).collect();
            parser.process(before.as_bytes());
            if here > 0 {
                cursor = parser.screen().cursor_position();
            }
            parser.process(&text.as_bytes()[before.len()..]);
            parser.process(b"\r\n");
        }
        parser.process(format!("\x1b[{};{}H", cursor.0 + 1, cursor.1 + 1).as_bytes());
        self.terminal.screen.parser = parser;
        self.input(Input::Resize(columns, 60));
    }

    fn say(&mut self, text: &str) {
        let text = serde_json::to_string(text).unwrap();
        let raw = format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":{text}}}]}}}}"#
        );
        self.terminal.agent(&sample::line(&raw));
        self.update();
    }

    /// The rows of the screen, without empty ones at its end.
    fn rows(&self) -> Vec<String> {
        let screen = self.terminal.screen.parser.screen();
        let mut rows: Vec<_> =
            screen.rows(0, u16::MAX).map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    fn last(&self) -> String {
        self.rows().pop().unwrap_or_default()
    }

    fn cursor(&self) -> (u16, u16) {
        self.terminal.screen.parser.screen().cursor_position()
    }
}

fn said(text: &str) -> Intent {
    Intent::Event(Event::Said(text.into()))
}
