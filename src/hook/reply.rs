//! What ccc answers to a hook of the client.

use serde_json::{Value, json};

use crate::client::version::{OLDEST, Version};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The client goes on as it would without ccc.
    Nothing,
    /// The same, and the person reads this.
    Tell(String),
    /// The agent is not done: it goes on with this. The person may read something besides.
    GoOn { feedback: String, tell: String },
    /// The prompt was for ccc: no request is made of it, and the person reads this. Or a changed setting
    /// does not take effect.
    Taken(String),
}

/// The form in which the client takes feedback. The agent goes on with either, and both count towards the
/// client's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `additionalContext`, which the client shows as feedback.
    Context,
    /// `"decision": "block"`, which every client knows and calls an error.
    Block,
}

impl Form {
    /// By what the client tells its hooks about itself (`AI_AGENT`). One that is not known to take
    /// context would let the agent stop.
    pub fn of(agent: Option<&str>) -> Self {
        let version = agent
            .and_then(|agent| agent.strip_prefix("claude-code_")?.split('_').next())
            .and_then(|version| Version::read(&version.replace('-', ".")));
        if version.is_some_and(|version| version >= OLDEST) { Self::Context } else { Self::Block }
    }
}

impl Reply {
    /// `None` where nothing need be said: an empty decision would be an error on the person's screen.
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
