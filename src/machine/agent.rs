//! How the machine reacts to what the agent does.

use super::conversation::Naming;
use super::task::is_command;
use super::turn::TurnEnd;
use super::{Machine, TypedInto};
use crate::client::stream::{Block, Envelope, Init, Message, TurnResult};
use crate::client::version::Version;
use crate::event::{Action, Asker, Dropped, Gone, Notice, Outcome, Phase};

impl Machine {
    pub(super) fn agent(&mut self, envelope: Envelope) {
        if let (Message::Init(_), Some(id)) = (&envelope.message, &envelope.session_id)
            && !self.conversation_named(id, self.rules.careful)
        {
            return self.foreign_conversation(id);
        }
        self.activity.saw(&envelope.message);
        match envelope.message {
            Message::Init(init) => self.turn_started(init),
            Message::Assistant { blocks, context, .. } if envelope.parent.is_none() => {
                let used = |block: &Block| matches!(block, Block::ToolUse { .. });
                self.tool_used |= blocks.iter().any(used);
                self.conversation.said(blocks, context);
            }
            Message::Taken { uuid, task } => {
                // Older clients report the end of a task during a turn in no other way.
                if let Some(task) = task {
                    self.background.told(&task);
                }
                if self.outbox.taken_up(&uuid) {
                    self.turn.wanted_again();
                }
                self.conversation.on_disk = true;
            }
            Message::Result(result) => self.turn_ended(&result),
            Message::Unreadable { kind, why } => self.unreadable(&kind, &why),
            Message::ToolResults(results) => self.background.answered(&results),
            Message::TaskStarted(task) => self.background.started(task),
            Message::TaskEnded(task) if self.background.ended(&task.task_id) => {
                self.await_waking();
            }
            Message::TasksRunning(running) if self.background.still_running(&running) => {
                self.await_waking();
            }
            Message::Control { request_id, request } => {
                self.control(request_id, request);
            }
            Message::Introduced(told) => self.introduced(&told),
            Message::Model { model, .. } => self.client.model = Some(model),
            Message::Compacted(compaction) => self.conversation.compacted(compaction.after),
            Message::Mode(mode) => self.mode_reported(mode),
            Message::RateLimit(limit) => self.client.limit = Some(limit),
            Message::WentBack { request_id, done, error } => {
                self.went_back(&request_id, done, &error);
            }
            Message::ControlRefused { request_id, error } => {
                // The refused request is at most one of these three.
                self.went_back(&request_id, false, &error);
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

    /// The person chose another conversation on the client's own screen.
    pub(super) fn conversation_shown(&mut self, id: &str) {
        self.conversation_named(id, false);
    }

    /// Returns false if the id cannot be believed.
    fn conversation_named(&mut self, id: &str, careful: bool) -> bool {
        match self.conversation.named(id, careful) {
            Naming::Known => return true,
            Naming::Foreign => return false,
            Naming::Named => {}
            Naming::Another => {
                self.task.forget_all_but(|text| self.outbox.has(text));
                self.points.clear();
                self.unjudged = false;
            }
        }
        self.say(Notice::Session { session_id: id.to_owned() });
        true
    }

    /// Either the client did not write this line, or it behaves as no known client does. The work
    /// so far cannot be judged in another conversation, and nothing else on this output can be
    /// trusted.
    fn foreign_conversation(&mut self, id: &str) {
        if self.turn.is_interrupting() {
            return;
        }
        let error = format!(
            "the agent's output names another conversation ({id}) that you did not ask for. A \
             program that the agent started may have printed it. Check what is running; if the \
             conversation is real, `ccc --supervisor --resume {id}` opens it"
        );
        self.break_off(error);
    }

    fn turn_started(&mut self, init: Init) {
        if let Some(why) = Version::read(&init.version).and_then(Version::refusal) {
            return self.finish(Outcome::Failed(why));
        }
        if !init.model.is_empty() {
            self.conversation.model = init.model;
            self.client.model = None;
        }
        if !init.permission_mode.is_empty() {
            self.mode_reported(init.permission_mode.into());
        }
        self.process.spoke = true;
        self.turn.start();
        self.background.turn_started();
        if matches!(self.phase, Phase::Waiting | Phase::Reviewing) {
            self.drop_review(Dropped::AgentWoke);
            self.enter(Phase::Working);
        }
    }

    fn await_waking(&mut self) {
        if !self.turn.is_open() {
            self.background.await_waking(self.now);
        }
    }

    /// The line may be one that the loop waits for, so it cannot simply be ignored.
    fn unreadable(&mut self, kind: &str, why: &str) {
        let error = format!(
            "claude sent a line of type {kind} that cannot be read: {why}. The work so far is kept; \
             your next message continues from it"
        );
        if kind == "result" {
            return self.turn_ended(&TurnResult {
                is_error: true,
                text: error,
                cost_usd: self.spent.cost.agents(),
                ..TurnResult::default()
            });
        }
        // An unreadable request would wait for its answer for ever.
        self.break_off(error);
    }

    /// Whether there is no turn that an interrupt could end.
    fn is_idle(&self) -> bool {
        self.phase == Phase::Reviewing
            || (self.phase == Phase::Working && !self.turn.is_open() && self.outbox.is_empty())
    }

    /// Stops the agent: it cannot continue by itself from here.
    fn break_off(&mut self, error: String) {
        self.process.last_error.clone_from(&error);
        self.say(Notice::TurnFailed { error: error.clone() });
        if !self.rules.person {
            self.finish(Outcome::Failed(error));
        } else if self.rules.careful && self.is_idle() {
            self.drop_review(Dropped::AgentWoke);
            self.unjudged = false;
            self.task.undecided = true;
            self.background.stop_waiting();
            self.give_back(Outcome::Failed(error));
        } else if self.phase == Phase::Working || !self.rules.careful {
            self.turn.interrupt();
            let request_id = self.next_id();
            self.actions.push(Action::InterruptAgent { request_id });
        }
    }

    fn turn_ended(&mut self, result: &TurnResult) {
        // The agent has no open turn that this result could end; a running review must not be
        // disturbed.
        if self.rules.careful && self.phase == Phase::Reviewing {
            return;
        }
        self.outbox.turn_ended();
        let end = self.turn.end();
        self.background.turn_ended();
        let worked = std::mem::take(&mut self.tool_used) && self.rules.careful;
        self.await_waking();
        self.spent.cost.agent(result.cost_usd);
        self.conversation.learn_window(result);
        self.withdraw(|question| question.asker == Asker::Agent);
        if end == TurnEnd::Interrupted {
            self.unjudged = false;
            self.say(Notice::Interrupted);
            self.hand_over(Outcome::Ended);
        } else if result.is_error && end == TurnEnd::Abandoned {
            // The person has been told about the interrupt already.
            self.unjudged = false;
            self.hand_over(Outcome::Ended);
        } else if result.is_error {
            self.unjudged = false;
            let error = result.failure();
            self.process.last_error.clone_from(&error);
            self.say(Notice::TurnFailed { error: error.clone() });
            self.hand_over(Outcome::Failed(error));
        } else if result.num_turns == 0 {
            self.outbox.command_ran(is_command);
            let commanded = self.task.command_ran();
            if !self.unjudged {
                // Any program that the agent runs can print such a line, so it must not count as a
                // success.
                let nothing = "the agent's turn ended without any work that could be reviewed";
                self.hand_over(if commanded && !worked {
                    Outcome::Unreviewed
                } else {
                    Outcome::NoVerdict(nothing.to_owned())
                });
            }
        } else {
            self.unjudged = true;
            if !result.text.trim().is_empty() {
                self.conversation.last_answer.clone_from(&result.text);
            }
        }
        self.settle();
    }

    /// Gives control back to the person, unless a message of theirs is still on its way.
    fn hand_over(&mut self, outcome: Outcome) {
        if self.outbox.is_empty() {
            self.give_back(outcome);
        }
    }

    pub(super) fn agent_gone(&mut self, gone: Gone) {
        self.process.running = false;
        let interrupted = self.turn.end() == TurnEnd::Interrupted;
        self.unjudged = self.unjudged && self.background.is_empty();
        self.background.lost();
        self.withdraw(|question| question.asker == Asker::Agent);
        if self.rules.typed_into == TypedInto::Client {
            return self.finish(match gone.code {
                Some(0) => Outcome::Ended,
                Some(code) => Outcome::ClientLeft(code),
                None => Outcome::Failed(self.process.failure(&gone)),
            });
        }
        if !self.process.spoke {
            return self.finish(match gone.code {
                Some(0) if self.rules.client_may_leave => Outcome::ClientLeft(0),
                _ => Outcome::Failed(self.process.failure(&gone)),
            });
        }
        let again = self.process.died(self.now);
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
            self.lose_messages();
            let error = self.process.failure(&gone);
            self.give_back(if interrupted { Outcome::Ended } else { Outcome::Failed(error) });
        }
    }
}
