//! What the agent does.

use super::{Agent, DEATH_WINDOW, Machine, WAKE_GRACE};
use crate::client::session_id;
use crate::client::stream::{Block, Envelope, Init, Message, TurnResult};
use crate::event::{Action, Asker, Dropped, Gone, Notice, Outcome, Phase};

impl Machine {
    pub(super) fn agent(&mut self, envelope: Envelope) {
        if let (Message::Init(_), Some(id)) = (&envelope.message, &envelope.session_id) {
            self.session(id);
        }
        self.activity.saw(&envelope.message);
        match envelope.message {
            Message::Init(init) => self.turn_started(init),
            Message::Assistant { blocks, context, .. } if envelope.parent.is_none() => {
                self.context = context.or(self.context);
                self.spoke(blocks);
            }
            Message::Taken { uuid } => {
                self.receipts = true;
                let before = self.unconfirmed.len();
                self.unconfirmed.retain(|sent| sent.uuid != uuid);
                // The turn is about something that the person wants again.
                self.abandoned &= self.unconfirmed.len() == before;
                self.resumable = true;
            }
            Message::Result(result) => self.turn_ended(&result),
            Message::Unreadable { kind, why } => self.unreadable(&kind, &why),
            Message::TaskStarted(task) if task.background != Some(false) => {
                self.background.insert(task.task_id, task.description);
            }
            Message::TaskEnded(task) => {
                self.background.remove(&task.task_id);
                self.task_ended();
            }
            Message::TasksRunning(running) => {
                let before = self.background.len();
                self.background.retain(|id, _| running.contains(id));
                if self.background.len() < before {
                    self.task_ended();
                }
            }
            Message::Control { request_id, request } => {
                self.control(request_id, request);
            }
            Message::Introduced(told) => self.introduced(&told),
            Message::Model { model, .. } => self.client.model = Some(model),
            Message::Mode(mode) => self.mode_is(mode),
            Message::RateLimit(limit) => self.client.limit = Some(limit),
            Message::ControlRefused { request_id, error } => {
                self.wish_refused(&request_id, error);
                self.taken_back(&request_id, false);
            }
            Message::ControlAnswered { request_id, cancelled } => {
                self.wish_granted(&request_id);
                self.taken_back(&request_id, cancelled == Some(true));
            }
            Message::ControlCancelled { request_id } => {
                self.withdraw(|question| question.request_id == request_id);
            }
            _ => {}
        }
    }

    /// `/clear` gives the conversation a new id in the middle of a process.
    fn session(&mut self, id: &str) {
        let known = self.session_id.as_deref() == Some(id);
        if (known && self.named) || !session_id::is_safe(id) {
            return;
        }
        self.named = true;
        if self.session_id.is_some() && !known {
            self.said.retain(|said| self.unconfirmed.iter().any(|sent| sent.text == said.text));
            self.round = 0;
            self.fresh = true;
            self.unjudged = false;
            self.last_answer.clear();
            self.requirements.clear();
            self.context = None;
        }
        self.session_id = Some(id.to_owned());
        self.say(Notice::Session { session_id: id.to_owned() });
    }

    fn turn_started(&mut self, init: Init) {
        if !init.model.is_empty() {
            self.model = init.model;
            self.client.model = None;
        }
        if !init.permission_mode.is_empty() {
            self.mode_is(init.permission_mode.into());
        }
        self.spoke = true;
        self.turn_open = true;
        self.abandoned = false;
        self.waking = false;
        self.stop_waiting();
        if matches!(self.phase, Phase::Waiting | Phase::Reviewing) {
            self.drop_review(Dropped::AgentWoke);
            self.enter(Phase::Working);
        }
    }

    fn spoke(&mut self, blocks: Vec<Block>) {
        for block in blocks {
            match block {
                Block::Text(text) if !text.trim().is_empty() => self.last_answer = text,
                _ => {}
            }
        }
    }

    fn task_ended(&mut self) {
        self.waking = true;
        if self.background.is_empty() {
            self.background_until = None;
        }
        self.await_waking();
    }

    /// The agent wakes for a task also when that ended before the turn did.
    fn await_waking(&mut self) {
        if self.waking && !self.turn_open {
            self.wake_until = Some(self.now + WAKE_GRACE);
        }
    }

