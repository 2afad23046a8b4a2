//! What has to hold after every step, seen from outside: from the events and the actions alone.

use std::time::Duration;

use ccc::client::stream::Message;
use ccc::event::{Action, Event, Notice, Outcome, Phase};
use ccc::machine::{Machine, Rules};
use proptest::prop_assert;
use proptest::test_runner::{TestCaseError, TestCaseResult};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    OnItsWay,
    TakenUp,
    GivenBack,
    ToldLost,
}

/// A message of the person.
#[derive(Debug)]
struct Spoken {
    text: String,
    fate: Fate,
}

pub struct Watched {
    pub rules: Rules,
    machine: Machine,
    pub now: Duration,
    pub said: u32,
    pub last_review: u32,
    pub last_check: u32,
    pub word: String,
    pub question: Option<String>,
    pub cancelling: Option<String>,
    pub agent_runs: bool,
    /// Everything that went to the running agent: id and text.
    pub sent: Vec<(String, String)>,

    /// Steps so far.
    at: u32,
    phase: Phase,
    outcome: Option<Outcome>,
    /// The judge that runs.
    judging: Option<u32>,
    /// When the round began whose verdict would count now.
    round_began: u32,
    person_spoke: u32,
    /// Feedback since the person spoke, or the agent came to another session.
    feedback: u32,
    spoken: Vec<Spoken>,
    receipts: bool,
    /// The client owes a result.
    turn: bool,
    session: Option<String>,
    /// The person has asked for another session.
    clearing: bool,
    /// The agent is a new process, which has not named its session: who forks gets another one.
    unnamed: bool,
    /// Ids of what the running agent has not taken up.
    waiting: Vec<String>,
}

impl Watched {
    pub fn new(rules: Rules) -> Self {
        Self {
            machine: Machine::new(rules.clone()),
            rules,
            now: Duration::ZERO,
            said: 0,
            last_review: 0,
            last_check: 0,
            word: "a-word".into(),
            question: None,
            cancelling: None,
            agent_runs: false,
            sent: Vec::new(),
            at: 0,
            phase: Phase::Waiting,
            outcome: None,
            judging: None,
            round_began: 0,
            person_spoke: 0,
            feedback: 0,
            spoken: Vec::new(),
            receipts: false,
            turn: false,
            session: None,
            clearing: false,
            unnamed: false,
            waiting: Vec::new(),
        }
    }

    pub fn step(&mut self, event: Event) -> TestCaseResult {
        self.at += 1;
        let was = self.outcome.is_some();
        let judged = self.judging;
        self.before(&event);
        let actions = self.machine.step(event.clone(), self.now);
        prop_assert!(!was || actions.is_empty(), "after the end: {actions:?}");
        for action in &actions {
            self.acted(action, &event, judged)?;
        }
        self.settled()
    }

    /// Leave or a signal: always an end.
    pub fn end(&mut self, event: Event) -> TestCaseResult {
        let ended = self.outcome.is_some();
        self.step(event.clone())?;
        let outcome = self.outcome.clone();
        match event {
            _ if ended => {}
            Event::Signal(signal) => prop_assert!(outcome == Some(Outcome::Signal(signal))),
            _ => prop_assert!(outcome == Some(Outcome::Ended), "{outcome:?}"),
        }
        // An end is an end.
        self.step(Event::Said("after the end".into()))
    }

    fn before(&mut self, event: &Event) {
        match event {
            _ if self.outcome.is_some() => {}
            Event::Said(text) | Event::Start { prompt: Some(text) } => {
                let command = text.split_whitespace().next().unwrap_or_default();
                self.clearing |= command == "/clear";
                self.feedback = 0;
                if !command.is_empty() && !command.starts_with("/supervisor") {
                    self.person_spoke = self.at;
                    self.spoken.push(Spoken { text: text.clone(), fate: Fate::OnItsWay });
                }
            }
            Event::Agent(envelope) => {
                match &envelope.message {
                    Message::Init(_) => {
                        let known = self.session == envelope.session_id;
                        let may_move = self.unnamed || self.clearing;
                        self.turn |= known || may_move;
                        if !known && may_move {
                            self.session.clone_from(&envelope.session_id);
                            self.feedback = 0;
                        }
                        if self.unnamed || !known {
                            (self.unnamed, self.clearing) = (false, false);
                        }
                    }
                    Message::Taken { uuid, .. } => {
                        self.receipts = true;
                        self.turn = true;
                        self.waiting.retain(|waiting| waiting != uuid);
                        let text = self.sent.iter().find(|(id, _)| id == uuid);
                        let text = text.map(|(_, text)| text.clone()).unwrap_or_default();
                        self.fate(&text, Fate::TakenUp);
                    }
                    Message::Result(result) => {
                        self.turn = false;
                        let commands = result.num_turns == 0 && !result.is_error;
                        if !self.receipts {
                            self.waiting.clear();
                        }
                        for spoken in &mut self.spoken {
                            // Without receipts a result is one; and some versions give none for commands.
                            if !self.receipts || (commands && spoken.text.starts_with('/')) {
                                spoken.taken();
                            }
                        }
                    }
                    Message::Unreadable { kind, .. } if kind == "result" => {
                        self.turn = false;
                        if !self.receipts {
                            self.spoken.iter_mut().for_each(Spoken::taken);
                        }
                    }
                    _ => {}
                }
            }
            Event::AgentGone(_) => {
                self.waiting.clear();
                self.agent_runs = false;
                self.turn = false;
                self.sent.clear();
            }
            _ => {}
        }
    }

