//! The events that the client reports through its hooks.

use serde::Deserialize;
use serde_json::Value;

use crate::client::session_id;
use crate::hook::background::{Task, running};
use crate::hook::event::{ConfigChange, lenient};

/// The events that ccc subscribes to. `SessionStart` is not among them: the client runs no http hook
/// for it, and every other event names the session as well. Neither are `PreCompact` and `PostCompact`:
/// the client prints the address and the answer of each such hook into the conversation.
pub const EVENTS: [&str; 8] = [
    "UserPromptSubmit",
    "UserPromptExpansion",
    "Stop",
    "StopFailure",
    "SubagentStop",
    "Notification",
    "SessionEnd",
    "ConfigChange",
];

/// The fields that ccc uses. New events and fields come with every release, so unknown ones are ignored.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct HookEvent {
    #[serde(rename = "hook_event_name", deserialize_with = "lenient")]
    pub name: String,
    #[serde(deserialize_with = "lenient")]
    pub session_id: String,
    #[serde(deserialize_with = "lenient")]
    pub transcript_path: String,
    /// The id of the turn. A queued message carries the id of the turn it was queued in.
    #[serde(deserialize_with = "lenient")]
    pub prompt_id: String,
    #[serde(deserialize_with = "lenient")]
    pub prompt: String,
    #[serde(deserialize_with = "lenient")]
    pub last_assistant_message: Option<String>,
    pub background_tasks: Value,
    session_crons: Value,
    /// Set on a turn that failed.
    pub error: Value,
    /// Why a session ended: `clear`, `resume`, `prompt_input_exit`, …
    pub reason: Value,
    /// Set on events of a sub-agent.
    #[serde(deserialize_with = "lenient")]
    pub agent_id: Option<String>,
    /// ccc could not read the event; only its name is known.
    #[serde(skip)]
    pub is_unread: bool,
    #[serde(flatten)]
    pub config_change: ConfigChange,
}

impl HookEvent {
    /// The event that was reported to `path`; only its name is known if the rest cannot be read.
    pub fn read(path: &str, body: Option<&[u8]>) -> Self {
        let read = body.and_then(|body| serde_json::from_slice::<Self>(body).ok());
        let is_usable = |event: &Self| session_id::is_safe(&event.session_id);
        read.filter(is_usable).unwrap_or_else(|| Self {
            name: path.trim_start_matches('/').to_owned(),
            is_unread: true,
            ..Self::default()
        })
    }

    /// Tasks still running in the background.
    pub fn background(&self) -> Vec<Task> {
        running(&self.background_tasks)
    }

    /// Whether prompts are scheduled in this session.
    pub fn session_crons(&self) -> bool {
        self.session_crons.as_array().is_some_and(|crons| !crons.is_empty())
    }

    /// What the client says went wrong.
    pub fn failure(&self) -> String {
        let said = self.last_assistant_message.as_deref().map(str::trim).unwrap_or_default();
        match (said, self.error.as_str()) {
            ("", Some(error)) => error.to_owned(),
            ("", None) => "the turn failed".to_owned(),
            (said, _) => said.to_owned(),
        }
    }
}

/// A command of ccc that the person types into the client to switch supervision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch<'a> {
    pub on: bool,
    /// The text after the command: a message to the agent.
    pub rest: &'a str,
}

impl<'a> Switch<'a> {
    pub fn read(prompt: &'a str) -> Option<Self> {
        let prompt = prompt.trim();
        let (word, rest) = prompt.split_once(char::is_whitespace).unwrap_or((prompt, ""));
        let on = match word {
            "/supervisor" => true,
            "/supervisoroff" => false,
            _ => return None,
        };
        Some(Self { on, rest: rest.trim() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_whatever_else_is_in_it() {
        let event: HookEvent = serde_json::from_str(
            r#"{"hook_event_name":"Stop","session_id":"s","new":[1],"last_assistant_message":" done ",
                "background_tasks":[{"id":"b1","status":"running","description":"serve","command":"x"},
                                    {"id":"b2","status":"completed"},{"id":"b3"}]}"#,
        )
        .unwrap();
        let task = |id: &str, name: &str, is_command| Task {
            id: id.into(),
            name: name.into(),
            is_command,
        };
        let running = vec![task("b1", "serve", true), task("b3", "b3", false)];
        assert_eq!((event.name.as_str(), event.background()), ("Stop", running));
        assert_eq!(event.failure(), "done");
        let none: HookEvent = serde_json::from_str("{}").unwrap();
        assert_eq!((none.background().len(), none.failure().as_str()), (0, "the turn failed"));
    }

    #[test]
    fn of_an_event_that_cannot_be_read_the_name_is_known() {
        let read = |body: &str| HookEvent::read("/Stop", Some(body.as_bytes()));
        let event =
            read(r#"{"hook_event_name":"Stop","session_id":"s","prompt_id":null,"prompt":[]}"#);
        assert!(!event.is_unread && event.session_id == "s" && event.prompt.is_empty());
        for body in ["", "{", "[]", "{}", r#"{"session_id":"../s"}"#, r#"{"session_id":{}}"#] {
            let event = read(body);
            assert_eq!((event.name.as_str(), event.is_unread), ("Stop", true), "{body}");
        }
        assert!(HookEvent::read("/Stop", None).is_unread);
    }

    #[test]
    fn only_the_whole_word_is_a_switch() {
        let read = |text| Switch::read(text).map(|switch| (switch.on, switch.rest));
        assert_eq!(read("/supervisor"), Some((true, "")));
        assert_eq!(read(" /supervisoroff  do x "), Some((false, "do x")));
        assert_eq!(read("/supervisors"), None);
        assert_eq!(read("please /supervisoroff"), None);
    }
}
