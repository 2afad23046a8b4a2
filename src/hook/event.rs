//! The Stop hook's input and output, and what a transcript on disk tells a review.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::event::Said;
use crate::review::commands::Commands;

/// What the client tells a Stop hook, as far as it matters here. `stop_hook_active` is no counter
/// and no condition: a first stop has it false, and is reviewed.
#[derive(Debug, Default, Deserialize)]
pub struct StopEvent {
    pub session_id: String,
    #[serde(default)]
    pub stop_hook_active: bool,
    #[serde(default)]
    pub transcript_path: Option<String>,
    #[serde(default)]
    pub cwd: Option<String>,
    #[serde(default)]
    pub last_assistant_message: Option<String>,
    #[serde(default)]
    pub background_tasks: Option<Value>,
}

impl StopEvent {
    /// The agent will wake by itself when they end; it is no time to judge.
    pub fn has_background_tasks(&self) -> bool {
        let running = |task: &Value| {
            let status = task.get("status").and_then(Value::as_str);
            status.is_none_or(|status| status == "running" || status == "pending")
        };
        self.background_tasks
            .as_ref()
            .and_then(Value::as_array)
            .is_some_and(|tasks| tasks.iter().any(running))
    }
}

/// The hook's answer: a reason makes the client go on, a message is shown to the person. To let the
/// client stop without a word, nothing is printed: an empty decision is rejected with an error on
/// the user's screen.
pub fn answer(reason: Option<&str>, message: &str) -> Option<String> {
    let mut answer = serde_json::Map::new();
    if let Some(reason) = reason {
        answer.extend([
            ("decision".to_owned(), json!("block")),
            ("reason".to_owned(), json!(reason)),
        ]);
    }
    if !message.is_empty() {
        answer.insert("systemMessage".to_owned(), json!(format!("ccc: {message}")));
    }
    (!answer.is_empty()).then(|| Value::Object(answer).to_string())
}

/// What the user said and which model answered, out of a session's transcript.
#[derive(Debug, Default, PartialEq)]
pub struct Transcript {
    pub said: Vec<Said>,
    pub model: Option<String>,
    /// The agent's last text: a transcript that does not have it yet is not written to its end.
    pub last_answer: Option<String>,
    /// What the agent ran.
    pub commands: Commands,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    r#type: String,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    message: Option<EntryMessage>,
}

#[derive(Deserialize)]
struct EntryMessage {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    model: Option<String>,
}

/// Text that the client itself writes in the user's name.
const NOT_THE_USER: [&str; 6] = [
    "<command-",
    "<local-command",
    "<system-reminder>",
    "<task-notification",
    "[Request interrupted",
    "Stop hook feedback",
];

impl Transcript {
    pub fn read(jsonl: &str) -> Self {
        let mut transcript = Self::default();
        let entries = jsonl.lines().filter_map(|line| serde_json::from_str::<Entry>(line).ok());
        for entry in entries.filter(|entry| !entry.is_meta && !entry.is_sidechain) {
            let Some(message) = entry.message else { continue };
            transcript.commands.content(&message.content);
            match entry.r#type.as_str() {
                "user" => transcript
                    .said
                    .extend(spoken(&message.content).map(|text| Said { text, earlier: false })),
                "assistant" => {
                    transcript.last_answer = text(&message.content).or(transcript.last_answer);
                    transcript.model =
                        message.model.filter(|model| model != "<synthetic>").or(transcript.model);
                }
                _ => {}
            }
        }
        transcript
    }
}

fn text(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| block["type"] == "text");
            texts.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

fn spoken(content: &Value) -> Option<String> {
    let text = text(content)?;
    // Of a slash command, what follows it is the user's.
    if let Some((_, args)) = text.split_once("<command-args>") {
        let args = args.split_once("</command-args>").map_or(args, |(args, _)| args).trim();
        return (!args.is_empty()).then(|| args.to_owned());
    }
    let own = !NOT_THE_USER.iter().any(|start| text.trim_start().starts_with(start));
    own.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scenario 002 «读取 hook 输入»
    #[test]
    fn scenario_002_the_hooks_input_is_read() {
        let event: StopEvent = serde_json::from_str(
            r#"{"session_id":"abc123","stop_hook_active":true,"new":{"x":1}}"#,
        )
        .unwrap();
        assert_eq!((event.session_id.as_str(), event.stop_hook_active), ("abc123", true));
        assert!(!event.has_background_tasks());
        assert!(serde_json::from_str::<StopEvent>(r#"{"stop_hook_active":true}"#).is_err());
    }

    #[test]
    fn running_tasks_are_seen() {
        let event = |tasks: &str| -> StopEvent {
            serde_json::from_str(&format!(r#"{{"session_id":"a","background_tasks":{tasks}}}"#))
                .unwrap()
        };
        assert!(event(r#"[{"id":"b1"}]"#).has_background_tasks());
        assert!(event(r#"[{"id":"b1","status":"running"}]"#).has_background_tasks());
        for none in ["[]", "null", r#"[{"status":"completed"}]"#, "3"] {
            assert!(!event(none).has_background_tasks(), "{none}");
        }
    }

    #[test]
    fn only_the_users_own_words_count() {
        let text = [
            r#"{"type":"user","message":{"role":"user","content":"one"}}"#,
            r#"{"type":"assistant","message":{"model":"m-1","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make"}}]}}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}"#,
            r#"{"type":"user","message":{"content":[{"type":"text","text":"two"}]}}"#,
            r#"{"type":"user","isMeta":true,"message":{"content":"Stop hook feedback:\nmore"}}"#,
            r#"{"type":"user","isSidechain":true,"message":{"content":"for a sub-agent"}}"#,
            r#"{"type":"user","message":{"content":"<command-name>/context</command-name>"}}"#,
            r#"{"type":"assistant","message":{"model":"<synthetic>","content":[]}}"#,
            "half a li",
        ];
        let transcript = Transcript::read(&text.join("\n"));
        let said: Vec<_> = transcript.said.iter().map(|said| said.text.as_str()).collect();
        assert_eq!((said, transcript.model.as_deref()), (vec!["one", "two"], Some("m-1")));
        let ran: Vec<_> =
            transcript.commands.iter().map(|ran| (&*ran.command, &*ran.output)).collect();
        assert_eq!(ran, [("make", "x")]);
    }
}
