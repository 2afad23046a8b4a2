//! A surface that only writes lines: for screen readers, for simple terminals, and for output
//! through a pipe. Nothing is redrawn, and the terminal's modes are unchanged: its own line editing
//! is all there is.
//!
//! While it is the person's turn, the last thing on the screen is a marker after which to type.

mod answers;
mod rewind;
#[cfg(test)]
mod tests;
mod typed;

use std::io::{self, Write};
use std::time::Duration;

use super::commands::{self, About, OwnCommand, own_command};
use super::completion::KnownCommands;
use super::diff;
use super::styled::{self, Style, Styled};
use super::terminal::{SECOND_KEY, SETTLE};
use super::{Intent, Look, Report, Surface, TextSurface, Whereabouts};
use crate::client::stream::{Line, Message, Model};
use crate::console;
use crate::event::{Event, Notice, Now, Phase, Question};
use crate::machine::Status;
pub use typed::{Typed, read_typed};

const MARKER: &str = "> ";
/// How many lines of a diff are shown.
const DIFF: usize = 200;
/// The marker after a line that ended with a backslash.
const GOES_ON: &str = "... ";
const MINUTE: Duration = Duration::from_secs(60);
/// How long until a line says that work continues, and how long until the next: a screen reader
/// reads each of them aloud.
const QUIET: [Duration; 4] =
    [MINUTE, MINUTE.saturating_mul(2), MINUTE.saturating_mul(5), MINUTE.saturating_mul(10)];

#[derive(Debug)]
pub struct LineSurface<W> {
    text: TextSurface<W>,
    /// Typed text is echoed to where the output goes; not so in a pipe.
    echoed: bool,
    /// The cursor is after a marker, or after something that the terminal echoed.
    open: bool,
    phase: Phase,
    /// When this phase began.
    since: Now,
    now: Now,
    /// When something was last written, and how many reminders there were since.
    quiet: (Now, usize),
    /// Lines that are continued in the next one.
    draft: String,
    status: Option<Status>,
    commands: KnownCommands,
    models: Vec<Model>,
    /// Output of the person's own commands, sent with the next message.
    shown_to_the_agent: String,
    question: Option<Question>,
    /// When the question first appeared.
    asked: Option<Now>,
    /// The draft was begun before the question, so it does not answer it.
    begun_before_question: bool,
    /// The form's answers so far.
    answers: Vec<(String, String)>,
    /// Typed as an answer, but not a valid one.
    kept: Option<String>,
    /// The next message to show was typed here, so it is on the screen already.
    own_words: bool,
    /// When Ctrl-C was pressed once with nothing to interrupt.
    leaving: Option<Now>,
}

impl<W: Write> LineSurface<W> {
    pub fn new(out: W, look: Look, echoed: bool) -> Self {
        Self {
            text: TextSurface::new(out, look),
            echoed,
            open: false,
            phase: Phase::Working,
            since: Now::ZERO,
            now: Now::ZERO,
            quiet: (Now::ZERO, 0),
            draft: String::new(),
            status: None,
            commands: KnownCommands::default(),
            models: Vec::new(),
            shown_to_the_agent: String::new(),
            question: None,
            asked: None,
            begun_before_question: false,
            answers: Vec::new(),
            kept: None,
            own_words: false,
            leaving: None,
        }
    }

    #[must_use]
    pub fn at(mut self, place: Whereabouts) -> Self {
        self.text.transcript.set_place(place);
        self
    }

    fn say(&mut self, style: Style, text: &str) {
        self.text.push(&styled::lines(style, text));
    }

    fn busy(&self) -> bool {
        matches!(self.phase, Phase::Working | Phase::Reviewing)
    }

    fn line(&mut self, line: &str) -> Vec<Intent> {
        self.leaving = None;
        self.echo(line);
        self.draft.push_str(line);
        if self.draft.ends_with('\\') {
            self.draft.pop();
            self.draft.push('\n');
            return Vec::new();
        }
        let text = std::mem::take(&mut self.draft);
        let begun_before_question = std::mem::take(&mut self.begun_before_question);
        if self.settled() && !begun_before_question {
            return self.answer(&text).into_iter().collect();
        }
        if text.trim().is_empty() {
            return Vec::new();
        }
        if self.question.is_some() {
            self.say(
                Style::Dim,
                "Sent as a message, because you typed it before the question appeared.",
            );
        }
        self.own_command(text).unwrap_or_else(|text| vec![self.message(text)])
    }

    fn message(&mut self, text: String) -> Intent {
        self.own_words = true;
        Intent::Event(Event::Said(commands::behind(&mut self.shown_to_the_agent, text)))
    }

