//! What the person does.

use super::{Agent, Machine, Sent};
use crate::event::{Action, Asker, Dropped, Notice, Outcome, Phase, Said};
use crate::review::circle::Circle;

/// After a restart in the middle of a turn, when every message had been taken up already.
const GO_ON: &str = "The client was restarted in the middle of your work. Check what is done already, \
                     then go on from there.";

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
        if self.phase == Phase::Waiting && self.fresh {
            if self.rules.checking.examines {
                self.actions.push(Action::NoteFiles);
            }
            self.round = 0;
            self.fresh = false;
            self.requirements.clear();
            for said in &mut self.said {
                said.earlier = true;
            }
        }
        self.undecided = false;
        self.circle = Circle::default();
        self.said.push(Said { text: text.clone(), earlier: false });
        self.say(Notice::UserMessage { text: text.clone() });
        self.deliver(text, true);
    }

    fn supervise(&mut self, on: bool, rest: &str) {
        self.supervising = on;
        self.say(Notice::Supervision { on });
        if on {
            self.round = 0;
        } else if self.drop_review(Dropped::SwitchedOff) {
            self.give_back(Outcome::Unreviewed);
        }
        if !rest.trim().is_empty() {
            self.message(rest.trim().to_owned());
        } else if on && self.undecided && self.phase == Phase::Waiting {
            // The last work was never judged: this is how the person asks for it again.
            self.undecided = false;
            self.fresh = false;
            self.review_or_give_back();
        }
    }

    pub(super) fn interrupt(&mut self) {
        match self.phase {
            // The first one got no answer: the person wants the prompt back all the same.
            Phase::Working if self.interrupting => {
                self.interrupting = false;
                self.abandoned = self.turn_open;
                self.unconfirmed.clear();
                self.say(Notice::Interrupted);
                self.give_back(Outcome::Ended);
            }
            Phase::Working if self.turn_open || !self.unconfirmed.is_empty() => {
                self.interrupting = true;
                let request_id = self.next_id();
                self.actions.push(Action::InterruptAgent { request_id });
            }
            // Only background tasks are running: no need to wait for them any longer.
            Phase::Working => {
                self.unjudged = false;
                self.stop_waiting();
                self.say(Notice::Interrupted);
                self.give_back(Outcome::Ended);
            }
            Phase::Reviewing => {
                self.drop_review(Dropped::Interrupt);
                self.undecided = true;
                self.give_back(Outcome::Ended);
            }
            Phase::Waiting | Phase::Ended => {}
        }
    }

    /// The client answers whether it still had the message.
    pub(super) fn take_back(&mut self) {
        let Some(uuid) = self.steering().next_back().map(|sent| sent.uuid.clone()) else { return };
        if self.taking_back.is_none() {
            let request_id = self.next_id();
            self.taking_back = Some((request_id.clone(), uuid.clone()));
            self.actions.push(Action::CancelMessage { request_id, uuid });
        }
    }

    pub(super) fn taken_back(&mut self, request_id: &str, cancelled: bool) {
        let Some((_, uuid)) = self.taking_back.take_if(|(asked, _)| asked == request_id) else {
            return;
        };
        let at = self.unconfirmed.iter().position(|sent| sent.uuid == uuid);
        let Some(sent) = at.filter(|_| cancelled).and_then(|at| self.unconfirmed.remove(at)) else {
            self.say(Notice::TakenBack { text: String::new(), too_late: true });
            return;
        };
        if let Some(at) = self.said.iter().rposition(|said| said.text == sent.text) {
            self.said.remove(at);
        }
        self.say(Notice::TakenBack { text: sent.text.clone(), too_late: false });
        self.actions.push(Action::GiveBack { text: sent.text });
        self.settle();
    }

    pub(super) fn deliver(&mut self, text: String, steering: bool) {
        let uuid = self.next_id();
        let steering = steering && self.turn_open;
        self.unconfirmed.push_back(Sent { uuid: uuid.clone(), text: text.clone(), steering });
        self.stop_waiting();
        if self.agent == Agent::Dead {
            self.restart();
        } else {
            self.actions.push(Action::Send { uuid, text });
        }
        self.enter(Phase::Working);
    }

    /// A new process for the same conversation; what was not taken up is sent again. Under a new id:
    /// a client that has the old one on disk already only echoes the message, and starts no turn.
    pub(super) fn restart(&mut self) {
        self.start_agent();
        let mut texts: Vec<_> = self.unconfirmed.drain(..).map(|sent| sent.text).collect();
        if texts.is_empty() {
            texts.push(GO_ON.to_owned());
        }
        for text in texts {
            let uuid = self.next_id();
            let sent = Sent { uuid: uuid.clone(), text: text.clone(), steering: false };
            self.unconfirmed.push_back(sent);
            self.actions.push(Action::Send { uuid, text });
        }
    }

    pub(super) fn start_agent(&mut self) {
        self.agent = Agent::Running;
        self.turn_open = false;
        self.interrupting = false;
        self.abandoned = false;
        self.taking_back = None;
        self.background.clear();
        self.waking = false;
        self.stop_waiting();
        self.withdraw(|question| question.asker == Asker::Agent);
        self.cost.new_process();
        let resume = self.session_id.clone().filter(|_| self.resumable);
        self.actions.push(Action::StartAgent { resume });
        self.ask_for_mode_again();
    }
}
