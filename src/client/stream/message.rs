//! The client's messages: typed if the loop or the screen needs them, otherwise only named. Every
//! release of the client adds types and subtypes, so unknown ones are no error.

use serde::{Deserialize, Serialize};

use super::reports::{Compaction, ContextUsage, Introduction, RateLimit, TaskProgress};
use crate::client::case::CaseReport;
use crate::client::mode::PermissionMode;

#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    pub session_id: Option<String>,
    /// For messages of a sub-agent: the tool use that started it.
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
        /// Tokens in the conversation so far.
        context: Option<u64>,
    },
    /// The echo of a user message: the agent has taken it up.
    Taken {
        /// The background task whose end this message tells the agent, if it is the client's.
        task: Option<String>,
        uuid: String,
    },
    ToolResults(Vec<ToolResult>),
    Result(TurnResult),
    /// Part of an assistant message that is still being written.
    Partial(Partial),
    TaskStarted(TaskNote),
    TaskEnded(TaskNote),
    TaskProgress(TaskProgress),
    /// The ids of all running background tasks.
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
    /// The client accepts a request of ours. `cancelled` answers a request to take a message back.
    ControlAnswered {
        request_id: String,
        cancelled: Option<bool>,
    },
    /// The client refuses a request of ours.
    ControlRefused {
        request_id: String,
        error: String,
    },
    /// The answer to a request to go back to an earlier message: whether it worked, or why not.
    WentBack {
        request_id: String,
        done: bool,
        error: String,
    },
    Introduced(Box<Introduction>),
    /// All of the client's slash commands, after some came or went.
    CommandsChanged(Vec<SlashCommand>),
    /// An answer that names the current model.
    Model {
        request_id: String,
        model: String,
    },
    /// The answer about what fills the model's context window.
    ContextUsage(ContextUsage),
    Compacted(Compaction),
    Mode(PermissionMode),
    /// How much of a subscription is used up.
    RateLimit(RateLimit),
    /// The client withdraws one of its own requests.
    ControlCancelled {
        request_id: String,
    },
    /// Not from the client but from its shim: the case in which it runs.
    Case(CaseReport),
    /// A message that the loop waits for, but that cannot be read.
    Unreadable {
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
pub struct SlashCommand {
    /// Without the slash.
    pub name: String,
    /// May be long and have several lines.
    pub description: String,
    /// Other names for it.
    pub aliases: Vec<String>,
}

/// A piece of a message that is being written. The whole message follows, block by block.
#[derive(Debug, Clone, PartialEq)]
pub enum Partial {
    /// A new message begins; an unfinished one stays unfinished.
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
    /// The beginning of the output; the raw line has all of it.
    pub preview: String,
    /// The end of the output, if the beginning is not all of it.
    pub tail: String,
    /// What an edit changed.
    pub patch: Vec<Hunk>,
}

/// A piece of a file with the lines that an edit removed and added.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    pub old_start: u64,
    pub new_start: u64,
    /// Each begins with a space, a minus or a plus.
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnResult {
    pub subtype: String,
    pub is_error: bool,
    pub text: String,
    pub num_turns: u64,
    /// The cost of the whole process so far, not of this turn. Excludes what the client estimates
    /// for models whose price it does not know.
    pub cost_usd: f64,
    /// The cost of this turn alone, if the client reports it.
    pub turn_cost_usd: Option<f64>,
    pub usage: Usage,
    /// JSON text, if the answer matched the schema.
    pub structured_output: Option<String>,
    pub errors: Vec<String>,
    /// The models that were used, with their context windows in tokens.
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

/// Tokens by price category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input_tokens: u64,
    /// Read from the provider's prompt cache, at a tenth of the price of input.
    pub cache_read_tokens: u64,
    /// Written to the cache, at 1.25 times the price of input.
    pub cache_write_tokens: u64,
    pub output_tokens: u64,
    /// The client does not know the price of a model that was used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unpriced: bool,
}

impl Usage {
    pub fn is_empty(&self) -> bool {
        *self == Self { unpriced: self.unpriced, ..Self::default() }
    }

    /// How much of the input came from the cache, in percent.
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
    /// Set only if the client reports it. A foreground task keeps the turn open by itself.
    pub background: Option<bool>,
    /// The tool use that started it.
    pub tool_use_id: String,
    /// How it ended: `completed`, `failed`, …
    pub status: String,
    /// The result, if the client reports it.
    pub summary: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Control {
    Permission(PermissionRequest),
    /// The client asks before a tool, as `initialize_judge` told it to.
    ToolUse(PermissionRequest),
    /// An unknown request. It must be answered, or the client waits for ever.
    Unknown(String),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct PermissionRequest {
    pub tool: String,
    /// JSON text, which goes back unchanged with an "allow".
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
