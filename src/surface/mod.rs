//! The user's side of a session: a terminal with a person at it, plain text, JSON lines, or one
//! JSON object. A surface shows what it is given and turns keys into events; it decides nothing.

use std::time::Duration;

use serde::Serialize;

use crate::event::{Event, Notice, Now, Outcome, Question, Round};
use crate::machine::Status;
use crate::stream::Line;

pub trait Surface {
    /// A line of the agent, as it came.
    fn agent(&mut self, line: &Line);
    /// A line of the supervisor, as it came.
    fn supervisor(&mut self, line: &Line);
    fn notice(&mut self, notice: &Notice);
    /// Put this question to the person; one at a time, until it is answered or taken back.
    fn ask(&mut self, _question: &Question) {}
    fn unask(&mut self) {}
    /// Where the session stands. Called after everything that happened, and again when
    /// `redraw_in` has passed. What was shown so far has to be on the screen after it.
    fn update(&mut self, status: &Status, now: Now) -> std::io::Result<()>;
    /// How soon `update` wants to be called again if nothing happens; `None` while nothing moves.
    fn redraw_in(&self) -> Option<Duration> {
        None
    }
    /// A key, a paste, a resize.
    fn input(&mut self, _input: crossterm::event::Event) -> Vec<Intent> {
        Vec::new()
    }
    /// Give the terminal back to the shell, and take it again.
    fn suspend(&mut self) {}
    fn resume(&mut self) {}
    /// The session is over. Leaves the terminal as it was found.
    fn close(&mut self, report: &Report) -> std::io::Result<()>;
}

/// What a person at the terminal wants.
#[derive(Debug, PartialEq)]
pub enum Intent {
    Event(Event),
    /// Ctrl-Z.
    Suspend,
}

/// The session in one object, for its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub outcome: Outcome,
    pub exit_code: i32,
    pub session_id: Option<String>,
    pub rounds: Vec<Round>,
    /// What the agent said last.
    pub result: String,
    pub cost_usd: f64,
    pub seconds: Seconds,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Seconds {
    pub total: f64,
    pub working: f64,
    pub reviewing: f64,
}
