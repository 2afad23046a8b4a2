//! One line of a transcript, and what it is in the person's name.

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
    /// Newer clients say where a message came from.
    #[serde(default)]
    origin: Option<Origin>,
    #[serde(default)]
    pub message: Option<Message>,
    #[serde(default)]
    attachment: Option<Attachment>,
    /// Of the queue.
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
pub struct Message {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    pub model: Option<String>,
}

impl Message {
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
pub struct Queued {
    pub text: String,
    human: bool,
}

impl Queued {
    pub fn is_human(&self) -> bool {
        self.human
    }
}

/// What a message in the person's name is.
#[derive(Debug, PartialEq, Eq)]
pub enum Word {
    /// The results of tools, or nothing.
    Nothing,
    Text(String),
    /// A slash command and what follows it.
    Command {
        name: String,
        args: String,
    },
    /// `!command`, or what it printed.
    Shell,
    /// A command of the client's own.
    LocalCommand {
        name: String,
        args: String,
    },
    /// What such a command printed.
    LocalOutput,
    Interrupted,
    /// Feedback of a hook.
    Feedback,
    /// A notification, or another thing that the client says itself.
    Machine,
}

/// Text that the client itself writes in the person's name.
const MACHINES: [&str; 7] = [
    "<task-notification",
    "<system-reminder>",
    "<bash-",
    "<local-command-",
    "<command-",
    "<user-prompt-submit-hook>",
    "<agent-notification",
];

pub fn is_machines(text: &str) -> bool {
    MACHINES.iter().any(|start| text.trim_start().starts_with(start))
}

impl TranscriptEntry {
    /// Typed by a person, as far as the client tells.
    pub fn is_human(&self) -> bool {
        self.origin.as_ref().is_none_or(|origin| origin.kind == "human")
    }

    pub fn word(&self) -> Word {
        let Some(text) = self.message.as_ref().and_then(Message::text) else {
            return Word::Nothing;
        };
        let start = text.trim_start();
        let begins = |with: &str| start.starts_with(with);
        if begins("[Request interrupted") {
            Word::Interrupted
        } else if begins("Stop hook feedback") {
            Word::Feedback
        } else if begins("<bash-") {
            Word::Shell
        } else if begins("<local-command-std") {
            Word::LocalOutput
        } else if begins("<command-name>") {
            let part = |tag| between(start, tag).unwrap_or_default();
            Word::LocalCommand { name: part("command-name"), args: part("command-args") }
        } else if begins("<command-message>") {
            command(start).unwrap_or(Word::Machine)
        } else if is_machines(start) {
            Word::Machine
        } else {
            Word::Text(text)
        }
    }

    /// The condition of a `/goal`, and whether it is met.
    pub fn goal(&self) -> Option<(&str, bool)> {
        let goal = self.attachment.as_ref().filter(|it| it.r#type == "goal_status")?;
        Some((goal.condition.as_deref()?, goal.met))
    }

    pub fn queued_command(&self) -> Option<Queued> {
        let queued = self.attachment.as_ref().filter(|it| it.r#type == "queued_command")?;
        let text = text(&queued.prompt)?;
        let mode = queued.command_mode.as_deref().unwrap_or("prompt");
        let by_a_person = queued.origin.as_ref().is_none_or(|origin| origin.kind == "human");
        Some(Queued { human: by_a_person && mode == "prompt" && !is_machines(&text), text })
    }
}

/// What the person typed, where a hook did not let it through.
pub fn blocked_prompt(text: &str) -> Option<&str> {
    let (event, rest) = text.split_once(" operation blocked by hook:")?;
    let typed = rest.split_once("\n\nOriginal prompt: ")?.1;
    ["UserPromptSubmit", "UserPromptExpansion"].contains(&event).then(|| typed.trim())
}

/// Of a command that the client carries out itself the name comes first; of one for the agent, this.
fn command(text: &str) -> Option<Word> {
    let name = between(text, "command-name")?.trim_start_matches('/').to_owned();
    Some(Word::Command { name, args: between(text, "command-args").unwrap_or_default() })
}

fn between(text: &str, tag: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once(&format!("</{tag}>"))?.0.trim().to_owned())
}

fn text(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            // What comes with the result of a tool is not typed.
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
