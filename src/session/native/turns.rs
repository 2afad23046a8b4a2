//! The agent's turns: the machine decides what follows the end of one, and the client gets its
//! response.

use super::{NativeState, SCHEDULED, Session};
use crate::client::transcript::TurnKind;
use crate::event::{Notice, Phase};
use crate::hook::reply::Reply;
use crate::native::lines::{self, Ended};
use crate::native::server::Call;
use crate::native::told;
use crate::native::transcript::Wanted;

impl NativeState {
    /// The kind of the turn that ends now. The agent can write into the transcript too, so a turn there is a
    /// command of the person's own only if their keys sent it. A failed turn ends with another event.
    fn turn(&mut self) -> TurnKind {
        let asked = self.asked;
        match self.conversation.turn {
            turn @ (TurnKind::Shell | TurnKind::LocalCommand)
                if self.keys.claim_own_command(&self.conversation.command, asked) =>
            {
                turn
            }
            TurnKind::Shell | TurnKind::LocalCommand => TurnKind::Work,
            _ if asked => TurnKind::Work,
            turn => turn,
        }
    }

    /// Whether the client will now take a message of the person out of its queue. The agent does not know it
    /// yet, so there is nothing to review before it does.
    fn message_waits(&self) -> bool {
        let is_theirs = |text: &str| self.sent.iter().any(|sent| sent.is(text));
        self.conversation.waiting().any(is_theirs)
    }
}

impl Session<'_> {
    pub(super) fn stopped(&mut self, call: Call) {
        self.hear_taken_back_before_the_queue();
        let Some(native) = &mut self.native else { return };
        if let Some((_, earlier)) = native.stop.take() {
            earlier.send(&Reply::Nothing);
        }
        if call.event.session_crons() {
            native.warn(SCHEDULED);
        }
        let turn = native.turn();
        native.keys.agent_stopped();
        let tasks = native.background.awaited(&call.event.background());
        if !tasks.is_empty() {
            self.surface.notice(&Notice::WaitingForBackground { tasks });
            call.answer.send(&Reply::Nothing);
            return;
        }
        if native.message_waits() {
            native.asked = true;
            call.answer.send(&Reply::Nothing);
            return;
        }
        native.stop = Some((call.id, call.answer));
        native.asked = false;
        let answer = call.event.last_assistant_message.unwrap_or_default();
        self.turn_begins();
        self.turn_ended(match turn {
            TurnKind::None | TurnKind::Work | TurnKind::Interrupted => {
                Ended::Well { last_answer: &answer }
            }
            TurnKind::Shell | TurnKind::LocalCommand => Ended::WithoutWork,
            TurnKind::Failed => Ended::Failed(&answer),
        });
    }

    /// Another hook than ccc's (the person's own, a `/goal`) has sent the agent on, which no hook reports.
    pub(super) fn notice_sent_on(&mut self) {
        if let Some(native) = self.native.as_mut().filter(|native| native.conversation.sent_on) {
            native.asked = true;
            self.turn_begins();
        }
    }

    pub(super) fn turn_begins(&mut self) {
        let Some(native) = &self.native else { return };
        let model = native.conversation.model.as_deref().unwrap_or_default();
        let line = lines::begun(&native.session, model);
        let now = self.now();
        self.agent_line(line, now);
    }

    pub(super) fn turn_ended(&mut self, ended: Ended<'_>) {
        let Some(native) = &self.native else { return };
        let line = lines::ended(&native.session, ended);
        let now = self.now();
        self.agent_line(line, now);
    }

    /// Keeps the machine's message for the agent until the client's stop is answered.
    pub(in crate::session) fn feed_back(&mut self, uuid: String, text: String) {
        if let Some(native) = &mut self.native {
            native.feedback = Some((uuid, text));
        }
    }

    /// Keeps a notice for the person until the next response.
    pub(in crate::session) fn tell(&mut self, notice: &Notice) {
        if let Some(native) = &mut self.native {
            native.told.extend(told::sentence(notice));
        }
    }

    /// Responds to the client's stop as soon as no review is running.
    pub(in crate::session) fn answer_client(&mut self) {
        let reviewing = self.machine.status().phase == Phase::Reviewing;
        let Some(native) = &mut self.native else { return };
        if native.watching != reviewing {
            native.watching = reviewing;
            if let Some(transcript) = &native.transcript {
                let _ = transcript.send(Wanted::Watch(reviewing));
            }
        }
        if reviewing {
            return;
        }
        if let Some((uuid, feedback)) = native.feedback.take() {
            let tell = native.unread();
            let taken = native
                .stop
                .take()
                .is_some_and(|(_, answer)| answer.send(&Reply::GoOn { feedback, tell }));
            native.asked = true;
            let line = lines::taken(&native.session, &uuid);
            let now = self.now();
            self.agent_line(line, now);
            if taken {
                self.turn_begins();
            } else {
                log::warn!("the client did not wait for the feedback");
                self.turn_ended(Ended::Interrupted);
            }
        } else if let Some((_, answer)) = native.stop.take() {
            let tell = self.unread();
            answer.send(&Reply::Tell(tell));
            self.notice_sent_on();
        }
    }
}
