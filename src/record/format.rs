//! The lines of `events.jsonl`: everything the loop saw, and everything it decided. Together with the
//! raw lines of the two clients they are enough to run the session's machine again.
//!
//! | key | a line about |
//! |---|---|
//! | `begun` | a run of ccc on this session: the rules it went by |
//! | `saw` | something that happened; the clients' own lines are counted, not repeated |
//! | `did` | something the loop wanted done about it |
//! | `event` | something it told the user |
//! | `ended` | the run is over: the closing report |

use serde::{Deserialize, Serialize};

use crate::checks::Check;
use crate::client::stream::{ClientRequest, Permission};
use crate::event::{Action, Asker, Carried, Event, Notice, Now, Outcome, Report};
use crate::machine::Rules;
use crate::review::permission::Ruling;
use crate::review::requirement::Evidence;

/// Version of these lines. Version 1 recorded only what was said to the person, which is not enough
/// to run a session again.
pub const VERSION: u32 = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventLine {
    pub v: u32,
    /// Wall-clock time, for people.
    pub time: jiff::Timestamp,
    /// Seconds since the run began, to the microsecond: the machine's time. Version 1 did not have
    /// it.
    #[serde(default)]
    pub at: f64,
    #[serde(flatten)]
    pub content: Entry,
}

impl EventLine {
    /// The machine's time, in whole microseconds.
    pub fn now(&self) -> Now {
        Now::try_from_secs_f64((self.at * 1e6).round() / 1e6).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    Begun {
        begun: Box<Begun>,
    },
    Lines(ClientLines),
    Event(Event),
    Did(Did),
    Notice(Notice),
    Ended {
        ended: Box<Report>,
        /// Carried over to the next run of the session, so that it need not read all of this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carried: Option<Box<Carried>>,
    },
}

/// The rules and circumstances of a run, from which its machine can be built again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    pub ccc: String,
    pub project: String,
    pub provider: Option<String>,
    pub rules: Rules,
    /// How many lines of `agent.jsonl` and `supervisor.jsonl` are older than this run. A killed run
    /// may have written lines that it never counted.
    #[serde(default)]
    pub agent_lines: u64,
    #[serde(default)]
    pub supervisor_lines: u64,
}

