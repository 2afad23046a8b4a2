//! The kill ring: what was cut from the text, to be put back elsewhere.

use rustyline::line_buffer::{ChangeListener, DeleteListener, Direction, LineBuffer};

use super::{EditKind, Editor};

const KEPT: usize = 30;

#[derive(Debug, Default)]
pub struct Ring {
    /// The newest comes last.
    kept: Vec<String>,
    /// Deleted text is kept
    killing: bool,
    /// and appended to the newest kill.
    goes_on: bool,
    /// The kill that was put back last, and where it begins in the text.
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

// Insertions do not concern the ring.
impl ChangeListener for Ring {
    fn insert_char(&mut self, _: usize, _: char) {}
    fn insert_str(&mut self, _: usize, _: &str) {}
    fn replace(&mut self, _: usize, _: &str, _: &str) {}
}

impl Editor {
    /// Consecutive kills form one piece, in the order of the text.
    pub(super) fn kill<T>(&mut self, cut: impl FnOnce(&mut LineBuffer, &mut Ring) -> T) {
        self.ring.goes_on = self.previous == EditKind::Kill;
        self.ring.killing = true;
        self.edit(EditKind::Kill, cut);
        self.ring.killing = false;
    }

    pub(super) fn yank(&mut self) {
        if let Some(at) = self.ring.kept.len().checked_sub(1) {
            self.previous = EditKind::Other;
            self.put_back(at, self.text.pos());
        }
    }

    /// Directly after a yank: replaces it with the kill before.
    pub(super) fn yank_older(&mut self) {
        if let Some((at, from)) = self.ring.yanked.filter(|_| self.previous == EditKind::Yank) {
            self.put_back(at.checked_sub(1).unwrap_or(self.ring.kept.len() - 1), from);
        }
    }

    fn put_back(&mut self, at: usize, from: usize) {
        let text = self.ring.kept[at].clone();
        self.splice(EditKind::Yank, from..self.text.pos(), &text);
        self.ring.yanked = Some((at, from));
        // Set even if the text is unchanged.
        self.last = EditKind::Yank;
    }
}
