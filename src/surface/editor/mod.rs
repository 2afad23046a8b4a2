//! The text being typed: rustyline's line buffer, and around it killing and yanking, undo, history,
//! pastes. It knows how wide its box is and nothing else of the screen.

mod history;
mod keys;
mod kill;
mod layout;
mod paste;
mod search;
#[cfg(test)]
mod tests;
mod text;
mod undo;
mod vim;

use std::ops::Range;

use rustyline::line_buffer::LineBuffer;

use crate::client::stream::strip_escapes;
use history::Browsing;
use kill::Ring;
use paste::Pastes;
use search::Search;
use undo::Undo;
use vim::Vim;

/// More text than this in one piece is a paste, wherever it comes from: every key goes through all
/// of the text.
const LARGE: usize = 64 << 10;

#[derive(Debug)]
pub struct Editor {
    /// A long paste is one character in here. The cursor is always between two clusters.
    text: LineBuffer,
    /// The column that moving up and down aims at.
    goal: Option<usize>,
    /// What the last key did, and the one before: typing is undone by words, kills add up.
    last: Act,
    previous: Act,
    ring: Ring,
    undo: Undo,
    pastes: Pastes,
    history: Vec<String>,
    browsing: Option<Browsing>,
    search: Option<Search>,
    /// The keys are vi's.
    vim: Option<Vim>,
    cells: usize,
    /// The first row of the text that is in view.
    top: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Act {
    #[default]
    Other,
    Type,
    Erase,
    Kill,
    Yank,
}

/// What of the text is to be seen, and where the cursor is in it.
#[derive(Debug, PartialEq, Eq)]
pub struct View {
    pub rows: Vec<String>,
    pub cursor: (usize, usize),
    /// The text's first row is the first one here.
    pub from_start: bool,
}

impl Default for Editor {
    fn default() -> Self {
        Self {
            // Its `replace` grows; `insert`, `yank` and `update` would stop at the capacity.
            text: LineBuffer::with_capacity(0),
            goal: None,
            last: Act::Other,
            previous: Act::Other,
            ring: Ring::default(),
            undo: Undo::default(),
            pastes: Pastes::default(),
            history: Vec::new(),
            browsing: None,
            search: None,
            vim: None,
            cells: 0,
            top: 0,
        }
    }
}

impl Editor {
    pub fn set_cells(&mut self, cells: usize) {
        self.cells = cells.max(1);
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// All of it, with what the pastes stand for.
    pub fn text(&self) -> String {
        self.pastes.expand(&self.text)
    }

    pub fn before_cursor(&self) -> &str {
        &self.text[..self.text.pos()]
    }

    pub fn clear(&mut self) {
        self.set_text("");
    }

    /// Enter: the text, when it is one to send.
    pub fn enter(&mut self) -> Option<String> {
        self.begin();
        let cursor = self.text.pos();
        if self.text.is_cursor_at_end() && self.text.ends_with('\\') {
            self.splice(Act::Other, cursor - 1..cursor, "\n");
            return None;
        }
        if self.is_blank() {
            return None;
        }
        let sent = self.text();
        if self.history.last().is_none_or(|last| *last != *self.text) {
            self.history.push(self.text.to_string());
        }
        self.clear();
        self.undo = Undo::default();
        self.vim_begins();
        Some(sent)
    }

    pub fn paste(&mut self, text: &str) {
        self.accept_search();
        self.begin();
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = strip_escapes(&text);
        let text = self.pastes.keep(&text).map_or_else(|| plain(&text), String::from);
        self.put(Act::Other, &text);
    }

    /// Another text instead, as one step that can be undone.
    pub fn set_text(&mut self, text: &str) {
        self.begin();
        let text = self.folded(text);
        self.replace(&text);
        self.browsing = None;
        self.search = None;
    }

    /// In front of what is typed.
    pub fn put_in_front(&mut self, text: &str) {
        self.accept_search();
        self.begin();
        let mut text = self.folded(text);
        if !self.is_blank() {
            text.push('\n');
        }
        self.replace(&(text + &self.text));
    }

    /// `text` instead of what stands between `from` and the cursor.
    pub fn complete(&mut self, from: usize, text: &str) {
        self.begin();
        self.splice(Act::Other, from..self.text.pos(), &plain(text));
    }

    fn insert(&mut self, text: &str) {
        let text = plain(text);
        let solid = |c: char| !c.is_whitespace();
        if text.contains(solid) && !self.before_cursor().ends_with(solid) {
            // With every word a new step begins.
            self.previous = Act::Other;
        }
        self.put(Act::Type, &text);
    }

    fn folded(&mut self, text: &str) -> String {
        let text = strip_escapes(text);
        let mark = if text.len() > LARGE { self.pastes.keep(&text) } else { None };
        mark.map_or_else(|| plain(&text), String::from)
    }

    /// A new key: what the last one did is the one before.
    fn begin(&mut self) {
        self.previous = std::mem::take(&mut self.last);
    }

    fn put(&mut self, act: Act, text: &str) {
        self.splice(act, self.text.pos()..self.text.pos(), text);
    }

    fn replace(&mut self, text: &str) {
        self.splice(Act::Other, 0..self.text.len(), text);
    }

    fn splice(&mut self, act: Act, range: Range<usize>, text: &str) {
        self.edit(act, |line, ring| line.replace(range, text, ring));
    }

    /// Everything that can be undone goes through here.
    fn edit<T>(&mut self, act: Act, change: impl FnOnce(&mut LineBuffer, &mut Ring) -> T) {
        let was = self.was();
        change(&mut self.text, &mut self.ring);
        self.remember(act, was);
        // A combining mark may have found a new neighbour.
        text::settle(&mut self.text);
        self.goal = None;
    }

    fn go(&mut self, step: impl FnOnce(&mut LineBuffer) -> bool) {
        step(&mut self.text);
        self.goal = None;
    }

    /// Not a step of its own.
    fn show(&mut self, text: &str, cursor: usize) {
        self.text.replace(0..self.text.len(), text, &mut self.ring);
        self.text.set_pos(cursor);
        text::settle(&mut self.text);
        self.goal = None;
        self.top = 0;
    }
}

/// What may stand in the text: no control characters, and none of those that stand for pastes.
fn plain(text: &str) -> String {
    let keep = |c: &char| (!c.is_control() || matches!(c, '\n' | '\t')) && !paste::is_mark(*c);
    text.chars().filter(keep).collect()
}