/// Lines read from a client. The decisions that follow were made at the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "saw", rename_all = "snake_case")]
pub enum ClientLines {
    /// This many more lines of `agent.jsonl`.
    Agent { lines: u64 },
    /// This many more lines of `supervisor.jsonl`, of this review.
    Supervisor { review: u32, lines: u64 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum Did {
    StartAgent {
        resume: Option<String>,
    },
    Send {
        uuid: String,
        text: String,
    },
    CancelMessage {
        uuid: String,
    },
    RewindConversation {
        uuid: String,
    },
    RewindFiles {
        uuid: String,
    },
    InterruptAgent {
        request_id: String,
    },
    AskClient {
        request: ClientRequest,
    },
    Answer {
        asker: Asker,
        request_id: String,
        answer: Permission,
    },
    Refuse {
        asker: Asker,
        request_id: String,
        subtype: String,
    },
    Rule {
        review: u32,
        request_id: String,
        ruling: Ruling,
    },
    Ask {
        asker: Asker,
        request_id: String,
        tool: String,
    },
    Unask,
    GiveBack {
        text: String,
    },
    NoteFiles,
    Examine {
        id: u32,
    },
    StartCheck {
        check: u32,
        #[serde(flatten)]
        what: Box<Check>,
    },
    StopCheck {
        check: u32,
    },
    StartReview {
        review: u32,
        round: u32,
        session_id: String,
        model: String,
    },
    TellSupervisor {
        review: u32,
        text: String,
    },
    Verify {
        review: u32,
        evidence: Vec<Evidence>,
    },
    StopReview {
        review: u32,
    },
    Finish {
        #[serde(flatten)]
        outcome: Outcome,
    },
}

impl From<&Action> for Entry {
    fn from(action: &Action) -> Self {
        Entry::Did(match action.clone() {
            Action::Say(notice) => return Entry::Notice(notice),
            Action::StartAgent { resume } => Did::StartAgent { resume },
            Action::Send { uuid, text } => Did::Send { uuid, text },
            Action::CancelMessage { uuid, .. } => Did::CancelMessage { uuid },
            Action::RewindConversation { uuid, .. } => Did::RewindConversation { uuid },
            Action::RewindFiles { uuid, .. } => Did::RewindFiles { uuid },
            Action::InterruptAgent { request_id } => Did::InterruptAgent { request_id },
            Action::AskClient { request, .. } => Did::AskClient { request },
            Action::Answer { asker, request_id, answer, .. } => {
                Did::Answer { asker, request_id, answer }
            }
            Action::Refuse { asker, request_id, subtype } => {
                Did::Refuse { asker, request_id, subtype }
            }
            Action::Rule { review, request_id, ruling } => Did::Rule { review, request_id, ruling },
            Action::Ask(question) => Did::Ask {
                asker: question.asker,
                request_id: question.request_id,
                tool: question.asked.tool,
            },
            Action::Unask => Did::Unask,
            Action::GiveBack { text } => Did::GiveBack { text },
            Action::NoteFiles => Did::NoteFiles,
            Action::Examine { id } => Did::Examine { id },
            Action::StartCheck { check, what } => Did::StartCheck { check, what },
            Action::StopCheck { check } => Did::StopCheck { check },
            Action::StartReview(request) => Did::StartReview {
                review: request.review,
                round: request.round,
                session_id: request.session_id,
                model: request.model,
            },
            Action::TellSupervisor { review, text, .. } => Did::TellSupervisor { review, text },
            Action::Verify { review, evidence, .. } => Did::Verify { review, evidence },
            Action::StopReview { review } => Did::StopReview { review },
            Action::Finish(outcome) => Did::Finish { outcome },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::mode::PermissionMode;
    use crate::event::{Gone, Phase, Wish};
    use crate::review::verdict::Verdict;

    #[test]
    fn every_action_and_event_can_be_read_back() {
        let verdict = Verdict::new(false, "more");
        let begun = Begun {
            ccc: "0.1.0".into(),
            project: "/p".into(),
            provider: None,
            rules: Rules::default(),
            agent_lines: 3,
            supervisor_lines: 0,
        };
        let gone = Gone { how: "exited".into(), code: Some(1), last_words: "boom".into() };
        for content in [
            Entry::Begun { begun: Box::new(begun) },
            Entry::Event(Event::Said("hi".into())),
            Entry::Event(Event::Tick),
            Entry::Event(Event::Wish(Wish::NextMode)),
            Entry::Event(Event::Wish(Wish::Mode(PermissionMode::Plan))),
            Entry::Event(Event::Wish(Wish::Model("opus".into()))),
            Entry::Did(Did::AskClient { request: ClientRequest::Mode(PermissionMode::Auto) }),
            Entry::Did(Did::AskClient { request: ClientRequest::Context }),
            Entry::Notice(Notice::Mode { mode: PermissionMode::Bypass }),
            Entry::Event(Event::Restored(Carried { round: 2, ..Carried::default() })),
            Entry::Event(Event::Signal(15)),
            Entry::Lines(ClientLines::Agent { lines: 3 }),
            Entry::Lines(ClientLines::Supervisor { review: 1, lines: 2 }),
            Entry::Event(Event::AgentGone(gone.clone())),
            Entry::Event(Event::SupervisorGone { review: 2, gone }),
            Entry::Event(Event::Answered {
                request_id: "r".into(),
                answer: Permission::Answers(vec![("q".into(), "a".into())]),
            }),
            Entry::Did(Did::Unask),
            Entry::Did(Did::Finish { outcome: Outcome::Failed("no".into()) }),
            Entry::Did(Did::Finish { outcome: Outcome::Completed }),
            Entry::Notice(Notice::Verdict {
                round: 1,
                max: 3,
                seconds: 0.5,
                cost_usd: 0.000_939_999_999_999_999_9,
                session_usd: Some(0.25),
                usage: crate::client::stream::Usage { output_tokens: 7, ..Default::default() },
                verdict,
            }),
            Entry::Notice(Notice::Interrupted),
            Entry::Notice(Notice::Phase { phase: Phase::Working, round: 0, max: 10 }),
        ] {
            let time = "2026-01-02T03:04:05.123456Z".parse().unwrap();
            let entry = EventLine { v: VERSION, time, at: 1.000_001, content };
            let line = serde_json::to_string(&entry).unwrap();
            assert_eq!(serde_json::from_str::<EventLine>(&line).unwrap(), entry, "{line}");
        }
    }
}
