//! The agent's turns: the machine decides what follows the end of one, and the client gets its
//! response.

use super::{SCHEDULED, Session};
use crate::client::transcript::TurnKind;
use crate::event::{Notice, Phase};
use crate::hook::reply::Reply;
use crate::native::lines::{self, Ended};
use crate::native::server::Call;
use crate::native::told;
use crate::native::transcript::Wanted;

impl Session<'_> {
    pub(super) fn stopped(&mut self, call: Call) {
        let Some(native) = &mut self.native else { return };
        if let Some((_, earlier)) = native.stop.take() {
            earlier.send(&Reply::Nothing);
        }
        if call.event.session_crons() {
            native.warn(SCHEDULED);
        }
        native.keys.agent_stopped();
        let tasks = native.background.awaited(&call.event.background());
        if !tasks.is_empty() {
            self.surface.notice(&Notice::WaitingForBackground { tasks });
            call.answer.send(&Reply::Nothing);
            return;
        }
        native.stop = Some((call.id, call.answer));
        // The agent can write into the transcript too. A command of the person's own is no prompt, and a
        // failed turn ends with another event.
        let asked = std::mem::take(&mut native.asked);
        let turn = if asked { TurnKind::Work } else { native.conversation.turn };
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
        }
    }
}
