//! The client's control protocol on the wire: its requests, and its answers to ours.

use serde_json::value::RawValue;

use super::lenient::{Count, Flag, Text, object};
use super::message::{Control, Message, PermissionRequest};
use super::reports::{WireApplied, context_usage, introduction};

object! {
    pub struct WireResponse<'a> {
        "request_id" => request_id: Text<'a>,
        "subtype" => subtype: Text<'a>,
        "error" => error: Text<'a>,
        "response" => response: WireAnswer<'a>,
    }
}

object! {
    pub struct WireAnswer<'a> {
        "cancelled" => cancelled: Flag,
        // to `rewind_conversation` and `rewind_files`
        "rewound" => rewound: Flag,
        "canRewind" => can_rewind: Flag,
        "error" => error: Text<'a>,
        // to `initialize`
        "commands" => commands: Option<&'a RawValue>,
        "models" => models: Option<&'a RawValue>,
        "claude_code_version" => version: Text<'a>,
        "current_permission_mode" => mode: Text<'a>,
        // to `get_context_usage`
        "categories" => categories: Option<&'a RawValue>,
        "maxTokens" => max_tokens: Count,
        "autoCompactThreshold" => compacts_at: Count,
        // to `set_model` and `get_settings`
        "model" => model: Text<'a>,
        "applied" => applied: WireApplied<'a>,
    }
}

object! {
    pub struct WireRequest<'a> {
        "subtype" => subtype: Text<'a>,
        "tool_name" => tool_name: Text<'a>,
        "input" => input: Option<&'a RawValue>,
        "description" => description: Text<'a>,
        "permission_suggestions" => permission_suggestions: Option<&'a RawValue>,
    }
}

object! {
    /// The input of a hook about a tool.
    pub struct WireToolUse<'a> {
        "tool_name" => tool_name: Text<'a>,
        "tool_input" => tool_input: Option<&'a RawValue>,
    }
}

pub fn answered(response: WireResponse<'_>) -> Message {
    let WireResponse { request_id, subtype, error, response: answer } = response;
    if subtype.as_str() == "error" {
        return Message::ControlRefused { request_id: request_id.owned(), error: error.owned() };
    }
    if let Some(done) = answer.rewound.0.or(answer.can_rewind.0) {
        let (request_id, error) = (request_id.owned(), answer.error.owned());
        return Message::WentBack { request_id, done, error };
    }
    // If these change in a later client, they are read as a plain answer.
    if let Some(introduction) = introduction(&answer) {
        return Message::Introduced(Box::new(introduction));
    }
    if let Some(usage) = context_usage(&answer) {
        return Message::ContextUsage(usage);
    }
    if let Some(model) = answer.model.known().or(answer.applied.model.known()) {
        return Message::Model { request_id: request_id.owned(), model };
    }
    Message::ControlAnswered { request_id: request_id.owned(), cancelled: answer.cancelled.0 }
}

pub fn request(request: WireRequest<'_>) -> Control {
    match request.subtype.as_str() {
        "can_use_tool" => Control::Permission(PermissionRequest {
            tool: request.tool_name.owned(),
            input: request.input.map_or("{}", RawValue::get).to_owned(),
            description: request.description.owned(),
            suggestions: request.permission_suggestions.map(|raw| raw.get().to_owned()),
        }),
        // Every hook callback is treated as a tool use, because refusing the request would let the
        // tool run.
        "hook_callback" => {
            let input = request.input.map_or("{}", RawValue::get);
            // An unreadable request becomes a tool without a name, which no rule allows.
            let asked = serde_json::from_str::<WireToolUse<'_>>(input).unwrap_or_default();
            Control::ToolUse(PermissionRequest {
                tool: asked.tool_name.owned(),
                input: asked.tool_input.map_or("{}", RawValue::get).to_owned(),
                ..PermissionRequest::default()
            })
        }
        _ => Control::Unknown(request.subtype.owned()),
    }
}
