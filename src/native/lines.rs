//! Translates the client's reports into the lines that a client without a screen would have printed,
//! which the loop already understands. They are recorded in that form, so that a recording can be read,
//! shown and replayed like any other.

use serde_json::{Value, json};

use crate::client::stream::Line;

/// A turn has begun or continues.
pub fn begun(session_id: &str, model: &str) -> Line {
    line(&json!({"type": "system", "subtype": "init", "session_id": session_id, "model": model}))
}

/// How a turn ended.
#[derive(Debug, Clone, Copy)]
pub enum Ended<'a> {
    Well {
        last_answer: &'a str,
    },
    /// There was nothing to judge: the person ran a command in their shell.
    WithoutWork,
    Interrupted,
    Failed(&'a str),
}

pub fn ended(session_id: &str, ended: Ended<'_>) -> Line {
    let (subtype, is_error, turns, text) = match ended {
        Ended::Well { last_answer } => ("success", false, 1, last_answer),
        Ended::WithoutWork => ("success", false, 0, ""),
        Ended::Interrupted => ("error_during_execution", true, 1, "interrupted"),
        Ended::Failed(error) => ("success", true, 1, error),
    };
    line(&json!({
        "type": "result", "subtype": subtype, "is_error": is_error, "num_turns": turns,
        "result": text, "session_id": session_id,
    }))
}

/// The agent has received a message from ccc.
pub fn taken(session_id: &str, uuid: &str) -> Line {
    line(&json!({"type": "user", "isReplay": true, "uuid": uuid, "session_id": session_id}))
}

fn line(value: &Value) -> Line {
    Line::decode(value.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::stream::Message;

    #[test]
    fn the_loop_understands_them() {
        let message = |line: Line| line.into_messages().next().unwrap();
        let init = message(begun("s", "m"));
        assert_eq!(init.session_id.as_deref(), Some("s"));
        assert!(matches!(init.message, Message::Init(init) if init.model == "m"));
        for (ended_so, is_error, turns, text) in [
            (Ended::Well { last_answer: "ok" }, false, 1, "ok"),
            (Ended::WithoutWork, false, 0, ""),
            (Ended::Interrupted, true, 1, "interrupted"),
            (Ended::Failed("no credit"), true, 1, "no credit"),
        ] {
            let Message::Result(result) = message(ended("s", ended_so)).message else {
                panic!("a result")
            };
            assert_eq!(
                (result.is_error, result.num_turns, result.text.as_str()),
                (is_error, turns, text)
            );
        }
        assert!(
            matches!(message(taken("s", "u")).message, Message::Taken { uuid, .. } if uuid == "u")
        );
    }
}
