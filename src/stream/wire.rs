//! What the lines look like on the wire, and how that becomes a [`Message`].
//!
//! One flat struct instead of a tagged enum: the client does not put `type` first, and a tagged
//! enum would buffer the whole line before it knew what to do with it. What no field names is
//! skipped without being built, so a line of megabytes costs one pass.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::message::{
    Block, Control, Envelope, Init, Message, PermissionRequest, TaskNote, ToolResult, TurnResult,
};

/// As much of a tool's output as anybody is shown.
const PREVIEW: usize = 2000;

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
    // control
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
}

#[derive(Deserialize)]
struct WireBlock<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
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
    #[serde(borrow, default)]
    delta: Option<WireDelta<'a>>,
}

#[derive(Deserialize)]
struct WireDelta<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct WireRequest<'a> {
    #[serde(borrow, default)]
    subtype: Cow<'a, str>,
    #[serde(borrow, default)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    permission_suggestions: Option<&'a RawValue>,
}

/// The beginning of a tool's output. That may be megabytes long, so the rest is never copied.
struct Preview(String);

impl<'de> Deserialize<'de> for Preview {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Seen;
        impl<'de> Visitor<'de> for Seen {
            type Value = Preview;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or blocks")
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Preview(text.chars().take(PREVIEW).collect()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut preview = String::new();
                while let Some(block) = seq.next_element::<WireBlock<'de>>()? {
                    let room = PREVIEW.saturating_sub(preview.chars().count());
                    let text = block.text.as_deref().into_iter();
                    preview.extend(text.flat_map(|text| text.chars().chain(['\n'])).take(room));
                }
                Ok(Preview(preview))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Preview(String::new()))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Preview(String::new()))
            }
        }
        from.deserialize_any(Seen)
    }
}

/// The content of a message: text, or a list of blocks.
enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<WireBlock<'a>>),
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Seen;
        impl<'de> Visitor<'de> for Seen {
            type Value = Content<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text or blocks")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::Other)
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Content::Other)
            }
        }
        from.deserialize_any(Seen)
    }
}

/// A field that should be text and is not worth losing the line for when it is something else.
#[derive(Deserialize)]
#[serde(untagged)]
enum Loose<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Other(IgnoredAny),
}

impl Loose<'_> {
    fn text(self) -> Option<String> {
        match self {
            Loose::Text(text) => Some(text.into_owned()),
            Loose::Other(_) => None,
        }
    }
}

fn owned(text: Option<Cow<'_, str>>) -> String {
    text.map(Cow::into_owned).unwrap_or_default()
}

fn loose(text: Option<Loose<'_>>) -> String {
    text.and_then(Loose::text).unwrap_or_default()
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
            }),
            "stream_event" => match self.event.and_then(|event| event.delta?.text) {
                Some(text) => Message::Partial(text.into_owned()),
                None => other(self.kind, None),
            },
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
        let message = self.message;
        let (model, content) =
            message.map_or((None, None), |message| (message.model, message.content));
        let blocks = match content {
            Some(Content::Text(text)) => vec![Block::Text(text.into_owned())],
            Some(Content::Blocks(blocks)) => blocks.into_iter().filter_map(block).collect(),
            _ => Vec::new(),
        };
        Message::Assistant { model: owned(model), blocks }
    }

    fn user(self) -> Message {
        if self.is_replay == Some(true) {
            return Message::Taken { uuid: owned(self.uuid) };
        }
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
            })
            .collect();
        if results.is_empty() { other(self.kind, None) } else { Message::ToolResults(results) }
    }
}

fn other(kind: Cow<'_, str>, subtype: Option<Cow<'_, str>>) -> Message {
    Message::Other { kind: kind.into_owned(), subtype: owned(subtype) }
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

fn request(request: Option<WireRequest<'_>>) -> Control {
    match request {
        Some(request) if request.subtype == "can_use_tool" => {
            Control::Permission(PermissionRequest {
                tool: owned(request.tool_name),
                input: request.input.map_or("{}", RawValue::get).to_owned(),
                description: owned(request.description),
                suggestions: request.permission_suggestions.map(|raw| raw.get().to_owned()),
            })
        }
        Some(request) => Control::Unknown(request.subtype.into_owned()),
        None => Control::Unknown(String::new()),
    }
}
