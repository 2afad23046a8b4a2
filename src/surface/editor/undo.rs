//! Undo and redo: the text before each step. Pastes are one character each, so that is cheap.

use super::{EditKind, Editor};

const STEPS: usize = 200;

#[derive(Debug, Default)]
pub struct Undo {
    done: Vec<SavedText>,
    undone: Vec<SavedText>,
}

#[derive(Debug)]
pub struct SavedText {
    text: String,
    cursor: usize,
}

impl Undo {
    pub fn steps(&self) -> usize {
        self.done.len()
    }

    /// Merges all steps since there were `steps` of them into one.
    pub fn merge_from(&mut self, steps: usize) {
        self.done.truncate(steps + 1);
    }
}

impl Editor {
    /// Records a change of the text. Consecutive typing, erasing and yanking are one step each.
    pub(super) fn remember(&mut self, kind: EditKind, before: SavedText) {
        if before.text == *self.text {
            return;
        }
        self.last = kind;
        self.undo.undone.clear();
        if self.previous == kind
            && matches!(kind, EditKind::Type | EditKind::Erase | EditKind::Yank)
        {
            return;
        }
        self.undo.done.push(before);
        if self.undo.done.len() > STEPS {
            self.undo.done.remove(0);
        }
    }

    pub(super) fn undo(&mut self) {
        if let Some(step) = self.undo.done.pop() {
            let before = self.go_to(step);
            self.undo.undone.push(before);
        }
    }

    pub(super) fn redo(&mut self) {
        if let Some(step) = self.undo.undone.pop() {
            let before = self.go_to(step);
            self.undo.done.push(before);
        }
    }

    fn go_to(&mut self, step: SavedText) -> SavedText {
        let before = self.saved();
        self.show(&step.text, step.cursor);
        self.browsing = None;
        before
    }

    pub(super) fn saved(&self) -> SavedText {
        SavedText { text: self.text.to_string(), cursor: self.text.pos() }
    }
}
