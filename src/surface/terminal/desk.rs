//! What surrounds the text being typed: the popup below it, the help, and access to what is not on
//! the screen (earlier messages, the project's files, the person's own editor).

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Screen, Terminal, help};
use crate::client::stream::{Line, Message, Model, Part};
use crate::surface::completion::{Completion, ProjectFiles};
use crate::surface::editor::Editor;
use crate::surface::styled::{self, Style, Styled};

/// Rows that the popup leaves free: the text, the status, and some of the transcript.
const NOT_POPUP: usize = 6;
/// Rows that the help leaves free, which is shown only briefly.
const NOT_HELP: usize = 4;
/// Narrower than this, there is no room for the query beside the match.
const SEARCH_FROM: usize = 16;

/// What helps a person to type. The surface itself touches no file.
pub struct Aids {
    /// Earlier messages, the newest last.
    pub history: Vec<String>,
    /// Called with every message that is sent.
    pub remember: Box<dyn FnMut(&str)>,
    /// The project's files; must not block.
    pub files: Box<dyn FnMut() -> ProjectFiles>,
}

impl Default for Aids {
    fn default() -> Self {
        Self {
            history: Vec::new(),
            remember: Box::new(|_| ()),
            files: Box::new(|| (std::sync::Arc::default(), true)),
        }
    }
}

impl fmt::Debug for Aids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aids").finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
pub struct Desk {
    pub aids: Aids,
    pub completion: Completion,
    pub help: bool,
    /// The models that the client offers.
    pub models: Vec<Model>,
}

impl Desk {
    pub fn learn(&mut self, line: &Line, editor: &Editor) {
        for part in &line.parts {
            let Part::Message(envelope) = part else { continue };
            if let Message::Introduced(told) = &envelope.message {
                self.models.clone_from(&told.models);
            }
            let listed = self.completion.commands.learn(&envelope.message);
            // Updates the popup of a command that is already being typed.
            if listed && self.completion.is_at_command() {
                self.complete(editor);
            }
        }
    }

    pub fn is_waiting(&self) -> bool {
        self.completion.is_waiting()
    }

    /// The files may have arrived in the meantime.
    pub fn update_files(&mut self, editor: &Editor) {
        if self.is_waiting() {
            self.complete(editor);
        }
    }

    pub fn complete(&mut self, editor: &Editor) {
        self.completion.typed(editor.before_cursor(), &mut self.aids.files);
    }

    /// Handles a key for an open popup; returns whether it did.
    pub fn popup_key(&mut self, key: KeyEvent, editor: &mut Editor) -> bool {
        if !self.completion.is_open() {
            return false;
        }
        let control = key.modifiers == KeyModifiers::CONTROL;
        let plain = key.modifiers.is_empty();
        match key.code {
            KeyCode::Up if plain => self.completion.step(false),
            KeyCode::Down if plain => self.completion.step(true),
            KeyCode::Char('p') if control => self.completion.step(false),
            KeyCode::Char('n') if control => self.completion.step(true),
            KeyCode::Esc => self.completion.dismiss(),
            KeyCode::Enter if plain && self.completion.is_done() => {
                self.completion.close();
                return false;
            }
            KeyCode::Enter | KeyCode::Tab if plain => {
                if let Some(taken) = self.completion.take() {
                    editor.complete(taken.from, &taken.text);
                    if taken.goes_on {
                        self.complete(editor);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// After the editor handled a key: only typing and erasing open the popup. A recalled message
    /// must not, or the popup would take the next arrow key.
    pub fn after(&mut self, key: KeyEvent, editor: &Editor) {
        let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        match key.code {
            KeyCode::Char(_) | KeyCode::Backspace if plain => self.complete(editor),
            _ => self.completion.close(),
        }
    }
}

impl<S: Screen> Terminal<S> {
    #[must_use]
    pub fn with_aids(mut self, mut aids: Aids) -> Self {
        self.editor.set_history(std::mem::take(&mut aids.history));
        self.desk.aids = aids;
        self
    }

    /// The rows between the text and the status.
    pub(super) fn below_rows(&self, columns: usize, height: usize) -> Vec<Styled> {
        let glyphs = self.look.glyphs;
        if let Some(rows) = self.rewind_rows(height.saturating_sub(NOT_POPUP)) {
            rows
        } else if self.desk.help {
            help::rows(columns, height.saturating_sub(NOT_HELP), glyphs)
        } else {
            self.desk.completion.rows(columns, height.saturating_sub(NOT_POPUP), glyphs)
        }
    }

    pub(super) fn search_prompt(&self, columns: usize) -> Option<String> {
        let (query, failed) = self.editor.searching().filter(|_| columns >= SEARCH_FROM)?;
        let what = if failed { "no match" } else { "search" };
        let prompt = format!("{what}: {query}");
        let cut = styled::cut(&styled::untabbed(&prompt), columns / 2, self.look.glyphs.ellipsis);
        Some(format!("{cut} {}", self.look.glyphs.prompt))
    }

    pub(super) fn on_edited(&mut self, text: Result<String, String>) {
        match text {
            // Editors end the last line with a newline.
            Ok(text) => self.editor.set_text(text.trim_end_matches(['\n', '\r'])),
            Err(why) => {
                let note = format!("The text was left unchanged: {why}.");
                self.pending.push(Styled::new(Style::Bad, &note));
            }
        }
    }
}
