//! A terminal with a person: the transcript above, in the terminal's own scrollback, and below it a
//! line to type in and a status line.

mod attention;
mod choices;
mod desk;
mod draw;
mod frame;
mod help;
mod input;
mod keys;
mod menu;
mod rewind;
mod screen;
mod surface;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::time::Duration;

pub use attention::{Attention, NotifyMethod};
use choices::Choices;
pub use desk::Aids;
use desk::Desk;
use frame::Frame;
pub use input::KeyReader;
pub(super) use keys::DENIED;
use menu::Menu;
use rewind::Rewind;
pub(super) use rewind::{NOTHING as NOTHING_TO_GO_BACK_TO, shown as point_shown};
pub use screen::{RealScreen, Screen, restore_on_panic};

use super::editor::Editor;
use super::styled::Styled;
use super::transcript::SessionLog;
use super::{Look, Transcript, Whereabouts};
use crate::client::form::{self, FormQuestion};
use crate::event::{Now, Phase, Question};
use crate::machine::Status;

/// A key this soon after a question appeared was not meant for it.
pub(super) const SETTLE: Duration = Duration::from_millis(400);
/// How long to wait for a second Ctrl-C.
pub(super) const SECOND_KEY: Duration = Duration::from_secs(3);
/// Rows below a question: its answers, and the text being typed.
const ANSWERS_ROWS: usize = 8;
const FALLBACK: (u16, u16) = (80, 24);
const UNKNOWN: (usize, usize) = (0, 0);
/// The children's output is drawn at most this often; what the person does, at once.
const FRAME_INTERVAL: Duration = Duration::from_millis(16);
/// With this many lines not on the screen yet, the next frame does not wait.
const PENDING: usize = 1000;
/// Rows that a diff leaves free.
const NOT_DIFF: usize = 6;

/// What the keys go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    Text,
    /// The question is too new to be answered: a key now is meant for the text, which then keeps
    /// the keys until Tab.
    Fresh,
    Answer,
    /// The reason for a denial is being typed, or the answer to a form.
    Reason,
}

#[derive(Debug)]
pub struct Terminal<S: Screen> {
    screen: S,
    look: Look,
    /// Whether the terminal rewraps its lines when it becomes narrower.
    reflow: bool,
    /// ccc has the terminal: it is in raw mode, and drawn on.
    taken: bool,
    /// Columns and rows, never zero.
    size: (usize, usize),
    transcript: Transcript,
    pending: Vec<Styled>,
    log: SessionLog,
    drawn: Option<Frame>,
    /// When that frame was drawn.
    drawn_at: Option<Now>,
    /// When the terminal was last resized, perhaps to the same size again: its rows may have moved.
    resized_at: Option<Now>,
    /// Something has changed since.
    dirty: bool,
    /// The person did something or is asked something: the next frame does not wait.
    urgent: bool,
    wipe: bool,
    attention: Attention,
    /// The provider of the agent's model; empty for claude's own login.
    provider: String,
    status: Status,
    now: Now,
    editor: Editor,
    desk: Desk,
    /// Output of the person's own commands, sent with the next message.
    shown_to_the_agent: String,
    reason: Editor,
    question: Option<Question>,
    /// The whole question, for the pager.
    question_text: String,
    /// The question and its answers do not fit the screen.
    question_is_long: bool,
    /// The answers that the question offers.
    choices: Choices,
    /// The form's answers so far.
    answers: Vec<(String, String)>,
    /// When the question first appeared.
    asked: Option<Now>,
    focus: Focus,
    /// A menu that is open.
    menu: Option<Menu>,
    /// Whether the person switched the todo list on or off.
    todos: Option<bool>,
    /// When Ctrl-C was pressed once with nothing to interrupt.
    leaving: Option<Now>,
    /// When Escape was pressed once with nothing to interrupt.
    escaped: Option<Now>,
    rewind: Option<Rewind>,
}

impl<S: Screen> Terminal<S> {
    pub fn new(screen: S, look: Look, reflow: bool) -> io::Result<Self> {
        let mut terminal = Self {
            screen,
            look,
            reflow,
            taken: false,
            // Set as soon as the terminal is taken.
            size: UNKNOWN,
            transcript: Transcript::new(look),
            pending: Vec::new(),
            log: SessionLog::default(),
            drawn: None,
            drawn_at: None,
            resized_at: None,
            dirty: false,
            urgent: true,
            wipe: false,
            attention: Attention::default(),
            provider: String::new(),
            status: Status {
                phase: Phase::Waiting,
                since: Now::ZERO,
                round: 0,
                max: 0,
                supervising: true,
                model: String::new(),
                background: 0,
                cost_usd: 0.0,
                reviews_usd: 0.0,
                mode: None,
                limit: None,
                context: None,
                queued: Vec::new(),
                check: None,
                points: Vec::new(),
                met: None,
                questions: 0,
            },
            now: Now::ZERO,
            editor: Editor::default(),
            desk: Desk::default(),
            shown_to_the_agent: String::new(),
            reason: Editor::default(),
            question: None,
            question_text: String::new(),
            question_is_long: false,
            choices: Choices::default(),
            answers: Vec::new(),
            asked: None,
            focus: Focus::Text,
            menu: None,
            todos: None,
            leaving: None,
            escaped: None,
            rewind: None,
        };
        terminal.transcript.keeps_whole = true;
        terminal.take()?;
        Ok(terminal)
    }

