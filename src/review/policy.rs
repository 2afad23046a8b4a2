//! What a review may do. The session and the Stop hook differ only here.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::review::front_matter::Proof;

/// | field | in a session | in the Stop hook |
/// |---|---|---|
/// | `person` | whoever is at the terminal is asked what the judge may do; without a person it is denied | nobody can be asked: denied |
/// | `timeout` | `supervisor.timeout_seconds`; the time in which a person is asked does not count | the same |
/// | `attempts` | 2: a judge that fails is started once more | 1: the client waits, and its own deadline is near |
/// | `asks_again` | 1: an answer that is no verdict is asked for again, in the same conversation | the same |
/// | `allowed_tools` | what the judge may use beyond the rules (`permission`) | the same |
/// | `judges` | `supervisor.judges`, one after the other, each with the whole time; empty: the one judge | the same, and they share the time: the client waits |
/// | `judges_ask` | whether all are asked, or the others only to confirm a yes of the first (`opinion`) | the same |
/// | `prose` | is feedback for the agent | is no verdict |
/// | `proof` | as SUPERVISOR.md or `supervisor.proof` says: a yes without proof is asked for it once, and then is no verdict, or one without proof; evidence that does not exist never counts | the same |
///
/// What follows from a review without a verdict is not decided here. In a session the person
/// decides, or without a person it ends with exit code 4; the hook lets the agent stop, and says
/// why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub person: bool,
    pub timeout: Duration,
    pub attempts: u32,
    pub asks_again: u32,
    pub prose: Prose,
    pub allowed_tools: Vec<String>,
    pub proof: Proof,
    pub judges: Vec<Seat>,
    pub judges_ask: JudgesAsk,
    /// Whether the time limit is for all judges together.
    pub share_time: bool,
    /// See `Judging::own_time`.
    pub own_time: bool,
}

/// One of several judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The name that distinguishes it from the others.
    pub name: String,
    /// Whether it has not seen the conversation: it is no fork, and gets nothing in the agent's own
    /// words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
}

/// `supervisor.judges_ask` in ccc.json. Either way, a single no means no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgesAsk {
    /// The first judge decides; the others are asked, one by one, only to confirm a yes.
    #[default]
    Confirm,
    /// Every judge is asked, whatever the others say.
    All,
}

/// What an answer counts as if it is plain text, even after the judge was asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prose {
    Feedback,
    NoVerdict,
}

/// The part of a policy that is decided before a session begins and is kept in its recording. The
/// default describes recordings that do not have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Judging {
    pub asks_again: u32,
    pub proof: Proof,
    /// Whether a task that goes in circles is ended.
    pub ends_circles: bool,
    /// Whether a verdict shows the cost of its own review rather than that of the session.
    pub own_cost: bool,
    /// Whether the time in which a person was asked is left out of the times of phases and reviews.
    pub own_time: bool,
    /// Whether notices say how the list of requirements has changed, and how long a check may take.
    pub detailed_notices: bool,
    /// `supervisor.allowed_tools`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// `supervisor.judges`, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<Seat>,
    #[serde(skip_serializing_if = "crate::event::is_default")]
    pub judges_ask: JudgesAsk,
}

impl Default for Judging {
    fn default() -> Self {
        Self {
            asks_again: 0,
            proof: Proof::Off,
            ends_circles: false,
            own_cost: false,
            own_time: false,
            detailed_notices: false,
            allowed_tools: Vec::new(),
            judges: Vec::new(),
            judges_ask: JudgesAsk::default(),
        }
    }
}

impl Judging {
    pub fn today(proof: Proof) -> Self {
        Self {
            asks_again: 1,
            proof,
            ends_circles: true,
            own_cost: true,
            own_time: true,
            detailed_notices: true,
            ..Self::default()
        }
    }
}

impl Policy {
    pub fn session(person: bool, timeout: Duration, judging: &Judging) -> Self {
        Self {
            person,
            timeout,
            attempts: 2,
            asks_again: judging.asks_again,
            prose: Prose::Feedback,
            allowed_tools: judging.allowed_tools.clone(),
            proof: judging.proof,
            judges: judging.judges.clone(),
            judges_ask: judging.judges_ask,
            share_time: false,
            own_time: judging.own_time,
        }
    }

    pub fn hook(timeout: Duration, judging: &Judging) -> Self {
        Self {
            person: false,
            timeout,
            attempts: 1,
            asks_again: judging.asks_again,
            prose: Prose::NoVerdict,
            allowed_tools: judging.allowed_tools.clone(),
            proof: judging.proof,
            judges: judging.judges.clone(),
            judges_ask: judging.judges_ask,
            share_time: true,
            own_time: judging.own_time,
        }
    }

    /// The policy for one of the judges, after the review has taken `spent`.
    #[must_use]
    pub fn of_judge(&self, judge: usize, spent: Duration) -> Self {
        let left = u32::try_from(self.judges.len().saturating_sub(judge)).unwrap_or(1).max(1);
        let timeout =
            if self.share_time { self.timeout.saturating_sub(spent) / left } else { self.timeout };
        Self { timeout, ..self.clone() }
    }
}
