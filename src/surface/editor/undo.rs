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
struct Was {
    text: String,
    cursor: usize,
}

impl Editor {
    /// Before the text changes. Typing and erasing that goes on is one step.
    pub(super) fn checkpoint(&mut self, act: Act) {
        self.last = act;
        self.undo.undone.clear();
        if self.previous == act && matches!(act, Act::Type | Act::Erase) {
            return;
        }
        let was = self.was();
        self.undo.done.push(was);
        if self.undo.done.len() > STEPS {
            self.undo.done.remove(0);
        }
        // What the same key does after this belongs to it.
        self.previous = act;
    }

    pub(super) fn undo(&mut self) {
        while let Some(step) = self.undo.done.pop() {
            // A step that changed nothing in the end is none.
            if step.text != self.text {
                let was = self.was();
                self.undo.undone.push(was);
                self.go_back_to(step);
                return;
            }
        }
    }

    pub(super) fn redo(&mut self) {
        if let Some(step) = self.undo.undone.pop() {
            let was = self.was();
            self.undo.done.push(was);
            self.go_back_to(step);
        }
    }

    fn was(&self) -> Was {
        Was { text: self.text.clone(), cursor: self.cursor }
    }

    fn go_back_to(&mut self, step: Was) {
        self.replace(step.text);
        self.cursor = step.cursor;
        self.browsing = None;
    }
}
