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

use crate::event::{Action, Asker, Carried, Event, Gone, Notice, Now, Outcome, Report};
use crate::machine::Rules;
use crate::stream::Permission;

/// Version of these lines.
pub const VERSION: u32 = 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub v: u32,
    /// The moment, for people.
    pub time: jiff::Timestamp,
    /// Seconds since the run began, to the microsecond: what the machine was told. The first version
    /// of these lines did not have it.
    #[serde(default)]
    pub at: f64,
    #[serde(flatten)]
    pub what: What,
}

impl Entry {
    /// What the machine was told the time is: whole microseconds.
    pub fn now(&self) -> Now {
        Now::try_from_secs_f64((self.at * 1e6).round() / 1e6).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum What {
    Begun { begun: Box<Begun> },
    Saw(Saw),
    Did(Did),
    Said(Notice),
    Ended { ended: Box<Report> },
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "saw", rename_all = "snake_case")]
pub enum Saw {
    Start {
        prompt: Option<String>,
    },
    Said {
        text: String,
    },
    TakeBack,
    Interrupt,
    Leave,
    Answered {
        request_id: String,
        answer: Permission,
    },
    /// This many more lines of `agent.jsonl`; what the loop did about it, it did at the last one.
    Agent {
        lines: u64,
    },
    AgentGone {
        #[serde(flatten)]
        gone: Gone,
    },
    /// This many more lines of `supervisor.jsonl`, of this review.
    Supervisor {
        review: u32,
        lines: u64,
    },
    SupervisorGone {
        review: u32,
        #[serde(flatten)]
        gone: Gone,
    },
    Tick,
    Signal {
        signal: i32,
    },
    Restored {
        #[serde(flatten)]
        carried: Carried,
    },
}

impl Saw {
    /// `None` for the clients' lines, which are counted by whoever reads them.
    pub fn of(event: &Event) -> Option<Self> {
        Some(match event.clone() {
            Event::Start { prompt } => Saw::Start { prompt },
            Event::Said(text) => Saw::Said { text },
            Event::TakeBack => Saw::TakeBack,
            Event::Interrupt => Saw::Interrupt,
            Event::Leave => Saw::Leave,
            Event::Answered { request_id, answer } => Saw::Answered { request_id, answer },
            Event::AgentGone(gone) => Saw::AgentGone { gone },
            Event::SupervisorGone { review, gone } => Saw::SupervisorGone { review, gone },
            Event::Tick => Saw::Tick,
            Event::Signal(signal) => Saw::Signal { signal },
            Event::Restored(carried) => Saw::Restored { carried },
            Event::Agent(_) | Event::Supervisor { .. } => return None,
        })
    }

    /// The other way round.
    pub fn event(&self) -> Option<Event> {
        Some(match self.clone() {
            Saw::Start { prompt } => Event::Start { prompt },
            Saw::Said { text } => Event::Said(text),
            Saw::TakeBack => Event::TakeBack,
            Saw::Interrupt => Event::Interrupt,
            Saw::Leave => Event::Leave,
            Saw::Answered { request_id, answer } => Event::Answered { request_id, answer },
            Saw::AgentGone { gone } => Event::AgentGone(gone),
            Saw::SupervisorGone { review, gone } => Event::SupervisorGone { review, gone },
            Saw::Tick => Event::Tick,
            Saw::Signal { signal } => Event::Signal(signal),
            Saw::Restored { carried } => Event::Restored(carried),
            Saw::Agent { .. } | Saw::Supervisor { .. } => return None,
        })
    }
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
    InterruptAgent {
        request_id: String,
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
    Ask {
        asker: Asker,
        request_id: String,
        tool: String,
    },
    Unask,
    GiveBack {
        text: String,
    },
    StartReview {
        review: u32,
        round: u32,
        session_id: String,
        model: String,
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
impl From<&Action> for What {
    fn from(action: &Action) -> Self {
        What::Did(match action.clone() {
            Action::Say(notice) => return What::Said(notice),
            Action::StartAgent { resume } => Did::StartAgent { resume },
            Action::Send { uuid, text } => Did::Send { uuid, text },
            Action::CancelMessage { uuid, .. } => Did::CancelMessage { uuid },
            Action::InterruptAgent { request_id } => Did::InterruptAgent { request_id },
            Action::Answer { asker, request_id, answer, .. } => {
                Did::Answer { asker, request_id, answer }
            }
            Action::Refuse { asker, request_id, subtype } => {
                Did::Refuse { asker, request_id, subtype }
            }
            Action::Ask(question) => Did::Ask {
                asker: question.asker,
                request_id: question.request_id,
                tool: question.asked.tool,
            },
            Action::Unask => Did::Unask,
            Action::GiveBack { text } => Did::GiveBack { text },
            Action::StartReview(request) => Did::StartReview {
                review: request.review,
                round: request.round,
                session_id: request.session_id,
                model: request.model,
            },
            Action::StopReview { review } => Did::StopReview { review },
            Action::Finish(outcome) => Did::Finish { outcome },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Phase;
    use crate::verdict::Verdict;

    #[test]
    fn what_is_written_can_be_read_back() {
        let verdict = Verdict { completed: false, feedback: "more".into(), explicit: false };
        let begun = Begun {
            ccc: "0.1.0".into(),
            project: "/p".into(),
            provider: None,
            rules: Rules::default(),
            agent_lines: 3,
            supervisor_lines: 0,
        };
        let gone = Gone { how: "exited".into(), code: Some(1), last_words: "boom".into() };
        for what in [
            What::Begun { begun: Box::new(begun) },
            What::Saw(Saw::Said { text: "hi".into() }),
            What::Saw(Saw::Tick),
            What::Saw(Saw::Restored { carried: Carried { round: 2, ..Carried::default() } }),
            What::Saw(Saw::SupervisorGone { review: 2, gone }),
            What::Saw(Saw::Answered {
                request_id: "r".into(),
                answer: Permission::Answers(vec![("q".into(), "a".into())]),
            }),
            What::Did(Did::Unask),
            What::Did(Did::Finish { outcome: Outcome::Failed("no".into()) }),
            What::Did(Did::Finish { outcome: Outcome::Completed }),
            What::Said(Notice::Verdict {
                round: 1,
                max: 3,
                seconds: 0.5,
                cost_usd: 0.000_939_999_999_999_999_9,
                verdict,
            }),
            What::Said(Notice::Interrupted),
            What::Said(Notice::Phase { phase: Phase::Working, round: 0, max: 10 }),
        ] {
            let time = "2026-01-02T03:04:05.123456Z".parse().unwrap();
            let entry = Entry { v: VERSION, time, at: 1.000_001, what };
            let line = serde_json::to_string(&entry).unwrap();
            assert_eq!(serde_json::from_str::<Entry>(&line).unwrap(), entry, "{line}");
        }
    }
}