    /// Handles a command for ccc itself; `Err` returns any other text.
    fn own_command(&mut self, text: String) -> Result<Vec<Intent>, String> {
        let Some(status) = &self.status else { return Err(text) };
        let account = self.text.transcript.account();
        let about = About { status, account, session: self.text.transcript.session() };
        let command = match text.trim() {
            "?" => Some(OwnCommand::Help),
            _ => own_command(&text, &about, &self.commands),
        };
        Ok(match command {
            None => return Err(text),
            Some(OwnCommand::Leave) => vec![Intent::Event(Event::Leave)],
            Some(OwnCommand::Shell(command)) => vec![Intent::Shell(command)],
            Some(OwnCommand::Note(note)) => vec![Intent::Note(note)],
            Some(OwnCommand::Wish(wish)) => vec![Intent::Event(Event::Wish(wish))],
            Some(OwnCommand::Diff) => vec![Intent::Diff],
            Some(OwnCommand::Image(source)) => vec![Intent::Attach(source)],
            Some(OwnCommand::ChooseModel) => {
                let models = commands::models(&self.models, &self.now_model());
                self.say(Style::Plain, &models);
                Vec::new()
            }
            Some(OwnCommand::Todos) => {
                let rows = self.text.transcript.todo_rows(usize::MAX);
                if rows.is_empty() {
                    self.say(Style::Dim, commands::NO_TODOS);
                }
                self.text.push(&rows);
                Vec::new()
            }
            Some(OwnCommand::Vim) => {
                self.say(
                    Style::Dim,
                    "vi keys are not available with --plain: your terminal does the line editing.",
                );
                Vec::new()
            }
            Some(OwnCommand::Rewind(rest)) => self.rewind(&rest),
            Some(OwnCommand::Help) => {
                self.say(Style::Plain, commands::PLAIN_HELP);
                Vec::new()
            }
            Some(OwnCommand::Answer(text)) => {
                self.say(Style::Plain, &text);
                Vec::new()
            }
        })
    }

    fn now_model(&self) -> String {
        self.status.as_ref().map(|status| status.model.clone()).unwrap_or_default()
    }

    /// Enter ended the typed line on a terminal; in a pipe the line has to be written.
    fn echo(&mut self, line: &str) {
        let open = std::mem::replace(&mut self.open, false);
        if !self.echoed {
            let marker = if open { "" } else { MARKER };
            let mut lines = line.split('\n').map(|line| Styled::new(Style::Plain, line));
            let first = lines.next().unwrap_or_default().with_prefix(Style::User, marker);
            self.text.push(&[first]);
            self.text.push(&lines.collect::<Vec<_>>());
        }
    }

    fn marker(&self) -> Option<Styled> {
        if !self.draft.is_empty() {
            return Some(Styled::new(Style::User, GOES_ON));
        }
        match &self.question {
            Some(_) if self.settled() => Some(self.question_marker()),
            None if self.phase == Phase::Waiting => Some(Styled::new(Style::User, MARKER)),
            _ => None,
        }
    }

    /// Whether the question was visible long enough that what is typed now is meant for it.
    fn settled(&self) -> bool {
        self.asked.is_some_and(|asked| self.now.saturating_sub(asked) >= SETTLE)
    }

    /// When the next reminder is due.
    fn reminder_at(&self) -> Option<Now> {
        let (since, reminders) = self.quiet;
        let silent = self.busy() && self.question.is_none() && self.draft.is_empty();
        silent.then(|| since + QUIET[reminders.min(QUIET.len() - 1)])
    }

    fn remind(&mut self) {
        let what = if self.phase == Phase::Reviewing { "reviewing" } else { "working" };
        let minutes = self.now.saturating_sub(self.since).as_secs() / 60;
        let how_long = match (minutes / 60, minutes % 60) {
            (0, minutes) => format!("{minutes} min"),
            (hours, minutes) => format!("{hours} h {minutes:02} min"),
        };
        self.say(Style::Dim, &format!("Still {what}, {how_long}."));
    }

    fn write(&mut self, marker: Option<&Styled>) -> io::Result<()> {
        let mut out = Vec::new();
        if !self.text.pending.is_empty() {
            if std::mem::take(&mut self.open) {
                out.push(b'\n');
            }
            out.append(&mut self.text.pending);
        }
        if let Some(marker) = marker.filter(|_| !self.open) {
            marker.write(self.text.look.colour, &mut out);
            self.open = true;
        }
        if out.is_empty() {
            return Ok(());
        }
        self.text.out.write_all(&out)?;
        self.text.out.flush()
    }
}

