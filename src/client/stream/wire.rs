//! The wire format of the lines, and its conversion to a [`Message`].
//!
//! One flat struct instead of a tagged enum: the client does not write `type` first, so a tagged
//! enum would have to buffer the whole line. Unknown fields are skipped without being built, so a
//! line of megabytes costs one pass.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::control::{WireRequest, WireResponse, answered, request};
use super::lenient::{Count, Flag, List, Mapping, MessageContent, Number, Preview, Text, object};
use super::message::{
    Block, Envelope, Hunk, Init, Message, Partial, TaskNote, ToolResult, TurnResult, Usage,
};
use super::reports::{TaskProgress, WireCommand, WireCompaction, WireLimit};
use crate::client::case::{CaseKind, CaseReport, LINE_TYPE};
use crate::client::mode::PermissionMode;

/// The `type` of the line that ccc writes in place of one that was too long to keep.
pub const SKIPPED: &str = "ccc_skipped";

/// Messages that the loop waits for.
pub const NEEDED: [&str; 2] = ["result", "control_request"];

object! {
    pub struct Wire<'a> {
        "type" => kind: Text<'a>,
        "subtype" => subtype: Text<'a>,
        "session_id" => session_id: Text<'a>,
        /// The spelling in transcripts on disk and in older clients.
        "sessionId" => camel_session_id: Text<'a>,
        "parent_tool_use_id" => parent_tool_use_id: Text<'a>,
        "uuid" => uuid: Text<'a>,
        "isReplay" => is_replay: Flag,
        "message" => message: WireMessage<'a>,
        "event" => event: WireEvent<'a>,
        // system
        "model" => model: Text<'a>,
        "permissionMode" => permission_mode: Text<'a>,
        "claude_code_version" => version: Text<'a>,
        "task_id" => task_id: Text<'a>,
        "description" => description: Text<'a>,
        "is_backgrounded" => is_backgrounded: Flag,
        "patch" => patch: WirePatch,
        "tool_use_id" => tool_use_id: Text<'a>,
        "summary" => summary: Text<'a>,
        "status" => status: Text<'a>,
        "rate_limit_info" => rate_limit_info: WireLimit<'a>,
        "compact_metadata" => compaction: WireCompaction<'a>,
        "tasks" => tasks: List<WireTask<'a>>,
        "attempt" => attempt: Count,
        "max_retries" => max_retries: Count,
        "retry_delay_ms" => retry_delay_ms: Count,
        "error" => error: Text<'a>,
        "slash_commands" => slash_commands: List<Text<'a>>,
        "commands" => commands: List<WireCommand<'a>>,
        // result
        "is_error" => is_error: Flag,
        "result" => result: Text<'a>,
        "num_turns" => num_turns: Count,
        "total_cost_usd" => total_cost_usd: Number,
        "structured_output" => structured_output: Option<&'a RawValue>,
        "errors" => errors: List<Text<'a>>,
        "usage" => usage: WireUsage,
        "modelUsage" => model_usage: Mapping<WireModel<'a>>,
        "model_usage_since_last_result" => turn_usage: Option<Mapping<WireModel<'a>>>,
        "tool_use_result" => tool_use_result: Option<&'a RawValue>,
        // control
        "response" => response: WireResponse<'a>,
        "request_id" => request_id: Text<'a>,
        "request" => request: WireRequest<'a>,
        // the shim's own line
        "held" => held: Text<'a>,
        "why" => why: Text<'a>,
        // a line that was skipped
        "bytes" => bytes: Count,
        "of" => of: Text<'a>,
    }
}

object! {
    pub struct WireMessage<'a> {
        "model" => model: Text<'a>,
        "content" => content: MessageContent<'a>,
        "usage" => usage: WireUsage,
    }
}

object! {
    pub struct WireUsage {
        "input_tokens" => input: Count,
        "cache_creation_input_tokens" => cache_creation: Count,
        "cache_read_input_tokens" => cache_read: Count,
        "output_tokens" => output: Count,
        "tool_uses" => tool_uses: Count,
    }
}

