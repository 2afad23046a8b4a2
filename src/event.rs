//! What can happen in a session, and what the loop can want done about it. Closed enums: a new
//! thing that happens is a new variant, and the compiler names every place that must know it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::stream::{Envelope, Permission, PermissionRequest};
use crate::verdict::Verdict;

#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The session begins; a prompt given on the command line is its first message.
    Start {
        prompt: Option<String>,
    },
    Said(String),
    /// The person wants the last message back that the agent has not taken up yet.
    TakeBack,
    Interrupt,
    Leave,
    Answered {
        request_id: String,
        answer: Permission,
    },
    Agent(Envelope),
    AgentGone(Gone),
    Supervisor {
        review: u32,
        envelope: Envelope,
    },
    SupervisorGone {
        review: u32,
        gone: Gone,
    },
    /// The moment that `Machine::deadline` named has come.
    Tick,
    /// A signal asks the session to end.
    Signal(i32),
    /// The session that the client went on with has been here before.
    Restored(Carried),
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Gone {
    /// "exited with code 1", "was ended by signal 9"
    pub how: String,
    pub code: Option<i32>,
    /// The last plain text it printed, usually the reason.
    pub last_words: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    StartAgent {
        resume: Option<String>,
    },
    Send {
        uuid: String,
        text: String,
    },
    /// Ask the client to forget a message that the agent has not taken up yet.
    CancelMessage {
        request_id: String,
        uuid: String,
    },
    /// A message came back: it is the person's to edit again.
    GiveBack {
        text: String,
    },
    InterruptAgent {
        request_id: String,
    },
    Answer {
        asker: Asker,
        request_id: String,
        asked: PermissionRequest,
        answer: Permission,
    },
    Refuse {
        asker: Asker,
        request_id: String,
        subtype: String,
    },
    /// Put this question to the person; one at a time.
    Ask(Question),
    /// The question on the screen is no longer one.
    Unask,
    StartReview(Box<ReviewRequest>),
    /// The review has its verdict, or nobody wants it any more: end its process.
    StopReview {
        review: u32,
    },
    Say(Notice),
    Finish(Outcome),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asker {
    Agent,
    Supervisor,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub asker: Asker,
    pub request_id: String,
    pub asked: PermissionRequest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The person's turn.
    Waiting,
    Working,
    Reviewing,
    Ended,
}

/// Everything a review needs to know about the session.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewRequest {
    pub review: u32,
    pub round: u32,
    pub max: u32,
    pub session_id: String,
    pub model: String,
    /// What the person said, in order; feedback is not among it.
    pub said: Vec<Said>,
    pub last_answer: String,
    /// Background tasks of the agent that are still running.
    pub background: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub text: String,
    /// An earlier task, already confirmed, or the one under review.
    pub earlier: bool,
}

/// What the loop has to say. One enum for the screen, for `--output-format stream-json` and for
/// `events.jsonl`, so that the three cannot tell different stories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Notice {
    Started {
        supervising: bool,
        max_iterations: u32,
    },
    Phase {
        phase: Phase,
        round: u32,
        max: u32,
    },
    Session {
        session_id: String,
    },
    /// An earlier run of the session is gone on with: its last round, and how much was said in it.
    Resumed {
        round: u32,
        max: u32,
        messages: usize,
        cost_usd: f64,
    },
    UserMessage {
        text: String,
    },
    /// What went to the agent in the supervisor's name.
    Feedback {
        round: u32,
        text: String,
    },
    Supervision {
        on: bool,
    },
    ReviewStarted {
        round: u32,
        max: u32,
        attempt: u32,
    },
    Verdict {
        round: u32,
        #[serde(default)]
        max: u32,
        /// How long the review took.
        #[serde(default)]
        seconds: f64,
        /// Of the whole session so far.
        #[serde(default)]
        cost_usd: f64,
        #[serde(flatten)]
        verdict: Verdict,
    },
    ReviewFailed {
        round: u32,
        reason: String,
        retrying: bool,
    },
    ReviewDropped {
        round: u32,
        why: Dropped,
    },
    LimitReached {
        max: u32,
    },
    TurnFailed {
        error: String,
    },
    Interrupted,
    /// A message of the person was taken back; or it was too late for that.
    TakenBack {
        text: String,
        too_late: bool,
    },
    WaitingForBackground {
        tasks: Vec<String>,
    },
    PermissionAsked {
        asker: Asker,
        tool: String,
    },
    PermissionAnswered {
        asker: Asker,
        tool: String,
        allowed: bool,
        reason: String,
    },
    AgentGone {
        how: String,
        last_words: String,
        resuming: bool,
    },
    /// A part of the recording cannot be written. It comes from the recorder, not from the loop, and
    /// so it is not on record itself.
    NotRecorded {
        what: String,
        why: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    UserMessage,
    Interrupt,
    AgentWoke,
    SwitchedOff,
    SessionEnded,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "detail")]
pub enum Outcome {
    /// The supervisor confirmed it.
    Completed,
    /// The person ended the session.
    Ended,
    /// The turn was no work to judge: a slash command, or supervision is off.
    Unreviewed,
    Failed(String),
    Limit,
    NoVerdict(String),
    Signal(i32),
    /// The client left by itself before it spoke the protocol, as for `--help`.
    ClientLeft(i32),
}

impl Outcome {
    /// As it stands in reports and fixtures.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Ended => "ended",
            Outcome::Unreviewed => "unreviewed",
            Outcome::Failed(_) => "failed",
            Outcome::Limit => "limit",
            Outcome::NoVerdict(_) => "no_verdict",
            Outcome::Signal(_) => "signal",
            Outcome::ClientLeft(_) => "client_left",
        }
    }

    pub fn exit_code(&self) -> i32 {
        match self {
            Outcome::Completed | Outcome::Ended | Outcome::Unreviewed => 0,
            Outcome::Failed(_) => 1,
            Outcome::Limit => 3,
            Outcome::NoVerdict(_) => 4,
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
}

/// The session in one object, for its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Seconds {
    pub total: f64,
    pub working: f64,
    pub reviewing: f64,
}

/// What an earlier run of the same session left: it goes on from there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Carried {
    pub round: u32,
    /// The last task was confirmed, or its limit reached: the next message starts a new one.
    pub fresh: bool,
    pub said: Vec<Said>,
    pub cost_usd: f64,
    /// What the agent's client counted itself, as part of it. A resumed client may go on from there.
    #[serde(default)]
    pub agent_usd: f64,
}

/// Time since the session began; the core has no clock of its own.
pub type Now = Duration;
