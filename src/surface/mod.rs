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
pub use notices::{duration, money, review_cost};
pub use outlet::{Hurry, Outlet};
pub use picker::{Picked, Picker};
pub use stream_json::StreamJsonSurface;
pub use styled::{Glyphs, Style, Styled, cut, first_line, lines};
pub use terminal::{
    Aids, Attention, KeyReader, NotifyMethod, RealScreen, Screen, Terminal, reflows,
    restore_on_panic,
};
pub use text::TextSurface;
pub use theme::Theme;
pub use transcript::{Look, Transcript};
pub use whereabouts::Whereabouts;

pub trait Surface {
    /// A line of the agent, as it came.
    fn agent(&mut self, line: &Line);
    /// A line of the supervisor, as it came.
    fn supervisor(&mut self, line: &Line);
    fn notice(&mut self, notice: &Notice);
    /// What the running check has printed.
    fn check_printed(&mut self, _text: &str) {}
    /// Put this question to the person; one at a time, until it is answered or taken back.
    fn ask(&mut self, _question: &Question) {}
    fn unask(&mut self) {}
    /// A message came back: it is the person's to edit again.
    fn give_back(&mut self, _text: &str) {}
    /// Where the session stands. Called after everything that happened, and again when
    /// `redraw_in` has passed. What was shown so far has to be on the screen after it.
    fn update(&mut self, status: &Status, now: Now) -> std::io::Result<()>;
    /// How soon `update` wants to be called again if nothing happens; `None` while nothing moves.
    fn redraw_in(&self) -> Option<Duration> {
        None
    }
    /// What time it is, told before anything that the person does: nothing may have happened for long,
    /// and two keys in quick succession are told by the time between them.
    fn set_now(&mut self, _now: Now) {}
    /// A key, a paste, a resize.
    fn input(&mut self, _input: crossterm::event::Event) -> Vec<Intent> {
        Vec::new()
    }
    /// What was typed where the terminal itself does the editing.
    fn typed(&mut self, _typed: Typed) -> Vec<Intent> {
        Vec::new()
    }
    /// Ctrl-C where the terminal makes a signal of it; `None` where that ends the session.
    fn interrupt(&mut self) -> Option<Vec<Intent>> {
        None
    }
    /// The person's own editor has ended: the text as it was left, or why it is to stay as it was.
    fn edited(&mut self, _text: Result<String, String>) {}
    /// A command of the person's has ended: what it printed.
    fn ran(&mut self, _command: &str, _output: &str) {}
    /// What the task has changed, as `git diff` writes it; the pager gets what is too long. Says whether
    /// it was shown.
    fn diff(&mut self, _text: &str) -> bool {
        true
    }
    /// This stands for an image in the message that is being typed; or it is a text that was pasted and
    /// names none after all.
    fn attached(&mut self, _text: &str) {}
    /// Something that was wanted is done, or could not be.
    fn told(&mut self, _text: Result<String, String>) {}
    /// A client with its own screen has not reported what the person said: nothing will be reviewed.
    fn unheard(&mut self) {}
    /// To be said when the screen is the person's own again.
    fn farewell(&mut self, _text: &'static str) {}
    /// Give the terminal back to the shell, and take it again.
    fn suspend(&mut self) {}
    fn resume(&mut self) {}
    /// The session is over. Leaves the terminal as it was found.
    fn close(&mut self, report: &Report) -> std::io::Result<()>;
}

/// What a person at the terminal wants.
#[derive(Debug, PartialEq)]
// There is one at a time.
#[allow(clippy::large_enum_variant)]
pub enum Intent {
    Event(Event),
    /// Ctrl-Z.
    Suspend,
    /// This text is to be edited in the person's own editor.
    Edit(String),
    /// This text is to be read in the person's own pager.
    Page(String),
    /// This command is to be run in the person's shell.
    Shell(String),
    /// This is to be added to the project's memory.
    Note(String),
    /// What the task has changed is to be shown.
    Diff,
    /// An image is to go with the message that is being typed.
    Attach(ImageSource),
}

/// Where an image comes from.
#[derive(Debug, PartialEq, Eq)]
pub enum ImageSource {
    Clipboard,
    /// A file that was named.
    Path(String),
    /// A text that may be the paths of files that were dropped on the terminal.
    Pasted(String),
}
