//! The conversation with the agent: which one it is, and how far it has come.

use crate::client::session_id;
use crate::client::stream::{Block, TurnResult};

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
}

impl Conversation {
    pub fn new(wanted: Option<&String>, resumed: bool) -> Self {
        let id = wanted.cloned().map_or(Id::Unknown, Id::Wanted);
        Self { id, resumed, on_disk: wanted.is_some(), ..Self::default() }
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

    pub fn named(&mut self, id: &str) -> Naming {
        let naming = match &self.id {
            Id::Named(known) if known == id => return Naming::Known,
            _ if !session_id::is_safe(id) => return Naming::Known,
            Id::Wanted(known) if known == id => Naming::Named,
            Id::Unknown => Naming::Named,
            Id::Wanted(_) | Id::Named(_) => Naming::Another,
        };
        if naming == Naming::Another {
            self.last_answer.clear();
            self.context = None;
        }
        self.id = Id::Named(id.to_owned());
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
        let mut resumed = Conversation::new(Some(&wanted), true);
        assert_eq!(resumed.to_resume().as_deref(), Some("S"));
        let mut conversation = Conversation::new(None, false);
        for conversation in [&mut resumed, &mut conversation] {
            assert_eq!(conversation.named("S"), Naming::Named);
            assert_eq!(conversation.named("S"), Naming::Known);
            conversation.said(vec![Block::Text("done".into())], Some(10));
            assert_eq!(conversation.named("../S2"), Naming::Known, "no id of a session");
            assert_eq!(conversation.context(), Some((10, None)));
            assert_eq!(conversation.named("S2"), Naming::Another);
            assert_eq!(conversation.id().map(String::as_str), Some("S2"));
            assert_eq!((conversation.last_answer.as_str(), conversation.context()), ("", None));
        }
        assert_eq!(conversation.to_resume(), None, "the client has not said that it has it");
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
    }
}
