//! Incremental search in the earlier messages.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Editor, plain};

#[derive(Debug)]
pub struct Search {
    query: String,
    /// The message shown; `None` before anything was found.
    at: Option<usize>,
    failed: bool,
    /// The draft before the search, and its cursor.
    draft: (String, usize),
}

impl Editor {
    /// The query, and whether nothing was found.
    pub fn searching(&self) -> Option<(&str, bool)> {
        self.search.as_ref().map(|search| (search.query.as_str(), search.failed))
    }

    pub fn start_search(&mut self) {
        let draft = (self.text.to_string(), self.text.pos());
        self.search = Some(Search { query: String::new(), at: None, failed: false, draft });
    }

    pub fn cancel_search(&mut self) {
        if let Some(search) = self.search.take() {
            self.show(&search.draft.0, search.draft.1);
        }
    }

    /// Makes the message found the text.
    pub fn accept_search(&mut self) {
        let Some(search) = self.search.take() else { return };
        let cursor = self.text.pos();
        self.show(&search.draft.0, search.draft.1);
        if let Some(at) = search.at {
            self.begin();
            self.recall(at);
            self.text.set_pos(cursor);
        }
    }

    /// Handles a key while searching. Returns false for a key that is not for the search: it ends
    /// the search, and still has to be handled.
    pub fn search_key(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers == KeyModifiers::CONTROL;
        let typed = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        let Some(search) = &mut self.search else { return false };
        match key.code {
            KeyCode::Char('r') if control => self.look_further(|at| at.checked_sub(1)),
            KeyCode::Char('s') if control => self.look_further(|at| Some(at + 1)),
            KeyCode::Char('g' | 'c') if control => self.cancel_search(),
            KeyCode::Esc => self.cancel_search(),
            KeyCode::Enter => self.accept_search(),
            KeyCode::Char(c) if typed => {
                search.query.push_str(&plain(c.encode_utf8(&mut [0; 4])));
                let from = search.at;
                self.look(from, |at| at.checked_sub(1));
            }
            KeyCode::Char('h') if control => self.shorten(),
            KeyCode::Backspace if key.modifiers.is_empty() => self.shorten(),
            _ => {
                self.accept_search();
                return false;
            }
        }
        true
    }

    fn shorten(&mut self) {
        if let Some(search) = &mut self.search {
            search.query.pop();
            self.look(None, |at| at.checked_sub(1));
        }
    }

    /// Finds the next message in that direction that differs from the one shown.
    fn look_further(&mut self, step: fn(usize) -> Option<usize>) {
        let Some(at) = self.search.as_ref().and_then(|search| search.at) else {
            return self.look(None, step);
        };
        let mut next = step(at);
        while let Some(text) = next.and_then(|next| self.history.get(next)) {
            if *text != self.history[at] {
                return self.look(next, step);
            }
            next = next.and_then(step);
        }
        if let Some(search) = &mut self.search {
            search.failed = true;
        }
    }

    /// Searches from `from`, or from the newest.
    fn look(&mut self, from: Option<usize>, step: fn(usize) -> Option<usize>) {
        let Some(mut search) = self.search.take() else { return };
        let mut at = from.or_else(|| self.history.len().checked_sub(1));
        let mut found = None;
        while let Some((here, text)) = at.and_then(|at| Some((at, self.history.get(at)?))) {
            found = find(text, &search.query).map(|column| (here, column));
            if found.is_some() {
                break;
            }
            at = step(here);
        }
        search.failed = found.is_none() && !search.query.is_empty();
        match found {
            _ if search.query.is_empty() => {
                search.at = None;
                self.show(&search.draft.0, search.draft.1);
            }
            Some((at, column)) => {
                search.at = Some(at);
                self.show(&self.history[at].clone(), column);
            }
            None => {}
        }
        self.search = Some(search);
    }
}

/// The last match. A capital letter in the query makes the search case-sensitive.
fn find(text: &str, query: &str) -> Option<usize> {
    if query.chars().any(char::is_uppercase) {
        return text.rfind(query);
    }
    text.to_ascii_lowercase().rfind(&query.to_ascii_lowercase())
}
