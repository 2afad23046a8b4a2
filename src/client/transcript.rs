//! The client's transcript of a conversation, read line by line: what the person said, what kind of
//! turn ended last, what waits in the queue, what the agent ran. Nothing else reads the transcript.
//!
//! The client writes much in the person's name that they never said: summaries, the output of `!`
//! commands, notifications, the text of slash commands, feedback of hooks. Newer clients record
//! where a message came from (`origin`); with older ones only its form shows that.

mod entry;

use std::collections::{HashMap, VecDeque};

use crate::brief::activity::Activity;
use crate::client::stream::Line;
use crate::review::commands::Commands;
pub use entry::is_by_client;
use entry::{TranscriptEntry, UserEntry};

/// What a person is told about a `/goal`, which is left alone.
pub const GOAL: &str = "A /goal is active as well: the agent continues until the goal is reached and the \
                        work is confirmed. Reviews do not know the goal, only what you said.";

/// The current state of a conversation.
#[derive(Debug, Default)]
pub struct ClientTranscript {
    /// The person's own messages, in order: typed, queued, or taken up in the middle of a turn.
    pub said: Vec<Spoken>,
    pub model: Option<String>,
    /// The agent's last text in the current or just ended turn.
    pub last_answer: Option<String>,
    /// The id of the entry with the last answer.
    answer: Option<String>,
    pub turn: TurnKind,
    /// Feedback of a hook has sent the agent on, and it has not answered yet.
    pub sent_on: bool,
    /// The command of the person that such a turn (`Shell`, `LocalCommand`) began with.
    pub command: String,
    /// What the agent ran, in full; `activity` is the summary.
    pub commands: Commands,
    pub activity: Activity,
    /// The person's `/supervisor` and `/supervisoroff` commands.
    pub switches: Vec<SupervisionSwitch>,
    /// The active `/goal`, for which the client has its own judge.
    pub goal: Option<String>,
    /// The id of the entry which announces that a scheduled prompt comes next.
    due: Option<String>,
    queue: VecDeque<QueueItem>,
    /// What the person took back out of the queue.
    taken_back: Vec<String>,
    /// The transcript is read from its beginning.
    is_whole: bool,
    /// The position of each entry in the tree of the conversation, by its id.
    places: HashMap<String, Place>,
    /// Messages that the person undid by going back (`/rewind`), with their index.
    unsaid: Vec<(usize, Spoken)>,
}

#[derive(Debug)]
struct QueueItem {
    text: String,
    is_human: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    pub text: String,
    pub at: String,
}

/// The person switched supervision on or off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupervisionSwitch {
    pub at: String,
    pub on: bool,
}

/// The kind of the last turn. Only real work is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TurnKind {
    #[default]
    None,
    Work,
    /// `!command`, and what the agent said about it.
    Shell,
    /// A slash command that the client executed itself.
    LocalCommand,
    Interrupted,
    Failed,
}

impl TurnKind {
    /// The reason why the turn is not judged, if there is one.
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

/// The position of an entry among the person's messages.
#[derive(Debug)]
enum Place {
    /// After this many messages.
    AfterMessages(usize),
    /// At the position of this parent.
    SameAs(String),
}

impl ClientTranscript {
    /// A transcript that is read from its beginning.
    pub fn whole() -> Self {
        Self { is_whole: true, ..Self::default() }
    }

    /// Processes a line. Unreadable lines and unknown types are ignored.
    pub fn line(&mut self, line: &[u8]) {
        let Ok(entry) = serde_json::from_slice::<TranscriptEntry>(line) else { return };
        let messages_before = self.messages_before(&entry);
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
        if speaks && messages_before < before {
            let unsaid = self.said.drain(messages_before..before).enumerate();
            self.unsaid.extend(unsaid.map(|(at, spoken)| (messages_before + at, spoken)));
        }
        if let Some(uuid) = entry.uuid {
            let place = match entry.parent_uuid {
                Some(parent) if !speaks => Place::SameAs(parent),
                _ => Place::AfterMessages(messages_before + usize::from(speaks)),
            };
            self.places.insert(uuid, place);
        }
    }

