//! The state of the session, for the status line, the recording and the final report.

use super::{Machine, RewindPoint};
use crate::checks::suite::RunningCheck;
use crate::client::mode::PermissionMode;
use crate::client::stream::RateLimit;
use crate::event::{Now, Outcome, Phase, Report};

#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub phase: Phase,
    pub since: Now,
    pub round: u32,
    pub max: u32,
    pub supervising: bool,
    pub model: String,
    pub background: usize,
    pub cost_usd: f64,
    /// The part of `cost_usd` that reviews cost.
    pub reviews_usd: f64,
    /// Unknown until the client has reported it.
    pub mode: Option<PermissionMode>,
    pub limit: Option<RateLimit>,
    /// Tokens in the conversation, and the size of the model's context window.
    pub context: Option<(u64, Option<u64>)>,
    /// Messages of the person that the agent has not taken up yet.
    pub queued: Vec<String>,
    pub check: Option<RunningCheck>,
    /// What the person can go back to, newest first.
    pub points: Vec<RewindPoint>,
    /// How many of the person's requirements the last review found met, and how many there are; not
    /// after a confirmation that rests on fewer than all of them.
    pub met: Option<(usize, usize)>,
    /// Open questions to the person, including the one on the screen.
    pub questions: usize,
}

impl Machine {
    pub fn status(&self) -> Status {
        Status {
            phase: self.phase,
            since: self.spent.phase_since(),
            round: self.task.round,
            max: self.rules.max_iterations,
            supervising: self.supervising,
            model: self.client.model.as_ref().unwrap_or(&self.conversation.model).clone(),
            reviews_usd: self.spent.cost.reviews(),
            mode: self.client.mode.clone(),
            limit: self.client.limit.clone(),
            background: self.background.len(),
            cost_usd: self.spent.cost.total(),
            context: self.conversation.context(),
            queued: self.outbox.steering(),
            points: if self.phase == Phase::Waiting { self.points.offered() } else { Vec::new() },
            check: self.running_check(),
            met: self.task.met(),
            questions: self.questions.len(),
        }
    }

    /// The agent is in the middle of a turn, or about to begin one.
    pub fn is_busy(&self) -> bool {
        self.turn.is_open() || !self.outbox.is_empty()
    }

    /// Whether a deadline is pending that the agent's lines can move. The recording must then
    /// contain the time of each line.
    pub fn is_timing(&self) -> bool {
        self.background.deadline().is_some()
    }

    pub fn report(&self, outcome: Outcome, now: Now) -> Report {
        // A session that could not even start cannot be resumed.
        let begun = self.process.spoke || !matches!(outcome, Outcome::Failed(_));
        Report {
            exit_code: outcome.exit_code(),
            outcome,
            session_id: self.conversation.id().filter(|_| begun).cloned(),
            rounds: self.spent.rounds.clone(),
            result: self.conversation.last_answer.clone(),
            denials: self.denials.clone(),
            cost_usd: self.spent.cost.total(),
            supervision: self.spent.supervision(),
            seconds: self.spent.seconds(now),
        }
    }
}
