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
    /// Somebody is there to type and to answer questions.
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
    /// A message that the agent never took up is told to the person; a review that runs while the count
    /// begins anew is in the new count; only the person moves the agent to another conversation; a turn in
    /// which a tool was used is work, whatever its result says; ids of messages differ in their first part. Older
    /// recordings did without all of it.
    #[serde(default)]
    pub careful: bool,
    /// A server started in the background never ends; after this long its review goes ahead.
    pub background_wait: Duration,
    pub resume: Option<String>,
    /// The user's arguments make the client print something and leave, as `--help` does.
    pub client_may_leave: bool,
    /// Makes this session's message ids its own: the client drops an id that it has seen before.
    pub seed: u64,
    pub carried: Option<Carried>,
    #[serde(default, skip_serializing_if = "TypedInto::is_ccc")]
    pub typed_into: TypedInto,
}

/// Who takes what the person types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypedInto {
    /// ccc, which sends it to the agent.
    #[default]
    Ccc,
    /// The client, on its own screen. ccc hears of it; it sends feedback only, and that when the agent
    /// has stopped. It puts no question to the person, and the client's end is the session's.
    Client,
}

impl TypedInto {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
    fn is_ccc(&self) -> bool {
        *self == Self::Ccc
    }
}

/// What happens before a judge is asked. The default is how recordings went that do not have it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckingRules {
    /// The project's files are looked at: what changed since the task began.
    pub examines: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Checks that nobody has allowed: they do not run, and that is said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<Check>,
}

/// Permission modes. The default is how recordings went that do not have it: nothing is said of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Modes {
    /// Changes are told.
    pub told: bool,
    /// What the client is started in, as far as that is known: older ones tell it with the first turn.
    pub begins: Option<PermissionMode>,
    /// The provider has the check that auto mode needs.
    pub auto: bool,
    /// Nobody has chosen a mode: it is the one that the client's own screen would begin in.
    pub unchosen: bool,
    /// The client was started so that it may skip permissions.
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
