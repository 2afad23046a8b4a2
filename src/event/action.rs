//! What the loop can want done.

use serde::{Deserialize, Serialize};

use super::{Notice, Outcome, Said};
use crate::checks::Check;
use crate::client::stream::{ClientRequest, Permission, PermissionRequest};
use crate::review::permission::Ruling;
use crate::review::requirement::{Evidence, Requirement};

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
    RewindConversation {
        request_id: String,
        uuid: String,
        /// The last message that was sent.
        last: String,
    },
    RewindFiles {
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
    /// Ask something of the agent's client.
    AskClient {
        request_id: String,
        request: ClientRequest,
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
    /// The judge's client asks whether a tool may run. Review 0 is the agent.
    Rule {
        review: u32,
        request_id: String,
        ruling: Ruling,
    },
    /// Put this question to the person; one at a time.
    Ask(Question),
    /// The question on the screen is no longer one.
    Unask,
    /// A task begins: what changes from here on is its work.
    NoteFiles,
    /// Compare the project's files with how they were when the task began.
    Examine {
        id: u32,
    },
    StartCheck {
        check: u32,
        what: Box<Check>,
    },
    StopCheck {
        check: u32,
    },
    StartReview(Box<ReviewRequest>),
    /// One more message to the supervisor of the running review.
    TellSupervisor {
        review: u32,
        uuid: String,
        text: String,
    },
    /// Look up whether this evidence exists.
    Verify {
        review: u32,
        evidence: Vec<Evidence>,
    },
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
    /// What the file that it is about holds now: found out by the session, for whoever shows it.
    pub before: Option<String>,
    pub asker: Asker,
    pub request_id: String,
    pub asked: PermissionRequest,
}

/// Everything a review needs to know about the session.
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// What ccc found out about the work itself.
    pub brief: String,
    /// What the last round of this task found.
    pub requirements: Vec<Requirement>,
    /// Rounds of this task that the person can go back to: a judge may name one as better than now.
    pub earlier_rounds: Vec<u32>,
    /// Known to this review's judge only. Drawn when the review begins, so that nobody can know it before.
    pub word: Option<String>,
    /// Which one of several judges is asked.
    pub judge: usize,
    /// It has not seen the conversation, and is told nothing in the agent's words.
    pub fresh: bool,
    /// For fresh eyes: what changed since the task began, line by line. Put in when the review begins.
    pub diff: String,
}
