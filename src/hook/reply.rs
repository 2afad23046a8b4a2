//! ccc's replies to the client's hooks.

use serde_json::{Value, json};

use crate::client::version::{OLDEST, Version};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The client continues as it would without ccc.
    Nothing,
    /// The client continues as it would without ccc, and shows the person this text.
    Tell(String),
    /// The agent is not done and continues with `feedback`. `tell` is for the person, and may be empty.
    GoOn { feedback: String, tell: String },
    /// The prompt was meant for ccc, or a settings change is refused: the client drops it and shows the
    /// person this text.
    Taken(String),
}

/// How feedback is passed to the client. The agent continues with either form, and both count towards
/// the client's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `additionalContext`, which the client displays as feedback.
    Context,
    /// `"decision": "block"`, which every client understands but displays as an error.
    Block,
}

impl Form {
    /// Chosen by the version in `AI_AGENT`, which the client sets for its hooks. A client that does not
    /// understand `additionalContext` would let the agent stop, so an unknown one gets `Block`.
    pub fn of(agent: Option<&str>) -> Self {
        let version = agent
            .and_then(|agent| agent.strip_prefix("claude-code_")?.split('_').next())
            .and_then(|version| Version::read(&version.replace('-', ".")));
        if version.is_some_and(|version| version >= OLDEST) { Self::Context } else { Self::Block }
    }
}

impl Reply {
    /// `None` if there is nothing to say: the client would show an empty decision as an error.
    pub fn body(&self, form: Form) -> Option<String> {
        let (mut body, tell) = match self {
            Reply::Nothing => (json!({}), ""),
            Reply::Tell(tell) => (json!({}), tell.as_str()),
            Reply::GoOn { feedback, tell } => (go_on(feedback, form), tell.as_str()),
            Reply::Taken(reason) => (block(reason), ""),
        };
        if !tell.is_empty() {
            body["systemMessage"] = Value::String(format!("ccc: {tell}"));
        }
        body.as_object().is_some_and(|body| !body.is_empty()).then(|| body.to_string())
    }
}

fn go_on(feedback: &str, form: Form) -> Value {
    match form {
        Form::Block => block(feedback),
        Form::Context => json!({
            "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": feedback},
        }),
    }
}

fn block(reason: &str) -> Value {
    json!({"decision": "block", "reason": reason})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_that_the_client_understands() {
        let go_on = |tell: &str| Reply::GoOn { feedback: "more".into(), tell: tell.into() };
        for (reply, form, body) in [
            (Reply::Nothing, Form::Context, None),
            (Reply::Tell(String::new()), Form::Context, None),
            (Reply::Tell("Done.".into()), Form::Block, Some(r#"{"systemMessage":"ccc: Done."}"#)),
            (
                go_on(""),
                Form::Context,
                Some(
                    r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"more"}}"#,
                ),
            ),
            (
                go_on("x"),
                Form::Block,
                Some(r#"{"decision":"block","reason":"more","systemMessage":"ccc: x"}"#),
            ),
            (
                Reply::Taken("Off.".into()),
                Form::Context,
                Some(r#"{"decision":"block","reason":"Off."}"#),
            ),
        ] {
            assert_eq!(reply.body(form).as_deref(), body, "{reply:?}");
        }
    }

    #[test]
    fn a_client_that_is_not_known_to_take_context_is_blocked() {
        for (agent, form) in [
            (Some("claude-code_2-1-325_harness"), Form::Context),
            (Some("claude-code_2-1-197_harness"), Form::Context),
            (Some("claude-code_3-0-0"), Form::Context),
            (Some("claude-code_2-1-196_harness"), Form::Block),
            (Some("claude-code"), Form::Block),
            (Some("another_2-1-325"), Form::Block),
            (None, Form::Block),
        ] {
            assert_eq!(Form::of(agent), form, "{agent:?}");
        }
    }
}
