//! The client's control protocol on the wire: its requests, and its answers to ours.

use serde_json::value::RawValue;

use super::lenient::{Flag, Text, object};
use super::message::{Command, Control, Message, PermissionRequest};

object! {
    pub struct WireResponse<'a> {
        "request_id" => request_id: Text<'a>,
        "response" => response: WireAnswer<'a>,
    }
}

object! {
    pub struct WireAnswer<'a> {
        "cancelled" => cancelled: Flag,
        "commands" => commands: Option<&'a RawValue>,
    }
}

object! {
    pub struct WireCommand<'a> {
        "name" => name: Text<'a>,
        "description" => description: Text<'a>,
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
    /// What a hook is told about a tool.
    pub struct WireToolUse<'a> {
        "tool_name" => tool_name: Text<'a>,
        "tool_input" => tool_input: Option<&'a RawValue>,
    }
}

pub fn answered(response: WireResponse<'_>) -> Message {
    let WireResponse { request_id, response: answer } = response;
    // A list that is written differently one day is an answer like any other.
    let commands = answer
        .commands
        .and_then(|raw| serde_json::from_str::<Vec<WireCommand<'_>>>(raw.get()).ok())
        .filter(|commands| commands.iter().all(|command| !command.name.as_str().is_empty()));
    let command = |command: WireCommand<'_>| Command {
        name: command.name.owned(),
        description: command.description.owned(),
    };
    match commands {
        Some(commands) => Message::Commands(commands.into_iter().map(command).collect()),
        None => Message::ControlAnswered {
            request_id: request_id.owned(),
            cancelled: answer.cancelled.0,
        },
    }
}

pub fn request(request: WireRequest<'_>) -> Control {
    match request.subtype.as_str() {
        "can_use_tool" => Control::Permission(PermissionRequest {
            tool: request.tool_name.owned(),
            input: request.input.map_or("{}", RawValue::get).to_owned(),
            description: request.description.owned(),
            suggestions: request.permission_suggestions.map(|raw| raw.get().to_owned()),
        }),
        // Every one of them: an answer that refuses it would let the tool run.
        "hook_callback" => {
            let input = request.input.map_or("{}", RawValue::get);
            // What cannot be read is a tool without a name, which nobody allows.
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