    /// What is waited for has come, and nobody knows what it says.
    fn unreadable(&mut self, kind: &str, why: &str) {
        let error = format!(
            "claude sent a line of type {kind} that cannot be read: {why}. What it has done is there; \
             a new message goes on from it"
        );
        if kind == "result" {
            return self.turn_ended(&TurnResult {
                is_error: true,
                text: error,
                cost_usd: self.cost.agents(),
                ..TurnResult::default()
            });
        }
        // It waits for an answer, and nobody can say to what.
        self.last_error.clone_from(&error);
        self.say(Notice::TurnFailed { error: error.clone() });
        if self.rules.person {
            self.interrupting = true;
            let request_id = self.next_id();
            self.actions.push(Action::InterruptAgent { request_id });
        } else {
            self.finish(Outcome::Failed(error));
        }
    }

    fn turn_ended(&mut self, result: &TurnResult) {
        // A client that never says what it takes up has taken up what came before its result.
        if !self.receipts {
            self.unconfirmed.clear();
        }
        self.turn_open = false;
        self.await_waking();
        self.cost.agent(result.cost_usd);
        let window = result.windows.iter().find(|(model, _)| *model == self.model);
        self.window = window.or(result.windows.first()).map(|(_, tokens)| *tokens).or(self.window);
        self.withdraw(|question| question.asker == Asker::Agent);
        let abandoned = std::mem::take(&mut self.abandoned);
        if std::mem::take(&mut self.interrupting) {
            self.unjudged = false;
            self.say(Notice::Interrupted);
            self.hand_over(Outcome::Ended);
        } else if result.is_error && abandoned {
            // That it was interrupted has been said.
            self.unjudged = false;
            self.hand_over(Outcome::Ended);
        } else if result.is_error {
            self.unjudged = false;
            let error = result.failure();
            self.last_error.clone_from(&error);
            self.say(Notice::TurnFailed { error: error.clone() });
            self.hand_over(Outcome::Failed(error));
        } else if result.num_turns == 0 {
            let commanded = self.command_ran();
            if !self.unjudged {
                // Anybody in the agent's reach can write such a line. It confirms nothing.
                let nothing = "the agent's turn ended without any work that could be reviewed";
                self.hand_over(if commanded {
                    Outcome::Unreviewed
                } else {
                    Outcome::NoVerdict(nothing.to_owned())
                });
            }
        } else {
            self.unjudged = true;
            if !result.text.trim().is_empty() {
                self.last_answer.clone_from(&result.text);
            }
        }
        self.settle();
    }

    /// A slash command that did no agent work. Some versions do not say that they took it up, and
    /// it is none of the user's wishes that the supervisor should look for. Says whether the person
    /// has given one.
    fn command_ran(&mut self) -> bool {
        let is_command = |text: &str| text.trim_start().starts_with('/');
        if let Some(at) = self.unconfirmed.iter().position(|sent| is_command(&sent.text)) {
            self.unconfirmed.remove(at);
        }
        let given = self.said.iter().rposition(|said| !said.earlier && is_command(&said.text));
        if let Some(at) = given {
            self.said.remove(at);
        }
        if self.said.iter().all(|said| said.earlier) {
            self.fresh = true;
        }
        given.is_some()
    }

    /// Back to the person, unless a message of theirs is still on its way.
    fn hand_over(&mut self, outcome: Outcome) {
        if self.unconfirmed.is_empty() {
            self.give_back(outcome);
        }
    }

    pub(super) fn agent_gone(&mut self, gone: Gone) {
        self.agent = Agent::Dead;
        self.turn_open = false;
        self.unjudged = self.unjudged && self.background.is_empty();
        self.background.clear();
        self.withdraw(|question| question.asker == Asker::Agent);
        self.stop_waiting();
        if !self.spoke {
            return self.finish(match gone.code {
                Some(0) if self.rules.client_may_leave => Outcome::ClientLeft(0),
                _ => Outcome::Failed(self.failure(&gone)),
            });
        }
        let again =
            self.last_death.is_some_and(|last| self.now.saturating_sub(last) < DEATH_WINDOW);
        self.last_death = Some(self.now);
        let interrupted = std::mem::take(&mut self.interrupting);
        let working = self.phase == Phase::Working;
        let resuming = working && !again && !interrupted;
        self.say(Notice::AgentGone {
            how: gone.how.clone(),
            last_words: gone.last_words.clone(),
            resuming,
        });
        if resuming {
            self.restart();
        } else if working {
            self.unconfirmed.clear();
            let error = self.failure(&gone);
            self.give_back(if interrupted { Outcome::Ended } else { Outcome::Failed(error) });
        }
    }

    fn failure(&self, gone: &Gone) -> String {
        let words = [&gone.last_words, &self.last_error];
        let words = words.into_iter().find(|words| !words.is_empty()).cloned().unwrap_or_default();
        Gone { last_words: words, ..gone.clone() }.told_of("claude")
    }
}
