//! How the machine reacts to what the person does.

use super::background::Background;
use super::outbox::TakenBack;
use super::task::Snapshot;
use super::turn::AgentTurn;
use super::{Machine, TypedInto};
use crate::event::{Action, Asker, Dropped, GoBack, Notice, Outcome, Phase};

/// After a restart in the middle of a turn, when every message had been taken up already.
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
        self.conversation.asked(&text);
        self.task.says(text.clone());
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
            // A review that runs is the first of the new count.
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
            // The last work was never judged: this is how the person asks for it again.
            self.task.judge_again();
            self.review_or_give_back();
        }
    }

    pub(super) fn interrupt(&mut self) {
        match self.phase {
            // The first one got no answer: the person wants the prompt back all the same.
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
            // Only background tasks are running: no need to wait for them any longer.
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

    /// The client itself took the conversation back.
    pub(super) fn unsay(&mut self, texts: &[String]) {
        self.task.unsay(texts);
        if let Some(text) = texts.first().cloned() {
            self.say(Notice::WentBack { text, what: GoBack::Conversation });
        }
    }

    /// The client answers whether it still had the message.
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

    /// `persons`: it is the person's own, and while it is on its way they can take it back.
    pub(super) fn deliver(&mut self, text: String, persons: bool, before: Snapshot) {
        let uuid = self.next_id();
        let steering = persons && self.turn.is_open();
        self.points.sent(&uuid, &text, persons, before);
        self.outbox.push(uuid.clone(), text.clone(), steering);
        self.background.stop_waiting();
        if self.process.running {
            self.actions.push(Action::Send { uuid, text });
        } else {
            self.restart();
        }
        self.enter(Phase::Working);
    }

    /// A new process for the same conversation; what was not taken up is sent again. Under a new id:
    /// a client that has the old one on disk already only echoes the message, and starts no turn.
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

    /// Nobody waits any longer for what the agent has not taken up: the person has to know.
    pub(super) fn lose_messages(&mut self) {
        for text in self.outbox.drain() {
            let persons = self.task.said.iter().any(|said| said.text == text);
            if persons && self.rules.careful {
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
