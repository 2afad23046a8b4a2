//! The events that the client reports to its hooks.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::background::{Task, running};

/// The kind of event, from the client's own name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HookKind {
    #[default]
    Stop,
    /// The person sent a message, or a slash command is about to become one.
    Prompt,
    ConfigChange,
    Other,
}

/// A value of another type than ccc expects counts as missing: a new release may change a field, and the
/// stop has to be reviewed all the same.
pub fn lenient<'de, T: DeserializeOwned + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).unwrap_or_default())
}

/// The fields of an event that ccc uses. `stop_hook_active` neither counts reviews nor decides whether
/// to review: it is false on a first stop, which is reviewed like any other.
#[derive(Debug, Default, Deserialize)]
pub struct HookEvent {
    pub session_id: String,
    /// The turn, if the client names it. Before 2.1.260 a `!command` has the id of the prompt before it.
    #[serde(default, deserialize_with = "lenient")]
    pub prompt_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub stop_hook_active: bool,
    #[serde(default, deserialize_with = "lenient")]
    pub transcript_path: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub cwd: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub last_assistant_message: Option<String>,
    #[serde(default)]
    pub background_tasks: Value,
    /// Prompts scheduled by `/loop` and similar commands.
    #[serde(default)]
    pub session_crons: Option<Value>,
    #[serde(default, deserialize_with = "lenient", rename = "hook_event_name")]
    name: Option<String>,
    /// The prompt as it was typed; only in events about a prompt.
    #[serde(default, deserialize_with = "lenient")]
    pub prompt: Option<String>,
    #[serde(flatten)]
    pub config_change: ConfigChange,
}

/// A changed file of the client's configuration; only in events about one.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ConfigChange {
    /// `user_settings`, `project_settings`, `local_settings`, `policy_settings`, `skills`.
    #[serde(deserialize_with = "lenient")]
    pub source: String,
    #[serde(deserialize_with = "lenient")]
    pub file_path: String,
}

impl HookEvent {
    pub fn kind(&self) -> HookKind {
        match self.name.as_deref() {
            None | Some("Stop") => HookKind::Stop,
            Some("UserPromptSubmit" | "UserPromptExpansion") => HookKind::Prompt,
            Some("ConfigChange") => HookKind::ConfigChange,
            Some(_) => HookKind::Other,
        }
    }

    pub fn has_schedule(&self) -> bool {
        self.session_crons.as_ref().and_then(Value::as_array).is_some_and(|crons| !crons.is_empty())
    }

    /// Tasks still running in the background; the agent wakes by itself when one ends.
    pub fn background(&self) -> Vec<Task> {
        running(&self.background_tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenario 002 «读取 hook 输入»
    #[test]
    fn scenario_002_the_hooks_input_is_read() {
        let event: HookEvent = serde_json::from_str(
            r#"{"session_id":"abc123","stop_hook_active":true,"new":{"x":1}}"#,
        )
        .unwrap();
        assert_eq!((event.session_id.as_str(), event.stop_hook_active), ("abc123", true));
        assert!(event.background().is_empty());
        assert!(serde_json::from_str::<HookEvent>(r#"{"stop_hook_active":true}"#).is_err());
    }

    #[test]
    fn a_field_of_another_type_does_not_keep_the_stop_from_being_seen() {
        let event: HookEvent = serde_json::from_str(
            r#"{"session_id":"s","hook_event_name":"Stop","stop_hook_active":"yes","prompt_id":7,
                "cwd":["/"],"last_assistant_message":{"text":"x"},"source":1,"file_path":null}"#,
        )
        .unwrap();
        assert_eq!((event.session_id.as_str(), event.kind()), ("s", HookKind::Stop));
        assert_eq!((event.cwd, event.last_assistant_message), (None, None));
    }
}
