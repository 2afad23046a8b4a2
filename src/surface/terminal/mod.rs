//! A terminal with a person at it: the transcript above, in the terminal's own scrollback, and
//! below it a line to type in and one that says where the session stands.

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

pub use attention::{Attention, Call};
use choices::Choices;
pub use desk::Aids;
use desk::Desk;
use frame::Frame;
pub use input::Keys;
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

/// A key that comes this soon after a question was not meant for it.
pub(super) const SETTLE: Duration = Duration::from_millis(400);
/// How long a second Ctrl-C is waited for.
pub(super) const SECOND_KEY: Duration = Duration::from_secs(3);
/// What stands below a question: its answers, and the text that is being typed.
const ANSWERS_ROWS: usize = 8;
const FALLBACK: (u16, u16) = (80, 24);
const UNKNOWN: (usize, usize) = (0, 0);
/// What the children print is drawn at most this often; what the person does, at once.
const PICTURE: Duration = Duration::from_millis(16);
/// So much that is not on the screen yet does not wait for the next picture.
const PENDING: usize = 1000;
/// Rows of a screen that are not for a diff.
const NOT_DIFF: usize = 6;

/// Who gets the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    Text,
    /// The question is too new to be answered: a key now was meant for the text, and then the text
    /// keeps them until Tab.
    Fresh,
    Answer,
    /// The reason for a "no" is being typed, or the answer to a form.
    Reason,
}

#[derive(Debug)]
pub struct Terminal<S: Screen> {
    screen: S,
    look: Look,
    /// Whether the terminal wraps its lines anew when it gets narrower.
    reflow: bool,
    /// It is ours: raw, and drawn on.
    taken: bool,
    /// Columns and rows, never zero.
    size: (usize, usize),
    transcript: Transcript,
    pending: Vec<Styled>,
    log: SessionLog,
    drawn: Option<Frame>,
    /// When that was.
    drawn_at: Option<Now>,
    /// When the terminal was last resized, perhaps to the same size again: rows may stand elsewhere.
    resized_at: Option<Now>,
    /// Something has happened since.
    dirty: bool,
    /// The person did something, or is asked something: the next picture does not wait.
    urgent: bool,
    wipe: bool,
    attention: Attention,
    /// Where the agent's model is, unless that is claude's own login.
    provider: String,
    status: Status,
    now: Now,
    editor: Editor,
    desk: Desk,
    /// Output of the person's own commands, which goes with the next message.
    shown_to_the_agent: String,
    reason: Editor,
    question: Option<Question>,
    /// All of it, for the pager.
    question_text: String,
    /// It has more lines than the screen shows with the answers below it.
    question_is_long: bool,
    /// The answers that it offers.
    choices: Choices,
    /// What a form has been answered so far.
    answers: Vec<(String, String)>,
    /// When it was first on the screen.
    asked: Option<Now>,
    focus: Focus,
    /// Something is to be chosen.
    menu: Option<Menu>,
    /// Whether the list of what is to do is shown, where the person said so.
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

    /// What the session is called, and how a person is told about it who looks elsewhere.
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

    /// Prints what is left to print, and leaves the terminal as it was found.
    fn give_back(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.taken) {
            return Ok(());
        }
        let mut out = Vec::new();
        let clear = self.clear();
        // After a panic the hook has cleared already, and its message must stay.
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
        // Up and down in the text go by rows, also before the next drawing.
        self.editor.set_cells(self.size.0.saturating_sub(3));
    }

    /// How long what is new still waits to be drawn; `None` when there is nothing new.
    fn next_picture(&self) -> Option<Duration> {
        if self.urgent || self.pending.len() > PENDING {
            return Some(Duration::ZERO);
        }
        let since = self.drawn_at.map_or(PICTURE, |drawn| self.now.saturating_sub(drawn));
        self.dirty.then(|| PICTURE.saturating_sub(since))
    }

    /// The question of a form that is to be answered next, its number, and how many there are.
    fn form(&self) -> Option<(FormQuestion, usize, usize)> {
        let questions = form::questions(&self.question.as_ref()?.asked)?;
        let at = self.answers.len();
        Some((questions.get(at)?.clone(), at + 1, questions.len()))
    }

    /// The answers to the question, or to the next one of a form.
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
        // Nobody is left to be told.
        let _ = self.give_back();
    }
}

/// Whether a terminal wraps its lines anew when it gets narrower. Nearly all do; those that do
/// not can be told by their environment.
pub fn reflows(env: impl Fn(&str) -> Option<OsString>) -> bool {
    if env("TMUX").is_some() {
        return true;
    }
    let term = env("TERM").unwrap_or_default();
    let old = ["linux", "rxvt", "vt"].iter().any(|name| term.to_string_lossy().starts_with(name));
    !old && env("XTERM_VERSION").is_none() && env("STY").is_none()
}
