//! What the lines look like on the wire, and how that becomes a [`Message`].
//!
//! One flat struct instead of a tagged enum: the client does not put `type` first, and a tagged
//! enum would buffer the whole line before it knew what to do with it. What no field names is
//! skipped without being built, so a line of megabytes costs one pass.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::control::{WireRequest, WireResponse, answered, request};
use super::lenient::{Content, Loose, Preview, loose, owned};

use super::message::{
    Block, Envelope, Hunk, Init, Message, Partial, TaskNote, ToolResult, TurnResult,
};

#[derive(Deserialize)]
pub struct Wire<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    subtype: Option<Cow<'a, str>>,
    /// Transcripts on disk, and older clients, say `sessionId`.
    #[serde(alias = "sessionId", default)]
    session_id: Option<Loose<'a>>,
    #[serde(borrow, default)]
    parent_tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    uuid: Option<Cow<'a, str>>,
    #[serde(rename = "isReplay", default)]
    is_replay: Option<bool>,
    #[serde(borrow, default)]
    message: Option<WireMessage<'a>>,
    #[serde(borrow, default)]
    event: Option<WireEvent<'a>>,
    // system
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(rename = "permissionMode", borrow, default)]
    permission_mode: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    task_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    description: Option<Cow<'a, str>>,
    #[serde(default)]
    is_backgrounded: Option<bool>,
    #[serde(borrow, default)]
    tasks: Option<Vec<WireTask<'a>>>,
    #[serde(default)]
    attempt: Option<u64>,
    #[serde(default)]
    max_retries: Option<u64>,
    #[serde(default)]
    retry_delay_ms: Option<f64>,
    #[serde(default)]
    error: Option<Loose<'a>>,
    #[serde(borrow, default)]
    slash_commands: Option<Vec<Loose<'a>>>,
    // result
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(default)]
    result: Option<Loose<'a>>,
    #[serde(default)]
    num_turns: Option<u64>,
    #[serde(default)]
    total_cost_usd: Option<f64>,
    #[serde(borrow, default)]
    structured_output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    errors: Option<Vec<Loose<'a>>>,
    #[serde(rename = "modelUsage", borrow, default)]
    model_usage: Option<BTreeMap<Cow<'a, str>, WireModel>>,
    #[serde(borrow, default)]
    tool_use_result: Option<&'a RawValue>,
    // control
    #[serde(borrow, default)]
    response: Option<WireResponse<'a>>,
    #[serde(borrow, default)]
    request_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    request: Option<WireRequest<'a>>,
}

#[derive(Deserialize)]
struct WireMessage<'a> {
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(default)]
    usage: Option<WireUsage>,
}

#[derive(Deserialize)]
struct WireUsage {
    #[serde(rename = "input_tokens", default)]
    input: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens", default)]
    cache_creation: Option<u64>,
    #[serde(rename = "cache_read_input_tokens", default)]
    cache_read: Option<u64>,
    #[serde(rename = "output_tokens", default)]
    output: Option<u64>,
}

impl WireUsage {
    /// What the conversation takes up of the model's window.
    fn context(&self) -> u64 {
        let parts = [self.input, self.cache_creation, self.cache_read, self.output];
        parts.into_iter().flatten().sum()
    }
}

#[derive(Deserialize)]
struct WireModel {
    #[serde(rename = "contextWindow", default)]
    context_window: Option<u64>,
}

/// What the client says about an edit beside the tool's own output.
#[derive(Deserialize)]
struct WireEdit {
    #[serde(rename = "structuredPatch", default)]
    patch: Vec<Hunk>,
}

#[derive(Deserialize)]
pub struct WireBlock<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(default)]
    content: Option<Preview>,
    #[serde(default)]
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct WireTask<'a> {
    #[serde(borrow)]
    task_id: Cow<'a, str>,
}

#[derive(Deserialize)]
struct WireEvent<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    content_block: Option<WireBlock<'a>>,
    #[serde(borrow, default)]
    delta: Option<WireDelta<'a>>,
}

#[derive(Deserialize)]
struct WireDelta<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    thinking: Option<Cow<'a, str>>,
}

