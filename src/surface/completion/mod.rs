//! Suggestions for the word being typed: a command after `/`, a file of the project after `@`. A
//! popup of a few rows below the text.

mod known;
mod matching;
#[cfg(test)]
mod tests;
mod token;

use std::sync::Arc;

use unicode_width::UnicodeWidthStr;

use super::styled::{self, Glyphs, Style, Styled};
use crate::client::stream::strip_escapes;
pub use known::KnownCommands;
use known::OWN;
use token::{Token, TokenKind};

const ROWS: usize = 6;
/// More than a person would look through.
const ENTRIES: usize = 100;
/// As wide as the mark of the selected entry.
const BEFORE: &str = "  ";
/// Enough cells for a few words of description.
const ABOUT: usize = 12;

/// The project's files, directories with a slash at their end, and whether they are known yet.
pub type ProjectFiles = (Arc<Vec<String>>, bool);

#[derive(Debug, Default)]
pub struct Completion {
    pub commands: KnownCommands,
    popup: Option<Popup>,
    /// Whether the text ends with a command or the beginning of one.
    at_command: bool,
    /// The word for which the popup was dismissed.
    dismissed: Option<Token>,
    /// The files are not known yet; the popup will appear later.
    waiting: bool,
}

#[derive(Debug)]
struct Popup {
    token: Token,
    entries: Vec<Suggestion>,
    selected: usize,
}

#[derive(Debug)]
struct Suggestion {
    name: String,
    /// One line about it; may be empty.
    about: String,
}

/// A completion: text that replaces everything from `from` to the cursor.
#[derive(Debug, PartialEq, Eq)]
pub struct Completed {
    pub from: usize,
    pub text: String,
    /// It is a directory, so its files are suggested next.
    pub goes_on: bool,
}

impl Completion {
    /// Updates the popup after typing; `before` is the text up to the cursor.
    pub fn typed(&mut self, before: &str, files: impl FnOnce() -> ProjectFiles) {
        let selected = self.popup.take().and_then(|mut popup| popup.selected_entry());
        self.waiting = false;
        self.at_command = false;
        let Some(token) = token::at_end(before) else {
            self.dismissed = None;
            return;
        };
        if self.dismissed.as_ref() == Some(&token) {
            return;
        }
        self.dismissed = None;
        let entries = match token.kind {
            TokenKind::Command => {
                self.at_command = true;
                let own = OWN.map(|(name, _)| name);
                let all = self.commands.names();
                let names = matching::commands(&own, all, &token.query, ENTRIES).into_iter();
                names.map(|name| Suggestion { about: self.commands.about(&name), name }).collect()
            }
            TokenKind::File { .. } => {
                let (paths, known) = files();
                self.waiting = !known;
                let names = matching::files(&paths, &token.query, ENTRIES).into_iter();
                names.map(|name| Suggestion { name, about: String::new() }).collect::<Vec<_>>()
            }
        };
        if !entries.is_empty() {
            // A list that has only grown keeps its selection.
            let kept = selected.filter(|(was, _)| *was == token);
            let at = kept.and_then(|(_, name)| entries.iter().position(|entry| entry.name == name));
            self.popup = Some(Popup { token, entries, selected: at.unwrap_or(0) });
        }
    }

    pub fn close(&mut self) {
        self.popup = None;
        self.waiting = false;
        self.at_command = false;
    }

    /// The text was replaced, so nothing in it was dismissed yet.
    pub fn reset(&mut self) {
        self.dismissed = None;
        self.close();
    }

    /// Closes the popup for the word as it is; further typing opens it again.
    pub fn dismiss(&mut self) {
        self.dismissed = self.popup.as_ref().map(|popup| popup.token.clone());
        self.close();
    }

    pub fn is_open(&self) -> bool {
        self.popup.is_some()
    }

    /// Whether a longer list of commands would be useful.
    pub fn is_at_command(&self) -> bool {
        self.at_command
    }

    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Whether the word already equals the selected entry.
    pub fn is_done(&self) -> bool {
        let done = |popup: &Popup| {
            let selected = popup.entries.get(popup.selected);
            selected.is_some_and(|entry| entry.name == popup.token.query)
        };
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

    pub fn take(&mut self) -> Option<Completed> {
        let (token, entry) = self.popup.take()?.selected_entry()?;
        let goes_on = entry.ends_with('/');
        Some(Completed { from: token.from, text: token.written(&entry), goes_on })
    }

    /// The rows of the popup; the selected entry is always among them.
    pub fn rows(&self, columns: usize, most: usize, glyphs: Glyphs) -> Vec<Styled> {
        let Some(popup) = &self.popup else { return Vec::new() };
        let most = most.min(ROWS);
        let top = (popup.selected + 1).saturating_sub(most);
        let shown = popup.entries.iter().enumerate().skip(top).take(most);
        // Measured over the whole list, so that nothing shifts while scrolling.
        let widths = popup.entries.iter().map(|entry| strip_escapes(&entry.name).width());
        let about_at = (BEFORE.width() + 1 + widths.max().unwrap_or(0)).min(columns / 2) + 2;
        shown
            .map(|(at, entry)| {
                let name = popup.name(at == popup.selected, entry, columns, glyphs);
                entry.with_about(name, about_at, columns, glyphs)
            })
            .collect()
    }
}

impl Popup {
    fn selected_entry(&mut self) -> Option<(Token, String)> {
        let entry = self.entries.get(self.selected)?;
        Some((self.token.clone(), entry.name.clone()))
    }

    fn name(&self, selected: bool, entry: &Suggestion, columns: usize, glyphs: Glyphs) -> Styled {
        let (mark, style) =
            if selected { (glyphs.prompt, Style::User) } else { (BEFORE, Style::Dim) };
        let sign = if self.token.kind == TokenKind::Command { "/" } else { "" };
        let text = format!("{mark}{sign}{}", strip_escapes(&entry.name));
        Styled::new(style, &styled::cut(&text, columns, glyphs.ellipsis))
    }
}

impl Suggestion {
    /// Without room for a few words, there is no description.
    fn with_about(&self, row: Styled, at: usize, columns: usize, glyphs: Glyphs) -> Styled {
        let gap = at.saturating_sub(row.width()).max(2);
        let room = columns.saturating_sub(row.width() + gap);
        if self.about.is_empty() || room < ABOUT {
            return row;
        }
        let about = styled::cut(&self.about, room, glyphs.ellipsis);
        row.with(Style::Dim, &format!("{:gap$}{about}", ""))
    }
}
