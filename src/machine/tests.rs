//! A script of events in words, and the actions that the machine answers them with, in words.

mod checks;
mod proof;
mod resume;
mod troubles;
mod turns;
mod typed_into_the_client;
mod wishes;

use std::time::Duration;

use super::{Machine, Rules};
use crate::brief::facts::Examined;
use crate::client::mode::PermissionMode;
use crate::client::stream::{
    Block, Control, Envelope, Init, Message, Permission, PermissionRequest, TaskNote, TurnResult,
};
use crate::event::{
    Action, Carried, ChangeKind, ChangedFile, Event, GoBack, Gone, Notice, Outcome, Said,
};

struct Script {
    machine: Machine,
    now: Duration,
    session: &'static str,
    review: u32,
    asked: String,
    /// The last request to the client.
    asked_of_client: String,
    /// The last examination of the files, or check.
    check: u32,
}

impl Script {
    fn envelope(&self, message: Message) -> Envelope {
        Envelope { session_id: Some(self.session.into()), parent: None, message }
    }

    fn agent(&self, message: Message) -> Event {
        Event::Agent(self.envelope(message))
    }

    fn supervisor(&self, message: Message) -> Event {
        Event::Supervisor { review: self.review, envelope: self.envelope(message) }
    }

    fn event(&mut self, line: &str) -> Event {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "start" => Event::Start { prompt: (!rest.is_empty()).then(|| rest.to_owned()) },
            "said" => Event::Said(rest.into()),
            "take-back" => Event::TakeBack,
            "given-back" | "too-late" => {
                let request_id = self.machine.outbox.request().expect("a request");
                let cancelled = Some(word == "given-back");
                self.agent(Message::ControlAnswered { request_id, cancelled })
            }
            "interrupt" => Event::Interrupt,
            "leave" => Event::Leave,
            "wants" => Event::Wish(wishes::wish(rest)),
            "introduces" => self.agent(wishes::introduction(rest)),
            "mode" => self.agent(Message::Mode(PermissionMode::from(rest.to_owned()))),
            "refuses" => {
                let request_id = self.asked_of_client.clone();
                self.agent(Message::ControlRefused { request_id, error: rest.into() })
            }
            "grants" => {
                let request_id = self.asked_of_client.clone();
                self.agent(Message::ControlAnswered { request_id, cancelled: None })
            }
            "allow" => Event::Answered { request_id: self.asked.clone(), answer: Permission::Once },
            "chooses" => Event::Answered {
                request_id: self.asked.clone(),
                answer: Permission::Answers(vec![("Which?".into(), rest.into())]),
            },
            "init" => self.agent(Message::Init(Init { model: "m".into(), ..Default::default() })),
            "release" => {
                let init = Init { version: rest.into(), ..Default::default() };
                self.agent(Message::Init(init))
            }
            "clear" => {
                self.session = "S2";
                self.agent(Message::Init(Init::default()))
            }
            "taken" => {
                let unconfirmed = self.machine.unconfirmed();
                let uuid = unconfirmed.first().expect("a message on its way").clone();
                self.agent(Message::Taken { uuid, task: None })
            }
            "uses" => self.agent(Message::Assistant {
                model: "m".into(),
                blocks: vec![Block::ToolUse {
                    id: "t".into(),
                    name: rest.into(),
                    input: "{}".into(),
                }],
                context: None,
            }),
            "says" => self.agent(Message::Assistant {
                model: "m".into(),
                blocks: vec![Block::Text(rest.into())],
                context: None,
            }),
            "result" => self.agent(Message::Result(result(rest))),
            "failed" => self.agent(Message::Result(TurnResult { is_error: true, ..result(rest) })),
            "command-result" => {
                self.agent(Message::Result(TurnResult { num_turns: 0, ..result("") }))
            }
            "task" => self.agent(Message::TaskStarted(TaskNote {
                task_id: rest.into(),
                description: rest.into(),
                ..TaskNote::default()
            })),
            "slow-command" => self.agent(Message::TaskStarted(TaskNote {
                task_id: rest.into(),
                background: Some(false),
                ..TaskNote::default()
            })),
            "task-ended" => self
                .agent(Message::TaskEnded(TaskNote { task_id: rest.into(), ..Default::default() })),
            "asks" => self.agent(permission(rest)),
            "supervisor-asks" => self.supervisor(permission(rest)),
            "supervisor-cancels" => {
                self.supervisor(Message::ControlCancelled { request_id: rest.into() })
            }
            "cancelled" => self.agent(Message::ControlCancelled { request_id: rest.into() }),
            "odd-request" => self.agent(Message::Control {
                request_id: "r".into(),
                request: Control::Unknown("tomorrow".into()),
            }),
            "dies" => Event::AgentGone(gone(rest)),
            "supervisor-dies" => Event::SupervisorGone { review: self.review, gone: gone("1") },
            "supervisor-says" => self.supervisor(Message::Assistant {
                model: "m".into(),
                blocks: vec![Block::Text(rest.into())],
                context: None,
            }),
            "rejects" => self.supervisor(Message::Result(result(
                &serde_json::json!({"completed": false, "feedback": rest}).to_string(),
            ))),
            "verdict" => self.supervisor(Message::Result(result(rest))),
            "verdict-failed" => {
                self.supervisor(Message::Result(TurnResult { is_error: true, ..result(rest) }))
            }
            _ => self.world(word, rest),
        }
    }

    /// Events that come from neither the agent nor its judge.
    fn world(&mut self, word: &str, rest: &str) -> Event {
        match word {
            "tick" => {
                self.now += Duration::from_secs(rest.parse().expect("seconds"));
                Event::Tick
            }
            "restored" => Event::Restored(Carried {
                ending: None,
                round: 2,
                fresh: rest == "done",
                said: vec![Said { text: "before".into(), earlier: false, ..Said::default() }],
                cost_usd: 0.5,
                agent_usd: 0.25,
                requirements: Vec::new(),
            }),
            // "back-both 1" goes back to before the first message.
            "back-both" | "back-conversation" | "back-files" => {
                let what = match word {
                    "back-both" => GoBack::Both,
                    "back-files" => GoBack::Files,
                    _ => GoBack::Conversation,
                };
                let number: usize = rest.parse().expect("a number");
                let offered = self.machine.status().points;
                let point = offered.iter().rev().nth(number - 1);
                let uuid = point.map(|point| point.uuid.clone()).unwrap_or_default();
                Event::GoBack { uuid, what }
            }
            "went-back" | "not-back" => {
                let request_id = self.machine.points.request().expect("a request");
                let (done, error) = (word == "went-back", rest.into());
                self.agent(Message::WentBack { request_id, done, error })
            }
            "looked" => Event::Examined {
                id: self.check,
                examined: Examined { fingerprint: Some(rest.into()), ..Examined::default() },
            },
            "check-prints" => Event::CheckPrinted { check: self.check, text: rest.into() },
            "check-exits" => Event::CheckGone { check: self.check, gone: gone(rest) },
            "word" => Event::ReviewPrepared { review: self.review, word: rest.into() },
            "found" => {
                let missing = (rest == "nothing").then(|| "not there".to_owned());
                Event::Verified { review: self.review, findings: vec![missing] }
            }
            "conversation" => {
                self.session = if rest == "S2" { "S2" } else { "S" };
                Event::Conversation { session_id: rest.into() }
            }
            "unsaid" | "unqueued" => Event::Unsaid {
                texts: rest.split('|').map(Into::into).collect(),
                from_queue: word == "unqueued",
            },
            "tree-changes" => Event::TreeChanged {
                review: self.review,
                files: vec![ChangedFile { path: rest.into(), kind: ChangeKind::Added }],
                more: 0,
            },
            "signal" => Event::Signal(rest.parse().expect("a number")),
            other => panic!("no such event: {other}"),
        }
    }
}

