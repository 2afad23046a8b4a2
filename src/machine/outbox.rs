//! Messages on their way: written to the client, but not yet taken up by the agent.

use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(super) struct Outbox {
    messages: VecDeque<Sent>,
    /// The client acknowledges the messages that it takes up.
    acknowledges: bool,
    taking_back: Option<TakingBack>,
}

#[derive(Debug)]
struct Sent {
    uuid: String,
    text: String,
    /// Sent by the person into a running turn: it can be taken back until the agent takes it up.
    steering: bool,
}

/// The client has been asked to forget a message.
#[derive(Debug)]
struct TakingBack {
    request_id: String,
    uuid: String,
}

/// The client's answer to such a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TakenBack {
    Message(String),
    TooLate,
}

impl Outbox {
    pub fn push(&mut self, uuid: String, text: String, steering: bool) {
        self.messages.push_back(Sent { uuid, text, steering });
    }

    /// Returns whether the message was in the outbox.
    pub fn taken_up(&mut self, uuid: &str) -> bool {
        self.acknowledges = true;
        let before = self.messages.len();
        self.messages.retain(|sent| sent.uuid != uuid);
        self.messages.len() < before
    }

    /// A client that never acknowledges messages has taken up all that came before its result.
    pub fn turn_ended(&mut self) {
        if !self.acknowledges {
            self.clear();
        }
    }

    /// Some versions do not acknowledge slash commands.
    pub fn command_ran(&mut self, is_command: impl Fn(&str) -> bool) {
        if let Some(at) = self.messages.iter().position(|sent| is_command(&sent.text)) {
            self.messages.remove(at);
        }
    }

    /// The id of the message that can be taken back now.
    pub fn last_steering(&self) -> Option<String> {
        let last = self.messages.iter().rfind(|sent| sent.steering)?;
        self.taking_back.is_none().then(|| last.uuid.clone())
    }

    pub fn take_back(&mut self, request_id: String, uuid: String) {
        self.taking_back = Some(TakingBack { request_id, uuid });
    }

    /// The client answers a request; `None` if it was a different request.
    pub fn taken_back(&mut self, request_id: &str, cancelled: bool) -> Option<TakenBack> {
        let asked = self.taking_back.take_if(|asked| asked.request_id == request_id)?;
        let at = self.messages.iter().position(|sent| sent.uuid == asked.uuid);
        let sent = at.filter(|_| cancelled).and_then(|at| self.messages.remove(at));
        Some(sent.map_or(TakenBack::TooLate, |sent| TakenBack::Message(sent.text)))
    }

    /// A new process knows nothing of the old one's requests.
    pub fn new_process(&mut self) {
        self.taking_back = None;
    }

    /// Removes all messages, to be sent again under other ids or reported as lost.
    pub fn drain(&mut self) -> Vec<String> {
        self.messages.drain(..).map(|sent| sent.text).collect()
    }

    pub fn clear(&mut self) {
        self.messages.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub fn has(&self, text: &str) -> bool {
        self.messages.iter().any(|sent| sent.text == text)
    }

    pub fn steering(&self) -> Vec<String> {
        let steering = self.messages.iter().filter(|sent| sent.steering);
        steering.map(|sent| sent.text.clone()).collect()
    }

    #[cfg(test)]
    pub fn uuids(&self) -> Vec<String> {
        self.messages.iter().map(|sent| sent.uuid.clone()).collect()
    }

    #[cfg(test)]
    pub fn request(&self) -> Option<String> {
        self.taking_back.as_ref().map(|asked| asked.request_id.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(messages: &[(&str, bool)]) -> Outbox {
        let mut outbox = Outbox::default();
        for (text, steering) in messages {
            outbox.push(format!("id of {text}"), (*text).to_owned(), *steering);
        }
        outbox
    }

    #[test]
    fn a_result_acknowledges_messages_only_if_the_client_never_does() {
        let mut silent = with(&[("a", false)]);
        silent.turn_ended();
        assert!(silent.is_empty());
        let mut outbox = with(&[("a", false), ("b", true)]);
        assert!(outbox.taken_up("id of a") && !outbox.taken_up("id of a"));
        outbox.turn_ended();
        assert!(outbox.has("b"));
    }

    #[test]
    fn the_last_steering_message_is_taken_back_one_at_a_time() {
        let mut outbox = with(&[("a", true), ("b", true), ("feedback", false)]);
        assert_eq!(outbox.last_steering().as_deref(), Some("id of b"));
        outbox.take_back("r1".into(), "id of b".into());
        assert_eq!(outbox.last_steering(), None, "one request at a time");
        assert_eq!(outbox.taken_back("other", true), None);
        assert_eq!(outbox.taken_back("r1", true), Some(TakenBack::Message("b".into())));
        assert_eq!(outbox.steering(), ["a"]);
        outbox.take_back("r2".into(), "id of a".into());
        assert_eq!(outbox.taken_back("r2", false), Some(TakenBack::TooLate));
        assert!(outbox.has("a"));
    }

    #[test]
    fn messages_to_a_dead_process_can_be_sent_again() {
        let mut outbox = with(&[("a", false), ("b", true)]);
        outbox.take_back("r".into(), "id of b".into());
        outbox.new_process();
        assert_eq!(outbox.taken_back("r", true), None);
        assert_eq!(outbox.drain(), ["a", "b"]);
        assert!(outbox.is_empty());
    }
}
