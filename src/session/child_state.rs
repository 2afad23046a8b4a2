//! A child process as the session sees it: alive, exited, drained.

use std::collections::VecDeque;
use std::time::Duration;

use crate::event::{Gone, Now};
use crate::process::child::Group;

/// How long to wait for output after the exit: another process may hold the pipe open.
const DRAIN: Duration = Duration::from_secs(1);
/// How many of its last lines of text are kept to be shown.
const LAST_WORDS: usize = 6;

pub struct ChildState<T> {
    pub handle: T,
    /// Reaches the child even when its handle is gone.
    pub group: Group,
    pub output_ended: bool,
    pub drained_at: Option<Now>,
    exit: Option<Gone>,
    last_words: VecDeque<String>,
}

impl<T> ChildState<T> {
    pub fn new(handle: T, group: Group) -> Self {
        Self {
            handle,
            group,
            output_ended: false,
            drained_at: None,
            exit: None,
            last_words: VecDeque::new(),
        }
    }

    pub fn said(&mut self, text: String) {
        if self.last_words.len() == LAST_WORDS {
            self.last_words.pop_front();
        }
        self.last_words.push_back(text);
    }

    pub fn exited(&mut self, gone: Gone, now: Now) {
        self.exit = Some(gone);
        self.drained_at = Some(now + DRAIN);
    }

    pub fn has_exited(&self) -> bool {
        self.exit.is_some()
    }

    /// Set once the child has exited and everything it printed has been read.
    pub fn gone(&self, now: Now) -> Option<Gone> {
        let exit = self.exit.as_ref()?;
        let drained = self.output_ended || self.drained_at.is_some_and(|at| at <= now);
        let last_words = self.last_words.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
        drained.then(|| Gone { last_words, ..exit.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_gone_after_its_exit_and_its_last_output_or_a_deadline() {
        let second = Duration::from_secs(1);
        let group = Group::of(std::process::id());
        let mut child = ChildState::new((), group);
        child.output_ended = true;
        assert_eq!(child.gone(second), None);
        child.exited(Gone::default(), second);
        assert!(child.gone(second).is_some());

        let mut held_open = ChildState::new((), group);
        held_open.exited(Gone::default(), second);
        assert_eq!(held_open.gone(second), None);
        assert!(held_open.gone(second + DRAIN).is_some());
    }
}
