//! What the loop reports.

use serde::{Deserialize, Serialize};

use super::{Asker, ChangedFile};
use super::{Ending, GoBack};
use crate::checks::result::CheckResult;
use crate::client::case::CaseKind;
use crate::client::mode::PermissionMode;
use crate::client::stream::Usage;
use crate::review::opinion::Opinion;
use crate::review::policy::Seat;
use crate::review::requirement::Requirement;
use crate::review::verdict::Verdict;

/// A report of the loop. The screen, `--output-format stream-json` and `events.jsonl` all use this
/// one enum, so they cannot contradict each other.
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
    /// The session continues an earlier run: its last round, and how many messages it had.
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
    Feedback {
        round: u32,
        text: String,
    },
    Supervision {
        on: bool,
    },
    /// The permission mode changed; the first of these is the mode that the session began in.
    Mode {
        mode: PermissionMode,
    },
    /// The agent's client refused what the person wanted from it.
    WishRefused {
        what: String,
        why: String,
    },
    /// The running tool continues in the background.
    Backgrounded,
    CheckStarted {
        name: String,
        run: String,
        /// How many seconds the check may take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<f64>,
    },
    CheckEnded(CheckResult),
    /// What ccc found out about the work, as the judge reads it.
    Brief {
        round: u32,
        text: String,
    },
    ChecksChangedFiles,
    ReviewStarted {
        round: u32,
        max: u32,
        attempt: u32,
        /// Which judge, if there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judge: Option<Seat>,
    },
    Opinion {
        round: u32,
        #[serde(flatten)]
        opinion: Opinion,
    },
    /// What keeps the judge of this review from changing the project, and why it is nothing better.
    ReviewCase {
        round: u32,
        held: CaseKind,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// A warning: nothing in the project should change while it is judged.
    TreeChanged {
        round: u32,
        files: Vec<ChangedFile>,
        #[serde(default, skip_serializing_if = "super::is_default")]
        more: usize,
    },
    Verdict {
        round: u32,
        #[serde(default)]
        max: u32,
        #[serde(default)]
        seconds: f64,
        /// The cost of this review. In older recordings, that of the whole session so far.
        #[serde(default)]
        cost_usd: f64,
        /// The cost of the whole session so far.
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
    /// The task goes in circles: how ccc noticed, and what is still open.
    Stuck {
        why: String,
        open: Vec<Requirement>,
        /// What the last review said. The agent does not get it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        feedback: String,
    },
    TurnFailed {
        error: String,
    },
    Interrupted,
    /// A message of the person was taken back, or it was too late for that.
    TakenBack {
        text: String,
        too_late: bool,
    },
    /// The agent never took up this message of the person, and ccc no longer waits for that.
    NotTakenUp {
        text: String,
    },
    /// The conversation, the files or both went back to their state before a message.
    WentBack {
        text: String,
        what: GoBack,
    },
    /// Going back failed, and why.
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
    /// The agent's client has been silent for this long during its turn. It comes from the session,
    /// not from the loop, so it is not recorded.
    Silent {
        seconds: u64,
    },
    /// A file that was read when the session began has changed since. It comes from the session,
    /// not from the loop, so it is not recorded.
    FileChanged {
        what: String,
        /// The round in which the change was first seen.
        round: u32,
        /// The changed file is used anyway: ccc cannot keep it from the supervisor.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        applies: bool,
    },
    /// Part of the recording cannot be written. It comes from the recorder, not from the loop, so
    /// it is not recorded.
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
    Waiting,
    Working,
    Reviewing,
    Ended,
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
