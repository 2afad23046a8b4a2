//! The user's side of a session: a terminal with a person at it, lines for a person, plain text, JSON
//! lines, or one JSON object. A surface shows what it is given and turns keys into events; it decides nothing.

mod answer;
mod commands;
mod completion;
mod context;
mod diff;
mod editor;
mod highlight;
mod json;
mod limit;
mod line;
pub mod look;
mod markdown;
mod notices;
mod outlet;
mod picker;
#[cfg(test)]
mod sample;
mod status;
mod stream_json;
mod styled;
mod terminal;
mod text;
mod theme;
mod transcript;
mod whereabouts;

use std::time::Duration;

use crate::client::stream::Line;
use crate::event::{Event, Notice, Now, Question};
pub use crate::event::{Report, Seconds};
use crate::machine::Status;

pub use answer::AnswerSurface;
pub use completion::ProjectFiles;
pub use json::JsonSurface;
pub use line::{LineSurface, Typed, read_typed};
pub use notices::{count, duration, money, review_cost};
pub use outlet::{Hurry, Outlet};
pub use picker::{Picked, Picker};
pub use stream_json::StreamJsonSurface;
pub use styled::{Glyphs, Style, Styled, cut, first_line, flowed, lines};
pub use terminal::{
    Aids, Attention, KeyReader, NotifyMethod, RealScreen, Screen, Terminal, reflows,
    restore_on_panic,
};
pub use text::TextSurface;
pub use theme::Theme;
pub use transcript::{Look, Transcript};
pub use whereabouts::Whereabouts;

pub trait Surface {
    /// A line of the agent, as received.
    fn agent(&mut self, _line: &Line) {}
    /// A line of the supervisor, as received.
    fn supervisor(&mut self, _line: &Line) {}
    fn notice(&mut self, _notice: &Notice) {}
    /// Output of the running check.
    fn check_printed(&mut self, _text: &str) {}
    /// Asks the person this question; only one is open at a time, until it is answered or withdrawn.
    fn ask(&mut self, _question: &Question) {}
    fn unask(&mut self) {}
    /// A message was not sent and is given back to the person for editing.
    fn give_back(&mut self, _text: &str) {}
    /// The state of the session. Called after every event, and again when `redraw_in` has passed.
    /// Everything shown so far must be on the screen afterwards.
    fn update(&mut self, _status: &Status, _now: Now) -> std::io::Result<()> {
        Ok(())
    }
    /// How soon `update` must be called again if nothing happens; `None` while nothing moves.
    fn redraw_in(&self) -> Option<Duration> {
        None
    }
    /// Sets the time before any input of the person is passed on: the last event may be long ago, and
    /// the time between two key presses can matter.
    fn set_now(&mut self, _now: Now) {}
    /// A key, a paste or a resize.
    fn input(&mut self, _input: crossterm::event::Event) -> Vec<Intent> {
        Vec::new()
    }
    /// Text that was typed where the terminal itself does the editing.
    fn typed(&mut self, _typed: Typed) -> Vec<Intent> {
        Vec::new()
    }
    /// Ctrl-C where the terminal turns it into a signal; `None` if that ends the session.
    fn interrupt(&mut self) -> Option<Vec<Intent>> {
        None
    }
    /// The person's editor has exited: the edited text, or why the text stays unchanged.
    fn edited(&mut self, _text: Result<String, String>) {}
    /// A shell command of the person has ended, with this output.
    fn ran(&mut self, _command: &str, _output: &str) {}
    /// Shows what the task has changed, in the form of `git diff`; the pager gets a diff that is too
    /// long. Returns whether it was shown.
    fn diff(&mut self, _text: &str) -> bool {
        true
    }
    /// Inserts the placeholder of an image into the message being typed, or a pasted text that turned
    /// out not to name an image.
    fn attached(&mut self, _text: &str) {}
    /// Something that the person asked for was done, or failed.
    fn told(&mut self, _text: Result<String, String>) {}
    /// A client with its own screen has not reported the person's message, so nothing will be reviewed.
    fn unheard(&mut self) {}
    /// Shown when the person has their own screen back.
    fn farewell(&mut self, _text: &str) {}
    /// Give the terminal to the shell, and take it back.
    fn suspend(&mut self) {}
    fn resume(&mut self) {}
    /// The session is over. Restores the terminal.
    fn close(&mut self, _report: &Report) -> std::io::Result<()> {
        Ok(())
    }
}

/// What a person at the terminal wants.
#[derive(Debug, PartialEq)]
// Only one exists at a time, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub enum Intent {
    Event(Event),
    /// Ctrl-Z.
    Suspend,
    /// Edit this text in the person's own editor.
    Edit(String),
    /// Show this text in the person's own pager.
    Page(String),
    /// Run this command in the person's shell.
    Shell(String),
    /// Add this to the project's memory.
    Note(String),
    /// Show what the task has changed.
    Diff,
    /// Attach an image to the message being typed.
    Attach(ImageSource),
}

/// Where an image comes from.
#[derive(Debug, PartialEq, Eq)]
pub enum ImageSource {
    Clipboard,
    /// A file named by the person.
    Path(String),
    /// A pasted text that may be the paths of files dropped on the terminal.
    Pasted(String),
}
