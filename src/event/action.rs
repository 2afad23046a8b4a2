//! What the loop can ask to be done.

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
        /// The uuid of the last message that was sent.
        last: String,
    },
    RewindFiles {
        request_id: String,
        uuid: String,
    },
    /// A message came back for the person to edit again.
    GiveBack {
        text: String,
    },
    InterruptAgent {
        request_id: String,
    },
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
    /// Answer a client that asks whether a tool may run. Review 0 is the agent.
    Rule {
        review: u32,
        request_id: String,
        ruling: Ruling,
    },
    /// Ask the person this question; there is only one at a time.
    Ask(Question),
    /// Remove the question from the screen: nobody waits for its answer any more.
    Unask,
    /// A task begins: note the state of the files, so that later changes count as its work.
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
    TellSupervisor {
        review: u32,
        uuid: String,
        text: String,
    },
    Verify {
        review: u32,
        evidence: Vec<Evidence>,
        /// It is all that a confirmation rests on. A recording does not say so; it has the findings.
        confirms: bool,
    },
    /// End the review's process: it has given its verdict, or the review was dropped.
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
    /// The current content of the file in question, which the session adds for the surface to show.
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
    /// The person's messages in order, without feedback.
    pub said: Vec<Said>,
    pub last_answer: String,
    /// Background tasks of the agent that are still running.
    pub background: Vec<String>,
    /// What ccc itself found out about the work.
    pub brief: String,
    /// The requirements as the last round of this task found them.
    pub requirements: Vec<Requirement>,
    /// Rounds of this task that the person can go back to; a judge may call one better than the
    /// current state.
    pub earlier_rounds: Vec<u32>,
    /// A secret of this review's judge, drawn when the review begins so that nobody can know it
    /// earlier.
    pub word: Option<String>,
    pub judge: usize,
    /// The judge has not seen the conversation and gets nothing that the agent wrote.
    pub fresh: bool,
    /// For a fresh judge: the changes since the task began, line by line. Filled in when the review
    /// begins.
    pub diff: String,
}