fn gone(how: &str) -> Gone {
    Gone {
        how: format!("exited with code {how}"),
        code: how.parse().ok(),
        last_words: "boom".into(),
    }
}

fn result(text: &str) -> TurnResult {
    TurnResult { text: text.into(), num_turns: 1, ..Default::default() }
}

fn permission(request_id: &str) -> Message {
    let asked = PermissionRequest { tool: "Bash".into(), input: "{}".into(), ..Default::default() };
    Message::Control { request_id: request_id.into(), request: Control::Permission(asked) }
}

fn short(action: &Action) -> Option<String> {
    Some(match action {
        Action::StartAgent { resume: None } => "start agent".into(),
        Action::StartAgent { resume: Some(id) } => format!("resume {id}"),
        Action::Send { text, .. } => format!("send {:?}", text.lines().last().unwrap_or_default()),
        Action::CancelMessage { .. } => "cancel message".into(),
        Action::RewindFiles { .. } => "rewind files".into(),
        Action::RewindConversation { .. } => "rewind conversation".into(),
        Action::GiveBack { text } => format!("give back {text:?}"),
        Action::InterruptAgent { .. } => "interrupt agent".into(),
        Action::AskClient { request, .. } => format!("client {request:?}"),
        Action::Answer { answer: Permission::Deny(_), .. } => "deny".into(),
        Action::Answer { .. } => "allow".into(),
        Action::Rule { ruling, .. } => format!("rule {ruling:?}"),
        Action::Refuse { subtype, .. } => format!("refuse {subtype}"),
        Action::Ask(question) => format!("ask {}", question.request_id),
        Action::Unask => "unask".into(),
        Action::NoteFiles => "note files".into(),
        Action::Examine { .. } => "look".into(),
        Action::StartCheck { what, .. } => format!("check {}", what.name),
        Action::StopCheck { .. } => "stop check".into(),
        Action::StartReview(request) => {
            let said: Vec<_> = request
                .said
                .iter()
                .map(|said| if said.earlier { "·" } else { &said.text })
                .collect();
            format!(
                "review {}/{} of {} [{}]",
                request.round,
                request.max,
                request.session_id,
                said.join("|")
            )
        }
        Action::TellSupervisor { text, .. } => {
            format!("tell {:?}", text.split(':').next().unwrap_or_default())
        }
        Action::Verify { evidence, .. } => format!("verify {}", evidence.len()),
        Action::StopReview { .. } => "stop review".into(),
        Action::Finish(outcome) => format!("finish {outcome:?}"),
        Action::Say(notice) => match notice {
            Notice::Phase { phase, .. } => format!("→{phase:?}"),
            Notice::LimitReached { .. } => "limit".into(),
            Notice::Mode { mode } => format!("mode {}", mode.words()),
            Notice::WishRefused { what, why } => format!("refused {what:?}: {why}"),
            Notice::Backgrounded => "backgrounded".into(),
            Notice::Stuck { why, .. } => format!("stuck {why:?}"),
            Notice::TurnFailed { error } => format!("failed {error:?}"),
            Notice::Interrupted => "interrupted".into(),
            Notice::WentBack { text, what } => format!("back {what:?} before {text:?}"),
            Notice::NotGoneBack { what, why } => format!("not back {what:?}: {why}"),
            Notice::TakenBack { too_late: true, .. } => "too late".into(),
            Notice::NotTakenUp { text } => format!("lost {text:?}"),
            Notice::ReviewFailed { reason, .. } => format!("review failed {reason:?}"),
            Notice::WaitingForBackground { .. } => "background".into(),
            Notice::AgentGone { last_words, .. } => format!("agent gone {last_words:?}"),
            Notice::Resumed { round, messages, cost_usd, .. } => {
                format!("resumed {round}, {messages}, ${cost_usd}")
            }
            Notice::CheckEnded(result) => format!("{} {}", result.name, result.told()),
            Notice::ChecksChangedFiles => "checks changed files".into(),
            Notice::TreeChanged { files, .. } => format!("changed {}", files[0]),
            Notice::Supervision { on } => format!("supervision {on}"),
            _ => return None,
        },
    })
}

