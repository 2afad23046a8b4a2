//! The conversation with the agent: which one it is, and how far it has come.

use crate::client::session_id;
use crate::client::stream::{Block, TurnResult};
use crate::event::Carried;

#[derive(Debug, Default)]
pub(super) struct Conversation {
    id: Id,
    /// This run has the state that an earlier run of the same conversation left.
    pub resumed: bool,
    /// The client has saved the conversation, so another process can resume it.
    pub on_disk: bool,
    pub model: String,
    context: Option<u64>,
    /// The size of the model's context window, in tokens.
    window: Option<u64>,
    pub last_answer: String,
    /// The person has asked for another conversation.
    switching: bool,
}

#[derive(Debug, Default)]
enum Id {
    #[default]
    Unknown,
    /// Asked for with `--resume`.
    Wanted(String),
    /// Reported by the agent.
    Named(String),
}

/// What it means when the agent names a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// Nothing new, or not a valid id.
    Known,
    Named,
    /// `/clear` gives the conversation a new id in the middle of a process.
    Another,
    /// Nobody asked for another conversation. Any program that the agent runs can print such a
    /// line.
    Foreign,
}

/// The person's commands that begin another conversation in the same process.
const SWITCHING: [&str; 3] = ["/clear", "/new", "/reset"];

impl Conversation {
    pub fn new(wanted: Option<&String>, carried: Option<&Carried>) -> Self {
        let id = wanted.cloned().map_or(Id::Unknown, Id::Wanted);
        let ending = carried.and_then(|carried| carried.ending.as_ref());
        let last_answer = ending.map(|ending| ending.answer.clone()).unwrap_or_default();
        let resumed = carried.is_some();
        Self { id, resumed, on_disk: wanted.is_some(), last_answer, ..Self::default() }
    }

    pub fn id(&self) -> Option<&String> {
        match &self.id {
            Id::Unknown => None,
            Id::Wanted(id) | Id::Named(id) => Some(id),
        }
    }

    /// The conversation that a new client process should resume.
    pub fn to_resume(&self) -> Option<String> {
        self.id().filter(|_| self.on_disk).cloned()
    }

    /// Notes a message of the person, which may ask for another conversation.
    pub fn person_said(&mut self, text: &str) {
        let word = text.split_whitespace().next().unwrap_or_default();
        self.switching |= SWITCHING.contains(&word);
    }

    /// A client that was told to fork names another conversation each time it starts.
    pub fn new_process(&mut self) {
        if let Id::Named(id) = &self.id {
            self.id = Id::Wanted(id.clone());
        }
    }

    /// `careful`: only the person can move the agent to another conversation.
    pub fn named(&mut self, id: &str, careful: bool) -> Naming {
        let naming = match &self.id {
            Id::Named(known) if known == id => return Naming::Known,
            _ if !session_id::is_safe(id) => return Naming::Known,
            Id::Named(_) if careful && !self.switching => return Naming::Foreign,
            Id::Wanted(known) if known == id => Naming::Named,
            Id::Unknown => Naming::Named,
            Id::Wanted(_) | Id::Named(_) => Naming::Another,
        };
        if naming == Naming::Another {
            self.last_answer.clear();
            self.context = None;
            self.resumed = false;
        }
        self.id = Id::Named(id.to_owned());
        self.switching = false;
        naming
    }

    pub fn said(&mut self, blocks: Vec<Block>, context: Option<u64>) {
        self.context = context.or(self.context);
        for block in blocks {
            match block {
                Block::Text(text) if !text.trim().is_empty() => self.last_answer = text,
                _ => {}
            }
        }
    }

    /// The size after the compaction, if the client reports it.
    pub fn compacted(&mut self, tokens: Option<u64>) {
        self.context = tokens;
    }

    pub fn learn_window(&mut self, result: &TurnResult) {
        let window = result.windows.iter().find(|(model, _)| *model == self.model);
        self.window = window.or(result.windows.first()).map(|(_, tokens)| *tokens).or(self.window);
    }

    /// Tokens in the conversation, and the size of the model's context window.
    pub fn context(&self) -> Option<(u64, Option<u64>)> {
        self.context.map(|tokens| (tokens, self.window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_names_the_conversation_and_clear_begins_another() {
        let wanted = "S".to_owned();
        let mut resumed = Conversation::new(Some(&wanted), Some(&Carried::default()));
        assert_eq!(resumed.to_resume().as_deref(), Some("S"));
        let mut conversation = Conversation::new(None, None);
        for conversation in [&mut resumed, &mut conversation] {
            assert_eq!(conversation.named("S", true), Naming::Named);
            assert_eq!(conversation.named("S", true), Naming::Known);
            conversation.said(vec![Block::Text("done".into())], Some(10));
            assert_eq!(conversation.named("../S2", true), Naming::Known, "not a session id");
            assert_eq!(conversation.context(), Some((10, None)));
            assert_eq!(conversation.named("S2", true), Naming::Foreign);
            assert_eq!(conversation.id().map(String::as_str), Some("S"));
            conversation.person_said("/clear now");
            assert_eq!(conversation.named("S2", true), Naming::Another);
            assert_eq!(
                conversation.named("S3", true),
                Naming::Foreign,
                "`/clear` allows one switch"
            );
            assert_eq!(conversation.id().map(String::as_str), Some("S2"));
            assert_eq!((conversation.last_answer.as_str(), conversation.context()), ("", None));
        }
        assert_eq!(conversation.to_resume(), None, "the client has not saved it");
        conversation.new_process();
        assert_eq!(conversation.named("S4", true), Naming::Another);
        assert_eq!(conversation.named("S5", false), Naming::Another, "as in older recordings");
    }

    #[test]
    fn the_window_is_that_of_the_model_in_use() {
        let mut conversation = Conversation { model: "m".into(), ..Conversation::default() };
        conversation.said(Vec::new(), Some(5));
        let windows = vec![("other".into(), 1), ("m".into(), 2)];
        conversation.learn_window(&TurnResult { windows, ..TurnResult::default() });
        assert_eq!(conversation.context(), Some((5, Some(2))));
        conversation.learn_window(&TurnResult::default());
        assert_eq!(conversation.context(), Some((5, Some(2))), "the known window is kept");
        conversation.compacted(Some(1));
        assert_eq!(conversation.context(), Some((1, Some(2))));
    }
}
