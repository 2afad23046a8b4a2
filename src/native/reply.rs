//! What ccc answers to a hook of the client.

use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The client goes on as it would without ccc.
    Nothing,
    /// The same, and the person reads this.
    Tell(String),
    /// The agent is not done: it goes on with this. The client shows it as feedback; as a reason to
    /// block it would be called an error. The person may read something besides.
    GoOn { feedback: String, tell: String },
    /// The prompt was for ccc: no request is made of it, and the person reads this. Or a changed setting
    /// does not take effect.
    Taken(String),
}

impl Reply {
    pub fn body(&self) -> String {
        let mut body = match self {
            Reply::Nothing | Reply::Tell(_) => json!({}),
            Reply::GoOn { feedback, .. } => json!({
                "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": feedback},
            }),
            Reply::Taken(reason) => {
                json!({"decision": "block", "reason": reason})
            }
        };
        match self {
            Reply::Tell(text) | Reply::GoOn { tell: text, .. } if !text.is_empty() => {
                body["systemMessage"] = Value::String(format!("ccc: {text}"));
            }
            _ => {}
        }
        body.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_that_the_client_understands() {
        for (reply, body) in [
            (Reply::Nothing, "{}"),
            (Reply::Tell(String::new()), "{}"),
            (Reply::Tell("Done.".into()), r#"{"systemMessage":"ccc: Done."}"#),
            (
                Reply::GoOn { feedback: "more".into(), tell: String::new() },
                r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"more"}}"#,
            ),
            (Reply::Taken("Off.".into()), r#"{"decision":"block","reason":"Off."}"#),
        ] {
            assert_eq!(reply.body(), body);
        }
    }
}
