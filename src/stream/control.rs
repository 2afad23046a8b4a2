//! The client's control protocol on the wire: its requests, and its answers to ours.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::lenient::{Loose, loose, owned};
use super::message::{Command, Control, Message, PermissionRequest};

#[derive(Deserialize)]
pub struct WireResponse<'a> {
    #[serde(borrow, default)]
    request_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    response: Option<WireAnswer<'a>>,
}

#[derive(Deserialize)]
struct WireAnswer<'a> {
    #[serde(default)]
    cancelled: Option<bool>,
    #[serde(borrow, default)]
    commands: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireCommand<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    description: Option<Loose<'a>>,
}

#[derive(Deserialize)]
pub struct WireRequest<'a> {
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

pub fn answered(response: Option<WireResponse<'_>>) -> Message {
    let (request_id, answer) =
        response.map_or((None, None), |response| (response.request_id, response.response));
    // A list that is written differently one day is an answer like any other.
    let commands = answer
        .as_ref()
        .and_then(|answer| answer.commands)
        .and_then(|raw| serde_json::from_str::<Vec<WireCommand<'_>>>(raw.get()).ok());
    let command = |command: WireCommand<'_>| Command {
        name: command.name.into_owned(),
        description: loose(command.description),
    };
    match commands {
        Some(commands) => Message::Commands(commands.into_iter().map(command).collect()),
        None => Message::ControlAnswered {
            request_id: owned(request_id),
            cancelled: answer.and_then(|answer| answer.cancelled),
        },
    }
}

pub fn request(request: Option<WireRequest<'_>>) -> Control {
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
