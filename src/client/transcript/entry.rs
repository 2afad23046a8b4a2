//! One line of a transcript, and what kind of user entry it is.

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptEntry {
    pub r#type: String,
    #[serde(default)]
    pub subtype: Option<String>,
    #[serde(default)]
    pub uuid: Option<String>,
    #[serde(default)]
    pub parent_uuid: Option<String>,
    #[serde(default)]
    pub timestamp: String,
    #[serde(default)]
    pub is_meta: bool,
    #[serde(default)]
    pub is_sidechain: bool,
    #[serde(default)]
    pub is_compact_summary: bool,
    #[serde(default)]
    pub is_api_error_message: bool,
    /// Where the message came from; only newer clients record it.
    #[serde(default)]
    origin: Option<Origin>,
    #[serde(default)]
    pub message: Option<EntryMessage>,
    #[serde(default)]
    attachment: Option<Attachment>,
    #[serde(default)]
    pub operation: Option<String>,
    #[serde(default)]
    pub content: Value,
}

#[derive(Debug, Deserialize)]
struct Origin {
    #[serde(default)]
    kind: String,
}

#[derive(Debug, Deserialize)]
pub struct EntryMessage {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    pub model: Option<String>,
}

impl EntryMessage {
    pub fn text(&self) -> Option<String> {
        text(&self.content)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attachment {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    prompt: Value,
    #[serde(default)]
    command_mode: Option<String>,
    #[serde(default)]
    origin: Option<Origin>,
    #[serde(default)]
    condition: Option<String>,
    #[serde(default)]
    met: bool,
}

/// A message that waited in the queue.
#[derive(Debug)]
pub struct QueuedCommand {
    pub text: String,
    human: bool,
}

impl QueuedCommand {
    pub fn is_human(&self) -> bool {
        self.human
    }
}

/// The kinds of entries with the role `user`, most of which the person did not write.
#[derive(Debug, PartialEq, Eq)]
pub enum UserEntry {
    /// The results of tools, or no text at all.
    Nothing,
    Text(String),
    /// A slash command for the agent, and its arguments.
    Command {
        name: String,
        args: String,
    },
    /// `!command`, or its output, which does not repeat the command.
    Shell {
        command: Option<String>,
    },
    /// A command that the client executes itself.
    LocalCommand {
        name: String,
        args: String,
    },
    LocalOutput,
    Interrupted,
    Feedback,
    /// A notification, or other text by the client itself.
    Machine,
}

/// How texts begin that the client itself writes with the role `user`.
const CLIENT_PREFIXES: [&str; 7] = [
    "<task-notification",
    "<system-reminder>",
    "<bash-",
    "<local-command-",
    "<command-",
    "<user-prompt-submit-hook>",
    "<agent-notification",
];

pub fn is_by_client(text: &str) -> bool {
    CLIENT_PREFIXES.iter().any(|start| text.trim_start().starts_with(start))
}

impl TranscriptEntry {
    /// Whether a person typed it, as far as the client records that.
    pub fn is_human(&self) -> bool {
        self.origin.as_ref().is_none_or(|origin| origin.kind == "human")
    }

    pub fn user_entry(&self) -> UserEntry {
        let Some(text) = self.message.as_ref().and_then(EntryMessage::text) else {
            return UserEntry::Nothing;
        };
        let start = text.trim_start();
        let begins = |with: &str| start.starts_with(with);
        if begins("[Request interrupted") {
            UserEntry::Interrupted
        } else if begins("Stop hook feedback") {
            UserEntry::Feedback
        } else if begins("<bash-") {
            UserEntry::Shell { command: between(start, "bash-input") }
        } else if begins("<local-command-std") {
            UserEntry::LocalOutput
        } else if begins("<command-name>") {
            let part = |tag| between(start, tag).unwrap_or_default();
            UserEntry::LocalCommand { name: part("command-name"), args: part("command-args") }
        } else if begins("<command-message>") {
            command(start).unwrap_or(UserEntry::Machine)
        } else if is_by_client(start) {
            UserEntry::Machine
        } else {
            UserEntry::Text(text)
        }
    }

    /// The condition of a `/goal`, and whether it is met.
    pub fn goal(&self) -> Option<(&str, bool)> {
        let goal = self.attachment.as_ref().filter(|it| it.r#type == "goal_status")?;
        Some((goal.condition.as_deref()?, goal.met))
    }

    pub fn queued_command(&self) -> Option<QueuedCommand> {
        let queued = self.attachment.as_ref().filter(|it| it.r#type == "queued_command")?;
        let text = text(&queued.prompt)?;
        let mode = queued.command_mode.as_deref().unwrap_or("prompt");
        let by_a_person = queued.origin.as_ref().is_none_or(|origin| origin.kind == "human");
        Some(QueuedCommand { human: by_a_person && mode == "prompt" && !is_by_client(&text), text })
    }
}

/// What the person typed, if a hook blocked it.
pub fn blocked_prompt(text: &str) -> Option<&str> {
    let (event, rest) = text.split_once(" operation blocked by hook:")?;
    let typed = rest.split_once("\n\nOriginal prompt: ")?.1;
    ["UserPromptSubmit", "UserPromptExpansion"].contains(&event).then(|| typed.trim())
}

/// A command for the agent: its `<command-message>` comes first. In a local command, the name does.
fn command(text: &str) -> Option<UserEntry> {
    let name = between(text, "command-name")?.trim_start_matches('/').to_owned();
    Some(UserEntry::Command { name, args: between(text, "command-args").unwrap_or_default() })
}

fn between(text: &str, tag: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once(&format!("</{tag}>"))?.0.trim().to_owned())
}

fn text(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            // Text beside the result of a tool was not typed.
            if blocks.iter().any(|block| block["type"] == "tool_result") {
                return None;
            }
            let texts = blocks.iter().filter(|block| block["type"] == "text");
            texts.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}
