//! Earlier messages: up and down bring them back, and what was being typed is not lost.

use super::{Editor, plain};
use crate::client::stream::strip_escapes;

#[derive(Debug)]
pub struct Browsing {
    pub at: usize,
    /// What was being typed before.
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
            self.bring(at);
        }
    }

    /// An earlier message becomes the text.
    pub(super) fn bring(&mut self, at: usize) {
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