impl WireUsage {
    /// How many tokens the conversation takes up in the model's context window.
    fn context(&self) -> u64 {
        let parts = [self.input, self.cache_creation, self.cache_read, self.output];
        parts.into_iter().filter_map(|part| part.0).fold(0, u64::saturating_add)
    }

    fn by_price(&self, unpriced: bool) -> Usage {
        Usage {
            input_tokens: self.input.0.unwrap_or(0),
            cache_read_tokens: self.cache_read.0.unwrap_or(0),
            cache_write_tokens: self.cache_creation.0.unwrap_or(0),
            output_tokens: self.output.0.unwrap_or(0),
            unpriced: unpriced && self.context() > 0,
        }
    }
}

object! {
    pub struct WireModel<'a> {
        "contextWindow" => context_window: Count,
        "costUSD" => cost_usd: Number,
        "costBasis" => cost_basis: Text<'a>,
    }
}

impl WireModel<'_> {
    /// For an unknown model the client uses the price of a known one. Older clients do not report
    /// that, but they know only models with "claude" in their names.
    fn is_unpriced(&self, name: &str) -> bool {
        match self.cost_basis.as_str() {
            "" => !name.contains("claude"),
            basis => basis == "unknown",
        }
    }
}

/// The cost that the client estimated with another model's price.
fn estimated_cost(models: &BTreeMap<String, WireModel<'_>>) -> f64 {
    let unpriced = models.iter().filter(|(name, model)| model.is_unpriced(name));
    unpriced.filter_map(|(_, model)| model.cost_usd.0).sum()
}

/// The client's own record of an edit, beside the tool's output.
#[derive(Deserialize)]
struct WireEdit {
    #[serde(rename = "structuredPatch", default)]
    patch: Vec<Hunk>,
}

object! {
    pub struct WireSource<'a> {
        "media_type" => media_type: Text<'a>,
        "data" => data: Text<'a>,
    }
}

object! {
    pub struct WireBlock<'a> {
        "source" => source: WireSource<'a>,
        "type" => kind: Text<'a>,
        "text" => text: Text<'a>,
        "thinking" => thinking: Text<'a>,
        "id" => id: Text<'a>,
        "name" => name: Text<'a>,
        "input" => input: Option<&'a RawValue>,
        "tool_use_id" => tool_use_id: Text<'a>,
        "content" => content: Preview,
        "is_error" => is_error: Flag,
    }
}

object! {
    /// What changed about a task.
    pub struct WirePatch {
        "is_backgrounded" => is_backgrounded: Flag,
    }
}

object! {
    pub struct WireTask<'a> {
        "task_id" => task_id: Text<'a>,
    }
}

object! {
    pub struct WireEvent<'a> {
        "type" => kind: Text<'a>,
        "content_block" => content_block: WireBlock<'a>,
        "delta" => delta: WireDelta<'a>,
    }
}

object! {
    pub struct WireDelta<'a> {
        "text" => text: Text<'a>,
        "thinking" => thinking: Text<'a>,
    }
}

