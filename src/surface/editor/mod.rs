//! The text being typed: rustyline's line buffer, with killing and yanking, undo, history and
//! pastes around it. It knows how wide its box is, and nothing else about the screen.

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

/// A larger text is kept as a paste, wherever it comes from, because every key processes the whole
/// text.
const LARGE: usize = 64 << 10;

#[derive(Debug)]
pub struct Editor {
    /// A long paste is one character here. The cursor is always between two grapheme clusters.
    text: LineBuffer,
    /// The column that moving up and down aims at.
    goal: Option<usize>,
    /// What the last key did, and the one before: typing is undone word by word, and kills
    /// accumulate.
    last: EditKind,
    previous: EditKind,
    ring: Ring,
    undo: Undo,
    pastes: Pastes,
    history: Vec<String>,
    browsing: Option<Browsing>,
    search: Option<Search>,
    /// Set if vi's keys are on.
    vim: Option<Vim>,
    cells: usize,
    /// The first visible row.
    top: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum EditKind {
    #[default]
    Other,
    Type,
    Erase,
    Kill,
    Yank,
}

/// The visible rows, and the cursor in them.
#[derive(Debug, PartialEq, Eq)]
pub struct View {
    pub rows: Vec<String>,
    pub cursor: (usize, usize),
    /// Whether the first row of the text is visible.
    pub from_start: bool,
}

impl Default for Editor {
    fn default() -> Self {
        Self {
            // `replace` grows the buffer; `insert`, `yank` and `update` would stop at its capacity.
            text: LineBuffer::with_capacity(0),
            goal: None,
            last: EditKind::Other,
            previous: EditKind::Other,
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

    /// The whole text, with the pastes expanded.
    pub fn text(&self) -> String {
        self.pastes.expand(&self.text)
    }

    pub fn before_cursor(&self) -> &str {
        &self.text[..self.text.pos()]
    }

    pub fn clear(&mut self) {
        self.set_text("");
    }

    /// Enter: returns the text if it is ready to be sent.
    pub fn enter(&mut self) -> Option<String> {
        self.begin();
        let cursor = self.text.pos();
        if self.text.is_cursor_at_end() && self.text.ends_with('\\') {
            self.splice(EditKind::Other, cursor - 1..cursor, "\n");
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
        self.put(EditKind::Other, &text);
    }

    /// Replaces the text, as one step that can be undone.
    pub fn set_text(&mut self, text: &str) {
        self.begin();
        let text = self.folded(text);
        self.replace(&text);
        self.browsing = None;
        self.search = None;
    }

    /// Inserts a text before what is typed.
    pub fn put_in_front(&mut self, text: &str) {
        self.accept_search();
        self.begin();
        let mut text = self.folded(text);
        if !self.is_blank() {
            text.push('\n');
        }
        self.replace(&(text + &self.text));
    }

    /// Replaces what is between `from` and the cursor.
    pub fn complete(&mut self, from: usize, text: &str) {
        self.begin();
        self.splice(EditKind::Other, from..self.text.pos(), &plain(text));
    }

    fn insert(&mut self, text: &str) {
        let text = plain(text);
        let solid = |c: char| !c.is_whitespace();
        if text.contains(solid) && !self.before_cursor().ends_with(solid) {
            // Every word begins a new undo step.
            self.previous = EditKind::Other;
        }
        self.put(EditKind::Type, &text);
    }

    fn folded(&mut self, text: &str) -> String {
        let text = strip_escapes(text);
        let mark = if text.len() > LARGE { self.pastes.keep(&text) } else { None };
        mark.map_or_else(|| plain(&text), String::from)
    }

    /// Begins a new key: the last one becomes the previous one.
    fn begin(&mut self) {
        self.previous = std::mem::take(&mut self.last);
    }

    fn put(&mut self, kind: EditKind, text: &str) {
        self.splice(kind, self.text.pos()..self.text.pos(), text);
    }

    fn replace(&mut self, text: &str) {
        self.splice(EditKind::Other, 0..self.text.len(), text);
    }

    fn splice(&mut self, kind: EditKind, range: Range<usize>, text: &str) {
        self.edit(kind, |line, ring| line.replace(range, text, ring));
    }

    /// Every change that can be undone goes through here.
    fn edit<T>(&mut self, kind: EditKind, change: impl FnOnce(&mut LineBuffer, &mut Ring) -> T) {
        let before = self.saved();
        change(&mut self.text, &mut self.ring);
        self.remember(kind, before);
        // A combining mark may have joined a new neighbour.
        text::move_to_boundary(&mut self.text);
        self.goal = None;
    }

    fn go(&mut self, step: impl FnOnce(&mut LineBuffer) -> bool) {
        step(&mut self.text);
        self.goal = None;
    }

    /// Shows another text without an undo step.
    fn show(&mut self, text: &str, cursor: usize) {
        self.text.replace(0..self.text.len(), text, &mut self.ring);
        self.text.set_pos(cursor);
        text::move_to_boundary(&mut self.text);
        self.goal = None;
        self.top = 0;
    }
}

/// The text without control characters and paste marks.
fn plain(text: &str) -> String {
    let keep = |c: &char| (!c.is_control() || matches!(c, '\n' | '\t')) && !paste::is_mark(*c);
    text.chars().filter(keep).collect()
}