    fn acted(&mut self, action: &Action, event: &Event, judged: Option<u32>) -> TestCaseResult {
        prop_assert!(self.outcome.is_none(), "behind the end: {action:?}");
        match action {
            Action::StartAgent { .. } => {
                self.agent_runs = true;
                self.turn = false;
                self.sent.clear();
                self.waiting.clear();
                self.unnamed = true;
            }
            Action::Send { uuid, text } => {
                prop_assert!(self.agent_runs, "sent to nobody: {text}");
                prop_assert!(self.sent.iter().all(|(id, _)| id != uuid), "an id twice: {uuid}");
                self.sent.push((uuid.clone(), text.clone()));
                self.waiting.push(uuid.clone());
            }
            Action::CancelMessage { request_id, .. } => {
                self.cancelling = Some(request_id.clone());
            }
            Action::GiveBack { text } => self.fate(text, Fate::GivenBack),
            Action::Ask(question) => self.question = Some(question.request_id.clone()),
            Action::Unask => self.question = None,
            Action::Examine { id } => self.last_check = *id,
            Action::StartCheck { check, .. } => self.last_check = *check,
            Action::StartReview(request) => {
                prop_assert!(self.judging.is_none(), "two reviews at once");
                prop_assert!(request.round >= 1 && request.round <= self.rules.max_iterations);
                self.judging = Some(request.review);
                self.last_review = request.review;
            }
            Action::StopReview { review } if self.judging == Some(*review) => self.judging = None,
            Action::TellSupervisor { review, .. } | Action::Verify { review, .. } => {
                prop_assert!(self.judging == Some(*review), "nobody judges: {action:?}");
            }
            Action::Say(notice) => self.told(notice, event, judged)?,
            Action::Finish(outcome) => {
                prop_assert!(self.judging.is_none(), "a judge is left behind");
                self.outcome = Some(outcome.clone());
            }
            _ => {}
        }
        Ok(())
    }

    fn told(&mut self, notice: &Notice, event: &Event, judged: Option<u32>) -> TestCaseResult {
        match notice {
            Notice::Session { session_id } => {
                prop_assert!(
                    self.session.as_ref() == Some(session_id),
                    "moved to another conversation without the person's word"
                );
            }
            Notice::Phase { phase, .. } => {
                self.phase = *phase;
                if *phase == Phase::Reviewing {
                    self.round_began = self.at;
                }
            }
            Notice::Verdict { .. } => {
                let of = match event {
                    Event::Supervisor { review, .. }
                    | Event::SupervisorGone { review, .. }
                    | Event::Verified { review, .. } => Some(*review),
                    _ => None,
                };
                prop_assert!(
                    of.is_some() && of == judged,
                    "a verdict of {of:?}, {judged:?} judges"
                );
            }
            Notice::Feedback { .. } => {
                self.feedback += 1;
                prop_assert!(
                    self.round_began > self.person_spoke,
                    "feedback after a later message of the person"
                );
                prop_assert!(
                    self.feedback <= self.rules.max_iterations,
                    "more rounds than allowed"
                );
            }
            Notice::TakenBack { text, too_late: false } => self.fate(text, Fate::GivenBack),
            Notice::NotTakenUp { text } => self.fate(text, Fate::ToldLost),
            _ => {}
        }
        Ok(())
    }

    /// The last message of this text whose fate is open has found it.
    fn fate(&mut self, text: &str, fate: Fate) {
        let open = |spoken: &&mut Spoken| spoken.fate == Fate::OnItsWay && spoken.text == text;
        if let Some(spoken) = self.spoken.iter_mut().rev().find(open) {
            spoken.fate = fate;
        }
    }

    fn settled(&self) -> Result<(), TestCaseError> {
        let open = self.spoken.iter().find(|spoken| spoken.fate == Fate::OnItsWay);
        let persons_turn = self.phase == Phase::Waiting || self.outcome.is_some();
        prop_assert!(!persons_turn || open.is_none(), "lost in silence: {open:?}");
        if self.phase == Phase::Working && self.outcome.is_none() {
            let moves = self.turn || !self.waiting.is_empty() || self.machine.deadline().is_some();
            prop_assert!(moves && self.agent_runs, "nothing can happen any more");
        }
        if self.phase == Phase::Reviewing && self.outcome.is_none() {
            let moves = self.judging.is_some() || self.last_check > 0;
            prop_assert!(moves, "nobody judges");
        }
        Ok(())
    }
}

impl Spoken {
    fn taken(&mut self) {
        if self.fate == Fate::OnItsWay {
            self.fate = Fate::TakenUp;
        }
    }
}
