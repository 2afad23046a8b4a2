//! The client's transcript of a conversation, read a line at a time: what the person said, what kind of
//! turn ended last, what waits in the queue, what the agent ran. The one reader of it.
//!
//! The client writes much in the person's name that they never said: summaries, the output of `!`
//! commands, notifications, the text of slash commands, feedback of hooks. Newer clients say where a
//! message came from (`origin`); of older ones its form tells.

mod entry;

use std::collections::{HashMap, VecDeque};

use crate::brief::activity::Activity;
use crate::client::stream::{Line, Part};
use crate::review::commands::Commands;
pub use entry::is_machines;
use entry::{TranscriptEntry, Word};

/// What a person is told about a `/goal`, which is left alone.
pub const GOAL: &str = "A /goal is active as well: the agent continues until the goal is reached and the \
                        work is confirmed. Reviews do not know the goal, only what you said.";

/// What a conversation has come to.
#[derive(Debug, Default)]
pub struct ClientTranscript {
    /// The person's own words, in order: typed, queued, or taken up in the middle of a turn.
    pub said: Vec<Spoken>,
    pub model: Option<String>,
    /// What the agent said last in the turn that runs or has just ended.
    pub last_answer: Option<String>,
    /// The entry in which the agent said that.
    answer: Option<String>,
    pub turn: Turn,
    /// What the agent ran, in full and in short.
    pub commands: Commands,
    pub activity: Activity,
    /// `/supervisor` and `/supervisoroff`, as the person typed them.
    pub switches: Vec<Switch>,
    /// The `/goal` that is active: a judge of the client's own, beside ours.
    pub goal: Option<String>,
    /// A schedule has come due, and its prompt is the next: this entry, by its id.
    due: Option<String>,
    queue: VecDeque<Waiting>,
    /// It is read from its beginning.
    is_whole: bool,
    /// Where each entry stands in the tree of the conversation, by its id.
    places: HashMap<String, Place>,
    /// What the person went back behind (`/rewind`): where it stood, and what it was.
    unsaid: Vec<(usize, Spoken)>,
}

#[derive(Debug)]
struct Waiting {
    text: String,
    is_human: bool,
}

/// A message of the person's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    pub text: String,
    /// When, as the client wrote it.
    pub at: String,
}

/// A switch of the person's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    pub at: String,
    pub on: bool,
}

/// The last turn, by what it began with and how it ended. Only real work is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Turn {
    /// There was none yet.
    #[default]
    None,
    Work,
    /// `!command`, and what the agent said about it.
    Shell,
    /// A slash command that the client carried out itself.
    LocalCommand,
    Interrupted,
    /// The API refused.
    Failed,
}

impl Turn {
    /// Why nothing is judged, if so.
    pub fn unjudged(self) -> Option<&'static str> {
        match self {
            Self::None | Self::Work => None,
            Self::Shell => Some("the turn was your own command (`!`), not work on a task"),
            Self::LocalCommand => Some("the turn was a command of the client, not work on a task"),
            Self::Interrupted => Some("the turn was interrupted"),
            Self::Failed => Some("the turn failed"),
        }
    }
}

/// Where an entry stands among the person's words.
#[derive(Debug)]
enum Place {
    /// So many of them come before what follows the entry.
    UpTo(usize),
    /// Wherever its parent stands.
    Below(String),
}

impl ClientTranscript {
    /// One that is read from its beginning.
    pub fn whole() -> Self {
        Self { is_whole: true, ..Self::default() }
    }

