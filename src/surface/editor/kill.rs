//! What was cut out of the text, to be put back elsewhere.

use rustyline::line_buffer::{ChangeListener, DeleteListener, Direction, LineBuffer};

use super::{Act, Editor};

const KEPT: usize = 30;

#[derive(Debug, Default)]
pub struct Ring {
    /// The newest is the last.
    kept: Vec<String>,
    /// What is deleted now is kept,
    killing: bool,
    /// as a part of the newest.
    goes_on: bool,
    /// What was put back last, and where that stands in the text.
    yanked: Option<(usize, usize)>,
}

impl DeleteListener for Ring {
    fn delete(&mut self, _: usize, text: &str, direction: Direction) {
        if !self.killing {
            return;
        }
        match self.kept.last_mut().filter(|_| self.goes_on) {
            Some(last) if direction == Direction::Backward => last.insert_str(0, text),
            Some(last) => last.push_str(text),
            None => self.kept.push(text.to_owned()),
        }
        if self.kept.len() > KEPT {
            self.kept.remove(0);
        }
    }
}

// What is put in is no concern of the ring.
impl ChangeListener for Ring {
    fn insert_char(&mut self, _: usize, _: char) {}
    fn insert_str(&mut self, _: usize, _: &str) {}
    fn replace(&mut self, _: usize, _: &str, _: &str) {}
}

impl Editor {
    /// Kills one after the other are one piece, in the order of the text.
    pub(super) fn kill<T>(&mut self, cut: impl FnOnce(&mut LineBuffer, &mut Ring) -> T) {
        self.ring.goes_on = self.previous == Act::Kill;
        self.ring.killing = true;
        self.edit(Act::Kill, cut);
        self.ring.killing = false;
    }

    pub(super) fn yank(&mut self) {
        if let Some(at) = self.ring.kept.len().checked_sub(1) {
            self.previous = Act::Other;
            self.put_back(at, self.text.pos());
        }
    }

    /// Directly after a yank: the kill before that one instead.
    pub(super) fn yank_older(&mut self) {
        if let Some((at, from)) = self.ring.yanked.filter(|_| self.previous == Act::Yank) {
            self.put_back(at.checked_sub(1).unwrap_or(self.ring.kept.len() - 1), from);
        }
    }

    fn put_back(&mut self, at: usize, from: usize) {
        let text = self.ring.kept[at].clone();
        self.splice(Act::Yank, from..self.text.pos(), &text);
        self.ring.yanked = Some((at, from));
        // Also when it is the same text once more.
        self.last = Act::Yank;
    }
}
