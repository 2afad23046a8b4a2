//! Undo and redo: the text as it was before each step. Pastes are one character in it, so that is
//! cheap.

use super::{Act, Editor};

const STEPS: usize = 200;

#[derive(Debug, Default)]
pub struct Undo {
    done: Vec<Was>,
    undone: Vec<Was>,
}

#[derive(Debug)]
pub struct Was {
    text: String,
    cursor: usize,
}

impl Undo {
    pub fn steps(&self) -> usize {
        self.done.len()
    }

    /// All that was done since there were so many steps is one.
    pub fn merge_from(&mut self, steps: usize) {
        self.done.truncate(steps + 1);
    }
}

impl Editor {
    /// After something was done to the text. What goes on is one step: typing, erasing, looking for
    /// the kill to put back.
    pub(super) fn remember(&mut self, act: Act, was: Was) {
        if was.text == *self.text {
            return;
        }
        self.last = act;
        self.undo.undone.clear();
        if self.previous == act && matches!(act, Act::Type | Act::Erase | Act::Yank) {
            return;
        }
        self.undo.done.push(was);
        if self.undo.done.len() > STEPS {
            self.undo.done.remove(0);
        }
    }

    pub(super) fn undo(&mut self) {
        if let Some(step) = self.undo.done.pop() {
            let was = self.go_to(step);
            self.undo.undone.push(was);
        }
    }

    pub(super) fn redo(&mut self) {
        if let Some(step) = self.undo.undone.pop() {
            let was = self.go_to(step);
            self.undo.done.push(was);
        }
    }

    fn go_to(&mut self, step: Was) -> Was {
        let was = self.was();
        self.show(&step.text, step.cursor);
        self.browsing = None;
        was
    }

    pub(super) fn was(&self) -> Was {
        Was { text: self.text.to_string(), cursor: self.text.pos() }
    }
}