impl Script {
    fn new(rules: Rules) -> Self {
        Self {
            machine: Machine::new(rules),
            now: Duration::ZERO,
            session: "S",
            review: 0,
            asked: String::new(),
            asked_of_client: String::new(),
            check: 0,
        }
    }

    fn step(&mut self, line: &str) -> Vec<String> {
        let event = self.event(line);
        let actions = self.machine.step(event, self.now);
        for action in &actions {
            match action {
                Action::StartReview(request) => self.review = request.review,
                Action::Examine { id } => self.check = *id,
                Action::StartCheck { check, .. } => self.check = *check,
                Action::Ask(question) => self.asked.clone_from(&question.request_id),
                Action::AskClient { request_id, .. } => {
                    self.asked_of_client.clone_from(request_id);
                }
                _ => {}
            }
        }
        actions.iter().filter_map(short).collect()
    }
}

/// All actions for all lines.
fn step_all(rules: Rules, lines: &[&str]) -> String {
    let mut script = Script::new(rules);
    lines.iter().flat_map(|line| script.step(line)).collect::<Vec<_>>().join("; ")
}

#[track_caller]
fn check_with(rules: Rules, rows: &[(&str, &str)]) -> Machine {
    let mut script = Script::new(rules);
    for (at, (happens, wanted)) in rows.iter().enumerate() {
        let seen: Vec<_> = happens.split(", ").flat_map(|line| script.step(line)).collect();
        assert_eq!(seen.join("; "), *wanted, "row {at}: {happens}");
    }
    script.machine
}

#[track_caller]
fn check(rows: &[(&str, &str)]) {
    check_with(Rules::default(), rows);
}

#[track_caller]
fn check_headless(rows: &[(&str, &str)]) {
    check_with(Rules { person: false, ..Rules::default() }, rows);
}

/// The rows from the message to the review.
const TO_REVIEW: [(&str, &str); 2] = [
    ("start, said do it", "start agent; →Waiting; send \"do it\"; →Working"),
    ("init, taken, result done", "→Reviewing; review 1/10 of S [do it]"),
];

fn after_review(rows: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    TO_REVIEW.into_iter().chain(rows.iter().copied()).collect()
}