    /// Takes up a line. One that cannot be read, or that newer clients write, is passed over.
    pub fn line(&mut self, line: &[u8]) {
        let Ok(entry) = serde_json::from_slice::<TranscriptEntry>(line) else { return };
        let up_to = self.up_to(&entry);
        let before = self.said.len();
        match entry.r#type.as_str() {
            "user" => self.user(&entry, line),
            "assistant" => self.assistant(&entry, line),
            "attachment" => self.attachment(&entry),
            "queue-operation" => self.queued(&entry),
            "system" => self.system(&entry),
            _ => {}
        }
        let speaks = self.said.len() > before;
        if speaks && up_to < before {
            let unsaid = self.said.drain(up_to..before).enumerate();
            self.unsaid.extend(unsaid.map(|(at, spoken)| (up_to + at, spoken)));
        }
        if let Some(uuid) = entry.uuid {
            let place = match entry.parent_uuid {
                Some(parent) if !speaks => Place::Below(parent),
                _ => Place::UpTo(up_to + usize::from(speaks)),
            };
            self.places.insert(uuid, place);
        }
    }

    /// How many of the person's words come before this entry. The entries of a conversation are a tree:
    /// whoever goes back goes on from an earlier one.
    fn up_to(&self, entry: &TranscriptEntry) -> usize {
        let Some(mut at) = entry.parent_uuid.as_ref() else {
            let begins = entry.uuid.is_some() && entry.r#type == "user";
            // A summary stands for all that was.
            return if begins { 0 } else { self.said.len() };
        };
        // Up the tree, to where it is known. Not line by line: older clients write an answer before the
        // message that it answers.
        for _ in 0..=self.places.len() {
            match self.places.get(at) {
                Some(Place::UpTo(words)) => return (*words).min(self.said.len()),
                Some(Place::Below(parent)) => at = parent,
                None => break,
            }
        }
        // One that nobody has seen is older than all that was, unless everything was seen: then it is in no
        // file, and takes nothing back.
        if self.is_whole { self.said.len() } else { 0 }
    }

    /// Whether all that the agent's last answer goes back to stands here. Older clients may write an answer
    /// first, and the message that it answers behind it.
    pub fn has_what_was_answered(&self) -> bool {
        let mut at = self.answer.as_ref();
        for _ in 0..=self.places.len() {
            match at.map(|at| self.places.get(at)) {
                Some(Some(Place::Below(parent))) => at = Some(parent),
                Some(None) => return false,
                None | Some(Some(Place::UpTo(_))) => break,
            }
        }
        true
    }

    /// What the person went back behind since somebody last asked, and where the first of it stood.
    pub fn take_unsaid(&mut self) -> Option<(usize, Vec<Spoken>)> {
        let first = self.unsaid.iter().map(|(at, _)| *at).min()?;
        Some((first, self.unsaid.drain(..).map(|(_, spoken)| spoken).collect()))
    }

    /// What the person typed that the agent has not taken up yet.
    pub fn waiting(&self) -> impl Iterator<Item = &str> {
        self.queue.iter().filter(|waits| waits.is_human).map(|waits| waits.text.as_str())
    }

    /// Whether the prompt that comes next is one that was scheduled.
    pub fn schedule_is_due(&self) -> bool {
        self.due.is_some()
    }

    fn user(&mut self, entry: &TranscriptEntry, line: &[u8]) {
        self.due = None;
        self.tools(line);
        if entry.is_sidechain || entry.is_compact_summary {
            return;
        }
        let word = entry.word();
        if entry.is_meta {
            // Feedback of a hook goes on with the work.
            if matches!(word, Word::Feedback) {
                self.begin(Turn::Work);
            }
            return;
        }
        match word {
            Word::Nothing | Word::Feedback => {}
            Word::Interrupted => self.turn = Turn::Interrupted,
            Word::Shell => self.begin(Turn::Shell),
            Word::LocalOutput => self.turn = Turn::LocalCommand,
            Word::LocalCommand { name, args } => {
                // Some clients note first what was typed, as if it were for the agent.
                let typed = self.said.last().map(|said| said.text.trim());
                let first = typed.and_then(|typed| typed.split_whitespace().next());
                if first == Some(&name) && self.last_answer.is_none() {
                    self.said.pop();
                }
                self.begin(Turn::LocalCommand);
                // What the agent is to reach is a task like any other.
                match (name.as_str(), args.as_str()) {
                    ("/goal", "clear") => self.goal = None,
                    ("/goal", args) if !args.is_empty() => self.say(format!("/goal {args}"), entry),
                    _ => {}
                }
            }
            Word::Command { name, args } if entry.is_human() => {
                self.begin(Turn::Work);
                let switch = switch(&name);
                if let Some(on) = switch {
                    self.switches.push(Switch { at: entry.timestamp.clone(), on });
                }
                let text = match (switch, args.as_str()) {
                    (Some(_), args) => args.to_owned(),
                    (None, "") => format!("/{name}"),
                    (None, args) => format!("/{name} {args}"),
                };
                self.say(text, entry);
            }
            Word::Text(text) if entry.is_human() => {
                self.begin(Turn::Work);
                self.say(text, entry);
            }
            // Of another agent, of a schedule, of a task.
            Word::Machine | Word::Command { .. } | Word::Text(_) => self.begin(Turn::Work),
        }
    }

    fn begin(&mut self, turn: Turn) {
        self.turn = turn;
        self.last_answer = None;
    }

    fn say(&mut self, text: String, entry: &TranscriptEntry) {
        if !text.trim().is_empty() {
            self.said.push(Spoken { text, at: entry.timestamp.clone() });
        }
    }

    fn assistant(&mut self, entry: &TranscriptEntry, line: &[u8]) {
        self.tools(line);
        if entry.is_sidechain {
            return;
        }
        let Some(message) = &entry.message else { return };
        if entry.is_api_error_message {
            self.turn = Turn::Failed;
            return;
        }
        let by_model = message.model.as_deref() != Some("<synthetic>");
        // Some commands of the client make the agent work.
        if self.turn == Turn::Failed || (self.turn == Turn::LocalCommand && by_model) {
            self.turn = Turn::Work;
        }
        self.last_answer = message.text().or(self.last_answer.take());
        self.answer.clone_from(&entry.uuid);
        let model = message.model.clone().filter(|model| model != "<synthetic>");
        self.model = model.or(self.model.take());
    }

    /// What the agent ran; sub-agents' tools count like its own.
    fn tools(&mut self, line: &[u8]) {
        let line = Line::decode(line.to_vec());
        self.commands.line(&line);
        for part in &line.parts {
            if let Part::Message(envelope) = part {
                self.activity.saw(&envelope.message);
            }
        }
    }

    /// A message that the agent takes up in the middle of a turn.
    fn attachment(&mut self, entry: &TranscriptEntry) {
        if let Some((condition, met)) = entry.goal() {
            self.goal = (!met).then(|| condition.to_owned());
        }
        let Some(queued) = entry.queued_command() else { return };
        if entry.is_sidechain || !queued.is_human() {
            return;
        }
        self.turn = Turn::Work;
        self.said.push(Spoken { text: queued.text, at: entry.timestamp.clone() });
    }

    fn queued(&mut self, entry: &TranscriptEntry) {
        let content = entry.content.as_str().unwrap_or_default();
        match entry.operation.as_deref() {
            Some("enqueue") => {
                let is_human = !entry::is_machines(content);
                self.queue.push_back(Waiting { text: content.to_owned(), is_human });
            }
            Some("remove") if !content.is_empty() => {
                if let Some(at) = self.queue.iter().position(|waits| waits.text == content) {
                    self.queue.remove(at);
                }
            }
            Some("popAll") => self.queue.clear(),
            // The first one is taken up.
            _ => drop(self.queue.pop_front()),
        }
    }

    fn system(&mut self, entry: &TranscriptEntry) {
        match entry.subtype.as_deref() {
            Some("local_command") => self.turn = Turn::LocalCommand,
            // A prompt that a hook of ours has carried out: the client notes what was typed.
            Some("informational") => {
                let typed = entry.content.as_str().and_then(entry::blocked_prompt);
                let was_due = self.due.take_if(|due| entry.parent_uuid.as_ref() == Some(due));
                // The agent can schedule the command too.
                let typed = typed.filter(|_| was_due.is_none());
                if let Some(on) = typed.and_then(|typed| switch(typed.strip_prefix('/')?)) {
                    self.switches.push(Switch { at: entry.timestamp.clone(), on });
                }
            }
            Some("scheduled_task_fire") => self.due.clone_from(&entry.uuid),
            // The turn is over, for good or until a hook's feedback: what was said in it is no answer
            // of the next one.
            Some("stop_hook_summary") => self.last_answer = None,
            _ => {}
        }
    }
}

/// Whether a command is one of the two switches, by its name alone or as one of the plugin's.
fn switch(command: &str) -> Option<bool> {
    match command.strip_prefix("ccc:").unwrap_or(command) {
        "supervisor" => Some(true),
        "supervisoroff" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
