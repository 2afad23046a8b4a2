//! Messages to the client, one line each. Everything goes through a serialiser, because one
//! malformed line makes the client exit. The serialiser also escapes control bytes, on which the
//! shim relies (`shim.rs`).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::review::permission::Ruling;

use super::always::for_session;
use super::message::PermissionRequest;
use crate::client::mode::PermissionMode;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub media_type: &'static str,
    pub data: String,
}

/// An invisible character (word joiner).
pub const JOINER: char = '\u{2060}';

/// A message to a judge. The client replaces `@name` in a user message with the content of that
/// file, but here the agent may have chosen the name. An invisible character before the `@` makes
/// it plain text.
pub fn message_to_judge(uuid: &str, text: &str) -> Vec<u8> {
    let mut plain = String::with_capacity(text.len());
    let mut before = ' ';
    for letter in text.chars() {
        if letter == '@' && !before.is_alphanumeric() && !"/\\._-".contains(before) {
            plain.push(JOINER);
        }
        plain.push(letter);
        before = letter;
    }
    message_with_images(uuid, &plain, &[])
}

pub fn message_with_images(uuid: &str, text: &str, images: &[&Image]) -> Vec<u8> {
    let content = if images.is_empty() {
        json!(text)
    } else {
        let mut blocks = vec![json!({"type": "text", "text": text})];
        blocks.extend(images.iter().map(|image| {
            let Image { media_type, data } = image;
            let source = json!({"type": "base64", "media_type": media_type, "data": data});
            json!({"type": "image", "source": source})
        }));
        json!(blocks)
    };
    line(&json!({
        "type": "user",
        "uuid": uuid,
        "message": {"role": "user", "content": content},
    }))
}

pub fn interrupt(request_id: &str) -> Vec<u8> {
    control_request(request_id, &json!({"subtype": "interrupt"}))
}

/// Asks what the client offers. Without this request the client names its slash commands only with
/// the first turn.
pub fn initialize(request_id: &str) -> Vec<u8> {
    control_request(request_id, &json!({"subtype": "initialize"}))
}

/// Tells a judge's client to ask before each tool. Unlike a permission request, this happens in
/// every mode and whatever the settings allow; without an answer the client does not run the tool.
pub fn initialize_judge(request_id: &str) -> Vec<u8> {
    let hook = json!({"matcher": "", "hookCallbackIds": ["ccc"], "timeout": 60});
    control_request(request_id, &json!({"subtype": "initialize", "hooks": {"PreToolUse": [hook]}}))
}

/// Answers whether the tool may run. Never with an error, which the client would treat as a yes.
pub fn tool_ruling(request_id: &str, ruling: &Ruling) -> Vec<u8> {
    let (decision, reason) = match ruling {
        Ruling::Allow => ("allow", ""),
        Ruling::Ask => ("ask", "The person decides."),
        Ruling::Deny(reason) => ("deny", reason.as_str()),
    };
    let output = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": reason,
    }});
    success(request_id, &output).unwrap_or_default()
}

