//! Messages on their way: written to the client, but not yet taken up by the agent.

use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(super) struct Outbox {
    messages: VecDeque<Sent>,
    /// The client says which messages it takes up.
    receipts: bool,
    taking_back: Option<TakingBack>,
}

#[derive(Debug)]
struct Sent {
    uuid: String,
    text: String,
    /// Sent by the person into a running turn: until it is taken up, it can be taken back.
    steering: bool,
}

/// The client has been asked to forget a message.
#[derive(Debug)]
struct TakingBack {
    request_id: String,
    uuid: String,
}

/// What the client answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TakenBack {
    Message(String),
    TooLate,
}

impl Outbox {
    pub fn push(&mut self, uuid: String, text: String, steering: bool) {
        self.messages.push_back(Sent { uuid, text, steering });
    }

    /// Says whether it was one of these.
    pub fn taken_up(&mut self, uuid: &str) -> bool {
        self.receipts = true;
        let before = self.messages.len();
        self.messages.retain(|sent| sent.uuid != uuid);
        self.messages.len() < before
    }

    /// A client that never says what it takes up has taken up what came before its result.
    pub fn turn_ended(&mut self) {
        if !self.receipts {
            self.clear();
        }
    }

    /// Some versions do not say that they took a slash command up.
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

    /// The client answers a request; `None` if that was another one.
    pub fn taken_back(&mut self, request_id: &str, cancelled: bool) -> Option<TakenBack> {
        let asked = self.taking_back.take_if(|asked| asked.request_id == request_id)?;
        let at = self.messages.iter().position(|sent| sent.uuid == asked.uuid);
        let sent = at.filter(|_| cancelled).and_then(|at| self.messages.remove(at));
        Some(sent.map_or(TakenBack::TooLate, |sent| TakenBack::Message(sent.text)))
    }

    /// Another process of the client knows none of them, and nothing of a request.
    pub fn new_process(&mut self) {
        self.taking_back = None;
    }

    /// To be sent again under other ids.
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
    fn a_result_stands_for_receipts_only_where_there_are_none() {
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
    fn what_was_on_its_way_to_a_dead_process_can_be_sent_again() {
        let mut outbox = with(&[("a", false), ("b", true)]);
        outbox.take_back("r".into(), "id of b".into());
        outbox.new_process();
        assert_eq!(outbox.taken_back("r", true), None);
        assert_eq!(outbox.drain(), ["a", "b"]);
        assert!(outbox.is_empty());
    }
}