impl Wire<'_> {
    /// `None` if the object is not a message.
    pub fn into_envelope(mut self) -> Option<Envelope> {
        if self.kind.as_str().is_empty() {
            return None;
        }
        let session_id = std::mem::take(&mut self.session_id).known();
        let session_id = session_id.or(std::mem::take(&mut self.camel_session_id).known());
        let parent = std::mem::take(&mut self.parent_tool_use_id).known();
        Some(Envelope { session_id, parent, message: self.into_message() })
    }

    fn into_message(self) -> Message {
        match self.kind.as_str() {
            "system" => self.system(),
            "assistant" => self.assistant(),
            "user" => self.user(),
            "result" => self.result(),
            "stream_event" => match partial(self.event) {
                Some(partial) => Message::Partial(partial),
                None => other(self.kind, Text::default()),
            },
            "control_response" => answered(self.response),
            "rate_limit_event" => Message::RateLimit(self.rate_limit_info.into_rate_limit()),
            // Without a request id no answer is possible, and the client would wait for ever.
            "control_request" if self.request_id.as_str().is_empty() => Message::Unreadable {
                why: "it has no request_id that could be answered".to_owned(),
                kind: self.kind.owned(),
            },
            "control_request" => Message::Control {
                request_id: self.request_id.owned(),
                request: request(self.request),
            },
            LINE_TYPE => {
                Message::Case(CaseReport { held: held(&self.held), why: self.why.owned() })
            }
            "control_cancel_request" => {
                Message::ControlCancelled { request_id: self.request_id.owned() }
            }
            SKIPPED if NEEDED.contains(&self.of.as_str()) => Message::Unreadable {
                why: format!("it has {} bytes, which is too long", self.bytes.0.unwrap_or(0)),
                kind: self.of.owned(),
            },
            _ => other(self.kind, self.subtype),
        }
    }

    fn result(self) -> Message {
        let models = self.model_usage.0;
        let turn = self.turn_usage.map(|turn| turn.0);
        let unpriced =
            turn.as_ref().unwrap_or(&models).iter().any(|(name, model)| model.is_unpriced(name));
        let total = self.total_cost_usd.0.unwrap_or(0.0);
        Message::Result(TurnResult {
            subtype: self.subtype.owned(),
            is_error: self.is_error.0.unwrap_or(false),
            text: self.result.owned(),
            // Without a number it may have been work, which must be judged.
            num_turns: self.num_turns.0.unwrap_or(1),
            cost_usd: (total - estimated_cost(&models)).max(0.0),
            turn_cost_usd: turn.map(|models| {
                let all: f64 = models.values().filter_map(|model| model.cost_usd.0).sum();
                (all - estimated_cost(&models)).max(0.0)
            }),
            usage: self.usage.by_price(unpriced),
            structured_output: self.structured_output.map(|raw| raw.get().to_owned()),
            errors: self.errors.0.into_iter().filter_map(Text::known).collect(),
            windows: windows(models),
        })
    }

    fn system(self) -> Message {
        let note = |wire: Self| TaskNote {
            task_id: wire.task_id.owned(),
            description: wire.description.owned(),
            background: wire.is_backgrounded.0,
            tool_use_id: wire.tool_use_id.owned(),
            status: wire.status.owned(),
            summary: wire.summary.owned(),
        };
        match self.subtype.as_str() {
            "init" => Message::Init(Init {
                model: self.model.owned(),
                permission_mode: self.permission_mode.owned(),
                version: self.version.owned(),
                commands: self.slash_commands.0.into_iter().filter_map(Text::known).collect(),
            }),
            "commands_changed" => Message::CommandsChanged(
                self.commands.0.into_iter().map(WireCommand::into_command).collect(),
            ),
            "task_started" => Message::TaskStarted(note(self)),
            "task_notification" => Message::TaskEnded(note(self)),
            // A task that began in the foreground and was moved to the background.
            "task_updated" if self.patch.is_backgrounded.0 == Some(true) => {
                Message::TaskStarted(TaskNote {
                    task_id: self.task_id.owned(),
                    description: "a command sent to the background".to_owned(),
                    background: Some(true),
                    ..TaskNote::default()
                })
            }
            "task_progress" => Message::TaskProgress(TaskProgress {
                tool_use_id: self.tool_use_id.owned(),
                tools: self.usage.tool_uses.0.unwrap_or(0),
                doing: self.description.owned(),
            }),
            "status" if !self.permission_mode.as_str().is_empty() => {
                Message::Mode(PermissionMode::from(self.permission_mode.owned()))
            }
            "background_tasks_changed" => Message::TasksRunning(
                self.tasks.0.into_iter().filter_map(|task| task.task_id.known()).collect(),
            ),
            "compact_boundary" => Message::Compacted(self.compaction.into_compaction()),
            "api_retry" => Message::ApiRetry {
                attempt: self.attempt.0.unwrap_or(0),
                max: self.max_retries.0.unwrap_or(0),
                delay_ms: self.retry_delay_ms.0.unwrap_or(0),
                error: self.error.owned(),
            },
            _ => other(self.kind, self.subtype),
        }
    }

    fn assistant(self) -> Message {
        let WireMessage { model, content, usage } = self.message;
        let blocks = match content {
            MessageContent::Text(text) => vec![Block::Text(text.into_owned())],
            MessageContent::Blocks(blocks) => blocks.into_iter().filter_map(block).collect(),
            MessageContent::Other => Vec::new(),
        };
        let context = Some(usage.context()).filter(|tokens| *tokens > 0);
        Message::Assistant { model: model.owned(), blocks, context }
    }

    fn user(self) -> Message {
        if self.is_replay.0 == Some(true) {
            let task = match &self.message.content {
                MessageContent::Text(text) => task_told(text).map(str::to_owned),
                _ => None,
            };
            return Message::Taken { uuid: self.uuid.owned(), task };
        }
        // Such a line also contains the whole file, so it is parsed only if it has a patch.
        let mut patch = self
            .tool_use_result
            .filter(|raw| raw.get().contains("structuredPatch"))
            .and_then(|raw| serde_json::from_str::<WireEdit>(raw.get()).ok())
            .map(|edit| edit.patch)
            .unwrap_or_default();
        let MessageContent::Blocks(blocks) = self.message.content else {
            return other(self.kind, Text::default());
        };
        let results: Vec<_> = blocks
            .into_iter()
            .filter(|block| block.kind.as_str() == "tool_result")
            .map(|block| ToolResult {
                tool_use_id: block.tool_use_id.owned(),
                is_error: block.is_error.0.unwrap_or(false),
                preview: block.content.head,
                tail: block.content.tail,
                patch: std::mem::take(&mut patch),
            })
            .collect();
        if results.is_empty() {
            other(self.kind, Text::default())
        } else {
            Message::ToolResults(results)
        }
    }
}

