//! Messages to the client, one line each. Everything goes through a serialiser: one malformed line
//! makes the client exit. It also keeps control bytes out, which the shim needs (`shim.rs`).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::review::permission::Ruling;

use super::always::for_session;
use super::message::PermissionRequest;
use crate::client::mode::PermissionMode;

/// An image in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub media_type: &'static str,
    /// Its bytes, in base64.
    pub data: String,
}

/// A character that nobody sees.
pub const JOINER: char = '\u{2060}';

/// A message to a judge. In a person's message the client takes `@name` for a file and puts its content
/// beside it, as if it had been read; in this one the agent may have chosen the name. With a character in
/// front that nobody sees it is a word like others.
pub fn judges_message(uuid: &str, text: &str) -> Vec<u8> {
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

/// Asks what the client has to offer. Only the answer is of interest: it names the slash commands,
/// which the client does by itself no sooner than with the first turn.
pub fn initialize(request_id: &str) -> Vec<u8> {
    control_request(request_id, &json!({"subtype": "initialize"}))
}

/// Tells a judge's client to ask before each tool. Unlike a question of permission this comes in every
/// mode and whatever the settings allow; a client that gets no answer does not run the tool.
pub fn initialize_judge(request_id: &str) -> Vec<u8> {
    let hook = json!({"matcher": "", "hookCallbackIds": ["ccc"], "timeout": 60});
    control_request(request_id, &json!({"subtype": "initialize", "hooks": {"PreToolUse": [hook]}}))
}

/// Whether the tool may run. Never an error: the client would take that for a yes.
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

/// Asks for a message back that the agent has not taken up yet.
pub fn cancel_message(request_id: &str, uuid: &str) -> Vec<u8> {
    control_request(request_id, &json!({"subtype": "cancel_async_message", "message_uuid": uuid}))
}

/// Something about the client itself that the person wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientRequest {
    Mode(PermissionMode),
    Model(String),
    /// Which settings are in force? The answer names the model before the first turn does.
    Settings,
    /// What fills the model's window?
    Context,
    /// What runs now goes on in the background, and the turn with it.
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

/// Asks the client to forget a message and all that followed it. It wants to know which message is the
/// last one that the person has seen: it refuses when there are others behind it.
pub fn rewind_conversation(request_id: &str, uuid: &str, last_seen: &str) -> Vec<u8> {
    let request = json!({
        "subtype": "rewind_conversation",
        "target_message_uuid": uuid,
        "last_seen_user_message_uuid": last_seen,
    });
    control_request(request_id, &request)
}

/// Asks the client to put the files back that its tools have changed since a message. Only a client
/// that was started with checkpoints can.
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
    /// Take up the client's own suggestion, so that it does not ask again in this session.
    Always,
    /// Once, and from now on edits are not asked about: for a plan.
    AcceptEdits,
    Deny(String),
    /// Answers to the questions of a form, by the text of the question.
    Answers(Vec<(String, String)>),
}

/// What an answered request carries back. The input is raw JSON text, so that it returns to the
/// client exactly as it came, numbers included.
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
    // Only a request that is not JSON itself could fail here.
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
    fn a_judge_is_told_of_names_and_given_no_files() {
        let line = judges_message("u", "@a \"@b\" a@b.c @types/x n/@types/x");
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
    fn a_request_names_itself() {
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