    /// Names the session, and sets how the person is notified.
    #[must_use]
    pub fn for_session(mut self, place: Whereabouts, attention: Attention) -> Self {
        self.provider.clone_from(&place.provider);
        self.transcript.set_place(place);
        if attention.has_title() {
            self.tell(attention::KEEP_TITLE);
        }
        self.attention = attention;
        self
    }

    fn print(&mut self, lines: Vec<Styled>) {
        self.log.add(&lines, self.transcript.take_whole());
        self.pending.extend(lines);
    }

    fn tell(&mut self, escapes: &str) {
        let written = self.screen.write_all(escapes.as_bytes()).and_then(|()| self.screen.flush());
        if let Err(error) = written {
            log::warn!("the terminal does not take what it is told: {error}");
        }
    }

    fn take(&mut self) -> io::Result<()> {
        self.screen.take()?;
        self.taken = true;
        self.drawn = None;
        self.urgent = true;
        self.attention.forget();
        self.set_size(self.screen.size());
        let title = if self.attention.has_title() { attention::KEEP_TITLE } else { "" };
        self.screen.write_all(format!("{}{title}", screen::TAKE).as_bytes())?;
        self.screen.flush()
    }

    /// Prints what is pending, and restores the terminal.
    fn give_back(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.taken) {
            return Ok(());
        }
        let mut out = Vec::new();
        let clear = self.clear();
        // After a panic the hook has erased the live area already, and its message must stay.
        if self.screen.give_back() {
            out.extend(clear.bytes());
        }
        self.pending.extend(self.transcript.settle());
        self.print_pending(&mut out);
        if self.attention.has_title() {
            out.extend(attention::OLD_TITLE.bytes());
        }
        out.extend(screen::GIVE_BACK.bytes());
        self.screen.write_all(&out)?;
        self.screen.flush()
    }

    fn set_size(&mut self, (columns, rows): (u16, u16)) {
        let or = |value: u16, fallback: u16| usize::from(if value == 0 { fallback } else { value });
        let size = (or(columns, FALLBACK.0), or(rows, FALLBACK.1));
        let before = std::mem::replace(&mut self.size, size);
        if before == size {
            return;
        }
        if before != UNKNOWN {
            self.resized_at = Some(self.now);
        }
        self.urgent = true;
        self.transcript.set_width(self.size.0);
        // Up and down move by rows, even before the next frame.
        self.editor.set_cells(self.size.0.saturating_sub(3));
    }

    /// How long a change waits to be drawn; `None` without a change.
    fn next_frame_in(&self) -> Option<Duration> {
        if self.urgent || self.pending.len() > PENDING {
            return Some(Duration::ZERO);
        }
        let since = self.drawn_at.map_or(FRAME_INTERVAL, |drawn| self.now.saturating_sub(drawn));
        self.dirty.then(|| FRAME_INTERVAL.saturating_sub(since))
    }

    /// The form's next question, its number, and how many there are.
    fn form(&self) -> Option<(FormQuestion, usize, usize)> {
        let questions = form::questions(&self.question.as_ref()?.asked)?;
        let at = self.answers.len();
        Some((questions.get(at)?.clone(), at + 1, questions.len()))
    }

    /// Sets the choices for the question, or for the form's next one.
    fn offer(&mut self) {
        self.choices = match (self.form(), &self.question) {
            (Some((form, ..)), _) => Choices::form(&form),
            (None, Some(question)) => Choices::permission(question),
            (None, None) => Choices::default(),
        };
    }

    fn forget_question(&mut self) {
        self.question = None;
        self.answers.clear();
        self.asked = None;
        self.reason.clear();
        self.focus = Focus::Text;
    }
}

impl<S: Screen> Drop for Terminal<S> {
    fn drop(&mut self) {
        // There is nobody left to report an error to.
        let _ = self.give_back();
    }
}

/// Whether a terminal rewraps its lines when it becomes narrower. Nearly all do; the others are
/// recognised by their environment.
pub fn reflows(env: impl Fn(&str) -> Option<OsString>) -> bool {
    if env("TMUX").is_some() {
        return true;
    }
    let term = env("TERM").unwrap_or_default();
    let old = ["linux", "rxvt", "vt"].iter().any(|name| term.to_string_lossy().starts_with(name));
    !old && env("XTERM_VERSION").is_none() && env("STY").is_none()
}
