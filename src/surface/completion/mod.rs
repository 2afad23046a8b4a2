//! What could be meant by the word being typed: a command after `/`, a file of the project after
//! `@`. A popup of a few rows below the text.

mod matching;
#[cfg(test)]
mod tests;
mod token;

use std::sync::Arc;

use super::styled::{self, Glyphs, Style, Styled};
use crate::stream::strip_escapes;
use token::{Kind, Token};

const ROWS: usize = 6;
/// More than a person would go through.
const ENTRIES: usize = 100;

/// What ccc understands itself.
const OWN: [(&str, &str); 2] = [
    ("supervisor", "review the work when the agent is done"),
    ("supervisoroff", "no more reviews"),
];

/// The project's files, directories with a slash at their end, and whether they are known yet.
pub type Files = (Arc<Vec<String>>, bool);

#[derive(Debug, Default)]
pub struct Completion {
    commands: Vec<String>,
    popup: Option<Popup>,
    /// Where the word starts that is to be left alone.
    dismissed: Option<usize>,
    /// The files are not known yet: the popup will come.
    waiting: bool,
}

#[derive(Debug)]
struct Popup {
    token: Token,
    entries: Vec<String>,
    selected: usize,
}

/// A text to stand from a place in the text up to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    pub from: usize,
    pub text: String,
    /// It was a directory, and its files are next.
    pub goes_on: bool,
}

impl Completion {
    /// The client's commands, without the slash.
    pub fn set_commands(&mut self, commands: &[String]) {
        commands.clone_into(&mut self.commands);
    }

    /// Something was typed; `before` is the text up to the cursor.
    pub fn typed(&mut self, before: &str, files: impl FnOnce() -> Files) {
        let selected = self.popup.take().and_then(|mut popup| popup.take_selected());
        self.waiting = false;
        let Some(token) = token::at_end(before) else {
            self.dismissed = None;
            return;
        };
        if self.dismissed == Some(token.from) {
            return;
        }
        self.dismissed = None;
        let entries = match token.kind {
            Kind::Command => {
                let own = OWN.iter().map(|(name, _)| *name);
                let all = self.commands.iter().map(String::as_str).chain(own);
                matching::commands(all, &token.query, ENTRIES)
            }
            Kind::File { .. } => {
                let (paths, known) = files();
                self.waiting = !known;
                matching::files(&paths, &token.query, ENTRIES)
            }
        };
        if !entries.is_empty() {
            // A list that has only become longer keeps what was selected.
            let kept = selected.filter(|(was, _)| *was == token);
            let at = kept.and_then(|(_, name)| entries.iter().position(|entry| *entry == name));
            self.popup = Some(Popup { token, entries, selected: at.unwrap_or(0) });
        }
    }

    pub fn close(&mut self) {
        self.popup = None;
        self.waiting = false;
    }

    /// The text is another one: nothing in it has been dismissed yet.
    pub fn start_anew(&mut self) {
        self.dismissed = None;
        self.close();
    }

    /// Not for this word any more.
    pub fn dismiss(&mut self) {
        self.dismissed = self.popup.as_ref().map(|popup| popup.token.from);
        self.close();
    }

    pub fn is_open(&self) -> bool {
        self.popup.is_some()
    }

    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// The word is already what the selected entry would make of it.
    pub fn is_done(&self) -> bool {
        let done = |popup: &Popup| popup.entries.get(popup.selected) == Some(&popup.token.query);
        self.popup.as_ref().is_none_or(done)
    }

    pub fn step(&mut self, down: bool) {
        if let Some(popup) = &mut self.popup {
            let last = popup.entries.len() - 1;
            popup.selected = match (down, popup.selected) {
                (true, at) if at == last => 0,
                (true, at) => at + 1,
                (false, 0) => last,
                (false, at) => at - 1,
            };
        }
    }

    pub fn take(&mut self) -> Option<Taken> {
        let (token, entry) = self.popup.take()?.take_selected()?;
        let goes_on = entry.ends_with('/');
        Some(Taken { from: token.from, text: token.written(&entry), goes_on })
    }

    pub fn rows(&self, columns: usize, glyphs: Glyphs) -> Vec<Styled> {
        let Some(popup) = &self.popup else { return Vec::new() };
        let top = popup.selected.saturating_sub(ROWS - 1);
        let shown = popup.entries.iter().enumerate().skip(top).take(ROWS);
        shown.map(|(at, entry)| popup.row(at == popup.selected, entry, columns, glyphs)).collect()
    }
}

impl Popup {
    fn take_selected(&mut self) -> Option<(Token, String)> {
        let entry = self.entries.get(self.selected)?.clone();
        Some((self.token.clone(), entry))
    }

    fn row(&self, selected: bool, entry: &str, columns: usize, glyphs: Glyphs) -> Styled {
        let (mark, style) =
            if selected { (glyphs.prompt, Style::User) } else { ("  ", Style::Dim) };
        let (sign, what) = match self.token.kind {
            Kind::Command => ("/", OWN.iter().find(|(name, _)| *name == entry).map(|own| own.1)),
            Kind::File { .. } => ("", None),
        };
        let text =
            styled::cut(&format!("{mark}{sign}{}", strip_escapes(entry)), columns, glyphs.ellipsis);
        let row = Styled::new(style, &text);
        let left = columns.saturating_sub(unicode_width::UnicodeWidthStr::width(text.as_str()));
        match what {
            Some(what) => row.with(Style::Dim, &styled::cut(&format!("  {what}"), left, "")),
            None => row,
        }
    }
}