/// Takes back a message that the agent has not taken up yet.
pub fn cancel_message(request_id: &str, uuid: &str) -> Vec<u8> {
    control_request(request_id, &json!({"subtype": "cancel_async_message", "message_uuid": uuid}))
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientRequest {
    Mode(PermissionMode),
    Model(String),
    /// The settings in force. The answer names the model before the first turn does.
    Settings,
    /// What fills the model's context window.
    Context,
    /// Moves the running tool to the background, so that the turn continues.
    Background,
}

pub fn client_request(request_id: &str, request: &ClientRequest) -> Vec<u8> {
    let request = match request {
        ClientRequest::Mode(mode) => json!({"subtype": "set_permission_mode", "mode": mode}),
        ClientRequest::Model(model) => json!({"subtype": "set_model", "model": model}),
        ClientRequest::Settings => json!({"subtype": "get_settings"}),
        ClientRequest::Context => json!({"subtype": "get_context_usage"}),
        ClientRequest::Background => json!({"subtype": "background_tasks"}),
    };
    control_request(request_id, &request)
}

/// Asks the client to forget a message and everything after it. The client also wants the last
/// message that the person has seen, and refuses if there are later ones.
pub fn rewind_conversation(request_id: &str, uuid: &str, last_seen: &str) -> Vec<u8> {
    let request = json!({
        "subtype": "rewind_conversation",
        "target_message_uuid": uuid,
        "last_seen_user_message_uuid": last_seen,
    });
    control_request(request_id, &request)
}

/// Asks the client to restore the files that its tools have changed since a message. It must have
/// been started with checkpoints.
pub fn rewind_files(request_id: &str, uuid: &str) -> Vec<u8> {
    control_request(request_id, &json!({"subtype": "rewind_files", "user_message_id": uuid}))
}

fn control_request(request_id: &str, request: &Value) -> Vec<u8> {
    line(&json!({"type": "control_request", "request_id": request_id, "request": request}))
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    Once,
    /// Accepts the client's own suggestion, so that it does not ask again in this session.
    Always,
    /// Allows a plan, and from now on all edits.
    AcceptEdits,
    Deny(String),
    /// Answers to the questions of a form, as pairs of question and answer.
    Answers(Vec<(String, String)>),
}

/// The answer to an allowed request. The input is raw JSON text, so that it returns to the client
/// exactly as it came, including numbers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Allow<'a> {
    behavior: &'static str,
    updated_input: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_permissions: Option<Value>,
}

pub fn permission_answer(
    request_id: &str,
    asked: &PermissionRequest,
    answer: &Permission,
) -> Vec<u8> {
    let allow = |updated_permissions: Option<Value>| {
        let updated_input = serde_json::from_str(&asked.input)?;
        success(request_id, &Allow { behavior: "allow", updated_input, updated_permissions })
    };
    let deny = |reason: &str| {
        success(request_id, &json!({"behavior": "deny", "message": reason, "interrupt": false}))
    };
    match answer {
        Permission::Once => allow(None),
        Permission::Always => {
            let suggestions = asked.suggestions.as_deref();
            suggestions.map(for_session).transpose().and_then(allow)
        }
        Permission::AcceptEdits => {
            let mode = PermissionMode::AcceptEdits;
            allow(Some(json!([{"type": "setMode", "mode": mode, "destination": "session"}])))
        }
        Permission::Deny(reason) => deny(reason),
        Permission::Answers(answers) => answered(request_id, asked, answers),
    }
    // This fails only if the request itself is not JSON.
    .or_else(|error| deny(&format!("ccc could not answer this request: {error}")))
    .unwrap_or_default()
}

fn answered(
    request_id: &str,
    asked: &PermissionRequest,
    answers: &[(String, String)],
) -> serde_json::Result<Vec<u8>> {
    let mut input: Value = serde_json::from_str(&asked.input)?;
    let answers: Map<_, _> =
        answers.iter().map(|(question, answer)| (question.clone(), json!(answer))).collect();
    input["answers"] = Value::Object(answers);
    success(request_id, &json!({"behavior": "allow", "updatedInput": input}))
}

/// An answer to a request that this version does not know.
pub fn refuse_control(request_id: &str, subtype: &str) -> Vec<u8> {
    let error = format!("ccc does not handle control requests of subtype {subtype:?}");
    line(&json!({
        "type": "control_response",
        "response": {"subtype": "error", "request_id": request_id, "error": error},
    }))
}

