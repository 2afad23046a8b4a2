//! What can happen in a session, and what the loop can ask to be done about it. The enums are
//! closed, so for every new variant the compiler lists the places that must handle it.

mod action;
mod notice;
mod outcome;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::brief::facts::Examined;
use crate::client::mode::PermissionMode;
use crate::client::stream::{Envelope, Permission};
use crate::review::requirement::Requirement;

pub use action::{Action, Asker, Question, ReviewRequest};
pub use notice::{Dropped, Notice, Phase, file_changed};
pub use outcome::{Outcome, Report, Round, Seconds, Supervision};

/// An event, serialised as in a recording. The clients' own lines are skipped here: a recording
/// stores them in separate files and counts them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "saw", rename_all = "snake_case")]
pub enum Event {
    /// The session begins; a prompt given on the command line is its first message.
    Start {
        prompt: Option<String>,
    },
    #[serde(with = "recorded::text")]
    Said(String),
    /// The person takes back the last message that the agent has not taken up yet.
    TakeBack,
    /// The person wants to go back to the state before this message.
    GoBack {
        uuid: String,
        what: GoBack,
    },
    Interrupt,
    Leave,
    /// The person wants something from the agent's client itself.
    Wish(Wish),
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
    /// The project's files were examined, as `Action::Examine` asked.
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
    /// A review is about to begin. Its judge gets a secret word; this is the form in which ccc
    /// keeps it (`review::word`).
    ReviewPrepared {
        review: u32,
        word: String,
    },
    /// Evidence was looked up: for each piece the reason why it does not hold, if there is one.
    Verified {
        review: u32,
        findings: Vec<Option<String>>,
    },
    /// The time that `Machine::deadline` named has come.
    Tick,
    #[serde(with = "recorded::signal")]
    Signal(i32),
    /// An earlier run of this session was found.
    Restored(Carried),
    /// The client is in this conversation now: it began, cleared or resumed one.
    Conversation {
        session_id: String,
    },
    /// The person went back to before these messages in the client's own screen.
    Unsaid {
        texts: Vec<String>,
        /// They took the messages out of the client's queue, before the agent had them.
        #[serde(default, skip_serializing_if = "is_default")]
        from_queue: bool,
    },
    /// Files of the project changed while this review ran: some of them by name, and how many more.
    TreeChanged {
        review: u32,
        files: Vec<ChangedFile>,
        #[serde(default)]
        more: usize,
    },
}

/// What the person can want from the agent's client, apart from messages to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "wish", content = "to", rename_all = "snake_case")]
pub enum Wish {
    NextMode,
    Mode(PermissionMode),
    Model(String),
    /// A report of what fills the model's context window.
    Context,
    /// The running tool should continue in the background.
    Background,
}

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

/// Events with a single value, which has a name in a recording.
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

/// For serde, which then leaves the field out.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

const UNSTARTED: &str = "did not start";

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Gone {
    /// "exited with code 1", "was ended by SIGKILL"
    pub how: String,
    pub code: Option<i32>,
    /// The last plain text it printed, usually the reason.
    pub last_words: String,
}

impl Gone {
    pub fn unstarted(why: &impl std::fmt::Display) -> Self {
        Self { how: format!("{UNSTARTED}: {why:#}"), ..Self::default() }
    }

    pub fn never_started(&self) -> bool {
        self.how.starts_with(UNSTARTED)
    }

    /// "claude exited with code 1: no credit"
    pub fn told_about(&self, whom: &str) -> String {
        match self.last_words.as_str() {
            "" => format!("{whom} {}", self.how),
            words => format!("{whom} {}: {words}", self.how),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Said {
    pub text: String,
    /// Whether the message belongs to an earlier task rather than the current one.
    pub earlier: bool,
    /// The agent's question that this is the answer to. The agent's own words: no evidence of what the
    /// person wants.
    #[serde(default, skip_serializing_if = "is_default")]
    pub question: Option<String>,
}

/// The state that an earlier run of the same session left.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Carried {
    pub round: u32,
    /// The last task was confirmed or its limit was reached, so the next message starts a new one.
    pub fresh: bool,
    pub said: Vec<Said>,
    pub cost_usd: f64,
    /// The part of `cost_usd` that the agent's client counted itself. A resumed client may continue
    /// from there.
    #[serde(default)]
    pub agent_usd: f64,
    /// The requirements as the last review found them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// How the run ended, to show to the person; earlier versions did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoBack {
    Both,
    Conversation,
    Files,
}

impl GoBack {
    pub fn files(self) -> bool {
        self != Self::Conversation
    }

    pub fn conversation(self) -> bool {
        self != Self::Files
    }
}

/// The last messages of an earlier run, and the state of its task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    pub message: String,
    pub answer: String,
    pub stood: Stood,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stood {
    Confirmed,
    /// A review found something missing: this many requirements are open.
    Open(usize),
    /// The limit was reached, or there was no verdict.
    Undecided,
    /// The last work was never judged.
    Unreviewed,
}

/// Time since the session began; the core has no clock of its own.
pub type Now = Duration;
