//! How a session ends, and the report of it.

use serde::{Deserialize, Serialize};

use crate::client::stream::Usage;
use crate::review::permission::Denied;
use crate::review::verdict::Verdict;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "detail")]
pub enum Outcome {
    Completed,
    Ended,
    /// There was nothing to judge: the turn was a slash command, or supervision is off.
    Unreviewed,
    Failed(String),
    /// The session's output cannot be written; the system's reason.
    Unwritten(String),
    Limit,
    NoVerdict(String),
    /// Only the person can decide or do what is missing; the text says what.
    Blocked(String),
    Impossible(String),
    Stuck(String),
    Signal(i32),
    /// The client exited by itself: before it spoke the protocol, as with `--help`, or from its own
    /// screen.
    ClientLeft(i32),
}

impl Outcome {
    /// The name in reports and fixtures.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Ended => "ended",
            Outcome::Unreviewed => "unreviewed",
            Outcome::Failed(_) => "failed",
            Outcome::Unwritten(_) => "unwritten",
            Outcome::Limit => "limit",
            Outcome::NoVerdict(_) => "no_verdict",
            Outcome::Blocked(_) => "blocked",
            Outcome::Impossible(_) => "impossible",
            Outcome::Stuck(_) => "stuck",
            Outcome::Signal(_) => "signal",
            Outcome::ClientLeft(_) => "client_left",
        }
    }

    pub fn exit_code(&self) -> i32 {
        match self {
            Outcome::Completed | Outcome::Ended | Outcome::Unreviewed => 0,
            Outcome::Failed(_) | Outcome::Unwritten(_) => 1,
            Outcome::Limit => 3,
            Outcome::NoVerdict(_) => 4,
            Outcome::Blocked(_) | Outcome::Impossible(_) => 5,
            Outcome::Stuck(_) => 6,
            Outcome::Signal(signal) => 128 + signal,
            Outcome::ClientLeft(code) => *code,
        }
    }
}

/// A confirmed or rejected round, for the closing report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    pub round: u32,
    #[serde(flatten)]
    pub verdict: Verdict,
    pub seconds: f64,
    pub cost_usd: f64,
    #[serde(default, skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
}

/// The whole session in one object, written at its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    #[serde(flatten)]
    pub outcome: Outcome,
    pub exit_code: i32,
    pub session_id: Option<String>,
    pub rounds: Vec<Round>,
    pub result: String,
    /// What the agent wanted to do and was not allowed to.
    #[serde(default)]
    pub denials: Vec<Denied>,
    /// The cost of the agent's work and the reviews together.
    pub cost_usd: f64,
    /// The part that went into reviews.
    #[serde(default)]
    pub supervision: Supervision,
    pub seconds: Seconds,
}

/// What the reviews of a session have cost, those without a verdict included.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Supervision {
    pub reviews: u32,
    pub cost_usd: f64,
    pub usage: Usage,
}

impl std::ops::AddAssign for Supervision {
    fn add_assign(&mut self, other: Self) {
        self.reviews += other.reviews;
        self.cost_usd += other.cost_usd;
        self.usage += other.usage;
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Seconds {
    pub total: f64,
    pub working: f64,
    pub reviewing: f64,
}