/// The task that a notification of the client is about.
fn task_told(text: &str) -> Option<&str> {
    let text = text.trim_start().strip_prefix("<task-notification>")?;
    let (_, id) = text.split_once("<task-id>")?;
    id.split_once("</task-id>").map(|(id, _)| id.trim())
}

/// An unknown kind counts as no case.
fn held(name: &Text<'_>) -> CaseKind {
    let name = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(name.as_str());
    CaseKind::deserialize(name).unwrap_or_default()
}

fn other(kind: Text<'_>, subtype: Text<'_>) -> Message {
    Message::Other { kind: kind.owned(), subtype: subtype.owned() }
}

fn partial(event: WireEvent<'_>) -> Option<Partial> {
    Some(match event.kind.as_str() {
        "message_start" => Partial::Message,
        "content_block_start" => match event.content_block.kind.as_str() {
            "text" => Partial::TextBlock,
            "thinking" => Partial::ThinkingBlock,
            _ => return None,
        },
        "content_block_delta" => match (event.delta.text.known(), event.delta.thinking.known()) {
            (Some(text), _) => Partial::Text(text),
            (None, Some(text)) => Partial::Thinking(text),
            (None, None) => return None,
        },
        _ => return None,
    })
}

fn windows(models: BTreeMap<String, WireModel<'_>>) -> Vec<(String, u64)> {
    let known = |(model, usage): (String, WireModel<'_>)| {
        Some((model, usage.context_window.0.filter(|tokens| *tokens > 0)?))
    };
    models.into_iter().filter_map(known).collect()
}

fn block(block: WireBlock<'_>) -> Option<Block> {
    match block.kind.as_str() {
        "text" => Some(Block::Text(block.text.owned())),
        "thinking" => Some(Block::Thinking(block.thinking.owned())),
        "tool_use" => Some(Block::ToolUse {
            id: block.id.owned(),
            name: block.name.owned(),
            input: block.input.map_or("{}", RawValue::get).to_owned(),
        }),
        _ => None,
    }
}
