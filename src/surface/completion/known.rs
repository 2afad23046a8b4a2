//! The slash commands that can be typed: the client's, as far as it has listed them, and ccc's own.

use crate::client::stream::{Message, SlashCommand, strip_escapes};
use crate::config;

/// Commands of ccc itself.
pub(super) const OWN: [(&str, &str); 2] = [
    ("supervisor", "review the work each time the agent stops"),
    ("supervisoroff", "turn reviews off"),
];

/// Commands of ccc, unless the client has one of the same name.
const ALSO_OWN: [(&str, &str); 14] = [
    ("background", "send the running command to the background"),
    ("context", "what fills the model's context"),
    ("cost", "what the agent and the reviews cost"),
    ("diff", "what the task has changed"),
    ("exit", "end the session"),
    ("help", "keys and commands"),
    ("image", "add an image from a path or the clipboard"),
    ("mode", "change the permission mode"),
    ("model", "choose the model"),
    ("quit", "end the session"),
    ("rewind", "go back to an earlier message"),
    ("status", "session, model, provider, context, cost"),
    ("todos", "show or hide the todo list"),
    ("vim", "vi keys at the prompt"),
];

#[derive(Debug, Default)]
pub struct KnownCommands {
    /// The client's; empty until it has listed them.
    listed: Vec<SlashCommand>,
}

impl KnownCommands {
    /// The client lists its commands when asked, when they change, and at the start of every turn.
    /// Returns whether this message was such a list.
    pub fn learn(&mut self, message: &Message) -> bool {
        match message {
            Message::Init(init) => self.set_names(&init.commands),
            Message::Introduced(told) => told.commands.clone_into(&mut self.listed),
            Message::CommandsChanged(commands) => commands.clone_into(&mut self.listed),
            _ => return false,
        }
        true
    }

    /// Sets only the names; known descriptions are kept.
    fn set_names(&mut self, names: &[String]) {
        let known = std::mem::take(&mut self.listed);
        let described = |name: &String| {
            let known = known.iter().find(|command| command.name == *name).cloned();
            known.unwrap_or_else(|| SlashCommand { name: name.clone(), ..SlashCommand::default() })
        };
        self.listed = names.iter().map(described).collect();
    }

    /// Whether the client has this command.
    pub fn has(&self, name: &str) -> bool {
        let is = |command: &SlashCommand| {
            command.name == name || command.aliases.iter().any(|alias| alias == name)
        };
        self.listed.iter().any(is)
    }

    /// The names to suggest, without ccc's own that are always first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        // Names with two underscores are internal to the client.
        let listed = self.listed.iter().map(|command| command.name.as_str());
        let also = ALSO_OWN.iter().map(|(name, _)| *name).filter(|name| !self.has(name));
        listed.filter(|name| !name.starts_with("__")).chain(also)
    }

    pub(super) fn about(&self, command: &str) -> String {
        let mut own = OWN.iter().chain(&ALSO_OWN);
        if let Some((_, what)) = own.find(|(name, _)| *name == command) {
            return (*what).to_owned();
        }
        let known = self.listed.iter().find(|known| known.name == command);
        let about = known.map(|command| strip_escapes(&command.description)).unwrap_or_default();
        about.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether this word, with its slash, is nothing but a misspelt or unknown command. Newer clients
    /// would send it to the model, which costs a turn and a review.
    pub fn is_unknown(&self, word: &str) -> bool {
        let Some(name) = word.strip_prefix('/').filter(|name| !name.is_empty()) else {
            return false;
        };
        let part = |c: char| c.is_ascii_alphanumeric() || ":_-".contains(c);
        let own = || OWN.iter().chain(&ALSO_OWN).any(|(own, _)| *own == name);
        // The servers of these are slow to start, so they may be listed later.
        let listed_later = name.starts_with("mcp__");
        !self.listed.is_empty()
            && name.chars().all(part)
            && !(self.has(name) || own() || listed_later)
    }

    /// The command that was probably meant.
    pub fn closest(&self, word: &str) -> Option<String> {
        let name = word.trim_start_matches('/').to_lowercase();
        let aliases = self.listed.iter().flat_map(|command| &command.aliases);
        let names = self.names().chain(OWN.map(|(name, _)| name)).map(str::to_owned);
        let close = |known: &str| strsim::jaro_winkler(&name, known);
        let meant = config::nearest(names.chain(aliases.cloned()), close)?;
        Some(format!("/{meant}"))
    }
}
