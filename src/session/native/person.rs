//! The person's messages, and whether they really come from the person.

use super::{NOT_TYPED, NOT_YOUR_SWITCH, NativeState, Sent, Session};
use crate::client::transcript::is_by_client;
use crate::event::Event;
use crate::hook::reply::Reply;
use crate::native::hooks::Switch;
use crate::native::keys::Claim;
use crate::native::server::Call;

impl Session<'_> {
    /// Handles messages of the person that are in the transcript but that no hook reported. (The
    /// client reports every command.)
    pub(super) fn hear_the_person(&mut self) {
        self.hear_taken_back();
        let Some(native) = &mut self.native else { return };
        let NativeState { conversation, words, heard, keys, sent, .. } = native;
        let is_message = |text: &&str| !text.trim_start().starts_with('/');
        let written = conversation.said.iter().skip(*heard).map(|said| said.text.as_str());
        for text in written.clone() {
            if let Some(at) = sent.iter().position(|sent| sent.is(text)) {
                sent.remove(at);
            }
        }
        let written = written.filter(is_message).filter(|text| words.written(text));
        let news: Vec<String> = written.map(str::to_owned).collect();
        *heard = conversation.said.len();
        let waiting = conversation.waiting().filter(is_message);
        let waiting = waiting.filter(|text| !keys.sent_to_shell(text) && words.reported(text));
        let waiting: Vec<_> = waiting.map(str::to_owned).collect();
        self.hear_taken_out_of_the_queue();
        for text in news {
            self.said(text);
        }
        for text in waiting {
            self.sent(text);
        }
    }

    /// Handles messages that the transcript no longer contains, because the person went back to an
    /// earlier point. Only the person may do that; the agent can write to the transcript too.
    fn hear_taken_back(&mut self) {
        let Some(native) = &mut self.native else { return };
        let Some((first, unsaid)) = native.conversation.take_unsaid() else { return };
        native.heard = native.heard.min(first);
        if native.keys.may_have_gone_back() {
            let texts = unsaid.into_iter().map(|spoken| spoken.text).collect();
            self.old.forget();
            self.step(Event::Unsaid { texts, from_queue: false });
        }
    }

    /// Forgets messages that the person took out of the client's queue again, as only their keys can.
    fn hear_taken_out_of_the_queue(&mut self) {
        let Some(native) = &mut self.native else { return };
        let NativeState { conversation, words, keys, sent, .. } = native;
        let mut texts = conversation.take_taken_back();
        texts.retain(|text| {
            let at = sent.iter().position(|sent| sent.is(text));
            let theirs = at.filter(|_| keys.may_have_taken_back());
            theirs.map(|at| words.forget(&sent.remove(at).text)).is_some()
        });
        if !texts.is_empty() {
            self.step(Event::Unsaid { texts, from_queue: true });
        }
    }

    /// Forgets messages that the person took back while the client was still reporting them: it then puts
    /// them into no queue, and its transcript never mentions them. Called when the agent has stopped, after
    /// the transcript has been read.
    pub(super) fn hear_taken_back_before_the_queue(&mut self) {
        let Some(native) = &mut self.native else { return };
        let NativeState { conversation, words, keys, sent, .. } = native;
        if !keys.may_have_taken_back() {
            return;
        }
        let is_nowhere =
            |sent: &mut Sent| sent.to_queue && !conversation.waiting().any(|text| sent.is(text));
        let texts: Vec<_> = sent.extract_if(.., is_nowhere).map(|sent| sent.text).collect();
        for text in &texts {
            words.forget(text);
            // If it was sent at this very moment, and is only late, it is still the person's.
            keys.unclaim(text);
        }
        if !texts.is_empty() {
            self.step(Event::Unsaid { texts, from_queue: true });
        }
    }

    /// Accepts a message that is not in the conversation yet.
    fn sent(&mut self, text: String) {
        let to_queue = self.machine.is_busy();
        if self.said(text.clone())
            && let Some(native) = &mut self.native
        {
            native.sent.push(Sent { text, to_queue });
        }
    }

    /// Accepts a message if it comes from the person.
    fn said(&mut self, text: String) -> bool {
        let Some(native) = &mut self.native else { return false };
        let given = native.setup.prompt.take_if(|prompt| prompt.trim() == text.trim());
        let theirs = given.is_some()
            || match native.keys.claim(&text) {
                Claim::Typed => true,
                Claim::Possible => !native.conversation.schedule_is_due(),
                Claim::No => false,
            };
        if !theirs {
            self.warn(NOT_TYPED);
            return false;
        }
        native.background.person_spoke();
        self.step(Event::Said(text));
        true
    }

    pub(super) fn prompted(&mut self, call: Call) {
        let prompt = call.event.prompt.clone();
        if Switch::read(&prompt).is_some() {
            return self.switched(call, &prompt);
        }
        let Some(native) = &mut self.native else { return };
        if call.event.name == "UserPromptSubmit" {
            native.asked = true;
            // The end of a background task is reported this way too, and is not the person's
            // message.
            if !is_by_client(&prompt) && native.words.reported(&prompt) {
                self.sent(prompt);
            }
            self.turn_begins();
        }
        let tell = self.unread();
        call.answer.send(&Reply::Tell(tell));
    }

    /// What the person is shown with the next response.
    pub(super) fn unread(&mut self) -> String {
        self.surface.told(Ok(String::new()));
        self.native.as_mut().map(NativeState::unread).unwrap_or_default()
    }

    /// `/supervisor` and `/supervisoroff`, which only the person may use.
    fn switched(&mut self, call: Call, prompt: &str) {
        let (Some(switch), Some(native)) = (Switch::read(prompt), &mut self.native) else { return };
        let this = (call.event.prompt_id.clone(), prompt.to_owned());
        if native.switched.as_ref() == Some(&this) && !switch.rest.is_empty() {
            call.answer.send(&Reply::Nothing);
            return;
        }
        native.switched = Some(this);
        let command = if switch.on { "/supervisor" } else { "/supervisoroff" };
        let typed = native.keys.claim_command(command);
        // Turning supervision on is harmless whoever does it, even a line from the history.
        let harmless = switch.on && switch.rest.is_empty();
        if !typed && !harmless {
            log::warn!("{NOT_YOUR_SWITCH}");
            call.answer.send(&Reply::Taken(format!("ccc: {NOT_YOUR_SWITCH}")));
            return;
        }
        self.step(Event::Said(prompt.to_owned()));
        let tell = self.unread();
        if switch.rest.is_empty() {
            call.answer.send(&Reply::Taken(format!("ccc: {tell}")));
        } else {
            if let Some(native) = &mut self.native {
                native.asked = true;
            }
            self.turn_begins();
            call.answer.send(&Reply::Tell(tell));
        }
    }
}