fn success(request_id: &str, response: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Outgoing<'a, T> {
        r#type: &'static str,
        response: Success<'a, T>,
    }
    #[derive(Serialize)]
    struct Success<'a, T> {
        subtype: &'static str,
        request_id: &'a str,
        response: &'a T,
    }
    let response = Success { subtype: "success", request_id, response };
    let mut line = serde_json::to_vec(&Outgoing { r#type: "control_response", response })?;
    line.push(b'\n');
    Ok(line)
}

fn line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_in_a_message_to_a_judge_are_not_replaced_by_files() {
        let line = message_to_judge("u", "@a \"@b\" a@b.c @types/x n/@types/x");
        let line = String::from_utf8(line).unwrap();
        let plain = "\u{2060}@a \\\"\u{2060}@b\\\" a@b.c \u{2060}@types/x n/@types/x";
        assert!(line.contains(plain), "{line}");
    }

    #[test]
    fn an_allowed_input_goes_back_as_it_came() {
        let asked = PermissionRequest {
            tool: "Bash".into(),
            input: r#"{"command":"echo \"两\"","n":12345678901234567890123.50}"#.into(),
            suggestions: Some(r#"[{"type":"addRules","destination":"localSettings"}]"#.into()),
            ..Default::default()
        };
        let parse = |line: Vec<u8>| serde_json::from_slice::<Value>(&line).unwrap();
        let line = permission_answer("r", &asked, &Permission::Once);
        assert!(String::from_utf8_lossy(&line).contains(&asked.input));
        let once = parse(line);
        assert_eq!(once["response"]["response"]["updatedInput"]["command"], "echo \"两\"");
        assert!(once["response"]["response"].get("updatedPermissions").is_none());
        let always = parse(permission_answer("r", &asked, &Permission::Always));
        let taken_up = &always["response"]["response"]["updatedPermissions"];
        assert_eq!(*taken_up, json!([{"type":"addRules","destination":"session"}]));
        let plan = parse(permission_answer("r", &asked, &Permission::AcceptEdits));
        assert_eq!(
            plan["response"]["response"]["updatedPermissions"],
            json!([{"type":"setMode","mode":"acceptEdits","destination":"session"}])
        );
        let answers = Permission::Answers(vec![("Which?".into(), "Blue".into())]);
        let answered = parse(permission_answer("r", &asked, &answers));
        assert_eq!(answered["response"]["response"]["updatedInput"]["answers"]["Which?"], "Blue");
        let deny = parse(permission_answer("r", &asked, &Permission::Deny("no".into())));
        assert_eq!(
            deny["response"]["response"],
            json!({"behavior":"deny","message":"no","interrupt":false})
        );
    }

    #[test]
    fn a_ruling_is_never_an_error() {
        for (ruling, decision) in [
            (Ruling::Allow, "allow"),
            (Ruling::Ask, "ask"),
            (Ruling::Deny("no \u{4} way".into()), "deny"),
        ] {
            let line = tool_ruling("r", &ruling);
            let answer: Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(answer["response"]["subtype"], "success");
            let output = &answer["response"]["response"]["hookSpecificOutput"];
            assert_eq!(output["permissionDecision"], decision);
        }
    }

    #[test]
    fn every_request_has_its_subtype() {
        let parse = |line: Vec<u8>| serde_json::from_slice::<Value>(&line).unwrap();
        for (line, request) in [
            (initialize("r"), json!({"subtype": "initialize"})),
            (interrupt("r"), json!({"subtype": "interrupt"})),
            (client_request("r", &ClientRequest::Settings), json!({"subtype": "get_settings"})),
            (
                client_request("r", &ClientRequest::Mode(PermissionMode::AcceptEdits)),
                json!({"subtype": "set_permission_mode", "mode": "acceptEdits"}),
            ),
            (
                client_request("r", &ClientRequest::Model("opus".into())),
                json!({"subtype": "set_model", "model": "opus"}),
            ),
            (client_request("r", &ClientRequest::Context), json!({"subtype": "get_context_usage"})),
            (
                client_request("r", &ClientRequest::Background),
                json!({"subtype": "background_tasks"}),
            ),
            (
                rewind_conversation("r", "u", "v"),
                json!({"subtype": "rewind_conversation", "target_message_uuid": "u", "last_seen_user_message_uuid": "v"}),
            ),
            (rewind_files("r", "u"), json!({"subtype": "rewind_files", "user_message_id": "u"})),
            (
                cancel_message("r", "u"),
                json!({"subtype": "cancel_async_message", "message_uuid": "u"}),
            ),
        ] {
            let expected =
                json!({"type": "control_request", "request_id": "r", "request": request});
            assert_eq!(parse(line), expected);
        }
    }

    proptest! {
        #[test]
        fn a_message_is_one_line_without_control_bytes(text in any::<String>()) {
            let line = message_with_images("u", &text, &[]);
            let (end, body) = line.split_last().unwrap();
            prop_assert_eq!(*end, b'\n');
            prop_assert!(body.iter().all(|byte| *byte >= 0x20));
            let value: Value = serde_json::from_slice(body).unwrap();
            prop_assert_eq!(value["message"]["content"].as_str(), Some(text.as_str()));
        }
    }
}
