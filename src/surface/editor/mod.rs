//! The text being typed: a cursor, killing and yanking, undo, history, pastes. It knows how wide its
//! box is and nothing else of the screen.

mod history;
mod keys;
mod kill;
mod layout;
mod paste;
mod search;
#[cfg(test)]
mod tests;
mod undo;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::stream::strip_escapes;
use history::Browsing;
use kill::Ring;
use paste::Pastes;
use search::Search;
use undo::Undo;

/// More text than this in one piece is a paste, wherever it comes from: every key goes through all
/// of the text.
const LARGE: usize = 64 << 10;

#[derive(Debug, Default)]
pub struct Editor {
    /// A long paste is one character in here.
    text: String,
    /// In bytes, always between two clusters.
    cursor: usize,
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
        &self.text[..self.cursor]
    }

    pub fn clear(&mut self) {
        self.begin();
        self.checkpoint(Act::Other);
        self.replace(String::new());
        self.browsing = None;
        self.search = None;
    }

    /// Enter: the text, when it is one to send.
    pub fn enter(&mut self) -> Option<String> {
        self.begin();
        if self.cursor == self.text.len() && self.text.ends_with('\\') {
            self.backspace();
            self.insert("\n");
            return None;
        }
        if self.is_blank() {
            return None;
        }
        let text = std::mem::take(&mut self.text);
        let sent = self.pastes.expand(&text);
        if self.history.last() != Some(&text) {
            self.history.push(text);
        }
        self.clear();
        self.undo = Undo::default();
        Some(sent)
    }

    pub fn paste(&mut self, text: &str) {
        self.accept_search();
        self.begin();
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = strip_escapes(&text);
        self.checkpoint(Act::Other);
        match self.pastes.keep(&text) {
            Some(mark) => self.put(mark.encode_utf8(&mut [0; 4])),
            None => self.put(&plain(&text)),
        }
    }

    /// Another text instead, as one step that can be undone.
    pub fn set_text(&mut self, text: &str) {
        self.clear();
        let text = self.folded(text);
        self.put(&text);
    }

    /// In front of what is typed.
    pub fn put_in_front(&mut self, text: &str) {
        self.accept_search();
        self.begin();
        self.checkpoint(Act::Other);
        let mut text = self.folded(text);
        if !self.is_blank() {
            text.push('\n');
        }
        self.cursor = 0;
        self.put(&text);
        self.move_to(self.text.len());
    }

    /// `text` instead of what stands between `from` and the cursor.
    pub fn complete(&mut self, from: usize, text: &str) {
        self.begin();
        self.checkpoint(Act::Other);
        self.text.drain(from..self.cursor);
        self.cursor = from;
        self.put(&plain(text));
    }

    fn insert(&mut self, text: &str) {
        let text = plain(text);
        let starts_word = is_solid(&text) && !self.text[..self.cursor].ends_with(is_solid_char);
        if starts_word {
            self.previous = Act::Other;
        }
        self.checkpoint(Act::Type);
        self.put(&text);
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

    fn put(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
        self.edited();
    }

    fn edited(&mut self) {
        self.goal = None;
        // A combining mark may have found a new neighbour.
        self.cursor = self.boundary(self.cursor);
    }

    /// The place itself, or the end of the cluster that it is inside of.
    fn boundary(&self, at: usize) -> usize {
        let mut clusters = GraphemeCursor::new(at, self.text.len(), true);
        if clusters.is_boundary(&self.text, 0).unwrap_or(true) { at } else { self.right_of(at) }
    }

    fn replace(&mut self, text: String) {
        self.text = text;
        self.cursor = self.text.len();
        self.goal = None;
        self.top = 0;
    }

    fn move_to(&mut self, cursor: usize) {
        self.cursor = cursor;
        self.goal = None;
    }

    fn left_of(&self, at: usize) -> usize {
        let mut clusters = GraphemeCursor::new(at, self.text.len(), true);
        clusters.prev_boundary(&self.text, 0).ok().flatten().unwrap_or(0)
    }

    fn right_of(&self, at: usize) -> usize {
        let mut clusters = GraphemeCursor::new(at, self.text.len(), true);
        clusters.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len())
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn word_left(&self, is_word: fn(&str) -> bool) -> usize {
        let mut at = self.cursor;
        let mut inside = false;
        for cluster in self.text[..self.cursor].graphemes(true).rev() {
            if inside && !is_word(cluster) {
                break;
            }
            inside |= is_word(cluster);
            at -= cluster.len();
        }
        at
    }

    fn word_right(&self) -> usize {
        let mut at = self.cursor;
        let mut inside = false;
        for cluster in self.text[self.cursor..].graphemes(true) {
            if inside && !is_word(cluster) {
                break;
            }
            inside |= is_word(cluster);
            at += cluster.len();
        }
        at
    }

    fn backspace(&mut self) {
        self.erase(self.left_of(self.cursor), self.cursor);
    }

    fn delete(&mut self) {
        self.erase(self.cursor, self.right_of(self.cursor));
    }

    fn erase(&mut self, from: usize, to: usize) {
        if from < to {
            self.checkpoint(Act::Erase);
            self.remove(from, to);
        }
    }

    fn remove(&mut self, from: usize, to: usize) -> String {
        let removed = self.text.drain(from..to).collect();
        self.cursor = from;
        self.edited();
        removed
    }

    /// The two characters around the cursor change places; at the end of a line, the last two.
    fn transpose(&mut self) {
        let second =
            if self.cursor == self.line_end() { self.left_of(self.cursor) } else { self.cursor };
        let first = self.left_of(second);
        if first >= second || first < self.line_start() {
            return;
        }
        self.checkpoint(Act::Other);
        let end = self.right_of(second);
        let moved: String = self.text.drain(first..second).collect();
        self.text.insert_str(end - moved.len(), &moved);
        self.cursor = end;
        self.edited();
    }
}

/// What may stand in the text: no control characters, and none of those that stand for pastes.
fn plain(text: &str) -> String {
    let keep = |c: &char| (!c.is_control() || matches!(c, '\n' | '\t')) && !paste::is_mark(*c);
    text.chars().filter(keep).collect()
}

fn is_word(cluster: &str) -> bool {
    cluster.chars().any(|c| c.is_alphanumeric() || c == '_' || paste::is_mark(c))
}

fn is_solid(cluster: &str) -> bool {
    cluster.chars().any(is_solid_char)
}

fn is_solid_char(c: char) -> bool {
    !c.is_whitespace()
}
