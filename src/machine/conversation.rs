//! The conversation with the agent: which one it is, and how far it has come.

use crate::client::session_id;
use crate::client::stream::{Block, TurnResult};
use crate::event::Carried;

#[derive(Debug, Default)]
pub(super) struct Conversation {
    id: Id,
    /// An earlier run of ccc had the same conversation, and this run knows what was said in it.
    pub resumed: bool,
    /// The client has it on disk, so that another process can take it up.
    pub on_disk: bool,
    pub model: String,
    /// Tokens of the conversation.
    context: Option<u64>,
    /// How many tokens the model holds.
    window: Option<u64>,
    /// What the agent said last.
    pub last_answer: String,
    /// The person has asked for another one.
    moving: bool,
}

#[derive(Debug, Default)]
enum Id {
    #[default]
    Unknown,
    /// By `--resume`.
    Wanted(String),
    /// By the agent itself.
    Named(String),
}

/// What the agent says when it names the conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// Nothing new, or nothing that can be believed.
    Known,
    Named,
    /// `/clear` gives the conversation a new id in the middle of a process.
    Another,
    /// Nobody asked for another one. Whatever the agent runs can write such a line to its terminal.
    Foreign,
}

/// The person's commands that begin another conversation in the same process.
const MOVING: [&str; 3] = ["/clear", "/new", "/reset"];

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

    /// What a new process of the client is to take up.
    pub fn to_resume(&self) -> Option<String> {
        self.id().filter(|_| self.on_disk).cloned()
    }

    /// The person says this to the agent.
    pub fn asked(&mut self, text: &str) {
        let word = text.split_whitespace().next().unwrap_or_default();
        self.moving |= MOVING.contains(&word);
    }

    /// A client that was told to fork names another one whenever it is started.
    pub fn new_process(&mut self) {
        if let Id::Named(id) = &self.id {
            self.id = Id::Wanted(id.clone());
        }
    }

    /// `careful`: only the person moves the agent to another conversation.
    pub fn named(&mut self, id: &str, careful: bool) -> Naming {
        let naming = match &self.id {
            Id::Named(known) if known == id => return Naming::Known,
            _ if !session_id::is_safe(id) => return Naming::Known,
            Id::Named(_) if careful && !self.moving => return Naming::Foreign,
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
        self.moving = false;
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

    /// What it takes up now, where the client says it.
    pub fn compacted(&mut self, tokens: Option<u64>) {
        self.context = tokens;
    }

    pub fn learns_window(&mut self, result: &TurnResult) {
        let window = result.windows.iter().find(|(model, _)| *model == self.model);
        self.window = window.or(result.windows.first()).map(|(_, tokens)| *tokens).or(self.window);
    }

    /// Tokens of the conversation, and how many the model holds.
    pub fn context(&self) -> Option<(u64, Option<u64>)> {
        self.context.map(|tokens| (tokens, self.window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_names_the_conversation_and_clear_names_another() {
        let wanted = "S".to_owned();
        let mut resumed = Conversation::new(Some(&wanted), Some(&Carried::default()));
        assert_eq!(resumed.to_resume().as_deref(), Some("S"));
        let mut conversation = Conversation::new(None, None);
        for conversation in [&mut resumed, &mut conversation] {
            assert_eq!(conversation.named("S", true), Naming::Named);
            assert_eq!(conversation.named("S", true), Naming::Known);
            conversation.said(vec![Block::Text("done".into())], Some(10));
            assert_eq!(conversation.named("../S2", true), Naming::Known, "no id of a session");
            assert_eq!(conversation.context(), Some((10, None)));
            assert_eq!(conversation.named("S2", true), Naming::Foreign);
            assert_eq!(conversation.id().map(String::as_str), Some("S"));
            conversation.asked("/clear now");
            assert_eq!(conversation.named("S2", true), Naming::Another);
            assert_eq!(conversation.named("S3", true), Naming::Foreign, "it was for one only");
            assert_eq!(conversation.id().map(String::as_str), Some("S2"));
            assert_eq!((conversation.last_answer.as_str(), conversation.context()), ("", None));
        }
        assert_eq!(conversation.to_resume(), None, "the client has not said that it has it");
        conversation.new_process();
        assert_eq!(conversation.named("S4", true), Naming::Another);
        assert_eq!(conversation.named("S5", false), Naming::Another, "as older recordings went");
    }

    #[test]
    fn the_window_is_the_one_of_the_model_that_answers() {
        let mut conversation = Conversation { model: "m".into(), ..Conversation::default() };
        conversation.said(Vec::new(), Some(5));
        let windows = vec![("other".into(), 1), ("m".into(), 2)];
        conversation.learns_window(&TurnResult { windows, ..TurnResult::default() });
        assert_eq!(conversation.context(), Some((5, Some(2))));
        conversation.learns_window(&TurnResult::default());
        assert_eq!(conversation.context(), Some((5, Some(2))), "what is known stays known");
        conversation.compacted(Some(1));
        assert_eq!(conversation.context(), Some((1, Some(2))));
    }
}
