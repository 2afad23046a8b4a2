//! What was cut out of the text, to be put back elsewhere.

use super::{Act, Editor};

const KEPT: usize = 30;

#[derive(Debug, Default)]
pub struct Ring {
    /// The newest is the last.
    kept: Vec<String>,
    /// What was put back last, and where that stands in the text.
    yanked: Option<(usize, usize)>,
}

impl Editor {
    /// Kills one after the other are one piece, in the order of the text.
    pub(super) fn kill(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let backward = to == self.cursor;
        let goes_on = self.previous == Act::Kill;
        self.checkpoint(Act::Kill);
        let killed = self.remove(from, to);
        match self.ring.kept.last_mut().filter(|_| goes_on) {
            Some(last) if backward => last.insert_str(0, &killed),
            Some(last) => last.push_str(&killed),
            None => self.ring.kept.push(killed),
        }
        if self.ring.kept.len() > KEPT {
            self.ring.kept.remove(0);
        }
    }

    pub(super) fn yank(&mut self) {
        if let Some(at) = self.ring.kept.len().checked_sub(1) {
            self.checkpoint(Act::Yank);
            self.put_back(at);
        }
    }

    /// Directly after a yank: the kill before that one instead.
    pub(super) fn yank_older(&mut self) {
        let Some((at, from)) = self.ring.yanked.filter(|_| self.previous == Act::Yank) else {
            return;
        };
        self.last = Act::Yank;
        self.text.drain(from..self.cursor);
        self.cursor = from;
        self.put_back(at.checked_sub(1).unwrap_or(self.ring.kept.len() - 1));
    }

    fn put_back(&mut self, at: usize) {
        let from = self.cursor;
        let text = self.ring.kept[at].clone();
        self.put(&text);
        self.ring.yanked = Some((at, from));
    }
}