impl<W: Write> Surface for LineSurface<W> {
    fn agent(&mut self, line: &Line) {
        for envelope in line.messages() {
            self.commands.learn(&envelope.message);
            if let Message::Introduced(told) = &envelope.message {
                self.models.clone_from(&told.models);
            }
        }
        self.text.agent(line);
    }

    fn supervisor(&mut self, line: &Line) {
        self.text.supervisor(line);
    }

    fn notice(&mut self, notice: &Notice) {
        if !(matches!(notice, Notice::UserMessage { .. }) && std::mem::take(&mut self.own_words)) {
            self.text.notice(notice);
        }
    }

    fn ask(&mut self, question: &Question) {
        self.forget_question();
        self.text.ask(question);
        self.question = Some(question.clone());
        self.begun_before_question = !self.draft.is_empty();
        self.say_choices();
    }

    fn unask(&mut self) {
        if self.question.is_some() {
            self.text.transcript.withdrawn();
            self.say(Style::Dim, "The question was withdrawn.");
        }
        self.forget_question();
    }

    fn update(&mut self, status: &Status, now: Now) -> io::Result<()> {
        (self.phase, self.since, self.now) = (status.phase, status.since, now);
        self.status = Some(status.clone());
        self.own_words = false;
        if !self.text.pending.is_empty() {
            self.quiet = (now, 0);
        } else if self.reminder_at().is_some_and(|at| at <= now) {
            self.remind();
            self.quiet = (now, self.quiet.1 + 1);
        }
        let marker = self.marker();
        self.write(marker.as_ref())?;
        if self.question.is_some() {
            self.asked.get_or_insert(now);
        }
        Ok(())
    }

    fn redraw_in(&self) -> Option<Duration> {
        let settled = self.asked.filter(|_| !self.settled()).map(|asked| asked + SETTLE);
        let next = [settled, self.reminder_at()].into_iter().flatten().min()?;
        Some(next.saturating_sub(self.now))
    }

    fn set_now(&mut self, now: Now) {
        self.now = now;
    }

    fn typed(&mut self, typed: Typed) -> Vec<Intent> {
        match typed {
            Typed::Line(line) => self.line(&line),
            Typed::Refused(why) => {
                self.open &= !self.echoed;
                self.draft.clear();
                self.say(Style::Bad, why);
                Vec::new()
            }
            Typed::End => vec![Intent::Event(Event::Leave)],
        }
    }

    fn interrupt(&mut self) -> Option<Vec<Intent>> {
        // The terminal has written "^C" and dropped the line being typed.
        self.open = true;
        let leaving = std::mem::take(&mut self.leaving);
        if !self.draft.is_empty() {
            self.draft.clear();
            self.say(Style::Dim, "Discarded what you typed.");
        } else if self.busy() {
            return Some(vec![Intent::Event(Event::Interrupt)]);
        } else if leaving.is_some_and(|at| self.now.saturating_sub(at) < SECOND_KEY) {
            return Some(vec![Intent::Event(Event::Leave)]);
        } else {
            self.leaving = Some(self.now);
            self.say(Style::Question, "Press Ctrl-C again to exit.");
        }
        Some(Vec::new())
    }

    fn ran(&mut self, command: &str, output: &str) {
        // Its output is on the screen already.
        self.shown_to_the_agent.push_str(&commands::shown_to_the_agent(command, output));
        self.shown_to_the_agent.push_str("\n\n");
        self.say(Style::Dim, "The agent will see this with your next message.");
    }

    fn diff(&mut self, text: &str) -> bool {
        let mut lines = diff::patch(text);
        let more = lines.len().saturating_sub(DIFF);
        lines.truncate(DIFF);
        self.text.push(&lines);
        if more > 0 {
            self.say(Style::Dim, &format!("... {more} more lines; `git diff` shows all."));
        }
        true
    }

    fn attached(&mut self, text: &str) {
        self.shown_to_the_agent.push_str(text);
        self.shown_to_the_agent.push('\n');
        self.say(Style::Dim, &format!("{text} will be sent with your next message."));
    }

    fn told(&mut self, text: Result<String, String>) {
        let (style, text) = text.map_or_else(
            |bad| (Style::Bad, console::without_numbers(&bad)),
            |good| (Style::Dim, good),
        );
        self.say(style, &text);
    }

    fn resume(&mut self) {
        // The shell has written below the marker.
        self.open = false;
    }

    fn close(&mut self, report: &Report) -> io::Result<()> {
        let lines = self.text.transcript.report(report);
        self.text.push(&lines);
        self.write(None)
    }
}
