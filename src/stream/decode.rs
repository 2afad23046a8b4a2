//! One line to its messages. Nearly always that is one JSON object; but the client also prints
//! escapes in front of one, plain-text errors, and half a line when it dies.

use super::escapes::{escape_len, strip_escapes, visible};
use super::message::Envelope;
use super::wire::Wire;

/// A line as it came and what is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Byte for byte, without the line end.
    pub raw: Vec<u8>,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Message(Box<Envelope>),
    /// Not JSON: for the user to read.
    Text(String),
    /// Meant to be JSON and is not.
    Bad(String),
}

impl Line {
    pub fn decode(raw: Vec<u8>) -> Self {
        let mut parts = Vec::with_capacity(1);
        parse(&raw, &mut parts);
        Self { raw, parts }
    }

    /// What of it the loop is told.
    pub fn into_messages(self) -> impl Iterator<Item = Envelope> {
        self.parts.into_iter().filter_map(|part| match part {
            Part::Message(envelope) => Some(*envelope),
            Part::Text(_) | Part::Bad(_) => None,
        })
    }
}

fn parse(mut rest: &[u8], parts: &mut Vec<Part>) {
    loop {
        rest = skip_noise(rest);
        match rest.first() {
            None => return,
            Some(b'{') => match object(rest) {
                Ok((envelope, len)) => {
                    parts.push(Part::Message(Box::new(envelope)));
                    rest = &rest[len..];
                }
                Err(error) => return parts.push(mended(rest, &error)),
            },
            // Text without a newline may stand in front of a message: the message still counts.
            Some(_) => {
                let (text, message) = rest.split_at(message_start(rest).unwrap_or(rest.len()));
                parts.extend(visible(text).map(Part::Text));
                rest = message;
            }
        }
    }
}

fn object(bytes: &[u8]) -> serde_json::Result<(Envelope, usize)> {
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Wire<'_>>();
    let wire = stream.next().transpose()?;
    let len = stream.byte_offset();
    // `next` is `None` only for white space, and the first byte is a brace.
    wire.map(|wire| (wire.into_envelope(), len)).ok_or_else(|| serde::de::Error::custom("empty"))
}

/// A second try without what cannot stand in JSON anyway: invalid UTF-8, NUL, escapes in the middle.
fn mended(bytes: &[u8], error: &serde_json::Error) -> Part {
    let text = String::from_utf8_lossy(bytes);
    let clean = strip_escapes(&text);
    match object(clean.as_bytes()) {
        Ok((envelope, _)) => Part::Message(Box::new(envelope)),
        Err(_) => Part::Bad(error.to_string()),
    }
}

fn skip_noise(mut bytes: &[u8]) -> &[u8] {
    loop {
        let skip = match bytes.first() {
            Some(0x1b) => escape_len(bytes),
            Some(byte) if byte.is_ascii_whitespace() || byte.is_ascii_control() => 1,
            _ => return bytes,
        };
        bytes = &bytes[skip..];
    }
}

