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

/// Version of these lines. The first one told only what was said to the person, which is not enough to
/// run anything again.
pub const VERSION: u32 = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventLine {
    pub v: u32,
    /// The moment, for people.
    pub time: jiff::Timestamp,
    /// Seconds since the run began, to the microsecond: what the machine was told. The first version
    /// of these lines did not have it.
    #[serde(default)]
    pub at: f64,
    #[serde(flatten)]
    pub content: Content,
}

impl EventLine {
    /// What the machine was told the time is: whole microseconds.
    pub fn now(&self) -> Now {
        Now::try_from_secs_f64((self.at * 1e6).round() / 1e6).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    Begun {
        begun: Box<Begun>,
    },
    Lines(ClientLines),
    Event(Event),
    Did(Did),
    Notice(Notice),
    Ended {
        ended: Box<Report>,
        /// What another run of the session goes on with, so that nobody has to read all of this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carried: Option<Box<Carried>>,
    },
}

/// What a run went by; its machine can be built again from this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    /// Version of ccc.
    pub ccc: String,
    pub project: String,
    pub provider: Option<String>,
    pub rules: Rules,
    /// How many lines of `agent.jsonl` and `supervisor.jsonl` are older than this run. A run that
    /// was killed may have left some there that it did not come to count.
    #[serde(default)]
    pub agent_lines: u64,
    #[serde(default)]
    pub supervisor_lines: u64,
}

/// Lines of a client that were read; what the loop did about them, it did at the last one.
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

/// What a decision leaves on record.
impl From<&Action> for Content {
    fn from(action: &Action) -> Self {
        Content::Did(match action.clone() {
            Action::Say(notice) => return Content::Notice(notice),
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
            Action::Verify { review, evidence } => Did::Verify { review, evidence },
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
    fn what_is_written_can_be_read_back() {
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
            Content::Begun { begun: Box::new(begun) },
            Content::Event(Event::Said("hi".into())),
            Content::Event(Event::Tick),
            Content::Event(Event::Wish(Wish::NextMode)),
            Content::Event(Event::Wish(Wish::Mode(PermissionMode::Plan))),
            Content::Event(Event::Wish(Wish::Model("opus".into()))),
            Content::Did(Did::AskClient { request: ClientRequest::Mode(PermissionMode::Auto) }),
            Content::Did(Did::AskClient { request: ClientRequest::Context }),
            Content::Notice(Notice::Mode { mode: PermissionMode::Bypass }),
            Content::Event(Event::Restored(Carried { round: 2, ..Carried::default() })),
            Content::Event(Event::Signal(15)),
            Content::Lines(ClientLines::Agent { lines: 3 }),
            Content::Lines(ClientLines::Supervisor { review: 1, lines: 2 }),
            Content::Event(Event::AgentGone(gone.clone())),
            Content::Event(Event::SupervisorGone { review: 2, gone }),
            Content::Event(Event::Answered {
                request_id: "r".into(),
                answer: Permission::Answers(vec![("q".into(), "a".into())]),
            }),
            Content::Did(Did::Unask),
            Content::Did(Did::Finish { outcome: Outcome::Failed("no".into()) }),
            Content::Did(Did::Finish { outcome: Outcome::Completed }),
            Content::Notice(Notice::Verdict {
                round: 1,
                max: 3,
                seconds: 0.5,
                cost_usd: 0.000_939_999_999_999_999_9,
                session_usd: Some(0.25),
                usage: crate::client::stream::Usage { output_tokens: 7, ..Default::default() },
                verdict,
            }),
            Content::Notice(Notice::Interrupted),
            Content::Notice(Notice::Phase { phase: Phase::Working, round: 0, max: 10 }),
        ] {
            let time = "2026-01-02T03:04:05.123456Z".parse().unwrap();
            let entry = EventLine { v: VERSION, time, at: 1.000_001, content };
            let line = serde_json::to_string(&entry).unwrap();
            assert_eq!(serde_json::from_str::<EventLine>(&line).unwrap(), entry, "{line}");
        }
    }
}
