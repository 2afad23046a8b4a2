//! What can happen in a session, and what the loop can want done about it. Closed enums: a new
//! thing that happens is a new variant, and the compiler names every place that must know it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::brief::facts::Examined;
use crate::checks::Check;
use crate::checks::result::CheckResult;
use crate::client::case::Held;
use crate::client::stream::{Envelope, Permission, PermissionRequest, Usage};
use crate::review::permission::Ruling;
use crate::review::requirement::{Evidence, Requirement};
use crate::review::verdict::Verdict;

/// Its serialised form is the one of a recording; the clients' own lines are counted there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "saw", rename_all = "snake_case")]
pub enum Event {
    /// The session begins; a prompt given on the command line is its first message.
    Start {
        prompt: Option<String>,
    },
    #[serde(with = "recorded::text")]
    Said(String),
    /// The person wants the last message back that the agent has not taken up yet.
    TakeBack,
    Interrupt,
    Leave,
    Answered {
        request_id: String,
        answer: Permission,
    },
    #[serde(skip)]
    Agent(Envelope),
    AgentGone(Gone),
    #[serde(skip)]
    Supervisor {
        review: u32,
        envelope: Envelope,
    },
    SupervisorGone {
        review: u32,
        #[serde(flatten)]
        gone: Gone,
    },
    /// The project's files were looked at, as `Action::Examine` wanted.
    Examined {
        id: u32,
        #[serde(flatten)]
        examined: Examined,
    },
    CheckPrinted {
        check: u32,
        text: String,
    },
    CheckGone {
        check: u32,
        #[serde(flatten)]
        gone: Gone,
    },
    /// A review is about to begin: its judge gets this word, which nobody else knows.
    ReviewPrepared {
        review: u32,
        word: String,
    },
    /// Evidence was looked up: for each piece why it does not hold, or nothing.
    Verified {
        review: u32,
        findings: Vec<Option<String>>,
    },
    /// The moment that `Machine::deadline` named has come.
    Tick,
    /// A signal asks the session to end.
    #[serde(with = "recorded::signal")]
    Signal(i32),
    /// The session that the client went on with has been here before.
    Restored(Carried),
    /// Files of the project changed while this review ran, and so many more than are named.
    TreeChanged {
        review: u32,
        files: Vec<ChangedFile>,
        #[serde(default)]
        more: usize,
    },
}

/// A file of the project that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    pub path: String,
    pub kind: ChangeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

impl fmt::Display for ChangedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.kind {
            ChangeKind::Added => "added",
            ChangeKind::Modified => "changed",
            ChangeKind::Deleted => "deleted",
        };
        write!(f, "{} ({how})", self.path)
    }
}

/// Events of a single value: on record it has a name.
mod recorded {
    macro_rules! named {
        ($module:ident, $field:ident: $type:ty, $borrowed:ty) => {
            pub mod $module {
                use serde::{Deserialize, Deserializer, Serialize, Serializer};

                #[derive(Serialize, Deserialize)]
                struct Named {
                    $field: $type,
                }

                pub fn serialize<S: Serializer>(
                    $field: $borrowed,
                    to: S,
                ) -> Result<S::Ok, S::Error> {
                    Named { $field: $field.to_owned() }.serialize(to)
                }

                pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                    Named::deserialize(from).map(|named| named.$field)
                }
            }
        };
    }
    named!(text, text: String, &str);
    named!(signal, signal: i32, &i32);
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

impl Gone {
    /// "claude exited with code 1: no credit"
    pub fn told_of(&self, whom: &str) -> String {
        match self.last_words.as_str() {
            "" => format!("{whom} {}", self.how),
            words => format!("{whom} {}: {words}", self.how),
        }
    }
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
    /// Known to this review's judge only. Drawn when the review begins, so that nobody can know it before.
    pub word: Option<String>,
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
    CheckStarted {
        name: String,
        run: String,
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
    /// Nobody takes what the session prints; why, as the system says it.
    Unwritten(String),
    Limit,
    NoVerdict(String),
    /// Only the person can decide or do what is missing, which is said here.
    Blocked(String),
    /// It cannot be done.
    Impossible(String),
    /// It goes in circles.
    Stuck(String),
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
    /// Of all: the agent's work and the reviews.
    pub cost_usd: f64,
    /// What of it went into reviews.
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
    /// What the last review of its task found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_none(more: &usize) -> bool {
    *more == 0
}

/// Time since the session began; the core has no clock of its own.
pub type Now = Duration;