/// Each candidate may cost a pass over the rest of the line, so only a few are tried.
fn message_start(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(bytes, b"{\"").take(8).find(|at| object(&bytes[*at..]).is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::message::{Block, Command, Control, Message, Partial};
    use super::*;
    use proptest::prelude::*;

    fn parts(line: &[u8]) -> Vec<Part> {
        Line::decode(line.to_vec()).parts
    }

    fn message(line: &str) -> Message {
        match parts(line.as_bytes()).as_slice() {
            [Part::Message(envelope)] => envelope.message.clone(),
            other => panic!("{line}: {other:?}"),
        }
    }

    fn kinds(line: &[u8]) -> Vec<String> {
        let kind = |part: Part| match part {
            Part::Message(envelope) => match envelope.message {
                Message::Other { kind, .. } => kind,
                message => format!("{message:?}"),
            },
            Part::Text(text) => format!("text: {text}"),
            Part::Bad(_) => "bad".to_owned(),
        };
        parts(line).into_iter().map(kind).collect()
    }

    #[test]
    fn scenario_001_parse_session_id() {
        for line in [
            r#"{"type":"x","session_id":"abc"}"#,
            r#"{"type":"x","sessionId":"abc"}"#,
            r#"{"session_id":"abc","z":[1,{"session_id":"no"}],"type":"x"}"#,
        ] {
            match parts(line.as_bytes()).as_slice() {
                [Part::Message(envelope)] => {
                    assert_eq!(envelope.session_id.as_deref(), Some("abc"));
                }
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn scenario_001_parse_message_type() {
        assert!(matches!(
            message(r#"{"subtype":"init","model":"m","permissionMode":"default","type":"system"}"#),
            Message::Init(init) if init.model == "m"
        ));
        assert!(matches!(
            message(r#"{"type":"result","subtype":"success","is_error":true,"result":"no credit","num_turns":1,"total_cost_usd":0.5}"#),
            Message::Result(result) if result.is_error && result.failure() == "no credit"
        ));
        assert!(matches!(
            message(r#"{"type":"assistant","message":{"content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}"#),
            Message::Assistant { blocks, .. } if blocks == [
                Block::Text("hi".into()),
                Block::ToolUse { id: "t".into(), name: "Bash".into(), input: r#"{"command":"ls"}"#.into() },
            ]
        ));
        assert!(matches!(
            message(r#"{"type":"user","uuid":"u1","isReplay":true,"message":{"role":"user","content":"x"}}"#),
            Message::Taken { uuid } if uuid == "u1"
        ));
        assert!(matches!(
            message(r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"boom"}]}]}}"#),
            Message::ToolResults(results) if results[0].is_error && results[0].preview == "boom\n"
        ));
        assert!(matches!(
            message(r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"rm"}}}"#),
            Message::Control { request_id, request: Control::Permission(request) }
                if request_id == "r" && request.input == r#"{"command":"rm"}"#
        ));
        assert!(matches!(
            message(r#"{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b1","x":1}]}"#),
            Message::TasksRunning(tasks) if tasks == ["b1"]
        ));
        assert!(matches!(
            message(r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"He"}}}"#),
            Message::Partial(Partial::Text(text)) if text == "He"
        ));
        assert!(matches!(message(r#"{"type":"tomorrow","subtype":"new"}"#), Message::Other { .. }));
    }

    #[test]
    fn the_clients_commands_are_an_answer_of_their_own() {
        let answer = |commands: &str| {
            message(&format!(
                r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"r","response":{{"commands":{commands},"models":[{{"value":"m"}}],"account":{{"email":"e"}}}}}}}}"#
            ))
        };
        let command = |name: &str, description: &str| Command {
            name: name.into(),
            description: description.into(),
        };
        assert_eq!(
            answer(
                r#"[{"name":"clear","description":"Start\nanew","argumentHint":"[name]","aliases":["new"]},{"name":"odd","description":7},{"name":"bare"}]"#
            ),
            Message::Commands(vec![
                command("clear", "Start\nanew"),
                command("odd", ""),
                command("bare", "")
            ])
        );
        let plain = Message::ControlAnswered { request_id: "r".into(), cancelled: None };
        for other in [r#"["clear"]"#, r#"{"clear":{}}"#, r#"[{"title":"clear"}]"#, "7", "null"] {
            assert_eq!(answer(other), plain, "{other}");
        }
        let unknown = r#"{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"Unsupported control request subtype: initialize"}}"#;
        assert_eq!(message(unknown), plain);
    }

    #[test]
    fn scenario_001_parse_errors_are_survived() {
        assert_eq!(kinds(br#"{"type":"x","#), ["bad"]);
        assert_eq!(kinds(br#"{"no":"type"}"#), ["bad"]);
        assert_eq!(kinds(br"{]"), ["bad"]);
        assert_eq!(kinds(b""), [""; 0]);
        assert_eq!(kinds(b"Error: no such session"), ["text: Error: no such session"]);
    }

    #[test]
    fn a_field_of_an_unexpected_kind_does_not_cost_the_line() {
        assert_eq!(kinds(br#"{"type":"x","session_id":7,"error":{"a":1},"result":[1]}"#), ["x"]);
        assert!(matches!(
            message(r#"{"type":"assistant","message":{"content":{"odd":1}}}"#),
            Message::Assistant { blocks, .. } if blocks.is_empty()
        ));
    }

    #[test]
    fn escapes_and_text_around_json_on_the_same_line() {
        let escapes =
            b"\x1b[?1006l\x1b[?25h\x1b]0;\x07{\"type\":\"x\"}\x1b[0m{\"type\":\"y\"}\x1b[m";
        assert_eq!(kinds(escapes), ["x", "y"]);
        assert_eq!(
            kinds(b"warning: {\"odd\": 1} then {\"type\":\"x\"}"),
            ["text: warning: {\"odd\": 1} then ", "x"].map(str::trim_end)
        );
        assert_eq!(kinds(b"\0\0{\"type\":\"x\"}\0"), ["x"]);
    }

    #[test]
    fn invalid_utf8_nul_and_escapes_inside_json_are_mended() {
        assert_eq!(kinds(b"{\"type\":\"x\",\"a\":\"\xff\xfe\"}"), ["x"]);
        assert!(matches!(
            &parts(b"{\"type\":\"result\",\"result\":\"a\xffb\0c\x1b[31md\"}")[..],
            [Part::Message(envelope)] if matches!(&envelope.message, Message::Result(result) if result.text == "a\u{fffd}bcd")
        ));
    }

    #[test]
    fn the_raw_line_is_kept_byte_for_byte() {
        let raw = b"\x1b[m{\"type\" :\t\"x\",\"a\":\"\xff\"}\x1b[m".to_vec();
        assert_eq!(Line::decode(raw.clone()).raw, raw);
    }

    proptest! {
        #[test]
        fn no_bytes_can_break_it(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Line::decode(bytes);
        }
    }
}