    /// How many of the person's messages come before this entry. The entries form a tree: after
    /// going back, the conversation continues from an earlier entry.
    fn messages_before(&self, entry: &TranscriptEntry) -> usize {
        let Some(mut at) = entry.parent_uuid.as_ref() else {
            let begins = entry.uuid.is_some() && entry.r#type == "user";
            // A summary, which also has no parent, keeps all earlier messages.
            return if begins { 0 } else { self.said.len() };
        };
        // Walks up the tree to a known position. The order of lines is not enough: older clients
        // may write an answer before its message.
        for _ in 0..=self.places.len() {
            match self.places.get(at) {
                Some(Place::AfterMessages(words)) => return (*words).min(self.said.len()),
                Some(Place::SameAs(parent)) => at = parent,
                None => break,
            }
        }
        // An unknown parent is older than everything that was read, unless the whole file was read:
        // then it is in no file, and undoes nothing.
        if self.is_whole { self.said.len() } else { 0 }
    }

    /// Whether the message behind the agent's last answer has been read. Older clients may write an
    /// answer before its message.
    pub fn has_what_was_answered(&self) -> bool {
        let mut at = self.answer.as_ref();
        for _ in 0..=self.places.len() {
            match at.map(|at| self.places.get(at)) {
                Some(Some(Place::SameAs(parent))) => at = Some(parent),
                Some(None) => return false,
                None | Some(Some(Place::AfterMessages(_))) => break,
            }
        }
        true
    }

    /// The messages that were undone since the last call, and the index of the first.
    pub fn take_unsaid(&mut self) -> Option<(usize, Vec<Spoken>)> {
        let first = self.unsaid.iter().map(|(at, _)| *at).min()?;
        Some((first, self.unsaid.drain(..).map(|(_, spoken)| spoken).collect()))
    }

    /// The person's messages that the agent has not taken up yet, and their switches of supervision; other
    /// slash commands wait for a review. A `!command` in the queue looks like a message.
    pub fn waiting(&self) -> impl Iterator<Item = &str> {
        let texts = self.queue.iter().filter(|waits| waits.is_human).map(|waits| waits.text.trim());
        texts.filter(|text| {
            let command = text.split_whitespace().next().and_then(|word| word.strip_prefix('/'));
            command.is_none_or(|command| switch(command).is_some())
        })
    }

    /// What was taken back out of the queue, into the input, since the last call.
    pub fn take_taken_back(&mut self) -> Vec<String> {
        std::mem::take(&mut self.taken_back)
    }

    /// Whether the next prompt is a scheduled one.
    pub fn schedule_is_due(&self) -> bool {
        self.due.is_some()
    }

    fn user(&mut self, entry: &TranscriptEntry, line: &[u8]) {
        self.due = None;
        self.tools(line);
        if entry.is_sidechain || entry.is_compact_summary {
            return;
        }
        let kind = entry.user_entry();
        if entry.is_meta {
            // Feedback of a hook continues the work.
            if matches!(kind, UserEntry::Feedback) {
                self.begin(TurnKind::Work);
                self.sent_on = true;
            }
            return;
        }
        match kind {
            UserEntry::Nothing | UserEntry::Feedback => {}
            UserEntry::Interrupted => (self.turn, self.sent_on) = (TurnKind::Interrupted, false),
            UserEntry::Shell { command } => {
                self.begin(TurnKind::Shell);
                self.command = command.unwrap_or(std::mem::take(&mut self.command));
            }
            UserEntry::LocalOutput => self.turn = TurnKind::LocalCommand,
            UserEntry::LocalCommand { name, args } => {
                // Some clients first record the command as if it were a message to the agent.
                let typed = self.said.last().map(|said| said.text.trim());
                let first = typed.and_then(|typed| typed.split_whitespace().next());
                if first == Some(&name) && self.last_answer.is_none() {
                    self.said.pop();
                }
                self.begin(TurnKind::LocalCommand);
                self.command = format!("{name} {args}");
                // A goal is a task like any other.
                match (name.as_str(), args.as_str()) {
                    ("/goal", "clear") => self.goal = None,
                    ("/goal", args) if !args.is_empty() => self.say(format!("/goal {args}"), entry),
                    _ => {}
                }
            }
            UserEntry::Command { name, args } if entry.is_human() => {
                self.begin(TurnKind::Work);
                let switch = switch(&name);
                if let Some(on) = switch {
                    self.switches.push(SupervisionSwitch { at: entry.timestamp.clone(), on });
                }
                let text = match (switch, args.as_str()) {
                    (Some(_), args) => args.to_owned(),
                    (None, "") => format!("/{name}"),
                    (None, args) => format!("/{name} {args}"),
                };
                self.say(text, entry);
            }
            UserEntry::Text(text) if entry.is_human() => {
                self.begin(TurnKind::Work);
                self.say(text, entry);
            }
            // From another agent, a schedule or a background task.
            UserEntry::Machine | UserEntry::Command { .. } | UserEntry::Text(_) => {
                self.begin(TurnKind::Work);
            }
        }
    }

