//! What the loop has to say.

use serde::{Deserialize, Serialize};

use super::{Asker, ChangedFile};
use super::{Ending, GoBack};
use crate::checks::result::CheckResult;
use crate::client::case::Held;
use crate::client::mode::PermissionMode;
use crate::client::stream::Usage;
use crate::review::opinion::Opinion;
use crate::review::policy::Seat;
use crate::review::requirement::Requirement;
use crate::review::verdict::Verdict;

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
    /// The session continues an earlier run: that run's last round, and how much was said in it.
    Resumed {
        round: u32,
        max: u32,
        messages: usize,
        cost_usd: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ending: Option<Ending>,
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
    /// The permission mode is another one now; the first is what the session began in.
    Mode {
        mode: PermissionMode,
    },
    /// The agent's client does not do what the person wanted of it.
    WishRefused {
        what: String,
        why: String,
    },
    /// What runs now goes on in the background.
    Backgrounded,
    CheckStarted {
        name: String,
        run: String,
        /// How many seconds it has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<f64>,
    },
    CheckEnded(CheckResult),
    /// What ccc found out about the work, as the judge is told it.
    Brief {
        round: u32,
        text: String,
    },
    /// Files are not what they were before the checks ran.
    ChecksChangedFiles,
    ReviewStarted {
        round: u32,
        max: u32,
        attempt: u32,
        /// Which one of several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judge: Option<Seat>,
    },
    /// What one of several judges said.
    Opinion {
        round: u32,
        #[serde(flatten)]
        opinion: Opinion,
    },
    /// What keeps the judge of this review from changing the project, and why it is not something better.
    ReviewCase {
        round: u32,
        held: Held,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// An alarm: nothing of the project should change while it is judged.
    TreeChanged {
        round: u32,
        files: Vec<ChangedFile>,
        #[serde(default, skip_serializing_if = "is_none")]
        more: usize,
    },
    Verdict {
        round: u32,
        #[serde(default)]
        max: u32,
        /// How long the review took.
        #[serde(default)]
        seconds: f64,
        /// Of this review. In older recordings: of the whole session so far.
        #[serde(default)]
        cost_usd: f64,
        /// Of the whole session so far.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_usd: Option<f64>,
        #[serde(default, skip_serializing_if = "Usage::is_empty")]
        usage: Usage,
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
    /// The task goes in circles: why that is said, and what is still open.
    Stuck {
        why: String,
        open: Vec<Requirement>,
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
    /// The agent never said that it took this message of the person up, and nobody waits for it any more.
    NotTakenUp {
        text: String,
    },
    /// The conversation, the files or both are as they were before a message.
    WentBack {
        text: String,
        what: GoBack,
    },
    /// They are not, and why.
    NotGoneBack {
        what: GoBack,
        why: String,
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
    /// The agent's client has said nothing for so long, though it is its turn. It comes from the
    /// session, not from the loop, and so it is not on record.
    Silent {
        seconds: u64,
    },
    /// A file that counts as it was when the session began is not what it was. It comes from the
    /// session, not from the loop, and so it is not on record itself.
    FileChanged {
        what: String,
        /// In which it was first seen.
        round: u32,
        /// It is used all the same, and nothing can keep the supervisor from it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        applies: bool,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The person's turn.
    Waiting,
    Working,
    Reviewing,
    Ended,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_none(more: &usize) -> bool {
    *more == 0
}

/// What a person is told about a `FileChanged`.
pub fn file_changed(what: &str, round: u32, applies: bool) -> String {
    if applies {
        return format!(
            "{what} was changed in round {round}, and the supervisor uses the changed version: check \
             that you trust it."
        );
    }
    format!(
        "{what} was changed in round {round}. Reviews still use the version from the start of the \
         session; to use the changed one, exit and start ccc again with --continue."
    )
}
