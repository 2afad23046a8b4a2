//! The text being typed: a cursor, killing and yanking, history, pastes. It knows how wide its box
//! is and nothing else of the screen.

mod keys;
mod layout;
mod paste;
#[cfg(test)]
mod tests;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::stream::strip_escapes;
use paste::Pastes;

#[derive(Debug, Default)]
pub struct Editor {
    /// A long paste is one character in here.
    text: String,
    /// In bytes, always between two clusters.
    cursor: usize,
    /// The column that moving up and down aims at.
    goal: Option<usize>,
    killed: String,
    pastes: Pastes,
    history: Vec<String>,
    browsing: Option<Browsing>,
    cells: usize,
    /// The first row of the text that is in view.
    top: usize,
}

#[derive(Debug)]
struct Browsing {
    at: usize,
    /// What was being typed before.
    draft: String,
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

    pub fn clear(&mut self) {
        self.replace(String::new());
        self.browsing = None;
    }

    /// Enter: the text, when it is one to send.
    pub fn enter(&mut self) -> Option<String> {
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
        Some(sent)
    }

    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = strip_escapes(&text);
        match self.pastes.keep(&text) {
            Some(mark) => self.put(mark.encode_utf8(&mut [0; 4])),
            None => self.insert(&text),
        }
    }

    pub fn insert(&mut self, text: &str) {
        let plain = |c: &char| (!c.is_control() || matches!(c, '\n' | '\t')) && !paste::is_mark(*c);
        let text: String = text.chars().filter(plain).collect();
        self.put(&text);
    }

    fn put(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
        self.edited();
    }

    fn edited(&mut self) {
        self.goal = None;
        // A combining mark may have found a new neighbour.
        let mut clusters = GraphemeCursor::new(self.cursor, self.text.len(), true);
        if !clusters.is_boundary(&self.text, 0).unwrap_or(true) {
            self.cursor = self.right_of(self.cursor);
        }
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
        self.remove(self.left_of(self.cursor), self.cursor);
    }

    pub fn delete(&mut self) {
        self.remove(self.cursor, self.right_of(self.cursor));
    }

    fn remove(&mut self, from: usize, to: usize) -> String {
        let removed = self.text.drain(from..to).collect();
        self.cursor = from;
        self.edited();
        removed
    }

    fn kill(&mut self, from: usize, to: usize) {
        if from < to {
            self.killed = self.remove(from, to);
        }
    }

    fn yank(&mut self) {
        let killed = std::mem::take(&mut self.killed);
        self.put(&killed);
        self.killed = killed;
    }

    fn older(&mut self) {
        let at = self.browsing.as_ref().map_or(self.history.len(), |browsing| browsing.at);
        if let Some(at) = at.checked_sub(1) {
            let text = self.history[at].clone();
            let current = std::mem::take(&mut self.text);
            self.browsing.get_or_insert(Browsing { at, draft: current }).at = at;
            self.replace(text);
        }
    }

    fn newer(&mut self) {
        let Some(mut browsing) = self.browsing.take() else { return };
        browsing.at += 1;
        if let Some(text) = self.history.get(browsing.at) {
            self.replace(text.clone());
            self.browsing = Some(browsing);
        } else {
            self.replace(browsing.draft);
        }
    }
}

fn is_word(cluster: &str) -> bool {
    cluster.chars().any(|c| c.is_alphanumeric() || c == '_' || paste::is_mark(c))
}

fn is_solid(cluster: &str) -> bool {
    !cluster.chars().all(char::is_whitespace)
}
