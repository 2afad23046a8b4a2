//! The client's messages: typed where the loop or the screen needs them, the rest only named.
//! New types and subtypes come with every release of the client, so none is an error.

use serde::{Deserialize, Serialize};

use super::tells::{Compaction, ContextUsage, Introduction, RateLimit, TaskProgress};
use crate::client::case::CaseReport;
use crate::client::mode::PermissionMode;

/// A message and the session it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    pub session_id: Option<String>,
    /// Set on what a sub-agent says: the tool use that started it.
    pub parent: Option<String>,
    pub message: Message,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Every turn starts with one.
    Init(Init),
    Assistant {
        model: String,
        blocks: Vec<Block>,
        /// Tokens that the conversation takes up so far.
        context: Option<u64>,
    },
    /// A user message came back: the agent has taken it up.
    Taken {
        uuid: String,
    },
    ToolResults(Vec<ToolResult>),
    /// A turn is over.
    Result(TurnResult),
    /// Of an assistant message that is still being written.
    Partial(Partial),
    TaskStarted(TaskNote),
    TaskEnded(TaskNote),
    /// How far a sub-agent has come.
    TaskProgress(TaskProgress),
    /// All background tasks that run now, by id.
    TasksRunning(Vec<String>),
    /// `error` is the client's own name for it; see `why_retried`.
    ApiRetry {
        attempt: u64,
        max: u64,
        delay_ms: u64,
        error: String,
    },
    Control {
        request_id: String,
        request: Control,
    },
    /// The client answers a request of ours; only one kind of answer is of interest.
    ControlAnswered {
        request_id: String,
        cancelled: Option<bool>,
    },
    /// The same, when it says no.
    ControlRefused {
        request_id: String,
        error: String,
    },
    /// The same, when it was asked to go back to an earlier message: whether it did, and why not.
    WentBack {
        request_id: String,
        done: bool,
        error: String,
    },
    /// The same, when it tells what it is and what it has.
    Introduced(Box<Introduction>),
    /// The same, when it tells which model it asks.
    Model {
        request_id: String,
        model: String,
    },
    /// The same, when it tells what fills the model's window.
    ContextUsage(ContextUsage),
    Compacted(Compaction),
    /// The permission mode is another one now.
    Mode(PermissionMode),
    /// How much of a subscription is used up.
    RateLimit(RateLimit),
    /// The client takes a request of its own back.
    ControlCancelled {
        request_id: String,
    },
    /// The shim's word, and no message of the client: which case it runs in.
    Case(CaseReport),
    /// Something that the loop waits for, and that cannot be read.
    Unreadable {
        /// The message's `type`.
        kind: String,
        why: String,
    },
    Other {
        kind: String,
        subtype: String,
    },
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Init {
    pub model: String,
    pub permission_mode: String,
    pub version: String,
    /// Slash commands, without the slash.
    pub commands: Vec<String>,
}

/// A slash command, as the client describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// Without the slash.
    pub name: String,
    /// May be long, and of several lines.
    pub description: String,
}

/// A piece of a message in the making. The whole message follows, block by block.
#[derive(Debug, Clone, PartialEq)]
pub enum Partial {
    /// A new message begins; whatever was unfinished stays so.
    Message,
    TextBlock,
    ThinkingBlock,
    Text(String),
    Thinking(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Text(String),
    Thinking(String),
    /// `input` is JSON text, as the client sent it.
    ToolUse {
        id: String,
        name: String,
        input: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    pub tool_use_id: String,
    pub is_error: bool,
    /// The beginning of the output; the whole of it is in the raw line.
    pub preview: String,
    /// How it ends, where the beginning is not all of it.
    pub tail: String,
    /// What an edit changed.
    pub patch: Vec<Hunk>,
}

/// A piece of a file with the lines that an edit took away and put there.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    pub old_start: u64,
    pub new_start: u64,
    /// Each with its mark in front: a space, a minus or a plus.
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnResult {
    pub subtype: String,
    pub is_error: bool,
    pub text: String,
    pub num_turns: u64,
    /// Of the whole process so far, not of this turn. What the client made up for models whose price
    /// it does not know is not in it.
    pub cost_usd: f64,
    /// Of this turn alone, where the client says so.
    pub turn_cost_usd: Option<f64>,
    /// Of this turn.
    pub usage: Usage,
    /// JSON text, when the answer met the schema.
    pub structured_output: Option<String>,
    pub errors: Vec<String>,
    /// How much the models hold that were used, in tokens.
    pub windows: Vec<(String, u64)>,
}

impl TurnResult {
    /// Why the turn failed, in the client's own words.
    pub fn failure(&self) -> String {
        if !self.text.trim().is_empty() {
            self.text.trim().to_owned()
        } else if !self.errors.is_empty() {
            self.errors.join("; ")
        } else {
            self.subtype.clone()
        }
    }
}

/// Tokens, by what is paid for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input_tokens: u64,
    /// Found in the provider's prompt cache: a tenth of the price of input.
    pub cache_read_tokens: u64,
    /// Put into it: a quarter dearer than input.
    pub cache_write_tokens: u64,
    pub output_tokens: u64,
    /// The client knows no price for a model that was used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
}

impl Usage {
    pub fn is_empty(&self) -> bool {
        *self == Self { unpriced: self.unpriced, ..Self::default() }
    }

    /// How much of what was sent was found in the cache, in percent.
    pub fn cached_percent(&self) -> Option<u64> {
        let sent = self.input_tokens + self.cache_read_tokens + self.cache_write_tokens;
        (self.cache_read_tokens * 100).checked_div(sent)
    }

    pub fn tokens(&self) -> u64 {
        let sent = self.input_tokens + self.cache_read_tokens + self.cache_write_tokens;
        sent + self.output_tokens
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
        self.output_tokens += other.output_tokens;
        self.unpriced |= other.unpriced;
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskNote {
    pub task_id: String,
    pub description: String,
    /// Only set where the client says so; a foreground task holds the turn open by itself.
    pub background: Option<bool>,
    /// The tool use that started it.
    pub tool_use_id: String,
    /// How it ended: `completed`, `failed`, …
    pub status: String,
    /// What came of it, as far as the client says so.
    pub summary: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Control {
    Permission(PermissionRequest),
    /// The client asks before every tool, as `initialize_judge` told it to.
    ToolUse(PermissionRequest),
    /// Something this version does not know; it must be answered, or the client waits for ever.
    Unknown(String),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct PermissionRequest {
    pub tool: String,
    /// JSON text; goes back unchanged with an "allow".
    pub input: String,
    pub description: String,
    /// JSON text of the client's own suggestions for "always".
    pub suggestions: Option<String>,
}

/// Why a request to the model is tried again, in words.
pub fn why_retried(error: &str) -> String {
    match error {
        "" | "unknown" => "the model did not answer".to_owned(),
        "rate_limit" => "rate limited".to_owned(),
        other => other.replace('_', " "),
    }
}
