//! What can happen in a session, and what the loop can want done about it. Closed enums: a new
//! thing that happens is a new variant, and the compiler names every place that must know it.

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
    /// The person wants to go back to how things were before this message.
    GoBack {
        uuid: String,
        what: GoBack,
    },
    Interrupt,
    Leave,
    /// The person wants something of the agent's client itself.
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
    /// A review is about to begin: its judge gets a word that nobody else knows, and this is by what it is
    /// known (`review::word`).
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
    /// The client is in this conversation now: it began one, cleared it or took up another.
    Conversation {
        session_id: String,
    },
    /// The person went back to before these words of theirs, in the client's own screen.
    Unsaid {
        texts: Vec<String>,
    },
    /// Files of the project changed while this review ran, and so many more than are named.
    TreeChanged {
        review: u32,
        files: Vec<ChangedFile>,
        #[serde(default)]
        more: usize,
    },
}

/// What a person can want of the agent's client that is no message to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "wish", content = "to", rename_all = "snake_case")]
pub enum Wish {
    /// Another permission mode: the next one, or this one.
    NextMode,
    Mode(PermissionMode),
    Model(String),
    /// To know what fills the model's window.
    Context,
    /// What runs now is to go on in the background.
    Background,
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    pub text: String,
    /// An earlier task, already confirmed, or the one under review.
    pub earlier: bool,
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
    /// How it ended, for the person; earlier versions did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
}

/// What goes back to an earlier message.
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

/// The last words of an earlier run, and how its task stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// The person's last message.
    pub message: String,
    /// How the agent's last answer ended.
    pub answer: String,
    pub stood: Stood,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stood {
    Confirmed,
    /// A review found something missing: so many requirements are open.
    Open(usize),
    /// The limit was reached, or no verdict was to be had.
    Undecided,
    /// Its last work was never judged.
    Unreviewed,
}

/// Time since the session began; the core has no clock of its own.
pub type Now = Duration;
