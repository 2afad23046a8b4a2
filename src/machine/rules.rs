//! The settings that are fixed before a session begins.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::checks::Check;
use crate::client::mode::PermissionMode;
use crate::event::Carried;
use crate::review::front_matter::Proof;
use crate::review::policy::Judging;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// A person is there to type and to answer questions.
    pub person: bool,
    pub supervising: bool,
    pub max_iterations: u32,
    pub review_timeout: Duration,
    #[serde(default)]
    pub judging: Judging,
    #[serde(default)]
    pub checking: CheckingRules,
    #[serde(default)]
    pub modes: Modes,
    /// Newer rules, which older recordings were made without: a message that the agent never took
    /// up is reported; a review that is running when the count restarts belongs to the new count;
    /// only the person moves the agent to another conversation; a turn in which a tool was used is
    /// work, whatever its result says; message ids differ in their first part.
    #[serde(default)]
    pub careful: bool,
    /// How long a review waits for background tasks, since a server never ends.
    pub background_wait: Duration,
    pub resume: Option<String>,
    /// The user's arguments make the client print something and exit, as `--help` does.
    pub client_may_leave: bool,
    /// Makes message ids unique to this session: the client drops an id that it has seen before.
    pub seed: u64,
    pub carried: Option<Carried>,
    #[serde(default, skip_serializing_if = "crate::event::is_default")]
    pub typed_into: TypedInto,
}

/// Where the person types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypedInto {
    /// Into ccc, which sends it to the agent.
    #[default]
    Ccc,
    /// Into the client's own screen. The client reports it to ccc, which sends only feedback, and
    /// only when the agent has stopped. ccc asks the person nothing, and the session ends with the
    /// client.
    Client,
}

/// What happens before a judge is asked. The default is the behaviour of older recordings, which
/// lack this field.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckingRules {
    /// ccc finds out which of the project's files have changed since the task began.
    pub examines: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Checks that nobody has allowed: they do not run, and ccc says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<Check>,
}

/// Permission modes. The default is the behaviour of older recordings, which lack this field and
/// report no modes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Modes {
    pub told: bool,
    /// The mode that the client starts in, if known; older clients report it only with the first
    /// turn.
    pub begins: Option<PermissionMode>,
    /// The provider offers the check that auto mode needs.
    pub auto: bool,
    /// Nobody has chosen a mode, so the session uses the one that the client's own screen would
    /// begin in.
    pub unchosen: bool,
    /// The client was started with permission to skip permissions.
    pub bypass: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            person: true,
            supervising: true,
            max_iterations: 10,
            review_timeout: Duration::from_secs(600),
            judging: Judging::today(Proof::Off),
            checking: CheckingRules::default(),
            modes: Modes::default(),
            careful: true,
            background_wait: Duration::from_secs(600),
            resume: None,
            client_may_leave: false,
            seed: 0,
            carried: None,
            typed_into: TypedInto::Ccc,
        }
    }
}
