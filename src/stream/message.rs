//! The client's messages: typed where the loop or the screen needs them, the rest only named.
//! New types and subtypes come with every release of the client, so none is an error.

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
    },
    /// A user message came back: the agent has taken it up.
    Taken {
        uuid: String,
    },
    ToolResults(Vec<ToolResult>),
    /// A turn is over.
    Result(TurnResult),
    /// Text of an assistant message that is still being written.
    Partial(String),
    TaskStarted(TaskNote),
    TaskEnded(TaskNote),
    /// All background tasks that run now, by id.
    TasksRunning(Vec<String>),
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
    /// The client takes a request of its own back.
    ControlCancelled {
        request_id: String,
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
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnResult {
    pub subtype: String,
    pub is_error: bool,
    pub text: String,
    pub num_turns: u64,
    /// Of the whole process so far, not of this turn.
    pub cost_usd: f64,
    /// JSON text, when the answer met the schema.
    pub structured_output: Option<String>,
    pub errors: Vec<String>,
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

#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskNote {
    pub task_id: String,
    pub description: String,
    /// Only set where the client says so; a foreground task holds the turn open by itself.
    pub background: Option<bool>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Control {
    Permission(PermissionRequest),
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
