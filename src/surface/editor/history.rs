//! Earlier messages: up and down recall them back, and the draft being typed is not lost.

use super::{Editor, plain};
use crate::client::stream::strip_escapes;

#[derive(Debug)]
pub struct Browsing {
    pub at: usize,
    /// The draft before browsing began.
    pub draft: String,
}

impl Editor {
    /// The messages of earlier sessions, the newest last.
    pub fn set_history(&mut self, history: Vec<String>) {
        self.history = history.iter().map(|text| plain(&strip_escapes(text))).collect();
        self.history.retain(|text| !text.trim().is_empty());
        self.browsing = None;
    }

    pub(super) fn older(&mut self) {
        let at = self.browsing.as_ref().map_or(self.history.len(), |browsing| browsing.at);
        if let Some(at) = at.checked_sub(1) {
            self.recall(at);
        }
    }

    /// Replaces the text with an earlier message.
    pub(super) fn recall(&mut self, at: usize) {
        let draft = self.text.to_string();
        self.browsing.get_or_insert(Browsing { at, draft }).at = at;
        self.replace(&self.history[at].clone());
    }

    pub(super) fn newer(&mut self) {
        let Some(mut browsing) = self.browsing.take() else { return };
        browsing.at += 1;
        if let Some(text) = self.history.get(browsing.at) {
            self.replace(&text.clone());
            self.browsing = Some(browsing);
        } else {
            self.replace(&browsing.draft);
        }
    }
}
