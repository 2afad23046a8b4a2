//! Handles the client's hook reports, once its transcript has been read up to them.

use std::io;
use std::path::PathBuf;

use super::{CROWDED, FORGED, IN_BACKGROUND, MISSED, STRANGER, Session, UNREAD, UNREAD_STOP};
use crate::client::transcript::{ClientTranscript, GOAL, TurnKind};
use crate::event::{Event, Notice, Now, Outcome, Phase};
use crate::hook::reply::Reply;
use crate::native::lines::Ended;
use crate::native::origin::Origin;
use crate::native::server::{Call, Report};
use crate::native::transcript::{self, News, Wanted};
use crate::process::screen::ScreenClient;

impl Session<'_> {
    pub(in crate::session) fn reported(&mut self, report: Report) {
        match report {
            Report::Stranger => self.warn(STRANGER),
            Report::Crowded => self.warn(CROWDED),
            Report::Missed(error) => self.missed(&error),
            Report::GivenUp(id) => self.given_up(id),
            Report::Call(call) => self.called(*call),
        }
    }

    /// Told once: the system gives several reasons for the same trouble.
    fn missed(&mut self, why: &io::Error) {
        log::warn!("{MISSED}: {why}");
        let Some(native) = &self.native else { return };
        if !native.warned.iter().any(|warning| warning.starts_with(MISSED)) {
            self.warn(&format!(
                "{MISSED}: {why}. A stop of the agent may not have been reviewed. If this happens again, leave \
                 claude and go on with `ccc --supervisor=native --continue`."
            ));
        }
    }

    pub(super) fn warn(&mut self, what: &str) {
        if self.native.as_mut().is_some_and(|native| native.warn(what)) {
            self.surface.told(Err("ccc has a warning for you".to_owned()));
        }
    }

    /// Tells the person if the client did not report their message.
    pub(in crate::session) fn notice_unheard(&mut self) {
        let (now, over) = (self.now(), self.outcome.is_some());
        let Some(native) = &mut self.native else { return };
        if !over && native.deadline().is_none_or(|due| due > now) {
            return;
        }
        if native.is_unheard() {
            // Never due again: the person is told once, and a late report still counts.
            native.due = Some(Now::MAX);
            self.surface.unheard();
        } else {
            // The next key sets a new deadline.
            native.due = None;
        }
    }

    /// After `/bg` the client exits, but its work continues.
    pub(in crate::session) fn notice_background(&mut self) {
        let Some(native) = &self.native else { return };
        let left = matches!(self.outcome, Some(Outcome::Ended | Outcome::ClientLeft(0)));
        if left && ["/bg", "/background"].iter().any(|command| native.keys.ended_with(command)) {
            self.surface.farewell(IN_BACKGROUND);
        }
    }

    /// A warning that no response of ccc's has carried to the person.
    pub(in crate::session) fn notice_unread_warnings(&mut self) {
        let Some(native) = &self.native else { return };
        for warning in native.warned.iter().filter(|warning| native.told.contains(warning)) {
            self.surface.farewell(warning);
        }
    }

    /// The client no longer waits: with Esc, the person cancelled this review.
    fn given_up(&mut self, id: u64) {
        let Some(native) = &mut self.native else { return };
        if native.stop.take_if(|(stop, _)| *stop == id).is_some()
            && self.machine.status().phase == Phase::Reviewing
        {
            self.step(Event::Interrupt);
        }
    }

    fn called(&mut self, call: Call) {
        let Some(session) = self.screen_client().map(ScreenClient::session) else { return };
        let Some(native) = &mut self.native else { return };
        match native.setup.client.sent(call.from, native.setup.hooks, session) {
            // Even without the secret, which the project's settings can keep from the hooks.
            Ok(Origin::Client) => {}
            Ok(Origin::Unknown) if call.knows_secret => {}
            Ok(Origin::Gone) => return,
            Ok(Origin::Other) if call.knows_secret => {
                call.answer.send(&Reply::Nothing);
                return self.warn(FORGED);
            }
            Err(error) => return self.missed(&error),
            Ok(Origin::Other | Origin::Unknown) => {
                call.answer.refuse();
                return self.warn(STRANGER);
            }
        }
        let event = &call.event;
        if event.is_unread {
            return self.unread_event(call);
        }
        if event.agent_id.is_some() {
            call.answer.send(&Reply::Nothing);
            return;
        }
        let until = (event.name == "Stop").then(|| event.last_assistant_message.clone());
        let wanted = Wanted::News {
            call: call.id,
            path: PathBuf::from(&event.transcript_path),
            until: until.flatten(),
        };
        native.waiting.push_back(call);
        if let Some(transcript) = &native.transcript {
            let _ = transcript.send(wanted);
        }
    }

    /// The client reported something that ccc cannot read. A stop that is not reviewed for this reason must
    /// not look like one that needed no review.
    fn unread_event(&mut self, call: Call) {
        log::warn!("claude reported {:?}, which ccc cannot read", call.event.name);
        match call.event.name.as_str() {
            "Stop" => {
                if let Some(native) = &mut self.native {
                    native.told.push(UNREAD_STOP.to_owned());
                    native.asked = false;
                }
                self.turn_begins();
                self.turn_ended(Ended::Failed(UNREAD_STOP));
                let tell = self.unread();
                call.answer.send(&Reply::Tell(tell));
            }
            // Refused, as every change whose content ccc does not know.
            "ConfigChange" => self.handle_call(call),
            _ => {
                self.warn(UNREAD);
                call.answer.send(&Reply::Nothing);
            }
        }
    }

    pub(in crate::session) fn read_transcript(&mut self, news: News) {
        let Some(native) = &mut self.native else { return };
        let called = news.call.and_then(|id| native.waiting.iter().position(|call| call.id == id));
        let call = called.and_then(|at| native.waiting.remove(at));
        if let Some(call) = &call {
            self.enter_conversation(&call.event.session_id, news.copy_of.as_deref());
        }
        let Some(native) = &mut self.native else { return };
        let (before, sent_on) = (native.conversation.turn, native.conversation.sent_on);
        let now = self.now();
        for line in news.lines {
            if let Some(native) = &mut self.native {
                native.conversation.line(&line);
            }
            if let Some(line) = transcript::of_the_agent(&line) {
                self.agent_line(line, now);
            }
        }
        self.hear_the_person();
        let Some(native) = &mut self.native else { return };
        if native.conversation.goal.is_some() {
            native.warn(GOAL);
        }
        let turn = native.conversation.turn;
        if !sent_on && self.machine.status().phase == Phase::Waiting {
            self.notice_sent_on();
        }
        if turn != before && turn == TurnKind::Interrupted && self.machine.is_busy() {
            self.step(Event::Interrupt);
            self.turn_ended(Ended::Interrupted);
        }
        if let Some(call) = call {
            self.handle_call(call);
        }
    }

    /// Supervision belongs to the process, not to a conversation: it continues in the next
    /// conversation with that one's last state. A branch begins with the state of the conversation
    /// it was copied from.
    fn enter_conversation(&mut self, session_id: &str, copy_of: Option<&str>) {
        let Some(native) = &mut self.native else { return };
        if native.session == session_id {
            return;
        }
        let before = std::mem::replace(&mut native.session, session_id.to_owned());
        if !before.is_empty() {
            native.left.insert(before, self.machine.carried());
        }
        if let Some(copied) = copy_of.and_then(|id| native.left(id)) {
            native.left.entry(session_id.to_owned()).or_insert(copied);
        }
        (native.conversation, native.heard) = (ClientTranscript::default(), 0);
        native.sent.clear();
        self.step(Event::Conversation { session_id: session_id.to_owned() });
    }

    fn handle_call(&mut self, call: Call) {
        match call.event.name.as_str() {
            "UserPromptSubmit" | "UserPromptExpansion" => self.prompted(call),
            "Stop" => self.stopped(call),
            "ConfigChange" => {
                let supervised = self.machine.status().supervising;
                match call.event.config_change.refusal().filter(|_| supervised) {
                    // The client does not show this hook's response.
                    Some(why) => {
                        call.answer.send(&Reply::Taken(why.clone()));
                        self.warn(&why);
                    }
                    None => drop(call.answer.send(&Reply::Nothing)),
                }
            }
            "StopFailure" => {
                let failure = call.event.failure();
                if let Some(native) = &mut self.native {
                    native.asked = false;
                }
                self.turn_begins();
                self.turn_ended(Ended::Failed(&failure));
                call.answer.send(&Reply::Nothing);
            }
            "SessionEnd" => {
                // Nothing is known about the next conversation except that it is a new one.
                if call.event.reason == "clear" {
                    self.surface.notice(&Notice::Session { session_id: String::new() });
                }
                call.answer.send(&Reply::Nothing);
            }
            _ => {
                call.answer.send(&Reply::Nothing);
            }
        }
    }
}