impl Wire<'_> {
    pub fn into_envelope(mut self) -> Envelope {
        let session_id = self.session_id.take().and_then(Loose::text);
        let parent = self.parent_tool_use_id.take().map(Cow::into_owned);
        Envelope { session_id, parent, message: self.into_message() }
    }

    fn into_message(self) -> Message {
        match self.kind.as_ref() {
            "system" => self.system(),
            "assistant" => self.assistant(),
            "user" => self.user(),
            "result" => Message::Result(TurnResult {
                subtype: owned(self.subtype),
                is_error: self.is_error.unwrap_or(false),
                text: loose(self.result),
                num_turns: self.num_turns.unwrap_or(0),
                cost_usd: self.total_cost_usd.unwrap_or(0.0),
                structured_output: self.structured_output.map(|raw| raw.get().to_owned()),
                errors: self.errors.into_iter().flatten().filter_map(Loose::text).collect(),
                windows: windows(self.model_usage),
            }),
            "stream_event" => match self.event.and_then(partial) {
                Some(partial) => Message::Partial(partial),
                None => other(self.kind, None),
            },
            "control_response" => answered(self.response),
            "control_request" => Message::Control {
                request_id: owned(self.request_id),
                request: request(self.request),
            },
            "control_cancel_request" => {
                Message::ControlCancelled { request_id: owned(self.request_id) }
            }
            _ => other(self.kind, self.subtype),
        }
    }

    fn system(self) -> Message {
        let note = |wire: Self| TaskNote {
            task_id: owned(wire.task_id),
            description: owned(wire.description),
            background: wire.is_backgrounded,
        };
        match self.subtype.as_deref() {
            Some("init") => Message::Init(Init {
                model: owned(self.model),
                permission_mode: owned(self.permission_mode),
                commands: self
                    .slash_commands
                    .into_iter()
                    .flatten()
                    .filter_map(Loose::text)
                    .collect(),
            }),
            Some("task_started") => Message::TaskStarted(note(self)),
            Some("task_notification") => Message::TaskEnded(note(self)),
            Some("background_tasks_changed") => Message::TasksRunning(
                self.tasks.into_iter().flatten().map(|task| task.task_id.into_owned()).collect(),
            ),
            Some("api_retry") => Message::ApiRetry {
                attempt: self.attempt.unwrap_or(0),
                max: self.max_retries.unwrap_or(0),
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a delay in ms"
                )]
                delay_ms: self.retry_delay_ms.unwrap_or(0.0) as u64,
                error: loose(self.error),
            },
            _ => other(self.kind, self.subtype),
        }
    }

    fn assistant(self) -> Message {
        let (model, content, usage) = self
            .message
            .map_or((None, None, None), |message| (message.model, message.content, message.usage));
        let blocks = match content {
            Some(Content::Text(text)) => vec![Block::Text(text.into_owned())],
            Some(Content::Blocks(blocks)) => blocks.into_iter().filter_map(block).collect(),
            _ => Vec::new(),
        };
        let context = usage.map(|usage| usage.context()).filter(|tokens| *tokens > 0);
        Message::Assistant { model: owned(model), blocks, context }
    }

    fn user(self) -> Message {
        if self.is_replay == Some(true) {
            return Message::Taken { uuid: owned(self.uuid) };
        }
        // The line of an edit carries the whole file besides, so it is looked at only where it can help.
        let mut patch = self
            .tool_use_result
            .filter(|raw| raw.get().contains("structuredPatch"))
            .and_then(|raw| serde_json::from_str::<WireEdit>(raw.get()).ok())
            .map(|edit| edit.patch)
            .unwrap_or_default();
        let Some(Content::Blocks(blocks)) = self.message.and_then(|message| message.content) else {
            return other(self.kind, None);
        };
        let results: Vec<_> = blocks
            .into_iter()
            .filter(|block| block.kind == "tool_result")
            .map(|block| ToolResult {
                tool_use_id: owned(block.tool_use_id),
                is_error: block.is_error.unwrap_or(false),
                preview: block.content.map(|preview| preview.0).unwrap_or_default(),
                patch: std::mem::take(&mut patch),
            })
            .collect();
        if results.is_empty() { other(self.kind, None) } else { Message::ToolResults(results) }
    }
}

fn other(kind: Cow<'_, str>, subtype: Option<Cow<'_, str>>) -> Message {
    Message::Other { kind: kind.into_owned(), subtype: owned(subtype) }
}

fn partial(event: WireEvent<'_>) -> Option<Partial> {
    Some(match event.kind.as_ref() {
        "message_start" => Partial::Message,
        "content_block_start" => match event.content_block?.kind.as_ref() {
            "text" => Partial::TextBlock,
            "thinking" => Partial::ThinkingBlock,
            _ => return None,
        },
        "content_block_delta" => match event.delta? {
            WireDelta { text: Some(text), .. } => Partial::Text(text.into_owned()),
            WireDelta { thinking: Some(text), .. } => Partial::Thinking(text.into_owned()),
            WireDelta { .. } => return None,
        },
        _ => return None,
    })
}

fn windows(models: Option<BTreeMap<Cow<'_, str>, WireModel>>) -> Vec<(String, u64)> {
    let known = |(model, usage): (Cow<'_, str>, WireModel)| {
        Some((model.into_owned(), usage.context_window.filter(|tokens| *tokens > 0)?))
    };
    models.into_iter().flatten().filter_map(known).collect()
}

fn block(block: WireBlock<'_>) -> Option<Block> {
    match block.kind.as_ref() {
        "text" => Some(Block::Text(owned(block.text))),
        "thinking" => Some(Block::Thinking(owned(block.thinking))),
        "tool_use" => Some(Block::ToolUse {
            id: owned(block.id),
            name: owned(block.name),
            input: block.input.map_or("{}", RawValue::get).to_owned(),
        }),
        _ => None,
    }
}