    fn begin(&mut self, turn: TurnKind) {
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
        self.sent_on = false;
        if entry.is_api_error_message {
            self.turn = TurnKind::Failed;
            return;
        }
        let by_model = message.model.as_deref() != Some("<synthetic>");
        // Some of the client's own commands make the agent work.
        if self.turn == TurnKind::Failed || (self.turn == TurnKind::LocalCommand && by_model) {
            self.turn = TurnKind::Work;
        }
        self.last_answer = message.text().or(self.last_answer.take());
        self.answer.clone_from(&entry.uuid);
        let model = message.model.clone().filter(|model| model != "<synthetic>");
        self.model = model.or(self.model.take());
    }

    /// Notes what the agent ran, including its sub-agents.
    pub fn tools(&mut self, line: &[u8]) {
        let line = Line::decode(line.to_vec());
        self.commands.line(&line);
        line.messages().for_each(|envelope| self.activity.saw(&envelope.message));
    }

    /// A message that the agent takes up in the middle of a turn, or the status of a goal.
    fn attachment(&mut self, entry: &TranscriptEntry) {
        if let Some((condition, met)) = entry.goal() {
            self.goal = (!met).then(|| condition.to_owned());
        }
        let Some(queued) = entry.queued_command() else { return };
        if entry.is_sidechain || !queued.is_human() {
            return;
        }
        self.turn = TurnKind::Work;
        self.said.push(Spoken { text: queued.text, at: entry.timestamp.clone() });
    }

    fn queued(&mut self, entry: &TranscriptEntry) {
        let content = entry.content.as_str().unwrap_or_default();
        match entry.operation.as_deref() {
            Some("enqueue") => {
                let is_human = !entry::is_by_client(content);
                self.queue.push_back(QueueItem { text: content.to_owned(), is_human });
            }
            Some("remove") if !content.is_empty() => {
                if let Some(at) = self.queue.iter().position(|waits| waits.text == content) {
                    self.queue.remove(at);
                }
            }
            Some("popAll") => self.taken_back.extend(self.queue.drain(..).map(|waits| waits.text)),
            // The agent takes up the first one.
            _ => drop(self.queue.pop_front()),
        }
    }

    fn system(&mut self, entry: &TranscriptEntry) {
        match entry.subtype.as_deref() {
            Some("local_command") => self.turn = TurnKind::LocalCommand,
            // The client records a prompt that ccc's hook blocked because it executed it itself.
            Some("informational") => {
                let typed = entry.content.as_str().and_then(entry::blocked_prompt);
                let was_due = self.due.take_if(|due| entry.parent_uuid.as_ref() == Some(due));
                // A scheduled prompt may come from the agent.
                let typed = typed.filter(|_| was_due.is_none());
                if let Some(on) = typed.and_then(|typed| switch(typed.strip_prefix('/')?)) {
                    self.switches.push(SupervisionSwitch { at: entry.timestamp.clone(), on });
                }
            }
            Some("scheduled_task_fire") => self.due.clone_from(&entry.uuid),
            // The turn has ended, at least until a hook's feedback. Its text is not the answer of
            // the next turn.
            Some("stop_hook_summary") => self.last_answer = None,
            _ => {}
        }
    }
}

/// Whether a command switches supervision on or off; the plugin's commands begin with `ccc:`.
fn switch(command: &str) -> Option<bool> {
    match command.strip_prefix("ccc:").unwrap_or(command) {
        "supervisor" => Some(true),
        "supervisoroff" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
