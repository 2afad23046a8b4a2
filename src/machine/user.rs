//! How the machine reacts to what the person does.

use super::background::Background;
use super::outbox::TakenBack;
use super::task::TaskSnapshot;
use super::turn::AgentTurn;
use super::{Machine, TypedInto};
use crate::event::{Action, Asker, Dropped, GoBack, Notice, Outcome, Phase};

/// Sent after a restart in the middle of a turn, if the agent had already taken up every message.
const GO_ON: &str = "The client was restarted in the middle of your work. Check what is done already, \
                     then continue from there.";

impl Machine {
    pub(super) fn said(&mut self, text: String) {
        let command = text.trim();
        let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        match word {
            "" => {}
            "/supervisor" => self.supervise(true, rest),
            "/supervisoroff" => self.supervise(false, rest),
            _ => self.message(text),
        }
    }

    fn message(&mut self, text: String) {
        self.drop_review(Dropped::UserMessage);
        let before = self.task.snapshot();
        if self.phase == Phase::Waiting && self.task.fresh {
            if self.rules.checking.examines {
                self.actions.push(Action::NoteFiles);
            }
            self.task.begin();
        }
        self.conversation.person_said(&text);
        self.task.add_message(text.clone());
        self.say(Notice::UserMessage { text: text.clone() });
        match self.rules.typed_into {
            TypedInto::Ccc => self.deliver(text, true, before),
            TypedInto::Client => {
                self.background.stop_waiting();
                self.enter(Phase::Working);
            }
        }
    }

    fn supervise(&mut self, on: bool, rest: &str) {
        self.supervising = on;
        self.say(Notice::Supervision { on });
        if on {
            // A running review is the first of the new count.
            self.task.round = u32::from(self.phase == Phase::Reviewing && self.rules.careful);
        } else if self.drop_review(Dropped::SwitchedOff) {
            self.give_back(Outcome::Unreviewed);
        }
        if !rest.trim().is_empty() {
            self.message(rest.trim().to_owned());
        } else if on
            && self.task.undecided
            && self.phase == Phase::Waiting
            && self.rules.typed_into == TypedInto::Ccc
        {
            // The last work was not judged; with this command the person asks for it again.
            self.task.judge_again();
            self.review_or_give_back();
        }
    }

    pub(super) fn interrupt(&mut self) {
        match self.phase {
            // The first interrupt got no answer, but the person wants the prompt back anyway.
            Phase::Working if self.turn.is_interrupting() => {
                self.turn.abandon();
                self.lose_messages();
                self.say(Notice::Interrupted);
                self.give_back(Outcome::Ended);
            }
            Phase::Working if self.turn.is_open() || !self.outbox.is_empty() => {
                self.turn.interrupt();
                let request_id = self.next_id();
                self.actions.push(Action::InterruptAgent { request_id });
            }
            // Only background tasks are running, and they need not be awaited any longer.
            Phase::Working => {
                self.unjudged = false;
                self.background.stop_waiting();
                self.say(Notice::Interrupted);
                self.give_back(Outcome::Ended);
            }
            Phase::Reviewing => {
                self.drop_review(Dropped::Interrupt);
                self.task.undecided = true;
                self.give_back(Outcome::Ended);
            }
            Phase::Waiting | Phase::Ended => {}
        }
    }

    /// The person went back in the client's own screen.
    pub(super) fn unsay(&mut self, texts: &[String], from_queue: bool) {
        self.task.unsay(texts);
        let Some(text) = texts.first().cloned() else { return };
        self.say(if from_queue {
            Notice::TakenBack { text, too_late: false }
        } else {
            Notice::WentBack { text, what: GoBack::Conversation }
        });
    }

    /// Asks the client to forget the last message; its answer says whether that was possible.
    pub(super) fn take_back(&mut self) {
        let Some(uuid) = self.outbox.last_steering() else { return };
        let request_id = self.next_id();
        self.outbox.take_back(request_id.clone(), uuid.clone());
        self.actions.push(Action::CancelMessage { request_id, uuid });
    }

    pub(super) fn taken_back(&mut self, request_id: &str, cancelled: bool) {
        let Some(answer) = self.outbox.taken_back(request_id, cancelled) else { return };
        let TakenBack::Message(text) = answer else {
            self.say(Notice::TakenBack { text: String::new(), too_late: true });
            return;
        };
        self.task.taken_back(&text);
        self.points.taken_back(&text);
        self.say(Notice::TakenBack { text: text.clone(), too_late: false });
        self.actions.push(Action::GiveBack { text });
        self.settle();
    }

    /// `by_person`: the person wrote the message and can take it back until the agent takes it up.
    pub(super) fn deliver(&mut self, text: String, by_person: bool, before: TaskSnapshot) {
        let uuid = self.next_id();
        let steering = by_person && self.turn.is_open();
        self.points.sent(&uuid, &text, by_person, before);
        self.outbox.push(uuid.clone(), text.clone(), steering);
        self.background.stop_waiting();
        if self.process.running {
            self.actions.push(Action::Send { uuid, text });
        } else {
            self.restart();
        }
        self.enter(Phase::Working);
    }

    /// Starts a new process for the same conversation and sends again what was not taken up. Under
    /// a new id, because a client that has already saved the old id only echoes the message and
    /// starts no turn.
    pub(super) fn restart(&mut self) {
        self.start_agent();
        let mut texts = self.outbox.drain();
        if texts.is_empty() {
            texts.push(GO_ON.to_owned());
        }
        for text in texts {
            let uuid = self.next_id();
            self.outbox.push(uuid.clone(), text.clone(), false);
            self.points.sent_again(&uuid, &text);
            self.actions.push(Action::Send { uuid, text });
        }
    }

    /// Gives up the messages that the agent has not taken up, and tells the person.
    pub(super) fn lose_messages(&mut self) {
        for text in self.outbox.drain() {
            let by_person = self.task.said.iter().any(|said| said.text == text);
            if by_person && self.rules.careful {
                self.say(Notice::NotTakenUp { text });
            }
        }
    }

    pub(super) fn start_agent(&mut self) {
        self.process.running = true;
        self.turn = AgentTurn::default();
        self.tool_used = false;
        self.conversation.new_process();
        self.outbox.new_process();
        self.background = Background::default();
        self.withdraw(|question| question.asker == Asker::Agent);
        self.spent.cost.new_process();
        let resume = self.conversation.to_resume();
        self.actions.push(Action::StartAgent { resume });
        self.ask_for_mode_again();
    }
}
